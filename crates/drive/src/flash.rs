//! Operations on dies: from the firmware's order to its report.
//!
//! ```text
//!   read      order ─core─► sense ──Sensed──► bus, DRAM ──Transferred──► ECC ──Read──► report
//!   program   order ─core─► bus ─────────────► array ──────────────────────Worked──► report
//!   the next  order ─core─► TakeIn ──► bus ──TakenIn──► the array is free ──Worked──► report
//!   erase     order ─core─► array ─────────────────────────────────────────Worked──► report
//!   copyback  order ─core─► sense ──Copied──► hand over ──Copied──► … array ──Worked──► report
//!   suspend   order ─stop─► array ──────────Suspended──► the firmware knows
//!   sanitise  order ─core─► array ─────────────────────────────────────────Worked──► report
//! ```

use wordline_chip::{Chip, Contents, Issued, Stops};
use wordline_engine::{Bus, Event, FlashEvent};
use wordline_flash::command::{PLANES_MAX, PlaneSet};
use wordline_flash::{
    Command, EraseSettings, EraseTrace, Failed, Feature, Operation, OperationKind, Origin, ProgramSettings, ProgramTrace, ReadTry, Report,
    Sanitisation, Spans, Status, Tally, Target,
};
use wordline_units::{Attributes, BlockId, Bytes, Cause, ChannelId, DieId, FlashOp, Id, Nanos, OpTag, PageId};

use crate::copyback::Part;
use crate::drive::{Drive, Due, write_down};
use crate::follow::Ended;
use crate::following::Intake;
use crate::stop::{NOT_STOPPING, StopStage, Stopping};
use crate::tries::{Sensing, Tries, first_try, set_try};

/// Place of a flash operation under way in the drive's table of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FlightSlot(u32);

impl FlightSlot {
    /// No operation.
    pub(crate) const NONE: FlightSlot = FlightSlot(u32::MAX);

    #[inline]
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }

    /// Place number `index`.
    pub(crate) fn at(index: usize) -> FlightSlot {
        FlightSlot(index as u32)
    }
}

/// A flash operation under way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flight {
    pub(crate) core: u32,
    pub(crate) die: DieId,
    pub(crate) channel: ChannelId,
    /// Die, as its core counts it.
    pub(crate) local: DieId,
    pub(crate) tag: OpTag,
    pub(crate) cause: Cause,
    pub(crate) op: FlashOp,
    pub(crate) status: Status,
    /// True if the die never ended it, and did not answer after a reset.
    pub(crate) no_answer: bool,
    /// Present try of a read.
    pub(crate) last: ReadTry,
    /// Attributes with which a read waited in its die's queue.
    attributes: Option<Attributes>,
    /// Next try of a read, after one that error correction cannot mend; `None`: the read fails.
    pub(crate) next: Option<ReadTry>,
    /// Number of tries after the first.
    retries: u32,
    /// Wrong bits in the worst codeword of the last try.
    pub(crate) errors: u32,
    /// Loops of a program or an erase.
    pub(crate) loops: u8,
    /// Pages of each plane that the operation acts on.
    pub(crate) pages: u32,
    /// Origin of the data of a program.
    pub(crate) origin: Origin,
    /// Target of a read, program or erase; for a copyback, its destination.
    pub(crate) target: Target,
    /// Source of a copyback.
    pub(crate) source: Target,
    pub(crate) bytes: Bytes,
    issued: Nanos,
    /// Instant at which the array began.
    pub(crate) array_from: Nanos,
    pub(crate) array: Nanos,
    /// Instant at which the page was sensed.
    pub(crate) sensed: Nanos,
    /// Instant at which the page had left the die.
    pub(crate) transferred: Nanos,
    pub(crate) bus: Nanos,
    /// Instant at which it last let go of the bus.
    bus_end: Nanos,
    /// Time on the bus, waits included, of tries that failed.
    lost_on_bus: Nanos,
    /// Time in error correction of tries that failed.
    decoding: Nanos,
    pub(crate) dram: Nanos,
    /// Instant at which all data read is in DRAM, as far as DRAM decides.
    in_dram: Nanos,
    core_span: Nanos,
    /// State of the trace of a program or erase, or of the tally of a read.
    telling: Telling,
    /// Wrong bits of the present try of a read that is counted.
    tally: Option<Tally>,
    /// Number of stops, by which an outdated completion is recognised: of this operation and of those before it in this place, because an event of a sensing
    /// that was broken off outlives it. It may wrap around, because no event outlives thousands of stops.
    pub(crate) attempt: u16,
    /// Stops so far, and how many of them were at once.
    pub(crate) stops: Stops,
    /// Stop that is under way.
    pub(crate) stopping: Stopping,
    /// Part of a copyback that is under way.
    pub(crate) part: Part,
    /// Progress of a program that was ordered while its die was doing another.
    pub(crate) intake: Intake,
}

