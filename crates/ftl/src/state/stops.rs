//! Stops of one die: the operation that could be stopped, the order to stop it, and the account of what reads have cost it.

use wordline_flash::{Stop, Timing};
use wordline_units::{Cause, DieId, FlashOp, Nanos, OpTag, Priority};

use crate::state::layout::BlockGroup;

/// A count for each priority of a read, the most urgent first.
pub type ByPriority = [u16; Priority::ALL.len()];

/// An operation under way that may be stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Busy {
    /// Die that is busy.
    pub die: DieId,
    /// Kind of the operation: a program, an erase, or a read, which is broken off instead of suspended.
    pub kind: FlashOp,
    /// Of a read that waited in the die's queue: its priority.
    pub reader: Option<Priority>,
    /// Cause of the operation.
    pub cause: Cause,
    /// Block group of the operation.
    pub group: BlockGroup,
    /// Number of times the operation has been stopped; of a read, since it was last ordered.
    pub stops: u16,
    /// Number of those stops that were at once, by the priority of the read that asked for it.
    pub stops_now: ByPriority,
    /// Number of reads that were served while the operation was suspended, by their priority.
    pub served: ByPriority,
    /// Number of whole steps that the die has done, by the firmware's clock; 0 where the die's steps are not known.
    pub steps: u16,
}

/// Length of the steps of a die's long operations, and the time that a resume takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Steps {
    program: Nanos,
    erase: Nanos,
    resume: Nanos,
}

impl Steps {
    /// Steps of a die with this `timing`.
    pub(crate) fn of(timing: &Timing) -> Steps {
        Steps { program: timing.step_program, erase: timing.step_erase, resume: timing.resume }
    }

    /// Length of one step of `kind`; 0: it is not known.
    fn of_kind(&self, kind: FlashOp) -> Nanos {
        match kind {
            FlashOp::Erase => self.erase,
            FlashOp::Program | FlashOp::Copyback => self.program,
            FlashOp::Read | FlashOp::LockPage | FlashOp::LockBlock | FlashOp::Scrub | FlashOp::Reprogram => Nanos::ZERO,
        }
    }
}

/// State of a die's stops.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stops {
    /// Program, erase or copyback that the die is doing or that is suspended.
    long: Busy,
    /// Read that the die is doing, if [`Stops::reads`].
    read: Busy,
    read_tag: OpTag,
    /// True while the die does a read that a technique may want to stop.
    reads: bool,
    /// True if the read has been ordered to be broken off.
    is_aborting: bool,
    /// Stop that was ordered last.
    ordered: Stop,
    /// Priority of the read for which it was ordered.
    ordered_for: Priority,
    /// Reads served since the last suspend, by their priority.
    served: ByPriority,
    /// Instant of the last suspend.
    held_since: Nanos,
    /// Instant since when the long operation works without a stop.
    works_since: Nanos,
}

/// Operation of a die that has done none yet.
const NOTHING: Busy = Busy {
    die: DieId(0),
    kind: FlashOp::Program,
    reader: None,
    cause: Cause::Host,
    group: BlockGroup(0),
    stops: 0,
    stops_now: [0; Priority::ALL.len()],
    served: [0; Priority::ALL.len()],
    steps: 0,
};

impl Busy {
    /// Creates the account of an operation that has just been ordered.
    pub(crate) const fn new(die: DieId, kind: FlashOp, cause: Cause, group: BlockGroup) -> Busy {
        Busy { die, kind, cause, group, ..NOTHING }
    }

    /// Number of stops that were at once, whoever asked for them.
    pub fn all_stops_now(&self) -> u16 {
        self.stops_now.iter().fold(0, |sum, &count| sum.saturating_add(count))
    }
}

impl Stops {
    /// Creates the state of a die that has done nothing yet.
    pub(crate) const fn new() -> Stops {
        Stops {
            long: NOTHING,
            read: NOTHING,
            read_tag: OpTag(0),
            reads: false,
            is_aborting: false,
            ordered: Stop::AtStep,
            ordered_for: Priority::Normal,
            served: [0; Priority::ALL.len()],
            held_since: Nanos::ZERO,
            works_since: Nanos::ZERO,
        }
    }

