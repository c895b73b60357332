//! Ruined pages: their program failed or was abandoned, they have rotted in their store, or they were given up.

use std::collections::BTreeSet;

use crate::place::Place;

/// Ruined pages. They are few, so the hot paths only ask whether there are any.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ruined(BTreeSet<Place>);

impl Ruined {
    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    #[inline(always)]
    pub(crate) fn has(&self, place: Place) -> bool {
        !self.0.is_empty() && self.0.contains(&place)
    }

    /// True if a page of a block is ruined.
    pub(crate) fn has_in(&self, block: u32) -> bool {
        self.0.range(Place { block, page: 0 }..Place { block: block + 1, page: 0 }).next().is_some()
    }

    pub(crate) fn insert(&mut self, place: Place) {
        self.0.insert(place);
    }

    /// A block is erased.
    #[inline]
    pub(crate) fn erase(&mut self, block: u32) {
        if !self.0.is_empty() {
            self.0.retain(|place| place.block != block);
        }
    }

    /// Block and page of each, for an image.
    pub(crate) fn image(&self) -> Vec<(u32, u32)> {
        self.0.iter().map(|place| (place.block, place.page)).collect()
    }

    /// The pages of an image.
    pub(crate) fn restored(pages: Vec<(u32, u32)>) -> Ruined {
        Ruined(pages.into_iter().map(|(block, page)| Place { block, page }).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_erase_ends_the_ruin_of_its_block_alone() {
        let mut ruined = Ruined::restored(vec![(1, 5), (2, 0), (2, 9)]);
        assert!(ruined.has(Place { block: 2, page: 9 }) && !ruined.has(Place { block: 2, page: 8 }));
        assert!(ruined.has_in(2) && !ruined.has_in(0));
        ruined.erase(2);
        assert!(!ruined.has_in(2) && ruined.has_in(1));
        ruined.insert(Place { block: 0, page: 1 });
        assert_eq!(ruined.image(), [(0, 1), (1, 5)]);
    }
}
