//! Drives that come into the world used.

use wordline_engine::Observer;
use wordline_units::{BlockId, Lpn, PageId, PlaneId};

use crate::drive::Drive;

impl<O: Observer> Drive<O> {
    /// Make a new drive look as if its first `units` units had been written once in order. Neither time nor memory is spent per unit where whole pages are programmed one by one.
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
}
