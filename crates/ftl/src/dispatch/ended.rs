//! The end of an operation, and what follows from it in each room.

use wordline_flash::{Report, Status};
use wordline_units::{Cause, DieId};

use super::Rooms;
use super::ends::{end_reading, host_read, written};
use crate::gc::{self, Nameless};
use crate::host;
use crate::news;
use crate::state::Core;
use crate::state::groups::Use;
use crate::state::layout::BlockGroup;
use crate::state::pending::{Pending, Purpose};
use crate::state::request::Note;
use crate::state::work::Moved;
use crate::techniques::hooks::{Hook, Hooks};
use crate::techniques::seam::{EraseReport, FlashPage, News, ReadReport};

/// Hooks that a finished read calls, or may set going.
const OF_READS: Hooks = Hooks::of(&[Hook::Read, Hook::MayWork]);

/// End the operation of `report`.
pub(crate) fn ended(rooms: &mut Rooms, report: &Report<'_>) {
    let pending = rooms.core.end(report.tag);
    if report.no_answer {
        super::failing::fail(rooms, report.die);
    }
    if rooms.core.is_failed(report.die) {
        return super::failing::end_on_failed(rooms, report, &pending);
    }
    let Pending { purpose, group, offset, cause, .. } = pending;
    let good = report.status == Status::Good;
    match purpose {
        Purpose::HostRead { part } => {
            host_read(rooms, (group, offset), part, good);
            page_read(rooms, report, group, offset, cause);
            wake_for_erase(&mut rooms.core, report.die, group);
        }
        Purpose::Fill { slot } => {
            filled(rooms, (group, offset), slot, good);
            page_read(rooms, report, group, offset, cause);
            wake_for_erase(&mut rooms.core, report.die, group);
        }
        Purpose::Measure { .. } => {
            rooms.core.services_mut().measures_mut().end(report.die);
            rooms.core.groups_mut().unpin(group);
            page_read(rooms, report, group, offset, cause);
            rooms.core.wake(report.die);
        }
        Purpose::Move { units } => {
            let moved = gather(rooms, (group, offset), units, |unit| report.oob[unit as usize].0, good);
            page_read(rooms, report, group, offset, cause);
            if !good && moved > 0 {
                tell_lost(rooms, group, offset, moved);
            }
        }
        Purpose::Program { program, closes } => super::landing::programmed(rooms, report, (group, program), closes),
        Purpose::Copyback { from, from_program, program, closes } => {
            super::landing::copied(rooms, report, (from, from_program), (group, program), closes);
        }
        Purpose::Probe { has_tries } => super::failing::probed(rooms, report, group, has_tries),
        Purpose::Erase => {
            let Rooms { core, panel, metadata, sanitise, .. } = rooms;
            let has_left = core.groups().retires(core.settings().retirement, group, Some(report.status));
            gc::erased(core, panel, metadata, sanitise, EraseReport::of(report, group, has_left));
        }
        Purpose::Sanitise { task } => {
            let Rooms { core, metadata, sanitise, .. } = rooms;
            sanitise.ended(core, metadata, report.die, report.status, task);
        }
        Purpose::Metadata { kind, program } => written(rooms, report.die, good, kind, (group, program)),
        Purpose::JournalErase => {
            let Rooms { core, panel, metadata, sanitise, .. } = rooms;
            let has_left = core.groups().retires(core.settings().retirement, group, Some(report.status));
            metadata.journal_erased(core, !has_left, group);
            if has_left {
                gc::replace(core, panel, metadata, sanitise, group);
            } else if let Some(keys) = sanitise.keys_mut() {
                // Data may have been in it, and may come into it next.
                keys.next_epoch(core, group);
            }
            // After a power cut it may have been taken as it was, with what its last user has left in it.
            gc::erase_ended(core, panel, metadata, sanitise, EraseReport::of(report, group, has_left));
            metadata.wake_journal(core);
        }
    }
    if !good {
        super::failing::notice(rooms, report, purpose, group);
    }
    if rooms.gc.names().is_seeking() {
        seek_on(rooms);
    }
}

/// End the read of the sectors that were missing in `slot`, which the host has written in part.
fn filled(rooms: &mut Rooms, (group, offset): (BlockGroup, u32), slot: u32, good: bool) {
    let Rooms { core, metadata, sanitise, .. } = rooms;
    metadata.note_media_error(!good);
    core.groups_mut().unpin(group);
    let from = core.layout().unit(group, offset);
    lose_missing(core, slot, good);
    host::complete(core, sanitise, slot, from);
    if !good {
        tell_lost(rooms, group, offset, 1);
    }
    end_reading(rooms, group, offset);
    let Rooms { core, panel, metadata, sanitise, .. } = rooms;
    host::admit_waiting(core, panel, metadata, sanitise);
    // A unit that was trimmed meanwhile is let go here, and somebody may have waited for it to become durable.
    rooms.settle();
}