/// Progress of a die in reporting the trace of its program or erase, and of the controller in counting all errors of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Telling {
    /// No report is wanted.
    No,
    /// The die is asked at the end of the array's work.
    ToAsk,
    /// The die has been asked.
    Asked,
    /// All errors of the read are counted.
    Counted,
}

impl Flight {
    /// Moves the data of a program out of DRAM through the bus into `chip`, from the instant `from` on. The bus is held for its own span, and the data is in
    /// when both are through. Returns that instant.
    #[inline(always)]
    pub(crate) fn take_in(&mut self, from: Nanos, dram: Option<&mut Bus>, channel: &mut Bus, chip: &mut Chip) -> Nanos {
        let bytes = self.bytes;
        let mut data = from;
        if let Some(dram) = dram {
            (self.dram, data) = dram.transfer(from, bytes, Nanos::ZERO);
        }
        let (span, end) = channel.transfer(from, bytes, chip.sheet().timing.bus_overhead);
        let loaded = end.max(data);
        chip.transfer(Command::DataIn { bytes }, end - span, loaded);
        (self.bus, self.bus_end, self.transferred) = (span, end, loaded);
        loaded
    }

    /// Counts the errors of a try that has just been sensed at `chip`, if they are to be counted.
    #[inline]
    fn count(&mut self, chip: &Chip) {
        if self.telling == Telling::Counted {
            self.tally = chip.tally(&self.target).filter(|_| self.status == Status::Good);
        }
    }

    /// Takes what `chip` tells of the operation at its end, and what was counted of it.
    #[cold]
    #[inline(never)]
    fn told(&self, chip: &mut Chip) -> Told {
        let asked = |of: FlashOp| self.telling == Telling::Asked && (self.op == FlashOp::Erase) == (of == FlashOp::Erase);
        Told {
            program: if asked(FlashOp::Program) { chip.program_trace() } else { None },
            erase: if asked(FlashOp::Erase) { chip.erase_trace() } else { None },
            tally: self.tally.filter(|_| self.telling == Telling::Counted),
        }
    }
}

/// Reports of a die and of the controller that firmware gets only where it has asked for them.
#[derive(Clone, Copy, Debug, Default)]
struct Told {
    program: Option<ProgramTrace>,
    erase: Option<EraseTrace>,
    tally: Option<Tally>,
}

const NOWHERE: Target = Target { planes: PlaneSet(0), blocks: [0; PLANES_MAX], page: PageId(0) };

const IDLE: Flight = Flight {
    core: 0,
    die: DieId(0),
    channel: ChannelId(0),
    local: DieId(0),
    tag: OpTag(0),
    cause: Cause::Host,
    op: FlashOp::Read,
    status: Status::Good,
    no_answer: false,
    last: ReadTry::DEFAULT,
    attributes: None,
    next: None,
    retries: 0,
    errors: 0,
    loops: 0,
    pages: 1,
    origin: Origin { host: 0, moved: 0, padding: 0 },
    target: NOWHERE,
    source: NOWHERE,
    bytes: Bytes(0),
    issued: Nanos::ZERO,
    array_from: Nanos::ZERO,
    array: Nanos::ZERO,
    sensed: Nanos::ZERO,
    transferred: Nanos::ZERO,
    bus: Nanos::ZERO,
    bus_end: Nanos::ZERO,
    lost_on_bus: Nanos::ZERO,
    decoding: Nanos::ZERO,
    dram: Nanos::ZERO,
    in_dram: Nanos::ZERO,
    core_span: Nanos::ZERO,
    telling: Telling::No,
    tally: None,
    attempt: 0,
    stops: Stops { all: 0, now: 0 },
    stopping: NOT_STOPPING,
    part: Part::Whole,
    intake: Intake::Begun,
};

