//! What a client asks, once it has been checked.

/// A checked request: inside the export, aligned, permitted, with flags that fit.
#[derive(Debug, PartialEq, Eq)]
pub struct Request {
    /// What is asked.
    pub op: Op,
    /// The right to answer it, once.
    pub ticket: Ticket,
}

/// What is asked. Offsets and lengths are bytes, inside the export; a length is not zero.
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
    /// What is known of a range, in every context the client chose.
    BlockStatus {
        /// From here.
        offset: u64,
        /// So many bytes.
        length: u64,
        /// The first extent is enough.
        one: bool,
    },
}

/// What zeroes may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZeroHow {
    /// Whether it may become a hole.
    pub may_punch: bool,
    /// Refuse with [`crate::Errno::NotSupported`] if it would be no faster than a write.
    pub must_be_fast: bool,
}

/// The right to answer one request. It is used up by [`crate::Server::reply`], so no request is answered twice; one that is dropped is never answered, and
/// its room on the connection is never free again.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "a request that is never answered keeps its client waiting"]
pub struct Ticket {
    pub(crate) cookie: u64,
    pub(crate) kind: Kind,
    pub(crate) offset: u64,
    pub(crate) length: u64,
    /// What it counts for in [`crate::Limits::held_bytes`].
    pub(crate) cost: u64,
}

/// What kind of answer fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Read { unfragmented: bool },
    Status { one: bool },
    Plain,
}

impl Ticket {
    /// The name that the client gave the request. Nothing makes it unique.
    pub fn cookie(&self) -> u64 {
        self.cookie
    }
}
