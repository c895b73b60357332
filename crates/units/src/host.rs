//! What a host asks of a drive.

use crate::id::JobId;
use crate::quantity::Nanos;

/// The smallest thing a host can address: 512 bytes.
pub const SECTOR_BYTES: u64 = 512;

/// Jobs that a host may have at the same time.
pub const JOBS_MAX: usize = u8::MAX as usize + 1;

/// What a request does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum HostOp {
    /// Read sectors.
    Read,
    /// Write sectors.
    Write,
    /// Declare sectors unused (NVMe deallocate, SCSI unmap, ATA TRIM).
    Trim,
    /// Make every acknowledged write durable.
    Flush,
}

impl HostOp {
    /// All operations, in the order tables list them.
    pub const ALL: [HostOp; 4] = [HostOp::Read, HostOp::Write, HostOp::Trim, HostOp::Flush];

    /// The word used in tables and files.
    pub const fn name(self) -> &'static str {
        match self {
            HostOp::Read => "read",
            HostOp::Write => "write",
            HostOp::Trim => "trim",
            HostOp::Flush => "flush",
        }
    }
}

/// The NVMe queue priority classes, most urgent first. A drive takes in urgent requests before all others and shares the rest of its intake among the others by
/// weight; inside, a die serves the reads of a higher class first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Priority {
    /// Served before everything else.
    Urgent,
    /// The largest share.
    High,
    /// The default.
    #[default]
    Normal,
    /// The smallest share.
    Low,
}

impl Priority {
    /// All classes, most urgent first.
    pub const ALL: [Priority; 4] = [Priority::Urgent, Priority::High, Priority::Normal, Priority::Low];

    /// The word used in tables and files.
    pub const fn name(self) -> &'static str {
        match self {
            Priority::Urgent => "urgent",
            Priority::High => "high",
            Priority::Normal => "normal",
            Priority::Low => "low",
        }
    }
}

/// One request of a workload. Addresses and sizes are in sectors of [`SECTOR_BYTES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostRequest {
    /// When the host issues it, in an open loop; ignored in a closed loop.
    pub at: Nanos,
    /// First sector.
    pub sector: u64,
    /// Number of sectors; zero only for a flush.
    pub sectors: u32,
    /// What it does.
    pub op: HostOp,
    /// The queue it comes through.
    pub priority: Priority,
    /// Force unit access: a write is acknowledged only when it is durable.
    pub fua: bool,
    /// A write of data that may stay readable on the chips once it is stale. What is not marked is secret where the drive has a sanitiser (002 §6).
    pub insecure: bool,
    /// The job that it is of.
    pub job: JobId,
}

impl HostRequest {
    /// One of normal priority, neither durable at once nor insecure, for a load that does not say when it comes.
    pub const fn new(op: HostOp, sector: u64, sectors: u32) -> HostRequest {
        HostRequest { at: Nanos::ZERO, sector, sectors, op, priority: Priority::Normal, fua: false, insecure: false, job: JobId(0) }
    }
}
