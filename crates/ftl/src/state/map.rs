//! The map from logical units to where they lie, for drives of any size.
//!
//! The logical space is cut into segments of 4,096 units. A segment is stored as what it is: nothing, the regular pattern of a sequential fill, one
//! entry per page where whole pages were written, or one entry per unit. A 32-TB drive that was filled in order costs 16 bytes per segment until it
//! is written, and one filled page by page in any order costs four bytes per page.

use wordline_units::memory::prefetch;

use crate::state::layout::{Layout, UnitAddr};

pub(crate) const SEGMENT_BITS: u32 = 12;
pub(crate) const SEGMENT: usize = 1 << SEGMENT_BITS;

#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) enum Segment {
    /// Segment without a mapped unit.
    Unmapped,
    /// Segment in the pattern of [`Layout::regular`].
    Regular,
    /// Address of the first unit of each page-sized run; the others follow it.
    Pages(Box<[UnitAddr]>),
    /// Address of each unit.
    Units(Box<[UnitAddr]>),
}

/// The logical-to-physical map of one core.
#[derive(Clone, Debug)]
pub struct Map {
    layout: Layout,
    segments: Vec<Segment>,
    exported: u32,
}

impl Map {
    /// Creates an empty map of `exported` units.
    pub fn new(layout: Layout, exported: u32) -> Map {
        let segments = vec![Segment::Unmapped; (exported as usize).div_ceil(SEGMENT)];
        Map { layout, segments, exported }
    }

    /// Image of the map as plain data.
    pub(crate) fn image(&self) -> Vec<Segment> {
        self.segments.clone()
    }

    /// Restore the map from `segments`, which the caller has checked.
    pub(crate) fn restore(&mut self, segments: Vec<Segment>) {
        self.segments = segments;
    }

    /// Number of units exported to the host.
    pub fn exported(&self) -> u32 {
        self.exported
    }

    /// Address of `lpn`; [`UnitAddr::NONE`] if it was never written or was trimmed.
    #[inline]
    pub fn get(&self, lpn: u32) -> UnitAddr {
        let (segment, index) = locate(lpn);
        match &self.segments[segment] {
            Segment::Units(units) => units[index],
            Segment::Unmapped => UnitAddr::NONE,
            Segment::Regular => self.layout.regular(lpn),
            Segment::Pages(pages) => self.in_page(pages, index),
        }
    }

    /// Prefetch the entry of `lpn`, because it will be read soon: its cache miss is the greatest single cost of a flash page.
    #[inline]
    pub fn prefetch(&self, lpn: u32) {
        let (segment, index) = locate(lpn);
        if let Segment::Units(units) = &self.segments[segment] {
            prefetch(&units[index]);
        }
    }

    /// Map `lpn` to `addr`. Returns its address before.
    #[inline]
    pub fn set(&mut self, lpn: u32, addr: UnitAddr) -> UnitAddr {
        let (segment, index) = locate(lpn);
        if let Segment::Units(units) = &mut self.segments[segment] {
            return std::mem::replace(&mut units[index], addr);
        }
        let before = self.get(lpn);
        if before != addr {
            self.as_units_mut(segment)[index] = addr;
        }
        before
    }

    /// Map a whole page's run of units to `addr` and the addresses after it. The run starts at `lpn`, which must be a multiple of the page's units.
    /// `before` is called with the former address of every unit.
    #[inline]
    pub fn set_page(&mut self, lpn: u32, addr: UnitAddr, mut before: impl FnMut(UnitAddr)) {
        let count = self.layout.units_per_page;
        let (segment, index) = locate(lpn);
        for unit in 0..count {
            before(self.get(lpn + unit));
        }
        if let Segment::Units(units) = &mut self.segments[segment] {
            for unit in 0..count {
                units[index + unit as usize] = UnitAddr(addr.0 + unit);
            }
            return;
        }
        let page = index / count as usize;
        self.as_pages_mut(segment)[page] = addr;
    }

