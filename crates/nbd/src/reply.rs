//! What a request is answered with.

use crate::errno::Errno;

/// An answer. It must fit its request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply<'a> {
    /// It is done: anything but a read or a block status.
    Done,
    /// All of what was to be read, in pieces that follow each other from the request's offset to its end.
    Read(&'a [Piece<'a>]),
    /// The pieces could be read, what follows them could not: the client learns the offset at which it failed. At least one byte is missing.
    ReadUntil(&'a [Piece<'a>], Failure<'a>),
    /// The extents of the range, for every context that the client chose, in any order.
    Status(&'a [ContextStatus<'a>]),
    /// It failed, and nothing is known of how far it came.
    Failed(Failure<'a>),
    /// A read of which the byte at this place, counted from its first, is the first that could not be read. Nothing of it is sent, and the client learns the
    /// offset, where it has structured replies.
    FailedAt(u64, Failure<'a>),
}

/// Part of what was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// These bytes.
    Data(&'a [u8]),
    /// So many zeroes, which need not travel.
    Hole(u64),
}

impl Piece<'_> {
    /// Bytes covered.
    pub fn length(&self) -> u64 {
        match self {
            Piece::Data(bytes) => bytes.len() as u64,
            Piece::Hole(length) => *length,
        }
    }
}

/// An error, with a sentence for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure<'a> {
    /// The error number.
    pub errno: Errno,
    /// Why; only structured replies carry it, and no more than 200 bytes of it.
    pub message: &'a str,
}

/// What one context says of a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContextStatus<'a> {
    /// The place in [`crate::Export::contexts`].
    pub context: usize,
    /// Extents that follow each other from the request's offset; at least one. The last may reach past the request. No more than
    /// [`ContextStatus::EXTENTS_MAX`] are sent.
    pub extents: &'a [Extent],
}

impl ContextStatus<'_> {
    /// How many extents an answer has at most. The client asks again for what follows.
    pub const EXTENTS_MAX: usize = 1024;
}

/// A stretch of which one thing is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Bytes; not zero.
    pub length: u64,
    /// What the context defines; 0 where nothing is known. See [`crate::wire::allocation`] for `base:allocation`.
    pub flags: u32,
}
