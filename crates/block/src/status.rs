//! Facts about ranges of a disk, beyond their bytes: which are allocated, and what else a disk has to tell.

/// Facts about a range in one context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContextStatus<'a> {
    /// Place of the context in the list of those that the disk has; 0 is allocation.
    pub context: usize,
    /// Extents that follow each other from the request's offset; at least one. The last may reach past the request. No more than
    /// [`ContextStatus::EXTENTS_MAX`] are sent.
    pub extents: &'a [Extent],
}

impl ContextStatus<'_> {
    /// The most extents of an answer. The requester asks again for what follows.
    pub const EXTENTS_MAX: usize = 1024;
}

/// Stretch with the same flags in one context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Bytes; not zero.
    pub length: u64,
    /// Flags as the context defines them; 0 where nothing is known. [`allocation`] has those of context 0.
    pub flags: u32,
}

/// Flags of extents in context 0.
pub mod allocation {
    /// Not allocated.
    pub const HOLE: u32 = 1 << 0;
    /// Reads as zeroes.
    pub const ZERO: u32 = 1 << 1;
}
