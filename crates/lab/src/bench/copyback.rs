//! Bench of repeated copybacks without correction: how many copies in a row data survive (001 §4.1, §4.2; 000 §3.4.5).
//!
//! Each copy is read with the default references, so that its errors go into the next; the last copy is kept for the retention that is required and read
//! at the best references. The threshold of a block is the most copies in a row after which its weakest wordline can still be corrected.

use wordline_cells::{Block, Traits};
use wordline_pages::html::figure::{Curve, Curves, Figure, Heat, Scale};

use super::{Bench, Findings, On, Setup, m};
use crate::conditions::span_text;
use crate::copies::Chain;
use crate::error::LabError;
use crate::lot::{Lot, correlation, greatest, least, mean, quantile, share};
use crate::protocol::{Count, Cycles, Number, Rising, Span, conditions};

/// The `copyback` bench: its metrics, its conditions and the function that measures.
pub(super) const BENCH: Bench = Bench {
    name: "copyback",
    summary: "Errors over successive copybacks, and the threshold of each block by P/E and retention",
    metrics: &[
        m(
            "spread-year",
            "count",
            "Threshold of the best block less that of the worst, long retention, at the P/E count where it departs most from what is stated",
        ),
        m("spread-named", "count", "The same at the P/E count that is named"),
        m("range-least", "count", "Threshold of the worst block at the P/E count whose range is told, long retention"),
        m("range-most", "count", "Threshold of the best block at that count, long retention"),
        m("table", "count", "Greatest difference to any entry of the table that is told"),
        m("retention-order", "share", "Blocks and P/E counts where the threshold for the short retention is at least that for the long"),
        m("ber-old", "ratio", "Errors of old blocks right after program, worst block over best"),
        m("ber-skew", "ratio", "Worst less median over median less best of these errors"),
        m("predicts", "ratio", "Correlation of the threshold with what P/E and errors after program foretell"),
        m(
            "predicts-beyond",
            "share",
            "Of the variance of the threshold that P/E cycles leave open, the part that errors after program foretell",
        ),
        m("predicts-pe", "ratio", "Correlation of the threshold with the P/E count alone"),
        m(
            "accumulation-order",
            "share",
            "P/E counts, of those followed, at which each copy adds more errors in the worst block than in the best",
        ),
        m("linear", "ratio", "Correlation of errors and number of copies, the least over blocks"),
        m("worst-suffices", "count", "Threshold of the worst block at the least P/E count, long retention"),
        m("median-over-worst", "ratio", "Sum of median thresholds over all P/E counts, over that of the worst, long retention"),
        m("fast-most", "count", "Most copies in a row that any age allows"),
        m("pe-most", "count", "Most copies in a row that any P/E count allows to all its blocks"),
        m("old-adult-pe", "count", "Copies in a row that the P/E count of old blocks allows to all of them"),
        m("unique-ages", "count", "Ages of which not all blocks have one threshold"),
        m("spread-pe", "count", "Greatest spread of thresholds at one P/E count"),
        m("short-retention", "count", "Threshold of the best block at the least P/E count, short retention"),
    ],
    on: On::Chips,
    conditions: At::PROTOCOL,
    run,
};

conditions! {
    "copyback",
    /// Conditions of the blocks that are copied, and what the source tells of them.
    struct At {
        /// P/E counts of the table
        pe: Rising<Cycles, 2>,
        /// the long retention and the short one
        kept: [Span; 2],
        /// cycles late in life, when the weakest wordline shows
        late: Cycles,
        /// retention late in life
        late_kept: Span,
        /// number of copies at which counting gives up
        copies_most: Count,
        /// copyback thresholds that the source tells, for both retentions the best, the median and the worst block over the P/E counts
        told: [[Vec<Number>; 3]; 2],
        /// spread of thresholds from the worst to the best block, as the source tells
        told_spread: Number,
        /// P/E count at which the source tells the spread of thresholds
        named: Cycles,
        /// P/E count at which the source tells the range of thresholds
        range: Cycles,
        /// P/E counts at which errors are followed over copies, after the short retention
        followed: [Cycles; 2],
        /// number of copies over which errors are followed
        linear: Count,
        /// cycles of old blocks
        old: Cycles,
        /// number of blocks of the lot that are tried at the old age, about
        old_blocks: Count,
        /// number of steps of age for which the source tells thresholds
        ages: Count,
    }
}

