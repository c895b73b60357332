//! The retirement policy, an exclusive slot: one policy at a time decides when the blocks of a group leave service.
//!
//! A policy is one file with one type that implements [`Policy`], and one line in the list below. `docs/tutorials/retirement.md` walks through it. The policy
//! is asked about groups without valid data: before the erase of a group in which a program failed, and after each erase. What a failure asks for at once is
//! not the policy's: the group is written no more, and its data moves away. Policies that judge by errors near the limit, and those that give up single
//! wordlines, are absent.

use wordline_units::Wear;

/// Facts about a group that a policy judges by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// True if a program in the group has failed since its blocks came into service.
    pub program_failed: bool,
    /// True if the erase of the group that has just ended failed.
    pub erase_failed: bool,
    /// Number of erases of the group, the one that has just ended among them.
    pub erases: u32,
    /// Wear of the group that techniques told before the erase; `None`: none does.
    pub wear: Option<Wear>,
}

/// Judgement of a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The blocks of the group stay in service.
    Keep,
    /// The blocks of the group leave service: spare ones take their place, or the group goes with them.
    RetireBlock,
}

/// A retirement policy.
pub trait Policy {
    /// Verdict on a group without valid data. Two laws hold for every policy: blocks that failed retire, and blocks that have not failed stay after their first
    /// erase, or a drive would retire one spare block after the other without writing any.
    fn judge(&self, seen: &Seen) -> Verdict;
}

crate::util::slot! {
    /// All retirement policies.
    pub enum RetirementPolicy {
        /// Blocks leave service once a program in them or their erase has failed.
        Failed = "failed" in failed;
        /// Blocks leave service as with `failed`, and once a technique tells that their life is over.
        Spent = "spent" in spent;
    }
    asks {
        fn judge(&self, seen: &Seen) -> Verdict;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_policy_retires_what_failed(program_failed in any::<bool>(), erases in any::<u32>()) {
            let seen = Seen { program_failed, erase_failed: !program_failed, erases, wear: None };
            for policy in RetirementPolicy::ALL {
                prop_assert_eq!(policy.judge(&seen), Verdict::RetireBlock, "{} keeps a block that failed", policy.name());
            }
        }
    }

    #[test]
    fn every_policy_keeps_a_new_block() {
        for (policy, erases) in RetirementPolicy::ALL.iter().flat_map(|policy| [(policy, 0), (policy, 1)]) {
            let seen = Seen { erases, wear: Some(Wear(9_999)), ..Seen::default() };
            assert_eq!(policy.judge(&seen), Verdict::Keep, "{} would retire each spare block in turn", policy.name());
        }
    }

    #[test]
    fn failed_waits_for_a_failure_however_old_a_block_is() {
        let old = Seen { erases: u32::MAX, wear: Some(Wear(9_999)), ..Seen::default() };
        assert_eq!(RetirementPolicy::Failed.judge(&old), Verdict::Keep);
    }

    #[test]
    fn spent_waits_for_the_end_of_a_life_however_often_a_block_was_erased() {
        let judge = |erases, wear: Option<u16>| RetirementPolicy::Spent.judge(&Seen { erases, wear: wear.map(Wear), ..Seen::default() });
        assert_eq!([None, Some(0), Some(999)].map(|wear| judge(u32::MAX, wear)), [Verdict::Keep; 3]);
        assert_eq!([Some(1_000), Some(9_999)].map(|wear| judge(2, wear)), [Verdict::RetireBlock; 2]);
    }
}
