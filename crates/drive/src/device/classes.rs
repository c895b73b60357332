//! Classes of blocks on dies without physics, which count no errors by themselves.
//!
//! A block is of one class for good, by a keyed die. A read that measures a page finds the bound of its class in the table of copies, at the P/E cycles that
//! the block has behind it: as many errors in each codeword as the best block of the class below may not have.

use std::sync::Arc;

use wordline_flash::tables::Copyback;
use wordline_flash::{Tally, Target};
use wordline_units::random::{Draw, Stream};
use wordline_units::{Bytes, DieId, Geometry};

use super::dies::Dies;
use crate::config::Config;

/// User bytes of a codeword of a die without physics.
const CODEWORD: Bytes = Bytes::kib(1);

/// Classes of the blocks of all dies.
#[derive(Debug)]
pub(super) struct Classes {
    /// Shares of blocks that are of the best class, and of the best or the median one.
    shares: [f64; 2],
    table: Arc<Copyback>,
    seed: u64,
    blocks: u32,
    codewords: u32,
}

impl Classes {
    /// Classes of the blocks of a drive; `None`: its blocks have none.
    pub(super) fn of(config: &Config) -> Option<Classes> {
        let ([best, median, _], table) = (config.classes?, config.firmware.tables.copyback.as_ref()?);
        let Geometry { blocks, page, .. } = config.sheet.geometry;
        let codewords = (page.0 / CODEWORD.0).max(1) as u32;
        Some(Classes { shares: [best, best + median], table: Arc::clone(table), seed: config.seed, blocks, codewords })
    }

    /// Class of block number `block` of `die`, counted over all planes: 0 is the best.
    fn class(&self, die: DieId, block: u64) -> usize {
        let drawn = (Draw::new(self.seed, Stream::BlockClass, u32::from(die.0)).at(block) >> 11) as f64 / (1u64 << 53) as f64;
        self.shares.iter().filter(|share| drawn >= **share).count()
    }

    /// Errors in each codeword of a block of `class` with `cycles` behind it, just after program. Beyond the table they are those of its last bin.
    fn bound(&self, class: usize, cycles: u32) -> u32 {
        let bounds = &self.table.by_pe.class_errors;
        let bin = self.table.pe_bin(cycles).unwrap_or(bounds.len().saturating_sub(1));
        let [best, median] = bounds.get(bin).copied().unwrap_or_default();
        [best, median, median + 1][class]
    }

    /// Errors that a read of `target` on `die` measures: those of the worst codeword, and those of all.
    #[cold]
    pub(super) fn measured(&self, dies: &Dies, die: DieId, target: &Target) -> (u32, Tally) {
        let (mut worst, mut all) = (0, Tally::default());
        for plane in target.planes.iter() {
            let block = target.block(plane);
            let class = self.class(die, u64::from(plane.0) * u64::from(self.blocks) + u64::from(block.0));
            let errors = self.bound(class, dies[die].erases(plane, block));
            worst = worst.max(errors);
            all = all.with(Tally { bits: errors * self.codewords, codewords: self.codewords });
        }
        (worst, all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wordline_flash::tables::CopyIndex;

    fn classes(shares: [f64; 2]) -> Classes {
        let by_pe = CopyIndex { class_errors: vec![[5, 9], [7, 12]], ..CopyIndex::default() };
        let table = Arc::new(Copyback { pe: vec![100, 200], by_pe, ..Copyback::default() });
        Classes { shares, table, seed: 3, blocks: 64, codewords: 16 }
    }

    #[test]
    fn blocks_are_of_their_classes_in_the_shares_that_were_asked_for_and_stay_in_them() {
        let classes = classes([0.25, 0.75]);
        let mut counts = [0; 3];
        (0..40).for_each(|die| (0..1_000).for_each(|block| counts[classes.class(DieId(die), block)] += 1));
        for (count, due) in counts.into_iter().zip([10_000, 20_000, 10_000]) {
            assert!(i32::abs(count - due) < 400, "{counts:?}");
        }
        let of =
            |seed, die| (0..64).map(|block| Classes { seed, ..self::classes([0.25, 0.75]) }.class(DieId(die), block)).collect::<Vec<_>>();
        assert_eq!(of(3, 0), of(3, 0));
        assert_ne!(of(3, 0), of(3, 1), "each die has its own");
        assert_ne!(of(3, 0), of(4, 0), "each drive has its own");
    }

    #[test]
    fn a_block_of_a_class_is_taken_for_one_of_it_in_every_bin() {
        let classes = classes([0.25, 0.75]);
        for (bin, cycles) in [(0, 0), (0, 100), (1, 101), (1, 200)] {
            assert_eq!([0, 1, 2].map(|class| classes.table.by_pe.class(bin, classes.bound(class, cycles))), [0, 1, 2], "{cycles} cycles");
        }
        assert_eq!(classes.bound(0, 9_000), 7, "beyond the table a block shows the errors of the last bin");
    }

    #[test]
    fn shares_of_all_and_of_none_leave_no_other_class() {
        for (shares, class) in [([1.0, 1.0], 0), ([0.0, 1.0], 1), ([0.0, 0.0], 2)] {
            let classes = classes(shares);
            assert!((0..1_000).all(|block| classes.class(DieId(0), block) == class), "{shares:?}");
        }
    }
}
