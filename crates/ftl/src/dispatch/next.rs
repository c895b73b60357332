//! The choice of a die's next operation.
//!
//! Work is bound to a die as late as possible: host data stays in the buffer until a die that can take a program asks. So no write ever queues behind
//! a busy die while another is idle, which is what a fixed address-to-die rule costs (a drive under GC then runs at the pace of its slowest
//! die).

use wordline_flash::{Operation, OperationKind};
use wordline_units::{Cause, DieId, Nanos, OpTag};

use super::Rooms;
use crate::die_failure::Step;
use crate::gc::{fail_guarded, has_program, measure, program_batch};
use crate::host::is_pressed;
use crate::metadata::Metadata;
use crate::metadata::log::Rescue;
use crate::placement::{Data, ProgramPlace, next_program};
use crate::scheduler::{self, DieWork, Policy, Scheduler};
use crate::state::Core;
use crate::state::pending::Purpose;
use crate::state::settings::{GcConfig, ScheduleConfig};
use crate::state::work::{Activity, Offer, Source};
use crate::techniques::apply::{give_way, next_read, serves_while_held};
use crate::util::list::NIL;

/// Next operation to be issued, if any.
#[inline]
pub(crate) fn next_operation(rooms: &mut Rooms, now: Nanos) -> Option<Operation> {
    let core = &mut rooms.core;
    // Asked after every event, and most leave nothing to say: every die is at work, or there is nothing to write.
    let nothing_to_write = (core.idle().is_empty() && core.loadable().is_empty()) || core.buffer().complete() == 0;
    if !core.is_any_ready() && nothing_to_write && !core.outbox().has_stops() && core.under_way() > 0 {
        return None;
    }
    core.set_now(now);
    find(rooms)
}

fn find(rooms: &mut Rooms) -> Option<Operation> {
    if let Some(stop) = rooms.core.outbox_mut().next_stop() {
        return Some(stop);
    }
    loop {
        if let Some(die) = rooms.core.next_ready() {
            match decide(rooms, die) {
                Some(operation) => return Some(operation),
                None => rooms.core.rest(die),
            }
            continue;
        }
        if let Some(die) = idle_writer(rooms) {
            rooms.core.wake(die);
            continue;
        }
        if rooms.core.is_any_ready() {
            continue;
        }
        if !rooms.core.loadable().is_empty()
            && let Some(program) = program_ahead(rooms)
        {
            return Some(program);
        }
        if rooms.core.under_way() == 0 && rooms.gc.names().is_seeking() {
            // Nobody else would ask again.
            super::ended::seek_on(rooms);
            continue;
        }
        if rooms.core.under_way() == 0 && is_rescued(rooms) {
            continue;
        }
        // Who is told that nothing will come of what he waits for may have left something to do.
        if give_up_if_stuck(rooms) {
            continue;
        }
        return None;
    }
}

/// Rescue a core in which nothing is under way because metadata has no room: it takes the last free group. Returns true if there is something to do now.
fn is_rescued(rooms: &mut Rooms) -> bool {
    let Rooms { core, metadata, .. } = rooms;
    match metadata.rescue(core) {
        Rescue::Found => return true,
        Rescue::Stuck if core.is_worn_out() => metadata.fail_trims(core),
        Rescue::Stuck => rooms.wear_out(),
        Rescue::Needless => {}
    }
    let Rooms { core, metadata, sanitise, .. } = rooms;
    match sanitise.rescue_keys(core, metadata) {
        Rescue::Found => true,
        Rescue::Stuck => {
            if !core.is_worn_out() {
                rooms.wear_out();
            }
            false
        }
        Rescue::Needless => false,
    }
}

