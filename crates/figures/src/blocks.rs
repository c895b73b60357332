//! Block maps and wear histograms: the drive's blocks at one instant, reduced to what a picture can show.

use wordline_engine::{BlockState, BlockView};
use wordline_units::Id;

/// The most rows and columns of a block map; a 512-die drive shows several dies in a row and several blocks in a cell.
const MAP_ROWS_MAX: usize = 64;
const MAP_COLUMNS_MAX: usize = 160;
const WEAR_BARS_MAX: u32 = 40;

/// Some neighbouring blocks of some neighbouring dies.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MapCell {
    /// Blocks in the cell that are in service.
    pub good: u32,
    /// Blocks in the cell out of service.
    pub bad: u32,
    /// Those that are erased and waiting.
    pub free: u32,
    /// Those that are being written.
    pub active: u32,
    valid: u64,
    capacity: u64,
}

impl MapCell {
    /// Valid mapping units over the units that the closed and active blocks can hold; `None` where all are free or bad.
    pub fn valid(&self) -> Option<f64> {
        (self.capacity > 0).then(|| self.valid as f64 / self.capacity as f64)
    }
}

/// A grid of cells: dies down, blocks across.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BlockMap {
    /// Dies in the drive.
    pub dies: usize,
    /// Block groups in a die.
    pub blocks: usize,
    /// Dies in a row.
    pub dies_per_row: usize,
    /// Block groups in a cell.
    pub blocks_per_cell: usize,
    /// Cells in a row.
    pub columns: usize,
    /// Row after row.
    pub cells: Vec<MapCell>,
}

impl BlockMap {
    /// The map of these blocks.
    pub fn new(blocks: &[BlockView]) -> BlockMap {
        let dies = blocks.iter().map(|view| view.die.index() + 1).max().unwrap_or(0);
        let per_die = blocks.iter().map(|view| view.group.index() + 1).max().unwrap_or(0);
        let (dies_per_row, blocks_per_cell) = (dies.div_ceil(MAP_ROWS_MAX).max(1), per_die.div_ceil(MAP_COLUMNS_MAX).max(1));
        let (rows, columns) = (dies.div_ceil(dies_per_row), per_die.div_ceil(blocks_per_cell));
        let mut cells = vec![MapCell::default(); rows * columns];
        for view in blocks {
            let cell = &mut cells[view.die.index() / dies_per_row * columns + view.group.index() / blocks_per_cell];
            cell.good += u32::from(view.state != BlockState::Bad);
            match view.state {
                BlockState::Free => cell.free += 1,
                BlockState::Bad => cell.bad += 1,
                BlockState::Active | BlockState::Closed => {
                    cell.active += u32::from(view.state == BlockState::Active);
                    cell.valid += u64::from(view.valid);
                    cell.capacity += u64::from(view.capacity);
                }
            }
        }
        BlockMap { dies, blocks: per_die, dies_per_row, blocks_per_cell, columns, cells }
    }

    /// Rows of the grid.
    pub fn rows(&self) -> usize {
        self.cells.len().checked_div(self.columns).unwrap_or(0)
    }
}

/// How often blocks have been erased.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wear {
    /// Block groups in service.
    pub blocks: u64,
    /// Block groups out of service, factory bad blocks included.
    pub bad: u64,
    /// The fewest erases of a block in service.
    pub min: u32,
    /// The most.
    pub max: u32,
    /// The mean.
    pub mean: f64,
    /// The standard deviation.
    pub deviation: f64,
    /// Bars of a histogram, equally wide: from how many erases, to how many (included), and how many blocks.
    pub bars: Vec<(u32, u32, u64)>,
}

impl Wear {
    /// The wear of these blocks. Blocks out of service are counted and left out of the rest.
    pub fn new(blocks: &[BlockView]) -> Wear {
        let good = || blocks.iter().filter(|view| view.state != BlockState::Bad);
        let count = good().count() as u64;
        let bad = blocks.len() as u64 - count;
        let (Some(min), Some(max)) = (good().map(|view| view.erases).min(), good().map(|view| view.erases).max()) else {
            return Wear { bad, ..Wear::default() };
        };
        let mean = good().map(|view| u64::from(view.erases)).sum::<u64>() as f64 / count as f64;
        let variance = good().map(|view| (f64::from(view.erases) - mean) * (f64::from(view.erases) - mean)).sum::<f64>() / count as f64;
        let width = ((max - min) / WEAR_BARS_MAX).saturating_add(1);
        let bar = |number: u32| {
            let first = min + number * width;
            (first, first.saturating_add(width - 1), 0)
        };
        let mut bars: Vec<_> = (0..=(max - min) / width).map(bar).collect();
        for view in good() {
            bars[((view.erases - min) / width) as usize].2 += 1;
        }
        Wear { blocks: count, bad, min, max, mean, deviation: variance.sqrt(), bars }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wordline_units::{DieId, GroupId};

    fn view(die: u16, block: u32, state: BlockState, valid: u32, erases: u32) -> BlockView {
        BlockView { die: DieId(die), group: GroupId(block), state, valid, capacity: 100, erases }
    }

    #[test]
    fn a_small_drive_is_shown_block_by_block() {
        let map = BlockMap::new(&[
            view(0, 0, BlockState::Closed, 25, 3),
            view(0, 1, BlockState::Free, 0, 3),
            view(1, 0, BlockState::Bad, 0, 9),
            view(1, 1, BlockState::Active, 50, 1),
        ]);
        assert_eq!((map.rows(), map.columns, map.blocks_per_cell), (2, 2, 1));
        let valid: Vec<_> = map.cells.iter().map(MapCell::valid).collect();
        assert_eq!(valid, [Some(0.25), None, None, Some(0.5)]);
        assert_eq!((map.cells[2].bad, map.cells[3].active), (1, 1));
    }

    #[test]
    fn a_huge_drive_is_reduced_and_no_block_is_lost() {
        let blocks: Vec<_> =
            (0..512).flat_map(|die| (0..333).map(move |block| view(die, block, BlockState::Closed, 50, die as u32 + block))).collect();
        let map = BlockMap::new(&blocks);
        assert!(map.rows() <= MAP_ROWS_MAX && map.columns <= MAP_COLUMNS_MAX);
        assert_eq!(map.cells.iter().map(|cell| cell.good as usize).sum::<usize>(), blocks.len());
        let wear = Wear::new(&blocks);
        assert_eq!(wear.bars.iter().map(|bar| bar.2).sum::<u64>(), blocks.len() as u64);
        assert_eq!((wear.min, wear.max), (0, 511 + 332));
        assert!(wear.bars.len() <= WEAR_BARS_MAX as usize);
    }

    #[test]
    fn nothing_to_show_is_no_trouble() {
        assert_eq!(BlockMap::new(&[]).rows(), 0);
        assert_eq!(Wear::new(&[view(0, 0, BlockState::Bad, 0, 5)]).bad, 1);
    }
}
