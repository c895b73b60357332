//! Where the volumes of a trace lie on one drive.
//!
//! Volumes stand side by side, each as large as its highest byte needs. If that is more than the drive has, nothing is silently
//! changed: a [`Fit`] other than [`Fit::Reject`] has to be asked for, because each distorts the trace in a way of its own.

use std::fmt;

use wordline_units::host::SECTOR_BYTES;
use wordline_units::{Bytes, HostOp};

use crate::trace::{Footprint, TraceRecord};
use crate::words::did_you_mean;

/// What to do with addresses beyond the drive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Fit {
    /// Refuse the trace, and say what it needs.
    #[default]
    Reject,
    /// Addresses modulo the capacity: distances within the drive stay, but distant data falls on the same place, so that overwrites
    /// rise. A request across the end is split, and goes on at the beginning.
    Wrap,
    /// Addresses shrunk in proportion, unit by unit: the order stays, but neighbouring units fall together and runs break up. A request across the end is
    /// moved to end there, and one longer than the drive is clipped.
    Scale,
    /// Touched units packed side by side in the order of their addresses, so that runs stay runs and overwrites stay exact; the
    /// untouched space between is lost. Trims shrink to the touched units they cover, and vanish if there are none.
    Compact,
}

impl Fit {
    /// Every way, the default first.
    pub const ALL: [Fit; 4] = [Fit::Reject, Fit::Wrap, Fit::Scale, Fit::Compact];

    /// The word on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Fit::Reject => "reject",
            Fit::Wrap => "wrap",
            Fit::Scale => "scale",
            Fit::Compact => "compact",
        }
    }

    /// The way of this name.
    pub fn parse(name: &str) -> Result<Fit, FitError> {
        let lower = name.trim().to_ascii_lowercase();
        let known = Fit::ALL.map(Fit::name);
        Fit::ALL
            .into_iter()
            .find(|fit| fit.name() == lower)
            .ok_or_else(|| FitError::Unknown { name: name.to_owned(), hint: did_you_mean(&lower, known) })
    }
}

impl fmt::Display for Fit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A trace that does not fit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FitError {
    /// The addresses reach beyond the drive.
    #[error(
        "the trace reaches byte {} ({reach}) and the drive has {capacity}: give it at least {reach}, or choose a fit of 'wrap' \
         (addresses modulo the capacity), 'scale' (shrunk in proportion) or 'compact' (only the {touched} that are touched)",
        reach.0
    )]
    Beyond {
        /// What the trace needs.
        reach: Bytes,
        /// What the drive has.
        capacity: Bytes,
        /// What the touched units need.
        touched: Bytes,
    },
    /// Even the touched units are too many.
    #[error("the trace touches {touched} and the drive has {capacity}: even 'compact' cannot hold it; choose 'wrap' or 'scale'")]
    TouchedBeyond {
        /// What the touched units need.
        touched: Bytes,
        /// What the drive has.
        capacity: Bytes,
    },
    /// The drive is smaller than one unit.
    #[error("the drive has {capacity}, less than one unit of {unit}")]
    NoRoom {
        /// What the drive has.
        capacity: Bytes,
        /// The grain of addresses.
        unit: Bytes,
    },
    /// There is no such fit.
    #[error("'{name}' is not a fit; known are reject, wrap, scale, compact{hint}")]
    Unknown {
        /// What was asked.
        name: String,
        /// `; did you mean …?`, or empty.
        hint: String,
    },
}

/// Changes that a fit has made to the requests of a trace, of those placed so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Requests at another address than their own: that of their volume, behind the volumes before it.
    pub elsewhere: u64,
    /// Requests across the end of the drive that were split, and went on at its beginning.
    pub split: u64,
    /// Requests across the end of the drive that were moved to end there.
    pub moved: u64,
    /// Requests of which a part was left out.
    pub clipped: u64,
    /// The bytes that were left out of them.
    pub clipped_bytes: u64,
    /// Trims that were shrunk to the touched units that they cover.
    pub shrunk_trims: u64,
    /// Trims that were left out, because they cover no touched unit.
    pub dropped_trims: u64,
    /// Requests that were widened to whole sectors.
    pub widened: u64,
}

/// The place of one request on a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    /// The first sector.
    pub sector: u64,
    /// The number of sectors from there on.
    pub sectors: u32,
    /// The number of sectors that follow from the beginning of the drive on, as often round as they need.
    pub rest: u64,
}

/// The map from the addresses of a trace to those of one drive.
#[derive(Clone, Debug)]
pub struct Placement {
    fit: Fit,
    unit: u64,
    capacity: u64,
    reach: u64,
    bases: Vec<u64>,
    footprint: Footprint,
}

