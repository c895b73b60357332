//! Bench of how much is written to a drive until it takes no more: blocks that leave service by their age, or by a P/E count (000 §3.4.4).
//!
//! Lives are run in epochs, and what lies between two of them is skipped. A drive is at its end when it takes no more writes; data that is lost on the way is
//! told beside it. The pace is in drive writes a day, so blocks of a drive of few dies rest as long as those of a drive of many.

use wordline_figures::{EpochResult, LifetimeResult};
use wordline_pages::html::figure::{Columns, Figure};
use wordline_runs::wear_out::{Ends, Leaps, Pace, WearOut, wear_out};
use wordline_runs::{Load, Workload, parallel};
use wordline_workload::FileOptions;

use super::{Bench, Findings, On, Setup, m};
use crate::error::LabError;
use crate::filed::{files, plan};
use crate::lot::{greatest, mean};
use crate::protocol::{Count, Name, Number, conditions};

/// The `endurance` bench: its metrics, its conditions and the function that measures.
pub(super) const BENCH: Bench = Bench {
    name: "endurance",
    summary: "Writes until a drive takes no more, where blocks leave service by their age or by a P/E count",
    metrics: &[
        m("gain-8k", "share", "Bytes written by age over those with the higher P/E count, less one, mean of the workloads"),
        m("over-1k", "ratio", "Bytes written by age over those with the lower P/E count, mean of the workloads"),
        m("web", "ratio", "Gain over the lower P/E count under the workload that reads most, over the mean of the others"),
        m("safe-gain-8k", "share", "As gain-8k, where a life ends with the first data that is lost, if that comes sooner"),
        m("age-lost", "count", "Lives by age, of all workloads, in which data is lost before the drive takes no more writes"),
        m("pe-8k-lost", "count", "The same with the higher P/E count"),
        m("pe-1k-lost", "count", "The same with the lower P/E count"),
        m("age-lost-reads", "count", "Reads in epochs of lives by age that could not be corrected, the most of all workloads"),
        m("age-cycles", "P/E", "P/E cycles of a block at the end of a life by age, mean of the workloads"),
        m("age-spread", "ratio", "The most P/E cycles of a block over the least at the end of a life by age, mean of the workloads"),
        m("waf", "ratio", "Write amplification of the lives by age, mean of the workloads"),
    ],
    on: On::Drives,
    conditions: At::PROTOCOL,
    run,
};

conditions! {
    "endurance",
    /// Conditions of drives that are worn out.
    struct At {
        /// the drive whose blocks leave service by their age, the one with the higher P/E count, and the one with the lower
        drives: [Name; 3],
        /// channels of each drive
        channels: Count,
        /// dies on each channel
        dies: Count,
        /// workloads of files, the one that reads most last
        workloads: [Name; 6],
        /// about how many epochs of a life are run
        epochs: Count,
        /// drive writes in each epoch
        epoch: Number,
        /// drive writes a day
        pace: Number,
    }
}

/// Indices of the drives.
const BY_AGE: usize = 0;
const BY_MORE: usize = 1;
const BY_LESS: usize = 2;

fn run(setup: &Setup) -> Result<Findings, LabError> {
    let at = At::of(setup)?;
    // A life goes on when data is lost, and what was lost until then is told beside it.
    let asked = WearOut {
        pace: Pace::Dwpd(at.pace),
        ends: Ends { uncorrectable: false, bad_blocks: None, kept: None, years: None },
        epochs: at.epochs,
        epoch_writes: at.epoch,
        sample: 0,
        leaps: Leaps::Growing,
    };
    let settings = [format!("flash.channels={}", at.channels), format!("flash.dies_per_channel={}", at.dies)];
    let mut jobs = Vec::new();
    for workload in &at.workloads {
        for drive in &at.drives {
            jobs.push((plan(setup, drive, "whole", &settings.each_ref().map(String::as_str))?, files(workload)?));
        }
    }
    let done = std::sync::atomic::AtomicUsize::new(0);
    let lives: Vec<LifetimeResult> = parallel::try_map(setup.threads, jobs.len(), |index| {
        let (plan, spec) = &jobs[index];
        let workload = Workload::Filed(Box::new(spec.clone()), FileOptions::default());
        let life = wear_out(plan, &workload, &Load::default(), &asked, &mut ())?;
        let done = 1 + done.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let told = format!("{} under {}: {:.2} TB, {}", life.name, spec.name, life.written_bytes as f64 / 1e12, life.reason);
        setup.teller.tell(&format!("endurance: {done} of {} lives; {told}", jobs.len()));
        Ok::<LifetimeResult, LabError>(life)
    })?;
    Ok(judge(&at, &lives))
}

