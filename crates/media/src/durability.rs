//! Failures that media are to survive.

/// Failure that the media survive. The head of the crate lists the needs of each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// The death of the process, at any instant. Nothing is ever synced.
    #[default]
    Process,
    /// The death of the host, from one [`crate::Media::sync`] to the next.
    Host,
}
