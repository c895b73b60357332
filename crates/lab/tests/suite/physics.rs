//! A study measures the chip and not itself: change a physical parameter, and what is measured moves the way physics says.

use wordline_lab::Study;
use wordline_lab::band::Verdict;
use wordline_lab::reproduce::Bookings;

use crate::{measured, run, setup};

#[test]
fn what_is_measured_follows_the_parameters() {
    let cases: &[(&str, &str, bool)] = &[
        // More wear where the field is stronger: layers drift apart.
        ("layers.dv-aged", "physics.wear.field=4", true),
        // Edge layers that lose no more charge than others.
        ("layers.edge-retention", "physics.profile.loss_edge=0", false),
        // Erases that cause less of the wear.
        ("erase.erase-share", "physics.wear.erase_share=50 %", false),
        // A gentler gate spares more.
        ("erase.weak-mean", "physics.ispe.gentle_gate=2 V", true),
        // Charge that leaks faster.
        ("vth.edge-over-centre", "physics.profile.loss_edge=2", true),
        ("vth.open-interval", "physics.open_interval.noise=0", false),
        // A longer verify makes skipping it worth more.
        ("program.skip-gain", "physics.ispp.verify=12 us", true),
        // Less charge lost, fewer retries.
        ("retries.year", "physics.retention.loss=1 mV", false),
        ("flags.vi-errors", "physics.flag.loss=100 mV", false),
    ];
    for (full, setting, rises) in cases {
        let (before, after) = (measured(full, &[]), measured(full, &[setting]));
        assert!(before != after && (after > before) == *rises, "{full}: {before} became {after} with {setting}");
    }
}

#[test]
fn a_verdict_comes_from_the_measurement_and_the_band_alone() {
    let text = |band: &str| {
        format!(
            "title = \"x\"\nlot = \"1x2\"\n[[judge]]\nclaim = \"cube.dev.dV.fresh\"\nmeasured = \"layers.dv-fresh\"\nband = \"{band}\"\nwhy = \"a test\"\n"
        )
    };
    let verdict = |band: &str| {
        let study = Study::parse("x", "x.toml", &text(band)).unwrap_or_else(|error| panic!("{error}"));
        let outcome = Bookings::default().run(&study, 1).unwrap_or_else(|error| panic!("{error}"));
        outcome.lines[0].verdict.clone()
    };
    assert_eq!(verdict("1 to 3"), Verdict::Reproduced.word());
    assert_eq!(verdict("9 to 10"), Verdict::Off(String::new()).word());
}

#[test]
fn a_study_can_measure_at_conditions_of_its_own() {
    let text = |conditions: &str| {
        format!(
            "title = \"x\"\nlot = \"1x1\"\n{conditions}\n[[judge]]\nclaim = \"ort.r1-pe1000\"\nmeasured = \"vth.r1-cycled\"\nband = \"270 to 330 mV\"\nwhy = \"a test\"\n"
        )
    };
    let measured = |conditions: &str| {
        let study = Study::parse("x", "x.toml", &text(conditions)).unwrap_or_else(|error| panic!("{error}"));
        let outcome = Bookings::default().run(&study, 1).unwrap_or_else(|error| panic!("{error}"));
        outcome.lines[0].measured.expect("measured")
    };
    let (fewer, usual) = (measured("[conditions.vth]\nsource = \"a test\"\ncycled = 500"), measured(""));
    assert!(fewer > 0.0 && fewer < usual, "R1 moves {fewer} mV in half the cycles, {usual} mV in all");
}

#[test]
fn where_no_source_has_been_things_go_their_way_without_jumps() {
    for chip in ["tlc48", "mlc48", "qlc64", "tlc2d"] {
        let found = run("held-out", &wordline_lab::bench::Setup { chip: chip.to_owned(), ..setup(1, &[]) });
        for order in ["cycles-order", "kept-order", "kept-warm-order", "dwell-warm-order"] {
            assert_eq!(found.get(order), Some(1.0), "{chip}: {order}");
        }
        assert!(found.get("jump").is_some_and(|jump| jump < 100.0), "{chip}: {:?}", found.get("jump"));
        // Wear sets in over some cycles: a power law alone would bring a third of what 1,000 cycles do with the first.
        assert!(found.get("noise-first").is_some_and(|share| share < 0.05), "{chip}: {:?}", found.get("noise-first"));
        assert!(found.get("best-first").is_some_and(|ratio| ratio < 1.05), "{chip}: {:?}", found.get("best-first"));
        // Default references are those of a used block, but a new one is never much the worse for it.
        assert!(found.get("default-fresh").is_some_and(|ratio| ratio < 1.15), "{chip}: {:?}", found.get("default-fresh"));
    }
    let heights = run("height", &setup(2, &[]));
    assert!(heights.get("dv-least") > Some(1.5) && heights.get("dv-most") < Some(4.0), "{:?}", heights.values);
    // And they go nowhere where the mechanism is taken out, or in a step where it has no onset.
    let step = run("held-out", &setup(1, &["physics.wear.onset=0 cycles"]));
    assert!(step.get("noise-first") > Some(0.3), "{:?}", step.get("noise-first"));
    let still = run("held-out", &setup(1, &["physics.retention.energy=0 eV", "physics.recovery.energy=0 eV"]));
    assert_eq!((still.get("kept-warm-order"), still.get("dwell-warm-order")), (Some(0.0), Some(0.0)));
}
