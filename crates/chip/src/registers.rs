//! The data and cache registers of a die: one page of each plane, twice.
//!
//! The array senses into the data register and the bus puts out from the cache register. A plain read leaves its page in both; a cache read
//! first hands the page before over to the cache register, so at most two sensed pages wait, and they are put out oldest first. The same
//! page may be put out again and again (in parts, say) until a newer one waits behind it.

use wordline_flash::command::PLANES_MAX;
use wordline_flash::{Status, Target};
use wordline_units::{Bytes, Nanos};

/// What has become of the page in the data register.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Page {
    /// There is none.
    #[default]
    None,
    /// It waits to be put out.
    Unread,
    /// It has been put out, or is being put out, through the cache register.
    PutOut,
}

/// What the registers hold.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Registers {
    /// The page that was sensed last.
    pub(crate) data: Page,
    /// Planes that it came from.
    pub(crate) data_planes: u32,
    /// When it has been sensed.
    pub(crate) data_from: Nanos,
    /// Whether the page sensed before it still waits in the cache register.
    pub(crate) cache_unread: bool,
    /// Planes that this one came from.
    pub(crate) cache_planes: u32,
    /// Where the page in the data register came from, as long as it can be programmed elsewhere.
    pub(crate) source: Option<Target>,
    /// Whether the die knows that this page cannot be read. What error correction would find, it does not know.
    pub(crate) source_status: Status,
    /// Error rate of that sensing and wrong bits in its worst codeword, by plane, where cells have physics.
    pub(crate) sensed: [(f64, u32); PLANES_MAX],
    /// Data taken in for the next program.
    pub(crate) taken_in: Bytes,
    /// The last page of a wordline that copybacks have begun to collect.
    pub(crate) collecting: Option<Target>,
}

impl Registers {
    /// Registers that hold nothing.
    pub(crate) const EMPTY: Registers = Registers {
        data: Page::None,
        data_planes: 0,
        data_from: Nanos::ZERO,
        cache_unread: false,
        cache_planes: 0,
        source: None,
        source_status: Status::Good,
        sensed: [(0.0, 0); PLANES_MAX],
        taken_in: Bytes(0),
        collecting: None,
    };

    /// A page is sensed into the data register. `status`: as [`Registers::source_status`].
    #[inline]
    pub(crate) fn sense(&mut self, target: Target, status: Status, from: Nanos, cache: bool) {
        // A page that is in transfer or has been put out is done with; one that waits moves on, if the read is a cache read.
        self.cache_unread = cache && self.data == Page::Unread;
        self.cache_planes = self.data_planes;
        self.data = Page::Unread;
        self.data_planes = target.planes.len();
        self.data_from = from;
        self.source = Some(target);
        self.source_status = status;
        self.taken_in = Bytes(0);
    }

    /// The oldest waiting page goes out.
    #[inline]
    pub(crate) fn put_out(&mut self) {
        if self.cache_unread {
            self.cache_unread = false;
        } else {
            self.data = Page::PutOut;
        }
    }

    /// Data comes in, over whatever was sensed.
    #[inline]
    pub(crate) fn take_in(&mut self, bytes: Bytes) {
        self.drop_sensed();
        self.taken_in += bytes;
    }

    /// No sensed page is held any more.
    #[inline]
    pub(crate) fn drop_sensed(&mut self) {
        self.data = Page::None;
        self.cache_unread = false;
        self.source = None;
    }
}
