//! Dies that have failed and what was lost with them, and units that a read has failed for.
//!
//! Data on a failed die stays in its block groups, and the map goes on pointing there: a unit is lost if its address is in a group of a failed die. That
//! takes no memory for the units. A unit is lost until the host writes or trims it.

use wordline_units::{DieId, Id, OpTag, PartId, Priority};

use crate::state::Core;
use crate::state::groups::Use;
use crate::state::layout::{BlockGroup, UnitAddr};
use crate::state::pending::Pending;
use crate::state::request::Note;
use crate::state::unreadable::{Place, Unreadable};
use crate::state::work::Activity;

/// The failed dies of one core, and its unreadable units. A core in which nothing has ever gone wrong has no such table.
#[derive(Clone, Debug)]
pub(crate) struct Failures {
    failed: Vec<bool>,
    /// Dies that take nothing else until the probe that was ordered of them is reported.
    held: Vec<bool>,
    /// Number of lost units on each die.
    lost: Vec<u32>,
    unreadable: Unreadable,
    /// Number of changes from whole to lost, counted from the first.
    generation: u64,
}

impl Failures {
    /// Creates the table of a core with `dies` dies, none of which has failed.
    pub(crate) fn new(dies: u32) -> Failures {
        let (failed, held, lost) = (vec![false; dies as usize], vec![false; dies as usize], vec![0; dies as usize]);
        Failures { failed, held, lost, unreadable: Unreadable::default(), generation: 0 }
    }

    /// True if `die` has failed.
    #[inline]
    pub(crate) fn has(&self, die: DieId) -> bool {
        self.failed[die.index()]
    }

    /// True if `die` may not be given anything: it has failed, or the report of a probe is awaited.
    #[inline]
    pub(crate) fn bars(&self, die: DieId) -> bool {
        self.failed[die.index()] || self.held[die.index()]
    }

    /// The dies that have failed.
    pub(crate) fn dies(&self) -> impl Iterator<Item = DieId> + '_ {
        (0..).map(DieId).zip(&self.failed).filter(|&(_, &failed)| failed).map(|(die, _)| die)
    }

    /// Number of dies that have failed.
    pub(crate) fn count(&self) -> u32 {
        self.failed.iter().filter(|&&failed| failed).count() as u32
    }

    /// Add `die`, which takes `lost` units with it.
    pub(crate) fn add(&mut self, die: DieId, lost: u32) {
        (self.failed[die.index()], self.lost[die.index()]) = (true, lost);
        self.generation += u64::from(lost > 0);
    }

    /// Count one lost unit of `die` as healed.
    pub(crate) fn heal(&mut self, die: DieId) {
        self.lost[die.index()] -= 1;
    }

    /// Number of lost units on `die`.
    pub(crate) fn lost_on(&self, die: DieId) -> u32 {
        self.lost[die.index()]
    }

    /// Number of lost units.
    pub(crate) fn lost(&self) -> u64 {
        self.lost.iter().map(|&lost| u64::from(lost)).sum()
    }

    /// Units that a read has failed for.
    pub(crate) fn unreadable(&self) -> &Unreadable {
        &self.unreadable
    }

    /// Number of changes from whole to lost, counted from the first.
    pub(crate) fn generation(&self) -> u64 {
        self.generation
    }
}

/// Keep account of dies that fail from now on.
#[cold]
pub(crate) fn watch(core: &mut Core) {
    let dies = core.layout.dies;
    core.failures.get_or_insert_with(|| Box::new(Failures::new(dies)));
}

/// Hold `die` until the probe that was ordered of it is reported.
pub(crate) fn hold(core: &mut Core, die: DieId) {
    if let Some(failures) = &mut core.failures {
        failures.held[die.index()] = true;
    }
}

/// Let `die` ask for work again, after the probe that it was held for.
pub(crate) fn let_go(core: &mut Core, die: DieId) {
    if let Some(failures) = &mut core.failures
        && std::mem::take(&mut failures.held[die.index()])
    {
        core.ready.push(die);
    }
}

/// Withdraw the queued read `tag`, which was never ordered.
pub(crate) fn withdraw(core: &mut Core, tag: OpTag) -> Pending {
    core.pending.remove(tag)
}

/// Queue the read `tag` of `die`, which has been begun, before the others of this `priority`.
pub(crate) fn queue_first(core: &mut Core, die: DieId, priority: Priority, tag: OpTag) {
    core.pending[tag].next = core.dies[die].reads_mut().push_front(priority, tag);
}

/// Let the failed `die` be asked for the reads that it has begun, if it is free.
pub(crate) fn let_serve(core: &mut Core, die: DieId) {
    if core.dies[die].activity() == Activity::Free && !core.ready.contains(&die) {
        core.ready.push(die);
    }
}

