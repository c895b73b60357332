//! Requests that failed: how many of one run, and of which drives of a report.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{DriveResult, HostResult, Report};
use crate::grid::CellResult;
use crate::text::{count, number};

/// Requests that failed in part or whole.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FailedResult {
    /// Failed reads.
    #[schemars(extend("x-unit" = "requests"))]
    pub reads: u64,
    /// Failed writes.
    #[schemars(extend("x-unit" = "requests"))]
    pub writes: u64,
    /// Failed trims.
    #[schemars(extend("x-unit" = "requests"))]
    pub trims: u64,
    /// Failed flushes.
    #[schemars(extend("x-unit" = "requests"))]
    pub flushes: u64,
}

/// Cost of the faults of a run's schedule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LostResult {
    /// Bytes that were lost when the drive had come to rest after the run: nobody has written or trimmed them since.
    #[schemars(extend("x-unit" = "B"))]
    pub bytes: u64,
    /// Requests that failed for it, among those that failed.
    #[schemars(extend("x-unit" = "requests"))]
    pub failed: u64,
    /// Faults whose instant the run did not reach.
    pub faults_to_come: u64,
}

/// What a drive failed to do, over all seeds with which it failed anything.
#[derive(Clone, Copy, Debug)]
pub struct Failures<'a> {
    /// The cell, where there are several.
    pub cell: Option<&'a CellResult>,
    /// The drive's name.
    pub drive: &'a str,
    /// Requests that failed in part or whole.
    pub failed: u64,
    /// Requests that were asked for.
    pub asked: u64,
    /// When it wore out first.
    pub worn_out_seconds: Option<f64>,
}

impl fmt::Display for Failures<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cell = self.cell.map(|cell| format!(", {}", cell.title())).unwrap_or_default();
        let share = crate::text::share(self.failed as f64 / self.asked as f64);
        write!(f, "{}{cell}: {} of {} requests failed ({share})", self.drive, count(self.failed), count(self.asked))?;
        match self.worn_out_seconds {
            Some(seconds) => write!(f, "; worn out after {} s", number(seconds)),
            None => Ok(()),
        }
    }
}

impl HostResult {
    /// Requests that were answered, well or not.
    pub fn asked(&self) -> u64 {
        self.reads + self.writes + self.trims + self.flushes + self.failed
    }
}

impl Report {
    /// Drives that failed requests, over all their seeds, in each cell. Failures for a fault of a run's schedule were asked for.
    pub fn failures(&self) -> Vec<Failures<'_>> {
        let unexplained = |drive: &DriveResult| drive.host.failed - drive.lost.map_or(0, |lost| lost.failed);
        let mut all: Vec<Failures<'_>> = Vec::new();
        for (cell, drive) in self.runs().filter(|(_, drive)| unexplained(drive) > 0) {
            let of =
                |known: &&mut Failures<'_>| known.drive == drive.name && known.cell.map(std::ptr::from_ref) == cell.map(std::ptr::from_ref);
            let known = match all.iter_mut().find(of) {
                Some(known) => known,
                None => {
                    all.push(Failures { cell, drive: &drive.name, failed: 0, asked: 0, worn_out_seconds: None });
                    all.last_mut().expect("just pushed")
                }
            };
            known.failed += unexplained(drive);
            known.asked += drive.host.asked();
            let first = known.worn_out_seconds.into_iter().chain(drive.worn_out_seconds).reduce(f64::min);
            known.worn_out_seconds = first;
        }
        all
    }
}
