//! All runs of one command, and what they came to together.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::compare::Comparison;
use crate::grid::CellResult;
use crate::made_by::MadeBy;
use crate::result::DriveResult;
use crate::sweep::SweepResult;
use crate::together;
use crate::violation::Violation;

/// The version of the JSON. It grows when a name changes its meaning or goes away, not when one is added.
pub const VERSION: u32 = 2;

/// The results of one command.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    /// The version of this format.
    pub version: u32,
    /// How it was made: enough to make it again; null where the results are of no command.
    #[serde(default)]
    pub made_by: Option<MadeBy>,
    /// One entry per drive and seed, in the order they were asked for. Empty where several workloads or ages were asked for: then see `cells`.
    pub drives: Vec<DriveResult>,
    /// Drives against the first one; absent when only one drive was run, and where there are `cells`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comparison: Option<Comparison>,
    /// One entry per age and workload, all workloads of the first age first; absent where one workload at one age was asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cells: Vec<CellResult>,
    /// Every figure over the values of the key that was swept; absent where none was. One entry of `cells` per value, workload and age has the runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sweep: Option<SweepResult>,
    /// What must be known beside the figures of the whole, such as that drives which are compared have not the same raw flash.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl Report {
    /// A report of these drives, compared when there are several.
    pub fn new(drives: Vec<DriveResult>) -> Report {
        let mut comparison = Comparison::new(&drives);
        together::take(comparison.iter_mut());
        Report { version: VERSION, made_by: None, drives, comparison, cells: Vec::new(), sweep: None, notes: Vec::new() }
    }

    /// A report of several workloads, or ages, or values of a key, or some of them.
    pub fn of_cells(mut cells: Vec<CellResult>) -> Report {
        together::take(cells.iter_mut().filter_map(|cell| cell.comparison.as_mut()));
        Report {
            version: VERSION,
            made_by: None,
            drives: Vec::new(),
            comparison: None,
            sweep: SweepResult::new(&cells),
            cells,
            notes: Vec::new(),
        }
    }

    /// The same report of drives that did not begin alike, which `told` names: no ratio of it is good or bad news.
    #[must_use]
    pub fn of_unlike_starts(mut self, told: String) -> Report {
        self.notes.push(format!("the drives did not begin alike, so that ratios say nothing of the drives alone: {told}"));
        let cells = self.cells.iter_mut().filter_map(|cell| cell.comparison.as_mut());
        let ratios = self.comparison.iter_mut().chain(cells).flat_map(Comparison::of_others_mut);
        ratios.for_each(|ratio| (ratio.p, ratio.together, ratio.unlike) = (None, false, true));
        self
    }

    /// The same report, made by this.
    #[must_use]
    pub fn with_made_by(mut self, made_by: MadeBy) -> Report {
        self.made_by = Some(made_by);
        self
    }

    /// The same report with these notes, too.
    #[must_use]
    pub fn with_notes(mut self, notes: impl IntoIterator<Item = String>) -> Report {
        self.notes.extend(notes);
        self
    }

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

    /// The comparisons of the whole: one, or that of each cell.
    pub fn comparisons(&self) -> impl Iterator<Item = &Comparison> {
        self.comparison.iter().chain(self.cells.iter().filter_map(|cell| cell.comparison.as_ref()))
    }

    /// Every run, with the cell it is of where there are several.
    pub fn runs(&self) -> impl Iterator<Item = (Option<&CellResult>, &DriveResult)> {
        let in_cells = self.cells.iter().flat_map(|cell| cell.drives.iter().map(move |drive| (Some(cell), drive)));
        self.drives.iter().map(|drive| (None, drive)).chain(in_cells)
    }

    /// The notes of the whole and those of drives, each once, with the names of the drives that share it.
    pub fn all_notes(&self) -> Vec<String> {
        let mut of_drives: Vec<(&str, Vec<&str>)> = Vec::new();
        for (_, drive) in self.runs() {
            for note in &drive.notes {
                let known = of_drives.iter().position(|(other, _)| other == note).unwrap_or_else(|| {
                    of_drives.push((note, Vec::new()));
                    of_drives.len() - 1
                });
                if !of_drives[known].1.contains(&drive.name.as_str()) {
                    of_drives[known].1.push(&drive.name);
                }
            }
        }
        let of_drives = of_drives.into_iter().map(|(note, names)| format!("{}: {note}", names.join(", ")));
        self.notes.iter().cloned().chain(of_drives).collect()
    }

    /// The violations of all runs. A command that finds any must fail.
    pub fn violations(&self) -> impl Iterator<Item = Broken<'_>> {
        self.runs().flat_map(|(cell, drive)| drive.checks.violations.iter().map(move |violation| Broken { cell, drive, violation }))
    }

    /// Checks that were not made, each with its reason once, and the number of runs in which it was not made.
    pub fn checks_not_made(&self) -> Vec<(&str, usize)> {
        let mut not_made: Vec<(&str, usize)> = Vec::new();
        for check in self.runs().flat_map(|(_, drive)| &drive.checks.not_made) {
            match not_made.iter_mut().find(|(known, _)| known == check) {
                Some((_, runs)) => *runs += 1,
                None => not_made.push((check, 1)),
            }
        }
        not_made
    }
}

/// A violation, and whose it is.
#[derive(Clone, Copy, Debug)]
pub struct Broken<'a> {
    /// The cell, where there are several.
    pub cell: Option<&'a CellResult>,
    /// The run.
    pub drive: &'a DriveResult,
    /// What is wrong with it.
    pub violation: &'a Violation,
}

impl Broken<'_> {
    /// Which run it is, for people.
    pub fn run(&self) -> String {
        let cell = self.cell.map(|cell| format!(", {}", cell.title())).unwrap_or_default();
        format!("{} seed {}{cell}", self.drive.name, self.drive.seed)
    }
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