struct Seen {
    /// Errors of a codeword right after program with the default references, as a mean over all pages, at each P/E count.
    after: Vec<f64>,
    old: f64,
    /// Copyback thresholds: for each retention, at each P/E count.
    thresholds: [Vec<f64>; 2],
    /// Errors over copies at the P/E counts that are followed.
    chains: [Vec<f64>; 2],
    ages: Vec<f64>,
}

fn weakest(lot: &Lot, at: &At, block: &Block) -> Traits {
    lot.weakest(block, &lot.aged(at.late, at.late_kept))
}

/// Errors of a codeword of the worst page after each number of copies, from zero on.
fn chain(lot: &Lot, at: &At, weak: &Traits, pe: f64, kept: f64) -> Vec<f64> {
    let chain = Chain { sensed: lot.aged(pe, 0.0), references: lot.model.references(0), last: lot.aged(pe, kept), most: at.copies_most };
    chain.rates(lot, weak).into_iter().map(|rate| rate * lot.model.codeword_bits()).collect()
}

/// The most copies in a row after which the errors can still be corrected.
fn threshold(lot: &Lot, at: &At, weak: &Traits, pe: f64, kept: f64) -> f64 {
    chain(lot, at, weak, pe, kept).iter().skip(1).take_while(|errors| **errors <= lot.limit()).count() as f64
}

fn look(lot: &Lot, at: &At, block: &Block) -> Seen {
    let weak = weakest(lot, at, block);
    // The error rate of a block is that of all its pages (001 §4.2.1).
    let traits = lot.traits(block);
    let after = |pe: f64| {
        let rate = |traits: &Traits| mean(&lot.rates(&lot.model.wordline(traits, &lot.aged(pe, 0.0)), &lot.model.references(0)));
        mean(&traits.iter().map(rate).collect::<Vec<_>>()) * lot.model.codeword_bits()
    };
    Seen {
        after: at.pe.iter().map(|pe| after(*pe)).collect(),
        old: after(at.old),
        thresholds: at.kept.map(|kept| at.pe.iter().map(|pe| threshold(lot, at, &weak, *pe, kept)).collect()),
        chains: at.followed.map(|pe| chain(lot, at, &weak, pe, at.kept[1])),
        ages: at.pe.iter().map(|pe| lot.worst_page(&weak, &lot.aged(*pe, at.kept[0])) / lot.limit()).collect(),
    }
}

fn run(setup: &Setup) -> Result<Findings, LabError> {
    let (at, lot) = (At::of(setup)?, Lot::open(setup)?);
    let count = at.pe.len();
    let place = |pe: f64, what: &str| {
        at.pe
            .iter()
            .position(|known| *known == pe)
            .ok_or_else(|| LabError::Usage(format!("copyback.{what}: {pe} is none of the P/E counts of the table")))
    };
    let (named, range) = (place(at.named, "named")?, place(at.range, "range")?);
    if at.told.iter().flatten().any(|row| row.len() != count) {
        return Err(LabError::Usage(format!("copyback.told: a row needs a threshold for each of the {count} P/E counts")));
    }
    let mut seen = lot.map(|block| look(&lot, &at, block));
    let mut findings = Findings::default();
    of_blocks(&lot, &at, &seen, &mut findings);
    seen.sort_by(|a, b| a.old.total_cmp(&b.old));
    let ranks = Ranks { at: &at, seen: &seen };
    ranks.thresholds([named, range], &mut findings);
    ranks.foretelling(&mut findings);
    ranks.accumulation(&mut findings);
    ages(&lot, &ranks, &mut findings);
    findings.set("short-retention", ranks.table(1, 0, 0));
    findings.figures = ranks.figures();
    Ok(findings)
}

/// Records the thresholds of each block, and its errors right after program.
fn of_blocks(lot: &Lot, at: &At, seen: &[Seen], findings: &mut Findings) {
    for (which, kept) in at.kept.iter().enumerate() {
        for (number, pe) in at.pe.iter().enumerate() {
            let quantity = format!("copyback threshold at {pe} P/E and {}", span_text(*kept));
            findings.of_blocks(lot, &quantity, seen.iter().map(|seen| seen.thresholds[which][number]));
        }
    }
    for (number, pe) in at.pe.iter().enumerate() {
        let quantity = format!("errors of a codeword right after program at {pe} P/E, bit");
        findings.of_blocks(lot, &quantity, seen.iter().map(|seen| seen.after[number]));
    }
}