impl Drive {
    /// Carry out the operation that `core` has ordered.
    #[inline(never)]
    pub(crate) fn issue(&mut self, now: Nanos, core: u32, operation: &Operation) {
        if self.waiting.is_some() && self.meets_fault(core, operation) {
            return;
        }
        let die = self.wiring.die(core, operation.die);
        if let OperationKind::Read { bytes, target, .. } = operation.kind {
            if let Some((slot, tries)) = self.parked.take(core, operation.tag) {
                return self.go_on(now, slot, bytes, tries);
            }
            // Reads of garbage collection go through a block page by page, and what is known of it is in the processor's cache.
            if operation.cause == Cause::Host {
                self.chips[die].prefetch(&target);
            }
        }
        match operation.kind {
            OperationKind::Suspend { stop } => return self.suspend(now, die, stop),
            OperationKind::Resume => return self.resume(now, die),
            OperationKind::Abort => return self.abort(now, die, operation),
            OperationKind::Read { .. }
            | OperationKind::Program { .. }
            | OperationKind::Erase { .. }
            | OperationKind::Copyback { .. }
            | OperationKind::Sanitise { .. } => {}
        }
        let cost = self.config.costs.operation;
        let start = if cost == Nanos::ZERO { now } else { self.cores[core as usize].occupy(now, cost) };
        let slot = self.open_flight();
        if self.data.is_some() && matches!(operation.kind, OperationKind::Program { is_cached: false, .. }) {
            self.gather(core, operation.die, operation.tag);
        }
        if self.data.is_some()
            && let OperationKind::Copyback { from, .. } = operation.kind
        {
            self.gather_copyback(core, operation.die, &from);
        }
        if self.events.follows() {
            self.tell_taken(now, core, operation);
        }
        let Drive { flights, chips, wiring, ftls, config, read_levels, .. } = self;
        let (flight, chip) = (&mut flights[slot.index()], &mut chips[die]);
        flight.core = core;
        flight.die = die;
        flight.channel = wiring.channel(die);
        flight.local = operation.die;
        flight.tag = operation.tag;
        flight.cause = operation.cause;
        flight.issued = now;
        flight.array_from = start;
        flight.sensed = start;
        flight.transferred = start;
        flight.no_answer = false;
        flight.last = ReadTry::DEFAULT;
        flight.attributes = None;
        flight.next = None;
        flight.retries = 0;
        flight.errors = 0;
        flight.loops = 0;
        flight.pages = 1;
        flight.origin = Origin::default();
        flight.bus = Nanos::ZERO;
        flight.lost_on_bus = Nanos::ZERO;
        flight.decoding = Nanos::ZERO;
        flight.dram = Nanos::ZERO;
        flight.in_dram = Nanos::ZERO;
        flight.core_span = cost;
        flight.telling = Telling::No;
        flight.stops = Stops::default();
        flight.stopping.stage = StopStage::None;
        flight.part = Part::Whole;
        flight.intake = Intake::Begun;
        match operation.kind {
            OperationKind::Read { target, bytes, first, tally, attributes } => {
                flight.attributes = attributes;
                flight.op = FlashOp::Read;
                flight.target = target;
                flight.bytes = bytes;
                flight.last = first_try(first, *read_levels, &config.read_sets);
                if tally {
                    flight.telling = Telling::Counted;
                }
                // The read before may have left the die at other references.
                let from = set_try(chip, flight.last, &config.read_sets, start);
                let issued = chip.issue(Command::Read { target, cache: false }, from);
                flight.array = issued.ready_at - start;
                flight.status = issued.status;
                flight.errors = issued.errors;
                flight.sensed = issued.ready_at;
                flight.array_from = from;
                if tally {
                    flight.count(chip);
                }
                self.calendar.enter(issued.ready_at, Due::Sensed { flight: slot, attempt: flight.attempt });
            }
            OperationKind::Program { is_cached: true, .. } => self.issue_cached(start, slot, die, operation),
            OperationKind::Program { target, bytes, origin, is_set: _, is_cached: false } => {
                flight.op = FlashOp::Program;
                flight.target = target;
                flight.pages = ftls[core as usize].layout().pages_per_program;
                flight.origin = origin;
                flight.bytes = bytes;
                let loaded = flight.take_in(start, self.dram.as_mut(), &mut self.channels[flight.channel.index()], chip);
                let load = self.ftls[core as usize].load(operation.die, operation.tag);
                let contents = self.data.as_ref().map_or(Contents::NONE, |data| data.gathered(core));
                let mut from = loaded;
                if let Some(settings) = load.settings {
                    from = set_program(chip, settings, from);
                    let tells = self.config.cells.is_some() || self.config.faults.program_saving > 0.0;
                    flight.telling = if tells { Telling::ToAsk } else { Telling::No };
                }
                let issued = chip.program(Command::Program { target, cache: false }, from, load.oob, contents);
                flight.array_from = from;
                self.work(slot, die, loaded, issued);
            }
            OperationKind::Erase { .. } | OperationKind::Copyback { .. } | OperationKind::Sanitise { .. } => {
                self.issue_rarer(slot, die, operation, start);
            }
            OperationKind::Suspend { .. } | OperationKind::Resume | OperationKind::Abort => unreachable!("handled above"),
        }
    }

