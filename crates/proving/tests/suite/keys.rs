//! Has a drive that the plan accepts always room for its log of keys, and a log that stays as long as the plan counts it?
//!
//! Does not check: flash that fails, which leaves ends of groups behind; the power cuts have that.

use std::collections::BTreeSet;

use wordline_drive::{Config, Pace, Watched};
use wordline_engine::{Event, Observer};
use wordline_plan::Plan;
use wordline_proving::bench::overwrites;
use wordline_units::{Cause, FlashOp, Nanos};

/// A whole drive in little, with `capacity` for the host: either many small block groups, one tree each, or few of the whole size.
#[derive(Clone, Copy, Debug)]
enum Shape {
    Many,
    Large,
}

fn plan(shape: Shape, leaves: u32, is_lazy: bool, capacity: &str) -> Result<Plan, wordline_plan::PlanError> {
    let keys: &[&str] = match shape {
        Shape::Many => &["geometry.layers=16", "geometry.wordlines_per_layer=1", "geometry.blocks=40"],
        Shape::Large => &["flash.channels=1", "flash.dies_per_channel=2", "geometry.blocks=24"],
    };
    let own = [
        format!("techniques.crypto-erase.leaves={leaves}"),
        format!("gc.lazy_erase={is_lazy}"),
        format!("mapping.capacity={capacity}"),
        "cells.physics=false".to_owned(),
        "buffer.size=1 MiB".to_owned(),
    ];
    Plan::load_set("cryptossd", &own.iter().map(String::as_str).chain(keys.iter().copied()).collect::<Vec<_>>())
}

/// The block groups that hold keys.
#[derive(Debug, Default)]
struct Log {
    held: BTreeSet<(u16, u32)>,
    longest: usize,
    erased: u64,
    is_worn_out: bool,
    failed: u64,
}

impl Observer for Log {
    fn observe(&mut self, _: Nanos, event: &Event) {
        match event {
            Event::Flash(flash) if flash.cause == Cause::Keys => {
                let place = (flash.die.0, flash.block.0);
                match flash.op {
                    FlashOp::Program => _ = self.held.insert(place),
                    FlashOp::Erase => {
                        assert!(self.held.remove(&place), "only what held keys is erased for them");
                        self.erased += 1;
                    }
                    FlashOp::Read | FlashOp::Copyback | FlashOp::LockPage | FlashOp::LockBlock | FlashOp::Scrub | FlashOp::Reprogram => {
                        panic!("{flash:?}")
                    }
                }
                self.longest = self.longest.max(self.held.len());
            }
            Event::Completed(done) => self.failed += u64::from(!done.ok),
            Event::WornOut => self.is_worn_out = true,
            Event::Arrived { .. }
            | Event::Flash(_)
            | Event::Invalidated { .. }
            | Event::Stopped { .. }
            | Event::Retired { .. }
            | Event::Exposed { .. }
            | Event::ProgrammedAgain { .. }
            | Event::Harmed { .. }
            | Event::DataLost { .. }
            | Event::DieSuspected { .. }
            | Event::DieFailed { .. }
            | Event::UnitsLost { .. }
            | Event::UnitsHealed { .. } => {}
        }
    }
}

fn run(config: Config, seed: u64, count: u64) -> Log {
    let (span, sectors) = (config.exported_units, (config.firmware.unit.0 / 512) as u32);
    let mut drive = Watched::new(config, Log::default());
    drive.construct_filled(span);
    drive.serve(&mut overwrites(seed, span, sectors), Pace::Closed { depth: 64 }, Some(count));
    drive.settle();
    drive.observer
}

#[test]
fn does_no_drive_that_the_plan_accepts_run_out_of_room_for_keys() {
    let leaves = (6..=10).map(|power| 1u32 << power);
    let cases = leaves.flat_map(|leaves| [(Shape::Many, leaves, true), (Shape::Many, leaves, false), (Shape::Large, leaves, leaves < 512)]);
    for ((shape, leaves, is_lazy), seed) in cases.zip(seeds()) {
        let most = most_capacity(shape, leaves, is_lazy);
        let config = plan(shape, leaves, is_lazy, &most).expect("the most there can be").with_seed(seed).build();
        let counted = wordline_ftl::key_groups(&config.firmware);
        let log = run(config, seed, if matches!(shape, Shape::Many) { 10_000 } else { 40_000 });
        println!(
            "{shape:?}, leaves {leaves}, seed {seed}, {most}, lazy {is_lazy}: {} groups at most, {counted} counted, {} erased",
            log.longest, log.erased
        );
        assert!(!log.is_worn_out && log.failed == 0, "given up on good flash, {} requests failed", log.failed);
        assert!(log.erased > 1, "the log came round too seldom to tell");
        // What waits for its erase until a block is needed is room as any other.
        assert!(is_lazy || log.longest <= counted as usize);
    }
}

/// Other ones each time would be another test each time: these are as good as any.
fn seeds() -> impl Iterator<Item = u64> {
    (1..).map(|number: u64| number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32)
}

/// What the plan says that the drive can show at most, as the plan writes it.
fn most_capacity(shape: Shape, leaves: u32, is_lazy: bool) -> String {
    let refused = plan(shape, leaves, is_lazy, "100 GiB").expect_err("there is less").to_string();
    let told = refused.split_once("the most this drive can show is ").expect(&refused).1;
    assert!(refused.contains("hold the log of keys"), "{refused}");
    told.split_once(',').expect(told).0.to_owned()
}
