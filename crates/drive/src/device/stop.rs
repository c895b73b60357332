//! Stopping what a die does for a read that waits: suspends of programs, erases and copybacks, and reads that are broken off.
//!
//! ```text
//!   order ─► the die accepts it? ──TrySuspend──► stopping ──Suspended──► the firmware knows: held
//!                                                   └ ordered harder: stopping anew
//!   order ─► the page is still sensed? ──► stopping ──Aborted──► the firmware knows, and queues the read again: parked until its turn
//!   a try failed ─► does it give way? ─────────────────────────► the firmware has queued it again: parked until its turn
//! ```

use wordline_chip::Probe;
use wordline_engine::{Calendar, FlashEvent, StopKind};
use wordline_flash::{Command, Stop};
use wordline_units::{Cause, DieId, FlashOp, Nanos, OpTag};

use super::board::{Board, work_until};
use super::head::{Head, StopStage, Stopping};
use super::outcome::Outcome;
use super::table::{Table, UnderWay};
use crate::due::{Due, OpSlot, Step};

/// An operation that was stopped.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Halt {
    pub(crate) core: u32,
    pub(crate) local: DieId,
    pub(crate) die: DieId,
    pub(crate) how: Stop,
    /// Way of the stop, as events name it.
    pub(crate) kind: StopKind,
    pub(crate) op: FlashOp,
    pub(crate) cause: Cause,
    /// Time since the first order to stop it.
    pub(crate) waited: Nanos,
}

impl Halt {
    fn of(under_way: &UnderWay, how: Stop, waited: Nanos, board: &Board) -> Halt {
        let &Head { core, local, event: FlashEvent { die, op, cause, .. }, .. } = &under_way.head;
        let kind = match how {
            Stop::Now => StopKind::Now,
            Stop::AtStep if op == FlashOp::Read || board.stops_at_step => StopKind::AtStep,
            Stop::AtStep => StopKind::FixedTime,
        };
        Halt { core, local, die, how, kind, op, cause, waited }
    }
}

/// Suspend what `die` does in the way of `stop`. Ordered again, the hardest stop counts.
pub(super) fn suspend(now: Nanos, die: DieId, stop: Stop, table: &mut Table, board: &mut Board, calendar: &mut Calendar<Due>) -> Outcome {
    let op = table.present(die);
    // If it has ended, its report is the answer. A silent die does not answer; the report of the operation does.
    if op == OpSlot::NONE || board.dies[die].is_silent() {
        return Outcome::Nothing;
    }
    let head = &mut table.at_mut(op).head;
    match head.stopping.stage {
        StopStage::None => {
            head.stopping = Stopping { stage: StopStage::Waiting, wanted: stop, since: now };
            let attempt = head.attempt;
            return try_suspend(now, (op, attempt), table, board, calendar);
        }
        StopStage::Waiting => head.stopping.wanted = head.stopping.wanted.max(stop),
        StopStage::Begun if stop > head.stopping.wanted && board.dies[die].probe(&Command::Suspend { stop }, now) == Probe::Ready => {
            head.stopping.wanted = stop;
            begin_stop(now, op, head, board, calendar);
        }
        // It stops sooner as it is.
        StopStage::Begun => {}
    }
    Outcome::Nothing
}

/// Suspend the operation at `op` as soon as the die accepts a suspend.
pub(super) fn try_suspend(
    now: Nanos,
    (op, attempt): (OpSlot, u16),
    table: &mut Table,
    board: &mut Board,
    calendar: &mut Calendar<Due>,
) -> Outcome {
    let die = table.at(op).head.die();
    if board.is_dark || board.dies[die].is_silent() || table.present(die) != op {
        return Outcome::Nothing;
    }
    let under_way = table.at_mut(op);
    let is_before_program = under_way.is_before_program();
    let head = &mut under_way.head;
    // Before its program a copyback stops at the end of the present part.
    if head.attempt != attempt || head.stopping.stage != StopStage::Waiting || is_before_program {
        return Outcome::Nothing;
    }
    // Data still on its way in belongs to the bus; the array can be suspended once it works.
    if head.array_from > now {
        calendar.enter(head.array_from, Due::Device(Step::TrySuspend { op, attempt }));
        return Outcome::Nothing;
    }
    let chip = &board.dies[die];
    match chip.probe(&Command::Suspend { stop: head.stopping.wanted }, now) {
        Probe::Ready => begin_stop(now, op, head, board, calendar),
        Probe::Blocked { until } if until < chip.array_until() => calendar.enter(until, Due::Device(Step::TrySuspend { op, attempt })),
        Probe::Blocked { .. } | Probe::Illegal(_) => {
            head.stopping = Stopping::NONE;
            return Outcome::Refused { core: head.core, local: head.local };
        }
    }
    Outcome::Nothing
}

