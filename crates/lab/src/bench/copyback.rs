//! Copying pages inside a die again and again, without correction: how often before they are lost (001 §4.1, §4.2; 000 §3.4.5).
//!
//! Each copy is read with the default references, so that its errors go into the next; the last copy is kept for the retention that is required and read
//! at the best references. The threshold of a block is the most copies in a row after which its weakest wordline can still be corrected.

use wordline_cells::{Block, Condition, Traits};
use wordline_report::html::figure::{Curve, Curves, Figure, Heat, Scale};

use super::{Bench, Findings, Setup, m};
use crate::conditions::MONTH;
use crate::error::LabError;
use crate::lot::{Lot, YEAR, correlation, greatest, least, quantile, share};

/// The bench.
pub(super) const BENCH: Bench = Bench {
    name: "copyback",
    summary: "Errors over successive copybacks, and the threshold of each block by P/E and retention",
    metrics: &[
        m("spread-year", "count", "Threshold of the best block less that of the worst, 1 year, the greatest difference to 2 over all P/E"),
        m("spread-3k", "count", "The same at 3K P/E"),
        m("range-least", "count", "Threshold of the worst block at 2K P/E, 1 year"),
        m("range-most", "count", "Threshold of the best block at 2K P/E, 1 year"),
        m("table", "count", "Greatest difference to any of the 36 entries of 001 Table 6"),
        m("retention-order", "share", "Blocks and P/E counts where the threshold for 3 months is at least that for 1 year"),
        m("ber-6k", "ratio", "Errors right after program at 6K P/E, worst block over best"),
        m("ber-skew", "ratio", "Worst less median over median less best of these errors"),
        m("predicts", "ratio", "Correlation of the threshold with what P/E and errors after program foretell"),
        m("predicts-pe", "ratio", "Correlation of the threshold with the P/E count alone"),
        m("accumulation-order", "share", "P/E counts of 0 and 3K at which each copy adds more errors in the worst block than in the best"),
        m("linear", "ratio", "Correlation of errors and number of copies, the least over blocks"),
        m("worst-suffices", "count", "Threshold of the worst block at 0.4K P/E, 1 year"),
        m("median-over-worst", "ratio", "Sum of median thresholds over all P/E counts, over that of the worst, 1 year"),
        m("fast-most", "count", "Most copies in a row that any age allows"),
        m("pe-most", "count", "Most copies in a row that any P/E count allows to all its blocks"),
        m("old-adult-pe", "count", "Copies in a row that 6K P/E allows to all its blocks"),
        m("unique-ages", "count", "Ages of which not all blocks have one threshold"),
        m("spread-pe", "count", "Greatest spread of thresholds at one P/E count"),
        m("short-retention", "count", "Threshold of the best block at 0.4K P/E, 3 months"),
    ],
    run,
};

const PE: [f64; 6] = [400.0, 1_000.0, 2_000.0, 3_000.0, 4_000.0, 5_000.0];
const COPIES_MAX: u32 = 12;

/// 001 Table 6: best, median and worst block, for one year and for three months.
const TABLE: [[[f64; 6]; 3]; 2] = [
    [[5.0, 4.0, 4.0, 3.0, 3.0, 2.0], [5.0, 4.0, 3.0, 3.0, 2.0, 1.0], [3.0, 2.0, 2.0, 1.0, 1.0, 0.0]],
    [[6.0, 5.0, 4.0, 4.0, 3.0, 2.0], [6.0, 5.0, 4.0, 3.0, 3.0, 2.0], [4.0, 3.0, 2.0, 2.0, 1.0, 1.0]],
];

struct Seen {
    /// Errors of a codeword right after program, default references, at each P/E count.
    after: Vec<f64>,
    at_6k: f64,
    /// Thresholds: for each retention, at each P/E count.
    thresholds: [Vec<f64>; 2],
    /// Errors over copies at 0 and 3K P/E after three months.
    chains: [Vec<f64>; 2],
    ages: Vec<f64>,
}

fn weakest(lot: &Lot, block: &Block) -> Traits {
    let late = lot.aged(8_000.0, YEAR);
    lot.traits(block).into_iter().max_by(|a, b| lot.worst_page(a, &late).total_cmp(&lot.worst_page(b, &late))).expect("a block has layers")
}