    /// Issue to `die` at `start` an operation that is neither a read nor a program, in the flight `slot`.
    #[inline(never)]
    fn issue_rarer(&mut self, slot: FlightSlot, die: DieId, operation: &Operation, start: Nanos) {
        let Drive { flights, chips, ftls, config, .. } = self;
        let (flight, chip) = (&mut flights[slot.index()], &mut chips[die]);
        let issued = match operation.kind {
            OperationKind::Erase { target, is_traced, is_set } => {
                flight.op = FlashOp::Erase;
                flight.target = target;
                let settings = if is_set { ftls[flight.core as usize].erase_settings(operation.die) } else { None };
                let from = settings.map_or(start, |settings| set_erase(chip, settings, start));
                flight.array_from = from;
                if is_traced && config.sheet.capabilities.erase_trace && config.cells.is_some() {
                    flight.telling = Telling::ToAsk;
                }
                chip.issue(Command::Erase { target }, from)
            }
            OperationKind::Copyback { from, to, is_set: _ } => {
                flight.op = FlashOp::Copyback;
                flight.target = to;
                flight.source = from;
                let layout = ftls[flight.core as usize].layout();
                flight.pages = layout.pages_per_program;
                flight.origin.moved = layout.units_per_program as u16;
                let settings = ftls[flight.core as usize].load(operation.die, operation.tag).settings;
                let set = settings.map_or(start, |settings| set_program(chip, settings, start));
                flight.array = set - start;
                self.working[die] = slot;
                return self.begin_copyback(set, slot);
            }
            OperationKind::Sanitise { target, how } => {
                flight.op = how.op();
                if how == Sanitisation::Scrub {
                    flight.pages = config.sheet.geometry.cell.bits();
                }
                flight.target = target;
                chip.issue(Command::Sanitise { target, how }, start)
            }
            OperationKind::Read { .. }
            | OperationKind::Program { .. }
            | OperationKind::Suspend { .. }
            | OperationKind::Resume
            | OperationKind::Abort => {
                unreachable!("carried out elsewhere")
            }
        };
        self.work(slot, die, start, issued);
    }

    /// Occupy the array of `die` with `slot` until the instant in `issued`.
    #[inline]
    pub(crate) fn work(&mut self, slot: FlightSlot, die: DieId, from: Nanos, issued: Issued) {
        let flight = &mut self.flights[slot.index()];
        flight.array = issued.ready_at - from;
        flight.status = issued.status;
        flight.loops = issued.loops;
        self.working[die] = slot;
        self.calendar.enter(issued.ready_at, Due::Worked { flight: slot, attempt: flight.attempt });
    }

