//! Bench of one-shot reprogramming: destroying one page of a wordline, and the errors of the others (000 §5.1.2; 002 §4).
//!
//! Error rates are those of the MSB page with the default references, over the rate that can be corrected. The chip of the study has three bits per cell;
//! the one it is compared with, two.

use wordline_cells::{Condition, Reprogrammed};
use wordline_pages::html::figure::{Columns, Figure};

use super::{Bench, Findings, On, Setup, m};
use crate::error::LabError;
use crate::lot::{Lot, greatest, mean, quantile, share};
use crate::protocol::{Cycles, Span, conditions};

/// The `reprogram` bench: its metrics, its conditions and the function that measures.
pub(super) const BENCH: Bench = Bench {
    name: "reprogram",
    summary: "Pages that survive, and do not, when other pages of their wordline are destroyed by one-shot reprogramming",
    metrics: &[
        m("tlc-lost", "share", "TLC: MSB pages that cannot be read after LSB and CSB were destroyed"),
        m("tlc-lost-year", "share", "The same after the retention"),
        m("mlc-lost", "share", "MLC: MSB pages that cannot be read after the LSB page was destroyed"),
        m("mlc-lost-year", "share", "The same after the retention"),
        m("greatest-year", "ratio", "Greatest error rate after the retention over the limit, both chips"),
        m("tlc-over-mlc", "ratio", "Median error rate after reprogramming, TLC over MLC"),
        m("copies", "count", "TLC: other pages of a wordline that can no longer be read when one is destroyed, the most there are"),
        m("order", "share", "Medians that rise from after program to after reprogramming to a year later, both chips"),
    ],
    on: On::TwoChips,
    conditions: At::PROTOCOL,
    run,
};

conditions! {
    "reprogram",
    /// Conditions of the blocks whose pages are destroyed.
    struct At {
        /// cycles of the blocks whose pages are destroyed
        pe: Cycles,
        /// retention after which the other pages are read again
        kept: Span,
    }
}

/// Moments at which pages beside destroyed ones are read.
const WHEN: [&str; 3] = ["after program", "after reprogramming", "after the retention"];

/// Error rates over the limit: after the program, after reprogramming, after retention; of each state, those of a block follow each other.
fn rates(lot: &Lot, at: &At) -> [Vec<f64>; 3] {
    let pages = lot.pages();
    let destroyed = (1u8 << (pages - 1)) - 1;
    let limit = lot.model.limit();
    let wordlines = lot.model.physics().shape.wordlines_per_layer;
    let of = |how: bool, kept: f64| {
        let blocks = lot.map(|block| {
            let mut rates = Vec::new();
            for layer in 0..lot.layers() as u32 {
                let traits = lot.model.traits(block, layer);
                for number in 0..wordlines {
                    let luck = -wordline_cells::special::tail_inverse(lot.dice([block.chip, block.block, layer * wordlines + number, 11]));
                    let reprogrammed = how.then_some(Reprogrammed { pages: destroyed, luck: luck as f32 });
                    let wordline = lot.model.wordline(&traits, &Condition { reprogrammed, ..lot.aged(at.pe, kept) });
                    rates.push(wordline.error_rate(&lot.model, pages - 1, &lot.model.references(0)) / limit);
                }
            }
            rates
        });
        blocks.into_iter().flatten().collect::<Vec<f64>>()
    };
    [of(false, 0.0), of(true, 0.0), of(true, at.kept)]
}

/// The most other pages of a wordline that are lost when one page is destroyed, over all choices of it.
fn copies(lot: &Lot, at: &At) -> f64 {
    let references = lot.model.references(0);
    let lost = |destroyed: u32| {
        let reprogrammed = Some(Reprogrammed { pages: 1 << destroyed, luck: 0.0 });
        let wordline = lot.model.wordline(&lot.model.typical(), &Condition { reprogrammed, ..lot.aged(at.pe, 0.0) });
        let others = (0..lot.pages()).filter(|page| *page != destroyed);
        others.filter(|page| wordline.error_rate(&lot.model, *page, &references) > lot.model.limit()).count() as f64
    };
    greatest(&(0..lot.pages()).map(lost).collect::<Vec<_>>())
}

/// Records the mean and the greatest rate of each block.
fn rows(lot: &Lot, name: &str, rates: &[Vec<f64>; 3], findings: &mut Findings) {
    let wordlines = lot.model.physics().shape.wordlines() as usize;
    for (when, rates) in WHEN.iter().zip(rates) {
        let blocks = || rates.chunks(wordlines);
        findings.of_blocks(lot, &format!("{name}: error rate over the limit {when}, mean of wordlines"), blocks().map(mean));
        findings.of_blocks(lot, &format!("{name}: error rate over the limit {when}, greatest of wordlines"), blocks().map(greatest));
    }
}

fn run(setup: &Setup) -> Result<Findings, LabError> {
    let mut findings = Findings::default();
    let at = At::of(setup)?;
    let lot = Lot::open(setup)?;
    let tlc = rates(&lot, &at);
    findings.set("copies", copies(&lot, &at));
    let lost = |rates: &[f64]| share(rates.iter().map(|rate| *rate > 1.0));
    findings.set("tlc-lost", lost(&tlc[1]));
    findings.set("tlc-lost-year", lost(&tlc[2]));
    rows(&lot, "TLC", &tlc, &mut findings);
    let mut figures = vec![figure("TLC", &tlc)];
    let Some(against) = &setup.against else {
        findings.figures = figures;
        return Ok(findings);
    };
    let other = Lot::of(against, setup)?;
    let mlc = rates(&other, &at);
    rows(&other, "MLC", &mlc, &mut findings);
    findings.set("mlc-lost", lost(&mlc[1]));
    findings.set("mlc-lost-year", lost(&mlc[2]));
    findings.set("greatest-year", greatest(&tlc[2]).max(greatest(&mlc[2])));
    let median = |rates: &[f64]| quantile(rates, 0.5);
    findings.set("tlc-over-mlc", median(&tlc[1]) / median(&mlc[1]));
    findings.set("order", share([&tlc, &mlc].into_iter().flat_map(|chip| chip.windows(2).map(|pair| median(&pair[1]) > median(&pair[0])))));
    figures.push(figure("MLC", &mlc));
    findings.figures = figures;
    Ok(findings)
}

fn figure(name: &str, rates: &[Vec<f64>; 3]) -> Figure {
    let quantiles = [0.0, 0.25, 0.5, 0.75, 1.0];
    Figure::Columns(Columns {
        title: format!("{name}: MSB pages beside destroyed pages"),
        note: "1 is what can be corrected".to_owned(),
        x: "quantile".to_owned(),
        y: "error rate over the limit".to_owned(),
        groups: ["least", "quarter", "median", "three quarters", "greatest"].map(str::to_owned).to_vec(),
        series: WHEN
            .iter()
            .zip(rates)
            .map(|(label, rates)| ((*label).to_owned(), quantiles.map(|share| quantile(rates, share)).to_vec()))
            .collect(),
    })
}
