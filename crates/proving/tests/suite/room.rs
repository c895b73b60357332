//! Does a drive take writes for as long as a move fits, however many groups are open for data of different quotas?
//!
//! Drives are as full as their plans accept, and fuller: with no more spare than the drives of the swarm. Does not check: how fast they are.

use wordline_drive::{Config, Pace, Watched};
use wordline_plan::Plan;
use wordline_proving::bench::{Tally, request};
use wordline_proving::effort;
use wordline_units::random::{Draw, Stream};
use wordline_units::{FlashOp, HostOp};

/// Drive writes of a trial.
const CAPACITIES: u64 = 4;

/// The drive of rcFTL with few blocks of several classes, and as little spare as its plan accepts.
fn fullest(moved_blocks: u32, scheduler: &str) -> Config {
    let moved_blocks = format!("techniques.restricted-copyback.moved_blocks={moved_blocks}");
    let scheduler = format!("gc.scheduler={scheduler}");
    let few = [
        "geometry.blocks=64",
        "flash.channels=1",
        "flash.dies_per_channel=2",
        "buffer.size=1 MiB",
        "gc.floor=1",
        "gc.start=2",
        &moved_blocks,
        &scheduler,
    ];
    let with = |tenths: u32| {
        let spare = format!("mapping.over_provisioning={}.{} %", tenths / 10, tenths % 10);
        Plan::load_set("rcftl-minus", &[&few[..], &[&spare]].concat())
    };
    (1..1_000).find_map(|tenths| with(tenths).ok()).expect("some spare is enough").build()
}

/// The same with one group of each die beyond those that are open or kept free.
fn fuller(mut config: Config) -> Config {
    let firmware = &mut config.firmware;
    let data = firmware.sheet.geometry.blocks - firmware.spare_blocks - (firmware.gc.start + 1) - firmware.open_for_moved() - 1;
    let exported = firmware.dies * data * wordline_ftl::data_units(firmware);
    assert!(exported > firmware.exported_units, "the plan accepts {}", firmware.exported_units);
    firmware.exported_units = exported;
    config.exported_units = exported.into();
    config
}

/// Random writes over all of the drive, which must end.
fn write_through(mut config: Config, seed: u64, told: &str) {
    config.seed = seed;
    let (span, sectors) = (config.exported_units, (config.firmware.unit.0 / 512) as u32);
    let mut drive = Watched::new(config, Tally::default());
    drive.construct_filled(span);
    let mut draw = Draw::new(seed, Stream::Address, 0);
    let mut load = (0..CAPACITIES * span).map(|_| request(HostOp::Write, draw.below(span), 1, sectors));
    let served = drive.serve(&mut load, Pace::Closed { depth: 64 }, None);
    let done = &drive.observer;
    println!("{told}: {span} units, WAF {:.2}, {} copies", done.waf(), done.operations(FlashOp::Copyback));
    assert_eq!((served, done.failed, done.worn_out), (CAPACITIES * span, 0, false), "{told}");
    assert!(done.operations(FlashOp::Copyback) > 1_000, "{told}: next to nothing is copied");
    drive.settle();
    drive.audit().unwrap_or_else(|problem| panic!("{told}: {problem}"));
}

#[test]
fn the_fullest_drives_take_writes_for_as_long_as_they_come() {
    for (moved_blocks, scheduler) in [(1, "classic"), (16, "classic"), (1, "paced"), (16, "paced")] {
        let full = fullest(moved_blocks, scheduler);
        for seed in 1..=effort() {
            let told = format!("{moved_blocks} groups open, {scheduler}, seed {seed}");
            write_through(full.clone(), seed, &told);
            write_through(fuller(full.clone()), seed, &format!("{told}, fuller"));
        }
    }
}