    /// Note the operation `tag`, which a technique may want to stop and which begins at `now`.
    pub(crate) fn note(&mut self, now: Nanos, tag: OpTag, busy: Busy) {
        if busy.kind == FlashOp::Read {
            (self.read, self.read_tag, self.reads) = (busy, tag, true);
        } else {
            (self.long, self.works_since) = (busy, now);
        }
    }

    /// Note that the read under way waited with this `priority`.
    pub(crate) fn note_reader(&mut self, priority: Priority) {
        self.read.reader = Some(priority);
    }

    /// Note that the die has ended what it did last. A read that was to be broken off has ended first.
    pub(crate) fn ended(&mut self) {
        (self.reads, self.is_aborting) = (false, false);
    }

    /// Program, erase or copyback that the die is doing or that is suspended, as it stands at `now`. `works`: it is not suspended.
    pub(crate) fn long(&self, now: Nanos, works: bool, steps: &Steps) -> Busy {
        let since = if works { self.steps_between(self.works_since, now, steps) } else { 0 };
        Busy { steps: self.long.steps.saturating_add(since), ..self.long }
    }

    /// Whole steps of the long operation between two instants.
    fn steps_between(&self, from: Nanos, to: Nanos, steps: &Steps) -> u16 {
        let step = steps.of_kind(self.long.kind);
        to.saturating_sub(from).0.checked_div(step.0).map_or(0, |steps| steps.min(u64::from(u16::MAX)) as u16)
    }

    /// Read that the die is doing; `None`: it does none that can be stopped.
    pub(crate) fn read(&self) -> Option<Busy> {
        (self.reads && !self.is_aborting && self.read.reader.is_some()).then_some(self.read)
    }

    /// True if a stop is ordered that is as hard as `stop`.
    pub(crate) fn has_ordered(&self, stop: Stop) -> bool {
        self.ordered >= stop
    }

    /// Note that a stop of the long operation is ordered for a read of this `priority`.
    pub(crate) fn order(&mut self, stop: Stop, priority: Priority) {
        (self.ordered, self.ordered_for) = (stop, priority);
    }

    /// Note that the read under way is ordered to be broken off. Returns its tag.
    pub(crate) fn abort(&mut self) -> OpTag {
        debug_assert!(self.reads && !self.is_aborting);
        self.is_aborting = true;
        self.read_tag
    }

    /// Withdraw the order to break off the read. Returns false if there is none.
    pub(crate) fn refuse_abort(&mut self) -> bool {
        std::mem::take(&mut self.is_aborting)
    }

    /// Note that the read under way has left its die, `how`: broken off, or between two tries. Returns its tag and its priority; `None`: it does none that
    /// could.
    pub(crate) fn leave(&mut self, how: Stop) -> Option<(OpTag, Priority)> {
        let priority = self.read.reader.filter(|_| self.reads)?;
        if how == Stop::Now && !std::mem::take(&mut self.is_aborting) {
            return None;
        }
        self.reads = false;
        Some((self.read_tag, priority))
    }

    /// Read that has left its die last, with that counted.
    pub(crate) fn left(&self, how: Stop, by: Option<Priority>) -> Busy {
        let mut busy = self.read;
        busy.stops += 1;
        if let (Stop::Now, Some(priority)) = (how, by) {
            busy.stops_now[priority as usize] += 1;
        }
        busy
    }

    /// Note that the long operation is suspended at `now`, in the way of `how`, after it has `waited` since the order.
    pub(crate) fn hold(&mut self, now: Nanos, (how, waited): (Stop, Nanos), steps: &Steps) {
        let count = |count: &mut u16| *count = count.saturating_add(1);
        count(&mut self.long.stops);
        // Stopped at once, the step is lost that ran when that was ordered.
        let until = if how == Stop::Now { now.saturating_sub(waited) } else { now };
        self.long.steps = self.long.steps.saturating_add(self.steps_between(self.works_since, until, steps));
        if how == Stop::Now {
            count(&mut self.long.stops_now[self.ordered_for as usize]);
        }
        self.served = Default::default();
        self.held_since = now;
    }