/// Mark the missing sectors of `slot` as lost that could not be read, or were lost where they came from.
fn lose_missing(core: &mut Core, slot: u32, good: bool) {
    if good && core.lost().is_none() {
        return;
    }
    let (lpn, missing) = (core.buffer().unit_in(slot), core.buffer().missing(slot));
    if let Some(lost) = core.lost_mut() {
        let sectors = if good { missing & lost.of(lpn) } else { missing };
        core.buffer_mut().lose(slot, sectors);
    }
}

/// Look for names in some more of the map. Units that have theirs now are moved, and lost.
#[cold]
pub(super) fn seek_on(rooms: &mut Rooms) {
    let Rooms { core, gc, .. } = rooms;
    if let Some(Nameless { group, offset, units, names, .. }) = gc.names_mut().step(core.map(), core.layout()) {
        let moved = gather(rooms, (group, offset), units, |unit| names.get(&unit).copied().unwrap_or(u32::MAX), false);
        if moved > 0 {
            tell_lost(rooms, group, offset, moved);
        }
    }
}

/// End the read of a victim's page. Those of its `units`, one bit each, that are still valid wait to be programmed elsewhere under their names, even if the
/// page could not be read: their sectors are lost then. For units that have no name the read goes on until the map has told it. Returns how many wait now.
#[inline]
fn gather(rooms: &mut Rooms, (group, offset): (BlockGroup, u32), units: u64, name: impl Fn(u32) -> u32, good: bool) -> u16 {
    let Rooms { core, sanitise, gc, .. } = rooms;
    let (first, die) = (core.layout().page_start(offset), core.layout().die(group));
    let (mut left, mut moved, mut nameless) = (units, 0, 0u64);
    while left != 0 {
        let unit = left.trailing_zeros();
        left &= left - 1;
        // The host may have overwritten it while it was read.
        if core.groups().is_valid(group, first + unit) {
            let from = core.layout().unit(group, first + unit);
            // GC and a sanitiser may have read it both.
            if sanitise.is_on() && sanitise.is_on_its_way(core, die, from) {
                continue;
            }
            let lpn = name(unit);
            if lpn >= core.map().exported() {
                nameless |= 1 << unit;
                continue;
            }
            core.map().prefetch(lpn);
            core.die_mut(die).gather(Moved { lpn, from });
            moved += 1;
            if !good && let Some(lost) = core.lost_mut() {
                lost.set(lpn, u64::MAX);
            }
        }
    }
    if nameless != 0 {
        gc.names_mut().seek(core.map(), core.layout(), (group, offset), nameless);
        return moved;
    }
    core.groups_mut().unpin(group);
    core.die_mut(die).end_move();
    core.wake(die);
    moved
}

/// Wake `die` to erase `group`, which only waited for its readers.
fn wake_for_erase(core: &mut Core, die: DieId, group: BlockGroup) {
    if core.groups().use_of(group) == Use::Drained && !core.groups().is_pinned(group) {
        core.wake(die);
    }
}

/// Tell the techniques that the page that holds `offset` of `group` was read for `cause`.
#[inline]
fn page_read(rooms: &mut Rooms, report: &Report<'_>, group: BlockGroup, offset: u32, cause: Cause) {
    if rooms.panel.has_any(OF_READS) {
        tell_read(rooms, report, group, offset, cause);
    }
}

#[inline(never)]
fn tell_read(rooms: &mut Rooms, report: &Report<'_>, group: BlockGroup, offset: u32, cause: Cause) {
    let Rooms { core, panel, metadata, gc, .. } = rooms;
    let at = FlashPage::holding(core.layout(), group, offset);
    let &Report { status, retries, last, corrected_bits: worst, tally, spans, .. } = report;
    // A host's reads are a sample in a leap over reads. What the firmware reads by itself it reads once.
    let times = if cause == Cause::Host { core.read_times() } else { 1 };
    news::tell(core, panel, metadata, News::Read(ReadReport { at, cause, status, retries, last, worst, tally, array: spans.die, times }));
    if panel.has(Hook::MayWork) {
        gc.look_again(core, report.die, group, retries);
    }
}

/// Tell the log and the techniques that `units` valid units of the page that holds `offset` of `group` could not be read.
#[cold]
fn tell_lost(rooms: &mut Rooms, group: BlockGroup, offset: u32, units: u16) {
    let Rooms { core, panel, metadata, .. } = rooms;
    let at = FlashPage::holding(core.layout(), group, offset);
    core.outbox_mut().note(Note::DataLost(group, u32::from(units)));
    news::tell(core, panel, metadata, News::DataLost { at, units });
}
