//! The states of a wordline in its condition, and the errors a read makes of them.

use crate::condition::Condition;
use crate::effects;
use crate::model::Model;
use crate::physics::Physics;
use crate::program::LEVELS;
use crate::state::{State, Tail};
use crate::variation::Traits;

/// Read references R1, R2, … in mV. A cell with fewer states uses only the first of them.
pub type References = [f64; LEVELS];

/// A wordline in its condition: where the cells of each state stand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wordline {
    /// The states, erased first. Only the first `count` are used.
    pub states: [State; LEVELS + 1],
    /// Number of states.
    pub count: usize,
    /// Wear, in reference cycles.
    pub wear: f64,
    /// Gate voltage of unselected wordlines: a cell above it blocks its whole string.
    pub(crate) pass: f64,
    /// Number of other wordlines of a string: all of them are misread where a cell blocks it.
    pub(crate) string: f64,
    /// Error rate of each page that came with the data.
    pub(crate) carried: [f32; 4],
}

/// Shifts of the states of a wordline since its program.
pub(crate) struct Drift<'a> {
    model: &'a Model,
    condition: &'a Condition,
    /// Charge that the highest state has lost, in mV.
    loss: f64,
    neighbour: f64,
    /// Rise of the erased state by reads.
    read: f64,
    erased: f64,
    /// Rise of the lowest and of the highest programmed state with wear.
    lifts: [f64; 2],
    offset: f64,
}

/// The shift of one state, in mV.
struct Moved {
    /// Threshold voltage at which the program left the state.
    level: f64,
    /// Place of the state between the lowest programmed one (0) and the highest (1).
    place: f64,
    lost: f64,
    warm: f64,
    read: f64,
    /// Sum of all these shifts and that of the neighbour's program.
    moved: f64,
}

impl<'a> Drift<'a> {
    /// The shifts of a wordline in its condition. `w`: wear over the reference. `loops`: those of its program.
    pub(crate) fn new(model: &'a Model, traits: &Traits, condition: &'a Condition, w: f64, loops: u32) -> Drift<'a> {
        let physics = model.physics();
        let lifted = effects::lifted(&physics.wear, w);
        let erased = physics.states.erased_mean
            + physics.wear.erased_lift * lifted
            + physics.ispp.disturb * f64::from(loops)
            + if condition.gently_erased { physics.ispe.gentle_shift } else { 0.0 };
        Drift {
            loss: effects::top_loss(&physics.retention, w, condition.retention) * traits.loss,
            neighbour: if condition.neighbour { 1.0 } else { 0.0 },
            read: effects::read_lift(&physics.read_disturb, w, condition.reads),
            lifts: [0.0, 1.0].map(|place| effects::wear_lift_at_reference(&physics.wear, place) * lifted),
            offset: traits.offset,
            model,
            condition,
            erased,
        }
    }

    fn of(&self, number: usize) -> Moved {
        let physics = self.model.physics();
        let levels = &physics.states.verify;
        let (bottom, top) = (levels[0], levels[physics.shape.states() - 2]);
        let half = 0.5 * self.model.placement();
        let programmed = number > 0;
        let level = if programmed { levels[number - 1] } else { self.erased };
        let place = if programmed { (level - bottom) / (top - bottom).max(1e-9) } else { 0.0 };
        let mean = if programmed { level + half } else { bottom + half };
        let lost = self.loss * effects::loss_share(&physics.retention, mean, top + half);
        let warm = effects::temperature_shift(&physics.temperature, place, self.condition.programmed_at, self.condition.read_at);
        let share = || effects::read_share(&physics.read_disturb, (level - self.erased).max(0.0));
        let read = if self.read > 0.0 { self.read * share() } else { 0.0 };
        let moved = read + self.neighbour * effects::neighbour_shift(&physics.interference, place) + warm - lost;
        Moved { level, place, lost, warm, read, moved }
    }

    /// Sum of the layer's offset and the rise with wear of a programmed state at `place`.
    fn rise(&self, place: f64) -> f64 {
        self.lifts[0] + (self.lifts[1] - self.lifts[0]) * place + self.offset
    }

    /// Total shift of the cells of a programmed state.
    pub(crate) fn shift(&self, number: usize) -> f64 {
        let Moved { place, moved, .. } = self.of(number);
        moved + self.rise(place)
    }
}

