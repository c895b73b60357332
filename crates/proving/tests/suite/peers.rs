//! Would the defects that other simulators are known for be seen here? One test for each, named after it.
//!
//! The small drive is built like the one those simulators were measured on: two channels of four dies, 16-KiB pages, steady random writes at queue
//! depth 32 with nothing cached. Does not check: speed.

use std::collections::BTreeSet;

use wordline_drive::{Config, Pace, Watched};
use wordline_engine::{Event, Observer};
use wordline_flash::ProgramScope;
use wordline_ftl::config::Acknowledge;
use wordline_ftl::techniques::Choice;
use wordline_proving::bench::{self, Tally, judged, overwrites, watched};
use wordline_proving::shape;
use wordline_units::random::{Draw, Stream};
use wordline_units::{Bytes, Cause, CellKind, FlashOp, HostOp, HostRequest, Nanos, Rate};

const DEPTH: u32 = 32;
const CLOSED: Pace = Pace::Closed { depth: DEPTH };
const SECTORS: u32 = 32;
const SEED: u64 = 798;

/// 8 dies of 40 blocks of 64 pages, an eighth of it spare.
fn config() -> Config {
    let mut config = bench::drive(shape::sheet(40, 64), 2, 4, 8 * 40 * 64 * 7 / 8);
    config.channel = Rate::from_mega_transfers(500, 8);
    config
}

fn must_serve(name: &str, config: Config, load: impl Iterator<Item = HostRequest>, count: u64) -> Watched<bench::Watch> {
    let units = config.exported_units;
    let mut drive = watched(config, Some(DEPTH));
    drive.construct_filled(units);
    let mut load = load.take(count as usize);
    let served = drive.serve(&mut load, CLOSED, None);
    let measured = judged(&mut drive);
    assert_eq!((served, measured.requests(), drive.outstanding()), (count, count, 0), "{name}: generated and served");
    let tally = &drive.observer.0;
    assert_eq!(tally.failed, 0);
    let little = measured.iops_times_latency();
    println!(
        "{name:>28}: {count} served, in flight {:.2} = IOPS x latency {little:.2}, WAF {:.3} (padding {:.3}), {} erases, {} copybacks",
        measured.mean_in_flight(),
        tally.waf(),
        tally.units[2] as f64 / tally.units[0] as f64,
        tally.operations(FlashOp::Erase),
        tally.operations(FlashOp::Copyback)
    );
    assert!((measured.mean_in_flight() / little - 1.0).abs() < 1e-9, "{name}: Little's law");
    assert!(measured.mean_in_flight() > 0.98 * f64::from(DEPTH), "{name}: queue slots get lost: {}", measured.mean_in_flight());
    assert!(tally.operations(FlashOp::Erase) > 500, "{name}: this is not a steady state");
    drive
}

#[test]
fn are_requests_generated_and_served_the_same_under_steady_reclaim_with_nothing_cached() {
    let config = config();
    let span = config.exported_units;
    must_serve("16 KiB writes", config, overwrites(SEED, span, SECTORS), 120_000);
}

#[test]
fn are_4k_aligned_writes_served_under_reclaim() {
    for unit in [4, 16] {
        let mut config = config();
        config.firmware.unit = Bytes::kib(unit);
        config.exported_units = config.exported_units * 16 / unit;
        config.firmware.buffer.units = 1_024;
        let span = config.exported_units * unit / 4;
        let drive = must_serve(&format!("4 KiB writes, {unit} KiB units"), config, overwrites(SEED, span, 8), 120_000);
        let fills = drive.observer.0.flash[FlashOp::Read as usize][Cause::Fill as usize];
        assert_eq!(fills > 0, unit == 16, "only units larger than the write need their rest read: {fills} fills");
    }
}

/// Victims that were read and not yet erased, die by die.
#[derive(Debug, Default)]
struct Victims {
    open: Vec<BTreeSet<u32>>,
    most: usize,
}

impl Observer for Victims {
    fn observe(&mut self, _: Nanos, event: &Event) {
        if let Event::Flash(flash) = event {
            let die = usize::from(flash.die.0);
            self.open.resize_with(self.open.len().max(die + 1), BTreeSet::new);
            if flash.op == FlashOp::Read && flash.cause == Cause::Gc {
                self.open[die].insert(flash.block.0);
                self.most = self.most.max(self.open[die].len());
            } else if flash.op == FlashOp::Erase {
                self.open[die].remove(&flash.block.0);
            }
        }
    }
}

