//! Bench of longFTL beside its rivals: write amplification, IOPS and the life that they come to, mode by mode under eight loads (001 §3.4, Figs 13 to 16).
//!
//! Life is arithmetic here, as in the source: the endurance in the table of modes over the write amplification of a run without physics. Endurance is an input.
//! A run counts from the end of its warm-up.

use wordline_figures::DriveResult;
use wordline_pages::html::figure::{Columns, Figure};

use super::{Bench, Findings, On, Setup, m};
use crate::error::LabError;
use crate::filed::{baseline, plan};
use crate::lot::{greatest, least, mean, rank_correlation, share};
use crate::protocol::{Count, Name, Number, conditions};
use crate::whole::{Whole, all};

/// The `longftl` bench: its metrics, its conditions and the function that measures.
pub(super) const BENCH: Bench = Bench {
    name: "longftl",
    summary: "Write amplification, IOPS and life of drives whose erases spare the weakest wordlines, mode by mode, and of BPM",
    metrics: &[
        m("life", "ratio", "Writes of a life in the best mode over those without spared wordlines, mean of the loads"),
        m("life-least", "ratio", "The same, the least of the loads"),
        m("life-proj0", "ratio", "The same under the first load"),
        m("life-prxy1", "ratio", "The same under the second load"),
        m("life-proj2", "ratio", "The same under the fifth load"),
        m("life-others-least", "ratio", "The same, the least of the other loads"),
        m("life-others-most", "ratio", "The same, the greatest of the other loads"),
        m("first-two", "share", "Loads, of the first two, that no other load but these outdoes"),
        m("proj2-last", "share", "Loads, all but the fifth, that gain more than the fifth"),
        m("waf-rises", "share", "Modes and loads in which write amplification is no less than in the mode before, within 0.5 %"),
        m("rise-8", "share", "Rise of write amplification in mode 8, the greater of the first two loads"),
        m("best-least", "mode", "Best mode, the lower of the first two loads"),
        m("rise-1-proj2", "share", "Rise of write amplification in mode 1 under the fifth load"),
        m("best-proj2", "mode", "Best mode under the fifth load"),
        m("inverse", "ratio", "Rank correlation of gain and rise of write amplification in mode 5, over the loads"),
        m("iops", "ratio", "IOPS in the best mode over those without spared wordlines, mean of the loads"),
        m("iops-loss", "share", "What is missing of 1 there"),
        m("loss-busy", "share", "Loss of IOPS under the fourth, seventh and eighth load, mean, less that of the others"),
        m(
            "cause",
            "ratio",
            "Rank correlation of the loss of IOPS with the rise of write amplification times the share of writes, over the loads",
        ),
        m("bpm-small", "ratio", "IOPS of the smaller BPM over those in the best mode, mean of the loads"),
        m("bpm-large", "ratio", "IOPS of the larger BPM over those without, mean of the loads"),
        m("bpm-iops-order", "ratio", "IOPS of the larger BPM over those of the smaller, mean of the loads"),
        m("bpm-life-rises", "ratio", "Writes of a life with the larger BPM over those with the smaller, mean of the loads"),
        m("bpm-life-large", "ratio", "Writes of a life with the larger BPM over those in the best mode, mean of the loads"),
        m("bpm-life-spread", "ratio", "Spread over the loads of the gain in life of the larger BPM over that of the best mode"),
        m("survey", "share", "Die time of surveys in the best mode, of all die time, the greatest of the loads"),
        m("relief-life", "ratio", "Writes of a life with relief on every erase over those in the best mode, mean of the loads"),
        m("relief-iops", "ratio", "IOPS with relief on every erase over those in the best mode, mean of the loads"),
        m("relief-varmail", "ratio", "The lower of both under the last load"),
        m("relief-least", "ratio", "The lower of both, the least of the other loads"),
        m("short", "share", "Guarded erases that are missing of the share of the best mode, the most of the loads"),
    ],
    on: On::Drives,
    conditions: At::PROTOCOL,
    run,
};

conditions! {
    "longftl",
    /// Conditions of the drives.
    struct At {
        /// the drive that spares nothing; the one of a fixed mode; with relief on every erase; the smaller and the larger BPM
        drives: [Name; 5],
        /// exported size of each drive, or "whole"
        size: Name,
        /// loads: proj0, prxy1, prxy0, src10, proj2, OLTP, Fileserver, Varmail
        workloads: [Name; 8],
        /// key of the mode
        mode: Name,
        /// setting by which the mode stays
        fixed: Name,
        /// modes above 0
        modes: [Count; 9],
        /// endurance with the smaller and the larger BPM over that of the weakest wordline
        bad_pages: [Number; 2],
        /// dies of each drive
        dies: Number,
        /// time of a read of a survey in microseconds, its transfer included
        survey_read: Number,
    }
}

