//! Bench of hints: a file server for half a year, on drives that rewrite what is read often, with and without hints of the host (004 §3, §5 and §8).
//!
//! Each step is a stretch in virtual time, in which the load runs as it is, and a leap over the reads of some days, of which a sample is carried out. Nothing
//! is written in a leap. A leap reads all bytes of the load equally often, as the load does.

use wordline_drive::{Pace, Watched};
use wordline_engine::{Completion, Event, Observer};
use wordline_pages::html::figure::{Curve, Curves, Figure, Scale};
use wordline_plan::Plan;
use wordline_runs::{Prepared, parallel};
use wordline_units::host::SECTOR_BYTES;
use wordline_units::{Bytes, Cause, FlashOp, HostOp, Nanos, Tolerance};
use wordline_workload::{FileLoad, FileOptions, FileSpec};

use super::{Bench, Findings, On, Setup, m};
use crate::conditions::DAY;
use crate::error::LabError;
use crate::filed::{files, plan};
use crate::protocol::{Count, Micros, Name, Number, Share, conditions};
use crate::reading::SUFFERS;

/// The `hints` bench: its metrics, its conditions and the function that measures.
pub(super) const BENCH: Bench = Bench {
    name: "hints",
    summary: "Half a year of a file server, with and without hints about the latency that it tolerates",
    metrics: &[
        m(
            "saving",
            "share",
            "Programs for read disturb that hints save, of those of the first rewriter: most with a loss within the limit",
        ),
        m("saving-by-retry", "share", "The same of the second rewriter"),
        m("loss", "share", "Requests a second that the first rewriter loses by hints, where it saves most"),
        m("loss-by-retry", "share", "The same of the second rewriter"),
        m("longer", "us", "Tolerated latency with which the first rewriter saves most"),
        m(
            "violations",
            "share",
            "Hinted reads that took longer than is tolerated, more than without hints, of the first rewriter where it saves most",
        ),
        m("violations-by-retry", "share", "The same of the second rewriter"),
        m(
            "saving-mixed",
            "share",
            "Least saving of the first rewriter under loads that also write, with the tolerated latency of `longer`",
        ),
        m("mixed-gap", "share", "Most by which a saving under those loads differs from that under the load that reads"),
        m("either", "share", "Drives without hints that rewrite as much as they hold, or have long reads in one of a thousand at the end"),
        m("rewritten", "ratio", "Units programmed for read disturb by the first rewriter without hints over those that it holds"),
        m("rewritten-hinted", "ratio", "The same with hints, where it saves most"),
        m("failed", "share", "Reads that failed, of those in virtual time, the most of all drives"),
    ],
    on: On::Drives,
    conditions: At::PROTOCOL,
    run,
};

conditions! {
    "hints",
    /// Conditions of the drives and the loads.
    struct At {
        /// the drive
        drive: Name,
        /// exported size of the drive, or "whole"
        size: Name,
        /// settings of each of the two rewriters
        rewriters: [Vec<Name>; 2],
        /// settings that hints add
        hints: Vec<Name>,
        /// settings of each drive that retries
        retriers: Vec<Vec<Name>>,
        /// setting whose values are the latencies that are tolerated
        tolerated: Name,
        /// latencies that are tolerated, one after another
        longer: Vec<Micros>,
        /// the load that only reads
        read: Name,
        /// the loads that also write
        mixed: Vec<Name>,
        /// reads in a second of each GiB that the drive holds, of 4 KiB
        rate: Number,
        /// days of reads
        days: Count,
        /// days of a leap
        leap: Count,
        /// requests in virtual time before each leap
        stretch: Count,
        /// time in the device above which a read is long
        long: Micros,
        /// part of the requests a second that may be lost
        loss: Share,
    }
}

/// Bytes of a GiB.
const GIB: f64 = Bytes::gib(1).0 as f64;

/// Counts of what a drive does, and the class of each unit.
#[derive(Clone, Debug)]
struct Watch {
    long: Nanos,
    /// Latencies that may be tolerated.
    tolerated: Vec<Nanos>,
    /// True for each unit with a hint.
    is_hinted: Vec<bool>,
    /// Sectors of a unit.
    sectors: u64,
    requests: u64,
    hinted_reads: u64,
    /// Hinted reads that took longer than each of those.
    longer: Vec<u64>,
    flash_reads: u64,
    long_reads: u64,
    moved: u64,
    failed: u64,
}

