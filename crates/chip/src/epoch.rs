//! Epochs of a die: its erases since an instant, and leaps that add as many again without carrying them out.

use wordline_cells::Repetition;
use wordline_units::{BlockId, Nanos, PlaneId};

use crate::chip::Chip;

impl Chip {
    /// Begins an epoch: the erases of each block are counted from now on, and what they do to its cells.
    pub fn begin_epoch(&mut self) {
        self.epoch = Some(self.blocks.iter().map(|block| block.erases).collect());
        if let Some(array) = &mut self.array {
            array.begin_epoch();
        }
    }

    /// Erases of a block in the present epoch.
    ///
    /// # Panics
    /// If no epoch is under way.
    pub fn epoch_erases(&self, plane: PlaneId, block: BlockId) -> u32 {
        let before = self.epoch.as_ref().expect("erases are counted from the beginning of an epoch")[self.index(plane, block)];
        self.erases(plane, block).saturating_sub(before)
    }

    /// Erases that a block still takes, by the limit that the drive file sets; `None`: there is no limit.
    pub fn erases_left(&self, plane: PlaneId, block: BlockId) -> Option<u32> {
        self.cells.endurance().map(|limit| limit.saturating_sub(self.erases(plane, block)))
    }

    /// True if the last erase of a block was at `since` or later; without physics, which alone knows when that was, if it was erased in the epoch.
    pub fn is_renewed(&self, plane: PlaneId, block: BlockId, since: Nanos) -> bool {
        let index = self.index(plane, block) as u32;
        self.array.as_ref().map_or_else(|| self.epoch_erases(plane, block) > 0, |array| array.is_renewed(index, since))
    }

    /// Adds `erases` to those of `block`, which has further epochs like those of block `like` of its plane: see
    /// [`CellArray::leap`](wordline_cells::CellArray::leap). What it holds stays.
    pub fn leap(&mut self, plane: PlaneId, [block, like]: [BlockId; 2], erases: u32, repetition: &Repetition) {
        let [index, like] = [block, like].map(|block| self.index(plane, block));
        let entry = &mut self.blocks[index];
        entry.erases = entry.erases.saturating_add(erases);
        if let Some(array) = &mut self.array {
            array.leap(index as u32, like as u32, repetition);
        }
    }

    /// Ends the leaps of the die's blocks.
    pub fn end_leap(&mut self) {
        if let Some(array) = &mut self.array {
            array.end_leap();
        }
    }
}

impl Chip {
    /// Lets each reading from now on be the worst of `times`: see [`CellArray::read_worst_of`](wordline_cells::CellArray::read_worst_of).
    pub fn read_worst_of(&mut self, times: u32) {
        if let Some(array) = &mut self.array {
            array.read_worst_of(times);
        }
    }

    /// Lets each sensing from now on count as `times` of its block, and have the errors of the worst of them.
    pub fn reads_stand_for(&mut self, times: u32) {
        self.read_times = times;
        self.read_worst_of(times);
    }
}
