//! Copybacks: a chain of senses and programs, page by page, that stops between its parts and inside its program.
//!
//! ```text
//!   sense ──Copied──► hand over ──Copied──► sense ──Copied──► … program ──Worked──► report
//! ```
//!
//! A die that programs page by page has one sense and one program; one that programs whole wordlines takes their pages over one by one, and programs with the
//! last. Between two parts the die holds nothing that a read could not go before; but a page that has only been sensed stands in the register that the
//! read needs, and is sensed again.

use wordline_flash::{Command, ReadOffsets, Status, Target};
use wordline_units::{Nanos, PageId};

use crate::drive::{Drive, Due};
use crate::flash::FlightSlot;
use crate::stop::StopStage;
use crate::tries::set_references;

/// Part of its work that an operation is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// All of it, or the program of a copyback.
    Whole,
    /// The sensing of this page of a copyback, counted from its first.
    Sense(u16),
    /// The handing over of this page to the wordline that is programmed with the last.
    HandOver(u16),
}

impl Part {
    /// True if it is a part of a copyback that ends before its program.
    pub(crate) const fn is_before_program(self) -> bool {
        !matches!(self, Part::Whole)
    }
}

/// The page `index` pages behind that of `target`.
fn behind(target: Target, index: u16) -> Target {
    Target { page: PageId(target.page.0 + index), ..target }
}

impl Drive {
    /// Begin the copyback in `slot` with its first page.
    pub(crate) fn begin_copyback(&mut self, from: Nanos, slot: FlightSlot) {
        self.sense_source(from, slot, 0);
    }

    /// Sense page number `page` of the source.
    fn sense_source(&mut self, from: Nanos, slot: FlightSlot, page: u16) {
        let Drive { flights, chips, calendar, .. } = self;
        let flight = &mut flights[slot.index()];
        let source = behind(flight.source, page);
        let chip = &mut chips[flight.die];
        // The read before may have left other references.
        let aimed = set_references(chip, 0, &ReadOffsets::NONE, from);
        let sensed = chip.issue(Command::Read { target: source, cache: false }, aimed);
        if sensed.status == Status::Uncorrectable {
            chip.read_failed(&source);
        }
        flight.part = Part::Sense(page);
        flight.array += sensed.ready_at - from;
        calendar.enter(sensed.ready_at, Due::Copied { flight: slot, attempt: flight.attempt });
    }

    /// Program page number `page`, which the register holds, at the destination: the last ends the copyback, others wait for it in the die.
    fn program_destination(&mut self, now: Nanos, slot: FlightSlot, page: u16) {
        let Drive { flights, chips, calendar, .. } = self;
        let flight = &mut flights[slot.index()];
        let issued = chips[flight.die].issue(Command::CopybackProgram { target: behind(flight.target, page) }, now);
        flight.array += issued.ready_at - now;
        if u32::from(page) + 1 < flight.pages {
            flight.part = Part::HandOver(page);
            return calendar.enter(issued.ready_at, Due::Copied { flight: slot, attempt: flight.attempt });
        }
        flight.part = Part::Whole;
        flight.array_from = now;
        flight.status = issued.status;
        flight.loops = issued.loops;
        calendar.enter(issued.ready_at, Due::Worked { flight: slot, attempt: flight.attempt });
    }

    /// A part has ended: the next one begins, or the copyback is held for a read.
    pub(crate) fn copied(&mut self, now: Nanos, slot: FlightSlot, attempt: u16) {
        let flight = &self.flights[slot.index()];
        if flight.attempt != attempt || self.power_cut().is_some() {
            return;
        }
        if self.chips[flight.die].is_silent() {
            return self.wait_in_vain(now, slot);
        }
        if flight.stopping.stage == StopStage::Waiting {
            return self.hold(now, slot);
        }
        match flight.part {
            Part::Sense(page) => self.program_destination(now, slot, page),
            Part::HandOver(page) => self.sense_source(now, slot, page + 1),
            Part::Whole => unreachable!("its end is no part's"),
        }
    }

    /// Go on with a copyback that was held between two of its parts. What was sensed is gone from the register.
    pub(crate) fn resume_copyback(&mut self, now: Nanos, slot: FlightSlot) {
        match self.flights[slot.index()].part {
            Part::Sense(page) => self.sense_source(now, slot, page),
            Part::HandOver(page) => self.sense_source(now, slot, page + 1),
            Part::Whole => unreachable!("the die has it suspended"),
        }
    }
}
