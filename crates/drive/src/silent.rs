//! Dies that fail while they work, and dies that never answer.
//!
//! ```text
//!   order ──► array … (its time is over) ──die_timeout──► reset ──t_reset──► report: failed, no answer
//! ```

use wordline_chip::{DieFault, Payload};
use wordline_engine::{Event, FailedPart, Observer};
use wordline_flash::Status;
use wordline_units::{DieId, FlashOp, Nanos};

use crate::copyback::Part;
use crate::drive::{Drive, Due};
use crate::flash::FlightSlot;

/// The part of a die that `fault` makes fail for good, if it does.
fn failed_part(fault: DieFault) -> Option<FailedPart> {
    match fault {
        DieFault::Die { silent } => Some(FailedPart::Die { silent }),
        DieFault::Plane(plane) => Some(FailedPart::Plane(plane)),
        DieFault::Blocks { plane, first, last } => Some(FailedPart::Blocks { plane, first, last }),
        DieFault::Read { .. } | DieFault::Program { .. } => None,
    }
}

impl<O: Observer, P: Payload> Drive<O, P> {
    /// Let `fault` happen to `die` now. What a part that fails is at counts for nothing.
    pub(crate) fn harm(&mut self, die: DieId, fault: DieFault) {
        let Some(part) = failed_part(fault) else { return self.chips[die].inject(fault) };
        let now = self.now();
        self.chips[die].inject(fault);
        self.emit(now, Event::Harmed { die, part });
        let has_hit = self.chips[die].fail_under_way(now);
        let slot = self.working[die];
        if slot != FlightSlot::NONE && (has_hit || matches!(fault, DieFault::Die { .. })) {
            self.flights[slot.index()].status = Status::Failed;
        }
        let Drive { flights, chips, .. } = self;
        let chip = &chips[die];
        // What has left the die is past harm.
        let reads = flights
            .iter_mut()
            .filter(|flight| flight.die == die && flight.op == FlashOp::Read && flight.sensed.max(flight.transferred) > now);
        for flight in reads.filter(|flight| chip.has_failed_at(&flight.target)) {
            (flight.status, flight.errors) = (Status::Uncorrectable, chip.noise());
        }
    }

    /// True if the die of the read in `slot`, which is sensed by its time and cannot be corrected, is silent. The read then waits, or was given up.
    #[cold]
    pub(crate) fn waits_in_vain(&mut self, now: Nanos, slot: FlightSlot) -> bool {
        let flight = &mut self.flights[slot.index()];
        if !self.chips[flight.die].is_silent() {
            return false;
        }
        if !flight.no_answer {
            self.wait_in_vain(now, slot);
            return true;
        }
        (flight.sensed, flight.transferred) = (now, now);
        flight.next = None;
        let (core, local) = (flight.core, flight.local);
        self.ftls[core as usize].die_ready(local);
        self.read_done(now, slot);
        true
    }

    /// Wait for the die of the operation in `slot`, which never says that it is done, and then for a reset of it.
    #[cold]
    pub(crate) fn wait_in_vain(&mut self, now: Nanos, slot: FlightSlot) {
        let span = self.config.die_timeout + self.config.sheet.timing.reset;
        let flight = &mut self.flights[slot.index()];
        flight.no_answer = true;
        flight.array += span;
        flight.part = Part::Whole;
        let attempt = flight.attempt;
        if flight.op == FlashOp::Read {
            flight.status = Status::Uncorrectable;
            return self.calendar.enter(now + span, Due::Sensed { flight: slot, attempt });
        }
        flight.status = Status::Failed;
        self.calendar.enter(now + span, Due::Worked { flight: slot, attempt });
    }
}
