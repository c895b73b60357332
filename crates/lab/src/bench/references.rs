//! Bench of the best read references, of the conditions that move them (000 §3.4.1), and of the states themselves.

use wordline_cells::{Condition, Traits};
use wordline_pages::html::figure::{Curve, Curves, Figure, Scale};

use super::{Bench, Findings, On, Setup, m};
use crate::conditions::span_text;
use crate::error::LabError;
use crate::lot::{Lot, greatest, mean, share};
use crate::protocol::{Count, Cycles, Degrees, Reads, Rising, Share, Span, conditions};

/// The `vth` bench: its metrics, its conditions and the function that measures.
pub(super) const BENCH: Bench = Bench {
    name: "vth",
    summary: "The states of a typical wordline and its best references over P/E, retention, reads and temperature",
    metrics: &[
        m("r1-cycled", "mV", "R1 of a cycled block less R1 when fresh"),
        m("r2-cycled", "mV", "R2 of a cycled block less R2 when fresh"),
        m("top-over-r1", "ratio", "The greater move of R6 and R7 by the cycles over that of R1"),
        m(
            "retention-order",
            "share",
            "Neighbouring references of which the higher moves down more in the retention of a cycled block, R4 and up",
        ),
        m("retention-grows", "share", "Steps of retention and P/E with which R7 and R6 move down further"),
        m("reads-lift", "share", "Steps of read count with which R1 rises"),
        m("temperature-zero", "mV", "Move of R7 when program and read are at one temperature, warm or cold"),
        m("temperature-move", "mV", "Move of R7 when the read is warm and the program was not"),
        m("edge-over-centre", "ratio", "Move of R7 in the retention of a cycled block, edge layers over middle ones"),
        m("interference", "ratio", "Shift by neighbours of a worn block over the distance between two states"),
        m("read-disturb", "share", "More errors of a worn block after many reads, E and P1 alone"),
        m("open-interval", "share", "More errors at the longest open interval, cycled and kept"),
        m("open-order", "share", "Steps to a longer open interval with which errors rise"),
        m("telegraph", "bit", "Greatest difference of a codeword's errors between reads of a block late in life"),
        m("telegraph-grows", "ratio", "Telegraph noise late in life over fresh"),
    ],
    on: On::Chips,
    conditions: At::PROTOCOL,
    run,
};

conditions! {
    "vth",
    /// Conditions that move the references.
    struct At {
        /// cycles of a cycled block
        cycled: Cycles,
        /// cycles of a worn block
        worn: Cycles,
        /// cycles late in life
        late: Cycles,
        /// the retention
        kept: Span,
        /// pairs of cycles and retention, each step more of one or the other
        steps: Vec<(Cycles, Span)>,
        /// numbers of reads of a block
        reads: Rising<Reads, 2>,
        /// a large number of reads of a block
        many: Reads,
        /// temperatures at which a page is both programmed and read
        alike: Vec<Degrees>,
        /// the temperature of a warm read
        warm: Degrees,
        /// open intervals, as parts of the longest
        open: Rising<Share, 2>,
        /// number of reads of one page between which its errors are compared
        again: Count,
    }
}

