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
    /// The byte after the highest one, rounded up to whole sectors.
    pub(crate) end: u64,
    /// The same of reads and writes alone.
    pub(crate) touched_end: u64,
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
        let mut extents: Vec<VolumeExtent> = Vec::new();
        for record in reader.by_ref() {
            let record = record?;
            let volume = record.volume as usize;
            if volume >= extents.len() {
                extents.resize_with(volume + 1, VolumeExtent::default);
                touched.resize_with(volume + 1, Pages::default);
            }
            add(&record, unit, &mut extents[volume], &mut touched[volume]);
        }
        let volumes = extents.into_iter().zip(touched).map(|(extent, pages)| VolumeExtent { touched: pages.ranked(), ..extent }).collect();
        Ok(Footprint { unit, volumes })
    }

    /// The grain at which addresses are moved.
    pub fn unit(&self) -> Bytes {
        Bytes(self.unit)
    }

    /// Bytes that a drive needs to hold every volume at its own addresses, side by side. Each begins at a whole unit, and the last ends at its last sector.
    pub fn reach(&self) -> Bytes {
        self.needed(|volume| volume.size, |volume| volume.end)
    }

    /// Bytes that a drive needs to hold the touched units only; of the last one, as much as is touched.
    pub fn touched(&self) -> Bytes {
        let size = |volume: &VolumeExtent| volume.touched.count().saturating_mul(self.unit);
        self.needed(size, |volume| size(volume) - (volume.touched_end.next_multiple_of(self.unit) - volume.touched_end))
    }

    /// Bytes that volumes of these sizes need, which end there.
    fn needed(&self, size: impl Fn(&VolumeExtent) -> u64, end: impl Fn(&VolumeExtent) -> u64) -> Bytes {
        let (mut base, mut needed): (u64, u64) = (0, 0);
        for volume in self.volumes.iter().filter(|volume| size(volume) > 0) {
            needed = base.saturating_add(end(volume));
            base = base.saturating_add(size(volume));
        }
        Bytes(needed)
    }
}

fn add(record: &TraceRecord, unit: u64, extent: &mut VolumeExtent, touched: &mut Pages) {
    if record.op == HostOp::Flush || record.length.0 == 0 {
        return;
    }
    let last = (record.end().0 - 1) / unit;
    let end = record.end().0.div_ceil(SECTOR_BYTES) * SECTOR_BYTES;
    extent.size = extent.size.max((last + 1).saturating_mul(unit));
    extent.end = extent.end.max(end);
    match record.op {
        HostOp::Read | HostOp::Write => {
            touched.add(record.offset.0 / unit, last);
            extent.touched_end = extent.touched_end.max(end);
        }
        HostOp::Trim | HostOp::Flush | HostOp::Hint => {}
    }
}
