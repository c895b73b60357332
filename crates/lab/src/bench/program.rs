//! Bench of programs: how many verifies can be skipped, how far the voltage window can be narrowed, and what a leader tells of its followers (003 §4.1,
//! §3.2).
//!
//! Errors are those of the worst h-layer (kappa) of an aged block unless said otherwise, at the best references.

use wordline_cells::montecarlo::Sample;
use wordline_cells::{Block, Condition, Settings, Traits};
use wordline_pages::html::figure::{Curve, Curves, Figure, Scale};

use super::{Bench, Findings, On, Setup, m};
use crate::error::LabError;
use crate::lot::{Lot, correlation, greatest, least, mean, quantile, rank_correlation, share};
use crate::protocol::{Count, Cycles, Rising, Share, Span, Volts, conditions};

/// The `program` bench: its metrics, its conditions and the function that measures.
pub(super) const BENCH: Bench = Bench {
    name: "program",
    summary: "ISPP with verifies skipped and windows narrowed: time saved, errors paid",
    metrics: &[
        m("p7-skip", "count", "Verifies that the highest state can skip before errors rise by more than is allowed, median over blocks"),
        m("p1-skip", "count", "Verifies that the lowest programmed state can skip, median over blocks"),
        m("skip-order", "share", "Neighbouring states of which the higher can skip at least as many as the lower"),
        m("skip-harm", "share", "Steps of skipping one verify more, up to all but the last, at which errors do not fall"),
        m("p7-first", "count", "L_min of the highest state: verifies that are of no use before its fastest cells arrive, plus one"),
        m("p7-last", "count", "L_max of the highest state"),
        m("skip-gain", "share", "t_PROG saved by skipping what the leader saw to be of no use, mean over layers"),
        m("spread-within", "ratio", "t_PROG within an h-layer, greatest less least, over that between h-layers"),
        m("window-narrow", "share", "t_PROG saved by a window narrowed at both ends, mean over layers"),
        m("window-final", "share", "t_PROG saved by a V_final that is lower"),
        m("window", "mV", "V_final less V_start"),
        m("window-part", "share", "t_PROG saved by a window that is narrower by a part of itself"),
        m("both-gain", "share", "t_PROG saved by skipping and a narrowed window together"),
        m("margin-linear", "ratio", "Correlation of the errors and the width taken from the window, over the range in use"),
        m("margin-safe", "share", "Layers whose errors stay below the limit with the margin that their own spare allows"),
        m("margin-best-over-worst", "mV", "Margin the best layer allows less that of the worst"),
        m(
            "ep1-predicts",
            "ratio",
            "Rank correlation over wordlines of errors between E and P1 after program, and of all errors after the retention",
        ),
        m("online-over-static", "ratio", "Verifies skipped by what the leader saw, over those of a table safe for all blocks"),
        m("window-online-over-static", "ratio", "Window margin by each layer's own spare, both ends, over a table's on V_final alone"),
        m(
            "time-online-less-static",
            "share",
            "t_PROG saved by each layer's own spare margin, both ends, less that saved by a table's on V_final alone",
        ),
        m("spare-layers", "share", "Layers of aged blocks with spare margin"),
        m("spare-falls", "share", "Steps of P/E and retention at which spare margin falls, mean over layers"),
        m("spare-least-worst", "share", "Blocks in which the worst layer, aged, has the least spare margin there is"),
        m("time-spread", "ratio", "t_PROG of the slowest layer over the fastest, mean over blocks"),
        m("time-within", "us", "Greatest difference of t_PROG within an h-layer"),
        m("mean-time", "us", "Mean t_PROG of a fresh block"),
        m("loop", "us", "One loop: pulse and mean number of verifies"),
        m("late-verifies", "count", "Verifies of followers that are still done, mean per loop"),
    ],
    on: On::Chips,
    conditions: At::PROTOCOL,
    run,
};

/// Relative rounding error of a sum of many terms.
const ROUNDING: f64 = 1e-9;

