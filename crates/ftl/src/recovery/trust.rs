//! Evidence: what a recovery goes by.

/// Evidence that recovery relies on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// All evidence, checkpoints included.
    Everything,
    /// The journal and the marks of all pages. The result must be the same as with checkpoints.
    Marks,
    /// The same, but nothing is refused, and the best copy that can be read stands for one that cannot be: see [`crate::Doubtful`].
    Salvage,
}

impl Trust {
    /// True if the marks of all pages are read.
    pub(crate) fn reads_all(self) -> bool {
        self != Trust::Everything
    }
}
