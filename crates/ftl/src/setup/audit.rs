//! The whole-core audit: every table against every other. Costs a walk over the drive, so tests and the proving ground call it, not the hot path.

use wordline_units::{DieId, Lpn};

use crate::state::Core;
use crate::state::grants;
use crate::state::groups::Use;
use crate::state::layout::{BlockGroup, UnitAddr};
use crate::state::rewrites::Rewrite;
use crate::state::tolerances;

/// Check map, spare areas, validity marks and counts against each other. `spare` reads the spare area of a unit from the flash itself. The first
/// disagreement is returned as text.
pub(crate) fn audit(core: &Core, spare: impl Fn(UnitAddr) -> Lpn) -> Result<(), String> {
    let mut mapped = vec![0u32; core.layout().group_count()];
    for lpn in 0..core.map().exported() {
        let addr = core.map().get(lpn);
        if addr == UnitAddr::NONE {
            continue;
        }
        let group = core.layout().group(addr);
        mapped[group.index()] += 1;
        if spare(addr) != Lpn(lpn) {
            return Err(format!("unit {lpn} maps to {addr:?}, whose spare area says {}", spare(addr)));
        }
        if !core.groups().is_valid(group, core.layout().offset(addr)) {
            return Err(format!("unit {lpn} maps to {addr:?}, which is marked stale"));
        }
    }
    for (index, &mapped) in mapped.iter().enumerate() {
        let group = BlockGroup(index as u32);
        if core.groups().valid(group) != mapped {
            return Err(format!("{group:?} counts {} valid units, the map has {mapped}", core.groups().valid(group)));
        }
        audit_spared(core, group)?;
        if mapped > 0 && matches!(core.groups().use_of(group), Use::Free | Use::Bad) {
            return Err(format!("{group:?} holds {mapped} valid units but is {:?}", core.groups().use_of(group)));
        }
    }
    if !grants::is_right(core) {
        return Err(format!("the room of each die is not what its groups come to: {:?}", core.groups().guarded()));
    }
    if let Some(group) = tolerances::wrong(core) {
        return Err(format!("the units of {group:?} by tolerated latency are not what map and hints come to"));
    }
    for (_, state) in core.dies() {
        let is_of_another =
            |rewrite: &Rewrite| core.groups().use_of(rewrite.group) != Use::Closed || core.groups().erases(rewrite.group) != rewrite.erases;
        if let Some(rewrite) = state.rewrites().parked().iter().find(is_of_another) {
            return Err(format!("{rewrite:?} is parked, and its group is {:?}", core.groups().use_of(rewrite.group)));
        }
    }
    for (die, state) in core.dies() {
        audit_die(core, die, &state.free_groups().collect::<Vec<_>>())?;
    }
    Ok(())
}

/// Check that usable and spared units and those of the summary are all that `group` has, and that nothing on a spared wordline passes for valid.
fn audit_spared(core: &Core, group: BlockGroup) -> Result<(), String> {
    let (groups, layout) = (core.groups(), core.layout());
    if !groups.can_spare() {
        return Ok(());
    }
    let spared: Vec<u32> = (0..layout.programs).filter(|&program| groups.is_spared(group, program)).collect();
    let (usable, valid) = (groups.usable(group), groups.valid(group));
    let summary = layout.oob_programs() * layout.units_per_program;
    if usable + summary + spared.len() as u32 * layout.units_per_program != layout.units_per_group || valid > usable {
        return Err(format!("{group:?} can hold {usable} units, holds {valid}, and has the spared program units {spared:?}"));
    }
    let is_written = matches!(groups.use_of(group), Use::Active | Use::Closed | Use::Draining | Use::Drained);
    let valid = spared.iter().find(|&&program| layout.units_of(program).any(|offset| groups.is_valid(group, offset)));
    match valid.filter(|_| is_written) {
        Some(program) => Err(format!("{group:?} is written, and program unit {program}, which is spared, passes for valid")),
        None => Ok(()),
    }
}

fn audit_die(core: &Core, die: DieId, free: &[BlockGroup]) -> Result<(), String> {
    let mut listed = free.to_vec();
    listed.sort_unstable();
    let marked: Vec<BlockGroup> = core
        .layout()
        .groups_of(die)
        .map(|index| BlockGroup(index as u32))
        .filter(|&group| core.groups().use_of(group) == Use::Free)
        .collect();
    if listed == marked { Ok(()) } else { Err(format!("die {die}: free list {listed:?}, marked free {marked:?}")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::tests::small;
    use crate::dispatch::Rooms;
    use crate::setup::{build, construct};

    fn filled() -> Core {
        let Rooms { mut core, mut sanitise, .. } = build(&small(64));
        construct::fill(&mut core, &mut sanitise, 60);
        core
    }

    /// The first disagreement in `core`, on flash that says what a fill in order has written.
    fn found(core: &Core) -> String {
        let layout = *core.layout();
        audit(core, |addr| Lpn(layout.regular_lpn(layout.group(addr), layout.offset(addr)))).err().unwrap_or_default()
    }

    #[test]
    fn each_table_that_disagrees_with_another_is_found() {
        assert_eq!(found(&filled()), "");
        let mut core = filled();
        let (at, other) = (core.map().get(5), core.map().get(59));
        core.map_mut().set(5, other);
        assert!(found(&core).contains("unit 5 maps to"), "{}", found(&core));
        let mut core = filled();
        core.groups_mut().add_stale(at);
        assert!(found(&core).contains("marked stale"), "{}", found(&core));
        let mut core = filled();
        let group = core.layout().group(at);
        core.groups_mut().add_valid(group, 1);
        assert!(found(&core).contains("valid units, the map has"), "{}", found(&core));
        let mut core = filled();
        core.die_mut(DieId(0)).take_free_at(0);
        assert!(found(&core).contains("free list"), "{}", found(&core));
        assert!(audit(&filled(), |_| Lpn(0)).is_err_and(|told| told.contains("spare area says")));
    }
}