conditions! {
    "program",
    /// Conditions of skipped verifies and narrowed windows, and of the aged block whose errors pay for them.
    struct At {
        /// cycles of an aged block
        pe: Cycles,
        /// retention of an aged block
        kept: Span,
        /// increase of errors that is allowed
        rise: Share,
        /// voltage by which a window is narrowed, half at each end
        narrow: Volts,
        /// voltage by which V_final alone is lowered
        lower: Volts,
        /// share of a window that is taken from it
        part: Share,
        /// widths taken from the window, over the range in use
        widths: Rising<Volts, 3>,
        /// width at which the search for the margin of a layer gives up
        width_most: Volts,
        /// number of wordlines drawn cell by cell for each h-layer that is measured
        drawn: Count,
    }
}

struct Seen {
    skip_gain: f64,
    both_gain: f64,
    narrow: [f64; 3],
    spread: f64,
    /// Difference of t_PROG between the slowest and the fastest layer.
    between: f64,
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
    let (at, lot) = (At::of(setup)?, Lot::open(setup)?);
    let physics = lot.model.physics();
    let states = physics.shape.states() - 1;
    let mut findings = Findings::default();
    let kappa = worst_layer(&lot, &at);
    let aged = lot.aged(at.pe, at.kept);

    // Errors over skipped verifies, state by state.
    let reference = lot.n_ret(&kappa, &aged);
    let of_blocks = lot.map(|block| skip_curves(&lot, &aged, &worst_of(&lot, &aged, block), states));
    let curves = &of_blocks[0];
    let safe: Vec<Vec<f64>> = of_blocks.iter().map(|curves| skippable(curves, at.rise)).collect();
    // One block's slack in front of its first verify decides whether its lowest state can do without it: the middle one speaks for the lot.
    let middle = |state: usize| quantile(&safe.iter().map(|safe| safe[state]).collect::<Vec<_>>(), 0.5);
    findings.set("p7-skip", middle(states - 1));
    findings.set("p1-skip", middle(0));
    findings.set("skip-order", share(safe[0].windows(2).map(|pair| pair[1] >= pair[0])));
    // What is compared are expected errors and no counts: they have no sampling error that could excuse a fall.
    findings.set("skip-harm", share(curves.iter().flat_map(|curve| curve.windows(2).map(|pair| pair[1] >= pair[0] * (1.0 - ROUNDING)))));
    let program = lot.model.program(&kappa, &aged.history, &Settings::default());
    findings.set("p7-first", f64::from(program.first[states - 1]));
    findings.set("p7-last", f64::from(program.last[states - 1]));

    let seen = lot.map(|block| look(&lot, &at, block, states));
    findings.of_blocks(&lot, "share of t_PROG saved by skipped verifies", seen.iter().map(|seen| seen.skip_gain));
    findings.of_blocks(&lot, "share of t_PROG saved by a narrower window", seen.iter().map(|seen| seen.narrow[0]));
    findings.of_blocks(&lot, "share of t_PROG saved by both", seen.iter().map(|seen| seen.both_gain));
    findings.of_blocks(&lot, "t_PROG when fresh, mean of layers, us", seen.iter().map(|seen| seen.fresh));
    findings.of_blocks(&lot, "window margin of the worst layer, mV", seen.iter().map(|seen| least(&seen.margins)));
    let over = |of: fn(&Seen) -> f64| mean(&seen.iter().map(of).collect::<Vec<_>>());
    findings.set("skip-gain", over(|seen| seen.skip_gain));
    findings.set("window-narrow", over(|seen| seen.narrow[0]));
    findings.set("window-final", over(|seen| seen.narrow[1]));
    findings.set("window-part", over(|seen| seen.narrow[2]));
    findings.set("window", physics.ispp.window);
    findings.set("both-gain", over(|seen| seen.both_gain));
    findings.set("time-spread", over(|seen| seen.spread));
    let within = time_within(&lot, &at);
    findings.set("time-within", within);
    let between = greatest(&seen.iter().map(|seen| seen.between).collect::<Vec<_>>());
    findings.set("spread-within", within / between.max(1e-9));
    findings.set("mean-time", over(|seen| seen.fresh));
    findings.set("loop", over(|seen| seen.fresh / seen.loops));
    findings.set("late-verifies", over(|seen| seen.verifies));

