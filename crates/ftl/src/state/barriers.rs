//! Barriers: requests that wait until several other things are over.
//!
//! Barriers are numbered in the order in which they are made. A flush waits for all that there are when it could pass.

use std::collections::BTreeMap;

use wordline_units::PartId;

/// A barrier that opens when some things are over.
#[derive(Clone, Debug)]
struct Barrier {
    left: u32,
    parts: Vec<PartId>,
}

/// The barriers of one core.
#[derive(Clone, Debug, Default)]
pub(crate) struct Barriers {
    /// Barriers that are shut, oldest first.
    shut: BTreeMap<u64, Barrier>,
    /// The number of the newest barrier.
    newest: u64,
}

impl Barriers {
    /// Make a barrier at which `parts` wait. The caller holds it, and lets it go with [`Barriers::pass`].
    pub(crate) fn make(&mut self, parts: Vec<PartId>) -> u64 {
        self.newest += 1;
        self.shut.insert(self.newest, Barrier { left: 1, parts });
        self.newest
    }

    /// Add one thing that `barrier` waits for.
    pub(crate) fn hold(&mut self, barrier: u64) {
        self.shut.get_mut(&barrier).expect("a shut barrier").left += 1;
    }

    /// Remove one of the things that `barrier` waits for. Returns the parts that may go on.
    #[must_use]
    pub(crate) fn pass(&mut self, barrier: u64) -> Vec<PartId> {
        let state = self.shut.get_mut(&barrier).expect("a shut barrier");
        state.left -= 1;
        if state.left > 0 { Vec::new() } else { self.shut.remove(&barrier).map_or(Vec::new(), |barrier| barrier.parts) }
    }

    /// True if a barrier is still shut that existed when `number` was the newest.
    pub(crate) fn is_shut(&self, number: u64) -> bool {
        self.shut.first_key_value().is_some_and(|(&first, _)| first <= number)
    }

    /// The number of the newest barrier.
    pub(crate) fn newest(&self) -> u64 {
        self.newest
    }

    /// Take all waiting parts, in a core that takes no more writes.
    pub(crate) fn give_up(&mut self) -> Vec<PartId> {
        self.shut.values_mut().flat_map(|barrier| std::mem::take(&mut barrier.parts)).collect()
    }

    /// True if a request waits at a barrier.
    pub(crate) fn is_awaited(&self) -> bool {
        self.shut.values().any(|barrier| !barrier.parts.is_empty())
    }

    /// True if no barrier is shut.
    pub(crate) fn is_empty(&self) -> bool {
        self.shut.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_barrier_opens_when_all_it_waits_for_is_over() {
        let mut barriers = Barriers::default();
        let first = barriers.make(vec![PartId(3), PartId(4)]);
        barriers.hold(first);
        assert!(barriers.pass(first).is_empty() && barriers.is_awaited() && barriers.is_shut(first));
        let second = barriers.make(Vec::new());
        assert_eq!(barriers.pass(first), [PartId(3), PartId(4)]);
        assert!(!barriers.is_shut(first) && barriers.is_shut(barriers.newest()) && !barriers.is_awaited());
        assert!(barriers.pass(second).is_empty() && barriers.is_empty());
    }
}
