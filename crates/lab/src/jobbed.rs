//! Runs of workloads of jobs, for benches, with the times of garbage collection and the longest erase.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use wordline_engine::{Event, Observer};
use wordline_figures::DriveResult;
use wordline_plan::Plan;
use wordline_runs::{Beside, Inspection, Load, RunError, Workload, parallel};
use wordline_units::{BlockId, Cause, DieId, FlashOp, Nanos};
use wordline_workload::spec::Limit;
use wordline_workload::{AnySpec, JobsSpec};

use crate::bench::Setup;
use crate::error::LabError;

/// The workload of jobs that comes with Wordline under this name. Its jobs with an end go on for `seconds`.
pub(crate) fn jobs(name: &str, seconds: f64) -> Result<JobsSpec, LabError> {
    let mut spec = match AnySpec::built_in(name).map_err(|error| LabError::Usage(error.to_string()))? {
        AnySpec::Jobs(spec) => spec,
        AnySpec::Phases(_) | AnySpec::Files(_) => return Err(LabError::Usage(format!("workload {name} has no jobs"))),
    };
    let limit = Limit::time(Nanos((seconds * 1e9) as u64));
    spec.phases.iter_mut().flat_map(|phase| &mut phase.jobs).filter(|job| job.has_end()).for_each(|job| job.limit = limit);
    Ok(spec)
}

/// Settings of a drive that takes so many requests of high, normal and low priority from the host's queues in a round.
pub(crate) fn weights(weights: [u32; 3]) -> [String; 3] {
    let [high, normal, low] = weights;
    [format!("controller.weight_high={high}"), format!("controller.weight_normal={normal}"), format!("controller.weight_low={low}")]
}

/// A run to be made.
#[derive(Clone, Debug)]
pub(crate) struct Trial {
    pub(crate) plan: Plan,
    pub(crate) jobs: JobsSpec,
    pub(crate) inspection: Option<Inspection>,
}

/// Results of a run.
#[derive(Clone, Debug)]
pub(crate) struct Ran {
    pub(crate) result: DriveResult,
    pub(crate) maintenance: Maintenance,
}

/// Erases, and what it takes to empty victims.
#[derive(Clone, Debug, Default)]
pub(crate) struct Maintenance {
    /// Victims of garbage collection that are being read, with the time of their first read.
    begun: BTreeMap<(DieId, BlockId), Nanos>,
    /// From the first read of a victim to the end of its erase, victim by victim.
    pub(crate) victims: Vec<Nanos>,
    /// Longest time that the array worked for an erase.
    pub(crate) erase_longest: Nanos,
    /// Erases by the number of their stops.
    pub(crate) erases: BTreeMap<u16, u64>,
    /// Stops of programs and erases of garbage collection.
    pub(crate) stops: u64,
}

impl Observer for Maintenance {
    fn observe(&mut self, at: Nanos, event: &Event) {
        let Event::Flash(flash) = event else { return };
        let place = (flash.die, flash.block);
        match flash.op {
            FlashOp::Read if flash.cause == Cause::Gc => {
                self.begun.entry(place).or_insert(flash.issued);
            }
            FlashOp::Erase => {
                self.erase_longest = self.erase_longest.max(flash.array);
                *self.erases.entry(flash.stops).or_default() += 1;
                if let Some(from) = self.begun.remove(&place) {
                    self.victims.push(at - from);
                    self.stops += u64::from(flash.stops);
                }
            }
            FlashOp::Program | FlashOp::Copyback if flash.cause == Cause::Gc => self.stops += u64::from(flash.stops),
            FlashOp::Read
            | FlashOp::Program
            | FlashOp::Copyback
            | FlashOp::LockPage
            | FlashOp::LockBlock
            | FlashOp::Scrub
            | FlashOp::Reprogram => {}
        }
    }
}

impl Beside for Maintenance {}

impl Maintenance {
    /// Mean time to empty a victim and erase it.
    pub(crate) fn mean(&self) -> f64 {
        self.victims.iter().map(|span| span.as_secs_f64()).sum::<f64>() / self.victims.len() as f64
    }

    /// Mean number of stops for each victim.
    pub(crate) fn stops_each(&self) -> f64 {
        self.stops as f64 / self.victims.len() as f64
    }
}

impl Trial {
    fn make(&self) -> Result<Ran, LabError> {
        let wrong = |what: &str| LabError::Usage(format!("{} with {}: {what}", self.plan.name(), self.jobs.name));
        let (workload, load) = (Workload::Jobs(self.jobs.clone()), Load::default());
        let outcome = wordline_runs::Job::new(&self.plan, &workload, &load)
            .inspecting(self.inspection)
            .run(Maintenance::default(), &mut ())
            .map_err(|error| if let RunError::Broken { what, .. } = &error { wrong(what) } else { LabError::Run(error) })?;
        if let Some(violation) = outcome.result.checks.violations.first() {
            return Err(wrong(&format!("{violation:?}")));
        }
        Ok(Ran { result: outcome.result, maintenance: outcome.beside })
    }
}

/// Makes all runs, on as many threads as there are, and says how far it is.
pub(crate) fn all(setup: &Setup, what: &str, trials: &[Trial]) -> Result<Vec<Ran>, LabError> {
    let done = AtomicUsize::new(0);
    let make = |index: usize| {
        let ran = trials[index].make();
        let done = 1 + done.fetch_add(1, Ordering::Relaxed);
        setup.teller.tell(&format!("{what}: {done} of {} runs", trials.len()));
        ran
    };
    parallel::try_map(setup.threads, trials.len(), make)
}
