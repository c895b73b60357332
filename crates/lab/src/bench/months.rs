//! Bench of months of reads: drives that rewrite what is read often, and drives that retry long reads (004 §2, §4 and §5).

use wordline_pages::html::figure::{Curve, Curves, Figure, Scale};
use wordline_runs::parallel;

use super::{Bench, Findings, On, Setup, m};
use crate::error::LabError;
use crate::filed::plan;
use crate::lot::{mean, share};
use crate::protocol::{Count, Micros, Name, conditions};
use crate::reading::{Days, Point, Reading, SUFFERS};

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
        m("reads", "count", "Reads of a flash block in all days, the mean"),
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
        /// workload that only reads, at a rate
        load: Name,
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

fn run(setup: &Setup) -> Result<Findings, LabError> {
    let at = At::of(setup)?;
    let reading = Reading::new(&at.load, [at.days, at.leap], at.timed, at.long)?;
    let plans = at.drives.iter().map(|name| plan(setup, name, &at.size, &[])).collect::<Result<Vec<_>, _>>()?;
    let lives = parallel::try_map(setup.threads, plans.len(), |index| reading.days(setup, &plans[index]))?;
    let reads = mean(&lives.iter().map(|life| life.reads).collect::<Vec<_>>());
    let lives: Vec<Vec<Point>> = lives.into_iter().map(|Days { points, .. }| points).collect();
    let [rewriter, by_retry, retrier] = &lives[..] else { unreachable!("there are three drives") };
    let last = |life: &[Point]| life.last().copied().unwrap_or_default();
    let first_day =
        |life: &[Point], has: &dyn Fn(&Point) -> bool| life.iter().find(|point| has(point)).map_or(f64::INFINITY, |point| point.day);
    let long_worst = |life: &[Point]| life.iter().map(|day| day.long).fold(0.0, f64::max);
    let fifths: Vec<f64> =
        retrier.chunks(retrier.len().div_ceil(PARTS)).map(|part| mean(&part.iter().map(|day| day.long).collect::<Vec<_>>())).collect();
    let rising = share(fifths.windows(2).map(|pair| pair[1] >= pair[0]));
    let suffers = |life: &Vec<Point>| last(life).rewritten >= 1.0 || last(life).long >= SUFFERS;
    let mut findings = Findings::default();
    findings.set("rewritten", last(rewriter).rewritten);
    findings.set("rewritten-by-retry", last(by_retry).rewritten);
    findings.set("rewritten-retrier", last(retrier).rewritten);
    findings.set("long-start", retrier[0].long);
    findings.set("long-end", last(retrier).long);
    findings.set("long-factor", last(retrier).long / retrier[0].long.max(1.0 / f64::from(at.timed)));
    findings.set("long-rises", rising);
    findings.set("long-rewriters", long_worst(rewriter).max(long_worst(by_retry)));
    findings.set("long-first", first_day(retrier, &|day| day.long >= SUFFERS));
    findings.set("rewrite-first", first_day(by_retry, &|day| day.rewritten > 0.0));
    findings.set("either", lives.iter().filter(|life| suffers(life)).count() as f64 / lives.len() as f64);
    findings.set("days", f64::from(at.days));
    findings.set("reads", reads);
    findings.set("failed", lives.iter().flatten().map(|day| day.failed).fold(0.0, f64::max));
    findings.figures.push(pictured(&at, &lives, "Long reads", "% of the reads", |day| 100.0 * day.long));
    findings.figures.push(pictured(&at, &lives, "Data rewritten for reads", "times what the drive holds", |day| day.rewritten));
    Ok(findings)
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
