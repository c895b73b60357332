//! The past of a drive that is set to an age, told as it would have been lived: the last erase of each block group, and what techniques measure just after its
//! first programs.
//!
//! Both are brought out by the dies from their cells, as after any command, while no time passes. Data is not kept yet: what is measured is what was there when
//! it had just been programmed.

use wordline_cells::Age;
use wordline_flash::Target;
use wordline_ftl::groups::Use;
use wordline_ftl::{BlockGroup, PastErase};
use wordline_units::{Celsius, PageId, PlaneId};

use crate::drive::Drive;

impl Drive {
    /// Tell the cores that want to know it what a life of this `age` would have shown them.
    pub(crate) fn relive(&mut self, age: &Age) {
        for core in 0..self.ftls.len() {
            if self.ftls[core].relives() {
                self.relive_core(core, age);
            }
        }
        // A drive that keeps bytes has no time but its own: what is to be measured is measured there.
        if !self.data.is_some() {
            self.work_without_time();
        }
    }

    fn relive_core(&mut self, core: usize, age: &Age) {
        let now = self.now();
        let layout = *self.ftls[core].layout();
        let is_told = self.config.sheet.capabilities.erase_trace && self.ftls[core].traces_erases();
        let dwells = self.config.cells.as_ref().map_or(&[][..], |cells| &cells.dwells);
        for group in (0..layout.group_count() as u32).map(BlockGroup) {
            let (ftl, die) = (&mut self.ftls[core], self.wiring.die(core as u32, layout.die(group)));
            if ftl.groups().use_of(group) == Use::Bad {
                continue;
            }
            let chip = &mut self.chips[die];
            let target: Target = layout.all_planes(ftl.groups().blocks(group), PageId(0));
            let (loops, array) = chip.relive_erase(&target);
            let trace = if is_told { chip.erase_trace() } else { None };
            let rests = (0..layout.planes as u8).map(PlaneId).map(|plane| chip.dwell_of(plane, target.block(plane), dwells));
            let rest = rests.flatten().fold(f64::INFINITY, f64::min).min(if dwells.is_empty() { age.dwell } else { f64::INFINITY });
            ftl.relive(now, &PastErase { group, loops, array, trace, rest, temperature: Celsius(age.temperature) });
        }
    }

    /// True if a core wants to know its past.
    pub(crate) fn relives(&self) -> bool {
        self.ftls.iter().any(wordline_ftl::Firmware::relives)
    }
}
