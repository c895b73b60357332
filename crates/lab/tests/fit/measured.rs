//! The chip fitted to real histograms: is the committed file what the fit gives, and does it predict what it did not see?
//!
//! The histograms are not part of the project: where they are absent, the test counts as skipped.

use std::path::Path;

use wordline_cells::Physics;
use wordline_lab::fit::{Digest, Histograms, Origin, Outcome, Subject, Task, chip_file, judge};
use wordline_plan::Chip;

use crate::outside;

fn digest(file: &Path) -> Digest {
    let histograms = Histograms::open(file).expect("readable");
    assert_eq!(histograms.len(), 96_768);
    assert_eq!(histograms.axis.skipped, [35, 52, 70, 87, 106], "where the windows of the measurement meet");
    assert_eq!(histograms.axis.unmeasured, [18]);
    Digest::of(&histograms, 4).expect("64 layers")
}

/// Checks that the committed chip says of every condition what the fit says now. Not compared digit by digit: flat directions of the search end elsewhere
/// when the chip it inherits from is calibrated again.
fn same_predictions(digest: &Digest, committed: &Physics, outcome: &Outcome) {
    let subject = Subject { physics: committed.clone(), ..outcome.subject.clone() };
    let verdicts = judge(digest, &subject, outcome.voltage, &|_| false).expect("a possible chip");
    for (committed, fitted) in verdicts.iter().zip(&outcome.verdicts) {
        let place = format!("P/E {}, retention {}", fitted.pe, fitted.retention);
        let off = |what: &str| {
            format!(
                "{place}: {what} of chips/tlc64-measured.toml are not what the fit gives now: run the command of docs/models/tlc64-measured.md"
            )
        };
        for (state, (one, other)) in committed.residuals.iter().zip(&fitted.residuals).enumerate() {
            let worst = one.iter().zip(other).map(|(one, other)| (one - other).abs()).fold(0.0, f64::max);
            assert!(worst < 0.05, "{}", off(&format!("quantiles of P{} ({worst} steps)", state + 1)));
        }
        for (one, other) in committed.predicted.iter().zip(&fitted.predicted) {
            assert!((one / other - 1.0).abs() < 0.03, "{}", off(&format!("misreads ({one} for {other})")));
        }
    }
}

#[test]
fn the_measured_chip_is_what_the_fit_gives_and_it_predicts() {
    let (name, needed) = ("measured::the_measured_chip_is_what_the_fit_gives_and_it_predicts", "reliability/tlc3d_vth_histograms.csv.zst");
    let Some(file) = outside::find_or_skip(env!("CARGO_MANIFEST_DIR"), name, needed) else { return };
    let digest = digest(&file);
    let like = Chip::load("tlc48").expect("it comes with Wordline");
    let voltage = Task::normalised(&digest, like.physics());
    let anchor_seconds = wordline_lab::conditions::span("1y").expect("a time");
    let task = Task { digest: &digest, like: like.physics(), voltage, anchor_seconds, held_out: &[], once: None };
    let outcome = Outcome::of(&task, false, None).expect("a possible chip");

    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../chips/tlc64-measured.toml");
    let committed = std::fs::read_to_string(path).expect("it comes with Wordline");
    let chip = Chip::parse("tlc64-measured.toml", &committed).expect("a whole chip");
    same_predictions(&digest, chip.physics(), &outcome);

    // A file that is written now says what was judged, to the last digit.
    let origin = Origin { like: "tlc48".into(), measured: "test".into(), residual: outcome.residual() };
    let fresh = Chip::parse("fresh.toml", &chip_file(&task, &outcome.subject, &origin)).expect("a whole chip");
    assert_eq!(*fresh.physics(), outcome.subject.physics);

    // Between and beyond the counts that were measured: finite, rising, and no jump.
    for pair in outcome.course.windows(2) {
        for (before, after) in pair[0].1.iter().zip(&pair[1].1) {
            assert!(
                *before > 1e-5 && after >= before && *after < before * 1.35,
                "from P/E {} to {}: {before} to {after}",
                pair[0].0,
                pair[1].0
            );
        }
    }

    // Kept from a third of the counts, one of them beyond the others, the fit predicts them nearly as well as those it saw.
    let held_out = [3000, 6000, 9000];
    let outcome = Outcome::of(&Task { held_out: &held_out, ..task.clone() }, false, None).expect("a possible chip");
    let (fitted, held) = (outcome.fitted(), outcome.held());
    println!("{fitted:?}\n{held:?}");
    assert_eq!((fitted.conditions, held.conditions), (36, 18));
    assert!(held.median_rms < 0.3 && held.median_rms < 2.0 * fitted.median_rms, "{held:?}");
    assert!(held.factor < 1.35 && held.range.0 > 0.5 && held.range.1 < 2.0, "{held:?}");
    let (correlation, worst, predicted) = wordline_lab::fit::layer_agreement(&outcome.verdicts);
    assert!(correlation > 0.8 && (predicted / worst - 1.0).abs() < 0.15, "{correlation} {worst} {predicted}");
}
