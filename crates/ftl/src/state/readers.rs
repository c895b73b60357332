//! Reads of pages that are queued or under way, counted by page. A sanitiser must not touch a page that somebody is still to be given.

use std::collections::BTreeMap;

use crate::state::layout::UnitAddr;

/// Numbers of the reads of each page.
#[derive(Clone, Debug)]
pub(crate) struct Readers {
    /// Reads by the first unit of their page; `None`: no technique needs them.
    of_page: Option<BTreeMap<UnitAddr, u32>>,
}

impl Readers {
    /// Creates the counts of a core without reads. `is_on`: reads are counted.
    pub(crate) fn new(is_on: bool) -> Readers {
        Readers { of_page: is_on.then(BTreeMap::new) }
    }

    /// True if reads are counted.
    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        self.of_page.is_some()
    }

    /// Count one more read of the page that begins at `first`.
    pub(crate) fn begin(&mut self, first: UnitAddr) {
        if let Some(pages) = &mut self.of_page {
            *pages.entry(first).or_insert(0) += 1;
        }
    }

    /// End a read of the page that begins at `first`. Returns true if no other read of it is left.
    pub(crate) fn end(&mut self, first: UnitAddr) -> bool {
        let Some(pages) = &mut self.of_page else { return false };
        let count = pages.get_mut(&first).expect("it has begun");
        *count -= 1;
        let is_last = *count == 0;
        if is_last {
            pages.remove(&first);
        }
        is_last
    }

    /// True if one of the pages that begin at `starts` is being read.
    pub(crate) fn has(&self, mut starts: impl Iterator<Item = UnitAddr>) -> bool {
        let pages = self.of_page.as_ref().filter(|pages| !pages.is_empty());
        pages.is_some_and(|pages| starts.any(|start| pages.contains_key(&start)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_read_until_the_last_of_its_reads_has_ended() {
        let mut readers = Readers::new(true);
        let (page, other) = (UnitAddr(4), UnitAddr(8));
        readers.begin(page);
        readers.begin(page);
        readers.begin(other);
        assert!(!readers.end(page) && readers.has([UnitAddr(0), page].into_iter()));
        assert!(readers.end(page) && !readers.has([page].into_iter()) && readers.has([other].into_iter()));
    }

    #[test]
    fn where_nobody_asks_nothing_is_counted() {
        let mut readers = Readers::new(false);
        readers.begin(UnitAddr(4));
        assert!(!readers.is_on() && !readers.has([UnitAddr(4)].into_iter()) && !readers.end(UnitAddr(4)));
    }
}
