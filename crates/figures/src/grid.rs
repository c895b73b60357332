//! Several workloads at several ages: a grid of cells, each of which all drives went through.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::catalogue::{self, Figure, Part};
use crate::compare::{Comparison, Ratio};
use crate::result::{DriveResult, names};

/// The figures that the grid shows of each cell, those that any drive has in any cell; the first one also as bars.
pub fn figures(cells: &[CellResult]) -> Vec<&'static Figure> {
    let drives = || cells.iter().flat_map(|cell| &cell.drives);
    let figures = catalogue::figures().iter().filter(|figure| figure.is_in_grid());
    figures.filter(|figure| drives().any(|drive| figure.compared_of(&Part::of_run(drive)).is_some())).collect()
}

/// A key at one value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Setting {
    /// The key, such as `mapping.over_provisioning`.
    pub key: String,
    /// The value, as it was asked for.
    pub value: String,
}

/// What all drives did on one workload at one age.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CellResult {
    /// The age that the drives' cells were set to, as it was asked for; null where none was.
    pub age: Option<String>,
    /// The workload, as it was asked for.
    pub workload: String,
    /// The key that was swept, at the value that it has here; absent where none was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub swept: Option<Setting>,
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
        CellResult { age, workload, swept: None, drives, comparison }
    }

    /// The same, of drives whose plans have this setting.
    #[must_use]
    pub fn with_swept(mut self, swept: Option<Setting>) -> CellResult {
        self.swept = swept;
        self
    }

    /// What it is, for people: `rocks, 2k+1y`.
    pub fn title(&self) -> String {
        let age = self.age.as_deref().map(|age| format!(", {age}")).unwrap_or_default();
        let swept = self.swept.as_ref().map(|swept| format!(", {}={}", swept.key, swept.value)).unwrap_or_default();
        format!("{}{age}{swept}", self.workload)
    }

    /// Whether `drive` failed requests with any seed.
    pub fn failed(&self, drive: &str) -> bool {
        self.drives.iter().any(|result| result.name == drive && result.host.failed > 0)
    }

    /// `figure` of `drive`, and its ratio to the first one's.
    pub fn shown(&self, figure: &Figure, drive: &str) -> Option<&Ratio> {
        self.comparison.as_ref()?.find(figure.path(), drive)
    }

    /// `figure` of each run of `drive` that has it.
    pub fn values(&self, figure: &Figure, drive: &str) -> Vec<f64> {
        let runs = self.drives.iter().filter(|result| result.name == drive);
        runs.filter_map(|run| figure.compared_of(&Part::of_run(run))).collect()
    }

    /// `figure` of `drive` in the mean over its seeds; `None` where no run has it.
    pub fn value(&self, figure: &Figure, drive: &str) -> Option<f64> {
        let runs = self.values(figure, drive);
        (!runs.is_empty()).then(|| runs.iter().sum::<f64>() / runs.len() as f64)
    }
}

/// Part of the grid: cells below each other.
pub struct Table<'a> {
    /// What its cells have in common: their age, or their workload. Empty where that goes without saying.
    pub title: String,
    /// In what they differ, and each of them.
    pub rows: Vec<(&'a str, &'a CellResult)>,
}

/// The grid: a table of workloads for each age, or one of ages where there is one workload.
pub fn tables(cells: &[CellResult]) -> Vec<Table<'_>> {
    let mut tables: Vec<Table<'_>> = Vec::new();
    let one_workload = cells.iter().all(|cell| cell.workload == cells[0].workload);
    for cell in cells {
        let (age, workload) = (cell.age.as_deref().unwrap_or(""), cell.workload.as_str());
        let (title, row) = match &cell.swept {
            Some(swept) if age.is_empty() => (workload.to_owned(), swept.value.as_str()),
            Some(swept) => (format!("{workload}, {age}"), swept.value.as_str()),
            None if one_workload => (workload.to_owned(), age),
            None => (age.to_owned(), workload),
        };
        match tables.iter_mut().find(|table| table.title == title) {
            Some(table) => table.rows.push((row, cell)),
            None => tables.push(Table { title, rows: vec![(row, cell)] }),
        }
    }
    tables
}

/// The drives of the grid, each once.
pub fn drives(cells: &[CellResult]) -> Vec<&str> {
    cells.first().map(|cell| names(&cell.drives)).unwrap_or_default()
}
