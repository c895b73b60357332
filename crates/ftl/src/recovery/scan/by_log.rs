//! The scan of a core with a map log. The log tells where every unit lies that was durable; pages are read for what came after it alone.
//!
//! 1. A unit lies where the last record says that names it, or where the checkpoint says.
//! 2. A copy that is newer than the one in that place counts: its program had ended, and its record was not on flash yet. Of units that hold nothing the
//!    checkpoint says so, as a trim does.
//! 3. A unit whose place cannot be read is lost, unless another copy of the same version can be.
//! 4. Where the log is not whole, nobody knows what followed what: all units are refused.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use wordline_units::DieId;

use super::{Copied, Look, RecoveryScan, Until, is_set, lost};
use crate::config::{Config, Protection};
use crate::dispatch::Rooms;
use crate::pages::checkpoint::Said;
use crate::pages::map_log::{Body, LogPage};
use crate::pages::oob::{MarkCopy, ProgramMarks};
use crate::recovery::Trust;
use crate::recovery::flash_reader::{Found, Reader};
use crate::recovery::keys::KeysFound;
use crate::recovery::log_found::LogFound;
use crate::state::data::JOURNAL;
use crate::state::layout::{BlockGroup, Layout};

/// Read the flash of a core: the log first, then what the log leaves open. With `Trust::Marks` all pages are read.
pub(super) fn gather(mut scan: RecoveryScan, config: &Config, fresh: &Rooms, reader: &mut Reader<'_>, trust: Trust) -> RecoveryScan {
    let (all, layout) = (0..scan.stands.len(), *fresh.core.layout());
    scan.keys = fresh.sanitise.keys().map(|keys| KeysFound::gather(keys, &scan.stands, reader));
    all.clone().for_each(|stand| scan.read_records(stand, reader));
    for stand in all.clone() {
        scan.look_at_first(stand, reader);
        if scan.stands[stand].look == Look::Unclear {
            look_for_log(&mut scan, stand, reader);
        }
    }
    let log = LogFound::of(scan.log_pages.take().unwrap_or_default());
    scan.is_unknown = !log.is_whole;
    scan.in_force.clear();
    scan.log = Some(log);
    lost::look_at_kept(&mut scan, config, reader);
    adopt_erases(&mut scan, &layout);
    place(&mut scan, &layout, trust);
    let until = if config.sheet.capabilities.any_order { Until::TheEnd } else { Until::Erased };
    for stand in all.clone() {
        match scan.stands[stand].look {
            Look::Done => {}
            _ if trust.reads_all() => scan.look_at(stand, reader, Until::TheEnd),
            Look::Data | Look::Unclear => scan.look_at(stand, reader, until),
            Look::Blank => scan.look_behind(stand, reader),
        }
    }
    forget_keyless(&mut scan);
    weigh_again(&mut scan);
    all.for_each(|stand| find_unsealed(&mut scan, stand, &layout));
    find_lost(&mut scan, reader);
    lost::doubt_refused(&mut scan);
    if config.buffer.protection == Protection::Capacitor {
        scan.look_at_buffer(config.buffer.units, reader);
    }
    scan.resolve(reader);
    scan.look_for_room(reader);
    find_lost(&mut scan, reader);
    scan
}

/// Take in a page of the log, unless all of them have been read before.
pub(super) fn read(scan: &mut RecoveryScan, number: usize, bytes: &[u8]) {
    if scan.log_pages.is_none() {
        return;
    }
    let Some(page) = LogPage::read(bytes) else { return };
    match &page.body {
        Body::Facts(facts) => scan.note_version(facts),
        Body::Checkpoint(page) => scan.version = scan.version.max(page.number),
    }
    if let Some(pages) = &mut scan.log_pages {
        pages.add(number, page);
    }
}

/// Read pages of the log in stand `number`, of which the first program unit cannot be read.
fn look_for_log(scan: &mut RecoveryScan, number: usize, reader: &mut Reader<'_>) {
    for program in 0..reader.layout.programs {
        for place in reader.places(scan.stands[number].die, scan.stands[number].blocks, program) {
            let is_log = reader.page(place, &mut scan.tally) == Found::Whole && reader.marks[0].lpn == JOURNAL;
            if is_log {
                scan.read_page(number, place, reader);
            }
        }
    }
}

/// Give the blocks of dies that have failed the erase counts that the log last had of them: a die that is missing has none to show, and an entry of an earlier
/// filling does no harm, because later ones follow it.
fn adopt_erases(scan: &mut RecoveryScan, layout: &Layout) {
    let dark = lost::dark_dies(scan);
    let Some(log) = scan.log.as_ref().filter(|_| !dark.is_empty()) else { return };
    let mut newest: BTreeMap<(DieId, [u16; 4]), u32> = BTreeMap::new();
    let mut note = |at: (DieId, [u16; 4]), erases: u32| {
        let known = newest.entry(at).or_default();
        *known = erases.max(*known);
    };
    let kept = scan.kept_marks.iter().map(|(_, record)| record);
    log.records().chain(kept).for_each(|record| note((DieId(record.filling.die), record.filling.blocks), record.filling.erases));
    for page in log.checkpoint().into_iter().flat_map(|(_, pages)| pages) {
        let Said::Groups { first, groups } = page.said else { continue };
        let known = (first..).map(BlockGroup).zip(groups).filter_map(|(group, known)| Some((group, known?)));
        known.for_each(|(group, known)| note((layout.die(group), known.blocks), known.erases));
    }
    for stand in scan.stands.iter_mut().filter(|stand| dark.contains(&stand.die)) {
        stand.erases = newest.get(&(stand.die, stand.blocks)).map_or(stand.erases, |&erases| erases.max(stand.erases));
    }
}

