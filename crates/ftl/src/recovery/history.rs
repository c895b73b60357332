//! History of a core over all its starts, and its refused units: both stand in the journal's snapshots.

use wordline_units::DieId;

use super::JournalFound;
use super::scan::{Copied, RecoveryScan, lost};
use crate::metadata::Metadata;
use crate::pages::journal::{Facts, History, WrittenMemo, set_of};
use crate::state::Core;
use crate::state::failures;
use crate::state::layout::UnitAddr;
use crate::state::refused::Refused;

/// Failed dies, and the version that no copy on them is above.
pub(super) fn failed(scan: &RecoveryScan) -> (Vec<DieId>, u64) {
    let last = lost::last_history(scan);
    (lost::dark_dies(scan), if lost::has_newly_failed(scan) { last.failed_at.max(scan.version) } else { last.failed_at })
}

/// Resume the core's history, as the journal has it.
pub(super) fn resume(metadata: &mut Metadata, scan: &mut RecoveryScan, journal: Option<&JournalFound>) {
    let last = lost::last_history(scan);
    let is_clean = last.is_clean && last.version >= scan.version;
    scan.tally.is_clean = is_clean;
    let failed = failed(scan);
    // A drive that was never used has nothing to be cut off from.
    let is_used = journal.is_some() || scan.version > 0;
    metadata.resume_history(History {
        version: 0,
        starts: last.starts.max(u64::from(is_used)) + 1,
        unsafe_shutdowns: last.unsafe_shutdowns + u64::from(is_used && !is_clean),
        units_lost: scan.tally.lost,
        failed_dies: set_of(failed.0),
        failed_at: failed.1,
        is_clean: false,
        ..last
    });
}

/// Refuse what nobody can tell to be the newest: now, or as the journal says since an earlier start.
pub(super) fn refuse(core: &mut Core, metadata: &mut Metadata, scan: &RecoveryScan) {
    let exported = core.map().exported();
    let mut refused = Refused::none(exported);
    for (lpn, version) in lost::refused_before(scan).filter(|&(lpn, version)| lost::newest_version(scan, lpn) < version) {
        refused.add(lpn, version);
    }
    if scan.is_unknown {
        let version = core.buffer_mut().next_version();
        (0..exported).for_each(|lpn| refused.add(lpn, version));
    }
    let is_any = refused.count() > 0;
    if is_any {
        core.refuse(refused);
        failures::found_refused(core);
    }
    // The log begins its next checkpoint with them, before it lets go of what was found of it.
    if scan.log.is_none() && (is_any || scan.in_force.len() + scan.never_held.len() > 1) {
        // What has led to this, or a generation of the journal whose marks the next did not bring down, must not be erased before it is written down.
        let version = core.buffer_mut().next_version();
        metadata.journal_mut().expect("the core keeps data").snapshot_at(version);
    }
}

/// Memos of techniques in the journal's generation.
pub(super) fn memos(scan: &RecoveryScan, journal: Option<&JournalFound>) -> Vec<WrittenMemo> {
    let pages = journal.map_or(&[][..], |journal| &scan.stands[journal.stand].journal);
    let of_page = |facts: &Facts| match facts {
        Facts::Memos(memos) => memos.clone(),
        Facts::Records(_) | Facts::Unmapped { .. } | Facts::Marks(_) | Facts::Refused { .. } | Facts::History(_) => Vec::new(),
    };
    let of_generation =
        pages.iter().filter(|page| journal.is_some_and(|journal| page.generation == journal.generation)).map(|page| &page.facts);
    of_generation.chain(scan.log.iter().flat_map(|log| log.facts())).flat_map(of_page).collect()
}

/// Note the units whose newest copy lies in a page that cannot be read, as far as that was looked at.
pub(super) fn note_lost(core: &mut Core, scan: &RecoveryScan) {
    let lost = (0..).zip(&scan.best).filter(|(_, copy)| **copy != Copied::NONE && lost::is_lost(scan, copy)).map(|(lpn, _)| lpn);
    let units: Vec<u32> = lost.filter(|&lpn| core.map().get(lpn) != UnitAddr::NONE && !core.is_lost(core.map().get(lpn))).collect();
    if !units.is_empty() {
        failures::found_unreadable(core, units);
    }
}