    /// Transfer the sensed page: it waits for the bus, and flows through error correction into DRAM codeword by codeword. Codewords that will not be
    /// corrected stay out of DRAM.
    #[inline]
    pub(crate) fn sensed(&mut self, now: Nanos, slot: FlightSlot, attempt: u16) {
        if self.flights[slot.index()].attempt != attempt {
            return;
        }
        if self.flights[slot.index()].status == Status::Uncorrectable && self.waits_in_vain(now, slot) {
            return;
        }
        let is_last = self.flights[slot.index()].status != Status::Uncorrectable || self.ask_next_try(now, slot).is_none();
        let Drive { flights, chips, channels, config, calendar, dram, .. } = self;
        let flight = &mut flights[slot.index()];
        let bytes = flight.bytes;
        if is_last && let Some(dram) = dram {
            (flight.dram, flight.in_dram) = dram.transfer(now, bytes, Nanos::ZERO);
        }
        let (span, end) = channels[flight.channel.index()].transfer(now, bytes, config.sheet.timing.bus_overhead);
        flight.bus += span;
        (flight.bus_end, flight.transferred) = (end, end);
        chips[flight.die].transfer(Command::DataOut { bytes }, end - span, end);
        calendar.enter(end, Due::Transferred { flight: slot });
    }

    /// Ask the firmware how the read in `slot`, which error correction cannot mend, is tried once more, and keep the answer.
    #[cold]
    fn ask_next_try(&mut self, now: Nanos, slot: FlightSlot) -> Option<ReadTry> {
        let Drive { flights, chips, ftls, tries, config, .. } = self;
        let flight = &mut flights[slot.index()];
        let tries = &mut tries[flight.die];
        if flight.retries == 0 {
            tries.clear();
        }
        let of = Sensing { target: &flight.target, last: flight.last, errors: flight.errors, now };
        let ask = |failed: &Failed<'_>| ftls[flight.core as usize].next_try(now, flight.tag, failed);
        flight.next = tries.next(&mut chips[flight.die], &of, config.search, ask);
        flight.next
    }

    /// End the transfer of the page: the die is free again, and the last codewords go on through error correction.
    #[inline]
    pub(crate) fn transferred(&mut self, now: Nanos, slot: FlightSlot) {
        let Drive { flights, ecc, ecc_rate, config, calendar, ftls, .. } = self;
        let flight = &mut flights[slot.index()];
        let bytes = flight.bytes;
        let mut end = now;
        if let Some(rate) = ecc_rate {
            end = ecc[flight.channel.index()].occupy(now, rate.span(bytes));
        }
        end += config.ecc.latency;
        if flight.next.is_some() {
            return calendar.enter(end, Due::Retry { flight: slot });
        }
        end = end.max(flight.in_dram);
        let core = flight.core;
        ftls[core as usize].die_ready(flight.local);
        if end == now {
            return self.read_done(now, slot);
        }
        calendar.enter(end, Due::Read { flight: slot });
        self.pump(now, core);
    }

    /// Sense once more after failed error correction, with the try that the firmware has chosen. The die was kept for it, unless a read goes first that has
    /// come meanwhile.
    pub(crate) fn retry(&mut self, now: Nanos, slot: FlightSlot) {
        let flight = &mut self.flights[slot.index()];
        flight.lost_on_bus += flight.transferred - flight.sensed;
        flight.decoding += now - flight.transferred;
        flight.retries += 1;
        let (core, local) = (flight.core, flight.local);
        if self.ftls[core as usize].yields(now, local) {
            return self.yielded(now, slot);
        }
        self.sense_again(now, slot);
    }

    /// Go on with the read of `bytes` in `slot`, which had left its die and is ordered again after these `tries`.
    #[cold]
    fn go_on(&mut self, now: Nanos, slot: FlightSlot, bytes: Bytes, tries: Tries) {
        let Drive { flights, cores, config, .. } = self;
        let flight = &mut flights[slot.index()];
        let cost = config.costs.operation;
        let start = if cost == Nanos::ZERO { now } else { cores[flight.core as usize].occupy(now, cost) };
        flight.core_span += cost;
        flight.bytes = bytes;
        self.tries[flight.die] = tries;
        self.sense_again(start, slot);
    }

