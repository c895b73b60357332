//! Dies that fail while they work, now or at an instant that was ordered, and dies that never answer.
//!
//! ```text
//!   order ──► array … (its time is over) ──die_timeout──► reset ──t_reset──► report: failed, no answer
//! ```

use wordline_chip::DieFault;
use wordline_engine::{Event, FailedPart};
use wordline_flash::Status;
use wordline_ftl::UnitAddr;
use wordline_units::host::SECTOR_BYTES;
use wordline_units::{BlockId, Bytes, DieId, FlashOp, HostOp, Id, Nanos};

use crate::copyback::Part;
use crate::drive::{Drive, Due};
use crate::flash::FlightSlot;

/// Fault that was ordered for an instant.
pub(crate) type ToCome = (Nanos, DieId, DieFault);

/// The part of a die that `fault` makes fail for good, if it does.
fn failed_part(fault: DieFault) -> Option<FailedPart> {
    match fault {
        DieFault::Die { silent } => Some(FailedPart::Die { silent }),
        DieFault::Plane(plane) => Some(FailedPart::Plane(plane)),
        DieFault::Blocks { plane, first, last } => Some(FailedPart::Blocks { plane, first, last }),
        DieFault::Read { .. } | DieFault::Program { .. } => None,
    }
}

impl Drive {
    /// Orders `fault` to happen to `die` at the instant `at`, or now if that has passed. A fault whose instant does not come has no effect.
    ///
    /// # Panics
    /// If there is no such die. When the instant comes, if the die does not have such a part.
    pub fn schedule(&mut self, at: Nanos, die: DieId, fault: DieFault) {
        assert!(u32::from(die.0) < self.config.sheet.geometry.dies(), "there is no die {}", die.0);
        let number = self.to_come.len() as u32;
        self.to_come.push(Some((at, die, fault)));
        self.calendar.enter(at.max(self.now()), Due::Harm { number });
    }

    /// Faults that were ordered for instants that have not come.
    pub fn scheduled(&self) -> impl Iterator<Item = (Nanos, DieId, DieFault)> {
        self.to_come.iter().flatten().copied()
    }

    /// The instant of scheduled fault `number` has come.
    pub(crate) fn come_true(&mut self, number: u32) {
        if let Some((_, die, fault)) = self.to_come[number as usize].take() {
            self.harm(die, fault);
        }
    }

    /// True if a part of a die that has failed for good is the cause of the failure of a request: what it read lies there or was lost there, or nothing can be
    /// written any more. `die`: the die that ended it.
    #[cold]
    pub(crate) fn is_for_failure(&self, op: HostOp, sector: u64, sectors: u32, die: Option<DieId>) -> bool {
        if !self.chips.iter().any(|(_, chip)| chip.has_failures()) {
            return false;
        }
        if op != HostOp::Read || die.is_some_and(|die| self.chips[die].has_failures()) {
            return true;
        }
        let (first, units) = self.units.touched(sector, sectors);
        (first..first + u64::from(units)).any(|unit| {
            let (core, lpn) = self.stripe.locate(unit);
            // No die has ended it: the core gave it up with the die that it waited for, and the unit may have been written since.
            let is_given_up = die.is_none() && !self.ftls[core as usize].is_refused(lpn);
            is_given_up
                || self.ftls[core as usize].units_with_lost_sectors().any(|(unit, _)| unit == lpn)
                || self.has_failed_under(core, lpn)
        })
    }

    /// True if the newest copy on flash of unit `lpn` of `core` lies on a part that has failed for good.
    fn has_failed_under(&self, core: u32, lpn: u32) -> bool {
        let ftl = &self.ftls[core as usize];
        let (layout, addr) = (ftl.layout(), ftl.map().get(lpn));
        if addr == UnitAddr::NONE {
            return false;
        }
        let (group, place) = (layout.group(addr), layout.place(layout.offset(addr)));
        let chip = &self.chips[self.wiring.die(core, layout.die(group))];
        chip.has_failures() && chip.is_faulty(place.plane, BlockId(u32::from(ftl.groups().blocks(group)[place.plane.index()])), place.page)
    }

    /// Bytes that parts of dies that have failed for good have lost: those of units whose newest copy lies there, and sectors that were lost when they had to
    /// be moved. It walks the map.
    pub fn lost_bytes(&self) -> Bytes {
        if !self.chips.iter().any(|(_, chip)| chip.has_failures()) {
            return Bytes(0);
        }
        let of_core = |core: u32| {
            let ftl = &self.ftls[core as usize];
            let there = (0..ftl.map().exported()).filter(|&lpn| self.has_failed_under(core, lpn)).count() as u64;
            let moved = ftl.units_with_lost_sectors().filter(|&(lpn, _)| !self.has_failed_under(core, lpn));
            there * self.unit_bytes().0 + moved.map(|(_, sectors)| u64::from(sectors.count_ones()) * SECTOR_BYTES).sum::<u64>()
        };
        Bytes((0..self.config.cores).map(of_core).sum())
    }

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
