//! Programming: how many verifies can be skipped, how far the voltage window can be narrowed, and what a leader tells of its followers (003 §4.1, §3.2).
//!
//! Errors are those of the worst h-layer (kappa) at 2K P/E and 1 year unless said otherwise, at the best references.

use wordline_cells::{Condition, Settings, Traits};
use wordline_report::html::figure::{Curve, Curves, Figure, Scale};

use super::{Bench, Findings, Setup, m};
use crate::error::LabError;
use crate::lot::{Lot, YEAR, correlation, greatest, least, mean, rank_correlation, share};

/// The bench.
pub(super) const BENCH: Bench = Bench {
    name: "program",
    summary: "ISPP with verifies skipped and windows narrowed: time saved, errors paid",
    metrics: &[
        m("p7-skip", "count", "Verifies that the highest state can skip before errors rise by more than 3 %"),
        m("p1-skip", "count", "Verifies that the lowest programmed state can skip"),
        m("skip-order", "share", "Neighbouring states of which the higher can skip at least as many as the lower"),
        m("skip-harm", "share", "Steps of skipping one verify more, up to all but the last, at which errors do not fall"),
        m("p7-first", "count", "L_min of the highest state: verifies that are of no use before its fastest cells arrive, plus one"),
        m("p7-last", "count", "L_max of the highest state"),
        m("skip-gain", "share", "t_PROG saved by skipping what the leader saw to be of no use, mean over layers"),
        m("window-320", "share", "t_PROG saved by a window that is 320 mV narrower, mean over layers"),
        m("window-130", "share", "t_PROG saved by a V_final that is 130 mV lower"),
        m("window", "mV", "V_final less V_start"),
        m("window-tenth", "share", "t_PROG saved by a window that is a tenth narrower"),
        m("both-gain", "share", "t_PROG saved by skipping and a window 320 mV narrower together"),
        m("margin-linear", "ratio", "Correlation of the errors and the width taken from the window, over the range in use"),
        m("margin-safe", "share", "Layers whose errors stay below the limit with the margin that their own spare allows"),
        m("margin-best-over-worst", "mV", "Margin the best layer allows less that of the worst"),
        m(
            "ep1-predicts",
            "ratio",
            "Rank correlation over wordlines of errors between E and P1 after program, and of all errors after a year",
        ),
        m("online-over-static", "ratio", "Verifies skipped by what the leader saw, over those of a table safe for all blocks"),
        m("window-online-over-static", "ratio", "Window margin by each layer's own spare, both ends, over a table's on V_final alone"),
        m("spare-layers", "share", "Layers with spare margin at 2K P/E and 1 year"),
        m("spare-falls", "share", "Steps of P/E and retention at which spare margin falls, mean over layers"),
        m("spare-least-worst", "share", "Blocks in which the worst layer at 2K P/E and 1 year has the least spare margin there is"),
        m("time-spread", "ratio", "t_PROG of the slowest layer over the fastest, mean over blocks"),
        m("time-within", "us", "Greatest difference of t_PROG within an h-layer"),
        m("mean-time", "us", "Mean t_PROG of a fresh block"),
        m("loop", "us", "One loop: pulse and mean number of verifies"),
        m("late-verifies", "count", "Verifies of followers that are still done, mean per loop"),
    ],
    run,
};

/// Errors that count as more.
const RISE: f64 = 1.03;

struct Seen {
    skip_gain: f64,
    both_gain: f64,
    narrow: [f64; 3],
    spread: f64,
    fresh: f64,
    online: Vec<Vec<f64>>,
    margins: Vec<f64>,
    spare: [Vec<f64>; 3],
    ep1: Vec<(f64, f64)>,
    verifies: f64,
    loops: f64,
    least_is_worst: bool,
}

