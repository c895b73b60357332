//! Recovery after a power cut: the rooms of a core are rebuilt from its flash.
//!
//! 1. Of each unit the copy with the highest version is the newest; copies of the same version hold the same bytes.
//! 2. Unless the journal says that the unit was trimmed at a higher version. The journal is the youngest generation whose snapshot is whole.
//! 3. Blocks with a newest copy are closed, however far they were written; the others are erased before they are used.
//! 4. What capacitors have kept of the write buffer is a copy like others; where it is the newest, or the newest on flash is known by its own page alone, it
//!    goes back to where it was.
//! 5. Blocks that the die reports as bad are emptied and replaced, or have been.
//! 6. Techniques are given what they have written down in the journal.
//!
//! Each page is judged by itself, so it does not matter which part of a multi-plane or one-shot program has reached the flash: none of it was reported as
//! programmed. Nothing is written here, so a power cut during recovery changes nothing; and what the core writes afterwards is again marks and facts that hold.
//! What was recovered is durable as it stands: it follows from pages alone that stay where they are until something newer is on flash.
//!
//! How much has to be read for that is bounded by what was written since the newest checkpoint of the map: see `scan.rs`. Without one, all marks are read.

pub mod flash_reader;
mod history;
mod kept_data;
mod keys;
pub(crate) mod log_found;
mod marks;
mod physical_blocks;
pub(crate) mod salvage;
pub(crate) mod scan;
pub(crate) mod seen;
mod spoilt;
mod trust;

use std::collections::{BTreeMap, BinaryHeap, VecDeque};

use wordline_units::{Cause, DieId};

pub use trust::Trust;

use flash_reader::{FlashReader, Held, Reader};
use physical_blocks::PhysicalBlocks;
use salvage::Doubtful;
use scan::{Copied, Evidence, RecoveryScan, SecretsFound, by_log, lost};

use crate::config::Config;
use crate::die_failure;
use crate::dispatch::Rooms;
use crate::metadata::Metadata;
use crate::metadata::journal::Reserve;
use crate::metadata::twin_log::Pair;
use crate::pages::journal::{Facts, Record};
use crate::setup;
use crate::state::Core;
use crate::state::allocation::{self, Left};
use crate::state::die::Die;
use crate::state::groups::Use;
use crate::state::layout::BlockGroup;
use crate::state::work::Stream;
use crate::techniques::apply::learn_all_wear;

/// Versions left out after a power cut, so that none is given twice even if a page that could not be read at first can be read later.
const VERSIONS_SKIPPED: u64 = 1 << 20;

/// Summary of a recovery from a power cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recovery {
    /// Number of the checkpoint that was used.
    pub checkpoint: Option<u64>,
    /// Number of block groups of which the checkpoint knew all that was needed.
    pub settled: u64,
    /// Number of block groups that were read.
    pub groups: u64,
    /// Number of pages that were read, erased ones included.
    pub pages: u64,
    /// Number of units whose mark had to be read because the checkpoint left open which copy is the newest.
    pub doubts: u64,
    /// Number of units whose newest copy is in an unreadable page, as far as that was looked at: reads of them fail until they are written again.
    pub lost: u64,
    /// Number of refused units: the core cannot tell whether its copy of them is the newest.
    pub refused: u64,
    /// Number of unreadable pages of programs that no flush had covered: their units are as they were before.
    pub unsealed: u64,
    /// Number of unreadable pages behind erased ones on dies that program in order: they were never programmed, and their blocks are erased again.
    pub strays: u64,
    /// True if the core was shut down in order, and nothing has been written since.
    pub is_clean: bool,
}

/// The journal as found, by the generation that recovery goes by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JournalFound {
    /// Stand that holds it.
    pub(crate) stand: usize,
    pub(crate) generation: u64,
    /// True if the snapshot is whole.
    pub(crate) is_whole: bool,
}

