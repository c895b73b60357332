//! Programs: data goes from the memory of the firmware over the bus into the die, whose array programs it.
//!
//! Of cache programs the second is ordered while the die is doing the first.
//!
//! ```text
//!   a program   order ─core─► bus ──► array ──ArrayDone──────────► report
//!   the next                  order ─core─► LoadNext ──► bus ──Loaded──► (waits) ──► array ──ArrayDone──► report
//! ```
//!
//! The die takes in the data of the next program once it has handed that of the first to the array. It begins the next when the first has ended, or when the
//! data is in, if that is later. A die that programs by settings is asked for the trace of the first and given the settings of the next in between: its
//! registers are those of the program in its array, and the settings of the next may follow from that trace.

use wordline_chip::{Contents, Issued, Probe};
use wordline_engine::Calendar;
use wordline_flash::{Command, Operation, Origin, ProgramSettings, Target};
use wordline_units::{Bytes, FlashOp, Lpn, Nanos};

use super::board::{Board, work_until};
use super::head::{Begun, Head, Telling};
use super::registers::set_program;
use crate::due::{Due, OpSlot, Step};

/// The program unit of an order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<'a> {
    pub(crate) target: &'a Target,
    pub(crate) bytes: Bytes,
    pub(crate) origin: Origin,
}

/// Content of a program.
#[derive(Debug)]
pub(crate) struct Load<'a> {
    /// Spare areas, unit by unit.
    pub(crate) spare: &'a [Lpn],
    /// Settings of the program; `None`: none stand with it.
    pub(crate) settings: Option<&'a ProgramSettings>,
    /// Bytes, of a drive that keeps them.
    pub(crate) contents: Contents<'a>,
}

/// A program under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Program {
    bytes: Bytes,
    /// Instant at which all data was in the die.
    transferred: Nanos,
    /// Progress of a program that was ordered while its die was doing another.
    intake: Intake,
}

/// Progress of a program in its way into the die.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Intake {
    /// The die's array has begun it, or it waits for nothing but the bus.
    Begun,
    /// The die does not take in data yet, or takes in this program's.
    Waits,
    /// The die has the data, and its array does the program before.
    Loaded,
}

impl Program {
    /// A program of which the die has nothing yet.
    #[inline(always)]
    fn new(place: &Place<'_>, start: Nanos, intake: Intake) -> Program {
        Program { bytes: place.bytes, transferred: start, intake }
    }

    /// Begin a program of `place`. Returns also the instant at which its array is done.
    #[inline(always)]
    pub(super) fn begin(
        board: &mut Board,
        begun: &Begun,
        operation: &Operation,
        place: &Place<'_>,
        load: Load<'_>,
    ) -> (Head, Program, Nanos) {
        let target = *place.target;
        let mut head = head_of(board, begun, operation, place);
        let mut program = Program::new(place, begun.start, Intake::Begun);
        let loaded = program.take_in(begun.start, &mut head, board);
        let chip = &mut board.dies[begun.die];
        let mut from = loaded;
        if let Some(settings) = load.settings {
            from = set_program(chip, settings, from);
            head.telling = if board.traces_programs { Telling::ToAsk } else { Telling::No };
        }
        let issued = chip.program(Command::Program { target, cache: false }, from, load.spare, load.contents);
        head.array_from = from;
        set_work(&mut head, loaded, &issued);
        (head, program, issued.ready_at)
    }

    /// A program of `place` during which the die can take in the data of another, and which waits until the die takes in its own.
    #[cold]
    pub(super) fn wait(board: &Board, begun: &Begun, operation: &Operation, place: &Place<'_>) -> (Head, Program) {
        let head = head_of(board, begun, operation, place);
        (head, Program::new(place, begun.start, Intake::Waits))
    }

