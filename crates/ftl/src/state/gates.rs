//! Gates: requests that wait until several other things are over.
//!
//! Gates are numbered in the order in which they are made. A flush waits for all that there are when it could pass.

use std::collections::BTreeMap;

/// A gate that opens when some things are over.
#[derive(Clone, Debug)]
struct Gate {
    left: u32,
    parts: Vec<u32>,
}

/// The gates of one core.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gates {
    /// Gates that are shut, oldest first.
    shut: BTreeMap<u64, Gate>,
    /// The number of the newest gate.
    newest: u64,
}

impl Gates {
    /// Make a gate at which `parts` wait. The caller holds it, and lets it go with [`Gates::pass`].
    pub(crate) fn make(&mut self, parts: Vec<u32>) -> u64 {
        self.newest += 1;
        self.shut.insert(self.newest, Gate { left: 1, parts });
        self.newest
    }

    /// Add one thing that `gate` waits for.
    pub(crate) fn hold(&mut self, gate: u64) {
        self.shut.get_mut(&gate).expect("a shut gate").left += 1;
    }

    /// Remove one of the things that `gate` waits for. Returns the parts that may go on.
    #[must_use]
    pub(crate) fn pass(&mut self, gate: u64) -> Vec<u32> {
        let state = self.shut.get_mut(&gate).expect("a shut gate");
        state.left -= 1;
        if state.left > 0 { Vec::new() } else { self.shut.remove(&gate).map_or(Vec::new(), |gate| gate.parts) }
    }

    /// True if a gate is still shut that existed when `number` was the newest.
    pub(crate) fn is_shut(&self, number: u64) -> bool {
        self.shut.first_key_value().is_some_and(|(&first, _)| first <= number)
    }

    /// The number of the newest gate.
    pub(crate) fn newest(&self) -> u64 {
        self.newest
    }

    /// Take all waiting parts, in a core that takes no more writes.
    pub(crate) fn give_up(&mut self) -> Vec<u32> {
        self.shut.values_mut().flat_map(|gate| std::mem::take(&mut gate.parts)).collect()
    }

    /// True if a request waits at a gate.
    pub(crate) fn is_awaited(&self) -> bool {
        self.shut.values().any(|gate| !gate.parts.is_empty())
    }

    /// True if no gate is shut.
    pub(crate) fn is_empty(&self) -> bool {
        self.shut.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gate_opens_when_all_it_waits_for_is_over() {
        let mut gates = Gates::default();
        let first = gates.make(vec![3, 4]);
        gates.hold(first);
        assert!(gates.pass(first).is_empty() && gates.is_awaited() && gates.is_shut(first));
        let second = gates.make(Vec::new());
        assert_eq!(gates.pass(first), [3, 4]);
        assert!(!gates.is_shut(first) && gates.is_shut(gates.newest()) && !gates.is_awaited());
        assert!(gates.pass(second).is_empty() && gates.is_empty());
    }
}
