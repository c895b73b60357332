//! The search: it fits the mean layer first, then what sets layers apart.

use wordline_cells::Physics;
use wordline_cells::special::tail_inverse;

use super::digest::{Condition, Digest, LEVELS};
use super::least_squares::{Search, Solution, solve};
use super::parameters::{Anchors, OF_HIGHEST, Subject, free};
use super::predict::{Predictor, Voltage};

/// Index of the median in [`LEVELS`].
const MEDIAN: usize = LEVELS.len() / 2;
/// Share of a step beyond which a residual is an outlier.
const OUTLIER: f64 = 0.15;

/// The task of a search.
#[derive(Clone, Debug)]
pub struct Task<'a> {
    /// Digest of the measurements.
    pub digest: &'a Digest,
    /// The chip that gives what histograms do not tell, and the start of the search.
    pub like: &'a Physics,
    /// Conversion of steps to millivolts.
    pub voltage: Voltage,
    /// Time that the longest retention index stands for, in seconds at the reference temperature.
    pub anchor_seconds: f64,
    /// P/E counts that the search leaves out.
    pub held_out: &'a [u32],
    /// A retention index of which the search sees one P/E count only: enough to know what time it stands for. `None`: there is none.
    pub once: Option<Once>,
}

/// A retention index that is seen at one P/E count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Once {
    /// The retention index.
    pub retention: u8,
    /// The P/E count at which it is seen.
    pub pe: u32,
}

impl Once {
    /// True if a condition is of the retention index, and not the one that is seen.
    pub fn hides(self, retention: u8, pe: u32) -> bool {
        retention == self.retention && pe != self.pe
    }
}

/// A measured quantile as a target of the search.
struct Target {
    state: usize,
    /// Threshold voltage of the quantile, in mV.
    volts: f64,
    /// Normal deviate of the quantile's share.
    deviate: f64,
    /// Steps for each unit of deviate at the quantile.
    slope: f64,
}

/// The targets of a state under a condition; those cut off by the end of the axis are left out.
fn targets(condition: &Condition, state: usize, edges: &[f64], voltage: Voltage) -> impl Iterator<Item = Target> {
    let quantiles = condition.mean_quantiles(state);
    let (low, high) = (edges[0] + 2.0, edges[edges.len() - 1] - 2.0);
    let deviates = LEVELS.map(|level| tail_inverse(1.0 - level));
    (0..LEVELS.len()).filter(move |&level| (low..high).contains(&quantiles[level])).map(move |level| {
        let (before, after) = (level.saturating_sub(1), (level + 1).min(LEVELS.len() - 1));
        let slope = (quantiles[after] - quantiles[before]) / (deviates[after] - deviates[before]);
        Target { state, volts: voltage.of(quantiles[level]), deviate: deviates[level], slope }
    })
}

