//! Rounds until the drive is steady, then one to measure.

use wordline_drive::Drive;
use wordline_lab::filed::Files;
use wordline_report::Metrics;
use wordline_report::text::number;
use wordline_units::{Bytes, HostOp, Nanos};
use wordline_workload::steady::{self, Criteria, LEAST_SHARE, Progress, Round, SteadyState, USUAL_SHARE, Window, Windows};

use crate::args::LoadOptions;
use crate::cost::Stopwatch;
use crate::failure::Failure;
use crate::input::{Source, Stage, Workload};
use crate::progress::Line;
use crate::watch::Watch;

/// Rounds of so many requests.
pub(crate) struct Rounds {
    requests: u64,
    unit: Bytes,
}

impl Rounds {
    /// Rounds of what writes a quarter of a drive of `capacity` with mapping units of `unit`, unless the user said otherwise.
    pub(crate) fn new(workload: &Workload, options: &LoadOptions, capacity: Bytes, unit: Bytes) -> Result<Rounds, Failure> {
        let Workload::Made(spec) = workload else {
            return Err(Failure::Usage(
                "--until-steady needs a workload of phases: a trace ends before it is steady, and what files do has no rounds".to_owned(),
            ));
        };
        let last = spec.phases.last().expect("a checked workload has a phase");
        let least = steady::least_requests(last, capacity);
        let requests = options.round.unwrap_or_else(|| steady::requests_for(USUAL_SHARE, last, capacity));
        if requests < least {
            return Err(Failure::Usage(format!(
                "--round {requests} is too short: five rounds that hardly touch the drive look steady whatever it does; a round moves at least {:.0} % \
                 of the drive, which takes {least} requests of phase '{}' on this one",
                LEAST_SHARE * 100.0,
                last.name,
            )));
        }
        Ok(Rounds { requests, unit })
    }

    /// Run rounds of `stage` until steady, then one more that is measured; returns whether it became steady.
    pub(crate) fn run<F: Files>(
        &self,
        drive: &mut Drive<Watch<F>>,
        source: &mut Source,
        stage: &Stage,
        line: &mut Line,
        cost: &mut Stopwatch,
    ) -> bool {
        let pace = crate::simulate::pace(drive, stage);
        let mut state = SteadyState::new(Criteria::default());
        line.expect(None);
        let (steady, windows) = loop {
            let now = drive.now();
            drive.observer.metrics.reset(now);
            let done = self.round(drive, source, pace, line, &format!("round {}", state.rounds().len() + 1));
            match state.add(self.figures(&drive.observer.metrics)) {
                Progress::Going(_) if done >= self.requests => {}
                Progress::Steady(windows) => break (true, Some(windows)),
                Progress::Going(windows) | Progress::GivenUp(windows) => break (false, windows),
            }
        };
        line.say(&told(steady, state.rounds().len(), self.requests, windows));
        let now = drive.now();
        drive.observer.metrics.reset(now);
        for log in &mut drive.observer.logs {
            log.start_at(now);
        }
        *cost = Stopwatch::start();
        self.round(drive, source, pace, line, "measured round");
        steady
    }

    fn round<F: Files>(
        &self,
        drive: &mut Drive<Watch<F>>,
        source: &mut Source,
        pace: wordline_drive::Pace,
        line: &mut Line,
        name: &str,
    ) -> u64 {
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

    fn figures(&self, metrics: &Metrics) -> Round {
        let totals = metrics.so_far();
        let requests: u64 = HostOp::ALL.into_iter().map(|op| totals.host(op).requests).sum();
        Round { iops: requests as f64 / metrics.elapsed().max(Nanos(1)).as_secs_f64(), waf: totals.waf(self.unit) }
    }
}

/// How it went, for people.
fn told(steady: bool, rounds: usize, requests: u64, windows: Option<Windows>) -> String {
    let of = |name, window: Window| {
        let [spread, drift] = [window.excursion, window.slope_excursion].map(|share| number(share * 100.0));
        format!(", {name} {} (spread {spread} %, drift {drift} %)", number(window.average))
    };
    let iops = windows.map(|windows| of("IOPS", windows.iops)).unwrap_or_default();
    let waf = windows.and_then(|windows| windows.waf).map(|waf| of("WAF", waf)).unwrap_or_default();
    format!("{} after {rounds} rounds of {requests} requests{iops}{waf}", if steady { "steady" } else { "not steady" })
}
