//! The data and cache registers of a die: one page of each plane, twice.
//!
//! The array senses into the data register and the bus puts out from the cache register. A plain read leaves its page in both; a cache read
//! first hands the page before over to the cache register, so at most two sensed pages wait, and they are put out oldest first. The same
//! page may be put out again and again (in parts, say) until a newer one waits behind it.

use wordline_flash::command::PLANES_MAX;
use wordline_flash::{Status, Target};
use wordline_units::{Bytes, Nanos, PlaneId};

use crate::place::shares_block;
use crate::probe::Why;
use crate::rule;

/// State of the page in the data register.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Page {
    /// There is none.
    #[default]
    None,
    /// It waits to be put out.
    Unread,
    /// It has been put out, or is being put out, through the cache register.
    PutOut,
}

/// Contents of the registers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Registers {
    /// The page that was sensed last.
    data: Page,
    /// Planes that it came from.
    data_planes: u32,
    /// Instant at which it has been sensed.
    data_from: Nanos,
    /// True if the page sensed before it still waits in the cache register.
    cache_unread: bool,
    /// Planes that this one came from.
    cache_planes: u32,
    /// Origin of the page in the data register, as long as it can be programmed elsewhere.
    source: Option<Target>,
    /// True if the die itself has found that this page cannot be read. The findings of error correction are not in here.
    source_status: Status,
    /// Error rate of that sensing and wrong bits in its worst codeword, by plane, where cells have physics.
    sensed: [(f64, u32); PLANES_MAX],
    /// Data taken in for the next program.
    taken_in: Bytes,
    /// The last page of a wordline that copybacks have begun to collect.
    collecting: Option<Target>,
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
    #[inline(always)]
    pub(crate) fn sense(&mut self, target: &Target, status: Status, from: Nanos, cache: bool) {
        // A page that is in transfer or has been put out is done with; one that waits moves on, if the read is a cache read.
        self.cache_unread = cache && self.data == Page::Unread;
        self.cache_planes = self.data_planes;
        self.data = Page::Unread;
        self.data_planes = target.planes.len();
        self.data_from = from;
        self.source = Some(*target);
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

    /// The data that was taken in is programmed.
    #[inline]
    pub(crate) fn drop_taken_in(&mut self) {
        self.taken_in = Bytes(0);
    }

    /// Data taken in for the next program.
    #[inline]
    pub(crate) fn taken_in(&self) -> Bytes {
        self.taken_in
    }

    /// No sensed page is held any more.
    #[inline]
    pub(crate) fn drop_sensed(&mut self) {
        self.data = Page::None;
        self.cache_unread = false;
        self.source = None;
    }

    /// Planes of the page that goes out next, if there is one.
    #[inline]
    pub(crate) fn next_out(&self) -> Option<u32> {
        let planes = if self.cache_unread { self.cache_planes } else { self.data_planes };
        (self.data != Page::None).then_some(planes)
    }

    /// The page in the data register that can be programmed elsewhere: its origin, what is known of it, and when it was sensed.
    pub(crate) fn source(&self) -> Option<(Target, Status, Nanos)> {
        self.source.map(|source| (source, self.source_status, self.data_from))
    }

    /// The blocks of `target` are erased. The register still has a page of them for the bus, but its spare area can no longer be looked up.
    #[inline]
    pub(crate) fn note_erase(&mut self, target: &Target) {
        if self.source.is_some_and(|source| shares_block(&source, target)) {
            self.source = None;
        }
    }

    /// Error rate and wrong bits of the last sensing of a plane.
    pub(crate) fn sensed(&self, plane: PlaneId) -> (f64, u32) {
        self.sensed[usize::from(plane.0)]
    }

    /// Room for what a sensing finds, plane by plane, all zero.
    pub(crate) fn begin_sensing(&mut self) -> &mut [(f64, u32); PLANES_MAX] {
        self.sensed = [(0.0, 0); PLANES_MAX];
        &mut self.sensed
    }

    /// The last page of a wordline that copybacks have begun to collect.
    #[inline]
    pub(crate) fn collecting(&self) -> Option<&Target> {
        self.collecting.as_ref()
    }

    /// Copybacks have collected the pages of a wordline up to this one; `None`: they have collected nothing, or all.
    pub(crate) fn collect(&mut self, page: Option<Target>) {
        self.collecting = page;
    }

    /// The earliest instant, from `from` on, at which the registers hold what a rule needs. Transfers end at `bus_until`.
    #[inline(always)]
    pub(crate) fn check(&self, need: rule::Registers, from: Nanos, bus_until: Nanos) -> Result<Nanos, Why> {
        use rule::Registers as Need;
        match need {
            Need::Any => Ok(from),
            Need::Sensed if self.cache_unread => Ok(from),
            Need::Sensed if self.data == Page::None => Err(Why::NothingSensed),
            Need::Sensed => Ok(from.max(self.data_from)),
            Need::TakenIn if self.taken_in.0 > 0 => Ok(from),
            Need::TakenIn => Err(Why::NothingTakenIn),
            Need::CopySource if self.source.is_some() => Ok(from),
            Need::CopySource => Err(Why::NoCopySource),
            Need::Room if self.data != Page::Unread => Ok(from),
            Need::Room if self.cache_unread => Err(Why::WouldOverwrite),
            // The waiting page needs the cache register, which may still be putting out the one before.
            Need::Room => Ok(from.max(bus_until)),
            Need::NotCollecting if self.collecting.is_none() => Ok(from),
            Need::NotCollecting => Err(Why::Collecting),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wordline_units::{BlockId, PageId};

    #[test]
    fn two_sensed_pages_go_out_oldest_first_and_there_is_no_room_for_a_third() {
        let mut registers = Registers::EMPTY;
        let page = |page| Target::single(PlaneId(0), BlockId(1), PageId(page));
        let room = |registers: &Registers| registers.check(rule::Registers::Room, Nanos(1), Nanos(9));
        assert_eq!((registers.next_out(), room(&registers)), (None, Ok(Nanos(1))));
        registers.sense(&page(0), Status::Good, Nanos(5), false);
        assert_eq!(room(&registers), Ok(Nanos(9)));
        registers.sense(&page(1), Status::Good, Nanos(7), true);
        assert_eq!(room(&registers), Err(Why::WouldOverwrite));
        assert_eq!(registers.check(rule::Registers::Sensed, Nanos(1), Nanos(9)), Ok(Nanos(1)), "the older one is there");
        registers.put_out();
        assert_eq!(registers.check(rule::Registers::Sensed, Nanos(1), Nanos(9)), Ok(Nanos(7)));
        registers.note_erase(&page(3));
        assert!(registers.source().is_none() && registers.next_out() == Some(1));
    }
}
