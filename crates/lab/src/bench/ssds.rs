//! Bench of several SSDs of unlike flash and wear, each with firmware that rewrites what is read often and with firmware that retries (004 §2 and §8).

use wordline_pages::html::figure::{Curve, Curves, Figure, Scale};
use wordline_runs::parallel;

use super::{Bench, Findings, On, Setup, m};
use crate::error::LabError;
use crate::filed::plan;
use crate::lot::share;
use crate::protocol::{Count, Cycles, Micros, Name, conditions};
use crate::reading::{Days, Reading, SUFFERS};

/// The `ssds` bench: its metrics, its conditions and the function that measures.
pub(super) const BENCH: Bench = Bench {
    name: "ssds",
    summary: "Months of reads of several SSDs, each as one that rewrites and as one that retries",
    metrics: &[
        m(
            "both",
            "count",
            "SSDs on which the rewriter rewrites what it holds without long reads, and the retrier has long reads and rewrites less",
        ),
        m("either", "share", "Drives of both kinds that rewrite what they hold, or have long reads in one of a thousand on the worst day"),
        m("rewriters", "count", "SSDs on which the rewriter rewrites what it holds and has no long reads"),
        m("retriers", "count", "SSDs on which the retrier has long reads in one of a thousand on the worst day"),
        m("rewritten-least", "ratio", "Bytes that a rewriter has rewritten over what it holds, the least of all SSDs"),
        m("rewritten-most", "ratio", "The same, the most"),
        m("long-least", "share", "Long reads of a retrier on its worst day, the least of all SSDs"),
        m("long-most", "share", "The same, the most"),
        m("failed", "share", "Reads that failed, of those timed, the most of all drives"),
    ],
    on: On::Drives,
    conditions: At::PROTOCOL,
    run,
};

conditions! {
    "ssds",
    /// Conditions of the drives.
    struct At {
        /// the drive that rewrites by number of reads, and the one that retries
        drives: [Name; 2],
        /// exported size of each drive, or "whole"
        size: Name,
        /// number of SSDs: each has the seed of the one before plus one
        ssds: Count,
        /// P/E counts of the SSDs, by turns
        pe: Vec<Cycles>,
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

/// Months of a drive in short.
#[derive(Clone, Copy, Debug)]
struct Months {
    rewritten: f64,
    long: f64,
    failed: f64,
}

impl Months {
    fn of(days: &Days) -> Months {
        let worst = |of: fn(&crate::reading::Point) -> f64| days.points.iter().map(of).fold(0.0, f64::max);
        Months { rewritten: worst(|day| day.rewritten), long: worst(|day| day.long), failed: worst(|day| day.failed) }
    }

    fn rewrites(&self) -> bool {
        self.rewritten >= 1.0
    }

    fn has_long_reads(&self) -> bool {
        self.long >= SUFFERS
    }
}

fn run(setup: &Setup) -> Result<Findings, LabError> {
    let at = At::of(setup)?;
    let reading = Reading::new(&at.load, [at.days, at.leap], at.timed, at.long)?;
    let mut plans = Vec::new();
    for (number, pe) in (0..at.ssds).zip(at.pe.iter().cycle()) {
        let setup = Setup { seed: setup.seed + u64::from(number), ..setup.clone() };
        let cycles = format!("cells.cycles={pe}");
        for name in &at.drives {
            plans.push(plan(&setup, name, &at.size, &[&cycles])?);
        }
    }
    let live = |index: usize| Ok::<_, LabError>(Months::of(&reading.days(setup, &plans[index])?));
    Ok(found(&parallel::try_map(setup.threads, plans.len(), live)?))
}

/// The metrics of the lives of all SSDs, the rewriter of each before its retrier.
fn found(lives: &[Months]) -> Findings {
    let ssds: Vec<(Months, Months)> = lives.chunks(2).map(|pair| (pair[0], pair[1])).collect();
    let is_rewriter = |rewriter: &Months| rewriter.rewrites() && !rewriter.has_long_reads();
    let count = |of: &dyn Fn(&(Months, Months)) -> bool| ssds.iter().filter(|ssd| of(ssd)).count() as f64;
    let range = |of: &dyn Fn(&(Months, Months)) -> f64| {
        ssds.iter().map(of).fold((f64::INFINITY, 0.0_f64), |(least, most), value| (least.min(value), most.max(value)))
    };
    let (rewritten, long) = (range(&|ssd| ssd.0.rewritten), range(&|ssd| ssd.1.long));
    let both = |ssd: &(Months, Months)| is_rewriter(&ssd.0) && ssd.1.has_long_reads() && ssd.1.rewritten < ssd.0.rewritten;
    let mut findings = Findings::default();
    findings.set("both", count(&both));
    findings.set("either", share(lives.iter().map(|life| life.rewrites() || life.has_long_reads())));
    findings.set("rewriters", count(&|ssd| is_rewriter(&ssd.0)));
    findings.set("retriers", count(&|ssd| ssd.1.has_long_reads()));
    findings.set("rewritten-least", rewritten.0);
    findings.set("rewritten-most", rewritten.1);
    findings.set("long-least", long.0);
    findings.set("long-most", long.1);
    findings.set("failed", lives.iter().map(|life| life.failed).fold(0.0, f64::max));
    findings.figures.push(pictured("Data rewritten for reads", "times what the drive holds", &ssds, |life| life.rewritten));
    findings.figures.push(pictured("Long reads", "% of the reads of the worst day", &ssds, |life| 100.0 * life.long));
    findings
}

/// Picture of a figure of both drives, SSD by SSD.
fn pictured(title: &str, unit: &str, ssds: &[(Months, Months)], of: fn(&Months) -> f64) -> Figure {
    let curve = |label: &str, colour: usize, pick: fn(&(Months, Months)) -> Months| Curve {
        label: label.to_owned(),
        colour,
        dashed: false,
        points: ssds.iter().enumerate().map(|(number, ssd)| ((number + 1) as f64, of(&pick(ssd)))).collect(),
    };
    Figure::Curves(Curves {
        title: title.to_owned(),
        note: "of SSDs that are read at random, each as one that rewrites and as one that retries (004 §2 and §8)".to_owned(),
        x: Scale::even("SSD"),
        y: Scale::from_zero(unit),
        curves: vec![curve("rewriter", 0, |ssd| ssd.0), curve("retrier", 1, |ssd| ssd.1)],
        marks: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ssd_counts_where_both_of_its_firmwares_pay() {
        let life = |rewritten: f64, long: f64| Months { rewritten, long, failed: 0.0 };
        // As told; a rewriter with long reads; a retrier without; one that rewrites as much.
        let lives = [
            [life(30.0, 0.0), life(0.0, 0.02)],
            [life(30.0, 0.01), life(0.0, 0.02)],
            [life(30.0, 0.0), life(0.0, 0.0)],
            [life(2.0, 0.0), life(2.0, 0.02)],
        ];
        let found = found(lives.as_flattened());
        assert_eq!([found.get("both"), found.get("rewriters"), found.get("retriers")], [Some(1.0), Some(3.0), Some(3.0)]);
        assert_eq!(found.get("either"), Some(7.0 / 8.0));
    }
}
