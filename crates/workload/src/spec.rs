//! What a synthetic workload does, as data: phases, each with a mix, sizes, addresses and arrivals.
//!
//! The same values come from a TOML file ([`WorkloadSpec::parse`]), from the built-in files ([`WorkloadSpec::built_in`]) or from
//! code. Whether they can be run on a drive of some capacity is decided when a generator is made.

mod built_in;
mod check;
mod error;
mod jobs;
pub(crate) mod quantity;
mod raw;

use wordline_units::host::SECTOR_BYTES;
use wordline_units::{Bytes, Nanos, Priority, Tolerance};

pub(crate) use check::{Streams, from_toml, streams};
pub use error::SpecError;
pub use jobs::{JobsPhase, JobsSpec};

/// Reads a time, such as "10 ms".
///
/// # Errors
/// Says what is wrong with the text, and which units there are.
pub fn read_time(text: &str) -> Result<Nanos, String> {
    quantity::parse(text)
}

/// Reads a size, such as "4 KiB".
///
/// # Errors
/// Says what is wrong with the text, and which units there are.
pub(crate) fn read_bytes(text: &str) -> Result<Bytes, String> {
    quantity::parse(text)
}

/// A workload: phases one after another.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkloadSpec {
    /// Its name in tables.
    pub name: String,
    /// What it is for, in a sentence.
    pub purpose: String,
    /// What it does, in order.
    pub phases: Vec<PhaseSpec>,
}

/// One phase.
#[derive(Clone, Debug, PartialEq)]
pub struct PhaseSpec {
    /// Its name in tables.
    pub name: String,
    /// When it ends: at whichever limit is reached first. At least one is set.
    pub limit: Limit,
    /// Where the part of the drive that it uses begins.
    pub start: Amount,
    /// How large that part is.
    pub span: Amount,
    /// Requests begin at multiples of this from the start of the part; `None` takes the smallest size.
    pub align: Option<Bytes>,
    /// What requests do.
    pub mix: Mix,
    /// The share of writes with forced unit access.
    pub fua: f64,
    /// After how many writes a flush follows, at the same time as the last of them. It counts toward no limit, and is none of the shares of `mix`.
    pub flush_every: Option<u64>,
    /// How large requests are: each size with its share.
    pub sizes: Vec<(Bytes, f64)>,
    /// Where they go.
    pub address: Address,
    /// When they come.
    pub arrival: Arrival,
    /// The class of every request.
    pub priority: Priority,
    /// Latency that reads of its part of the drive may have: one hint for the part comes first, and counts toward no limit. `None`: no hint.
    pub tolerance: Option<Tolerance>,
}

/// The end of a phase.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Limit {
    /// After this many requests.
    pub requests: Option<u64>,
    /// After this many bytes read, written and trimmed.
    pub bytes: Option<Amount>,
    /// After this time. In a closed loop only the driver of the workload knows the time and has to end the phase.
    pub time: Option<Nanos>,
}

/// An amount of data, absolute or relative to the drive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Amount {
    /// Number of bytes.
    Bytes(Bytes),
    /// This fraction of the drive's capacity.
    OfDrive(f64),
}

impl Amount {
    /// The bytes on a drive of `capacity`.
    pub fn on(self, capacity: Bytes) -> Bytes {
        match self {
            Amount::Bytes(bytes) => bytes,
            Amount::OfDrive(fraction) => Bytes((capacity.0 as f64 * fraction) as u64),
        }
    }
}

/// Requests per second, absolute or relative to the drive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rate {
    /// Requests per second.
    PerSecond(f64),
    /// Requests per second for each GiB of the drive's capacity, so that drives of any size have as many requests of each block.
    PerGib(f64),
}

impl Rate {
    /// Requests per second on a drive of `capacity`.
    pub fn on(self, capacity: Bytes) -> f64 {
        match self {
            Rate::PerSecond(rate) => rate,
            Rate::PerGib(rate) => rate * capacity.0 as f64 / Bytes::gib(1).0 as f64,
        }
    }
}

/// Shares of the operations; they sum to one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Mix {
    /// Share of reads.
    pub read: f64,
    /// Share of writes.
    pub write: f64,
    /// Share of trims.
    pub trim: f64,
    /// Share of flushes.
    pub flush: f64,
}

impl Mix {
    /// Reads at this share, writes for the rest.
    pub fn reads(share: f64) -> Mix {
        Mix { read: share, write: 1.0 - share, ..Mix::default() }
    }
}

/// Where requests go.
#[derive(Clone, Debug, PartialEq)]
pub enum Address {
    /// Every place equally likely.
    Uniform,
    /// Every place once, in a random order, and then again in another one.
    Shuffled,
    /// The r-th most popular place with a weight of 1 / r^theta.
    Zipf {
        /// The skew; 0.99 is usual.
        theta: f64,
        /// Whether popular places lie apart, rather than at the beginning.
        scatter: bool,
    },
    /// A hot part of the space that gets most of the traffic.
    HotCold {
        /// The hot fraction of the space.
        hot: f64,
        /// The fraction of the traffic that goes there.
        traffic: f64,
        /// Whether hot places lie apart, rather than at the beginning.
        scatter: bool,
    },
    /// Zones side by side from the beginning of the space, each with a share of the traffic.
    Zoned(Vec<Zone>),
    /// Each request begins where the last one of its stream ended.
    Sequential {
        /// How many streams take turns, each in a part of the space of its own.
        streams: u32,
    },
    /// Each request follows one of several patterns, by share.
    Mixed(Vec<(f64, Address)>),
}

