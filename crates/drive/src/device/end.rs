//! The end of an operation: the event that it is, and the report to the firmware.

use wordline_engine::FlashEvent;
use wordline_flash::{Origin, ProgramTrace, ReadTry, Report, Spans, Status, Tally, Target};
use wordline_units::{Attributes, BlockId, Cause, FlashOp, Lpn, Nanos};

use super::board::Board;
use super::head::{Head, Telling};
use super::table::{Kind, UnderWay};

/// An operation that has ended.
#[derive(Debug)]
pub(crate) struct Ended<'a> {
    pub(crate) core: u32,
    /// Target; for a copyback, its destination.
    pub(crate) target: &'a Target,
    pub(crate) event: FlashEvent,
    pub(crate) report: Report<'a>,
}

/// Parts of a report that are too long to be copied, for one report after the other.
#[derive(Debug, Default)]
pub(super) struct Page {
    spare: Vec<Lpn>,
    program: Option<ProgramTrace>,
}

/// Facts of an operation that depend on its kind.
struct Facts {
    op: FlashOp,
    origin: Origin,
    bus: Nanos,
    bus_end: Nanos,
    /// Time for which DRAM, or the link, was held.
    memory: Nanos,
    /// Time for which the operation waited for DRAM or the link alone.
    behind: Nanos,
    channel: Nanos,
    ecc: Nanos,
    retries: u32,
    errors: u32,
    last: ReadTry,
    tally: Option<Tally>,
    attributes: Option<Attributes>,
}

impl Facts {
    /// Facts of an operation that is no read and needs no bus.
    #[inline(always)]
    fn of_array(op: FlashOp, head: &Head) -> Facts {
        Facts {
            op,
            origin: Origin { host: 0, moved: 0, padding: 0 },
            bus: Nanos::ZERO,
            bus_end: Nanos::ZERO,
            memory: Nanos::ZERO,
            behind: Nanos::ZERO,
            channel: head.start.saturating_sub(head.issued + head.core_span),
            ecc: Nanos::ZERO,
            retries: 0,
            errors: 0,
            last: ReadTry::DEFAULT,
            tally: None,
            attributes: None,
        }
    }

    /// Facts of `under_way`, which ends at `now`.
    #[inline(always)]
    fn of(under_way: &UnderWay, now: Nanos) -> Facts {
        let UnderWay { head, kind } = under_way;
        match kind {
            Kind::Read(read) => {
                let (channel, ecc) = read.spans(now);
                Facts {
                    op: FlashOp::Read,
                    origin: Origin { host: 0, moved: 0, padding: 0 },
                    bus: read.bus,
                    bus_end: read.bus_end,
                    memory: read.memory,
                    behind: read.behind,
                    channel,
                    ecc,
                    retries: read.retries,
                    errors: read.errors,
                    last: read.last,
                    tally: read.tally,
                    attributes: read.attributes,
                }
            }
            Kind::Program(program) => Facts {
                origin: program.origin,
                bus: program.bus,
                bus_end: program.bus_end,
                memory: program.memory,
                behind: program.behind(),
                channel: program.channel_span(head),
                ..Facts::of_array(FlashOp::Program, head)
            },
            Kind::Copyback(copyback) => Facts { origin: copyback.origin(), ..Facts::of_array(FlashOp::Copyback, head) },
            Kind::Erase(_) => Facts::of_array(FlashOp::Erase, head),
            Kind::Sanitise(sanitise) => Facts::of_array(sanitise.op(), head),
        }
    }
}

/// End `under_way` at `now`, with the spare areas and traces on `page`.
#[inline(always)]
pub(super) fn end<'a>(now: Nanos, under_way: &'a UnderWay, board: &mut Board, page: &'a mut Page) -> Ended<'a> {
    page.spare.clear();
    fetch(under_way, board, &mut page.spare);
    let mut facts = Facts::of(under_way, now);
    let head = &under_way.head;
    if head.cause == Cause::Measure {
        measure(under_way, board, &mut facts);
    }
    let mut erase = None;
    page.program = None;
    if head.telling == Telling::Asked {
        let chip = board.chip(head);
        if facts.op == FlashOp::Erase {
            erase = chip.erase_trace();
        } else {
            page.program = chip.program_trace();
        }
    }
    let target = &head.target;
    let Origin { host, moved, padding } = facts.origin;
    let (mut dram, mut link) = (facts.memory, Nanos::ZERO);
    let mut spans = Spans { die: head.array, channel: facts.channel, ecc: facts.ecc, link };
    if board.paths.pass_link() {
        (dram, link) = (Nanos::ZERO, facts.memory);
        let waits = if facts.op == FlashOp::Read { &mut spans.ecc } else { &mut spans.channel };
        *waits = waits.saturating_sub(facts.behind);
        spans.link = facts.behind;
    }
    let event = FlashEvent {
        die: head.die,
        channel: head.channel,
        op: facts.op,
        cause: head.cause,
        block: target.planes.first_plane().map_or(BlockId(0), |plane| target.block(plane)),
        page: target.page,
        pages: head.pages,
        host_units: host,
        moved_units: moved,
        padding_units: padding,
        issued: head.issued,
        array: head.array,
        bus: facts.bus,
        bus_end: facts.bus_end,
        dram,
        link,
        core: head.core_span,
        ok: head.status == Status::Good,
        retries: facts.retries.min(u32::from(u8::MAX)) as u8,
        errors: facts.errors.min(u32::from(u16::MAX)) as u16,
        stops: head.stops.all,
        stops_now: head.stops.now,
        attributes: facts.attributes,
    };
    let report = Report {
        tag: head.tag,
        die: head.local,
        status: head.status,
        no_answer: head.no_answer,
        corrected_bits: facts.errors,
        loops: head.loops,
        retries: facts.retries,
        last: facts.last,
        tally: facts.tally,
        erase,
        spans,
        program: page.program.as_ref(),
        oob: &page.spare,
    };
    Ended { core: head.core, target, event, report }
}

/// Errors that a read for nothing but their count has found, where blocks have classes in the place of errors.
#[cold]
fn measure(under_way: &UnderWay, board: &Board, facts: &mut Facts) {
    let UnderWay { head, kind: Kind::Read(read) } = under_way else { return };
    let Some(classes) = board.classes.as_ref().filter(|_| head.status == Status::Good) else { return };
    let (worst, all) = classes.measured(&board.dies, head.die, &head.target);
    facts.errors = worst;
    facts.tally = read.is_counted().then_some(all);
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
            if !matches!(head.cause, Cause::Host | Cause::Fill | Cause::Measure | Cause::Probe) {
                board.dies[head.die].spare_of(&head.target, 1, spare);
            }
        }
        Kind::Copyback(copyback) => board.dies[head.die].spare_of(copyback.source(), board.pages_per_program, spare),
        Kind::Program(_) | Kind::Erase(_) | Kind::Sanitise(_) => {}
    }
}

/// Note that the read of `head` has failed.
#[cold]
fn failed(head: &Head, board: &mut Board) {
    let keeps_bytes = board.keeps_bytes;
    let chip = board.chip(head);
    chip.read_failed(&head.target);
    if keeps_bytes && !matches!(head.cause, Cause::Host | Cause::Measure | Cause::Probe) {
        // The firmware moves the data or completes it: from here on it is lost. The host may ask again.
        chip.give_up(&head.target);
    }
}