    /// Move the data out of DRAM, or over the link, through the bus into its die, from the instant `from` on. The bus is held for its own span, and the data is
    /// in when both are through. Returns that instant.
    #[inline(always)]
    fn take_in(&mut self, from: Nanos, head: &mut Head, board: &mut Board) -> Nanos {
        let bytes = self.bytes;
        let mut data = from;
        if let Some((held, there)) = board.paths.use_to_die(from, bytes) {
            head.hold_memory(held, board.paths.pass_link());
            data = there;
        }
        let (span, end) = board.use_bus(head.event.channel, from, bytes);
        let loaded = end.max(data);
        board.chip(head).transfer(Command::DataIn { bytes }, end - span, loaded);
        (head.event.bus, head.event.bus_end, self.transferred) = (span, end, loaded);
        loaded
    }

    /// True if the array has begun it, or it waits for nothing but the bus.
    pub(super) fn has_begun(&self) -> bool {
        self.intake == Intake::Begun
    }

    /// True if the die has the data, and the array has not begun it.
    pub(super) fn is_loaded(&self) -> bool {
        self.intake == Intake::Loaded
    }

    /// Take in the data as soon as the die can.
    pub(super) fn call_in(&self, from: Nanos, op: OpSlot, head: &Head, board: &Board, calendar: &mut Calendar<Due>) {
        let at = match board.dies[head.die()].probe(&Command::DataIn { bytes: self.bytes }, from) {
            Probe::Blocked { until } => until,
            Probe::Ready | Probe::Illegal(_) => from,
        };
        calendar.enter(at, Due::Device(Step::LoadNext { op }));
    }

    /// Transfer the data into the die, whose array does the program before.
    pub(super) fn load_next(&mut self, now: Nanos, op: OpSlot, head: &mut Head, board: &mut Board, calendar: &mut Calendar<Due>) {
        if let Probe::Blocked { .. } = board.dies[head.die()].probe(&Command::DataIn { bytes: self.bytes }, now) {
            // The die is telling how the program before has gone.
            return self.call_in(now, op, head, board, calendar);
        }
        let loaded = self.take_in(now, head, board);
        calendar.enter(loaded, Due::Device(Step::Loaded { op }));
    }

    /// Note that the die has the data.
    pub(super) fn loaded(&mut self) {
        self.intake = Intake::Loaded;
    }

    /// Begin the program, whose data is in the die.
    pub(super) fn begin_loaded(
        &mut self,
        now: Nanos,
        op: OpSlot,
        head: &mut Head,
        load: Load<'_>,
        board: &mut Board,
        calendar: &mut Calendar<Due>,
    ) {
        let traces = board.traces_programs;
        let chip = board.chip(head);
        let mut from = now;
        if let Some(settings) = load.settings {
            // The registers hold settings of the array's program until that has ended.
            from = set_program(chip, settings, now);
            head.telling = if traces { Telling::ToAsk } else { Telling::No };
        }
        let issued = chip.program(Command::Program { target: head.target, cache: true }, from, load.spare, load.contents);
        self.intake = Intake::Begun;
        head.array_from = from;
        set_work(head, now, &issued);
        work_until(calendar, issued.ready_at, op, head);
    }

    /// Time for which the data was awaited although the bus was through.
    #[inline]
    pub(super) fn behind(&self, head: &Head) -> Nanos {
        self.transferred.saturating_sub(head.event.bus_end)
    }

    /// Time from the end of the order to the end of the transfer.
    #[inline]
    pub(super) fn channel_span(&self, head: &Head) -> Nanos {
        head.span_before(self.transferred)
    }
}

/// The head of a program of `place`.
#[inline(always)]
fn head_of(board: &Board, begun: &Begun, operation: &Operation, place: &Place<'_>) -> Head {
    let &Place { target: &target, origin: Origin { host, moved, padding }, .. } = place;
    let mut head = Head::new(begun, operation, (FlashOp::Program, target, board.pages_per_program * target.planes.len()));
    (head.event.host_units, head.event.moved_units, head.event.padding_units) = (host, moved, padding);
    head
}

/// Note the work of the array that begins at `from` for the operation of `head`.
#[inline(always)]
pub(super) fn set_work(head: &mut Head, from: Nanos, issued: &Issued) {
    head.event.array = issued.ready_at - from;
    head.status = issued.status;
    head.loops = issued.loops;
}
