//! Variation between wordlines: from the etched channel hole over the h-layer, the block and the chip to the wafer.
//!
//! A specimen is named by the seed of its lot, its chip and its block. What it is like is a pure function of that name, so any block of any chip can be asked
//! for in any order, and nothing is stored. Wordlines of one h-layer are equal: they are etched in one step (003 §3.2). They differ by sampling noise only.
//!
//! ```text
//! diameter(u) = 1 − taper·(1−u)                                u: height, 0 at the bottom, 1 at the top
//! field(u)    = 1 + curvature·(mean/diameter(u) − 1) + rugged·exp(−½((u−u_r)/w_r)²)      relative to the mean over the layers
//! edge(k)     = exp(−k/decay)                                  k: layers to the nearer edge of the block
//! noise       = width·exp(a_b·(noise_field·(field−1) + noise_edge·edge) + ε_block + ε_layer)
//! wear        = exp(a_b·wear.field·(field−1) + ε_chip + ε_wafer + ε_block + ε_layer)
//! loss        = 1 + loss_edge·edge + loss_field·(field−1)
//! speed       = ε_block + a_b·speed_field·(field−1) + ε_layer
//! ```
//!
//! `a_b` says how strongly the profile shows in a block; ε_block is one draw, in the size of each. Source: 003 §2.1, §3.3; 001 §3.1.1. Ranges: 48 layers;
//! other counts keep the shape over height.

use wordline_units::random::{Draw, Stream};

use crate::physics::Physics;

/// The design of a layer, before random variation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Layer {
    /// Field of the layer over the mean of all layers, minus one.
    pub field: f64,
    /// Nearness to an edge of the block: 1 in the outermost layers.
    pub edge: f64,
    /// Offset of the layer's programmed states from the mean of all layers, in mV.
    pub offset: f64,
    /// Width of the layer's noise, relative to what field and edge make of it.
    pub width: f64,
}

/// The layers of a block by design, topmost first.
pub(crate) fn layers(physics: &Physics) -> Vec<Layer> {
    let profile = &physics.profile;
    let count = physics.shape.layers;
    let height = |layer: u32| if count > 1 { f64::from(count - 1 - layer) / f64::from(count - 1) } else { 1.0 };
    let diameter = |layer: u32| 1.0 - profile.taper * (1.0 - height(layer));
    let mean_diameter = (0..count).map(diameter).sum::<f64>() / f64::from(count);
    let raw = |layer: u32| {
        let distance = (height(layer) - profile.rugged_height) / profile.rugged_width;
        profile.curvature * (mean_diameter / diameter(layer) - 1.0) + profile.rugged * libm::exp(-0.5 * distance * distance)
    };
    let mean = (0..count).map(raw).sum::<f64>() / f64::from(count);
    (0..count)
        .map(|layer| Layer {
            field: raw(layer) - mean,
            edge: libm::exp(-f64::from(layer.min(count - 1 - layer)) / profile.edge_decay),
            offset: listed(&profile.offset, layer),
            width: listed(&profile.width, layer),
        })
        .collect()
}

/// The value of a layer, or of a programmed state, in a list with one entry for each, or with one for all.
pub(crate) fn listed(list: &[f64], number: u32) -> f64 {
    list[(number as usize).min(list.len() - 1)]
}

/// The traits of a block: what sets it apart from other blocks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Block {
    /// Seed of the block's lot.
    pub seed: u64,
    /// Number of the block's chip in the lot.
    pub chip: u32,
    /// Number of the block in the chip.
    pub block: u32,
    /// Natural logarithm of wear per cycle, relative to a block in the middle of the lot.
    pub wear: f64,
    /// Natural logarithm of the block's noise.
    pub noise: f64,
    /// Strength with which the layer profile shows in the block.
    pub profile: f64,
    /// Charge loss of the block, relative.
    pub loss: f64,
    /// Program speed: threshold voltage of a nominal cell after a pulse, over the mean of the lot, in mV.
    pub speed: f64,
    /// Erase distance of the block, relative.
    pub erase: f64,
}

