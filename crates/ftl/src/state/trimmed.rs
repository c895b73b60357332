//! Units that were trimmed in part: which of their sectors the host has trimmed and not written since.
//!
//! A unit keeps its data until the whole of it is trimmed, and a host may do that in several requests. This table sees when it has.

use std::collections::BTreeMap;

/// Number of units that are remembered at a time. A unit that is forgotten keeps its data until one request trims all of it.
const UNITS_MAX: usize = 1 << 16;

/// The units of one core that are trimmed in part, with a bit for each trimmed sector.
#[derive(Clone, Debug, Default)]
pub(crate) struct TrimmedParts {
    of_unit: BTreeMap<u32, u64>,
}

impl TrimmedParts {
    /// True if no unit is trimmed in part.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.of_unit.is_empty()
    }

    /// Trim `sectors` of `lpn`. Returns all sectors of it that are trimmed now.
    pub(crate) fn trim(&mut self, lpn: u32, sectors: u64) -> u64 {
        if self.of_unit.len() >= UNITS_MAX && !self.of_unit.contains_key(&lpn) {
            self.of_unit.pop_first();
        }
        let trimmed = self.of_unit.entry(lpn).or_default();
        *trimmed |= sectors;
        *trimmed
    }

    /// Note that the host has written `sectors` of `lpn`.
    #[cold]
    pub(crate) fn write(&mut self, lpn: u32, sectors: u64) {
        if let Some(trimmed) = self.of_unit.get_mut(&lpn) {
            *trimmed &= !sectors;
            if *trimmed == 0 {
                self.of_unit.remove(&lpn);
            }
        }
    }

    /// Forget the `count` units from `first`, which are dropped.
    pub(crate) fn forget(&mut self, first: u32, count: u32) {
        while let Some((&lpn, _)) = self.of_unit.range(first..first.saturating_add(count)).next() {
            self.of_unit.remove(&lpn);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_trimmed_adds_up_until_it_is_written_or_dropped() {
        let mut parts = TrimmedParts::default();
        assert!(parts.is_empty());
        assert_eq!([parts.trim(4, 0b0011), parts.trim(5, 0b1000), parts.trim(4, 0b0100)], [0b0011, 0b1000, 0b0111]);
        parts.write(4, 0b0001);
        parts.write(9, 0b1111);
        assert_eq!(parts.trim(4, 0b1000), 0b1110);
        parts.write(5, 0b1000);
        parts.forget(0, 5);
        assert!(parts.is_empty());
        parts.forget(u32::MAX - 1, 9);
    }

    #[test]
    fn there_is_room_for_so_many_units() {
        let mut parts = TrimmedParts::default();
        (0..=UNITS_MAX as u32).for_each(|lpn| _ = parts.trim(lpn, 1));
        assert_eq!([parts.trim(1, 2), parts.trim(UNITS_MAX as u32, 2)], [3, 3]);
        assert_eq!(parts.trim(0, 2), 2, "it was forgotten");
    }
}
