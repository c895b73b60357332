//! Bench of copies inside dies as far as blocks stand them, by their age or by their P/E count, against a drive that does not copy (000 §3.4.5).

use wordline_pages::html::figure::{Columns, Figure};

use super::stages::{Runs, lost};
use super::{Bench, Findings, On, Setup, m};
use crate::error::LabError;
use crate::lot::{greatest, mean, share};
use crate::paced::Tried;
use crate::protocol::{Name, Number, Span, conditions};

/// The `copied` bench: its metrics, its conditions and the function that measures.
pub(super) const BENCH: Bench = Bench {
    name: "copied",
    summary: "IOPS and copies of drives that copy inside their dies as far as blocks stand it, by age or by P/E count",
    metrics: &[
        m("gain-most", "share", "Gain in IOPS of copies by age over none, the greatest of all stages and workloads"),
        m("gain-old", "share", "The same at the last stage, mean of the workloads"),
        m("gain-pe-most", "share", "Gain in IOPS of copies by P/E count over none, the greatest of all stages and workloads"),
        m("pe-copies-old", "count", "Copies inside dies by P/E count at the last stage, of all workloads together"),
        m("age-copies-old", "count", "The same by age"),
        m("age-copied", "share", "Pages moved inside dies by age, of all pages that are moved, of all runs together"),
        m("pe-copied", "share", "The same by P/E count"),
        m(
            "trend",
            "share",
            "Workloads in which the gain of age over P/E count does not fall from one stage to the next and grows from first to last",
        ),
        m("gain-wordline", "share", "As `gain-most`, at the first stage, where one program fills a whole wordline"),
        m("age-lost", "count", "Reads that could not be corrected with copies by age, less those without copies, of all runs together"),
    ],
    on: On::Drives,
    conditions: At::PROTOCOL,
    run,
};

conditions! {
    "copied",
    /// Conditions of drives that collect garbage.
    struct At {
        /// the drive without copies, the one with copies by P/E count, and the one with copies by age
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
        /// rates of the channels in MT/s, tried at the first stage under the first workload
        rates: [Number; 4],
        /// time of a program that fills a whole wordline in microseconds, tried at the first stage
        wordline: Number,
    }
}

/// Indices of the drives.
const NONE: usize = 0;
const BY_PE: usize = 1;
const BY_AGE: usize = 2;

/// Pages that a run has copied inside its dies.
fn copies(run: &Tried) -> f64 {
    run.result.flash.iter().filter(|row| row.op == "copyback").map(|row| row.pages as f64).fold(0.0, |sum, pages| sum + pages)
}

/// Pages that a run has programmed to move data over the bus.
fn moved(run: &Tried) -> f64 {
    run.result.flash.iter().filter(|row| row.op == "program" && row.cause != "host").map(|row| row.pages as f64).sum()
}

fn run(setup: &Setup) -> Result<Findings, LabError> {
    let at = At::of(setup)?;
    let runs = Runs {
        drives: at.drives.iter().map(|name| (name.as_str(), Vec::new())).collect(),
        baseline: Some(&at.drives[NONE]),
        size: &at.size,
        workloads: &at.workloads,
        lengths: &at.lengths,
        stages: &at.stages,
        kept: at.kept,
    };
    let mut findings = judge(&at, &runs.make(setup, "copied")?);
    try_rates(setup, &at, &mut findings)?;
    try_wordlines(setup, &at, &mut findings)?;
    Ok(findings)
}

/// Gains of copies by age where channels are slower and faster.
fn try_rates(setup: &Setup, at: &At, findings: &mut Findings) -> Result<(), LabError> {
    let rates: Vec<String> = at.rates.iter().map(|rate| format!("flash.channel_rate={rate} MT/s")).collect();
    let of_rate = |rate| [NONE, BY_AGE].map(|drive| (at.drives[drive].as_str(), vec![rate]));
    let drives = rates.iter().map(String::as_str).flat_map(of_rate).collect();
    let table = first(at, drives, 1).make(setup, "copied, rates of channels")?;
    let gains = table[0][0].chunks(2).map(|pair| pair[1].iops() / pair[0].iops() - 1.0).collect();
    findings.figures.push(Figure::Columns(Columns {
        title: format!("Gain in IOPS by copies inside dies, {}, {}, by rate of the channels", at.workloads[0], at.stages[0]),
        note: "over the drive that copies nothing; no claim: the source gives no rate".to_owned(),
        x: "MT/s".to_owned(),
        y: "share".to_owned(),
        groups: at.rates.iter().map(f64::to_string).collect(),
        series: vec![(at.drives[BY_AGE].clone(), gains)],
    }));
    Ok(())
}

