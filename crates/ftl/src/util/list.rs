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
