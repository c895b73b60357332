//! The end of a program or copyback: its units are mapped to the new place, the old ones become stale, and waiting requests go on.
//!
//! ```text
//!   program ──well──▶ distrusted? ──no──▶ lands
//!      │                  └──yes──▶ its data waits again, and goes to the next wordline
//!      └──badly──▶ the same, and the block is given up
//! ```

use wordline_flash::{Report, Status};
use wordline_units::{DieId, Lpn, OpTag};

use super::Rooms;
use crate::gc::invalidate;
use crate::metadata::Metadata;
use crate::news;
use crate::placement;
use crate::state::Core;
use crate::state::buffer::Landing as Landed;
use crate::state::layout::{BlockGroup, UnitAddr};
use crate::state::pending::{Pending, Purpose};
use crate::state::request::Note;
use crate::state::tolerances;
use crate::state::work::{Entry, Moved};
use crate::techniques::apply::{ctx, set_program};
use crate::techniques::hooks::{Hook, Hooks};
use crate::techniques::say::Way;
use crate::techniques::seam::{CopyReport, News, ProgramReport, ProgramUnit};

/// Hooks that a finished program calls.
const OF_PROGRAMS: Hooks = Hooks::of(&[Hook::Programmed, Hook::ProgramSettings, Hook::Distrusts]);

/// Number of programs after which a die is asked for all other work, although it could go on with data of the host.
const ROW_MOST: u8 = 16;

/// Scratch lists for units that land.
#[derive(Debug, Default)]
pub(crate) struct Landing {
    /// Addresses that become stale, with their logical units.
    stale: Vec<(u32, UnitAddr)>,
    /// Logical units of a page.
    run: Vec<u32>,
}

/// End the program of program unit `program` of `group`. `closes`: it was the last of its group.
pub(super) fn programmed(rooms: &mut Rooms, report: &Report<'_>, (group, program): (BlockGroup, u32), closes: bool) {
    let Rooms { core, panel, sanitise, .. } = rooms;
    let die = report.die;
    let good = report.status == Status::Good;
    let batch = core.die_mut(die).programs_mut().now_mut().take();
    let now = core.now();
    core.services_mut().programmed(group, now);
    let carried = sanitise.is_on().then(|| sanitise.before_landing(core, &batch));
    let is_distrusted = panel.has_any(OF_PROGRAMS) && is_distrusted(rooms, report, group, program);
    // A program before it in the same group has failed while its data was taken in: its place is not among those that are emptied.
    let is_given_up = rooms.core.loadable().is_on() && rooms.core.groups().is_condemned(group);
    let lands = good && !is_distrusted && !is_given_up;
    let Rooms { core, metadata, .. } = rooms;
    if metadata.has_oob() {
        // Before anything becomes stale by it: what that was must not be erased before this program is sealed. What does not land is given up: its page may be
        // made unreadable before its data, or what has overwritten it, is down.
        let is_host = batch.iter().any(|entry| matches!(entry, Entry::Host { .. }));
        if core.settings().twins {
            note_overtaken(core, metadata, die, &batch);
        }
        metadata.note_landing(core, die, (group, program), (lands, is_host));
    }
    if is_given_up {
        take_back(rooms, die, &batch);
        let Rooms { core, metadata, .. } = rooms;
        let units = core.layout().units_of(program);
        core.groups_mut().give_up(group, units);
        metadata.leave_unsettled(group, Some(program));
        core.outbox_mut().note(Note::ProgrammedAgain(group));
    } else if is_distrusted {
        // It is stale from the first, and what it holds goes elsewhere.
        take_back(rooms, die, &batch);
        let Rooms { core, panel, metadata, .. } = rooms;
        for offset in core.layout().units_of(program) {
            let addr = core.layout().unit(group, offset);
            core.groups_mut().add_stale(addr);
        }
        if closes {
            placement::complete(core, panel, metadata, group);
        }
        metadata.leave_unsettled(group, Some(program));
        core.outbox_mut().note(Note::ProgrammedAgain(group));
    } else if good {
        let moved = if rooms.panel.has(Hook::Moved) { Some(sources_of(rooms, &batch)) } else { None };
        land(rooms, &batch, group, program);
        if let Some(sources) = moved {
            tell_moved(rooms, sources, group, program);
        }
        let Rooms { core, panel, metadata, .. } = rooms;
        if metadata.has_oob() {
            metadata.hold_back_released(core);
        }
        if core.settings().has_capacitors() {
            // A unit that was trimmed on its way here is no longer in the buffer, and never valid here.
            metadata.hold(group);
        }
        if closes {
            placement::complete(core, panel, metadata, group);
        }
        if metadata.has_checkpoints() {
            metadata.count_program(core);
        }
    } else {
        let has_secrets = rooms.sanitise.is_on();
        take_back(rooms, die, &batch);
        placement::abandon(&mut rooms.core, group, program, has_secrets);
    }
    let Rooms { core, panel, metadata, sanitise, .. } = rooms;
    if let Some(carried) = carried {
        let first = program * core.layout().units_per_program;
        sanitise.after_landing(core, panel, metadata, (group, first), lands, &carried);
    }
    rooms.settle();
    let core = &mut rooms.core;
    core.die_mut(die).programs_mut().now_mut().end(batch);
    if core.loadable().is_on()
        && let Some(next) = core.die_mut(die).programs_mut().go_on()
    {
        begin_next(rooms, die, next);
    }
}

