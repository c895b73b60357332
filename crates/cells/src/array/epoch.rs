//! Epochs: how the blocks of a die were used for a while, so that the same use can be added many times without being simulated.
//!
//! ```text
//! begin_epoch ──▶ erases, programs, stops …  (counted by block) ──▶ leap(block, like, repetition)
//! ```
//!
//! A leap adds to the stress of a block what further epochs would have added, like its own or like those of another block: as many erases and programs for
//! each one of the epoch, with the suspensions of the epoch in proportion. Guarded erases are in proportion to those of some epochs: a block is erased a few
//! times in one, and a leap that multiplied its guarded erases there would multiply chance. What the block holds stays.

use wordline_units::Nanos;

use super::stopped::Erasing;
use super::{CellArray, Life, root, worst_at};
use crate::physics::Physics;
use crate::reading::{errors_at, unit};
use crate::special::{tail, tail_inverse_roughly};
use crate::wear::{Again, History, deep_rest, effective_dwell, healed, unhealed_stress};

/// Rest of blocks in the cycles that a leap adds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pace {
    /// Rests as long as in the epoch.
    Measured,
    /// All cycles of a block are spread evenly over so many seconds.
    Spread(f64),
}

/// Repetition of an epoch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Repetition {
    /// Number of times.
    pub times: u32,
    /// Rest of blocks in the cycles that are added.
    pub pace: Pace,
    /// Time by which the die's clock is moved on.
    pub clock: Nanos,
    /// True if the block would have been erased again until the end, so that its data keeps its age.
    pub is_renewed: bool,
}

/// The highest quantile there is.
const MOST: f64 = 1.0 - f64::EPSILON / 2.0;

/// Share of a standard normal draw's values below `score`.
fn quantile(score: f64) -> f64 {
    tail(-score)
}

/// Weight that an epoch keeps of its guarded erases when another one begins: some eight epochs count.
const FADES: f64 = 7.0 / 8.0;

/// Use of one block since the epoch began. Stresses are in erases or programs without rest.
#[derive(Clone, Debug)]
struct Used {
    erases: u32,
    programs: u32,
    /// Stress of the erases before any of it heals.
    unhealed: f64,
    /// Stress that the erases have added, as the deep rests since have left it.
    erase: f64,
    program: f64,
    /// Share that the deep rests have left of what was there before the epoch.
    kept: f64,
    /// Stress that erases have added in this epoch and, less and less, in those before.
    all: f64,
    /// The part of `all` in which each wordline was spared; empty: none was.
    gentle: Vec<f64>,
}

const UNUSED: Used = Used { erases: 0, programs: 0, unhealed: 0.0, erase: 0.0, program: 0.0, kept: 1.0, all: 0.0, gentle: Vec::new() };

impl Used {
    /// Use in an epoch that begins after this one.
    fn faded(self) -> Used {
        let Used { all, mut gentle, .. } = self;
        gentle.iter_mut().for_each(|gentle| *gentle *= FADES);
        Used { all: all * FADES, gentle, ..UNUSED }
    }

    /// Part of the stress of erases in which `wordline` is spared.
    fn share(&self, wordline: usize) -> f64 {
        self.gentle.get(wordline).filter(|_| self.all > 0.0).map_or(0.0, |gentle| gentle / self.all)
    }
}

/// Use of the blocks of a die since an instant.
#[derive(Clone, Debug)]
pub(super) struct Epoch {
    used: Vec<Used>,
    wordlines: usize,
}

impl Epoch {
    /// An erase has begun.
    pub(super) fn erased(&mut self, physics: &Physics, erasing: &Erasing) {
        let used = &mut self.used[erasing.block as usize];
        used.erases += 1;
        let left = 1.0 - deep_rest(&physics.recovery, erasing.effective_dwell(physics));
        for stress in [&mut used.kept, &mut used.erase, &mut used.program, &mut used.all].into_iter().chain(&mut used.gentle) {
            *stress *= left;
        }
        self.add(physics, erasing, unhealed_stress(physics, 0));
    }

    /// The erase has been stopped once more, `stops` times by now.
    pub(super) fn stopped(&mut self, physics: &Physics, erasing: &Erasing, stops: u32) {
        self.add(physics, erasing, unhealed_stress(physics, stops) - unhealed_stress(physics, stops.saturating_sub(1)));
    }

    /// An erase has added stress, which was so much before any of it healed.
    fn add(&mut self, physics: &Physics, erasing: &Erasing, unhealed: f64) {
        let used = &mut self.used[erasing.block as usize];
        let stress = unhealed * (1.0 - healed(&physics.recovery, erasing.effective_dwell(physics)));
        used.unhealed += unhealed;
        used.erase += stress;
        used.all += stress;
        if !erasing.spared.is_empty() {
            used.gentle.resize(self.wordlines, 0.0);
            let spared = used.gentle.iter_mut().zip(0..).filter(|(_, wordline)| erasing.spared.has(*wordline));
            spared.for_each(|(gentle, _)| *gentle += stress);
        }
    }

