//! A shuffle of `0..slots`, so that popular slots do not lie side by side, or each slot has its turn in a random order.
//!
//! Steps that are reversible on a power of two (an odd product, a folded shift) are repeated until the result is below `slots`.
//! The domain is less than twice `slots`, so two rounds do on average; and because every step is reversible, no two slots meet.

use wordline_units::random::{Draw, Stream};

/// The dice of the shuffle: the same for all phases, so that what is popular in one stays popular in the next.
const ENTITY: u32 = u32::MAX;

#[derive(Clone, Debug)]
pub(crate) struct Scatter {
    slots: u64,
    mask: u64,
    shift: u32,
    factors: [u64; 2],
    addend: u64,
}

impl Scatter {
    pub(crate) fn new(slots: u64, seed: u64) -> Scatter {
        let draw = Draw::new(seed, Stream::Address, ENTITY);
        let bits = 64 - slots.saturating_sub(1).leading_zeros();
        let mask = if bits >= 64 { u64::MAX } else { (1u64 << bits) - 1 };
        Scatter { slots, mask, shift: (bits / 2).max(1), factors: [draw.at(0) | 1, draw.at(1) | 1], addend: draw.at(2) }
    }

    /// A shuffle that the next numbers of `draw` decide.
    pub(crate) fn drawn(slots: u64, draw: &mut Draw) -> Scatter {
        Scatter { factors: [draw.next_u64() | 1, draw.next_u64() | 1], addend: draw.next_u64(), ..Scatter::new(slots, 0) }
    }

    #[inline]
    pub(crate) fn slot(&self, rank: u64) -> u64 {
        let mut x = rank;
        loop {
            x = x.wrapping_mul(self.factors[0]).wrapping_add(self.addend) & self.mask;
            x ^= x >> self.shift;
            x = x.wrapping_mul(self.factors[1]) & self.mask;
            x ^= x >> self.shift;
            if x < self.slots {
                return x;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_ranks_share_a_slot() {
        for slots in [1u64, 2, 3, 7, 64, 1000, 4096, 5001] {
            let scatter = Scatter::new(slots, 5);
            let mut seen = vec![false; slots as usize];
            for rank in 0..slots {
                let slot = scatter.slot(rank) as usize;
                assert!(!std::mem::replace(&mut seen[slot], true), "{slots}: {slot}");
            }
        }
    }

    #[test]
    fn popular_ranks_lie_apart() {
        let scatter = Scatter::new(1 << 20, 5);
        let near = (0..999).filter(|rank| scatter.slot(*rank).abs_diff(scatter.slot(rank + 1)) < 1000).count();
        assert!(near < 20, "{near} of 999 neighbours in rank are neighbours in place");
    }
}
