//! Do guarded erases on a die wear each wordline as its own history says, and no other differently?
//!
//! The history of a wordline is kept by hand, erase by erase ([`History::erased`]); the die keeps one for the block and a number for each wordline. Dies with a
//! bug are told from those without.

use std::sync::Arc;

use wordline_cells::wear::{History, wear};
use wordline_cells::{CellArray, Condition, Disturbed, Look, Model, Settings};
use wordline_units::{Nanos, WordlineSet};

use crate::common::{HOME, chip};

const SEED: u64 = 1_001;
const BLOCK: u32 = 2;
const CYCLES: u64 = 400;
const DWELL: u64 = 60;
/// Wordlines of layers 0, 5 and 47; the other three of layer 5 are not spared.
const SPARED: [u32; 6] = [0, 1, 2, 3, 20, 190];

fn is_guarded(cycle: u64) -> bool {
    cycle % 4 != 3
}

fn cycle(array: &mut CellArray, spare: impl Fn(u64) -> WordlineSet) -> Nanos {
    let mut now = Nanos::ZERO;
    for cycle in 0..CYCLES {
        now = Nanos::from_millis(1_000 * DWELL * (cycle + 1));
        array.erase_guarded(BLOCK, now, spare(cycle));
        array.program(BLOCK, 30, true, now, &Settings::default());
    }
    now
}

/// The history of a wordline that was spared in these cycles, by hand.
fn by_hand(model: &Model, is_spared: impl Fn(u64) -> bool) -> History {
    (0..CYCLES).fold(History::default(), |history, cycle| {
        let erased = history.erased(model.physics(), DWELL as f64, HOME, 0, is_spared(cycle));
        erased.programmed(model.physics(), 0.0, HOME)
    })
}

/// Wordlines whose wear on the die is not that of their history by hand.
fn off(model: &Model, array: &CellArray, is_spared: impl Fn(u32, u64) -> bool) -> Vec<u32> {
    let specimen = model.block(SEED, 0, BLOCK);
    let whole = by_hand(model, |_| false);
    let differs = |&wordline: &u32| {
        let traits = model.traits(&specimen, wordline / 4);
        let on_die = History { gentle: array.gentle(BLOCK, wordline), ..whole };
        wear(model.physics(), &traits, &on_die) != wear(model.physics(), &traits, &by_hand(model, |cycle| is_spared(wordline, cycle)))
    };
    (0..192).filter(differs).collect()
}

fn die(model: &Arc<Model>) -> CellArray {
    CellArray::new(Arc::clone(model), SEED, 0, 4, HOME)
}

#[test]
fn a_spared_wordline_wears_as_its_history_says_and_the_others_as_ever() {
    let model = Arc::new(chip("tlc48", &[]));
    let spared = WordlineSet::of(SPARED);
    let guard = |cycle| if is_guarded(cycle) { spared } else { WordlineSet::NONE };
    let mut array = die(&model);
    cycle(&mut array, guard);
    assert_eq!(off(&model, &array, |wordline, cycle| spared.has(wordline) && is_guarded(cycle)), [0u32; 0]);
    assert!((0..4).filter(|&block| block != BLOCK).all(|block| array.gentle(block, 0) == 0.0), "another block");
    // A die that spares all wordlines, and one that spares in each cycle.
    let mut all = die(&model);
    cycle(&mut all, |cycle| if is_guarded(cycle) { WordlineSet::of(0..192) } else { WordlineSet::NONE });
    assert_eq!(off(&model, &all, |wordline, cycle| spared.has(wordline) && is_guarded(cycle)).len(), 192 - SPARED.len());
    let mut always = die(&model);
    cycle(&mut always, |_| spared);
    assert_eq!(off(&model, &always, |wordline, cycle| spared.has(wordline) && is_guarded(cycle)), SPARED);
}