fn run(setup: &Setup) -> Result<Findings, LabError> {
    let lot = Lot::open(setup)?;
    let physics = lot.model.physics();
    let states = physics.shape.states() - 1;
    let mut findings = Findings::default();
    let kappa = worst_layer(&lot);
    let aged = lot.aged(2_000.0, YEAR);

    // Errors over skipped verifies, state by state.
    let reference = lot.n_ret(&kappa, &aged);
    let errors = |state: usize, skipped: u8| lot.n_ret(&kappa, &aged.settings(skipping(state, skipped))) / reference;
    let last = lot.model.program(&kappa, &aged.history, &Settings::default()).last;
    let curves: Vec<Vec<f64>> = (0..states).map(|state| (0..last[state]).map(|skipped| errors(state, skipped)).collect()).collect();
    let safe: Vec<f64> = curves.iter().map(|curve| (curve.iter().take_while(|errors| **errors <= RISE).count() - 1) as f64).collect();
    findings.set("p7-skip", safe[states - 1]);
    findings.set("p1-skip", safe[0]);
    findings.set("skip-order", share(safe.windows(2).map(|pair| pair[1] >= pair[0])));
    findings.set("skip-harm", share(curves.iter().flat_map(|curve| curve.windows(2).map(|pair| pair[1] >= pair[0] * (1.0 - 1e-9)))));
    let program = lot.model.program(&kappa, &aged.history, &Settings::default());
    findings.set("p7-first", f64::from(program.first[states - 1]));
    findings.set("p7-last", f64::from(program.last[states - 1]));

    let seen = lot.map(|block| look(&lot, block, states));
    let over = |of: fn(&Seen) -> f64| mean(&seen.iter().map(of).collect::<Vec<_>>());
    findings.set("skip-gain", over(|seen| seen.skip_gain));
    findings.set("window-320", over(|seen| seen.narrow[0]));
    findings.set("window-130", over(|seen| seen.narrow[1]));
    findings.set("window-tenth", over(|seen| seen.narrow[2]));
    findings.set("window", physics.ispp.window);
    findings.set("both-gain", over(|seen| seen.both_gain));
    findings.set("time-spread", over(|seen| seen.spread));
    findings.set("time-within", 0.0);
    findings.set("mean-time", over(|seen| seen.fresh));
    findings.set("loop", over(|seen| seen.fresh / seen.loops));
    findings.set("late-verifies", over(|seen| seen.verifies));

    // Margins: taken evenly from both ends, of the worst layer.
    let widths: Vec<f64> = (0..=8).map(|step| 40.0 * f64::from(step)).collect();
    let narrowed: Vec<f64> = widths.iter().map(|width| lot.n_ret(&kappa, &aged.settings(narrower(*width)))).collect();
    findings.set("margin-linear", correlation(&widths, &narrowed));
    let margins: Vec<&[f64]> = seen.iter().map(|seen| seen.margins.as_slice()).collect();
    let layers = lot.layers();
    let by_layer: Vec<f64> = (0..layers).map(|layer| mean(&margins.iter().map(|of| of[layer]).collect::<Vec<_>>())).collect();
    findings.set("margin-best-over-worst", greatest(&by_layer) - least(&by_layer));
    findings.set("margin-safe", share(seen.iter().flat_map(|seen| seen.margins.iter().map(|margin| *margin >= 0.0))));
    let static_margin: Vec<f64> = (0..layers).map(|layer| least(&margins.iter().map(|of| of[layer]).collect::<Vec<_>>())).collect();
    findings.set("window-online-over-static", mean(&by_layer) / (mean(&static_margin) / 2.0).max(1e-9));

    // What a table could skip is what the least of all blocks could.
    let online = mean(
        &seen
            .iter()
            .map(|seen| seen.online.iter().map(|skips| skips.iter().sum::<f64>()).sum::<f64>() / seen.online.len() as f64)
            .collect::<Vec<_>>(),
    );
    let table: f64 = (0..states)
        .map(|state| least(&seen.iter().flat_map(|seen| seen.online.iter().map(move |skips| skips[state])).collect::<Vec<_>>()))
        .sum();
    findings.set("online-over-static", online / table.max(1e-9));
    let (after, retained): (Vec<f64>, Vec<f64>) = seen.iter().flat_map(|seen| seen.ep1.iter().copied()).unzip();
    findings.set("ep1-predicts", rank_correlation(&after, &retained));
    findings.set("spare-layers", share(seen.iter().flat_map(|seen| seen.spare[2].iter().map(|spare| *spare > 0.0))));
    let falls = |pair: (usize, usize)| {
        seen.iter().flat_map(move |seen| seen.spare[pair.0].iter().zip(&seen.spare[pair.1]).map(|(before, after)| after < before))
    };
    findings.set("spare-falls", share(falls((0, 1)).chain(falls((1, 2)))));
    findings.set("spare-least-worst", share(seen.iter().map(|seen| seen.least_is_worst)));
    findings.figures = figures(&curves, &widths, &narrowed, reference);
    Ok(findings)
}

/// The layer with the most errors at 2K P/E and 1 year, in the mean of a few blocks.
fn worst_layer(lot: &Lot) -> Traits {
    let block = lot.block(0, 0);
    let aged = lot.aged(2_000.0, YEAR);
    let traits = lot.traits(&block);
    traits.into_iter().max_by(|a, b| lot.n_ret(a, &aged).total_cmp(&lot.n_ret(b, &aged))).expect("a block has layers")
}

fn skipping(state: usize, skipped: u8) -> Settings {
    let mut settings = Settings::default();
    settings.skip[state] = skipped;
    settings
}

/// A window narrower by `width`, half at each end.
fn narrower(width: f64) -> Settings {
    Settings { start_margin: (width / 2.0) as f32, final_margin: (width / 2.0) as f32, ..Settings::default() }
}

