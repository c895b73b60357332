//! Stopping what a die does for a read that waits: suspends of programs, erases and copybacks, and reads that are broken off.
//!
//! ```text
//!   order ─► the die accepts it? ──TrySuspend──► stopping ──Suspended──► the firmware knows: held
//!                                                   └ ordered harder: stopping anew
//!   order ─► the page is still sensed? ──► stopping ──Aborted──► the firmware knows, and queues the read again: parked until its turn
//!   a try failed ─► does it give way? ─────────────────────────► the firmware has queued it again: parked until its turn
//! ```

use wordline_chip::Probe;
use wordline_engine::{Event, StopKind};
use wordline_flash::{Command, Operation, Stop, Stopped};
use wordline_units::{Cause, DieId, FlashOp, Nanos};

use crate::drive::{Drive, Due};
use crate::flash::{Flight, FlightSlot};

/// Progress of a stop.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stopping {
    pub(crate) stage: StopStage,
    /// Hardest stop ordered since the first order.
    pub(crate) wanted: Stop,
    /// Instant of the first order.
    pub(crate) since: Nanos,
}

/// Stage of a stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StopStage {
    /// None has been ordered.
    None,
    /// The die does not accept it yet.
    Waiting,
    /// The die is doing it.
    Begun,
}

/// State of an operation that nobody has ordered to stop.
pub(crate) const NOT_STOPPING: Stopping = Stopping { stage: StopStage::None, wanted: Stop::AtStep, since: Nanos::ZERO };

impl Drive {
    /// Suspend what `die` does in the way of `stop`. Ordered again, the hardest stop counts.
    pub(crate) fn suspend(&mut self, now: Nanos, die: DieId, stop: Stop) {
        let slot = self.working[die];
        if slot == FlightSlot::NONE {
            // It has ended: its report is the answer.
            return;
        }
        let flight = &mut self.flights[slot.index()];
        let attempt = flight.attempt;
        if self.chips[die].is_silent() {
            // It does not answer. The report of the operation will.
            return;
        }
        match flight.stopping.stage {
            StopStage::None => {
                flight.stopping = Stopping { stage: StopStage::Waiting, wanted: stop, since: now };
                self.try_suspend(now, slot, attempt);
            }
            StopStage::Waiting => flight.stopping.wanted = flight.stopping.wanted.max(stop),
            StopStage::Begun if stop > flight.stopping.wanted && self.chips[die].probe(&Command::Suspend { stop }, now) == Probe::Ready => {
                flight.stopping.wanted = stop;
                self.begin_stop(now, slot);
            }
            // It stops sooner as it is.
            StopStage::Begun => {}
        }
    }

    /// Suspend the operation in `slot` as soon as the die accepts a suspend.
    pub(crate) fn try_suspend(&mut self, now: Nanos, slot: FlightSlot, attempt: u16) {
        if self.power_cut().is_some() {
            return;
        }
        let flight = &mut self.flights[slot.index()];
        if self.chips[flight.die].is_silent() {
            return;
        }
        if flight.attempt != attempt || self.working[flight.die] != slot || flight.stopping.stage != StopStage::Waiting {
            return;
        }
        if flight.part.is_before_program() {
            // It stops at the end of this part.
            return;
        }
        // Data still on its way in belongs to the bus; the array can be suspended once it works.
        if flight.array_from > now {
            return self.calendar.enter(flight.array_from, Due::TrySuspend { flight: slot, attempt });
        }
        let chip = &self.chips[flight.die];
        match chip.probe(&Command::Suspend { stop: flight.stopping.wanted }, now) {
            Probe::Ready => self.begin_stop(now, slot),
            Probe::Blocked { until } if until < chip.array_until() => {
                self.calendar.enter(until, Due::TrySuspend { flight: slot, attempt });
            }
            Probe::Blocked { .. } | Probe::Illegal(_) => {
                flight.stopping = NOT_STOPPING;
                self.ftls[flight.core as usize].stopped(now, flight.local, Stopped::Refused);
            }
        }
    }

    /// Order the stop that is wanted of the operation in `slot`, which its die accepts.
    fn begin_stop(&mut self, now: Nanos, slot: FlightSlot) {
        let Drive { flights, chips, calendar, .. } = self;
        let flight = &mut flights[slot.index()];
        let chip = &mut chips[flight.die];
        let remaining = chip.array_until() - now;
        let ready_at = chip.issue(Command::Suspend { stop: flight.stopping.wanted }, now).ready_at;
        flight.attempt = flight.attempt.wrapping_add(1);
        flight.stopping.stage = StopStage::Begun;
        // What is left is counted when it is done; the time the suspend itself takes is the array's too.
        flight.array = flight.array - remaining + (ready_at - now);
        calendar.enter(ready_at, Due::Suspended { flight: slot, attempt: flight.attempt });
    }

