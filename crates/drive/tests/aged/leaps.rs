//! Does a drive that leaps over most of its life come to where one comes that lives it all?

use std::sync::{Arc, Mutex};

use wordline_cells::{Condition, Model};
use wordline_drive::{Bound, Rest, Watched};
use wordline_ftl::techniques::hooks::Hooks;
use wordline_ftl::techniques::seam::{Card, Leap, Persists, Technique};
use wordline_units::random::{Draw, Stream};
use wordline_units::{BlockId, Celsius, DieId, HostOp, HostRequest, Nanos, PlaneId};

use crate::lives::drive;

/// Overwrites of single units at random, without end.
fn at_random(drive: &Watched, seed: u64) -> impl Iterator<Item = HostRequest> + use<> {
    let (units, sectors) = (drive.config().exported_units, drive.config().firmware.unit.0 / 512);
    let mut draw = Draw::new(seed, Stream::Mix, 3);
    std::iter::repeat_with(move || HostRequest::new(HostOp::Write, draw.below(units) * sectors, sectors as u32))
}

/// One drive write in slices, with a rest after each, so that blocks rest as they would.
fn drive_write(drive: &mut Watched, load: &mut impl Iterator<Item = HostRequest>, rest: Nanos) {
    const SLICES: u64 = 8;
    for _ in 0..SLICES {
        drive.age(load, drive.config().exported_units / SLICES);
        drive.run_until(drive.now() + rest);
    }
}

/// Erase count and stress of the erases of each block.
fn worn(drive: &Watched) -> Vec<(f64, f64)> {
    let stress = |block: u32| drive.inspect(DieId(0), PlaneId(0), BlockId(block)).expect("the cells have physics").history().erase;
    drive.blocks().zip(0..).map(|(view, block)| (view.erases.into(), stress(block).into())).collect()
}

/// Means over all blocks of the erase count, the stress, and of the stress of one erase.
fn means(drive: &Watched) -> [f64; 3] {
    let worn = worn(drive);
    let [erases, stress] = [worn.iter().map(|of| of.0).sum::<f64>(), worn.iter().map(|of| of.1).sum()];
    [erases / worn.len() as f64, stress / worn.len() as f64, stress / erases]
}

const MINUTE: Nanos = Nanos::from_millis(60_000);
const WRITES: u32 = 120;

/// A drive in the steady state of its load: what was filled in order is cheap to collect at first.
fn begun() -> (Watched, impl Iterator<Item = HostRequest>) {
    let mut drive = drive(&[]);
    let mut load = at_random(&drive, 5);
    (0..4).for_each(|_| drive_write(&mut drive, &mut load, MINUTE));
    (drive, load)
}

fn lived() -> Watched {
    let (mut drive, mut load) = begun();
    (0..WRITES).for_each(|_| drive_write(&mut drive, &mut load, MINUTE));
    drive
}

/// A drive of which each epoch of `writes` drive writes stands for `each`.
fn leapt(writes: u32, each: u32, rest: Rest) -> Watched {
    let (mut drive, mut load) = begun();
    for _ in 0..WRITES / each {
        drive.begin_epoch();
        (0..writes).for_each(|_| drive_write(&mut drive, &mut load, MINUTE));
        let leapt = drive.leap(each / writes - 1, rest);
        assert_eq!((leapt.times, leapt.bound), (each / writes - 1, Bound::Asked));
    }
    drive
}

fn far_apart(one: [f64; 3], other: [f64; 3]) -> f64 {
    one.iter().zip(other).map(|(one, other)| (one / other - 1.0).abs()).fold(0.0, f64::max)
}

#[test]
fn a_life_in_leaps_wears_a_drive_as_the_whole_life_does() {
    let whole = lived();
    for (writes, each) in [(1, 4), (2, 12), (2, 20)] {
        let short = leapt(writes, each, Rest::Measured);
        let off = far_apart(means(&whole), means(&short));
        println!("each {writes} of {each}: {:?} instead of {:?}, off by {off:.4}", means(&short), means(&whole));
        assert!(off < 0.02);
        assert_eq!(short.audit(), Ok(()), "dies and firmware count alike");
        assert!(short.now() >= whole.now(), "the clock has gone the whole way");
    }
    // What the band catches: a leap that forgets how long blocks rest.
    let restless = leapt(2, 12, Rest::Spread { years: 1e-9 });
    assert!(far_apart(means(&whole), means(&restless)) > 0.05, "{:?}", means(&restless));
}

