//! The techniques there are. One explicit list; ids are fixed by its order and never by the order of a plan.

pub mod idle_reclaim;
pub mod plain_copyback;
pub mod read_disturb_refresh;
pub mod read_preemption;

use wordline_units::Nanos;

use crate::layout::Layout;
use crate::seam::{Card, Technique};

/// A technique that a plan switches on, with its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Choice {
    /// Rewrite a block whose pages have been read so often since its last erase that read disturb nears the limit of error correction.
    ReadDisturbRefresh {
        /// Page reads of one block group between two erases.
        reads_max: u32,
    },
    /// Reclaim space while a die has had nothing to do for a while.
    IdleReclaim {
        /// How long a die must have been idle.
        after: Nanos,
        /// Stop once this many block groups of the die are free.
        until_free: u32,
    },
    /// Move data by copyback wherever the die can.
    PlainCopyback,
    /// Suspend programs and erases for host reads.
    ReadPreemption,
}

impl Choice {
    /// What the technique is.
    pub fn card(&self) -> &'static Card {
        match self {
            Choice::ReadDisturbRefresh { .. } => &read_disturb_refresh::CARD,
            Choice::IdleReclaim { .. } => &idle_reclaim::CARD,
            Choice::PlainCopyback => &plain_copyback::CARD,
            Choice::ReadPreemption => &read_preemption::CARD,
        }
    }

    /// The technique, ready to work on a core with this `layout`.
    pub fn build(&self, layout: &Layout) -> Box<dyn Technique> {
        match *self {
            Choice::ReadDisturbRefresh { reads_max } => Box::new(read_disturb_refresh::ReadDisturbRefresh::new(layout, reads_max)),
            Choice::IdleReclaim { after, until_free } => Box::new(idle_reclaim::IdleReclaim::new(after, until_free)),
            Choice::PlainCopyback => Box::new(plain_copyback::PlainCopyback),
            Choice::ReadPreemption => Box::new(read_preemption::ReadPreemption),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seam::Persists;

    #[test]
    fn who_remembers_says_so() {
        let all = [
            Choice::ReadDisturbRefresh { reads_max: 8 },
            Choice::IdleReclaim { after: Nanos(1), until_free: 1 },
            Choice::PlainCopyback,
            Choice::ReadPreemption,
        ];
        for card in all.map(|choice| choice.card()) {
            assert_eq!(card.answers.contains(&"remember"), matches!(card.persists, Persists::Memos(_)), "{}", card.name);
        }
    }
}
