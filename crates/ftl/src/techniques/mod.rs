//! The techniques there are. One explicit list; ids are fixed by its order and never by the order of a plan.

pub mod erase_at_once;
pub mod idle_reclaim;
pub mod page_lock;
pub mod plain_copyback;
pub mod read_disturb_refresh;
pub mod read_preemption;
pub mod reprogram_page;
pub mod wordline_scrub;

use wordline_flash::Sheet;
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
    /// Lock stale secrets on the die.
    PageLock {
        /// Lock whole blocks where that is quicker.
        block_lock: bool,
    },
    /// Scrub the wordlines of stale secrets.
    WordlineScrub,
    /// Erase the blocks of stale secrets at once.
    EraseAtOnce,
    /// Reprogram the pages of stale secrets in one shot.
    ReprogramPage,
}

impl Choice {
    /// What the technique is.
    pub fn card(&self) -> &'static Card {
        match self {
            Choice::ReadDisturbRefresh { .. } => &read_disturb_refresh::CARD,
            Choice::IdleReclaim { .. } => &idle_reclaim::CARD,
            Choice::PlainCopyback => &plain_copyback::CARD,
            Choice::ReadPreemption => &read_preemption::CARD,
            Choice::PageLock { .. } => &page_lock::CARD,
            Choice::WordlineScrub => &wordline_scrub::CARD,
            Choice::EraseAtOnce => &erase_at_once::CARD,
            Choice::ReprogramPage => &reprogram_page::CARD,
        }
    }

    /// The technique, ready to work on a core with this `layout` and dies of this `sheet`.
    pub fn build(&self, layout: &Layout, sheet: &Sheet) -> Box<dyn Technique> {
        match *self {
            Choice::ReadDisturbRefresh { reads_max } => Box::new(read_disturb_refresh::ReadDisturbRefresh::new(layout, reads_max)),
            Choice::IdleReclaim { after, until_free } => Box::new(idle_reclaim::IdleReclaim::new(after, until_free)),
            Choice::PlainCopyback => Box::new(plain_copyback::PlainCopyback),
            Choice::ReadPreemption => Box::new(read_preemption::ReadPreemption),
            Choice::PageLock { block_lock } => Box::new(page_lock::PageLock::new(sheet, block_lock)),
            Choice::WordlineScrub => Box::new(wordline_scrub::WordlineScrub),
            Choice::EraseAtOnce => Box::new(erase_at_once::EraseAtOnce),
            Choice::ReprogramPage => Box::new(reprogram_page::ReprogramPage),
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
            Choice::PageLock { block_lock: true },
            Choice::WordlineScrub,
            Choice::EraseAtOnce,
            Choice::ReprogramPage,
        ];
        for card in all.map(|choice| choice.card()) {
            assert_eq!(card.answers.contains(&"remember"), matches!(card.persists, Persists::Memos(_)), "{}", card.name);
        }
    }
}
