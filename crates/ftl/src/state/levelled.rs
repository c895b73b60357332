//! Erases of a die over many epochs, as static wear levelling shares them out.
//!
//! Levelling keeps the groups of a die within a gap of each other. Over a few epochs it need not act, and each group goes on as it was used. Over many it does:
//! whoever was used more by chance is used less later, so that all groups come to the same level, and a group that an erase wears more has fewer of them.
//!
//! ```text
//!   level L:  sum over groups of max(0, (L - worn) / by_erase)  =  erases of the epoch, all groups together, times its number
//! ```
//!
//! A group that was not erased in the epoch holds cold data and stays behind the others. Once it is behind by the gap, levelling moves its data, and the group
//! is used like others until cold data comes to it again:
//!
//! ```text
//!   behind the level:  (behind before + gain of the level)  modulo gap, with a shift of each group's own where it comes round
//! ```
//!
//! Without the shift all cold groups would be moved at once, in one epoch of many. What is shared out to a cold group it has by the epoch of the group whose
//! use is nearest to the mean. The data itself stays: the epochs show how it moves, at the rate at which it does.

use crate::free_block::LevelledWear;

/// Halvings of the range in which the level is looked for: as many as a float has digits.
const STEPS: u32 = 60;

/// Part of one group in what is done again of an epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// Place in the die of the group whose epoch is done again: the group itself, unless it was not erased.
    pub like: usize,
    /// Number of times.
    pub times: u32,
    /// True if levelling would have moved the group's cold data meanwhile.
    pub has_moved: bool,
}

/// A group before many epochs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Before {
    wear: Option<LevelledWear>,
    erases: Option<u32>,
}

impl Before {
    /// Creates a group of this `wear`, with so many erases in the epoch. `wear`: `None` where it is not known; then it counts as one like the others. `erases`:
    /// `None` where the group is out of service.
    pub(crate) fn new(wear: Option<LevelledWear>, erases: Option<u32>) -> Before {
        Before { wear, erases }
    }

    fn is_used(&self) -> bool {
        self.erases.is_some_and(|erases| erases > 0)
    }
}

/// Place and erases of the group whose use in the epoch is nearest to the mean of those that were used: an unused group repeats its epoch. `None`: no group was
/// used.
pub fn most_usual(used: &[Option<u32>]) -> Option<(usize, u32)> {
    let in_use = || used.iter().enumerate().filter_map(|(place, &used)| Some((place, used.filter(|&used| used > 0)?)));
    let mean = in_use().map(|(_, used)| f64::from(used)).sum::<f64>() / in_use().count() as f64;
    let far = |used: u32| (f64::from(used) - mean).abs();
    in_use().min_by(|one, other| far(one.1).total_cmp(&far(other.1)))
}