/// Indices of the drives.
const NONE: usize = 0;
const FIXED: usize = 1;
const RELIEF: usize = 2;
const BPM: usize = 3;

/// Runs under one load.
struct Row {
    base: DriveResult,
    /// Modes above 0.
    modes: Vec<DriveResult>,
    bad_pages: Vec<DriveResult>,
    /// Best mode, 0 if none gains.
    best: usize,
    relief: Option<DriveResult>,
}

fn iops(result: &DriveResult) -> f64 {
    result.host.read_iops + result.host.write_iops
}

fn waf(result: &DriveResult) -> f64 {
    result.waf.total.unwrap_or(f64::NAN)
}

/// Part of the requests that write.
fn writes(result: &DriveResult) -> f64 {
    result.host.write_iops / iops(result)
}

impl Row {
    /// Result in `mode`.
    fn of(&self, mode: usize) -> &DriveResult {
        if mode == 0 { &self.base } else { &self.modes[mode - 1] }
    }

    /// Rise of write amplification in `mode`.
    fn rise(&self, mode: usize) -> f64 {
        waf(self.of(mode)) / waf(&self.base) - 1.0
    }

    /// Writes of a life in `mode` over those without spared wordlines.
    fn life(&self, mode: usize, endurance: &[f64]) -> f64 {
        endurance[mode] / (1.0 + self.rise(mode))
    }

    fn loss(&self) -> f64 {
        1.0 - iops(self.of(self.best)) / iops(&self.base)
    }
}

fn run(setup: &Setup) -> Result<Findings, LabError> {
    let at = At::of(setup)?;
    let mode_key = |mode: &u32| format!("{}={mode}", at.mode);
    let fixed = plan(setup, &at.drives[FIXED], &at.size, &[])?;
    let told = fixed.build().firmware.tables.guard.map(|guard| guard.modes.clone()).unwrap_or_default();
    let endurance: Vec<f64> = std::iter::once(1.0).chain(told.iter().map(|mode| mode.endurance)).collect();
    if endurance.len() <= at.modes.len() {
        return Err(LabError::Usage(format!("{} has {} modes and not {}", at.drives[FIXED], told.len(), at.modes.len())));
    }
    let mut runs = Vec::new();
    for load in &at.workloads {
        runs.push(Whole::new(baseline(setup, &at.drives[NONE], &at.size, &[])?, load)?);
        for mode in &at.modes {
            runs.push(Whole::new(plan(setup, &at.drives[FIXED], &at.size, &[&mode_key(mode)])?, load)?);
        }
        for drive in &at.drives[BPM..] {
            runs.push(Whole::new(plan(setup, drive, &at.size, &[])?, load)?);
        }
    }
    let mut results = all(setup, "longftl", &runs)?.into_iter();
    let mut take = |count: usize| results.by_ref().take(count).collect::<Vec<DriveResult>>();
    let mut rows = Vec::new();
    for _ in &at.workloads {
        let base = take(1).pop().expect("one run of the base");
        let mut row = Row { base, modes: take(at.modes.len()), bad_pages: take(2), best: 0, relief: None };
        let better = |best: usize, mode: usize| if row.life(mode, &endurance) > row.life(best, &endurance) { mode } else { best };
        row.best = (1..=at.modes.len()).fold(0, better);
        rows.push(row);
    }
    relieve(setup, &at, &mut rows)?;
    let mut findings = Findings::default();
    judge_lives(&at, &rows, &endurance, &mut findings);
    judge_modes(&at, &rows, &mut findings);
    judge_speed(&at, &rows, &mut findings);
    judge_rivals(&at, &rows, &endurance, &mut findings);
    judge_shares(&rows, &told.iter().map(|mode| mode.share).collect::<Vec<f64>>(), &mut findings);
    Ok(findings)
}