impl Watch {
    fn end(&mut self, done: &Completion) {
        self.requests += u64::from(matches!(done.op, HostOp::Read | HostOp::Write));
        let first = (done.sector / self.sectors) as usize;
        let last = first.max(((done.sector + u64::from(done.sectors)).div_ceil(self.sectors) as usize).min(self.is_hinted.len()));
        let units = &mut self.is_hinted[first..last];
        match done.op {
            HostOp::Write | HostOp::Hint => units.fill(done.attributes.tolerance == Tolerance::Longer),
            HostOp::Read => {
                let is_hinted = units.iter().all(|hinted| *hinted);
                let took = done.stages.total() - done.stages.host_queue;
                self.hinted_reads += u64::from(is_hinted);
                for (count, tolerated) in self.longer.iter_mut().zip(&self.tolerated) {
                    *count += u64::from(is_hinted && took > *tolerated);
                }
                self.failed += u64::from(!done.ok);
            }
            HostOp::Trim | HostOp::Flush => {}
        }
    }
}

impl Observer for Watch {
    fn observe(&mut self, at: Nanos, event: &Event) {
        if let Event::Completed(done) = event {
            self.end(done);
        }
        let Event::Flash(done) = event else { return };
        if done.op == FlashOp::Read && done.cause == Cause::Host {
            self.flash_reads += 1;
            self.long_reads += u64::from(at - done.issued > self.long);
        }
        if done.cause == Cause::Disturb {
            self.moved += u64::from(done.moved_units);
        }
    }
}

/// Half a year of a drive.
#[derive(Clone, Debug, Default)]
struct Life {
    /// Units programmed for read disturb over those that the drive held at first.
    rewritten: f64,
    /// Requests a second in virtual time.
    rate: f64,
    /// Hinted reads that took longer than each latency of the sweep.
    longer: Vec<f64>,
    /// Long reads in the last stretch.
    long: f64,
    /// Reads that failed in virtual time.
    failed: f64,
}

impl Life {
    fn suffers(&self) -> bool {
        self.rewritten >= 1.0 || self.long >= SUFFERS
    }
}

/// A drive to be lived: its plan and its load.
#[derive(Debug)]
struct Job {
    plan: Plan,
    load: FileSpec,
    label: String,
}

impl Job {
    fn new(setup: &Setup, at: &At, load: &FileSpec, settings: &[String]) -> Result<Job, LabError> {
        let texts: Vec<&str> = settings.iter().map(String::as_str).collect();
        let label = settings.last().map_or(String::new(), |last| format!("{}, {last}", load.name));
        Ok(Job { plan: plan(setup, &at.drive, &at.size, &texts)?, load: load.clone(), label })
    }

    fn live(&self, setup: &Setup, at: &At) -> Result<Life, LabError> {
        let config = self.plan.build();
        let unit = config.firmware.unit.0;
        let capacity = Bytes(config.exported_units * unit);
        let load =
            FileLoad::new(&self.load, setup.seed, capacity, FileOptions { length: Some(f64::from(u32::MAX)), ..FileOptions::default() });
        let mut load = load.map_err(|error| LabError::Usage(error.to_string()))?;
        let held = load.prefilled().0 / unit;
        let watch = Watch {
            long: Nanos((at.long * 1e3) as u64),
            tolerated: at.longer.iter().map(|longer| Nanos((longer * 1e3) as u64)).collect(),
            is_hinted: vec![false; config.exported_units as usize],
            sectors: unit / SECTOR_BYTES,
            requests: 0,
            hinted_reads: 0,
            longer: vec![0; at.longer.len()],
            flash_reads: 0,
            long_reads: 0,
            moved: 0,
            failed: 0,
        };
        let mut drive = Prepared::filled(config, held, watch).aged();
        let reads = at.rate * (held * unit) as f64 / GIB * f64::from(at.leap) * DAY;
        let (mut took, mut leapt, mut last) = (0.0, 0, (0, 0));
        for day in (0..=at.days).step_by(at.leap as usize) {
            let (first, before) = (drive.now(), (drive.observer.flash_reads, drive.observer.long_reads));
            drive.serve(&mut load.by_ref().take(at.stretch as usize), Pace::Closed { depth: self.load.queue_depth }, None);
            took += (drive.now() - first).as_secs_f64();
            drive.settle();
            last = (drive.observer.flash_reads - before.0, drive.observer.long_reads - before.1);
            leapt += drive.read_leap(0..held, reads as u64).moved_units;
            drive.run_until(first + Nanos::from_secs((f64::from(at.leap) * DAY) as u64));
            setup.teller.tell(&format!("{}: day {day} of {}", self.label, at.days));
        }
        Ok(summed(&drive, leapt, took, last, held))
    }
}