/// Recovers the rooms of the core that ran on this flash with this configuration when power was lost. Every unit that was durable has its last data. Every
/// other unit has its last data, or an older state since it last was durable. `trust` names the evidence that is relied on.
pub(crate) fn recover(config: &Config, flash_reader: &mut dyn FlashReader, trust: Trust) -> (Rooms, Recovery, Vec<Doubtful>) {
    assert!(config.keeps_data, "only a core that keeps data has anything to recover");
    let mut rooms = setup::build(config);
    // A checkpoint does not tell of copies that are stale, and those are what a sanitiser looks for.
    let trust = if rooms.sanitise.is_on() && !trust.reads_all() { Trust::Marks } else { trust };
    let mut scan = RecoveryScan::gather(config, &rooms, flash_reader, trust);
    let doubtful = salvage::take_best(&mut scan);
    let journal = scan.journal;
    let kept_trims = trims_to_keep(&scan, journal.as_ref());
    drop_trimmed(&mut scan);
    settle_twins(&mut scan);
    let mut reader = Reader { layout: *rooms.core.layout(), flash_reader, marks: Vec::new(), bytes: Vec::new() };
    let spoilt = spoilt::find(&mut scan, &mut reader);
    scan.tally.lost = lost::count_lost(&scan);
    let is_live = scan.live();
    let stands = assign(&mut rooms.core, &scan, &is_live, journal.as_ref());
    lay_out_groups(config, &mut rooms, &scan, &is_live, &stands, journal.as_ref());
    let Rooms { core, metadata, sanitise, .. } = &mut rooms;
    resume_checkpoints(core, metadata, &scan, &stands);
    if scan.log.is_some() {
        resume_log(core, metadata, &mut scan, &stands);
        make_room_for_log(core, metadata, &scan, &stands);
    } else {
        resume_journal(core, metadata, &scan, journal.as_ref(), &stands);
    }
    keys::resume(core, sanitise, scan.keys.as_ref(), &scan.stands, &stands);
    kept_data::restore(core, &scan);
    core.buffer_mut().count_from(scan.version + VERSIONS_SKIPPED);
    let dark = lost::dark_dies(&scan);
    // A core all of whose dies have failed has none to go on with, and none is told.
    let has_living = dark.len() < core.layout().dies as usize;
    for die in dark.into_iter().filter(|_| has_living) {
        die_failure::resume(core, [die]);
        metadata.leave(core, die);
    }
    if !crate::state::failures::has_enough_space(core) {
        core.wear_out();
    }
    metadata.journal_mut().expect("the core keeps data").resume_kept(&kept_trims);
    if let Some(oob) = metadata.oob_mut() {
        oob.resume_spoilt(spoilt);
    }
    history::resume(metadata, &mut scan, journal.as_ref());
    if trust != Trust::Salvage {
        history::refuse(core, metadata, &scan);
    }
    history::note_lost(core, &scan);
    scan.tally.refused = core.refused().map_or(0, |refused| u64::from(refused.count()));
    find_secrets(&mut rooms, &scan, &stands);
    let Rooms { core, panel, metadata, sanitise, .. } = &mut rooms;
    if sanitise.is_on() {
        core.groups_mut().destroy_written();
    }
    let memos = history::memos(&scan, journal.as_ref());
    metadata.journal_mut().expect("the core keeps data").memos_mut().recall(core, panel, &memos);
    setup::begin_services(config, core, panel, metadata);
    learn_all_wear(core, panel);
    core.die_ids().for_each(|die| core.wake(die));
    if scan.log.is_some() {
        // That there was a start is written down at once.
        metadata.wake_journal(core);
    }
    (rooms, scan.tally, doubtful)
}

