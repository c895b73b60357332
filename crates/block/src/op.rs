//! Operations of a disk.

/// Operation of a request. Offsets and lengths are bytes, inside the disk; a length is not zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Op {
    /// Read a range.
    Read {
        /// First byte.
        offset: u64,
        /// Number of bytes.
        length: u32,
    },
    /// Write a range.
    Write {
        /// First byte.
        offset: u64,
        /// The bytes to write.
        data: Vec<u8>,
        /// Durable before it is answered.
        fua: bool,
    },
    /// Writes that were answered before become durable before this is answered.
    Flush,
    /// Give up the contents of a range.
    Trim {
        /// First byte.
        offset: u64,
        /// Number of bytes.
        length: u64,
        /// Durable before it is answered.
        fua: bool,
    },
    /// Make a range read as zeroes.
    WriteZeroes {
        /// First byte.
        offset: u64,
        /// Number of bytes.
        length: u64,
        /// Way of making the zeroes.
        how: ZeroHow,
        /// Durable before it is answered.
        fua: bool,
    },
    /// Announce a range that will be read soon.
    Cache {
        /// First byte.
        offset: u64,
        /// Number of bytes.
        length: u64,
    },
    /// Facts about a range, in every context that the session chose.
    BlockStatus {
        /// First byte.
        offset: u64,
        /// Number of bytes.
        length: u64,
        /// The first extent is enough.
        one: bool,
    },
}

/// Cost that zeroes may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZeroHow {
    /// Whether it may become a hole.
    pub may_punch: bool,
    /// Refuse with [`crate::Errno::NotSupported`] if it would be no faster than a write.
    pub must_be_fast: bool,
}
