//! Rewrites of a die that wait for something to happen: nothing looks at them before, so they cost no operation anything.

use crate::state::layout::BlockGroup;
use crate::state::rewrites::Rewrite;

/// Mark of a group without a parked rewrite.
const NONE: u32 = u32::MAX;

/// A parked rewrite, with the retries that a read of its group may need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    rewrite: Rewrite,
    /// Most retries of a read of the group with which the rewrite stays parked.
    borne: u32,
}

/// Parked rewrites of one die, found by their groups.
#[derive(Clone, Debug, Default)]
pub(crate) struct Parked {
    entries: Vec<Entry>,
    /// Place of each group's entry, up to the last group that ever had one.
    places: Vec<u32>,
}

impl Parked {
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// All parked rewrites.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Rewrite> {
        self.entries.iter().map(|entry| &entry.rewrite)
    }

    fn place(&self, group: BlockGroup) -> Option<usize> {
        self.places.get(group.index()).filter(|&&place| place != NONE).map(|&place| place as usize)
    }

    /// Parked rewrite of `group`.
    pub(crate) fn get(&self, group: BlockGroup) -> Option<&Rewrite> {
        self.place(group).map(|place| &self.entries[place].rewrite)
    }

    /// Most retries of a read of `group` with which its rewrite stays parked; `None`: none is.
    #[inline]
    pub(crate) fn borne(&self, group: BlockGroup) -> Option<u32> {
        self.place(group).map(|place| self.entries[place].borne)
    }

    /// Park `rewrite` until a read of its group needs more than `borne` retries. A group has one parked rewrite at most.
    pub(crate) fn insert(&mut self, rewrite: Rewrite, borne: u32) {
        let index = rewrite.group.index();
        debug_assert!(self.place(rewrite.group).is_none(), "{:?} is parked already", rewrite.group);
        if self.places.len() <= index {
            self.places.resize(index + 1, NONE);
        }
        self.places[index] = self.entries.len() as u32;
        self.entries.push(Entry { rewrite, borne });
    }

    /// Take the parked rewrite of `group`.
    pub(crate) fn take(&mut self, group: BlockGroup) -> Option<Rewrite> {
        let place = self.place(group)?;
        self.places[group.index()] = NONE;
        let taken = self.entries.swap_remove(place);
        if let Some(moved) = self.entries.get(place) {
            self.places[moved.rewrite.group.index()] = place as u32;
        }
        Some(taken.rewrite)
    }

    pub(crate) fn clear(&mut self) {
        self.entries.clear();
        self.places.clear();
    }

    /// Change all parked rewrites, but for their groups.
    pub(crate) fn for_each_mut(&mut self, mut change: impl FnMut(&mut Rewrite)) {
        self.entries.iter_mut().for_each(|entry| change(&mut entry.rewrite));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;
    use wordline_units::{Cause, Nanos};

    proptest! {
        #[test]
        fn each_group_finds_its_own(steps in prop::collection::vec((0u32..12, any::<bool>(), 0u32..9), 0..200)) {
            let (mut parked, mut model) = (Parked::default(), BTreeMap::new());
            for (at, (group, is_taken, borne)) in steps.into_iter().enumerate() {
                let group = BlockGroup(group);
                let rewrite = Rewrite::by_core(group, Cause::Disturb, 1, Nanos(at as u64));
                if is_taken {
                    prop_assert_eq!(parked.take(group), model.remove(&group).map(|(rewrite, _)| rewrite));
                } else if let std::collections::btree_map::Entry::Vacant(free) = model.entry(group) {
                    free.insert((rewrite, borne));
                    parked.insert(rewrite, borne);
                }
                for group in (0..14).map(BlockGroup) {
                    prop_assert_eq!(parked.get(group), model.get(&group).map(|(rewrite, _)| rewrite));
                    prop_assert_eq!(parked.borne(group), model.get(&group).map(|&(_, borne)| borne));
                }
                prop_assert_eq!((parked.iter().count(), parked.is_empty()), (model.len(), model.is_empty()));
            }
        }
    }
}
