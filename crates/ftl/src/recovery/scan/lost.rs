//! Fate of units in pages that cannot be read, by the second copies of their marks. `recovery/seen.rs` has the rules.

use wordline_units::{DieId, Id};

use super::{Copied, RecoveryScan, is_set};
use crate::config::{Config, Protection};
use crate::pages::journal::{Facts, History, Page};
use crate::pages::kept::{FACTS, Fact};
use crate::pages::oob::MarkCopy;
use crate::recovery::flash_reader::Reader;
use crate::recovery::generations;
use crate::recovery::physical_blocks::PhysicalBlocks;
use crate::recovery::seen::Unread;
use crate::state::layout::Layout;

/// Second copy of the mark of the unit at `offset` of stand `number`; `None`: none was found.
pub(in crate::recovery) fn second_mark(scan: &RecoveryScan, number: usize, offset: u32, layout: &Layout) -> Option<MarkCopy> {
    if scan.has_copies { scan.sealed.mark(scan.filling(number), offset, &scan.stands[number].seen, layout) } else { None }
}

/// Take in the journal's marks, up to its youngest whole generation. The marks of a younger snapshot, which was cut short, are in the generation before as
/// well and do not count: of pages that could not be read they say that they hold nothing, and its list of the units refused for that may not have been
/// programmed.
pub(super) fn look_at_marks(scan: &mut RecoveryScan) {
    let newest = scan.journal.as_ref().map_or(u64::MAX, |journal| journal.generation);
    for page in scan.stands.iter().flat_map(|stand| &stand.journal).filter(|page| page.generation <= newest) {
        if let Facts::Marks(records) = &page.facts {
            scan.sealed.learn(records.iter().cloned());
        }
    }
}

/// Take in the facts that capacitors have kept beside the write buffer.
pub(super) fn look_at_kept(scan: &mut RecoveryScan, config: &Config, reader: &mut Reader<'_>) {
    if config.buffer.protection != Protection::Capacitor {
        return;
    }
    let mut bytes = Vec::new();
    for index in 0..FACTS {
        if !reader.flash_reader.kept_fact(index, &mut bytes) {
            continue;
        }
        match Fact::decode(&bytes, reader.layout.units_per_program) {
            Some(Fact::Trim(record)) => {
                scan.version = scan.version.max(record.version);
                scan.kept_trims.push((index, record));
            }
            Some(Fact::Marks(record, serial)) => {
                scan.kept_places.insert((record.filling, record.program), index);
                if scan.log.is_some() {
                    scan.kept_marks.push((serial, record.clone()));
                }
                scan.sealed.learn([record]);
            }
            None => {}
        }
    }
}

