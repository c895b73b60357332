//! Which pages of a block are programmed, on dies that take its wordlines in any order and on those that do not.
//!
//! A die that programs in order needs one number for a block. One that does not has a bit for each page beside it.

use wordline_units::{BlockId, PageId, PlaneId};

use crate::chip::Chip;
use crate::payload::Place;

/// The pages that are programmed, one bit each, block after block. Empty on a die that programs in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Written {
    bits: Vec<u64>,
    /// Words for each block.
    words: usize,
}

impl Written {
    /// Nothing is, in `blocks` blocks of `pages` pages.
    pub(crate) fn new(blocks: usize, pages: u32) -> Written {
        let words = pages.div_ceil(64) as usize;
        Written { bits: vec![0; blocks * words], words }
    }

    #[inline]
    fn has(&self, place: Place) -> bool {
        self.bits[place.block as usize * self.words + place.page as usize / 64] >> (place.page % 64) & 1 == 1
    }

    fn set(&mut self, place: Place) {
        self.bits[place.block as usize * self.words + place.page as usize / 64] |= 1 << (place.page % 64);
    }

    fn erase(&mut self, block: u32) {
        self.bits[block as usize * self.words..][..self.words].fill(0);
    }
}

impl Chip {
    /// Whether the die takes wordlines in any order.
    #[inline(always)]
    pub(crate) fn is_unordered(&self) -> bool {
        !self.written.bits.is_empty()
    }

    /// Whether a page has been programmed since the last erase of its block.
    #[inline(always)]
    pub(crate) fn is_programmed(&self, place: Place) -> bool {
        if self.is_unordered() {
            self.written.has(place)
        } else {
            place.page < u32::from(self.blocks[place.block as usize].next_page) && !self.is_spared(place)
        }
    }

    /// Whether a page has been programmed since the last erase of its block, made unreadable or not.
    pub fn is_page_programmed(&self, plane: PlaneId, block: BlockId, page: PageId) -> bool {
        let block = u32::from(plane.0) * self.sheet.geometry.blocks + block.0;
        self.is_programmed(Place { block, page: u32::from(page.0) })
    }

    /// A page is programmed.
    #[inline(always)]
    pub(crate) fn mark_programmed(&mut self, place: Place) {
        let block = &mut self.blocks[place.block as usize];
        if self.written.bits.is_empty() {
            block.next_page = place.page as u16 + 1;
        } else {
            block.next_page += u16::from(!self.written.has(place));
            self.written.set(place);
        }
    }

    /// The first `pages` pages of a block are programmed, and no others.
    pub(crate) fn mark_first(&mut self, block: u32, pages: u32) {
        self.blocks[block as usize].next_page = pages as u16;
        if self.is_unordered() {
            self.written.erase(block);
            (0..pages).for_each(|page| self.written.set(Place { block, page }));
        }
    }

    /// A block is erased.
    #[inline]
    pub(crate) fn mark_erased(&mut self, block: u32) {
        self.blocks[block as usize].next_page = 0;
        if self.is_unordered() {
            self.written.erase(block);
        }
    }

    /// One more than the last page of a block that is programmed.
    pub(crate) fn extent(&self, block: u32) -> u16 {
        if !self.is_unordered() {
            return self.blocks[block as usize].next_page;
        }
        let bits = &self.written.bits[block as usize * self.written.words..][..self.written.words];
        let last = bits.iter().rposition(|&word| word != 0);
        last.map_or(0, |word| (word as u32 * 64 + u64::BITS - bits[word].leading_zeros()) as u16)
    }

    /// The bits of all blocks, for a snapshot.
    pub(crate) fn written(&self) -> Vec<u64> {
        self.written.bits.clone()
    }

    /// Take over the bits of a snapshot. `false`: they are of another die, or do not fit what the blocks say.
    #[must_use]
    pub(crate) fn resume_written(&mut self, bits: Vec<u64>) -> bool {
        if bits.len() != self.written.bits.len() {
            return false;
        }
        self.written.bits = bits;
        let (words, pages) = (self.written.words, self.grain.pages);
        let counted = |block: usize| self.written.bits[block * words..][..words].iter().map(|word| word.count_ones()).sum::<u32>();
        let is_sound =
            |block: usize| counted(block) == u32::from(self.blocks[block].next_page) && u32::from(self.extent(block as u32)) <= pages;
        !self.is_unordered() || (0..self.blocks.len()).all(is_sound)
    }
}
