//! Who of reclaim and the host a die serves next: an exclusive slot, one policy at a time.
//!
//! A policy is one file with one type that implements [`Policy`], and one line in the list below. `docs/tutorials/scheduler.md` walks through it. What comes
//! before both (reads, the journal, the key store, a sanitiser's tasks) is not the policy's: somebody waits for it.

/// Which of two kinds of work a die takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A step of reclaim.
    Reclaim,
    /// A program of host data.
    Host,
}

/// A die that could take work of either kind, when it is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DieWork {
    /// Reclaim must be done: too few block groups are free, or it has been begun.
    pub is_due: bool,
    /// Free block groups.
    pub free: u32,
    /// With this many or fewer left, the host opens no further group.
    pub floor: u32,
    /// Whether host writes go before reclaim, above the floor, by the drive's configuration.
    pub preemptible: bool,
    /// What reclaim has earned for the host, by [`Policy::earned`], less what the host has taken, by [`Policy::taken`].
    pub credit: i32,
}

/// A scheduler.
pub trait Policy {
    /// Who is served first. The other is served where the first has nothing to do.
    fn first(&self, die: &DieWork) -> Source;

    /// What the host earns when reclaim moves `moved` units of a victim that held `valid` of `units` valid units when it was begun. A victim without valid
    /// units is told once, with `moved` 0.
    fn earned(&self, moved: u32, valid: u32, units: u32) -> i32 {
        let _ = (moved, valid, units);
        0
    }

    /// What a program of `units` units of the host takes of it.
    fn taken(&self, units: u32) -> i32 {
        let _ = units;
        0
    }
}

macro_rules! policies {
    ($($(#[$doc:meta])* $name:ident = $word:literal in $module:ident;)*) => {
        $(mod $module;)*

        /// The schedulers there are.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Scheduler {
            $($(#[$doc])* $name,)*
        }

        impl Scheduler {
            /// All schedulers.
            pub const ALL: &[Scheduler] = &[$(Scheduler::$name),*];

            /// The word a plan uses for it.
            pub const fn name(self) -> &'static str {
                match self { $(Scheduler::$name => $word,)* }
            }
        }

        impl Policy for Scheduler {
            #[inline]
            fn first(&self, die: &DieWork) -> Source {
                match self { $(Scheduler::$name => $module::$name.first(die),)* }
            }

            #[inline]
            fn earned(&self, moved: u32, valid: u32, units: u32) -> i32 {
                match self { $(Scheduler::$name => $module::$name.earned(moved, valid, units),)* }
            }

            #[inline]
            fn taken(&self, units: u32) -> i32 {
                match self { $(Scheduler::$name => $module::$name.taken(units),)* }
            }
        }
    };
}

policies! {
    /// Reclaim first, to the end of the victim; or, where reclaim is preemptible, the host first above the floor.
    Classic = "classic" in classic;
    /// In turns: a victim earns the host as many units as it gives back, in equal parts for each unit that is moved out of it.
    Paced = "paced" in paced;
}

/// No more credit, and no more debt, than so many units of host data.
const MOST: i32 = 1 << 20;

/// `credit` and what has come to it.
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
                let first = policy.first(&DieWork { is_due: true, free: 0, floor, preemptible, credit });
                prop_assert_eq!(first, Source::Reclaim, "{} lets the host take the last room", policy.name());
            }
        }
    }

    #[test]
    fn credit_and_debt_have_a_bound() {
        assert_eq!(add(i32::MAX, 1), add(0, i32::MAX));
        assert_eq!(add(i32::MIN, -1), -add(0, i32::MAX));
    }
}
