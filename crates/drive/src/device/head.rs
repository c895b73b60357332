//! The facts that every operation under way has, whatever it does.

use wordline_chip::Stops;
use wordline_flash::{Operation, Status, Stop, Target};
use wordline_units::{Cause, ChannelId, DieId, Nanos, OpTag};

/// The facts that every operation under way has.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head {
    pub(super) core: u32,
    pub(super) tag: OpTag,
    pub(super) die: DieId,
    pub(super) channel: ChannelId,
    /// Die, as its core counts it.
    pub(super) local: DieId,
    /// Number of stops, by which an outdated completion is recognised: of this operation and of those before it in this place, because an event of a sensing
    /// that was broken off outlives it. It may wrap around, because no event outlives thousands of stops.
    pub(super) attempt: u16,
    pub(super) cause: Cause,
    pub(super) status: Status,
    /// True if the die never ended it, and did not answer after a reset.
    pub(super) no_answer: bool,
    /// Loops of a program or an erase.
    pub(super) loops: u8,
    /// State of the trace of a program or erase.
    pub(super) telling: Telling,
    /// Pages or blocks that it acts on, of all planes.
    pub(super) pages: u16,
    /// Target; for a copyback, its destination.
    pub(super) target: Target,
    /// Stops so far, and how many of them were at once.
    pub(super) stops: Stops,
    /// Stop that is under way.
    pub(super) stopping: Stopping,
    pub(super) issued: Nanos,
    /// Time for which a core was held.
    pub(super) core_span: Nanos,
    /// Instant at which the core was through with it.
    pub(super) start: Nanos,
    /// Instant at which the array began.
    pub(super) array_from: Nanos,
    pub(super) array: Nanos,
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
    /// The head of `operation` on `pages` of `target`, whose array begins as soon as the order is through.
    #[inline(always)]
    pub(super) fn new(begun: &Begun, operation: &Operation, target: Target, pages: u32) -> Head {
        let &Begun { core, die, channel, issued, core_span, start, attempt } = begun;
        Head {
            core,
            tag: operation.tag,
            die,
            channel,
            local: operation.die,
            attempt,
            cause: operation.cause,
            status: Status::Good,
            no_answer: false,
            loops: 0,
            telling: Telling::No,
            pages: pages as u16,
            target,
            stops: Stops { all: 0, now: 0 },
            stopping: Stopping::NONE,
            issued,
            core_span,
            start,
            array_from: start,
            array: Nanos::ZERO,
        }
    }

    /// Notes another stop, and returns the number by which completions are recognised from now on.
    pub(super) fn next_attempt(&mut self) -> u16 {
        self.attempt = self.attempt.wrapping_add(1);
        self.attempt
    }
}
