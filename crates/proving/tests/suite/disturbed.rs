//! Does a host that tolerates long reads lose anything by it? Drives with cells that only read, for months.
//!
//! Does not check: what it gains. That is the business of the studies.

use std::sync::Arc;

use wordline_cells::Age;
use wordline_drive::{Pace, Watched};
use wordline_flash::tables::{Aging, Disturb};
use wordline_ftl::techniques::{Choice, latency_hints, read_disturb_refresh, retention_refresh};
use wordline_plan::Plan;
use wordline_proving::bench::{self, Tally};
use wordline_proving::effort;
use wordline_units::{Attributes, Celsius, HostOp, HostRequest, Nanos, Tolerance};

/// A die of few blocks.
const SMALL: [&str; 7] = [
    "flash.channels=1",
    "flash.dies_per_channel=1",
    "geometry.planes=1",
    "geometry.blocks=20",
    "mapping.over_provisioning=40 %",
    "buffer.size=1 MiB",
    "cells.cycles=5000",
];
/// Units that are read, of two blocks or so.
const SPAN: u64 = 1_200;
/// Reads of each unit in a life.
const EACH: u64 = 6_000;
/// Seconds of a life: half a year.
const SECONDS: u64 = 86_400 * 183;
/// Parts of the time between two steps.
const PARTS: u64 = 8;
/// Reads of a block up to which a search counts as serving: fewer than it does of data that is no older than the drive lets it become.
const SEARCHED: u64 = 500_000;

/// Counts of a life.
#[derive(Debug, Default)]
struct Life {
    failed: u64,
    rewrites: u64,
    retries: u64,
    parked: u64,
    /// Latencies of one read of each unit of the second half at the end, of which nothing was ever hinted.
    unhinted: Vec<Nanos>,
}

/// Temperature of a life.
#[derive(Clone, Copy, Debug)]
struct Heat {
    /// Heat of the cells, in Celsius.
    celsius: f64,
    /// Steps in which the reads come. The hotter it is, the sooner data is moved for its age: reads in few steps disturb it before that.
    steps: u64,
    /// Age at which data is moved, in days at 30 C: data is no older than these cells keep it, whatever is read.
    days_max: u32,
}

/// Temperatures at which nothing may be lost.
const HEATS: [Heat; 5] = [
    Heat { celsius: 30.0, steps: 24, days_max: 180 },
    Heat { celsius: 40.0, steps: 12, days_max: 90 },
    Heat { celsius: 50.0, steps: 4, days_max: 90 },
    Heat { celsius: 60.0, steps: 3, days_max: 90 },
    Heat { celsius: 70.0, steps: 3, days_max: 90 },
];

/// A drive at `heat` that rewrites what takes retries, and reads that last half a year. `hinted`: units from the first one that tolerate as much as those of
/// `class`. It ends with the first step in which a read fails.
fn live(seed: u64, heat: Heat, (hinted, class): (u64, Tolerance), guard: bool) -> Life {
    let Heat { celsius, steps, days_max } = heat;
    let plan = Plan::load_set("pageftl", &SMALL).unwrap_or_else(|error| panic!("{error}"));
    let mut config = plan.build();
    config.seed = seed;
    let table =
        Disturb { pe: vec![5_000], retry: vec![1], fails: vec![1], searched: vec![SEARCHED], kept: 15_811_200, ..Disturb::default() };
    config.firmware.tables.disturb = Some(Arc::new(table));
    // Days are counted by the heat.
    config.firmware.tables.aging = Some(Arc::new(Aging { energy: 1.1, ..Aging::default() }));
    let refresh = read_disturb_refresh::Params { trigger_retries: 1, guard, ..read_disturb_refresh::Params::by_reads(0) };
    let hints = latency_hints::Params {
        shortest: Nanos::from_micros(200),
        typical: Nanos::from_micros(400),
        longer: Nanos::from_millis(50),
        on_wait: latency_hints::OnWait::Postpone,
    };
    // Without it none of the data would last where it is hot.
    let renewal = retention_refresh::Params { days_max, patrol: Nanos::from_secs(20_000) };
    config.firmware.techniques = vec![Choice::ReadDisturbRefresh(refresh), Choice::LatencyHints(hints), Choice::RetentionRefresh(renewal)];
    let (units, sectors) = (config.exported_units, config.firmware.unit.0 / 512);
    let age = config.cells.as_ref().and_then(|cells| cells.age);
    let mut drive = Watched::new(config, Tally::default());
    drive.construct_filled(units);
    age.iter().for_each(|age: &Age| drive.set_age(age));
    assert!(drive.set_temperature(Celsius(celsius)), "it has cells");
    if hinted > 0 {
        let hint = bench::request(HostOp::Hint, 0, hinted as u32, sectors as u32);
        let hint = HostRequest { attributes: Attributes::NONE.with_tolerance(class), ..hint };
        drive.serve(&mut std::iter::once(hint), Pace::Closed { depth: 1 }, None);
        drive.settle();
    }
    let mut life = Life::default();
    for _ in 0..steps {
        let leapt = drive.read_leap(0..SPAN, SPAN * EACH / steps);
        life.failed += leapt.failed_host_reads + leapt.failed_moves;
        life.rewrites += leapt.erases;
        life.retries += leapt.retries;
        life.parked = life.parked.max(drive.firmware()[0].rewrites().iter().map(|(_, counts)| counts.parked).sum());
        if life.failed > 0 {
            return life;
        }
        for _ in 0..PARTS {
            let until = drive.now() + Nanos::from_secs(SECONDS / steps / PARTS);
            drive.run_until(until);
            // The host is idle, and data is moved for its age.
            drive.observer.unanswered = 0;
        }
        drive.settle();
    }
    drive.observer.reads.clear();
    let mut reads = (SPAN / 2..SPAN).map(|unit| bench::request(HostOp::Read, unit, 1, sectors as u32));
    drive.serve(&mut reads, Pace::Closed { depth: 1 }, None);
    life.unhinted = drive.observer.reads.clone();
    life
}

