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
        let mut tried = all(setup, what, &self.trials(setup)?)?.into_iter();
        let mut row = || tried.by_ref().take(self.drives.len()).collect::<Vec<Tried>>();
        Ok(self.stages.iter().map(|_| self.workloads.iter().map(|_| row()).collect()).collect())
    }

    /// The runs to be made, in the order of their results.
    fn trials(&self, setup: &Setup) -> Result<Vec<Trial>, LabError> {
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
        Ok(trials)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::Null;
    use crate::study::Study;

    /// Ids of the plans of a baseline and of a drive under test, with this null.
    fn ids(null: &[&str]) -> Vec<String> {
        let study = Study::parse("x", "x.toml", "title = \"x\"").unwrap_or_else(|error| panic!("{error}"));
        let null: Vec<String> = null.iter().map(|&text| text.to_owned()).collect();
        let setup = Setup { null: Null::of(&null).unwrap_or_else(|error| panic!("{error}")), ..study.setup(1) };
        let runs = Runs {
            drives: vec![("pageftl", Vec::new()), ("pageftl-4k", vec!["gc.victim=greedy"])],
            baseline: Some("pageftl"),
            size: "whole",
            workloads: &["mailserver".to_owned()],
            lengths: &[0.5],
            stages: &["fresh".to_owned()],
            kept: 0.0,
        };
        runs.trials(&setup).unwrap_or_else(|error| panic!("{error}")).iter().map(|trial| trial.plan.id()).collect()
    }

    #[test]
    fn a_null_of_the_firmware_counts_more_than_the_settings_of_a_drive_and_leaves_the_baseline() {
        let (usual, firmware, age) = (ids(&[]), ids(&["gc.victim=fifo"]), ids(&["cells.cycles=3000"]));
        assert!(firmware[0] == usual[0] && firmware[1] != usual[1], "{usual:?} {firmware:?}");
        assert!(age[0] != usual[0] && age[1] != usual[1], "{usual:?} {age:?}");
    }
}
