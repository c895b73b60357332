//! Does physics go the way physics goes, also where no paper has been?

use crate::common::{HOME, YEAR, aged, chip};
use wordline_cells::{Block, Condition, History, Model, Settings, Traits, flag};
use wordline_units::Celsius;

/// Errors of a codeword, summed over the pages, with the references that suit best.
fn errors(model: &Model, traits: &Traits, condition: &Condition) -> f64 {
    let wordline = model.wordline(traits, condition);
    let references = wordline.optimal();
    let rate = (0..model.physics().shape.cell.bits()).map(|page| wordline.error_rate(model, page, &references)).sum::<f64>();
    rate * model.codeword_bits()
}

/// Checks that each value is greater than the one before.
fn rises(what: &str, values: &[f64]) {
    assert!(values.windows(2).all(|pair| pair[1] > pair[0]), "{what}: {values:?}");
}

const CHIPS: [&str; 4] = ["tlc48", "mlc48", "qlc64", "tlc2d"];

#[test]
fn more_of_what_harms_harms_more_on_every_chip() {
    for name in CHIPS {
        let model = chip(name, &[]);
        let typical = model.typical();
        let at = |condition: &Condition| errors(&model, &typical, condition);
        let over = |list: &[f64], condition: &dyn Fn(f64) -> Condition| -> Vec<f64> { list.iter().map(|&x| at(&condition(x))).collect() };
        let base = aged(&model, 2_000.0, YEAR / 4.0);
        let cycles = [0.0, 50.0, 300.0, 1e3, 3e3, 7e3, 12e3, 20e3, 40e3];
        rises(&format!("{name}, cycles"), &over(&cycles, &|cycles| aged(&model, cycles, YEAR / 2.0)));
        let years = [0.0, 0.001, 0.02, 0.1, 0.5, 1.0, 3.0, 10.0, 30.0];
        rises(&format!("{name}, retention"), &over(&years, &|years| aged(&model, 2_000.0, years * YEAR)));
        rises(&format!("{name}, reads"), &over(&[0.0, 1e5, 1e6, 1e7, 1e8], &|reads| base.read(reads)));
        let days = [0.0, 1.0, 10.0, 30.0, 100.0];
        rises(&format!("{name}, open interval"), &over(&days, &|days| Condition { open_interval: days * 86_400.0, ..base }));
        rises(&format!("{name}, locks"), &over(&[0.0, 1.0, 1.5, 2.0], &|dose| Condition { lock_dose: dose as f32, ..base }));
        let fresh = aged(&model, 2_000.0, 0.0);
        let references = model.wordline(&typical, &fresh).optimal();
        let off = |degrees: f64| {
            let wordline = model.wordline(&typical, &Condition { read_at: Celsius(30.0 + degrees), ..fresh });
            (0..model.physics().shape.cell.bits()).map(|page| wordline.error_rate(&model, page, &references)).sum::<f64>()
        };
        rises(&format!("{name}, colder than programmed"), &[0.0, -60.0].map(off));
        rises(&format!("{name}, warmer than programmed"), &[0.0, 60.0].map(off));
    }
}

#[test]
fn heat_leaks_and_heals() {
    let model = chip("tlc48", &[]);
    // From 60 °C on ten minutes are longer than the time in which recovery saturates.
    let degrees = [-20.0, 0.0, 25.0, 40.0, 50.0];
    let leaked = degrees.map(|at| errors(&model, &model.typical(), &aged(&model, 2_000.0, model.kept(YEAR / 12.0, Celsius(at)))));
    rises("a month of retention, hotter and hotter", &leaked);
    let worn = degrees.map(|at| -f64::from(model.cycled(2_000.0, 600.0, Celsius(at)).erase));
    rises("ten minutes of dwell, hotter and hotter", &worn);
    let rested = [0.0, 30.0, 90.0]
        .map(|days| -f64::from(model.cycled(2_000.0, 600.0, HOME).rested(model.physics(), days * 86_400.0, Celsius(40.0)).erase));
    rises("months of rest make a block younger", &rested);
}

#[test]
fn a_state_that_is_set_is_the_state_that_cycles_lead_to() {
    let model = chip("tlc48", &[]);
    let mut history = History::default();
    for _ in 0..3_000 {
        history = history.erased(model.physics(), 300.0, Celsius(45.0), 0, false).programmed(model.physics(), 300.0, Celsius(45.0));
    }
    let set = model.cycled(3_000.0, 300.0, Celsius(45.0));
    assert!((history.erase / set.erase - 1.0).abs() < 2e-3, "{history:?} {set:?}");
    assert!((history.program / set.program - 1.0).abs() < 2e-3, "{history:?} {set:?}");
}

#[test]
fn stronger_fields_wear_faster_and_gentle_erases_slower() {
    let mild = chip("tlc48", &["physics.profile.curvature=0.3"]);
    let strong = chip("tlc48", &["physics.profile.curvature=0.8"]);
    let bottom = |model: &Model| model.traits(&model.block(1, 0, 0), 47).wear;
    assert!(bottom(&strong) > bottom(&mild), "narrow holes at the bottom see more field where it follows the diameter more");
    let model = chip("tlc48", &[]);
    let block = model.block(1, 0, 0);
    let mut layers: Vec<(f64, f64)> =
        (0..48).map(|layer| (model.layers()[layer as usize].field, model.low_stress_coefficient(&model.traits(&block, layer)))).collect();
    layers.sort_by(|a, b| a.0.total_cmp(&b.0));
    rises("relief by a gentle erase, over the field", &layers.iter().map(|pair| -pair.1).collect::<Vec<_>>());
    let gentle = History::default().erased(model.physics(), 0.0, HOME, 0, true);
    let normal = History::default().erased(model.physics(), 0.0, HOME, 0, false);
    assert!(model.wear(&model.typical(), &gentle) < 0.4 * model.wear(&model.typical(), &normal));
}

