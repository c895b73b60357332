//! The blocks of a die: which of their pages are programmed, and what their spare areas hold.

use wordline_units::{Lpn, WordlineSet};

use crate::block::{Block, State};
use crate::guard::Guard;
use crate::order::Written;
use crate::place::{Place, Shape, UNITS_MAX};
use crate::spare::{PADDING, Spare};

/// All blocks, plane after plane.
#[derive(Clone, Debug)]
pub(crate) struct Blocks {
    shape: Shape,
    entries: Vec<Block>,
    /// Programmed pages, where that may be any.
    written: Written,
    /// Wordlines that guarded erases have spared.
    guard: Guard,
    /// True if one number for each block is all about its programmed pages: the die programs in order and has spared nothing.
    is_plain: bool,
}

impl Blocks {
    /// Erased blocks. `any_order`: wordlines may be programmed in any order.
    pub(crate) fn new(shape: Shape, any_order: bool) -> Blocks {
        let count = shape.all_blocks();
        let written = if any_order { Written::new(count, shape.pages()) } else { Written::default() };
        let is_plain = written.is_empty();
        Blocks { shape, entries: vec![Block::default(); count], written, guard: Guard::default(), is_plain }
    }

    #[inline(always)]
    pub(crate) fn shape(&self) -> &Shape {
        &self.shape
    }

    #[inline(always)]
    pub(crate) fn of(&self, block: u32) -> &Block {
        &self.entries[block as usize]
    }

    #[inline(always)]
    pub(crate) fn of_mut(&mut self, block: u32) -> &mut Block {
        &mut self.entries[block as usize]
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Block> {
        self.entries.iter()
    }

    /// True if the programmed pages of each block are its first, without a gap.
    #[inline(always)]
    pub(crate) fn is_plain(&self) -> bool {
        self.is_plain
    }

    /// True if the die takes wordlines in any order.
    #[inline(always)]
    pub(crate) fn is_unordered(&self) -> bool {
        !self.written.is_empty()
    }

    /// True if a page has been programmed since the last erase of its block.
    #[inline(always)]
    pub(crate) fn is_programmed(&self, place: Place) -> bool {
        if self.is_plain { place.page < u32::from(self.of(place.block).next_page()) } else { self.is_among_programmed(place) }
    }

    #[cold]
    fn is_among_programmed(&self, place: Place) -> bool {
        if self.is_unordered() {
            self.written.has(place)
        } else {
            place.page < u32::from(self.of(place.block).next_page()) && !self.is_spared(place)
        }
    }

    /// A page is programmed, with `units` in its spare area.
    #[inline(always)]
    pub(crate) fn program(&mut self, place: Place, units: &[Lpn]) {
        let block = &mut self.entries[place.block as usize];
        block.spare_mut().set(&self.shape, place.page, units);
        if self.written.is_empty() {
            block.set_next_page(place.page as u16 + 1);
        } else {
            block.set_next_page(block.next_page() + u16::from(self.written.set(place)));
        }
    }

    /// A page is programmed, with a spare area that names no unit.
    pub(crate) fn program_nothing(&mut self, place: Place) {
        self.program(place, &[PADDING; UNITS_MAX as usize][..self.shape.units() as usize]);
    }

    /// The first `pages` pages of a block are programmed, and no others.
    pub(crate) fn mark_first(&mut self, block: u32, pages: u32) {
        self.of_mut(block).set_next_page(pages as u16);
        if self.is_unordered() {
            self.written.erase(block);
            (0..pages).for_each(|page| _ = self.written.set(Place { block, page }));
        }
    }

    /// A block is erased but for these wordlines; an erase that has failed leaves it torn.
    #[inline]
    pub(crate) fn erase(&mut self, block: u32, has_failed: bool, spared: WordlineSet) {
        self.of_mut(block).erase(has_failed);
        if self.is_unordered() {
            self.written.erase(block);
        }
        self.mark_spared(block, spared);
    }

    /// Fill `block` from its first page on with `pages` pages of mapping units in a regular order.
    pub(crate) fn fill_regular(&mut self, block: u32, pages: u32, first: Lpn, page_step: u32) {
        assert!(pages <= self.shape.pages(), "{pages} pages do not fit into a block of {}", self.shape.pages());
        let last = u64::from(first.0) + u64::from(pages.saturating_sub(1)) * u64::from(page_step) + u64::from(self.shape.units() - 1);
        assert!(last < u64::from(u32::MAX), "mapping unit {last} does not exist");
        let entry = self.of_mut(block);
        assert!(entry.state() == State::Usable, "a bad block cannot be filled");
        *entry.spare_mut() = Spare::Regular { first: first.0, page_step };
        self.mark_first(block, pages);
    }

    /// Fill the next page of `block`.
    pub(crate) fn fill_page(&mut self, block: u32, units: &[Lpn]) {
        assert!(units.len() == self.shape.units() as usize, "{} units for a page of {}", units.len(), self.shape.units());
        let entry = self.of(block);
        assert!(entry.state() == State::Usable, "a bad block cannot be filled");
        assert!(u32::from(entry.next_page()) < self.shape.pages(), "the block is full");
        self.program(Place { block, page: entry.next_page().into() }, units);
    }

    /// One more than the last page of a block that is programmed.
    pub(crate) fn extent(&self, block: u32) -> u16 {
        if self.is_unordered() { self.written.extent(block) } else { self.of(block).next_page() }
    }

    /// Spared wordlines of each block.
    pub(crate) fn guard(&self) -> &Guard {
        &self.guard
    }

    /// Take over the spared wordlines of a snapshot.
    pub(crate) fn set_guard(&mut self, guard: Guard) {
        self.guard = guard;
        self.is_plain = self.written.is_empty() && self.guard.is_none();
    }

    /// True if the last erase of a block has spared the wordline of a page.
    #[inline]
    pub(crate) fn is_spared(&self, place: Place) -> bool {
        !self.guard.is_none() && self.guard.of(place.block).is_some_and(|set| set.has(self.shape.wordline_of(place.page)))
    }

    /// The first page of a block from `page` on that may be programmed, as far as spared wordlines go.
    #[cold]
    pub(crate) fn first_usable(&self, mut place: Place) -> u32 {
        while place.page < self.shape.pages() && self.is_spared(place) {
            place.page += 1;
        }
        place.page
    }

    /// The last erase of a block has spared these wordlines.
    #[inline]
    pub(crate) fn mark_spared(&mut self, block: u32, spared: WordlineSet) {
        if !self.guard.is_none() || !spared.is_empty() {
            self.guard.set(self.entries.len(), block, spared);
            self.is_plain = self.written.is_empty() && self.guard.is_none();
        }
    }

    /// Bytes of memory that the blocks and their spare areas hold.
    pub(crate) fn memory_bytes(&self) -> usize {
        size_of_val(self.entries.as_slice()) + self.entries.iter().map(|block| block.spare().heap_bytes()).sum::<usize>()
    }

    /// The bits of programmed pages, for a snapshot.
    pub(crate) fn written(&self) -> Vec<u64> {
        self.written.bits()
    }

    /// Copies of all blocks, for a snapshot: spare areas up to the last page that is programmed, without what an earlier filling has left in spared pages
    /// before it.
    pub(crate) fn image(&self) -> Vec<Block> {
        (0..).zip(&self.entries).map(|(number, block)| block.with_spare(self.spare_for_image(number, block.spare()))).collect()
    }

    fn spare_for_image(&self, block: u32, spare: &Spare) -> Spare {
        let extent = self.extent(block);
        let mut cut = spare.cut(&self.shape, extent);
        if self.guard.of(block).is_some() {
            let spared = (0..u32::from(extent)).filter(|&page| self.is_spared(Place { block, page }));
            spared.for_each(|page| cut.blank(&self.shape, page));
        }
        cut
    }

    /// Take over the blocks of a snapshot, which are as many, and its bits.
    pub(crate) fn restore(&mut self, blocks: Vec<Block>, written: Vec<u64>) -> Result<(), &'static str> {
        for (mine, block) in self.entries.iter_mut().zip(&blocks) {
            if u32::from(block.next_page()) > self.shape.pages() {
                return Err("a block holds more pages than it has");
            }
            mine.set_next_page(block.next_page());
        }
        if !self.resume_written(written) {
            return Err("which pages are programmed does not fit the blocks");
        }
        for (number, block) in (0..).zip(blocks) {
            let Some(block) = block.uncut(&self.shape, self.extent(number)) else {
                return Err("a spare area does not fit its block");
            };
            *self.of_mut(number) = block;
        }
        Ok(())
    }