/// Assign to each group the stand that it had, or one that is as good. `None`: the group is out of service.
fn assign(core: &mut Core, scan: &RecoveryScan, is_live: &[bool], journal: Option<&JournalFound>) -> Vec<Option<usize>> {
    let holds_secrets = scan.holds_secrets();
    let is_vital = |stand: usize| is_live[stand] || is_own(scan, stand, journal);
    let is_needed = |stand: usize| is_vital(stand) || holds_secrets[stand];
    // What is broken and empty has been replaced, or is to be. A spare is used up by each replacement, in a fixed order.
    let serves = |stand: usize| !scan.stands[stand].broken || is_needed(stand);
    let mut stands = scan.homes.clone();
    for die in (0..core.layout().dies as u16).map(DieId) {
        let mut left = scan.spares[usize::from(die.0)].iter().copied().filter(|&spare| serves(spare)).peekable();
        for group in core.layout().groups_of(die) {
            if stands[group].is_some_and(|home| !serves(home)) {
                stands[group] = left.next();
            }
        }
        let left: Vec<usize> = left.collect();
        core.die_mut(die).forget_free();
        for &spare in left.iter().rev() {
            if is_needed(spare) {
                // Only where a block has become unreadable since: it takes the place of one that holds nothing.
                let place_without = |needs: &dyn Fn(usize) -> bool| {
                    core.layout().groups_of(die).find(|&group| stands[group].is_some_and(|stand| !needs(stand)))
                };
                let place = place_without(&is_needed).or_else(|| if is_vital(spare) { place_without(&is_vital) } else { None });
                if let Some(place) = place {
                    stands[place] = Some(spare);
                }
            } else if !scan.stands[spare].touched {
                // It may have been in service before the cut.
                let PhysicalBlocks { blocks, erases, .. } = &scan.stands[spare];
                let planes = core.layout().planes as usize;
                core.die_mut(die).spare_blocks_mut().found(&blocks[..planes], *erases);
            }
        }
    }
    stands
}

/// Find all stale secrets that can be read. They became stale a moment before power was lost, and are sanitised now.
fn find_secrets(rooms: &mut Rooms, scan: &RecoveryScan, stands: &[Option<usize>]) {
    let Rooms { core, panel, metadata, sanitise, .. } = rooms;
    let Some(SecretsFound { known, torn }) = &scan.secret else {
        return;
    };
    let mut group_of = vec![None; scan.stands.len()];
    for (group, stand) in (0..).map(BlockGroup).zip(stands) {
        if let Some(stand) = stand {
            group_of[*stand] = Some(group);
        }
    }
    for &(lpn, stand, offset) in known {
        let Some(group) = group_of[stand as usize] else { continue };
        let addr = core.layout().unit(group, offset);
        sanitise.keep(addr);
        if core.map().get(lpn) != addr {
            sanitise.expose(metadata, lpn, addr);
        }
    }
    sanitise.guard(core, panel, metadata, Vec::new(), Vec::new(), Vec::new());
    let pages: Vec<(BlockGroup, u32)> = torn.iter().filter_map(|&(stand, first)| Some((group_of[stand as usize]?, first))).collect();
    sanitise.expose_torn(core, panel, metadata, &pages);
}

/// Set the stand of each group, and reserve the groups with metadata that is still needed.
fn stand_groups(core: &mut Core, scan: &RecoveryScan, is_live: &[bool], stands: &[Option<usize>], journal: Option<&JournalFound>) {
    for (group, &stand) in (0..).map(BlockGroup).zip(stands) {
        let groups = core.groups_mut();
        groups.found(group, stand.map(|stand| (scan.stands[stand].blocks, scan.stands[stand].erases)));
        let Some(stand) = stand else { continue };
        if is_own(scan, stand, journal) {
            groups.take_for_core(group);
        }
        if is_live[stand] {
            groups.found_written(group);
        }
    }
}

