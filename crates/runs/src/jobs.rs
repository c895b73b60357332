//! The requests of jobs on one drive, and their paces.

use wordline_drive::JobPace;
use wordline_units::{Bytes, HostRequest};
use wordline_workload::{JobsGenerator, JobsSpec};

use crate::error::RunError;
use crate::source::expected;

/// The jobs of a workload on one drive.
#[derive(Clone, Debug)]
pub(crate) struct JobStreams {
    name: String,
    generator: JobsGenerator,
    paces: Vec<JobPace>,
    total: Option<u64>,
    /// The job whose turn it is, where nobody asks for one by its number.
    turn: usize,
}

impl JobStreams {
    /// Puts the jobs of `spec` on a drive of `capacity`.
    pub(crate) fn new(spec: &JobsSpec, seed: u64, capacity: Bytes) -> Result<JobStreams, RunError> {
        let pace = |job: &wordline_workload::PhaseSpec| JobPace { depth: job.queue_depth(), time: job.limit.time, has_end: job.has_end() };
        let totals = spec.jobs.iter().map(|job| expected(job, capacity));
        Ok(JobStreams {
            name: spec.name.clone(),
            generator: spec.generator(seed, capacity)?,
            paces: spec.jobs.iter().map(pace).collect(),
            total: totals.sum(),
            turn: 0,
        })
    }

    /// Name of the workload.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Paces of the jobs, by number.
    pub(crate) fn paces(&self) -> &[JobPace] {
        &self.paces
    }

    /// Name of each job, and its queue depth if it is closed.
    pub(crate) fn named(&self) -> impl Iterator<Item = (&str, Option<u32>)> {
        self.generator.jobs().iter().map(|job| (job.name(), job.queue_depth()))
    }

    /// Number of requests that are outstanding in all of them together; `None` where one is an open loop.
    pub(crate) fn depth(&self) -> Option<u32> {
        self.paces.iter().map(|pace| pace.depth).try_fold(0u32, |sum, depth| Some(sum.saturating_add(depth?)))
    }

    /// About how many requests they have, where each says so.
    pub(crate) fn total(&self) -> Option<u64> {
        self.total
    }

    /// The next request of the job of this number.
    #[inline]
    pub(crate) fn next_of(&mut self, job: usize) -> Option<HostRequest> {
        self.generator.next_of(job)
    }

    /// The next request where nobody knows the time: jobs take turns until the first of them has no more.
    pub(crate) fn in_turn(&mut self) -> Option<HostRequest> {
        let turn = self.turn;
        self.turn = (turn + 1) % self.paces.len();
        self.generator.next_of(turn)
    }
}
