//! Setting a drive to an age without writing it: the wear of its cells and its counts, and what its firmware would have observed meanwhile. And letting an old
//! one lie.
//!
//! The past consists of the last erase of each block group, and of measurements of techniques just after its first programs. Both are brought out by the dies
//! from their cells, as after any command, while no time passes. Data is not kept yet: measurements see it as it was when it had just been programmed.

use wordline_cells::Age;
use wordline_flash::Target;
use wordline_ftl::groups::Use;
use wordline_ftl::{BlockGroup, Firmware, PastErase};
use wordline_units::{Celsius, PageId, PlaneId};

use super::counts::count_cycles;
use super::precondition::work_without_time;
use crate::machine::{Machine, Parts};

/// Sets every block to `age` without writing it: its wear, and how long its present data has been kept. Without physics only the cycles are counted.
pub(crate) fn set_age(machine: &mut Machine, age: &Age) {
    let Some(cells) = &machine.config().cells else {
        return count_cycles(machine.parts(), whole(age.cycles));
    };
    let (now, dwells) = (machine.now(), cells.dwells.clone());
    // A core that asks for the past of the blocks measures data that has just been programmed.
    let asks_past = machine.ftls().iter().any(Firmware::asks_past);
    let at_first = Age { retention: if asks_past { 0.0 } else { age.retention }, ..*age };
    for (_, chip) in machine.dies_mut().iter_mut() {
        chip.set_age(&at_first, now);
        if !dwells.is_empty() {
            chip.set_dwells(age, &dwells);
        }
    }
    count_cycles(machine.parts(), whole(age.cycles));
    if asks_past {
        observe_pasts(machine, age);
        machine.dies_mut().iter_mut().for_each(|(_, chip)| chip.set_retention(age));
    }
    machine.ftls_mut().iter_mut().for_each(|ftl| ftl.let_pass(now, age.retention, Celsius(age.temperature)));
}

/// Lets a drive lie for `seconds` at this temperature, without power. Returns false, without effect, if its cells have no physics.
pub(crate) fn lie(machine: &mut Machine, seconds: f64, at: Celsius) -> bool {
    if machine.config().cells.is_none() {
        return false;
    }
    let now = machine.now();
    machine.dies_mut().iter_mut().for_each(|(_, chip)| chip.lie(seconds, at, now));
    machine.ftls_mut().iter_mut().for_each(|ftl| ftl.lie(seconds, at));
    true
}

/// Cycles as a count.
fn whole(cycles: f64) -> u32 {
    (cycles + 0.5) as u32
}

/// Give the cores that ask for it the observations that a life of this `age` would have brought.
fn observe_pasts(machine: &mut Machine, age: &Age) {
    for core in 0..machine.config().cores {
        if machine.ftls()[core as usize].asks_past() {
            observe_core(machine, core, age);
        }
    }
    // A drive that keeps bytes has no time but its own: its measurements are made there.
    if machine.data().is_none() {
        work_without_time(machine);
    }
}

fn observe_core(machine: &mut Machine, core: u32, age: &Age) {
    let now = machine.now();
    let Parts { config, ftls, device, .. } = machine.parts();
    let (ftl, dies) = (&mut ftls[core as usize], device.dies_mut());
    let layout = *ftl.layout();
    let is_told = config.sheet.capabilities.erase_trace && ftl.traces_erases();
    let dwells = config.cells.as_ref().map_or(&[][..], |cells| &cells.dwells);
    for group in (0..layout.group_count() as u32).map(BlockGroup) {
        if ftl.groups().use_of(group) == Use::Bad {
            continue;
        }
        let chip = dies.of_mut(core, layout.die(group));
        let target: Target = layout.all_planes(ftl.groups().blocks(group), PageId(0));
        let (loops, array) = chip.past_erase(&target);
        let trace = if is_told { chip.erase_trace() } else { None };
        let rests = (0..layout.planes as u8).map(PlaneId).map(|plane| chip.dwell_of(plane, target.block(plane), dwells));
        let rest = rests.flatten().fold(f64::INFINITY, f64::min).min(if dwells.is_empty() { age.dwell } else { f64::INFINITY });
        ftl.observe_past(now, &PastErase { group, loops, array, trace, rest, temperature: Celsius(age.temperature) });
    }
}