/// Set map, groups and dies by what the stands hold.
fn lay_out_groups(
    config: &Config,
    rooms: &mut Rooms,
    scan: &RecoveryScan,
    is_live: &[bool],
    stands: &[Option<usize>],
    journal: Option<&JournalFound>,
) {
    let core = &mut rooms.core;
    let layout = *core.layout();
    let mut group_of = vec![None; scan.stands.len()];
    for (group, stand) in stands.iter().enumerate() {
        if let Some(stand) = stand {
            group_of[*stand] = Some(BlockGroup(group as u32));
        }
    }
    stand_groups(core, scan, is_live, stands, journal);
    let mut valid = vec![0u32; stands.len()];
    for (lpn, copy) in (0..).zip(&scan.best).filter(|&(_, copy)| *copy != Copied::NONE) {
        if let Some(group) = group_of[copy.stand as usize] {
            core.map_mut().set(lpn, layout.unit(group, copy.offset));
            core.groups_mut().found_valid(group, copy.offset);
            valid[group.index()] += 1;
        }
    }
    // Closed as they were last written, oldest first.
    let mut order: Vec<BlockGroup> = group_of.iter().flatten().copied().collect();
    order.sort_unstable_by_key(|group| (stands[group.index()].map(|stand| scan.stands[stand].order), *group));
    for group in order {
        let core = &mut rooms.core;
        let stand = &scan.stands[stands[group.index()].expect("it has one")];
        let die = layout.die(group);
        let holds_data = valid[group.index()] > 0;
        if core.groups().use_of(group) == Use::Metadata {
            continue;
        }
        if !holds_data && !stand.touched {
            if core.groups().can_spare() && stand.erases > 0 {
                // Nobody can see whether its last erase has spared something, and what that was is not known any more.
                core.groups_mut().release(group);
                core.die_mut(die).give_erasable(group, Cause::Recovery);
            }
            continue;
        }
        if !holds_data {
            core.groups_mut().release(group);
            core.die_mut(die).give_erasable(group, Cause::Gc);
            if stand.broken {
                // Nothing of it is needed, but something in it must not stay readable.
                core.groups_mut().condemn(group);
            }
            let stand = stands[group.index()].expect("it has one");
            marks::resume_of_unread(rooms, scan, stand, group);
            continue;
        }
        core.groups_mut().open(group);
        core.groups_mut().add_valid(group, valid[group.index()]);
        if stand.broken {
            core.groups_mut().condemn(group);
            core.die_mut(die).fail(group, layout.units_per_group);
        }
        let stand = stands[group.index()].expect("it has one");
        marks::resume(config, rooms, scan, stand, group);
    }
    marks::hold_places(rooms, scan);
    let core = &mut rooms.core;
    for group in (0..stands.len() as u32).map(BlockGroup) {
        if core.groups().use_of(group) == Use::Free {
            core.die_mut(layout.die(group)).give_free(group);
        }
    }
}

/// Resume the checkpoints. The checkpoint that was used stays until the next one is whole, unless it does not tell of something that is needed.
fn resume_checkpoints(core: &mut Core, metadata: &mut Metadata, scan: &RecoveryScan, stands: &[Option<usize>]) {
    let programs = core.layout().programs;
    let holds = |stand: usize| !scan.stands[stand].checkpoints.is_empty();
    let groups: VecDeque<BlockGroup> =
        (0..).map(BlockGroup).zip(stands).filter(|(_, stand)| stand.is_some_and(holds)).map(|(group, _)| group).collect();
    for &group in &groups {
        if stands[group.index()].is_some_and(|stand| scan.stands[stand].broken) {
            core.groups_mut().condemn(group);
        }
    }
    let Some(checkpoints) = metadata.checkpoints_mut() else { return };
    if scan.is_distrusted {
        // What is relied upon instead may be erased before it, and then it would pass for good.
        let is_in = |group: &BlockGroup| stands[group.index()].is_some_and(|stand| scan.stands[stand].holds_checkpoints);
        let left = core.dies().flat_map(|(_, die)| die.erasable()).map(|&(group, _)| group);
        checkpoints.abandon(&left.filter(is_in).collect());
    }
    if scan.is_overtaken {
        checkpoints.abandon(&groups);
        for group in groups {
            let die = core.layout().die(group);
            core.groups_mut().release(group);
            core.die_mut(die).give_erasable(group, Cause::Recovery);
        }
    } else {
        checkpoints.resume(groups, scan.tally.checkpoint, programs);
    }
}

/// Resume the journal with a snapshot, because nothing is to be written behind a page that may be torn.
fn resume_journal(core: &mut Core, metadata: &mut Metadata, scan: &RecoveryScan, found: Option<&JournalFound>, stands: &[Option<usize>]) {
    let programs = core.layout().programs;
    let seen = scan.stands.iter().flat_map(|stand| &stand.journal).map(|page| page.generation).max();
    let current = found.and_then(|found| stands.iter().position(|&stand| stand == Some(found.stand))).map(|group| BlockGroup(group as u32));
    if let (Some(found), Some(group)) = (found, current)
        && scan.stands[found.stand].broken
    {
        core.groups_mut().condemn(group);
    }
    let evidence = lost::evidence(scan, core.layout());
    let needed = |group: BlockGroup| stands[group.index()].map_or(Evidence::None, |stand| evidence[stand]);
    let (mut active, mut program) = (current, programs);
    if found.is_none() && seen.is_none() {
        // As when it was new: nothing needs a snapshot yet.
        match take_empty_group(core, &needed) {
            Reserve::Erased(group) => (active, program) = (Some(group), 0),
            Reserve::Used(group) => active = Some(group),
            Reserve::Missing => {}
        }
    }
    let other = take_empty_group(core, &needed);
    metadata.journal_mut().expect("the core keeps data").resume(active, seen.unwrap_or(1), program, other);
}

