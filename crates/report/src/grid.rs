//! Several workloads at several ages: a grid of cells, each of which all drives went through.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::compare::{Comparison, Ratio, names};
use crate::result::DriveResult;

/// The figure that the grid shows of each cell.
pub(crate) const FIGURE: &str = "host.iops";

/// What all drives did on one workload at one age.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CellResult {
    /// The age that the drives' cells were set to, as it was asked for; null where none was.
    pub age: Option<String>,
    /// The workload, as it was asked for.
    pub workload: String,
    /// One entry per drive and seed, in the order they were asked for.
    pub drives: Vec<DriveResult>,
    /// Drives against the first one; absent when only one drive was run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comparison: Option<Comparison>,
}

impl CellResult {
    /// What these drives did on `workload` at `age`, compared when there are several.
    pub fn new(age: Option<String>, workload: String, drives: Vec<DriveResult>) -> CellResult {
        let comparison = Comparison::new(&drives);
        CellResult { age, workload, drives, comparison }
    }

    /// What it is, for people: `rocks, 2k+1y`.
    pub fn title(&self) -> String {
        match &self.age {
            Some(age) => format!("{}, {age}", self.workload),
            None => self.workload.clone(),
        }
    }

    /// The figure of `drive`, and its ratio to the first one's.
    pub(crate) fn shown(&self, drive: &str) -> Option<&Ratio> {
        self.comparison.as_ref()?.find(FIGURE, drive)
    }

    /// The figure of `drive` in the mean over its seeds.
    pub(crate) fn value(&self, drive: &str) -> f64 {
        let runs: Vec<f64> = self.drives.iter().filter(|result| result.name == drive).map(|result| result.host.iops).collect();
        runs.iter().sum::<f64>() / runs.len() as f64
    }
}

/// Part of the grid: cells below each other.
pub(crate) struct Table<'a> {
    /// What its cells have in common: their age, or their workload. Empty where that goes without saying.
    pub(crate) title: &'a str,
    /// In what they differ, and each of them.
    pub(crate) rows: Vec<(&'a str, &'a CellResult)>,
}

/// The grid: a table of workloads for each age, or one of ages where there is one workload.
pub(crate) fn tables(cells: &[CellResult]) -> Vec<Table<'_>> {
    let mut tables: Vec<Table<'_>> = Vec::new();
    let one_workload = cells.iter().all(|cell| cell.workload == cells[0].workload);
    for cell in cells {
        let (age, workload) = (cell.age.as_deref().unwrap_or(""), cell.workload.as_str());
        let (title, row) = if one_workload { (workload, age) } else { (age, workload) };
        match tables.iter_mut().find(|table| table.title == title) {
            Some(table) => table.rows.push((row, cell)),
            None => tables.push(Table { title, rows: vec![(row, cell)] }),
        }
    }
    tables
}

/// The drives of the grid, each once.
pub(crate) fn drives(cells: &[CellResult]) -> Vec<&str> {
    cells.first().map(|cell| names(&cell.drives)).unwrap_or_default()
}