/// Next operation of `die`, which is free or suspended.
fn decide(rooms: &mut Rooms, die: DieId) -> Option<Operation> {
    let Rooms { core, panel, .. } = rooms;
    if let Activity::Suspended(cause) = core.die(die).activity() {
        if serves_while_held(core, panel, die)
            && let Some(priority) = core.die(die).reads().next_priority()
            && let Some(read) = next_read(core, panel, die)
        {
            core.die_mut(die).stops_mut().serve(priority);
            return Some(read);
        }
        let (now, steps) = (core.now(), core.settings().steps);
        core.die_mut(die).resume(now, &steps);
        if let Some(priority) = core.die(die).reads().next_priority() {
            give_way(core, panel, die, priority);
        }
        return Some(Operation { tag: OpTag(NIL), die, kind: OperationKind::Resume, cause });
    }
    debug_assert_eq!(core.die(die).activity(), Activity::Free);
    if core.failures().is_some()
        && let Some(step) = troubled(rooms, die)
    {
        return step;
    }
    let Rooms { core, panel, metadata, gc, .. } = rooms;
    let (ScheduleConfig { reads_first, reads_in_row, .. }, now) = (core.settings().schedule, core.now());
    let (reads_first, reads_in_row) = if core.die_mut(die).is_pressed(now) { (false, None) } else { (reads_first, reads_in_row) };
    if core.die_mut(die).reads_mut().takes_turn(reads_first, reads_in_row) {
        return next_read(core, panel, die);
    }
    if core.services().measures().has(die)
        && let Some(read) = measure(gc, core, panel, metadata, die)
    {
        return Some(read);
    }
    // One after the other: handed on by `or_else`, an operation is copied once for each that is asked.
    if let Some(work) = next_work(rooms, die) {
        return Some(work);
    }
    let Rooms { core, panel, sanitise, .. } = rooms;
    // What garbage collection has just emptied may have left keys to destroy, and only a die that is not being asked can be woken for them.
    if sanitise.keys().is_none() {
        return next_read(core, panel, die);
    }
    serve(rooms, die, Source::Keys).or_else(|| serve(rooms, die, Source::Read))
}

/// Next operation of `die`, if it is suspect or has failed: nothing goes before a probe, and a failed die only ends the reads that it has begun. `None`: it is
/// neither.
#[cold]
#[inline(never)]
fn troubled(rooms: &mut Rooms, die: DieId) -> Option<Option<Operation>> {
    let Rooms { core, panel, detector, .. } = rooms;
    if core.is_failed(die) {
        return Some(next_read(core, panel, die));
    }
    match detector.step(core, die) {
        Step::Nothing => None,
        Step::Probe(probe) => Some(Some(probe)),
        Step::Wait => Some(None),
    }
}

/// Next metadata program, sanitise operation, program of host data or step of garbage collection on `die`.
fn next_work(rooms: &mut Rooms, die: DieId) -> Option<Operation> {
    if let Some(step) = first_work(rooms, die) {
        return Some(step);
    }
    let share = Share::of(&rooms.core, die);
    if share.has_gc
        && share.gc_first
        && let Some(step) = serve(rooms, die, Source::Gc)
    {
        return Some(step);
    }
    let Rooms { core, metadata, .. } = rooms;
    if has_program(core, metadata, core.now()) && core.can_write(die) {
        share.take(core, die);
        // Where a die reads between programs the next read is not far, and would wait for two.
        if core.loadable().is_on() && core.die_mut(die).programs_mut().begin_row() {
            core.loadable_mut().insert(die);
        }
        return Some(program_host(rooms, die));
    }
    if share.has_gc && !share.gc_first { serve(rooms, die, Source::Gc) } else { None }
}

/// Shares of the host and of garbage collection in a die.
#[derive(Clone, Copy)]
struct Share {
    scheduler: Scheduler,
    /// True if garbage collection has something to do.
    has_gc: bool,
    /// True if space demands it, so that the host pays for its programs.
    is_paid: bool,
    /// True if it goes before the host.
    gc_first: bool,
    credit: i32,
}

impl Share {
    #[inline(always)]
    fn of(core: &Core, die: DieId) -> Share {
        let GcConfig { scheduler, floor, preemptible, start, .. } = core.settings().gc;
        let state = core.die(die);
        let is_short = state.is_short(start);
        let is_due = is_short || state.is_emptying();
        let is_extra = !is_short && state.empties_extra();
        let work = DieWork { is_due, is_extra, free: state.free_count(), floor, preemptible, credit: state.credit() };
        let gc_first = scheduler.first(&work) == scheduler::Turn::Gc;
        Share { scheduler, has_gc: is_due || state.has_wishes(), is_paid: is_due && !is_extra, gc_first, credit: work.credit }
    }

    /// Count a program of the host's on `die`.
    #[inline(always)]
    fn take(self, core: &mut Core, die: DieId) {
        // What the host has while nothing has to be collected is not kept for later.
        let taken = self.scheduler.taken(core.layout().units_per_program);
        core.die_mut(die).set_credit(if self.is_paid { scheduler::add(self.credit, taken) } else { 0 });
    }
}

