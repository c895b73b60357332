//! Block-I/O traces: what a record says, how files are recognised and read, written, measured and described.

pub mod detect;
pub mod error;
pub mod footprint;
pub mod format;
pub mod info;
pub mod input;
pub mod meaning;
pub mod open;
pub mod order;
pub mod reader;
pub mod samples;
pub mod stats;
pub mod tick;
pub mod write;

mod ascii;
mod blktrace;
mod comma;
mod draft;
mod event;
mod fields;
mod foreign;
mod histogram;
mod iolog;
mod nearest;
pub(crate) mod own;
mod pages;
mod parser;
mod volumes;

use serde::Serialize;
use wordline_units::{Bytes, HostOp, Nanos, Priority, Tolerance};

pub use detect::Recognised;
pub use error::{LineFault, TraceError};
pub use footprint::Footprint;
pub use format::{Ascii, AsciiCode, AsciiTime, AsciiUnit, BlockEvent, Format, UnknownFormat};
pub use info::TraceInfo;
pub use meaning::Spaces;
pub use open::{files, open};
pub use order::Disorder;
pub use reader::{OnFault, ReadOptions, Skipped, TraceReader};
pub use stats::{TraceStats, VolumeStats};
pub use tick::Tick;
pub use write::{OutputFormat, TraceWriter, Written, convert};

/// One request of a trace, as the file gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct TraceRecord {
    /// When it was issued, by the trace's own clock (whose zero differs between traces); `None` where the file keeps only the order.
    #[serde(rename = "at_ns", serialize_with = "crate::serial::maybe_nanos")]
    pub at: Option<Nanos>,
    /// Which volume it went to, numbered in order of first appearance. Every volume has an address space of its own.
    pub volume: u32,
    /// What it does.
    #[serde(serialize_with = "crate::serial::op")]
    pub op: HostOp,
    /// First byte; zero for a flush.
    #[serde(serialize_with = "crate::serial::bytes")]
    pub offset: Bytes,
    /// Number of bytes; zero only for a flush.
    #[serde(serialize_with = "crate::serial::bytes")]
    pub length: Bytes,
    /// The response time the original system saw, where the file keeps it.
    #[serde(rename = "latency_ns", serialize_with = "crate::serial::maybe_nanos")]
    pub latency: Option<Nanos>,
    /// Force unit access.
    pub fua: bool,
    /// The queue it came through, where the file keeps it.
    #[serde(serialize_with = "crate::serial::maybe_priority")]
    pub priority: Option<Priority>,
    /// A write whose data need not be secret once it is stale.
    pub insecure: bool,
    /// Latency that later reads of its bytes may have, for a hint and a write.
    #[serde(serialize_with = "crate::serial::tolerance", skip_serializing_if = "is_default")]
    pub tolerance: Tolerance,
}

/// True if `tolerance` is that of a request without one.
fn is_default(tolerance: &Tolerance) -> bool {
    *tolerance == Tolerance::Default
}

impl TraceRecord {
    /// The largest read or write taken for real. Nothing in the field issues more; a larger one means that columns or units were
    /// mistaken.
    pub const LARGEST_TRANSFER: Bytes = Bytes::gib(1);
    /// The largest trim or hint: what fits the sector count of a request.
    pub const LARGEST_TRIM: Bytes = Bytes(u32::MAX as u64 * wordline_units::host::SECTOR_BYTES);

    /// The byte after the last one, which the readers guarantee not to overflow.
    pub fn end(&self) -> Bytes {
        Bytes(self.offset.0.saturating_add(self.length.0))
    }
}