/// Runs with relief on every erase, in the best mode of each load.
fn relieve(setup: &Setup, at: &At, rows: &mut [Row]) -> Result<(), LabError> {
    let gaining: Vec<usize> = (0..rows.len()).filter(|&load| rows[load].best > 0).collect();
    let mut runs = Vec::new();
    for &load in &gaining {
        let mode = format!("{}={}", at.mode, rows[load].best);
        let settings = [at.fixed.as_str(), mode.as_str()];
        runs.push(Whole::new(plan(setup, &at.drives[RELIEF], &at.size, &settings)?, &at.workloads[load])?);
    }
    let results = all(setup, "longftl, relief on every erase", &runs)?;
    gaining.into_iter().zip(results).for_each(|(load, result)| rows[load].relief = Some(result));
    Ok(())
}

fn judge_lives(at: &At, rows: &[Row], endurance: &[f64], findings: &mut Findings) {
    let lives: Vec<f64> = rows.iter().map(|row| row.life(row.best, endurance)).collect();
    let others = [2, 3, 5, 6, 7].map(|load| lives[load]);
    findings.set("life", mean(&lives));
    findings.set("life-least", least(&lives));
    findings.set("life-proj0", lives[0]);
    findings.set("life-prxy1", lives[1]);
    findings.set("life-proj2", lives[4]);
    findings.set("life-others-least", least(&others));
    findings.set("life-others-most", greatest(&others));
    findings.set("first-two", share(lives[..2].iter().map(|life| lives[2..].iter().all(|other| life >= other))));
    findings.set("proj2-last", share((0..lives.len()).filter(|&load| load != 4).map(|load| lives[load] > lives[4])));
    let modes = std::iter::once(0).chain(at.modes.iter().map(|&mode| mode as usize));
    let series = |(load, row): (usize, &Row)| (at.workloads[load].clone(), modes.clone().map(|mode| row.life(mode, endurance)).collect());
    findings.figures.push(Figure::Columns(Columns {
        title: "Writes of a life, mode by mode".to_owned(),
        note: "told endurance over write amplification, over mode 0 (001 Fig 13)".to_owned(),
        x: "mode".to_owned(),
        y: "ratio".to_owned(),
        groups: modes.clone().map(|mode| mode.to_string()).collect(),
        series: rows.iter().enumerate().map(series).collect(),
    }));
}

fn judge_modes(at: &At, rows: &[Row], findings: &mut Findings) {
    let steps = |row: &Row| (1..=at.modes.len()).map(|mode| waf(row.of(mode)) >= waf(row.of(mode - 1)) * 0.995).collect::<Vec<bool>>();
    findings.set("waf-rises", share(rows.iter().flat_map(steps)));
    findings.set("rise-8", f64::max(rows[0].rise(8), rows[1].rise(8)));
    findings.set("best-least", rows[0].best.min(rows[1].best) as f64);
    findings.set("rise-1-proj2", rows[4].rise(1));
    findings.set("best-proj2", rows[4].best as f64);
    let rises: Vec<f64> = rows.iter().map(|row| row.rise(5)).collect();
    let best: Vec<f64> = rows.iter().map(|row| row.best as f64).collect();
    findings.set("inverse", rank_correlation(&best, &rises));
    let modes = std::iter::once(0).chain(at.modes.iter().map(|&mode| mode as usize));
    let series = |(load, row): (usize, &Row)| (at.workloads[load].clone(), modes.clone().map(|mode| waf(row.of(mode))).collect());
    findings.figures.push(Figure::Columns(Columns {
        title: "Write amplification, mode by mode".to_owned(),
        note: "001 Fig 14".to_owned(),
        x: "mode".to_owned(),
        y: "ratio".to_owned(),
        groups: modes.clone().map(|mode| mode.to_string()).collect(),
        series: rows.iter().enumerate().map(series).collect(),
    }));
    findings.figures.push(Figure::Columns(Columns {
        title: "Best mode".to_owned(),
        note: "the one with most writes of a life (001 Fig 14)".to_owned(),
        x: "load".to_owned(),
        y: "mode".to_owned(),
        groups: at.workloads.to_vec(),
        series: vec![(at.drives[FIXED].clone(), best)],
    }));
}