/// Program of host data for a die that is doing one, and takes in its data meanwhile. Only a whole program unit that no idle die takes goes this way: what is
/// bound to a die early waits for it.
#[cold]
fn program_ahead(rooms: &mut Rooms) -> Option<Operation> {
    loop {
        let Rooms { core, metadata, .. } = rooms;
        if core.buffer().complete() < core.layout().units_per_program || !metadata.has_place() {
            return None;
        }
        let die = core.loadable_mut().take()?;
        let share = Share::of(core, die);
        let is_wanted_else = core.die(die).reads().waiting() > 0 || core.services().measures().has(die) || (share.has_gc && share.gc_first);
        // Whatever is in the way is there until the program ends, and the die is asked for everything then.
        if is_wanted_else || !core.can_write(die) {
            continue;
        }
        share.take(core, die);
        core.die_mut(die).programs_mut().exchange();
        let ProgramPlace { group, program, closes } = batch_host(rooms, die);
        // Its settings are asked for when it begins.
        let program = rooms.core.issue_program(group, program, Purpose::Program { program, closes }, Cause::Host);
        let programs = rooms.core.die_mut(die).programs_mut();
        programs.exchange();
        programs.follow_with(program.tag);
        return Some(program);
    }
}

/// Next operation of `die` for metadata or a sanitiser, which go before the host and garbage collection: somebody waits for them.
#[inline(always)]
fn first_work(rooms: &mut Rooms, die: DieId) -> Option<Operation> {
    let has_own = rooms.metadata.has_journal() || rooms.sanitise.is_on() || rooms.sanitise.keys().is_some();
    if has_own { serve_first(rooms, die, &[Source::Metadata, Source::Summary, Source::Keys, Source::Sanitise]) } else { None }
}

/// Next operation of `die` from `source`, or from a source that goes first.
#[inline(always)]
fn serve(rooms: &mut Rooms, die: DieId, source: Source) -> Option<Operation> {
    match offer(rooms, die, source) {
        Offer::Ready(operation) => Some(operation),
        Offer::Nothing => None,
        Offer::Needs(sources) => serve_first(rooms, die, sources),
    }
}

/// Next operation of `die` from the first of `sources` that has one. Apart from the rest, because most drives in virtual time have none of them.
#[inline(never)]
fn serve_first(rooms: &mut Rooms, die: DieId, sources: &'static [Source]) -> Option<Operation> {
    sources.iter().find_map(|&source| serve(rooms, die, source))
}

/// Answer of `source` when it is asked for the next operation of `die`.
#[inline(always)]
fn offer(rooms: &mut Rooms, die: DieId, source: Source) -> Offer {
    let Rooms { core, panel, metadata, sanitise, gc, .. } = rooms;
    match source {
        Source::Read => next_read(core, panel, die).into(),
        Source::Metadata if metadata.has_journal() => own_step(core, metadata, die).into(),
        Source::Summary if metadata.has_oob() => metadata.oob_step(core, die, |group| sanitise.tries_again(die, group)).into(),
        Source::Keys if sanitise.keys().is_some() => sanitise.keys_step(core, metadata, die).into(),
        Source::Sanitise if sanitise.is_on() => sanitise.step(core, panel, metadata, die),
        Source::Metadata | Source::Summary | Source::Keys | Source::Sanitise => Offer::Nothing,
        Source::Gc => gc.step(core, panel, metadata, sanitise, die),
    }
}

#[cold]
fn own_step(core: &mut Core, metadata: &mut Metadata, die: DieId) -> Option<Operation> {
    metadata.journal_step(core, die).or_else(|| metadata.checkpoint_step(core, die))
}

/// Next idle die that should program host data.
fn idle_writer(rooms: &mut Rooms) -> Option<DieId> {
    let Rooms { core, metadata, .. } = rooms;
    if core.idle().is_empty() || !has_program(core, metadata, core.now()) {
        return None;
    }
    let writer = core.next_idle_writer();
    if writer.is_none() && core.is_gc_stalled() {
        press(core);
    }
    writer
}

/// Retry GC that was not worth while at rest: host data waits and no idle die can take it.
#[cold]
fn press(core: &mut Core) {
    for die in core.die_ids() {
        if core.die_mut(die).take_gc_pays_from().is_some() {
            core.wake(die);
        }
    }
}

// Always inlined: outlined, the operation is copied on its way to each of its two callers.
#[inline(always)]
fn program_host(rooms: &mut Rooms, die: DieId) -> Operation {
    let place = batch_host(rooms, die);
    program_batch(&mut rooms.core, &mut rooms.panel, place, Cause::Host)
}