impl Placement {
    /// Place the volumes of `footprint` on a drive of `capacity`.
    pub fn new(footprint: Footprint, capacity: Bytes, fit: Fit) -> Result<Placement, FitError> {
        let (unit, reach, touched) = (footprint.unit(), footprint.reach(), footprint.touched());
        if capacity < unit {
            return Err(FitError::NoRoom { capacity, unit });
        }
        match fit {
            Fit::Reject if reach.0 > capacity.0 => return Err(FitError::Beyond { reach, capacity, touched }),
            Fit::Compact if touched > capacity => return Err(FitError::TouchedBeyond { touched, capacity }),
            Fit::Reject | Fit::Wrap | Fit::Scale | Fit::Compact => {}
        }
        let size = |index: usize| match fit {
            Fit::Compact => footprint.volumes[index].touched.count().saturating_mul(unit.0),
            Fit::Reject | Fit::Wrap | Fit::Scale => footprint.volumes[index].size,
        };
        let mut bases = Vec::with_capacity(footprint.volumes.len());
        let mut base: u64 = 0;
        for index in 0..footprint.volumes.len() {
            bases.push(base);
            base = base.saturating_add(size(index));
        }
        Ok(Placement { fit, unit: unit.0, capacity: capacity.0 - capacity.0 % SECTOR_BYTES, reach: reach.0, bases, footprint })
    }

    /// How addresses beyond the drive are treated.
    pub fn fit(&self) -> Fit {
        self.fit
    }

    /// How many volumes were placed.
    pub fn volumes(&self) -> usize {
        self.bases.len()
    }

    /// Bytes that the volumes need side by side.
    pub fn reach(&self) -> Bytes {
        Bytes(self.reach)
    }

    /// The number of sectors of the drive.
    pub fn sectors(&self) -> u64 {
        self.capacity / SECTOR_BYTES
    }

    /// The place of `record` on the drive, widened to sector bounds; `None` for a trim or a hint of nothing. Whatever the fit changes about it is counted in
    /// `changes`, but for hints that are shrunk or left out. The record's volume must be one of those placed.
    pub fn place(&self, record: &TraceRecord, changes: &mut Changes) -> Option<Placed> {
        let base = *self.bases.get(record.volume as usize)?;
        let start = record.offset.0 - record.offset.0 % SECTOR_BYTES;
        let end = record.end().0.div_ceil(SECTOR_BYTES) * SECTOR_BYTES;
        let (own, length) = (base.saturating_add(start), end - start);
        let (at, fitting) = match self.fit {
            Fit::Compact => {
                let packed = self.packed(record, start, end);
                changes.dropped_trims += u64::from(packed.is_none() && record.op == HostOp::Trim);
                packed?
            }
            Fit::Reject => (own, length),
            Fit::Wrap => (own % self.capacity, length),
            Fit::Scale => (self.scaled(own), length.min(self.capacity)),
        };
        let most = fitting.min(u64::from(u32::MAX) * SECTOR_BYTES);
        let room = self.capacity - at.min(self.capacity);
        // Scaled by whole units, the last requests of a trace may have less room behind them than they had.
        let (at, rest) = match self.fit {
            Fit::Scale if most > room => (self.capacity - most, 0),
            Fit::Reject | Fit::Wrap | Fit::Scale | Fit::Compact => (at, most.saturating_sub(room)),
        };
        changes.widened += u64::from(start != record.offset.0 || end != record.end().0);
        changes.elsewhere += u64::from(at != own);
        changes.split += u64::from(rest > 0);
        match (self.fit, most < length) {
            (Fit::Scale, false) => changes.moved += u64::from(most > room),
            (Fit::Compact, true) => changes.shrunk_trims += u64::from(record.op == HostOp::Trim),
            (_, true) => {
                changes.clipped += 1;
                changes.clipped_bytes += length - most;
            }
            (_, false) => {}
        }
        let sectors = u32::try_from((most - rest) / SECTOR_BYTES).unwrap_or(u32::MAX);
        Some(Placed { sector: at / SECTOR_BYTES, sectors, rest: rest / SECTOR_BYTES })
    }

    fn scaled(&self, start: u64) -> u64 {
        if self.reach <= self.capacity {
            return start;
        }
        let units =
            u128::from(start / self.unit) * u128::from(self.capacity / self.unit) / u128::from(self.reach.div_ceil(self.unit)).max(1);
        u64::try_from(units).unwrap_or(u64::MAX).saturating_mul(self.unit).saturating_add(start % self.unit)
    }

    /// Every unit that a read or write covers is touched, by that very request, so ranks within it are consecutive and the request
    /// stays in one piece.
    fn packed(&self, record: &TraceRecord, start: u64, end: u64) -> Option<(u64, u64)> {
        let base = self.bases.get(record.volume as usize)?;
        let touched = &self.footprint.volumes.get(record.volume as usize)?.touched;
        let packed = |byte: u64| {
            let unit = byte / self.unit;
            let rank = touched.rank(unit);
            let inside = if touched.rank(unit + 1) > rank { byte % self.unit } else { 0 };
            base + rank * self.unit + inside
        };
        let from = packed(start);
        match record.op {
            HostOp::Read | HostOp::Write => Some((from, end - start)),
            HostOp::Trim | HostOp::Flush | HostOp::Hint => {
                // The drive may hold no more of the last touched unit than what is touched.
                let to = packed(end).min(self.capacity);
                (to > from).then(|| (from, to - from))
            }
        }
    }
}