fn judge_speed(at: &At, rows: &[Row], findings: &mut Findings) {
    let losses: Vec<f64> = rows.iter().map(Row::loss).collect();
    findings.set("iops", 1.0 - mean(&losses));
    findings.set("iops-loss", mean(&losses));
    let busy = [3, 6, 7].map(|load| losses[load]);
    let others = [0, 1, 2, 4, 5].map(|load| losses[load]);
    findings.set("loss-busy", mean(&busy) - mean(&others));
    let expected: Vec<f64> = rows.iter().map(|row| row.rise(row.best) * writes(&row.base)).collect();
    findings.set("cause", rank_correlation(&losses, &expected));
    let over_base = |of: &dyn Fn(&Row) -> f64| rows.iter().map(|row| of(row) / iops(&row.base)).collect::<Vec<f64>>();
    let [small, large] = [0, 1].map(|which| over_base(&|row| iops(&row.bad_pages[which])));
    let own = over_base(&|row| iops(row.of(row.best)));
    findings.set("bpm-small", mean(&small) / mean(&own));
    findings.set("bpm-large", mean(&large));
    findings.set("bpm-iops-order", mean(&large) / mean(&small));
    findings.figures.push(Figure::Columns(Columns {
        title: "IOPS in the best mode".to_owned(),
        note: "over the drive that spares nothing (001 Fig 15)".to_owned(),
        x: "load".to_owned(),
        y: "ratio".to_owned(),
        groups: at.workloads.to_vec(),
        series: vec![(at.drives[FIXED].clone(), own), (at.drives[BPM].clone(), small), (at.drives[BPM + 1].clone(), large)],
    }));
}

fn judge_rivals(at: &At, rows: &[Row], endurance: &[f64], findings: &mut Findings) {
    let own: Vec<f64> = rows.iter().map(|row| row.life(row.best, endurance)).collect();
    let [small, large] =
        [0, 1].map(|which| rows.iter().map(|row| at.bad_pages[which] * waf(&row.base) / waf(&row.bad_pages[which])).collect::<Vec<f64>>());
    findings.set("bpm-life-rises", mean(&large) / mean(&small));
    findings.set("bpm-life-large", mean(&large) / mean(&own));
    findings.set("bpm-life-spread", (greatest(&large) - least(&large)) / (greatest(&own) - least(&own)));
    let relief =
        |row: &Row, value: &dyn Fn(&DriveResult) -> f64| row.relief.as_ref().map_or(1.0, |relief| value(relief) / value(row.of(row.best)));
    let lives: Vec<f64> = rows.iter().map(|row| 1.0 / relief(row, &waf)).collect();
    let speeds: Vec<f64> = rows.iter().map(|row| relief(row, &iops)).collect();
    let lower: Vec<f64> = lives.iter().zip(&speeds).map(|(life, speed)| life.min(*speed)).collect();
    findings.set("relief-life", mean(&lives));
    findings.set("relief-iops", mean(&speeds));
    findings.set("relief-varmail", lower[7]);
    findings.set("relief-least", least(&lower[..7]));
    let series = [(at.drives[FIXED].clone(), own), (at.drives[BPM].clone(), small), (at.drives[BPM + 1].clone(), large)];
    findings.figures.push(Figure::Columns(Columns {
        title: "Writes of a life in the best mode".to_owned(),
        note: "told endurance over write amplification, over the drive that spares nothing (001 Fig 13)".to_owned(),
        x: "load".to_owned(),
        y: "ratio".to_owned(),
        groups: at.workloads.to_vec(),
        series: series.to_vec(),
    }));
    findings.figures.push(Figure::Columns(Columns {
        title: "Relief on every erase".to_owned(),
        note: "over the best mode (001 Fig 16)".to_owned(),
        x: "load".to_owned(),
        y: "ratio".to_owned(),
        groups: at.workloads.to_vec(),
        series: vec![("writes of a life".to_owned(), lives), ("IOPS".to_owned(), speeds)],
    }));
    let survey = |row: &Row| {
        let result = row.of(row.best);
        let pages: f64 =
            result.flash.iter().filter(|flash| flash.op == "read" && flash.cause == "measure").map(|flash| flash.pages as f64).sum();
        pages * at.survey_read / (result.simulated_seconds * 1e6 * at.dies * result.utilisation.die_with_transfers)
    };
    findings.set("survey", greatest(&rows.iter().map(survey).collect::<Vec<f64>>()));
}

/// Compares the guarded erases with the share of the mode.
fn judge_shares(rows: &[Row], shares: &[f64], findings: &mut Findings) {
    let short = |row: &Row| {
        let result = row.of(row.best);
        let granted = result.spared.as_ref().map_or(0.0, |spared| spared.granted as f64);
        let asked = row.best.checked_sub(1).map_or(0.0, |mode| shares[mode]);
        let erases: u64 = result.flash.iter().filter(|flash| flash.op == "erase").map(|flash| flash.operations).sum();
        asked - granted / erases.max(1) as f64
    };
    findings.set("short", greatest(&rows.iter().map(short).collect::<Vec<f64>>()));
}