/// Determine what became of each unit in the unreadable pages of stand `number`. `marks_lost`: the journal lacks a page of marks.
pub(super) fn find_lost(scan: &mut RecoveryScan, number: usize, marks_lost: bool, layout: &Layout) {
    let stand = &scan.stands[number];
    let is_own = !stand.journal.is_empty() || stand.holds_checkpoints || scan.keys.as_ref().is_some_and(|keys| keys.holds(number));
    // What is in a broken block moves away, and then the journal tells of it no more; but it does until then.
    let was_let_go = stand.erase_was_begun() || is_own || !scan.has_copies;
    let is_needless = was_let_go || stand.broken;
    let is_broken = stand.broken;
    let unread = stand.seen.unread.clone();
    let early = scan.sealed.early_summary(scan.filling(number), &scan.stands[number].seen, layout);
    let end_of_data = early.map_or(layout.data_units, |begin| begin * layout.units_per_program);
    let mut unnamed: Option<(u32, u32)> = None;
    for Unread { first, is_gone } in unread {
        let marks: Vec<Option<MarkCopy>> =
            (first..first + layout.units_per_page).map(|offset| second_mark(scan, number, offset, layout)).collect();
        let is_named = marks.iter().all(Option::is_some);
        // A program that never ended has left bits of something all the same.
        let is_torn = !is_named || marks.iter().flatten().all(|mark| *mark == MarkCopy::NOTHING);
        for (offset, mark) in (first..).zip(marks.into_iter().flatten()) {
            add_lost(scan, number, offset, mark, is_gone);
        }
        if let Some(secret) = scan.secret.as_mut().filter(|_| !is_gone && is_torn && first < end_of_data) {
            // Nobody knows what it holds. It may be secret. Where marks lie there are no secrets, and what is left of them is still needed.
            secret.torn.push((number as u32, first));
        }
        if !is_named && !is_gone && first < end_of_data {
            let program = first / layout.units_per_program;
            unnamed = Some(unnamed.map_or((program, program), |(least, most)| (least.min(program), most.max(program))));
        }
        scan.tally.unsealed += u64::from(!is_named && !is_gone && !is_needless && first < end_of_data);
    }
    // Only one program can have been cut short: the last, on dies that are programmed in order.
    let seen = &scan.stands[number].seen;
    let has_ended = |(least, most): (u32, u32)| least < most || (scan.is_in_order && least + 1 < seen.written);
    scan.is_rotten |= !is_needless && unnamed.is_some_and(has_ended);
    let spared = scan.spared_max * layout.programs_per_wordline();
    if unnamed.is_some() && !was_let_go {
        scan.is_unknown |= if is_broken { marks_lost } else { seen.may_be_needed(layout, early.is_some(), marks_lost, spared) };
    }
}

/// True if the checkpoint places a unit in an unreadable page, and the second copy of the page's marks does not: there is none, or the page's content was
/// given up after an earlier cut. The checkpoint does not tell of older copies of such a unit.
pub(super) fn lacks_unsettled(scan: &RecoveryScan, layout: &Layout) -> bool {
    let is_lacking = |&(lpn, stand, offset): &(u32, u32, u32)| {
        let first = layout.page_start(offset);
        let PhysicalBlocks { seen, .. } = &scan.stands[stand as usize];
        let is_unread = seen.unread.iter().any(|page| page.first == first && !page.is_gone);
        let is_told = || second_mark(scan, stand as usize, offset, layout).is_some_and(|mark| mark.lpn == lpn);
        is_unread && !scan.stands[stand as usize].erase_was_begun() && !is_told()
    };
    scan.has_copies && scan.unsettled.iter().any(is_lacking)
}

/// Take in `mark`, of a unit in an unreadable page, by its second copy. `is_gone`: the page was made unreadable on purpose.
pub(super) fn add_lost(scan: &mut RecoveryScan, number: usize, offset: u32, mark: MarkCopy, is_gone: bool) {
    let (lpn, copy) = (mark.lpn, Copied { version: mark.version, stand: number as u32, offset });
    let Some(best) = scan.best.get_mut(lpn as usize) else { return };
    scan.version = scan.version.max(mark.version);
    if let Some(secret) = scan.secret.as_mut().filter(|_| !mark.insecure && !is_gone) {
        secret.known.push((lpn, number as u32, offset));
    }
    if is_set(&scan.assumed, lpn) && mark.version <= best.version {
        if (best.stand, best.offset) == (copy.stand, copy.offset) {
            // What the checkpoint knows is this copy.
            scan.assumed[lpn as usize / 64] &= !(1 << (lpn % 64));
            *best = copy;
        } else {
            scan.doubtful.push((lpn, copy));
        }
        scan.lost.insert((copy.stand, copy.offset));
    } else if mark.version > best.version {
        scan.assumed[lpn as usize / 64] &= !(1 << (lpn % 64));
        *best = copy;
        scan.lost.insert((copy.stand, copy.offset));
    }
}

pub(in crate::recovery) fn is_lost(scan: &RecoveryScan, copy: &Copied) -> bool {
    !scan.lost.is_empty() && scan.lost.contains(&(copy.stand, copy.offset))
}

/// Version of the newest copy of `lpn` on flash; 0: there is none.
pub(in crate::recovery) fn newest_version(scan: &RecoveryScan, lpn: u32) -> u64 {
    scan.best[lpn as usize].version
}

