//! Use of block groups over the last epochs, and what a leap makes of it.
//!
//! One epoch erases each group a few times, more or fewer by chance. A leap that multiplied these counts would multiply the chance as well, and blocks would
//! drift apart by far more than they do over a whole life. A leap multiplies the *habit* of a group alone: the part of its mean over the last epochs by which
//! it differs from other groups of its die, as far as that is more than chance. The rest of the present epoch goes on for some epochs, and then grows as chance
//! does, by the root of the leap:
//!
//! ```text
//!   habit            =  1 + d · max(0, 1 − (2·e / d)⁴)        d: mean share of the die's mean use − 1, e: standard error of that mean
//!   erases of a leap =  mean of the die · (habit · times + (present − habit) · min(times, √(8 · times)))
//! ```
//!
//! A group of cold data has a habit, since its use is the same in each epoch; one that is used twice in one epoch and once in the next has none. The mean of
//! the last epochs alone would not do: the chance of each epoch would count as much as before, in later leaps.

/// Number of epochs of which a habit is the mean; older ones fade.
const MEMORY: u32 = 8;
/// Number of epochs for which a group goes on as in the present one. Source: docs/models/wear-out.md, "Habits".
const LASTING: f64 = 8.0;
/// Standard errors by which the mean use of a group must differ from that of others to be a habit at all.
const ERRORS: f64 = 2.0;

/// Use of a group, as a share of the mean use in its die: its mean over the last epochs, and its variance.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Use {
    mean: f64,
    variance: f64,
}

impl Use {
    fn learn(&mut self, share: f64, epochs: u32) {
        let (off, part) = (share - self.mean, 1.0 / f64::from(epochs));
        self.mean += off * part;
        self.variance = (1.0 - part) * (self.variance + off * off * part);
    }

    /// Share that this group has by habit, learnt from so many epochs. The only epoch there is counts as habit.
    fn habit(&self, epochs: u32) -> f64 {
        let off = self.mean - 1.0;
        let error = if epochs > 1 { self.variance / f64::from(epochs - 1) } else { 0.0 };
        if off == 0.0 {
            return 1.0;
        }
        let chance = ERRORS * ERRORS * error / (off * off);
        1.0 + off * (1.0 - chance * chance).max(0.0)
    }
}

/// Use of the block groups of a die.
#[derive(Clone, Debug, Default, PartialEq)]
struct DieHabits {
    uses: Vec<Use>,
    epochs: u32,
}

/// Use of all block groups, by die. A new one has learnt nothing, and takes the present epoch as habit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Habits {
    dies: Vec<DieHabits>,
}

/// Mean of the erases of groups in service; `None` without an erase.
fn mean_of(erases: &[Option<u32>]) -> Option<f64> {
    let serving = erases.iter().flatten().count();
    let all: f64 = erases.iter().flatten().map(|&erases| f64::from(erases)).sum();
    (all > 0.0).then(|| all / serving as f64)
}

impl Habits {
    /// Learns from an epoch with these erases of the groups of `die`, `None` for those out of service. An epoch without an erase teaches nothing.
    pub(crate) fn learn(&mut self, die: usize, erases: &[Option<u32>]) {
        let Some(mean) = mean_of(erases) else { return };
        if self.dies.len() <= die {
            self.dies.resize(die + 1, DieHabits::default());
        }
        let habits = &mut self.dies[die];
        if habits.uses.is_empty() {
            habits.uses = vec![Use { mean: 1.0, variance: 0.0 }; erases.len()];
        }
        habits.epochs = (habits.epochs + 1).min(MEMORY);
        for (group, erases) in habits.uses.iter_mut().zip(erases) {
            group.learn(erases.map_or(0.0, f64::from) / mean, habits.epochs);
        }
    }