/// Resume the map log behind what was found of it. The last program is written once more where one of its copies is not whole.
fn resume_log(core: &mut Core, metadata: &mut Metadata, scan: &mut RecoveryScan, stands: &[Option<usize>]) {
    let Some(log) = &mut scan.log else { return };
    let mut group_of = vec![None; scan.stands.len()];
    for (group, stand) in (0..).map(BlockGroup).zip(stands) {
        if let Some(stand) = stand {
            group_of[*stand] = Some(group);
        }
    }
    let again = std::mem::take(&mut log.again);
    let mut pairs = Vec::new();
    for (first, members) in log.pairs() {
        let groups: Vec<BlockGroup> = members.iter().filter_map(|&stand| group_of[stand]).collect();
        members.iter().filter(|&&stand| scan.stands[stand].broken).filter_map(|&stand| group_of[stand]).for_each(|group| {
            core.groups_mut().condemn(group);
        });
        pairs.extend((!groups.is_empty()).then(|| (first, Pair::of(groups))));
    }
    let (resumed, given_up) = (log.resumed, log.given_up());
    let journal = metadata.journal_mut().expect("the core keeps data");
    let map_log = journal.map_log_mut().expect("it has one");
    map_log.resume(core, pairs, resumed, again);
    let stands = by_log::stands_by_filling(scan);
    for (filling, program) in given_up {
        let stand = stands.get(&(filling.die, filling.blocks, filling.erases));
        stand.and_then(|&stand| group_of[stand as usize]).into_iter().for_each(|group| map_log.give_up(group, Some(program)));
    }
}

/// Find room for the log, to which nothing is added where it was. Where no two dies have a free group, one emptied group of each die without one is let go,
/// whatever the log still owes: one of those that are needed least.
fn make_room_for_log(core: &mut Core, metadata: &mut Metadata, scan: &RecoveryScan, stands: &[Option<usize>]) {
    if metadata.find_log_room(core, Left::Groups(0), false) {
        return;
    }
    let Some(oob) = metadata.oob_mut() else { return };
    let evidence = lost::evidence(scan, core.layout());
    let needed = |group: BlockGroup| stands[group.index()].map_or(Evidence::None, |stand| evidence[stand]);
    for (_, die) in core.dies().filter(|(_, die)| die.free_count() == 0) {
        let least = die.erasable().iter().map(|&(group, _)| group).min_by_key(|&group| needed(group));
        least.into_iter().for_each(|group| oob.let_go(group));
    }
}

/// Take a group that holds nothing, for the journal, from the die with the most of them: the journal had one there, or one more than the others have now. It
/// is an erased one, if there is one; else one of those that are `needed` least.
fn take_empty_group(core: &mut Core, needed: &dyn Fn(BlockGroup) -> Evidence) -> Reserve {
    let least = |die: &Die| {
        let needs = die.erasable().iter().map(|&(group, _)| needed(group)).min();
        needs.filter(|_| die.free_count() == 0).unwrap_or(Evidence::None)
    };
    let empty = |die: &Die| die.free_count() as usize + die.erasable().len();
    let best = |die: &DieId| {
        let state = core.die(*die);
        (empty(state) > 0, std::cmp::Reverse(least(state)), empty(state), std::cmp::Reverse(*die))
    };
    let die = core.die_ids().max_by_key(best).expect("a core has a die");
    let erasable = core.die(die).erasable();
    let at = (0..erasable.len()).min_by_key(|&at| needed(erasable[at].0));
    let other = match (allocation::allocate(core, die, Stream::Host), at) {
        (Some(group), _) => Reserve::Erased(group),
        (None, Some(at)) => Reserve::Used(core.die_mut(die).take_erasable(at).0),
        (None, None) => Reserve::Missing,
    };
    if let Reserve::Erased(group) | Reserve::Used(group) = other {
        core.groups_mut().take_for_core(group);
    }
    other
}

