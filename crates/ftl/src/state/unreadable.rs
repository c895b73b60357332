//! Units that a read has failed for, because their page could not be corrected.
//!
//! An entry names the place of the unit's newest copy, and holds as long as that copy lies there. So nothing has to be told when the host writes or trims the
//! unit, or when it moves: entries that do not hold any more are dropped when there are too many.

use std::collections::BTreeMap;

use crate::state::layout::UnitAddr;

/// Number of entries below which none is dropped.
const ROOM: usize = 64;

/// Place of a copy on flash: its address, and how often its group had been erased when it lay there.
pub(crate) type Place = (UnitAddr, u32);

/// The unreadable units of one core.
#[derive(Clone, Debug, Default)]
pub(crate) struct Unreadable {
    units: BTreeMap<u32, Place>,
    /// Number of entries that held when they were looked through last.
    held: usize,
}

impl Unreadable {
    /// True if there are no entries.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.units.is_empty()
    }

    /// True if there is an entry for `lpn` at `place`.
    pub(crate) fn has(&self, lpn: u32, place: Place) -> bool {
        self.units.get(&lpn) == Some(&place)
    }

    /// Note that the copy of `lpn` at `place` cannot be read. `now` tells where units lie. Returns true if that was not known.
    pub(crate) fn add(&mut self, lpn: u32, place: Place, now: impl Fn(u32) -> Place) -> bool {
        if self.units.len() >= ROOM.max(2 * self.held) {
            self.units.retain(|&lpn, place| now(lpn) == *place);
            self.held = self.units.len();
        }
        self.units.insert(lpn, place) != Some(place)
    }

    /// Note that the copies that `is_read` tells by their addresses can be read after all.
    pub(crate) fn remove(&mut self, is_read: impl Fn(UnitAddr) -> bool) {
        self.units.retain(|_, &mut (addr, _)| !is_read(addr));
    }

    /// Units whose entry holds, lowest first. `now` tells where units lie.
    pub(crate) fn all(&self, now: impl Fn(u32) -> Place) -> impl Iterator<Item = u32> {
        self.units.iter().filter(move |&(&lpn, &place)| now(lpn) == place).map(|(&lpn, _)| lpn)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_is_unreadable_as_long_as_its_newest_copy_lies_where_the_read_failed() {
        let mut unreadable = Unreadable::default();
        let place = |lpn: u32| (UnitAddr(lpn + 10), 3);
        assert!(unreadable.is_empty() && unreadable.add(4, place(4), place));
        assert!(!unreadable.add(4, place(4), place), "that is known");
        assert!(unreadable.add(5, place(5), place) && unreadable.has(5, place(5)));
        assert_eq!(unreadable.all(place).collect::<Vec<_>>(), [4, 5]);
        let moved = |lpn: u32| if lpn == 4 { (UnitAddr(90), 3) } else { place(lpn) };
        assert_eq!(unreadable.all(moved).collect::<Vec<_>>(), [5]);
        assert!(unreadable.all(|lpn| (UnitAddr(lpn + 10), 4)).next().is_none(), "something else lies there after an erase");
        unreadable.remove(|addr| addr == UnitAddr(15));
        assert_eq!(unreadable.all(place).collect::<Vec<_>>(), [4]);
    }

    #[test]
    fn entries_that_hold_no_more_do_not_pile_up() {
        let mut unreadable = Unreadable::default();
        for round in 0..10_000 {
            unreadable.add(round, (UnitAddr(round), 0), |lpn| (UnitAddr(lpn), u32::from(lpn + 8 < round)));
        }
        assert!(unreadable.units.len() <= ROOM, "{}", unreadable.units.len());
    }
}
