//! Nulls of claims in studies that are run: the effect is switched off on the chips and drives of the bench, and the claim must be off.

use wordline_lab::reproduce::{Bookings, Count, Outcome};
use wordline_lab::{LabError, Study};

/// Runs a study of one claim on one block.
fn reproduce(head: &str, measured: &str, band: &str, null: &str) -> Result<Outcome, LabError> {
    let text = format!(
        "title = \"x\"\nlot = \"1x1\"\n{head}\n[[judge]]\nclaim = \"cube.dev.dV.fresh\"\nmeasured = \"{measured}\"\nband = \"{band}\"\nwhy = \"a test\"\nnull = [{null}]\n"
    );
    Bookings::default().run(&Study::parse("x", "x.toml", &text)?, 2)
}

fn count(outcome: &Outcome) -> Count {
    Count::of(&outcome.lines)
}

#[test]
fn a_null_of_the_chip_turns_a_claim_off_and_one_that_changes_nothing_does_not() {
    let of = |null: &str| reproduce("", "layers.edge-retention", "above 0", null).unwrap_or_else(|error| panic!("{error}"));
    // Another effect than that of the reading: the value is the same to the last digit.
    let idle = of("\"physics.flag.loss=100 mV\"");
    let null = idle.lines[0].null.as_ref().expect("it has run with its null");
    assert_eq!((count(&idle).stays, count(&idle).reproduced, null.measured), (1, 0, idle.lines[0].measured));
    let (value, low) = (idle.lines[0].measured.expect("a value"), of("\"physics.profile.loss_edge=0\"").lines[0].null.clone());
    let low = low.and_then(|null| null.measured).expect("a value with the null");
    assert!(low < value, "{low} with the null, {value} without");
    let band = format!("at least {}", (low + value) / 2.0);
    let off = reproduce("", "layers.edge-retention", &band, "\"physics.profile.loss_edge=0\"").unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((count(&off).reproduced, count(&off).without_null), (1, 0), "{:?}", off.lines);
}

#[test]
fn a_null_that_nothing_takes_and_one_that_the_chip_cannot_have_are_refused_with_their_place() {
    let told = |null: &str| reproduce("", "layers.dv-fresh", "1 to 3", null).expect_err(null).to_string();
    let firmware = told("\"gc.victim=fifo\"");
    assert!(
        firmware.starts_with("x.toml:9:9: ") && firmware.contains("no chip and no drive of bench layers takes `gc.victim=fifo`"),
        "{firmware}"
    );
    let broken = told("\"geometry.layers=0\"");
    assert!(broken.starts_with("x.toml:9:9: with the null geometry.layers=0") && broken.contains("geometry.layers"), "{broken}");
    let unknown = told("\"physics.wear.feild=0\"");
    assert!(unknown.starts_with("x.toml:9:9: `null`: unknown key `feild` in [physics.wear]"), "{unknown}");
}

#[test]
fn a_null_of_the_firmware_reaches_the_drives_of_a_bench() {
    let head = "[conditions.told]\nsource = \"a test\"\ndrive = \"boundedread\"\nsize = \"1 GiB\"\ncycles = [\"2k\"]\n";
    // References by age need a technique that measures ages: both are switched off.
    let off = "\"techniques.read-reference.on=false\", \"techniques.block-age.on=false\"";
    let off = reproduce(head, "told.unseen", "at most 0.5", off).unwrap_or_else(|error| panic!("{error}"));
    let null = off.lines[0].null.as_ref().and_then(|null| null.measured);
    assert!(count(&off).reproduced == 1 && null.is_some_and(|value| value > 0.5), "{:?}", off.lines);
    let idle = reproduce(head, "told.unseen", "at most 0.5", "\"gc.victim=fifo\"").unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(count(&idle).stays, 1, "{:?}", idle.lines);
    let told = reproduce(head, "told.unseen", "at most 0.5", "\"techniques.idle-reclaim.after=1 s\"").expect_err("a technique that is off");
    assert!(told.to_string().contains("no chip and no drive of bench told takes"), "{told}");
}
