//! Use of block groups over the last epochs, and what a leap makes of it.
//!
//! One epoch erases each group a few times, more or fewer by chance. A leap that multiplied these counts would multiply the chance as well, and blocks would
//! drift apart by far more than they do over a whole life. So the part of a group in its die's erases is averaged over the last epochs, which is its *habit*,
//! and what differs from that in the present one grows as chance does, by the root of the leap:
//!
//! ```text
//!   erases of a leap  =  mean of the die · (habit · times + (present − habit) · √times)
//! ```

/// Number of epochs of which a habit is the mean; older ones fade.
const MEMORY: u32 = 8;

/// Use of the block groups of a die: the share of each in the mean number of erases.
#[derive(Clone, Debug, Default, PartialEq)]
struct DieHabits {
    shares: Vec<f64>,
    epochs: u32,
}

/// Use of all block groups, by die. A new one knows nothing, and takes the present epoch as habit.
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
        if habits.shares.is_empty() {
            habits.shares = vec![1.0; erases.len()];
        }
        habits.epochs = (habits.epochs + 1).min(MEMORY);
        for (habit, erases) in habits.shares.iter_mut().zip(erases) {
            *habit += (erases.map_or(0.0, f64::from) / mean - *habit) / f64::from(habits.epochs);
        }
    }

    /// Erases of each group of `die` in `times` epochs after one with these `erases`. Without an erase there are none.
    pub(crate) fn erases(&self, die: usize, erases: &[Option<u32>], times: u32) -> Vec<f64> {
        let mean = mean_of(erases).unwrap_or(0.0);
        let (times, by_chance) = (f64::from(times), f64::from(times).sqrt());
        let of = |(place, erases): (usize, &Option<u32>)| {
            let Some(present) = erases.map(f64::from) else { return 0.0 };
            let habit = self.dies.get(die).and_then(|die| die.shares.get(place)).map_or(present, |share| share * mean);
            (habit * times + (present - habit) * by_chance).max(0.0)
        };
        erases.iter().enumerate().map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_epoch_is_the_habit_and_a_leap_of_one_epoch_is_the_present_one() {
        let mut habits = Habits::default();
        habits.learn(0, &[Some(1), Some(3), None]);
        assert_eq!(habits.erases(0, &[Some(1), Some(3), None], 100), [100.0, 300.0, 0.0]);
        habits.learn(0, &[Some(3), Some(1), None]);
        let close = |is: Vec<f64>, to: [f64; 3]| assert!(is.iter().zip(to).all(|(is, to)| (is - to).abs() < 1e-9), "{is:?}");
        close(habits.erases(0, &[Some(3), Some(1), None], 1), [3.0, 1.0, 0.0]);
        // Two each by habit, and one more or less by the chance of this epoch.
        close(habits.erases(0, &[Some(3), Some(1), None], 100), [210.0, 190.0, 0.0]);
    }

    #[test]
    fn chance_fades_and_habit_stays() {
        let mut habits = Habits::default();
        let epochs = [[0, 5, 3], [0, 3, 5], [0, 5, 3], [0, 3, 5]].map(|epoch| epoch.map(Some));
        epochs.iter().for_each(|epoch| habits.learn(2, epoch));
        let leapt = habits.erases(2, &epochs[3], 400);
        assert_eq!(leapt[0], 0.0, "cold data stays where it is");
        assert!(leapt[1] > 0.97 * 1_600.0 && leapt[2] < 1.03 * 1_600.0, "{leapt:?}");
        assert!((leapt.iter().sum::<f64>() - 3_200.0).abs() < 1e-6, "no erase is lost");
        assert_eq!(habits.erases(1, &epochs[3], 2), [0.0, 6.0, 10.0], "nothing is known of that die");
    }

    #[test]
    fn an_epoch_without_an_erase_teaches_nothing() {
        let mut habits = Habits::default();
        habits.learn(0, &[Some(0), None]);
        assert_eq!(habits, Habits::default());
        assert_eq!(habits.erases(0, &[Some(0), None], 9), [0.0, 0.0]);
    }
}
