//! Wear levelling by the wear that techniques tell (LongLive, 000 §3.4.4).

use std::cmp::Reverse;

use super::{DieGroups, FreeGroups, Policy, Stream};

/// Takes the least-worn group for host data and the most-worn for moved data, and measures the gap in thousandths of a life. Where nobody tells the wear,
/// groups count as not worn at all.
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
        let (coldest, least) = die.closed().map(|(group, _)| (group, wear(group))).min_by_key(|&(_, wear)| wear)?;
        (wear(die.erased).saturating_sub(least) >= gap).then_some(coldest)
    }
    /// The wear of a block rises fastest at first, so that its mean so far is never too little.
    fn erases_within(&self, die: &DieGroups<'_>, gap: u32) -> u32 {
        let worn = (0..die.erases.len()).filter_map(|group| Some((u64::from(die.erases[group]), u64::from((die.wear)(group)?.0))));
        let within = worn.filter(|&(erases, wear)| erases > 0 && wear > 0).map(|(erases, wear)| u64::from(gap) * erases / wear);
        within.min().map_or(u32::MAX, |erases| erases.min(u64::from(u32::MAX)) as u32)
    }
}
