//! Steady writes on a drive of which thousands of rewrites are parked, or none: `parked on|off WRITES`. Its function `steady` is what is to be counted, by
//! `valgrind --tool=callgrind --toggle-collect='*steady*'`.

use wordline_drive::{Pace, Watched};
use wordline_ftl::techniques::{Choice, latency_hints, read_disturb_refresh};
use wordline_proving::{bench, shape};
use wordline_units::random::{Draw, Stream};
use wordline_units::{Attributes, HostOp, HostRequest, Nanos, Tolerance};

/// Block groups of a die, and pages of each.
const BLOCKS: u32 = 3_000;
const PAGES: u32 = 8;
const SECTORS: u32 = 32;
const DIES: u64 = 4;

#[inline(never)]
fn steady(drive: &mut Watched<()>, (first, span): (u64, u64), writes: u64) {
    let mut draw = Draw::new(7, Stream::Address, 0);
    let mut load = (0..writes).map(|_| bench::request(HostOp::Write, first + draw.below(span), 1, SECTORS));
    drive.serve(&mut load, Pace::Closed { depth: 16 }, None);
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let parks = args.first().is_some_and(|word| word == "on");
    let writes = args.get(1).and_then(|count| count.parse().ok()).unwrap_or(200_000);
    let units = DIES * u64::from(BLOCKS * PAGES);
    let mut config = bench::drive(shape::sheet(BLOCKS, PAGES), 2, 2, units * 15 / 16);
    config.firmware.techniques = vec![
        Choice::ReadDisturbRefresh(read_disturb_refresh::Params { guard: true, ..read_disturb_refresh::Params::by_reads(4) }),
        Choice::LatencyHints(latency_hints::Params {
            shortest: Nanos::from_micros(200),
            typical: Nanos::from_micros(400),
            longer: Nanos::from_millis(2),
            on_wait: latency_hints::OnWait::Postpone,
        }),
    ];
    let span = config.exported_units;
    let cold = span * 9 / 10;
    let mut drive = Watched::new(config, ());
    drive.construct_filled(span);
    let hint = bench::request(HostOp::Hint, 0, span as u32, SECTORS);
    let hint = HostRequest { attributes: Attributes::NONE.with_tolerance(Tolerance::Longer), ..hint };
    let reads = (0..if parks { cold } else { 0 }).map(|unit| bench::request(HostOp::Read, unit, 1, SECTORS));
    drive.serve(&mut std::iter::once(hint).chain(reads), Pace::Closed { depth: 16 }, None);
    drive.settle();
    let parked = |drive: &Watched<()>| drive.firmware()[0].rewrites().iter().map(|(_, counts)| counts.parked).sum::<u64>();
    let before = parked(&drive);
    steady(&mut drive, (cold, span - cold), writes);
    println!("{before} rewrites were parked before {writes} writes, {} after them", parked(&drive));
}
