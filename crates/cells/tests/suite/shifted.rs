//! Do reads with shifted references, and counts of cells between two references, say what the model says of the wordline?

use std::sync::Arc;

use wordline_cells::{Age, CellArray, Condition, Disturbed, Look, Model, Wordline};
use wordline_units::Nanos;

use crate::common::{HOME, YEAR, chip};

const SEED: u64 = 1_001;
const AGE: Age = Age { cycles: 3_000.0, dwell: 60.0, retention: YEAR, temperature: HOME.0 };
const ENTRY: u32 = 5;

/// A die of four blocks at [`AGE`].
fn aged(model: &Arc<Model>) -> CellArray {
    let mut array = CellArray::new(Arc::clone(model), SEED, 2, 4, HOME);
    array.set_age(&AGE, Nanos::ZERO, |_| 576);
    array
}

fn look(page: u32, disturbed: &Disturbed) -> Look<'_> {
    Look { block: 1, page, reads: 0, disturbed, now: Nanos::ZERO }
}

/// The wordline of a page of block 1, by the model.
fn expected(model: &Model, page: u32) -> Wordline {
    let shape = model.physics().shape;
    let traits = model.traits(&model.block(SEED, 2, 1), page / shape.cell.bits() / shape.wordlines_per_layer);
    let condition = Condition::new(model.cycled(AGE.cycles, AGE.dwell, HOME), HOME).kept(AGE.retention);
    model.wordline(&traits, &condition)
}

#[test]
fn a_shifted_read_has_the_rate_of_the_model_at_the_references_that_were_set() {
    let model = Arc::new(chip("tlc48", &[]));
    let mut array = aged(&model);
    for page in (0..576).step_by(37) {
        let mut at = model.references(ENTRY);
        let shift = core::array::from_fn(|reference| 10.0 * (reference as f64 - 3.0));
        at.iter_mut().zip(&shift).for_each(|(at, shift)| *at += shift);
        let rate = array.read_shifted(&look(page, &Disturbed::default()), ENTRY, &shift).rate;
        assert_eq!(rate, expected(&model, page).error_rate(&model, page % 3, &at), "page {page}");
    }
}

#[test]
fn counts_between_two_references_are_those_of_the_cells_there_and_least_in_the_valley() {
    let model = Arc::new(chip("tlc48", &[]));
    let mut array = aged(&model);
    let (mut off, mut number) = (0.0, 0.0);
    for page in (0..576).step_by(11) {
        let wordline = expected(&model, page);
        for &reference in array.references_of(page).to_vec().iter() {
            let at = model.references(ENTRY)[usize::from(reference) - 1];
            let mut count =
                |from: f64, to: f64| f64::from(array.count_between(&look(page, &Disturbed::default()), ENTRY, reference, from, to));
            let between = |from: f64, to: f64| {
                let above = |shift: f64| wordline.states[..wordline.count].iter().map(|state| state.above(at + shift)).sum::<f64>();
                (above(from) - above(to)) / wordline.count as f64 * f64::from(model.physics().shape.cells())
            };
            // Deviations of a count; it is the same from either side.
            let exact = between(-20.0, 0.0);
            let errors = [count(-20.0, 0.0), count(0.0, -20.0)].map(|count| count - exact);
            off += errors.iter().map(|error| error * error).sum::<f64>() / exact.max(1.0);
            number += 2.0;
            let valley = wordline.optimal_reference(usize::from(reference)) - at;
            let around = |middle: f64| between(middle - 20.0, middle + 20.0);
            assert!(around(valley) < around(valley - 90.0) && around(valley) < around(valley + 90.0), "R{reference} of page {page}");
        }
    }
    println!("{number} counts, squared deviations {:.3} in the mean; seed {SEED}", off / number);
    assert!((off / number - 1.0).abs() < 0.35, "counts have the error of a sample, and no more: {}", off / number);
}

#[test]
fn entries_for_disturb_take_turns_with_those_for_lost_charge() {
    let own = chip("tlc48", &[]);
    let model = chip("tlc48", &["physics.retry.entries=3", "physics.retry.disturb_entries=1", "physics.retry.disturb_step=[\"10 mV\"]"]);
    let (start, lost) = (own.references(0), |number| own.references(number));
    let disturbed = {
        let mut references = start;
        references[..7].iter_mut().for_each(|reference| *reference += 10.0);
        references
    };
    assert_eq!(model.retry_entries(), 4);
    assert_eq!([0, 1, 2, 3, 4].map(|entry| model.references(entry)), [start, lost(1), disturbed, lost(2), lost(3)]);
    let many = chip("tlc48", &["physics.retry.entries=1", "physics.retry.disturb_entries=3", "physics.retry.disturb_step=[\"10 mV\"]"]);
    let shifts = [1, 2, 3, 4].map(|entry| many.references(entry)[2] - start[2]);
    assert!(shifts.iter().zip([lost(1)[2] - start[2], 10.0, 20.0, 30.0]).all(|(is, should)| (is - should).abs() < 1e-9), "{shifts:?}");
}
