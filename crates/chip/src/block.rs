//! One physical block: its spare areas, its wear, and how far it is programmed.

use serde::{Deserialize, Serialize};

use crate::place::Shape;
use crate::spare::Spare;

/// One erase block of one plane.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Block {
    /// Contents of the spare areas of its pages.
    spare: Spare,
    /// Erases so far, failed ones included.
    erases: u32,
    /// Pages read since the last erase.
    reads: u32,
    /// Pages programmed since the last erase. On a die that programs them in order, it is the only one that may be programmed next.
    next_page: u16,
    /// Fitness for use.
    state: State,
}

/// Fitness of a block for use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum State {
    /// It can be used.
    #[default]
    Usable,
    /// Its last erase failed or was abandoned: nothing in it can be read or programmed before an erase succeeds.
    Torn,
    /// It left the factory with the bad-block mark.
    FactoryBad,
}

impl Block {
    #[inline(always)]
    pub(crate) fn spare(&self) -> &Spare {
        &self.spare
    }

    #[inline(always)]
    pub(crate) fn spare_mut(&mut self) -> &mut Spare {
        &mut self.spare
    }

    #[inline(always)]
    pub(crate) fn erases(&self) -> u32 {
        self.erases
    }

    #[inline(always)]
    pub(crate) fn reads(&self) -> u32 {
        self.reads
    }

    #[inline(always)]
    pub(crate) fn next_page(&self) -> u16 {
        self.next_page
    }

    #[inline(always)]
    pub(crate) fn state(&self) -> State {
        self.state
    }

    /// A sensing counts as `times` reads. Returns whether the block is torn.
    #[inline(always)]
    pub(crate) fn read(&mut self, times: u32) -> bool {
        self.reads = self.reads.saturating_add(times);
        self.state == State::Torn
    }

    /// Programmed pages are `pages` from now on.
    #[inline(always)]
    pub(crate) fn set_next_page(&mut self, pages: u16) {
        self.next_page = pages;
    }

    pub(crate) fn set_state(&mut self, state: State) {
        self.state = state;
    }

    pub(crate) fn set_erases(&mut self, erases: u32) {
        self.erases = erases;
    }

    /// An erase has ended; one that failed leaves it torn.
    #[inline]
    pub(crate) fn erase(&mut self, has_failed: bool) {
        self.erases = self.erases.saturating_add(1);
        self.reads = 0;
        self.next_page = 0;
        self.spare.erase();
        self.state = if has_failed { State::Torn } else { State::Usable };
    }

    /// A copy with other spare areas, for an image.
    pub(crate) fn with_spare(&self, spare: Spare) -> Block {
        Block { spare, ..*self }
    }

    /// The block of which [`Block::with_spare`] made a copy with spare areas that were cut; `None` if it was made of none.
    pub(crate) fn uncut(self, shape: &Shape, extent: u16) -> Option<Block> {
        Some(Block { spare: self.spare.uncut(shape, extent)?, ..self })
    }
}

const _: () = assert!(size_of::<Block>() <= 40, "a 32-TB drive has millions of these");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_erase_counts_though_it_fails_and_ends_what_reads_have_done() {
        let mut block = Block::default();
        assert!(!block.read(7));
        block.set_next_page(3);
        block.erase(true);
        assert_eq!((block.erases(), block.reads(), block.next_page(), block.state()), (1, 0, 0, State::Torn));
        assert!(block.read(1), "a torn block cannot be read");
        block.erase(false);
        assert_eq!((block.erases(), block.state()), (2, State::Usable));
    }
}
