//! The victim policy, an exclusive slot: one policy at a time decides which block is collected next.
//!
//! A policy is one file with one type that implements [`Policy`], and one line in the list below. `docs/tutorials/victim-policy.md` walks through it.

use wordline_units::random::Draw;

/// Closed blocks of one die, as parallel arrays with one entry per block group. Blocks that cannot be taken have a `valid` of [`Candidates::OUT`] or more.
#[derive(Clone, Copy, Debug)]
pub struct Candidates<'a> {
    /// Valid units in each block group.
    pub valid: &'a [u32],
    /// Closing number of each block group: a count that grows by one with each closed block of the core.
    pub closed: &'a [u32],
    /// Erase count of each block group.
    pub erases: &'a [u32],
    /// Present value of the count behind `closed`.
    pub now: u32,
    /// Number of units that a block group holds of which no wordline is spared.
    pub capacity: u32,
    /// Number of units that each block group holds; empty: all hold `capacity`. [`Candidates::usable`] says it of one.
    pub usable: &'a [u32],
    /// Number of units that a block group holds after an erase that spares nothing, which any erase can be, less those that counters may take.
    pub least: u32,
}

impl Candidates<'_> {
    /// The `valid` entry of a block that cannot be taken (free, active, bad, or being collected already).
    ///
    /// A flag rather than a value, so that one array serves both the count and the choice: an overwrite decrements the entry without looking at it.
    pub const OUT: u32 = 1 << 31;

    /// Number of units that the block group at `place` holds, valid ones and stale ones: less than `capacity` where its last erase has spared wordlines.
    #[inline]
    pub fn usable(&self, place: usize) -> u32 {
        self.usable.get(place).copied().unwrap_or(self.capacity)
    }

    /// True if emptying the groups that can be taken into each other, and into `room` units that are free already, leaves one of them free.
    ///
    /// A die that has lost more blocks than it had to spare may hold its data and nothing else. Asked for space all the same it would move that data for ever.
    pub fn free_a_group(&self, room: u32) -> bool {
        let mut loose = room;
        self.iter().any(|(_, valid)| {
            loose += self.least.saturating_sub(valid);
            valid < self.least && loose >= self.least
        })
    }

    /// The groups that can be taken, with their valid units.
    pub fn iter(&self) -> impl Iterator<Item = (usize, u32)> + '_ {
        self.valid.iter().copied().enumerate().filter(|&(_, valid)| valid < Self::OUT)
    }
}

/// A victim policy.
pub trait Policy {
    /// The group to collect, or `None` where there is no candidate. Must be a candidate; taking a full one frees nothing and is the policy's
    /// own folly.
    fn pick(&self, candidates: &Candidates<'_>, draw: &mut Draw) -> Option<usize>;
}

crate::util::slot! {
    /// All victim policies.
    pub enum VictimPolicy {
        /// The block with the fewest valid units; among equals, the first.
        Greedy = "greedy" in greedy;
        /// The block with the best (1 − u) · age / 2u, u being its valid share (Rosenblum & Ousterhout's cost-benefit, as used for flash by Kawaguchi et
        /// al., USENIX '95).
        CostBenefit = "cost-benefit" in cost_benefit;
        /// The best of ten blocks drawn at random (d-choices, d = 10: Van Houdt, SIGMETRICS '13; MQSim's RGA).
        DChoices = "d-choices" in d_choices;
        /// The block that was closed first.
        Fifo = "fifo" in fifo;
        /// A block drawn at random.
        Random = "random" in random;
    }
    asks {
        fn pick(&self, candidates: &Candidates<'_>, draw: &mut Draw) -> Option<usize>;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use wordline_units::random::Stream;

    fn picked(policy: VictimPolicy, valid: &[u32], closed: &[u32]) -> Option<usize> {
        let erases = vec![0; valid.len()];
        let candidates = Candidates { valid, closed, erases: &erases, now: 100, capacity: 64, usable: &[], least: 64 };
        policy.pick(&candidates, &mut Draw::new(1, Stream::Victim, 0))
    }

    proptest! {
        #[test]
        fn every_policy_takes_a_candidate_wherever_there_is_one(valid in prop::collection::vec(prop_oneof![Just(Candidates::OUT), 0u32..=64], 0..50)) {
            let closed: Vec<u32> = (0..valid.len() as u32).collect();
            for &policy in VictimPolicy::ALL {
                match picked(policy, &valid, &closed) {
                    Some(victim) => prop_assert_ne!(valid[victim], Candidates::OUT, "{} took a block it may not", policy.name()),
                    None => prop_assert!(valid.iter().all(|&v| v == Candidates::OUT), "{} took nothing", policy.name()),
                }
            }
        }
    }

    #[test]
    fn a_die_that_only_holds_its_data_has_no_group_to_free() {
        let free = |valid: &[u32], room| {
            let (closed, erases) = (vec![0; valid.len()], vec![0; valid.len()]);
            Candidates { valid, closed: &closed, erases: &erases, now: 100, capacity: 64, usable: &[], least: 64 }.free_a_group(room)
        };
        assert!(free(&[40, 64, 40, 48], 0), "64 of them are stale");
        assert!(!free(&[40, 64, 40, 49, Candidates::OUT], 0), "one is missing");
        assert!(free(&[40, 64, 40, 49, Candidates::OUT], 1));
        assert!(!free(&[64, 64], 64), "room is not made by filling it");
        assert!(!free(&[Candidates::OUT], 64));
    }

    #[test]
    fn each_policy_takes_what_its_name_says() {
        let (valid, closed) = ([40, 10, Candidates::OUT, 11, 60], [1, 90, 0, 2, 50]);
        assert_eq!(picked(VictimPolicy::Greedy, &valid, &closed), Some(1));
        assert_eq!(picked(VictimPolicy::Fifo, &valid, &closed), Some(0));
        // Nearly as empty as block 1, and far older.
        assert_eq!(picked(VictimPolicy::CostBenefit, &valid, &closed), Some(3));
        assert_eq!(picked(VictimPolicy::DChoices, &valid, &closed), Some(1), "ten draws of four blocks miss the best one time in 18");
    }
}
