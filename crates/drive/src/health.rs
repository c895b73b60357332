//! Health counters of a drive: spare blocks, grown bad blocks, unreadable units.

use wordline_chip::Payload;
use wordline_engine::Observer;
use wordline_ftl::groups::Use;
use wordline_ftl::{Firmware, UnitAddr};
use wordline_units::{BlockId, DieId, Id, PlaneId, Wear};

use crate::drive::Drive;

/// The health of a drive at one instant. Blocks are block groups: one block of each plane of a die.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Health {
    /// Number of spare blocks that the drive left the factory with.
    pub spares: u64,
    /// Number of spare blocks left.
    pub spares_left: u64,
    /// Number of blocks that have failed since the factory.
    pub grown_bad: u64,
    /// Number of mapping units whose newest copy on flash cannot be read, as far as the drive has noticed since its start.
    pub unreadable: u64,
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

impl<O: Observer, P: Payload> Drive<O, P> {
    /// Present health of the drive. It walks all block groups, and the pages of those in which something cannot be read.
    pub fn health(&self) -> Health {
        let mut health = Health { unreadable: self.lost_units(), ..Health::default() };
        let mut ages = Vec::new();
        for (die, _) in self.chips.iter() {
            let (core, local) = self.wiring.home(die);
            let ftl = &self.ftls[core as usize];
            let planes = 0..ftl.layout().planes as u8;
            let (spares, bad) = at_factory(ftl, local);
            let left = planes.map(|plane| ftl.spare_blocks(local, PlaneId(plane)) as u64).min().unwrap_or(0);
            let is_bad = |number: &u32| matches!(ftl.groups().use_of(ftl.layout().group_at(local, *number)), Use::Bad | Use::Lost);
            let unreplaced = (0..ftl.layout().groups).filter(is_bad).count() as u64;
            health.spares += spares;
            health.spares_left += left;
            health.grown_bad += spares.saturating_sub(left) + unreplaced.saturating_sub(bad);
            health.unreadable += self.unreadable_on(die, ftl, local);
            let groups = (0..ftl.layout().groups).filter(|number| !is_bad(number)).map(|number| ftl.layout().group_at(local, number));
            ages.extend(groups.filter_map(|group| ftl.groups().wear(group)));
        }
        health.ages = Ages::of(ages);
        health
    }

    /// Number of units whose copy on flash can be read and is marked as having lost sectors.
    fn lost_units(&self) -> u64 {
        let Some(data) = &self.data else { return 0 };
        let is_there = |&(core, lpn): &(u32, u32)| {
            let ftl = &self.ftls[core as usize];
            if lpn >= ftl.map().exported() || self.is_covered(ftl, lpn) {
                return false;
            }
            let (layout, addr) = (ftl.layout(), ftl.map().get(lpn));
            if addr == UnitAddr::NONE {
                return false;
            }
            let group = layout.group(addr);
            let place = layout.place(layout.offset(addr));
            let block = BlockId(u32::from(ftl.groups().blocks(group)[place.plane.index()]));
            self.chips[self.wiring.die(core, layout.die(group))].is_readable(place.plane, block, place.page)
        };
        data.lost_units().filter(is_there).count() as u64
    }

    /// True if the write buffer holds all of unit `lpn`, so that its copy on flash does not matter.
    fn is_covered(&self, ftl: &Firmware, lpn: u32) -> bool {
        let Some(data) = self.data.as_ref().filter(|_| lpn < ftl.map().exported()) else { return false };
        ftl.newest(lpn).buffered.is_some_and(|(_, mask)| mask == data.whole())
    }

    /// Number of valid units of `die` in pages that cannot be read.
    fn unreadable_on(&self, die: DieId, ftl: &Firmware, local: DieId) -> u64 {
        let chip = &self.chips[die];
        let (layout, groups) = (ftl.layout(), ftl.groups());
        if !chip.is_dead() && !chip.has_unreadable() {
            return 0;
        }
        let mut count = 0;
        for group in (0..layout.groups).map(|number| layout.group_at(local, number)) {
            if chip.is_dead() {
                count += u64::from(groups.valid(group));
                continue;
            }
            let blocks = groups.blocks(group);
            let is_touched = (0..layout.planes as u8)
                .any(|plane| chip.has_unreadable_in(PlaneId(plane), BlockId(u32::from(blocks[usize::from(plane)]))));
            if !is_touched || groups.valid(group) == 0 {
                continue;
            }
            let is_lost = |offset: &u32| {
                let place = layout.place(*offset);
                let block = BlockId(u32::from(blocks[place.plane.index()]));
                // What was never programmed passes for valid.
                chip.is_page_programmed(place.plane, block, place.page)
                    && groups.is_valid(group, *offset)
                    && !chip.is_readable(place.plane, block, place.page)
                    && !self.is_covered(ftl, chip.spare(place.plane, block, place.page, place.unit).0)
            };
            count += (0..layout.units_per_group).filter(is_lost).count() as u64;
        }
        count
    }
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
