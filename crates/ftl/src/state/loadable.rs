//! The dies that can take in the data of another program while they are doing one.

use wordline_units::{DieId, Id};

use crate::util::list::{Links, List};

/// Dies that program host data and have no other program ordered yet, in the order in which their programs began. The one whose program began first
/// comes to its end first, most likely.
#[derive(Clone, Debug)]
pub(crate) struct LoadableDies {
    list: List,
    links: Vec<Links>,
    /// True for the dies of the list.
    held: Vec<bool>,
    /// True if dies are given data of a program while they are doing one.
    is_on: bool,
}

impl LoadableDies {
    /// Creates the empty set of a core with `dies` dies. `is_on`: they are given data of a program while they are doing one.
    pub(crate) fn new(dies: u32, is_on: bool) -> LoadableDies {
        LoadableDies { list: List::default(), links: vec![Links::default(); dies as usize], held: vec![false; dies as usize], is_on }
    }

    /// True if dies are given data of a program while they are doing one.
    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        self.is_on
    }

    /// Set whether they are, before the first program.
    pub(crate) fn turn(&mut self, is_on: bool) {
        self.is_on = is_on;
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.list.len() == 0
    }

    /// Add `die`, whose program begins.
    pub(crate) fn insert(&mut self, die: DieId) {
        self.remove(die);
        self.held[die.index()] = true;
        self.list.push_back(&mut self.links, die.index() as u32);
    }

    /// Remove `die`, if it is in the set.
    #[inline]
    pub(crate) fn remove(&mut self, die: DieId) {
        if self.is_on {
            self.take_out(die);
        }
    }

    #[cold]
    #[inline(never)]
    fn take_out(&mut self, die: DieId) {
        if std::mem::take(&mut self.held[die.index()]) {
            self.list.remove(&mut self.links, die.index() as u32);
        }
    }

    /// Take the die whose program began first.
    pub(crate) fn take(&mut self) -> Option<DieId> {
        let first = self.list.pop_front(&mut self.links)?;
        self.held[first as usize] = false;
        Some(DieId(first as u16))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dies_come_out_in_the_order_in_which_they_began_and_once_each() {
        let mut dies = LoadableDies::new(4, true);
        [2, 0, 3, 2].map(DieId).into_iter().for_each(|die| dies.insert(die));
        dies.remove(DieId(3));
        dies.remove(DieId(1));
        assert!(!dies.is_empty());
        assert_eq!([(); 3].map(|()| dies.take()), [Some(DieId(0)), Some(DieId(2)), None]);
        assert!(dies.is_empty());
    }
}
