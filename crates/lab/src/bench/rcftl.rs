//! Bench of rcFTL beside FastGC and the steps between them, under its four loads at six P/E counts (001 §4.4.2, Figs 22 and 23).
//!
//! All drives have the fixed times of a data sheet and the table of the source; cells have no part in it. A run counts from the end of its warm-up.

use wordline_figures::DriveResult;
use wordline_pages::html::figure::{Columns, Figure};

use super::{Bench, Findings, On, Setup, m};
use crate::error::LabError;
use crate::filed::plan;
use crate::lot::{greatest, least, mean, share};
use crate::protocol::{Cycles, Name, conditions};
use crate::whole::{Whole, all};

/// The `rcftl` bench: its metrics, its conditions and the function that measures.
pub(super) const BENCH: Bench = Bench {
    name: "rcftl",
    summary: "IOPS and write amplification of rcFTL, FastGC and the steps between them, over a drive that copies nothing",
    metrics: &[
        m("gain-initial", "ratio", "IOPS of rcFTL over the drive that copies nothing, new, mean of the loads"),
        m("fastgc-last", "ratio", "IOPS of rcFTL over FastGC at the last P/E count, mean of the loads"),
        m(
            "aware-last",
            "share",
            "Share of FastGC's IOPS that classes of blocks add to quotas of the worst class at the last P/E count, mean of the loads",
        ),
        m("aware-first-last", "share", "The same, where classes of blocks come before quotas"),
        m("fastgc-least-load", "ratio", "IOPS of rcFTL over FastGC, mean of all P/E counts, the least of the loads"),
        m("fastgc-least", "ratio", "IOPS of rcFTL over FastGC, the least of all loads and P/E counts"),
        m("aware-share-rise", "share", "Part of classes of blocks in the gain over FastGC at the last P/E count, less that of a new drive"),
        m("gain-falls", "share", "Loads whose gain over no copies is less at the last P/E count than on a new drive"),
        m(
            "saturates",
            "share",
            "Loads in which the first copy gains more than the second, and the second more than each one later in the mean",
        ),
        m("block-iops", "ratio", "IOPS of quotas of blocks over those of counts of pages, mean of all loads and P/E counts"),
        m("block-waf", "ratio", "Write amplification of quotas of blocks over that of counts of pages, mean of all loads and P/E counts"),
        m("block-waf-lower", "share", "Loads and P/E counts at which quotas of blocks have less write amplification than counts of pages"),
        m(
            "page-waf-rises",
            "share",
            "Loads, of the first and third, in which counts of pages have more write amplification new than at the last P/E count",
        ),
        m(
            "block-waf-falls",
            "share",
            "Loads, all but the last, in which quotas of blocks have less write amplification new than at the last P/E count",
        ),
        m(
            "last-waf",
            "ratio",
            "Write amplification of quotas of blocks over that of no copies under the last load, mean of all P/E counts",
        ),
        m("last-waf-apart", "ratio", "The same, less the mean of the other loads"),
        m("copied", "share", "Pages moved inside the dies by rcFTL, of all pages that it moves, of all runs together"),
    ],
    on: On::Drives,
    conditions: At::PROTOCOL,
    run,
};

conditions! {
    "rcftl",
    /// Conditions of the drives.
    struct At {
        /// the drive without copies; FastGC; quotas by the worst class; counts of pages by classes; rcFTL
        drives: [Name; 5],
        /// exported size of each drive, or "whole"
        size: Name,
        /// loads: OLTP, NTRX, Varmail, Fileserver
        workloads: [Name; 4],
        /// P/E counts of all blocks at the start, the lowest first
        cycles: [Cycles; 6],
        /// drive whose thresholds are all alike, for the gain of each further copy
        flat: Name,
        /// setting of that drive by which counts cost no flash
        uncounted: Name,
        /// thresholds of that drive, the lowest first
        thresholds: [Cycles; 7],
    }
}

/// Indices of the drives.
const NONE: usize = 0;
const FASTGC: usize = 1;
const UNAWARE: usize = 2;
const PER_PAGE: usize = 3;
const RCFTL: usize = 4;

/// Results by P/E count, load and drive.
type Table = Vec<Vec<Vec<DriveResult>>>;

fn iops(result: &DriveResult) -> f64 {
    result.host.read_iops + result.host.write_iops
}