/// Set the place of each unit by the log's checkpoint, and then by its records.
fn place(scan: &mut RecoveryScan, layout: &Layout, trust: Trust) {
    let log = scan.log.as_ref().expect("it has just been read");
    let (checkpoint, records, begun) =
        (log.checkpoint(), log.records().cloned().collect::<Vec<_>>(), log.resumed.whole.map_or(0, |_| log.resumed.begun));
    // Marks that capacitors kept are in the checkpoint, in a record, or landed after the last page of the log.
    let mut kept: Vec<(u64, ProgramMarks)> = std::mem::take(&mut scan.kept_marks);
    kept.retain(|(serial, record)| *serial > begun && !log.tells(record.filling, record.program));
    kept.sort_by_key(|(serial, _)| *serial);
    scan.kept_marks.clone_from(&kept);
    if let Some((number, pages)) = checkpoint {
        scan.apply_pages(number, &pages, layout);
    }
    if trust.reads_all() {
        scan.stands.iter_mut().filter(|stand| stand.is_settled).for_each(|stand| (stand.look, stand.is_settled) = (Look::Data, false));
    }
    let stands = stands_by_filling(scan);
    for (record, is_kept) in records.iter().map(|record| (record, false)).chain(kept.iter().map(|(_, record)| (record, true))) {
        let filling = record.filling;
        let Some(&stand) = stands.get(&(filling.die, filling.blocks, filling.erases)) else { continue };
        for (offset, mark) in (record.program * layout.units_per_program..).zip(&record.marks) {
            let Some(best) = scan.best.get_mut(mark.lpn as usize) else { continue };
            scan.version = scan.version.max(mark.version);
            if is_kept && !is_set(&scan.assumed, mark.lpn) && mark.version < best.version {
                continue;
            }
            scan.assumed[mark.lpn as usize / 64] &= !(1 << (mark.lpn % 64));
            *best = Copied { version: mark.version, stand, offset };
        }
    }
    scan.sealed.learn(records);
}

/// Forget the places of units whose keys are gone: nobody can read them, and what made them stale may not have come to the log. The newest of the other copies
/// that were read takes such a place.
fn forget_keyless(scan: &mut RecoveryScan) {
    let RecoveryScan { keys: Some(keys), best, assumed, stands, doubtful, twins, .. } = scan else { return };
    let mut keyless = BTreeSet::new();
    for (lpn, best) in (0..).zip(best.iter_mut()).filter(|(_, best)| **best != Copied::NONE) {
        if !keys.has(best.stand as usize, &stands[best.stand as usize], best.offset) {
            *best = Copied::NONE;
            assumed[lpn as usize / 64] &= !(1 << (lpn % 64));
            keyless.insert(lpn);
        }
    }
    let others = twins.iter().chain(doubtful.iter()).filter(|(lpn, copy)| *copy != Copied::NONE && keyless.contains(lpn));
    for &(lpn, copy) in others {
        let best = &mut best[lpn as usize];
        if *best == Copied::NONE || copy.version > best.version {
            *best = copy;
        }
    }
}

/// Weigh the copies that were read before the version of their unit's place was.
fn weigh_again(scan: &mut RecoveryScan) {
    let RecoveryScan { doubtful, twins, best, assumed, .. } = scan;
    doubtful.retain(|&(lpn, copy)| {
        let is_open = is_set(assumed, lpn);
        let best = &mut best[lpn as usize];
        if !is_open && copy != Copied::NONE {
            match copy.version.cmp(&best.version) {
                Ordering::Greater => *best = copy,
                Ordering::Equal => twins.push((lpn, copy)),
                Ordering::Less => {}
            }
        }
        is_open
    });
}

/// Lists of copies that are not the best of their units as far as is known: those that may be older or newer, and those of the same version.
pub(super) struct Others<'a> {
    pub(super) doubtful: &'a mut Vec<(u32, Copied)>,
    pub(super) twins: &'a mut Vec<(u32, Copied)>,
}

