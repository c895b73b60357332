//! What a core goes by: its sizes, its limits and the promises of its drive. They are given once and do not change.

use wordline_units::{Bytes, Nanos};

use crate::scheduler::Scheduler;
use crate::state::order::Order;
use crate::victim::VictimPolicy;

/// The part of a core's configuration that its tables and its work go by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Settings {
    /// Bytes of a mapping unit.
    pub unit: u64,
    /// Bytes of a page.
    pub page: usize,
    /// Bits of a cell.
    pub bits: u32,
    /// Blocks of a plane.
    pub blocks: u32,
    /// Whether wordlines may be programmed in any order.
    pub any_order: bool,
    /// Whether the die can copy back.
    pub copyback: bool,
    /// Whether somebody keeps the bytes.
    pub keeps_data: bool,
    /// Programs of data for each of a checkpoint; `None`: there are no checkpoints.
    pub checkpoint_every: Option<u32>,
    /// Groups that take no data: those that reclaim keeps free, those that are open, and what the core has for itself.
    pub reserve: u32,
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
}

impl Settings {
    /// Bytes of `units` units.
    #[inline]
    pub(crate) fn unit_bytes(&self, units: u32) -> Bytes {
        Bytes(u64::from(units) * self.unit)
    }

    /// Sectors of a unit.
    #[inline]
    pub(crate) fn sectors(&self) -> u32 {
        (self.unit / wordline_units::host::SECTOR_BYTES) as u32
    }

    /// Whether capacitors keep the write buffer.
    #[inline]
    pub(crate) fn has_capacitors(&self) -> bool {
        self.buffer.protection == Protection::Capacitor
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
