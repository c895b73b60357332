//! Failures that media are to survive.

/// What the media are to survive. The head of the crate says what each needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// The death of the process, at any instant. Nothing is ever synced.
    #[default]
    Process,
    /// The death of the host, from one [`crate::Media::sync`] to the next.
    Host,
}
