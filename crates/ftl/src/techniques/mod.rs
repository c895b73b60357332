//! The techniques there are. One explicit list; ids are fixed by its order and never by the order of a plan.

use wordline_units::Nanos;

/// A technique that a plan switches on, with its parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Choice {
    /// Rewrite a block whose pages have been read so often since its last erase that read disturb nears the limit of error correction.
    ReadDisturbRefresh {
        /// Page reads of one block between two erases.
        reads_max: u32,
    },
    /// Reclaim space while a die has had nothing to do for a while.
    IdleReclaim {
        /// How long a die must have been idle.
        after: Nanos,
        /// Stop once this many block groups of the die are free.
        until_free: u32,
    },
}
