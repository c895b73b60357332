//! Dies that fail: from the first sign to what becomes of everything that lay there or was on its way.
//!
//! | what | becomes |
//! |---|---|
//! | groups with valid units | lost; the map goes on pointing there |
//! | other groups | bad |
//! | host data of a program under way | goes back to the buffer |
//! | units gathered to be moved | are lost where they are |
//! | reads that wait or are under way | fail |
//! | journal, checkpoints and keys | begin anew on other dies |
//! | sanitise tasks | are told as exposed; who waits for them goes on |

use wordline_flash::{Report, Status};
use wordline_units::DieId;

use super::Rooms;
use super::ended;
use crate::die_failure::{Sign, Verdict};
use crate::host;
use crate::state::failures::{self, has_enough_space};
use crate::state::groups::Use;
use crate::state::layout::BlockGroup;
use crate::state::pending::{Pending, Purpose};
use crate::state::request::Note;
use crate::state::work::Entry;
use crate::techniques::seam::News;

/// Take note of an operation for `purpose` in `group` that went badly.
#[cold]
#[inline(never)]
pub(super) fn notice(rooms: &mut Rooms, report: &Report<'_>, purpose: Purpose, group: BlockGroup) {
    let Rooms { core, detector, .. } = rooms;
    let sign = match purpose {
        // A probe is judged by itself, and a lock that fails says nothing of a block.
        Purpose::Probe { .. } | Purpose::Sanitise { .. } => return,
        Purpose::HostRead { .. } | Purpose::Fill { .. } | Purpose::Measure { .. } | Purpose::Move { .. } => {
            Sign::Read(report.corrected_bits)
        }
        Purpose::Program { .. } | Purpose::Erase | Purpose::Copyback { .. } | Purpose::Metadata { .. } | Purpose::JournalErase => {
            Sign::Status
        }
    };
    detector.notice(core, group, sign);
}

/// End the probe of `report` in `group`.
#[cold]
pub(super) fn probed(rooms: &mut Rooms, report: &Report<'_>, group: BlockGroup, has_tries: bool) {
    let Rooms { core, detector, .. } = rooms;
    core.groups_mut().unpin(group);
    match detector.probed(core, report, has_tries) {
        Verdict::Failed => fail(rooms, report.die),
        Verdict::Open | Verdict::Well => core.wake(report.die),
    }
}

/// Take `die` out of service, which has failed.
#[cold]
#[inline(never)]
pub(super) fn fail(rooms: &mut Rooms, die: DieId) {
    let Rooms { core, metadata, sanitise, detector, gc, .. } = rooms;
    if core.is_failed(die) {
        return;
    }
    detector.close(die);
    core.outbox_mut().note(Note::DieFailed(die));
    let lost = failures::fail_die(core, die);
    if lost > 0 {
        core.outbox_mut().note(Note::UnitsLost(die, lost));
    }
    core.services_mut().measures_mut().drop_all(die);
    sanitise.leave(core, metadata, die);
    for page in gc.names_mut().leave(die, core.layout()) {
        core.groups_mut().unpin(page.group);
        core.die_mut(die).end_move();
    }
    metadata.leave(core, die);
    sanitise.wake_keys(core, metadata);
    fail_reads(rooms, die);
    let Rooms { core, metadata, sanitise, .. } = rooms;
    if !core.is_worn_out() && !has_enough_space(core) {
        crate::gc::wear_out(core, metadata, sanitise);
    }
    let Rooms { core, panel, metadata, .. } = rooms;
    metadata.notify(core, panel, News::DieFailed { die });
    metadata.wake_journal(core);
    rooms.settle();
}

