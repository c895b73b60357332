//! Effects of parts of dies that have failed for good on requests and data.

use wordline_engine::Completion;
use wordline_ftl::{Firmware, UnitAddr};
use wordline_units::host::SECTOR_BYTES;
use wordline_units::{BlockId, Bytes, HostOp, Id};

use crate::device::dies::Dies;
use crate::host::requests::Host;

/// True if a part of a die that has failed for good is the cause of the failure of the request that `done` completes: the data that it read lies there or was
/// lost there, or nothing can be written any more.
#[cold]
pub(crate) fn is_for_failure(done: &Completion, ftls: &[Firmware], host: &Host, dies: &Dies) -> bool {
    let &Completion { op, sector, sectors, die, .. } = done;
    if !dies.have_failures() {
        return false;
    }
    if op != HostOp::Read || die.is_some_and(|die| dies[die].has_failures()) {
        return true;
    }
    let (first, units) = host.units().touched(sector, sectors);
    (first..first + u64::from(units)).any(|unit| {
        let (core, lpn) = host.stripe().locate(unit);
        let ftl = &ftls[core as usize];
        // No die has ended it: the core gave it up with the die that it waited for, and the unit may have been written since.
        let is_given_up = die.is_none() && !ftl.is_refused(lpn);
        is_given_up || ftl.units_with_lost_sectors().any(|(unit, _)| unit == lpn) || has_failed_under(core, lpn, ftl, dies)
    })
}

/// True if the newest copy on flash of unit `lpn` of `core` lies on a part that has failed for good.
fn has_failed_under(core: u32, lpn: u32, ftl: &Firmware, dies: &Dies) -> bool {
    let (layout, addr) = (ftl.layout(), ftl.map().get(lpn));
    if addr == UnitAddr::NONE {
        return false;
    }
    let (group, place) = (layout.group(addr), layout.place(layout.offset(addr)));
    let chip = dies.of(core, layout.die(group));
    chip.has_failures() && chip.is_faulty(place.plane, BlockId(u32::from(ftl.groups().blocks(group)[place.plane.index()])), place.page)
}

/// Bytes that parts of dies that have failed for good have lost, in units of `unit` bytes: those of units whose newest copy lies there, and sectors that were
/// lost when they had to be moved. It walks the map.
pub(crate) fn lost_bytes(unit: Bytes, ftls: &[Firmware], dies: &Dies) -> Bytes {
    if !dies.have_failures() {
        return Bytes(0);
    }
    let of_core = |(core, ftl): (u32, &Firmware)| {
        let there = (0..ftl.map().exported()).filter(|&lpn| has_failed_under(core, lpn, ftl, dies)).count() as u64;
        let moved = ftl.units_with_lost_sectors().filter(|&(lpn, _)| !has_failed_under(core, lpn, ftl, dies));
        there * unit.0 + moved.map(|(_, sectors)| u64::from(sectors.count_ones()) * SECTOR_BYTES).sum::<u64>()
    };
    Bytes((0..).zip(ftls).map(of_core).sum())
}