/// Blocks of a lot, in the order of their errors when old.
struct Ranks<'a> {
    at: &'a At,
    seen: &'a [Seen],
}

impl Ranks<'_> {
    /// Threshold of the best, the median or the worst block of a P/E count, by their errors right after program.
    fn table(&self, kept: usize, row: usize, pe: usize) -> f64 {
        let mut order: Vec<usize> = (0..self.seen.len()).collect();
        order.sort_by(|a, b| self.seen[*a].after[pe].total_cmp(&self.seen[*b].after[pe]));
        let which = order[([0.0, 0.5, 1.0][row] * (self.seen.len() - 1) as f64) as usize];
        self.seen[which].thresholds[kept][pe]
    }

    /// Records thresholds at the P/E counts, at the one that is named and at the one with a range, and errors when old.
    fn thresholds(&self, [named, range]: [usize; 2], findings: &mut Findings) {
        let count = self.at.pe.len();
        let spread = |pe: usize| self.table(0, 0, pe) - self.table(0, 2, pe);
        findings.set(
            "spread-year",
            self.at.told_spread
                + (0..count)
                    .map(|pe| spread(pe) - self.at.told_spread)
                    .fold(0.0, |most: f64, by| if by.abs() > most.abs() { by } else { most }),
        );
        findings.set("spread-named", spread(named));
        findings.set("range-least", self.table(0, 2, range));
        findings.set("range-most", self.table(0, 0, range));
        let entries = (0..2).flat_map(|kept| (0..3).flat_map(move |row| (0..count).map(move |pe| (kept, row, pe))));
        findings.set(
            "table",
            greatest(&entries.map(|(kept, row, pe)| (self.table(kept, row, pe) - self.at.told[kept][row][pe]).abs()).collect::<Vec<_>>()),
        );
        findings.set(
            "retention-order",
            share(self.seen.iter().flat_map(|seen| seen.thresholds[1].iter().zip(&seen.thresholds[0]).map(|(short, long)| short >= long))),
        );
        let old: Vec<f64> = self.seen.iter().map(|seen| seen.old).collect();
        findings.set("ber-old", greatest(&old) / least(&old));
        let median = quantile(&old, 0.5);
        findings.set("ber-skew", (greatest(&old) - median) / (median - least(&old)));
    }

    /// Records how well thresholds are foretold by P/E counts and by errors right after program.
    fn foretelling(&self, findings: &mut Findings) {
        let count = self.at.pe.len();
        let counts = &self.at.pe;
        let pairs =
            self.seen.iter().flat_map(|seen| (0..count).map(move |pe| (vec![counts[pe], seen.after[pe], 1.0], seen.thresholds[0][pe])));
        let (rows, found): (Vec<Vec<f64>>, Vec<f64>) = pairs.unzip();
        let foretold = |columns: &[usize]| {
            let rows: Vec<Vec<f64>> = rows.iter().map(|row| columns.iter().map(|column| row[*column]).collect()).collect();
            let weights = crate::lot::regression(&rows, &found);
            let told: Vec<f64> = rows.iter().map(|row| row.iter().zip(&weights).map(|(term, weight)| term * weight).sum()).collect();
            correlation(&told, &found)
        };
        let [both, alone] = [foretold(&[0, 1, 2]), foretold(&[0, 2])];
        findings.set("predicts", both);
        findings.set("predicts-pe", alone);
        findings.set("predicts-beyond", (both * both - alone * alone) / (1.0 - alone * alone).max(1e-9));
    }

    /// Records how errors grow from copy to copy, and what the worst block allows to the others.
    fn accumulation(&self, findings: &mut Findings) {
        let (best, worst, count) = (0, self.seen.len() - 1, self.at.pe.len());
        let copies = self.at.linear.min(self.at.copies_most) as usize;
        let slope = |chain: &[f64]| chain[copies] - chain[0];
        findings
            .set("accumulation-order", share((0..2).map(|pe| slope(&self.seen[worst].chains[pe]) > slope(&self.seen[best].chains[pe]))));
        let steps: Vec<f64> = (0..=copies).map(|copies| copies as f64).collect();
        let linear = self.seen.iter().flat_map(|seen| seen.chains.iter().map(|chain| correlation(&steps, &chain[..=copies])));
        findings.set("linear", least(&linear.collect::<Vec<_>>()));
        findings.set("worst-suffices", self.table(0, 2, 0));
        let sum = |row: usize| (0..count).map(|pe| self.table(0, row, pe)).sum::<f64>();
        findings.set("median-over-worst", sum(1) / sum(2).max(1e-9));
    }

    fn figures(&self) -> Vec<Figure> {
        let (best, worst, count) = (0, self.seen.len() - 1, self.at.pe.len());
        let copies = self.at.linear.min(self.at.copies_most) as usize;
        let curve = |which: &str, pe: usize, colour: usize, chain: &[f64]| Curve {
            label: format!("{which} block, {} P/E", self.at.followed[pe]),
            colour,
            dashed: false,
            points: chain.iter().take(copies + 2).enumerate().map(|(copies, errors)| (copies as f64, *errors)).collect(),
        };
        vec![
            Figure::Curves(Curves {
                title: "Errors over copies in a row".to_owned(),
                note: format!("weakest wordline, after {}", span_text(self.at.kept[1])),
                x: Scale::from_zero("copies"),
                y: Scale::from_zero("errors of a codeword"),
                curves: vec![
                    curve("best", 0, 2, &self.seen[best].chains[0]),
                    curve("worst", 0, 0, &self.seen[worst].chains[0]),
                    curve("best", 1, 1, &self.seen[best].chains[1]),
                    curve("worst", 1, 4, &self.seen[worst].chains[1]),
                ],
                marks: Vec::new(),
            }),
            Figure::Heat(Heat {
                title: "Copyback thresholds".to_owned(),
                note: format!("{} of retention", span_text(self.at.kept[0])),
                x: "P/E cycles".to_owned(),
                y: "blocks by their errors after program".to_owned(),
                columns: self.at.pe.iter().map(|pe| format!("{pe}")).collect(),
                rows: ["best", "median", "worst"]
                    .iter()
                    .enumerate()
                    .map(|(row, name)| ((*name).to_owned(), (0..count).map(|pe| self.table(0, row, pe)).collect()))
                    .collect(),
                log: false,
            }),
        ]
    }
}

