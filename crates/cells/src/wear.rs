//! Wear: the traps in the tunnel oxide that cycles leave behind and rest heals.
//!
//! Wear is counted in reference cycles: normal program/erase cycles of the reference wordline without rest between them.
//!
//! ```text
//! each erase    adds  (1 + suspended(n))·(1 − healed(dwell))            to the block's erase stress
//! each program  adds  (1 − healed(dwell))                               to its program stress
//! wear(wordline) = traits.wear · ( s·((erase − gentle) + g·gentle) + (1 − s)·program )      s: erase_share, g: traits.gentle
//! healed(t)      = share·ln(1 + t′/start),  t′ = t/(1 + (t/end)⁴)^¼          t: dwell time at 30 °C, Arrhenius-equivalent
//! a rest t heals   deep_share·⅓·ln(1 + (t/deep_start)³)                   of all that is there
//! ```
//!
//! Sources: erase share 001 §3.1.2; logarithm of dwell and its end near 180 min 000 §3.2.1; drop of age by a long rest 000 §3.3.3.

use wordline_units::Celsius;
use wordline_units::arrhenius::acceleration;

use crate::physics::{Physics, Recovery};
use crate::variation::Traits;

/// Erase and program history of a block: a few bytes, kept up to date cycle by cycle or preset ([`History::cycled`]).
///
/// A die holds one for each block; `gentle` differs between wordlines only where some were erased gently, and can be kept apart.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct History {
    /// Stress of all erases, in normal erases without rest.
    pub erase: f32,
    /// Stress of all programs, in programs without rest.
    pub program: f32,
    /// The part of `erase` in which this wordline was erased gently.
    pub gentle: f32,
}

impl History {
    /// The history of a block after `cycles` normal cycles, with a dwell of `dwell` seconds at `at` between them. No cycle is simulated.
    pub fn cycled(physics: &Physics, cycles: f64, dwell: f64, at: Celsius) -> History {
        let stress = (cycles * (1.0 - healed(&physics.recovery, effective_dwell(physics, dwell, at)))) as f32;
        History { erase: stress, program: stress, gentle: 0.0 }
    }

    /// History after one more erase, which followed the last one by `dwell` seconds at `at` and was suspended `suspensions` times.
    #[must_use]
    pub fn erased(mut self, physics: &Physics, dwell: f64, at: Celsius, suspensions: u32, gentle: bool) -> History {
        let dwell = effective_dwell(physics, dwell, at);
        let rest = deep_rest(&physics.recovery, dwell);
        let stress = (unhealed_stress(physics, suspensions) * (1.0 - healed(&physics.recovery, dwell))) as f32;
        let kept = (1.0 - rest) as f32;
        self.erase = self.erase * kept + stress;
        self.program *= kept;
        self.gentle *= kept;
        if gentle {
            self.gentle += stress;
        }
        self
    }

    /// History after one more program of the block's wordlines.
    #[must_use]
    pub fn programmed(mut self, physics: &Physics, dwell: f64, at: Celsius) -> History {
        self.program += (1.0 - healed(&physics.recovery, effective_dwell(physics, dwell, at))) as f32;
        self
    }

    /// History after the same use many times more. None of it is simulated: the sum is a geometric series.
    #[must_use]
    pub(crate) fn further(mut self, again: &Again) -> History {
        let &Again { times, kept, erase, program, gentle } = again;
        let all = libm::pow(kept, times);
        let sum = if kept < 1.0 { (1.0 - all) / (1.0 - kept) } else { times };
        let grown = |before: f32, each: f64| (f64::from(before) * all + each * sum) as f32;
        (self.erase, self.program, self.gentle) = (grown(self.erase, erase), grown(self.program, program), grown(self.gentle, gentle));
        self
    }

    /// History after a rest of `seconds` at `at`, for a block that is read before its next erase.
    #[must_use]
    pub fn rested(mut self, physics: &Physics, seconds: f64, at: Celsius) -> History {
        let kept = (1.0 - deep_rest(&physics.recovery, effective_dwell(physics, seconds, at))) as f32;
        self.erase *= kept;
        self.program *= kept;
        self.gentle *= kept;
        self
    }
}

/// Use of a block that is repeated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Again {
    /// Number of repetitions.
    pub times: f64,
    /// Share of the stress before one repetition that its deep rests leave.
    pub kept: f64,
    /// Stress that one repetition adds, of erases, of programs, and of the erases in which the wordline was spared.
    pub erase: f64,
    pub program: f64,
    pub gentle: f64,
}

/// Stress of one erase that was suspended so often, before any of it heals.
pub(crate) fn unhealed_stress(physics: &Physics, suspensions: u32) -> f64 {
    1.0 + crate::erase::suspended(&physics.ispe, f64::from(suspensions))
}

/// Dwell time at the reference temperature that heals as much as `seconds` at `at`.
pub fn effective_dwell(physics: &Physics, seconds: f64, at: Celsius) -> f64 {
    seconds * acceleration(physics.recovery.energy, at, Celsius(physics.retention.temperature))
}

/// Share of a cycle's traps that heals in an effective dwell time.
pub fn healed(recovery: &Recovery, dwell: f64) -> f64 {
    let over = dwell / recovery.end;
    // Beyond the end time stands still: rounded over one octave, so that nothing jumps.
    let counted = dwell / libm::pow(1.0 + over * over * over * over, 0.25);
    saturating(recovery.share * libm::log1p(counted / recovery.start))
}

/// Share of all traps that heals in a long rest. The rests between the cycles of a busy block are far too short to count, however many there are.
pub fn deep_rest(recovery: &Recovery, rest: f64) -> f64 {
    let times = rest / recovery.deep_start;
    saturating(recovery.deep_share * libm::log1p(times * times * times) / 3.0)
}

/// A share that grows like `x` while it is small and stays below one.
fn saturating(x: f64) -> f64 {
    if x < 0.5 { x } else { 1.0 - 0.5 * libm::exp(1.0 - 2.0 * x) }
}

/// Wear of a wordline, in reference cycles.
pub fn wear(physics: &Physics, traits: &Traits, history: &History) -> f64 {
    let share = physics.wear.erase_share;
    let (erase, gentle) = (f64::from(history.erase), f64::from(history.gentle));
    let stress = share * (erase - gentle + traits.gentle * gentle) + (1.0 - share) * f64::from(history.program);
    traits.wear * stress
}

/// Wear of a gentle erase relative to that of a normal one, programs included: S_k of 001 §3.2.2.
pub fn low_stress_coefficient(physics: &Physics, traits: &Traits) -> f64 {
    let share = physics.wear.erase_share;
    share * traits.gentle + (1.0 - share)
}
