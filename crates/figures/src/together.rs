//! Many ratios beside each other: which differ from 1 with all of them taken together.

use crate::chance::{RISK, holm};
use crate::compare::{Comparison, Ratio};

/// Say of each ratio of these comparisons whether it differs from 1 with all of them taken together.
pub(crate) fn take<'a>(comparisons: impl Iterator<Item = &'a mut Comparison>) {
    let mut ratios: Vec<(f64, &mut Ratio)> =
        comparisons.flat_map(Comparison::of_others_mut).filter_map(|ratio| Some((ratio.p?, ratio))).collect();
    let differs = holm(&ratios.iter().map(|(p, _)| *p).collect::<Vec<_>>());
    ratios.iter_mut().zip(differs).for_each(|((_, ratio), differs)| ratio.together = differs);
}

/// The intervals that stand beside each other in a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Intervals {
    /// How many there are: of each figure of each drive but the first, in each phase, too.
    pub shown: usize,
    /// How many differ from 1 with all of them taken together.
    pub together: usize,
}

impl Intervals {
    /// Risk that is taken of one interval: that it excludes 1 where nothing differs.
    pub const RISK: f64 = RISK;

    /// Those of these comparisons.
    pub fn of<'a>(comparisons: impl Iterator<Item = &'a Comparison>) -> Intervals {
        comparisons.flat_map(Comparison::of_others).filter(|ratio| ratio.p.is_some()).fold(
            Intervals { shown: 0, together: 0 },
            |Intervals { shown, together }, ratio| Intervals { shown: shown + 1, together: together + usize::from(ratio.together) },
        )
    }
}
