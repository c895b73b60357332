//! Scheduler of whole victims: GC that is due goes first, or the host does as long as there is room above the floor.

use super::{DieWork, Policy, Turn};

/// Serves GC to the end of its victim, or the host.
pub(super) struct Classic;

impl Policy for Classic {
    #[inline]
    fn first(&self, die: &DieWork) -> Turn {
        let is_urgent = die.free <= die.floor;
        if die.is_due && (is_urgent || !die.preemptible) { Turn::Gc } else { Turn::Host }
    }
}