/// Copies in whole pages of which the second copy of their marks says that they hold nothing: their program was not relied on, and their data went elsewhere
/// or had been overwritten. By stand and offset. Those in broken blocks count as others do: nothing of such a block is written down once its data has moved,
/// and a copy that was passed over would come back. What they say was written at their version, wherever it went later.
pub(super) fn given_up(scan: &RecoveryScan, layout: &Layout) -> Vec<(u32, u32)> {
    if !scan.has_copies {
        return Vec::new();
    }
    // Few groups have any.
    let has_nothing: Vec<bool> =
        (0..).zip(&scan.stands).map(|(number, stand)| scan.sealed.has_nothing(scan.filling(number), &stand.seen)).collect();
    let is_given_up = |copy: &&Copied| {
        let is_read =
            **copy != Copied::NONE && !scan.stands[copy.stand as usize].broken && has_nothing[copy.stand as usize] && !is_lost(scan, copy);
        is_read && second_mark(scan, copy.stand as usize, copy.offset, layout) == Some(MarkCopy::NOTHING)
    };
    let copies = scan.best.iter().chain(scan.twins.iter().map(|(_, copy)| copy));
    copies.filter(is_given_up).map(|copy| (copy.stand, copy.offset)).collect()
}

/// Newest record of the core's history.
pub(in crate::recovery) fn last_history(scan: &RecoveryScan) -> History {
    let of_page = |facts: &Facts| if let Facts::History(history) = *facts { Some(history) } else { None };
    let pages = scan.stands.iter().flat_map(|stand| &stand.journal).map(|page| &page.facts);
    let all = pages.chain(scan.log.iter().flat_map(|log| log.facts())).filter_map(of_page);
    all.max_by_key(|history| history.version).unwrap_or_default()
}

/// Dies of which no stand has a page that can be read: they have failed.
pub(in crate::recovery) fn dark_dies(scan: &RecoveryScan) -> Vec<DieId> {
    let mut is_dark = vec![false; scan.spares.len()];
    scan.stands.iter().for_each(|stand| is_dark[stand.die.index()] = true);
    scan.stands.iter().filter(|stand| !stand.is_dark).for_each(|stand| is_dark[stand.die.index()] = false);
    (0..).map(DieId).zip(is_dark).filter(|&(_, dark)| dark).map(|(die, _)| die).collect()
}

/// True if a die has failed since the last start. Nothing on the other dies says what lay there, where second copies of marks are in the group that they are
/// about. Data written since an earlier failure lies on dies that lived on.
pub(in crate::recovery) fn has_newly_failed(scan: &RecoveryScan) -> bool {
    let last = last_history(scan);
    dark_dies(scan).into_iter().any(|die| !last.has_failed(die))
}

/// Number of units whose newest copy is in an unreadable page.
pub(in crate::recovery) fn count_lost(scan: &RecoveryScan) -> u64 {
    scan.best.iter().filter(|copy| **copy != Copied::NONE && is_lost(scan, copy)).count() as u64
}

/// Mark the units that the journal refuses as doubtful: the versions of their copies must be known, to tell whether they were written since.
pub(super) fn doubt_refused(scan: &mut RecoveryScan) {
    let doubts: Vec<(u32, Copied)> = refused_before(scan).map(|(lpn, _)| (lpn, Copied::NONE)).collect();
    scan.doubtful.extend(doubts);
}

