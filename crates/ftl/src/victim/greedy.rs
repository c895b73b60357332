//! Victim policy greedy: the block with the fewest valid units.

use wordline_units::random::Draw;

use super::{Candidates, Policy};

/// Takes the block with the fewest valid units.
pub(super) struct Greedy;

impl Policy for Greedy {
    fn pick(&self, candidates: &Candidates<'_>, _: &mut Draw) -> Option<usize> {
        // Two passes over a dense array: the minimum vectorises, which beats keeping any index of it up to date on every overwrite.
        let least = candidates.valid.iter().copied().min()?;
        if least >= Candidates::OUT {
            return None;
        }
        candidates.valid.iter().position(|&valid| valid == least)
    }
}
