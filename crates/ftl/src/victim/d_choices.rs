//! Victim policy d-choices: the block with the fewest valid units among a few drawn at random.

use wordline_units::random::Draw;

use super::{Candidates, Policy};

const CHOICES: usize = 10;

/// Takes the block with the fewest valid units among ten drawn with replacement.
pub(super) struct DChoices;

impl Policy for DChoices {
    fn pick(&self, candidates: &Candidates<'_>, draw: &mut Draw) -> Option<usize> {
        let groups = candidates.valid.len() as u64;
        let mut best: Option<usize> = None;
        let mut drawn = 0;
        // Draws that hit a block that cannot be taken are drawn again, which keeps the choice uniform over the candidates. The bound only bites where almost
        // nothing is closed yet.
        for _ in 0..64 * CHOICES {
            let group = draw.below(groups.max(1)) as usize;
            if candidates.valid.get(group).is_none_or(|&valid| valid >= Candidates::OUT) {
                continue;
            }
            if best.is_none_or(|best| candidates.valid[group] < candidates.valid[best]) {
                best = Some(group);
            }
            drawn += 1;
            if drawn == CHOICES {
                break;
            }
        }
        best.or_else(|| candidates.iter().map(|(group, _)| group).next())
    }
}
