//! Months of reads of a bench's drives: see [`wordline_runs::read_out`].

use wordline_figures::ReadLifeResult;
use wordline_plan::Plan;
use wordline_runs::read_out::{ReadOut, read_out, reads_of_a_block};
use wordline_runs::{Load, Progress, Reads, Workload};
use wordline_units::Nanos;

use crate::bench::Setup;
use crate::conditions::DAY;
use crate::error::LabError;

/// Share of long reads above which a drive suffers from them.
pub(crate) const SUFFERS: f64 = 1e-3;
/// Days of a year.
const YEAR: f64 = 365.25;

/// Figures at one day.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Point {
    pub(crate) day: f64,
    /// Long reads of those timed.
    pub(crate) long: f64,
    /// Units rewritten so far over those that the drive holds.
    pub(crate) rewritten: f64,
    /// Reads that failed, of those timed.
    pub(crate) failed: f64,
}

/// Days of a drive.
#[derive(Clone, Debug)]
pub(crate) struct Days {
    pub(crate) points: Vec<Point>,
    /// Reads of a flash block in all days, in the mean.
    pub(crate) reads: f64,
}

/// Reads of months.
#[derive(Clone, Debug)]
pub(crate) struct Reading {
    reads: Reads,
    asked: ReadOut,
}

impl Reading {
    /// Reads of the built-in workload `load` for so many `days`, with `timed` reads behind each leap of `leap` days, of which those above `long` us are long.
    pub(crate) fn new(load: &str, [days, leap]: [u32; 2], timed: u32, long: f64) -> Result<Reading, LabError> {
        let workload = Workload::load(load, &Load::default(), &mut |_| ())?;
        let reads = Reads::of(&workload, &Load::default())?;
        let reads = reads.ok_or_else(|| LabError::Usage(format!("workload {load} does not only read at a rate")))?;
        let (years, epochs) = (f64::from(days) / YEAR, days.div_ceil(leap.max(1)));
        Ok(Reading { reads, asked: ReadOut { years, epochs, timed: u64::from(timed), long: Nanos((long * 1e3) as u64) } })
    }

    /// Days of the drive of `plan`, which begins full.
    pub(crate) fn days(&self, setup: &Setup, plan: &Plan) -> Result<Days, LabError> {
        let life = read_out(plan, &self.reads, &Load::default(), &self.asked, &mut Told { setup, name: plan.name() })?;
        if let Some(reason) = &life.ended {
            return Err(LabError::Usage(format!("{} after {:.0} days: {reason}", life.name, life.days)));
        }
        Ok(Days { reads: reads_of_a_block(&plan.build().sheet.geometry, &life), points: points(&life) })
    }
}

/// Figures of each epoch of `life`.
fn points(life: &ReadLifeResult) -> Vec<Point> {
    let all: u64 = life.epochs.iter().map(|epoch| epoch.rewrites).sum();
    let mut begun = 0;
    let point = |epoch: &wordline_figures::ReadEpochResult| {
        begun += epoch.rewrites;
        Point {
            day: epoch.day,
            long: epoch.long_share,
            rewritten: life.rewritten * begun as f64 / all.max(1) as f64,
            failed: epoch.failed_timed as f64 / epoch.timed.max(1) as f64,
        }
    };
    life.epochs.iter().map(point).collect()
}

/// Progress of a drive, for the receiver of a bench's.
struct Told<'a> {
    setup: &'a Setup,
    name: &'a str,
}

impl Progress for Told<'_> {
    fn expect(&mut self, _: Option<u64>) {}

    fn update(&mut self, _: u64, now: Nanos, _: &str) {
        self.setup.teller.tell(&format!("{}: day {:.0}", self.name, now.as_secs_f64() / DAY));
    }

    fn say(&mut self, what: &str) {
        self.setup.teller.tell(what);
    }
}
