//! Bench of months of reads: drives that rewrite what is read often, and drives that retry long reads (004 §2, §4 and §5).
//!
//! Each step is a stretch in virtual time at a low rate, in which each read is timed, and a leap over the reads of some days, of which a sample is carried
//! out. The errors of a sampled read are those of the worst of the reads that it stands for, so the share of long reads is that of the stretch.

use wordline_drive::{Pace, Watched};
use wordline_engine::{Event, Observer};
use wordline_pages::html::figure::{Curve, Curves, Figure, Scale};
use wordline_plan::Plan;
use wordline_runs::{Prepared, parallel};
use wordline_units::host::SECTOR_BYTES;
use wordline_units::random::{Draw, Stream};
use wordline_units::{Bytes, Cause, FlashOp, HostOp, HostRequest, Nanos};

use super::{Bench, Findings, On, Setup, m};
use crate::conditions::DAY;
use crate::error::LabError;
use crate::filed::plan;
use crate::lot::{mean, share};
use crate::protocol::{Count, Micros, Name, Number, conditions};

/// The `months` bench: its metrics, its conditions and the function that measures.
pub(super) const BENCH: Bench = Bench {
    name: "months",
    summary: "Months of reads: what drives rewrite for them, and how many reads become long",
    metrics: &[
        m("rewritten", "ratio", "Bytes that the first drive has rewritten for reads over what it holds, at the end"),
        m("rewritten-by-retry", "ratio", "The same of the second drive"),
        m("rewritten-retrier", "ratio", "The same of the third drive"),
        m("long-start", "share", "Long reads of the third drive on the first day"),
        m("long-end", "share", "Long reads of the third drive on the last day"),
        m("long-factor", "ratio", "Long reads on the last day over those on the first, of which one in the sample is taken at least"),
        m("long-rises", "share", "Parts of the time, of ten, in which the third drive has no fewer long reads than in the part before"),
        m("long-rewriters", "share", "Long reads of the first two drives, on the worst day"),
        m("long-first", "days", "First day with long reads of the third drive, one in a thousand"),
        m("rewrite-first", "days", "First day on which the second drive rewrites"),
        m("either", "share", "Drives that rewrite as much as they hold, or have long reads in one of a thousand at the end"),
        m("days", "days", "Days of reads"),
        m("reads", "count", "Reads of a block group in all days, the mean"),
        m("failed", "share", "Reads that failed, of those timed, the most of all drives"),
    ],
    on: On::Drives,
    conditions: At::PROTOCOL,
    run,
};

conditions! {
    "months",
    /// Conditions of the drives.
    struct At {
        /// the drive that rewrites by number of reads; the one that rewrites at a retry; the one that retries
        drives: [Name; 3],
        /// exported size of each drive, or "whole"
        size: Name,
        /// reads in a second of each GiB that the host sees, of 4 KiB
        rate: Number,
        /// days of reads
        days: Count,
        /// days of a leap
        leap: Count,
        /// reads that are timed before each leap
        timed: Count,
        /// time in the device above which a read is long
        long: Micros,
    }
}

/// Parts of the time in which long reads are compared.
const PARTS: usize = 10;
/// Sectors of a read: 4 KiB.
const SECTORS: u32 = 8;
/// Bytes of a GiB.
const GIB: f64 = Bytes::gib(1).0 as f64;

/// Counts of what a drive does.
#[derive(Clone, Copy, Debug)]
struct Watch {
    /// Time in the device above which a read is long.
    long: Nanos,
    /// True while reads are timed.
    is_timed: bool,
    reads: u64,
    long_reads: u64,
    failed: u64,
}

impl Observer for Watch {
    fn observe(&mut self, at: Nanos, event: &Event) {
        let Event::Flash(done) = event else { return };
        if self.is_timed && done.op == FlashOp::Read && done.cause == Cause::Host {
            self.reads += 1;
            self.long_reads += u64::from(at - done.issued > self.long);
            self.failed += u64::from(!done.ok);
        }
    }
}

/// Figures at one day.
#[derive(Clone, Copy, Debug, Default)]
struct Point {
    day: f64,
    /// Long reads of those timed.
    long: f64,
    /// Units rewritten so far over those that the drive holds.
    rewritten: f64,
    failed: f64,
}