/// Errors of a codeword of the worst page after each number of copies, from none on.
fn chain(lot: &Lot, weak: &Traits, pe: f64, kept: f64) -> Vec<f64> {
    let mut carried = [0.0f32; 4];
    let mut errors = Vec::new();
    for _ in 0..=COPIES_MAX {
        let now = Condition { carried, ..lot.aged(pe, kept) };
        errors.push(lot.worst_page(weak, &now));
        let source = lot.model.wordline(weak, &Condition { carried, ..lot.aged(pe, 0.0) });
        for page in 0..lot.pages() {
            carried[page as usize] = source.error_rate(&lot.model, page, &lot.model.references(0)) as f32;
        }
    }
    errors
}

fn look(lot: &Lot, block: &Block) -> Seen {
    let weak = weakest(lot, block);
    let after = |pe: f64| {
        let wordline = lot.model.wordline(&weak, &lot.aged(pe, 0.0));
        lot.rates(&wordline, &lot.model.references(0)).into_iter().fold(0.0, f64::max) * lot.model.codeword_bits()
    };
    let threshold =
        |pe: f64, kept: f64| chain(lot, &weak, pe, kept).iter().skip(1).take_while(|errors| **errors <= lot.limit()).count() as f64;
    Seen {
        after: PE.iter().map(|pe| after(*pe)).collect(),
        at_6k: after(6_000.0),
        thresholds: [YEAR, 3.0 * MONTH].map(|kept| PE.iter().map(|pe| threshold(*pe, kept)).collect()),
        chains: [0.0, 3_000.0].map(|pe| chain(lot, &weak, pe, 3.0 * MONTH)),
        ages: PE.iter().map(|pe| lot.worst_page(&weak, &lot.aged(*pe, YEAR)) / lot.limit()).collect(),
    }
}