/// The life that `drive` has had: it `took` so many seconds in virtual time and moved `leapt` units in leaps, holds `held` units, and of the `last` reads so
/// many were long.
fn summed(drive: &Watched<Watch>, leapt: u64, took: f64, last: (u64, u64), held: u64) -> Life {
    let of = |part: u64, all: u64| part as f64 / all.max(1) as f64;
    let watch = &drive.observer;
    Life {
        rewritten: of(leapt + watch.moved, held),
        rate: watch.requests as f64 / took,
        longer: watch.longer.iter().map(|count| of(*count, watch.hinted_reads)).collect(),
        long: of(last.1, last.0),
        failed: of(watch.failed, watch.requests),
    }
}

/// Points of a sweep: what hints save and cost, by the latency that is tolerated.
struct Sweep<'a> {
    longer: &'a [f64],
    without: &'a Life,
    with: &'a [Life],
}

impl Sweep<'_> {
    fn saving(&self, life: &Life) -> f64 {
        if self.without.rewritten > 0.0 { 1.0 - life.rewritten / self.without.rewritten } else { 0.0 }
    }

    fn loss(&self, life: &Life) -> f64 {
        1.0 - life.rate / self.without.rate
    }

    /// Hinted reads of the point `number` that took longer than is tolerated there, more than without hints. Waiting behind others is in both.
    fn violations(&self, number: usize) -> f64 {
        self.with[number].longer[number] - self.without.longer[number]
    }

    /// Number of the point that saves most with a loss of `most`; the one of the least loss where all lose more.
    fn best(&self, most: f64) -> usize {
        let numbers = 0..self.with.len();
        let within = numbers.clone().filter(|&number| self.loss(&self.with[number]) <= most);
        let saves = |a: &usize, b: &usize| self.saving(&self.with[*a]).total_cmp(&self.saving(&self.with[*b])).then(b.cmp(a));
        let loses = |a: &usize, b: &usize| self.loss(&self.with[*a]).total_cmp(&self.loss(&self.with[*b]));
        within.max_by(saves).or_else(|| numbers.min_by(loses)).unwrap_or(0)
    }
}

fn run(setup: &Setup) -> Result<Findings, LabError> {
    let at = At::of(setup)?;
    let read = files(&at.read)?;
    let hinted = |rewriter: &[String], longer: f64| -> Vec<String> {
        let last = format!("{}={longer} us", at.tolerated);
        rewriter.iter().chain(&at.hints).cloned().chain([last]).collect()
    };
    let mut jobs = Vec::new();
    for rewriter in &at.rewriters {
        jobs.push(Job::new(setup, &at, &read, rewriter)?);
        for &longer in &at.longer {
            jobs.push(Job::new(setup, &at, &read, &hinted(rewriter, longer))?);
        }
    }
    for retrier in &at.retriers {
        jobs.push(Job::new(setup, &at, &read, retrier)?);
    }
    let lives = all(setup, &at, &jobs)?;
    let points = at.longer.len();
    let of = |number: usize| {
        let of = &lives[number * (1 + points)..][..1 + points];
        Sweep { longer: &at.longer, without: &of[0], with: &of[1..] }
    };
    let sweeps = [of(0), of(1)];
    let best = sweeps[0].best(at.loss);
    let mut jobs = Vec::new();
    for name in &at.mixed {
        let load = files(name)?;
        jobs.push(Job::new(setup, &at, &load, &at.rewriters[0])?);
        jobs.push(Job::new(setup, &at, &load, &hinted(&at.rewriters[0], at.longer[best]))?);
    }
    let mixed = all(setup, &at, &jobs)?;
    let savings: Vec<f64> = mixed.chunks(2).map(|pair| Sweep { longer: &[], without: &pair[0], with: &[] }.saving(&pair[1])).collect();
    let retriers = &lives[2 * (1 + points)..];
    Ok(found(&at, &sweeps, &savings, retriers, lives.iter().chain(&mixed)))
}

fn all(setup: &Setup, at: &At, jobs: &[Job]) -> Result<Vec<Life>, LabError> {
    parallel::try_map(setup.threads, jobs.len(), |index| jobs[index].live(setup, at))
}

