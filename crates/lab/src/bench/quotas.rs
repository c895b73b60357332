//! Bench of quotas of copies: the values that occur in a drive, and the memory that they take (001 §4.3.1, Figs 20 and 21).

use wordline_pages::html::figure::{Columns, Figure};

use super::{Bench, Findings, On, Setup, m};
use crate::error::LabError;
use crate::filed::plan;
use crate::protocol::{Count, Cycles, Name, Number, conditions};
use crate::whole::{Whole, all};

/// The `quotas` bench: its metrics, its conditions and the function that measures.
pub(super) const BENCH: Bench = Bench {
    name: "quotas",
    summary: "Quotas of copies that occur in a drive under load, and the memory that they take for each page and for each block",
    metrics: &[
        m("kinds", "quotas", "Number of different quotas of block groups with data at the end of the run"),
        m("strange", "quotas", "Those of them that are none of the source's"),
        m("most", "quota", "Greatest of them"),
        m("whole", "share", "Block groups that have it: all that moved over the bus, or was written by the host, and was not copied since"),
        m("used-up", "share", "Block groups with quota 0, whose data takes the bus next"),
        m("per-page", "GB", "Memory of quotas of pages of the whole flash"),
        m("per-block", "ratio", "Quotas of pages for each quota of a block group"),
    ],
    on: On::Drives,
    conditions: At::PROTOCOL,
    run,
};

conditions! {
    "quotas",
    /// Conditions of the drive.
    struct At {
        /// drive with quotas
        drive: Name,
        /// exported size, or "whole"
        size: Name,
        /// load of the drive
        workload: Name,
        /// P/E count of all blocks at the start
        cycles: Cycles,
        /// quotas that the source shows
        quotas: [Count; 5],
        /// bytes of flash of the drive of the source's sum
        flash: Number,
        /// bytes that one quota of a page is for
        unit: Number,
        /// bits of a quota of the source's sum
        bits: Count,
    }
}

fn run(setup: &Setup) -> Result<Findings, LabError> {
    let at = At::of(setup)?;
    let plan = plan(setup, &at.drive, &at.size, &[&format!("cells.cycles={}", at.cycles)])?;
    let geometry = plan.build().sheet.geometry;
    let pages = u64::from(geometry.wordlines() * geometry.planes * geometry.cell.bits());
    let units = (pages * geometry.page.0) as f64 / at.unit;
    let results = all(setup, "quotas", &[Whole::new(plan, &at.workload)?])?;
    let censuses = results.iter().flat_map(|result| &result.techniques).flat_map(|technique| &technique.censuses);
    let rows: Vec<(u32, f64)> = censuses
        .filter(|census| census.of == "quota")
        .flat_map(|census| &census.groups)
        .map(|row| (row.value, row.groups as f64))
        .collect();
    let total: f64 = rows.iter().map(|row| row.1).sum();
    let share = |quota: u32| rows.iter().find(|row| row.0 == quota).map_or(0.0, |row| row.1 / total);
    let most = rows.iter().map(|row| row.0).max().unwrap_or(0);
    let mut findings = Findings::default();
    findings.set("kinds", rows.len() as f64);
    findings.set("strange", rows.iter().filter(|row| !at.quotas.contains(&row.0)).count() as f64);
    findings.set("most", f64::from(most));
    findings.set("whole", share(most));
    findings.set("used-up", share(0));
    findings.set("per-page", at.flash / at.unit * f64::from(at.bits) / 8.0 / 1e9);
    findings.set("per-block", units);
    findings.figures.push(Figure::Columns(Columns {
        title: format!("Block groups by quota at {} P/E cycles", at.cycles),
        note: "at the end of the run (001 Fig 21)".to_owned(),
        x: "quota".to_owned(),
        y: "share".to_owned(),
        groups: rows.iter().map(|row| row.0.to_string()).collect(),
        series: vec![(at.drive.clone(), rows.iter().map(|row| row.1 / total).collect())],
    }));
    Ok(findings)
}