/// Seeds, each with its heat: in CI the coolest and the hottest.
fn seeds() -> Vec<(u64, Heat)> {
    let heats = if effort() > 1 { &HEATS[..] } else { &[HEATS[0], HEATS[4]] };
    (1..).zip(heats.iter().copied()).collect()
}

#[test]
fn does_a_host_that_tolerates_long_reads_lose_data_by_it() {
    let mut waited = 0;
    for (seed, heat) in seeds() {
        let of = format!("seed {seed}, {} C", heat.celsius);
        let strict = live(seed, heat, (0, Tolerance::Default), true);
        println!("{of}, no hints: {} failed, {} rewrites, {} retries", strict.failed, strict.rewrites, strict.retries);
        for class in [Tolerance::Shortest, Tolerance::Typical, Tolerance::Longer] {
            let life = live(seed, heat, (SPAN, class), true);
            let Life { failed, rewrites, retries, parked, .. } = life;
            println!("{of}, {class:?}: {failed} failed, {rewrites} rewrites, {retries} retries, {parked} parked at once");
            assert_eq!((failed, strict.failed), (0, 0), "{of}, {class:?}");
            assert!(class != Tolerance::Longer || rewrites < strict.rewrites, "{of}");
            waited += parked;
        }
        // Without a guard a host is not believed: 3 and 2 reads failed when it was.
        let [unhinted, unguarded] = [0, SPAN].map(|units| live(seed, heat, (units, Tolerance::Longer), false));
        println!("{of}, without a guard: {} failed, {} parked", unguarded.failed, unguarded.parked);
        assert_eq!((unguarded.failed, unguarded.parked, unguarded.rewrites), (0, 0, unhinted.rewrites), "{of}");
    }
    assert!(waited > 0, "nothing was parked");
}

#[test]
fn are_reads_of_data_without_a_hint_as_short_as_without_hints() {
    let [strict, half] = [0, SPAN / 2].map(|hinted| live(3, HEATS[0], (hinted, Tolerance::Longer), true));
    // Data lies in other blocks, so single reads differ: what is compared is how long they take in all, and the longest.
    let [strictly, halfway] = [&strict, &half].map(|life| life.unhinted.iter().map(|took| took.0).sum::<u64>() as f64 / 1e6);
    let longest = [&strict, &half].map(|life| life.unhinted.iter().max().copied().expect("there were reads"));
    let (reads, rewrites) = (strict.unhinted.len(), [strict.rewrites, half.rewrites]);
    println!(
        "{reads} reads without a hint: {strictly:.2} ms without hints, {halfway:.2} ms beside them, longest {longest:?}; rewrites {rewrites:?}"
    );
    assert!(halfway <= 1.02 * strictly && longest[1] <= longest[0] * 2 && half.parked > 0 && half.rewrites < strict.rewrites);
}
