//! Bench of chips of other heights: the same cells in stacks of fewer and of more layers (004 §1).
//!
//! A block of more layers has more pages, so that as many reads of each page disturb its cells more often; and its holes are etched deeper, which is the
//! same taper over more layers.

use wordline_pages::html::figure::{Curve, Curves, Figure, Scale};

use super::{Bench, Findings, On, Setup, m};
use crate::error::LabError;
use crate::lot::{Lot, mean, quantile, share};
use crate::protocol::{Cycles, Number, Reads, Rising, Span, conditions};

/// The `height` bench: its metrics, its conditions and the function that measures.
pub(super) const BENCH: Bench = Bench {
    name: "height",
    summary: "The chip with other numbers of layers: Delta-V, and errors when each page is read as often",
    metrics: &[
        m("disturb-order", "share", "Steps to more layers at which as many reads of each page cause more errors"),
        m("disturb-most", "ratio", "Errors with these reads over errors without, of the highest stack"),
        m("dv-least", "ratio", "Delta-V of an aged block, median, the least over all heights"),
        m("dv-most", "ratio", "The greatest over all heights"),
    ],
    on: On::Chips,
    conditions: At::PROTOCOL,
    run,
};

conditions! {
    "height",
    /// Conditions of heights, wear and reads.
    struct At {
        /// numbers of layers
        layers: Rising<Number, 2>,
        /// cycles of an aged block
        pe: Cycles,
        /// retention of an aged block
        kept: Span,
        /// number of reads of each page
        reads: Reads,
    }
}

/// Results for one height: for each block its mean N_ret without and with the reads, and Delta-V.
struct Seen {
    layers: f64,
    quiet: f64,
    read: f64,
    dv: f64,
    /// N_ret of each layer relative to the block's mean, over the height from the top.
    profile: Vec<(f64, f64)>,
    /// The lot of that height, and of each of its blocks N_ret, N_ret after the reads, and Delta-V.
    lot: Lot,
    blocks: Vec<[f64; 3]>,
}

fn look(setup: &Setup, at: &At, layers: f64) -> Result<Seen, LabError> {
    let mut taller = setup.clone();
    // The chip's margins are for as many layers as it has.
    taller.settings.extend([format!("geometry.layers={layers}"), "margins.step=none".to_owned()]);
    let lot = Lot::open(&taller)?;
    let aged = lot.aged(at.pe, at.kept);
    let pages = f64::from(lot.model.physics().shape.wordlines() * lot.pages());
    let read = aged.read(at.reads * pages);
    let blocks = lot.map(|block| {
        let traits = lot.traits(block);
        let of = |condition| traits.iter().map(|traits| lot.n_ret(traits, condition)).collect::<Vec<f64>>();
        (of(&aged), of(&read))
    });
    let over = |pick: fn(&(Vec<f64>, Vec<f64>)) -> f64| blocks.iter().map(pick).collect::<Vec<f64>>();
    let quiet = mean(&over(|(quiet, _)| mean(quiet)));
    let dv = quantile(&over(|(quiet, _)| crate::lot::greatest(quiet) / crate::lot::least(quiet)), 0.5);
    let layer = |number: usize| mean(&blocks.iter().map(|(quiet, _)| quiet[number]).collect::<Vec<_>>()) / quiet;
    let profile = (0..lot.layers()).map(|number| (number as f64 / (layers - 1.0), layer(number))).collect();
    let read = mean(&over(|(_, read)| mean(read)));
    let of_block = |(quiet, read): &(Vec<f64>, Vec<f64>)| [mean(quiet), mean(read), crate::lot::greatest(quiet) / crate::lot::least(quiet)];
    let blocks = blocks.iter().map(of_block).collect();
    Ok(Seen { layers, quiet, read, dv, profile, lot, blocks })
}

fn run(setup: &Setup) -> Result<Findings, LabError> {
    let at = At::of(setup)?;
    let seen = at.layers.iter().map(|layers| look(setup, &at, *layers)).collect::<Result<Vec<Seen>, LabError>>()?;
    let mut findings = Findings::default();
    let rise = |seen: &Seen| seen.read / seen.quiet;
    findings.set("disturb-order", share(seen.windows(2).map(|pair| rise(&pair[1]) > rise(&pair[0]))));
    findings.set("disturb-most", rise(&seen[seen.len() - 1]));
    let dv: Vec<f64> = seen.iter().map(|seen| seen.dv).collect();
    findings.set("dv-least", crate::lot::least(&dv));
    findings.set("dv-most", crate::lot::greatest(&dv));
    for seen in &seen {
        for (which, what) in ["N_ret, bit", "N_ret after the reads, bit", "Delta-V"].into_iter().enumerate() {
            findings.of_blocks(&seen.lot, &format!("{what}, {} layers", seen.layers), seen.blocks.iter().map(|of| of[which]));
        }
    }
    findings.figures = figures(&seen);
    Ok(findings)
}

fn figures(seen: &[Seen]) -> Vec<Figure> {
    let profile = |(colour, seen): (usize, &Seen)| Curve {
        label: format!("{} layers", seen.layers),
        colour,
        dashed: false,
        points: seen.profile.clone(),
    };
    let over = |label: &str, colour: usize, of: fn(&Seen) -> f64| Curve {
        label: label.to_owned(),
        colour,
        dashed: false,
        points: seen.iter().map(|seen| (seen.layers, of(seen))).collect(),
    };
    vec![
        Figure::Curves(Curves {
            title: "N_ret over the height of a block".to_owned(),
            note: "relative to the block's mean".to_owned(),
            x: Scale::from_zero("depth, 0 the topmost layer"),
            y: Scale::even("N_ret, relative"),
            curves: seen.iter().enumerate().map(profile).collect(),
            marks: Vec::new(),
        }),
        Figure::Curves(Curves {
            title: "Delta-V and read disturb over the number of layers".to_owned(),
            note: "Delta-V, and errors with as many reads of each page over errors without".to_owned(),
            x: Scale::even("layers"),
            y: Scale::even("ratio"),
            curves: vec![over("Delta-V", 0, |seen| seen.dv), over("read disturb", 4, |seen| seen.read / seen.quiet)],
            marks: Vec::new(),
        }),
    ]
}
