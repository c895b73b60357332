//! Erases of a die over many epochs, as static wear levelling shares them out.
//!
//! Levelling keeps the groups of a die within a gap of each other. Over a few epochs it need not act, and each group goes on as it was used. Over many it does:
//! whoever was used more by chance is used less later, so that all groups come to the same level, and a group that an erase wears more has fewer of them.
//!
//! ```text
//!   level L:  sum over groups of max(0, (L - worn) / by_erase)  =  erases of the epoch, all groups together, times its number
//! ```

use crate::free_block::LevelledWear;

/// Halvings of the range in which the level is looked for: as many as a float has digits.
const STEPS: u32 = 60;

/// Times that each group goes through its epoch, of those given by their wear and by their erases in the epoch, over `times` epochs. A group without an erase
/// in the epoch has nothing that could be done again, and waits for the next. `None`: groups do not drift apart by half of `gap`, so nothing is shared out.
pub(crate) fn shares(groups: &[(Option<LevelledWear>, u32)], gap: u32, times: u32) -> Option<Vec<u32>> {
    let used: Vec<(Option<LevelledWear>, f64)> =
        groups.iter().filter(|(_, erases)| *erases > 0).map(|&(wear, erases)| (wear, f64::from(erases))).collect();
    let known: Vec<LevelledWear> = used.iter().filter_map(|(wear, _)| *wear).collect();
    if known.is_empty() {
        return None;
    }
    // A group of unknown wear counts as one like the others.
    let mean = |of: fn(&LevelledWear) -> f64| known.iter().map(of).sum::<f64>() / known.len() as f64;
    let usual = LevelledWear { worn: mean(|wear| wear.worn), by_erase: mean(|wear| wear.by_erase) };
    let used: Vec<(LevelledWear, f64)> = used.into_iter().map(|(wear, erases)| (wear.unwrap_or(usual), erases)).collect();
    let added = || used.iter().map(|(wear, erases)| wear.by_erase * erases);
    let drift = (added().fold(0.0, f64::max) - added().fold(f64::MAX, f64::min)) * f64::from(times);
    if 2.0 * drift < f64::from(gap) {
        return None;
    }
    let erases_to = |level: f64, wear: &LevelledWear| ((level - wear.worn) / wear.by_erase).max(0.0);
    let erases: f64 = used.iter().map(|(_, erases)| erases).sum::<f64>() * f64::from(times);
    let most = |of: fn(&LevelledWear) -> f64| used.iter().map(|(wear, _)| of(wear)).fold(0.0, f64::max);
    let (mut low, mut level) = (0.0, most(|wear| wear.worn) + erases * most(|wear| wear.by_erase));
    for _ in 0..STEPS {
        let middle = (low + level) / 2.0;
        let needed: f64 = used.iter().map(|(wear, _)| erases_to(middle, wear)).sum();
        if needed < erases { low = middle } else { level = middle }
    }
    let share = |&(wear, erases): &(Option<LevelledWear>, u32)| match erases {
        0 => 0,
        erases => (erases_to(level, &wear.unwrap_or(usual)) / f64::from(erases)).round() as u32,
    };
    Some(groups.iter().map(share).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by_erases(groups: &[(u32, u32)]) -> Vec<(Option<LevelledWear>, u32)> {
        groups.iter().map(|&(erases, used)| (Some(LevelledWear { worn: f64::from(erases), by_erase: 1.0 }), used)).collect()
    }

    #[test]
    fn groups_come_to_one_level_and_no_erase_is_lost() {
        let groups = by_erases(&[(100, 1), (103, 3), (90, 2), (101, 4)]);
        let shares = shares(&groups, 20, 1_000).expect("they would drift apart by 3,000");
        let worn: Vec<f64> =
            groups.iter().zip(&shares).map(|((wear, used), times)| wear.expect("known").worn + f64::from(used * times)).collect();
        let all: u32 = groups.iter().zip(&shares).map(|((_, used), times)| used * times).sum();
        assert!(worn.iter().all(|worn| (worn - 2_598.5).abs() <= 2.0), "{worn:?}");
        assert!(all.abs_diff(10_000) <= 5, "{all}");
    }

    #[test]
    fn a_group_that_wears_twice_as_fast_has_half_the_erases() {
        let wear = |worn, by_erase, used| (Some(LevelledWear { worn, by_erase }), used);
        let groups = [wear(200.0, 0.1, 2), wear(200.0, 0.2, 2), (None, 2)];
        let shares = shares(&groups, 20, 500).expect("they drift apart, though all are erased as often");
        assert_eq!(shares[0], 2 * shares[1]);
        assert!(shares[2] > shares[1] && shares[2] < shares[0], "{shares:?}: of whom nothing is known is like the mean of the others");
    }

    #[test]
    fn short_leaps_go_on_as_groups_were_used_and_unused_groups_wait() {
        let groups = by_erases(&[(100, 1), (103, 3), (90, 0)]);
        assert_eq!(shares(&groups, 20, 4), None, "a drift of 8");
        let shares = shares(&groups, 20, 5).expect("a drift of 10, half the gap");
        assert_eq!(shares[2], 0);
        assert_eq!(super::shares(&[(None, 1), (None, 9)], 20, 1_000), None, "nobody measures anything");
    }
}
