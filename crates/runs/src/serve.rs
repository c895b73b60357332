//! The third step of a run: requests, and the pace at which they come.

use wordline_drive::{Config, JobPace, Jobs, Pace, Watched};
use wordline_pages::number::count;

use crate::error::RunError;
use crate::files::Files;
use crate::load::Load;
use crate::measuring::Measuring;
use crate::progress::{CHUNK, Progress};
use crate::rounds::Rounds;
use crate::source::{Source, Stage};
use crate::watch::{Beside, Watch};
use crate::workload::Workload;

/// Number of requests that are served between two looks whether the drive is warm.
const WARM_CHUNK: u64 = 64;

/// A way to put a drive under load.
pub trait Serve<F: Files, B: Beside> {
    /// Serves all requests. `window` has begun; a load of which only the last part is measured begins it again there.
    ///
    /// # Errors
    ///
    /// Requests cannot be had, or the drive cannot be asked for them.
    fn serve(&mut self, drive: &mut Watched<Watch<F, B>>, progress: &mut dyn Progress, window: &mut Measuring) -> Result<Served, RunError>;
}

/// What became of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Served {
    /// Whether the drive had reached a steady state when the measured window began.
    pub is_steady: bool,
    /// True if the load came to its end. If it was cut short, checks that would take longer than the run are left out.
    pub is_whole: bool,
    /// Whether all of it was measured, so that what lies on the flash must come out of the figures.
    pub is_all_measured: bool,
}

/// The load of a workload: stage by stage, or until the drive is steady.
pub struct Stages {
    source: Source,
    stages: usize,
    requests: Option<u64>,
    rounds: Option<Rounds>,
    /// Requests that were asked for and did not come.
    absent: u64,
    /// True if the first requests only warm the drive up, as far as it is known.
    warms_up: bool,
}

impl Stages {
    /// The load of `workload`, whose requests come from `source`, on a drive of `config`.
    ///
    /// # Errors
    ///
    /// It is to be made until the drive is steady, and has no rounds, or too short ones.
    pub fn new(workload: &Workload, load: &Load, source: Source, config: &Config) -> Result<Stages, RunError> {
        let rounds = if load.until_steady { Some(Rounds::new(workload, load, config)?) } else { None };
        let warms_up = source.files().is_some_and(|files| !files.is_warm());
        Ok(Stages { source, stages: workload.stages(), requests: load.requests, rounds, absent: 0, warms_up })
    }

    /// Where its requests come from.
    pub(crate) fn source(&self) -> &Source {
        &self.source
    }

    /// Note on a load that was served: the workload held fewer requests than were asked for.
    pub(crate) fn note(&self) -> Option<String> {
        let asked = self.requests.filter(|_| self.absent > 0)?;
        let served = count(asked - self.absent);
        Some(format!("--requests {asked} asks for more than the workload holds: it ended after {served} requests"))
    }

    /// Serves all jobs of a stage at the same time, about `left` requests of them at most; returns how many were served.
    fn jobs<F: Files, B: Beside>(
        &mut self,
        drive: &mut Watched<Watch<F, B>>,
        stage: &Stage,
        paces: &[JobPace],
        left: u64,
        progress: &mut dyn Progress,
    ) -> u64 {
        let mut jobs = Jobs::new(drive.now(), paces, &mut self.source);
        let mut served = 0;
        loop {
            let chunk = CHUNK.min(left - served.min(left));
            let done = drive.serve_jobs(&mut jobs, &mut self.source, Some(chunk));
            served += done;
            progress.update(drive.completed(), drive.now(), &stage.name);
            if done < chunk || served >= left {
                return served;
            }
        }
    }

    /// Serves requests until the load is warm, about `left` of them at most, and begins the measured `window` there; returns how many were served.
    fn warm_up<F: Files, B: Beside>(
        &mut self,
        drive: &mut Watched<Watch<F, B>>,
        pace: Pace,
        left: u64,
        progress: &mut dyn Progress,
        window: &mut Measuring,
    ) -> u64 {
        let mut served = 0;
        while served < left && self.source.files().is_some_and(|files| !files.is_warm()) {
            let chunk = WARM_CHUNK.min(left - served);
            let done = drive.serve(&mut self.source, pace, Some(chunk));
            served += done;
            progress.update(drive.completed(), drive.now(), "warm-up");
            if done < chunk {
                break;
            }
        }
        let now = drive.now();
        drive.observer.measure_from(now);
        window.begin_again(drive);
        served
    }

    /// Serves one stage, about `left` requests of it at most (one program may answer several requests at once); returns how many were served.
    fn stage<F: Files, B: Beside>(
        &mut self,
        drive: &mut Watched<Watch<F, B>>,
        stage: &Stage,
        left: u64,
        progress: &mut dyn Progress,
        window: &mut Measuring,
    ) -> u64 {
        let origin = drive.now();
        let pace = stage.pace(drive.now());
        let mut served = if self.warms_up { self.warm_up(drive, pace, left, progress, window) } else { 0 };
        loop {
            let chunk = CHUNK.min(left - served.min(left));
            let done = drive.serve(&mut self.source, pace, Some(chunk));
            served += done;
            progress.update(drive.completed(), drive.now(), &stage.name);
            let late = stage.depth.is_some() && stage.time_limit.is_some_and(|limit| drive.now() - origin >= limit);
            if done < chunk || served >= left || late {
                break;
            }
        }
        if served < left {
            // The next stage starts on a drive that has answered everything.
            served += drive.serve(&mut std::iter::empty(), Pace::Closed { depth: 1 }, None);
        }
        served
    }
}

impl<F: Files, B: Beside> Serve<F, B> for Stages {
    fn serve(&mut self, drive: &mut Watched<Watch<F, B>>, progress: &mut dyn Progress, window: &mut Measuring) -> Result<Served, RunError> {
        let (mut left, mut is_steady, mut number) = (self.requests.unwrap_or(u64::MAX), false, 0);
        while let Some(stage) = self.source.next_stage() {
            number += 1;
            let now = drive.now();
            drive.observer.begin_phase(now, &stage.name, stage.depth);
            progress.expect(stage.total.map(|total| drive.completed() + total.min(left)));
            if let Some(rounds) = self.rounds.filter(|_| number == self.stages) {
                is_steady = rounds.run(drive, &mut self.source, &stage, progress, window);
                break;
            }
            let jobs = self.source.jobs().map(|jobs| {
                drive.observer.begin_jobs(now, jobs.named());
                jobs.paces().to_vec()
            });
            let served = match jobs {
                Some(paces) => self.jobs(drive, &stage, &paces, left, progress),
                None => self.stage(drive, &stage, left, progress, window),
            };
            left = left.saturating_sub(served);
            if left == 0 {
                break;
            }
        }
        self.absent = if self.requests.is_some() { left } else { 0 };
        if let Some(error) = self.source.failure() {
            return Err(error.into());
        }
        let is_all_measured = self.rounds.is_none() && !self.warms_up;
        let is_whole = self.rounds.is_none() && self.requests.is_none();
        Ok(Served { is_steady, is_whole, is_all_measured })
    }
}
