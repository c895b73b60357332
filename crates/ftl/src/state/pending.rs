//! Flash operations that are queued or under way, and what each is for.

use wordline_units::{Attributes, Bytes, Cause, OpTag, PartId};

use crate::state::data::MetadataKind;
use crate::state::layout::BlockGroup;
use crate::util::list::NIL;

/// Purpose of an operation.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Purpose {
    /// Read for a host request.
    HostRead { part: PartId },
    /// Read of the rest of a partly written unit.
    Fill { slot: u32 },
    /// Read of a page for the count of its errors; `tally`: of all codewords.
    Measure { tally: bool },
    /// Read of a victim's page: its valid units, one bit each from the page's first unit.
    Move { units: u64 },
    /// Program of the die's batch; `closes`: the last of its group.
    Program { program: u32, closes: bool },
    /// Read of a first page, to learn whether its die has failed: with the tries of any other read, or with a single one.
    Probe { has_tries: bool },
    /// Erase of a block group.
    Erase,
    /// Copyback of a program unit; `closes`: the last of its group.
    Copyback { from: BlockGroup, from_program: u32, program: u32, closes: bool },
    /// Program of metadata at program unit `program`.
    Metadata { kind: MetadataKind, program: u32 },
    /// Erase of the journal group that is not needed any more.
    JournalErase,
    /// Sanitise operation.
    Sanitise { task: u32 },
}

impl Purpose {
    /// True if the operation programs the die's batch.
    pub(crate) const fn is_program(&self) -> bool {
        matches!(self, Purpose::Program { .. } | Purpose::Metadata { .. })
    }
}

/// An operation queued or under way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pending {
    pub purpose: Purpose,
    /// Group that the operation acts on; for a copyback, the group it writes.
    pub group: BlockGroup,
    /// Offset of the first unit that a read is for.
    pub offset: u32,
    pub bytes: Bytes,
    /// Next read in the die's queue.
    pub next: OpTag,
    /// Cause of a read.
    pub cause: Cause,
    /// Attributes of a read that waits in its die's queue.
    pub attributes: Option<Attributes>,
    /// True for a read that has left its die unfinished and waits again: the drive goes on with it under its tag.
    pub is_begun: bool,
}

impl Pending {
    /// Creates an operation with no other queued behind it.
    #[inline]
    pub(crate) fn new(purpose: Purpose, group: BlockGroup, offset: u32, bytes: Bytes) -> Pending {
        Pending { purpose, group, offset, bytes, next: OpTag(NIL), cause: Cause::Host, attributes: None, is_begun: false }
    }

    /// Creates a read for `cause`.
    #[inline]
    pub(crate) fn read(purpose: Purpose, group: BlockGroup, offset: u32, bytes: Bytes, cause: Cause) -> Pending {
        Pending { cause, ..Pending::new(purpose, group, offset, bytes) }
    }
}
