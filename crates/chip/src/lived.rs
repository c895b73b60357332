//! Lives that a die is given and has not lived: the rests of single blocks, and blocks that are new.

use wordline_cells::{Age, History};
use wordline_units::{BlockId, PlaneId};

use crate::chip::Chip;
use crate::payload::Payload;

impl<P: Payload> Chip<P> {
    /// Gives every block the cycles of `age` with one of `dwells` between them, by a keyed die, after [`Chip::set_age`].
    pub fn set_dwells(&mut self, age: &Age, dwells: &[f64]) {
        if let Some(array) = &mut self.array {
            array.set_dwells(age, dwells);
            (0..self.blocks.len() as u32).for_each(|block| self.keep_life(block));
        }
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