/// True if a read could not be corrected in this epoch.
fn is_lossy(epoch: &EpochResult) -> bool {
    epoch.failed_host_reads + epoch.failed_moves > 0
}

/// Bytes that were written until a read could not be corrected, or until the end.
fn safely_written(life: &LifetimeResult) -> f64 {
    life.epochs.iter().find(|epoch| is_lossy(epoch)).map_or(life.written_bytes, |epoch| epoch.written_bytes) as f64
}

fn judge(at: &At, lives: &[LifetimeResult]) -> Findings {
    let (drives, workloads) = (at.drives.len(), at.workloads.len());
    let life = |workload: usize, drive: usize| &lives[workload * drives + drive];
    let ratio = |over: usize, written: fn(&LifetimeResult) -> f64| {
        let of = |workload| written(life(workload, BY_AGE)) / written(life(workload, over));
        (0..workloads).map(of).collect::<Vec<f64>>()
    };
    let whole: fn(&LifetimeResult) -> f64 = |life| life.written_bytes as f64;
    let mut findings = Findings::default();
    let over_less = ratio(BY_LESS, whole);
    findings.set("gain-8k", mean(&ratio(BY_MORE, whole)) - 1.0);
    findings.set("over-1k", mean(&over_less));
    findings.set("web", over_less[workloads - 1] / mean(&over_less[..workloads - 1]));
    findings.set("safe-gain-8k", mean(&ratio(BY_MORE, safely_written)) - 1.0);
    let lost = |drive: usize| (0..workloads).filter(|&workload| life(workload, drive).epochs.iter().any(is_lossy)).count() as f64;
    findings.set("age-lost", lost(BY_AGE));
    findings.set("pe-8k-lost", lost(BY_MORE));
    findings.set("pe-1k-lost", lost(BY_LESS));
    let reads = |workload: usize| {
        let epochs = life(workload, BY_AGE).epochs.iter();
        epochs.map(|epoch| (epoch.failed_host_reads + epoch.failed_moves) as f64).fold(0.0, |sum, count| sum + count)
    };
    findings.set("age-lost-reads", greatest(&(0..workloads).map(reads).collect::<Vec<_>>()));
    let by_age: Vec<&LifetimeResult> = (0..workloads).map(|workload| life(workload, BY_AGE)).collect();
    let mean_of = |of: &dyn Fn(&LifetimeResult) -> f64| mean(&by_age.iter().map(|life| of(life)).collect::<Vec<_>>());
    findings.set("age-cycles", mean_of(&|life| life.cycles.mean));
    findings.set("age-spread", mean_of(&|life| f64::from(life.cycles.most) / f64::from(life.cycles.least.max(1))));
    findings.set("waf", mean_of(&|life| life.waf));
    let written = |drive: usize| {
        let of = |workload| whole(life(workload, drive)) / 1e12;
        (at.drives[drive].clone(), (0..workloads).map(of).collect::<Vec<f64>>())
    };
    findings.figures.push(Figure::Columns(Columns {
        title: "Written until a drive takes no more".to_owned(),
        note: "by the drive that goes by age and those that go by a P/E count (000 Fig 23)".to_owned(),
        x: "workload".to_owned(),
        y: "TB".to_owned(),
        groups: at.workloads.to_vec(),
        series: vec![written(BY_LESS), written(BY_MORE), written(BY_AGE)],
    }));
    findings
}
