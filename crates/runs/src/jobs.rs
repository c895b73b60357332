//! The requests of jobs on one drive, phase by phase, and their paces.

use wordline_drive::JobPace;
use wordline_units::{Bytes, HostRequest};
use wordline_workload::{JobsGenerator, JobsPhase, JobsSpec, PhaseSpec};

use crate::error::RunError;

/// The jobs of a workload on one drive. One phase of them runs.
#[derive(Clone, Debug)]
pub(crate) struct JobStreams {
    generator: JobsGenerator,
    phases: Vec<Stretch>,
    /// Place of the phase that runs.
    current: usize,
    /// Number of its first job in the generator.
    first: usize,
    /// The job of the phase whose turn it is, where nobody asks for one by its number.
    turn: usize,
}

/// The jobs of one phase.
#[derive(Clone, Debug)]
struct Stretch {
    name: String,
    paces: Vec<JobPace>,
    depth: Option<u32>,
    total: Option<u64>,
}

impl JobStreams {
    /// Puts the jobs of `spec` on a drive of `capacity`, at the beginning of its first phase.
    pub(crate) fn new(spec: &JobsSpec, seed: u64, capacity: Bytes) -> Result<JobStreams, RunError> {
        let pace = |job: &PhaseSpec| JobPace { depth: job.queue_depth(), time: job.limit.time, has_end: job.has_end() };
        let stretch = |phase: &JobsPhase| Stretch {
            name: phase.name.clone(),
            paces: phase.jobs.iter().map(pace).collect(),
            depth: phase.queue_depth(),
            total: phase.jobs.iter().map(|job| expected(job, capacity)).sum(),
        };
        let (generator, phases) = (JobsGenerator::new(spec, seed, capacity)?, spec.phases.iter().map(stretch).collect());
        Ok(JobStreams { generator, phases, current: 0, first: 0, turn: 0 })
    }

    /// Ends the phase that runs and begins the next one; `None`: it was the last.
    pub(crate) fn next_phase(&mut self) -> Option<()> {
        if self.current + 1 == self.phases.len() {
            return None;
        }
        self.first += self.paces().len();
        self.current += 1;
        self.turn = 0;
        Some(())
    }

    /// Name of the phase that runs; that of the workload where it is the only one.
    pub(crate) fn name(&self) -> &str {
        &self.phases[self.current].name
    }

    /// Paces of its jobs, by their numbers in it.
    pub(crate) fn paces(&self) -> &[JobPace] {
        &self.phases[self.current].paces
    }

    /// Name of each of its jobs, and its queue depth if it is closed.
    pub(crate) fn named(&self) -> impl Iterator<Item = (&str, Option<u32>)> {
        self.generator.jobs()[self.first..].iter().take(self.paces().len()).map(|job| (job.name(), job.queue_depth()))
    }

    /// Number of requests that are outstanding in all of them together; `None` where one is an open loop.
    pub(crate) fn depth(&self) -> Option<u32> {
        self.phases[self.current].depth
    }

    /// About how many requests they have, where each says so.
    pub(crate) fn total(&self) -> Option<u64> {
        self.phases[self.current].total
    }

    /// The next request of the job of this number in the phase.
    #[inline]
    pub(crate) fn next_of(&mut self, job: usize) -> Option<HostRequest> {
        self.generator.next_of(self.first + job)
    }

    /// The next request where nobody knows the time: jobs take turns until the first of them has no more.
    pub(crate) fn in_turn(&mut self) -> Option<HostRequest> {
        let turn = self.turn;
        self.turn = (turn + 1) % self.paces().len();
        self.next_of(turn)
    }
}

/// About how many requests a phase has.
pub(crate) fn expected(phase: &PhaseSpec, capacity: Bytes) -> Option<u64> {
    let by_bytes = phase.limit.bytes.map(|bytes| (bytes.on(capacity).0 as f64 / phase.mean_size()) as u64);
    [phase.limit.requests, by_bytes].into_iter().flatten().min()
}
