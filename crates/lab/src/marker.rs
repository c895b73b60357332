//! Aging markers: predictions of N(12) by a linear combination of quantities that firmware can measure (000 §3.2).

use wordline_cells::{Block, History, Settings, Traits, Wordline};
use wordline_units::Celsius;

use crate::lot::{Lot, crossing, greatest, least, mean, regression};

/// Conditions at which blocks are looked at over their lives.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Looks {
    /// Retention that is required, in seconds.
    pub(crate) kept: f64,
    /// Cycles at which the search for the end of a block's life gives up.
    pub(crate) cycles_most: f64,
    /// Spacing of the h-layers that are programmed to find t_PROG, in layers.
    pub(crate) every: u32,
    /// Dwell above which more of it tells a marker nothing, in seconds.
    pub(crate) saturated: f64,
}

/// Errors of a page just after its program, per codeword, as two reads of it count them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Count {
    /// Count of the first read.
    pub(crate) first: f64,
    /// Count of another one: it differs by telegraph noise.
    pub(crate) again: f64,
}

impl Looks {
    /// N(12): errors of a codeword of the weakest wordline's worst page after the retention that is required, at the best references.
    pub(crate) fn n12(&self, lot: &Lot, weak: &Traits, history: History) -> f64 {
        lot.worst_page(weak, &lot.after(history, self.kept))
    }

    /// P/E cycles at which N(12) is more than can be corrected; the most that are tried where it is not.
    pub(crate) fn death(&self, lot: &Lot, weak: &Traits, dwell: f64, warm: Celsius) -> f64 {
        crossing(0.0, self.cycles_most, lot.limit(), |pe| self.n12(lot, weak, lot.model.cycled(pe, dwell, warm)))
    }

    /// P/E cycles at which a scan of the block, after the retention that is required, finds a codeword with more errors than can be corrected; the most that
    /// are tried where it does not.
    pub(crate) fn scan_death(&self, lot: &Lot, block: &Block, dwell: f64) -> f64 {
        let traits = lot.traits(block);
        crossing(0.0, self.cycles_most, lot.limit(), |pe| lot.scan(block, &traits, &lot.after(lot.cycled(pe, dwell), self.kept)))
    }

    /// Counts of the errors of a page just after its program, by reads with the default references: nobody looks for the best first (000 §3.2.1).
    pub(crate) fn count(&self, lot: &Lot, wordline: &Wordline, page: u32, name: [u32; 4]) -> Count {
        let rate = wordline.error_rate(&lot.model, page, &lot.model.references(0));
        let bits = lot.model.codeword_bits() * lot.model.codewords();
        // Each read has the telegraph noise of each of the page's codewords.
        let noise = |read: u32| {
            let flicker = -wordline_cells::special::tail_inverse(lot.dice([name[0], name[1], name[2], name[3] + 1 + read]));
            flicker * lot.model.telegraph(wordline.wear) * lot.model.codewords().sqrt()
        };
        let errors = lot.sample(rate * bits, bits, name);
        let of = |read: u32| (errors + noise(read)) / lot.model.codewords();
        Count { first: of(0), again: of(1) }
    }

    /// Measurements of a block with this history of `pe` cycles. `weak`: its weakest wordline, of which N(0) is taken as well.
    pub(crate) fn sight(&self, lot: &Lot, block: &Block, weak: &Traits, pe: f64, dwell: f64) -> Sight {
        let history = lot.cycled(pe, dwell);
        let erase = lot.model.erase(block, &history);
        // t_PROG is the mean over a block's wordlines: one wordline's is a whole number of loops and verifies.
        let times = (0..lot.layers() as u32)
            .step_by(self.every as usize)
            .map(|layer| lot.model.program(&lot.model.traits(block, layer), &history, &Settings::default()).time);
        let tprog = mean(&times.collect::<Vec<_>>());
        let wordline = lot.model.wordline(weak, &lot.after(history, 0.0));
        let count = self.count(lot, &wordline, 0, [block.chip, block.block, pe as u32, dwell as u32]);
        Sight {
            pe,
            tbers: erase.time / 1e3,
            progress: erase.progress / 1e3,
            tprog,
            n0: count.first,
            flicker: lot.model.telegraph(wordline.wear) / lot.model.codewords().sqrt(),
            dwell: dwell.min(self.saturated),
            n12: self.n12(lot, weak, history),
        }
    }
}

/// A block that is cycled until it is dead.
pub(crate) struct Life {
    pub(crate) sights: Vec<Sight>,
    pub(crate) death_sight: Sight,
}

