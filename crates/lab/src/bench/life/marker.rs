//! Aging markers: predictions of N(12) by a linear combination of quantities that firmware can measure.

use super::{At, Life};
use crate::lot::{greatest, least, regression};

/// The measurements of one block at one P/E count.
#[derive(Clone, Copy)]
pub(super) struct Sight {
    pub(super) pe: f64,
    pub(super) tbers: f64,
    pub(super) progress: f64,
    pub(super) tprog: f64,
    pub(super) n0: f64,
    /// Standard deviation of N(0) between two reads.
    pub(super) flicker: f64,
    /// Dwell, up to where more of it tells a marker nothing.
    pub(super) dwell: f64,
    pub(super) n12: f64,
}

/// A linear aging marker.
pub(super) struct Marker {
    pub(super) terms: fn(&Sight) -> Vec<f64>,
    pub(super) weights: Vec<f64>,
    pub(super) offset: f64,
}

impl Marker {
    pub(super) fn fit(terms: fn(&Sight) -> Vec<f64>, sights: &[Sight]) -> Marker {
        let rows: Vec<Vec<f64>> = sights.iter().map(terms).collect();
        let weights = regression(&rows, &sights.iter().map(|sight| sight.n12).collect::<Vec<_>>());
        Marker { terms, weights, offset: 0.0 }
    }

    pub(super) fn of(&self, sight: &Sight) -> f64 {
        (self.terms)(sight).iter().zip(&self.weights).map(|(term, weight)| term * weight).sum::<f64>() + self.offset
    }

    /// Raises the marker until no block it was fitted on dies unforeseen, and by `more`.
    pub(super) fn made_safe(mut self, deaths: &[Sight], limit: f64, more: f64) -> Marker {
        let least = least(&deaths.iter().map(|sight| self.of(sight)).collect::<Vec<_>>());
        self.offset += (limit - least).max(0.0) + more;
        self
    }

    /// The greatest range of N(12) among sights of blocks with the same value of the marker, up to the P/E count that the source compares markers at.
    pub(super) fn spread(&self, at: &At, sights: &[Sight]) -> f64 {
        let residual: Vec<(f64, f64)> =
            sights.iter().filter(|sight| sight.pe <= at.compared).map(|sight| (self.of(sight), sight.n12 - self.of(sight))).collect();
        let bins = (0..(at.bins_most / at.bin) as u32).map(|bin| {
            let (from, to) = (f64::from(bin) * at.bin, f64::from(bin + 1) * at.bin);
            let within: Vec<f64> = residual.iter().filter(|(value, _)| *value >= from && *value < to).map(|(_, rest)| *rest).collect();
            if within.len() < at.bin_least as usize { 0.0 } else { greatest(&within) - least(&within) }
        });
        greatest(&bins.collect::<Vec<_>>())
    }

    /// Share of their life, in percent, that blocks have had when the marker gives them up.
    pub(super) fn life(&self, blocks: &[&Life], limit: f64) -> f64 {
        life(blocks, |block| block.sights.iter().find(|sight| self.of(sight) >= limit).map_or(block.death_sight.pe, |sight| sight.pe))
    }
}

/// Writes until blocks are given up, over writes until they are dead, in percent: 000 Eq 3.2.
pub(super) fn life(blocks: &[&Life], given_up: impl Fn(&Life) -> f64) -> f64 {
    let total = |of: &dyn Fn(&Life) -> f64| blocks.iter().map(|block| of(block)).sum::<f64>();
    100.0 * total(&|block| given_up(block).min(block.death_sight.pe)) / total(&|block| block.death_sight.pe)
}

pub(super) fn log_dwell(sight: &Sight) -> f64 {
    libm::log(sight.dwell)
}

pub(super) fn early_terms(sight: &Sight) -> Vec<f64> {
    vec![sight.pe, sight.tbers, sight.n0, log_dwell(sight), 1.0]
}

pub(super) fn realwear_terms(sight: &Sight) -> Vec<f64> {
    vec![sight.pe, sight.progress, sight.n0, log_dwell(sight), 1.0]
}

pub(super) fn plus_terms(sight: &Sight) -> Vec<f64> {
    vec![sight.pe, sight.tprog, 1.0]
}

pub(super) fn plus_plus_terms(sight: &Sight) -> Vec<f64> {
    vec![sight.pe, sight.tprog, sight.n0, 1.0]
}