/// One zone of [`Address::Zoned`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Zone {
    /// The fraction of the traffic that goes there; those of all zones sum to one.
    pub share: f64,
    /// Share or size of the space. A fraction is one of the space of the phase, not of the drive. Either all zones of a pattern have fractions, which sum to
    /// one, or all have bytes, and space behind the last zone gets nothing.
    pub span: Amount,
}

/// When requests come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Arrival {
    /// A new one as soon as fewer than this many are outstanding.
    Closed {
        /// How many are outstanding.
        queue_depth: u32,
        /// Gaps between some of them.
        gaps: Option<Gaps>,
    },
    /// At times of their own, whatever the drive does.
    Open {
        /// Requests per second, on average while busy.
        rate: Rate,
        /// How the gaps vary.
        process: Process,
        /// Times without any request in between.
        burst: Option<Burst>,
    },
}

/// Gaps between requests of a closed loop: of each cycle the first come without a gap, and each of the others once all before it are
/// answered and a gap is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gaps {
    /// Requests of a cycle that come without a gap.
    pub run: u64,
    /// Requests of a cycle.
    pub cycle: u64,
    /// Time without any request.
    pub gap: Nanos,
}

/// How the gaps between requests of an open loop vary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Process {
    /// Independent of each other: exponential gaps.
    #[default]
    Poisson,
    /// All alike.
    Constant,
}

/// Busy and idle times that alternate, busy first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Burst {
    /// How long requests come.
    pub busy: Nanos,
    /// How long none comes.
    pub idle: Nanos,
}

impl WorkloadSpec {
    /// Read a workload file; `file` is its name in messages.
    pub fn parse(text: &str, file: &str) -> Result<WorkloadSpec, SpecError> {
        match streams(text, file)? {
            Streams::Phases(spec) => Ok(spec),
            Streams::Jobs(_) => Err(SpecError::at(file, "", None, "this workload has [[jobs]], and no [[phases]]")),
        }
    }

    /// The names of the built-in workloads, the default first.
    pub fn built_in_names() -> Vec<&'static str> {
        built_in::names().collect()
    }

    /// The built-in workload of this name.
    pub fn built_in(name: &str) -> Result<WorkloadSpec, SpecError> {
        match built_in::text(name) {
            Some(text) => WorkloadSpec::parse(text, &format!("{name}.toml")),
            None => Err(crate::AnySpec::unknown(name)),
        }
    }

    /// The text of the built-in workload of this name, comments included.
    pub fn built_in_text(name: &str) -> Option<&'static str> {
        built_in::text(name)
    }
}

impl PhaseSpec {
    /// A phase of 4 KiB reads, uniform over the drive, 32 at a time, that ends at `limit`; change what differs.
    pub fn new(name: &str, limit: Limit) -> PhaseSpec {
        PhaseSpec {
            name: name.to_owned(),
            limit,
            start: Amount::Bytes(Bytes(0)),
            span: Amount::OfDrive(1.0),
            align: None,
            mix: Mix::reads(1.0),
            fua: 0.0,
            flush_every: None,
            sizes: vec![(Bytes::kib(4), 1.0)],
            address: Address::Uniform,
            arrival: Arrival::Closed { queue_depth: 32, gaps: None },
            priority: Priority::Normal,
            tolerance: None,
        }
    }

    /// The mean size of its requests in bytes.
    pub fn mean_size(&self) -> f64 {
        let (bytes, shares) =
            self.sizes.iter().fold((0.0, 0.0), |(bytes, shares), (size, share)| (bytes + size.0 as f64 * share, shares + share));
        if shares > 0.0 { (bytes / shares).max(SECTOR_BYTES as f64) } else { SECTOR_BYTES as f64 }
    }

    /// Number of requests that are outstanding; `None` in an open loop.
    pub fn queue_depth(&self) -> Option<u32> {
        match self.arrival {
            Arrival::Closed { queue_depth, .. } => Some(queue_depth),
            Arrival::Open { .. } => None,
        }
    }

    /// Gaps between requests of a closed loop, if there are any.
    pub fn gaps(&self) -> Option<Gaps> {
        match self.arrival {
            Arrival::Closed { gaps, .. } => gaps,
            Arrival::Open { .. } => None,
        }
    }

    /// Whether it ends by itself.
    pub fn has_end(&self) -> bool {
        self.limit != Limit::default()
    }
}

impl Limit {
    /// No end: for a driver that stops by a rule of its own.
    pub fn none() -> Limit {
        Limit::requests(u64::MAX)
    }

    /// After `count` requests.
    pub fn requests(count: u64) -> Limit {
        Limit { requests: Some(count), ..Limit::default() }
    }

    /// After `amount` of data.
    pub fn bytes(amount: Amount) -> Limit {
        Limit { bytes: Some(amount), ..Limit::default() }
    }

    /// After `span`.
    pub fn time(span: Nanos) -> Limit {
        Limit { time: Some(span), ..Limit::default() }
    }
}
