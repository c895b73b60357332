//! Operations: what firmware orders, and what it hears back.

use wordline_units::{Attributes, Bytes, Cause, DieId, FlashOp, Lpn, Nanos, OpTag};

use crate::command::{Stop, Target};
use crate::program::ProgramTrace;
use crate::sanitisation::Sanitisation;

/// One order to the flash controller: its head, a small value. The controller turns it into commands, moves the data and answers with one [`Report`]. What a
/// program carries is asked for by the tag: it stays with the firmware, where it is not copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// The firmware's own name for it; comes back in the report.
    pub tag: OpTag,
    /// The die, counted over the firmware core's own dies.
    pub die: DieId,
    /// What to do and where.
    pub kind: OperationKind,
    /// Why the firmware orders it.
    pub cause: Cause,
}

/// What an [`Operation`] does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperationKind {
    /// Sense a page and bring `bytes` of it to the controller.
    Read {
        /// The page to sense.
        target: Target,
        /// How much is transferred.
        bytes: Bytes,
        /// Where to begin. Beyond the end of the vendor's table, its last entry; of a set that the controller does not hold, the default.
        first: ReadTry,
        /// The corrected bits of all codewords are to be counted: see [`Report::tally`].
        tally: bool,
        /// Attributes with which it waited in its die's queue; `None`: it waited in none.
        attributes: Option<Attributes>,
    },
    /// Program one program unit (planes × pages of a one-shot program).
    Program {
        /// Where; the first page.
        target: Target,
        /// How much is transferred.
        bytes: Bytes,
        /// Whose data it is.
        origin: Origin,
        /// Settings stand with it, and the die is asked what the program was like.
        is_set: bool,
        /// The die may take in the data of another program meanwhile, and is given that program before this one has ended. It does them one after the
        /// other, and reports them in that order.
        is_cached: bool,
    },
    /// Erase a block group.
    Erase {
        /// The block to erase.
        target: Target,
        /// The die is to be asked what the erase was like: see [`Report::erase`].
        is_traced: bool,
        /// Settings stand with it.
        is_set: bool,
    },
    /// Move one page inside its plane without the bus.
    Copyback {
        /// The source page.
        from: Target,
        /// The destination page.
        to: Target,
        /// Settings stand with it.
        is_set: bool,
    },
    /// Make what stands in programmed pages unreadable for good, without an erase.
    Sanitise {
        /// Where; of a block or a wordline, any page of it.
        target: Target,
        /// How, and how much of it.
        how: Sanitisation,
    },
    /// Suspend the program or erase that the die is doing. Ordered again before there was an answer, only how soon may change, and only to sooner.
    Suspend {
        /// How soon.
        stop: Stop,
    },
    /// Go on with what was suspended.
    Resume,
    /// Break off the read of this tag. It stays ordered for nobody: whoever wants it orders it again.
    Abort,
}

impl OperationKind {
    /// The word that events and tables use; `None`: an order about another operation.
    pub const fn op(&self) -> Option<FlashOp> {
        match self {
            OperationKind::Read { .. } => Some(FlashOp::Read),
            OperationKind::Program { .. } => Some(FlashOp::Program),
            OperationKind::Erase { .. } => Some(FlashOp::Erase),
            OperationKind::Copyback { .. } => Some(FlashOp::Copyback),
            OperationKind::Sanitise { how, .. } => Some(how.op()),
            OperationKind::Suspend { .. } | OperationKind::Resume | OperationKind::Abort => None,
        }
    }
}

/// How a page is sensed: with which references.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct ReadTry {
    /// The set of references: 0 for the vendor's read-retry table, a number of [`crate::ReadSets`], or that of [`ReadTry::SEARCH`].
    pub set: u8,
    /// The entry of the vendor's table; 0 is the default, and stands with any other set.
    pub entry: u8,
}

impl ReadTry {
    /// The references that a die uses by itself.
    pub const DEFAULT: ReadTry = ReadTry::vendor(0);

    /// The controller's search for the best references of a page, by several reads: the last resort. See [`crate::ReadOffsets`].
    pub const SEARCH: ReadTry = ReadTry { set: u8::MAX, entry: 0 };

    /// Entry `entry` of the vendor's table.
    pub const fn vendor(entry: u8) -> ReadTry {
        ReadTry { set: 0, entry }
    }

    /// Set `number` of the controller's [`crate::ReadSets`].
    pub const fn of_set(number: u8) -> ReadTry {
        ReadTry { set: number, entry: 0 }
    }
}

/// A read that error correction could not mend, before it is tried again or given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failed<'a> {
    /// All tries, oldest first; there is one at least.
    pub tried: &'a [ReadTry],
    /// Wrong bits in the worst codeword of the last one.
    pub errors: u32,
}

/// Whose units a program carries: how many of each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// New data of the host.
    pub host: u16,
    /// Data that was programmed before.
    pub moved: u16,
    /// Neither: filling, and what the firmware writes for itself.
    pub padding: u16,
}