/// Generations of the journal by number and stand, each with true if its snapshot is whole.
pub(crate) fn generations(scan: &RecoveryScan) -> BTreeMap<(u64, usize), bool> {
    // How many pages of its snapshot each generation has, and should have.
    let mut generations: BTreeMap<(u64, usize), (BTreeMap<u32, ()>, u32)> = BTreeMap::new();
    for (stand, found) in scan.stands.iter().enumerate() {
        for page in &found.journal {
            let (seen, total) = generations.entry((page.generation, stand)).or_default();
            if let Some((index, pages)) = page.of_snapshot {
                seen.insert(index, ());
                *total = pages;
            } else if page.generation > 1 && *total == 0 {
                // Behind a snapshot of which nothing was read.
                *total = u32::MAX;
            }
        }
    }
    generations.into_iter().map(|(generation, (seen, total))| (generation, seen.len() as u32 == total)).collect()
}

/// Youngest generation of the journal whose snapshot is whole, or the youngest if none is.
pub(crate) fn find_journal(scan: &RecoveryScan) -> Option<JournalFound> {
    let generations = generations(scan);
    let whole = generations.iter().rev().find(|(_, is_whole)| **is_whole);
    let last = whole.or_else(|| generations.iter().next_back());
    last.map(|(&(generation, stand), _)| JournalFound { stand, generation, is_whole: whole.is_some() })
}

/// True if `stand` holds metadata of the core that is still needed.
fn is_own(scan: &RecoveryScan, stand: usize, journal: Option<&JournalFound>) -> bool {
    journal.is_some_and(|journal| journal.stand == stand)
        || scan.log.as_ref().is_some_and(|log| log.holds(stand))
        || !scan.stands[stand].checkpoints.is_empty()
        || scan.keys.as_ref().is_some_and(|keys| keys.holds(stand))
}

/// Trims that capacitors have kept and the journal may not have, oldest first, with their places.
fn trims_to_keep(scan: &RecoveryScan, journal: Option<&JournalFound>) -> Vec<(u32, Record)> {
    let of_page = |facts: &Facts| match facts {
        Facts::Records(records) => records.iter().map(|record| record.version).max(),
        Facts::Unmapped { version, .. } => Some(*version),
        Facts::Memos(_) | Facts::Marks(_) | Facts::Refused { .. } | Facts::History(_) => None,
    };
    let pages = journal.map_or(&[][..], |journal| &scan.stands[journal.stand].journal);
    let of_generation =
        pages.iter().filter(|page| journal.is_some_and(|journal| page.generation == journal.generation)).map(|page| &page.facts);
    let known = of_generation.chain(scan.log.iter().flat_map(|log| log.facts())).filter_map(of_page).max();
    let mut trims: Vec<(u32, Record)> =
        scan.kept_trims.iter().filter(|(_, record)| known.is_none_or(|known| record.version > known)).copied().collect();
    trims.sort_unstable_by_key(|(_, record)| record.version);
    trims
}

/// Forget copies of which the journal says that they are not wanted.
fn drop_trimmed(scan: &mut RecoveryScan) {
    let RecoveryScan { stands, best, held, kept_trims, in_force, log, .. } = scan;
    let mut records: Vec<Record> = std::mem::take(kept_trims).into_iter().map(|(_, record)| record).collect();
    // Other generations say nothing more, or were cut short while they were begun: what those alone say was never promised, and did not count at the start
    // that followed.
    let of_generations =
        stands.iter().flat_map(|stand| &stand.journal).filter(|page| in_force.contains(&page.generation)).map(|page| &page.facts);
    for facts in of_generations.chain(log.iter().flat_map(|log| log.facts())) {
        match facts {
            Facts::Records(some) => records.extend(some),
            Facts::Unmapped { first, version, bits } => {
                let units = (*first..).zip(0..bits.len() * 8).filter(|&(_, bit)| bits[bit / 8] >> (bit % 8) & 1 == 1);
                for (lpn, _) in units {
                    forget_older(best, held, lpn, *version);
                }
            }
            Facts::Memos(_) | Facts::Marks(_) | Facts::Refused { .. } | Facts::History(_) => {}
        }
    }
    // Over the units in order, the newest of the trims that cover each.
    records.sort_unstable_by_key(|record| record.first);
    let mut upcoming = records.into_iter().peekable();
    let mut covering: BinaryHeap<(u64, u64)> = BinaryHeap::new();
    for lpn in 0..best.len() as u32 {
        while let Some(record) = upcoming.next_if(|record| record.first <= lpn) {
            covering.push((record.version, u64::from(record.first) + u64::from(record.count)));
        }
        while covering.peek().is_some_and(|&(_, end)| end <= u64::from(lpn)) {
            covering.pop();
        }
        if let Some(&(version, _)) = covering.peek() {
            forget_older(best, held, lpn, version);
        }
    }
}

