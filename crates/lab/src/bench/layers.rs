//! Bench of differences between the wordlines of a block: between h-layers and within them (003 §3; 001 §3.1.1).
//!
//! N_ret is the number of wrong bits of a wordline at the best references after a time of retention. Delta-V is the greatest N_ret of a v-layer over its least,
//! Delta-H that of an h-layer. Counts have sampling noise; Delta-V is taken over means of counts, Delta-H over counts as they fall.

use wordline_pages::html::figure::{Cube, Curve, Curves, Figure, Heat, Scale};

use super::{Bench, Findings, On, Setup, m};
use crate::conditions::span_text;
use crate::error::LabError;
use crate::lot::{Lot, correlation, greatest, least, mean, quantile, share};
use crate::protocol::{Count, Cycles, Rising, Span, conditions};

/// The `layers` bench: its metrics, its conditions and the function that measures.
pub(super) const BENCH: Bench = Bench {
    name: "layers",
    summary: "N_ret of every wordline over P/E and retention: Delta-V, Delta-H, and the shape over the layers",
    metrics: &[
        m("dv-fresh", "ratio", "Delta-V of a fresh block, median over blocks"),
        m("dv-aged", "ratio", "Delta-V of an aged block: most P/E cycles and longest retention, median over blocks"),
        m("dv-worn", "ratio", "Delta-V at the end of a block's life and after the longest retention, median over blocks"),
        m("dv-growth", "ratio", "Median Delta-V at most P/E cycles over that of fresh blocks"),
        m("dv-rise", "ratio", "Least ratio of median Delta-V from one step of P/E or retention to the next"),
        m("dv-block-pair", "ratio", "Delta-V of aged blocks, greatest over least"),
        m("dv-chip-pair", "ratio", "The same, mean of a chip, greatest chip over least"),
        m("dh-mean", "ratio", "Mean Delta-H, the greatest over all P/E and retention"),
        m("dh-block", "ratio", "Mean Delta-H of the block where it is greatest"),
        m("wordline-difference", "share", "Mean difference of N_ret between two wordlines of an h-layer, relative"),
        m("edges-high", "share", "Conditions in which both edge layers are above the median layer"),
        m("worst-stays", "ratio", "N_ret of aged blocks in the layer that is worst when fresh, over that of the worst layer then"),
        m("best-stays", "ratio", "N_ret of aged blocks in the layer that is best when fresh, over that of the best layer then"),
        m("worst-height", "share", "Height in the block of the layer that is worst when fresh; 1 is the top"),
        m("best-height", "share", "Height in the block of the layer that is best when fresh"),
        m("growth-over-best", "ratio", "Growth of N_ret from fresh to aged, least of the worst and the edge layers over the best layer"),
        m(
            "nonlinearity",
            "ratio",
            "Delta-V gained in the last step of P/E after the longest retention over that gained in all steps before",
        ),
        m(
            "edge-retention",
            "ratio",
            "Growth of N_ret over the longest retention at most P/E cycles, edge layers over the median of the others",
        ),
        m("hole-top-over-bottom", "ratio", "Channel-hole diameter, topmost layer over the lowest"),
        m("field-ages", "ratio", "Correlation over inner layers of the field on the oxide and the growth of N_ret with P/E"),
        m("static-over-own", "ratio", "N_ret that a table safe for all blocks must assume, over the layer's own, median of aged blocks"),
        m("msb-worst", "share", "Wordlines of aged blocks whose worst page is the MSB page"),
        m("neighbour-order", "share", "Greatest change of N_ret by programming the next layer before or after"),
    ],
    on: On::Chips,
    conditions: At::PROTOCOL,
    run,
};

conditions! {
    "layers",
    /// Conditions of the counts of errors.
    struct At {
        /// P/E counts, the first of blocks that are called fresh, the last of those that are called aged
        pe: Rising<Cycles, 3>,
        /// times of retention, the last of blocks that are called aged
        kept: Rising<Span, 2>,
        /// data patterns whose counts are averaged
        patterns: Count,
        /// number of layers at each end that are not inner ones
        ends: Count,
        /// cycles at which the search for the end of a block's life gives up
        cycles_most: Cycles,
    }
}

