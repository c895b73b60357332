//! Construction of used drives: a filled state and a steady state, without running the writes.

use wordline_ftl::BlockGroup;
use wordline_ftl::groups::Use;
use wordline_units::{BlockId, Lpn, PageId, PlaneId};

use crate::drive::Drive;

impl Drive {
    /// Makes a new drive look as if its first `units` units had been written once in order. Neither time nor memory is spent per unit where whole pages are
    /// programmed one by one.
    pub fn construct_filled(&mut self, units: u64) {
        for core in 0..self.ftls.len() {
            let share = self.stripe.share(core as u32, units);
            let filled = self.ftls[core].construct_filled(share);
            let layout = *self.ftls[core].layout();
            for (group, programs) in filled {
                let die = self.wiring.die(core as u32, layout.die(group));
                let blocks = self.ftls[core].groups().blocks(group);
                let chip = &mut self.chips[die];
                for plane in 0..layout.planes {
                    let (plane_id, block) = (PlaneId(plane as u8), BlockId(u32::from(blocks[plane as usize])));
                    if layout.pages_per_program == 1 {
                        let first = layout.regular_lpn(group, plane * layout.units_per_page);
                        chip.fill_regular(plane_id, block, programs, Lpn(first), layout.dies * layout.units_per_program);
                        continue;
                    }
                    for page in 0..programs * layout.pages_per_program {
                        let offset = (page * layout.planes + plane) * layout.units_per_page;
                        let first = layout.regular_lpn(group, offset);
                        let units: Vec<Lpn> = (0..layout.units_per_page).map(|unit| Lpn(first + unit)).collect();
                        chip.fill_page(plane_id, block, &units);
                        debug_assert_eq!(layout.place(offset).page, PageId(page as u16));
                    }
                }
            }
        }
    }

    /// Makes a new drive look as if the first share of each core's units, by `fills`, had been overwritten unit by unit, uniformly at random, until the
    /// state of the core was steady. Cores can be filled differently, as after a repair. `docs/models/steady-state-construction.md` says how, and where
    /// that differs from the real thing.
    ///
    /// # Panics
    /// If there is not one share for each core, between 0 and 1, or if the drive is not new.
    pub fn construct_steady(&mut self, fills: &[f64], seed: u64) {
        assert_eq!(fills.len(), self.ftls.len(), "each core has its share");
        for (core, fill) in fills.iter().enumerate() {
            assert!((0.0..=1.0).contains(fill), "a core can be filled to between 0 and 1, not {fill}");
            let share = self.stripe.share(core as u32, (self.config.exported_units as f64 * fill) as u64);
            let Drive { ftls, chips, wiring, .. } = self;
            let layout = *ftls[core].layout();
            let units_per_page = layout.units_per_page as usize;
            ftls[core].construct_steady(share, seed, |die, blocks, spare| {
                let chip = &mut chips[wiring.die(core as u32, die)];
                for (page, units) in spare.chunks_exact(units_per_page).enumerate() {
                    let plane = page % layout.planes as usize;
                    chip.fill_page(PlaneId(plane as u8), BlockId(u32::from(blocks[plane])), units);
                }
            });
            let groups = ftls[core].groups();
            for group in (0..layout.group_count() as u32).map(BlockGroup).filter(|&group| groups.use_of(group) != Use::Bad) {
                let chip = &mut chips[wiring.die(core as u32, layout.die(group))];
                for plane in 0..layout.planes as u8 {
                    let block = BlockId(u32::from(groups.blocks(group)[usize::from(plane)]));
                    chip.set_erases(PlaneId(plane), block, groups.erases(group));
                }
            }
        }
    }
}
