//! Sums of what a core has programmed, where a technique asks for them.

use crate::state::work::Entry;

/// Sums of what a core has programmed since it started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Units of the host's new data.
    pub host: u64,
    /// Units of all program units that hold data.
    pub programmed: u64,
}

impl Written {
    /// Counts a program unit of so many `units` that was programmed with `batch`, or copied if that is empty.
    pub(crate) fn count(&mut self, batch: &[Entry], units: u32) {
        self.host += batch.iter().filter(|entry| matches!(entry, Entry::Host { .. })).count() as u64;
        self.programmed += u64::from(units);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::layout::UnitAddr;
    use crate::state::work::Moved;

    #[test]
    fn units_of_the_host_are_counted_apart() {
        let moved = Entry::Moved(Moved { lpn: 3, from: UnitAddr::NONE });
        let mut written = Written::default();
        written.count(&[Entry::Host { slot: 1 }, Entry::Host { slot: 2 }, moved, Entry::Padding], 4);
        written.count(&[moved; 4], 4);
        written.count(&[], 4);
        assert_eq!(written, Written { host: 2, programmed: 12 });
    }
}