    /// Erases of each group of `die` in `times` epochs after one with these `erases`. Without an erase there are none.
    pub(crate) fn erases(&self, die: usize, erases: &[Option<u32>], times: u32) -> Vec<f64> {
        let mean = mean_of(erases).unwrap_or(0.0);
        let times = f64::from(times);
        let by_chance = times.min((LASTING * times).sqrt());
        let of = |(place, erases): (usize, &Option<u32>)| {
            let Some(present) = erases.map(f64::from) else { return 0.0 };
            let known = self.dies.get(die).and_then(|die| Some(die.uses.get(place)?.habit(die.epochs)));
            let habit = known.map_or(present, |habit| habit * mean);
            (habit * times + (present - habit) * by_chance).max(0.0)
        };
        erases.iter().enumerate().map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wordline_units::random::{Draw, Stream};

    #[test]
    fn the_first_epoch_is_the_habit_and_a_leap_of_one_epoch_is_the_present_one() {
        let mut habits = Habits::default();
        habits.learn(0, &[Some(1), Some(3), None]);
        assert_eq!(habits.erases(0, &[Some(1), Some(3), None], 100), [100.0, 300.0, 0.0]);
        // The second epoch is the first the other way round: two each by habit, and one more or less by chance.
        habits.learn(0, &[Some(3), Some(1), None]);
        assert_eq!(habits.erases(0, &[Some(3), Some(1), None], 1), [3.0, 1.0, 0.0]);
        assert_eq!(habits.erases(0, &[Some(3), Some(1), None], 8), [24.0, 8.0, 0.0]);
        assert_eq!(habits.erases(0, &[Some(3), Some(1), None], 200), [440.0, 360.0, 0.0]);
    }

    /// Shares of groups after leaps of 100 epochs, each behind one of these epochs, as parts of their mean.
    fn leapt(epochs: impl Iterator<Item = Vec<u32>>) -> Vec<f64> {
        let (mut habits, mut sum) = (Habits::default(), Vec::new());
        for (number, epoch) in epochs.enumerate() {
            let erases: Vec<Option<u32>> = epoch.into_iter().map(Some).collect();
            habits.learn(0, &erases);
            // As lives do, which leap once their write amplification has settled.
            if number > 2 {
                sum.resize(erases.len(), 0.0);
                sum.iter_mut().zip(habits.erases(0, &erases, 100)).for_each(|(sum, more)| *sum += more);
            }
        }
        let mean = sum.iter().sum::<f64>() / sum.len() as f64;
        sum.iter().map(|sum| sum / mean).collect()
    }

    #[test]
    fn chance_grows_by_its_root_and_habit_stays() {
        let mut draw = Draw::new(7, Stream::Mix, 1);
        // Sixty groups by chance, two that are cold, and two that are used twice as much.
        let epoch = |draw: &mut Draw| -> Vec<u32> {
            let chance = |draw: &mut Draw| (0..4).map(|_| draw.below(2) as u32).sum::<u32>();
            let mut epoch: Vec<u32> = (0..60).map(|_| chance(draw)).collect();
            epoch.extend([0, 0, chance(draw) + chance(draw), chance(draw) + chance(draw)]);
            epoch
        };
        let shares = leapt((0..50).map(|_| epoch(&mut draw)));
        let off = |shares: &[f64]| (shares.iter().map(|share| (share - 1.0) * (share - 1.0)).sum::<f64>() / shares.len() as f64).sqrt();
        // 50 epochs of 100 that are multiplied would be off by 0.5 / √50, which is 0.07.
        assert!(off(&shares[..60]) < 0.04, "{}", off(&shares[..60]));
        assert!(shares[60..62].iter().all(|&cold| cold < 0.01), "{shares:?}");
        assert!(shares[62..].iter().all(|share| (1.75..2.2).contains(share)), "{shares:?}");
    }

    #[test]
    fn a_die_of_which_nothing_is_known_goes_on_as_in_the_present_epoch() {
        let mut habits = Habits::default();
        habits.learn(2, &[Some(1), Some(3)]);
        assert_eq!(habits.erases(1, &[Some(0), Some(6), None], 3), [0.0, 18.0, 0.0]);
    }

    #[test]
    fn an_epoch_without_an_erase_teaches_nothing() {
        let mut habits = Habits::default();
        habits.learn(0, &[Some(0), None]);
        assert_eq!(habits, Habits::default());
        assert_eq!(habits.erases(0, &[Some(0), None], 9), [0.0, 0.0]);
    }
}
