//! Rounds until the drive is steady, then one to measure.

use wordline_drive::{Config, Pace, Watched};
use wordline_figures::Metrics;
use wordline_pages::number::number;
use wordline_units::{Bytes, HostOp, Nanos};
use wordline_workload::steady::{self, Criteria, Round, SteadyState, USUAL_SHARE, Window, Windows};

use crate::error::RunError;
use crate::files::Files;
use crate::load::Load;
use crate::measuring::Measuring;
use crate::progress::{CHUNK, Progress};
use crate::source::{Source, Stage};
use crate::watch::{Beside, Watch};
use crate::workload::Workload;

/// Rounds of so many requests.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rounds {
    requests: u64,
    unit: Bytes,
}

impl Rounds {
    /// Rounds of what writes a quarter of a drive of `config`, unless the user said otherwise.
    pub(crate) fn new(workload: &Workload, load: &Load, config: &Config) -> Result<Rounds, RunError> {
        let Workload::Made(spec) = workload else { return Err(RunError::NoRounds) };
        let (last, capacity) = (spec.phases.last().expect("a checked workload has a phase"), config.exported());
        let least = steady::least_requests(last, capacity);
        let requests = load.round.unwrap_or_else(|| steady::requests_for(USUAL_SHARE, last, capacity));
        if requests < least {
            return Err(RunError::ShortRound { requests, least, phase: last.name.clone() });
        }
        Ok(Rounds { requests, unit: config.firmware.unit })
    }

    /// Runs rounds of `stage` until steady, then one more that is measured; returns whether it became steady.
    pub(crate) fn run<F: Files, B: Beside>(
        &self,
        drive: &mut Watched<Watch<F, B>>,
        source: &mut Source,
        stage: &Stage,
        progress: &mut dyn Progress,
        window: &mut Measuring,
    ) -> bool {
        let pace = stage.pace(drive.now());
        let mut state = SteadyState::new(Criteria::default());
        progress.expect(None);
        let (steady, windows) = loop {
            let now = drive.now();
            drive.observer.metrics_mut().reset(now);
            let done = self.round(drive, source, pace, progress, &format!("round {}", state.rounds().len() + 1));
            match state.add(self.figures(drive.observer.metrics())) {
                steady::Progress::Going(_) if done >= self.requests => {}
                steady::Progress::Steady(windows) => break (true, Some(windows)),
                steady::Progress::Going(windows) | steady::Progress::GivenUp(windows) => break (false, windows),
            }
        };
        progress.say(&told(steady, state.rounds().len(), self.requests, windows));
        let now = drive.now();
        drive.observer.measure_from(now);
        window.begin_again(drive);
        self.round(drive, source, pace, progress, "measured round");
        steady
    }

    fn round<F: Files, B: Beside>(
        &self,
        drive: &mut Watched<Watch<F, B>>,
        source: &mut Source,
        pace: Pace,
        progress: &mut dyn Progress,
        name: &str,
    ) -> u64 {
        let mut done = 0;
        while done < self.requests {
            let served = drive.serve(source, pace, Some(CHUNK.min(self.requests - done)));
            if served == 0 {
                break;
            }
            done += served;
            progress.update(drive.completed(), drive.now(), name);
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
