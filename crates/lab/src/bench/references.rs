//! Where the best read references lie, and what moves them (000 §3.4.1), and the states themselves.

use wordline_cells::{Condition, Traits};
use wordline_report::html::figure::{Curve, Curves, Figure, Scale};
use wordline_units::Celsius;

use super::{Bench, Findings, Setup, m};
use crate::error::LabError;
use crate::lot::{Lot, YEAR, greatest, mean, share};

/// The bench.
pub(super) const BENCH: Bench = Bench {
    name: "vth",
    summary: "The states of a typical wordline and its best references over P/E, retention, reads and temperature",
    metrics: &[
        m("r1-1k", "mV", "R1 at 1K P/E less R1 when fresh"),
        m("r2-1k", "mV", "R2 at 1K P/E less R2 when fresh"),
        m("top-over-r1", "ratio", "The greater move of R6 and R7 by 1K P/E over that of R1"),
        m("retention-order", "share", "Neighbouring references of which the higher moves down more in a year at 1K P/E, R4 and up"),
        m("retention-grows", "share", "Steps of retention and P/E with which R7 and R6 move down further"),
        m("reads-lift", "share", "Steps of read count with which R1 rises"),
        m("temperature-zero", "mV", "Move of R7 when program and read are at one temperature, warm or cold"),
        m("temperature-move", "mV", "Move of R7 when the read is 40 K warmer than the program, whichever way"),
        m("edge-over-centre", "ratio", "Move of R7 in a year at 1K P/E, edge layers over middle ones"),
        m("interference", "ratio", "Shift by neighbours at 2K P/E over the distance between two states"),
        m("read-disturb", "share", "More errors after 100,000 reads at 2K P/E, E and P1 alone"),
        m("open-interval", "share", "More errors at the longest open interval, at 1K P/E and 1 year"),
        m("open-order", "share", "Steps to a longer open interval with which errors rise"),
        m("telegraph", "bit", "Greatest difference of a codeword's errors between ten reads, at 8K P/E"),
        m("telegraph-grows", "ratio", "Telegraph noise at 8K P/E over fresh"),
    ],
    run,
};

