//! Victim policy FIFO: the block that was closed first.

use wordline_units::random::Draw;

use super::{Candidates, Policy};

/// Takes the block that was closed first.
pub(super) struct Fifo;

impl Policy for Fifo {
    fn pick(&self, candidates: &Candidates<'_>, _: &mut Draw) -> Option<usize> {
        candidates.iter().map(|(group, _)| group).min_by_key(|&group| candidates.closed[group])
    }
}
