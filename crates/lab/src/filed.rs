//! Runs of workloads of files, for benches.

use std::sync::atomic::{AtomicUsize, Ordering};

use wordline_figures::{DriveResult, VerTrace};
use wordline_plan::Plan;
use wordline_runs::{Load, Plotted, RunError, Workload, parallel};
use wordline_workload::{AnySpec, FileOptions, FileSpec};

use crate::bench::Setup;
use crate::error::LabError;

/// The plan of the drive `name` for a bench: `size` is what the host sees, or "whole" for what the file says.
pub(crate) fn plan(setup: &Setup, name: &str, size: &str, more: &[&str]) -> Result<Plan, LabError> {
    of_size(setup, setup.null.on_drive(set(setup, name, more)?)?, size)
}

/// The plan of the drive with which a bench compares others: as [`plan`], but of a null it takes only what is of its chip and its cells.
pub(crate) fn baseline(setup: &Setup, name: &str, size: &str, more: &[&str]) -> Result<Plan, LabError> {
    of_size(setup, setup.null.on_baseline(set(setup, name, more)?)?, size)
}

fn set(setup: &Setup, name: &str, more: &[&str]) -> Result<Plan, LabError> {
    let settings: Vec<&str> = setup.settings.iter().map(String::as_str).chain(more.iter().copied()).collect();
    Ok(Plan::load_set(name, &settings)?)
}

fn of_size(setup: &Setup, plan: Plan, size: &str) -> Result<Plan, LabError> {
    let plan = plan.with_seed(setup.seed);
    Ok(if size == "whole" { plan } else { wordline_plan::sized(&plan, size)?.0 })
}

/// The workload of files that comes with Wordline under this name.
pub(crate) fn files(name: &str) -> Result<FileSpec, LabError> {
    match AnySpec::built_in(name).map_err(|error| LabError::Usage(error.to_string()))? {
        AnySpec::Files(spec) => Ok(spec),
        AnySpec::Phases(_) | AnySpec::Jobs(_) => Err(LabError::Usage(format!("workload {name} has no files"))),
    }
}

/// A run to be made.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    plan: Plan,
    spec: FileSpec,
    options: FileOptions,
    /// Number of files of each set that are followed over time, if the books of files are kept.
    followed: Option<usize>,
}

/// Makes all runs, on as many threads as there are, and says how far it is.
pub(crate) fn all(setup: &Setup, jobs: &[Job]) -> Result<Vec<Ran>, LabError> {
    let done = AtomicUsize::new(0);
    let make = |index: usize| {
        let ran = jobs[index].make();
        let done = 1 + done.fetch_add(1, Ordering::Relaxed);
        setup.teller.tell(&format!("{done} of {} runs", jobs.len()));
        ran
    };
    parallel::try_map(setup.threads, jobs.len(), make)
}

/// Results of a run.
#[derive(Clone, Debug)]
pub(crate) struct Ran {
    pub(crate) result: DriveResult,
    /// Stale units of files that the chips still put out when everything had been acknowledged, where files were watched.
    pub(crate) stale: Option<u64>,
}

impl Ran {
    /// Reads and writes per second: how many TRIMs there are is the host's choice.
    pub(crate) fn iops(&self) -> f64 {
        self.result.host.read_iops + self.result.host.write_iops
    }
}

impl Job {
    /// The run of a drive of `plan` under the workload of `spec`. With `followed`, the books of its files are kept, and so many of each set followed over time.
    pub(crate) fn new(plan: Plan, spec: FileSpec, options: FileOptions, followed: Option<usize>) -> Job {
        Job { plan, spec, options, followed }
    }

    fn make(&self) -> Result<Ran, LabError> {
        let wrong = |what: &str| LabError::Usage(format!("{} with {}: {what}", self.plan.name(), self.spec.name));
        let (workload, load) = (Workload::Filed(Box::new(self.spec.clone()), self.options), Load::default());
        let job = wordline_runs::Job::new(&self.plan, &workload, &load).tracing(self.followed.map(Plotted::OfEachSet));
        let outcome = job
            .run((), &mut ())
            .map_err(|error| if let RunError::Broken { what, .. } = &error { wrong(what) } else { LabError::Run(error) })?;
        let mut result = outcome.result;
        if let Some(violation) = result.checks.violations.first() {
            return Err(wrong(&format!("{violation:?}")));
        }
        // The books of the drive at rest: nothing is on its way to the chips any more.
        result.vertrace = outcome.books.as_ref().map(VerTrace::conclude);
        Ok(Ran { result, stale: outcome.books.as_ref().map(VerTrace::stale_units) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paced::{self, Rhythm, Trial};

    /// A drive that takes no time, old enough that pages are read more than once.
    const OLD: [&str; 7] = [
        "mapping.over_provisioning=40 %",
        "geometry.blocks=24",
        "geometry.layers=4",
        "flash.channels=1",
        "flash.dies_per_channel=2",
        "cells.cycles=2000",
        "cells.retention=1y",
    ];

    fn plan(settings: &[&str]) -> Plan {
        let settings: Vec<String> = settings.iter().map(|&setting| setting.to_owned()).collect();
        Plan::load_set("pageftl", &settings).unwrap_or_else(|error| panic!("{error}")).with_seed(3)
    }

    #[test]
    fn the_same_drive_age_load_and_seed_are_the_same_run_for_every_user() {
        let (plan, spec) = (plan(&OLD), files("mailserver").expect("it is built in"));
        let options = FileOptions { length: Some(0.5), ..FileOptions::default() };
        // As `wordline run` makes it.
        let (workload, load) = (Workload::Filed(Box::new(spec.clone()), options), Load::default());
        let run = wordline_runs::Job::new(&plan, &workload, &load).run((), &mut ()).expect("it runs").result;
        for followed in [None, Some(2)] {
            let filed = Job::new(plan.clone(), spec.clone(), options, followed).make().expect("it runs").result;
            assert_eq!((&filed.event_log_hash, &filed.host), (&run.event_log_hash, &run.host), "{followed:?} followed");
        }
        let paced = Trial { plan, load: paced::Load::Files(Box::new(spec), options), rhythm: Rhythm::default() }.make().expect("it runs");
        assert_eq!((&paced.result.event_log_hash, &paced.result.host), (&run.event_log_hash, &run.host));
    }

    #[test]
    fn a_drive_under_files_has_its_age() {
        let spec = files("mailserver").expect("it is built in");
        let options = FileOptions { length: Some(0.5), ..FileOptions::default() };
        let retried = |settings: &[&str]| {
            let ran = Job::new(plan(settings), spec.clone(), options, None).make().expect("it runs");
            ran.result.read_errors.expect("its cells have physics").by_retries.iter().skip(1).sum::<u64>()
        };
        let (old, new) = (retried(&OLD), retried(&OLD[..5]));
        assert!(old > 0 && new == 0, "{old} reads of the old drive were repeated, and {new} of the new one");
    }
}
