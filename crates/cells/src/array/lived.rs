//! Lives of blocks that were not lived: cycles with a rest of each block's own, and blocks that are new.

use wordline_units::Celsius;
use wordline_units::random::{Draw, Stream};

use super::relief::history;
use super::{Age, CellArray};
use crate::wear::History;

impl CellArray {
    /// Gives every block the cycles of `age` with one of `dwells` between them, chosen by a keyed die, after [`CellArray::set_age`].
    pub fn set_dwells(&mut self, age: &Age, dwells: &[f64]) {
        let dice = self.dwell_dice();
        let histories: Vec<History> = dwells.iter().map(|&dwell| self.model.cycled(age.cycles, dwell, Celsius(age.temperature))).collect();
        for (block, life) in self.lives.iter_mut().enumerate() {
            let chosen = chosen(&dice, block as u64, dwells.len());
            (life.erase, life.program) = (histories[chosen].erase, histories[chosen].program);
        }
    }

    /// Dwell of `block` among `dwells`, as [`CellArray::set_dwells`] chooses it; `None`: there are none.
    pub fn dwell_of(&self, block: u32, dwells: &[f64]) -> Option<f64> {
        dwells.get(chosen(&self.dwell_dice(), u64::from(block), dwells.len())).copied()
    }

    fn dwell_dice(&self) -> Draw {
        Draw::new(self.seed, Stream::CellDwell, self.die)
    }

    /// Makes all that is programmed now as old as `age` says, after [`CellArray::set_age`] with an age of the same cycles.
    pub fn set_retention(&mut self, age: &Age) {
        self.aged = self.model.kept(age.retention, Celsius(age.temperature));
    }

    /// Makes the cells of `block` as fresh as they left the factory, after [`CellArray::set_age`].
    pub fn renew(&mut self, block: u32) {
        let life = &mut self.lives[block as usize];
        (life.erase, life.program) = (0.0, 0.0);
    }

    /// Stress of `block` so far, of a wordline that was never spared.
    pub fn history(&self, block: u32) -> History {
        history(&self.lives[block as usize], 0.0)
    }
}

/// Place that the die of `block` shows among `count`.
fn chosen(dice: &Draw, block: u64, count: usize) -> usize {
    ((u128::from(dice.at(block)) * count as u128) >> 64) as usize
}
