//! Cache programs, the second of which is ordered while the die is doing the first.
//!
//! ```text
//!   the first   bus ──► array ─────────────────────► report
//!   the next            order ──► bus ──► (waits) ──► array ─────► report
//! ```
//!
//! The die takes in the data of the next program once it has handed that of the first to the array. It begins the next when the first has ended, or when the
//! data is in, if that is later.

use wordline_chip::{Contents, Probe};
use wordline_flash::{Command, Operation, OperationKind};
use wordline_units::{DieId, FlashOp, Id, Nanos};

use crate::drive::{Drive, Due};
use crate::flash::{Flight, FlightSlot};

/// Progress of a program in its way into the die.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Intake {
    /// The die's array has begun it, or it waits for nothing but the bus.
    Begun,
    /// The die does not take in data yet, or takes in this program's.
    Waits,
    /// The die has the data, and its array does the program before.
    Loaded,
}

impl Drive {
    /// Carry out a program of `die` during which the die can take in the data of another. `from`: the instant at which the firmware's order is through.
    #[cold]
    #[inline(never)]
    pub(crate) fn issue_cached(&mut self, from: Nanos, slot: FlightSlot, die: DieId, program: &Operation) {
        let OperationKind::Program { target, bytes, origin, .. } = program.kind else { unreachable!("{program:?} is no program") };
        let flight = &mut self.flights[slot.index()];
        flight.op = FlashOp::Program;
        flight.target = target;
        flight.pages = self.ftls[flight.core as usize].layout().pages_per_program;
        flight.origin = origin;
        flight.bytes = bytes;
        flight.intake = Intake::Waits;
        let present = self.working[die];
        if present == FlightSlot::NONE {
            self.working[die] = slot;
            return self.call_in(from, slot, die);
        }
        debug_assert_eq!(self.following[die], FlightSlot::NONE, "a die takes in the data of one program");
        self.following[die] = slot;
        // A program whose own data is not in yet calls the next when it begins.
        if self.flights[present.index()].intake == Intake::Begun {
            self.call_in(from, slot, die);
        }
    }

    /// Take in the data of the program in `slot` as soon as `die` can.
    fn call_in(&mut self, from: Nanos, slot: FlightSlot, die: DieId) {
        let bytes = self.flights[slot.index()].bytes;
        let at = match self.chips[die].probe(&Command::DataIn { bytes }, from) {
            Probe::Blocked { until } => until,
            Probe::Ready | Probe::Illegal(_) => from,
        };
        self.calendar.enter(at, Due::TakeIn { flight: slot });
    }

    /// Transfer the data of the program in `slot` into the die, whose array does the one before.
    pub(crate) fn take_in_next(&mut self, now: Nanos, slot: FlightSlot) {
        let Drive { flights, chips, channels, calendar, dram, .. } = self;
        let flight = &mut flights[slot.index()];
        let loaded = flight.take_in(now, dram.as_mut(), &mut channels[flight.channel.index()], &mut chips[flight.die]);
        calendar.enter(loaded, Due::TakenIn { flight: slot });
    }

    /// Note that the die has the data of the program in `slot`, and begin it if the array is free.
    pub(crate) fn next_taken_in(&mut self, now: Nanos, slot: FlightSlot) {
        let flight = &mut self.flights[slot.index()];
        flight.intake = Intake::Loaded;
        if self.working[flight.die] == slot {
            self.begin_loaded(now, slot);
        }
    }

    /// Begin the program in `slot`, whose data is in the die.
    pub(crate) fn begin_loaded(&mut self, now: Nanos, slot: FlightSlot) {
        let &Flight { core, die, local, tag, target, .. } = &self.flights[slot.index()];
        if self.data.is_some() {
            self.gather(core, local, tag);
        }
        let load = self.ftls[core as usize].load(local, tag);
        let contents = self.data.as_ref().map_or(Contents::NONE, |data| data.gathered(core));
        let issued = self.chips[die].program(Command::Program { target, cache: true }, now, load.oob, contents);
        let flight = &mut self.flights[slot.index()];
        flight.intake = Intake::Begun;
        flight.array_from = now;
        self.work(slot, die, now, issued);
        let next = self.following[die];
        if next != FlightSlot::NONE {
            self.call_in(now, next, die);
        }
    }
}
