//! Copybacks: a chain of senses and programs, page by page, that stops between its parts and inside its program.
//!
//! ```text
//!   sense ──Copied──► hand over ──Copied──► sense ──Copied──► … program ──ArrayDone──► report
//! ```
//!
//! A die that programs page by page has one sense and one program; one that programs whole wordlines takes their pages over one by one, and programs with the
//! last. Between two parts the die holds nothing that a read could not go before; but a page that has only been sensed stands in the register that the
//! read needs, and is sensed again.

use wordline_engine::Calendar;
use wordline_flash::{Command, Operation, ProgramSettings, ReadOffsets, Status, Target};
use wordline_units::{FlashOp, Nanos, PageId};

use super::board::{Board, work_until};
use super::head::{Begun, Head};
use super::registers::set_program;
use super::tries::set_references;
use crate::due::{Due, OpSlot, Step};

/// A copyback under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Copyback {
    source: Target,
    part: Part,
}

/// Part of its work that a copyback is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// The sensing of this page, counted from its first.
    Sense(u16),
    /// The handing over of this page to the wordline that is programmed with the last.
    HandOver(u16),
    /// The program.
    Program,
}

/// The page `index` pages behind that of `target`.
fn behind(target: Target, index: u16) -> Target {
    Target { page: PageId(target.page.0 + index), ..target }
}

impl Copyback {
    /// A copyback from `source` to `to` whose first page is sensed next, from the returned instant on.
    pub(super) fn begin(
        board: &mut Board,
        begun: &Begun,
        operation: &Operation,
        (source, to): (Target, Target),
        settings: Option<&ProgramSettings>,
    ) -> (Head, Copyback, Nanos) {
        let mut head = Head::new(begun, operation, (FlashOp::Copyback, to, board.pages_per_program * to.planes.len()));
        head.event.moved_units = board.units_per_program as u16;
        let chip = &mut board.dies[begun.die];
        let set = settings.map_or(begun.start, |settings| set_program(chip, settings, begun.start));
        head.event.array = set - begun.start;
        let copyback = Copyback { source, part: Part::Sense(0) };
        (head, copyback, set)
    }

    /// Source of the data.
    pub(super) fn source(&self) -> &Target {
        &self.source
    }

    /// True if it is at a part that ends before its program.
    pub(super) fn is_before_program(&self) -> bool {
        self.part != Part::Program
    }

    /// Note that the die does not answer, in whatever part.
    pub(super) fn give_up_parts(&mut self) {
        self.part = Part::Program;
    }

    /// Sense page number `page` of the source.
    pub(super) fn sense_source(
        &mut self,
        from: Nanos,
        op: OpSlot,
        page: u16,
        head: &mut Head,
        board: &mut Board,
        calendar: &mut Calendar<Due>,
    ) {
        let source = behind(self.source, page);
        let chip = board.chip(head);
        // The read before may have left other references.
        let aimed = set_references(chip, 0, &ReadOffsets::NONE, from);
        let sensed = chip.issue(Command::Read { target: source, cache: false }, aimed);
        if sensed.status == Status::Uncorrectable {
            chip.read_failed(&source);
        }
        self.part = Part::Sense(page);
        head.event.array += sensed.ready_at - from;
        calendar.enter(sensed.ready_at, Due::Device(Step::Copied { op, attempt: head.attempt }));
    }

    /// Program page number `page`, which the register holds, at the destination: the last ends the copyback, others wait for it in the die.
    fn program_destination(&mut self, now: Nanos, op: OpSlot, page: u16, head: &mut Head, board: &mut Board, calendar: &mut Calendar<Due>) {
        let issued = board.chip(head).issue(Command::CopybackProgram { target: behind(head.target, page) }, now);
        head.event.array += issued.ready_at - now;
        if u32::from(page) + 1 < board.pages_per_program {
            self.part = Part::HandOver(page);
            return calendar.enter(issued.ready_at, Due::Device(Step::Copied { op, attempt: head.attempt }));
        }
        self.part = Part::Program;
        head.array_from = now;
        head.status = issued.status;
        head.loops = issued.loops;
        work_until(calendar, issued.ready_at, op, head);
    }

    /// Begin the part after one that has ended.
    pub(super) fn go_on(&mut self, now: Nanos, op: OpSlot, head: &mut Head, board: &mut Board, calendar: &mut Calendar<Due>) {
        match self.part {
            Part::Sense(page) => self.program_destination(now, op, page, head, board, calendar),
            Part::HandOver(page) => self.sense_source(now, op, page + 1, head, board, calendar),
            Part::Program => unreachable!("its end is no part's"),
        }
    }

    /// Go on with a copyback that was held between two of its parts. What was sensed is gone from the register.
    pub(super) fn resume(&mut self, now: Nanos, op: OpSlot, head: &mut Head, board: &mut Board, calendar: &mut Calendar<Due>) {
        match self.part {
            Part::Sense(page) => self.sense_source(now, op, page, head, board, calendar),
            Part::HandOver(page) => self.sense_source(now, op, page + 1, head, board, calendar),
            Part::Program => unreachable!("the die has it suspended"),
        }
    }
}
