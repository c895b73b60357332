//! The fourth step of a run: rest, and the books held against each other.

use wordline_drive::Drive;
use wordline_report::Violation;

use crate::files::Files;
use crate::serve::Served;
use crate::watch::{Beside, Watch};

/// Number of valid units on the flash.
pub(crate) fn valid_units<F: Files, B: Beside>(drive: &Drive<Watch<F, B>>) -> u64 {
    drive.blocks().map(|block| u64::from(block.valid)).sum()
}

/// Brings a drive to rest whose load came to its end, and holds its books against each other: requests, valid units, every table of the firmware against the
/// flash, and the books of files against the drive's map. Returns what was violated; `valid_before`: units valid before the load.
///
/// # Errors
///
/// Tables that contradict each other.
pub(crate) fn settle<F: Files, B: Beside>(
    drive: &mut Drive<Watch<F, B>>,
    served: Served,
    valid_before: u64,
) -> Result<Vec<Violation>, String> {
    if served.is_whole {
        drive.settle();
        if served.is_all_measured {
            let valid_after = valid_units(drive);
            drive.observer.metrics_mut().check_valid_units(valid_before, valid_after);
        }
        drive.audit()?;
    }
    drive.observer.files().check(drive.mapped()).map_err(|problem| format!("VerTrace: {problem}"))?;
    Ok(drive.observer.metrics().violations())
}
