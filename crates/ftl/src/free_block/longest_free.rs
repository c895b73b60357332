//! Longest free first.

use super::{FreeGroups, Policy, Stream};

/// Takes the group that has been free longest.
pub(super) struct LongestFree;

impl Policy for LongestFree {
    fn pick(&self, free: &FreeGroups<'_>, _: Stream) -> Option<usize> {
        (free.count() > 0).then_some(0)
    }
}
