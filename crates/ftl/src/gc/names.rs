//! Units without a name: valid units whose page can be read no more, neither data nor spare area. Their names are in the map alone, and that goes from
//! units to places.
//!
//! The map is looked through once for all that wait, a segment with each report: however large it is, no event waits for it. Until the units of a
//! page have their names, the read of the page counts as under way.

use std::collections::BTreeMap;

use wordline_units::DieId;

use crate::state::layout::{BlockGroup, Layout, UnitAddr};
use crate::state::map::{Map, SEGMENT};

/// A page whose units are being named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Nameless {
    pub die: DieId,
    pub group: BlockGroup,
    /// Offset of a unit of the page, as the read was ordered.
    pub offset: u32,
    /// Units without a name, one bit each.
    pub units: u64,
    /// Logical units of these by their place in the page, once they are known.
    pub names: BTreeMap<u32, u32>,
    /// Number of entries to be looked at before all of the map has been seen since the page came.
    left: u32,
}

/// The search for the names of units.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    pages: Vec<Nameless>,
    /// Addresses that are looked for.
    sought: BTreeMap<UnitAddr, u32>,
    /// Entry of the map that is looked at next.
    cursor: u32,
}

impl Names {
    /// True if units are to be named.
    #[inline]
    pub(crate) fn is_seeking(&self) -> bool {
        !self.pages.is_empty()
    }

    /// Look for the names of `units` of the page that holds `offset` of `group`, one bit each.
    #[cold]
    pub(crate) fn seek(&mut self, map: &Map, layout: &Layout, (group, offset): (BlockGroup, u32), units: u64) {
        let first = layout.page_start(offset);
        self.sought.extend(of(units).map(|unit| (layout.unit(group, first + unit), u32::MAX)));
        self.pages.push(Nameless { die: layout.die(group), group, offset, units, names: BTreeMap::new(), left: map.exported() });
    }

    /// Look at some more entries of the map. Returns a page whose units are known now: a unit without a name is mapped no longer.
    pub(crate) fn step(&mut self, map: &Map, layout: &Layout) -> Option<Nameless> {
        let exported = map.exported();
        let end = exported.min(self.cursor + SEGMENT as u32);
        let mut lpn = map.skip_unmapped(self.cursor);
        while lpn < end {
            if let Some(name) = self.sought.get_mut(&map.get(lpn)) {
                *name = lpn;
            }
            lpn += 1;
        }
        let seen = lpn.max(end) - self.cursor;
        self.cursor = if self.cursor + seen >= exported { 0 } else { self.cursor + seen };
        self.pages.iter_mut().for_each(|page| page.left = page.left.saturating_sub(seen));
        let Names { pages, sought, .. } = self;
        let address = |page: &Nameless, unit: u32| layout.unit(page.group, layout.page_start(page.offset) + unit);
        let is_known = |page: &Nameless| {
            page.left == 0 || of(page.units).all(|unit| sought.get(&address(page, unit)).is_none_or(|&lpn| lpn != u32::MAX))
        };
        let at = pages.iter().position(is_known)?;
        let mut page = pages.remove(at);
        for unit in of(page.units) {
            if let Some(lpn) = sought.remove(&address(&page, unit)).filter(|&lpn| lpn != u32::MAX) {
                page.names.insert(unit, lpn);
            }
        }
        Some(page)
    }

    /// Drop the pages of `die`, which has failed: what is lost there stays where it is. Returns them.
    pub(crate) fn leave(&mut self, die: DieId, layout: &Layout) -> Vec<Nameless> {
        self.sought.retain(|&addr, _| layout.die(layout.group(addr)) != die);
        let (gone, left) = std::mem::take(&mut self.pages).into_iter().partition(|page| page.die == die);
        self.pages = left;
        gone
    }
}

/// The units whose bits are set.
fn of(units: u64) -> impl Iterator<Item = u32> {
    (0..64).filter(move |unit| units >> unit & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::tests::small;

    const GROUP: BlockGroup = BlockGroup(3);

    /// A map of three segments of which units 5, 4,100 and 9,000 lie in one page, and the page's first offset.
    fn map() -> (Map, Layout) {
        let layout = small(64).layout();
        let mut map = Map::new(layout, 3 * SEGMENT as u32);
        [5, 4_100, 9_000].into_iter().zip(0..).for_each(|(lpn, unit)| _ = map.set(lpn, layout.unit(GROUP, 8 + unit)));
        (map, layout)
    }

    #[test]
    fn units_are_named_in_one_pass_that_no_step_makes_alone() {
        let (map, layout) = map();
        let mut names = Names::default();
        names.seek(&map, &layout, (GROUP, 9), 0b111);
        assert!(names.is_seeking());
        assert_eq!(names.step(&map, &layout), None, "a segment at a time");
        let mut steps = 1;
        let page = loop {
            steps += 1;
            if let Some(page) = names.step(&map, &layout) {
                break page;
            }
        };
        assert_eq!((steps, page.names), (3, BTreeMap::from([(0, 5), (1, 4_100), (2, 9_000)])));
        assert!(!names.is_seeking());
    }

    #[test]
    fn a_page_that_comes_late_is_looked_for_from_there_all_around() {
        let (mut map, layout) = map();
        let mut names = Names::default();
        names.seek(&map, &layout, (GROUP, 8), 0b100);
        names.step(&map, &layout);
        names.seek(&map, &layout, (GROUP, 8), 0b001);
        let found: Vec<BTreeMap<u32, u32>> = (0..8).filter_map(|_| names.step(&map, &layout)).map(|page| page.names).collect();
        assert_eq!(found, [BTreeMap::from([(2, 9_000)]), BTreeMap::from([(0, 5)])]);
        // A unit that the host has trimmed meanwhile has no name, and is not waited for.
        names.seek(&map, &layout, (GROUP, 8), 0b001);
        map.clear(5, 1, |_, _| ());
        let found: Vec<_> = (0..4).filter_map(|_| names.step(&map, &layout)).map(|page| page.names.len()).collect();
        assert_eq!(found, [0]);
    }

    #[test]
    fn a_die_that_fails_takes_its_pages_along() {
        let (map, layout) = map();
        let mut names = Names::default();
        names.seek(&map, &layout, (GROUP, 8), 0b001);
        assert_eq!(names.leave(DieId(0), &layout).len(), 1);
        assert!(!names.is_seeking());
    }
}
