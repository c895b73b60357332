//! Operations: what firmware orders, and what it hears back.

use std::ops::Range;

use wordline_units::{Bytes, Cause, DieId, FlashOp, Lpn, Nanos};

use crate::command::Target;

/// One order to the flash controller. The controller turns it into commands, moves the data and answers with one [`Report`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// The firmware's own name for it; comes back in the report.
    pub tag: u32,
    /// The die, counted over the firmware core's own dies.
    pub die: DieId,
    /// What to do and where.
    pub kind: OperationKind,
    /// Why.
    pub cause: Cause,
}

/// What an [`Operation`] does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperationKind {
    /// Sense a page and bring `bytes` of it to the controller.
    Read {
        /// Where.
        target: Target,
        /// How much is transferred.
        bytes: Bytes,
        /// The entry of the vendor's read-retry table to begin with; 0 is the default. Beyond the end of the table, its last.
        begin: u8,
    },
    /// Program one program unit (planes × pages of a one-shot program).
    Program {
        /// Where; the first page.
        target: Target,
        /// How much is transferred.
        bytes: Bytes,
    },
    /// Erase a block group.
    Erase {
        /// Where.
        target: Target,
    },
    /// Move one page inside its plane without the bus.
    Copyback {
        /// From.
        from: Target,
        /// To.
        to: Target,
    },
    /// Make what stands in programmed pages unreadable for good, without an erase.
    Sanitise {
        /// Where; of a block or a wordline, any page of it.
        target: Target,
        /// How, and how much of it.
        how: Sanitisation,
    },
    /// Suspend the program or erase that the die is doing.
    Suspend,
    /// Go on with what was suspended.
    Resume,
}

/// A way to make programmed pages unreadable without an erase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sanitisation {
    /// pLock (002 §5.3): the page's flag cells are programmed, and the die puts out zeroes for it until the block is erased. Its cells keep what they hold.
    LockPage,
    /// bLock (002 §5.4): the block's select transistors are programmed, and no page of it can be sensed until it is erased.
    LockBlock,
    /// Scrubbing: one shot raises all cells of the wordline, and all its pages are lost.
    Scrub,
    /// One-shot reprogramming (002 §4): the states of one page of the wordline are made to overlap; the other pages stay, with more errors.
    Reprogram,
}

impl Sanitisation {
    /// All of them, in the order of [`FlashOp::SANITISING`].
    pub const ALL: [Sanitisation; 4] = [Sanitisation::LockPage, Sanitisation::LockBlock, Sanitisation::Scrub, Sanitisation::Reprogram];

    /// The word that events and tables use.
    pub const fn op(self) -> FlashOp {
        FlashOp::SANITISING[self as usize]
    }

    /// The pages that become unreadable when `page` is given, in blocks of `pages` pages with `per_wordline` on each wordline.
    pub const fn reach(self, page: u32, per_wordline: u32, pages: u32) -> Range<u32> {
        match self {
            Sanitisation::LockPage | Sanitisation::Reprogram => page..page + 1,
            Sanitisation::LockBlock => 0..pages,
            Sanitisation::Scrub => {
                let first = page / per_wordline * per_wordline;
                first..first + per_wordline
            }
        }
    }
}

/// How an operation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Well.
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

/// What firmware hears when an operation has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// The operation's tag.
    pub tag: u32,
    /// Its die.
    pub die: DieId,
    /// How it ended.
    pub status: Status,
    /// Bits corrected in the worst codeword.
    pub corrected_bits: u32,
    /// Of a program or an erase: its loops, as the die tells on request. 0 where the die does not know.
    pub loops: u8,
    /// Of a read: tries after the first, each at another entry of the vendor's read-retry table.
    pub retries: u32,
    /// Of a read: the entry that its last try used.
    pub entry: u8,
    /// How long the array worked.
    pub array: Nanos,
}
