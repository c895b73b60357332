//! Are rewrites that wait for the host's hints counted, kept and started as they should?
//!
//! Does not check: how long reads take then. Drives with cells do.

use wordline_drive::{Config, Pace, Watched};
use wordline_engine::{Event, Observer};
use wordline_ftl::techniques::{Choice, latency_hints, read_disturb_refresh};
use wordline_proving::bench;
use wordline_proving::cut::{self, Extent, Tally, failing_trial, spacious, trial_on};
use wordline_proving::effort;
use wordline_proving::harness::Harness;
use wordline_proving::shape;
use wordline_proving::swarm::{hinted, scenario};
use wordline_units::random::{Draw, Stream};
use wordline_units::{Attributes, Cause, FlashOp, HostOp, HostRequest, Nanos, Tolerance};

/// Counts of runs: comparisons of classes, hints, parked rewrites after a run, restored cores, rewrites begun before they were due and later.
type Seen = [u64; 6];

fn run(seed: u64) -> Seen {
    let mut harness = Harness::new(hinted(scenario(seed)).expect("it keeps no data"));
    let (mut parked, mut restored) = (0, 0);
    harness.look_closely();
    harness.fill();
    for _ in 0..2 {
        harness.run(150);
        parked += harness.hinted()[2];
        restored += u64::from(harness.go_through_image());
        harness.idle(1_000);
    }
    let [compared, hints, _] = harness.hinted();
    let [early, late] = harness.begun().map(u64::from);
    [compared, hints, parked, restored, early, late]
}

#[test]
fn are_classes_exact_and_does_what_is_due_start_whatever_happens_to_data() {
    let (mut seen, mut with_parked, mut broken) = (Seen::default(), 0, Vec::new());
    for seed in 70_000..70_000 + 100 * effort() {
        match std::panic::catch_unwind(|| run(seed)) {
            Ok(told) => {
                with_parked += u32::from(told[2] > 0);
                seen.iter_mut().zip(told).for_each(|(sum, told)| *sum += told);
            }
            // The message is on the terminal already.
            Err(_) => broken.push(seed),
        }
    }
    println!("comparisons, hints, parked, restored cores, begun early and late: {seen:?}; drives with parked rewrites: {with_parked}");
    assert!(broken.is_empty(), "{} seeds are broken: {broken:?}", broken.len());
    assert!(seen.iter().all(|&seen| seen > 50) && with_parked > 30, "{seen:?} {with_parked}");
}

#[test]
fn does_a_cut_forget_hints_and_does_the_trigger_come_again() {
    let (mut tally, mut broken) = (Tally::default(), Vec::new());
    for scenario in (71_000..71_000 + 120 * effort()).filter_map(|seed| hinted(cut::scenario(seed))) {
        let seed = scenario.seed;
        match trial_on(scenario, None, 200, None) {
            Ok(told) => tally.add(&told),
            Err(problem) => broken.push((seed, problem)),
        }
    }
    println!("{} cuts; parked at cuts, begun after a first cut, comparisons: {:?}", tally.cuts, tally.hinted);
    assert!(broken.is_empty(), "{} seeds are broken: {broken:?}", broken.len());
    assert!(tally.cuts > 100 && tally.hinted.iter().all(|&seen| seen > 50), "{tally:?}");
}

#[test]
fn are_classes_exact_where_blocks_and_dies_fail() {
    let (mut tally, mut broken, extents) = (Tally::default(), Vec::new(), [Extent::Block, Extent::Die]);
    for scenario in (72_000..72_000 + 40 * effort()).filter_map(|seed| hinted(spacious(seed))) {
        let seed = scenario.seed;
        match failing_trial(scenario, 150, (&extents, 1), None) {
            Ok(told) => tally.add(&told),
            Err(problem) => broken.push((seed, problem)),
        }
    }
    println!("{} cuts; parked at cuts, begun after a first cut, comparisons: {:?}", tally.cuts, tally.hinted);
    assert!(broken.is_empty(), "{} seeds are broken: {broken:?}", broken.len());
    assert!(tally.hinted.iter().all(|&seen| seen > 20), "{tally:?}");
}

/// Sectors of a unit of 16 KiB.
pub(crate) const SECTORS: u32 = 32;

pub(crate) const HINTS: latency_hints::Params = latency_hints::Params {
    shortest: Nanos(200_000),
    typical: Nanos(400_000),
    longer: Nanos(2_000_000),
    on_wait: latency_hints::OnWait::Postpone,
};

pub(crate) fn config(seed: u64, techniques: &[Choice]) -> Config {
    let mut config = bench::drive(shape::sheet(64, 32), 2, 2, 4 * 64 * 32 * 4 / 5);
    config.firmware.techniques = techniques.to_vec();
    config.seed = seed;
    config
}

/// Reads, and a share of writes and trims, everywhere. A share of all reads is of few units.
pub(crate) fn mixed(seed: u64, span: u64, writes: f64) -> impl Iterator<Item = HostRequest> + Clone {
    let mut draw = Draw::new(seed, Stream::Mix, 0);
    std::iter::from_fn(move || {
        let kind = draw.unit();
        let op = if kind < writes {
            HostOp::Write
        } else if kind < 1.1 * writes {
            HostOp::Trim
        } else {
            HostOp::Read
        };
        let span = if op == HostOp::Read && draw.happens(0.5) { span / 20 } else { span };
        Some(bench::request(op, draw.below(span), 1, SECTORS))
    })
}