    // Margins: taken evenly from both ends, of the worst layer.
    let narrowed: Vec<f64> = at.widths.iter().map(|width| lot.n_ret(&kappa, &aged.settings(narrower(*width)))).collect();
    findings.set("margin-linear", correlation(&at.widths, &narrowed));
    let margins: Vec<&[f64]> = seen.iter().map(|seen| seen.margins.as_slice()).collect();
    let layers = lot.layers();
    let by_layer: Vec<f64> = (0..layers).map(|layer| mean(&margins.iter().map(|of| of[layer]).collect::<Vec<_>>())).collect();
    findings.set("margin-best-over-worst", greatest(&by_layer) - least(&by_layer));
    findings.set("margin-safe", share(seen.iter().flat_map(|seen| seen.margins.iter().map(|margin| *margin >= 0.0))));
    let static_margin: Vec<f64> = (0..layers).map(|layer| least(&margins.iter().map(|of| of[layer]).collect::<Vec<_>>())).collect();
    findings.set("window-online-over-static", mean(&by_layer) / (mean(&static_margin) / 2.0).max(1e-9));
    findings.set("time-online-less-static", saved_online(&lot, &margins) - saved_by_table(&lot, &static_margin));

    foresight(&seen, states, &mut findings);
    findings.figures = figures(&at, curves, &narrowed, reference);
    Ok(findings)
}

/// Records what the leaders saw against what a table could hold, and what spare is left.
fn foresight(seen: &[Seen], states: usize, findings: &mut Findings) {
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
}

/// Share of t_PROG of fresh blocks that a window saves which is narrower by what each layer of each block can spare, at both ends.
fn saved_online(lot: &Lot, margins: &[&[f64]]) -> f64 {
    saved(lot, &|block, layer| narrower(margins[lot.place(block)][layer]))
}

/// The same where a table lowers V_final alone, by what a layer of any block can spare.
fn saved_by_table(lot: &Lot, margins: &[f64]) -> f64 {
    saved(lot, &|_, layer| Settings { final_margin: (margins[layer] / 2.0) as f32, ..Settings::default() })
}

/// Share of t_PROG that `settings` of a layer of a block save. Loops are whole, so a narrower window need not be a shorter program.
fn saved(lot: &Lot, settings: &(dyn Fn(&Block, usize) -> Settings + Sync)) -> f64 {
    let fresh = lot.cycled(0.0, 0.0);
    let of_blocks = lot.map(|block| {
        let of_layers = lot.traits(block).into_iter().enumerate().map(|(layer, traits)| {
            let time = |settings: &Settings| lot.model.program(&traits, &fresh, settings).time;
            1.0 - time(&settings(block, layer)) / time(&Settings::default())
        });
        mean(&of_layers.collect::<Vec<f64>>())
    });
    mean(&of_blocks)
}

/// The greatest difference of t_PROG between wordlines of one h-layer. Each wordline is drawn cell by cell: they have the same traits, but cells of their
/// own.
fn time_within(lot: &Lot, at: &At) -> f64 {
    let layers = lot.traits(&lot.block(0, 0));
    let loop_time = |program: &wordline_cells::Program| program.time / f64::from(program.loops);
    let apart = wordline_runs::parallel::map(lot.threads, 3, |which| {
        let traits = &layers[which * (layers.len() - 1) / 2];
        let fresh = lot.aged(0.0, 0.0);
        let loops = (0..at.drawn).map(|number| f64::from(Sample::draw(&lot.model, traits, &fresh, lot.seed, number).loops));
        let loops: Vec<f64> = loops.collect();
        (greatest(&loops) - least(&loops)) * loop_time(&lot.model.program(traits, &fresh.history, &Settings::default()))
    });
    greatest(&apart)
}