/// Values of a marker that count as equal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bins {
    /// P/E count up to which the source compares markers.
    pub(crate) compared: f64,
    /// Width of a bin, in bits.
    pub(crate) width: f64,
    /// The most errors for which values are binned.
    pub(crate) most: f64,
    /// Fewest measurements in a bin.
    pub(crate) least: u32,
}

/// The measurements of one block at one P/E count.
#[derive(Clone, Copy)]
pub(crate) struct Sight {
    pub(crate) pe: f64,
    pub(crate) tbers: f64,
    /// t_BERS as if the last pulse could end once its cells are erased: in ms, or in pulses where a table is made for dies that tell it so.
    pub(crate) progress: f64,
    pub(crate) tprog: f64,
    pub(crate) n0: f64,
    /// Standard deviation of N(0) between two reads.
    pub(crate) flicker: f64,
    /// Dwell, up to where more of it tells a marker nothing.
    pub(crate) dwell: f64,
    pub(crate) n12: f64,
}

/// A linear aging marker.
pub(crate) struct Marker {
    pub(crate) terms: fn(&Sight) -> Vec<f64>,
    pub(crate) weights: Vec<f64>,
    pub(crate) offset: f64,
}

impl Marker {
    pub(crate) fn fit(terms: fn(&Sight) -> Vec<f64>, sights: &[Sight]) -> Marker {
        let rows: Vec<Vec<f64>> = sights.iter().map(terms).collect();
        let weights = regression(&rows, &sights.iter().map(|sight| sight.n12).collect::<Vec<_>>());
        Marker { terms, weights, offset: 0.0 }
    }

    pub(crate) fn of(&self, sight: &Sight) -> f64 {
        (self.terms)(sight).iter().zip(&self.weights).map(|(term, weight)| term * weight).sum::<f64>() + self.offset
    }

    /// Raises the marker until no block it was fitted on dies unforeseen, and by `more`.
    pub(crate) fn made_safe(mut self, deaths: &[Sight], limit: f64, more: f64) -> Marker {
        let least = least(&deaths.iter().map(|sight| self.of(sight)).collect::<Vec<_>>());
        self.offset += (limit - least).max(0.0) + more;
        self
    }

    /// The greatest range of N(12) among sights of blocks with the same value of the marker, up to the P/E count that the source compares markers at.
    pub(crate) fn spread(&self, bins: &Bins, sights: &[Sight]) -> f64 {
        let residual: Vec<(f64, f64)> =
            sights.iter().filter(|sight| sight.pe <= bins.compared).map(|sight| (self.of(sight), sight.n12 - self.of(sight))).collect();
        let ranges = (0..(bins.most / bins.width) as u32).map(|bin| {
            let (from, to) = (f64::from(bin) * bins.width, f64::from(bin + 1) * bins.width);
            let within: Vec<f64> = residual.iter().filter(|(value, _)| *value >= from && *value < to).map(|(_, rest)| *rest).collect();
            if within.len() < bins.least as usize { 0.0 } else { greatest(&within) - least(&within) }
        });
        greatest(&ranges.collect::<Vec<_>>())
    }

    /// Share of their life, in percent, that blocks have had when the marker gives them up.
    pub(crate) fn life(&self, blocks: &[&Life], limit: f64) -> f64 {
        life(blocks, |block| block.sights.iter().find(|sight| self.of(sight) >= limit).map_or(block.death_sight.pe, |sight| sight.pe))
    }
}

/// Writes until blocks are given up, over writes until they are dead, in percent: 000 Eq 3.2.
pub(crate) fn life(blocks: &[&Life], given_up: impl Fn(&Life) -> f64) -> f64 {
    let total = |of: &dyn Fn(&Life) -> f64| blocks.iter().map(|block| of(block)).sum::<f64>();
    100.0 * total(&|block| given_up(block).min(block.death_sight.pe)) / total(&|block| block.death_sight.pe)
}

pub(crate) fn log_dwell(sight: &Sight) -> f64 {
    libm::log(sight.dwell)
}

pub(crate) fn early_terms(sight: &Sight) -> Vec<f64> {
    vec![sight.pe, sight.tbers, sight.n0, log_dwell(sight), 1.0]
}

pub(crate) fn realwear_terms(sight: &Sight) -> Vec<f64> {
    vec![sight.pe, sight.progress, sight.n0, log_dwell(sight), 1.0]
}

pub(crate) fn plus_terms(sight: &Sight) -> Vec<f64> {
    vec![sight.pe, sight.tprog, 1.0]
}

pub(crate) fn plus_plus_terms(sight: &Sight) -> Vec<f64> {
    vec![sight.pe, sight.tprog, sight.n0, 1.0]
}
