//! The wear of each block group, as techniques tell it: what the free-block slot, the retirement slot and techniques rank groups by.

use wordline_units::Wear;

use crate::state::layout::BlockGroup;

/// Wear of a block group as a technique tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Worn {
    /// Wear that the group does not exceed: what data is entrusted to it by.
    pub most: Wear,
    /// Best guess of its wear, by which groups are levelled: what was measured, or what like groups have in the mean.
    pub likely: Wear,
    /// True if the group itself was measured, so that both are one number.
    pub is_measured: bool,
}

impl Worn {
    /// Wear of a group that was measured.
    pub const fn measured(wear: Wear) -> Worn {
        Worn { most: wear, likely: wear, is_measured: true }
    }
}

/// Number in the table for a group of which nobody tells the wear.
const UNKNOWN: u16 = u16::MAX;

/// Wear of all groups of a core; empty until a technique tells one.
#[derive(Clone, Debug, Default)]
pub(crate) struct WearTable {
    /// The most and the likely wear of each group.
    of: Vec<[u16; 2]>,
}

impl WearTable {
    /// Wear that `group` does not exceed; `None`: nobody tells it.
    #[inline]
    pub(crate) fn most(&self, group: BlockGroup) -> Option<Wear> {
        self.number(group, 0)
    }

    /// Best guess of the wear of `group`; `None`: nobody tells it.
    #[inline]
    pub(crate) fn likely(&self, group: BlockGroup) -> Option<Wear> {
        self.number(group, 1)
    }

    fn number(&self, group: BlockGroup, which: usize) -> Option<Wear> {
        self.of.get(group.index()).map(|of| of[which]).filter(|&wear| wear != UNKNOWN).map(Wear)
    }

    /// Set the wear of `group`, of `groups` in all. More than can be written down counts as the most.
    pub(crate) fn set(&mut self, group: BlockGroup, worn: Option<Worn>, groups: usize) {
        if worn.is_some() && self.of.is_empty() {
            self.of.resize(groups, [UNKNOWN; 2]);
        }
        if let Some(of) = self.of.get_mut(group.index()) {
            *of = worn.map_or([UNKNOWN; 2], |Worn { most, likely, .. }| [most, likely].map(|Wear(wear)| wear.min(UNKNOWN - 1)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wear_is_what_was_told_last_and_unknown_before() {
        let mut table = WearTable::default();
        let (known, other) = (BlockGroup(1), BlockGroup(2));
        table.set(other, None, 3);
        assert_eq!((table.of.len(), table.most(known)), (0, None), "nobody has told anything");
        table.set(known, Some(Worn::measured(Wear(u16::MAX))), 3);
        assert_eq!((table.most(known), table.most(other)), (Some(Wear(u16::MAX - 1)), None));
        table.set(known, Some(Worn { most: Wear(7), likely: Wear(2), is_measured: false }), 3);
        assert_eq!((table.most(known), table.likely(known)), (Some(Wear(7)), Some(Wear(2))));
        table.set(known, None, 3);
        assert_eq!((table.most(known), table.likely(known)), (None, None));
    }
}