/// Gains of copies by age where one program fills a whole wordline: a move is shorter, and the bus a greater part of it.
fn try_wordlines(setup: &Setup, at: &At, findings: &mut Findings) -> Result<(), LabError> {
    let program = format!("timing.t_program_wordline={} us", at.wordline);
    let settings = vec!["capabilities.program_scope=wordline", program.as_str()];
    let drives = [NONE, BY_AGE].map(|drive| (at.drives[drive].as_str(), settings.clone())).to_vec();
    let table = first(at, drives, at.workloads.len()).make(setup, "copied, whole wordlines")?;
    let gains: Vec<f64> = table[0].iter().map(|pair| pair[1].iops() / pair[0].iops() - 1.0).collect();
    findings.set("gain-wordline", greatest(&gains));
    findings.figures.push(Figure::Columns(Columns {
        title: format!("Gain in IOPS by copies inside dies, {}, where one program fills a wordline", at.stages[0]),
        note: "over the drive that copies nothing".to_owned(),
        x: "workload".to_owned(),
        y: "share".to_owned(),
        groups: at.workloads.to_vec(),
        series: vec![(at.drives[BY_AGE].clone(), gains)],
    }));
    Ok(())
}

/// Runs of these drives at the first stage, under so many of the workloads.
fn first<'a>(at: &'a At, drives: Vec<(&'a str, Vec<&'a str>)>, workloads: usize) -> Runs<'a> {
    Runs {
        drives,
        baseline: Some(&at.drives[NONE]),
        size: &at.size,
        workloads: &at.workloads[..workloads],
        lengths: &at.lengths[..workloads],
        stages: &at.stages[..1],
        kept: at.kept,
    }
}

fn judge(at: &At, table: &[Vec<Vec<Tried>>]) -> Findings {
    let mut findings = Findings::default();
    let gains = |stage: usize, drive: usize, over: usize| {
        table[stage].iter().map(|row| row[drive].iops() / row[over].iops() - 1.0).collect::<Vec<f64>>()
    };
    let (stages, last) = (0..at.stages.len(), at.stages.len() - 1);
    let every = |drive: usize| stages.clone().flat_map(|stage| gains(stage, drive, NONE)).collect::<Vec<f64>>();
    findings.set("gain-most", greatest(&every(BY_AGE)));
    findings.set("gain-old", mean(&gains(last, BY_AGE, NONE)));
    findings.set("gain-pe-most", greatest(&every(BY_PE)));
    let old = |drive: usize| table[last].iter().map(|row| copies(&row[drive])).fold(0.0, |sum, copies| sum + copies);
    findings.set("pe-copies-old", old(BY_PE));
    findings.set("age-copies-old", old(BY_AGE));
    let runs = |drive: usize| table.iter().flatten().map(move |row| &row[drive]);
    let copied = |drive: usize| {
        let inside: f64 = runs(drive).map(copies).sum();
        inside / (inside + runs(drive).map(moved).sum::<f64>())
    };
    findings.set("age-copied", copied(BY_AGE));
    findings.set("pe-copied", copied(BY_PE));
    let over: Vec<Vec<f64>> = stages.clone().map(|stage| gains(stage, BY_AGE, BY_PE)).collect();
    let grows = |workload: usize| {
        (1..=last).all(|stage| over[stage][workload] >= over[stage - 1][workload]) && over[last][workload] > over[0][workload]
    };
    findings.set("trend", share((0..at.workloads.len()).map(grows)));
    findings.set("age-lost", runs(BY_AGE).map(lost).sum::<f64>() - runs(NONE).map(lost).sum::<f64>());
    for (stage, name) in at.stages.iter().enumerate() {
        let of = |drive: usize| (at.drives[drive].clone(), gains(stage, drive, NONE));
        findings.figures.push(Figure::Columns(Columns {
            title: format!("Gain in IOPS by copies inside dies, {name}"),
            note: "over the drive that copies nothing (000 Fig 25)".to_owned(),
            x: "workload".to_owned(),
            y: "share".to_owned(),
            groups: at.workloads.to_vec(),
            series: vec![of(BY_PE), of(BY_AGE)],
        }));
    }
    findings
}
