//! Stray cells of a wordline programmed with settings of its own: the few cells that run past their state, or do not reach it.
//!
//! The core of each state stands where the die by itself would have put it, so the grid's error rate holds for all other cells, and only these few have to be
//! looked at for each read. Working out whole wordlines instead cost four times as much as all the rest of a read.
//!
//! Known wrong: fewer loops disturb the erased state less; the grid's is that of a whole program. That is below the steps of the grid.

use crate::condition::Condition;
use crate::model::Model;
use crate::program::{Course, Settings, Stray};
use crate::variation::Traits;
use crate::wordline::{Drift, References, wrong};

/// The stray cells of a wordline beyond those of a default program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Strays<'a> {
    model: &'a Model,
    settings: &'a Settings,
    here: Course,
    by_itself: Course,
    /// Number of loops with these settings, and by default.
    loops: [u32; 2],
    /// Standard deviation of the wordline's noise, relative.
    noise: f64,
}

/// Distance in deviations beyond which less than one cell in a block is left of a state.
const NONE: f64 = 5.2;

impl<'a> Strays<'a> {
    /// The strays of a wordline that was programmed with `settings` at the temperature of the traits `warmed`. `traits` are those of the reference
    /// temperature.
    pub(crate) fn new(model: &'a Model, traits: &Traits, warmed: &Traits, wear: f64, settings: &'a Settings) -> Strays<'a> {
        let physics = model.physics();
        // The grid leaves the speed of a layer out.
        let by_itself = model.course(&Traits { speed: 0.0, ..*traits }, wear, &Settings::default());
        let here = model.course(warmed, wear, settings);
        let top = physics.states.verify[physics.shape.states() - 2];
        Strays { model, settings, here, by_itself, loops: [here.loops(top), by_itself.loops(top)], noise: traits.noise }
    }

    /// Adds the errors of the strays to the raw bit error rates of the wordline's pages.
    pub(crate) fn add(&self, traits: &Traits, condition: &Condition, w: f64, references: &References, rates: &mut [f64]) {
        let physics = self.model.physics();
        let drift = Drift::new(self.model, traits, condition, w, self.loops[0]);
        let top = physics.shape.states() - 1;
        let string = f64::from(physics.shape.layers.saturating_sub(1));
        self.each(&drift, |number, sign, stray| {
            let above = |v: f64| stray.beyond(v, 1.0);
            let below = |v: f64| stray.beyond(v, -1.0);
            let blocks = if number == top { 0.5 * string * above(physics.states.pass) } else { 0.0 };
            for (page, rate) in (0..).zip(&mut *rates) {
                let wrong =
                    wrong(self.model.bounds(page), number, |bound| above(references[bound - 1]), |bound| below(references[bound - 1]));
                *rate += sign * (wrong + blocks) / (top + 1) as f64;
            }
        });
        rates.iter_mut().for_each(|rate| *rate = rate.clamp(0.0, 0.5));
    }

    /// Shares of all cells that the strays add, just after the program, on the wrong side of the lowest boundary, with R1 `lowered`, and on that of the
    /// boundaries of their own states.
    pub(crate) fn misread(&self, traits: &Traits, condition: &Condition, w: f64, lowered: f64) -> (f64, f64) {
        let drift = Drift::new(self.model, traits, condition, w, self.loops[0]);
        let references = self.model.references(0);
        let count = self.model.physics().shape.states();
        let (mut low, mut all) = (0.0, 0.0);
        self.each(&drift, |number, sign, stray| {
            all += sign * stray.beyond(references[number - 1], -1.0);
            if number + 1 < count {
                all += sign * stray.beyond(references[number], 1.0);
            }
            if number == 1 {
                low += sign * stray.beyond(references[0] - lowered, -1.0);
            }
        });
        (low / count as f64, all / count as f64)
    }

    /// Calls `see` for each group of strays: its state, 1 or −1 for cells that would have strayed by default, and where its cells stand now.
    fn each(&self, drift: &Drift<'_>, mut see: impl FnMut(usize, f64, Stray)) {
        let states = &self.model.physics().states;
        let (count, placement) = (self.model.physics().shape.states(), states.placement);
        for (number, &level) in (1..count).zip(&states.verify) {
            let verified = u32::from(self.settings.skip[number - 1]) + 1;
            let mut shift = None;
            let mut at = |sign: f64, stray: Stray| {
                let own = states.noise * self.noise * self.model.noise_of(number);
                let shift = *shift.get_or_insert_with(|| drift.shift(number));
                see(number, sign, stray.moved(shift, own));
            };
            let [loops, all] = self.loops;
            for (sign, course, verified, loops) in [(1.0, &self.here, verified, loops), (-1.0, &self.by_itself, 1, all)] {
                if course.has_past(level, placement, verified, NONE) {
                    at(sign, course.past(level, placement, verified));
                }
                if course.has_short(level, loops, NONE) {
                    at(sign, course.short(level, loops));
                }
            }
        }
    }
}
