//! Bench of the tail of reads: a drive that stops nothing, one on which every read stops at once, and one that goes by priority (000 §4.3).

use wordline_pages::html::figure::{Columns, Figure};
use wordline_runs::Inspection;

use super::{Bench, Findings, On, Setup, m};
use crate::error::LabError;
use crate::filed::plan;
use crate::jobbed::{Ran, Trial, all, jobs, weights};
use crate::protocol::{Count, Name, Number, Span, conditions};

/// The `paftl` bench: its metrics, its conditions and the function that measures.
pub(super) const BENCH: Bench = Bench {
    name: "paftl",
    summary: "Tail of reads where operations give way by priority, at once, or not at all; and what that wears",
    metrics: &[
        m("p9999", "share", "Reduction of p99.99 of all reads by priority, over the baseline"),
        m("mean", "share", "The same of their mean"),
        m("p9999-high", "share", "Reduction of p99.99 of high reads by priority, over the baseline"),
        m("mean-high", "share", "The same of their mean"),
        m("at-once-p9999", "share", "Reduction of p99.99 of all reads by priority, over the drive on which every read stops at once"),
        m("at-once-mean", "share", "The same of their mean"),
        m("at-once-p9999-high", "share", "The same of p99.99 of high reads"),
        m("at-once-mean-high", "share", "The same of the mean of high reads"),
        m("at-once-over-baseline", "share", "Reduction of p99.99 of all reads where every read stops at once, over the baseline"),
        m("p9999-equal", "share", "Host queues with the other weights: reduction of p99.99 of all reads by priority, over the baseline"),
        m("at-once-p9999-equal", "share", "The same over the drive on which every read stops at once"),
        m("at-once-p9999-high-equal", "share", "The same of high reads"),
        m("at-once-mean-high-equal", "share", "The same of the mean of high reads"),
        m("erases", "share", "Erases by priority over those of the baseline, less 1"),
        m("wear", "share", "Wear that the run added to the cells of all flash blocks, by priority over the baseline, less 1"),
        m("wear-at-once", "share", "The same where every read stops at once"),
        m("wear-spared", "share", "The last, less the one before"),
        m("reads", "count", "Fewest reads of a run"),
        m("writes", "share", "Writes by priority over those of the baseline, less 1"),
    ],
    on: On::Drives,
    conditions: At::PROTOCOL,
    run,
};

conditions! {
    "paftl",
    /// Conditions of three drives under one load.
    struct At {
        /// the drive that stops nothing, the one on which every read stops at once, and the one that goes by priority
        drives: [Name; 3],
        /// exported size of each drive, or "whole"
        size: Name,
        /// workload of jobs
        load: Name,
        /// time of it
        seconds: Number,
        /// other weights of high, normal and low requests in the host's queues
        weights: [Count; 3],
        /// stage of life
        life: Name,
        /// retention of the data that is there at the start
        kept: Span,
    }
}

fn run(setup: &Setup) -> Result<Findings, LabError> {
    let at = At::of(setup)?;
    let load = jobs(&at.load, at.seconds)?;
    let age = [format!("cells.cycles={}", at.life), format!("cells.retention={} s", at.kept)];
    let other: Vec<String> = age.iter().cloned().chain(weights(at.weights)).collect();
    let trial = |(settings, drive): (&[String], &String)| {
        let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
        Ok::<_, LabError>(Trial { plan: plan(setup, drive, &at.size, &settings)?, jobs: load.clone(), inspection: Some(Inspection::Wear) })
    };
    let asked = [&age[..], &other].into_iter().flat_map(|settings| at.drives.iter().map(move |drive| (settings, drive)));
    let trials = asked.map(trial).collect::<Result<Vec<Trial>, _>>()?;
    let runs = all(setup, "paftl", &trials)?;
    let mut findings = Findings::default();
    let [base, at_once, ours, equal_base, equal_at_once, equal] = &runs[..] else { unreachable!("there are six runs") };
    let reads = |run: &Ran, high: bool| {
        let of_class = run.result.latency_us_by_priority.iter().find(|class| class.op == "read" && class.priority == "high");
        let latency = if high { of_class.map(|class| &class.latency_us) } else { run.result.latency_us.read.as_ref() };
        latency.map_or([f64::NAN; 3], |latency| [latency.mean, latency.p9999, latency.count as f64])
    };
    let reduced = |from: &Ran, to: &Ran, high: bool, which: usize| 1.0 - reads(to, high)[which] / reads(from, high)[which];
    for (name, from, to, high, which) in [
        ("p9999", base, ours, false, 1),
        ("mean", base, ours, false, 0),
        ("p9999-high", base, ours, true, 1),
        ("mean-high", base, ours, true, 0),
        ("at-once-p9999", at_once, ours, false, 1),
        ("at-once-mean", at_once, ours, false, 0),
        ("at-once-p9999-high", at_once, ours, true, 1),
        ("at-once-mean-high", at_once, ours, true, 0),
        ("p9999-equal", equal_base, equal, false, 1),
        ("at-once-p9999-equal", equal_at_once, equal, false, 1),
        ("at-once-p9999-high-equal", equal_at_once, equal, true, 1),
        ("at-once-mean-high-equal", equal_at_once, equal, true, 0),
    ] {
        findings.set(name, reduced(from, to, high, which));
    }
    findings.set("at-once-over-baseline", reduced(base, at_once, false, 1));
    let erases = |run: &Ran| run.result.erases as f64;
    findings.set("erases", erases(ours) / erases(base) - 1.0);
    let added = |run: &Ran| run.result.blocks.cells.as_ref().map_or(f64::NAN, |cells| cells.wear_added_mean);
    let (wear, wear_at_once) = (added(ours) / added(base) - 1.0, added(at_once) / added(base) - 1.0);
    findings.set("wear", wear);
    findings.set("wear-at-once", wear_at_once);
    findings.set("wear-spared", wear_at_once - wear);
    findings.set("reads", runs.iter().map(|run| reads(run, false)[2]).fold(f64::INFINITY, f64::min));
    findings.set("writes", ours.result.host.writes as f64 / base.result.host.writes as f64 - 1.0);
    findings.figures.push(figure(&at, &runs));
    Ok(findings)
}

/// Latencies of reads on the three drives.
fn figure(at: &At, runs: &[Ran]) -> Figure {
    type Of = fn(&wordline_figures::result::Latency) -> f64;
    let points: [(&str, Of); 6] = [
        ("mean", |of| of.mean),
        ("p50", |of| of.p50),
        ("p99", |of| of.p99),
        ("p99.9", |of| of.p999),
        ("p99.99", |of| of.p9999),
        ("longest", |of| of.max),
    ];
    Figure::Columns(Columns {
        title: "Latency of reads, all priorities".to_owned(),
        note: format!("{} at {} (000 Fig 34)", at.load, at.life),
        x: "of all reads".to_owned(),
        y: "us".to_owned(),
        groups: points.iter().map(|(name, _)| (*name).to_owned()).collect(),
        series: runs
            .iter()
            .zip(&at.drives)
            .map(|(run, name)| {
                let values =
                    run.result.latency_us.read.as_ref().map_or(Vec::new(), |of| points.iter().map(|(_, point)| point(of)).collect());
                (name.clone(), values)
            })
            .collect(),
    })
}
