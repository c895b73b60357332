//! Calibrations: values of a chip that were changed are found again from what was measured before.

use wordline_lab::calibrate::{Calibration, Parameters, Questions, Task, calibrate, report};
use wordline_lab::conditions::LotSize;
use wordline_lab::{CHIP, Study};
use wordline_plan::Chip;

use crate::{run, setup};

const METRICS: [(&str, &str); 4] = [("r1-cycled", " mV"), ("r2-cycled", " mV"), ("interference", ""), ("temperature-move", " mV")];

/// A study whose bands lie around the values of the chip as it is.
fn study() -> Study {
    let true_values = run("vth", &setup(2, &[]));
    let mut text = "title = \"x\"\nlot = \"1x2\"\n".to_owned();
    for (metric, unit) in METRICS {
        let value = true_values.get(metric).expect("it is measured");
        let (low, high) = (value - value.abs() / 50.0, value + value.abs() / 50.0);
        let band = format!("band = \"{low} to {high}{unit}\"\nwhy = \"a test\"");
        text += &format!("[[judge]]\nclaim = \"cube.dev.dV.fresh\"\nmeasured = \"vth.{metric}\"\n{band}\n");
    }
    Study::parse("x", "x.toml", &text).unwrap_or_else(|error| panic!("{error}"))
}

fn task(settings: &[&str], free: &[&str], iterations: u32, threads: usize) -> Task {
    let owned = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
    let chip = Chip::load_set(CHIP, settings).unwrap_or_else(|error| panic!("{error}"));
    let lot = LotSize { chips: 1, blocks: 1 };
    Task {
        chip: CHIP.to_owned(),
        settings: owned(settings),
        parameters: Parameters::choose(chip.physics(), &owned(free), &[], 0.02).unwrap_or_else(|error| panic!("{error}")),
        questions: Questions::of(&[study()], CHIP, CHIP, &[1, 2], Some(lot)).unwrap_or_else(|error| panic!("{error}")),
        step: 0.02,
        iterations,
        threads,
    }
}

fn calibrated(task: &Task) -> Calibration {
    calibrate(task, &|_, _| {}).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn two_values_that_were_changed_are_found_again_on_any_number_of_threads() {
    let started = ["physics.wear.erased_lift=800 mV", "physics.temperature.shift=-1.5 mV/K"];
    let free = ["physics.wear.erased_lift", "physics.temperature.shift"];
    let task_of = |threads| task(&started, &free, 6, threads);
    let found = calibrated(&task_of(2));
    let true_chip = Chip::load(CHIP).expect("a chip");
    for (moved, true_value) in found.moved.iter().zip([true_chip.physics().wear.erased_lift, true_chip.physics().temperature.shift]) {
        let value = moved.parameter.value(moved.to);
        assert!((value / true_value - 1.0).abs() < 0.01, "{}: {value}, not {true_value}", moved.parameter.name());
    }
    let again = calibrated(&task_of(1));
    assert_eq!(report::text(&task_of(1), &again), report::text(&task_of(2), &found));
    // The file that is written is the chip that was found.
    let file = Chip::parse("found.toml", &report::chip_file(&task_of(1), &found, "a test")).unwrap_or_else(|error| panic!("{error}"));
    let settings = [started.map(str::to_owned).to_vec(), report::settings(&found)].concat();
    assert_eq!(file.physics(), Chip::load_set(CHIP, &settings).expect("settings").physics());
}

#[test]
fn a_value_that_nothing_depends_on_has_a_column_of_zeros_and_is_undetermined() {
    let task = task(&[], &["physics.wear.erased_lift", "physics.flag.mean", "physics.wear.lift"], 0, 2);
    let found = calibrated(&task);
    let column = |name: &str| found.moved.iter().zip(&found.columns).find(|(moved, _)| moved.parameter.name() == name).expect("free").1;
    assert!(column("physics.flag.mean").iter().all(|slope| *slope == 0.0) && column("physics.wear.lift").iter().any(|slope| *slope != 0.0));
    assert_eq!(report::undetermined(&found), ["physics.flag.mean"]);
    assert!(found.before == found.after && report::settings(&found).is_empty(), "a Jacobian alone changes nothing");
    let text = report::text(&task, &found);
    assert!(text.contains("undetermined, because no residual depends on it: physics.flag.mean"), "{text}");
}

#[test]
fn studies_of_other_chips_are_left_out_and_none_at_all_is_refused() {
    let other = Study::parse("y", "y.toml", "title = \"y\"\nchip = \"qlc64\"\n").unwrap_or_else(|error| panic!("{error}"));
    let both = Questions::of(&[study(), other.clone()], CHIP, CHIP, &[1], None).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((both.all.len(), both.left_out[0].0.as_str(), both.runs()), (METRICS.len(), "y", 1));
    let refused = Questions::of(&[other], CHIP, CHIP, &[1], None).err().expect("nothing to ask").to_string();
    assert!(refused.contains("chip tlc48") && refused.contains("--like"), "{refused}");
}
