//! Intrusive lists over the slots of a table: constant-time entry, removal and order, no allocation.

use wordline_units::Id;

pub(crate) const NIL: u32 = u32::MAX;

/// The place of one slot in the list it is in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Links {
    prev: u32,
    next: u32,
}

impl Default for Links {
    fn default() -> Self {
        Links { prev: NIL, next: NIL }
    }
}

/// A list of slots, first to last.
#[derive(Clone, Copy, Debug)]
pub(crate) struct List {
    head: u32,
    tail: u32,
    len: u32,
}

impl Default for List {
    fn default() -> Self {
        List { head: NIL, tail: NIL, len: 0 }
    }
}

impl List {
    #[inline]
    pub(crate) fn len(&self) -> u32 {
        self.len
    }

    pub(crate) fn first(&self) -> Option<u32> {
        (self.head != NIL).then_some(self.head)
    }

    pub(crate) fn push_back(&mut self, links: &mut [Links], slot: u32) {
        links[slot as usize] = Links { prev: self.tail, next: NIL };
        match self.tail {
            NIL => self.head = slot,
            tail => links[tail as usize].next = slot,
        }
        self.tail = slot;
        self.len += 1;
    }

    pub(crate) fn push_front(&mut self, links: &mut [Links], slot: u32) {
        links[slot as usize] = Links { prev: NIL, next: self.head };
        match self.head {
            NIL => self.tail = slot,
            head => links[head as usize].prev = slot,
        }
        self.head = slot;
        self.len += 1;
    }

    pub(crate) fn remove(&mut self, links: &mut [Links], slot: u32) {
        let Links { prev, next } = links[slot as usize];
        match prev {
            NIL => self.head = next,
            prev => links[prev as usize].next = next,
        }
        match next {
            NIL => self.tail = prev,
            next => links[next as usize].prev = prev,
        }
        self.len -= 1;
    }

    pub(crate) fn pop_front(&mut self, links: &mut [Links]) -> Option<u32> {
        let slot = self.first()?;
        self.remove(links, slot);
        Some(slot)
    }
}

/// A table of `T`, indexed by the ids `K`, whose free places are handed out again, last freed first.
#[derive(Clone, Debug)]
pub(crate) struct Slab<K, T> {
    items: Vec<T>,
    unused: Vec<K>,
}

impl<K, T> Default for Slab<K, T> {
    fn default() -> Self {
        Slab { items: Vec::new(), unused: Vec::new() }
    }
}

impl<K: Id, T: Copy> Slab<K, T> {
    #[inline]
    pub(crate) fn insert(&mut self, item: T) -> K {
        match self.unused.pop() {
            Some(slot) => {
                self.items[slot.index()] = item;
                slot
            }
            None => {
                self.items.push(item);
                K::from_index(self.items.len() - 1)
            }
        }
    }

    #[inline]
    pub(crate) fn remove(&mut self, slot: K) -> T {
        self.unused.push(slot);
        self.items[slot.index()]
    }

    pub(crate) fn len(&self) -> usize {
        self.items.len() - self.unused.len()
    }
}

impl<K: Id, T> std::ops::Index<K> for Slab<K, T> {
    type Output = T;
    #[inline]
    fn index(&self, slot: K) -> &T {
        &self.items[slot.index()]
    }
}

impl<K: Id, T> std::ops::IndexMut<K> for Slab<K, T> {
    #[inline]
    fn index_mut(&mut self, slot: K) -> &mut T {
        &mut self.items[slot.index()]
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use wordline_units::OpTag;

    use super::*;

    proptest! {
        #[test]
        fn a_list_keeps_the_order_of_a_queue_wherever_slots_are_taken_out(steps in prop::collection::vec((0u8..4, 0u32..12), 0..200)) {
            let (mut list, mut links, mut twin) = (List::default(), [Links::default(); 12], VecDeque::new());
            for (step, slot) in steps {
                let is_in = twin.contains(&slot);
                match step {
                    0 if !is_in => {
                        list.push_back(&mut links, slot);
                        twin.push_back(slot);
                    }
                    1 if !is_in => {
                        list.push_front(&mut links, slot);
                        twin.push_front(slot);
                    }
                    2 if is_in => {
                        list.remove(&mut links, slot);
                        twin.retain(|&other| other != slot);
                    }
                    3 => prop_assert_eq!(list.pop_front(&mut links), twin.pop_front()),
                    _ => {}
                }
                prop_assert_eq!((list.len() as usize, list.first()), (twin.len(), twin.front().copied()));
            }
            prop_assert!(std::iter::from_fn(|| list.pop_front(&mut links)).eq(twin));
        }
    }

    #[test]
    fn a_slab_hands_out_the_place_freed_last_and_grows_only_when_none_is_free() {
        let mut slab: Slab<OpTag, i32> = Slab::default();
        let places = [10, 20, 30].map(|item| slab.insert(item));
        assert_eq!((places, slab.len()), ([0, 1, 2].map(OpTag), 3));
        assert_eq!((slab.remove(OpTag(0)), slab.remove(OpTag(2)), slab.len()), (10, 30, 1));
        assert_eq!((slab.insert(40), slab.insert(50), slab.insert(60)), (OpTag(2), OpTag(0), OpTag(3)));
        slab[OpTag(1)] += 1;
        assert_eq!([0, 1, 2, 3].map(|place| slab[OpTag(place)]), [50, 21, 40, 60]);
    }
}
