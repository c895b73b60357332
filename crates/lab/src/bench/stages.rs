//! Workloads of files on several drives at several stages of life, as the benches of blocks by their age make them (000 §3.4.3).

use wordline_workload::FileOptions;

use super::Setup;
use crate::error::LabError;
use crate::filed::{baseline, files, plan};
use crate::paced::{Load, Rhythm, Trial, Tried, all};

/// Runs that a bench makes.
pub(super) struct Runs<'a> {
    /// Drives by name, each with settings of its own.
    pub(super) drives: Vec<(&'a str, Vec<&'a str>)>,
    /// Drive with which the others are compared, by its name, where there is one.
    pub(super) baseline: Option<&'a str>,
    /// Exported size of each drive, or "whole".
    pub(super) size: &'a str,
    /// Workloads of files, and the bytes written under each, in capacities.
    pub(super) workloads: &'a [String],
    pub(super) lengths: &'a [f64],
    /// Stages of life, as plans name them.
    pub(super) stages: &'a [String],
    /// Retention of the data that is there at the start, in seconds.
    pub(super) kept: f64,
}

impl Runs<'_> {
    /// Makes the runs. Results by stage, workload and drive.
    pub(super) fn make(&self, setup: &Setup, what: &str) -> Result<Vec<Vec<Vec<Tried>>>, LabError> {
        let mut trials = Vec::new();
        for stage in self.stages {
            let age = [format!("cells.cycles={stage}"), format!("cells.retention={} s", self.kept)];
            for (name, length) in self.workloads.iter().zip(self.lengths) {
                let spec = Box::new(files(name)?);
                for (drive, own) in &self.drives {
                    let settings: Vec<&str> = age.iter().map(String::as_str).chain(own.iter().copied()).collect();
                    let load = Load::Files(spec.clone(), FileOptions { length: Some(*length), ..FileOptions::default() });
                    let plan = if self.baseline == Some(*drive) { baseline } else { plan };
                    trials.push(Trial { plan: plan(setup, drive, self.size, &settings)?, load, rhythm: Rhythm::default() });
                }
            }
        }
        let mut tried = all(setup, what, &trials)?.into_iter();
        let mut row = || tried.by_ref().take(self.drives.len()).collect::<Vec<Tried>>();
        Ok(self.stages.iter().map(|_| self.workloads.iter().map(|_| row()).collect()).collect())
    }
}

/// Flash reads of a run by the number of their retries.
pub(super) fn by_retries(run: &Tried) -> &[u64] {
    run.result.read_errors.as_ref().map_or(&[], |errors| errors.by_retries.as_slice())
}

/// Flash reads of a run that could not be corrected.
pub(super) fn lost(run: &Tried) -> f64 {
    run.result.read_errors.as_ref().map_or(f64::NAN, |errors| errors.uncorrectable as f64)
}
