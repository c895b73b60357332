//! The data structures by themselves: the calendar against a binary heap, and drives of full size.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hint::black_box;

use wordline_drive::Watched;
use wordline_engine::Calendar;
use wordline_plan::Plan;
use wordline_units::host::SECTOR_BYTES;
use wordline_units::random::{Draw, Stream};
use wordline_units::{HostOp, HostRequest, Nanos};

use crate::seconds;

/// Nanoseconds for one event to leave and another to enter, with `pending` in the calendar: ours, and a binary heap's.
pub fn calendar(pending: u64) -> (f64, f64) {
    const TURNS: u64 = 4_000_000;
    let mut draw = Draw::new(1, Stream::Arrival, 0);
    let delays: Vec<u64> = (0..4096).map(|_| 3_000 + draw.below(700_000)).collect();
    let mut wheel = Calendar::default();
    let mut heap = BinaryHeap::new();
    for number in 0..pending {
        wheel.enter(Nanos(delays[number as usize % delays.len()]), number as u32);
        heap.push(Reverse((delays[number as usize % delays.len()], number, number as u32)));
    }
    let ours = seconds(|| {
        for turn in 0..TURNS {
            let (at, event) = wheel.pop().expect("never empty");
            wheel.enter(Nanos(at.0 + delays[turn as usize % delays.len()]), black_box(event));
        }
    });
    let theirs = seconds(|| {
        for turn in 0..TURNS {
            let Reverse((at, _, event)) = heap.pop().expect("never empty");
            heap.push(Reverse((at + delays[turn as usize % delays.len()], pending + turn, black_box(event))));
        }
    });
    (ours * 1e9 / TURNS as f64, theirs * 1e9 / TURNS as f64)
}

/// Seconds to start a filled drive, and bytes it holds then: its tables, and the whole process.
pub fn start(preset: &str) -> (f64, usize, u64) {
    let config = Plan::load(preset).expect("a preset").build();
    let units = config.exported_units;
    let mut drive = None;
    let before = resident();
    let seconds = seconds(|| {
        let mut filled = Watched::new(config, ());
        filled.construct_filled(units);
        drive = Some(filled);
    });
    let drive = drive.expect("just made");
    (seconds, drive.memory_bytes(), resident().saturating_sub(before))
}

/// Write every flash page of a drive once, whole pages in a scattered order, by the firmware itself without timing. Returns seconds, pages, and
/// bytes of its tables.
pub fn fill_page_by_page(preset: &str) -> (f64, u64, usize) {
    let config = Plan::load(preset).expect("a preset").build();
    let units_per_page = config.sheet.geometry.page.0 / config.firmware.unit.0;
    let pages = config.exported_units / units_per_page;
    let sectors = (config.sheet.geometry.page.0 / SECTOR_BYTES) as u32;
    let mut drive = Watched::new(config, ());
    // An odd step visits every residue of a power of two once; what lies beyond the drive is skipped.
    let (mask, mut at) = (pages.next_power_of_two() - 1, 0u64);
    let mut load = std::iter::from_fn(|| {
        loop {
            at = at.wrapping_add(0x9E37_79B9_7F4A_7C15 | 1) & mask;
            if at < pages {
                return Some(HostRequest::new(HostOp::Write, at * u64::from(sectors), sectors));
            }
        }
    });
    let seconds = seconds(|| {
        drive.age(&mut load, pages);
    });
    (seconds, pages, drive.memory_bytes())
}

/// Bytes of memory the process holds now.
pub fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|rest| rest.trim().trim_end_matches("kB").trim().parse::<u64>().ok()).unwrap_or(0) * 1024
}
