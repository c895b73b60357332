//! A client's request, once it has been checked, and the right to answer it.

use wordline_block::Op;

/// A checked request: inside the export, aligned, permitted, with flags that fit.
#[derive(Debug, PartialEq, Eq)]
pub struct Request {
    /// What is asked.
    pub op: Op,
    /// The right to answer it, once.
    pub ticket: Ticket,
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
