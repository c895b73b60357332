//! Settings that the connections of a server share, and the export that a client opens by them.

use crate::export::Export;
use crate::limits::Limits;

/// What every connection of a server shares.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What is served.
    pub exports: Vec<Export>,
    /// Whether TLS is spoken.
    pub tls: Tls,
    /// Whether 64-bit lengths may be agreed on. They are an extension whose text is not final.
    pub extended_headers: bool,
    /// What one connection may hold.
    pub limits: Limits,
}

/// Whether a connection can be continued in TLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tls {
    /// It cannot.
    Absent,
    /// If the client likes.
    Offered,
    /// Nothing else is answered before.
    Required,
}

/// What a client opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opened {
    /// The place in [`Settings::exports`].
    pub export: usize,
    /// The hint classes in force, as places in [`Export::classes`], rising.
    pub classes: Vec<usize>,
    /// The contexts that every block status is to answer, as places in [`Export::contexts`], rising.
    pub contexts: Vec<usize>,
}
