//! Answers that several techniques may propose and several may restrain: one merge rule for all such questions.

use super::why::Why;

/// A scale of answers from the most restrained to the least.
pub trait Scale: Copy + Ord {
    /// Answer where no technique proposes anything.
    const LEAST: Self;
    /// Answer that the boldest proposal asks for.
    const MOST: Self;
}

/// One part of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Say<T> {
    /// No opinion on the question.
    Abstain,
    /// Proposal: the technique would gain by going this far.
    Propose(T),
    /// Cap: no technique may go further. To refuse is to cap at [`Scale::LEAST`].
    AtMost(T),
    /// Reason why the technique proposes nothing; it decides nothing.
    Because(Why),
}

/// One technique's answer, which may hold a proposal and a cap at once.
pub type Says<T> = [Say<T>; 2];

/// The answer of a technique that has no opinion.
pub const fn abstain<T>() -> Says<T> {
    [Say::Abstain, Say::Abstain]
}

/// Merge of all answers: the greatest proposal, as far as the least cap lets it.
pub fn agree<T: Scale>(all: impl IntoIterator<Item = Say<T>>) -> T {
    let (mut proposed, mut cap) = (T::LEAST, T::MOST);
    for say in all {
        match say {
            Say::Abstain | Say::Because(_) => {}
            Say::Propose(far) => proposed = proposed.max(far),
            Say::AtMost(far) => cap = cap.min(far),
        }
    }
    proposed.min(cap)
}

macro_rules! scales {
    ($($(#[$doc:meta])* $name:ident from $least:ident to $most:ident { $($(#[$of:meta])* $variant:ident),* })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $name {
            $(
                $(#[$of])*
                $variant,
            )*
        }

        impl Scale for $name {
            const LEAST: $name = $name::$least;
            const MOST: $name = $name::$most;
        }
    )*};
}

scales! {
    /// Urgency of stopping what a die does for a waiting read, in rising order.
    Urgency from Wait to Now {
        /// The operation goes on: the read waits.
        Wait,
        /// The die stops at the end of the step that it is doing.
        AtStep,
        /// The die stops at once; where it cannot, at the end of the step.
        Now
    }
    /// Action of a die with something suspended when a read waits, in rising order.
    Hold from Resume to Serve {
        /// The die resumes what is suspended.
        Resume,
        /// The die serves the read first.
        Serve
    }
    /// Way to move a whole program unit, in rising order.
    Way from Bus to Copyback {
        /// The unit goes over the bus and through error correction.
        Bus,
        /// The unit is moved by copyback inside the die, without bus and error correction.
        Copyback
    }
    /// Start of a piece of work, in rising order.
    Start from Dropped to Now {
        /// The rewrite is not done. It may be wanted again. Other work waits.
        Dropped,
        /// The work waits, and is not looked at until something happens to its group: a read with more retries than
        /// [`Technique::retries_borne`](super::seam::Technique::retries_borne), a hint, or its deadline. Only rewrites are parked; other work waits.
        Parked,
        /// The work waits, and is looked at whenever it could start.
        Later,
        /// The work starts.
        Now
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    struct Level(u8);

    impl Scale for Level {
        const LEAST: Level = Level(0);
        const MOST: Level = Level(9);
    }

    fn say() -> impl Strategy<Value = Say<Level>> {
        prop_oneof![
            Just(Say::Abstain),
            Just(Say::Because(Why::Unmeasured)),
            (0u8..10).prop_map(|level| Say::Propose(Level(level))),
            (0u8..10).prop_map(|level| Say::AtMost(Level(level))),
        ]
    }

    /// The definition, level by level: the highest level that somebody proposes, or a lower one that the caps leave of it.
    fn by_definition(all: &[Say<Level>]) -> Level {
        let is_proposed = |level: Level| level == Level::LEAST || all.iter().any(|say| matches!(say, Say::Propose(far) if *far >= level));
        let is_allowed = |level: Level| all.iter().all(|say| !matches!(say, Say::AtMost(far) if *far < level));
        (0..10).rev().map(Level).find(|&level| is_proposed(level) && is_allowed(level)).expect("the least is always allowed")
    }

    proptest! {
        #[test]
        fn agreement_is_its_definition_in_any_order(
            all in prop::collection::vec(say(), 0..8).prop_flat_map(|all| (Just(all.clone()), Just(all).prop_shuffle())),
        ) {
            let agreed = agree(all.0.iter().copied());
            prop_assert_eq!(agreed, by_definition(&all.0));
            prop_assert_eq!(agreed, agree(all.1));
        }
    }

    #[test]
    fn nobody_asked_means_the_least() {
        assert_eq!(agree::<Urgency>([]), Urgency::Wait);
        assert_eq!(agree::<Way>([Say::Abstain, Say::AtMost(Way::Copyback)]), Way::Bus, "a cap proposes nothing");
        assert_eq!(agree([Say::Propose(Way::Copyback), Say::AtMost(Way::Bus)]), Way::Bus);
    }
}