    /// Note that the long operation goes on at `now`.
    pub(crate) fn resume(&mut self, now: Nanos, steps: &Steps) {
        self.works_since = now + steps.resume;
    }

    /// Count one more read of this `priority` that is served while the long operation is suspended.
    pub(crate) fn serve(&mut self, priority: Priority) {
        for served in [&mut self.served, &mut self.long.served] {
            let count = &mut served[priority as usize];
            *count = count.saturating_add(1);
        }
    }

    /// Reads served since the last suspend, by their priority.
    pub(crate) fn served(&self) -> ByPriority {
        self.served
    }

    /// Instant of the last suspend.
    pub(crate) fn held_since(&self) -> Nanos {
        self.held_since
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEPS: Steps = Steps { program: Nanos(40), erase: Nanos(100), resume: Nanos(5) };

    fn erasing() -> Stops {
        let mut stops = Stops::new();
        stops.note(Nanos(1_000), OpTag(7), Busy::new(DieId(2), FlashOp::Erase, Cause::Gc, BlockGroup(3)));
        stops
    }

    #[test]
    fn a_stop_at_once_loses_its_step_and_one_at_a_step_does_not() {
        for (how, waited, steps) in [(Stop::AtStep, 50, 3), (Stop::Now, 50, 2), (Stop::Now, 0, 3)] {
            let mut stops = erasing();
            assert_eq!(stops.long(Nanos(1_299), true, &STEPS).steps, 2);
            stops.order(how, Priority::Low);
            stops.hold(Nanos(1_300), (how, Nanos(waited)), &STEPS);
            assert_eq!(stops.long(Nanos(9_000), false, &STEPS).steps, steps, "{how:?} after {waited} ns");
            stops.resume(Nanos(2_000), &STEPS);
            assert_eq!(stops.long(Nanos(2_104), true, &STEPS).steps, steps, "the resume takes its time");
            assert_eq!(stops.long(Nanos(2_105), true, &STEPS).steps, steps + 1);
        }
    }

    #[test]
    fn stops_at_once_count_for_the_read_that_asked_last() {
        let mut stops = erasing();
        stops.order(Stop::AtStep, Priority::Low);
        stops.order(Stop::Now, Priority::High);
        stops.hold(Nanos(1_100), (Stop::Now, Nanos(10)), &STEPS);
        stops.order(Stop::AtStep, Priority::Low);
        stops.hold(Nanos(1_300), (Stop::AtStep, Nanos(10)), &STEPS);
        let busy = stops.long(Nanos(1_300), false, &STEPS);
        assert_eq!((busy.stops, busy.stops_now, busy.all_stops_now()), (2, [0, 1, 0, 0], 1));
    }

    #[test]
    fn reads_served_count_in_the_spell_and_in_the_operation() {
        let mut stops = erasing();
        for (at, served) in [(1_100, [1, 0, 0, 0]), (1_200, [2, 0, 0, 0])] {
            stops.hold(Nanos(at), (Stop::AtStep, Nanos(1)), &STEPS);
            assert_eq!(stops.served(), [0; 4]);
            stops.serve(Priority::Urgent);
            assert_eq!((stops.served(), stops.long(Nanos(at), false, &STEPS).served), ([1, 0, 0, 0], served));
        }
    }

    #[test]
    fn a_read_leaves_only_while_it_is_there_and_is_broken_off_only_if_that_was_ordered() {
        let mut stops = erasing();
        assert_eq!(stops.leave(Stop::AtStep), None);
        stops.note(Nanos(0), OpTag(9), Busy::new(DieId(2), FlashOp::Read, Cause::Host, BlockGroup(3)));
        assert!(stops.read().is_none(), "what did not wait in the queue has no priority");
        stops.note_reader(Priority::Low);
        assert_eq!(stops.leave(Stop::Now), None, "nobody has ordered it");
        assert_eq!(stops.abort(), OpTag(9));
        assert!(stops.read().is_none(), "once is enough");
        assert_eq!(stops.leave(Stop::Now), Some((OpTag(9), Priority::Low)));
        assert_eq!(stops.left(Stop::Now, Some(Priority::High)).stops_now, [0, 1, 0, 0]);
        assert_eq!(stops.leave(Stop::AtStep), None, "it has left");
    }
}
