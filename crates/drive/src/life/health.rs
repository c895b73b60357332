//! Health counters of a drive: spare blocks, grown bad blocks, unreadable units.

use wordline_ftl::Firmware;
use wordline_ftl::groups::Use;
use wordline_units::{DieId, PlaneId, Wear};

use super::loss::lost_units;
use crate::machine::Machine;

/// The health of a drive at one instant. Blocks are block groups: one block of each plane of a die.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Health {
    /// Number of spare blocks that the drive left the factory with.
    pub spares: u64,
    /// Number of spare blocks left.
    pub spares_left: u64,
    /// Number of blocks that have failed since the factory.
    pub grown_bad: u64,
    /// Number of mapping units that answer with an error, in whole or in part, as far as the firmware has noticed since its start.
    pub unreadable: u64,
    /// Number of those that the firmware refuses, because it cannot tell whether its copy is the newest.
    pub refused: u64,
    /// Wear of the blocks in service, as techniques tell it; `None` where none does.
    pub ages: Option<Ages>,
}

/// Wear of blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ages {
    /// Wear of the block that has the least.
    pub least: Wear,
    /// Wear that half of the blocks have at most.
    pub median: Wear,
    /// Wear of the block that has the most.
    pub most: Wear,
}

impl Ages {
    /// Summary of these, if there are any.
    fn of(mut all: Vec<Wear>) -> Option<Ages> {
        all.sort_unstable();
        Some(Ages { least: *all.first()?, median: all[(all.len() - 1) / 2], most: *all.last()? })
    }
}

/// Present health of the drive, by the tables of its firmware. It walks all block groups.
pub(crate) fn health(machine: &Machine) -> Health {
    let refused = machine.ftls().iter().map(Firmware::refused_units).sum();
    let mut health = Health { unreadable: lost_units(machine), refused, ..Health::default() };
    let mut ages = Vec::new();
    for (die, _) in machine.dies().iter() {
        let (core, local) = machine.dies().home(die);
        let ftl = &machine.ftls()[core as usize];
        let planes = 0..ftl.layout().planes as u8;
        let (spares, bad) = at_factory(ftl, local);
        let left = planes.map(|plane| ftl.spare_blocks(local, PlaneId(plane)) as u64).min().unwrap_or(0);
        let is_bad = |number: &u32| matches!(ftl.groups().use_of(ftl.layout().group_at(local, *number)), Use::Bad | Use::Lost);
        let unreplaced = (0..ftl.layout().groups).filter(is_bad).count() as u64;
        health.spares += spares;
        health.spares_left += left;
        health.grown_bad += spares.saturating_sub(left) + unreplaced.saturating_sub(bad);
        let groups = (0..ftl.layout().groups).filter(|number| !is_bad(number)).map(|number| ftl.layout().group_at(local, number));
        ages.extend(groups.filter_map(|group| ftl.groups().wear(group)));
    }
    health.ages = Ages::of(ages);
    health
}

/// Number of spare blocks that `die` left the factory with, and of its groups that no spare could make whole.
fn at_factory(ftl: &Firmware, die: DieId) -> (u64, u64) {
    let (config, layout) = (ftl.config(), ftl.layout());
    let bad = config.factory_bad.get(usize::from(die.0)).map_or(&[][..], Vec::as_slice);
    let (mut spares, mut unusable) = (u64::MAX, vec![false; layout.groups as usize]);
    for plane in 0..layout.planes as u8 {
        let is_bad = |block: u32| bad.contains(&(plane, block as u16));
        let mut left = (layout.groups..config.sheet.geometry.blocks).filter(|&block| !is_bad(block)).count() as u64;
        for block in (0..layout.groups).filter(|&block| is_bad(block)) {
            unusable[block as usize] |= left == 0;
            left = left.saturating_sub(1);
        }
        spares = spares.min(left);
    }
    (spares, unusable.into_iter().filter(|&unusable| unusable).count() as u64)
}
