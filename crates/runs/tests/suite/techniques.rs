//! Techniques in runs: the counts of their answers, and what they cost a load that they are not meant for.

use std::collections::BTreeSet;

use wordline_figures::result::Waf;
use wordline_figures::{DriveResult, Report, TechniqueResult};
use wordline_ftl::techniques::DECLARATIONS;
use wordline_pages::phrases::{techniques, warnings};
use wordline_plan::Plan;
use wordline_runs::Load;

use crate::{named, run};

/// Two planes' worth of whole blocks, so that tables of the chip hold.
const FEW: [&str; 5] =
    ["flash.channels=1", "flash.dies_per_channel=2", "geometry.blocks=40", "mapping.spare_blocks=2", "mapping.over_provisioning=25 %"];

fn plan(name: &str, more: &[&str]) -> Plan {
    let settings: Vec<String> = FEW.iter().chain(more).map(|&setting| setting.to_owned()).collect();
    Plan::load_set(name, &settings).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Result of `requests` of `workload` on `plan`.
fn served(plan: &Plan, workload: &str, requests: u64) -> DriveResult {
    let load = Load { requests: Some(requests), ..Load::default() };
    run(plan, &named(workload, &load), &load).result
}

fn of<'r>(result: &'r DriveResult, technique: &str) -> &'r TechniqueResult {
    result.techniques.iter().find(|of| of.name == technique).unwrap_or_else(|| panic!("{technique} is not on"))
}

#[test]
fn counts_close_and_a_technique_that_never_acts_is_a_warning_with_its_reason() {
    // Beyond its table no block may copy; on young blocks some do.
    for (cycles, acts) in [("0", true), ("12000", false)] {
        let old = plan("fastcopy", &["run.fill=100 %", "techniques.copy-threshold.index=pe", &format!("cells.cycles={cycles}")]);
        let result = served(&old, "uniform-write", 16_000);
        for TechniqueResult { all, questions, why, overruled_by, .. } in &result.techniques {
            assert_eq!(all.asked, all.abstained + all.same + all.overruled + all.acted);
            assert_eq!(all.asked, questions.iter().map(|of| of.answers.asked).sum::<u64>());
            assert_eq!(all.abstained, why.iter().map(|of| of.times).sum::<u64>());
            assert_eq!(all.overruled, overruled_by.iter().map(|of| of.times).sum::<u64>());
        }
        let copies = of(&result, "copy-threshold");
        let copied: u64 = result.flash.iter().filter(|flash| flash.op == "copyback").map(|flash| flash.operations).sum();
        assert_eq!(copies.all.acted, copied, "{cycles} cycles: {copies:?}");
        assert_eq!(copies.all.acted > 0, acts, "{cycles} cycles: {copies:?}");
        let told = result.warnings.iter().find(|warning| warning.contains("copy-threshold is on, and acted 0 times"));
        assert_eq!(told.is_some(), !acts, "{:?}", result.warnings);
        assert!(told.is_none_or(|told| told.contains("beyond its table")), "{told:?}");
    }
}

#[test]
fn what_nobody_asks_for_is_named() {
    let idle = ["techniques.idle-reclaim.on=true", "techniques.idle-reclaim.until_free=5", "techniques.idle-reclaim.after=10 s"];
    let result = served(&plan("pageftl", &[&["run.fill=100 %"], &idle[..]].concat()), "uniform-write", 3_000);
    let told = techniques::warning(of(&result, "idle-reclaim"));
    assert_eq!(told.as_deref(), Some("idle-reclaim is on, and acted 0 times: never asked, for want of dies that are idle for long enough"));
    assert!(result.warnings.iter().any(|warning| Some(warning) == told.as_ref()));
}

#[test]
fn a_comparison_names_drives_that_did_the_same_and_those_that_never_had_to_reclaim() {
    let on = ["techniques.idle-reclaim.on=true", "techniques.idle-reclaim.until_free=5", "techniques.idle-reclaim.after=10 s"];
    let compared = |requests: u64, fill: &str, other: &[&str]| {
        let fill = format!("run.fill={fill}");
        let base = served(&plan("pageftl", &[&fill]), "uniform-write", requests);
        let with = served(&plan("pageftl", &[&[fill.as_str()], other].concat()), "uniform-write", requests);
        warnings::of_report(&Report::new(vec![
            DriveResult { name: "base".to_owned(), ..base },
            DriveResult { name: "with".to_owned(), ..with },
        ]))
    };
    let has = |warnings: &[String], what: &str| warnings.iter().any(|warning| warning.contains(what));
    let same = compared(16_000, "100 %", &on);
    assert!(has(&same, "with is identical to base to the last event") && !has(&same, "not reached"), "{same:?}");
    let other = compared(16_000, "100 %", &["gc.victim=fifo"]);
    assert!(!has(&other, "identical") && !has(&other, "not reached"), "{other:?}");
    let empty = compared(50, "0 %", &["gc.victim=fifo"]);
    assert!(has(&empty, "garbage collection was not reached:"), "{empty:?}");
}

/// Write amplification by levelling, read disturb and age of data.
fn care(waf: &Waf) -> f64 {
    [waf.wear, waf.disturb, waf.refresh].into_iter().flatten().sum()
}

