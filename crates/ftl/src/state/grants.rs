//! Sets of spared wordlines that are granted to erases, because there is room for them.
//!
//! A set is granted only if all of this holds afterwards; else the erase is plain, and gives back a whole group:
//!
//! - usable units of the die's groups in service, less its reserve, hold its valid units and one group more; those of all dies hold the units promised to the
//!   host and one group more;
//! - the groups that GC keeps free hold a whole group's data even if erases have spared their most; where they do not, one more group of the die is free and
//!   plain. So a victim always has room to go to;
//! - the group holds more than GC has moved out of it.
//!
//! A granted set counts from the order of its erase on, so two dies are never granted the same room. Changes until the end of the erase are counted there.

use wordline_units::DieId;

use crate::state::Core;
use crate::state::allocation::lacks_plain_groups;
use crate::state::layout::BlockGroup;
use crate::state::room::{DieRoom, SpareCounts};

/// Reason for which an erase is plain although a set was ordered for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The die of the group would have too little room for its valid units.
    Die,
    /// All dies together would have too little room for what was promised to the host.
    Dies,
    /// The die has too few free groups of which nothing is spared.
    Free,
    /// GC has moved as much out of the group as it would hold.
    Moved,
}

/// Begin the erase of `group`: with the set that was ordered for it, if there is room for that. `is_for_journal`: it spares nothing. Returns true if the core
/// orders guarded erases.
#[inline]
pub(crate) fn begin_erase(core: &mut Core, group: BlockGroup, is_for_journal: bool) -> bool {
    core.groups().can_spare() && begin_guarded(core, group, is_for_journal)
}

#[cold]
fn begin_guarded(core: &mut Core, group: BlockGroup, is_for_journal: bool) -> bool {
    let Some(after) = core.groups().guarded().map(|spared| spared.usable_next(group)) else { return false };
    let is_asked = after < core.layout().data_units && !is_for_journal && !lacks_plain_groups(core);
    let refusal = if is_asked { refuses(core, group, after) } else { None };
    if is_asked {
        count(core, |counts| match refusal {
            None => counts.granted += 1,
            Some(refusal) => counts.refused[refusal as usize] += 1,
        });
    }
    core.groups_mut().begin_erase(group, !is_asked || refusal.is_some())
}

/// True if the room of each die is what its groups come to.
pub(crate) fn is_right(core: &Core) -> bool {
    match (core.groups().guarded(), core.groups().count_room()) {
        (Some(spared), Some(counted)) => spared.room().agrees_with(&counted),
        _ => true,
    }
}

/// Let the next erase of `group`, which is free no longer, spare nothing.
fn make_plain(core: &mut Core, group: BlockGroup) {
    core.groups_mut().give_up_spared(group);
    if let Some(spared) = core.groups_mut().guarded_mut() {
        spared.room_mut().move_out(group, u32::MAX);
    }
}

fn count(core: &mut Core, count: impl FnOnce(&mut SpareCounts)) {
    if let Some(spared) = core.groups_mut().guarded_mut() {
        count(spared.room_mut().counts_mut());
    }
}

/// Reason for which the erase of `group` may not leave it with `after` usable units, if there is one.
fn refuses(core: &Core, group: BlockGroup, after: u32) -> Option<Refusal> {
    let (settings, layout) = (core.settings(), core.layout());
    let spared = core.groups().guarded()?;
    let room = spared.room();
    let (own, whole) = (room.of(layout.die(group)), u64::from(layout.data_units));
    // The last program unit of each group may be that of counters.
    let counters = if settings.counters { u64::from(layout.units_per_program) } else { 0 };
    let (before, after) = (u64::from(core.groups().usable(group)), u64::from(after));
    let held = |die: &DieRoom| (die.usable).saturating_sub(counters * u64::from(die.groups));
    let is_short = |usable: u64, reserve: u32, promised: u64| usable + after < (u64::from(reserve) + 1) * whole + promised + before;
    if is_short(held(own), settings.die_reserve, own.valid) {
        return Some(Refusal::Die);
    }
    let failed = core.failures().map_or(0, |failures| failures.count());
    let all: u64 = room.all().map(|die| held(die) + die.metadata).sum();
    let reserve = settings.reserve.saturating_sub(failed * settings.die_reserve);
    if is_short(all.saturating_sub(room.granted()), reserve, u64::from(core.map().exported())) {
        return Some(Refusal::Dies);
    }
    if own.plain < spared.whole_groups(settings.gc.floor) {
        return Some(Refusal::Free);
    }
    (u64::from(room.moved(group)) + counters >= after).then_some(Refusal::Moved)
}

