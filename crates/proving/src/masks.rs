//! Somebody who orders erases to spare wordlines, by dice.
//!
//! Checks: a set that the core may order is not refused. What must come of it, the flash of each world checks.

use wordline_ftl::config::Config;
use wordline_ftl::{BlockGroup, Firmware};
use wordline_units::WordlineSet;
use wordline_units::random::{Draw, Stream};

/// The number of the dice by which sets are drawn.
const SETS: u32 = 14;

/// Whoever orders sets of spared wordlines for the groups of one core.
#[derive(Clone, Debug)]
pub(crate) struct Masks {
    dice: Draw,
    most: u32,
    wordlines: u32,
}

impl Masks {
    pub(crate) fn new(config: &Config, seed: u64) -> Masks {
        let geometry = config.sheet.geometry;
        let wordlines = geometry.layers * geometry.wordlines_per_layer;
        Masks { dice: Draw::new(seed, Stream::Mix, SETS), most: config.most_spared(), wordlines }
    }

    /// Orders a set for the next erase of some group of `ftl`, now and then.
    pub(crate) fn order(&mut self, ftl: &mut Firmware) {
        if self.most == 0 || self.dice.happens(0.3) {
            return;
        }
        let group = BlockGroup(self.dice.below(ftl.layout().group_count() as u64) as u32);
        let mut set = WordlineSet::NONE;
        for _ in 0..self.dice.below(u64::from(self.most) + 1) {
            // Recovery looks at the first ones first.
            let reach = if self.dice.happens(0.4) { 1 } else { self.wordlines };
            set.insert(self.dice.below(u64::from(reach)) as u32);
        }
        ftl.spare_next(group, set).expect("it is no larger than the configuration allows");
    }
}