/// Gather the units of the next program of host data on `die`, which can take one. Returns its place.
#[inline(always)]
fn batch_host(rooms: &mut Rooms, die: DieId) -> ProgramPlace {
    let Rooms { core, panel, metadata, .. } = rooms;
    let place = next_program(core, panel, metadata, die, Data::Host).expect("the die can take a host program");
    metadata.reserve(die);
    core.batch_host(die);
    place
}

/// Stop taking writes if nothing is under way and requests still wait, because no block is left for their data. Returns true if the core has given up just
/// now.
fn give_up_if_stuck(rooms: &mut Rooms) -> bool {
    let Rooms { core, metadata, sanitise, .. } = rooms;
    if core.under_way() > 0 || sanitise.register_due().is_some() {
        return false;
    }
    let is_sanitising_stuck = sanitise.is_awaited(core, metadata);
    if core.is_worn_out() {
        // A trim may still have come, whose record no flash can take any more.
        if is_sanitising_stuck {
            fail_guarded(core, metadata, sanitise);
        }
    } else if is_sanitising_stuck || (is_pressed(core, metadata) && has_program(core, metadata, core.now())) {
        rooms.wear_out();
        return true;
    }
    false
}

#[cfg(test)]
mod tests {
    use wordline_flash::{Report, Status};
    use wordline_units::HostOp;

    use super::*;
    use crate::config::tests::small;
    use crate::dispatch::ended::ended;
    use crate::setup::build;
    use crate::state::request::Request;
    use crate::state::request::tests::WRITE;

    fn finish(rooms: &mut Rooms, operation: &Operation) {
        rooms.core.ready(operation.die);
        ended(rooms, &Report::plain(operation.tag, operation.die, Status::Good, &[]));
    }

    #[test]
    fn a_program_is_ordered_once_it_is_full_and_what_it_held_lies_on_flash_when_it_has_ended() {
        let mut rooms = build(&small(64));
        rooms.submit(Request { units: 3, ..WRITE });
        assert_eq!(next_operation(&mut rooms, Nanos(1)), None, "three units of four, and nobody waits");
        rooms.submit(Request { lpn: 3, units: 1, ..WRITE });
        let operation = next_operation(&mut rooms, Nanos(2)).expect("a program unit is full");
        assert!(
            matches!(operation.kind, OperationKind::Program { origin, .. } if (origin.host, origin.moved, origin.padding) == (4, 0, 0))
        );
        assert_eq!(next_operation(&mut rooms, Nanos(2)), None, "the only die is at work");
        assert_eq!(rooms.core.map().mapped(), 0);
        finish(&mut rooms, &operation);
        assert_eq!((rooms.core.map().mapped(), rooms.core.buffer().is_empty()), (4, true));
    }

    #[test]
    fn a_flush_forces_out_what_is_there_with_padding() {
        let mut rooms = build(&small(64));
        rooms.submit(Request { units: 1, ..WRITE });
        rooms.submit(Request { id: 9, op: HostOp::Flush, units: 0, ..WRITE });
        let operation = next_operation(&mut rooms, Nanos(1)).expect("somebody waits");
        assert!(matches!(operation.kind, OperationKind::Program { origin, .. } if (origin.host, origin.padding) == (1, 3)));
        let before = std::iter::from_fn(|| rooms.core.requests_mut().acknowledge()).count();
        finish(&mut rooms, &operation);
        assert_eq!((before, rooms.core.requests_mut().acknowledge().map(|done| done.id)), (1, Some(9)));
    }

    #[test]
    fn waiting_reads_go_before_programs_where_they_are_first() {
        let mut rooms = build(&small(64));
        rooms.submit(WRITE);
        let program = next_operation(&mut rooms, Nanos(1)).expect("a program unit is full");
        finish(&mut rooms, &program);
        rooms.submit(Request { lpn: 4, ..WRITE });
        rooms.submit(Request { id: 2, op: HostOp::Read, ..WRITE });
        let first = next_operation(&mut rooms, Nanos(2)).expect("there is work of two kinds");
        assert!(matches!(first.kind, OperationKind::Read { .. }));
        finish(&mut rooms, &first);
        let second = next_operation(&mut rooms, Nanos(3)).expect("and the other");
        assert!(matches!(second.kind, OperationKind::Program { .. }));
    }
}
