//! Erase counts of a drive that is set to an age: firmware and dies have counted the same cycles, and what was never used has none.

use wordline_ftl::BlockGroup;
use wordline_ftl::groups::Use;
use wordline_units::{BlockId, PlaneId};

use crate::machine::Parts;

/// Makes every block in service as if it had been erased `cycles` times, for its die and for the firmware, and every spare block as new as it is.
pub(crate) fn count_cycles(parts: Parts<'_>, cycles: u32) {
    let Parts { ftls, device, data, .. } = parts;
    let dies = device.dies_mut();
    for (core, ftl) in (0..).zip(ftls) {
        let layout = *ftl.layout();
        for group in (0..layout.group_count() as u32).map(BlockGroup) {
            let chip = dies.of_mut(core, layout.die(group));
            let blocks = ftl.groups().blocks(group);
            let of_group = || (0..layout.planes as u8).map(|plane| (PlaneId(plane), BlockId(u32::from(blocks[usize::from(plane)]))));
            let is_bad = ftl.groups().use_of(group) == Use::Bad;
            // A drive that keeps bytes tells by this count which filling a page is of.
            let is_marked = data.is_some() && of_group().any(|(plane, block)| chip.is_written(plane, block));
            if is_bad || is_marked {
                continue;
            }
            of_group().for_each(|(plane, block)| chip.set_erases(plane, block, cycles));
            ftl.set_erases(group, cycles);
        }
        for die in ftl.dies() {
            let chip = dies.of_mut(core, die);
            ftl.spares_of(die).for_each(|(plane, block)| chip.renew(plane, block));
        }
    }
}