/// True if `group`, whose erase has just ended, must be erased once more: it has spared wordlines, and the room that was counted on at its order is gone.
#[inline]
pub(crate) fn takes_back(core: &mut Core, group: BlockGroup) -> bool {
    core.groups().can_spare() && has_become_short(core, group)
}

#[cold]
fn has_become_short(core: &mut Core, group: BlockGroup) -> bool {
    let is_short = !core.groups().is_plain(group) && refuses(core, group, core.groups().usable(group)).is_some();
    if is_short {
        make_plain(core, group);
        count(core, |counts| counts.taken_back += 1);
    }
    is_short
}

/// Take a free group of `die` with spared wordlines that is to be erased once more, because its free groups and `open` units in open ones do not take a whole
/// group's data.
#[cold]
pub(crate) fn take_to_make_plain(core: &mut Core, die: DieId, open: u32) -> Option<BlockGroup> {
    let room = core.groups().guarded()?.room().of(die).free + u64::from(open);
    if room >= u64::from(core.layout().data_units) {
        return None;
    }
    let place = core.die(die).free_groups().position(|group| !core.groups().is_plain(group))?;
    count(core, |counts| counts.made_plain += 1);
    let group = core.die_mut(die).take_free_at(place)?;
    make_plain(core, group);
    Some(group)
}

#[cfg(test)]
mod tests {
    use wordline_units::{Cause, WordlineSet};

    use super::*;
    use crate::Config;
    use crate::config::tests::small;
    use crate::setup::build;
    use crate::state::allocation;
    use crate::state::pending::Purpose;
    use crate::state::work::Stream;

    /// A core of dies of ten groups of four wordlines of 12 units, three groups of each in reserve, with `exported` units promised.
    fn core(dies: u32, exported: u32) -> Core {
        build(&config(dies, exported)).core
    }

    fn config(dies: u32, exported: u32) -> Config {
        let mut sheet = small(64).sheet;
        sheet.capabilities.guarded_erase = true;
        Config { dies, spared_max: 2, exported_units: exported, sheet, ..small(64) }
    }

    /// Group of `die` that GC has emptied of `moved` units, and whose next erase is to spare `wordlines`.
    fn emptied(core: &mut Core, die: DieId, moved: u32, wordlines: u32) -> BlockGroup {
        let group = allocation::allocate(core, die, Stream::Host).expect("some are free");
        let groups = core.groups_mut();
        groups.open(group);
        groups.add_valid(group, moved);
        groups.close(group);
        groups.start_gc(group);
        for offset in 0..moved {
            let addr = core.layout().unit(group, offset);
            assert!(!core.groups_mut().invalidate(addr));
            crate::state::work::heed_stale(core, group);
        }
        assert!(core.groups_mut().drained(group));
        core.groups_mut().spare_next(group, WordlineSet::of(0..wordlines)).expect("so many may be spared");
        group
    }

    fn counts(core: &Core) -> SpareCounts {
        *core.groups().guarded().expect("it may spare some").room().counts()
    }

    /// Orders the erase of such a group. Returns the group if its set was granted, and why not otherwise.
    fn order(core: &mut Core, die: DieId, moved: u32, wordlines: u32) -> Result<BlockGroup, usize> {
        let group = emptied(core, die, moved, wordlines);
        let before = counts(core);
        core.issue_erase(group, Purpose::Erase, Cause::Gc);
        let after = counts(core);
        match (0..4).find(|&refusal| after.refused[refusal] > before.refused[refusal]) {
            None => Ok(group),
            Some(refusal) => Err(refusal),
        }
    }

    fn end(core: &mut Core, group: BlockGroup) {
        core.groups_mut().erased(group);
        let die = core.layout().die(group);
        core.die_mut(die).give_free(group);
        assert!(is_right(core));
    }

    const ONE: DieId = DieId(0);
    const OTHER: DieId = DieId(1);

