//! Copies in a row without error correction (000 §3.4.5, 001 §4.2).

use super::bin;
use crate::offsets::ReadOffsets;

/// References at which the die senses the source of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyReferences {
    /// Those of the chip.
    Default,
    /// The set of the table.
    Set,
}

/// Classes and thresholds by one index of wear.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CopyIndex {
    /// For each bin, most errors just after program of the best and of the median class. What shows more is of the worst.
    pub class_errors: Vec<[u32; 2]>,
    /// Most copies in a row at the default references: for each retention and class, best class first, a list over the bins.
    pub thresholds: Vec<Vec<u32>>,
    /// The same where the source is sensed at the table's set.
    pub with_set: Vec<Vec<u32>>,
}

/// Table of copies in a row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Copyback {
    /// Seed of the lot that the table was made from.
    pub seed: u64,
    /// Most P/E cycles of each bin.
    pub pe: Vec<u32>,
    /// Retention after the last copy, one or several, rising, in seconds.
    pub retention: Vec<u32>,
    /// Weakest h-layers, the weakest first: those whose pages tell the class of a block.
    pub layers: Vec<u32>,
    /// Offsets at which a source may be sensed instead of the default references.
    pub set: ReadOffsets,
    /// Thresholds by age, in tenths; the last is for blocks past their life.
    pub by_age: CopyIndex,
    /// Thresholds by P/E count.
    pub by_pe: CopyIndex,
    /// Probability up to which the worst page of a block may be uncorrectable after so many copies and the retention.
    pub risk: f64,
}

impl Copyback {
    /// Number of classes of blocks: best, median, worst.
    pub const CLASSES: usize = 3;
    /// Number of tenths of age, and one beyond.
    pub const AGES: usize = 11;

    /// Bin of a P/E count; `None` beyond the table, where nothing may be copied.
    pub fn pe_bin(&self, cycles: u32) -> Option<usize> {
        bin(&self.pe, cycles)
    }

    /// Bin of an age in thousandths, rounded up to the next tenth: a block is never taken for younger than it is.
    pub fn age_bin(age: u16) -> usize {
        usize::from(age.div_ceil(100)).min(Copyback::AGES - 1)
    }

    /// Column of a retention; `None` if no column is as long.
    pub fn column(&self, seconds: u32) -> Option<usize> {
        bin(&self.retention, seconds)
    }
}

impl CopyIndex {
    /// Class of a block of this bin that showed so many errors just after program: 0 is the best.
    pub fn class(&self, bin: usize, errors: u32) -> usize {
        self.class_errors.get(bin).map_or(Copyback::CLASSES - 1, |bounds| bounds.iter().take_while(|most| errors > **most).count())
    }

    /// Most copies in a row in a bin, for a column of retention and a class. What the table does not know is 0.
    pub fn threshold(&self, references: CopyReferences, column: usize, class: usize, bin: usize) -> u32 {
        let table = match references {
            CopyReferences::Default => &self.thresholds,
            CopyReferences::Set => &self.with_set,
        };
        table.get(column * Copyback::CLASSES + class).and_then(|row| row.get(bin)).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_of_the_class_of_its_errors_and_unknown_blocks_copy_nothing() {
        let index = CopyIndex {
            class_errors: vec![[5, 9], [7, 12]],
            thresholds: vec![vec![6, 4], vec![4, 3], vec![2, 1], vec![5, 3], vec![3, 2], vec![1, 0]],
            with_set: Vec::new(),
        };
        assert_eq!([0, 5, 6, 9, 10].map(|errors| index.class(0, errors)), [0, 0, 1, 1, 2]);
        assert_eq!(index.class(9, 0), 2, "beyond the table a block is of the worst class");
        let of = |column, class, bin| index.threshold(CopyReferences::Default, column, class, bin);
        assert_eq!([of(0, 0, 0), of(0, 2, 1), of(1, 0, 1), of(1, 2, 1), of(2, 0, 0), of(0, 0, 2)], [6, 1, 3, 0, 0, 0]);
        assert_eq!(index.threshold(CopyReferences::Set, 0, 0, 0), 0);
    }

    #[test]
    fn ages_and_counts_are_rounded_up() {
        let table = Copyback { pe: vec![1_000, 2_000], retention: vec![100, 200], ..Copyback::default() };
        assert_eq!([0, 1, 100, 101, 999, 1_001, 9_999].map(Copyback::age_bin), [0, 1, 1, 2, 10, 10, 10]);
        assert_eq!([1_000, 1_001, 2_001].map(|cycles| table.pe_bin(cycles)), [Some(0), Some(1), None]);
        assert_eq!([100, 150, 300].map(|seconds| table.column(seconds)), [Some(0), Some(1), None]);
    }
}
