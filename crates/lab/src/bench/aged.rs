//! Bench of what it costs a drive to know the ages of its blocks: one page is read in each filling (000 §3.4.3).

use wordline_pages::html::figure::{Columns, Figure};

use super::stages::Runs;
use super::{Bench, Findings, On, Setup, m};
use crate::error::LabError;
use crate::lot::greatest;
use crate::paced::Tried;
use crate::protocol::{Name, Number, Span, conditions};

/// The `aged` bench: its metrics, its conditions and the function that measures.
pub(super) const BENCH: Bench = Bench {
    name: "aged",
    summary: "What it costs a drive to measure the ages of its blocks",
    metrics: &[
        m("cost", "share", "IOPS that measuring costs, the most of all workloads, or the writes that it adds where that is more"),
        m("iops", "share", "IOPS that measuring costs, the most of all workloads"),
        m("writes", "share", "Pages programmed more, the most of all workloads"),
        m("reads", "share", "Flash pages read for measuring, of all that are programmed, the most of all workloads"),
    ],
    on: On::Drives,
    conditions: At::PROTOCOL,
    run,
};

conditions! {
    "aged",
    /// Conditions of a drive that measures.
    struct At {
        /// the drive
        drive: Name,
        /// exported size of the drive, or "whole"
        size: Name,
        /// workloads of files
        workloads: [Name; 6],
        /// bytes written under each workload, in capacities
        lengths: [Number; 6],
        /// write amplification of each workload that the source tells
        told_waf: [Number; 6],
        /// share of reads of each workload that the source tells, in percent
        told_reads: [Number; 6],
        /// stage of life
        age: Name,
        /// retention of the data that is there at the start
        kept: Span,
    }
}

fn run(setup: &Setup) -> Result<Findings, LabError> {
    let at = At::of(setup)?;
    let runs = Runs {
        drives: vec![(&at.drive, Vec::new()), (&at.drive, vec!["techniques.block-age.on=true"])],
        baseline: None,
        size: &at.size,
        workloads: &at.workloads,
        lengths: &at.lengths,
        stages: std::slice::from_ref(&at.age),
        kept: at.kept,
    };
    let table = runs.make(setup, "aged")?;
    let pages = |run: &Tried, op: &str, cause: Option<&str>| {
        let rows = run.result.flash.iter().filter(|row| row.op == op && cause.is_none_or(|cause| row.cause == cause));
        rows.map(|row| row.pages as f64).sum::<f64>()
    };
    let most = |of: &dyn Fn(&Tried, &Tried) -> f64| greatest(&table[0].iter().map(|row| of(&row[0], &row[1])).collect::<Vec<_>>());
    let iops = most(&|off, on| 1.0 - on.iops() / off.iops());
    let writes = most(&|off, on| pages(on, "program", None) / pages(off, "program", None) - 1.0);
    let mut findings = Findings::default();
    findings.set("cost", iops.max(writes));
    findings.set("iops", iops);
    findings.set("writes", writes);
    findings.set("reads", most(&|_, on| pages(on, "read", Some("measure")) / pages(on, "program", None)));
    let ratio = table[0].iter().map(|row| row[1].iops() / row[0].iops()).collect();
    findings.figures.push(Figure::Columns(Columns {
        title: "IOPS of a drive that measures the ages of its blocks".to_owned(),
        note: "over the same drive without (000 §3.4.3)".to_owned(),
        x: "workload".to_owned(),
        y: "IOPS ratio".to_owned(),
        groups: at.workloads.to_vec(),
        series: vec![(at.drive.clone(), ratio)],
    }));
    let of = |value: &dyn Fn(&Tried) -> f64| table[0].iter().map(|row| value(&row[0])).collect::<Vec<f64>>();
    let columns = |title: &str, y: &str, here: Vec<f64>, told: &[f64]| {
        Figure::Columns(Columns {
            title: title.to_owned(),
            note: "of the drive that does not measure, beside what the source tells of its own (000 §3.4.3 Table 2)".to_owned(),
            x: "workload".to_owned(),
            y: y.to_owned(),
            groups: at.workloads.to_vec(),
            series: vec![(at.drive.clone(), here), ("told".to_owned(), told.to_vec())],
        })
    };
    let waf = of(&|run| run.result.waf.total.unwrap_or(f64::NAN));
    findings.figures.push(columns("Write amplification of the workloads", "WAF", waf, &at.told_waf));
    let reads = of(&|run| 100.0 * run.result.host.reads as f64 / (run.result.host.reads + run.result.host.writes).max(1) as f64);
    findings.figures.push(columns("Reads of the workloads", "% of requests", reads, &at.told_reads));
    Ok(findings)
}
