//! Does an inspection find the wear, the age and the carried errors that a block has?

use std::sync::Arc;

use wordline_cells::wear::History;
use wordline_cells::{Age, BlockCarried, BlockCells, CellArray, Model, Settings};
use wordline_units::{Nanos, WordlineSet};

use crate::common::{HOME, YEAR, aged, chip};

const SEED: u64 = 1_001;
const BLOCK: u32 = 2;

fn die(model: &Arc<Model>, cycles: f64) -> CellArray {
    let mut array = CellArray::new(Arc::clone(model), SEED, 0, 4, HOME);
    array.set_age(&Age { cycles, dwell: 60.0, retention: 0.0, temperature: HOME.0 }, Nanos::ZERO, |_| 576);
    array
}

/// Mean and greatest of these.
fn of(values: &[f64]) -> (f64, f64) {
    (values.iter().sum::<f64>() / values.len() as f64, values.iter().copied().fold(0.0, f64::max))
}

/// N(12) of a block, worked out page by page (000 §3.1.1).
fn after_a_year(model: &Model, cycles: f64) -> f64 {
    let specimen = model.block(SEED, 0, BLOCK);
    let pages = (0..48).flat_map(|layer| (0..3).map(move |page| (layer, page)));
    let errors = pages.map(|(layer, page)| {
        let wordline = model.wordline(&model.traits(&specimen, layer), &aged(model, cycles, YEAR));
        wordline.error_rate(model, page, &wordline.optimal()) * model.codeword_bits()
    });
    errors.fold(0.0, f64::max)
}

#[test]
fn wear_is_that_of_the_wordlines_and_age_is_n12_over_the_limit() {
    let model = Arc::new(chip("tlc48", &[]));
    let specimen = model.block(SEED, 0, BLOCK);
    let mut ages = Vec::new();
    for cycles in [0.0, 1_000.0, 4_000.0] {
        let array = die(&model, cycles);
        let cells = BlockCells::of(&array, BLOCK);
        let history = model.cycled(cycles, 60.0, HOME);
        let wears: Vec<f64> = (0..48).map(|layer| model.wear(&model.traits(&specimen, layer), &history)).collect();
        let (wear, (mean, most)) = (cells.wear(), of(&wears));
        assert!((wear.mean - mean).abs() < 1e-9 * mean.max(1.0) && wear.most == most, "{wear:?}, not {mean} and {most}");
        let age = cells.age(YEAR);
        assert!((age - after_a_year(&model, cycles) / model.physics().ecc.correctable).abs() < 1e-12, "{age} at {cycles}");
        assert!(cells.age(0.0) < age);
        ages.push(age);
    }
    assert!(ages.is_sorted() && ages[0] < 0.5 * ages[2], "{ages:?}");
}

#[test]
fn a_stopped_erase_is_seen_to_wear_more_and_a_spared_wordline_less() {
    let model = Arc::new(chip("tlc48", &[]));
    let now = Nanos::from_millis(60_000);
    let added = |erase: &dyn Fn(&mut CellArray)| {
        let mut array = die(&model, 1_000.0);
        let before = BlockCells::of(&array, BLOCK).wear();
        erase(&mut array);
        array.program(BLOCK, 0, true, now, &Settings::default());
        let after = BlockCells::of(&array, BLOCK).wear();
        (after.mean - before.mean, after.most - before.most)
    };
    let plain = added(&|array| _ = array.erase(BLOCK, now));
    let stopped = added(&|array| {
        array.erase(BLOCK, now);
        array.stopped(BLOCK, 100);
    });
    // By hand, of the stress of one erase of a hundred stops.
    let stress = |stops| {
        let begun = model.cycled(1_000.0, 60.0, HOME);
        f64::from(begun.erased(model.physics(), 60.0, HOME, stops, false).erase - begun.erase)
    };
    let share = model.physics().wear.erase_share;
    let grown = (stopped.0 - plain.0) / plain.0;
    // The program follows its erase at once, and heals nothing.
    let expected = share * (stress(100) - stress(0)) / (share * stress(0) + (1.0 - share));
    assert!(expected > 0.1 && (grown / expected - 1.0).abs() < 0.002, "{grown} more, not {expected}");

    let spared = added(&|array| _ = array.erase_guarded(BLOCK, now, WordlineSet::of(0..96)));
    assert!(spared.0 < 0.99 * plain.0, "half of the wordlines are spared: {} and {}", spared.0, plain.0);
    let all = added(&|array| _ = array.erase_guarded(BLOCK, now, WordlineSet::of(0..192)));
    assert!(all.0 < spared.0 && all.1 < plain.1, "{all:?}");
}

#[test]
fn each_wordline_of_a_layer_counts_where_they_differ() {
    let model = Arc::new(chip("tlc48", &[]));
    let mut array = die(&model, 0.0);
    let now = Nanos::from_millis(60_000);
    array.erase_guarded(BLOCK, now, WordlineSet::of([0, 1, 2, 9]));
    let cells = BlockCells::of(&array, BLOCK);
    let specimen = model.block(SEED, 0, BLOCK);
    let wears: Vec<f64> =
        (0..192).map(|wordline| model.wear(&model.traits(&specimen, wordline / 4), &cells.of_wordline(wordline))).collect();
    let (mean, most) = of(&wears);
    assert!((cells.wear().mean / mean - 1.0).abs() < 1e-12 && cells.wear().most == most);
    assert!(cells.of_wordline(9).gentle > 0.0 && cells.of_wordline(10) == History { gentle: 0.0, ..cells.history() });
}

#[test]
fn carried_errors_are_those_of_the_pages() {
    let model = Arc::new(chip("tlc48", &[]));
    let mut array = die(&model, 1_000.0);
    array.carry(BLOCK, 5, 1e-3);
    array.carry(BLOCK, 6, 4e-3);
    let carried = BlockCells::of(&array, BLOCK).carried();
    let bits = model.codeword_bits();
    assert!((carried.most / (4e-3 * bits) - 1.0).abs() < 0.01, "{carried:?}");
    assert!((carried.mean / (5e-3 / 576.0 * bits) - 1.0).abs() < 0.01, "{carried:?}");
    assert_eq!(BlockCells::of(&array, BLOCK + 1).carried(), BlockCarried::default());
    // They are errors of the data, and no age of the block.
    assert_eq!(BlockCells::of(&array, BLOCK).age(YEAR), BlockCells::of(&die(&model, 1_000.0), BLOCK).age(YEAR));
}
