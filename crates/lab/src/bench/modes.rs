//! Bench of rcFTL's choice between copies and the bus, under loads with pauses at six P/E counts (001 §4.4.2, Fig 24).
//!
//! The counts of block groups that may be copied are those at the end of each run.

use wordline_figures::DriveResult;
use wordline_pages::html::figure::{Columns, Figure};

use super::{Bench, Findings, On, Setup, m};
use crate::error::LabError;
use crate::filed::plan;
use crate::lot::{least, mean, share};
use crate::protocol::{Cycles, Name, conditions};
use crate::whole::{Whole, all};

/// The `modes` bench: its metrics, its conditions and the function that measures.
pub(super) const BENCH: Bench = Bench {
    name: "modes",
    summary: "IOPS of rcFTL under loads of three intensities, over rcFTL that copies whenever it may",
    metrics: &[
        m("gain-low", "ratio", "IOPS with the choice over those without, under the load of the lowest intensity, mean of all P/E counts"),
        m("gain-high", "ratio", "The same under the load of the highest intensity"),
        m("gain-order", "ratio", "Least step of these means from each intensity to the next lower one"),
        m("gain-old", "ratio", "Gain of the last three P/E counts less that of the first three, under the lowest intensity"),
        m(
            "eligible",
            "ratio",
            "Block groups whose data may be copied, over those without the choice, mean of all P/E counts that allow copies",
        ),
        m("eligible-share", "share", "P/E counts at which more block groups may be copied with the choice than without"),
    ],
    on: On::Drives,
    conditions: At::PROTOCOL,
    run,
};

conditions! {
    "modes",
    /// Conditions of the drives.
    struct At {
        /// the drive that copies whenever it may; the one that chooses
        drives: [Name; 2],
        /// exported size of each drive, or "whole"
        size: Name,
        /// loads, the highest intensity first
        workloads: [Name; 3],
        /// P/E counts of all blocks at the start, the lowest first
        cycles: [Cycles; 6],
    }
}

/// Results of both drives.
type Pair = [DriveResult; 2];

fn gain(pair: &Pair) -> f64 {
    pair[1].host.write_iops / pair[0].host.write_iops
}

/// Block groups with data that may be copied once or more.
fn eligible(result: &DriveResult) -> f64 {
    let left = result.techniques.iter().flat_map(|technique| &technique.censuses).find(|census| census.of == "copies left");
    left.map_or(0.0, |census| census.groups.iter().filter(|row| row.value > 0).map(|row| row.groups as f64).sum())
}

fn run(setup: &Setup) -> Result<Findings, LabError> {
    let at = At::of(setup)?;
    let mut runs = Vec::new();
    for load in &at.workloads {
        for cycles in &at.cycles {
            let age = format!("cells.cycles={cycles}");
            for drive in &at.drives {
                runs.push(Whole::new(plan(setup, drive, &at.size, &[&age])?, load)?);
            }
        }
    }
    let mut results = all(setup, "modes", &runs)?.into_iter();
    let mut pair = || -> Pair { std::array::from_fn(|_| results.next().expect("a result for each run")) };
    let table: Vec<Vec<Pair>> = at.workloads.iter().map(|_| at.cycles.iter().map(|_| pair()).collect()).collect();
    let gains: Vec<Vec<f64>> = table.iter().map(|row| row.iter().map(gain).collect()).collect();
    let means: Vec<f64> = gains.iter().map(|row| mean(row)).collect();
    let lowest = &gains[gains.len() - 1];
    let (young, old) = lowest.split_at(lowest.len() / 2);
    let mut findings = Findings::default();
    findings.set("gain-low", means[means.len() - 1]);
    findings.set("gain-high", means[0]);
    findings.set("gain-order", least(&means.windows(2).map(|pair| pair[1] - pair[0]).collect::<Vec<f64>>()));
    findings.set("gain-old", mean(old) - mean(young));
    let counts: Vec<[f64; 2]> = table[table.len() - 1].iter().map(|pair| pair.each_ref().map(eligible)).collect();
    let ratios: Vec<f64> = counts.iter().filter(|count| count[0] > 0.0).map(|count| count[1] / count[0]).collect();
    findings.set("eligible", mean(&ratios));
    findings.set("eligible-share", share(counts.iter().map(|count| count[1] > count[0])));
    let columns = |title: &str, y: &str, series: Vec<(String, Vec<f64>)>| {
        Figure::Columns(Columns {
            title: title.to_owned(),
            note: format!("{} beside {} (001 Fig 24)", at.drives[1], at.drives[0]),
            x: "P/E count".to_owned(),
            y: y.to_owned(),
            groups: at.cycles.iter().map(f64::to_string).collect(),
            series,
        })
    };
    findings.figures.push(columns("Gain in IOPS", "ratio", at.workloads.iter().cloned().zip(gains).collect()));
    let of = |drive: usize| (at.drives[drive].clone(), counts.iter().map(|count| count[drive]).collect());
    let title = format!("Block groups whose data may be copied, under {}", at.workloads[at.workloads.len() - 1]);
    findings.figures.push(columns(&title, "block groups", vec![of(0), of(1)]));
    Ok(findings)
}