/// Blocks wear alike under uniform writes, and no data grows old there: a technique that moves data for wear or age has next to nothing to do, and leaves the
/// drive within 2 % as fast as its base.
#[test]
fn under_uniform_writes_care_for_blocks_costs_next_to_nothing_new_steady_and_at_each_stage() {
    let of_rftl = ["longlive", "rftl", "boundedread", "fastcopy", "ort-pe", "pewear-8k"].map(|name| (name, "paper-rftl"));
    let families = [&of_rftl[..], &[("paftl", "psr-baseline"), ("irftl", "psr-baseline")], &[("paftl-8", "paftl")]];
    let stages = ["child", "young-adult", "old-adult"].map(|stage| format!("cells.cycles={stage}"));
    let starts = [vec![], vec!["run.steady=true"]].into_iter().chain(stages.iter().map(|stage| vec![stage.as_str()]));
    for start in starts {
        let run = |name: &str| served(&plan(name, &[&["run.fill=100 %"], &start[..]].concat()), "uniform-write", 20_000);
        for family in families {
            let without = run(family[0].1);
            for (name, base) in family {
                let with = run(name);
                let (care, total) = (care(&with.waf), with.waf.total.expect("it writes"));
                assert!(care < 0.02 * total, "{name} at {start:?}: {care} of {total} for wear and age");
                let slower = with.host.iops / without.host.iops;
                assert!(slower > 0.98, "{name} at {start:?}: {slower} of the IOPS of {base}");
            }
        }
    }
}

/// Each technique, the drive on which it is switched on, and its other settings.
const SINGLY: [(&str, &str, &[&str]); 22] = [
    ("bad-page-management", "paper-rftl", &["capabilities.any_order=true"]),
    ("block-age", "paper-rftl", &[]),
    ("copy-threshold", "paper-rftl", &["techniques.copy-threshold.index=pe"]),
    (
        "crypto-erase",
        "paper-rftl",
        &["techniques.crypto-erase.leaves=64", "techniques.crypto-erase.register=10 us", "mapping.over_provisioning=40 %"],
    ),
    ("erase-at-once", "paper-rftl", &[]),
    ("guarded-erase", "paper-rftl", &["capabilities.guarded_erase=true"]),
    ("idle-reclaim", "paper-rftl", &["techniques.idle-reclaim.after=1 ms", "techniques.idle-reclaim.until_free=5"]),
    ("latency-hints", "paper-rftl", &["techniques.read-disturb-refresh.on=true", "techniques.read-disturb-refresh.reads_max=100000"]),
    ("layer-margins", "paper-cubeftl", &[]),
    ("layer-read-offsets", "paper-rftl", &[]),
    ("layer-similarity", "paper-cubeftl", &[]),
    ("migration-mode", "paper-rftl", &[]),
    ("page-lock", "paper-rftl", &[]),
    ("plain-copyback", "paper-rftl", &[]),
    ("priority-preemption", "psr-baseline", &[]),
    ("read-disturb-refresh", "paper-rftl", &["techniques.read-disturb-refresh.reads_max=100000"]),
    ("read-preemption", "psr-baseline", &[]),
    ("read-reference", "paper-rftl", &["techniques.read-reference.index=pe"]),
    ("reprogram-page", "paper-rftl", &[]),
    ("restricted-copyback", "paper-rftl", &["techniques.retention-refresh.on=true", "techniques.restricted-copyback.moved_blocks=1"]),
    ("retention-refresh", "paper-rftl", &[]),
    ("wordline-scrub", "paper-rftl", &[]),
];
/// Techniques that make overwritten data unreadable under any load, and pay for that in IOPS.
const SANITISERS: [&str; 5] = ["crypto-erase", "erase-at-once", "page-lock", "reprogram-page", "wordline-scrub"];

#[test]
fn under_uniform_writes_each_technique_alone_costs_next_to_nothing_for_wear_and_age() {
    let listed: BTreeSet<&str> = SINGLY.iter().map(|(name, ..)| *name).collect();
    assert_eq!(listed, DECLARATIONS.iter().map(|declaration| declaration.card.name).collect(), "a new technique has its line");
    for stage in ["cells.cycles=0", "cells.cycles=young-adult"] {
        let run = |base: &str, more: &[&str]| served(&plan(base, &[&["run.fill=100 %", stage], more].concat()), "uniform-write", 20_000);
        let bases = ["paper-rftl", "paper-cubeftl", "psr-baseline"].map(|base| (base, run(base, &[]).host.iops));
        for (technique, base, settings) in SINGLY {
            let on = format!("techniques.{technique}.on=true");
            let with = run(base, &[&[on.as_str()], settings].concat());
            let (care, total) = (care(&with.waf), with.waf.total.expect("it writes"));
            let iops = bases.iter().find(|of| of.0 == base).expect("it was run").1;
            let slower = with.host.iops / iops;
            println!("{technique} on {base} at {stage}: {slower:.4} of the IOPS, {:.4} of the WAF for wear and age", care / total);
            assert!(care < 0.02 * total, "{technique} at {stage}: {care} of {total} for wear and age");
            assert!(SANITISERS.contains(&technique) || slower > 0.98, "{technique} at {stage}: {slower} of the IOPS of {base}");
        }
    }
}

/// The law above is one that can be broken: levelling that allows no gap at all moves data for wear without end.
#[test]
fn care_without_measure_breaks_the_law_of_cost() {
    let often = ["run.fill=100 %", "free_block.key=erases", "free_block.gap=1"];
    let result = served(&plan("paper-rftl", &often), "uniform-write", 20_000);
    let share = care(&result.waf) / result.waf.total.expect("it writes");
    assert!(share > 0.02, "{share} of the WAF");
}
