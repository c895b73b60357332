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
    /// Declare which latency reads of sectors may have (NVMe dataset management). The class travels as the tolerance of the request's attributes.
    Hint,
}

impl HostOp {
    /// All operations, in the order tables list them.
    pub const ALL: [HostOp; 5] = [HostOp::Read, HostOp::Write, HostOp::Trim, HostOp::Flush, HostOp::Hint];

    /// The word used in tables and files.
    pub const fn name(self) -> &'static str {
        match self {
            HostOp::Read => "read",
            HostOp::Write => "write",
            HostOp::Trim => "trim",
            HostOp::Flush => "flush",
            HostOp::Hint => "hint",
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

/// Time that the host tolerates for a read, strictest first, as NVMe's dataset management has it (access latency).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Tolerance {
    /// As short as possible.
    Shortest,
    /// Typical latency.
    Typical,
    /// Longer latency is acceptable.
    Longer,
    /// None was given.
    #[default]
    Default,
}

impl Tolerance {
    /// All classes, strictest first.
    pub const ALL: [Tolerance; 4] = [Tolerance::Shortest, Tolerance::Typical, Tolerance::Longer, Tolerance::Default];

    /// The word used in tables and files.
    pub const fn name(self) -> &'static str {
        match self {
            Tolerance::Shortest => "shortest",
            Tolerance::Typical => "typical",
            Tolerance::Longer => "longer",
            Tolerance::Default => "default",
        }
    }
}

/// Attributes of a request. They travel with it, with its units and with the flash operations for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
// One word, so that a copy is one move.
#[repr(align(4))]
pub struct Attributes {
    /// Queue through which the request comes.
    pub priority: Priority,
    /// Data of a write that must not stay readable on the chips once it is stale, where the drive has a sanitiser (002 §6).
    pub secure: bool,
    /// Tolerated latency of reads: of the sectors of a hint, and of the data of a write. Reads ignore it.
    pub tolerance: Tolerance,
}

const _: () = assert!(size_of::<Attributes>() <= 4 && size_of::<Option<Attributes>>() <= 4);

impl Attributes {
    /// Attributes of a request that declares none: normal priority, secure data, no tolerance.
    pub const NONE: Attributes = Attributes::of(Priority::Normal);

    /// Attributes of a request of `priority` that declares nothing else.
    pub const fn of(priority: Priority) -> Attributes {
        Attributes { priority, secure: true, tolerance: Tolerance::Default }
    }

    /// The stricter of each attribute of `self` and `other`, for data that has come with both.
    #[must_use]
    pub fn strictest(self, other: Attributes) -> Attributes {
        Attributes {
            priority: self.priority.min(other.priority),
            secure: self.secure | other.secure,
            tolerance: self.tolerance.min(other.tolerance),
        }
    }

    /// The same attributes with this tolerance.
    #[must_use]
    pub const fn with_tolerance(self, tolerance: Tolerance) -> Attributes {
        Attributes { tolerance, ..self }
    }

    /// The same attributes of data that is secure or not.
    #[must_use]
    pub const fn with_secure(self, secure: bool) -> Attributes {
        Attributes { secure, ..self }
    }
}

impl Default for Attributes {
    fn default() -> Attributes {
        Attributes::NONE
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
    /// Its attributes.
    pub attributes: Attributes,
    /// Force unit access: a write is acknowledged only when it is durable.
    pub fua: bool,
    /// The job that it is of.
    pub job: JobId,
}

impl HostRequest {
    /// Creates a request without attributes that need not be durable at once, for a load without times.
    pub const fn new(op: HostOp, sector: u64, sectors: u32) -> HostRequest {
        HostRequest { at: Nanos::ZERO, sector, sectors, op, attributes: Attributes::NONE, fua: false, job: JobId(0) }
    }

    /// Creates a hint that reads of `sectors` sectors from `sector` may have the latency of `tolerance`.
    pub const fn hint(sector: u64, sectors: u32, tolerance: Tolerance) -> HostRequest {
        HostRequest { attributes: Attributes::NONE.with_tolerance(tolerance), ..HostRequest::new(HostOp::Hint, sector, sectors) }
    }
}