fn waf(result: &DriveResult) -> f64 {
    result.waf.total.unwrap_or(f64::NAN)
}

fn run(setup: &Setup) -> Result<Findings, LabError> {
    let at = At::of(setup)?;
    let mut runs = Vec::new();
    for cycles in &at.cycles {
        let age = format!("cells.cycles={cycles}");
        for load in &at.workloads {
            for drive in &at.drives {
                runs.push(Whole::new(plan(setup, drive, &at.size, &[&age])?, load)?);
            }
        }
    }
    for threshold in &at.thresholds {
        let flat = flat(*threshold, &at.uncounted);
        let settings = flat.each_ref().map(String::as_str);
        for load in &at.workloads {
            runs.push(Whole::new(plan(setup, &at.flat, &at.size, &settings)?, load)?);
        }
    }
    let mut results = all(setup, "rcftl", &runs)?.into_iter();
    let mut row = |count: usize| results.by_ref().take(count).collect::<Vec<DriveResult>>();
    let table: Table = at.cycles.iter().map(|_| at.workloads.iter().map(|_| row(at.drives.len())).collect()).collect();
    let flat: Vec<Vec<DriveResult>> = at.thresholds.iter().map(|_| row(at.workloads.len())).collect();
    let mut findings = Findings::default();
    judge_speed(&at, &table, &mut findings);
    judge_wear(&at, &table, &mut findings);
    judge_copies(&at, &table, &flat, &mut findings);
    Ok(findings)
}

/// Settings that give all classes and P/E counts the same `threshold`, and counts that cost no flash.
fn flat(threshold: f64, uncounted: &str) -> [String; 2] {
    let row = format!("[{}]", vec![threshold.to_string(); 6].join(", "));
    let rows = [row.as_str(); 6].join(", ");
    [format!("copyback.pe_thresholds=[{rows}]"), uncounted.to_owned()]
}

/// Values of `drive` over those of `over`, load by load, at the P/E count number `age`.
fn ratios(table: &Table, age: usize, drive: usize, over: usize, value: fn(&DriveResult) -> f64) -> Vec<f64> {
    table[age].iter().map(|row| value(&row[drive]) / value(&row[over])).collect()
}

/// Part of FastGC's IOPS by which `drive` is faster than `over`, of each load.
fn parts(table: &Table, age: usize, drive: usize, over: usize) -> Vec<f64> {
    table[age].iter().map(|row| (iops(&row[drive]) - iops(&row[over])) / iops(&row[FASTGC])).collect()
}

fn judge_speed(at: &At, table: &Table, findings: &mut Findings) {
    let last = at.cycles.len() - 1;
    let gains = |age: usize| ratios(table, age, RCFTL, NONE, iops);
    let over_fastgc: Vec<f64> = (0..=last).flat_map(|age| ratios(table, age, RCFTL, FASTGC, iops)).collect();
    findings.set("gain-initial", mean(&gains(0)));
    findings.set("fastgc-last", mean(&ratios(table, last, RCFTL, FASTGC, iops)));
    findings.set("aware-last", mean(&parts(table, last, RCFTL, UNAWARE)));
    findings.set("aware-first-last", mean(&parts(table, last, PER_PAGE, FASTGC)));
    findings.set("fastgc-least", least(&over_fastgc));
    let of_load = |load: usize| mean(&(0..=last).map(|age| ratios(table, age, RCFTL, FASTGC, iops)[load]).collect::<Vec<f64>>());
    findings.set("fastgc-least-load", least(&(0..at.workloads.len()).map(of_load).collect::<Vec<f64>>()));
    let aware = |age: usize| mean(&parts(table, age, RCFTL, UNAWARE)) / mean(&parts(table, age, RCFTL, FASTGC));
    findings.set("aware-share-rise", aware(last) - aware(0));
    findings.set("gain-falls", share(gains(0).iter().zip(gains(last)).map(|(new, old)| old < *new)));
    for (load, name) in at.workloads.iter().enumerate() {
        let of = |drive: usize| (at.drives[drive].clone(), (0..=last).map(|age| ratios(table, age, drive, NONE, iops)[load]).collect());
        findings.figures.push(Figure::Columns(Columns {
            title: format!("IOPS under {name}"),
            note: "over the drive that copies nothing (001 Fig 22)".to_owned(),
            x: "P/E count".to_owned(),
            y: "ratio".to_owned(),
            groups: at.cycles.iter().map(f64::to_string).collect(),
            series: [FASTGC, UNAWARE, PER_PAGE, RCFTL].map(of).to_vec(),
        }));
    }
}