/// The metrics, by the `sweeps` of both rewriters, the `savings` under loads that write, the drives that retry, and all lives.
fn found<'l>(at: &At, sweeps: &[Sweep<'_>; 2], savings: &[f64], retriers: &[Life], lives: impl Iterator<Item = &'l Life>) -> Findings {
    let mut findings = Findings::default();
    let names = [["saving", "loss", "violations"], ["saving-by-retry", "loss-by-retry", "violations-by-retry"]];
    for (sweep, [saving, loss, violations]) in sweeps.iter().zip(names) {
        let best = sweep.best(at.loss);
        let life = &sweep.with[best];
        findings.set(saving, sweep.saving(life));
        findings.set(loss, sweep.loss(life));
        findings.set(violations, sweep.violations(best));
    }
    let [first, second] = sweeps;
    let best = first.best(at.loss);
    let saving = first.saving(&first.with[best]);
    findings.set("longer", at.longer[best]);
    findings.set("saving-mixed", savings.iter().copied().fold(f64::INFINITY, f64::min));
    findings.set("mixed-gap", savings.iter().map(|mixed| (mixed - saving).abs()).fold(0.0, f64::max));
    let alone: Vec<&Life> = [first.without, second.without].into_iter().chain(retriers).collect();
    findings.set("either", crate::lot::share(alone.iter().map(|life| life.suffers())));
    findings.set("rewritten", first.without.rewritten);
    findings.set("rewritten-hinted", first.with[best].rewritten);
    findings.set("failed", lives.map(|life| life.failed).fold(0.0, f64::max));
    findings.figures.push(pictured(sweeps));
    findings
}

/// Picture of what hints save and lose, over the latency that is tolerated.
fn pictured(sweeps: &[Sweep<'_>; 2]) -> Figure {
    let curve = |label: &str, colour: usize, dashed: bool, sweep: &Sweep<'_>, of: &dyn Fn(&Life) -> f64| Curve {
        label: label.to_owned(),
        colour,
        dashed,
        points: sweep.longer.iter().zip(sweep.with).map(|(longer, life)| (*longer, 100.0 * of(life))).collect(),
    };
    let [first, second] = sweeps;
    Figure::Curves(Curves {
        title: "Saving and loss by hints".to_owned(),
        note: "of programs for read disturb and of requests a second, under a file server that only reads (004 §5)".to_owned(),
        x: Scale::log("tolerated latency, us"),
        y: Scale::from_zero("%"),
        curves: vec![
            curve("saving, by reads", 0, false, first, &|life| first.saving(life)),
            curve("saving, by retry", 1, false, second, &|life| second.saving(life)),
            curve("loss, by reads", 0, true, first, &|life| first.loss(life)),
            curve("loss, by retry", 1, true, second, &|life| second.loss(life)),
        ],
        marks: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn life(rewritten: f64, rate: f64, longer: &[f64]) -> Life {
        Life { rewritten, rate, longer: longer.to_vec(), ..Life::default() }
    }

    #[test]
    fn the_best_point_saves_most_of_those_that_lose_little() {
        let without = life(10.0, 1_000.0, &[0.01, 0.01, 0.0]);
        let with = [life(8.0, 1_000.0, &[0.03, 0.0, 0.0]), life(4.0, 985.0, &[0.0, 0.015, 0.0]), life(1.0, 900.0, &[0.0, 0.0, 0.0])];
        let sweep = Sweep { longer: &[50.0, 100.0, 200.0], without: &without, with: &with };
        assert_eq!(sweep.best(0.02), 1, "the third saves more and loses a tenth");
        assert!((sweep.saving(&with[1]) - 0.6).abs() < 1e-12 && (sweep.loss(&with[1]) - 0.015).abs() < 1e-12);
        assert!((sweep.violations(1) - 0.005).abs() < 1e-12, "beside those that there are without hints");
        assert_eq!(sweep.best(0.2), 2);
        assert_eq!(sweep.best(-0.1), 0, "where all lose more, the least loss counts");
    }

    #[test]
    fn a_drive_that_rewrites_nothing_has_nothing_to_save() {
        let (without, with) = (life(0.0, 1.0, &[0.0]), [life(0.0, 1.0, &[0.0])]);
        assert_eq!(Sweep { longer: &[50.0], without: &without, with: &with }.saving(&with[0]), 0.0);
    }
}