/// The layer of the first block with the most errors when it is aged.
fn worst_layer(lot: &Lot, at: &At) -> Traits {
    worst_of(lot, &lot.aged(at.pe, at.kept), &lot.block(0, 0))
}

fn worst_of(lot: &Lot, aged: &Condition, block: &Block) -> Traits {
    let traits = lot.traits(block);
    traits.into_iter().max_by(|a, b| lot.n_ret(a, aged).total_cmp(&lot.n_ret(b, aged))).expect("a block has layers")
}

/// Errors over skipped verifies, for each state, relative to those without skipping.
fn skip_curves(lot: &Lot, aged: &Condition, layer: &Traits, states: usize) -> Vec<Vec<f64>> {
    let reference = lot.n_ret(layer, aged);
    let errors = |state: usize, skipped: u8| lot.n_ret(layer, &aged.settings(skipping(state, skipped))) / reference;
    let last = lot.model.program(layer, &aged.history, &Settings::default()).last;
    (0..states).map(|state| (0..last[state]).map(|skipped| errors(state, skipped)).collect()).collect()
}

/// Verifies that each state can skip before errors rise by more than `rise`.
fn skippable(curves: &[Vec<f64>], rise: f64) -> Vec<f64> {
    curves.iter().map(|curve| (curve.iter().take_while(|errors| **errors <= 1.0 + rise).count() - 1) as f64).collect()
}

fn skipping(state: usize, skipped: u8) -> Settings {
    let mut settings = Settings::default();
    settings.skip[state] = skipped;
    settings
}

/// Settings with a window narrower by `width`, half at each end.
fn narrower(width: f64) -> Settings {
    Settings { start_margin: (width / 2.0) as f32, final_margin: (width / 2.0) as f32, ..Settings::default() }
}

fn look(lot: &Lot, at: &At, block: &wordline_cells::Block, states: usize) -> Seen {
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
    let both = |layer: usize| Settings { skip: monitored(layer).skip, ..narrower(at.narrow) };
    let part = model.physics().ispp.window * at.part;
    let conditions = [lot.aged(0.0, 0.0), lot.aged(at.pe, 0.0), lot.aged(at.pe, at.kept)];
    let spare =
        conditions.map(|condition| traits.iter().map(|traits| 1.0 - lot.worst_page(traits, &condition) / lot.limit()).collect::<Vec<_>>());
    let aged = conditions[2];
    let margins = traits.iter().map(|traits| {
        let over = |width: f64| lot.worst_page(traits, &aged.settings(narrower(width))) / lot.limit() - 1.0;
        if over(0.0) > 0.0 { 0.0 } else { crate::lot::crossing(0.0, at.width_most, 0.0, over) }
    });
    let margins: Vec<f64> = margins.collect();
    let ep1 = traits.iter().map(|traits| {
        let wordline = model.wordline(traits, &lot.after(aged.history, 0.0));
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
            saved(&|_| narrower(at.narrow)),
            saved(&|_| Settings { final_margin: at.lower as f32, ..Settings::default() }),
            saved(&|_| narrower(part)),
        ],
        spread: greatest(&time) / least(&time),
        between: greatest(&time) - least(&time),
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

fn figures(at: &At, curves: &[Vec<f64>], narrowed: &[f64], reference: f64) -> Vec<Figure> {
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
        points: at.widths.iter().zip(narrowed).map(|(width, errors)| (*width, errors / reference)).collect(),
    };

    vec![
        Figure::Curves(Curves {
            title: "Errors over skipped verifies".to_owned(),
            note: format!("worst layer at {} P/E and {}, over no verify skipped", at.pe, crate::conditions::span_text(at.kept)),
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
