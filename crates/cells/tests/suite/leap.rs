//! Does a leap leave what the cycles would have left that it skips?
//!
//! One die goes through all cycles; the other goes through one epoch of them and leaps. Stress of erases, of programs, and of the erases that spared each
//! wordline must come to the same. Dies that leap wrongly are told from those that do it well.

use std::sync::Arc;

use wordline_cells::{CellArray, Model, Pace, Repetition, Settings};
use wordline_units::{Nanos, WordlineSet};

use crate::common::{HOME, chip};

const BLOCK: u32 = 2;
/// Cycles of an epoch, and epochs of a life.
const EPOCH: u64 = 5;
const EPOCHS: u32 = 40;

/// One cycle of a block: seconds of rest, stops of its erase, wordlines that are spared.
#[derive(Clone, Copy)]
struct Cycle {
    rest: u64,
    stops: u32,
    spared: WordlineSet,
}

/// The `number`-th cycle of a life whose epochs are alike, and the cycles of an epoch are not.
fn cycle(number: u64, rest: u64) -> Cycle {
    let spared = if number % EPOCH < 3 { WordlineSet::of([0, 20, 190]) } else { WordlineSet::of([20]) };
    Cycle { rest: rest * (1 + number % EPOCH), stops: (number % EPOCH) as u32 * 9, spared }
}

fn die(model: &Arc<Model>) -> CellArray {
    CellArray::new(Arc::clone(model), 1_001, 0, 4, HOME)
}

/// Carries cycles out; returns the instant at which they end.
fn live(array: &mut CellArray, cycles: impl IntoIterator<Item = Cycle>, mut now: Nanos) -> Nanos {
    for Cycle { rest, stops, spared } in cycles {
        now += Nanos::from_millis(1_000 * rest);
        array.erase_guarded(BLOCK, now, spared);
        (1..=stops).for_each(|stop| array.stopped(BLOCK, stop));
        array.program(BLOCK, 30, true, now + Nanos::from_millis(4_000), &Settings::default());
    }
    now
}

/// Stress of erases, of programs, and of the erases in which some wordlines were spared.
fn stress(array: &CellArray) -> [f64; 5] {
    let history = array.history(BLOCK);
    [history.erase, history.program, array.gentle(BLOCK, 0), array.gentle(BLOCK, 20), array.gentle(BLOCK, 21)].map(f64::from)
}

/// The greatest difference between two dies, relative to the first one's stress of erases.
fn differs(one: &CellArray, other: &CellArray) -> f64 {
    let (one, other) = (stress(one), stress(other));
    one.iter().zip(other).map(|(one, other)| (one - other).abs()).fold(0.0, f64::max) / one[0]
}

/// A die that has lived one epoch of these cycles and leaps over `times`.
fn leapt(model: &Arc<Model>, rest: u64, times: u32, pace: Pace) -> CellArray {
    let mut array = die(model);
    array.begin_epoch();
    let now = live(&mut array, (0..EPOCH).map(|number| cycle(number, rest)), Nanos::ZERO);
    array.leap(BLOCK, BLOCK, &Repetition { times, pace, clock: now, is_renewed: true });
    array.end_leap();
    array
}

#[test]
fn a_leap_leaves_the_stress_of_the_cycles_that_it_skips() {
    let model = Arc::new(chip("tlc48", &[]));
    // Rests of seconds to minutes, and of days, in which all traps heal a little.
    for rest in [20, 200_000] {
        let mut lived = die(&model);
        live(&mut lived, (0..EPOCH * u64::from(EPOCHS)).map(|number| cycle(number, rest)), Nanos::ZERO);
        let good = leapt(&model, rest, EPOCHS - 1, Pace::Measured);
        println!("rests of {rest} s: lived {:?}, leapt {:?}", stress(&lived), stress(&good));
        assert!(differs(&lived, &good) < 1e-4, "off by {}", differs(&lived, &good));
        // Other rests are found, and so is an epoch less, where rests are not so deep that traps heal as fast as they come.
        assert!(rest > 20 || differs(&lived, &leapt(&model, rest, EPOCHS - 2, Pace::Measured)) > 0.015, "an epoch is missing");
        assert!(differs(&lived, &leapt(&model, rest, EPOCHS - 1, Pace::Spread(1.0))) > 0.05, "a leap without rest");
    }
}

