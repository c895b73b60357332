//! Do reads with a controller's read sets say what the model says of the wordline at those references?

use std::sync::Arc;

use wordline_cells::{Age, CellArray, Condition, Model, References, Settings};
use wordline_units::Nanos;

use crate::common::{HOME, YEAR, chip};

const SEED: u64 = 1_001;
const AGE: Age = Age { cycles: 3_000.0, dwell: 60.0, retention: YEAR / 4.0, temperature: HOME.0 };

fn shift(steps: f64) -> References {
    core::array::from_fn(|reference| -10.0 * steps * (1.0 + reference as f64 / 3.0))
}

fn aged(model: &Arc<Model>, sets: &[References]) -> CellArray {
    let mut array = CellArray::new(Arc::clone(model), SEED, 2, 4, HOME);
    array.set_read_sets(sets.into());
    array.set_age(&AGE, Nanos::ZERO, |_| 576);
    array
}

/// Distance of the rates of reads with `set` from those of the model at the references of `expected`: in the mean, and at worst.
fn off(model: &Arc<Model>, array: &mut CellArray, set: usize, expected: &References) -> (f64, f64) {
    let shape = model.physics().shape;
    let condition = Condition::new(model.cycled(AGE.cycles, AGE.dwell, HOME), HOME).kept(AGE.retention);
    let offs: Vec<f64> = (0..576)
        .step_by(5)
        .map(|page| {
            let traits = model.traits(&model.block(SEED, 2, 1), page / shape.cell.bits() / shape.wordlines_per_layer);
            let mut at = model.references(0);
            at.iter_mut().zip(expected).for_each(|(at, shift)| *at += shift);
            let exact = model.wordline(&traits, &condition).error_rate(model, page % 3, &at);
            (array.read_set(1, page, 0, set, Nanos::ZERO).rate / exact - 1.0).abs()
        })
        .collect();
    (offs.iter().sum::<f64>() / offs.len() as f64, offs.iter().copied().fold(0.0, f64::max))
}

#[test]
fn a_read_with_a_set_is_within_the_band_of_the_grid_and_with_another_is_not() {
    let model = Arc::new(chip("tlc48", &[]));
    let sets = [shift(2.0), shift(6.0), shift(10.0)];
    let mut array = aged(&model, &sets);
    for (set, shift) in sets.iter().enumerate() {
        let (mean, worst) = off(&model, &mut array, set, shift);
        assert!(mean < 0.03 && worst < 0.13, "set {set}: {mean} in the mean, {worst} at worst");
        let (mean, _) = off(&model, &mut array, (set + 1) % 3, shift);
        assert!(mean > 0.2, "set {set} for the next: {mean}");
    }
}

#[test]
fn sets_change_nothing_of_reads_without_them_and_what_is_cached_shows_in_no_result() {
    let model = Arc::new(chip("tlc48", &[]));
    let sets = [shift(2.0), shift(6.0)];
    let (mut with, mut without) = (aged(&model, &sets), aged(&model, &[]));
    let all = |array: &mut CellArray| (0..576).map(|page| array.read(1, page, 0, 0, Nanos::ZERO)).collect::<Vec<_>>();
    let before: Vec<f64> = (0..576).map(|page| with.read_set(1, page, 0, 1, Nanos::ZERO).rate).collect();
    let mut fresh = aged(&model, &sets);
    let again: Vec<f64> = (0..576).rev().map(|page| fresh.read_set(1, page, 0, 1, Nanos::ZERO).rate).collect();
    assert!(before.iter().eq(again.iter().rev()), "in another order");
    // Telegraph noise is drawn for each read, so the other die draws as often.
    (0..576).for_each(|page| _ = without.read(0, page, 0, 0, Nanos::ZERO));
    assert_eq!(all(&mut with), all(&mut without));
    // Another filling, and what is programmed with settings of its own.
    let settings = Settings { start_margin: 200.0, final_margin: 200.0, ..Settings::default() };
    for array in [&mut with, &mut fresh] {
        array.erase(1, Nanos::ZERO);
        array.program(1, 0, true, Nanos::ZERO, &Settings::default());
    }
    let own = with.read_set(1, 0, 0, 1, Nanos::ZERO).rate;
    assert_ne!(own, before[0], "the erased block and the one before it");
    fresh.program(1, 0, false, Nanos::ZERO, &settings);
    assert_ne!(fresh.read_set(1, 0, 0, 1, Nanos::ZERO).rate, own, "what strays because of its settings");
}
