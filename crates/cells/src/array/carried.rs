//! Errors that copybacks carried over: what was wrong in the data of a page before the die programmed it.
//!
//! A copyback programs what was sensed, without correction, so the errors of the sensing become data. A page keeps the error rate of that sensing, which
//! contains what its source had carried. A read joins it with the rate of the page itself (`carried_over`), at every entry of the retry table and behind
//! the memory of rates: what is wrong in the data stays wrong, however well it is read.
//!
//! A rate is a number of sixteen bits in steps of 1/64 octave, so that a chain of copies rounds each of its links by half a percent at most. A block that
//! received a copy has a table of all its pages until its erase; blocks and dies without one cost a test.

use serde::{Deserialize, Serialize};

use super::CellArray;
use crate::wordline::carried_over;

/// Steps of a rate in an octave.
const STEPS: f64 = 64.0;
/// Number of the rate 1.
const ONE: f64 = 16_384.0;
/// Least rate that is kept, 2⁻⁴⁸: of a page of 2¹⁸ bits, fewer than one copy in a thousand million has a wrong bit.
const LEAST: f64 = 1.0 / (1u64 << 48) as f64;

/// The number that stands for an error rate; 0: none.
fn number(rate: f64) -> u16 {
    if rate < LEAST { 0 } else { libm::round(ONE + STEPS * libm::log2(rate.min(0.5))) as u16 }
}

/// The error rate that a number stands for.
fn rate(number: u16) -> f64 {
    if number == 0 { 0.0 } else { libm::exp2((f64::from(number) - ONE) / STEPS) }
}

/// Carried error rates of the blocks of a die that received copies, as plain data for an image: number of the block, and a number for each of its pages.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CarriedTables(Vec<(u32, Vec<u16>)>);

impl CarriedTables {
    /// The numbers of the pages of a block; `None`: it has received no copies. 0 stands for no errors, 64 more for twice the rate.
    pub fn of(&self, block: u32) -> Option<&[u16]> {
        let at = self.0.binary_search_by_key(&block, |(number, _)| *number).ok()?;
        Some(&self.0[at].1)
    }

    /// The error rate that the data of a page had when it was programmed.
    pub fn rate(&self, block: u32, page: u32) -> f64 {
        self.of(block).map_or(0.0, |numbers| rate(numbers[page as usize]))
    }
}

/// Carried error rates of the pages of a die.
#[derive(Clone, Debug, Default)]
pub(super) struct Carried {
    /// Tables by block. The vector is allocated at the first copy.
    tables: Vec<Option<Box<[u16]>>>,
    /// Number of blocks that have a table.
    count: u32,
    /// Tables of erased blocks, for the next blocks that receive copies.
    spare: Vec<Box<[u16]>>,
}

impl Carried {
    #[inline]
    pub(super) fn is_none(&self) -> bool {
        self.count == 0
    }

    /// The table of a block that received copies.
    pub(super) fn table(&self, block: u32) -> Option<&[u16]> {
        self.tables.get(block as usize)?.as_deref()
    }

    /// Sets the number of a page in a die of so many blocks and pages. Returns true if it was another.
    fn set(&mut self, (blocks, pages): (usize, usize), block: u32, page: u32, number: u16) -> bool {
        if number == 0 && self.table(block).is_none() {
            return false;
        }
        let entry = &mut self.create((blocks, pages), block)[page as usize];
        std::mem::replace(entry, number) != number
    }

    fn create(&mut self, (blocks, pages): (usize, usize), block: u32) -> &mut [u16] {
        if self.tables.is_empty() {
            self.tables.resize_with(blocks, || None);
        }
        let Carried { tables, count, spare } = self;
        tables[block as usize].get_or_insert_with(|| {
            *count += 1;
            let mut table = spare.pop().unwrap_or_else(|| vec![0; pages].into());
            table.fill(0);
            table
        })
    }

    /// Drops the table of an erased block.
    pub(super) fn erase(&mut self, block: u32) {
        if let Some(table) = self.tables.get_mut(block as usize).and_then(Option::take) {
            self.count -= 1;
            self.spare.push(table);
        }
    }
}

impl CellArray {
    /// Keeps `rate`, the error rate of the data that a copyback programs to a page. Returns true if that changes what the block has to keep.
    pub fn carry(&mut self, block: u32, page: u32, rate: f64) -> bool {
        let size = (self.lives.len(), self.pages());
        self.carried.set(size, block, page, number(rate))
    }

