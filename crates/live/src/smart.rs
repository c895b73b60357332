//! Health counters of a drive, as in SMART and NVMe's health log.

use wordline_drive::{Health, Watched};
use wordline_units::host::SECTOR_BYTES;
use wordline_units::{Bytes, Cause, FlashOp, HostOp};

use crate::disk::Watch;

/// Counts of the firmware over all its starts, and of this one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Life {
    /// Times the drive has started.
    pub power_cycles: u64,
    /// Starts after a power loss without warning.
    pub unsafe_shutdowns: u64,
    /// Mapping units whose newest version could not be read at this start, as far as the start looked.
    pub units_lost: u64,
}

/// The counters of health at one instant. Blocks are block groups: one block of each plane of a die.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Smart {
    /// Flash reads that could not be corrected, all tries together, since the start.
    pub media_errors: u64,
    /// Counts of the firmware over its starts.
    pub life: Life,
    /// Spare blocks, grown bad blocks, and units that cannot be read or are refused.
    pub health: Health,
    /// Mean erases of a block in service.
    pub erases_mean: f64,
    /// Most erases of a block in service.
    pub erases_max: u32,
    /// Erases after which a block of this drive fails, if its plan has a limit.
    pub endurance: Option<u32>,
    /// Data that the host has written since the start.
    pub host_written: Bytes,
    /// Data that the host has read since the start.
    pub host_read: Bytes,
    /// Data that was written with zeroes since the start because it was trimmed and its mapping unit was not.
    pub zeroed_by_trims: Bytes,
    /// Trims of clients since the start that freed no mapping unit.
    pub trims_freed_nothing: u64,
    /// Flash pages that were programmed since the start, in bytes.
    pub flash_written: Bytes,
    /// Dies that have failed, as far as the firmware has noticed.
    pub dead_dies: u32,
}

impl Smart {
    /// Spare blocks left of those from the factory, in percent; `None`: the drive was made without.
    pub fn spare_percent(&self) -> Option<f64> {
        let Health { spares, spares_left, .. } = self.health;
        (spares > 0).then(|| spares_left as f64 * 100.0 / spares as f64)
    }

    /// Mean use of the blocks' endurance, in percent; `None`: the plan does not limit it.
    pub fn used_percent(&self) -> Option<f64> {
        self.endurance.map(|endurance| self.erases_mean * 100.0 / f64::from(endurance))
    }
}

/// Counts of trims since the start.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Trims {
    /// Bytes that were written with zeroes.
    pub(crate) zeroed: u64,
    /// Trims of clients that freed no unit.
    pub(crate) freed_nothing: u64,
}

/// Starts of the drive, from the firmware's journals.
fn history(drive: &Watched<Watch>) -> Life {
    // Each core has a journal of its own, and all of them start and stop together.
    let mut life = Life::default();
    for history in drive.firmware().iter().map(|core| core.history()) {
        life.power_cycles = life.power_cycles.max(history.starts);
        life.unsafe_shutdowns = life.unsafe_shutdowns.max(history.unsafe_shutdowns);
        life.units_lost += history.units_lost;
    }
    life
}

/// The counters of `drive` now, beside those of trims that its worker keeps.
pub(crate) fn smart(drive: &Watched<Watch>, trims: Trims) -> Smart {
    let config = drive.config();
    let totals = drive.observer.1.so_far();
    let (mut blocks, mut sum, mut erases_max) = (0u64, 0u64, 0);
    for block in drive.blocks().filter(|block| block.state != wordline_engine::BlockState::Bad) {
        blocks += 1;
        sum += u64::from(block.erases);
        erases_max = erases_max.max(block.erases);
    }
    let bytes = |op| Bytes(totals.host(op).sectors * SECTOR_BYTES);
    Smart {
        media_errors: Cause::ALL.into_iter().map(|cause| totals.flash(FlashOp::Read, cause).failed).sum(),
        life: history(drive),
        health: drive.health(),
        erases_mean: if blocks == 0 { 0.0 } else { sum as f64 / blocks as f64 },
        erases_max,
        endurance: config.faults.endurance,
        host_written: bytes(HostOp::Write),
        host_read: bytes(HostOp::Read),
        zeroed_by_trims: Bytes(trims.zeroed),
        trims_freed_nothing: trims.freed_nothing,
        flash_written: Bytes(totals.pages_programmed() * config.sheet.geometry.page.0),
        dead_dies: drive.failed_dies().count() as u32,
    }
}