/// The traits of an h-layer in a block: what sets its wordlines apart from others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Traits {
    /// Wear of a normal cycle, relative to the reference wordline.
    pub wear: f64,
    /// Stress of a gentle erase over that of a normal one.
    pub gentle: f64,
    /// Standard deviation of the cells' noise, relative.
    pub noise: f64,
    /// Charge loss, relative.
    pub loss: f64,
    /// Offset of the programmed states from the mean of all layers, in mV.
    pub offset: f64,
    /// Program speed: threshold voltage of a nominal cell after a pulse, over the mean of all layers, in mV.
    pub speed: f64,
}

impl Traits {
    /// Placeholder for the traits of a layer that are not known.
    pub(crate) const NONE: Traits = Traits { wear: 0.0, gentle: 0.0, noise: 0.0, loss: 0.0, offset: 0.0, speed: 0.0 };
}

impl Block {
    pub(crate) fn new(physics: &Physics, seed: u64, chip: u32, block: u32) -> Block {
        let variation = &physics.variation;
        let of_chip = Draw::new(seed, Stream::CellChip, chip);
        let of_block = Draw::new(seed, Stream::CellBlock, chip);
        let at = |index: u64| bell(of_block.at(u64::from(block) * 8 + index));
        // Chips lie evenly over the wafer's area, so that the square of the radius is uniform; its mean is taken out.
        let radius_squared = unit(of_chip.at(1));
        Block {
            seed,
            chip,
            block,
            wear: variation.wear_chip * bell(of_chip.at(0))
                + variation.wear_wafer * (radius_squared - 0.5) * 12f64.sqrt()
                + variation.wear_block * at(0),
            // One cause, one draw: a block with a thin oxide wears fast, is noisy from the first, programs fast and has further to go at each erase, which is
            // why N(0), t_PROG and t_BERS tell blocks apart (000 §3.1.3, §3.2.1). With a draw of its own for the speed, t_PROG told nothing that P/E counts
            // do not.
            noise: variation.noise_block * at(0),
            profile: libm::exp(variation.profile_block * at(2)),
            loss: libm::exp(variation.loss_block * at(3)),
            speed: variation.speed_block * at(0),
            erase: libm::exp(variation.erase_block * at(0) + variation.erase_loss * at(3)),
        }
    }

    pub(crate) fn traits(&self, physics: &Physics, design: &Layer, layer: u32) -> Traits {
        let (variation, profile) = (&physics.variation, &physics.profile);
        let draw = Draw::new(self.seed, Stream::CellLayer, self.chip);
        let first = (u64::from(self.block) * u64::from(physics.shape.layers) + u64::from(layer)) * 4;
        let at = |index: u64| bell(draw.at(first + index));
        let field = self.profile * design.field;
        Traits {
            wear: libm::exp(physics.wear.field * field + self.wear + variation.wear_layer * at(0)),
            gentle: crate::erase::gentle_stress(&physics.ispe, field),
            noise: design.width
                * libm::exp(
                    profile.noise_field * field
                        + profile.noise_edge * self.profile * design.edge
                        + self.noise
                        + variation.noise_layer * at(1),
                ),
            loss: self.loss * (1.0 + profile.loss_edge * design.edge + profile.loss_field * field),
            offset: design.offset,
            speed: self.speed + profile.speed_field * field + variation.speed_layer * at(2),
        }
    }
}

/// A bell-shaped draw of mean 0 and deviation 1, never further out than ±3.46: the sum of four uniform ones.
fn bell(bits: u64) -> f64 {
    let sum = (bits & 0xffff) + (bits >> 16 & 0xffff) + (bits >> 32 & 0xffff) + (bits >> 48);
    ((sum as f64 + 2.0) / 65_536.0 - 2.0) * 3f64.sqrt()
}

fn unit(bits: u64) -> f64 {
    (bits >> 11) as f64 / (1u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bells_have_mean_zero_and_deviation_one() {
        let draw = Draw::new(3, Stream::CellBlock, 0);
        let draws: Vec<f64> = (0..20_000).map(|n| bell(draw.at(n))).collect();
        let mean = draws.iter().sum::<f64>() / 20_000.0;
        let variance = draws.iter().map(|x| x * x).sum::<f64>() / 20_000.0;
        assert!(mean.abs() < 0.03 && (variance - 1.0).abs() < 0.03, "{mean} {variance}");
    }
}