/// Take `die` out of service: it leaves all sets of dies, and its groups are lost or bad. Operations under way on it still end. Returns the number of units
/// that are lost with it.
#[cold]
pub(crate) fn fail_die(core: &mut Core, die: DieId) -> u32 {
    watch(core);
    let Core { dies, groups, idle, loadable, ready, failures, layout, .. } = core;
    idle.remove(die);
    loadable.remove(die);
    // A suspended operation goes on, or it would never end.
    if !matches!(dies[die].activity(), Activity::Suspended(_)) {
        ready.retain(|&ready| ready != die);
    }
    dies[die].leave_service();
    let lost = layout.groups_of(die).map(|group| groups.lose(BlockGroup(group as u32))).sum();
    if let Some(failures) = failures {
        failures.add(die, lost);
    }
    lost
}

/// Note that a unit of `group`, which lies on a failed die, is not needed any more: the host has written or trimmed it.
#[cold]
pub(crate) fn heal(core: &mut Core, group: BlockGroup) {
    let die = core.layout.die(group);
    if let Some(failures) = &mut core.failures {
        failures.heal(die);
    }
    core.groups.heal(group);
    core.outbox.note(Note::UnitsHealed(die, 1));
}

/// Place of the copy of `lpn` on flash.
pub(crate) fn place_of(core: &Core, lpn: u32) -> Place {
    let addr = core.map.get(lpn);
    (addr, if addr == UnitAddr::NONE { 0 } else { core.groups.erases(core.layout.group(addr)) })
}

/// Note that a read for the host's `part` has failed: the units of the page at `offset` of `group` that it is about cannot be read. Only a core that keeps data
/// has anybody to tell.
#[cold]
pub(crate) fn note_unreadable(core: &mut Core, part: PartId, (group, offset): (BlockGroup, u32)) {
    if !core.settings.keeps_data {
        return;
    }
    let request = core.requests.request(part);
    let page = core.layout.page_start(offset);
    let is_there = |&lpn: &u32| {
        let addr = core.map.get(lpn);
        addr != UnitAddr::NONE && core.layout.group(addr) == group && core.layout.page_start(core.layout.offset(addr)) == page
    };
    let units: Vec<u32> = (request.lpn..request.lpn + request.units).filter(is_there).collect();
    found_unreadable(core, units);
}

/// Note that the copies of `units` on flash cannot be read.
#[cold]
pub(crate) fn found_unreadable(core: &mut Core, units: impl IntoIterator<Item = u32>) {
    watch(core);
    let Some(mut failures) = core.failures.take() else { return };
    let mut is_new = false;
    for lpn in units {
        is_new |= failures.unreadable.add(lpn, place_of(core, lpn), |lpn| place_of(core, lpn));
    }
    failures.generation += u64::from(is_new);
    core.failures = Some(failures);
}

/// Note that units are refused from this start on.
#[cold]
pub(crate) fn found_refused(core: &mut Core) {
    watch(core);
    core.failures.iter_mut().for_each(|failures| failures.generation += 1);
}

/// Note that the page at `offset` of `group` was read well.
#[cold]
pub(crate) fn note_readable(core: &mut Core, (group, offset): (BlockGroup, u32)) {
    let Core { failures, layout, .. } = core;
    let page = layout.page_start(offset);
    if let Some(failures) = failures.as_mut().filter(|failures| !failures.unreadable.is_empty()) {
        failures.unreadable.remove(|addr| layout.group(addr) == group && layout.page_start(layout.offset(addr)) == page);
    }
}

/// True if the blocks in service can hold what was promised to the host and still be collected. Each group counts whole: an erase that spares nothing makes it
/// so. After a die has failed they must not be as full as the limit says, either.
pub(crate) fn has_enough_space(core: &Core) -> bool {
    let per_group = u64::from(core.layout.data_units);
    let failed = core.failures.as_ref().map_or(0, |failures| failures.count());
    let reserve = core.settings.reserve.saturating_sub(failed * core.settings.die_reserve);
    let is_roomy = groups_in_service(core).saturating_sub(u64::from(reserve)) * per_group >= u64::from(core.map.exported());
    is_roomy && (failed == 0 || utilisation(core) < core.settings.repair.limit)
}

/// Share that the exported units are of the units of the groups in service, each counted whole.
pub(crate) fn utilisation(core: &Core) -> f64 {
    let units = groups_in_service(core) * u64::from(core.layout.data_units);
    if units == 0 { f64::INFINITY } else { f64::from(core.map.exported()) / units as f64 }
}

fn groups_in_service(core: &Core) -> u64 {
    let is_in_service = |&group: &usize| !matches!(core.groups.use_of(BlockGroup(group as u32)), Use::Bad | Use::Lost);
    (0..core.layout.group_count()).filter(is_in_service).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_die_takes_with_it_is_counted_until_it_is_healed() {
        let mut failures = Failures::new(3);
        assert_eq!((failures.count(), failures.lost(), failures.generation()), (0, 0, 0));
        failures.add(DieId(1), 2);
        failures.add(DieId(2), 0);
        assert_eq!((failures.dies().collect::<Vec<_>>(), failures.count()), (vec![DieId(1), DieId(2)], 2));
        assert!(failures.has(DieId(1)) && !failures.has(DieId(0)));
        failures.heal(DieId(1));
        assert_eq!((failures.lost_on(DieId(1)), failures.lost(), failures.generation()), (1, 1, 1), "a die without data loses nothing");
    }
}