#[test]
fn does_an_erase_always_follow_reclaim_even_when_it_is_put_off() {
    for preemptible in [false, true] {
        let mut config = config();
        config.firmware.gc.preemptible = preemptible;
        let span = config.exported_units;
        let mut drive = Watched::new(config, Victims::default());
        drive.construct_filled(span);
        drive.serve(&mut overwrites(SEED, span, SECTORS), CLOSED, Some(60_000));
        assert!(drive.observer.most <= 2, "{} victims of one die wait for their erase", drive.observer.most);
        drive.settle();
        println!("preemptible {preemptible}: at most {} victims of a die between reading and erase", drive.observer.most);
    }
}

#[test]
fn is_a_run_of_136_milliseconds_that_long() {
    let config = config();
    let alone = 65_000 + 32_768;
    let mut drive = watched(config.clone(), None);
    drive.construct_filled(config.exported_units);
    let mut load = (1..=100).map(|n| HostRequest { at: Nanos(n * 1_360_000 - alone), ..bench::request(HostOp::Read, n, 1, SECTORS) });
    drive.serve(&mut load, Pace::Open { origin: Nanos::ZERO }, None);
    let measured = judged(&mut drive);
    assert_eq!(measured.elapsed, Nanos::from_millis(136));
    assert_eq!(measured.per_second(100.0), 100.0 / 0.136);
    assert_eq!(measured.mib_per_second(HostOp::Read), 100.0 / 64.0 / 0.136);
}

#[test]
fn does_every_bus_rate_count_above_1000_mt_s_too() {
    let mut before = u64::MAX;
    for mega in [800, 1_000, 1_200, 2_400, 4_800] {
        let mut config = config();
        config.channel = Rate::from_mega_transfers(mega, 8);
        let mut drive = Watched::new(config.clone(), Tally::default());
        drive.construct_filled(config.exported_units);
        drive.serve(&mut (0..1_000).map(|n| bench::request(HostOp::Read, n, 1, SECTORS)), Pace::Closed { depth: 1 }, None);
        let mean = Tally::mean(&drive.observer.reads);
        assert!((mean - (65_000.0 + 16_384e3 / mega as f64)).abs() < 1.0, "{mega} MT/s: {mean} ns");
        assert!((mean as u64) < before && mean > 65_000.0);
        before = mean as u64;
    }
}

#[test]
fn can_a_drive_be_filled_to_the_last_unit_and_be_overwritten() {
    let units = config().exported_units;
    let mut wafs = Vec::new();
    for constructed in [true, false] {
        let mut drive = watched(config(), Some(DEPTH));
        if constructed {
            drive.construct_filled(units);
        } else {
            drive.serve(&mut (0..units).map(|unit| bench::request(HostOp::Write, unit, 1, SECTORS)), CLOSED, None);
        }
        assert_eq!(drive.firmware().iter().map(|core| core.map().mapped()).sum::<u64>(), units, "all of it is mapped");
        let mut load = overwrites(SEED, units, SECTORS);
        drive.serve(&mut load, CLOSED, Some(3 * units));
        drive.observer.0 = Tally::default();
        drive.observer.0.arrived = u64::from(drive.outstanding());
        drive.serve(&mut load, CLOSED, Some(4 * units));
        judged(&mut drive);
        wafs.push(drive.observer.0.waf());
    }
    println!("WAF after a constructed fill {:.3}, after a written one {:.3}", wafs[0], wafs[1]);
    assert!((wafs[0] / wafs[1] - 1.0).abs() < 0.02);
}

#[test]
fn does_static_wear_levelling_move_a_block_that_lags_behind() {
    #[derive(Debug, Default)]
    struct Wear {
        erases: std::collections::BTreeMap<(u16, u32), u32>,
        last: std::collections::BTreeMap<u16, u32>,
        moved: u32,
    }
    const GAP: u32 = 20;
    impl Observer for Wear {
        fn observe(&mut self, _: Nanos, event: &Event) {
            let Event::Flash(flash) = event else { return };
            let block = (flash.die.0, flash.block.0);
            if flash.op == FlashOp::Erase {
                *self.erases.entry(block).or_default() += 1;
            } else if flash.op == FlashOp::Read && flash.cause == Cause::Wear && self.last.insert(block.0, block.1) != Some(block.1) {
                let own = self.erases.get(&block).copied().unwrap_or(0);
                let most = self.erases.iter().filter(|((die, _), _)| *die == block.0).map(|(_, &erases)| erases).max().unwrap_or(0);
                assert!(own + GAP <= most, "block {block:?} with {own} erases is moved for wear while the most worn has {most}");
                self.moved += 1;
            }
        }
    }
    let mut config = config();
    config.firmware.free_block.gap = Some(GAP);
    let units = config.exported_units;
    let mut drive = Watched::new(config, Wear::default());
    drive.construct_filled(units);
    drive.serve(&mut overwrites(SEED, units / 10, SECTORS), CLOSED, Some(300_000));
    println!("{} blocks moved for wear", drive.observer.moved);
    assert!(drive.observer.moved > 20);
    drive.settle();
    drive.audit().unwrap();
}

