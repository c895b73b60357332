//! Index of the write buffer: the slot that holds the newest data of a unit, in an open-addressing table of fixed size.
//!
//! Every read asks it, nearly always in vain, so the miss is what is made fast: one multiplication and one look at a table that stays in the
//! first-level cache. The standard map would hash with SipHash and could not promise its order.

const EMPTY: u32 = u32::MAX;

/// A map from logical unit to slot with room for a fixed number of entries.
#[derive(Clone, Debug)]
pub(crate) struct Index {
    entries: Vec<(u32, u32)>,
    shift: u32,
}

impl Index {
    /// An empty index with room for `count` entries.
    pub(crate) fn new(count: u32) -> Index {
        // At most a quarter full, so that probes stay short.
        let bits = (u64::from(count.max(4)) * 4).next_power_of_two().trailing_zeros();
        Index { entries: vec![(EMPTY, 0); 1 << bits], shift: 64 - bits }
    }

    #[inline]
    fn home(&self, lpn: u32) -> usize {
        (u64::from(lpn).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> self.shift) as usize
    }

    #[inline]
    pub(crate) fn get(&self, lpn: u32) -> Option<u32> {
        let mask = self.entries.len() - 1;
        let mut at = self.home(lpn);
        loop {
            let (key, slot) = self.entries[at];
            if key == lpn {
                return Some(slot);
            }
            if key == EMPTY {
                return None;
            }
            at = (at + 1) & mask;
        }
    }

    /// Enter `lpn`, or point it at another slot.
    pub(crate) fn insert(&mut self, lpn: u32, slot: u32) {
        let mask = self.entries.len() - 1;
        let mut at = self.home(lpn);
        while self.entries[at].0 != EMPTY && self.entries[at].0 != lpn {
            at = (at + 1) & mask;
        }
        self.entries[at] = (lpn, slot);
    }

    /// Forget `lpn`, which must be there, closing the gap so that no later probe ends too early.
    pub(crate) fn remove(&mut self, lpn: u32) {
        let mask = self.entries.len() - 1;
        let mut gap = self.home(lpn);
        while self.entries[gap].0 != lpn {
            assert_ne!(self.entries[gap].0, EMPTY, "unit {lpn} is not in the buffer");
            gap = (gap + 1) & mask;
        }
        let mut at = gap;
        loop {
            at = (at + 1) & mask;
            let (key, _) = self.entries[at];
            if key == EMPTY {
                break;
            }
            // The entry may move back into the gap only if its home does not lie between the gap and it.
            let home = self.home(key);
            if (at.wrapping_sub(home) & mask) >= (at.wrapping_sub(gap) & mask) {
                self.entries[gap] = self.entries[at];
                gap = at;
            }
        }
        self.entries[gap] = (EMPTY, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn the_index_equals_a_btree(steps in prop::collection::vec((any::<bool>(), 0u32..64), 1..300)) {
            let mut index = Index::new(16);
            let mut twin = BTreeMap::new();
            for (enter, lpn) in steps {
                if enter && (twin.len() < 16 || twin.contains_key(&lpn)) {
                    index.insert(lpn, lpn * 3);
                    twin.insert(lpn, lpn * 3);
                } else if twin.remove(&lpn).is_some() {
                    index.remove(lpn);
                }
                for probe in 0..64 {
                    prop_assert_eq!(index.get(probe), twin.get(&probe).copied());
                }
            }
        }
    }
}
