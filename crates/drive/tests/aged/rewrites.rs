//! Do rewrites come under saturation, whatever the settings of GC and of the scheduler? A rewrite frees as much room as it takes, so nothing but a full die may
//! keep it waiting.

use wordline_drive::{Pace, RewriteCounts, Watched};
use wordline_units::random::{Draw, Stream};
use wordline_units::{Cause, HostOp, HostRequest, Nanos};

use crate::lives::drive;

const SHAPE: [&str; 8] = [
    "cells.physics=false",
    "geometry.layers=4",
    "geometry.wordlines_per_layer=2",
    "free_block.key=erases",
    "free_block.gap=3",
    "techniques.read-disturb-refresh.on=true",
    "techniques.read-disturb-refresh.reads_max=400",
    "schedule.linger=none",
];

/// Reads of a few hot units, and writes of a small part of the rest: one of two requests each, or one of ten.
fn load(drive: &Watched, writes_in_ten: u64) -> impl Iterator<Item = HostRequest> + use<> {
    let (units, sectors) = (drive.config().exported_units, drive.config().firmware.unit.0 / 512);
    let mut draw = Draw::new(7, Stream::Address, 0);
    std::iter::from_fn(move || {
        let (op, unit) = match draw.below(10) < writes_in_ten {
            true => (HostOp::Write, units / 2 + draw.below(units / 10)),
            false => (HostOp::Read, draw.below(units / 10)),
        };
        Some(HostRequest::new(op, unit * sectors, sectors as u32))
    })
}

/// Rewrites of a drive with these settings, after a load that keeps its die busy.
fn rewrites(settings: &[String], writes_in_ten: u64) -> [Option<RewriteCounts>; 2] {
    let settings: Vec<&str> = SHAPE.iter().copied().chain(settings.iter().map(String::as_str)).collect();
    let mut drive = drive(&settings);
    let mut load = load(&drive, writes_in_ten);
    drive.serve(&mut load, Pace::Closed { depth: 64 }, Some(12_000));
    [Cause::Wear, Cause::Disturb].map(|of| drive.rewrites().into_iter().find(|(cause, _)| *cause == of).map(|(_, counts)| counts))
}

/// Longest waits that the loads leave: a group of this drive is emptied in 30 ms alone, and in twice that beside reads. Wear waits for reads that go first.
const LONGEST: [Nanos; 2] = [Nanos(600_000_000), Nanos(200_000_000)];

#[test]
fn rewrites_come_under_saturation_with_every_setting_of_gc_and_of_the_scheduler() {
    for floor in [1, 2, 4] {
        for (start, scheduler) in [(1, "classic"), (4, "classic"), (1, "paced"), (4, "paced")] {
            for (preemptible, reads_first) in [(false, false), (false, true), (true, false), (true, true)] {
                // A paced drive takes turns anyway, and a plan with both is refused.
                if preemptible && scheduler == "paced" {
                    continue;
                }
                let settings = [
                    format!("gc.floor={floor}"),
                    format!("gc.start={}", floor + start),
                    format!("gc.scheduler={scheduler}"),
                    format!("gc.preemptible={preemptible}"),
                    format!("schedule.reads_first={reads_first}"),
                ];
                for writes_in_ten in [5, 1, 0] {
                    let counts = rewrites(&settings, writes_in_ten);
                    for (counts, longest) in counts.into_iter().zip(LONGEST) {
                        let counts = counts.unwrap_or_else(|| panic!("{settings:?}: nothing was asked for"));
                        let is_done = counts.asked >= 4 && counts.begun + counts.needless + 2 >= counts.asked;
                        assert!(is_done && counts.longest_wait < longest, "{settings:?}, {writes_in_ten} writes in ten: {counts:?}");
                    }
                }
            }
        }
    }
}