#[test]
fn does_the_wear_histogram_hold_blocks_past_their_endurance() {
    let mut config = config();
    config.faults.endurance = Some(12);
    config.firmware.spare_blocks = 2;
    config.exported_units = 8 * 30 * 64;
    let units = config.exported_units;
    let mut drive = watched(config, Some(DEPTH));
    drive.construct_filled(units);
    drive.serve(&mut overwrites(SEED, units, SECTORS), CLOSED, Some(200_000));
    assert!(drive.is_worn_out());
    let most = drive.blocks().map(|block| block.erases).max().unwrap();
    assert!((12..=13).contains(&most), "{most} erases");
    judged(&mut drive);
}

#[test]
fn do_two_drives_in_one_process_leave_each_other_alone() {
    let alone = |seed: u64| {
        let mut config = config();
        config.seed = seed;
        let mut drive = Watched::new(config.clone(), ());
        drive.construct_filled(config.exported_units);
        (drive, overwrites(seed, config.exported_units, SECTORS))
    };
    let expected = [1, 2].map(|seed| {
        let (mut drive, mut load) = alone(seed);
        drive.serve(&mut load, CLOSED, Some(40_000));
        drive.log().hash()
    });
    let mut both = [alone(1), alone(2)];
    for _ in 0..40 {
        for (drive, load) in &mut both {
            drive.serve(load, CLOSED, Some(1_000));
        }
    }
    assert_eq!(both.map(|(drive, _)| drive.log().hash()), expected);
    assert_ne!(expected[0], expected[1]);
}

#[test]
fn does_copyback_reclaim_work() {
    for (planes, scope) in [(1, ProgramScope::Page), (2, ProgramScope::Page), (2, ProgramScope::Wordline)] {
        let mut config = config();
        with_planes(&mut config, planes, scope);
        config.firmware.techniques = vec![Choice::PlainCopyback];
        let span = config.exported_units;
        let count = 60_000 * u64::from(planes);
        let drive = must_serve(&format!("copyback, {planes} planes"), config, overwrites(SEED, span, SECTORS), count);
        assert!(drive.observer.0.operations(FlashOp::Copyback) > 100);
    }
}

#[test]
fn does_preemptible_reclaim_make_progress() {
    let mut config = config();
    config.firmware.gc.preemptible = true;
    config.firmware.gc.start = 4;
    let span = config.exported_units;
    must_serve("preemptible reclaim", config, overwrites(SEED, span, SECTORS), 120_000);
}

fn with_planes(config: &mut Config, planes: u32, scope: ProgramScope) {
    for sheet in [&mut config.sheet, &mut config.firmware.sheet] {
        sheet.geometry.planes = planes;
        sheet.capabilities.program_scope = scope;
        if scope == ProgramScope::Wordline {
            (sheet.geometry.cell, sheet.geometry.layers) = (CellKind::Mlc, 32);
        }
    }
    config.exported_units *= u64::from(planes);
    config.firmware.buffer.units = 512;
}

#[test]
fn does_a_drive_of_several_planes_serve_everything() {
    for planes in [2, 4] {
        for scope in [ProgramScope::Page, ProgramScope::Wordline] {
            let mut config = config();
            with_planes(&mut config, planes, scope);
            let span = config.exported_units;
            must_serve(&format!("{planes} planes, {scope:?}"), config, overwrites(SEED, span, SECTORS), 60_000 * u64::from(planes));
        }
    }
}

#[test]
fn does_a_mix_of_reads_writes_and_trims_serve_everything_with_a_cache() {
    let mut config = config();
    config.firmware.buffer.acknowledge = Acknowledge::Buffered;
    let span = config.exported_units;
    let mut draw = Draw::new(SEED, Stream::Mix, 0);
    let load = std::iter::from_fn(move || {
        let op = [HostOp::Read, HostOp::Write, HostOp::Write, HostOp::Write, HostOp::Trim][draw.below(5) as usize];
        Some(bench::request(op, draw.below(span), 1, SECTORS))
    });
    let mut drive = watched(config, Some(DEPTH));
    drive.construct_filled(span);
    drive.serve(&mut load.take(200_000), CLOSED, None);
    assert_eq!(judged(&mut drive).requests(), 200_000);
}
