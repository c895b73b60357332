//! Construction of used drives: a filled state and a steady state, without running the writes.

use wordline_ftl::BlockGroup;
use wordline_ftl::groups::Use;
use wordline_units::{BlockId, Lpn, PageId, PlaneId};

use crate::host::requests::Host;
use crate::machine::Parts;

/// Makes a new drive look as if its first `units` units had been written once in order. Neither time nor memory is spent per unit where whole pages are
/// programmed one by one.
pub(crate) fn construct_filled(parts: Parts<'_>, host: &Host, units: u64) {
    let Parts { ftls, device, .. } = parts;
    let dies = device.dies_mut();
    for (core, ftl) in (0..).zip(ftls) {
        let filled = ftl.construct_filled(host.stripe().share(core, units));
        let layout = *ftl.layout();
        for (group, programs) in filled {
            let blocks = ftl.groups().blocks(group);
            let chip = dies.of_mut(core, layout.die(group));
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
pub(crate) fn construct_steady(parts: Parts<'_>, host: &Host, fills: &[f64], seed: u64) {
    let Parts { config, ftls, device, .. } = parts;
    let dies = device.dies_mut();
    assert_eq!(fills.len(), ftls.len(), "each core has its share");
    for ((core, ftl), fill) in (0..).zip(ftls).zip(fills) {
        assert!((0.0..=1.0).contains(fill), "a core can be filled to between 0 and 1, not {fill}");
        let share = host.stripe().share(core, (config.exported_units as f64 * fill) as u64);
        let layout = *ftl.layout();
        let units_per_page = layout.units_per_page as usize;
        ftl.construct_steady(share, seed, |die, blocks, spare| {
            let chip = dies.of_mut(core, die);
            for (page, units) in spare.chunks_exact(units_per_page).enumerate() {
                let plane = page % layout.planes as usize;
                chip.fill_page(PlaneId(plane as u8), BlockId(u32::from(blocks[plane])), units);
            }
        });
        let groups = ftl.groups();
        for group in (0..layout.group_count() as u32).map(BlockGroup).filter(|&group| groups.use_of(group) != Use::Bad) {
            let chip = dies.of_mut(core, layout.die(group));
            for plane in 0..layout.planes as u8 {
                let block = BlockId(u32::from(groups.blocks(group)[usize::from(plane)]));
                chip.set_erases(PlaneId(plane), block, groups.erases(group));
            }
        }
    }
}