/// What became of an order to suspend, or to break off a read. That the operation ended first is no case of its own: its report says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// The program or erase is suspended, and the die is free for reads.
    Held {
        /// How it was stopped in the end.
        how: Stop,
        /// From the first order until the die was free.
        waited: Nanos,
    },
    /// The read was broken off, and the die is free. There is no report.
    Aborted {
        /// From the order until the die was free.
        waited: Nanos,
    },
    /// It goes on, and cannot be stopped now.
    Refused,
}

/// What an operation took, part by part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spans {
    /// How long the array worked, all tries of a read together.
    pub die: Nanos,
    /// Waiting for the bus, and the transfer.
    pub channel: Nanos,
    /// Error correction.
    pub ecc: Nanos,
    /// Waiting for the host link, and what its transfer takes longer than the other parts: where the firmware is in the host.
    pub link: Nanos,
}

/// How an operation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The operation succeeded.
    Good,
    /// The die reports that a program or an erase failed: the block is bad from now on.
    Failed,
    /// The data could not be corrected.
    Uncorrectable,
}

/// What the spare area says of one mapping unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The unit; all ones where there is none.
    pub lpn: Lpn,
    /// The version that the firmware gave to the write that brought the bytes in.
    pub version: u64,
    /// Sectors whose bytes were lost before the unit was programmed here, one bit each: the page is sound, and still they must not be given out.
    pub lost: u64,
    /// It may stay readable on the chips once it is stale.
    pub insecure: bool,
}

impl Mark {
    /// The mark of a place without data.
    pub const NOTHING: Mark = Mark { lpn: Lpn(u32::MAX), version: 0, lost: 0, insecure: false };
}

/// The corrected bits of all codewords of one read. A mean over codewords tells of the cells; the worst codeword alone is an extreme value, and far noisier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Bits corrected in all codewords together.
    pub bits: u32,
    /// Number of codewords.
    pub codewords: u32,
}

impl Tally {
    /// The tally of pages of several planes together.
    #[must_use]
    pub const fn with(self, other: Tally) -> Tally {
        Tally { bits: self.bits.saturating_add(other.bits), codewords: self.codewords + other.codewords }
    }
}

/// What a die tells of the last erase, on request ([`crate::Feature::EraseTrace`]); of several planes, the slowest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct EraseTrace {
    /// Number of pulses.
    pub loops: u8,
    /// How much of the last pulse was needed, in 255ths: the die counts the cells that were not yet erased before it.
    pub part: u8,
    /// How often the erase was stopped.
    pub stops: u16,
}

impl EraseTrace {
    /// The content of the register: loops in the lowest byte, then the part, then the stops.
    pub const fn register(self) -> u32 {
        self.loops as u32 | (self.part as u32) << 8 | (self.stops as u32) << 16
    }

    /// The trace that a register holds.
    pub const fn from_register(register: u32) -> EraseTrace {
        EraseTrace { loops: register as u8, part: (register >> 8) as u8, stops: (register >> 16) as u16 }
    }
}

/// What firmware hears when an operation has ended: all that there is to hear.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report<'a> {
    /// The operation's tag.
    pub tag: OpTag,
    /// Its die.
    pub die: DieId,
    /// How it ended.
    pub status: Status,
    /// The die never said that it had ended, and did not answer after a reset either: it has failed. Goes with [`Status::Failed`], or of a read with
    /// [`Status::Uncorrectable`].
    pub no_answer: bool,
    /// Bits corrected in the worst codeword.
    pub corrected_bits: u32,
    /// Of a program or an erase: its loops, as the die tells on request. 0 where the die does not know.
    pub loops: u8,
    /// Of a read: tries after the first.
    pub retries: u32,
    /// Of a read: its last try.
    pub last: ReadTry,
    /// Of a read that was ordered with it: the corrected bits of the last try. `None`: not ordered, not corrected, or unknown to the controller.
    pub tally: Option<Tally>,
    /// Of an erase of firmware that asks for it: what the die tells of it. `None`: not asked, failed, or the die cannot.
    pub erase: Option<EraseTrace>,
    /// How long it took.
    pub spans: Spans,
    /// Of a program with which settings stood: what the die tells of it. `None`: it cannot.
    pub program: Option<&'a ProgramTrace>,
    /// The spare areas of the page that was read, or of the pages that a copyback has copied, unit by unit. A read for the host need not bring them.
    pub oob: &'a [Lpn],
}

impl<'a> Report<'a> {
    /// The operation `tag` of `die` has ended with `status`, at once and without further ado.
    pub const fn plain(tag: OpTag, die: DieId, status: Status, oob: &'a [Lpn]) -> Report<'a> {
        let spans = Spans { die: Nanos::ZERO, channel: Nanos::ZERO, ecc: Nanos::ZERO, link: Nanos::ZERO };
        Report {
            tag,
            die,
            status,
            no_answer: false,
            corrected_bits: 0,
            loops: 0,
            retries: 0,
            last: ReadTry::DEFAULT,
            tally: None,
            erase: None,
            spans,
            program: None,
            oob,
        }
    }
}