pub(crate) fn hint(first: u64, units: u64, tolerance: Tolerance) -> HostRequest {
    let attributes = Attributes::NONE.with_tolerance(tolerance);
    HostRequest { attributes, ..bench::request(HostOp::Hint, first, units as u32, SECTORS) }
}

/// Each flash operation in its order, with the instant of its end, as a hash, and how many there were for read disturb.
#[derive(Debug, Default, PartialEq, Eq, Clone)]
struct Flash {
    hash: u64,
    operations: u64,
    disturb: u64,
}

impl Observer for Flash {
    fn observe(&mut self, at: Nanos, event: &Event) {
        if let Event::Flash(flash) = event {
            self.operations += 1;
            self.disturb += u64::from(flash.cause == Cause::Disturb && flash.op == FlashOp::Erase);
            let mut add = |word: u64| self.hash = (self.hash.rotate_left(5) ^ word).wrapping_mul(0x517C_C1B7_2722_0A95);
            format!("{at:?} {flash:?}").bytes().for_each(|byte| add(byte.into()));
        }
    }
}

/// Work of a drive with these techniques under this load: the hash of its log, and its flash operations.
fn done(config: Config, load: impl Iterator<Item = HostRequest>) -> (u64, Flash) {
    let span = config.exported_units;
    let mut drive = Watched::new(config, Flash::default());
    drive.construct_filled(span);
    drive.serve(&mut load.into_iter(), Pace::Closed { depth: 16 }, None);
    drive.settle();
    drive.audit().unwrap_or_else(|problem| panic!("{problem}"));
    (drive.log().hash(), drive.observer.clone())
}

/// A limit of reads, with the guard without which nothing is left to wait.
pub(crate) fn guarded(reads_max: u32) -> read_disturb_refresh::Params {
    read_disturb_refresh::Params { guard: true, ..read_disturb_refresh::Params::by_reads(reads_max) }
}

pub(crate) fn refresh(params: read_disturb_refresh::Params) -> Choice {
    Choice::ReadDisturbRefresh(params)
}

#[test]
fn does_a_run_without_hints_do_what_a_drive_without_the_technique_does() {
    let by_reads = read_disturb_refresh::Params::by_reads;
    let mut rewrites = 0;
    for (seed, writes) in (1..=4).flat_map(|seed| [0.0, 0.3].map(|writes| (seed, writes))) {
        for params in [by_reads(60), read_disturb_refresh::Params { guard: true, ..by_reads(200) }] {
            let [alone, beside] = [&[refresh(params)][..], &[refresh(params), Choice::LatencyHints(HINTS)]].map(|techniques| {
                let config = config(seed, techniques);
                let span = config.exported_units;
                done(config, mixed(seed, span, writes).take(12_000))
            });
            assert_eq!(alone, beside, "seed {seed}, {writes} writes, {params:?}");
            rewrites += alone.1.disturb;
        }
    }
    println!("{rewrites} erases for read disturb in all, each at the same instant");
    assert!(rewrites > 500, "{rewrites}");
}

#[test]
fn do_hints_change_no_flash_operation_of_a_drive_without_the_technique() {
    for (seed, postpones) in [(1, false), (2, false), (3, false), (1, true)] {
        let techniques = [refresh(guarded(60)), Choice::LatencyHints(HINTS)];
        let [plain, hinted] = [false, true].map(|hints| {
            let config = config(seed, &techniques[..1 + usize::from(postpones)]);
            let span = config.exported_units;
            let first = hints.then(|| hint(0, span, Tolerance::Longer));
            done(config, first.into_iter().chain(mixed(seed, span, 0.2).take(12_000)))
        });
        // A hint is a request like any other for the one who counts requests.
        println!("seed {seed}: {:?} and {:?}", plain.1, hinted.1);
        assert_eq!(plain.1.hash == hinted.1.hash, !postpones, "seed {seed}");
    }
}

#[test]
fn do_parked_rewrites_and_hints_come_back_from_the_image_of_a_drive_at_either_clock() {
    let techniques = [refresh(guarded(60)), Choice::LatencyHints(HINTS)];
    let config = config(5, &techniques);
    let span = config.exported_units;
    let mut drive = Watched::new(config.clone(), ());
    drive.construct_filled(span);
    let mut load = std::iter::once(hint(0, span, Tolerance::Longer)).chain(mixed(5, span, 0.1).take(12_000));
    drive.serve(&mut load, Pace::Closed { depth: 16 }, None);
    drive.settle();
    let parked = |drive: &Watched<()>| drive.firmware()[0].rewrites().iter().map(|(_, counts)| counts.parked).sum::<u64>();
    let (image, now, waiting) = (drive.image().expect("it is at rest"), drive.now(), parked(&drive));
    let anew = Watched::from_image(config.clone(), image.clone(), ()).unwrap_or_else(|problem| panic!("{problem}"));
    let onward = Watched::from_image_at(config, image.clone(), now, ()).unwrap_or_else(|problem| panic!("{problem}"));
    for mut back in [anew, onward] {
        assert_eq!((parked(&back), back.image() == Ok(image.clone())), (waiting, true));
        // One unit that tolerates nothing has its group looked at again.
        back.serve(&mut std::iter::once(hint(0, span, Tolerance::Default)), Pace::Closed { depth: 1 }, None);
        back.settle();
        assert_eq!(parked(&back), 0);
        back.audit().unwrap_or_else(|problem| panic!("{problem}"));
    }
    println!("{waiting} rewrites were parked");
    assert!(waiting > 10, "{waiting}");
}