fn run(setup: &Setup) -> Result<Findings, LabError> {
    let lot = Lot::open(setup)?;
    let typical = lot.model.typical();
    let best = |condition: &Condition| lot.model.wordline(&typical, condition).optimal();
    let fresh = best(&lot.aged(0.0, 0.0));
    let cycled = best(&lot.aged(1_000.0, 0.0));
    let count = lot.model.physics().shape.states() - 1;
    let mut findings = Findings::default();
    let moved: Vec<f64> = (0..count).map(|number| cycled[number] - fresh[number]).collect();
    findings.set("r1-1k", moved[0]);
    findings.set("r2-1k", moved[1]);
    findings.set("top-over-r1", moved[count - 1].abs().max(moved[count - 2].abs()) / moved[0].abs());
    let kept = best(&lot.aged(1_000.0, YEAR));
    let lost: Vec<f64> = (0..count).map(|number| cycled[number] - kept[number]).collect();
    findings.set("retention-order", share(lost[count / 2..].windows(2).map(|pair| pair[1] > pair[0])));
    let loss = |pe: f64, seconds: f64, number: usize| best(&lot.aged(pe, 0.0))[number] - best(&lot.aged(pe, seconds))[number];
    let steps = [(0.0, YEAR / 12.0), (0.0, YEAR), (1_000.0, YEAR), (2_000.0, YEAR)];
    let grows = [count - 1, count - 2].into_iter().flat_map(|number| steps.windows(2).map(move |pair| (pair[0], pair[1], number)));
    findings.set(
        "retention-grows",
        share(grows.map(|(before, after, number)| loss(after.0, after.1, number) > loss(before.0, before.1, number))),
    );
    let read = |reads: f64| best(&lot.aged(1_000.0, 0.0).read(reads))[0];
    findings.set("reads-lift", share([0.0, 1e4, 3e4, 1e5, 3e5].windows(2).map(|pair| read(pair[1]) > read(pair[0]))));
    let warm = |programmed: f64, at: f64| {
        let condition = Condition { programmed_at: Celsius(programmed), read_at: Celsius(at), ..lot.aged(1_000.0, 0.0) };
        best(&condition)[count - 1]
    };
    findings.set("temperature-zero", greatest(&[0.0, 70.0].map(|at| (warm(at, at) - warm(30.0, 30.0)).abs())));
    findings.set("temperature-move", (warm(30.0, 70.0) - warm(30.0, 30.0)).abs());
    let traits = lot.traits(&lot.block(0, 0));
    let of = |traits: &Traits| {
        let r7 = |seconds: f64| lot.model.wordline(traits, &lot.aged(1_000.0, seconds)).optimal()[count - 1];
        r7(0.0) - r7(YEAR)
    };
    let edges = [of(&traits[0]), of(&traits[traits.len() - 1])];
    let middle: Vec<f64> = traits[traits.len() / 3..traits.len() * 2 / 3].iter().map(of).collect();
    findings.set("edge-over-centre", mean(&edges) / mean(&middle));
    let states = |condition: &Condition| lot.model.wordline(&typical, condition).states;
    let worn = lot.aged(2_000.0, 0.0);
    let lone = states(&Condition { neighbour: false, ..worn });
    let apart = states(&worn)[2].mean() - states(&worn)[1].mean();
    findings.set("interference", (states(&worn)[1].mean() - lone[1].mean()).abs() / apart);
    let low = |condition: &Condition| {
        let wordline = lot.model.wordline(&typical, condition);
        wordline.misread(1, wordline.optimal_reference(1))
    };
    findings.set("read-disturb", low(&worn.read(1e5)) / low(&worn) - 1.0);
    let base = lot.aged(1_000.0, YEAR);
    let open = |share: f64| lot.n_ret(&typical, &Condition { open_interval: share * lot.model.physics().open_interval.time, ..base });
    findings.set("open-interval", open(1.0) / open(0.0) - 1.0);
    findings.set("open-order", crate::lot::share([0.0, 0.25, 0.5, 0.75, 1.0].windows(2).map(|pair| open(pair[1]) > open(pair[0]))));
    let wear = |pe: f64| lot.model.wear(&typical, &lot.cycled(pe, crate::lot::DWELL_W2));
    let telegraph = lot.model.telegraph(wear(8_000.0));
    // Ten reads of a page: the errors that come and go.
    let reads: Vec<f64> = (0..10).map(|read| -wordline_cells::special::tail_inverse(lot.dice([3, 1, 4, read])) * telegraph).collect();
    let jumps: Vec<f64> = reads.windows(2).map(|pair| libm::round((pair[1] - pair[0]).abs())).collect();
    findings.set("telegraph", greatest(&jumps));
    findings.set("telegraph-grows", telegraph / lot.model.telegraph(wear(0.0)).max(1e-9));
    findings.figures = vec![
        states_figure(&lot, &typical, &lot.aged(0.0, 0.0), "fresh"),
        states_figure(&lot, &typical, &lot.aged(2_000.0, YEAR), "2K P/E and 1 year"),
        moves_figure(&lot, &typical, count),
    ];
    Ok(findings)
}

/// The states of a wordline as densities, with the default references.
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

fn moves_figure(lot: &Lot, typical: &Traits, count: usize) -> Figure {
    let best = |pe: f64, seconds: f64| lot.model.wordline(typical, &lot.aged(pe, seconds)).optimal();
    let fresh = best(0.0, 0.0);
    let curve = |label: &str, colour: usize, pe: f64, seconds: f64| {
        let now = best(pe, seconds);
        Curve {
            label: label.to_owned(),
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
            curve("1K P/E", 0, 1_000.0, 0.0),
            curve("2K P/E", 1, 2_000.0, 0.0),
            curve("1 year", 2, 0.0, YEAR),
            curve("2K P/E, 1 year", 4, 2_000.0, YEAR),
        ],
        marks: Vec::new(),
    })
}
