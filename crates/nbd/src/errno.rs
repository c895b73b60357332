//! The errors a request may end with. No other value is allowed on the wire.

/// An error as the protocol numbers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Errno {
    /// Operation not permitted: a write to a read-only export.
    Perm = 1,
    /// The medium failed.
    Io = 5,
    /// Out of memory.
    NoMem = 12,
    /// The request is wrong: range, alignment, flags, type.
    Invalid = 22,
    /// A write past the end, or no space left.
    NoSpace = 28,
    /// The answer does not fit.
    Overflow = 75,
    /// Not done here: zeroes that would not be fast.
    NotSupported = 95,
    /// The server is going down.
    Shutdown = 108,
}

impl Errno {
    /// All of them.
    pub const ALL: [Errno; 8] =
        [Errno::Perm, Errno::Io, Errno::NoMem, Errno::Invalid, Errno::NoSpace, Errno::Overflow, Errno::NotSupported, Errno::Shutdown];

    /// The number on the wire.
    pub const fn number(self) -> u32 {
        self as u32
    }

    /// The error of a number; `None` if the protocol has no such number.
    pub fn from_number(number: u32) -> Option<Errno> {
        Errno::ALL.into_iter().find(|errno| errno.number() == number)
    }
}
