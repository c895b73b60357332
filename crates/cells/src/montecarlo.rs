//! A wordline cell by cell: every cell is drawn, programmed loop by loop with real verifies, disturbed, kept and read.
//!
//! From the same parameters as [`Wordline`](crate::Wordline) and by another road: nothing here knows a distribution. A test holds the two together over the
//! whole operating range. Some twenty milliseconds for a wordline, so for looking and checking, not for simulating.
//!
//! One thing is assumed alike: a cell that a verify slows down lands anywhere in the slowed pulse with equal probability.

use wordline_units::random::{Draw, Stream};

use crate::condition::Condition;
use crate::effects;
use crate::model::Model;
use crate::physics::Physics;
use crate::variation::{Traits, listed};
use crate::wordline::References;

/// A wordline of drawn cells.
#[derive(Clone, Debug)]
pub struct Sample {
    /// State each cell was programmed to.
    pub states: Vec<u8>,
    /// Threshold voltage of each cell as it is read, in mV.
    pub voltages: Vec<f32>,
    /// Number of loops of the wordline's program.
    pub loops: u32,
}

/// Mean, standard deviation and number of the cells of a state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moments {
    /// Number of cells.
    pub count: u32,
    /// Mean threshold voltage, in mV.
    pub mean: f64,
    /// Standard deviation of the threshold voltage, in mV.
    pub deviation: f64,
}

struct Dice {
    draw: Draw,
    spare: Option<f64>,
}

impl Dice {
    fn uniform(&mut self) -> f64 {
        crate::reading::unit(self.draw.next_u64())
    }

    fn exponential(&mut self, mean: f64) -> f64 {
        -mean * libm::log(self.uniform())
    }

    /// A standard normal draw: Box and Muller's pair, one after the other.
    fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        let radius = (-2.0 * libm::log(self.uniform())).sqrt();
        let angle = 2.0 * core::f64::consts::PI * self.uniform();
        self.spare = Some(radius * libm::sin(angle));
        radius * libm::cos(angle)
    }
}

impl Sample {
    /// Draws the cells of a wordline in its condition. `number` sets one sample apart from the next.
    pub fn draw(model: &Model, traits: &Traits, condition: &Condition, seed: u64, number: u32) -> Sample {
        let mut dice = Dice { draw: Draw::new(seed, Stream::CellSample, number), spare: None };
        let physics = model.physics();
        let cells = physics.shape.cells() as usize;
        let count = physics.shape.states();
        let states: Vec<u8> = (0..cells).map(|_| dice.draw.below(count as u64) as u8).collect();
        let (mut voltages, loops) = program(model, traits, condition, &states, &mut dice);
        age(model, traits, condition, loops, &states, &mut voltages, &mut dice);
        Sample { states, voltages: voltages.iter().map(|&v| v as f32).collect(), loops }
    }

    /// Wrong bits of a page (0: LSB) read with `references`, and those that strings blocked by its cells cost other wordlines.
    pub fn errors(&self, model: &Model, page: u32, references: &References) -> f64 {
        let codes = model.codes();
        let bits = |state: usize| codes[state] >> page & 1;
        let boundaries = &references[..codes.len() - 1];
        let mut wrong = 0.0;
        let mut blocking = 0.0;
        for (&state, &voltage) in self.states.iter().zip(&self.voltages) {
            // The page's bit changes at its own references only.
            let mut bit = bits(0);
            for &bound in model.bounds(page) {
                if f64::from(voltage) > boundaries[usize::from(bound) - 1] {
                    bit = bits(usize::from(bound));
                }
            }
            wrong += f64::from(u8::from(bit != bits(usize::from(state))));
            blocking += f64::from(u8::from(f64::from(voltage) > model.physics().states.pass));
        }
        (wrong + 0.5 * f64::from(model.physics().shape.layers - 1) * blocking).min(0.5 * self.states.len() as f64)
    }

    /// Mean, standard deviation and number of the cells of a state.
    pub fn moments(&self, state: u8) -> Moments {
        let own = || self.states.iter().zip(&self.voltages).filter(|(own, _)| **own == state).map(|(_, v)| f64::from(*v));
        let count = own().count() as f64;
        let mean = own().sum::<f64>() / count;
        let variance = own().map(|v| (v - mean) * (v - mean)).sum::<f64>() / count;
        Moments { count: count as u32, mean, deviation: variance.sqrt() }
    }
}

/// Programs the wordline by pulses and verifies until few enough cells are short, or the loops run out.
fn program(model: &Model, traits: &Traits, condition: &Condition, states: &[u8], dice: &mut Dice) -> (Vec<f64>, u32) {
    let physics = model.physics();
    let ispp = &physics.ispp;
    let settings = &condition.settings;
    let shift = ispp.gain * ispp.step;
    let wear = model.wear(traits, &condition.history);
    let first = ispp.first + ispp.gain * f64::from(settings.start_margin) + traits.speed + crate::program::wear_speed(ispp, wear);
    let window = ispp.window - f64::from(settings.start_margin) - f64::from(settings.final_margin);
    let loops_max = (libm::round(window / ispp.step)).max(1.0) as u32;
    let speeds: Vec<f64> = states.iter().map(|_| ispp.speed * dice.normal()).collect();
    let mut voltages = vec![f64::NAN; states.len()];
    let mut open: Vec<u32> = (0..states.len() as u32).filter(|&cell| states[cell as usize] > 0).collect();
    let may_stay = (ispp.short_cells * states.len() as f64) as usize;
    let mut loops = 0;
    while loops < loops_max && open.len() > may_stay {
        loops += 1;
        open.retain(|&cell| {
            let cell = cell as usize;
            let state = usize::from(states[cell]);
            let level = physics.states.verify[state - 1];
            let reached = first + f64::from(loops - 1) * shift + speeds[cell];
            voltages[cell] = reached;
            let skipped = u32::from(settings.skip[state - 1]);
            if loops <= skipped || reached < level {
                return true;
            }
            // Only a verify that saw the cell below its level could slow it down.
            let slowed = loops > skipped + 1 || reached < level + physics.states.placement * shift;
            if slowed {
                voltages[cell] = level + physics.states.placement * shift * dice.uniform();
            }
            false
        });
    }
    (voltages, loops)
}

