//! One-shot reprogramming (OSR): destroys a page of a wordline by lifting cells until its bits cannot be told apart, and hopes that the other pages survive.
//!
//! States that differ only in destroyed pages are merged onto the highest of their run, by one pulse without verify:
//! `N(level + overshoot + luck·wordline_sigma, sigma)`.
//! Lifted cells lose charge faster. Source: 002 §4, 000 §5.1.2. Known wrong: that a run of more than two states is lifted by one pulse alone.

use crate::condition::Reprogrammed;
use crate::physics::Physics;
use crate::state::State;
use crate::wordline::Wordline;

pub(crate) fn apply(physics: &Physics, wordline: &mut Wordline, how: &Reprogrammed, loss: f64, codes: &[u8]) {
    let reprogram = &physics.reprogram;
    let kept = |state: usize| codes[state] & !how.pages;
    let before = wordline.states;
    let top_mean = before[wordline.count - 1].mean();
    let mut start = 0;
    while start < wordline.count {
        let mut end = start;
        while end + 1 < wordline.count && kept(end + 1) == kept(start) {
            end += 1;
        }
        for state in start..=end {
            let old = before[state];
            wordline.states[state] = if state == end {
                State { low: old.low + reprogram.disturb, ..old }
            } else {
                let target = before[end].mean() + reprogram.overshoot + f64::from(how.luck) * reprogram.wordline_sigma;
                let share = ((target - physics.retention.neutral) / (top_mean - physics.retention.neutral)).max(0.0);
                let lost = (reprogram.loss - 1.0) * loss * share;
                let spread = physics.retention.spread * reprogram.loss * loss * share;
                State {
                    low: target - lost,
                    width: 0.0,
                    sigma: (reprogram.sigma * reprogram.sigma + spread * spread).sqrt(),
                    ..State::default()
                }
            };
        }
        start = end + 1;
    }
}