/// Variance of the noise of cells over that just after program.
fn widening(physics: &Physics, w: f64, condition: &Condition) -> f64 {
    1.0 + effects::wear_noise(&physics.wear, w)
        + effects::retention_noise(&physics.retention, w, condition.retention)
        + effects::open_noise(&physics.open_interval, condition.open_interval)
        + crate::flag::disturb(&physics.flag, f64::from(condition.lock_dose))
}

impl Wordline {
    pub(crate) fn new(model: &Model, traits: &Traits, condition: &Condition) -> Wordline {
        let physics = model.physics();
        let count = physics.shape.states();
        let wear = crate::wear::wear(physics, traits, &condition.history);
        let w = effects::relative(physics, wear);
        // By itself a chip verifies from the first loop on: how warm it is shows only where verifies are left out.
        let warmed = if condition.settings.is_default() { *traits } else { model.warmed(traits, condition.programmed_at) };
        let course = model.course(&warmed, wear, &condition.settings);
        let (levels, tails) = (&physics.states.verify, &physics.tails);
        let loops = course.loops(levels[count - 2]);
        let width = model.placement();

        let noise = physics.states.noise * traits.noise;
        let widening = widening(physics, w, condition);
        let interference = if condition.neighbour { physics.interference.spread } else { 0.0 };
        let drift = Drift::new(model, traits, condition, w, loops);
        let mut states = [State::default(); LEVELS + 1];
        for (number, state) in states.iter_mut().enumerate().take(count) {
            let programmed = number > 0;
            let Moved { level, place, lost, warm, read, moved } = drift.of(number);
            let of_loss = physics.retention.spread * lost;
            let of_warmth = physics.temperature.spread * warm;
            let of_reads = physics.read_disturb.spread * read;
            let extra = of_loss * of_loss + of_reads * of_reads + of_warmth * of_warmth + interference * interference;
            *state = if programmed {
                let highest = if number + 1 == count { 1.0 } else { 0.0 };
                let own = noise * model.noise_of(number);
                let skipped = u32::from(condition.settings.skip[number - 1]) + 1;
                let shift = moved + drift.rise(place);
                State {
                    low: level + shift,
                    width,
                    sigma: (own * own * widening + extra).sqrt(),
                    upper: Tail {
                        share: grown(tails.upper_share * (1.0 - place) * (1.0 + tails.upper_wear * w)),
                        length: tails.upper_length,
                    },
                    lower: Tail {
                        share: grown(
                            tails.lower_share * model.lower_tail(number) * (1.0 + tails.lower_loss * lost.max(0.0) / physics.states.noise),
                        ),
                        length: tails.lower_length * (1.0 + tails.lower_top * highest),
                    },
                    past: course.past(level, physics.states.placement, skipped).moved(shift, own),
                    short: course.short(level, loops).moved(shift, own),
                }
            } else {
                let own = physics.states.erased_sigma * effects::wear_erased_noise(&physics.wear, w);
                State {
                    low: level + moved,
                    width: 0.0,
                    sigma: (own * own + noise * noise * (widening - 1.0) + extra).sqrt(),
                    upper: Tail { share: tails.erased_share, length: tails.erased_length },
                    ..State::default()
                }
            };
        }
        let mut wordline = Wordline {
            states,
            count,
            wear,
            pass: physics.states.pass,
            string: f64::from(physics.shape.layers.saturating_sub(1)),
            carried: condition.carried,
        };
        if let Some(reprogrammed) = &condition.reprogrammed {
            crate::reprogram::apply(physics, &mut wordline.states, reprogrammed, drift.loss, condition.retention, model.codes());
        }
        wordline
    }

