//! Do blocks wear evenly, fail gracefully, and end without hanging?
//!
//! Does not check: how many erases a real block survives, or data lost to reads beyond correction.

use wordline_drive::{Config, Pace, Watched};
use wordline_engine::BlockState;
use wordline_ftl::config::FreeBlockConfig;
use wordline_ftl::free_block::FreeBlockPolicy;
use wordline_ftl::retirement::RetirementPolicy;
use wordline_proving::bench::{self, Watch, judged, overwrites, watched};
use wordline_proving::shape;
use wordline_units::random::{Draw, Stream};
use wordline_units::{Cause, FlashOp, HostOp, HostRequest};

const SECTORS: u32 = 32;
const CLOSED: Pace = Pace::Closed { depth: 16 };
const BLOCKS: u32 = 64;
const PAGES: u32 = 32;

fn config() -> Config {
    bench::drive(shape::sheet(BLOCKS, PAGES), 1, 2, u64::from(2 * PAGES * BLOCKS * 4 / 5))
}

/// Nine writes of ten to a tenth of the space.
fn hot_and_cold(seed: u64, span: u64) -> impl Iterator<Item = HostRequest> {
    let mut draw = Draw::new(seed, Stream::Address, 0);
    std::iter::from_fn(move || {
        let unit = if draw.happens(0.9) { draw.below(span / 10) } else { span / 10 + draw.below(span - span / 10) };
        Some(bench::request(HostOp::Write, unit, 1, SECTORS))
    })
}

/// Least, mean and most erases, and their standard deviation.
fn spread(drive: &Watched<Watch>) -> (u32, f64, u32, f64) {
    let erases: Vec<u32> = drive.blocks().filter(|block| block.state != BlockState::Bad).map(|block| block.erases).collect();
    let mean = erases.iter().map(|&n| f64::from(n)).sum::<f64>() / erases.len() as f64;
    let variance = erases.iter().map(|&n| (f64::from(n) - mean) * (f64::from(n) - mean)).sum::<f64>() / erases.len() as f64;
    (erases.iter().copied().min().unwrap(), mean, erases.iter().copied().max().unwrap(), variance.sqrt())
}

#[test]
fn does_wear_levelling_narrow_the_spread_of_erases() {
    let run = |key: FreeBlockPolicy, gap: Option<u32>, address: &dyn Fn(u64) -> Box<dyn Iterator<Item = HostRequest>>| {
        let mut config = config();
        config.firmware.free_block = FreeBlockConfig { key, gap };
        let span = config.exported_units;
        let mut drive = watched(config, Some(16));
        drive.construct_filled(span);
        drive.serve(&mut address(span), CLOSED, Some(150_000));
        judged(&mut drive);
        let (least, mean, most, deviation) = spread(&drive);
        let waf = drive.observer.0.waf();
        println!("key {:>12}, gap {gap:>8?}: erases {least} to {most}, mean {mean:.1}, deviation {deviation:.2}, WAF {waf:.3}", key.name());
        (deviation, most - least, waf)
    };
    let hot = |span: u64| Box::new(hot_and_cold(3, span)) as Box<dyn Iterator<Item = HostRequest>>;
    let frozen = |span: u64| Box::new(overwrites(3, span / 4, SECTORS)) as Box<dyn Iterator<Item = HostRequest>>;
    println!("nine tenths of the writes to a tenth of the space:");
    let off = run(FreeBlockPolicy::LongestFree, None, &hot);
    let dynamic = run(FreeBlockPolicy::Erases, None, &hot);
    let both = run(FreeBlockPolicy::Erases, Some(10), &hot);
    assert!(dynamic.0 < off.0 && both.0 < dynamic.0, "{off:?} {dynamic:?} {both:?}");
    println!("three quarters of the space never written again:");
    let off = run(FreeBlockPolicy::LongestFree, None, &frozen);
    let both = run(FreeBlockPolicy::Erases, Some(10), &frozen);
    assert!(both.0 < 0.2 * off.0 && both.1 < off.1 / 3, "{off:?} {both:?}");
    assert!(both.2 >= off.2, "levelling is not free");
}

