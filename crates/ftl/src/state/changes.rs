//! Counts of what the host has changed.

/// Counts of host changes to what is valid.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Changes {
    /// Programs and trims.
    count: u64,
    /// Units of host data that have become stale since they were taken.
    invalidated: u32,
}

impl Changes {
    /// Count of changes: programs and trims.
    #[inline]
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Count a change, if `is_one`.
    #[inline]
    pub(crate) fn note(&mut self, is_one: bool) {
        self.count += u64::from(is_one);
    }

    /// Count `units` of host data that have become stale.
    #[inline]
    pub(crate) fn add_invalidated(&mut self, units: u32) {
        self.invalidated += units;
    }

    /// Take the number of units of host data that have become stale since the last call.
    #[inline]
    pub(crate) fn take_invalidated(&mut self) -> u32 {
        std::mem::take(&mut self.invalidated)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stale_units_are_taken_once_and_changes_stay_counted() {
        let mut changes = Changes::default();
        changes.note(true);
        changes.note(false);
        changes.add_invalidated(3);
        changes.add_invalidated(4);
        assert_eq!([changes.take_invalidated(), changes.take_invalidated()], [7, 0]);
        assert_eq!(changes.count(), 1);
    }
}