/// Order the stop that is wanted of the operation at `op`, which its die accepts.
fn begin_stop(now: Nanos, op: OpSlot, head: &mut Head, board: &mut Board, calendar: &mut Calendar<Due>) {
    let chip = board.chip(head);
    let remaining = chip.array_until() - now;
    let ready_at = chip.issue(Command::Suspend { stop: head.stopping.wanted }, now).ready_at;
    let attempt = head.next_attempt();
    head.stopping.stage = StopStage::Begun;
    // The rest is counted when it is done; the time that the suspend itself takes is the array's too.
    head.event.array = head.event.array - remaining + (ready_at - now);
    calendar.enter(ready_at, Due::Device(Step::Suspended { op, attempt }));
}

/// Hold the operation at `op`: it is stopped, and its die is free for reads.
pub(super) fn hold(now: Nanos, op: OpSlot, table: &mut Table, board: &Board) -> Halt {
    let under_way = table.at_mut(op);
    let head = &mut under_way.head;
    let Stopping { wanted: how, since, .. } = std::mem::replace(&mut head.stopping, Stopping::NONE);
    head.event.stops = head.event.stops.saturating_add(1);
    head.event.stops_now = head.event.stops_now.saturating_add(u16::from(how == Stop::Now));
    Halt::of(under_way, how, now - since, board)
}

/// Go on with the operation that `die` has suspended.
pub(super) fn resume(now: Nanos, die: DieId, table: &mut Table, board: &mut Board, calendar: &mut Calendar<Due>) {
    let op = table.present(die);
    if table.at(op).is_before_program() {
        let (head, copyback) = table.copyback(op);
        return copyback.resume(now, op, head, board, calendar);
    }
    let ready_at = board.dies[die].issue(Command::Resume, now).ready_at;
    let head = &mut table.at_mut(op).head;
    head.array_from = now;
    head.event.array += ready_at - now;
    work_until(calendar, ready_at, op, head);
}

/// Break off the read `tag` of `die`, if its page is still being sensed.
#[cold]
pub(super) fn abort(now: Nanos, die: DieId, tag: OpTag, table: &mut Table, board: &mut Board, calendar: &mut Calendar<Due>) -> Outcome {
    let sensing = table.reads_of(die).find(|(_, head, read)| head.tag == tag && head.array_from <= now && read.sensed() > now);
    let chip = &mut board.dies[die];
    let (Some((op, head, read)), Probe::Ready) = (sensing, chip.probe(&Command::Abort, now)) else {
        let (core, local) = board.dies.home(die);
        return Outcome::Refused { core, local };
    };
    let free = chip.issue(Command::Abort, now).ready_at;
    head.next_attempt();
    read.break_off(now, free, head);
    calendar.enter(free, Due::Device(Step::Aborted { op }));
    Outcome::Nothing
}

/// Keep the read at `op`, whose die it leaves, until the firmware orders it again. Measurements are not kept: they begin anew. `how`: broken off at once, or
/// between two tries.
#[cold]
pub(super) fn put_aside(now: Nanos, op: OpSlot, how: Stop, table: &mut Table, board: &mut Board) -> Halt {
    let under_way = table.at(op);
    let waited = if how == Stop::Now { now - under_way.head.stopping.since } else { Nanos::ZERO };
    let halt = Halt::of(under_way, how, waited, board);
    let &Head { core, tag, event: FlashEvent { die, cause, .. }, .. } = &under_way.head;
    if cause == Cause::Measure {
        table.close(op);
    } else {
        let tries = std::mem::take(&mut board.tries[die]);
        table.parked.park((core, tag), op, tries);
    }
    halt
}
