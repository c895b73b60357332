//! Read retries on whole drives: first tries, the retries that they save, and the cost of wrong ones.
//!
//! Does not check: whether the physics are right (the studies do), nor a load that is not uniform.

use std::collections::BTreeSet;

use wordline_drive::{Pace, Watched};
use wordline_engine::{Event, Observer};
use wordline_plan::Plan;
use wordline_units::random::{Draw, Stream};
use wordline_units::{Celsius, FlashOp, HostOp, HostRequest, Nanos};

const ON: &str = "techniques.layer-read-offsets.on=true";
/// Pages of an h-layer and of a wordline of the preset's die.
const LAYER: u16 = 12;
const WORDLINE: u16 = 3;

/// Counts reads by their retries.
#[derive(Debug, Default)]
struct Retries {
    by_retries: Vec<u64>,
    failed: u64,
    /// Page types of h-layers that have been read.
    known: BTreeSet<(u16, u32, u16, u16)>,
    /// Reads of known page types, and those of them that were tried again.
    again: [u64; 2],
}

impl Retries {
    fn reads(&self) -> u64 {
        self.by_retries.iter().sum()
    }

    fn mean(&self) -> f64 {
        self.by_retries.iter().zip(0..).map(|(reads, retries)| reads * retries).sum::<u64>() as f64 / self.reads() as f64
    }

    /// Share of reads with at most `retries` retries.
    fn below(&self, retries: usize) -> f64 {
        self.by_retries.iter().take(retries + 1).sum::<u64>() as f64 / self.reads() as f64
    }

    fn retried(&self) -> f64 {
        1.0 - self.below(0)
    }

    fn mispredicted(&self) -> f64 {
        self.again[1] as f64 / self.again[0] as f64
    }
}

impl Observer for Retries {
    fn observe(&mut self, _: Nanos, event: &Event) {
        let Event::Flash(flash) = event else { return };
        if flash.op != FlashOp::Read {
            return;
        }
        let retries = usize::from(flash.retries);
        self.by_retries.resize(self.by_retries.len().max(retries + 1), 0);
        self.by_retries[retries] += 1;
        self.failed += u64::from(!flash.ok);
        if !self.known.insert((flash.die.0, flash.block.0, flash.page.0 / LAYER, flash.page.0 % WORDLINE)) {
            self.again[0] += 1;
            self.again[1] += u64::from(retries > 0);
        }
    }
}

/// Two dies of the preset with few blocks, so that each h-layer is read often.
fn config(settings: &[&str]) -> wordline_drive::Config {
    let small = ["flash.channels=1", "flash.dies_per_channel=2", "geometry.blocks=24", "mapping.over_provisioning=40 %"];
    Plan::load_set("pageftl", &[&small, settings].concat()).unwrap_or_else(|error| panic!("{error}")).build()
}

fn drive(settings: &[&str]) -> Watched<Retries> {
    let config = config(settings);
    let (units, age) = (config.exported_units, config.cells.as_ref().and_then(|cells| cells.age));
    let mut drive = Watched::new(config, Retries::default());
    drive.construct_filled(units);
    age.iter().for_each(|age| drive.set_age(age));
    drive
}

fn requests(op: HostOp, units: u64, seed: u64) -> impl Iterator<Item = HostRequest> {
    let mut draw = Draw::new(seed, Stream::Address, 0);
    std::iter::from_fn(move || {
        let sector = draw.below(units) * 32;
        Some(HostRequest::new(op, sector, 32))
    })
}

/// Counts of the next `count` random reads.
fn read(drive: &mut Watched<Retries>, count: u64, seed: u64) -> &Retries {
    let known = std::mem::take(&mut drive.observer.known);
    drive.observer = Retries { known, ..Retries::default() };
    let units = drive.config().exported_units;
    drive.serve(&mut requests(HostOp::Read, units, seed), Pace::Closed { depth: 8 }, Some(count));
    drive.settle();
    &drive.observer
}

#[test]
fn reads_of_an_aged_drive_need_fewer_retries_when_each_layer_keeps_what_it_needed() {
    for (kept, least) in [("cells.retention=1 mo", 0.56), ("cells.retention=1 y", 0.56)] {
        let [mut off, mut on] = [&[][..], &[ON]].map(|technique| drive(&[&["cells.cycles=2000", kept], technique].concat()));
        let (off, on) = (read(&mut off, 150_000, 5), read(&mut on, 150_000, 5));
        let gain = 1.0 - on.mean() / off.mean();
        println!(
            "2K, {kept}: {:.1} % of reads retried, {:.3} retries a read; with offsets by h-layer {:.1} %, {:.3}: {:.1} % fewer; \
             {:.2} % of reads of what was read before are retried",
            100.0 * off.retried(),
            off.mean(),
            100.0 * on.retried(),
            on.mean(),
            100.0 * gain,
            100.0 * on.mispredicted(),
        );
        println!("  without: {:?}\n  with:    {:?}", off.by_retries, on.by_retries);
        assert!(gain >= least, "{gain} fewer retries");
        for retries in 0..off.by_retries.len().max(on.by_retries.len()) {
            let (with, without) = (on.below(retries), off.below(retries));
            assert!(with >= without, "{with} of the reads need at most {retries} retries, {without} without");
        }
        assert_eq!((on.failed, off.failed), (0, 0));
    }
}

