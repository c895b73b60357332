//! Ways to make programmed pages unreadable without an erase, named by commands and operations alike.

use std::ops::Range;

use wordline_units::FlashOp;

/// A way to make programmed pages unreadable without an erase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sanitisation {
    /// pLock (002 §5.3): the page's flag cells are programmed, and the die puts out zeroes for it until the block is erased. Its cells keep what they hold.
    LockPage,
    /// bLock (002 §5.4): the block's select transistors are programmed, and no page of it can be sensed until it is erased.
    LockBlock,
    /// Scrubbing: one shot raises all cells of the wordline, and all its pages are lost.
    Scrub,
    /// One-shot reprogramming (002 §4): the states of one page of the wordline are made to overlap; the other pages stay, with more errors.
    Reprogram,
}

impl Sanitisation {
    /// All of them, in the order of [`FlashOp::SANITISING`].
    pub const ALL: [Sanitisation; 4] = [Sanitisation::LockPage, Sanitisation::LockBlock, Sanitisation::Scrub, Sanitisation::Reprogram];

    /// The word that events and tables use.
    pub const fn op(self) -> FlashOp {
        FlashOp::SANITISING[self as usize]
    }

    /// The pages that become unreadable when `page` is given, in blocks of `pages` pages with `per_wordline` on each wordline.
    pub const fn reach(self, page: u32, per_wordline: u32, pages: u32) -> Range<u32> {
        match self {
            Sanitisation::LockPage | Sanitisation::Reprogram => page..page + 1,
            Sanitisation::LockBlock => 0..pages,
            Sanitisation::Scrub => {
                let first = page / per_wordline * per_wordline;
                first..first + per_wordline
            }
        }
    }
}
