//! The threshold-voltage distribution of the cells of one state.
//!
//! ```text
//! V = low + width·u + sigma·x                 u uniform, x normal: what program-verify leaves, and noise
//!   + (with probability upper.share)  an exponential distance upward
//!   − (with probability lower.share)  an exponential distance downward
//! ```
//!
//! plus strays that never came to the state or ran past it. The shape is that of measured histograms (`shared/reliability`): a Gaussian core whose tails beyond
//! four deviations fall exponentially, the lower one growing with charge loss and with the state, the upper one with wear and against it.

use crate::program::Stray;
use crate::special::{tail_both, tail_uniform};

/// An exponential tail of a distribution.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tail {
    /// Share of the state's cells in the tail.
    pub share: f64,
    /// Mean distance of the tail from the core, in mV.
    pub length: f64,
}

/// The distribution of one state's cells, in mV.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct State {
    /// Lower end of the uniform part.
    pub low: f64,
    /// Width of the uniform part.
    pub width: f64,
    /// Standard deviation of the normal part.
    pub sigma: f64,
    /// Tail of cells far above the core.
    pub upper: Tail,
    /// Tail of cells far below the core.
    pub lower: Tail,
    /// Cells that ran past the state while it was programmed.
    pub past: Stray,
    /// Cells that did not reach the state while it was programmed.
    pub short: Stray,
}

/// Distance in deviations beyond which less than one cell in a drive is left of a core.
const FAR: f64 = 8.0;
/// Distance in deviations and in mean lengths beyond which less than one cell in a hundred million is left of a tail.
const FAR_TAIL: [f64; 2] = [4.0, 10.0];

impl State {
    /// Mean of the core.
    pub fn mean(&self) -> f64 {
        self.low + 0.5 * self.width
    }

    /// Standard deviation of the core.
    pub fn deviation(&self) -> f64 {
        (self.sigma * self.sigma + self.width * self.width / 12.0).sqrt()
    }

    /// Share of the state's cells above `v`.
    pub fn above(&self, v: f64) -> f64 {
        self.beyond(v, 1.0)
    }

    /// Share of the state's cells below `v`.
    pub fn below(&self, v: f64) -> f64 {
        self.beyond(v, -1.0)
    }

    /// Share of the state's cells above `v` (`side` 1) or, mirrored, below it (`side` −1).
    fn beyond(&self, v: f64, side: f64) -> f64 {
        let (near, far) = if side > 0.0 { (self.upper, self.lower) } else { (self.lower, self.upper) };
        let deviation = self.deviation();
        let distance = side * (v - self.mean());
        let strays = self.past.share + self.short.share;
        let mut share = 0.0;
        let reach = (FAR * deviation).max(FAR_TAIL[0] * deviation + FAR_TAIL[1] * near.length);
        if distance < reach {
            // The uniform part reaches half its width beyond the mean on either side.
            let core = tail_uniform((distance + 0.5 * self.width) / self.sigma, self.width / self.sigma);
            share = (1.0 - near.share - far.share) * core;
            if near.share + far.share > 0.0 {
                let z = distance / deviation;
                let (with_near, with_far) = tail_both(z, deviation / near.length.max(1e-9), deviation / far.length.max(1e-9));
                share += near.share * with_near + far.share * with_far;
            }
            share *= 1.0 - strays;
        }
        if strays > 0.0 {
            share += self.past.beyond(v, side) + self.short.beyond(v, side);
        }
        share.clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_has_all_its_cells_on_one_side_or_the_other() {
        let state = State {
            low: 900.0,
            width: 240.0,
            sigma: 75.0,
            upper: Tail { share: 0.02, length: 60.0 },
            lower: Tail { share: 0.05, length: 90.0 },
            past: Stray::new(1000.0, 190.0, 1190.0, 1.0).moved(0.0, 75.0),
            short: Stray::new(1300.0, 190.0, 920.0, -1.0).moved(0.0, 75.0),
        };
        let mut last = 1.0;
        for step in 0..400 {
            let v = -500.0 + f64::from(step) * 10.0;
            let (above, below) = (state.above(v), state.below(v));
            assert!((above + below - 1.0).abs() < 1e-7, "{v}: {above} + {below}");
            assert!(above <= last + 1e-7, "{v}");
            last = above;
        }
    }
}
