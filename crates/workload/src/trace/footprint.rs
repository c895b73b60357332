//! The extents that a trace needs, from one pass over it.

use wordline_units::host::SECTOR_BYTES;
use wordline_units::{Bytes, HostOp};

use super::error::TraceError;
use super::pages::{Pages, RankedPages};
use super::{TraceReader, TraceRecord};

/// What one volume needs.
#[derive(Clone, Debug, Default)]
pub(crate) struct VolumeExtent {
    /// The byte after the highest one, rounded up to whole units.
    pub(crate) size: u64,
    /// The units that reads and writes touch.
    pub(crate) touched: RankedPages,
}

/// How far each volume of a trace reaches and which units of it are touched.
///
/// A unit is the grain at which addresses are moved, 4 KiB unless chosen otherwise. Trims count towards the reach only: a trim of
/// what was never read or written changes nothing.
#[derive(Clone, Debug)]
pub struct Footprint {
    unit: u64,
    pub(crate) volumes: Vec<VolumeExtent>,
}

impl Footprint {
    /// The usual unit.
    pub const UNIT: Bytes = Bytes::kib(4);

    /// Measure a whole trace. `unit` is rounded up to a multiple of the sector.
    pub fn measure(reader: &mut TraceReader<'_>, unit: Bytes) -> Result<Footprint, TraceError> {
        let unit = unit.0.max(1).div_ceil(SECTOR_BYTES).saturating_mul(SECTOR_BYTES).min(1 << 40);
        let mut touched: Vec<Pages> = Vec::new();
        let mut reach: Vec<u64> = Vec::new();
        for record in reader.by_ref() {
            let record = record?;
            let volume = record.volume as usize;
            if volume >= reach.len() {
                reach.resize(volume + 1, 0);
                touched.resize_with(volume + 1, Pages::default);
            }
            add(&record, unit, &mut reach[volume], &mut touched[volume]);
        }
        let volumes = reach.into_iter().zip(touched).map(|(size, pages)| VolumeExtent { size, touched: pages.ranked() }).collect();
        Ok(Footprint { unit, volumes })
    }

    /// The grain at which addresses are moved.
    pub fn unit(&self) -> Bytes {
        Bytes(self.unit)
    }

    /// What a drive needs to hold every volume at its own addresses, side by side.
    pub fn reach(&self) -> Bytes {
        Bytes(self.volumes.iter().fold(0, |sum: u64, volume| sum.saturating_add(volume.size)))
    }

    /// What a drive needs to hold the touched units only.
    pub fn touched(&self) -> Bytes {
        Bytes(self.volumes.iter().fold(0, |sum: u64, volume| sum.saturating_add(volume.touched.count().saturating_mul(self.unit))))
    }
}

fn add(record: &TraceRecord, unit: u64, reach: &mut u64, touched: &mut Pages) {
    if record.op == HostOp::Flush || record.length.0 == 0 {
        return;
    }
    let last = (record.end().0 - 1) / unit;
    *reach = (*reach).max((last + 1).saturating_mul(unit));
    match record.op {
        HostOp::Read | HostOp::Write => touched.add(record.offset.0 / unit, last),
        HostOp::Trim | HostOp::Flush => {}
    }
}
