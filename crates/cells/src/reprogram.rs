//! One-shot reprogramming (OSR): destroys a page of a wordline by lifting cells until its bits cannot be told apart, and hopes that the other pages survive.
//!
//! States that differ only in destroyed pages are merged onto the highest of their run, by one pulse without verify:
//! `N(level + overshoot + luck·wordline_sigma, sigma)`. With time lifted cells spread: `sigma·(1 + spread·ln(1 + t/start))`. Source: 002 §4, 000 §5.1.2.
//!
//! Known wrong: a run of more than two states is lifted by one pulse alone.

use crate::condition::Reprogrammed;
use crate::physics::Physics;
use crate::program::LEVELS;
use crate::state::State;

/// Applies one-shot reprogramming to the states of a wordline, one for each of `codes`. `loss`: charge that the highest state has lost in `retention` seconds.
pub(crate) fn apply(physics: &Physics, states: &mut [State; LEVELS + 1], how: &Reprogrammed, loss: f64, retention: f64, codes: &[u8]) {
    let reprogram = &physics.reprogram;
    let logs = libm::log1p(retention / physics.retention.start);
    let kept = |state: usize| codes[state] & !how.pages;
    let (before, count) = (*states, codes.len());
    let top_mean = before[count - 1].mean();
    let mut start = 0;
    while start < count {
        let mut end = start;
        while end + 1 < count && kept(end + 1) == kept(start) {
            end += 1;
        }
        for state in start..=end {
            let old = before[state];
            states[state] = if state == end {
                State { low: old.low + reprogram.disturb, ..old }
            } else {
                let target = before[end].mean() + reprogram.overshoot + f64::from(how.luck) * reprogram.wordline_sigma;
                let lost = loss * crate::effects::loss_share(&physics.retention, target, top_mean);
                State { low: target - lost, width: 0.0, sigma: reprogram.sigma * (1.0 + reprogram.spread * logs), ..State::default() }
            };
        }
        start = end + 1;
    }
}
