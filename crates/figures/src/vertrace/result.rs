//! What VerTrace found, as it is written and printed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Versions of files on flash (000 §5.1.1): how much stale data there was, and for how long.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct VerTraceResult {
    /// The size of what is counted, a mapping unit.
    #[schemars(extend("x-unit" = "B"))]
    pub unit_bytes: u64,
    /// What the host can address.
    #[schemars(extend("x-unit" = "B"))]
    pub capacity_bytes: u64,
    /// How much the host wrote; the end of logical time.
    #[schemars(extend("x-unit" = "capacities"))]
    pub capacities_written: f64,
    /// Uni-version files, which only grew or were written once, and multi-version files, which were overwritten or deleted.
    pub classes: Vec<ClassResult>,
    /// The counts of some files over time.
    pub plots: Vec<FilePlot>,
}

/// Files of one class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClassResult {
    /// `uni-version` or `multi-version`.
    pub class: String,
    /// Files that had at least one valid unit.
    pub files: u64,
    /// Files that had an invalid unit at some time.
    pub insecure_files: u64,
    /// The version amplification factor, the most invalid units over the most valid units of a file, in the mean; null without files.
    pub vaf_mean: Option<f64>,
    /// The largest, and whose it is.
    pub vaf_max: Option<Extreme>,
    /// How long a file had invalid units, in the mean; null without files.
    #[schemars(extend("x-unit" = "capacities written"))]
    pub t_insecure_mean: Option<f64>,
    /// The longest, and whose it is.
    pub t_insecure_max: Option<Extreme>,
}

/// The extreme of a class.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Extreme {
    /// How much.
    pub value: f64,
    /// The file's number, counted from its creation.
    pub file: u32,
}

/// One file over time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FilePlot {
    /// The file's number, counted from its creation.
    pub file: u32,
    /// Its class at the end.
    pub class: String,
    /// Its counts, 256 times for each capacity written.
    pub points: Vec<PlotPoint>,
}

/// One point of a plot.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlotPoint {
    /// Logical time.
    #[schemars(extend("x-unit" = "capacities written"))]
    pub at: f64,
    /// Valid units.
    pub valid: u32,
    /// Invalid units.
    pub invalid: u32,
}

impl ClassResult {
    /// From the VAF and the T_insecure of each file.
    pub(super) fn new(class: &str, figures: impl Iterator<Item = (u32, f64, f64)>) -> ClassResult {
        let (mut files, mut insecure_files) = (0u64, 0);
        let (mut vaf, mut insecure) = (0.0, 0.0);
        let mut extremes: [Option<Extreme>; 2] = [None; 2];
        for (file, file_vaf, file_insecure) in figures {
            files += 1;
            insecure_files += u64::from(file_vaf > 0.0);
            vaf += file_vaf;
            insecure += file_insecure;
            for (extreme, value) in extremes.iter_mut().zip([file_vaf, file_insecure]) {
                if extreme.is_none_or(|extreme| value > extreme.value) {
                    *extreme = Some(Extreme { value, file });
                }
            }
        }
        let mean = |sum: f64| (files > 0).then(|| sum / files as f64);
        let [vaf_max, t_insecure_max] = extremes;
        ClassResult {
            class: class.to_owned(),
            files,
            insecure_files,
            vaf_mean: mean(vaf),
            vaf_max,
            t_insecure_mean: mean(insecure),
            t_insecure_max,
        }
    }
}
