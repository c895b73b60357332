//! Victim policy random: any block, each equally likely.

use wordline_units::random::Draw;

use super::{Candidates, Policy};

/// Takes a block drawn at random, each equally likely.
pub(super) struct Random;

impl Policy for Random {
    fn pick(&self, candidates: &Candidates<'_>, draw: &mut Draw) -> Option<usize> {
        let count = candidates.iter().count() as u64;
        if count == 0 {
            return None;
        }
        candidates.iter().nth(draw.below(count) as usize).map(|(group, _)| group)
    }
}