fn judge_wear(at: &At, table: &Table, findings: &mut Findings) {
    let (ages, last) = (0..at.cycles.len(), at.cycles.len() - 1);
    let over_none = |drive: usize, age: usize| ratios(table, age, drive, NONE, waf);
    let all = |value| ages.clone().flat_map(|age| ratios(table, age, RCFTL, PER_PAGE, value)).collect::<Vec<f64>>();
    findings.set("block-iops", mean(&all(iops)));
    findings.set("block-waf", mean(&all(waf)));
    findings.set("block-waf-lower", share(all(waf).iter().map(|ratio| *ratio < 1.0)));
    let falls = |drive: usize, loads: &[usize]| {
        loads.iter().map(|&load| over_none(drive, 0)[load] - over_none(drive, last)[load]).collect::<Vec<f64>>()
    };
    findings.set("page-waf-rises", share(falls(PER_PAGE, &[0, 2]).iter().map(|change| *change > 0.0)));
    let last_load = at.workloads.len() - 1;
    let others: Vec<usize> = (0..last_load).collect();
    findings.set("block-waf-falls", share(falls(RCFTL, &others).iter().map(|change| *change < 0.0)));
    let of_load = |load: usize| mean(&ages.clone().map(|age| over_none(RCFTL, age)[load]).collect::<Vec<f64>>());
    findings.set("last-waf", of_load(last_load));
    findings.set("last-waf-apart", of_load(last_load) - mean(&others.iter().map(|&load| of_load(load)).collect::<Vec<f64>>()));
    for (load, name) in at.workloads.iter().enumerate() {
        let of = |drive: usize| (at.drives[drive].clone(), ages.clone().map(|age| over_none(drive, age)[load]).collect());
        findings.figures.push(Figure::Columns(Columns {
            title: format!("Write amplification under {name}"),
            note: "over the drive that copies nothing (001 Fig 23)".to_owned(),
            x: "P/E count".to_owned(),
            y: "ratio".to_owned(),
            groups: at.cycles.iter().map(f64::to_string).collect(),
            series: [PER_PAGE, RCFTL].map(of).to_vec(),
        }));
    }
}

/// Pages that a run has copied inside its dies, or else programmed to move data over the bus.
fn moved(result: &DriveResult, is_inside: bool) -> f64 {
    let is_asked = |op: &str, cause: &str| if is_inside { op == "copyback" } else { op == "program" && cause == "gc" };
    result.flash.iter().filter(|row| is_asked(&row.op, &row.cause)).map(|row| row.pages as f64).sum()
}

fn judge_copies(at: &At, table: &Table, flat: &[Vec<DriveResult>], findings: &mut Findings) {
    let runs = || table.iter().flatten().map(|row| &row[RCFTL]);
    let inside: f64 = runs().map(|result| moved(result, true)).sum();
    let over: f64 = runs().map(|result| moved(result, false)).sum();
    findings.set("copied", inside / (inside + over));
    let gains: Vec<Vec<f64>> =
        (0..at.workloads.len()).map(|load| flat.iter().map(|row| iops(&row[load]) / iops(&flat[0][load]) - 1.0).collect()).collect();
    let falls = |gains: &Vec<f64>| {
        let (first, second) = (gains[1] - gains[0], gains[2] - gains[1]);
        let later = greatest(&gains[2..]) - gains[2];
        first > second && second >= later / (gains.len() - 3) as f64
    };
    findings.set("saturates", share(gains.iter().map(falls)));
    findings.figures.push(Figure::Columns(Columns {
        title: "Gain in IOPS by the number of copies in a row that all blocks stand".to_owned(),
        note: "over no copies; counts cost no flash".to_owned(),
        x: "copies in a row".to_owned(),
        y: "share".to_owned(),
        groups: at.thresholds.iter().map(f64::to_string).collect(),
        series: at.workloads.iter().cloned().zip(gains).collect(),
    }));
}
