//! Records on their way from a line to a checked record.

use std::borrow::Cow;

use wordline_units::host::SECTOR_BYTES;
use wordline_units::{Bytes, HostOp, Nanos, Priority, Tolerance};

use super::TraceRecord;
use super::volumes::Volumes;

/// A record whose volume is still a name and whose extent has not been checked.
pub(crate) struct Draft<'a> {
    pub(crate) at: Option<Nanos>,
    pub(crate) volume: &'a [u8],
    pub(crate) op: HostOp,
    pub(crate) offset: u64,
    pub(crate) length: u64,
    pub(crate) latency: Option<Nanos>,
    pub(crate) fua: bool,
    pub(crate) priority: Option<Priority>,
    pub(crate) insecure: bool,
    pub(crate) tolerance: Tolerance,
    /// Whether a flush is asked for before it.
    pub(crate) flush_first: bool,
}

impl<'a> Draft<'a> {
    /// A request of which no more is known than every format tells.
    pub(crate) fn new(at: Option<Nanos>, volume: &'a [u8], op: HostOp, offset: u64, length: u64) -> Draft<'a> {
        let (latency, fua, priority, insecure, tolerance) = (None, false, None, false, Tolerance::Default);
        Draft { at, volume, op, offset, length, latency, fua, priority, insecure, tolerance, flush_first: false }
    }

    /// A flush, which is of no place.
    pub(crate) fn flush(at: Option<Nanos>, volume: &'a [u8]) -> Draft<'a> {
        Draft::new(at, volume, HostOp::Flush, 0, 0)
    }

    /// The record, its volume numbered by `volumes`.
    ///
    /// # Errors
    /// What was expected of it.
    pub(crate) fn check(&self, volumes: &mut Volumes) -> Result<TraceRecord, Cow<'static, str>> {
        let (offset, length) = if self.op == HostOp::Flush { (0, 0) } else { (self.offset, self.length) };
        let largest = match self.op {
            HostOp::Read | HostOp::Write => TraceRecord::LARGEST_TRANSFER,
            HostOp::Trim | HostOp::Hint => TraceRecord::LARGEST_TRIM,
            HostOp::Flush => Bytes(u64::MAX),
        };
        let op = self.op.name();
        if self.op != HostOp::Flush && length == 0 {
            return Err(format!("a {op} of at least one byte").into());
        }
        if length > largest.0 {
            return Err(format!("a {op} of at most {largest} (if sizes are in another unit, name the format)").into());
        }
        // Widening to sector bounds must not overflow either.
        if offset.checked_add(length).is_none_or(|end| end > u64::MAX - SECTOR_BYTES) {
            return Err("a request that ends below byte 2^64".into());
        }
        Ok(TraceRecord {
            at: self.at,
            volume: volumes.number(self.volume),
            op: self.op,
            offset: Bytes(offset),
            length: Bytes(length),
            latency: self.latency,
            fua: self.fua && self.op == HostOp::Write,
            priority: self.priority,
            insecure: self.insecure && self.op == HostOp::Write,
            tolerance: if matches!(self.op, HostOp::Write | HostOp::Hint) { self.tolerance } else { Tolerance::Default },
        })
    }
}