/// Begin the program `tag` on `die`, whose data the die has taken in during the one before. Its settings follow from all that is known by now, and with it from
/// the report of that one.
#[cold]
fn begin_next(rooms: &mut Rooms, die: DieId, tag: OpTag) {
    let Rooms { core, panel, .. } = rooms;
    let Pending { purpose, group, .. } = core.pending(tag);
    if let Purpose::Program { program, .. } = purpose {
        set_program(core, panel, group, program);
    }
    if core.die(die).programs().in_a_row() < ROW_MOST {
        core.loadable_mut().insert(die);
    }
}

/// Note which units of `batch`, which ends on `die`, are not mapped to where they are now: moved ones that the host has overwritten or trimmed meanwhile, and
/// those of the host that it has trimmed.
fn note_overtaken(core: &Core, metadata: &mut Metadata, die: DieId, batch: &[Entry]) {
    for (unit, entry) in batch.iter().enumerate() {
        let is_overtaken = match *entry {
            Entry::Moved(Moved { lpn, from }) => core.map().get(lpn) != from,
            Entry::Host { slot } => core.buffer().is_trimmed(slot),
            Entry::Padding | Entry::Metadata { .. } => false,
        };
        if is_overtaken {
            metadata.note_overtaken(die, unit);
        }
    }
}

/// True if a successful program must not be relied on. The techniques learn of the program after they are asked.
fn is_distrusted(rooms: &mut Rooms, report: &Report<'_>, group: BlockGroup, program: u32) -> bool {
    let Rooms { core, panel, metadata, .. } = rooms;
    let &Report { status, loops, spans, program: trace, .. } = report;
    let at = ProgramUnit::new(core.layout(), group, program);
    let told = ProgramReport { at, status, loops, array: spans.die, trace: trace.copied() };
    let is_bad = status == Status::Good && panel.distrusts(&ctx(core), &told);
    news::tell(core, panel, metadata, News::Programmed(told));
    is_bad
}

/// Put the units of a failed program back among those that wait.
fn take_back(rooms: &mut Rooms, die: DieId, batch: &[Entry]) {
    let core = &mut rooms.core;
    for entry in batch.iter().rev() {
        match *entry {
            Entry::Host { slot } => core.buffer_mut().failed(slot),
            Entry::Moved(moved) => core.die_mut(die).gather_again(moved),
            Entry::Padding | Entry::Metadata { .. } => {}
        }
    }
}

