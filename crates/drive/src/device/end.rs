//! The end of an operation: the event that it is, and the report to the firmware.

use wordline_engine::FlashEvent;
use wordline_flash::{EraseTrace, ProgramTrace, ReadTry, Report, Spans, Status, Target};
use wordline_units::{Cause, DieId, FlashOp, Lpn, Nanos};

use super::board::Board;
use super::head::{Head, Telling};
use super::table::{Kind, UnderWay};

/// Parts of a report that are fetched once an operation has ended, for one report after the other.
#[derive(Debug, Default)]
pub(super) struct Fetched {
    spare: Vec<Lpn>,
    program: Option<ProgramTrace>,
    erase: Option<EraseTrace>,
}

/// An operation that has ended, with the parts of its report that have been fetched.
#[derive(Debug)]
pub(crate) struct Ended<'a> {
    under_way: &'a UnderWay,
    fetched: &'a Fetched,
}

impl<'a> Ended<'a> {
    /// Completes the event of `under_way`, which has ended, and fetches its spare areas and traces to `fetched`.
    #[inline(always)]
    pub(super) fn of(under_way: &'a mut UnderWay, board: &mut Board, fetched: &'a mut Fetched) -> Ended<'a> {
        fetched.spare.clear();
        fetch(under_way, board, &mut fetched.spare);
        if under_way.head.event.cause == Cause::Measure {
            measure(under_way, board);
        }
        let UnderWay { head, kind } = under_way;
        if head.telling == Telling::Asked {
            fetch_traces(head, board, fetched);
        }
        head.event.ok = head.status == Status::Good;
        if let Kind::Read(read) = kind {
            head.event.retries = read.retries.min(u32::from(u8::MAX)) as u8;
            head.event.errors = read.errors.min(u32::from(u16::MAX)) as u16;
        }
        Ended { under_way, fetched }
    }

    /// The event that it is.
    #[inline(always)]
    pub(crate) fn event(&self) -> &'a FlashEvent {
        &self.under_way.head.event
    }

    /// Core that has ordered it.
    #[inline(always)]
    pub(crate) fn core(&self) -> u32 {
        self.under_way.head.core
    }

    /// The die, as the core counts it.
    #[inline(always)]
    pub(crate) fn local(&self) -> DieId {
        self.under_way.head.local
    }

    /// The target; for a copyback, its destination.
    pub(crate) fn target(&self) -> &'a Target {
        &self.under_way.head.target
    }

    /// The report, of an end at `now`.
    #[inline(always)]
    pub(crate) fn report(&self, now: Nanos) -> Report<'a> {
        let UnderWay { head, kind } = self.under_way;
        let fetched = self.fetched;
        let (mut corrected_bits, mut retries, mut last, mut tally) = (0, 0, ReadTry::DEFAULT, None);
        let (channel, ecc) = match kind {
            Kind::Read(read) => {
                (corrected_bits, retries, last, tally) = (read.errors, read.retries, read.last, read.tally);
                read.spans(now)
            }
            Kind::Program(program) => (program.channel_span(head), Nanos::ZERO),
            Kind::Copyback(_) | Kind::Array => (head.span_before(head.start), Nanos::ZERO),
        };
        let mut spans = Spans { die: head.event.array, channel, ecc, link: Nanos::ZERO };
        if head.event.link > Nanos::ZERO {
            count_link(head, kind, &mut spans);
        }
        let is_traced = head.telling == Telling::Asked;
        Report {
            tag: head.tag,
            die: head.local,
            status: head.status,
            no_answer: head.no_answer,
            corrected_bits,
            loops: head.loops,
            retries,
            last,
            tally,
            erase: if is_traced { fetched.erase } else { None },
            spans,
            program: if is_traced { fetched.program.as_ref() } else { None },
            oob: &fetched.spare,
        }
    }
}

/// Count the time for which the operation of `head` waited for the link alone as the link's.
#[inline(never)]
fn count_link(head: &Head, kind: &Kind, spans: &mut Spans) {
    let (waits, behind) = match kind {
        Kind::Read(read) => (&mut spans.ecc, read.behind()),
        Kind::Program(program) => (&mut spans.channel, program.behind(head)),
        Kind::Copyback(_) | Kind::Array => return,
    };
    *waits = waits.saturating_sub(behind);
    spans.link = behind;
}

/// Fetch the trace of the program or erase of `head`, which its die has been asked for.
#[cold]
#[inline(never)]
fn fetch_traces(head: &Head, board: &mut Board, fetched: &mut Fetched) {
    let chip = board.chip(head);
    // The trace of an operation before is not this one's.
    (fetched.erase, fetched.program) =
        if head.event.op == FlashOp::Erase { (chip.erase_trace(), None) } else { (None, chip.program_trace()) };
}

/// Take the errors that a read for nothing but their count has found, where blocks have classes in the place of errors.
#[cold]
#[inline(never)]
fn measure(under_way: &mut UnderWay, board: &Board) {
    let UnderWay { head, kind: Kind::Read(read) } = under_way else { return };
    let Some(classes) = board.classes.as_ref().filter(|_| head.status == Status::Good) else { return };
    let (worst, all) = classes.measured(&board.dies, head.die(), &head.target);
    read.count(worst, all);
}

/// Fetch the spare areas that the firmware looks at, and give up a page that could not be read.
#[inline(always)]
fn fetch(under_way: &UnderWay, board: &mut Board, spare: &mut Vec<Lpn>) {
    let head = &under_way.head;
    match &under_way.kind {
        Kind::Read(_) => {
            if head.status == Status::Uncorrectable {
                failed(head, board);
            }
            // The firmware looks at spare areas only when it moves data; other reads need not fetch them.
            if !matches!(head.event.cause, Cause::Host | Cause::Fill | Cause::Measure | Cause::Probe) {
                board.dies[head.die()].spare_of(&head.target, 1, spare);
            }
        }
        Kind::Copyback(copyback) => board.dies[head.die()].spare_of(copyback.source(), board.pages_per_program, spare),
        Kind::Program(_) | Kind::Array => {}
    }
}

/// Note that the read of `head` has failed.
#[cold]
fn failed(head: &Head, board: &mut Board) {
    let keeps_bytes = board.keeps_bytes;
    let chip = board.chip(head);
    chip.read_failed(&head.target);
    if keeps_bytes && !matches!(head.event.cause, Cause::Host | Cause::Measure | Cause::Probe) {
        // The firmware moves the data or completes it: from here on it is lost. The host may ask again.
        chip.give_up(&head.target);
    }
}
