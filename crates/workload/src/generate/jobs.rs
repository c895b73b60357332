//! Requests of jobs, which run at the same time: each job's are a stream of its own, whatever phase it belongs to.

use wordline_units::{Bytes, HostRequest};

use super::Phase;
use crate::spec::{JobsSpec, Limit, SpecError};

/// The requests of a workload of jobs on a drive of some capacity.
#[derive(Clone, Debug)]
pub struct JobsGenerator(Vec<Phase>);

impl JobsGenerator {
    /// The requests of the workload `of` on a drive of `capacity`. Each job has dice of its own, by its number.
    ///
    /// # Errors
    /// A job does not fit there, or none has an end.
    pub fn new(of: &JobsSpec, seed: u64, capacity: Bytes) -> Result<JobsGenerator, SpecError> {
        if of.phases.is_empty() || of.phases.iter().any(|phase| !phase.jobs.iter().any(|job| job.has_end())) {
            return Err(SpecError::whole(&of.name, "at least one job of each phase needs an end: requests, bytes or time"));
        }
        let jobs = of.jobs().zip(0..).map(|(job, number)| {
            let mut spec = job.clone();
            if !spec.has_end() {
                spec.limit = Limit::none();
            }
            Phase::new(&spec, number, seed, capacity).map_err(|message| SpecError::of_job(&of.name, &job.name, message))
        });
        Ok(JobsGenerator(jobs.collect::<Result<_, _>>()?))
    }

    /// The jobs of all phases, by number.
    pub fn jobs(&self) -> &[Phase] {
        &self.0
    }

    /// The next request of the job of this number, its time counted from the start of its phase; `None`: it has no more, or there is no such job.
    #[inline]
    pub fn next_of(&mut self, job: usize) -> Option<HostRequest> {
        self.0.get_mut(job)?.next()
    }
}