impl Task<'_> {
    /// The conversion by which the file's states span what those of `like` do.
    pub fn normalised(digest: &Digest, like: &Physics) -> Voltage {
        let verify = &like.states.verify;
        let fresh = &digest.conditions[0];
        let median = |state: usize| fresh.mean_quantiles(state)[MEDIAN];
        let step = (verify[verify.len() - 1] - verify[0]) / (median(digest.states - 1) - median(0)).max(1.0);
        Task::with_step(digest, like, step)
    }

    /// The conversion with steps of `step` mV by which the lowest programmed state of both begins alike.
    pub fn with_step(digest: &Digest, like: &Physics, step: f64) -> Voltage {
        let median = digest.conditions[0].mean_quantiles(0)[MEDIAN];
        let placement = like.states.placement * like.ispp.gain * like.ispp.step;
        Voltage { step, zero: like.states.verify[0] + 0.5 * placement - step * median }
    }

    fn fitted(&self) -> impl Iterator<Item = &Condition> {
        let is_hidden = |condition: &Condition| self.once.is_some_and(|once| once.hides(condition.retention, condition.pe));
        self.digest.conditions.iter().filter(move |condition| !self.held_out.contains(&condition.pe) && !is_hidden(condition))
    }

    /// Runs the search, from a start that the medians and widths of the file give. The solution says how it went.
    pub fn search(&self) -> (Subject, Solution) {
        let anchors = Anchors::of(self.digest);
        let retentions = self.digest.retentions();
        let place = |retention: u8| retentions.iter().position(|&known| known == retention).unwrap_or(0);
        let mut subject = self.start(anchors, retentions.len());
        let all = free(self.digest.states, retentions.len(), anchors);
        let goals: Vec<(u32, usize, Vec<Target>)> = self
            .fitted()
            .map(|condition| {
                let targets = (0..self.digest.states).flat_map(|state| targets(condition, state, &self.digest.edges, self.voltage));
                (condition.pe, place(condition.retention), targets.collect())
            })
            .collect();
        let count = goals.iter().map(|goal| goal.2.len()).sum();
        let mut trial = subject.clone();
        let mut one = |parameters: &[f64]| {
            all.iter().zip(parameters).for_each(|(free, value)| free.set(&mut trial, *value));
            let Some(predictor) = Predictor::new(&trial) else { return vec![f64::NAN; count] };
            let mut residuals = Vec::with_capacity(count);
            for (pe, place, targets) in &goals {
                let wordline = predictor.typical(*pe, *place);
                residuals.extend(targets.iter().map(|target| {
                    let state = &wordline.states[target.state + 1];
                    // Of the two sides the smaller keeps its digits.
                    let (below, above) = (state.below(target.volts), state.above(target.volts));
                    let deviate = if below < above { -tail_inverse(below.max(1e-12)) } else { tail_inverse(above.max(1e-12)) };
                    (deviate - target.deviate) * target.slope
                }));
            }
            residuals
        };
        let mut residuals = |sets: &[Vec<f64>]| sets.iter().map(|set| one(set)).collect();
        let start: Vec<f64> = all.iter().map(|free| free.get(&subject)).collect();
        let scales: Vec<f64> = all.iter().map(|free| free.scale(self.voltage.step)).collect();
        // First towards everything, then without what stands apart.
        let far = Search { outlier: 1e9, rounds: 60, tolerance: 1e-4, reach: 1e-3, damping: 1e-3, ridge: 1e-12 };
        let near = Search { outlier: OUTLIER, rounds: 150, tolerance: 1e-6, ..far };
        let halfway = solve(&start, &scales, far, &mut residuals).parameters;
        let solution = solve(&halfway, &scales, near, &mut residuals);
        all.iter().zip(&solution.parameters).for_each(|(free, value)| free.set(&mut subject, *value));
        self.layers(&mut subject);
        self.references(&mut subject);
        (subject, solution)
    }

    /// The physics of `like`, moved to the file's states.
    fn start(&self, anchors: Anchors, retentions: usize) -> Subject {
        let mut physics = self.like.clone();
        physics.shape.layers = self.digest.layers() as u32;
        let fresh = &self.digest.conditions[0];
        let of = |state: usize, level: usize| self.voltage.of(fresh.mean_quantiles(state)[level]);
        let width = of(0, 6) - of(0, 4);
        // A fifth to four fifths of a normal distribution are 1.683 deviations.
        physics.states.noise = 0.85 * width / 1.683;
        physics.states.placement = physics.states.noise / (physics.ispp.gain * physics.ispp.step);
        let placement = physics.states.noise;
        physics.states.verify = (0..self.digest.states).map(|state| of(state, MEDIAN) - 0.5 * placement).collect();
        physics.states.references =
            (0..self.digest.states).map(|state| physics.states.verify[state] - 0.4 * physics.states.noise).collect();
        // A start of no chip in particular, in steps and in shares of the states' width: what is found shall not depend on how `like` was calibrated.
        let step = self.voltage.step;
        let (noise, most) = (physics.states.noise, self.digest.pe().last().copied().unwrap_or(0));
        for (section, key, value) in [
            ("tails", "upper_share", 0.05),
            ("tails", "upper_length", noise),
            ("tails", "upper_wear", 0.5),
            ("tails", "lower_share", 0.02),
            ("tails", "lower_length", noise),
            ("tails", "lower_power", 1.0),
            ("tails", "lower_loss", 1.0),
            ("wear", "reference", f64::from(most.max(1))),
            ("wear", "noise", 0.15),
            ("wear", "noise_power", 0.6),
            ("wear", "lift", 0.5 * step),
            ("wear", "top_lift", 0.5 * step),
            ("wear", "lift_power", 0.6),
            ("retention", "loss", 0.1 * step),
            ("retention", "neutral", physics.states.verify[0]),
            ("retention", "wear", 1.0),
            ("retention", "wear_power", 0.6),
            ("retention", "spread", 0.4),
            ("retention", "noise", 0.01),
            ("read_disturb", "lift", 0.5 * step),
            ("read_disturb", "wear", 2.0),
            ("read_disturb", "reach", 40.0 * step),
            ("read_disturb", "spread", 0.4),
        ] {
            physics.set(section, key, &[value]);
        }
        for (section, key) in OF_HIGHEST {
            physics.set(section, key, &[0.0]);
        }
        physics.states.noise_by_state = vec![1.0; self.digest.states];
        physics.tails.lower_by_state = vec![1.0; self.digest.states];
        physics.profile.offset = vec![0.0];
        physics.profile.width = vec![1.0];
        for key in ["noise_field", "noise_edge", "loss_edge", "loss_field"] {
            physics.set("profile", key, &[0.0]);
        }
        physics.set("wear", "field", &[0.0]);
        let share = |anchor: usize| (0..retentions).map(|place| if place == anchor { 1.0 } else { 0.3 * place.min(1) as f64 }).collect();
        Subject { physics, kept: share(anchors.longest), read: share(anchors.most_read), anchor_seconds: self.anchor_seconds }
    }

    /// Fits level and width of each layer: its quantiles over those of the mean layer, over all conditions and states.
    fn layers(&self, subject: &mut Subject) {
        let count = self.digest.layers();
        let (mut offsets, mut widths) = (vec![0.0; count], vec![0.0; count]);
        let mut weight = 0.0;
        for condition in self.fitted() {
            for state in 0..self.digest.states {
                let mean = condition.mean_quantiles(state);
                for (layer, (offset, width)) in condition.layers.iter().zip(offsets.iter_mut().zip(&mut widths)) {
                    let own = &layer.quantiles[state];
                    *offset += own[MEDIAN] - mean[MEDIAN];
                    *width += (own[9] - own[1]) / (mean[9] - mean[1]);
                }
                weight += 1.0;
            }
        }
        let Some(predictor) = Predictor::new(subject) else { return };
        let state = predictor.typical(0, 0).states[1];
        // Only the noise is scaled: not what program-verify leaves.
        let share = (state.deviation() / state.sigma) * (state.deviation() / state.sigma);
        let width = |sum: f64| {
            let ratio = sum / weight;
            (1.0 + (ratio * ratio - 1.0) * share).max(0.04).sqrt()
        };
        subject.physics.profile.offset = offsets.iter().map(|sum| sum / weight * self.voltage.step).collect();
        subject.physics.profile.width = widths.into_iter().map(width).collect();
    }

    /// Sets the references to those that are best when fresh. The lowest one stands below the states that were measured and stays.
    fn references(&self, subject: &mut Subject) {
        let Some(predictor) = Predictor::new(subject) else { return };
        let optimal = predictor.typical(0, 0).optimal();
        let lowest = self.like.states.references[0].min(optimal[1] - self.voltage.step);
        let above = optimal[1..self.digest.states].iter().copied();
        subject.physics.states.references = std::iter::once(lowest).chain(above).collect();
    }
}
