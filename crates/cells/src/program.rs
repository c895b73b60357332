//! Programming by incremental step pulses (ISPP), as micro-operations: the loops and verifies of a program, its time, and the cells that it leaves in the
//! wrong place.
//!
//! The cells of a wordline differ in speed. After loop `i` a cell whose speed is `x` stands at
//!
//! ```text
//! V(i, x) = first + gain·start_margin + (i − 1)·gain·step + speed(layer, wear, warmth) + x          x ~ N(0, speed)
//! ```
//!
//! unless a verify has stopped it: a verify of state s in loop i stops its cells above `verify[s]`, and slows those close below it, so that what is left above
//! the level is `placement` of a loop's shift and not all of it (bit-line slow-down, as in quick pass write).
//!
//! - Loops: `round((window − margins)/step)`, or fewer where no more than `short_cells` are left (003 §2.2).
//! - t_PROG = Σ (pulse + k_i·verify), k_i: states verified in loop i (003 Eq 1).
//! - Verifies skipped beyond the loop in which the fastest cells arrive let those run past their level (003 §4.1.1).
//! - A margin on V_start lets fast cells land past their level in the first loop; one on V_final leaves slow cells short (003 §4.1.2).
//!
//! Known wrong: 003's two voltage examples imply a window of 1,625 mV, in which seven states cannot stand at a volt of threshold for a volt of control gate;
//! `gain` is therefore greater than one, and the margins are to be read in 003's scale.

use crate::physics::{Ispp, Physics};
use crate::special::{tail, tail_inverse};
use crate::variation::Traits;

/// The most programmed states of a cell.
pub const LEVELS: usize = 15;
/// The most loops a program can have.
pub const LOOPS: usize = 64;

/// Settings of the program of a wordline. [`Default`]: the chip's own.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Settings {
    /// Margin by which V_start is raised, in mV.
    pub start_margin: f32,
    /// Margin by which V_final is lowered, in mV.
    pub final_margin: f32,
    /// Number of verifies skipped for each programmed state, lowest first: its first verify is in the loop after.
    pub skip: [u8; LEVELS],
}

impl Settings {
    /// True if these settings are the chip's own.
    pub fn is_default(&self) -> bool {
        *self == Settings::default()
    }
}

/// A few cells that stand elsewhere than their state: those that a normal distribution has beyond a cut, with the noise of a read on top.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stray {
    /// Share of the state's cells.
    pub share: f64,
    /// Mean of the whole distribution, in mV.
    pub mean: f64,
    /// Standard deviation of the whole distribution.
    pub sigma: f64,
    /// Threshold voltage at which the distribution is cut, in mV.
    pub cut: f64,
    /// Side of the cut on which these cells are: 1 above, −1 below.
    pub side: f64,
    /// Standard deviation of the noise of a read.
    pub noise: f64,
    /// Standard deviation of the whole distribution with the noise.
    pub spread: f64,
}

/// Distance in deviations beyond which less than one cell in a drive is left.
const GONE: f64 = 6.0;

impl Stray {
    /// The cells of N(mean, sigma) on one side of `cut`.
    pub(crate) fn new(mean: f64, sigma: f64, cut: f64, side: f64) -> Stray {
        let z = side * (cut - mean) / sigma;
        // No chip has as many cells as it takes to find one there.
        if z > 8.0 {
            return Stray::default();
        }
        Stray { share: tail(z), mean, sigma, cut, side, noise: 0.0, spread: sigma }
    }

    /// Strays after all of them have moved by `shift`, and with noise.
    #[must_use]
    pub(crate) fn moved(self, shift: f64, noise: f64) -> Stray {
        Stray { mean: self.mean + shift, cut: self.cut + shift, noise, spread: (self.sigma * self.sigma + noise * noise).sqrt(), ..self }
    }

    /// The share of the state's cells that stray and are read beyond `v`: above it (`side` 1) or below (−1).
    pub(crate) fn beyond(&self, v: f64, side: f64) -> f64 {
        if self.share <= 0.0 {
            return 0.0;
        }
        let outward = self.outward(v);
        if side == self.side { outward } else { self.share - outward }
    }

    /// The share read further out than `v`, as seen from the cut: the mean over the noise, by Gauss and Hermite where it reaches the cut.
    fn outward(&self, v: f64) -> f64 {
        let (mean, distance) = (self.side * self.mean, self.side * (v - self.cut));
        let furthest = NOISE[3].0 * self.noise;
        if distance < -furthest {
            return self.share;
        }
        if distance > furthest {
            let z = (self.side * v - mean) / self.spread;
            return if z > GONE { 0.0 } else { tail(z).min(self.share) };
        }
        // A cell that does not stray stays away, whatever its noise.
        let at = |noise: f64| if noise > distance { self.share } else { tail((self.side * v - noise - mean) / self.sigma) };
        NOISE.iter().map(|(node, weight)| weight * (at(node * self.noise) + at(-node * self.noise))).sum()
    }
}

/// Nodes and weights of the seven-point Gauss-Hermite rule, on one side; the middle one counts half.
const NOISE: [(f64, f64); 4] = [
    (0.0, 0.5 * 0.457_142_857_142_857),
    (1.154_405_394_739_968, 0.240_123_178_605_013),
    (2.366_759_410_734_541, 0.030_757_123_967_586_5),
    (3.750_439_717_725_742, 0.000_548_268_855_972_218),
];

