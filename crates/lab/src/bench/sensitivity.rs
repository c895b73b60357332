//! Bench of the sensitivity of the cost of sanitising to what 000 and 002 leave open: spare flash, fill, queue depth, reclaim.

use wordline_pages::html::figure::{Columns, Figure};
use wordline_plan::Plan;
use wordline_units::Bytes;
use wordline_workload::FileOptions;

use super::{Bench, Findings, On, Setup, m};
use crate::error::LabError;
use crate::filed::{Job, Ran, all, baseline, files, plan};
use crate::lot::{greatest, least, share};
use crate::protocol::{Count, Name, Number, Share, Size, conditions};

/// The `sensitivity` bench: its metrics, its conditions and the function that measures.
pub(super) const BENCH: Bench = Bench {
    name: "sensitivity",
    summary: "Cost of sanitising where spare flash, fill, queue depth and reclaim are other than assumed",
    metrics: &[
        m("order", "share", "Settings in which scrubbing < locks <= without, in IOPS"),
        m("lock-iops-least", "share", "IOPS with locks over those without, lowest of all settings"),
        m("lock-iops-most", "share", "The same, highest"),
        m("scrub-iops-least", "share", "IOPS with scrubbing over those without, lowest"),
        m("scrub-iops-most", "share", "The same, highest"),
        m("scrub-waf-least", "ratio", "Write amplification with scrubbing over that without, lowest"),
        m("scrub-waf-most", "ratio", "The same, highest"),
    ],
    on: On::Drives,
    conditions: At::PROTOCOL,
    run,
};

conditions! {
    "sensitivity",
    /// Conditions that the sources leave open, varied one at a time.
    struct At {
        /// the drive that leaves stale data readable
        plain: Name,
        /// the drive with page locks and block locks
        locking: Name,
        /// the drive that scrubs wordlines
        scrubbing: Name,
        /// size of a TRIM to the drive that scrubs; to the others whole files are trimmed
        trim: Size,
        /// exported size of each drive, or "whole"
        size: Name,
        /// a workload of files
        workload: Name,
        /// bytes written, in capacities
        length: Number,
        /// other shares of spare flash
        spare: Vec<Share>,
        /// other shares of the drive that hold files
        fill: Vec<Share>,
        /// other numbers of requests outstanding
        depth: Vec<Count>,
        /// other victim policies
        victims: Vec<Name>,
        /// other numbers of free blocks below which reclaim runs
        start: Vec<Count>,
    }
}

/// One choice of the conditions that are left open.
struct Setting {
    label: String,
    keys: Vec<String>,
    options: FileOptions,
}

impl At {
    fn settings(&self) -> Vec<Setting> {
        let as_assumed = FileOptions { length: Some(self.length), ..FileOptions::default() };
        let keyed = |label: String, key: String| Setting { label, keys: vec![key], options: as_assumed };
        let mut settings = vec![Setting { label: "as assumed".to_owned(), keys: Vec::new(), options: as_assumed }];
        let percent = |share: f64| format!("{} %", 100.0 * share);
        settings.extend(self.spare.iter().map(|&spare| {
            let spare = percent(spare);
            keyed(format!("{spare} spare"), format!("mapping.over_provisioning={spare}"))
        }));
        settings.extend(self.fill.iter().map(|&fill| Setting {
            label: format!("{} full", percent(fill)),
            keys: Vec::new(),
            options: FileOptions { prefill: Some(fill), ..as_assumed },
        }));
        settings.extend(self.depth.iter().map(|&depth| Setting {
            label: format!("depth {depth}"),
            keys: Vec::new(),
            options: FileOptions { queue_depth: Some(depth), ..as_assumed },
        }));
        settings.extend(self.victims.iter().map(|victim| keyed(victim.clone(), format!("gc.victim={victim}"))));
        settings.extend(self.start.iter().map(|start| keyed(format!("start {start}"), format!("gc.start={start}"))));
        settings
    }
}

fn run(setup: &Setup) -> Result<Findings, LabError> {
    let at = At::of(setup)?;
    let spec = files(&at.workload)?;
    let settings = at.settings();
    let mut jobs = Vec::new();
    for setting in &settings {
        let keys: Vec<&str> = setting.keys.iter().map(String::as_str).collect();
        for name in [&at.plain, &at.scrubbing, &at.locking] {
            let load = if name == &at.plain { baseline } else { plan };
            let plan: Plan = load(setup, name, &at.size, &keys)?;
            let trim = (name == &at.scrubbing).then_some(Bytes(at.trim as u64));
            jobs.push(Job::new(plan, spec.clone(), FileOptions { trim, ..setting.options }, None));
        }
    }
    let ran = all(setup, &jobs)?;
    let waf = |ran: &Ran| ran.result.waf.total.unwrap_or(f64::NAN);
    let of =
        |figure: &dyn Fn(&Ran, &Ran, &Ran) -> f64| ran.chunks(3).map(|three| figure(&three[0], &three[1], &three[2])).collect::<Vec<f64>>();
    let locked = of(&|plain, _, locking| locking.iops() / plain.iops());
    let scrubbed = of(&|plain, scrubbing, _| scrubbing.iops() / plain.iops());
    let scrub_waf = of(&|plain, scrubbing, _| waf(scrubbing) / waf(plain));
    let mut findings = Findings::default();
    findings.set("order", share(locked.iter().zip(&scrubbed).map(|(locked, scrubbed)| scrubbed < locked && *locked <= 1.0)));
    findings.set("lock-iops-least", least(&locked));
    findings.set("lock-iops-most", greatest(&locked));
    findings.set("scrub-iops-least", least(&scrubbed));
    findings.set("scrub-iops-most", greatest(&scrubbed));
    findings.set("scrub-waf-least", least(&scrub_waf));
    findings.set("scrub-waf-most", greatest(&scrub_waf));
    let columns = |title: &str, y: &str, series: Vec<(String, Vec<f64>)>| {
        Figure::Columns(Columns {
            title: title.to_owned(),
            note: format!("against {} under {}, {}", at.plain, at.workload, at.size),
            x: "setting".to_owned(),
            y: y.to_owned(),
            groups: settings.iter().map(|setting| setting.label.clone()).collect(),
            series,
        })
    };
    findings.figures = vec![
        columns("IOPS with other assumptions", "IOPS ratio", vec![(at.scrubbing.clone(), scrubbed), (at.locking.clone(), locked)]),
        columns("Write amplification with other assumptions", "WAF ratio", vec![(at.scrubbing.clone(), scrub_waf)]),
    ];
    Ok(findings)
}