/// Reads every page that holds data once, in order: nearly as the wordlines of 003 were characterised.
#[test]
fn pages_read_once_each_still_profit_from_those_before_them() {
    for kept in ["cells.retention=1 mo", "cells.retention=1 y"] {
        let [off, on] = [&[][..], &[ON]].map(|technique| {
            let mut drive = drive(&[&["cells.cycles=2000", kept], technique].concat());
            let units = drive.config().exported_units;
            let mut in_order = requests(HostOp::Read, units, 1).zip(0..units).map(|(read, unit)| HostRequest { sector: unit * 32, ..read });
            drive.serve(&mut in_order, Pace::Closed { depth: 8 }, None);
            drive.settle();
            (drive.observer.mean(), drive.observer.reads())
        });
        let gain = 1.0 - on.0 / off.0;
        println!(
            "2K, {kept}: {} pages once each, {:.3} retries a read, {:.3} with offsets by h-layer: {:.1} % fewer",
            off.1,
            off.0,
            on.0,
            100.0 * gain
        );
        assert!(gain > 0.56, "{gain} fewer retries");
        // Of the twelve pages of an h-layer one has to find out.
        assert!(gain <= 11.0 / 12.0, "{gain} fewer retries, where every twelfth read cannot know");
    }
}

/// Checks that `drive`, whose table was right before something changed, is right again soon. `plain` has the same history and no table.
fn recovers(what: &str, plain: &mut Watched<Retries>, drive: &mut Watched<Retries>) {
    let without = read(plain, 30_000, 8);
    let (without, lost) = (without.mean(), without.failed);
    let (first, lost_first) = (read(drive, 30_000, 8).mean(), drive.observer.failed);
    let (after, lost_after) = (read(drive, 150_000, 9).mean(), drive.observer.failed);
    let last = read(drive, 30_000, 10);
    println!(
        "{what}: {first:.3} retries a read at first, {after:.3} in the next 150,000, {:.3} in the end ({:.2} % of reads retried); {without:.3} without",
        last.mean(),
        100.0 * last.retried()
    );
    assert_eq!((lost, lost_first, lost_after, last.failed), (0, 0, 0, 0), "{what}: nothing is lost");
    assert!(last.retried() < 0.05 && last.mean() < 0.1_f64.max(0.44 * without), "{what}: {} retries a read in the end", last.mean());
}

#[test]
fn what_was_right_before_a_sudden_change_is_replaced_and_nothing_is_lost() {
    let [mut plain, mut drive] =
        [&[][..], &[ON]].map(|technique| drive(&[&["cells.cycles=2000", "cells.retention=1 mo"], technique].concat()));
    read(&mut drive, 150_000, 6);
    let age = drive.config().cells.as_ref().and_then(|cells| cells.age).expect("it was set");
    // The age is set, so that nothing is erased and the firmware cannot know: entries are too low, then too high.
    for (what, times) in [("a month becomes a year", 12.0), ("a year becomes an hour", 1.0 / 720.0), ("an hour becomes a month", 1.0)] {
        let age = wordline_cells::Age { retention: age.retention * times, ..age };
        [&mut plain, &mut drive].into_iter().for_each(|drive| drive.set_age(&age));
        recovers(what, &mut plain, &mut drive);
    }
}

/// A step of temperature moves cells and references together in the physics; it changes how fast charge is lost from then on.
#[test]
fn warmth_that_ages_the_data_is_followed_and_loses_nothing() {
    let aged = ["cells.cycles=2000", "cells.retention=1 mo", "cells.temperature=30 C"];
    let [mut plain, mut drive] = [&[][..], &[ON]].map(|technique| drive(&[&aged, technique].concat()));
    let before = read(&mut plain, 30_000, 5).mean();
    read(&mut drive, 150_000, 6);
    for drive in [&mut plain, &mut drive] {
        assert!(drive.set_temperature(Celsius(55.0)));
        let (now, units) = (drive.now(), drive.config().exported_units);
        let known = std::mem::take(&mut drive.observer.known);
        drive.observer = Retries { known, ..Retries::default() };
        // Three days, with the loss of charge of ten weeks at 30 °C.
        let mut slow =
            requests(HostOp::Read, units, 7).zip(0..50_000u64).map(|(read, n)| HostRequest { at: Nanos::from_secs(5) * n, ..read });
        drive.serve(&mut slow, Pace::Open { origin: now }, None);
        drive.settle();
        println!("55 C, a read every 5 s: {:.3} retries a read, {:.2} % retried", drive.observer.mean(), 100.0 * drive.observer.retried());
        assert_eq!(drive.observer.failed, 0);
    }
    assert!(plain.observer.mean() > 1.2 * before, "the data have aged: {} retries a read, {before} before", plain.observer.mean());
    assert!(drive.observer.mean() < 0.44 * plain.observer.mean());
    recovers("after three warm days", &mut plain, &mut drive);
}