#[test]
fn reads_and_erases_feel_the_relief_and_a_die_without_guarded_erases_is_as_ever() {
    let model = Arc::new(chip("tlc48", &[]));
    let (mut plain, mut guarded) = (die(&model), die(&model));
    let spared = WordlineSet::of(SPARED);
    let now = cycle(&mut plain, |_| WordlineSet::NONE);
    cycle(&mut guarded, |_| spared);
    let specimen = model.block(SEED, 0, BLOCK);
    let later = now + Nanos::from_millis(86_400_000 * 90);
    for wordline in [0, 20, 21, 60, 190] {
        let page = 3 * wordline;
        let [own, relieved] = [&mut plain, &mut guarded].map(|array| array.error_rate(BLOCK, page, 0, 0, later).0);
        assert_eq!(relieved < own, spared.has(wordline), "wordline {wordline}: {relieved:e} and {own:e}");
        // The grid is within its band of the model, at the wordline's own history.
        let history = by_hand(&model, |_| spared.has(wordline));
        let kept = (later - now).as_secs_f64();
        let exact = guarded.read_shifted(
            &Look { block: BLOCK, page, reads: 0, disturbed: &Disturbed::default(), now: later },
            0,
            &model.references(0).map(|_| 0.0),
        );
        let traits = model.traits(&specimen, wordline / 4);
        let by_model = model.wordline(&traits, &Condition::new(history, HOME).kept(kept)).error_rate(&model, 0, &model.references(0));
        assert!((exact.rate / by_model - 1.0).abs() < 1e-3, "wordline {wordline}: {:e} and {by_model:e}", exact.rate);
        assert!((relieved / by_model - 1.0).abs() < 0.13, "wordline {wordline}: {relieved:e} and {by_model:e}");
    }
    // Where every wordline is spared, the block is erased as one that is less worn.
    let mut all = die(&model);
    cycle(&mut all, |_| WordlineSet::of(0..192));
    let [worn, relieved] = [plain, all].map(|mut array| array.erase(BLOCK, later));
    assert!((relieved.loops, relieved.part) < (worn.loops, worn.part), "{relieved:?} and {worn:?}");
}

#[test]
fn a_stopped_guarded_erase_is_as_gentle_as_its_history_says() {
    let model = Arc::new(chip("tlc48", &[]));
    let mut array = die(&model);
    let now = Nanos::from_millis(1_000 * DWELL);
    array.erase_guarded(BLOCK, now, WordlineSet::of([7]));
    for stops in 1..=9 {
        array.stopped(BLOCK, stops);
        let expected = History::default().erased(model.physics(), DWELL as f64, HOME, stops, true);
        assert_eq!((array.gentle(BLOCK, 7), array.gentle(BLOCK, 8)), (expected.gentle, 0.0), "{stops} stops");
    }
}

#[test]
fn relief_outlives_images_to_the_last_bit_and_the_power_to_one_part_in_255_on_the_careful_side() {
    let model = Arc::new(chip("tlc48", &[]));
    let mut array = die(&model);
    cycle(&mut array, |cycle| if is_guarded(cycle) { WordlineSet::of(SPARED) } else { WordlineSet::NONE });
    let mut back = die(&model);
    assert!(back.resume(array.lives()) && back.resume_reliefs(&array.relief_tables()));
    assert_eq!(back.relief_tables(), array.relief_tables());
    let mut woken = die(&model);
    let kept = array.kept(BLOCK);
    woken.wake(BLOCK, &kept);
    let whole = by_hand(&model, |_| false).erase;
    for wordline in 0..192 {
        let (was, is) = (array.gentle(BLOCK, wordline), woken.gentle(BLOCK, wordline));
        assert!(is <= was + whole / 255.0 / 1_000.0 && was - is <= whole / 255.0, "wordline {wordline}: {was} became {is}");
        assert_eq!(is > 0.0, SPARED.contains(&wordline));
    }
    assert_eq!(woken.kept(BLOCK), kept, "it does not fade from one start to the next");
}