/// Applies everything that happens to a cell after its program, one cell after the other.
fn age(model: &Model, traits: &Traits, condition: &Condition, loops: u32, states: &[u8], voltages: &mut [f64], dice: &mut Dice) {
    let physics = model.physics();
    let (levels, tails) = (&physics.states.verify, &physics.tails);
    let count = physics.shape.states();
    let w = effects::relative(physics, model.wear(traits, &condition.history));
    let width = model.placement();
    let (bottom, top) = (levels[0], levels[count - 2]);
    let span = (top - bottom).max(1e-9);
    let noise = physics.states.noise * traits.noise;
    let added = added_noise(physics, w, condition);
    let top_loss = effects::top_loss(&physics.retention, w, condition.retention) * traits.loss;
    let erased = erased_mean(physics, w, loops, condition);
    for (cell, &state) in states.iter().enumerate() {
        let state = usize::from(state);
        let programmed = state > 0;
        let level = if programmed { levels[state - 1] } else { erased };
        let place = if programmed { (level - bottom) / span } else { 0.0 };
        let mean = if programmed { level } else { bottom } + 0.5 * width;
        let share = effects::loss_share(&physics.retention, mean, top + 0.5 * width);
        let lost = top_loss * share;
        let read = effects::read_lift(&physics.read_disturb, w, condition.reads)
            * effects::read_share(&physics.read_disturb, (level - erased).max(0.0));
        let warm = effects::temperature_shift(&physics.temperature, place, condition.programmed_at, condition.read_at);
        let mut v = voltages[cell];
        let mut plain = false;
        if programmed {
            let short = v < level;
            let past = v > level + width;
            // Cells that are elsewhere are few, and nothing was measured of what becomes of them: they move with their state and spread by its noise.
            plain = short || past;
            v += effects::wear_lift(&physics.wear, w, place) + traits.offset;
            let highest = if state + 1 == count { 1.0 } else { 0.0 };
            let own = noise * (1.0 + physics.states.top_noise * highest) * listed(&physics.states.noise_by_state, state as u32 - 1);
            v += own * dice.normal();
            if !plain {
                v += own * added.sqrt() * dice.normal();
                let up = tails.upper_share * (1.0 - place) * (1.0 + tails.upper_wear * w);
                let down = tails.lower_share
                    * libm::pow(place, tails.lower_power)
                    * listed(&tails.lower_by_state, state as u32 - 1)
                    * (1.0 + tails.lower_loss * lost.max(0.0) / physics.states.noise);
                let (up, down) = (up / (1.0 + up), down / (1.0 + down));
                let luck = dice.uniform();
                if luck < up {
                    v += dice.exponential(tails.upper_length);
                } else if luck < up + down {
                    v -= dice.exponential(tails.lower_length * (1.0 + tails.lower_top * highest));
                }
            }
        } else {
            v = erased + physics.states.erased_sigma * effects::wear_erased_noise(&physics.wear, w) * dice.normal();
            v += noise * added.sqrt() * dice.normal();
            if dice.uniform() < tails.erased_share {
                v += dice.exponential(tails.erased_length);
            }
        }
        let spread = |share: f64, dice: &mut Dice| if plain { 1.0 } else { 1.0 + share * dice.normal() };
        if condition.neighbour {
            v += effects::neighbour_shift(&physics.interference, place);
            if !plain {
                v += physics.interference.spread * dice.normal();
            }
        }
        v += read * spread(physics.read_disturb.spread, dice);
        v += warm * spread(physics.temperature.spread, dice);
        v -= lost * spread(physics.retention.spread, dice);
        voltages[cell] = v;
    }
}

/// Variance added to the noise of cells after their program, relative.
fn added_noise(physics: &Physics, w: f64, condition: &Condition) -> f64 {
    effects::wear_noise(&physics.wear, w)
        + effects::retention_noise(&physics.retention, w, condition.retention)
        + effects::open_noise(&physics.open_interval, condition.open_interval)
        + crate::flag::disturb(&physics.flag, f64::from(condition.lock_dose))
}

/// Mean voltage of erased cells after a program of `loops`.
fn erased_mean(physics: &Physics, w: f64, loops: u32, condition: &Condition) -> f64 {
    physics.states.erased_mean
        + effects::wear_erased_lift(&physics.wear, w)
        + physics.ispp.disturb * f64::from(loops)
        + if condition.gently_erased { physics.ispe.gentle_shift } else { 0.0 }
}
