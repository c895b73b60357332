//! What happened. Every table, chart and percentile is a function of this stream and of nothing else.

use std::collections::VecDeque;
use std::fmt;

use wordline_units::{Attributes, BlockId, Cause, ChannelId, DieId, FlashOp, GroupId, HostOp, JobId, Nanos, PageId, PlaneId, RequestId};

use crate::follow::UnitStep;

/// One thing that happened in a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The host issued a request.
    Arrived {
        /// The request; ids are reused once a request is complete.
        request: RequestId,
        /// What it asks.
        op: HostOp,
        /// Its attributes.
        attributes: Attributes,
        /// Its size in sectors.
        sectors: u32,
    },
    /// A request was acknowledged.
    Completed(Completion),
    /// A flash operation ended.
    Flash(FlashEvent),
    /// Host data became invalid: overwritten or trimmed, or trimmed while it was programmed.
    Invalidated {
        /// The die whose program made it so; for a trim, the first die of its core.
        die: DieId,
        /// Mapping units that became invalid.
        units: u32,
    },
    /// A block group went out of service.
    Retired {
        /// Its die.
        die: DieId,
        /// Its number.
        group: GroupId,
    },
    /// What a technique distrusts of a program that has ended well is programmed again, elsewhere.
    ProgrammedAgain {
        /// The die.
        die: DieId,
        /// The number of the block group.
        group: GroupId,
    },
    /// A die refuses to make unreadable what is stale and secret in a block group.
    Exposed {
        /// Its die.
        die: DieId,
        /// Its number.
        group: GroupId,
    },
    /// Host data could not be read when it had to be moved or completed: it is lost until it is written again.
    DataLost {
        /// The die that could not read it.
        die: DieId,
        /// Mapping units that were lost, whole or in part.
        units: u32,
    },
    /// An operation went badly, and the firmware looks whether its die has failed.
    DieSuspected {
        /// The die.
        die: DieId,
        /// The number of the block group that the operation was at.
        group: GroupId,
    },
    /// The firmware has found a die failed: it reads and writes nothing there any more.
    DieFailed {
        /// The die.
        die: DieId,
    },
    /// Host data was lost with a failed die, until it is written or trimmed.
    UnitsLost {
        /// The die.
        die: DieId,
        /// Mapping units that were lost.
        units: u32,
    },
    /// The host has written or trimmed what was lost with a failed die.
    UnitsHealed {
        /// The die.
        die: DieId,
        /// Mapping units that are lost no longer.
        units: u32,
    },
    /// A flash operation was stopped for a read, and its die is free. How often it was is also in its [`FlashEvent`], but for a
    /// read, which goes on with the try that it was at.
    Stopped {
        /// The die.
        die: DieId,
        /// How it was stopped. What a die does in its fixed time is not in the log's hash, because it follows from the times that are.
        how: StopKind,
        /// What was being done.
        kind: FlashOp,
        /// Why that was being done.
        cause: Cause,
        /// From the first order to stop until the die was free.
        waited: Nanos,
    },
    /// A part of a die has failed for good, because somebody ordered it to.
    Harmed {
        /// The die.
        die: DieId,
        /// Which part, and how.
        part: FailedPart,
    },
    /// The drive has too few good blocks left and takes no more writes.
    WornOut,
}

/// A part of a die that has failed for good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailedPart {
    /// All of it.
    Die {
        /// It does not answer any more either.
        silent: bool,
    },
    /// A plane.
    Plane(PlaneId),
    /// Blocks of a plane.
    Blocks {
        /// The plane.
        plane: PlaneId,
        /// The first.
        first: BlockId,
        /// The last.
        last: BlockId,
    },
}

impl fmt::Display for FailedPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FailedPart::Die { silent: false } => write!(f, "the die fails"),
            FailedPart::Die { silent: true } => write!(f, "the die fails and falls silent"),
            FailedPart::Plane(plane) => write!(f, "plane {} fails", plane.0),
            FailedPart::Blocks { plane, first, last } => write!(f, "blocks {} to {} of plane {} fail", first.0, last.0, plane.0),
        }
    }
}