impl At {
    /// Number of combinations of P/E counts and retentions.
    fn all(&self) -> usize {
        self.pe.len() * self.kept.len()
    }
}

/// Results for one block: N_ret of its layers for each P/E count and retention, and what else the metrics need.
struct Seen {
    n: Vec<Vec<f64>>,
    dv_worn: f64,
    dh: Vec<f64>,
    difference: f64,
    msb: f64,
    order: f64,
}

fn ratio(values: &[f64]) -> f64 {
    greatest(values) / least(values)
}

fn run(setup: &Setup) -> Result<Findings, LabError> {
    let lot = Lot::open(setup)?;
    let at = At::of(setup)?;
    let seen = lot.map(|block| look(&lot, &at, block));
    let mut findings = Findings::default();
    let of = |pe: usize, kept: usize| pe * at.kept.len() + kept;
    of_blocks(&lot, &at, &seen, &mut findings);
    let (worn, late) = (at.pe.len() - 1, at.kept.len() - 1);
    let (fresh, aged) = (0, of(worn, late));
    let dv = |condition: usize| seen.iter().map(|block| ratio(&block.n[condition])).collect::<Vec<_>>();
    let median_dv: Vec<f64> = (0..at.all()).map(|condition| quantile(&dv(condition), 0.5)).collect();
    findings.set("dv-fresh", median_dv[fresh]);
    findings.set("dv-aged", median_dv[aged]);
    findings.set("dv-growth", median_dv[of(worn, 0)] / median_dv[fresh]);
    findings.set("dv-worn", quantile(&seen.iter().map(|block| block.dv_worn).collect::<Vec<_>>(), 0.5));
    let rises = (1..=worn).map(|pe| median_dv[of(pe, late)] / median_dv[of(pe - 1, late)]);
    let rises = rises.chain((1..=late).map(|kept| median_dv[of(worn, kept)] / median_dv[of(worn, kept - 1)]));
    findings.set("dv-rise", least(&rises.collect::<Vec<_>>()));
    let blocks = setup.lot.blocks as usize;
    let aged_dv = dv(aged);
    findings.set("dv-block-pair", ratio(&aged_dv));
    findings.set("dv-chip-pair", ratio(&aged_dv.chunks(blocks).map(mean).collect::<Vec<_>>()));
    let dh = |of: &Seen| mean(&of.dh);
    let conditions = at.all();
    let dh_mean = |condition: usize| mean(&seen.iter().map(|block| block.dh[condition]).collect::<Vec<_>>());
    findings.set("dh-mean", greatest(&(0..conditions).map(dh_mean).collect::<Vec<_>>()));
    findings.set("dh-block", greatest(&seen.iter().map(dh).collect::<Vec<_>>()));
    findings.set("wordline-difference", mean(&seen.iter().map(|block| block.difference).collect::<Vec<_>>()));

    // The population's mean over blocks, layer by layer.
    let layers = lot.layers();
    let typical: Vec<Vec<f64>> = (0..conditions)
        .map(|condition| (0..layers).map(|layer| mean(&seen.iter().map(|block| block.n[condition][layer]).collect::<Vec<_>>())).collect())
        .collect();
    let place = |of: &[f64], value: f64| of.iter().position(|known| *known == value).unwrap_or(0);
    let worst = place(&typical[fresh], greatest(&typical[fresh]));
    let best = place(&typical[fresh], least(&typical[fresh]));
    let high = |layer: usize, condition: usize| typical[condition][layer] > quantile(&typical[condition], 0.5);
    findings.set("edges-high", share((0..conditions).map(|condition| high(0, condition) && high(layers - 1, condition))));
    findings.set("worst-stays", typical[aged][worst] / greatest(&typical[aged]));
    findings.set("best-stays", typical[aged][best] / least(&typical[aged]));
    let height = |layer: usize| (layers - 1 - layer) as f64 / (layers - 1).max(1) as f64;
    findings.set("worst-height", height(worst));
    findings.set("best-height", height(best));
    let growth: Vec<f64> = (0..layers).map(|layer| typical[aged][layer] / typical[fresh][layer]).collect();
    let named = place(&typical[aged], greatest(&typical[aged]));
    findings.set("growth-over-best", least(&[growth[named], growth[0], growth[layers - 1]]) / growth[best]);
    let gain = |from: usize, to: usize| median_dv[of(to, late)] - median_dv[of(from, late)];
    findings.set("nonlinearity", gain(worn - 1, worn) / gain(0, worn - 1));
    let kept: Vec<f64> = (0..layers).map(|layer| typical[aged][layer] / typical[of(worn, 0)][layer]).collect();
    findings.set("edge-retention", mean(&[kept[0], kept[layers - 1]]) / quantile(&kept[1..layers - 1], 0.5));
    findings.set("hole-top-over-bottom", 1.0 / (1.0 - lot.model.physics().profile.taper));
    let ends = at.ends as usize;
    let inner = ends..layers.saturating_sub(ends);
    let fields: Vec<f64> = inner.clone().map(|layer| lot.model.layers()[layer].field).collect();
    let aging: Vec<f64> = inner.map(|layer| typical[of(worn, 0)][layer] / typical[fresh][layer]).collect();
    findings.set("field-ages", correlation(&fields, &aging));
    let safe: Vec<f64> = (0..layers).map(|layer| greatest(&seen.iter().map(|block| block.n[aged][layer]).collect::<Vec<_>>())).collect();
    let own = seen.iter().flat_map(|block| block.n[aged].iter().zip(&safe).map(|(own, safe)| safe / own));
    findings.set("static-over-own", quantile(&own.collect::<Vec<_>>(), 0.5));
    findings.set("msb-worst", mean(&seen.iter().map(|block| block.msb).collect::<Vec<_>>()));
    findings.set("neighbour-order", greatest(&seen.iter().map(|block| block.order).collect::<Vec<_>>()));
    findings.figures = figures(&lot, &at, &typical, &median_dv, (worst, best));
    Ok(findings)
}