    /// Sense the page of the read in `slot` with the try that comes next.
    fn sense_again(&mut self, now: Nanos, slot: FlightSlot) {
        let flight = &mut self.flights[slot.index()];
        flight.last = flight.next.take().expect("it is known how it is tried again");
        let chip = &mut self.chips[flight.die];
        let from = self.tries[flight.die].aim(chip, flight.last, &self.config.read_sets, now);
        let issued = chip.issue(Command::Read { target: flight.target, cache: false }, from);
        flight.array += issued.ready_at - now;
        flight.status = issued.status;
        flight.errors = issued.errors;
        flight.sensed = issued.ready_at;
        flight.array_from = from;
        flight.count(chip);
        self.calendar.enter(issued.ready_at, Due::Sensed { flight: slot, attempt: flight.attempt });
    }

    /// Report the end of a read to the firmware.
    #[inline]
    pub(crate) fn read_done(&mut self, now: Nanos, slot: FlightSlot) {
        let Drive { flights, chips, spare, .. } = self;
        let flight = &flights[slot.index()];
        let channel = flight.lost_on_bus + (flight.transferred - flight.sensed);
        let ecc = flight.decoding + (now - flight.transferred);
        if flight.status == Status::Uncorrectable {
            chips[flight.die].read_failed(&flight.target);
            if self.data.is_some() && !matches!(flight.cause, Cause::Host | Cause::Measure | Cause::Probe) {
                // The firmware moves the data or completes it: from here on it is lost. The host may ask again.
                chips[flight.die].give_up(&flight.target);
            }
        }
        spare.clear();
        // The firmware looks at spare areas only when it moves data; other reads need not fetch them.
        if !matches!(flight.cause, Cause::Host | Cause::Fill | Cause::Measure | Cause::Probe) {
            chips[flight.die].spare_of(&flight.target, 1, spare);
        }
        self.close_flight(now, slot, channel, ecc);
    }

    /// End a program, an erase, a copyback or a lock.
    #[inline]
    pub(crate) fn worked(&mut self, now: Nanos, slot: FlightSlot, attempt: u16) {
        // After a power cut on demand nothing that is under way comes to its end. Dies that keep no bytes have nothing to end.
        let ends = self.data.is_some() && self.power_cut().is_none();
        let Drive { flights, chips, spare, working, following, ftls, config, calendar, .. } = self;
        let flight = &mut flights[slot.index()];
        if flight.attempt != attempt {
            return;
        }
        if flight.telling == Telling::ToAsk && flight.status == Status::Good {
            // The program stays the die's business until it has told how it went.
            let feature = if flight.op == FlashOp::Erase { Feature::EraseTrace } else { Feature::ProgramTrace };
            let told = chips[flight.die].issue(Command::GetFeature { feature }, now).ready_at;
            flight.telling = Telling::Asked;
            flight.array += told - now;
            return calendar.enter(told, Due::Worked { flight: slot, attempt });
        }
        if flight.status == Status::Failed && chips[flight.die].is_silent() && !flight.no_answer {
            return self.wait_in_vain(now, slot);
        }
        let flight = &*flight;
        if ends {
            chips[flight.die].end(now);
        }
        let (die, next) = (flight.die, following[flight.die]);
        working[die] = next;
        following[die] = FlightSlot::NONE;
        let channel = flight.transferred.saturating_sub(flight.issued + flight.core_span);
        spare.clear();
        if flight.op == FlashOp::Copyback {
            chips[flight.die].spare_of(&flight.source, config.sheet.pages_per_program(), spare);
        }
        ftls[flight.core as usize].die_ready(flight.local);
        self.close_flight(now, slot, channel, Nanos::ZERO);
        // The firmware has taken the report of the program before, and with it what was held for that one.
        if next != FlightSlot::NONE && self.flights[next.index()].intake == Intake::Loaded {
            self.begin_loaded(now, next);
        }
    }

