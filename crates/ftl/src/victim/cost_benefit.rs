//! Victim policy cost-benefit: space gained against data moved, weighted by age.

use wordline_units::random::Draw;

use super::{Candidates, Policy};

/// Takes the block with the greatest (1 − u) · age / 2u.
pub(super) struct CostBenefit;

impl Policy for CostBenefit {
    fn pick(&self, candidates: &Candidates<'_>, _: &mut Draw) -> Option<usize> {
        // Compared as fractions in integers, so that every machine takes the same block: (usable − valid) · age / valid.
        let mut best: Option<(usize, u64, u64)> = None;
        for (group, valid) in candidates.iter() {
            let age = u64::from(candidates.now.wrapping_sub(candidates.closed[group])) + 1;
            let gain = u64::from(candidates.usable(group) - valid) * age;
            let cost = u64::from(valid);
            let better = best.is_none_or(|(_, best_gain, best_cost)| {
                u128::from(gain) * u128::from(best_cost) > u128::from(best_gain) * u128::from(cost)
            });
            if better {
                best = Some((group, gain, cost));
            }
        }
        best.map(|(group, _, _)| group)
    }
}
