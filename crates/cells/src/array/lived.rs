//! Lives of blocks that were not lived: cycles with a rest of each block's own, and blocks that are new.

use wordline_units::Celsius;
use wordline_units::random::{Draw, Stream};

use super::relief::history;
use super::{Age, CellArray};
use crate::wear::History;

impl CellArray {
    /// Gives every block the cycles of `age` with one of `dwells` between them, chosen by a keyed die, after [`CellArray::set_age`].
    pub fn set_dwells(&mut self, age: &Age, dwells: &[f64]) {
        let dice = Draw::new(self.seed, Stream::CellDwell, self.die);
        let histories: Vec<History> = dwells.iter().map(|&dwell| self.model.cycled(age.cycles, dwell, Celsius(age.temperature))).collect();
        for (block, life) in self.lives.iter_mut().enumerate() {
            let chosen = ((u128::from(dice.at(block as u64)) * histories.len() as u128) >> 64) as usize;
            (life.erase, life.program) = (histories[chosen].erase, histories[chosen].program);
        }
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