    /// Log the end of the operation in `slot`, whose spare areas are in hand, and report it to the firmware. `channel` and `ecc` are the times that it took
    /// there.
    fn close_flight(&mut self, now: Nanos, slot: FlightSlot, channel: Nanos, ecc: Nanos) {
        let Drive { flights, idle_flights, chips, ftls, spare, log, events, wiring, .. } = self;
        idle_flights.push(slot);
        let flight = &flights[slot.index()];
        let core = flight.core;
        self.reporting = flight.die;
        let ftl = &mut ftls[core as usize];
        let target = &flight.target;
        let Origin { host, moved, padding } = flight.origin;
        let mut told = Told::default();
        if flight.telling != Telling::No {
            told = flight.told(&mut chips[flight.die]);
        }
        let event = Event::Flash(FlashEvent {
            die: flight.die,
            channel: flight.channel,
            op: flight.op,
            cause: flight.cause,
            block: target.planes.first_plane().map_or(BlockId(0), |plane| target.block(plane)),
            page: target.page,
            pages: (flight.pages * target.planes.len()) as u16,
            host_units: host,
            moved_units: moved,
            padding_units: padding,
            issued: flight.issued,
            array: flight.array,
            bus: flight.bus,
            bus_end: flight.bus_end,
            dram: flight.dram,
            core: flight.core_span,
            ok: flight.status == Status::Good,
            retries: flight.retries.min(u32::from(u8::MAX)) as u8,
            errors: flight.errors.min(u32::from(u16::MAX)) as u16,
            stops: flight.stops.all,
            stops_now: flight.stops.now,
            attributes: flight.attributes,
        });
        self.operations += 1;
        write_down(log, events, now, event);
        let ended = if events.follows() { Ended::of(flight, ftl, spare) } else { None };
        let report = Report {
            tag: flight.tag,
            die: flight.local,
            status: flight.status,
            no_answer: flight.no_answer,
            corrected_bits: flight.errors,
            loops: flight.loops,
            retries: flight.retries,
            last: flight.last,
            tally: told.tally,
            erase: told.erase,
            spans: Spans { die: flight.array, channel, ecc },
            program: told.program.as_ref(),
            oob: spare,
        };
        let units = ftl.report(now, &report).invalidated;
        if units > 0 {
            write_down(log, events, now, Event::Invalidated { die: wiring.die(core, report.die), units });
        }
        if let Some(ended) = ended {
            self.tell_ended(now, ended);
        }
        self.pump(now, core);
    }

    /// Allocate a flight, to be filled in place: copied there whole, it would be read in other widths than it was written in.
    #[inline]
    fn open_flight(&mut self) -> FlightSlot {
        self.idle_flights.pop().unwrap_or_else(|| {
            self.flights.push(IDLE);
            FlightSlot((self.flights.len() - 1) as u32)
        })
    }

    /// Size of one unit in bytes.
    pub fn unit_bytes(&self) -> Bytes {
        self.config.firmware.unit
    }
}

/// Set the registers of `chip` for its next programs by `settings`. Returns the instant at which they are set.
pub(crate) fn set_program(chip: &mut Chip, settings: &ProgramSettings, now: Nanos) -> Nanos {
    let states = (1 << chip.sheet().geometry.cell.bits()) - 1;
    set_registers(chip, settings.registers(states), now)
}

/// Set the registers of `chip` for its next erase by `settings`. Returns the instant at which they are set.
pub(crate) fn set_erase(chip: &mut Chip, settings: &EraseSettings, now: Nanos) -> Nanos {
    let geometry = chip.sheet().geometry;
    set_registers(chip, settings.registers(geometry.layers * geometry.wordlines_per_layer), now)
}

/// Set those of the `registers` of `chip` that hold something else. Returns the instant at which they are set.
fn set_registers(chip: &mut Chip, registers: impl Iterator<Item = (Feature, u32)>, now: Nanos) -> Nanos {
    registers.fold(now, |now, (feature, value)| {
        let stands = chip.feature(feature) == value;
        if stands { now } else { chip.issue(Command::SetFeature { feature, value }, now).ready_at }
    })
}
