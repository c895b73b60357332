//! Erases of a die over many epochs, as static wear levelling shares them out.
//!
//! Levelling keeps the groups of a die within a gap of each other. Over a few epochs it need not act, and each group goes on as it was used. Over many it does:
//! whoever was used more by chance is used less later, so that all groups come to the same level, and a group that an erase wears more has fewer of them.
//!
//! ```text
//!   level L:  sum over groups of max(0, (L - worn) / by_erase)  =  erases of the epoch, all groups together, times its number
//! ```
//!
//! A group that was not erased in the epoch holds cold data. Levelling would move that, and then the group is used like others: it repeats the epoch of the
//! group whose use is nearest to the mean. Each time that it comes further by a gap, its data moves.

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
    /// True if the group holds cold data which levelling would have moved meanwhile.
    pub is_lifted: bool,
}

/// A group before many epochs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Before {
    /// Wear of the group; `None`: not known. Then it counts as one like the others.
    pub(crate) wear: Option<LevelledWear>,
    /// Erases in the epoch; `None`: the group is out of service.
    pub(crate) erases: Option<u32>,
}

impl Before {
    fn is_used(&self) -> bool {
        self.erases.is_some_and(|erases| erases > 0)
    }
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
    let erases_to = |level: f64, wear: &LevelledWear| ((level - wear.worn) / wear.by_erase).max(0.0);
    let in_epoch: f64 = serving.iter().map(|(_, erases)| erases).sum();
    let erases = in_epoch * f64::from(times);
    let most = |of: fn(&LevelledWear) -> f64| serving.iter().map(|(wear, _)| of(wear)).fold(0.0, f64::max);
    let (mut low, mut level) = (0.0, most(|wear| wear.worn) + erases * most(|wear| wear.by_erase));
    for _ in 0..STEPS {
        let middle = (low + level) / 2.0;
        let needed: f64 = serving.iter().map(|(wear, _)| erases_to(middle, wear)).sum();
        if needed < erases { low = middle } else { level = middle }
    }
    // What an unused group does again, and how many erases that is.
    let usual_use = in_epoch / groups.iter().filter(|group| group.is_used()).count() as f64;
    let far = |erases: u32| (f64::from(erases) - usual_use).abs();
    let used = groups.iter().enumerate().filter(|(_, group)| group.is_used());
    let (donor, of_donor) =
        used.filter_map(|(place, group)| Some((place, group.erases?))).min_by(|one, other| far(one.1).total_cmp(&far(other.1)))?;
    let share = |(place, group): (usize, &Before)| {
        let Some(erases) = group.erases else { return Share { like: place, times: 0, is_lifted: false } };
        let (like, each) = if erases > 0 { (place, erases) } else { (donor, of_donor) };
        let wear = group.wear.unwrap_or(usual);
        // Cold groups of one wear are not all moved at once.
        let phase = f64::from(gap) * place as f64 / groups.len() as f64;
        let gaps = |worn: f64| ((worn + phase) / f64::from(gap)).floor();
        let is_lifted = erases == 0 && gaps(level.max(wear.worn)) > gaps(wear.worn);
        Share { like, times: (erases_to(level, &wear) / f64::from(each)).round() as u32, is_lifted }
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
        assert!(shares.iter().zip(0..).all(|(share, place)| share.like == place && !share.is_lifted));
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
    fn a_cold_group_repeats_what_a_usual_one_did_and_its_data_moves_once_in_a_gap() {
        let groups = [by_erases(&[(100, 1), (103, 9), (60, 0), (101, 5)]), vec![Before { wear: None, erases: None }]].concat();
        let shares = shares(&groups, 20, 1_000).expect("they drift apart");
        let worn = after(&groups[..4], &shares[..4]);
        assert!(worn.iter().all(|worn| (worn - 3_841.0).abs() <= 5.0), "{worn:?}");
        assert_eq!((shares[2].like, shares[2].is_lifted), (3, true));
        assert_eq!(shares[4], Share { like: 4, times: 0, is_lifted: false }, "out of service");
        // 1, 2, … gaps in as many leaps.
        let moves = |leaps: u32| {
            let level = |leap: u32| 600 + 5 * leap;
            let lifted = |leap: u32| {
                let groups = by_erases(&[(level(leap), 1), (level(leap), 0)]);
                super::shares(&groups, 20, 10).expect("they drift apart")[1].is_lifted
            };
            (0..leaps).filter(|&leap| lifted(leap)).count()
        };
        assert_eq!([moves(4), moves(8), moves(40)], [1, 2, 10]);
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