/// The loops, verifies and time of the program of a wordline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Program {
    /// Number of loops.
    pub loops: u32,
    /// Number of verifies in each loop, k_i.
    pub verifies: [u8; LOOPS],
    /// For each state, the loop in which its fastest cells arrive, L_min, counted from the first pulse.
    pub first: [u8; LEVELS],
    /// For each state, the loop in which it is done, L_max, counted from the first pulse.
    pub last: [u8; LEVELS],
    /// t_PROG in microseconds.
    pub time: f64,
}

/// The numbers of a program that all its states share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Course {
    /// Threshold voltage of a nominal cell after the first pulse.
    first: f64,
    /// Shift for each loop.
    shift: f64,
    /// Standard deviation of the cells' speed.
    speed: f64,
    /// The most loops of the program.
    pub(crate) loops_max: u32,
    /// `z` of the slowest cells that are not allowed to stay short.
    slow: f64,
}

impl Course {
    pub(crate) fn new(physics: &Physics, traits: &Traits, wear: f64, settings: &Settings, slow: f64) -> Course {
        let ispp = &physics.ispp;
        let margins = f64::from(settings.start_margin) + f64::from(settings.final_margin);
        let loops = libm::round((ispp.window - margins) / ispp.step);
        Course {
            first: ispp.first + ispp.gain * f64::from(settings.start_margin) + traits.speed + wear_speed(ispp, wear),
            shift: ispp.gain * ispp.step,
            speed: ispp.speed,
            loops_max: loops.clamp(1.0, LOOPS as f64) as u32,
            slow,
        }
    }

    /// Threshold voltage of a nominal cell after a loop, counted from 1.
    fn nominal(&self, pulse: u32) -> f64 {
        self.first + f64::from(pulse - 1) * self.shift
    }

    /// The first loop after which a cell `z` deviations faster than nominal stands at `level` or above.
    fn reaches(&self, level: f64, z: f64) -> u32 {
        let shifts = (level - self.first - z * self.speed) / self.shift;
        // Rounded up by hand: half of a program's work was in a call for it.
        let whole = shifts as u32;
        (whole.saturating_add(u32::from(f64::from(whole) < shifts)).saturating_add(1)).min(LOOPS as u32)
    }

    /// Number of loops of a program whose highest state begins at `top`.
    pub(crate) fn loops(&self, top: f64) -> u32 {
        self.reaches(top, -self.slow).min(self.loops_max)
    }

    /// Stray cells of a state that begins at `level`: those that were already past what a verify leaves when they were first verified, in loop `verified`.
    pub(crate) fn past(&self, level: f64, placement: f64, verified: u32) -> Stray {
        Stray::new(self.nominal(verified), self.speed, level + placement * self.shift, 1.0)
    }

    /// True if cells past the state that begins at `level` are less than `z` deviations faster than nominal.
    pub(crate) fn has_past(&self, level: f64, placement: f64, verified: u32, z: f64) -> bool {
        level + placement * self.shift - self.nominal(verified) < z * self.speed
    }

    /// Stray cells of a state that begins at `level`: those that have not come there after `loops`.
    pub(crate) fn short(&self, level: f64, loops: u32) -> Stray {
        Stray::new(self.nominal(loops), self.speed, level, -1.0)
    }

    /// True if cells short of the state that begins at `level` are less than `z` deviations slower than nominal.
    pub(crate) fn has_short(&self, level: f64, loops: u32, z: f64) -> bool {
        self.nominal(loops) - level < z * self.speed
    }
}

/// Gain in program speed by wear, in mV.
pub fn wear_speed(ispp: &Ispp, wear: f64) -> f64 {
    -ispp.wear_speed * libm::expm1(-wear / ispp.wear_speed_scale)
}

/// `z` of the slowest cells a program waits for: the remaining cells, `short_cells` of a wordline, are of the highest state.
pub(crate) fn slow_z(physics: &Physics) -> f64 {
    tail_inverse((physics.ispp.short_cells * physics.shape.states() as f64).clamp(1e-12, 0.5))
}

/// `z` of the fastest cell a state is expected to have.
pub(crate) fn fast_z(physics: &Physics) -> f64 {
    tail_inverse((physics.shape.states() as f64 / f64::from(physics.shape.cells())).clamp(1e-12, 0.5))
}

/// Works out the program of a wordline.
pub(crate) fn program(physics: &Physics, course: &Course, fast: f64, settings: &Settings) -> Program {
    let verify = &physics.states.verify;
    let loops = course.loops(verify[verify.len() - 1]);
    let mut program = Program { loops, verifies: [0; LOOPS], first: [0; LEVELS], last: [0; LEVELS], time: 0.0 };
    for (state, &level) in verify.iter().enumerate() {
        let first = course.reaches(level, fast).min(loops);
        let last = course.reaches(level, -course.slow).min(loops);
        (program.first[state], program.last[state]) = (first as u8, last as u8);
        let (skipped, last) = (usize::from(settings.skip[state]), last as usize);
        program.verifies[skipped.min(last)..last].iter_mut().for_each(|verifies| *verifies += 1);
    }
    let verifies: u32 = program.verifies.iter().map(|&k| u32::from(k)).sum();
    program.time = f64::from(loops) * physics.ispp.pulse + f64::from(verifies) * physics.ispp.verify;
    program
}