fn look(lot: &Lot, block: &wordline_cells::Block, states: usize) -> Seen {
    let model = &lot.model;
    let traits = lot.traits(block);
    let fresh = lot.cycled(0.0, 0.0);
    let programs: Vec<_> = traits.iter().map(|traits| model.program(traits, &fresh, &Settings::default())).collect();
    let time: Vec<f64> = programs.iter().map(|program| program.time).collect();
    let saved = |settings: &dyn Fn(usize) -> Settings| {
        let saved =
            traits.iter().enumerate().map(|(layer, traits)| 1.0 - model.program(traits, &fresh, &settings(layer)).time / time[layer]);
        mean(&saved.collect::<Vec<_>>())
    };
    // A follower skips every verify before the loop in which its leader saw the state's first cells arrive.
    let monitored = |layer: usize| {
        let mut settings = Settings::default();
        for state in 0..states {
            settings.skip[state] = programs[layer].first[state].saturating_sub(1);
        }
        settings
    };
    let both = |layer: usize| Settings { skip: monitored(layer).skip, ..narrower(320.0) };
    let tenth = model.physics().ispp.window / 10.0;
    let conditions = [lot.aged(0.0, 0.0), lot.aged(2_000.0, 0.0), lot.aged(2_000.0, YEAR)];
    let spare =
        conditions.map(|condition| traits.iter().map(|traits| 1.0 - lot.worst_page(traits, &condition) / lot.limit()).collect::<Vec<_>>());
    let aged = conditions[2];
    let margins = traits.iter().map(|traits| {
        let over = |width: f64| lot.worst_page(traits, &aged.settings(narrower(width))) / lot.limit() - 1.0;
        if over(0.0) > 0.0 { 0.0 } else { crate::lot::crossing(0.0, 600.0, 0.0, over) }
    });
    let margins: Vec<f64> = margins.collect();
    let ep1 = traits.iter().map(|traits| {
        let wordline = model.wordline(traits, &Condition::new(aged.history, crate::lot::ROOM));
        let best = wordline.optimal();
        (wordline.misread(1, best[0]), lot.n_ret(traits, &aged))
    });
    let ep1 = ep1.collect();
    let followers: Vec<_> = traits.iter().enumerate().map(|(layer, traits)| model.program(traits, &fresh, &monitored(layer))).collect();
    let per_loop =
        |program: &wordline_cells::Program| program.verifies.iter().map(|k| f64::from(*k)).sum::<f64>() / f64::from(program.loops);
    let worst = (0..traits.len()).min_by(|a, b| spare[2][*a].total_cmp(&spare[2][*b])).unwrap_or(0);
    let least_is_worst = spare.iter().flatten().all(|other| *other >= spare[2][worst]);
    // What leaders see, over a chip's life: a table must hold for all of it.
    let ages = [fresh, conditions[1].history];
    let online = ages.iter().flat_map(|age| traits.iter().map(|traits| model.program(traits, age, &Settings::default())));
    let online = online
        .map(|program| (0..states).map(|state| f64::from(program.first[state].saturating_sub(1))).collect::<Vec<f64>>())
        .collect::<Vec<_>>();
    Seen {
        skip_gain: saved(&monitored),
        both_gain: saved(&both),
        narrow: [
            saved(&|_| narrower(320.0)),
            saved(&|_| Settings { final_margin: 130.0, ..Settings::default() }),
            saved(&|_| narrower(tenth)),
        ],
        spread: greatest(&time) / least(&time),
        fresh: mean(&time),
        loops: mean(&programs.iter().map(|program| f64::from(program.loops)).collect::<Vec<_>>()),
        online,
        margins,
        spare,
        ep1,
        verifies: mean(&followers.iter().map(per_loop).collect::<Vec<_>>()),
        least_is_worst,
    }
}

fn figures(curves: &[Vec<f64>], widths: &[f64], narrowed: &[f64], reference: f64) -> Vec<Figure> {
    let of_state = |(state, curve): (usize, &Vec<f64>)| Curve {
        label: format!("P{}", state + 1),
        colour: state,
        dashed: false,
        points: curve.iter().enumerate().map(|(skipped, errors)| (skipped as f64, errors.min(1e3))).collect(),
    };
    let margin = Curve {
        label: "worst layer".to_owned(),
        colour: 0,
        dashed: false,
        points: widths.iter().zip(narrowed).map(|(width, errors)| (*width, errors / reference)).collect(),
    };

    vec![
        Figure::Curves(Curves {
            title: "Errors over skipped verifies".to_owned(),
            note: "worst layer at 2K P/E and 1 year, over no verify skipped".to_owned(),
            x: Scale::from_zero("verifies skipped"),
            y: Scale::log("errors, relative"),
            curves: curves.iter().enumerate().map(of_state).collect(),
            marks: Vec::new(),
        }),
        Figure::Curves(Curves {
            title: "Errors over the width taken from the window".to_owned(),
            note: "half at V_start, half at V_final".to_owned(),
            x: Scale::from_zero("window narrower by, mV"),
            y: Scale::from_zero("errors, relative"),
            curves: vec![margin],
            marks: Vec::new(),
        }),
    ]
}
