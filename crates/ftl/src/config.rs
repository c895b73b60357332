//! What a firmware core is told when it starts. The plan has checked it; the firmware asserts the few relations it relies on.

use std::sync::Arc;

use wordline_flash::{Margins, Sheet};
use wordline_units::Bytes;

use crate::pages::oob::marks_per_page;
use crate::state::layout::Layout;
use crate::state::order::Order;
pub use crate::state::settings::{Acknowledge, BufferConfig, Protection, ReclaimConfig, ScheduleConfig, WearConfig};
use crate::techniques::Choice;

/// Everything one firmware core knows about itself and its dies.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The data sheet of its dies.
    pub sheet: Sheet,
    /// Entries of the dies' read-retry table; 1: there is nothing to try again with. A drive fills it in.
    pub read_entries: u32,
    /// How far the chip's maker found that programs may be narrowed; `None`: nobody characterised it.
    pub margins: Option<Arc<Margins>>,
    /// How many dies it owns.
    pub dies: u32,
    /// The mapping unit: the size of what one map entry points to. A page, or a divisor of one.
    pub unit: Bytes,
    /// How many units it shows to the host.
    pub exported_units: u32,
    /// Blocks per plane kept back to replace bad ones.
    pub spare_blocks: u32,
    /// Which blocks are bad from the start: one list per die of (plane, block) marks, as the firmware reads them at its first start.
    pub factory_bad: Vec<Vec<(u8, u16)>>,
    /// The write buffer.
    pub buffer: BufferConfig,
    /// How space is reclaimed.
    pub reclaim: ReclaimConfig,
    /// How wear is levelled.
    pub wear: WearConfig,
    /// In which order a die takes its work.
    pub schedule: ScheduleConfig,
    /// In which order the wordlines of a block are programmed.
    pub order: Order,
    /// The techniques that are switched on, in any order.
    pub techniques: Vec<Choice>,
    /// Whether somebody keeps the bytes: see [`crate::DataStep`]. Then it recovers, too.
    pub keeps_data: bool,
    /// A core that keeps data programs one program unit of a checkpoint of its map for so many of data; `None`: there are no checkpoints.
    pub checkpoint_every: Option<u32>,
    /// Whether it writes down what it needs to come back after a power cut. Without bytes nothing can come back, but what it costs is the same.
    pub recovers: bool,
    /// Whether a core that recovers writes the out-of-band marks of its pages twice: see [`crate::OobPage`]. Without, a page that cannot be read after a power
    /// cut passes for one that was never finished.
    pub oob_copies: bool,
    /// The seed of all policies that sample.
    pub seed: u64,
    /// This core's number, for its dice.
    pub core: u32,
}

impl Config {
    /// Block groups of a die that hold no data for good: those that reclaim keeps free, and those that are open.
    pub(crate) fn reserve(&self) -> u32 {
        self.reclaim.floor + 1 + self.order.open_blocks()
    }

    /// Whether marks are written twice.
    pub(crate) fn copies_oob(&self) -> bool {
        self.oob_copies && (self.keeps_data || self.recovers)
    }

    /// The layout of the core's flash.
    pub(crate) fn layout(&self) -> Layout {
        let layout = Layout::new(&self.sheet, self.dies, self.sheet.geometry.blocks - self.spare_blocks, self.unit);
        if self.copies_oob() { layout.with_oob_copies(marks_per_page(self.sheet.geometry.page.0 as usize)) } else { layout }
    }
}
