//! Data of traces: what a trace reads before it writes it was there when the trace was recorded, so it is written before the replay.

use wordline_drive::Watched;
use wordline_engine::Observer;
use wordline_units::host::SECTOR_BYTES;
use wordline_units::{HostOp, HostRequest};

use crate::error::RunError;
use crate::workload::Workload;

/// Units written by one request.
const UNITS: u64 = 32;

/// A set of mapping units.
struct UnitSet(Vec<u64>);

impl UnitSet {
    fn new(units: u64) -> UnitSet {
        UnitSet(vec![0; units.div_ceil(64) as usize])
    }

    fn has(&self, unit: u64) -> bool {
        self.0[(unit / 64) as usize] >> (unit % 64) & 1 == 1
    }

    /// Whether it is new.
    fn add(&mut self, unit: u64) -> bool {
        let is_new = !self.has(unit);
        self.0[(unit / 64) as usize] |= 1 << (unit % 64);
        is_new
    }
}

/// Writes to `drive`, in the order of their addresses and without that time passes, the units that the trace reads before it writes them and that hold
/// nothing. Returns how many there were; `None` where the workload is no trace.
pub(crate) fn prefill_reads<O: Observer>(drive: &mut Watched<O>, workload: &Workload) -> Result<Option<u64>, RunError> {
    let Workload::Traced(traced) = workload else { return Ok(None) };
    let config = drive.config();
    let (units, sectors, capacity) = (config.exported_units, config.firmware.unit.0 / SECTOR_BYTES, config.exported());
    let (mut seen, mut wanted) = (UnitSet::new(units), UnitSet::new(units));
    for request in traced.once(capacity)? {
        let request = request?;
        if request.sectors == 0 {
            continue;
        }
        for unit in request.sector / sectors..=(request.sector + u64::from(request.sectors) - 1) / sectors {
            if seen.add(unit) && request.op == HostOp::Read {
                wanted.add(unit);
            }
        }
    }
    let missing: Vec<u64> = (0..units).filter(|unit| wanted.has(*unit) && !drive.is_held(*unit)).collect();
    let mut at = 0;
    let mut writes = std::iter::from_fn(|| {
        let first = *missing.get(at)?;
        let more = missing[at..].iter().zip(first..).take_while(|(unit, next)| **unit == *next).count() as u64;
        let count = more.min(UNITS);
        at += count as usize;
        Some(HostRequest::new(HostOp::Write, first * sectors, (count * sectors) as u32))
    });
    drive.age(&mut writes, u64::MAX);
    if drive.is_worn_out() {
        return Err(RunError::WornOut);
    }
    Ok(Some(missing.len() as u64))
}