#[test]
fn a_leap_of_nothing_changes_nothing() {
    let run = |leaps: bool| {
        let mut drive = drive(&[]);
        let mut load = at_random(&drive, 7);
        for _ in 0..3 {
            if leaps {
                drive.begin_epoch();
            }
            drive_write(&mut drive, &mut load, MINUTE);
            if leaps {
                let leapt = drive.leap(0, Rest::Measured);
                assert_eq!((leapt.times, leapt.took), (0, Nanos::ZERO));
            }
        }
        drive.image().expect("it is quiet").to_bytes(1)
    };
    assert!(run(true) == run(false));
}

#[test]
fn a_long_leap_brings_blocks_to_one_level_where_static_wear_levelling_would_and_no_erase_is_lost() {
    let spread_after = |settings: &[&str], times: u32, load: &mut dyn FnMut(&Watched) -> Box<dyn Iterator<Item = HostRequest>>| {
        let mut drive = drive(settings);
        let mut load = load(&drive);
        drive.begin_epoch();
        (0..3).for_each(|_| drive_write(&mut drive, &mut load, MINUTE));
        let erases = |drive: &Watched| drive.blocks().map(|block| block.erases).collect::<Vec<u32>>();
        let before = erases(&drive);
        assert_eq!(drive.leap(times, Rest::Measured).bound, Bound::Asked);
        let after = erases(&drive);
        let all = before.iter().sum::<u32>() * (times + 1);
        let (most, least) = (after.iter().max().unwrap(), after.iter().min().unwrap());
        (most - least, f64::from(after.iter().sum::<u32>()) / f64::from(all), before.iter().filter(|&&erases| erases == 0).count())
    };
    let mut uniform = |drive: &Watched| -> Box<dyn Iterator<Item = HostRequest>> { Box::new(at_random(drive, 9)) };
    let (drifted, _, _) = spread_after(&[], 1_000, &mut uniform);
    let (level, kept, cold) = spread_after(&["free_block.gap=40"], 1_000, &mut uniform);
    assert!(cold == 0 && drifted > 1_000 && level <= 8 && (kept - 1.0).abs() < 0.002, "{cold} cold: {drifted}, {level}, {kept}");
    // Levelling has no time to act.
    assert_eq!(spread_after(&["free_block.gap=40"], 3, &mut uniform), spread_after(&[], 3, &mut uniform));
    // Most blocks hold data that nobody overwrites. They follow the others all the same.
    let mut hot = |drive: &Watched| -> Box<dyn Iterator<Item = HostRequest>> {
        let hot = drive.config().exported_units / 8 * drive.config().firmware.unit.0 / 512;
        Box::new(at_random(drive, 9).map(move |request| HostRequest { sector: request.sector % hot, ..request }))
    };
    let (drifted, _, cold) = spread_after(&[], 1_000, &mut hot);
    let (level, kept, _) = spread_after(&["free_block.gap=40"], 1_000, &mut hot);
    assert!(
        cold > 10 && drifted > 1_000 && (20..60).contains(&level) && (kept - 1.0).abs() < 0.02,
        "{cold} cold: {drifted}, {level}, {kept}"
    );
}

#[test]
fn a_leap_ends_at_the_first_block_that_comes_to_the_end_of_its_erases() {
    let mut drive = drive(&["faults.endurance=50"]);
    let mut load = at_random(&drive, 9);
    drive.begin_epoch();
    (0..2).for_each(|_| drive_write(&mut drive, &mut load, MINUTE));
    let leapt = drive.leap(1_000, Rest::Measured);
    assert_eq!(leapt.bound, Bound::Retirement);
    let most = drive.blocks().map(|block| block.erases).max().expect("it has blocks");
    assert!((40..=50).contains(&most), "{most} erases of 50");
    assert_eq!(drive.health().grown_bad, 0);
    let mut writes = 0..400;
    while drive.health().grown_bad == 0 && writes.next().is_some() {
        drive.age(&mut load, 500);
        drive.settle();
    }
    assert!(drive.health().grown_bad > 0, "and then blocks fail one by one");
}