/// Records Delta-V, Delta-H and the worst layer of each block under each condition.
fn of_blocks(lot: &Lot, at: &At, seen: &[Seen], findings: &mut Findings) {
    for (number, pe) in at.pe.iter().enumerate() {
        for (which, kept) in at.kept.iter().enumerate() {
            let when = format!("at {pe} P/E and {}", span_text(*kept));
            let condition = number * at.kept.len() + which;
            findings.of_blocks(lot, &format!("Delta-V {when}"), seen.iter().map(|seen| ratio(&seen.n[condition])));
            findings.of_blocks(lot, &format!("N_ret of the worst layer {when}, bit"), seen.iter().map(|seen| greatest(&seen.n[condition])));
            findings.of_blocks(lot, &format!("Delta-H {when}"), seen.iter().map(|seen| seen.dh[condition]));
        }
    }
}

fn look(lot: &Lot, at: &At, block: &wordline_cells::Block) -> Seen {
    let traits = lot.traits(block);
    let cells = f64::from(lot.model.physics().shape.cells()) * f64::from(lot.pages());
    let wordlines = lot.model.physics().shape.wordlines_per_layer;
    let (mut n, mut dh, mut differences) = (Vec::new(), Vec::new(), Vec::new());
    for pe in &at.pe {
        for kept in &at.kept {
            let condition = lot.aged(*pe, *kept);
            let of: Vec<f64> = traits.iter().map(|traits| lot.n_ret(traits, &condition)).collect();
            let mut ratios = Vec::new();
            for (layer, mean) in of.iter().enumerate() {
                let count = |wordline: u32, pattern: u32| {
                    lot.sample(
                        *mean,
                        cells,
                        [block.chip, block.block, layer as u32 * wordlines + wordline, n.len() as u32 * at.patterns + pattern],
                    )
                };
                let counts = (0..wordlines).map(|wordline| (0..at.patterns).map(|pattern| count(wordline, pattern)).sum::<f64>());
                let counts: Vec<f64> = counts.map(|count| count / f64::from(at.patterns)).collect();
                ratios.push(ratio(&counts));
                let middle = counts.iter().sum::<f64>() / counts.len() as f64;
                let apart = counts.iter().enumerate().flat_map(|(i, a)| counts[..i].iter().map(move |b| (a - b).abs()));
                let apart: Vec<f64> = apart.collect();
                if !apart.is_empty() {
                    differences.push(crate::lot::mean(&apart) / middle);
                }
            }
            dh.push(mean(&ratios));
            n.push(of);
        }
    }
    let (most, longest) = (at.pe[at.pe.len() - 1], at.kept[at.kept.len() - 1]);
    let end = end_of_life(lot, &traits, longest, at.cycles_most);
    let worn: Vec<f64> = traits.iter().map(|traits| lot.n_ret(traits, &lot.aged(end, longest))).collect();
    let aged = lot.aged(most, longest);
    let msb = share(traits.iter().map(|traits| {
        let wordline = lot.model.wordline(traits, &aged);
        let rates = lot.rates(&wordline, &wordline.optimal());
        rates.last().is_some_and(|msb| *msb >= greatest(&rates))
    }));
    let order = traits.iter().map(|traits| {
        let before = lot.n_ret(traits, &wordline_cells::Condition { neighbour: false, ..aged });
        (lot.n_ret(traits, &aged) / before - 1.0).abs()
    });
    let order = order.fold(0.0, f64::max);
    Seen { n, dv_worn: ratio(&worn), dh, difference: mean(&differences), msb, order }
}