/// Days of the drive of `plan`.
fn days(setup: &Setup, at: &At, plan: &Plan) -> Vec<Point> {
    let config = plan.build();
    let units = config.exported_units;
    let watch = Watch { long: Nanos((at.long * 1e3) as u64), is_timed: false, reads: 0, long_reads: 0, failed: 0 };
    let mut drive = Prepared::filled(config, units, watch).aged();
    let bytes = drive.unit_bytes().0;
    let rate = at.rate * (units * bytes) as f64 / GIB;
    let span = f64::from(at.leap) * DAY;
    let mut draw = Draw::new(setup.seed, Stream::Mix, 0);
    let per_unit = bytes / (u64::from(SECTORS) * SECTOR_BYTES);
    let mut all = Vec::new();
    for day in (0..=at.days).step_by(at.leap as usize) {
        let (before, gap) = (drive.observer, (1e9 / rate) as u64);
        let first = drive.now();
        drive.observer.is_timed = true;
        let mut reads = (0..u64::from(at.timed)).map(|read| {
            let sector = draw.below(units * per_unit) * u64::from(SECTORS);
            HostRequest { at: Nanos(read * gap), ..HostRequest::new(HostOp::Read, sector, SECTORS) }
        });
        drive.serve(&mut reads, Pace::Open { origin: first }, None);
        drive.observer.is_timed = false;
        drive.settle();
        let now = drive.observer;
        let timed = (now.reads - before.reads).max(1) as f64;
        all.push(Point {
            day: f64::from(day),
            long: (now.long_reads - before.long_reads) as f64 / timed,
            rewritten: rewritten(&drive) / units as f64,
            failed: (now.failed - before.failed) as f64 / timed,
        });
        drive.read_leap(0..units, (rate * span) as u64);
        drive.run_until(Nanos(first.0 + Nanos::from_secs(span as u64).0));
        setup.teller.tell(&format!("{}: day {day} of {}", plan.name(), at.days));
    }
    all
}

fn run(setup: &Setup) -> Result<Findings, LabError> {
    let at = At::of(setup)?;
    let plans = at.drives.iter().map(|name| plan(setup, name, &at.size, &[])).collect::<Result<Vec<_>, _>>()?;
    let lives: Vec<Vec<Point>> = parallel::try_map(setup.threads, plans.len(), |index| Ok::<_, LabError>(days(setup, &at, &plans[index])))?;
    let [rewriter, by_retry, retrier] = &lives[..] else { unreachable!("there are three drives") };
    let last = |life: &[Point]| life.last().copied().unwrap_or_default();
    let first_day =
        |life: &[Point], has: &dyn Fn(&Point) -> bool| life.iter().find(|point| has(point)).map_or(f64::INFINITY, |point| point.day);
    let long_worst = |life: &[Point]| life.iter().map(|day| day.long).fold(0.0, f64::max);
    let fifths: Vec<f64> =
        retrier.chunks(retrier.len().div_ceil(PARTS)).map(|part| mean(&part.iter().map(|day| day.long).collect::<Vec<_>>())).collect();
    let rising = share(fifths.windows(2).map(|pair| pair[1] >= pair[0]));
    let suffers = |life: &Vec<Point>| last(life).rewritten >= 1.0 || last(life).long >= 1e-3;
    let mut findings = Findings::default();
    findings.set("rewritten", last(rewriter).rewritten);
    findings.set("rewritten-by-retry", last(by_retry).rewritten);
    findings.set("rewritten-retrier", last(retrier).rewritten);
    findings.set("long-start", retrier[0].long);
    findings.set("long-end", last(retrier).long);
    findings.set("long-factor", last(retrier).long / retrier[0].long.max(1.0 / f64::from(at.timed)));
    findings.set("long-rises", rising);
    findings.set("long-rewriters", long_worst(rewriter).max(long_worst(by_retry)));
    findings.set("long-first", first_day(retrier, &|day| day.long >= 1e-3));
    findings.set("rewrite-first", first_day(by_retry, &|day| day.rewritten > 0.0));
    findings.set("either", lives.iter().filter(|life| suffers(life)).count() as f64 / lives.len() as f64);
    findings.set("days", f64::from(at.days));
    findings.set("reads", reads_of_a_group(&at, &plans[0]));
    findings.set("failed", lives.iter().flatten().map(|day| day.failed).fold(0.0, f64::max));
    findings.figures.push(pictured(&at, &lives, "Long reads", "% of the reads", |day| 100.0 * day.long));
    findings.figures.push(pictured(&at, &lives, "Data rewritten for reads", "times what the drive holds", |day| day.rewritten));
    Ok(findings)
}

/// Units that `drive` has rewritten for reads: all of each block group, as a drive that is full and only read holds nothing stale. Leaps show no events.
fn rewritten(drive: &Watched<Watch>) -> f64 {
    let begun: u64 = drive.rewrites().iter().filter(|(cause, _)| *cause == Cause::Disturb).map(|(_, counts)| counts.begun).sum();
    begun as f64 * f64::from(drive.firmware()[0].layout().data_units)
}

/// Picture of a figure of all drives, day by day.
fn pictured(at: &At, lives: &[Vec<Point>], title: &str, unit: &str, of: fn(&Point) -> f64) -> Figure {
    let curve = |(colour, (name, life)): (usize, (&String, &Vec<Point>))| Curve {
        label: name.clone(),
        colour,
        dashed: false,
        points: life.iter().map(|point| (point.day, of(point))).collect(),
    };
    Figure::Curves(Curves {
        title: title.to_owned(),
        note: "of drives that are read at random, day by day (004 §2 and §5)".to_owned(),
        x: Scale::even("day"),
        y: Scale::from_zero(unit),
        curves: at.drives.iter().zip(lives).enumerate().map(curve).collect(),
        marks: Vec::new(),
    })
}

/// Reads of a block group in all days, in the mean.
fn reads_of_a_group(at: &At, plan: &Plan) -> f64 {
    let geometry = plan.build().sheet.geometry;
    let group = f64::from(geometry.pages()) * geometry.page.0 as f64 * f64::from(geometry.planes);
    at.rate * group / GIB * f64::from(at.days) * DAY
}
