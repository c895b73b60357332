//! What a firmware core is told when it starts. The plan has checked it; the firmware asserts the few relations it relies on.

use std::sync::Arc;

use wordline_flash::{Margins, Sheet};
use wordline_units::{Bytes, Nanos};

use crate::layout::Layout;
use crate::order::Order;
use crate::scheduler::Scheduler;
use crate::techniques::Choice;
use crate::victim::VictimPolicy;

/// Everything one firmware core knows about itself and its dies.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The data sheet of its dies.
    pub sheet: Sheet,
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
        if self.copies_oob() { layout.with_oob_copies(self.sheet.geometry.page) } else { layout }
    }
}

/// The write buffer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BufferConfig {
    /// How many units it holds.
    pub units: u32,
    /// When a write is acknowledged.
    pub acknowledge: Acknowledge,
    /// What becomes of it when the power goes.
    pub protection: Protection,
    /// How full it must be before units that the host has written only in part are completed from flash and programmed. Between 0 and 1.
    pub partial_watermark: f64,
}

/// When a write without FUA is acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acknowledge {
    /// As soon as the buffer holds it (write-back).
    Buffered,
    /// When it is programmed (write-through).
    Programmed,
}

/// What becomes of the write buffer when the power goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protection {
    /// It is lost: FUA and flushes wait for programs.
    None,
    /// Capacitors keep it: what is in it is durable. Trims are not in it, so a flush still waits for their records.
    Capacitor,
}

/// How space is reclaimed. Counts are free block groups of one die.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReclaimConfig {
    /// Which block goes next.
    pub victim: VictimPolicy,
    /// Reclaim runs while fewer than this many are free.
    pub start: u32,
    /// With this many or fewer left, the host's writes wait for reclaim.
    pub floor: u32,
    /// Who of reclaim and the host is served next.
    pub scheduler: Scheduler,
    /// Whether host writes go before reclaim above the floor.
    pub preemptible: bool,
    /// Whether a block that has been emptied is erased only when it is about to be needed, because an erased block ages while it waits (002 §5.4).
    pub lazy_erase: bool,
}

/// How wear is levelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WearConfig {
    /// Take the least-worn free block for host data and the most-worn for moved data; otherwise, the block that has been free longest.
    pub dynamic: bool,
    /// Move the data of the least-worn block once a block of the die has been erased this many times more; `None`: never.
    pub static_gap: Option<u32>,
}

/// In which order a die takes its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScheduleConfig {
    /// Host reads go before programs and reclaim.
    pub reads_first: bool,
    /// How long a buffered unit may wait for company before it is programmed with padding; `None`: until a flush.
    pub linger: Option<Nanos>,
}
