//! Wear levelling by the wear that techniques tell (LongLive, 000 §3.4.4).

use std::cmp::Reverse;

use super::{AHEAD, DieGroups, FreeGroups, GroupWear, LevelledWear, Policy, Stream};

/// Takes the least-worn group for host data and the most-worn for moved data, and measures the gap in thousandths of a life. Where nobody tells the wear,
/// groups count as not worn at all. Only cold data moves: an erase more hardly ages a block that is younger by nature, so that warm data would be moved out of
/// it again each time that it is written.
pub(super) struct Wear;

impl Policy for Wear {
    fn pick(&self, free: &FreeGroups<'_>, stream: Stream) -> Option<usize> {
        let places = 0..free.count();
        match stream {
            Stream::Host => places.min_by_key(|&place| (free.wear(place), place)),
            Stream::Moved => places.max_by_key(|&place| (free.wear(place), Reverse(place))),
        }
    }

    fn level(&self, die: &DieGroups<'_>, gap: u32) -> Option<usize> {
        let wear = |group: usize| (die.wear)(group).map_or(0, |wear| u32::from(wear.0));
        let (coldest, least) =
            die.closed().filter(|&(group, _)| (die.is_cold)(group)).map(|(group, _)| (group, wear(group))).min_by_key(|&(_, wear)| wear)?;
        (wear(die.erased).saturating_sub(least) >= gap).then_some(coldest)
    }

    fn levelled_wear(&self, group: &GroupWear) -> Option<LevelledWear> {
        let worn = f64::from(group.wear?.0);
        let by_erase = match group.ahead {
            Some(ahead) => (f64::from(ahead.0) - worn) / f64::from(AHEAD),
            None => worn / f64::from(group.erases.max(1)),
        };
        (by_erase > 0.0 && (group.erases > 0 || group.ahead.is_some())).then_some(LevelledWear { worn, by_erase })
    }
}