/// P/E cycles at which the worst wordline's errors after a retention of `kept` reach the limit, looked for up to `most`.
pub(super) fn end_of_life(lot: &Lot, traits: &[wordline_cells::Traits], kept: f64, most: f64) -> f64 {
    let worst = |pe: f64| {
        let condition = lot.aged(pe, kept);
        traits.iter().map(|traits| lot.worst_page(traits, &condition)).fold(0.0, f64::max)
    };
    crate::lot::crossing(0.0, most, lot.limit(), worst)
}

fn figures(lot: &Lot, at: &At, typical: &[Vec<f64>], median_dv: &[f64], (worst, best): (usize, usize)) -> Vec<Figure> {
    let columns = at.kept.len();
    let (cycled, aged) = (at.all() - columns, at.all() - 1);
    let most = format!("{} P/E", at.pe[at.pe.len() - 1]);
    let old = format!("{most} and {}", span_text(at.kept[columns - 1]));
    let cells = f64::from(lot.model.physics().shape.cells());
    let wordlines = lot.model.physics().shape.wordlines_per_layer as usize;
    let rows = |condition: usize| typical[condition].iter().map(|n| vec![n / cells; wordlines]).collect::<Vec<_>>();
    let layers = lot.layers();
    let names = vec![(0, "alpha".to_owned()), (worst, "kappa".to_owned()), (best, "beta".to_owned()), (layers - 1, "omega".to_owned())];
    let names = if worst < 3 { names.into_iter().skip(1).collect() } else { names };
    let cube = |title: &str, condition: usize| {
        Figure::Cube(Cube {
            title: title.to_owned(),
            note: "mean over the lot".to_owned(),
            value: "wrong bits per cell".to_owned(),
            layers: rows(condition),
            names: names.clone(),
        })
    };
    let curve = |label: &str, colour: usize, condition: usize| Curve {
        label: label.to_owned(),
        colour,
        dashed: false,
        points: typical[condition].iter().enumerate().map(|(layer, n)| (layer as f64, n / cells)).collect(),
    };
    vec![
        cube("Error rate over a fresh block", 0),
        cube(&format!("Error rate over a block at {old}"), aged),
        Figure::Curves(Curves {
            title: "Error rate over the layers".to_owned(),
            note: "mean over the lot; layer 0 is the topmost".to_owned(),
            x: Scale::from_zero("h-layer"),
            y: Scale::log("wrong bits per cell"),
            curves: vec![curve("fresh", 0, 0), curve(&most, 1, cycled), curve(&old, 4, aged)],
            marks: Vec::new(),
        }),
        Figure::Heat(Heat {
            title: "Delta-V over wear and retention".to_owned(),
            note: "median over blocks".to_owned(),
            x: "retention at 30 °C".to_owned(),
            y: "P/E cycles".to_owned(),
            columns: at.kept.iter().map(|kept| span_text(*kept)).collect(),
            rows: at.pe.iter().enumerate().map(|(row, pe)| (format!("{pe}"), median_dv[row * columns..][..columns].to_vec())).collect(),
            log: false,
        }),
    ]
}