fn run(setup: &Setup) -> Result<Findings, LabError> {
    let (at, lot) = (At::of(setup)?, Lot::open(setup)?);
    let typical = lot.model.typical();
    let best = |condition: &Condition| lot.model.wordline(&typical, condition).optimal();
    let fresh = best(&lot.aged(0.0, 0.0));
    let cycled = best(&lot.aged(at.cycled, 0.0));
    let count = lot.model.physics().shape.states() - 1;
    let mut findings = Findings::default();
    let moved: Vec<f64> = (0..count).map(|number| cycled[number] - fresh[number]).collect();
    findings.set("r1-cycled", moved[0]);
    findings.set("r2-cycled", moved[1]);
    findings.set("top-over-r1", moved[count - 1].abs().max(moved[count - 2].abs()) / moved[0].abs());
    let kept = best(&lot.aged(at.cycled, at.kept));
    let lost: Vec<f64> = (0..count).map(|number| cycled[number] - kept[number]).collect();
    findings.set("retention-order", share(lost[count / 2..].windows(2).map(|pair| pair[1] > pair[0])));
    let loss = |pe: f64, seconds: f64, number: usize| best(&lot.aged(pe, 0.0))[number] - best(&lot.aged(pe, seconds))[number];
    let grows = [count - 1, count - 2].into_iter().flat_map(|number| at.steps.windows(2).map(move |pair| (pair[0], pair[1], number)));
    findings.set(
        "retention-grows",
        share(grows.map(|(before, after, number)| loss(after.0, after.1, number) > loss(before.0, before.1, number))),
    );
    let read = |reads: f64| best(&lot.aged(at.cycled, 0.0).read(reads))[0];
    findings.set("reads-lift", share(at.reads.windows(2).map(|pair| read(pair[1]) > read(pair[0]))));
    let warm = |programmed_at, read_at| {
        let condition = Condition { programmed_at, read_at, ..lot.aged(at.cycled, 0.0) };
        best(&condition)[count - 1]
    };
    let usual = warm(lot.room, lot.room);
    findings.set("temperature-zero", greatest(&at.alike.iter().map(|both| (warm(*both, *both) - usual).abs()).collect::<Vec<_>>()));
    findings.set("temperature-move", (warm(lot.room, at.warm) - usual).abs());
    let traits = lot.traits(&lot.block(0, 0));
    let of = |traits: &Traits| {
        let r7 = |seconds: f64| lot.model.wordline(traits, &lot.aged(at.cycled, seconds)).optimal()[count - 1];
        r7(0.0) - r7(at.kept)
    };
    let edges = [of(&traits[0]), of(&traits[traits.len() - 1])];
    let middle: Vec<f64> = traits[traits.len() / 3..traits.len() * 2 / 3].iter().map(of).collect();
    findings.set("edge-over-centre", mean(&edges) / mean(&middle));
    let states = |condition: &Condition| lot.model.wordline(&typical, condition).states;
    let worn = lot.aged(at.worn, 0.0);
    let lone = states(&Condition { neighbour: false, ..worn });
    let apart = states(&worn)[2].mean() - states(&worn)[1].mean();
    findings.set("interference", (states(&worn)[1].mean() - lone[1].mean()).abs() / apart);
    let low = |condition: &Condition| {
        let wordline = lot.model.wordline(&typical, condition);
        wordline.misread(1, wordline.optimal_reference(1))
    };
    findings.set("read-disturb", low(&worn.read(at.many)) / low(&worn) - 1.0);
    let base = lot.aged(at.cycled, at.kept);
    let open = |share: f64| lot.n_ret(&typical, &Condition { open_interval: share * lot.model.physics().open_interval.time, ..base });
    findings.set("open-interval", open(1.0) / open(0.0) - 1.0);
    findings.set("open-order", crate::lot::share(at.open.windows(2).map(|pair| open(pair[1]) > open(pair[0]))));
    let wear = |pe: f64| lot.model.wear(&typical, &lot.worn(pe));
    let telegraph = lot.model.telegraph(wear(at.late));
    // Reads of a page one after the other: the errors that come and go.
    let reads: Vec<f64> = (0..at.again).map(|read| -wordline_cells::special::tail_inverse(lot.dice([3, 1, 4, read])) * telegraph).collect();
    let jumps: Vec<f64> = reads.windows(2).map(|pair| libm::round((pair[1] - pair[0]).abs())).collect();
    findings.set("telegraph", greatest(&jumps));
    findings.set("telegraph-grows", telegraph / lot.model.telegraph(wear(0.0)).max(1e-9));
    rows(&lot, &at, &traits, &mut findings);
    findings.figures = vec![
        states_figure(&lot, &typical, &lot.aged(0.0, 0.0), "fresh"),
        states_figure(&lot, &typical, &lot.aged(at.worn, at.kept), &format!("{} P/E and {}", at.worn, span_text(at.kept))),
        moves_figure(&lot, &at, &typical, count),
    ];
    Ok(findings)
}