    /// Tell the firmware that the suspend has taken hold: the die is free for reads.
    pub(crate) fn suspended(&mut self, now: Nanos, slot: FlightSlot, attempt: u16) {
        let flight = &mut self.flights[slot.index()];
        if flight.attempt == attempt {
            self.hold(now, slot);
        }
    }

    /// Hold the operation in `slot`: it is stopped, and its die is free for reads.
    pub(crate) fn hold(&mut self, now: Nanos, slot: FlightSlot) {
        let flight = &mut self.flights[slot.index()];
        let die = flight.die;
        let Stopping { wanted: how, since, .. } = std::mem::replace(&mut flight.stopping, NOT_STOPPING);
        flight.stops.all = flight.stops.all.saturating_add(1);
        flight.stops.now = flight.stops.now.saturating_add(u16::from(how == Stop::Now));
        let (core, local, kind, cause) = (flight.core, flight.local, flight.op, flight.cause);
        let waited = now - since;
        self.tell_stopped(now, die, how, (kind, cause), waited);
        self.ftls[core as usize].stopped(now, local, Stopped::Held { how, waited });
        self.pump(now, core);
    }

    /// Log that an operation of `die` was stopped.
    #[cold]
    fn tell_stopped(&mut self, now: Nanos, die: DieId, stop: Stop, (kind, cause): (FlashOp, Cause), waited: Nanos) {
        let how = match stop {
            Stop::Now => StopKind::Now,
            Stop::AtStep if kind == FlashOp::Read || self.config.sheet.capabilities.stop_at_step => StopKind::AtStep,
            Stop::AtStep => StopKind::FixedTime,
        };
        self.emit(now, Event::Stopped { die, how, kind, cause, waited });
    }

    /// Go on with what `die` has suspended.
    pub(crate) fn resume(&mut self, now: Nanos, die: DieId) {
        let slot = self.working[die];
        if self.flights[slot.index()].part.is_before_program() {
            return self.resume_copyback(now, slot);
        }
        let ready_at = self.chips[die].issue(Command::Resume, now).ready_at;
        let flight = &mut self.flights[slot.index()];
        flight.array_from = now;
        flight.array += ready_at - now;
        let attempt = flight.attempt;
        self.calendar.enter(ready_at, Due::Worked { flight: slot, attempt });
    }

    /// Break off the read that `operation` names, if its page is still being sensed.
    #[cold]
    pub(crate) fn abort(&mut self, now: Nanos, die: DieId, operation: &Operation) {
        let is_sensing = |flight: &Flight| {
            flight.die == die
                && flight.tag == operation.tag
                && flight.op == FlashOp::Read
                && flight.array_from <= now
                && flight.sensed > now
        };
        let slot = self.flights.iter().position(is_sensing);
        let chip = &mut self.chips[die];
        let (Some(slot), Probe::Ready) = (slot, chip.probe(&Command::Abort, now)) else {
            let (core, local) = self.wiring.home(die);
            return self.ftls[core as usize].stopped(now, local, Stopped::Refused);
        };
        let free = chip.issue(Command::Abort, now).ready_at;
        let flight = &mut self.flights[slot];
        flight.attempt = flight.attempt.wrapping_add(1);
        flight.array = (flight.array + (free - now)).saturating_sub(flight.sensed - now);
        // This try is made again.
        flight.next = Some(flight.last);
        flight.sensed = now;
        flight.stopping.since = now;
        self.calendar.enter(free, Due::Aborted { flight: FlightSlot::at(slot) });
    }

    /// Give a read back to the firmware that was broken off: its die is free.
    pub(crate) fn aborted(&mut self, now: Nanos, slot: FlightSlot) {
        let Flight { core, die, local, op, cause, stopping, .. } = self.flights[slot.index()];
        let waited = now - stopping.since;
        self.park(slot);
        self.tell_stopped(now, die, Stop::Now, (op, cause), waited);
        self.ftls[core as usize].stopped(now, local, Stopped::Aborted { waited });
        self.pump(now, core);
    }

    /// Take a read off its die that gives way between two tries: the firmware has queued it again.
    #[cold]
    pub(crate) fn yielded(&mut self, now: Nanos, slot: FlightSlot) {
        let Flight { core, die, op, cause, .. } = self.flights[slot.index()];
        self.park(slot);
        self.tell_stopped(now, die, Stop::AtStep, (op, cause), Nanos::ZERO);
        self.pump(now, core);
    }

    /// Keep the read in `slot` until the firmware orders it again. Measurements are not kept: they begin anew.
    fn park(&mut self, slot: FlightSlot) {
        let flight = &mut self.flights[slot.index()];
        if flight.cause == Cause::Measure {
            return self.idle_flights.push(slot);
        }
        let tries = std::mem::take(&mut self.tries[flight.die]);
        self.parked.park((flight.core, flight.tag), slot, tries);
    }
}