    /// Unmap `count` units from `lpn`. `before` is called with the former address of each mapped one. Segments that hold nothing cost nothing.
    pub fn clear(&mut self, lpn: u32, count: u32, mut before: impl FnMut(u32, UnitAddr)) {
        let end = lpn + count;
        let mut at = lpn;
        while at < end {
            let (segment, index) = locate(at);
            let stop = end.min(((segment + 1) << SEGMENT_BITS) as u32);
            if self.segments[segment] != Segment::Unmapped {
                for unit in at..stop {
                    let addr = self.get(unit);
                    if addr != UnitAddr::NONE {
                        before(unit, addr);
                    }
                }
                if index == 0 && stop - at == SEGMENT as u32 {
                    self.segments[segment] = Segment::Unmapped;
                } else {
                    let units = self.as_units_mut(segment);
                    for unit in at..stop {
                        units[unit as usize % SEGMENT] = UnitAddr::NONE;
                    }
                }
            }
            at = stop;
        }
    }

    /// Map the first `count` units as written once in order: nothing is stored for whole segments.
    pub fn fill_regular(&mut self, count: u32) {
        for segment in 0..self.segments.len() {
            let first = (segment << SEGMENT_BITS) as u32;
            if first + SEGMENT as u32 <= count {
                self.segments[segment] = Segment::Regular;
            } else {
                for lpn in first..count {
                    let addr = self.layout.regular(lpn);
                    self.set(lpn, addr);
                }
            }
        }
    }

    /// Number of mapped units. It walks the whole map, for audits.
    pub fn mapped(&self) -> u64 {
        (0..self.exported).filter(|&lpn| self.get(lpn) != UnitAddr::NONE).count() as u64
    }

    /// First unit from `lpn` on that may be mapped; the end of the map where none is. It skips segments that hold nothing.
    pub fn skip_unmapped(&self, lpn: u32) -> u32 {
        let (segment, _) = locate(lpn);
        let empty = self.segments[segment.min(self.segments.len())..].iter().take_while(|&segment| *segment == Segment::Unmapped).count();
        if empty == 0 { lpn } else { self.exported.min(((segment + empty) << SEGMENT_BITS) as u32) }
    }

    /// Memory that the map takes, in bytes.
    pub fn bytes(&self) -> usize {
        let dense: usize = self
            .segments
            .iter()
            .map(|segment| match segment {
                Segment::Unmapped | Segment::Regular => 0,
                Segment::Pages(entries) | Segment::Units(entries) => entries.len() * size_of::<UnitAddr>(),
            })
            .sum();
        dense + self.segments.len() * size_of::<Segment>()
    }

    #[inline]
    fn in_page(&self, pages: &[UnitAddr], index: usize) -> UnitAddr {
        let count = self.layout.units_per_page as usize;
        let first = pages[index / count];
        if first == UnitAddr::NONE { first } else { UnitAddr(first.0 + (index % count) as u32) }
    }

    #[cold]
    fn as_units_mut(&mut self, segment: usize) -> &mut [UnitAddr] {
        let units: Option<Box<[UnitAddr]>> = match &self.segments[segment] {
            Segment::Units(_) => None,
            Segment::Unmapped => Some(vec![UnitAddr::NONE; SEGMENT].into()),
            Segment::Regular => Some(self.layout.regular_run((segment << SEGMENT_BITS) as u32).take(SEGMENT).collect()),
            Segment::Pages(pages) => Some((0..SEGMENT).map(|index| self.in_page(pages, index)).collect()),
        };
        if let Some(units) = units {
            self.segments[segment] = Segment::Units(units);
        }
        match &mut self.segments[segment] {
            Segment::Units(units) => units,
            Segment::Unmapped | Segment::Regular | Segment::Pages(_) => unreachable!("just made"),
        }
    }

