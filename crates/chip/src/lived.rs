//! Lives that a die is given and has not lived: the rests of single blocks, and blocks that are new.

use wordline_cells::{Age, History};
use wordline_flash::Target;
use wordline_units::{BlockId, Nanos, PlaneId};

use crate::chip::Chip;

impl Chip {
    /// Gives every block the cycles of `age` with one of `dwells` between them, by a keyed die, after [`Chip::set_age`].
    pub fn set_dwells(&mut self, age: &Age, dwells: &[f64]) {
        if let Some(array) = &mut self.array {
            array.set_dwells(age, dwells);
            (0..self.blocks.len() as u32).for_each(|block| self.keep_life(block));
        }
    }

    /// Makes all that is programmed now as old as `age` says, after [`Chip::set_age`] with an age of the same cycles.
    pub fn set_retention(&mut self, age: &Age) {
        if let Some(array) = &mut self.array {
            array.set_retention(age);
            (0..self.blocks.len() as u32).for_each(|block| self.keep_life(block));
        }
    }

    /// Dwell of a block among `dwells`, as [`Chip::set_dwells`] chooses it.
    pub fn dwell_of(&self, plane: PlaneId, block: BlockId, dwells: &[f64]) -> Option<f64> {
        self.array.as_ref()?.dwell_of(self.index(plane, block) as u32, dwells)
    }

    /// Brings out the last erase of the blocks of `target` once more, for [`Chip::erase_trace`], by what their cells are like now. Nothing happens to them, and
    /// no time passes. Returns the loops and the time of that erase.
    pub fn relive_erase(&mut self, target: &Target) -> (u8, Nanos) {
        self.bring_out_erase(target);
        (self.took.loops, self.paced(self.sheet.timing.erase))
    }

    /// Makes the cells of a block as fresh as they left the factory, after [`Chip::set_age`].
    pub fn renew(&mut self, plane: PlaneId, block: BlockId) {
        let index = self.index(plane, block) as u32;
        if let Some(array) = &mut self.array {
            array.renew(index);
            self.keep_life(index);
        }
    }

    /// Stress of the cells of a block; `None`: they have no physics.
    pub fn history(&self, plane: PlaneId, block: BlockId) -> Option<History> {
        let index = self.index(plane, block) as u32;
        self.array.as_ref().map(|array| array.history(index))
    }

    /// True if a page of the block is programmed.
    pub fn is_written(&self, plane: PlaneId, block: BlockId) -> bool {
        self.next_page(plane, block) > 0
    }
}