/// Units that the journal refuses, each with the version below which its copies are refused. Snapshots that were cut short count as well: their cause may not
/// show any more.
pub(in crate::recovery) fn refused_before(scan: &RecoveryScan) -> impl Iterator<Item = (u32, u64)> {
    let newest = scan.journal.as_ref().map_or(0, |journal| journal.generation);
    let counts = move |page: &&Page| page.generation > newest || scan.in_force.contains(&page.generation);
    let pages = scan.stands.iter().flat_map(|stand| &stand.journal).filter(counts).map(|page| &page.facts);
    let of_facts = |facts: &Facts| match facts {
        Facts::Refused { first, version, bits } => {
            let units = (*first..scan.best.len() as u32).zip(0..bits.len() * 8);
            units.filter(|&(_, bit)| bits[bit / 8] >> (bit % 8) & 1 == 1).map(|(lpn, _)| (lpn, *version)).collect()
        }
        Facts::Records(_) | Facts::Unmapped { .. } | Facts::Memos(_) | Facts::Marks(_) | Facts::History(_) => Vec::new(),
    };
    pages.chain(scan.log.iter().flat_map(|log| log.facts())).flat_map(of_facts)
}

/// Check that no page of the journal's generation is missing, as far as pages programmed after it tell. If a trim may be missing, the content of the drive is
/// unknown. Returns true if marks may be missing.
pub(super) fn check_journal(scan: &mut RecoveryScan, layout: &Layout) -> bool {
    let generation = scan.journal.as_ref().map(|journal| (journal.stand, journal.generation, journal.is_whole));
    let mut has_gap = [false; 2];
    if let Some((stand, generation, is_whole)) = generation {
        scan.is_unknown |= !is_whole && scan.has_copies && !is_first_begun(scan, layout);
        has_gap = scan.stands[stand].gaps(generation);
        has_gap[1] = lacks_marks(scan, generation, layout);
        // A later generation that was being begun: of its last program nobody knows whether it has ended, but of those before.
        // One that was cut short before all programs of its snapshot had been begun never held.
        let may_have_held = |stand: &PhysicalBlocks, later: u64| later > generation && !stand.is_begun(later, layout);
        let is_later =
            |stand: &PhysicalBlocks| !stand.erase_was_begun() && stand.journal.iter().any(|page| may_have_held(stand, page.generation));
        let is_cut_before_its_end =
            |stand: &PhysicalBlocks| stand.seen.unread_before(stand.seen.written.saturating_sub(1) * layout.units_per_program);
        scan.is_unknown |= scan.has_copies && scan.stands.iter().any(|stand| is_later(stand) && is_cut_before_its_end(stand));
    }
    scan.is_unknown |= (has_gap[0] && scan.has_copies) || has_newly_failed(scan);
    has_gap[1]
}

/// True if no generation of the journal was ever needed: all that is there of it are snapshots that were being begun.
fn is_first_begun(scan: &RecoveryScan, layout: &Layout) -> bool {
    generations(scan).into_keys().all(|(generation, stand)| scan.stands[stand].is_begun(generation, layout))
}

/// True if a page of marks is missing that generation `newest` of the journal needs: its own or, where its snapshot was cut short before its marks were
/// programmed, those of earlier generations. Notes the generations that count in `in_force`, and those between them that never held in `never_held`.
fn lacks_marks(scan: &mut RecoveryScan, newest: u64, layout: &Layout) -> bool {
    let (mut in_force, mut never_held) = (Vec::new(), Vec::new());
    // As long as all were cut short, the first has to be there, and the first snapshot there ever was is of generation 2.
    let mut is_lacking = None;
    for ((generation, stand), is_whole) in generations(scan).into_iter().rev().filter(|&((generation, _), _)| generation <= newest) {
        let stand = &scan.stands[stand];
        if is_whole {
            in_force.push(generation);
            if !stand.is_cut_short(generation, layout) {
                is_lacking = Some(stand.gaps(generation)[1]);
                break;
            }
        } else if !in_force.is_empty() {
            if !stand.is_begun(generation, layout) && !stand.is_cut_short(generation, layout) {
                // Its marks were there, and nobody knows what they said.
                is_lacking = Some(true);
                break;
            }
            // It never held, so whatever was before it counts still.
            never_held.push(generation);
        }
    }
    let first = in_force.iter().chain(&never_held).min();
    let is_lacking = is_lacking.unwrap_or_else(|| first.is_some_and(|&first| first > 2));
    // Where none is whole, the last has to do.
    scan.in_force = if in_force.is_empty() { vec![newest] } else { in_force };
    scan.never_held = never_held;
    is_lacking
}

