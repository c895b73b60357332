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
use super::ends;
use crate::die_failure::{Sign, Verdict};
use crate::host;
use crate::news;
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
    news::tell(core, panel, metadata, News::DieFailed { die });
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
        Purpose::HostRead { part } => ends::host_read(rooms, (group, offset), part, good),
        Purpose::Fill { slot } => {
            rooms.metadata.note_media_error(true);
            rooms.core.groups_mut().unpin(group);
            ends::end_reading(rooms, group, offset);
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

/// End an operation that was under way when its die failed. Data that was read for the host is all that counts of it, whatever its status.
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
        Purpose::Metadata { kind, program } => ends::written(rooms, die, false, kind, (group, program)),
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

#[cfg(test)]
mod tests {
    use wordline_flash::{Mark, Operation, OperationKind};
    use wordline_units::{HostOp, Nanos};

    use super::*;
    use crate::config::tests::small;
    use crate::config::{BufferConfig, Config, Protection};
    use crate::dispatch::ended::ended;
    use crate::dispatch::next::next_operation;
    use crate::setup::build;
    use crate::state::layout::UnitAddr;
    use crate::state::request::Request;
    use crate::state::request::tests::WRITE;

    /// Three dies of ten groups. They store bytes if `keeps_data`.
    fn three(keeps_data: bool) -> Config {
        let (checkpoint_every, oob_copies) = (keeps_data.then_some(4), keeps_data);
        Config { dies: 3, keeps_data, checkpoint_every, oob_copies, ..small(300) }
    }

    /// Order what there is to do. Returns the operations.
    fn order(rooms: &mut Rooms, at: u64) -> Vec<Operation> {
        std::iter::from_fn(|| next_operation(rooms, Nanos(at))).collect()
    }

    /// Report `operation`. A dead die says that it has failed, and its pages read as noise.
    fn finish(rooms: &mut Rooms, operation: &Operation, dead: Option<DieId>) {
        if matches!(operation.kind, OperationKind::Program { .. }) {
            rooms.metadata.note_marks(operation.die, &vec![Mark::NOTHING; rooms.core.layout().units_per_program as usize]);
        }
        let is_read = matches!(operation.kind, OperationKind::Read { .. });
        let status = match (dead == Some(operation.die), is_read) {
            (false, _) => Status::Good,
            (true, true) => Status::Uncorrectable,
            (true, false) => Status::Failed,
        };
        let oob = vec![wordline_units::Lpn(u32::MAX); 4];
        rooms.core.ready(operation.die);
        let report =
            Report { corrected_bits: if is_read { 5_000 } else { 0 }, ..Report::plain(operation.tag, operation.die, status, &oob) };
        let report = if status == Status::Good { Report { corrected_bits: 0, ..report } } else { report };
        ended(rooms, &report);
    }

    /// Do all that there is to do.
    fn work(rooms: &mut Rooms, dead: Option<DieId>) -> Vec<Operation> {
        let mut done = Vec::new();
        for at in 1..5_000 {
            while rooms.core.outbox_mut().next_step().is_some() {}
            while rooms.core.outbox_mut().next_fact().is_some() {}
            let ordered = order(rooms, at);
            if ordered.is_empty() {
                return done;
            }
            ordered.iter().for_each(|operation| finish(rooms, operation, dead));
            done.extend(ordered);
        }
        panic!("it never rests");
    }

    fn answers(rooms: &mut Rooms) -> Vec<(u32, bool)> {
        std::iter::from_fn(|| rooms.core.requests_mut().acknowledge()).map(|done| (done.id, done.ok)).collect()
    }

    fn write(rooms: &mut Rooms, id: u32, lpn: u32) {
        rooms.submit(Request { id, lpn, ..WRITE });
    }

    fn notes(rooms: &mut Rooms) -> Vec<Note> {
        std::iter::from_fn(|| rooms.core.outbox_mut().next_note()).collect()
    }

    #[test]
    fn a_program_under_way_on_a_failed_die_is_done_again_elsewhere_and_what_lay_there_is_lost() {
        let mut rooms = build(&three(false));
        (0..3).for_each(|at| write(&mut rooms, at, at * 4));
        work(&mut rooms, None);
        let die_of = |rooms: &Rooms, lpn: u32| rooms.core.layout().die(rooms.core.layout().group(rooms.core.map().get(lpn)));
        let dead = die_of(&rooms, 0);
        answers(&mut rooms);
        // All dies are at a program when the die fails.
        (0..3).for_each(|at| write(&mut rooms, at, 100 + at * 4));
        let ordered = order(&mut rooms, 9);
        assert_eq!(ordered.len(), 3);
        rooms.submit(Request { id: 7, op: HostOp::Read, lpn: 0, units: 1, ..WRITE });
        answers(&mut rooms);
        fail(&mut rooms, dead);
        assert_eq!(answers(&mut rooms), [(7, false)], "what waits for the die fails at once");
        assert_eq!(notes(&mut rooms), [Note::DieFailed(dead), Note::UnitsLost(dead, 4)]);
        // Even a good status counts for nothing.
        ordered.iter().for_each(|operation| finish(&mut rooms, operation, None));
        let more = work(&mut rooms, Some(dead));
        assert!(more.iter().all(|operation| operation.die != dead));
        assert!((100..112).all(|lpn| rooms.core.buffer().held(lpn).is_some() || die_of(&rooms, lpn) != dead));
        rooms.submit(Request { id: 8, op: HostOp::Flush, units: 0, ..WRITE });
        work(&mut rooms, Some(dead));
        assert_eq!(answers(&mut rooms).last(), Some(&(8, true)));
        assert!((100..112).all(|lpn| rooms.core.map().get(lpn) != UnitAddr::NONE && die_of(&rooms, lpn) != dead));
        assert!(rooms.is_quiet());
    }

    #[test]
    fn a_unit_that_is_written_or_trimmed_heals_and_one_written_in_part_keeps_its_other_sectors_lost() {
        let mut rooms = build(&three(false));
        write(&mut rooms, 0, 0);
        work(&mut rooms, None);
        let dead = rooms.core.layout().die(rooms.core.layout().group(rooms.core.map().get(0)));
        fail(&mut rooms, dead);
        notes(&mut rooms);
        answers(&mut rooms);
        rooms.submit(Request { id: 1, units: 1, ..WRITE });
        rooms.submit(Request { id: 2, op: HostOp::Trim, lpn: 1, units: 1, ..WRITE });
        rooms.submit(Request { id: 3, lpn: 2, units: 1, skip_head: 1, ..WRITE });
        rooms.submit(Request { id: 4, op: HostOp::Flush, units: 0, ..WRITE });
        work(&mut rooms, Some(dead));
        assert_eq!(answers(&mut rooms), [(1, true), (2, true), (3, true), (4, true)]);
        assert_eq!(notes(&mut rooms).iter().map(|note| if let Note::UnitsHealed(_, units) = note { *units } else { 0 }).sum::<u32>(), 3);
        assert_eq!(rooms.core.failures().map(|failures| failures.lost()), Some(1));
        let mut reads = |lpn, skip_head, skip_tail| {
            rooms.submit(Request { id: 9, op: HostOp::Read, lpn, units: 1, skip_head, skip_tail, ..WRITE });
            work(&mut rooms, Some(dead));
            answers(&mut rooms)[0].1
        };
        assert_eq!([reads(0, 0, 0), reads(1, 0, 0), reads(3, 0, 0)], [true, true, false]);
        assert_eq!([reads(2, 1, 0), reads(2, 0, 7)], [true, false], "the first sector is lost, the others were written");
    }

    #[test]
    fn the_journal_and_the_checkpoints_begin_anew_on_other_dies_wherever_they_were() {
        for (dead, programs) in (0..3).map(DieId).flat_map(|dead| (0..14).map(move |programs| (dead, programs))) {
            for protection in [Protection::None, Protection::Capacitor] {
                let config = three(true);
                let mut rooms = build(&Config { buffer: BufferConfig { protection, ..config.buffer }, ..config });
                (0..6).for_each(|at| write(&mut rooms, at, at * 4));
                work(&mut rooms, None);
                rooms.submit(Request { id: 20, op: HostOp::Trim, units: 2, ..WRITE });
                rooms.submit(Request { id: 21, op: HostOp::Flush, units: 0, ..WRITE });
                // At any moment, also while a program of the journal or of a checkpoint is under way.
                let mut left: Vec<Operation> = Vec::new();
                for at in 0..programs {
                    write(&mut rooms, 30, 40 + at * 4);
                    left.extend(order(&mut rooms, 100 + u64::from(at)));
                    if !left.is_empty() {
                        let first = left.remove(0);
                        finish(&mut rooms, &first, None);
                    }
                }
                fail(&mut rooms, dead);
                left.iter().for_each(|operation| finish(&mut rooms, operation, Some(dead)));
                rooms.submit(Request { id: 22, op: HostOp::Trim, lpn: 4, units: 2, ..WRITE });
                rooms.submit(Request { id: 23, op: HostOp::Flush, units: 0, ..WRITE });
                let more = work(&mut rooms, Some(dead));
                let what = format!("{dead:?} after {programs} programs, {protection:?}");
                assert!(more.iter().all(|operation| operation.die != dead), "{what}");
                let answers = answers(&mut rooms);
                assert!([21, 22, 23].iter().all(|&id| answers.contains(&(id, true))), "{what}: {answers:?}");
                rooms.go_down();
                work(&mut rooms, Some(dead));
                assert!(rooms.metadata.is_down(), "{what}");
                let durable = rooms.metadata.trims_durable();
                assert!(rooms.metadata.trims_newest() <= durable, "{what}");
            }
        }
    }
}