    #[test]
    fn sets_are_granted_until_what_was_promised_and_one_group_more_would_not_fit() {
        // Of 20 groups of 48 units, seven are the reserve and the one more.
        let room = 13 * 48;
        for (exported, granted) in
            [(room - 24, [true, true]), (room - 23, [true, false]), (room - 12, [true, false]), (room - 11, [false; 2])]
        {
            let mut core = core(2, exported);
            for is_granted in granted {
                match order(&mut core, ONE, 0, 1) {
                    Ok(group) => end(&mut core, group),
                    Err(refusal) => assert_eq!((refusal, is_granted), (Refusal::Dies as usize, false), "{exported}"),
                }
            }
            assert_eq!(counts(&core).granted, granted.iter().filter(|&&granted| granted).count() as u64, "{exported}");
        }
    }

    #[test]
    fn two_dies_are_not_granted_the_same_room() {
        for ends_first in [false, true] {
            let mut core = core(2, 13 * 48 - 12);
            let group = order(&mut core, ONE, 0, 1).expect("one wordline is to spare");
            if ends_first {
                end(&mut core, group);
            }
            assert_eq!(order(&mut core, OTHER, 0, 1), Err(Refusal::Dies as usize), "ended: {ends_first}");
        }
    }

    #[test]
    fn a_die_keeps_room_for_its_valid_units_and_one_group_more_whatever_other_dies_have() {
        // Of ten groups, three are the reserve, and one is the one more.
        for (valid, granted) in [(6 * 48 - 12, true), (6 * 48 - 11, false)] {
            let mut core = core(2, 400);
            for left in [48, 48, 48, 48, 48, valid - 240] {
                let group = allocation::allocate(&mut core, ONE, Stream::Host).expect("some are free");
                core.groups_mut().open(group);
                core.groups_mut().add_valid(group, left);
                core.groups_mut().close(group);
            }
            assert_eq!(order(&mut core, ONE, 0, 1).err(), (!granted).then_some(Refusal::Die as usize));
            assert!(order(&mut core, OTHER, 0, 1).is_ok());
        }
    }

    #[test]
    fn a_set_needs_a_plain_free_group_and_leaves_more_than_was_moved() {
        let mut core = core(1, 64);
        assert_eq!(order(&mut core, ONE, 36, 1), Err(Refusal::Moved as usize), "as much as it would hold");
        assert!(order(&mut core, ONE, 35, 1).is_ok());
        for _ in 0..7 {
            let group = allocation::allocate(&mut core, ONE, Stream::Host).expect("eight are free");
            core.groups_mut().open(group);
        }
        assert_eq!(order(&mut core, ONE, 0, 1), Err(Refusal::Free as usize), "it was the last");
        // Two groups of which two of four wordlines are spared hold what one without holds.
        let mut core = build(&Config { gc: crate::config::GcConfig { floor: 2, ..small(64).gc }, ..config(1, 64) }).core;
        assert_eq!(core.groups().guarded().map(|spared| spared.whole_groups(2)), Some(0));
        for _ in 0..9 {
            let group = allocation::allocate(&mut core, ONE, Stream::Host).expect("ten are free");
            core.groups_mut().open(group);
        }
        assert!(order(&mut core, ONE, 0, 1).is_ok(), "no other is free");
    }

    #[test]
    fn a_free_group_is_made_plain_where_a_whole_group_finds_no_room() {
        let mut core = core(1, 64);
        let spared = order(&mut core, ONE, 0, 2).expect("there is room");
        end(&mut core, spared);
        assert_eq!(take_to_make_plain(&mut core, ONE, 0), None, "nine others are free");
        for _ in 0..9 {
            let place = core.die(ONE).free_groups().position(|group| group != spared).expect("nine are left");
            let group = core.die_mut(ONE).take_free_at(place).expect("it is there");
            core.groups_mut().open(group);
        }
        assert_eq!(take_to_make_plain(&mut core, ONE, 24), None, "the open ones take the rest");
        assert_eq!(take_to_make_plain(&mut core, ONE, 23), Some(spared));
        assert_eq!(counts(&core).made_plain, 1);
    }

    #[test]
    fn an_erase_that_leaves_a_group_without_its_blocks_gives_back_what_it_was_granted() {
        let mut core = core(2, 13 * 48 - 12);
        let group = order(&mut core, ONE, 0, 1).expect("one wordline is to spare");
        core.groups_mut().retire(group, Some([9, 0, 0, 0]));
        assert!(is_right(&core));
        assert!(order(&mut core, OTHER, 0, 1).is_ok(), "nothing was spared");
    }
}
