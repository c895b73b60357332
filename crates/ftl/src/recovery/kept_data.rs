//! Data that capacitors have kept of the write buffer.

use std::collections::{BTreeMap, BTreeSet};

use super::flash_reader::Held;
use super::history;
use super::log_found::LogFound;
use super::scan::{Copied, RecoveryScan, lost};
use crate::state::Core;

/// Restore what capacitors have kept of the write buffer: data that flash does not have, and data of which only its own page on flash tells, because the host
/// was promised it. Refused units may have been trimmed or written since, and are left out.
pub(super) fn restore(core: &mut Core, scan: &RecoveryScan) {
    if scan.is_unknown {
        return;
    }
    let mut refused = BTreeMap::new();
    for (lpn, version) in lost::refused_before(scan) {
        let newest = refused.entry(lpn).or_insert(version);
        *newest = version.max(*newest);
    }
    let (failed_dies, failed_at) = history::failed(scan);
    let buffered = scan.log.as_ref().map_or(BTreeSet::new(), LogFound::buffered);
    let is_newest = |lpn: u32, held: &Held| {
        let best = &scan.best[lpn as usize];
        // The version of a copy on a failed die may not be known; but it is not above that.
        let is_failed = |copy: &Copied| !failed_dies.is_empty() && *copy != Copied::NONE && scan.stands[copy.stand as usize].is_dark;
        let was_buffered = || Some(best.version) == scan.tally.checkpoint && buffered.contains(&(lpn, held.version));
        if is_failed(best) && (held.version > failed_at || was_buffered()) {
            return true;
        }
        let is_only_one = || lost::is_lost(scan, best) || !lost::is_sealed(scan, best, core.layout());
        let is_newest = held.version > best.version || (held.version == best.version && *best != Copied::NONE && is_only_one());
        is_newest && refused.get(&lpn).is_none_or(|&version| held.version >= version)
    };
    let mut kept: Vec<(u32, Held)> = scan.held.iter().filter(|(lpn, (_, held))| is_newest(**lpn, held)).map(|(_, &kept)| kept).collect();
    kept.sort_unstable_by_key(|(_, held)| held.version);
    kept.into_iter().for_each(|(slot, held)| core.buffer_mut().restore(slot, held));
}