#[test]
fn a_leap_spread_over_a_time_leaves_what_a_set_age_of_such_cycles_does() {
    const CYCLES: u32 = 3_000;
    const DWELL: f64 = 7_200.0;
    let model = Arc::new(chip("tlc48", &[]));
    let mut array = die(&model);
    array.begin_epoch();
    live(&mut array, [Cycle { rest: 0, stops: 0, spared: WordlineSet::NONE }], Nanos::ZERO);
    let before = array.history(BLOCK);
    let pace = Pace::Spread(f64::from(CYCLES) * DWELL);
    array.leap(BLOCK, BLOCK, &Repetition { times: CYCLES, pace, clock: Nanos::ZERO, is_renewed: true });
    let (after, set) = (array.history(BLOCK), model.cycled(CYCLES.into(), DWELL, HOME));
    for (gained, set) in [(after.erase - before.erase, set.erase), (after.program - before.program, set.program)] {
        assert!((f64::from(gained) / f64::from(set) - 1.0).abs() < 0.002, "{gained} instead of {set}");
    }
}

#[test]
fn data_of_a_block_that_was_erased_keeps_its_age_and_that_of_others_grows_older() {
    const YEAR: u64 = 365 * 86_400;
    let model = Arc::new(chip("tlc48", &[]));
    let mut array = die(&model);
    for block in [BLOCK, BLOCK + 1] {
        array.erase(block, Nanos::ZERO);
        array.program(block, 30, true, Nanos::ZERO, &Settings::default());
    }
    array.begin_epoch();
    live(&mut array, [Cycle { rest: 10, stops: 0, spared: WordlineSet::NONE }], Nanos::ZERO);
    let clock = Nanos::from_millis(1_000 * YEAR);
    assert_eq!([BLOCK, BLOCK + 1].map(|block| array.is_renewed(block, Nanos(1))), [true, false]);
    for (block, is_renewed) in [(BLOCK, true), (BLOCK + 1, false)] {
        array.leap(block, block, &Repetition { times: 1, pace: Pace::Spread(YEAR as f64), clock, is_renewed });
    }
    array.end_leap();
    let now = Nanos::from_millis(10_000) + clock;
    let [young, old] = [BLOCK, BLOCK + 1].map(|block| array.read(block, 30, 0, 0, now).rate);
    assert!(old > 3.0 * young, "after a year: {old:e}, just written: {young:e}");
}

#[test]
fn a_block_that_repeats_the_use_of_another_gains_what_that_one_gains() {
    let model = Arc::new(chip("tlc48", &[]));
    let mut array = die(&model);
    array.begin_epoch();
    let now = live(&mut array, (0..EPOCH).map(|number| cycle(number, 30)), Nanos::ZERO);
    let before = array.history(BLOCK);
    for block in [BLOCK, BLOCK + 1] {
        array.leap(block, BLOCK, &Repetition { times: 7, pace: Pace::Spread(1e4), clock: now, is_renewed: true });
    }
    let gained = [array.history(BLOCK).erase - before.erase, array.history(BLOCK + 1).erase];
    assert!(gained[0] > 20.0 && (gained[0] / gained[1] - 1.0).abs() < 0.01, "{gained:?}");
}

#[test]
fn guarded_erases_of_the_epochs_before_count_in_a_leap_and_less_with_each() {
    let model = Arc::new(chip("tlc48", &[]));
    let mut array = die(&model);
    let guarded = |is_guarded: bool| if is_guarded { WordlineSet::of([20]) } else { WordlineSet::NONE };
    let cycles = |guards: u64| (0..4).map(move |number| Cycle { rest: 30, stops: 0, spared: guarded(number < guards) });
    array.begin_epoch();
    let now = live(&mut array, cycles(2), Nanos::ZERO);
    array.begin_epoch();
    let now = live(&mut array, cycles(0), now);
    let before = stress(&array);
    array.leap(BLOCK, BLOCK, &Repetition { times: 50, pace: Pace::Measured, clock: now, is_renewed: true });
    let after = stress(&array);
    let [all, spared, other] = [0, 3, 4].map(|at| after[at] - before[at]);
    let expected = 2.0 * 7.0 / (4.0 * 7.0 + 4.0 * 8.0);
    assert!((spared / all / expected - 1.0).abs() < 0.01 && other == 0.0, "{} of {expected}", spared / all);
}

#[test]
fn an_epoch_without_a_leap_changes_nothing() {
    let model = Arc::new(chip("tlc48", &[]));
    let mut plain = die(&model);
    let now = live(&mut plain, (0..EPOCH).map(|number| cycle(number, 30)), Nanos::ZERO);
    let mut counted = leapt(&model, 30, 0, Pace::Measured);
    assert_eq!(stress(&plain), stress(&counted));
    assert_eq!(plain.read(BLOCK, 30, 0, 0, now).rate, counted.read(BLOCK, 30, 0, 0, now + now).rate, "its data has kept its age");
}