/// Weigh `copy` of `lpn`, which was read, against `best`.
pub(super) fn weigh(lpn: u32, copy: Copied, best: &mut Copied, assumed: &mut [u64], is_best_lost: bool, others: &mut Others<'_>) {
    if (best.stand, best.offset) == (copy.stand, copy.offset) {
        // A place in the checkpoint may be of a unit that was written after the checkpoint's begin, and after a trim.
        if is_set(assumed, lpn) {
            assumed[lpn as usize / 64] &= !(1 << (lpn % 64));
            best.version = copy.version;
        }
        return;
    }
    if copy.version > best.version {
        assumed[lpn as usize / 64] &= !(1 << (lpn % 64));
        *best = copy;
    } else if is_set(assumed, lpn) {
        others.doubtful.push((lpn, copy));
    } else if copy.version == best.version {
        if is_best_lost { *best = copy } else { others.twins.push((lpn, copy)) }
    }
}

/// Count the pages of stand `number` that cannot be read and that nothing names; a sanitiser is told of those that may hold a secret.
fn find_unsealed(scan: &mut RecoveryScan, number: usize, layout: &Layout) {
    let stand = &scan.stands[number];
    let (was_let_go, is_dark) = (stand.erase_was_begun(), stand.is_dark);
    for page in stand.seen.unread.clone().into_iter().filter(|page| !page.is_gone) {
        let offsets = page.first..page.first + layout.units_per_page;
        let marks: Vec<Option<MarkCopy>> = offsets.clone().map(|offset| lost::second_mark(scan, number, offset, layout)).collect();
        let is_named = marks.iter().all(Option::is_some);
        // Pages of a part that has failed may never have been programmed.
        scan.tally.unsealed += u64::from(!is_named && !was_let_go && !is_dark);
        let Some(secret) = scan.secret.as_mut() else { continue };
        for (offset, mark) in offsets.zip(&marks) {
            if let Some(mark) = mark.filter(|mark| *mark != MarkCopy::NOTHING && !mark.insecure) {
                secret.known.push((mark.lpn, number as u32, offset));
            }
        }
        // Units that were overtaken on their way are recorded as nothing.
        if !is_named || marks.iter().flatten().any(|mark| *mark == MarkCopy::NOTHING) {
            secret.torn.push((number as u32, page.first));
        }
    }
}

/// Find the units whose place cannot be read, as far as it was looked at. Another copy of the same version takes its place, if one can be read: what was moved
/// may still lie where it came from.
fn find_lost(scan: &mut RecoveryScan, reader: &mut Reader<'_>) {
    let layout = reader.layout;
    let unread: Vec<BTreeSet<u32>> = scan.stands.iter().map(|stand| stand.seen.unread.iter().map(|page| page.first).collect()).collect();
    let is_unread = |copy: &Copied| unread[copy.stand as usize].contains(&layout.page_start(copy.offset));
    let lost: BTreeSet<u32> =
        (0..).zip(&scan.best).filter(|(_, copy)| **copy != Copied::NONE && is_unread(copy)).map(|(lpn, _)| lpn).collect();
    if lost.is_empty() {
        return;
    }
    for (lpn, copy) in earlier_places(scan, &lost, &layout) {
        let (best, stand) = (scan.best[lpn as usize], &scan.stands[copy.stand as usize]);
        if is_unread(&best) && !is_set(&scan.assumed, lpn) && !is_unread(&copy) {
            let mark = reader.mark((stand.die, stand.blocks), copy.offset, &mut scan.tally);
            if mark.is_some_and(|mark| mark.lpn.0 == lpn && mark.version == best.version) {
                scan.best[lpn as usize] = Copied { version: best.version, ..copy };
            }
        }
    }
    for &(lpn, copy) in &scan.twins {
        let best = &mut scan.best[lpn as usize];
        if is_unread(best) && copy.version == best.version && !is_unread(&copy) {
            *best = copy;
        }
    }
    for &lpn in &lost {
        let best = scan.best[lpn as usize];
        if is_unread(&best) {
            scan.lost.insert((best.stand, best.offset));
        }
    }
}

/// Places that the log tells for `units`, from the checkpoint's on.
fn earlier_places(scan: &RecoveryScan, units: &BTreeSet<u32>, layout: &Layout) -> Vec<(u32, Copied)> {
    let Some(log) = &scan.log else { return Vec::new() };
    let mut places: Vec<(u32, Copied)> = scan
        .unsettled
        .iter()
        .filter(|(lpn, ..)| units.contains(lpn))
        .map(|&(lpn, stand, offset)| (lpn, Copied { version: 0, stand, offset }))
        .collect();
    let stands = stands_by_filling(scan);
    for record in log.records() {
        let Some(&stand) = stands.get(&(record.filling.die, record.filling.blocks, record.filling.erases)) else { continue };
        let named = (record.program * layout.units_per_program..).zip(&record.marks).filter(|(_, mark)| units.contains(&mark.lpn));
        places.extend(named.map(|(offset, mark)| (mark.lpn, Copied { version: mark.version, stand, offset })));
    }
    places
}

/// Stands by the filling that they have.
pub(in crate::recovery) fn stands_by_filling(scan: &RecoveryScan) -> BTreeMap<(u16, [u16; 4], u32), u32> {
    (0..).zip(&scan.stands).map(|(number, stand)| ((stand.die.0, stand.blocks, stand.erases), number)).collect()
}