    #[must_use]
    fn resume_written(&mut self, bits: Vec<u64>) -> bool {
        if !self.written.resume(bits) {
            return false;
        }
        let is_sound = |block: u32| {
            self.written.count(block) == u32::from(self.of(block).next_page()) && u32::from(self.extent(block)) <= self.shape.pages()
        };
        !self.is_unordered() || (0..self.entries.len() as u32).all(is_sound)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place::tests::shape;

    #[test]
    fn pages_are_programmed_in_order_or_in_any() {
        for any_order in [false, true] {
            let mut blocks = Blocks::new(shape(1), any_order);
            let at = |page| Place { block: 2, page };
            blocks.program(at(0), &[Lpn(5)]);
            blocks.program(at(if any_order { 4 } else { 1 }), &[Lpn(6)]);
            assert_eq!(blocks.of(2).next_page(), 2);
            assert_eq!(blocks.extent(2), if any_order { 5 } else { 2 });
            assert_eq!((0..6).filter(|&page| blocks.is_programmed(at(page))).count(), 2);
            let mut again = Blocks::new(shape(1), any_order);
            again.restore(blocks.image(), blocks.written()).expect("it is of such a die");
            assert!((0..6).all(|page| again.is_programmed(at(page)) == blocks.is_programmed(at(page))));
            blocks.erase(2, false, WordlineSet::NONE);
            assert!((0..6).all(|page| !blocks.is_programmed(at(page))) && blocks.extent(2) == 0);
        }
    }

    #[test]
    fn spared_wordlines_are_passed_over_and_plain_again_with_the_next_erase() {
        let mut blocks = Blocks::new(shape(1), false);
        blocks.erase(1, false, WordlineSet::of([0]));
        assert!(!blocks.is_plain());
        assert_eq!(blocks.first_usable(Place { block: 1, page: 0 }), 3);
        blocks.program(Place { block: 1, page: 3 }, &[Lpn(1)]);
        assert!(blocks.is_programmed(Place { block: 1, page: 3 }) && !blocks.is_programmed(Place { block: 1, page: 0 }));
        blocks.erase(1, false, WordlineSet::NONE);
        assert!(blocks.is_plain());
    }
}
