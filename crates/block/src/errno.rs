//! Errors that a request may end with.

/// Error of a request, with the meaning of the POSIX error of the same name. A protocol gives it a number of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Errno {
    /// Operation not permitted: a write to a read-only disk.
    Perm,
    /// The medium failed.
    Io,
    /// Out of memory.
    NoMem,
    /// The request is wrong: range, alignment, flags, type.
    Invalid,
    /// A write past the end, or no space left.
    NoSpace,
    /// The answer does not fit.
    Overflow,
    /// Not done here: zeroes that would not be fast.
    NotSupported,
    /// The disk is going down.
    Shutdown,
}
