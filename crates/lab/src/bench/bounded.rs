//! Bench of read references by the age of blocks, against references by P/E count and the vendor's table: how long the longest reads are (000 §3.4.3).
//!
//! Each try of a read takes the array, the bus and error correction once more (000 §2), so a read that is tried n times takes n times as long as one without a
//! retry. What is told is that number for the read of each run that takes the most, without the time that it waits for others.

use wordline_pages::html::figure::{Columns, Figure};

use super::stages::{Runs, by_retries, lost};
use super::{Bench, Findings, On, Setup, m};
use crate::error::LabError;
use crate::lot::{greatest, mean, share};
use crate::paced::Tried;
use crate::protocol::{Name, Number, Span, conditions};

/// The `bounded` bench: its metrics, its conditions and the function that measures.
pub(super) const BENCH: Bench = Bench {
    name: "bounded",
    summary: "Longest reads of drives whose reads begin with references by age, by P/E count, or in the vendor's table",
    metrics: &[
        m("pe-old", "ratio", "By P/E count: longest read over one without a retry, at the last stage, mean of the workloads"),
        m("pe-cold", "ratio", "The same, the greater of the proxy and the database"),
        m("pe-most", "ratio", "The same, the greatest of all stages and workloads"),
        m("pe-trend", "share", "Workloads in which it does not fall from one stage to the next"),
        m("age-most", "ratio", "By age: longest read over one without a retry, the greatest of all stages and workloads"),
        m("age-mean", "ratio", "The same, mean of all stages and workloads"),
        m("vendor-old", "ratio", "With the vendor's table: the same at the last stage, mean of the workloads"),
        m("age-beyond", "share", "By age: reads that take more than two retries, of all runs together"),
        m("pe-beyond", "share", "By P/E count: the same"),
        m("age-retries", "ratio", "By age: retries a read, of all runs together"),
        m("pe-retries", "ratio", "By P/E count: the same"),
        m("vendor-retries", "ratio", "With the vendor's table: the same"),
        m("age-lost", "count", "By age: reads that no try could correct, of all runs together"),
        m("vendor-lost", "count", "With the vendor's table: the same"),
        m("age-gain", "ratio", "IOPS by age over the vendor's table at the last stage, mean of the workloads"),
    ],
    on: On::Drives,
    conditions: At::PROTOCOL,
    run,
};

conditions! {
    "bounded",
    /// Conditions of drives whose data is old.
    struct At {
        /// the drive with the vendor's table, the one with references by P/E count, and the one with references by age
        drives: [Name; 3],
        /// exported size of each drive, or "whole"
        size: Name,
        /// workloads of files: mail, files, proxy, web, database, transactions
        workloads: [Name; 6],
        /// bytes written under each workload, in capacities
        lengths: [Number; 6],
        /// stages of life, the youngest first
        stages: [Name; 3],
        /// retention of the data that is there at the start
        kept: Span,
    }
}

/// Indices of the drives.
const VENDOR: usize = 0;
const BY_PE: usize = 1;
const BY_AGE: usize = 2;
/// Indices of the proxy and of the database among the workloads.
const COLD: [usize; 2] = [2, 4];
/// Retries that a bounded read takes at most.
const RETRIES_MOST: usize = 2;

/// Tries of the read that takes the most.
fn tries(run: &Tried) -> f64 {
    by_retries(run).iter().rposition(|&reads| reads > 0).map_or(1.0, |retries| retries as f64 + 1.0)
}

fn run(setup: &Setup) -> Result<Findings, LabError> {
    let at = At::of(setup)?;
    let runs = Runs {
        drives: at.drives.iter().map(|name| (name.as_str(), Vec::new())).collect(),
        baseline: Some(&at.drives[VENDOR]),
        size: &at.size,
        workloads: &at.workloads,
        lengths: &at.lengths,
        stages: &at.stages,
        kept: at.kept,
    };
    Ok(judge(&at, &runs.make(setup, "bounded")?))
}

fn judge(at: &At, table: &[Vec<Vec<Tried>>]) -> Findings {
    let mut findings = Findings::default();
    let of = |stage: usize, drive: usize| table[stage].iter().map(|row| tries(&row[drive])).collect::<Vec<f64>>();
    let last = at.stages.len() - 1;
    let every = |drive: usize| (0..at.stages.len()).flat_map(|stage| of(stage, drive)).collect::<Vec<f64>>();
    findings.set("pe-old", mean(&of(last, BY_PE)));
    findings.set("pe-cold", greatest(&COLD.map(|workload| of(last, BY_PE)[workload])));
    findings.set("pe-most", greatest(&every(BY_PE)));
    let rises =
        (0..at.workloads.len()).map(|workload| (1..=last).all(|stage| of(stage, BY_PE)[workload] >= of(stage - 1, BY_PE)[workload]));
    findings.set("pe-trend", share(rises));
    findings.set("age-most", greatest(&every(BY_AGE)));
    findings.set("age-mean", mean(&every(BY_AGE)));
    findings.set("vendor-old", mean(&of(last, VENDOR)));
    let runs = |drive: usize| table.iter().flatten().map(move |row| &row[drive]);
    let total = |drive: usize, from: usize| runs(drive).flat_map(|run| by_retries(run).iter().skip(from)).sum::<u64>() as f64;
    let retries = |drive: usize| {
        let all = runs(drive).flat_map(|run| by_retries(run).iter().enumerate());
        all.map(|(retries, &reads)| retries as f64 * reads as f64).sum::<f64>() / total(drive, 0)
    };
    findings.set("age-beyond", total(BY_AGE, RETRIES_MOST + 1) / total(BY_AGE, 0));
    findings.set("pe-beyond", total(BY_PE, RETRIES_MOST + 1) / total(BY_PE, 0));
    findings.set("age-retries", retries(BY_AGE));
    findings.set("pe-retries", retries(BY_PE));
    findings.set("vendor-retries", retries(VENDOR));
    findings.set("age-lost", runs(BY_AGE).map(lost).sum());
    findings.set("vendor-lost", runs(VENDOR).map(lost).sum());
    findings.set("age-gain", mean(&table[last].iter().map(|row| row[BY_AGE].iops() / row[VENDOR].iops()).collect::<Vec<_>>()));
    for (stage, name) in at.stages.iter().enumerate() {
        findings.figures.push(Figure::Columns(Columns {
            title: format!("Longest read, {name}"),
            note: "over a read without a retry, waits left out (000 Fig 22)".to_owned(),
            x: "workload".to_owned(),
            y: "times".to_owned(),
            groups: at.workloads.to_vec(),
            series: at.drives.iter().enumerate().map(|(drive, name)| (name.clone(), of(stage, drive))).collect(),
        }));
    }
    findings
}
