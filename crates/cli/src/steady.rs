//! Rounds until the drive is steady, then one to measure.

use wordline_drive::Drive;
use wordline_units::{Bytes, Nanos};
use wordline_workload::steady::{Criteria, Progress, SteadyState};

use crate::args::LoadOptions;
use crate::cost::Stopwatch;
use crate::failure::Failure;
use crate::input::{Source, Stage, Workload, mean_size};
use crate::progress::Line;
use crate::watch::Watch;

/// Rounds of so many requests.
pub(crate) struct Rounds {
    requests: u64,
}

impl Rounds {
    /// Rounds of what moves a quarter of the drive, unless the user said otherwise.
    pub(crate) fn new(workload: &Workload, options: &LoadOptions, capacity: Bytes) -> Result<Rounds, Failure> {
        let Workload::Made(spec) = workload else {
            return Err(Failure::Usage("--until-steady needs a generated workload: a trace ends before it is steady".to_owned()));
        };
        let last = spec.phases.last().expect("a checked workload has a phase");
        let quarter = (capacity.0 as f64 / 4.0 / mean_size(last)) as u64;
        Ok(Rounds { requests: options.round.unwrap_or(quarter).max(100) })
    }

    /// Run rounds of `stage` until steady, then one more that is measured; returns whether it became steady.
    pub(crate) fn run(&self, drive: &mut Drive<Watch>, source: &mut Source, stage: &Stage, line: &mut Line, cost: &mut Stopwatch) -> bool {
        let pace = crate::simulate::pace(drive, stage);
        let mut state = SteadyState::new(Criteria::default());
        line.expect(None);
        let steady = loop {
            let from = drive.now();
            let done = self.round(drive, source, pace, line, &format!("round {}", state.rounds().len() + 1));
            let span = drive.now().saturating_sub(from).max(Nanos(1));
            match state.add(done as f64 / span.as_secs_f64()) {
                Progress::Going(_) if done >= self.requests => {}
                Progress::Steady(_) => break true,
                Progress::Going(_) | Progress::GivenUp(_) => break false,
            }
        };
        let now = drive.now();
        drive.observer.metrics.reset(now);
        if let Some(log) = &mut drive.observer.log {
            log.start_at(now);
        }
        *cost = Stopwatch::start();
        self.round(drive, source, pace, line, "measured round");
        steady
    }

    fn round(&self, drive: &mut Drive<Watch>, source: &mut Source, pace: wordline_drive::Pace, line: &mut Line, name: &str) -> u64 {
        let mut done = 0;
        while done < self.requests {
            let served = drive.serve(source, pace, Some(20_000.min(self.requests - done)));
            if served == 0 {
                break;
            }
            done += served;
            line.update(drive.completed(), drive.now(), name);
        }
        done
    }
}