impl FailedPart {
    /// As numbers: what kind it is, its plane, its first and its last block.
    pub(crate) const fn numbers(self) -> [u32; 4] {
        match self {
            FailedPart::Die { silent } => [silent as u32, 0, 0, 0],
            FailedPart::Plane(plane) => [2, plane.0 as u32, 0, 0],
            FailedPart::Blocks { plane, first, last } => [3, plane.0 as u32, first.0, last.0],
        }
    }
}

/// How a flash operation was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopKind {
    /// In the fixed time of a die whose steps nobody knows.
    FixedTime,
    /// At the end of the step that the array was doing; of a read, between two tries.
    AtStep,
    /// At once: the running step is done again, or the running try of a read.
    Now,
}

/// The end of a host request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The request.
    pub request: RequestId,
    /// What it asked.
    pub op: HostOp,
    /// Its attributes.
    pub attributes: Attributes,
    /// Its size in sectors.
    pub sectors: u32,
    /// Its first sector.
    pub sector: u64,
    /// When the host issued it.
    pub arrived: Nanos,
    /// Where the time went; the sum is exactly the latency.
    pub stages: Stages,
    /// How long firmware cores were held by it, all of them together.
    pub core: Nanos,
    /// How long the DRAM was held by its data, on the host's side.
    pub dram: Nanos,
    /// Whether every sector could be read or written.
    pub ok: bool,
    /// It failed, and a part of a die that has failed for good is the cause: what it read lies there or was lost there, or no die is left to write to. Not in
    /// the log's hash, because it follows from what is.
    pub for_failure: bool,
    /// For a read: its sectors in mapping units that hold nothing, because they were never written or were trimmed. They cost no flash read. For a
    /// trim: its sectors beyond the units that it freed; all of them where it freed nothing. Not in the log's hash, because they follow from what is.
    pub blank: u32,
    /// The die of the flash operation that ended last and that the stages are of; `None`: no operation released it, or one that had begun before it came. Not
    /// in the log's hash, because it follows from what is.
    pub die: Option<DieId>,
    /// The job that it is of. Not in the log's hash, because nothing in the drive follows from it.
    pub job: JobId,
}

/// Where a request's time went. For a request of many flash operations, the path of the one that ended last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stages {
    /// Waiting in the host's queue for a slot of the device.
    pub host_queue: Nanos,
    /// Waiting for and being worked on by a firmware core.
    pub core: Nanos,
    /// Waiting for and moving through DRAM and the host link.
    pub dram: Nanos,
    /// Waiting in the write buffer, for space or until durable.
    pub buffer: Nanos,
    /// Waiting for a die.
    pub die_wait: Nanos,
    /// The die's array at work.
    pub die: Nanos,
    /// Waiting for and moving over the channel bus.
    pub channel: Nanos,
    /// Error correction.
    pub ecc: Nanos,
}

impl Stages {
    /// The names of the stages, in the order of [`Stages::values`].
    pub const NAMES: [&'static str; 8] = ["host queue", "core", "DRAM and link", "write buffer", "die wait", "die", "channel", "ECC"];

    /// The stages in order.
    pub const fn values(&self) -> [Nanos; 8] {
        [self.host_queue, self.core, self.dram, self.buffer, self.die_wait, self.die, self.channel, self.ecc]
    }

    /// Time in the device: the die's array, the channel and error correction, without the waits for core, DRAM, buffer and die before them. Nothing where no
    /// flash operation served the request.
    pub fn device(&self) -> Nanos {
        self.die + self.channel + self.ecc
    }

    /// The sum: the request's latency.
    pub fn total(&self) -> Nanos {
        self.values().into_iter().sum()
    }
}

/// The end of a flash operation. Unit counts are mapping units and say whose data a program carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlashEvent {
    /// The die, counted over the drive.
    pub die: DieId,
    /// Its channel.
    pub channel: ChannelId,
    /// What was done.
    pub op: FlashOp,
    /// Why the operation was done.
    pub cause: Cause,
    /// The block group.
    pub block: BlockId,
    /// The first page.
    pub page: PageId,
    /// Flash pages touched (planes × pages of a one-shot program or of a scrubbed wordline); blocks for an erase or a block lock.
    pub pages: u16,
    /// Units of new host data programmed.
    pub host_units: u16,
    /// Units of old data programmed again.
    pub moved_units: u16,
    /// Units programmed with padding.
    pub padding_units: u16,
    /// When the operation was issued to the die.
    pub issued: Nanos,
    /// Time the die's array worked.
    pub array: Nanos,
    /// Time the channel bus was held.
    pub bus: Nanos,
    /// Instant at which the operation last let go of the channel bus, where it held it. Not in the log's hash, because it follows from what is.
    pub bus_end: Nanos,
    /// Time the DRAM was held.
    pub dram: Nanos,
    /// Time the host link was held, where the firmware is in the host: inwards by a program, outwards by a read. Not in the log's hash, because it follows from
    /// what is.
    pub link: Nanos,
    /// Time a firmware core was held.
    pub core: Nanos,
    /// Whether the status was good.
    pub ok: bool,
    /// Of a read: tries after the first, at other entries of the vendor's retry table or in a search for references.
    pub retries: u8,
    /// Of a read: wrong bits in the worst codeword of the last try; nothing where the cells have no physics.
    pub errors: u16,
    /// How often it was suspended. Not in the log's hash by itself: the stops are.
    pub stops: u16,
    /// How often of those at once.
    pub stops_now: u16,
    /// Attributes of a read that waited in its die's queue. Not in the log's hash, because they follow from the requests.
    pub attributes: Option<Attributes>,
}