#[test]
fn is_an_erase_counted_for_the_reason_why_its_block_was_emptied() {
    let mut config = config();
    config.firmware.free_block = FreeBlockConfig { key: FreeBlockPolicy::Erases, gap: Some(10) };
    let span = config.exported_units;
    let mut drive = watched(config, Some(16));
    drive.construct_filled(span);
    drive.serve(&mut overwrites(3, span / 4, SECTORS), CLOSED, Some(150_000));
    judged(&mut drive);
    let tally = &drive.observer.0;
    let count = |op: FlashOp, cause: Cause| tally.flash[op as usize][cause as usize];
    let (wear, reclaim) = (count(FlashOp::Erase, Cause::Wear), count(FlashOp::Erase, Cause::Gc));
    println!("{wear} erases to level wear, {reclaim} for space");
    assert!(wear > 20 && reclaim > wear, "{wear} {reclaim}");
    assert_eq!(wear + reclaim, tally.operations(FlashOp::Erase));
    // Three quarters of the space are cold, so nearly all that levelling moves is whole blocks; each die may be in the middle of one.
    let moved = count(FlashOp::Read, Cause::Wear);
    assert!(moved <= (wear + 2) * u64::from(PAGES) && moved * 2 > wear * u64::from(PAGES), "{moved} pages read for {wear} erases");
}

#[test]
fn do_grown_bad_blocks_use_spares_and_then_go_out_of_service() {
    let mut config = config();
    config.firmware.spare_blocks = 4;
    config.exported_units = u64::from(2 * PAGES * (BLOCKS - 20));
    config.faults.factory_bad = 0.02;
    config.faults.program_fail = 2e-5;
    config.faults.erase_fail = 2e-4;
    let span = config.exported_units;
    let mut drive = watched(config, Some(16));
    drive.serve(&mut (0..span).map(|unit| bench::request(HostOp::Write, unit, 1, SECTORS)), CLOSED, None);
    let bad = |drive: &Watched<Watch>| drive.blocks().filter(|block| block.state == BlockState::Bad).count();
    assert_eq!(bad(&drive), 0, "spares stand in for factory bad blocks");
    let mut load = overwrites(3, span, SECTORS);
    let (mut first_bad, mut replaced) = (None, 0);
    for round in 0..60 {
        drive.serve(&mut load, CLOSED, Some(5_000));
        if bad(&drive) == 0 {
            replaced = drive.observer.0.retired;
        } else if first_bad.is_none() {
            first_bad = Some(round);
        }
        if drive.is_worn_out() {
            break;
        }
    }
    println!("{replaced} blocks replaced before the first went out of service in round {first_bad:?}; {} out at the end", bad(&drive));
    assert!(replaced > 0 && first_bad.is_some(), "spares first, then blocks are lost");
    assert_eq!(drive.observer.0.failed == 0, !drive.is_worn_out());
    judged(&mut drive);
}

#[test]
fn does_a_worn_out_drive_refuse_writes_serve_reads_and_never_hang() {
    for (&retirement, erase_fail) in RetirementPolicy::ALL.iter().flat_map(|policy| [(policy, 0.0), (policy, 0.01)]) {
        let mut config = config();
        config.firmware.retirement = retirement;
        config.faults.endurance = Some(25);
        config.faults.erase_fail = erase_fail;
        config.firmware.spare_blocks = 3;
        config.exported_units = u64::from(2 * PAGES * (BLOCKS - 16));
        let span = config.exported_units;
        let mut drive = watched(config, Some(16));
        drive.construct_filled(span);
        let mut load = overwrites(3, span, SECTORS);
        while !drive.is_worn_out() {
            assert_eq!(drive.serve(&mut load, CLOSED, Some(1_000)), 1_000);
            assert!(drive.completed() < 1_000_000, "blocks of 25 erases last for ever");
        }
        let before = drive.completed();
        drive.serve(&mut load, CLOSED, Some(2_000));
        let failed = drive.observer.0.failed;
        drive.serve(&mut std::iter::empty(), CLOSED, None);
        assert_eq!(drive.outstanding(), 0, "what was asked is answered");
        drive.serve(&mut load, CLOSED, Some(500));
        drive.serve(&mut std::iter::empty(), CLOSED, None);
        assert!(drive.observer.0.failed >= failed + 500, "writes are refused for good");
        let failed = drive.observer.0.failed;
        let mut reads = (0..span).map(|unit| bench::request(HostOp::Read, unit, 1, SECTORS));
        assert_eq!(drive.serve(&mut reads, CLOSED, None), span);
        assert_eq!(drive.observer.0.failed, failed, "every unit is still readable");
        println!("{}, endurance 25, erase failures {erase_fail}: worn out after {before} writes, {failed} refused", retirement.name());
        let measured = drive.observer.1.clone().finish(drive.now(), 0);
        assert_eq!(measured.violations, []);
        assert!(measured.worn_out.is_some());
    }
}
