//! Do copybacks on a die carry the errors that the bench of copybacks counts?
//!
//! The bench joins the rates of one wordline by hand, copy after copy, on the model's own states ([`Wordline::carrying`]); the die takes them from its table
//! and keeps them in steps. The weakest wordline of each block goes through a chain of copies on both, and after each number of copies what is left at the
//! end of a year counts. Dies with a bug are told from those without.

use std::sync::Arc;

use wordline_cells::{Age, CellArray, Condition, Disturbed, KeptLife, Model, Settings, Traits};
use wordline_units::Nanos;

use crate::common::{HOME, YEAR, chip};

const SEED: u64 = 1_001;
const BLOCKS: u32 = 200;
const COPIES: usize = 12;
const CYCLES: f64 = 2_000.0;

/// A die's way with the error rate of a sensing.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Die {
    /// The rate is kept.
    Sound,
    /// The rate is forgotten: the copy is healed.
    Dropped,
    /// The rate of the source's cells is kept alone, without that of its data.
    NotJoined,
}

/// Errors of a codeword of the worst page, at the best entry, after each number of copies.
type Chain = Vec<f64>;

fn greatest(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(0.0, f64::max)
}

fn weakest(model: &Model, block: u32, condition: &Condition) -> (u32, Traits) {
    let specimen = model.block(SEED, 0, block);
    let layers = (0..model.physics().shape.layers).map(|layer| (layer, model.traits(&specimen, layer)));
    let worst = |traits: &Traits| {
        let wordline = model.wordline(traits, condition);
        greatest((0..3).map(|page| wordline.error_rate(model, page, &model.references(0))))
    };
    layers.max_by(|(_, a), (_, b)| worst(a).total_cmp(&worst(b))).expect("a block has layers")
}

fn on_the_bench(model: &Model, traits: &Traits) -> Chain {
    let aged = |kept: f64| Condition::new(model.cycled(CYCLES, 60.0, HOME), HOME).kept(kept);
    let [source, last] = [0.0, YEAR].map(|kept| model.wordline(traits, &aged(kept)));
    let entries: Vec<_> = (0..=model.retry_entries()).map(|entry| model.references(entry)).collect();
    let mut carried = [0.0f32; 4];
    let mut chain = Vec::new();
    for _ in 0..=COPIES {
        let kept = last.carrying(carried);
        let best = |page| entries.iter().map(|entry| kept.error_rate(model, page, entry)).fold(1.0, f64::min);
        chain.push(greatest((0..3).map(best)) * model.codeword_bits());
        let sensed = source.carrying(carried);
        (0..3).for_each(|page| carried[page as usize] = sensed.error_rate(model, page, &entries[0]) as f32);
    }
    chain
}

fn on_the_die(model: &Model, array: &mut CellArray, die: Die, block: u32, layer: u32) -> Chain {
    let (first, entries, later) = (layer * model.physics().shape.wordlines_per_layer * 3, array.entries(), Nanos((YEAR * 1e9) as u64));
    // Two wordlines of the h-layer take turns; the third stays clean.
    let page = |wordline: usize, page: u32| first + 3 * wordline as u32 + page;
    let mut chain = Vec::new();
    for copy in 0..=COPIES {
        let (from, to) = (copy % 2, 1 - copy % 2);
        let mut best = |kind| {
            let rate = |entry| array.error_rate(block, page(from, kind), 0, entry, later).0;
            (0..entries).map(rate).fold(1.0, f64::min)
        };
        chain.push(greatest((0..3).map(&mut best)) * model.codeword_bits());
        for kind in 0..3 {
            let source = page(if die == Die::NotJoined { 2 } else { from }, kind);
            let sensed = array.read(block, source, 0, 0, Nanos::ZERO).rate;
            array.carry(block, page(to, kind), if die == Die::Dropped { 0.0 } else { sensed });
        }
    }
    chain
}

/// The most copies in a row after which a year leaves the page correctable.
fn threshold(model: &Model, chain: &Chain) -> usize {
    chain.iter().skip(1).take_while(|errors| **errors <= model.physics().ecc.correctable).count()
}

/// The mean difference of errors over blocks and copies, and the greatest difference of thresholds.
fn compare(die: Die) -> (f64, usize) {
    let model = Arc::new(chip("tlc48", &[]));
    let mut array = CellArray::new(Arc::clone(&model), SEED, 0, BLOCKS as usize, HOME);
    array.set_age(&Age { cycles: CYCLES, dwell: 60.0, retention: 0.0, temperature: HOME.0 }, Nanos::ZERO, |_| 0);
    let late = Condition::new(model.cycled(CYCLES, 60.0, HOME), HOME).kept(YEAR);
    let (mut off, mut apart, mut spread) = (0.0, 0, [usize::MAX, 0]);
    for block in 0..BLOCKS {
        let (layer, traits) = weakest(&model, block, &late);
        let (bench, chain) = (on_the_bench(&model, &traits), on_the_die(&model, &mut array, die, block, layer));
        off += bench.iter().zip(&chain).map(|(bench, die)| libm::log(die / bench).abs()).sum::<f64>() / bench.len() as f64;
        let [ours, theirs] = [&chain, &bench].map(|chain| threshold(&model, chain));
        apart = apart.max(ours.abs_diff(theirs));
        spread = [spread[0].min(theirs), spread[1].max(theirs)];
    }
    let off = off / f64::from(BLOCKS);
    println!("{die:?}: errors {:.1} % apart, thresholds {apart} of {spread:?}; seed {SEED}", 100.0 * off);
    assert!(spread[0] < spread[1] && spread[1] < COPIES, "the chain is long enough to end, and blocks differ: {spread:?}");
    (off, apart)
}

