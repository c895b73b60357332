//! Requests of a die, each for a block group, that wait for something to happen: nothing looks at them before, so they cost no operation anything.

use crate::state::layout::BlockGroup;

/// Mark of a group without a parked request.
const NONE: u32 = u32::MAX;

/// A parked request, with the retries that a read of its group may need.
#[derive(Clone, Copy, Debug)]
struct Entry<T> {
    group: BlockGroup,
    request: T,
    /// Most retries of a read of the group with which the request stays parked.
    borne: u32,
}

/// Parked requests of one die, found by their groups.
#[derive(Clone, Debug)]
pub(crate) struct Parked<T> {
    entries: Vec<Entry<T>>,
    /// Place of each group's entry, up to the last group that ever had one.
    places: Vec<u32>,
}

impl<T: Copy> Parked<T> {
    pub(crate) const fn new() -> Parked<T> {
        Parked { entries: Vec::new(), places: Vec::new() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// All parked requests, in no order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = T> + '_ {
        self.entries.iter().map(|entry| entry.request)
    }

    fn place(&self, group: BlockGroup) -> Option<usize> {
        self.places.get(group.index()).filter(|&&place| place != NONE).map(|&place| place as usize)
    }

    /// Parked request for `group`.
    pub(crate) fn get(&self, group: BlockGroup) -> Option<T> {
        self.place(group).map(|place| self.entries[place].request)
    }

    /// Most retries of a read of `group` with which its request stays parked; `None`: none is.
    #[inline]
    pub(crate) fn borne(&self, group: BlockGroup) -> Option<u32> {
        self.place(group).map(|place| self.entries[place].borne)
    }

    /// Park `request` until a read of `group` needs more than `borne` retries. A group has one parked request at most.
    pub(crate) fn insert(&mut self, group: BlockGroup, request: T, borne: u32) {
        let index = group.index();
        debug_assert!(self.place(group).is_none(), "{group:?} is parked already");
        if self.places.len() <= index {
            self.places.resize(index + 1, NONE);
        }
        self.places[index] = self.entries.len() as u32;
        self.entries.push(Entry { group, request, borne });
    }

    /// Take the parked request for `group`.
    pub(crate) fn take(&mut self, group: BlockGroup) -> Option<T> {
        let place = self.place(group)?;
        self.places[group.index()] = NONE;
        let taken = self.entries.swap_remove(place);
        if let Some(moved) = self.entries.get(place) {
            self.places[moved.group.index()] = place as u32;
        }
        Some(taken.request)
    }

    pub(crate) fn clear(&mut self) {
        self.entries.clear();
        self.places.clear();
    }

    /// Change all parked requests.
    pub(crate) fn for_each_mut(&mut self, mut change: impl FnMut(&mut T)) {
        self.entries.iter_mut().for_each(|entry| change(&mut entry.request));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn each_group_finds_its_own(steps in prop::collection::vec((0u32..12, any::<bool>(), 0u32..9), 0..200)) {
            let (mut parked, mut model) = (Parked::new(), BTreeMap::new());
            for (request, (group, is_taken, borne)) in steps.into_iter().enumerate() {
                let group = BlockGroup(group);
                if is_taken {
                    prop_assert_eq!(parked.take(group), model.remove(&group).map(|(request, _)| request));
                } else if let std::collections::btree_map::Entry::Vacant(free) = model.entry(group) {
                    free.insert((request, borne));
                    parked.insert(group, request, borne);
                }
                for group in (0..14).map(BlockGroup) {
                    prop_assert_eq!(parked.get(group), model.get(&group).map(|&(request, _)| request));
                    prop_assert_eq!(parked.borne(group), model.get(&group).map(|&(_, borne)| borne));
                }
                prop_assert_eq!((parked.iter().count(), parked.is_empty()), (model.len(), model.is_empty()));
            }
        }
    }
}
