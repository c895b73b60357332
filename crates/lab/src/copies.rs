//! Copies in a row without error correction: the errors of each go into the next.

use wordline_cells::{Condition, References, Traits};

use crate::lot::{Lot, greatest};

/// Conditions of a chain of copies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chain {
    /// Condition of a source when it is sensed.
    pub(crate) sensed: Condition,
    /// References at which it is sensed.
    pub(crate) references: References,
    /// Condition of the last copy when it is read, at its best references.
    pub(crate) last: Condition,
    /// Most copies in a row.
    pub(crate) most: u32,
}

impl Chain {
    /// Bit error rates of the worst page of a wordline after each number of copies, from none on.
    pub(crate) fn rates(&self, lot: &Lot, traits: &Traits) -> Vec<f64> {
        let (last, source) = (lot.model.wordline(traits, &self.last), lot.model.wordline(traits, &self.sensed));
        let best = last.optimal();
        let mut carried = [0.0f32; 4];
        let mut rates = Vec::new();
        for _ in 0..=self.most {
            rates.push(greatest(&lot.rates(&last.carrying(carried), &best)));
            for (page, rate) in lot.rates(&source.carrying(carried), &self.references).into_iter().enumerate() {
                carried[page] = rate as f32;
            }
        }
        rates
    }
}
