//! Does the fast path say what drawing every cell says?
//!
//! Not checked: what the two share, which is the size of each effect for a given wear. That the sizes are right is the business of the studies.

use crate::common::{HOME, YEAR, aged, chip};
use wordline_cells::montecarlo::Sample;
use wordline_cells::{Condition, Model, Settings, Traits};
use wordline_units::Celsius;

const SEED: u64 = 0x5eed;

/// All that is wrong with one wordline, as text.
fn differences(model: &Model, what: &str, traits: &Traits, condition: &Condition, number: u32) -> Vec<String> {
    let mut found = Vec::new();
    let wordline = model.wordline(traits, condition);
    let sample = Sample::draw(model, traits, condition, SEED, number);
    let mut say = |text: String| found.push(format!("{what}: {text}"));
    let loops = model.program(traits, &condition.history, &condition.settings).loops;
    if loops.abs_diff(sample.loops) > 1 {
        say(format!("{loops} loops, drawn {}", sample.loops));
    }
    for state in 0..wordline.count {
        let (told, drawn) = (&wordline.states[state], sample.moments(state as u8));
        let tails = |sign: f64| sign * (told.upper.share * told.upper.length - told.lower.share * told.lower.length);
        let stray = told.past.share + told.short.share;
        let mean = told.mean() + tails(1.0);
        let off = (drawn.mean - mean).abs();
        // Strays move mean and deviation; where there are many the error counts below judge.
        if stray < 1e-4 && off > 4.5 * drawn.deviation / f64::from(drawn.count).sqrt() + 0.5 {
            say(format!("state {state} stands at {mean:.1} mV, drawn {:.1} mV", drawn.mean));
        }
    }
    let cells = f64::from(model.physics().shape.cells());
    for references in [model.references(0), model.references(4), wordline.optimal()] {
        for page in 0..model.physics().shape.cell.bits() {
            let told = wordline.error_rate(model, page, &references) * cells;
            let drawn = sample.errors(model, page, &references);
            // Four and a half deviations of a count, 5 % for what the closed forms leave out, and two bits where there is next to nothing to count.
            let allowed = 4.5 * told.max(drawn).sqrt() + 0.05 * told + 2.0;
            if (told - drawn).abs() > allowed {
                say(format!("page {page} has {told:.1} errors, drawn {drawn:.1}"));
            }
        }
    }
    found
}

#[test]
fn the_fast_path_says_what_drawing_every_cell_says() {
    let model = chip("tlc48", &[]);
    let block = model.block(SEED, 3, 41);
    let mut found = Vec::new();
    let mut number = 0;
    let mut check = |what: String, traits: &Traits, condition: &Condition| {
        number += 1;
        found.extend(differences(&model, &what, traits, condition, number));
    };
    for cycles in [0.0, 300.0, 2_000.0, 6_000.0, 16_000.0] {
        for kept in [0.0, YEAR / 12.0, YEAR, 3.0 * YEAR] {
            for layer in [0, 5, 22, 47] {
                let traits = model.traits(&block, layer);
                check(format!("{cycles} cycles, {:.2} years, layer {layer}", kept / YEAR), &traits, &aged(&model, cycles, kept));
            }
        }
    }
    let typical = model.typical();
    let base = aged(&model, 2_000.0, YEAR / 4.0);
    for reads in [1e4, 1e5, 1e6] {
        check(format!("{reads} reads"), &typical, &base.read(reads));
    }
    for degrees in [-10.0, 0.0, 50.0, 70.0] {
        check(format!("read at {degrees} C"), &typical, &Condition { read_at: Celsius(degrees), ..base });
        check(format!("programmed at {degrees} C"), &typical, &Condition { programmed_at: Celsius(degrees), ..base });
    }
    check("a long open interval".into(), &typical, &Condition { open_interval: 30.0 * 86_400.0, ..base });
    check("no neighbour yet".into(), &typical, &Condition { neighbour: false, ..base });
    check("erased gently".into(), &typical, &Condition { gently_erased: true, ..Condition::new(model.cycled(100.0, 60.0, HOME), HOME) });
    for margin in [50.0, 160.0, 240.0] {
        for (start_margin, final_margin) in [(margin, 0.0), (0.0, margin), (margin, margin)] {
            let settings = Settings { start_margin, final_margin, ..Settings::default() };
            check(format!("margins of {start_margin} mV and {final_margin} mV"), &typical, &base.settings(settings));
        }
    }
    for more in [0, 1, 2] {
        let leader = model.program(&typical, &base.history, &Settings::default());
        let mut settings = Settings::default();
        for (skip, first) in settings.skip.iter_mut().zip(leader.first).take(7) {
            *skip = first - 1 + more;
        }
        check(format!("{more} verifies too many skipped"), &typical, &base.settings(settings));
    }
    assert!(found.is_empty(), "seed {SEED:#x}, {number} wordlines:\n{}", found.join("\n"));
}

#[test]
fn states_with_widths_and_tails_of_their_own_are_drawn_as_the_fast_path_says() {
    let own = ["physics.states.noise_by_state=[1, 0.9, 1.1, 1, 1.2, 0.8, 1.3]", "physics.tails.lower_by_state=[1, 2, 0.5, 4, 1, 3, 0]"];
    let (model, alike) = (chip("tlc48", &own), chip("tlc48", &[]));
    let condition = aged(&model, 2_000.0, YEAR);
    let found = differences(&model, "own", &model.typical(), &condition, 1);
    assert!(found.is_empty(), "seed {SEED:#x}:\n{}", found.join("\n"));
    let errors = |model: &Model| model.wordline(&model.typical(), &condition).error_rate(model, 1, &model.references(0));
    assert!((errors(&model) / errors(&alike) - 1.0).abs() > 0.05, "the lists do something");
}