/// True if the unit at `copy` is known without reading its own page: by the checkpoint, a summary, the journal or capacitors. Without second copies nothing
/// better is to be had, and all units pass for known.
pub(in crate::recovery) fn is_sealed(scan: &RecoveryScan, copy: &Copied, layout: &Layout) -> bool {
    let PhysicalBlocks { is_settled, seen, .. } = &scan.stands[copy.stand as usize];
    let is_named = || second_mark(scan, copy.stand as usize, copy.offset, layout).is_some_and(|mark| mark != MarkCopy::NOTHING);
    let is_logged = || scan.log.is_some() && is_logged(scan, copy.stand as usize, copy.offset, layout);
    !scan.has_copies || *is_settled || seen.is_summarised(layout) || is_named() || is_logged()
}

/// True if the log tells what the unit at `offset` of stand `number` is: by a record, or because its checkpoint has it there.
pub(in crate::recovery) fn is_logged(scan: &RecoveryScan, number: usize, offset: u32, layout: &Layout) -> bool {
    let Some(log) = &scan.log else { return false };
    let place = (number as u32, offset);
    let is_known = |lpn: u32| {
        let best = scan.best.get(lpn as usize);
        best.is_some_and(|best| (best.stand, best.offset) == place) && is_set(&scan.assumed, lpn)
    };
    log.tells(scan.filling(number), offset / layout.units_per_program)
        || scan.stands[number].seen.marks().get(offset as usize).is_some_and(|mark| is_known(mark.lpn))
}

/// Strongest reason why each stand may still be needed though the map knows nothing of it. Once it was erased, a page that becomes unreadable would bring
/// back something older, or lift a refusal.
pub(in crate::recovery) fn evidence(scan: &RecoveryScan, layout: &Layout) -> Vec<Evidence> {
    let mut unsealed = vec![0u64; scan.assumed.len()];
    let mut has_unsealed = false;
    let is_summarised: Vec<bool> = scan.stands.iter().map(|stand| stand.is_settled || stand.seen.is_summarised(layout)).collect();
    let open = |copy: &Copied| *copy != Copied::NONE && !is_summarised[copy.stand as usize] && !is_sealed(scan, copy, layout);
    for (lpn, _) in scan.best.iter().enumerate().filter(|(_, copy)| open(copy)) {
        unsealed[lpn / 64] |= 1 << (lpn % 64);
        has_unsealed = true;
    }
    let is_overtaken = |mark: &MarkCopy| unsealed.get(mark.lpn as usize / 64).is_some_and(|word| word >> (mark.lpn % 64) & 1 == 1);
    let of_stand = |stand: &PhysicalBlocks| {
        let is_own = !stand.journal.is_empty() || stand.holds_checkpoints;
        if stand.journal.iter().any(|page| scan.in_force.contains(&page.generation) || scan.never_held.contains(&page.generation)) {
            Evidence::InForce
        } else if scan.is_unknown && stand.seen.unread.iter().any(|page| !page.is_gone) {
            Evidence::Unread
        } else if !has_unsealed || is_own || !stand.touched {
            Evidence::None
        } else {
            match stand.seen.known_marks().map(|mut marks| marks.any(is_overtaken)) {
                Some(true) => Evidence::Overtaken,
                Some(false) => Evidence::None,
                None => Evidence::Unknown,
            }
        }
    };
    scan.stands.iter().map(|stand| if scan.has_copies { of_stand(stand) } else { Evidence::None }).collect()
}

/// Reason why a stand that the map does not know may still be needed, the weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Evidence {
    /// Nothing needs the stand.
    None,
    /// The marks of the stand were not kept: the reason `Overtaken` may apply.
    Unknown,
    /// The stand held a unit whose newest copy is known by its own page alone.
    Overtaken,
    /// The stand holds an unreadable page because of which units are refused.
    Unread,
    /// The stand holds a generation of the journal that counts, or one that shows that none is missing.
    InForce,
}
