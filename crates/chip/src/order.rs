//! Programmed pages of dies that take wordlines in any order: a bit for each page.
//!
//! A die that programs in order needs one number for a block, and none of these bits.

use crate::place::Place;

/// The pages that are programmed, one bit each, block after block. Empty on a die that programs in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Written {
    bits: Vec<u64>,
    /// Words for each block.
    words: usize,
}

impl Written {
    /// No page is programmed, in `blocks` blocks of `pages` pages.
    pub(crate) fn new(blocks: usize, pages: u32) -> Written {
        let words = pages.div_ceil(64) as usize;
        Written { bits: vec![0; blocks * words], words }
    }

    /// True if the die programs in order, without bits.
    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.bits.is_empty()
    }

    #[inline]
    pub(crate) fn has(&self, place: Place) -> bool {
        self.bits[place.block as usize * self.words + place.page as usize / 64] >> (place.page % 64) & 1 == 1
    }

    /// A page is programmed. Returns whether it was not before.
    pub(crate) fn set(&mut self, place: Place) -> bool {
        let is_new = !self.has(place);
        self.bits[place.block as usize * self.words + place.page as usize / 64] |= 1 << (place.page % 64);
        is_new
    }

    pub(crate) fn erase(&mut self, block: u32) {
        self.bits[block as usize * self.words..][..self.words].fill(0);
    }

    fn of(&self, block: u32) -> &[u64] {
        &self.bits[block as usize * self.words..][..self.words]
    }

    /// Programmed pages of a block.
    pub(crate) fn count(&self, block: u32) -> u32 {
        self.of(block).iter().map(|word| word.count_ones()).sum()
    }

    /// One more than the last page of a block that is programmed.
    pub(crate) fn extent(&self, block: u32) -> u16 {
        let bits = self.of(block);
        let last = bits.iter().rposition(|&word| word != 0);
        last.map_or(0, |word| (word as u32 * 64 + u64::BITS - bits[word].leading_zeros()) as u16)
    }

    /// The bits of all blocks, for a snapshot.
    pub(crate) fn bits(&self) -> Vec<u64> {
        self.bits.clone()
    }

    /// Take over the bits of a snapshot. `false`: they are of another die.
    #[must_use]
    pub(crate) fn resume(&mut self, bits: Vec<u64>) -> bool {
        let fits = bits.len() == self.bits.len();
        if fits {
            self.bits = bits;
        }
        fits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_counted_once_and_the_extent_is_behind_the_last() {
        let mut written = Written::new(3, 70);
        let at = |page| Place { block: 1, page };
        assert_eq!((written.count(1), written.extent(1)), (0, 0));
        for (page, extent) in [(3, 4), (69, 70), (64, 70)] {
            assert!(written.set(at(page)) && !written.set(at(page)));
            assert_eq!(written.extent(1), extent);
        }
        assert_eq!((written.count(0), written.count(1), written.count(2)), (0, 3, 0));
        let bits = written.bits();
        written.erase(1);
        assert!(!written.has(at(69)) && written.extent(1) == 0);
        assert!(written.resume(bits) && written.has(at(69)));
        assert!(!written.resume(vec![0; 5]));
    }
}
