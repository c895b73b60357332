//! What reads wait for: units whose newest copy was on flash alone when the read came.
//!
//! A read is answered once pages that were sensed to their end have brought all of them. A unit that is written or trimmed meanwhile is owed no more: the read
//! may find it in the buffer. Nor is anything owed to a read that fails, or that the power takes.
//! Does not check: that the page which brought a unit held its newest copy, or was sensed for this read.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Reads under way, each with the units that no page has brought yet.
#[derive(Clone, Debug, Default)]
pub(super) struct Owed(BTreeMap<u32, BTreeSet<u32>>);

impl Owed {
    /// The read `request` has come, and is owed `units`.
    pub(super) fn ask(&mut self, request: u32, units: impl Iterator<Item = u32>) {
        self.0.insert(request, units.collect());
    }

    /// Units of `lpns` are written or trimmed.
    pub(super) fn overtake(&mut self, lpns: Range<u32>) {
        self.0.values_mut().for_each(|units| units.retain(|lpn| !lpns.contains(lpn)));
    }

    /// A page has brought `lpn`.
    pub(super) fn bring(&mut self, lpn: u32) {
        self.0.values_mut().for_each(|units| _ = units.remove(&lpn));
    }

    /// The read `request` is answered. Returns a unit that nothing has brought, if there is one.
    pub(super) fn answer(&mut self, request: u32) -> Option<u32> {
        self.0.remove(&request)?.first().copied()
    }

    /// The power goes.
    pub(super) fn cut(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_is_owed_what_was_on_flash_alone_until_a_page_brings_it_or_it_is_overtaken() {
        let mut owed = Owed::default();
        owed.ask(1, 4..8);
        owed.ask(2, 6..7);
        owed.bring(6);
        owed.overtake(4..5);
        assert_eq!([owed.answer(2), owed.answer(1), owed.answer(1)], [None, Some(5), None]);
        owed.ask(3, 0..1);
        owed.cut();
        assert_eq!(owed.answer(3), None);
    }
}