    /// The first wordline of a block has been programmed, which added `stress`.
    pub(super) fn programmed(&mut self, block: u32, stress: f64) {
        let used = &mut self.used[block as usize];
        used.programs += 1;
        used.program += stress;
    }
}

impl CellArray {
    /// Begins an epoch: the use of each block is counted from now on. An epoch that was under way ends, and its guarded
    /// erases still count for something.
    pub fn begin_epoch(&mut self) {
        let used = match self.epoch.take() {
            Some(before) => before.used.into_iter().map(Used::faded).collect(),
            None => vec![UNUSED; self.lives.len()],
        };
        self.epoch = Some(Box::new(Epoch { used, wordlines: self.wordlines() as usize }));
    }

    /// True if the last erase of `block` was at `since` or later: it is erased again and again.
    pub fn is_renewed(&self, block: u32, since: Nanos) -> bool {
        self.lives[block as usize].erased >= since
    }

    /// Adds to `block` the stress of further epochs like the present one of block `like`: itself, or one whose use it takes over. Data that is not renewed
    /// grows older.
    ///
    /// # Panics
    /// If no epoch is under way.
    pub fn leap(&mut self, block: u32, like: u32, repetition: &Repetition) {
        let &Repetition { times, pace, clock, is_renewed } = repetition;
        let physics = self.model.physics();
        let epoch = self.epoch.as_ref().expect("a leap goes on from an epoch");
        let used = &epoch.used[like as usize];
        self.settled = None;
        let life = &mut self.lives[block as usize];
        if is_renewed {
            for instant in [&mut life.erased, &mut life.first, &mut life.last] {
                *instant += clock;
            }
        }
        let times = f64::from(times);
        let again = match pace {
            Pace::Measured => Again { times, kept: used.kept, erase: used.erase, program: used.program, gentle: 0.0 },
            Pace::Spread(seconds) => {
                // Each repetition is one cycle, with its part of the stress of the epoch.
                let each = f64::from(used.erases.max(used.programs).max(1));
                let dwell = effective_dwell(physics, seconds / (times * each).max(1.0), self.temperature);
                let left = (1.0 - healed(&physics.recovery, dwell)) / each;
                let kept = 1.0 - deep_rest(&physics.recovery, dwell);
                Again { times: times * each, kept, erase: left * used.unhealed, program: left * f64::from(used.programs), gentle: 0.0 }
            }
        };
        let further = |life: &Life, gentle: f32, again: &Again| History { erase: life.erase, program: life.program, gentle }.further(again);
        if self.reliefs.table(block).is_some() {
            let spared = |wordline: usize| again.erase * used.share(wordline);
            self.reliefs.grow(block, |wordline, gentle| further(life, gentle, &Again { gentle: spared(wordline), ..again }).gentle);
        }
        let history = further(life, 0.0, &again);
        (life.erase, life.program) = (history.erase, history.program);
    }

    /// Lets each reading from now on stand for `times` readings of pages like the one that is read, and be the worst of them.
    pub fn read_worst_of(&mut self, times: u32) {
        self.times = times.max(1);
    }

    /// Errors of the worst of all readings that one stands for.
    ///
    /// A reading is a sum of two draws, the errors of the worst codeword and the telegraph noise. Both are taken as normal, each with its own spread: then the
    /// worst sum of all lies so many deviations of the sum further out, and each part has its share of that.
    #[cold]
    pub(super) fn worst_of_all(&self, rate: f64, wear: f64, bits: u64, noise: u64) -> u32 {
        let (codewords, length, times) = (self.model.codewords(), self.model.codeword_bits(), f64::from(self.times));
        let scores = [unit(bits), unit(noise)].map(|u| -tail_inverse_roughly(u));
        let at = |score: f64| root(quantile(score), codewords);
        let errors = |score: f64| f64::from(errors_at(rate * length, length, at(score)));
        let spreads = [((errors(1.0) - errors(-1.0)) / 2.0).max(0.5), self.model.telegraph(wear)];
        let spread = (spreads[0] * spreads[0] + spreads[1] * spreads[1]).sqrt();
        let score = (spreads[0] * scores[0] + spreads[1] * scores[1]) / spread;
        let further = -tail_inverse_roughly(root(quantile(score), times).min(MOST)) - score;
        let out = |part: usize| scores[part] + further * spreads[part] / spread;
        worst_at(&self.model, rate, wear, at(out(0)), quantile(out(1)).min(MOST))
    }

    /// Ends a leap of the die: what was worked out of blocks that have worn since is forgotten.
    pub fn end_leap(&mut self) {
        self.memory.forget();
        self.sets.forget();
        self.forget_what_was_worked_out();
    }
}
