//! The scheduler, an exclusive slot: one policy at a time decides whether a die serves GC or the host next.
//!
//! A policy is one file with one type that implements [`Policy`], and one line in the list below. `docs/tutorials/scheduler.md` walks through it. What comes
//! before both (reads, the journal, the key store, a sanitiser's tasks) is not the policy's: somebody waits for it.

/// One of the two kinds of work between which a scheduler decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// A step of GC.
    Gc,
    /// A program of host data.
    Host,
}

/// State of a die that could take work of either kind, when the policy is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DieWork {
    /// True if GC must be done: too few block groups are free, or a victim is begun.
    pub is_due: bool,
    /// True if enough groups are free, and the victim that is begun is one that a technique asked for beyond what space demands.
    pub is_extra: bool,
    /// Number of free block groups.
    pub free: u32,
    /// Number of free groups at or below which the host opens no further group.
    pub floor: u32,
    /// True if the drive's configuration lets host writes go before GC, above the floor.
    pub preemptible: bool,
    /// Credit of the host: what GC has earned by [`Policy::earned`], less what the host has taken by [`Policy::taken`].
    pub credit: i32,
}

/// A scheduling policy.
pub trait Policy {
    /// Kind of work that is served first. The other is served where the first has nothing to do.
    fn first(&self, die: &DieWork) -> Turn;

    /// Credit that the host earns when GC moves `moved` units of a victim that held `valid` of `units` valid units when it was begun. A victim without
    /// valid units is reported once, with `moved` 0.
    fn earned(&self, moved: u32, valid: u32, units: u32) -> i32 {
        let _ = (moved, valid, units);
        0
    }

    /// Credit that a program of `units` host units takes.
    fn taken(&self, units: u32) -> i32 {
        let _ = units;
        0
    }
}

crate::util::slot! {
    /// All scheduling policies.
    pub enum Scheduler {
        /// Whole victims: GC goes first, to the end of the victim; or, where GC is preemptible, the host goes first above the floor.
        Classic = "classic" in classic;
        /// GC and host in turns: a victim earns the host as many units as it gives back, in equal parts for each unit that is moved out of it.
        Paced = "paced" in paced;
    }
    asks {
        fn first(&self, die: &DieWork) -> Turn;
        fn earned(&self, moved: u32, valid: u32, units: u32) -> i32;
        fn taken(&self, units: u32) -> i32;
    }
}

/// Greatest credit, and greatest debt, in units of host data.
const MOST: i32 = 1 << 20;

/// Sum of `credit` and `change`, within the limits.
pub(crate) fn add(credit: i32, change: i32) -> i32 {
    credit.saturating_add(change).clamp(-MOST * paced::PART, MOST * paced::PART)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn without_a_free_group_reclaim_goes_first(preemptible in any::<bool>(), floor in 1u32..9, credit in any::<i32>()) {
            for policy in Scheduler::ALL {
                let first = policy.first(&DieWork { is_due: true, is_extra: false, free: 0, floor, preemptible, credit });
                prop_assert_eq!(first, Turn::Gc, "{} lets the host take the last room", policy.name());
            }
        }
    }

    #[test]
    fn credit_and_debt_have_a_bound() {
        assert_eq!(add(i32::MAX, 1), add(0, i32::MAX));
        assert_eq!(add(i32::MIN, -1), -add(0, i32::MAX));
    }
}