/// Fail the reads that wait for `die`. Those that it has begun go on: the drive knows them by their tags.
fn fail_reads(rooms: &mut Rooms, die: DieId) {
    let mut begun = Vec::new();
    while let Some(priority) = rooms.core.die(die).reads().next_priority()
        && let Some(tag) = rooms.core.pop_read(die)
    {
        if rooms.core.pending(tag).is_begun {
            begun.push((priority, tag));
            continue;
        }
        let pending = failures::withdraw(&mut rooms.core, tag);
        end_read(rooms, die, &pending, false);
    }
    if !begun.is_empty() {
        begun.into_iter().rev().for_each(|(priority, tag)| failures::queue_first(&mut rooms.core, die, priority, tag));
        failures::let_serve(&mut rooms.core, die);
    }
}

/// End a read of the failed `die`.
fn end_read(rooms: &mut Rooms, die: DieId, pending: &Pending, good: bool) {
    let &Pending { purpose, group, offset, .. } = pending;
    match purpose {
        Purpose::HostRead { part } => ended::host_read(rooms, (group, offset), part, good),
        Purpose::Fill { slot } => {
            rooms.metadata.note_media_error(true);
            rooms.core.groups_mut().unpin(group);
            ended::end_reading(rooms, group, offset);
            let Rooms { core, panel, metadata, sanitise, .. } = rooms;
            host::lose_rest(core, slot);
            host::admit_waiting(core, panel, metadata, sanitise);
            rooms.settle();
        }
        Purpose::Measure { .. } => {
            rooms.core.services_mut().measures_mut().end(die);
            rooms.core.groups_mut().unpin(group);
        }
        Purpose::Move { .. } => {
            rooms.core.groups_mut().unpin(group);
            rooms.core.die_mut(die).end_move();
        }
        Purpose::Probe { .. } => rooms.core.groups_mut().unpin(group),
        Purpose::Program { .. }
        | Purpose::Erase
        | Purpose::Copyback { .. }
        | Purpose::Metadata { .. }
        | Purpose::JournalErase
        | Purpose::Sanitise { .. } => unreachable!("no read"),
    }
}

/// End an operation that was under way when its die failed. Whatever its status says, nothing of it counts but what was read for the host.
#[cold]
#[inline(never)]
pub(super) fn end_on_failed(rooms: &mut Rooms, report: &Report<'_>, pending: &Pending) {
    let &Pending { purpose, group, .. } = pending;
    let die = report.die;
    match purpose {
        Purpose::HostRead { .. } | Purpose::Fill { .. } | Purpose::Measure { .. } | Purpose::Move { .. } | Purpose::Probe { .. } => {
            end_read(rooms, die, pending, report.status == Status::Good);
        }
        Purpose::Program { program, .. } => give_back(rooms, die, (group, program)),
        Purpose::Copyback { .. } | Purpose::Erase | Purpose::Sanitise { .. } => {}
        Purpose::Metadata { kind, program } => ended::written(rooms, die, false, kind, (group, program)),
        Purpose::JournalErase => {
            let Rooms { core, metadata, .. } = rooms;
            metadata.journal_erased(core, false, group);
            metadata.wake_journal(core);
        }
    }
}

/// Put the host's units of the program under way on the failed `die`, at `program` of `group`, back into the buffer.
fn give_back(rooms: &mut Rooms, die: DieId, (group, program): (BlockGroup, u32)) {
    let Rooms { core, metadata, sanitise, .. } = rooms;
    let batch = core.die_mut(die).programs_mut().now_mut().take();
    if sanitise.is_on() {
        sanitise.never_lands(core, metadata, group, &batch);
    }
    if metadata.has_oob() {
        let is_host = batch.iter().any(|entry| matches!(entry, Entry::Host { .. }));
        metadata.note_landing(core, die, (group, program), (false, is_host));
        if core.groups().use_of(group) != Use::Lost {
            metadata.forget_marks(group);
        }
    }
    for entry in batch.iter().rev() {
        if let Entry::Host { slot } = *entry {
            core.buffer_mut().failed(slot);
        }
    }
    core.die_mut(die).programs_mut().now_mut().end(batch);
    if core.loadable().is_on() {
        core.die_mut(die).programs_mut().go_on();
    }
    rooms.settle();
}
