//! The wear of each block group, as techniques tell it: what the free-block slot, the retirement slot and techniques rank groups by.

use wordline_units::Wear;

use crate::state::layout::BlockGroup;

/// Number in the table for a group of which nobody tells the wear.
const UNKNOWN: u16 = u16::MAX;

/// Wear of all groups of a core; empty until a technique tells one.
#[derive(Clone, Debug, Default)]
pub(crate) struct WearTable {
    of: Vec<u16>,
}

impl WearTable {
    /// Wear of `group`; `None`: nobody tells it.
    #[inline]
    pub(crate) fn get(&self, group: BlockGroup) -> Option<Wear> {
        self.of.get(group.index()).copied().filter(|&wear| wear != UNKNOWN).map(Wear)
    }

    /// Set the wear of `group`, of `groups` in all. More than can be written down counts as the most.
    pub(crate) fn set(&mut self, group: BlockGroup, wear: Option<Wear>, groups: usize) {
        if wear.is_some() && self.of.is_empty() {
            self.of.resize(groups, UNKNOWN);
        }
        if let Some(of) = self.of.get_mut(group.index()) {
            *of = wear.map_or(UNKNOWN, |Wear(wear)| wear.min(UNKNOWN - 1));
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
        assert_eq!((table.of.len(), table.get(known)), (0, None), "nobody has told anything");
        table.set(known, Some(Wear(u16::MAX)), 3);
        assert_eq!((table.get(known), table.get(other)), (Some(Wear(u16::MAX - 1)), None));
        table.set(known, Some(Wear(7)), 3);
        assert_eq!(table.get(known), Some(Wear(7)));
        table.set(known, None, 3);
        assert_eq!(table.get(known), None);
    }
}
