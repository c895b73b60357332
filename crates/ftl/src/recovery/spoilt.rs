//! Units of which some sectors are lost: the map points to a page that can be read, and only the mark there names those sectors.
//!
//! A start reads few pages. The units are named by marks in the log, by its checkpoint, and by summaries and pages that are read for another reason; each of
//! them is read once.

use std::collections::BTreeSet;

use super::flash_reader::Reader;
use super::scan::{Copied, RecoveryScan, lost};

/// Reads the newest copy of each unit that may have lost sectors, and returns those that have some.
pub(super) fn find(scan: &mut RecoveryScan, reader: &mut Reader<'_>) -> BTreeSet<u32> {
    let mut spoilt = BTreeSet::new();
    for lpn in candidates(scan) {
        let Some(&copy) = scan.best.get(lpn as usize).filter(|copy| **copy != Copied::NONE && !lost::is_lost(scan, copy)) else { continue };
        let stand = &scan.stands[copy.stand as usize];
        let mark = reader.mark((stand.die, stand.blocks), copy.offset, &mut scan.tally);
        if mark.is_some_and(|mark| mark.lpn.0 == lpn && mark.lost != 0) {
            spoilt.insert(lpn);
        }
    }
    spoilt
}

/// Units of which any copy that was seen has lost sectors.
fn candidates(scan: &RecoveryScan) -> BTreeSet<u32> {
    scan.stands.iter().flat_map(|stand| stand.seen.spoilt()).chain(scan.sealed.spoilt()).collect()
}