/// An entry of the stream.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shown {
    /// An event.
    Event(Event),
    /// A step of a mapping unit, only for observers that follow them.
    Step(UnitStep),
}

/// Something that watches the stream.
pub trait Observer {
    /// True if it wants to hear of single mapping units.
    fn follows(&self) -> bool {
        false
    }

    /// True if it wants to hear of anything.
    fn watches(&self) -> bool {
        true
    }

    /// `event` happened at `at`. Instants never go back.
    fn observe(&mut self, at: Nanos, event: &Event);

    /// A mapping unit took `step` at `at`. Called only where [`Observer::follows`] is true.
    fn follow(&mut self, _at: Nanos, _step: &UnitStep) {}

    /// All of this happened, in this order.
    fn observe_all(&mut self, shown: &[(Nanos, Shown)]) {
        for (at, shown) in shown {
            match shown {
                Shown::Event(event) => self.observe(*at, event),
                Shown::Step(step) => self.follow(*at, step),
            }
        }
    }
}

/// Nobody watches.
impl Observer for () {
    fn watches(&self) -> bool {
        false
    }

    #[inline]
    fn observe(&mut self, _: Nanos, _: &Event) {}
}

/// Two observers watch the same stream.
impl<A: Observer, B: Observer> Observer for (A, B) {
    fn follows(&self) -> bool {
        self.0.follows() || self.1.follows()
    }

    fn watches(&self) -> bool {
        self.0.watches() || self.1.watches()
    }

    #[inline]
    fn observe(&mut self, at: Nanos, event: &Event) {
        self.0.observe(at, event);
        self.1.observe(at, event);
    }

    fn follow(&mut self, at: Nanos, step: &UnitStep) {
        if self.0.follows() {
            self.0.follow(at, step);
        }
        if self.1.follows() {
            self.1.follow(at, step);
        }
    }
}

/// Remembers the requests that have completed, oldest first, for whoever drives the drive request by request and takes them out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completions(pub VecDeque<(Nanos, Completion)>);

impl Completions {
    /// Take out what is known of `request`, if it has completed.
    pub fn take(&mut self, request: RequestId) -> Option<Completion> {
        let place = self.0.iter().position(|(_, done)| done.request == request)?;
        self.0.remove(place).map(|(_, done)| done)
    }
}

impl Observer for Completions {
    #[inline]
    fn observe(&mut self, at: Nanos, event: &Event) {
        if let Event::Completed(done) = event {
            self.0.push_back((at, *done));
        }
    }
}

/// What a block group is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockState {
    /// Erased and waiting.
    Free,
    /// Being written.
    Active,
    /// Full, holding data.
    Closed,
    /// Out of service.
    Bad,
}

/// One block group at one instant, for block maps and wear histograms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockView {
    /// Its die, counted over the drive.
    pub die: DieId,
    /// Its number in the die.
    pub group: GroupId,
    /// What it is used for.
    pub state: BlockState,
    /// Mapping units that hold valid data.
    pub valid: u32,
    /// Mapping units it can hold.
    pub capacity: u32,
    /// How often it has been erased.
    pub erases: u32,
}
