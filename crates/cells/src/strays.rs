//! What settings of its own change in a wordline: the few cells that run past their state, or do not come to it.
//!
//! The core of each state stands where the die by itself would have put it, so the grid's error rate holds for all other cells, and only these few have to be
//! looked at for each read. Working out whole wordlines instead cost four times as much as all the rest of a read.
//!
//! Known wrong: fewer loops disturb the erased state less; the grid's is that of a whole program. That is below the steps of the grid.

use crate::condition::Condition;
use crate::model::Model;
use crate::program::{LEVELS, Settings, Stray};
use crate::special::tail;
use crate::variation::Traits;
use crate::wordline::{Drift, References, wrong};

/// The strays of a wordline beyond those of a wordline that the die programs by itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Strays {
    /// The state of each group, and its cells, before anything has moved them; a negative share is of cells that would have strayed by default.
    of: [(u8, Stray); 4 * LEVELS],
    count: usize,
    loops: u32,
}

/// So many deviations away less is left of a state than one cell in a block.
const NONE: f64 = 5.2;
/// So many deviations away less is left of a group, which is a small part of a state, than one cell in a drive.
const FAR: f64 = 6.0;

/// The share of a group that is more than `z` of its deviations above its mean.
#[inline]
fn beyond(z: f64) -> f64 {
    if z > FAR {
        0.0
    } else if z < -FAR {
        1.0
    } else {
        tail(z)
    }
}

impl Strays {
    /// Those of a wordline that was programmed with `settings` while it was as warm as `warmed` says. `traits` are those of the reference temperature.
    pub(crate) fn new(model: &Model, traits: &Traits, warmed: &Traits, wear: f64, settings: &Settings) -> Strays {
        let physics = model.physics();
        let (levels, placement) = (&physics.states.verify, physics.states.placement);
        let count = physics.shape.states();
        // The grid leaves the speed of a layer out.
        let by_itself = model.course(&Traits { speed: 0.0, ..*traits }, wear, &Settings::default());
        let here = model.course(warmed, wear, settings);
        let [all, loops] = [&by_itself, &here].map(|course| course.loops(levels[count - 2]));
        let mut strays = Strays { of: [(0, Stray::default()); 4 * LEVELS], count: 0, loops };
        for (number, &level) in (1..count).zip(levels) {
            let highest = if number + 1 == count { 1.0 } else { 0.0 };
            let own = physics.states.noise * traits.noise * (1.0 + physics.states.top_noise * highest);
            let verified = u32::from(settings.skip[number - 1]) + 1;
            let mut add = |sign: f64, stray: Stray| {
                let sigma = (stray.sigma * stray.sigma + own * own).sqrt();
                strays.of[strays.count] = (number as u8, Stray { share: sign * stray.share, mean: stray.mean, sigma });
                strays.count += 1;
            };
            for (sign, course, verified, loops) in [(1.0, &here, verified, loops), (-1.0, &by_itself, 1, all)] {
                if course.past_z(level, placement, verified) < NONE {
                    add(sign, course.past(level, placement, verified));
                }
                if course.short_z(level, loops) < NONE {
                    add(sign, course.short(level, loops));
                }
            }
        }
        strays
    }

    /// Add to the raw bit error rates of the wordline's pages what they make of them.
    pub(crate) fn add(&self, model: &Model, traits: &Traits, condition: &Condition, w: f64, references: &References, rates: &mut [f64]) {
        let physics = model.physics();
        let drift = Drift::new(model, traits, condition, w, self.loops);
        let top = physics.shape.states() - 1;
        let string = f64::from(physics.shape.layers.saturating_sub(1));
        for (number, Stray { share, mean, sigma }) in self.groups(&drift) {
            let above = |v: f64| beyond((v - mean) / sigma);
            let below = |v: f64| beyond((mean - v) / sigma);
            let blocks = if number == top { 0.5 * string * above(physics.states.pass) } else { 0.0 };
            for (page, rate) in (0..).zip(&mut *rates) {
                let wrong = wrong(model.bounds(page), number, |bound| above(references[bound - 1]), |bound| below(references[bound - 1]));
                *rate += share * (wrong + blocks) / (top + 1) as f64;
            }
        }
        rates.iter_mut().for_each(|rate| *rate = rate.clamp(0.0, 0.5));
    }

    /// What they add, just after the program, to the share of all cells that are on the wrong side of the lowest boundary, with R1 `lowered`, and of the
    /// boundaries of their own states.
    pub(crate) fn misread(&self, model: &Model, traits: &Traits, condition: &Condition, w: f64, lowered: f64) -> (f64, f64) {
        let drift = Drift::new(model, traits, condition, w, self.loops);
        let references = model.references(0);
        let count = model.physics().shape.states();
        let (mut low, mut all) = (0.0, 0.0);
        for (number, Stray { share, mean, sigma }) in self.groups(&drift) {
            all += share * beyond((mean - references[number - 1]) / sigma);
            if number + 1 < count {
                all += share * beyond((references[number] - mean) / sigma);
            }
            if number == 1 {
                low += share * beyond((mean - references[0] + lowered) / sigma);
            }
        }
        (low / count as f64, all / count as f64)
    }

    /// Where each group stands now.
    fn groups<'a>(&'a self, drift: &'a Drift<'a>) -> impl Iterator<Item = (usize, Stray)> + 'a {
        let mut moved = (0, 0.0);
        self.of[..self.count].iter().map(move |&(number, stray)| {
            if moved.0 != number {
                moved = (number, drift.shift(usize::from(number)));
            }
            (usize::from(number), Stray { mean: stray.mean + moved.1, ..stray })
        })
    }
}
