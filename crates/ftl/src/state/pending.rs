//! Flash operations that are queued or under way, and what each is for.

use wordline_units::{Bytes, Cause};

use crate::state::layout::Group;
use crate::util::list::NIL;

/// What an operation is for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Purpose {
    /// Part of a host read.
    HostRead { part: u32 },
    /// The rest of a partly written unit.
    Fill { slot: u32 },
    /// Valid units of a victim's page, one bit each from the page's first unit.
    Move { units: u64 },
    /// A program of the die's batch; `closes`: the last of its group.
    Program { program: u32, closes: bool },
    /// An erase.
    Erase,
    /// A move of a program unit without the bus.
    Copyback { from: Group, from_program: u32, program: u32 },
    /// A program of journal pages.
    Journal,
    /// A program of pages of a checkpoint.
    Checkpoint,
    /// A program of pages of the key store.
    Keys,
    /// A program of the summary of its group.
    Oob { program: u32 },
    /// The erase of the journal group that is not needed any more.
    JournalErase,
    /// Something is made unreadable.
    Sanitise { task: u32 },
}

impl Purpose {
    /// Whether it is a program of the die's batch.
    pub(crate) const fn is_program(&self) -> bool {
        matches!(self, Purpose::Program { .. } | Purpose::Journal | Purpose::Checkpoint | Purpose::Keys | Purpose::Oob { .. })
    }
}

/// An operation queued or under way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pending {
    pub purpose: Purpose,
    /// The group it acts on; for a copyback, the one it writes.
    pub group: Group,
    /// The unit a read is after.
    pub offset: u32,
    pub bytes: Bytes,
    /// The next read in the die's queue.
    pub next: u32,
    /// Of a read: what it is for.
    pub cause: Cause,
}

impl Pending {
    /// An operation that nothing is queued behind.
    #[inline]
    pub(crate) fn new(purpose: Purpose, group: Group, offset: u32, bytes: Bytes) -> Pending {
        Pending { purpose, group, offset, bytes, next: NIL, cause: Cause::Host }
    }

    /// A read for `cause`.
    #[inline]
    pub(crate) fn read(purpose: Purpose, group: Group, offset: u32, bytes: Bytes, cause: Cause) -> Pending {
        Pending { cause, ..Pending::new(purpose, group, offset, bytes) }
    }
}
