//! Does the draw that a block's erase distance shares with its charge loss slow the erase and let charge go, and leave errors just after program alone?

use std::collections::BTreeSet;

use wordline_cells::Model;

use crate::common::{HOME, YEAR, aged, chip};

const SEED: u64 = 1_001;
const BLOCKS: u32 = 200;
const CYCLES: f64 = 4_000.0;

/// The chip with blocks that differ in this draw alone, by so much in their erase distance and so much in their charge loss.
fn differing(erase: &str, loss: &str) -> Model {
    let alike = ["wear_chip", "wear_wafer", "wear_block", "wear_layer", "noise_block", "erase_block"];
    let alike = alike.map(|key| format!("physics.variation.{key}=0"));
    let own = [format!("physics.variation.erase_loss={erase}"), format!("physics.variation.loss_block={loss}")];
    chip("tlc48", &alike.iter().chain(&own).map(String::as_str).collect::<Vec<_>>())
}

/// t_BERS of a block by the cells that its last pulse was needed for, and errors of the worst page of its middle layer.
fn seen(model: &Model, block: u32, kept: f64) -> (f64, f64) {
    let block = model.block(SEED, 0, block);
    let condition = aged(model, CYCLES, kept);
    let traits = model.traits(&block, model.physics().shape.layers / 2);
    (model.erase(&block, &condition.history).progress, model.worst_page(&traits, &condition))
}

#[test]
fn a_block_that_erases_slowly_loses_more_charge_and_one_that_erases_fast_less() {
    let (with, without) = (differing("0.2", "0.1"), differing("0", "0"));
    let mut slow = 0;
    for block in 0..BLOCKS {
        let ((time, errors), (usual, fewer)) = (seen(&with, block, YEAR), seen(&without, block, YEAR));
        assert_eq!(time > usual, errors > fewer, "block {block}: {time} and {usual} us, {errors} and {fewer} errors");
        slow += u32::from(time > usual);
    }
    assert!((60..=140).contains(&slow), "{slow} of {BLOCKS} erase slowly");
}

#[test]
fn the_draw_does_not_show_in_errors_just_after_program() {
    let (with, without) = (differing("0.2", "0.1"), differing("0", "0"));
    for block in 0..BLOCKS {
        assert_eq!(seen(&with, block, 0.0).1, seen(&without, block, 0.0).1, "N(0) of block {block}");
        assert_ne!(seen(&with, block, YEAR).1, seen(&without, block, YEAR).1, "errors of block {block} after a year");
    }
}

#[test]
fn blocks_of_one_count_take_one_two_and_three_pulses_where_the_draw_is_wide_and_all_as_many_without_it() {
    let pulses = |erase: &str| {
        let model = differing(erase, "0.1");
        let history = model.cycled(CYCLES, 60.0, HOME);
        (0..BLOCKS).map(|block| model.erase(&model.block(SEED, 0, block), &history).loops).collect::<BTreeSet<u32>>()
    };
    assert_eq!(pulses("0").len(), 1);
    assert!(pulses("0.3").is_superset(&BTreeSet::from([1, 2, 3])), "{:?}", pulses("0.3"));
}