fn run(setup: &Setup) -> Result<Findings, LabError> {
    let lot = Lot::open(setup)?;
    let mut seen = lot.map(|block| look(&lot, block));
    let mut findings = Findings::default();
    seen.sort_by(|a, b| a.at_6k.total_cmp(&b.at_6k));
    let (best, worst) = (0, seen.len() - 1);
    let of = |kept: usize, which: usize, pe: usize| seen[which].thresholds[kept][pe];
    // The best, the median and the worst block of a P/E count are told by their errors right after program.
    let ranked = |pe: usize, share: f64| {
        let mut order: Vec<usize> = (0..seen.len()).collect();
        order.sort_by(|a, b| seen[*a].after[pe].total_cmp(&seen[*b].after[pe]));
        order[(share * worst as f64) as usize]
    };
    let table = |kept: usize, row: usize, pe: usize| of(kept, ranked(pe, [0.0, 0.5, 1.0][row]), pe);
    let spread = |pe: usize| table(0, 0, pe) - table(0, 2, pe);
    findings.set(
        "spread-year",
        2.0 + (0..PE.len()).map(|pe| spread(pe) - 2.0).fold(0.0, |most: f64, by| if by.abs() > most.abs() { by } else { most }),
    );
    findings.set("spread-3k", spread(3));
    findings.set("range-least", table(0, 2, 2));
    findings.set("range-most", table(0, 0, 2));
    let entries = (0..2).flat_map(|kept| (0..3).flat_map(move |row| (0..PE.len()).map(move |pe| (kept, row, pe))));
    findings
        .set("table", greatest(&entries.map(|(kept, row, pe)| (table(kept, row, pe) - TABLE[kept][row][pe]).abs()).collect::<Vec<_>>()));
    findings.set(
        "retention-order",
        share(seen.iter().flat_map(|seen| seen.thresholds[1].iter().zip(&seen.thresholds[0]).map(|(short, long)| short >= long))),
    );
    let at_6k: Vec<f64> = seen.iter().map(|seen| seen.at_6k).collect();
    findings.set("ber-6k", greatest(&at_6k) / least(&at_6k));
    let median = quantile(&at_6k, 0.5);
    findings.set("ber-skew", (greatest(&at_6k) - median) / (median - least(&at_6k)));
    let pairs = seen.iter().flat_map(|seen| (0..PE.len()).map(move |pe| (vec![PE[pe], seen.after[pe], 1.0], seen.thresholds[0][pe])));
    let (rows, found): (Vec<Vec<f64>>, Vec<f64>) = pairs.unzip();
    let foretold = |columns: &[usize]| {
        let rows: Vec<Vec<f64>> = rows.iter().map(|row| columns.iter().map(|column| row[*column]).collect()).collect();
        let weights = crate::lot::regression(&rows, &found);
        let told: Vec<f64> = rows.iter().map(|row| row.iter().zip(&weights).map(|(term, weight)| term * weight).sum()).collect();
        correlation(&told, &found)
    };
    findings.set("predicts", foretold(&[0, 1, 2]));
    findings.set("predicts-pe", foretold(&[0, 2]));
    let slope = |chain: &[f64]| chain[3] - chain[0];
    findings.set("accumulation-order", share((0..2).map(|pe| slope(&seen[worst].chains[pe]) > slope(&seen[best].chains[pe]))));
    let copies: Vec<f64> = (0..=5).map(f64::from).collect();
    let linear = seen.iter().flat_map(|seen| seen.chains.iter().map(|chain| correlation(&copies, &chain[..6])));
    findings.set("linear", least(&linear.collect::<Vec<_>>()));
    findings.set("worst-suffices", table(0, 2, 0));
    let sum = |row: usize| (0..PE.len()).map(|pe| table(0, row, pe)).sum::<f64>();
    findings.set("median-over-worst", sum(1) / sum(2).max(1e-9));
    // What a P/E count allows is what its worst block survives; what an age allows is the same over the blocks of that age.
    let by_pe: Vec<f64> = (0..PE.len()).map(|pe| least(&seen.iter().map(|seen| seen.thresholds[0][pe]).collect::<Vec<_>>())).collect();
    findings.set("pe-most", greatest(&by_pe));
    let old = (0..seen.len()).step_by(1 + seen.len() / 24).map(|index| index as u32);
    let old = old.map(|index| lot.block(index % lot.size.chips, index / lot.size.chips % lot.size.blocks));
    let old = old.map(|block| {
        chain(&lot, &weakest(&lot, &block), 6_000.0, YEAR).iter().skip(1).take_while(|errors| **errors <= lot.limit()).count() as f64
    });
    findings.set("old-adult-pe", least(&old.collect::<Vec<_>>()));
    let of_age = |age: usize| {
        let within = seen.iter().flat_map(|seen| seen.ages.iter().zip(&seen.thresholds[0]));
        within.filter(|(of, _)| (**of * 10.0) as usize == age).map(|(_, threshold)| *threshold).collect::<Vec<f64>>()
    };
    let ages: Vec<Vec<f64>> = (0..10).map(of_age).filter(|of| !of.is_empty()).collect();
    findings.set("fast-most", greatest(&ages.iter().map(|of| least(of)).collect::<Vec<_>>()));
    findings.set("unique-ages", ages.iter().filter(|of| greatest(of) > least(of)).count() as f64);
    let spreads = (0..PE.len()).map(|pe| seen.iter().map(|seen| seen.thresholds[0][pe]).collect::<Vec<_>>());
    findings.set("spread-pe", greatest(&spreads.map(|of| greatest(&of) - least(&of)).collect::<Vec<_>>()));
    findings.set("short-retention", table(1, 0, 0));
    let curve = |label: &str, colour: usize, chain: &[f64]| Curve {
        label: label.to_owned(),
        colour,
        dashed: false,
        points: chain.iter().take(7).enumerate().map(|(copies, errors)| (copies as f64, *errors)).collect(),
    };
    findings.figures = vec![
        Figure::Curves(Curves {
            title: "Errors over copies in a row".to_owned(),
            note: "weakest wordline, after three months".to_owned(),
            x: Scale::from_zero("copies"),
            y: Scale::from_zero("errors of a codeword"),
            curves: vec![
                curve("best block, fresh", 2, &seen[best].chains[0]),
                curve("worst block, fresh", 0, &seen[worst].chains[0]),
                curve("best block, 3K P/E", 1, &seen[best].chains[1]),
                curve("worst block, 3K P/E", 4, &seen[worst].chains[1]),
            ],
            marks: Vec::new(),
        }),
        Figure::Heat(Heat {
            title: "Copyback thresholds".to_owned(),
            note: "one year of retention".to_owned(),
            x: "P/E cycles".to_owned(),
            y: "blocks by their errors after program".to_owned(),
            columns: PE.iter().map(|pe| format!("{pe}")).collect(),
            rows: ["best", "median", "worst"]
                .iter()
                .enumerate()
                .map(|(row, name)| ((*name).to_owned(), (0..PE.len()).map(|pe| table(0, row, pe)).collect()))
                .collect(),
            log: false,
        }),
    ];
    Ok(findings)
}