/// Map the units of `batch`, which are on flash at program unit `program` of `group`.
#[inline]
fn land(rooms: &mut Rooms, batch: &[Entry], group: BlockGroup, program: u32) {
    let layout = rooms.core.layout();
    let (per_page, first) = (layout.units_per_page, program * layout.units_per_program);
    let mut valid = 0;
    if per_page == 1 {
        for (unit, &entry) in batch.iter().enumerate() {
            let (lpn, is_host) = landed(rooms, entry);
            let addr = rooms.core.layout().unit(group, first + unit as u32);
            valid += land_unit(rooms, lpn, addr, is_host);
        }
    } else {
        for (page, entries) in batch.chunks_exact(per_page as usize).enumerate() {
            let addr = rooms.core.layout().unit(group, first + page as u32 * per_page);
            valid += land_page(rooms, entries, addr);
        }
    }
    rooms.core.groups_mut().add_valid(group, valid);
}

/// Groups that the moved units of `batch` leave, and how many units leave each.
#[cold]
fn sources_of(rooms: &Rooms, batch: &[Entry]) -> Vec<(BlockGroup, u16)> {
    let mut sources: Vec<(BlockGroup, u16)> = Vec::new();
    for entry in batch {
        let Entry::Moved(Moved { lpn, from }) = *entry else { continue };
        if rooms.core.map().get(lpn) == from {
            let group = rooms.core.layout().group(from);
            match sources.iter_mut().find(|(known, _)| *known == group) {
                Some((_, units)) => *units += 1,
                None => sources.push((group, 1)),
            }
        }
    }
    sources
}

/// Tell the techniques that units from `sources` lie at `program` of `group` now.
#[cold]
fn tell_moved(rooms: &mut Rooms, sources: Vec<(BlockGroup, u16)>, group: BlockGroup, program: u32) {
    let Rooms { core, panel, metadata, .. } = rooms;
    let to = ProgramUnit::new(core.layout(), group, program);
    sources.into_iter().for_each(|(from, units)| news::tell(core, panel, metadata, News::Moved { from, to, units, way: Way::Bus }));
}

/// Release the source of `entry`, which is on flash. Returns the logical unit that lies there now, or none, and whether the data is the host's.
#[inline]
fn landed(rooms: &mut Rooms, entry: Entry) -> (u32, bool) {
    let core = &mut rooms.core;
    match entry {
        Entry::Host { slot } => {
            let lost = if core.lost().is_some() { core.buffer().lost_in(slot) } else { 0 };
            match core.buffer_mut().landed(slot) {
                Landed::Commit(lpn) => {
                    core.trust(lpn);
                    if core.lost().is_some() {
                        land_lost(core, lpn, lost);
                    }
                    (lpn, true)
                }
                Landed::Discard => {
                    core.changes_mut().add_invalidated(1);
                    (u32::MAX, true)
                }
            }
        }
        // The host may have overwritten it while it moved.
        Entry::Moved(Moved { lpn, from }) if core.map().get(lpn) == from => (lpn, false),
        Entry::Moved(_) | Entry::Padding | Entry::Metadata { .. } => (u32::MAX, false),
    }
}

/// Note which `sectors` of `lpn`, which the host has written, are lost in its newest copy.
#[cold]
fn land_lost(core: &mut Core, lpn: u32, sectors: u64) {
    if let Some(lost) = core.lost_mut() {
        lost.set(lpn, sectors);
    }
}