/// A technique that counts cycles.
#[derive(Debug)]
struct Counter(Arc<Mutex<Vec<(u32, u32)>>>);

impl Technique for Counter {
    fn card(&self) -> &'static Card {
        static CARD: Card = Card {
            name: "counter-of-leaps",
            source: "a test",
            claim: "is told of leaps",
            hooks: Hooks::of(&[]),
            asks: &[],
            persists: Persists::Nothing("a test"),
            limits: "a test",
        };
        &CARD
    }

    fn leap(&mut self, leap: &Leap<'_>) {
        self.0.lock().expect("nobody panics").push((leap.times, leap.cycles.iter().sum()));
    }
}

#[test]
fn techniques_are_told_of_the_cycles_that_are_skipped() {
    let told = Arc::new(Mutex::new(Vec::new()));
    let mut drive = drive(&[]);
    drive.join(|| Box::new(Counter(Arc::clone(&told))));
    let mut load = at_random(&drive, 9);
    drive.begin_epoch();
    drive_write(&mut drive, &mut load, MINUTE);
    let erases: u32 = drive.blocks().map(|block| block.erases).sum();
    drive.leap(7, Rest::Spread { years: 0.25 });
    assert_eq!(*told.lock().expect("nobody panics"), [(7, 7 * erases)]);
    assert_eq!(drive.blocks().map(|block| block.erases).sum::<u32>(), 8 * erases);
}

/// For each block that is used, the error rate of its worst layer after a year: blocks with more die earlier.
fn frailty(drive: &Watched) -> Vec<f64> {
    let cells = drive.config().cells.as_ref().expect("it has physics");
    let (model, at) = (Model::new(&cells.physics).expect("it is checked"), Celsius(30.0));
    let rate = |index: u32| {
        let block = model.block(drive.config().seed, 0, index);
        let history = drive.inspect(DieId(0), PlaneId(0), BlockId(index)).expect("the cells have physics").history();
        let condition = Condition { retention: model.kept(365.0 * 86_400.0, at), ..Condition::new(history, at) };
        let of_layer = |layer: u32| {
            let wordline = model.wordline(&model.traits(&block, layer), &condition);
            wordline.error_rate(&model, 0, &model.references(0))
        };
        (0..model.layers().len() as u32).map(of_layer).fold(0.0, f64::max)
    };
    (0..drive.blocks().count() as u32).map(rate).collect()
}

/// Rank correlation of two series (Spearman).
fn rank_correlation(one: &[f64], other: &[f64]) -> f64 {
    let ranks = |values: &[f64]| {
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
        let mut ranks = vec![0.0; values.len()];
        order.into_iter().zip(0..).for_each(|(at, rank)| ranks[at] = f64::from(rank));
        ranks
    };
    let n = one.len() as f64;
    let apart: f64 = ranks(one).iter().zip(ranks(other)).map(|(a, b)| (a - b) * (a - b)).sum();
    1.0 - 6.0 * apart / (n * (n * n - 1.0))
}

#[test]
fn blocks_die_in_the_order_in_which_they_would_have_died() {
    let (whole, short) = (lived(), leapt(2, 12, Rest::Measured));
    let (lived, leapt) = (frailty(&whole), frailty(&short));
    let order = rank_correlation(&lived, &leapt);
    let by_stress = rank_correlation(&lived, &worn(&whole).into_iter().map(|of| of.1).collect::<Vec<_>>());
    println!("rank correlation of deaths {order:.4}, of deaths with stress alone {by_stress:.4}");
    assert!(order > 0.95);
    // What the band catches: blocks that are taken for alike.
    assert!(by_stress < 0.95);
}
