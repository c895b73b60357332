//! Bench of conditions that no source measured: cycles, times and temperatures between, before and beyond those the chip was calibrated to.
//!
//! The right values are not known there. Known is the direction of each effect, and that no value may jump.

use wordline_cells::Condition;
use wordline_pages::html::figure::{Curve, Curves, Figure, Scale};
use wordline_units::Celsius;

use super::{Bench, Findings, On, Setup, m};
use crate::conditions::{DAY, span_text};
use crate::error::LabError;
use crate::lot::{Lot, greatest, least, mean, share};
use crate::protocol::{Cycles, Degrees, Rising, Span, conditions};

/// The `held-out` bench: its metrics, its conditions and the function that measures.
pub(super) const BENCH: Bench = Bench {
    name: "held-out",
    summary: "Errors of a typical wordline at cycles, times and temperatures that no source has measured",
    metrics: &[
        m("cycles-order", "share", "Steps to more cycles at which errors rise"),
        m("kept-order", "share", "Steps to longer retention at which errors rise"),
        m("kept-warm-order", "share", "Steps to a warmer retention at which errors rise"),
        m("dwell-warm-order", "share", "Steps to a warmer dwell at which errors fall"),
        m("jump", "ratio", "Errors at one step over those at the step before, the most there is"),
        m(
            "default-fresh",
            "ratio",
            "Errors of all pages by the default references, kept for no time, fresh over the fewest at any P/E count",
        ),
        m("default-order", "share", "Steps to more cycles at which errors of all pages by the default references, kept for no time, rise"),
        m("best-first", "ratio", "Errors of the worst page after one cycle over fresh, best references, shortest retention"),
        m("noise-first", "share", "Widening of P1 by the first cycle, over its widening by the cycles it is compared with"),
    ],
    on: On::Chips,
    conditions: At::PROTOCOL,
    run,
};

conditions! {
    "held-out",
    /// Conditions that no source measured.
    struct At {
        /// P/E counts
        pe: Rising<Cycles, 3>,
        /// cycles whose effect that of the first cycle is compared with
        later: Cycles,
        /// times of retention
        kept: Rising<Span, 3>,
        /// temperatures of retention
        warm: Vec<Degrees>,
        /// temperatures of dwell
        dwell_warm: Vec<Degrees>,
        /// cycles while other conditions vary
        worn: Cycles,
        /// retention while other conditions vary
        usual: Span,
        /// dwell at the temperatures of dwell
        dwell: Span,
    }
}

fn run(setup: &Setup) -> Result<Findings, LabError> {
    let (at, lot) = (At::of(setup)?, Lot::open(setup)?);
    let typical = lot.model.typical();
    let errors = |condition: &Condition| lot.worst_page(&typical, condition);
    let over_cycles: Vec<Vec<f64>> = at.kept.iter().map(|kept| at.pe.iter().map(|pe| errors(&lot.aged(*pe, *kept))).collect()).collect();
    let over_kept: Vec<Vec<f64>> = at.pe.iter().map(|pe| at.kept.iter().map(|kept| errors(&lot.aged(*pe, *kept))).collect()).collect();
    // What a host sees first: data just written, read as the die reads by itself.
    let default = |pe: &f64| {
        mean(&lot.rates(&lot.model.wordline(&typical, &lot.aged(*pe, 0.0)), &lot.model.references(0))) * lot.model.codeword_bits()
    };
    let by_default: Vec<f64> = at.pe.iter().map(default).collect();
    let warm_kept = |warm: &Celsius| errors(&lot.aged(at.worn, lot.model.kept(at.usual, *warm)));
    let warm_dwell = |warm: &Celsius| errors(&lot.after(lot.model.cycled(at.worn, at.dwell, *warm), at.usual));
    let (kept_warm, dwell_warm): (Vec<f64>, Vec<f64>) =
        (at.warm.iter().map(warm_kept).collect(), at.dwell_warm.iter().map(warm_dwell).collect());
    let rising = |rows: &[Vec<f64>]| share(rows.iter().flat_map(|row| row.windows(2).map(|pair| pair[1] > pair[0])));
    let mut findings = Findings::default();
    findings.set("cycles-order", rising(&over_cycles));
    findings.set("kept-order", rising(&over_kept));
    findings.set("kept-warm-order", share(kept_warm.windows(2).map(|pair| pair[1] > pair[0])));
    findings.set("dwell-warm-order", share(dwell_warm.windows(2).map(|pair| pair[1] < pair[0])));
    let rows = over_cycles.iter().chain(&over_kept).map(Vec::as_slice).chain([kept_warm.as_slice(), dwell_warm.as_slice()]);
    findings.set("jump", greatest(&rows.flat_map(|row| row.windows(2).map(|pair| pair[1] / pair[0])).collect::<Vec<_>>()));
    findings.set("default-fresh", by_default[0] / least(&by_default));
    findings.set("default-order", share(by_default.windows(2).map(|pair| pair[1] > pair[0])));
    let first = |kept: f64| errors(&lot.aged(1.0, kept)) / errors(&lot.aged(0.0, kept));
    findings.set("best-first", first(at.kept[0]));
    let width = |pe: f64| lot.model.wordline(&typical, &lot.aged(pe, 0.0)).states[1].deviation();
    findings.set("noise-first", (width(1.0) - width(0.0)) / (width(at.later) - width(0.0)));
    findings.figures = figures(&at, &over_cycles, &by_default, &over_kept, &kept_warm, &dwell_warm);
    Ok(findings)
}

fn figures(
    at: &At,
    over_cycles: &[Vec<f64>],
    by_default: &[f64],
    over_kept: &[Vec<f64>],
    kept_warm: &[f64],
    dwell_warm: &[f64],
) -> Vec<Figure> {
    let curve = |label: String, colour: usize, xs: &[f64], ys: &[f64]| Curve {
        label,
        colour,
        dashed: false,
        points: xs.iter().copied().zip(ys.iter().copied()).collect(),
    };
    let figure = |title: &str, x: Scale, curves: Vec<Curve>| {
        Figure::Curves(Curves {
            title: title.to_owned(),
            note: "worst page of a typical wordline, best references".to_owned(),
            x,
            y: Scale::log("errors of a codeword"),
            curves,
            marks: Vec::new(),
        })
    };
    let days: Vec<f64> = at.kept.iter().map(|kept| kept / DAY).collect();
    let celsius = |of: &[Celsius]| of.iter().map(|at| at.0).collect::<Vec<f64>>();
    let just_written =
        Curve { dashed: true, ..curve("just written, default references, mean page".to_owned(), at.kept.len(), &at.pe, by_default) };
    let by_kept = at.kept.iter().zip(over_cycles).enumerate();
    let by_pe = at.pe.iter().zip(over_kept).enumerate();
    vec![
        figure(
            "Errors over cycles",
            Scale::from_zero("P/E cycles"),
            by_kept.map(|(colour, (kept, row))| curve(span_text(*kept), colour, &at.pe, row)).chain([just_written]).collect(),
        ),
        figure(
            "Errors over retention",
            Scale::log("days"),
            by_pe.map(|(colour, (pe, row))| curve(format!("{pe} P/E"), colour, &days, row)).collect(),
        ),
        figure(
            "Errors over temperature",
            Scale::even("°C"),
            vec![
                curve(format!("of {} of retention", span_text(at.usual)), 4, &celsius(&at.warm), kept_warm),
                curve(format!("of dwells of {}", span_text(at.dwell)), 0, &celsius(&at.dwell_warm), dwell_warm),
            ],
        ),
    ]
}
