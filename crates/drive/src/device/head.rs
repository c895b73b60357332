//! The facts that every operation under way has, whatever it does.

use wordline_engine::FlashEvent;
use wordline_flash::{Operation, Status, Stop, Target};
use wordline_units::{BlockId, ChannelId, DieId, FlashOp, Nanos, OpTag};

/// The facts that every operation under way has.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head {
    /// The event that the operation is once it has ended, as far as it has come: it is written once and shown from here.
    pub(super) event: FlashEvent,
    pub(super) core: u32,
    pub(super) tag: OpTag,
    /// Die, as its core counts it.
    pub(super) local: DieId,
    /// Number of stops, by which an outdated completion is recognised: of this operation and of those before it in this place, because an event of a sensing
    /// that was broken off outlives it. It may wrap around, because no event outlives thousands of stops.
    pub(super) attempt: u16,
    pub(super) status: Status,
    /// True if the die never ended it, and did not answer after a reset.
    pub(super) no_answer: bool,
    /// Loops of a program or an erase.
    pub(super) loops: u8,
    /// State of the trace of a program or erase.
    pub(super) telling: Telling,
    /// Target; for a copyback, its destination.
    pub(super) target: Target,
    /// Stop that is under way.
    pub(super) stopping: Stopping,
    /// Instant at which the core was through with it.
    pub(super) start: Nanos,
    /// Instant at which the array began.
    pub(super) array_from: Nanos,
}

/// Progress of a die in reporting the trace of its program or erase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Telling {
    /// No report is wanted.
    No,
    /// The die is asked at the end of the array's work.
    ToAsk,
    /// The die has been asked.
    Asked,
}

/// Progress of a stop.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stopping {
    pub(super) stage: StopStage,
    /// Hardest stop ordered since the first order.
    pub(super) wanted: Stop,
    /// Instant of the first order.
    pub(super) since: Nanos,
}

/// Stage of a stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StopStage {
    /// None has been ordered.
    None,
    /// The die does not accept it yet.
    Waiting,
    /// The die is doing it.
    Begun,
}

impl Stopping {
    /// State of an operation that nothing has ordered to stop.
    pub(super) const NONE: Stopping = Stopping { stage: StopStage::None, wanted: Stop::AtStep, since: Nanos::ZERO };
}

/// Die, channel and core time of an operation that begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Begun {
    pub(super) core: u32,
    pub(super) die: DieId,
    pub(super) channel: ChannelId,
    pub(super) issued: Nanos,
    pub(super) core_span: Nanos,
    /// Instant at which the core is through with the order.
    pub(super) start: Nanos,
    /// Number of stops in its place of the table so far.
    pub(super) attempt: u16,
}

impl Head {
    /// The head of `operation`, which is an `op` of `pages` of `target`, whose array begins as soon as the order is through.
    #[inline(always)]
    pub(super) fn new(begun: &Begun, operation: &Operation, (op, target, pages): (FlashOp, Target, u32)) -> Head {
        let &Begun { core, die, channel, issued, core_span, start, attempt } = begun;
        let event = FlashEvent {
            die,
            channel,
            op,
            cause: operation.cause,
            block: target.planes.first_plane().map_or(BlockId(0), |plane| target.block(plane)),
            page: target.page,
            pages: pages as u16,
            host_units: 0,
            moved_units: 0,
            padding_units: 0,
            issued,
            array: Nanos::ZERO,
            bus: Nanos::ZERO,
            bus_end: Nanos::ZERO,
            dram: Nanos::ZERO,
            link: Nanos::ZERO,
            core: core_span,
            ok: true,
            retries: 0,
            errors: 0,
            stops: 0,
            stops_now: 0,
            attributes: None,
        };
        Head {
            event,
            core,
            tag: operation.tag,
            local: operation.die,
            attempt,
            status: Status::Good,
            no_answer: false,
            loops: 0,
            telling: Telling::No,
            target,
            stopping: Stopping::NONE,
            start,
            array_from: start,
        }
    }

    /// The die, as the drive counts it.
    #[inline]
    pub(super) fn die(&self) -> DieId {
        self.event.die
    }

    /// Note for how long the link, or else DRAM, was `held`.
    #[inline(always)]
    pub(super) fn hold_memory(&mut self, held: Nanos, is_link: bool) {
        if is_link {
            self.event.link = held;
        } else {
            self.event.dram = held;
        }
    }

    /// Time from the order to the start of the array, without the core's.
    #[inline]
    pub(super) fn span_before(&self, start: Nanos) -> Nanos {
        start.saturating_sub(self.event.issued + self.event.core)
    }

    /// Notes another stop, and returns the number by which completions are recognised from now on.
    pub(super) fn next_attempt(&mut self) -> u16 {
        self.attempt = self.attempt.wrapping_add(1);
        self.attempt
    }
}
