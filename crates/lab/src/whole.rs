//! Runs of workloads of any kind, as `wordline run` makes them, for benches of drives.

use std::sync::atomic::{AtomicUsize, Ordering};

use wordline_figures::DriveResult;
use wordline_plan::Plan;
use wordline_runs::{Job, Load, RunError, Workload, parallel};
use wordline_workload::{AnySpec, FileOptions};

use crate::bench::Setup;
use crate::error::LabError;

/// A run to be made.
#[derive(Clone, Debug)]
pub(crate) struct Whole {
    plan: Plan,
    workload: Workload,
}

/// Makes all runs, on as many threads as there are, and reports progress.
pub(crate) fn all(setup: &Setup, what: &str, runs: &[Whole]) -> Result<Vec<DriveResult>, LabError> {
    let done = AtomicUsize::new(0);
    let make = |index: usize| {
        let made = runs[index].make();
        let done = 1 + done.fetch_add(1, Ordering::Relaxed);
        setup.teller.tell(&format!("{what}: {done} of {} runs", runs.len()));
        made
    };
    parallel::try_map(setup.threads, runs.len(), make)
}

impl Whole {
    /// The run of a drive of `plan` under the built-in `workload`, as long as its file has it.
    pub(crate) fn new(plan: Plan, workload: &str) -> Result<Whole, LabError> {
        let workload = match AnySpec::built_in(workload).map_err(|error| LabError::Usage(error.to_string()))? {
            AnySpec::Files(spec) => Workload::Filed(Box::new(spec), FileOptions::default()),
            AnySpec::Phases(spec) => Workload::Made(spec),
            AnySpec::Jobs(spec) => Workload::Jobs(spec),
        };
        Ok(Whole { plan, workload })
    }

    fn make(&self) -> Result<DriveResult, LabError> {
        let wrong = |what: &str| LabError::Usage(format!("{}: {what}", self.plan.name()));
        let load = Load::default();
        let outcome = Job::new(&self.plan, &self.workload, &load)
            .run((), &mut ())
            .map_err(|error| if let RunError::Broken { what, .. } = &error { wrong(what) } else { LabError::Run(error) })?;
        match outcome.result.checks.violations.first() {
            Some(violation) => Err(wrong(&format!("{violation:?}"))),
            None => Ok(outcome.result),
        }
    }
}
