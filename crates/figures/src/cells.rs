//! The cells of a drive's flash blocks at the end of a run, as an inspection from outside of the drive finds them. Nothing in the drive can ask for them.

use wordline_units::{BlockId, DieId, PlaneId};

use crate::result::CellsResult;

/// The cells of one flash block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlockCells {
    /// Its die, counted over the drive.
    pub die: DieId,
    /// Its plane.
    pub plane: PlaneId,
    /// Its number in the plane.
    pub block: BlockId,
    /// True if it is of a block group in service; spare and bad blocks are of none.
    pub in_service: bool,
    /// Number of its erases, over its whole life.
    pub erases: u32,
    /// Mean wear of its wordlines, in reference cycles.
    pub wear_mean: f64,
    /// Wear of its most worn wordline, in reference cycles.
    pub wear_worst: f64,
    /// Growth of the mean wear in the window, in reference cycles.
    pub wear_added: f64,
    /// Errors that its weakest page will have after a year over those that can be corrected; `None`: they were not worked out.
    pub age: Option<f64>,
    /// Errors that copybacks carried into its pages: their mean, in bits of a codeword.
    pub carried_mean: f64,
    /// The same of the page with the most.
    pub carried_worst: f64,
}

/// Mean of the values; `None`: there are none.
fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0u64), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / count as f64)
}

/// Summary of these blocks; `None`: none of them is in service.
pub fn summary(blocks: &[BlockCells]) -> Option<CellsResult> {
    let good = || blocks.iter().filter(|block| block.in_service);
    let most = |of: fn(&BlockCells) -> f64| good().map(of).fold(0.0, f64::max);
    let carrying = || good().filter(|block| block.carried_worst > 0.0);
    Some(CellsResult {
        blocks: good().count() as u64,
        wear_mean: mean(good().map(|block| block.wear_mean))?,
        wear_worst_mean: mean(good().map(|block| block.wear_worst))?,
        wear_worst_max: most(|block| block.wear_worst),
        wear_added_mean: mean(blocks.iter().map(|block| block.wear_added))?,
        age_min: good().filter_map(|block| block.age).reduce(f64::min),
        age_mean: mean(good().filter_map(|block| block.age)),
        age_max: good().filter_map(|block| block.age).reduce(f64::max),
        carrying: carrying().count() as u64,
        carried_mean: mean(carrying().map(|block| block.carried_mean)),
        carried_max: carrying().map(|block| block.carried_worst).reduce(f64::max),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(in_service: bool, wear: f64, age: Option<f64>, carried: f64) -> BlockCells {
        BlockCells {
            die: DieId(0),
            plane: PlaneId(0),
            block: BlockId(0),
            in_service,
            erases: 7,
            wear_mean: wear,
            wear_worst: 2.0 * wear,
            wear_added: wear / 10.0,
            age,
            carried_mean: carried,
            carried_worst: 3.0 * carried,
        }
    }

    #[test]
    fn blocks_out_of_service_count_for_the_added_wear_alone() {
        let blocks = [block(true, 10.0, Some(0.2), 0.0), block(true, 30.0, Some(0.6), 1.5), block(false, 500.0, Some(9.0), 8.0)];
        let of = summary(&blocks).expect("two are in service");
        assert_eq!((of.blocks, of.wear_mean, of.wear_worst_mean, of.wear_worst_max), (2, 20.0, 40.0, 60.0));
        assert_eq!((of.age_min, of.age_mean, of.age_max), (Some(0.2), Some(0.4), Some(0.6)));
        assert_eq!((of.carrying, of.carried_mean, of.carried_max), (1, Some(1.5), Some(4.5)));
        assert_eq!(of.wear_added_mean, 18.0);
        assert_eq!(summary(&blocks[2..]), None);
        let unaged = summary(&[block(true, 1.0, None, 0.0)]).expect("one is in service");
        assert_eq!((unaged.age_mean, unaged.carried_mean, unaged.carrying), (None, None, 0));
    }
}