    fn as_pages_mut(&mut self, segment: usize) -> &mut [UnitAddr] {
        // A regular fill keeps the units of a page together, so its segments become pages without loss.
        let step = self.layout.units_per_page as usize;
        let pages: Option<Box<[UnitAddr]>> = match &self.segments[segment] {
            Segment::Pages(_) | Segment::Units(_) => None,
            Segment::Unmapped => Some(vec![UnitAddr::NONE; SEGMENT / step].into()),
            Segment::Regular => Some(self.layout.regular_run((segment << SEGMENT_BITS) as u32).take(SEGMENT).step_by(step).collect()),
        };
        if let Some(pages) = pages {
            self.segments[segment] = Segment::Pages(pages);
        }
        match &mut self.segments[segment] {
            Segment::Pages(pages) => pages,
            Segment::Unmapped | Segment::Regular | Segment::Units(_) => unreachable!("just made"),
        }
    }
}

#[inline]
fn locate(lpn: u32) -> (usize, usize) {
    ((lpn >> SEGMENT_BITS) as usize, lpn as usize % SEGMENT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::layout::tests::small_sheet;
    use proptest::prelude::*;
    use std::collections::BTreeMap;
    use wordline_flash::ProgramScope;
    use wordline_units::Bytes;

    fn layout() -> Layout {
        Layout::new(&small_sheet(2, 64, ProgramScope::Page), 4, 64, Bytes::kib(4))
    }

    proptest! {
        #[test]
        fn the_map_equals_a_btree_under_random_changes(
            filled in 0u32..12_000,
            steps in prop::collection::vec((0u8..4, 0u32..12_200, 0u32..20_000), 1..200),
        ) {
            let layout = layout();
            let exported = 12_288;
            let mut map = Map::new(layout, exported);
            map.fill_regular(filled);
            let mut twin: BTreeMap<u32, UnitAddr> = (0..filled).map(|lpn| (lpn, layout.regular(lpn))).collect();
            for (what, lpn, value) in steps {
                match what {
                    0 => {
                        let before = map.set(lpn, UnitAddr(value));
                        prop_assert_eq!(twin.insert(lpn, UnitAddr(value)).unwrap_or(UnitAddr::NONE), before);
                    }
                    1 => {
                        let first = lpn / 4 * 4;
                        let mut heard = Vec::new();
                        map.set_page(first, UnitAddr(value), |addr| heard.push(addr));
                        for unit in 0..4 {
                            let before = twin.insert(first + unit, UnitAddr(value + unit)).unwrap_or(UnitAddr::NONE);
                            prop_assert_eq!(heard[unit as usize], before);
                        }
                    }
                    2 => {
                        let count = value.min(exported - lpn);
                        map.clear(lpn, count, |unit, addr| assert_eq!(twin.remove(&unit), Some(addr)));
                        prop_assert!(twin.range(lpn..lpn + count).next().is_none());
                    }
                    _ => prop_assert_eq!(map.get(lpn), twin.get(&lpn).copied().unwrap_or(UnitAddr::NONE)),
                }
                if lpn < exported {
                    let next = twin.range(lpn..).next().map_or(exported, |(&lpn, _)| lpn);
                    prop_assert!((lpn..=next).contains(&map.skip_unmapped(lpn)));
                }
            }
            prop_assert_eq!(map.mapped(), twin.len() as u64);
            prop_assert!((0..exported).all(|lpn| map.get(lpn) == twin.get(&lpn).copied().unwrap_or(UnitAddr::NONE)));
        }
    }

    #[test]
    fn segments_cost_what_they_hold() {
        let mut map = Map::new(layout(), 12_288);
        let empty = map.bytes();
        assert_eq!(map.skip_unmapped(1), 12_288, "what holds nothing is not looked at");
        map.fill_regular(12_288);
        assert_eq!(map.bytes(), empty, "a regular fill is free");
        map.set_page(0, UnitAddr(9_000), |_| ());
        assert_eq!(map.bytes(), empty + SEGMENT / 4 * 4, "a page written whole costs a quarter of its units");
        map.set(5, UnitAddr(9_100));
        assert_eq!(map.bytes(), empty + SEGMENT * 4);
    }
}