#[test]
fn chains_of_copies_on_a_die_end_where_those_of_the_bench_do() {
    let (off, apart) = compare(Die::Sound);
    assert!(off < 0.05 && apart <= 1, "errors {off}, thresholds {apart}");
}

#[test]
fn planted_bug_the_carried_errors_are_dropped() {
    let (off, apart) = compare(Die::Dropped);
    assert!(off > 0.05 && apart > 1, "errors {off}, thresholds {apart}");
}

#[test]
fn planted_bug_the_carried_errors_are_not_joined_with_those_of_the_source() {
    let (off, apart) = compare(Die::NotJoined);
    assert!(off > 0.05 && apart > 1, "errors {off}, thresholds {apart}");
}

#[test]
fn what_was_carried_is_joined_at_every_entry_and_under_locks_and_an_erase_ends_it() {
    let model = Arc::new(chip("tlc48", &[]));
    let new = || {
        let mut array = CellArray::new(Arc::clone(&model), SEED, 0, 4, HOME);
        array.set_age(&Age { cycles: CYCLES, dwell: 60.0, retention: 3e6, temperature: HOME.0 }, Nanos::ZERO, |_| 576);
        array
    };
    let (mut clean, mut array) = (new(), new());
    assert!(array.carry(2, 40, 3e-3) && !array.carry(2, 40, 3e-3), "told once");
    assert!(!array.carry(1, 40, 0.0) && !array.carry(2, 41, 0.0), "a copy from a clean page leaves none");
    let carried = array.carried(2, 40);
    assert!((carried / 3e-3 - 1.0).abs() < 0.006, "{carried}");
    let locked = Disturbed { locks: 1, lock_time: 100.0, reprogrammed: 0 };
    let destroyed = Disturbed { reprogrammed: 0b10, ..locked };
    let now = Nanos(77);
    for entry in 0..array.entries() {
        for page in [39, 40, 41] {
            let both = [&mut clean, &mut array].map(|array| {
                let [locked, destroyed] = [&locked, &destroyed].map(|by| array.disturbed_rate(2, page, 9, entry, now, by).0);
                [array.error_rate(2, page, 9, entry, now).0, locked, destroyed, array.error_rate(1, page, 9, entry, now).0]
            });
            for (at, (own, joined)) in both[0].into_iter().zip(both[1]).enumerate() {
                let expected = if page == 40 && at < 3 { (own + carried - 2.0 * own * carried).min(0.5) } else { own };
                assert_eq!(joined, expected, "page {page}, entry {entry}, way {at}");
            }
        }
    }
    let shifted = |array: &mut CellArray| {
        let look = wordline_cells::Look { block: 2, page: 40, reads: 9, disturbed: &Disturbed::default(), now };
        array.read_shifted(&look, 3, &core::array::from_fn(|_| 10.0)).rate
    };
    let (own, joined) = (shifted(&mut clean), shifted(&mut array));
    assert_eq!(joined, own + carried - 2.0 * own * carried, "with shifted references");
    assert!(array.carry(2, 41, 1e-2));
    assert!(array.program_clean(2, 41, 1) && !array.program_clean(2, 41, 1), "data from the controller has no errors");
    assert_eq!((array.carried(2, 41), array.carried(2, 40)), (0.0, carried));
    array.erase(2, now);
    clean.erase(2, now);
    assert!(array.is_clean());
    assert_eq!(array.read(2, 40, 0, 0, Nanos(99)), clean.read(2, 40, 0, 0, Nanos(99)));
}

#[test]
fn what_was_carried_outlives_the_power_and_an_image() {
    let model = Arc::new(chip("tlc48", &[]));
    let new = |blocks| CellArray::new(Arc::clone(&model), SEED, 0, blocks, HOME);
    let mut array = new(4);
    array.erase(1, Nanos(5));
    array.program(1, 0, true, Nanos(9), &Settings::default());
    (0..576).for_each(|page| _ = array.carry(1, page, 1e-5 * f64::from(page)));
    let image = array.carried_tables();
    let mut back = new(4);
    assert!(back.resume_carried(&image) && !new(1).resume_carried(&image));
    assert_eq!(back.carried_tables(), image);
    let kept = KeptLife::from_bytes(array.kept(1).bytes().to_vec()).expect("it has just been written");
    let mut woken = new(4);
    woken.wake(1, &kept);
    assert_eq!(woken.kept(1), array.kept(1));
    for page in 0..576 {
        assert_eq!((woken.carried(1, page), back.carried(1, page)), (array.carried(1, page), array.carried(1, page)));
    }
    // A die of another size does not take it for its own.
    let mut other = CellArray::new(Arc::new(chip("mlc48", &[])), SEED, 0, 4, HOME);
    other.wake(1, &kept);
    assert!(other.is_clean() && !other.resume_carried(&image));
    woken.wake_empty(1);
    assert!(woken.is_clean());
}