/// Share of each group in `times` epochs like the present one. `None`: groups do not drift apart by half of `gap`, so nothing is shared out.
pub(crate) fn shares(groups: &[Before], gap: u32, times: u32) -> Option<Vec<Share>> {
    let known: Vec<LevelledWear> = groups.iter().filter(|group| group.is_used()).filter_map(|group| group.wear).collect();
    if known.is_empty() {
        return None;
    }
    let mean = |of: fn(&LevelledWear) -> f64| known.iter().map(of).sum::<f64>() / known.len() as f64;
    let usual = LevelledWear { worn: mean(|wear| wear.worn), by_erase: mean(|wear| wear.by_erase) };
    let serving: Vec<(LevelledWear, f64)> =
        groups.iter().filter_map(|group| Some((group.wear.unwrap_or(usual), f64::from(group.erases?)))).collect();
    let added = || serving.iter().map(|(wear, erases)| wear.by_erase * erases);
    let drift = (added().fold(0.0, f64::max) - added().fold(f64::MAX, f64::min)) * f64::from(times);
    if 2.0 * drift < f64::from(gap) {
        return None;
    }
    let in_epoch: f64 = serving.iter().map(|(_, erases)| erases).sum();
    let all = in_epoch * f64::from(times);
    let cycle = f64::from(gap);
    // How much further a group comes if those in use come to `level`, and whether its cold data moves.
    let gains = |level: f64, place: usize, group: &Before| {
        let wear = group.wear.unwrap_or(usual);
        if group.is_used() {
            return ((level - wear.worn).max(0.0), false);
        }
        let (behind, moved) = ((usual.worn - wear.worn).max(0.0), level - usual.worn);
        if behind + moved < cycle {
            return (0.0, false);
        }
        let shift = cycle * place as f64 / groups.len() as f64;
        ((level - (behind + moved + shift) % cycle - wear.worn).max(0.0), true)
    };
    let by_erase = |group: &Before| group.wear.unwrap_or(usual).by_erase;
    let serve = || groups.iter().enumerate().filter(|(_, group)| group.erases.is_some());
    let needed = |level: f64| serve().map(|(place, group)| gains(level, place, group).0 / by_erase(group)).sum::<f64>();
    let most = |of: fn(&LevelledWear) -> f64| serving.iter().map(|(wear, _)| of(wear)).fold(0.0, f64::max);
    let (mut low, mut level) = (0.0, most(|wear| wear.worn) + cycle + all * most(|wear| wear.by_erase));
    for _ in 0..STEPS {
        let middle = (low + level) / 2.0;
        if needed(middle) < all { low = middle } else { level = middle }
    }
    let used: Vec<Option<u32>> = groups.iter().map(|group| group.erases).collect();
    let (donor, of_donor) = most_usual(&used)?;
    // Groups that are behind by as much come to the gap together, and then one after the other has its data moved, as far as the erases go.
    let mut left = all - needed(low);
    let share = |(place, group): (usize, &Before)| {
        let Some(erases) = group.erases else { return Share { like: place, times: 0, has_moved: false } };
        let (like, each) = if erases > 0 { (place, erases) } else { (donor, of_donor) };
        let [below, above] = [low, level].map(|level| gains(level, place, group));
        let more = (above.0 - below.0) / by_erase(group);
        let (gain, has_moved) = if more <= left {
            left -= more;
            above
        } else {
            below
        };
        Share { like, times: (gain / by_erase(group) / f64::from(each)).round() as u32, has_moved }
    };
    Some(groups.iter().enumerate().map(share).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn before(worn: f64, by_erase: f64, erases: u32) -> Before {
        Before { wear: Some(LevelledWear { worn, by_erase }), erases: Some(erases) }
    }

    fn by_erases(groups: &[(u32, u32)]) -> Vec<Before> {
        groups.iter().map(|&(erases, used)| before(f64::from(erases), 1.0, used)).collect()
    }

    /// Wear of each group after its share.
    fn after(groups: &[Before], shares: &[Share]) -> Vec<f64> {
        let erases = |share: &Share| groups[share.like].erases.expect("it serves") * share.times;
        let worn = |(group, share): (&Before, &Share)| {
            let LevelledWear { worn, by_erase } = group.wear.expect("it is known");
            worn + by_erase * f64::from(erases(share))
        };
        groups.iter().zip(shares).map(worn).collect()
    }

    #[test]
    fn groups_come_to_one_level_and_no_erase_is_lost() {
        let groups = by_erases(&[(100, 1), (103, 3), (90, 2), (101, 4)]);
        let shares = shares(&groups, 20, 1_000).expect("they would drift apart by 3,000");
        let worn = after(&groups, &shares);
        assert!(worn.iter().all(|worn| (worn - 2_598.5).abs() <= 2.0), "{worn:?}");
        assert!((worn.iter().sum::<f64>() - 10_394.0).abs() <= 5.0, "{worn:?}");
        assert!(shares.iter().zip(0..).all(|(share, place)| share.like == place && !share.has_moved));
    }

    #[test]
    fn a_group_that_wears_twice_as_fast_has_half_the_erases() {
        let groups = [before(200.0, 0.1, 2), before(200.0, 0.2, 2), Before { wear: None, erases: Some(2) }];
        let times: Vec<u32> =
            shares(&groups, 20, 500).expect("they drift apart, though all are erased as often").iter().map(|of| of.times).collect();
        assert_eq!(times[0], 2 * times[1]);
        assert!(times[2] > times[1] && times[2] < times[0], "{times:?}: of whom nothing is known is like the mean of the others");
    }

    #[test]
    fn cold_groups_stay_behind_by_less_than_the_gap_at_places_of_their_own_and_no_erase_is_lost() {
        const GAP: u32 = 200;
        let used = |worn| before(worn, 1.0, 5);
        let groups = [vec![used(500.0), used(510.0)], vec![before(400.0, 1.0, 0); 14], vec![Before { wear: None, erases: None }]].concat();
        let shares = shares(&groups, GAP, 1_000).expect("they drift apart");
        let worn = after(&groups[..16], &shares[..16]);
        let gained: f64 = worn.iter().sum::<f64>() - 1_010.0 - 14.0 * 400.0;
        assert!((gained - 10_000.0).abs() < 200.0, "{gained}");
        assert!((worn[0] - worn[1]).abs() <= 5.0);
        let mut behind: Vec<f64> = worn[2..].iter().map(|cold| worn[0] - cold).collect();
        behind.sort_by(f64::total_cmp);
        assert!(behind[0] > -5.0 && behind[13] < 205.0, "{behind:?}");
        assert!(behind.windows(2).all(|pair| (3.0..60.0).contains(&(pair[1] - pair[0]))), "evenly: {behind:?}");
        assert!(shares[2..16].iter().all(|share| share.like == 0 && share.has_moved));
        assert_eq!(shares[16], Share { like: 16, times: 0, has_moved: false }, "out of service");
    }

    #[test]
    fn cold_groups_that_come_to_the_gap_together_have_no_more_erases_than_there_are() {
        let groups = [vec![before(500.0, 1.0, 5); 2], vec![before(500.0, 1.0, 0); 40]].concat();
        // Ten in the epoch: 500 take the two to the gap, and the rest is enough for some of the forty.
        let shares = shares(&groups, 200, 60).expect("they drift apart");
        let worn = after(&groups, &shares);
        let gained = worn.iter().sum::<f64>() - 42.0 * 500.0;
        let moved = shares.iter().filter(|share| share.has_moved).count();
        assert!((560.0..=600.0).contains(&gained) && (1..10).contains(&moved), "{gained} by {moved} that moved");
        assert!((worn[0] - 700.0).abs() < 6.0, "{}", worn[0]);
    }

    #[test]
    fn a_cold_group_waits_until_it_is_behind_by_the_gap() {
        let groups = [before(500.0, 1.0, 5), before(500.0, 1.0, 5), before(450.0, 1.0, 0)];
        let share = |times: u32| shares(&groups, 200, times).map(|shares| (shares[2].times, shares[0].times));
        assert_eq!(share(19), None, "they drift by 95");
        assert_eq!(share(29), Some((0, 29)), "behind by 195");
        let (cold, used) = share(50).expect("they drift apart");
        assert!(cold > 10 && used < 50, "{cold}, {used}");
    }

    #[test]
    fn short_leaps_go_on_as_groups_were_used() {
        let groups = by_erases(&[(100, 1), (103, 3), (90, 1)]);
        assert_eq!(shares(&groups, 20, 4), None, "a drift of 8");
        assert!(shares(&groups, 20, 5).is_some(), "a drift of 10, half the gap");
        let unknown = [1, 9].map(|erases| Before { wear: None, erases: Some(erases) });
        assert_eq!(shares(&unknown, 20, 1_000), None, "nobody measures anything");
    }
}
