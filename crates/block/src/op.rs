//! Operations of a disk.

/// Operation of a request. Offsets and lengths are bytes, inside the disk; a length is not zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Op {
    /// Read a range.
    Read {
        /// From here.
        offset: u64,
        /// So many bytes.
        length: u32,
    },
    /// Write a range.
    Write {
        /// To here.
        offset: u64,
        /// The bytes to write.
        data: Vec<u8>,
        /// Durable before it is answered.
        fua: bool,
    },
    /// Every write that was answered before becomes durable before this is answered.
    Flush,
    /// The contents are no longer needed.
    Trim {
        /// From here.
        offset: u64,
        /// So many bytes.
        length: u64,
        /// Durable before it is answered.
        fua: bool,
    },
    /// It reads as zeroes from now on.
    WriteZeroes {
        /// From here.
        offset: u64,
        /// So many bytes.
        length: u64,
        /// How the zeroes are made.
        how: ZeroHow,
        /// Durable before it is answered.
        fua: bool,
    },
    /// Will be read soon.
    Cache {
        /// From here.
        offset: u64,
        /// So many bytes.
        length: u64,
    },
    /// Facts about a range, in every context that the session chose.
    BlockStatus {
        /// From here.
        offset: u64,
        /// So many bytes.
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
