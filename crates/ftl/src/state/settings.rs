//! Settings of a core: sizes, limits and the promises of its drive. They are fixed at the start.

use wordline_flash::Capabilities;
use wordline_units::{Bytes, Nanos};

use crate::free_block::FreeBlockPolicy;
use crate::retirement::RetirementPolicy;
use crate::scheduler::Scheduler;
use crate::state::stops::Steps;
use crate::state::wordline_order::WordlineOrder;
use crate::victim::VictimPolicy;

/// Part of a core's configuration that its tables and rooms use.
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
    /// True if wordlines may be programmed in any order.
    pub any_order: bool,
    /// True if the die can copy back.
    pub copyback: bool,
    /// Abilities of the die.
    pub capabilities: Capabilities,
    /// Steps of the die's programs and erases.
    pub steps: Steps,
    /// True if the drive stores the bytes of user data.
    pub keeps_data: bool,
    /// True if the map log takes the place of the journal's generations, of checkpoints and of summaries.
    pub twins: bool,
    /// Length of the map log, in programs, from which on its checkpoints hurry.
    pub log_programs: u32,
    /// Data programs per checkpoint program; `None`: there are no checkpoints.
    pub checkpoint_every: Option<u32>,
    /// Groups that take no host data: those that GC keeps free, those that are open, and those for metadata.
    pub reserve: u32,
    /// Settings of the write buffer.
    pub buffer: BufferConfig,
    /// Settings of GC.
    pub gc: GcConfig,
    /// Settings of the choice of free blocks.
    pub free_block: FreeBlockConfig,
    /// Policy that decides when blocks leave service.
    pub retirement: RetirementPolicy,
    /// Settings of the detector of failed dies.
    pub repair: RepairConfig,
    /// Most bad groups of a die that has not failed.
    pub bad_groups_most: u32,
    /// Wrong bits of a codeword from which on a page reads as noise.
    pub noise_bits: u32,
    /// Groups of `reserve` that are of one die.
    pub die_reserve: u32,
    /// Settings of the order in which a die takes its work.
    pub schedule: ScheduleConfig,
    /// Number of blocks of a die that take moved data at once.
    pub moved_blocks: u32,
    /// True if counts of copies are written at the end of each group that has received a copy.
    pub counters: bool,
    /// Order in which the wordlines of a block are programmed.
    pub wordline_order: WordlineOrder,
    /// Greatest number of wordlines that an erase spares; 0: no erase spares any.
    pub spared_max: u32,
    /// Number of free groups without spared wordlines that data leaves to metadata, where others are free.
    pub plain_groups: u32,
}

impl Settings {
    /// True if a write or trim is acknowledged as soon as the buffer holds it.
    pub(crate) fn acknowledges_buffered(&self, is_fua: bool) -> bool {
        self.buffer.acknowledge == Acknowledge::Buffered && !is_fua
    }

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

    /// True if capacitors keep the write buffer.
    #[inline]
    pub(crate) fn has_capacitors(&self) -> bool {
        self.buffer.protection == Protection::Capacitor
    }
}

/// Settings of the write buffer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BufferConfig {
    /// Capacity in mapping units.
    pub units: u32,
    /// Time at which a write is acknowledged.
    pub acknowledge: Acknowledge,
    /// Fate of the buffer when power is lost.
    pub protection: Protection,
    /// Share of the buffer in use, between 0 and 1, from which partly written units are completed from flash and programmed.
    pub partial_watermark: f64,
    /// Time over which the share of the buffer in use is a mean, where a technique asks for it.
    pub load_window: Nanos,
}

/// Time at which a write without FUA is acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acknowledge {
    /// Write-back: a write is acknowledged as soon as the buffer holds it.
    Buffered,
    /// Write-through: a write is acknowledged when it is programmed.
    Programmed,
}

/// Fate of the write buffer when power is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protection {
    /// The buffer is lost: FUA and flushes wait for programs.
    None,
    /// Capacitors keep the buffer: its contents are durable. Trims are not in it, so a flush still waits for their records.
    Capacitor,
}

/// Settings of GC. Counts are free block groups of one die.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GcConfig {
    /// Policy that chooses the next victim.
    pub victim: VictimPolicy,
    /// Number of free groups below which GC runs.
    pub start: u32,
    /// Number of free groups at or below which host writes wait for GC.
    pub floor: u32,
    /// Policy that decides whether GC or the host is served next.
    pub scheduler: Scheduler,
    /// True if host writes go before GC above the floor.
    pub preemptible: bool,
    /// True if an emptied block is erased only when it is about to be needed, because an erased block ages while it waits (002 §5.4).
    pub lazy_erase: bool,
}

/// Settings of the choice of free blocks, which is wear levelling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FreeBlockConfig {
    /// Policy that chooses which free block is written next (dynamic wear levelling).
    pub key: FreeBlockPolicy,
    /// Static wear levelling: the data of the closed block that is furthest behind moves once it is behind by this much, in the unit of `key`; `None`: never.
    pub gap: Option<u32>,
}

/// Settings of the detector of failed dies, and of what a core does without them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RepairConfig {
    /// True if the core looks for dies that have failed.
    pub detect: bool,
    /// Share of a die's block groups that may be bad before the die counts as failed.
    pub bad_blocks_per_die: f64,
    /// Share of a codeword's bits that is wrong where a page reads as noise.
    pub noise: f64,
    /// Utilisation from which on a core with a failed die takes no more writes.
    pub limit: f64,
}

impl RepairConfig {
    /// The detector is on: 2 % of a die's blocks may be bad, a quarter of a codeword is noise, and writes end at 98 %.
    pub const DEFAULT: RepairConfig = RepairConfig { detect: true, bad_blocks_per_die: 0.02, noise: 0.25, limit: 0.98 };
}

/// Settings of the order in which a die takes its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScheduleConfig {
    /// True if host reads go before programs and GC.
    pub reads_first: bool,
    /// Longest time a buffered unit waits for others before it is programmed with padding; `None`: until a flush.
    pub linger: Option<Nanos>,
    /// Longest time for which a suspended program or erase is held while reads wait; `None`: until none waits.
    pub held_max: Option<Nanos>,
    /// Most reads in a row that a die serves first while it has other work; `None`: any number. Only where reads go first.
    pub reads_in_row: Option<u32>,
}
