//! Replies to requests.

use crate::errno::Errno;
use crate::status::ContextStatus;

/// An answer. It must fit its request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply<'a> {
    /// It is done: anything but a read or a block status.
    Done,
    /// All of what was to be read, in pieces that follow each other from the request's offset to its end.
    Read(&'a [Piece<'a>]),
    /// The pieces could be read, what follows them could not: the requester learns the offset at which it failed. At least one byte is missing.
    ReadUntil(&'a [Piece<'a>], Failure<'a>),
    /// The extents of the range, for every context that the session chose, in any order.
    Status(&'a [ContextStatus<'a>]),
    /// It failed, and nothing is known of how far it came.
    Failed(Failure<'a>),
    /// A read of which the byte at this place, counted from its first, is the first that could not be read. Nothing of it is sent, and the
    /// requester learns the offset, where its protocol has room for one.
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
    /// The error.
    pub errno: Errno,
    /// Cause, in a sentence. A protocol may shorten it, or leave it out.
    pub message: &'a str,
}