#[test]
fn without_retries_it_leaves_no_trace() {
    let run = |settings: &[&str]| {
        let mut drive = drive(&[&["cells.physics=false"], settings].concat());
        let units = drive.config().exported_units;
        drive.serve(&mut requests(HostOp::Write, units, 3), Pace::Closed { depth: 32 }, Some(30_000));
        drive.serve(&mut requests(HostOp::Read, units, 4), Pace::Closed { depth: 8 }, Some(10_000));
        drive.settle();
        drive.log().hash()
    };
    assert_eq!(run(&[]), run(&[ON]));
    // Retries by rate that no read needs are none either.
    assert_eq!(run(&[]), run(&["retries.share=0 %", "retries.mean=3", "retries.entries=32", "retries.alike=66 %", ON]));
    assert_ne!(run(&[]), run(&["retries.share=30 %", "retries.mean=3", "retries.entries=32"]));
}

#[test]
fn a_rewritten_drive_begins_at_the_default_again() {
    let mut drive = drive(&["cells.cycles=2000", "cells.retention=1 y", ON]);
    let units = drive.config().exported_units;
    let aged = read(&mut drive, 100_000, 5).by_retries.iter().skip(1).sum::<u64>();
    drive.serve(&mut requests(HostOp::Write, units, 3), Pace::Closed { depth: 32 }, Some(12 * units));
    drive.settle();
    let fresh = read(&mut drive, 50_000, 6);
    println!("{aged} reads retried of the aged data; of what was written since: {:?}", fresh.by_retries);
    assert!(fresh.retried() < 0.01, "{} of the reads of new data are retried", fresh.retried());
    assert_eq!(fresh.failed, 0);
}

#[test]
fn retries_by_rate_come_as_asked_and_what_is_alike_is_saved() {
    for (share, expected) in [("retries.share=0 %", 0.0), ("retries.share=30 %", 0.3), ("retries.share=90 %", 0.9)] {
        // Four times as many h-layers as elsewhere: they have one draw each.
        let rates = ["geometry.blocks=96", "cells.physics=false", share, "retries.mean=2.5", "retries.alike=66 %", "retries.entries=32"];
        let [mut off, mut on] = [&[][..], &[ON]].map(|technique| drive(&[&rates, technique].concat()));
        let off = read(&mut off, 150_000, 5);
        read(&mut on, 150_000, 5);
        let on = read(&mut on, 150_000, 6);
        println!(
            "{share}: {:.4} retried, {:.3} retries; with offsets by h-layer {:.4}, {:.3}",
            off.retried(),
            off.mean(),
            on.retried(),
            on.mean()
        );
        assert!((off.retried() - expected).abs() < 0.015, "{} of reads retried", off.retried());
        assert!((off.mean() - 2.5 * expected).abs() < 0.06, "{} retries a read", off.mean());
        assert_eq!((off.failed, on.failed), (0, 0));
        if expected > 0.0 {
            let gain = 1.0 - on.mean() / off.mean();
            println!("  {:.1} % fewer once every h-layer has been read; {:?}", 100.0 * gain, on.by_retries);
            assert!((gain - 0.66).abs() < 0.03, "{gain} fewer retries where 0.66 are alike");
        }
    }
}

#[test]
fn a_saved_drive_goes_on_with_what_it_has_learnt() {
    let by_rate = ["cells.physics=false", "retries.share=90 %", "retries.mean=2.5", "retries.alike=66 %", "retries.entries=32", ON];
    let by_physics = ["cells.cycles=2000", "cells.retention=1 y", ON];
    for settings in [&by_rate[..], &by_physics[..]] {
        let mut first = drive(settings);
        read(&mut first, 30_000, 5);
        let image = first.image().expect("a settled drive");
        let mut second = Watched::from_image(config(settings), image, Retries::default()).expect("its own image");
        let ends = [&mut first, &mut second].map(|drive| read(drive, 20_000, 6).by_retries.clone());
        assert_eq!(ends[0], ends[1], "{settings:?}");
    }
}