/// Records what the metrics are made of: best references and errors of the typical wordline, and the moves of the top reference by layer of one block.
fn rows(lot: &Lot, at: &At, traits: &[Traits], findings: &mut Findings) {
    let typical = lot.model.typical();
    let base = lot.aged(at.cycled, at.kept);
    let reads = at.reads.iter().map(|reads| (format!("{} P/E, {reads} reads", at.cycled), lot.aged(at.cycled, 0.0).read(*reads)));
    let aged = [(0.0, 0.0), (at.cycled, 0.0), (at.cycled, at.kept)].into_iter().chain(at.steps.iter().copied());
    let warm = [lot.room, at.warm].map(|read_at| {
        let condition = Condition { programmed_at: lot.room, read_at, ..lot.aged(at.cycled, 0.0) };
        (format!("{} P/E, read at {} °C", at.cycled, read_at.0), condition)
    });
    let aged = aged.map(|(pe, kept)| (format!("{pe} P/E, kept {}", span_text(kept)), lot.aged(pe, kept)));
    let mut seen = std::collections::BTreeSet::new();
    for (when, condition) in aged.chain(reads).chain(warm).filter(|(when, _)| seen.insert(when.clone())) {
        for (number, best) in
            lot.model.wordline(&typical, &condition).optimal().iter().take(lot.model.physics().shape.states() - 1).enumerate()
        {
            findings.of_typical(format!("best R{} at {when}, mV", number + 1), *best);
        }
    }
    for share in [0.0].into_iter().chain(at.open.iter().copied()).chain([1.0]) {
        let condition = Condition { open_interval: share * lot.model.physics().open_interval.time, ..base };
        findings.of_typical(format!("N_ret after {share} of the longest open interval, bit"), lot.n_ret(&typical, &condition));
    }
    let top = lot.model.physics().shape.states() - 2;
    for (layer, traits) in traits.iter().enumerate() {
        let best = |kept: f64| lot.model.wordline(traits, &lot.aged(at.cycled, kept)).optimal()[top];
        findings.of_first(format!("fall of the top reference over {}, layer {layer}, mV", span_text(at.kept)), best(0.0) - best(at.kept));
    }
}

/// Figure of the states of a wordline as densities, with the default references.
pub fn states_figure(lot: &Lot, traits: &Traits, condition: &Condition, when: &str) -> Figure {
    let wordline = lot.model.wordline(traits, condition);
    let count = lot.model.physics().shape.states();
    let references = lot.model.references(0);
    let best = wordline.optimal();
    let (low, high) = (wordline.states[0].mean() - 4.5 * wordline.states[0].deviation(), wordline.states[count - 1].mean() + 600.0);
    let step = (high - low) / 320.0;
    let curve = |number: usize| {
        let state = wordline.states[number];
        let density = |v: f64| (state.above(v - step / 2.0) - state.above(v + step / 2.0)) / step * 1_000.0 / count as f64;
        let points =
            (0..=320).map(|point| low + f64::from(point) * step).map(|v| (v / 1e3, density(v))).filter(|(_, density)| *density > 1e-6);
        let label = if number == 0 { "E".to_owned() } else { format!("P{number}") };
        Curve { label, colour: number, dashed: false, points: points.collect() }
    };
    let marks = (0..count - 1).map(|number| (references[number] / 1e3, format!("R{}", number + 1))).collect();
    let moved: Vec<String> = (0..count - 1).map(|number| format!("{:+.0}", best[number] - references[number])).collect();
    Figure::Curves(Curves {
        title: format!("Threshold voltages, {when}"),
        note: format!("marks: default references; the best lie at {} mV from them", moved.join(", ")),
        x: Scale::even("threshold voltage, V"),
        y: Scale::log("share of cells per volt"),
        curves: (0..count).map(curve).collect(),
        marks,
    })
}

fn moves_figure(lot: &Lot, at: &At, typical: &Traits, count: usize) -> Figure {
    let best = |pe: f64, seconds: f64| lot.model.wordline(typical, &lot.aged(pe, seconds)).optimal();
    let fresh = best(0.0, 0.0);
    let curve = |label: String, colour: usize, pe: f64, seconds: f64| {
        let now = best(pe, seconds);
        Curve {
            label,
            colour,
            dashed: false,
            points: (0..count).map(|number| (number as f64 + 1.0, now[number] - fresh[number])).collect(),
        }
    };
    Figure::Curves(Curves {
        title: "Moves of the best references".to_owned(),
        note: "from where they are when fresh".to_owned(),
        x: Scale::even("reference number"),
        y: Scale::even("move, mV"),
        curves: vec![
            curve(format!("{} P/E", at.cycled), 0, at.cycled, 0.0),
            curve(format!("{} P/E", at.worn), 1, at.worn, 0.0),
            curve(span_text(at.kept), 2, 0.0, at.kept),
            curve(format!("{} P/E, {}", at.worn, span_text(at.kept)), 4, at.worn, at.kept),
        ],
        marks: Vec::new(),
    })
}