/// Map the units of one page from `addr` on. Returns how many of them are valid.
fn land_page(rooms: &mut Rooms, entries: &[Entry], addr: UnitAddr) -> u32 {
    let mut run = std::mem::take(&mut rooms.landing.run);
    run.clear();
    let mut is_host = false;
    for &entry in entries {
        let (lpn, by_host) = landed(rooms, entry);
        is_host |= by_host;
        run.push(lpn);
    }
    rooms.core.changes_mut().note(is_host);
    let per_page = rooms.core.layout().units_per_page;
    let is_whole = run[0] != u32::MAX && run[0].is_multiple_of(per_page) && run.windows(2).all(|pair| pair[1] == pair[0].wrapping_add(1));
    let valid = if is_whole {
        land_run(rooms, run[0], addr, is_host)
    } else {
        (addr.0..).zip(&run).map(|(addr, &lpn)| land_unit(rooms, lpn, UnitAddr(addr), is_host)).sum()
    };
    rooms.landing.run = run;
    valid
}

/// Map a page of consecutive units, for which one entry of a compact map is enough.
fn land_run(rooms: &mut Rooms, lpn: u32, addr: UnitAddr, is_host: bool) -> u32 {
    let Rooms { core, metadata, sanitise, landing, .. } = rooms;
    let stale = &mut landing.stale;
    let mut at = lpn;
    core.map_mut().set_page(lpn, addr, |before| {
        if before != UnitAddr::NONE {
            stale.push((at, before));
        }
        at += 1;
    });
    if core.services().tolerances().is_some() {
        (lpn..at).zip(addr.0..).for_each(|(lpn, addr)| tolerances::landed(core, lpn, UnitAddr(addr)));
    }
    if is_host {
        core.changes_mut().add_invalidated(stale.len() as u32);
    }
    stale.drain(..).for_each(|(lpn, addr)| invalidate(core, metadata, sanitise, lpn, addr));
    core.layout().units_per_page
}

/// Map `lpn` to `addr`, or mark `addr` as stale where `lpn` is none. Returns how many valid units that adds.
#[inline(always)]
fn land_unit(rooms: &mut Rooms, lpn: u32, addr: UnitAddr, is_host: bool) -> u32 {
    if lpn == u32::MAX {
        rooms.core.groups_mut().add_stale(addr);
        return 0;
    }
    let had_data = repoint(rooms, lpn, addr);
    rooms.core.changes_mut().add_invalidated(u32::from(is_host && had_data));
    1
}

/// Map `lpn` to `addr` and invalidate its address before. Returns true if there was one.
#[inline]
fn repoint(rooms: &mut Rooms, lpn: u32, addr: UnitAddr) -> bool {
    let Rooms { core, metadata, sanitise, .. } = rooms;
    let before = core.map_mut().set(lpn, addr);
    if core.services().tolerances().is_some() {
        tolerances::landed(core, lpn, addr);
    }
    let had_data = before != UnitAddr::NONE;
    if had_data {
        invalidate(core, metadata, sanitise, lpn, before);
    }
    had_data
}

/// Map the units of program unit `from`, whose copies are on flash at program unit `to` with these `spare` areas. Returns the number of valid ones, and true
/// if a unit of `from` that is valid has no name there.
fn map_copied(rooms: &mut Rooms, spare: &[Lpn], from: (BlockGroup, u32), to: (BlockGroup, u32)) -> (u32, bool) {
    let (units, exported) = (rooms.core.layout().units_per_program, rooms.core.map().exported());
    let (mut valid, mut has_nameless) = (0, false);
    for unit in 0..units {
        let core = &rooms.core;
        let source = core.layout().unit(from.0, from.1 * units + unit);
        let addr = core.layout().unit(to.0, to.1 * units + unit);
        let lpn = spare[unit as usize].0;
        let is_valid = core.groups().is_valid(from.0, from.1 * units + unit);
        has_nameless |= is_valid && lpn >= exported;
        // The host may have overwritten it while it moved.
        match Some(lpn).filter(|&lpn| is_valid && lpn < exported && core.map().get(lpn) == source) {
            Some(lpn) => {
                repoint(rooms, lpn, addr);
                valid += 1;
            }
            None => rooms.core.groups_mut().add_stale(addr),
        }
    }
    (valid, has_nameless)
}

