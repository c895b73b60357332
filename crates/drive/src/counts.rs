//! Erase counts of a drive that is set to an age: firmware and dies have counted the same cycles, and what was never used has none.

use wordline_ftl::BlockGroup;
use wordline_ftl::groups::Use;
use wordline_units::{BlockId, PlaneId};

use crate::drive::Drive;

impl Drive {
    /// Make every block in service as if it had been erased `cycles` times, for its die and for the firmware, and every spare block as new as it is.
    pub(crate) fn count_cycles(&mut self, cycles: u32) {
        let Drive { ftls, chips, wiring, .. } = self;
        for (core, ftl) in ftls.iter_mut().enumerate() {
            let layout = *ftl.layout();
            for group in (0..layout.group_count() as u32).map(BlockGroup) {
                let chip = &mut chips[wiring.die(core as u32, layout.die(group))];
                let blocks = ftl.groups().blocks(group);
                let of_group = || (0..layout.planes as u8).map(|plane| (PlaneId(plane), BlockId(u32::from(blocks[usize::from(plane)]))));
                let is_bad = ftl.groups().use_of(group) == Use::Bad;
                // Whoever keeps bytes knows by this count which filling a page is of.
                let is_marked = self.data.is_some() && of_group().any(|(plane, block)| chip.is_written(plane, block));
                if is_bad || is_marked {
                    continue;
                }
                of_group().for_each(|(plane, block)| chip.set_erases(plane, block, cycles));
                ftl.set_erases(group, cycles);
            }
            for die in ftl.dies() {
                let chip = &mut chips[wiring.die(core as u32, die)];
                ftl.spares_of(die).for_each(|(plane, block)| chip.renew(plane, block));
            }
        }
    }
}