#[test]
fn wider_steps_are_faster_and_worse() {
    let chips: Vec<Model> = [130.0, 162.5, 203.125]
        .map(|step| chip("tlc48", &[&format!("physics.ispp.step={step} mV"), &format!("physics.ispp.window={} mV", step * 20.0)]))
        .into();
    let times: Vec<f64> =
        chips.iter().map(|model| -model.program(&model.typical(), &History::default(), &Settings::default()).time).collect();
    rises("speed over the step", &times);
    rises(
        "errors over the step",
        &chips.iter().map(|model| errors(model, &model.typical(), &aged(model, 1_000.0, YEAR / 12.0))).collect::<Vec<_>>(),
    );
}

#[test]
fn whatever_the_condition_a_rate_is_a_rate() {
    let cycles = [0.0, 1e3, 1e5, 1e6];
    let kept = [0.0, YEAR, 1e3 * YEAR];
    for name in CHIPS {
        for layers in [1, 2, 32, 64, 96, 128] {
            let model = chip(name, &[&format!("geometry.layers={layers}")]);
            let block = model.block(7, 1, 2);
            for layer in [0, layers / 2, layers - 1] {
                for (cycles, kept) in cycles.iter().flat_map(|c| kept.iter().map(move |k| (*c, *k))) {
                    for degrees in [-40.0, 30.0, 125.0] {
                        let condition = Condition { read_at: Celsius(degrees), reads: 1e9, ..aged(&model, cycles, kept) };
                        let wordline = model.wordline(&model.traits(&block, layer), &condition);
                        for page in 0..model.physics().shape.cell.bits() {
                            for references in [model.references(0), model.references(9), wordline.optimal()] {
                                let rate = wordline.error_rate(&model, page, &references);
                                assert!(
                                    (0.0..=0.5).contains(&rate),
                                    "{name}, {layers} layers, {cycles} cycles, {kept} s, {degrees} C: {rate}"
                                );
                            }
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn what_makes_a_block_wear_fast_makes_it_program_fast() {
    for name in CHIPS {
        let model = chip(name, &[]);
        // Of one chip, so that its own part and the wafer's are equal.
        let mut blocks: Vec<_> = (0..40).map(|block| model.block(4, 2, block)).collect();
        blocks.sort_by(|a, b| a.wear.total_cmp(&b.wear));
        rises("speed over wear", &blocks.iter().map(|block| block.speed).collect::<Vec<_>>());
        let program = |traits: &Traits| model.program(traits, &History::default(), &Settings::default()).time;
        let of = |block: &Block| (0..model.physics().shape.layers).map(|layer| program(&model.traits(block, layer))).sum::<f64>();
        let time = |blocks: &[Block]| blocks.iter().map(of).sum::<f64>();
        let (slow, fast) = blocks.split_at(20);
        // Loops of the MLC chip are so wide that all its blocks take as many.
        let told = if name == "mlc48" { time(fast) == time(slow) } else { time(fast) < time(slow) };
        assert!(told, "{name}: {} and {}", time(fast), time(slow));
    }
}

#[test]
fn other_heights_keep_the_shape_of_a_block() {
    for layers in [32u32, 64, 96, 128] {
        let model = chip("tlc48", &[&format!("geometry.layers={layers}")]);
        let block = model.block(1, 0, 0);
        let profile: Vec<f64> =
            (0..layers).map(|layer| errors(&model, &model.traits(&block, layer), &aged(&model, 2_000.0, YEAR))).collect();
        let (least, most) = (profile.iter().copied().fold(f64::MAX, f64::min), profile.iter().copied().fold(0.0, f64::max));
        assert!((1.5..4.0).contains(&(most / least)), "{layers} layers: {}", most / least);
        let best = profile.iter().position(|&errors| errors == least).unwrap_or(0) as f64 / f64::from(layers);
        assert!((0.2..0.8).contains(&best), "{layers} layers: the best is at {best} of the height");
    }
}

#[test]
fn wordlines_of_a_layer_are_alike_and_specimens_are_pure_functions_of_their_names() {
    let model = chip("tlc48", &[]);
    let once = model.traits(&model.block(9, 5, 77), 13);
    let _ = model.block(9, 5, 78);
    assert_eq!(once, model.traits(&model.block(9, 5, 77), 13));
    assert_ne!(once, model.traits(&model.block(9, 5, 77), 14));
    assert_ne!(once, model.traits(&model.block(10, 5, 77), 13));
}

#[test]
fn locks_hold_by_majority_and_leak_with_time() {
    let model = chip("tlc48", &[]);
    let physics = model.physics();
    let holding = |years: f64| flag::holding(physics, 3.0, 100.0, years * YEAR);
    rises("flag cells lost", &[0.0, 1.0, 5.0, 20.0].map(|years| -holding(years)));
    assert!(flag::majority(holding(5.0), 9) > 0.999_99, "{}", flag::majority(holding(5.0), 9));
    assert!((flag::majority(0.5, 9) - 0.5).abs() < 1e-12);
    let centre = |years: f64| flag::select_centre(&physics.select, 5.0, 300.0, years * YEAR);
    rises("select cells leak", &[0.0, 1.0, 5.0].map(|years| -centre(years)));
}