/// Choose among several copies of one version so that as many stands as possible hold nothing that is needed. Data on the way from one block to another lies
/// in both, and the space that the move was to bring may be all the space there is: one of the two must become free again.
fn settle_twins(scan: &mut RecoveryScan) {
    let mut holders: BTreeMap<u32, Vec<Copied>> = BTreeMap::new();
    for &(lpn, copy) in &scan.twins {
        let best = scan.best[lpn as usize];
        if copy.version == best.version {
            holders.entry(lpn).or_insert_with(|| vec![best]).push(copy);
        }
    }
    let mut sole = vec![0u32; scan.stands.len()];
    for (lpn, copy) in (0..).zip(&scan.best).filter(|&(_, copy)| *copy != Copied::NONE) {
        if !holders.contains_key(&lpn) {
            sole[copy.stand as usize] += 1;
        }
    }
    let mut shared: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (&lpn, copies) in &mut holders {
        copies.sort_unstable_by_key(|copy| copy.stand);
        copies.dedup_by_key(|copy| copy.stand);
        if let [copy] = copies[..] {
            sole[copy.stand as usize] += 1;
        }
        copies.iter().for_each(|copy| shared.entry(copy.stand).or_default().push(lpn));
    }
    // What has failed goes first: its units have been moved away, or it could not have been replaced.
    let mut stands: Vec<u32> = shared.keys().copied().collect();
    stands.sort_by_key(|&stand| !scan.stands[stand as usize].broken);
    for stand in stands.into_iter().filter(|&stand| sole[stand as usize] == 0).collect::<Vec<_>>() {
        if sole[stand as usize] > 0 {
            continue;
        }
        for lpn in &shared[&stand] {
            let copies = holders.get_mut(lpn).expect("a shared unit has holders");
            copies.retain(|copy| copy.stand != stand);
            if let [copy] = copies[..] {
                sole[copy.stand as usize] += 1;
            }
        }
    }
    for (lpn, copies) in holders {
        let best = &mut scan.best[lpn as usize];
        let is_other = (best.stand, best.offset) != (copies[0].stand, copies[0].offset);
        scan.is_overtaken |= is_other && scan.stands[copies[0].stand as usize].is_settled;
        *best = copies[0];
    }
}

/// Forget copies of `lpn` older than `version`, on flash and in the write buffer.
fn forget_older(best: &mut [Copied], held: &mut BTreeMap<u32, (u32, Held)>, lpn: u32, version: u64) {
    if let Some(copy) = best.get_mut(lpn as usize).filter(|copy| copy.version < version) {
        *copy = Copied::NONE;
    }
    if held.get(&lpn).is_some_and(|(_, held)| held.version < version) {
        held.remove(&lpn);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn copy(version: u64) -> Copied {
        Copied { version, stand: 1, offset: 2 }
    }

    #[test]
    fn a_trim_takes_older_copies_from_flash_and_buffer_and_leaves_newer_ones() {
        let held = |version| (3, Held { lpn: wordline_units::Lpn(0), version, mask: 1 });
        for (flash, buffer, left) in [(4, 4, [false, false]), (5, 4, [true, false]), (4, 6, [false, true]), (9, 9, [true, true])] {
            let mut best = [copy(flash), copy(1)];
            let mut kept = BTreeMap::from([(0, held(buffer))]);
            forget_older(&mut best, &mut kept, 0, 5);
            assert_eq!([best[0] != Copied::NONE, kept.contains_key(&0)], left, "versions {flash} and {buffer}, trimmed below 5");
            assert_eq!(best[1], copy(1), "another unit");
            forget_older(&mut best, &mut kept, 7, 5);
        }
    }
}