/// End the copyback of program unit `from` to program unit `to`. `closes`: that was the last of its group.
#[inline(never)]
pub(super) fn copied(rooms: &mut Rooms, report: &Report<'_>, from: (BlockGroup, u32), to: (BlockGroup, u32), closes: bool) {
    let Rooms { core, panel, metadata, .. } = rooms;
    let units = core.layout().units_per_program;
    let good = report.status == Status::Good;
    let [source, place] = [from, to].map(|(group, program)| ProgramUnit::new(core.layout(), group, program));
    let &Report { status, spans, .. } = report;
    let copies = core.view().copies(from.0, from.1).map(|copies| copies.saturating_add(1));
    news::tell(core, panel, metadata, News::Copied(CopyReport { from: source, to: place, status, copies, array: spans.die }));
    let spare = report.oob;
    if metadata.has_oob() {
        if core.settings().twins {
            let layout = core.layout();
            let is_stale = |&unit: &u32| {
                let (offset, lpn) = (from.1 * units + unit, spare[unit as usize].0);
                !core.groups().is_valid(from.0, offset)
                    || (lpn < core.map().exported() && core.map().get(lpn) != layout.unit(from.0, offset))
            };
            (0..units).filter(is_stale).for_each(|unit| metadata.note_overtaken(report.die, unit as usize));
        }
        metadata.note_landing(core, report.die, to, (good, false));
    }
    if good {
        let (valid, has_nameless) = map_copied(rooms, spare, from, to);
        let Rooms { core, panel, metadata, .. } = rooms;
        core.groups_mut().add_valid(to.0, valid);
        if core.groups().is_destroyed(from.0) {
            // A copy is not corrected: a page that cannot be read is noise at its destination, too.
            core.groups_mut().destroy(to.0);
        }
        let now = core.now();
        core.services_mut().get_mut().into_iter().for_each(|services| services.copied(from, to, now));
        if valid > 0 {
            news::tell(core, panel, metadata, News::Moved { from: from.0, to: place, units: valid as u16, way: Way::Copyback });
        }
        if closes {
            placement::complete(core, panel, metadata, to.0);
        }
        metadata.count_program(core);
        if has_nameless {
            // Their page could not be read. They stay where they are until they are moved by name.
            rooms.core.die_mut(report.die).advance_job(from.1 * units);
            rooms.gc.bar_copyback(from.0, from.1);
        }
    } else {
        // The source is untouched, so its units are moved again.
        let job = core.die(report.die).job().expect("a copyback belongs to a victim");
        assert_eq!(job.victim, from.0);
        core.die_mut(report.die).advance_job(from.1 * units);
        placement::abandon(core, to.0, to.1, rooms.sanitise.is_on());
    }
    let Rooms { core, panel, metadata, sanitise, .. } = rooms;
    if sanitise.is_on() {
        let places = ((from.0, from.1 * units), (to.0, to.1 * units));
        sanitise.after_copyback(core, panel, metadata, good, places, spare.iter().map(|lpn| lpn.0));
    }
    rooms.settle();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::tests::small;
    use crate::setup::build;

    #[test]
    fn a_copy_out_of_a_group_in_which_something_was_destroyed_may_be_noise_and_no_other_copy_is() {
        let [destroyed, whole, first, second] = [1, 2, 3, 4].map(BlockGroup);
        let mut rooms = build(&small(64));
        rooms.core.groups_mut().destroy(destroyed);
        let oob = vec![Lpn(u32::MAX); rooms.core.layout().units_per_program as usize];
        let report = Report::plain(OpTag(0), DieId(0), Status::Good, &oob);
        copied(&mut rooms, &report, (destroyed, 0), (first, 0), false);
        copied(&mut rooms, &report, (whole, 0), (second, 0), false);
        let are_noise = [first, second].map(|group| rooms.core.groups().is_destroyed(group));
        assert_eq!(are_noise, [true, false]);
        copied(&mut rooms, &report, (first, 0), (second, 1), false);
        assert!(rooms.core.groups().is_destroyed(second), "a copy of a copy");
    }
}
