//! Lost sectors: those whose data could not be read when it had to be moved or completed, in a core that stores no bytes.
//!
//! What is lost stays lost, however often its unit is moved, until the host writes it anew or trims it. A core that stores bytes has this in the marks of its
//! flash pages.

use std::collections::BTreeMap;

/// The lost sectors of one core, by logical unit: one bit for each sector.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct LostSectors {
    of_unit: BTreeMap<u32, u64>,
}

impl LostSectors {
    /// Lost sectors of `lpn`.
    pub(crate) fn of(&self, lpn: u32) -> u64 {
        self.of_unit.get(&lpn).copied().unwrap_or(0)
    }

    /// Set the lost sectors of `lpn`, as its newest copy on flash has them.
    pub(crate) fn set(&mut self, lpn: u32, sectors: u64) {
        if sectors == 0 {
            self.of_unit.remove(&lpn);
        } else {
            self.of_unit.insert(lpn, sectors);
        }
    }

    /// Forget the `count` units from `first`, which were trimmed.
    pub(crate) fn forget(&mut self, first: u32, count: u32) {
        let gone: Vec<u32> = self.of_unit.range(first..first.saturating_add(count)).map(|(&lpn, _)| lpn).collect();
        gone.iter().for_each(|lpn| _ = self.of_unit.remove(lpn));
    }

    /// Greatest unit with lost sectors.
    pub(crate) fn last(&self) -> Option<u32> {
        self.of_unit.last_key_value().map(|(&lpn, _)| lpn)
    }

    /// All units with lost sectors, and those.
    pub(crate) fn all(&self) -> impl Iterator<Item = (u32, u64)> {
        self.of_unit.iter().map(|(&lpn, &sectors)| (lpn, sectors))
    }

    /// Number of units with lost sectors.
    pub(crate) fn count(&self) -> usize {
        self.of_unit.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_lost_stays_so_until_it_is_written_or_trimmed() {
        let mut lost = LostSectors::default();
        [(3, 0b11), (4, 0b100), (9, 1)].into_iter().for_each(|(lpn, sectors)| lost.set(lpn, sectors));
        assert_eq!(([3, 4, 5, 9].map(|lpn| lost.of(lpn)), lost.count(), lost.last()), ([0b11, 0b100, 0, 1], 3, Some(9)));
        lost.set(3, 0b01);
        lost.set(4, 0);
        lost.forget(5, 10);
        assert_eq!(([3, 4, 9].map(|lpn| lost.of(lpn)), lost.count()), ([0b01, 0, 0], 1));
        lost.forget(u32::MAX - 1, 10);
    }
}