    /// Forgets what `pages` pages from `page` on carried: they are programmed with data from the controller. Returns true if that changes what the block has to
    /// keep.
    pub fn program_clean(&mut self, block: u32, page: u32, pages: u32) -> bool {
        let Some(table) = self.carried.tables.get_mut(block as usize).and_then(Option::as_mut) else { return false };
        let pages = &mut table[page as usize..(page + pages) as usize];
        let had_any = pages.iter().any(|&number| number != 0);
        pages.fill(0);
        had_any
    }

    /// True if nothing on the die was carried over by copybacks.
    #[inline]
    pub fn is_clean(&self) -> bool {
        self.carried.is_none()
    }

    /// The error rate that the data of a page had when it was programmed.
    pub fn carried(&self, block: u32, page: u32) -> f64 {
        self.carried.table(block).map_or(0.0, |table| rate(table[page as usize]))
    }

    /// The error rate of a read of a page from that of its cells.
    #[inline]
    pub(super) fn with_carried(&self, block: u32, page: u32, rate: f64) -> f64 {
        if self.is_clean() { rate } else { self.join_carried(block, page, rate) }
    }

    #[cold]
    fn join_carried(&self, block: u32, page: u32, rate: f64) -> f64 {
        carried_over(rate, self.carried(block, page))
    }

    /// Pages in a block.
    pub(super) fn pages(&self) -> usize {
        (self.wordlines() * self.bits) as usize
    }

    /// The carried rates of all blocks, for an image.
    pub fn carried_tables(&self) -> CarriedTables {
        let tables = (0..).zip(&self.carried.tables);
        CarriedTables(tables.filter_map(|(block, table)| Some((block, table.as_ref()?.to_vec()))).collect())
    }

    /// Restores the carried rates of an image. `false`: they are of a die of another size.
    #[must_use]
    pub fn resume_carried(&mut self, CarriedTables(tables): &CarriedTables) -> bool {
        let size = (self.lives.len(), self.pages());
        if tables.iter().any(|(block, table)| *block as usize >= size.0 || !self.is_carried_table(table)) {
            return false;
        }
        self.carried = Carried::default();
        tables.iter().for_each(|(block, table)| self.carried.create(size, *block).copy_from_slice(table));
        true
    }

    /// True if `table` can be that of a block of this die.
    fn is_carried_table(&self, table: &[u16]) -> bool {
        table.len() == self.pages() && table.iter().all(|&of| of <= number(0.5))
    }

    /// Restores the carried rates of a block; an empty or impossible table stands for none.
    pub(super) fn wake_carried(&mut self, block: u32, table: &[u16]) {
        self.carried.erase(block);
        if self.is_carried_table(table) {
            let size = (self.lives.len(), self.pages());
            self.carried.create(size, block).copy_from_slice(table);
        }
    }

    /// Forgets what the pages of a block carried that turns out to be empty.
    pub fn wake_empty(&mut self, block: u32) {
        self.carried.erase(block);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_stands_for_its_rate_within_half_a_step() {
        assert_eq!((number(0.0), rate(0)), (0, 0.0));
        assert_eq!(number(LEAST / 2.0), 0, "as good as none");
        for octaves in 7..48 * 7 {
            let exact = libm::exp2(-f64::from(octaves) / 7.0);
            let off = libm::log2(rate(number(exact)) / exact).abs();
            assert!(off <= 0.5 / STEPS + 1e-12, "{exact:e} is kept as {:e}", rate(number(exact)));
            assert_eq!(number(rate(number(exact))), number(exact));
        }
        assert_eq!(number(1.0), number(0.5), "nothing is worse than a coin");
    }

    #[test]
    fn an_image_has_the_rates_of_its_pages_and_none_of_other_blocks() {
        let tables = CarriedTables(vec![(3, vec![number(0.25), 0])]);
        assert_eq!([(3, 0), (3, 1), (2, 0)].map(|(block, page)| tables.rate(block, page)), [0.25, 0.0, 0.0]);
    }

    #[test]
    fn the_tables_of_erased_blocks_are_used_again_and_hold_nothing() {
        let mut carried = Carried::default();
        assert!(!carried.set((4, 6), 1, 2, 0), "a clean copy makes no table");
        assert!(carried.is_none() && carried.table(1).is_none());
        assert!(carried.set((4, 6), 1, 2, 77) && !carried.set((4, 6), 1, 2, 77));
        carried.erase(1);
        carried.erase(1);
        assert!(carried.is_none() && carried.spare.len() == 1);
        assert!(carried.set((4, 6), 3, 0, 5));
        assert_eq!(carried.table(3), Some(&[5, 0, 0, 0, 0, 0][..]));
        assert!(carried.spare.is_empty());
    }
}