/// Records the copies in a row that ages and P/E counts allow to all their blocks.
fn ages(lot: &Lot, ranks: &Ranks<'_>, findings: &mut Findings) {
    let (at, seen, count) = (ranks.at, ranks.seen, ranks.at.pe.len());
    // What a P/E count allows is what its worst block survives; what an age allows is the same over the blocks of that age.
    let by_pe: Vec<f64> = (0..count).map(|pe| least(&seen.iter().map(|seen| seen.thresholds[0][pe]).collect::<Vec<_>>())).collect();
    findings.set("pe-most", greatest(&by_pe));
    let old = (0..seen.len()).step_by(1 + seen.len() / at.old_blocks as usize).map(|index| index as u32);
    let old = old.map(|index| lot.block(index % lot.size.chips, index / lot.size.chips % lot.size.blocks));
    let old = old.map(|block| threshold(lot, at, &weakest(lot, at, &block), at.old, at.kept[0]));
    findings.set("old-adult-pe", least(&old.collect::<Vec<_>>()));
    let of_age = |age: u32| {
        let within = seen.iter().flat_map(|seen| seen.ages.iter().zip(&seen.thresholds[0]));
        within.filter(|(of, _)| (**of * f64::from(at.ages)) as u32 == age).map(|(_, threshold)| *threshold).collect::<Vec<f64>>()
    };
    let ages: Vec<Vec<f64>> = (0..at.ages).map(of_age).filter(|of| !of.is_empty()).collect();
    findings.set("fast-most", greatest(&ages.iter().map(|of| least(of)).collect::<Vec<_>>()));
    findings.set("unique-ages", ages.iter().filter(|of| greatest(of) > least(of)).count() as f64);
    let spreads = (0..count).map(|pe| seen.iter().map(|seen| seen.thresholds[0][pe]).collect::<Vec<_>>());
    findings.set("spread-pe", greatest(&spreads.map(|of| greatest(&of) - least(&of)).collect::<Vec<_>>()));
}