    /// Wordline with data that had these error rates, page by page, when they were written.
    #[must_use]
    pub fn carrying(self, carried: [f32; 4]) -> Wordline {
        Wordline { carried, ..self }
    }

    /// Raw bit error rate of a page (0: LSB) read with `references`.
    pub fn error_rate(&self, model: &Model, page: u32, references: &References) -> f64 {
        let bounds = model.bounds(page);
        let wrong: f64 = self.states[..self.count]
            .iter()
            .enumerate()
            .map(|(number, state)| {
                wrong(bounds, number, |bound| state.above(references[bound - 1]), |bound| state.below(references[bound - 1]))
            })
            .sum();
        let rate = wrong / self.count as f64 + self.blocked();
        carried_over(rate, f64::from(self.carried[page as usize]))
    }

    /// Errors because a cell above the pass voltage blocks its string: every other wordline of the string then reads as programmed, which is wrong half of
    /// the time. They are charged to the wordline that has the cell, for all wordlines that suffer.
    pub fn blocked(&self) -> f64 {
        let top = &self.states[self.count - 1];
        0.5 * self.string * top.above(self.pass) / self.count as f64
    }

    /// Share of all cells that a reference misreads: cells of the state below it that are above, and of the one above that are below. `boundary` is 1 for R1.
    pub fn misread(&self, boundary: usize, reference: f64) -> f64 {
        (self.states[boundary - 1].above(reference) + self.states[boundary].below(reference)) / self.count as f64
    }

    /// The references with the fewest errors.
    pub fn optimal(&self) -> References {
        let mut references = [0.0; LEVELS];
        for boundary in 1..self.count {
            references[boundary - 1] = self.optimal_reference(boundary);
        }
        references
    }

    /// The reference with the fewest errors between two neighbouring states, to a quarter of a millivolt. `boundary` is 1 for R1.
    pub fn optimal_reference(&self, boundary: usize) -> f64 {
        let (lower, upper) = (&self.states[boundary - 1], &self.states[boundary]);
        let (low, high) = (lower.mean().min(upper.mean()), upper.mean().max(lower.mean()));
        // Where the states are so far apart that no error is left to count, the reference stands equally many deviations from both.
        let (near, far) = (lower.deviation(), upper.deviation());
        let balanced = (lower.mean() * far + upper.mean() * near) / (near + far);
        let span = (high - low).max(1e-9);
        crate::minimum::minimum(low, high, balanced, 0.25, |v| {
            let off = (v - balanced) / span;
            self.misread(boundary, v) + 1e-12 * off * off
        })
    }
}

/// Share of the cells of state `number` whose bit is read wrong at these boundaries, from the shares of them beyond each. Boundary j separates states j − 1
/// and j. Boundaries up to the state's own number are below it.
pub(crate) fn wrong(bounds: &[u8], number: usize, above: impl Fn(usize) -> f64, below: impl Fn(usize) -> f64) -> f64 {
    let split = bounds.partition_point(|&bound| usize::from(bound) <= number);
    let mut wrong = 0.0;
    let mut sign = 1.0;
    for &bound in &bounds[split..] {
        let share = above(usize::from(bound));
        wrong += sign * share;
        if share < 1e-12 {
            break;
        }
        sign = -sign;
    }
    let mut sign = 1.0;
    for &bound in bounds[..split].iter().rev() {
        let share = below(usize::from(bound));
        wrong += sign * share;
        if share < 1e-12 {
            break;
        }
        sign = -sign;
    }
    wrong
}

/// Error rate of a page that already had errors when it was written: an error on top of an error is none.
pub(crate) fn carried_over(rate: f64, carried: f64) -> f64 {
    (rate + carried - 2.0 * rate * carried).clamp(0.0, 0.5)
}

/// A share that grows like `x` while it is small and stays below one.
fn grown(x: f64) -> f64 {
    x / (1.0 + x)
}
