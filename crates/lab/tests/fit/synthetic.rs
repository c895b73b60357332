//! Does a fit find a chip again whose histograms the model itself drew?

use std::fmt::Write;

use wordline_cells::special::tail_inverse;
use wordline_cells::{Condition, History, Model, Physics};
use wordline_lab::fit::{Digest, Histograms, Outcome, Task};
use wordline_plan::Chip;
use wordline_units::Celsius;
use wordline_units::random::{Draw, Stream};

const SEED: u64 = 20_260;
const STEP: f64 = 40.0;
const PE: [u32; 5] = [0, 1000, 3000, 6000, 9000];
/// Time in hours and reads of each retention index. The freshest is zero, and the strongest are those the others are measured by.
const KEPT: [(f64, f64); 4] = [(0.0, 0.0), (24.0, 0.0), (8766.0, 0.0), (0.0, 100_000.0)];
/// Cells of a state on a wordline.
const CELLS: f64 = 20_000.0;
const LAYERS: u32 = 8;

/// Subject with another chip than the one the search begins with.
fn chip() -> Physics {
    let mut physics = Chip::load("tlc48").expect("it comes with Wordline").physics().clone();
    physics.shape.layers = LAYERS;
    for (section, key, values) in [
        ("states", "verify", vec![980.0, 1690.0, 2360.0, 3050.0, 3760.0, 4440.0, 5170.0]),
        ("states", "placement", vec![0.2]),
        ("states", "noise", vec![76.0]),
        ("states", "top_noise", vec![0.0]),
        ("states", "noise_by_state", vec![1.0, 1.0, 1.05, 1.0, 0.95, 1.1, 1.3]),
        ("tails", "lower_by_state", vec![1.0, 1.0, 1.0, 1.5, 1.0, 2.0, 1.0]),
        ("tails", "upper_share", vec![0.05]),
        ("tails", "upper_length", vec![60.0]),
        ("tails", "lower_share", vec![0.04]),
        ("tails", "lower_length", vec![75.0]),
        ("profile", "offset", vec![20.0, 14.0, 8.0, 2.0, -4.0, -8.0, -12.0, -20.0]),
        ("profile", "width", vec![1.06, 1.02, 1.0, 0.98, 0.97, 0.98, 0.99, 1.0]),
        ("wear", "noise", vec![0.35]),
        ("wear", "noise_power", vec![0.7]),
        ("wear", "lift", vec![40.0]),
        ("wear", "top_lift", vec![15.0]),
        ("retention", "loss", vec![7.0]),
        ("retention", "neutral", vec![1000.0]),
        ("retention", "wear", vec![1.2]),
        ("retention", "noise", vec![0.01]),
        ("read_disturb", "lift", vec![120.0]),
    ] {
        assert!(physics.set(section, key, &values), "{section}.{key}");
    }
    for key in ["noise_field", "noise_edge", "loss_edge", "loss_field"] {
        assert!(physics.set("profile", key, &[0.0]));
    }
    physics.wear.field = 0.0;
    for parameter in Physics::PARAMETERS.iter().filter(|parameter| parameter.section == "variation") {
        physics.set(parameter.section, parameter.key, &[0.0]);
    }
    physics
}

/// Histograms of the subject, drawn as counts of cells.
fn histograms(physics: &Physics) -> Histograms {
    let model = Model::new(physics).expect("a possible chip");
    let block = model.block(0, 0, 0);
    let mut draw = Draw::new(SEED, Stream::CellSample, 0);
    let mut text = "model,WL,Retention,PEC,step,freq\n".to_owned();
    for pe in PE {
        for (index, (hours, reads)) in KEPT.iter().enumerate() {
            let history = History { erase: pe as f32, program: pe as f32, gentle: 0.0 };
            let condition = Condition::new(history, Celsius(physics.retention.temperature)).kept(hours * 3600.0).read(*reads);
            for wordline in 0..LAYERS * 4 {
                let states = model.wordline(&model.traits(&block, wordline / 4), &condition).states;
                for (number, state) in states[1..8].iter().enumerate() {
                    for step in 1..140u32 {
                        let low = 600.0 + STEP * (f64::from(step) - 0.5);
                        let expected = CELLS * (state.above(low) - state.above(low + STEP));
                        let chance = draw.unit().clamp(1e-12, 1.0 - 1e-12);
                        // Few cells: how many there are is a matter of Poisson's law; many: of the normal one.
                        let count =
                            if expected > 20.0 { expected - expected.sqrt() * tail_inverse(chance) } else { poisson(expected, chance) };
                        if count >= 0.5 {
                            let _ = writeln!(text, "{},{wordline},{},{pe},{step},{:.0}", number + 2, index + 1, count);
                        }
                    }
                }
            }
        }
    }
    Histograms::read(text.as_bytes(), "drawn").expect("a whole table")
}

fn poisson(mean: f64, chance: f64) -> f64 {
    let mut term = libm::exp(-mean);
    let (mut sum, mut count) = (term, 0.0);
    while sum < chance && count < 200.0 {
        count += 1.0;
        term *= mean / count;
        sum += term;
    }
    count
}

#[test]
fn a_drawn_chip_comes_back() {
    println!("seed {SEED}");
    let truth = chip();
    let histograms = histograms(&truth);
    assert_eq!(histograms.axis, wordline_lab::fit::Axis::default(), "nothing was left out of the axis");
    let digest = Digest::of(&histograms, 4).expect("whole layers");
    let like = Chip::load("tlc48").expect("it comes with Wordline");
    let voltage = wordline_lab::fit::Voltage { step: STEP, zero: 600.0 };
    let task = Task { digest: &digest, like: like.physics(), voltage, anchor_seconds: 8766.0 * 3600.0, held_out: &[6000], once: None };
    let outcome = Outcome::of(&task, false, None).expect("a possible chip");
    let (fitted, held) = (outcome.fitted(), outcome.held());
    println!("{fitted:?}\n{held:?}");
    // What was drawn has counting noise only.
    assert!(fitted.median_rms < 0.04 && held.median_rms < 0.04, "medians: {} and {}", fitted.median_rms, held.median_rms);
    assert!(fitted.width_rms < 0.03 && held.width_rms < 0.03, "widths: {} and {}", fitted.width_rms, held.width_rms);
    assert!(fitted.factor < 1.08 && held.factor < 1.08, "misreads: {} and {}", fitted.factor, held.factor);
    let near = |section: &str, key: &str, tolerance: f64| {
        let (wanted, found) = (truth.get(section, key).expect("known"), outcome.subject.physics.get(section, key).expect("known"));
        for (wanted, found) in wanted.iter().zip(&found) {
            assert!((found - wanted).abs() <= tolerance, "{section}.{key}: {found} for {wanted}");
        }
    };
    // A uniform part and tails on both sides share the width: only their sum is sharp. The levels move with them.
    near("states", "verify", 1.2 * STEP);
    near("states", "noise_by_state", 0.1);
    near("profile", "offset", 0.1 * STEP);
    near("profile", "width", 0.02);
    near("wear", "lift", 0.15 * STEP);
    near("wear", "top_lift", 0.15 * STEP);
    near("wear", "noise_power", 0.15);
    near("retention", "loss", 1.5);
    let (hours, _) = outcome.subject.equivalents()[1];
    assert!((10.0..60.0).contains(&(hours / 3600.0)), "the day came back as {} h", hours / 3600.0);
}
