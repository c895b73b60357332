//! The fourth step of a run: rest, and the books held against each other.
//!
//! The figures of a run are taken before this step, so nothing here changes them. A load that was cut short leaves requests in flight; they are served, the
//! write buffer is programmed, and then the tables are checked as after any other run. What that would take too long for is left out and told.

use wordline_drive::{Restless, Watched};
use wordline_figures::{Account, Violation};
use wordline_pages::number::count;

use crate::files::Files;
use crate::progress::CHUNK;
use crate::serve::Served;
use crate::watch::{Beside, Watch};

/// Largest drive, in mapping units, whose tables are audited although its load was cut short: it takes some seconds.
const AUDITED_MAX: u64 = 1 << 26;

/// Outcome of the checks that follow a load.
#[derive(Debug)]
pub(crate) struct Settled {
    /// Accounts that did not balance.
    pub(crate) violations: Vec<Violation>,
    /// Checks that were not made, each with the reason.
    pub(crate) not_made: Vec<String>,
}

/// Reason why a drive has not come to rest with its books in order.
#[derive(Debug)]
pub(crate) enum Unsettled {
    /// Work that goes on.
    Restless(Restless),
    /// Tables that contradict each other.
    Broken(String),
}

/// Number of valid units on the flash.
pub(crate) fn valid_units<F: Files, B: Beside>(drive: &Watched<Watch<F, B>>) -> u64 {
    drive.blocks().map(|block| u64::from(block.valid)).sum()
}

/// Brings a drive to rest whose load has ended, and holds its books against each other: requests, valid units, every table of the firmware against the flash,
/// and the books of files against the drive's map. `valid_before`: units valid before the load.
///
/// # Errors
///
/// The drive does not come to rest, or its tables contradict each other.
pub(crate) fn settle<F: Files, B: Beside>(
    drive: &mut Watched<Watch<F, B>>,
    served: Served,
    valid_before: u64,
) -> Result<Settled, Unsettled> {
    let mut not_made = Vec::new();
    let reason = if served.is_whole { None } else { too_long(u64::from(drive.outstanding()), drive.completed()) };
    if reason.is_none() {
        drive.try_settle().map_err(Unsettled::Restless)?;
    }
    match &reason {
        Some(reason) => not_made.push(format!("{}: {reason}", Account::ValidUnits.name())),
        None if !served.is_all_measured => not_made.push(format!("{}: the measured window began under load", Account::ValidUnits.name())),
        None => {
            let valid_after = valid_units(drive);
            drive.observer.metrics_mut().check_valid_units(valid_before, valid_after);
        }
    }
    match reason.or_else(|| if served.is_whole { None } else { too_large(drive.config().exported_units) }) {
        Some(reason) => not_made.push(format!("the firmware's tables agree with the flash: {reason}")),
        None => drive.audit().map_err(Unsettled::Broken)?,
    }
    drive.observer.files().check(drive.mapped()).map_err(|problem| Unsettled::Broken(format!("VerTrace: {problem}")))?;
    Ok(Settled { violations: drive.observer.metrics().violations(), not_made })
}

/// Reason not to serve `outstanding` requests that a load left in flight when it was cut short after `completed`: it would take longer than the run.
fn too_long(outstanding: u64, completed: u64) -> Option<String> {
    (outstanding > completed.max(CHUNK)).then(|| format!("the load was cut short with {} requests in flight", count(outstanding)))
}

/// Reason not to audit a drive of `units` mapping units whose load was cut short: it may take longer than the run.
fn too_large(units: u64) -> Option<String> {
    (units > AUDITED_MAX).then(|| format!("the load was cut short, and the drive has {} mapping units", count(units)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_takes_longer_than_a_cut_run_is_left_out_and_told() {
        assert_eq!([too_long(CHUNK, 0), too_long(70_000, 70_000), too_large(AUDITED_MAX)], [None, None, None]);
        let reason = too_long(70_001, 70_000).expect("it would double the run");
        assert_eq!(reason, "the load was cut short with 70,001 requests in flight");
        assert!(too_long(CHUNK + 1, 5).is_some());
        assert_eq!(too_large(100_000_000).as_deref(), Some("the load was cut short, and the drive has 100,000,000 mapping units"));
    }
}
