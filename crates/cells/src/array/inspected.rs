//! The cells of one block, as an observer outside of the drive inspects them: no command of a die brings any of this out.

use super::CellArray;
use crate::condition::Condition;
use crate::variation::{Block, Traits};
use crate::wear::History;
use wordline_units::Celsius;

/// The cells of one block. Inspecting them changes nothing.
#[derive(Clone, Copy, Debug)]
pub struct BlockCells<'a> {
    array: &'a CellArray,
    block: u32,
}

/// Wear of a block, in reference cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BlockWear {
    /// Mean over its wordlines.
    pub mean: f64,
    /// Wear of its most worn wordline.
    pub most: f64,
}

/// Errors that copybacks carried into the pages of a block, in bits of a codeword.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BlockCarried {
    /// Mean over its pages.
    pub mean: f64,
    /// Errors of the page with the most.
    pub most: f64,
}

impl<'a> BlockCells<'a> {
    /// The cells of `block` of a die.
    pub fn of(array: &'a CellArray, block: u32) -> BlockCells<'a> {
        BlockCells { array, block }
    }

    fn specimen(&self) -> Block {
        self.array.model.block(self.array.seed, self.array.die, self.block)
    }

    /// Traits of each h-layer, topmost first.
    fn traits(&self) -> impl Iterator<Item = (u32, Traits)> + use<'a> {
        let array = self.array;
        let (model, specimen) = (&array.model, self.specimen());
        (0..).zip(model.layers()).map(move |(layer, _)| (layer, model.traits(&specimen, layer)))
    }

    /// Stress of the block so far, of a wordline that was never spared.
    pub fn history(&self) -> History {
        self.array.history(self.block)
    }

    /// Stress of a wordline, with the part of its block's erase stress in which it was spared.
    pub fn of_wordline(&self, wordline: u32) -> History {
        History { gentle: self.array.gentle(self.block, wordline), ..self.history() }
    }

    /// Wear of the block.
    pub fn wear(&self) -> BlockWear {
        let (model, each) = (&self.array.model, self.array.wordlines_per_layer);
        let is_even = self.array.reliefs.table(self.block).is_none();
        let (mut sum, mut most) = (0.0, 0.0f64);
        for (layer, traits) in self.traits() {
            let wordlines = layer * each..(layer + 1) * each;
            // Wordlines of a layer differ where erases have spared some of them.
            let looked_at = if is_even { wordlines.start..wordlines.start + 1 } else { wordlines };
            let weight = f64::from(each) / looked_at.len() as f64;
            for wear in looked_at.map(|wordline| model.wear(&traits, &self.of_wordline(wordline))) {
                sum += weight * wear;
                most = most.max(wear);
            }
        }
        BlockWear { mean: sum / f64::from(self.array.wordlines()), most }
    }

    /// Age of the block: wrong bits of a codeword of its weakest wordline's worst page after a retention of `kept` seconds at the reference temperature, in the
    /// mean and at the best references, over those that can be corrected. With a retention of twelve months these errors are N(12) of 000 §3.1.1, and a block
    /// of age 1 is at its end (000 §3.3.1). Errors that copybacks carried are not in it.
    pub fn age(&self, kept: f64) -> f64 {
        let model = &self.array.model;
        let home = Celsius(model.physics().retention.temperature);
        let errors = self.traits().map(|(layer, traits)| {
            let gentle = self.array.least_gentle(self.block, layer);
            model.worst_page(&traits, &Condition::new(History { gentle, ..self.history() }, home).kept(kept))
        });
        errors.fold(0.0, f64::max) / model.physics().ecc.correctable
    }

    /// Errors that copybacks carried into the block's pages.
    pub fn carried(&self) -> BlockCarried {
        let (array, pages) = (self.array, self.array.pages() as u32);
        if array.carried.table(self.block).is_none() {
            return BlockCarried::default();
        }
        let rates = (0..pages).map(|page| array.carried(self.block, page));
        let (sum, most) = rates.fold((0.0, 0.0f64), |(sum, most), rate| (sum + rate, most.max(rate)));
        let bits = array.model.codeword_bits();
        BlockCarried { mean: sum / f64::from(pages) * bits, most: most * bits }
    }
}
