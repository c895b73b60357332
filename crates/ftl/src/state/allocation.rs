//! The choice of the free block group that is taken next: for data, and for metadata of the core.
//!
//! Metadata lies in groups of which the last erase has spared nothing. So where erases spare wordlines, data leaves a few such groups to it, and on each die
//! those that GC needs to move whole groups.

use wordline_units::{Cause, DieId};

use crate::state::Core;
use crate::state::die::Die;
use crate::state::layout::BlockGroup;
use crate::state::work::Stream;

/// Take a free group of `die` for data of `stream`.
pub(crate) fn allocate(core: &mut Core, die: DieId, stream: Stream) -> Option<BlockGroup> {
    let place = place_of_any(core, die, stream)?;
    core.die_mut(die).take_free_at(place)
}

/// Take one of the free groups of `die` at `places` of [`Die::free_groups`] for data of `stream`.
pub(crate) fn allocate_among(core: &mut Core, die: DieId, stream: Stream, places: &[usize]) -> Option<BlockGroup> {
    let place = place_among(core, die, stream, places)?;
    core.die_mut(die).take_free_at(place)
}

/// Group that would be taken for data of `stream` next, of all free groups of `die` or of those at `places`.
pub(crate) fn next(core: &Core, die: DieId, stream: Stream, places: Option<&[usize]>) -> Option<BlockGroup> {
    let place = match places {
        Some(places) => place_among(core, die, stream, places),
        None => place_of_any(core, die, stream),
    };
    place.map(|place| core.die(die).free_group(place))
}

fn place_of_any(core: &Core, die: DieId, stream: Stream) -> Option<usize> {
    if core.groups().can_spare() {
        let all: Vec<usize> = (0..core.die(die).free_count() as usize).collect();
        return place_among(core, die, stream, &all);
    }
    pick(core, die, stream)
}

fn place_among(core: &Core, die: DieId, stream: Stream, places: &[usize]) -> Option<usize> {
    let spared: Vec<usize> = if leaves_plain(core, die) {
        places.iter().copied().filter(|&place| !core.groups().is_plain(core.die(die).free_group(place))).collect()
    } else {
        Vec::new()
    };
    pick_among(core, die, stream, if spared.is_empty() { places } else { &spared })
}

/// True if data is to take groups with spared wordlines first: those without are left to metadata, and to what GC moves on `die`.
pub(crate) fn leaves_plain(core: &Core, die: DieId) -> bool {
    core.groups().can_spare()
        && (plain_groups(core) <= core.settings().plain_groups
            || core.groups().guarded().is_some_and(|spared| spared.room().of(die).plain <= spared.whole_groups(core.settings().gc.floor)))
}

/// Free groups that a die keeps when metadata takes one.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Left {
    /// A given number of groups.
    Groups(u32),
    /// A given number of groups, but none of a die with emptied groups: they are erased once the metadata is written, and not before.
    UnlessEmptied(u32),
}

impl Left {
    fn allows(self, die: &Die) -> bool {
        match self {
            Left::UnlessEmptied(_) if !die.erasable().is_empty() => die.free_count() > 0,
            Left::Groups(left) | Left::UnlessEmptied(left) => die.free_count() > left,
        }
    }
}

/// Take a free group for metadata, which is rewritten soon as host data is, from any die that has more than `left` free groups.
pub(crate) fn take_metadata_group(core: &mut Core, left: u32) -> Option<BlockGroup> {
    take_for_core(core, left, true)
}

/// Take a free group with spared wordlines for metadata, which must erase it first, from any die that has more than `left` free groups.
pub(crate) fn take_spared_group(core: &mut Core, left: u32) -> Option<BlockGroup> {
    if core.groups().can_spare() { take_for_core(core, left, false) } else { None }
}

fn take_for_core(core: &mut Core, left: u32, is_plain: bool) -> Option<BlockGroup> {
    take_offered(core, offer(core, Left::Groups(left), is_plain, None)?)
}

/// Take a free group for a log that is written twice, of a die that keeps `left` and is not `other`.
pub(crate) fn take_log_group(core: &mut Core, left: Left, other: Option<DieId>) -> Option<BlockGroup> {
    take_offered(core, offer(core, left, true, other)?)
}

fn take_offered(core: &mut Core, (die, place): (DieId, usize)) -> Option<BlockGroup> {
    let group = core.die_mut(die).take_free_at(place)?;
    core.groups_mut().take_for_core(group);
    Some(group)
}

/// Free group with spared wordlines, or without any if `is_plain`, of the dies but `but` that keep `left`: its die, and its place there.
fn offer(core: &Core, left: Left, is_plain: bool, but: Option<DieId>) -> Option<(DieId, usize)> {
    let roomy = core.dies().filter(|(id, die)| left.allows(die) && Some(*id) != but);
    let first = |(id, die): (DieId, &Die)| {
        if !core.groups().can_spare() {
            return Some((id, pick(core, id, Stream::Host)?));
        }
        let fits = |&place: &usize| core.groups().is_plain(die.free_group(place)) == is_plain;
        let places: Vec<usize> = (0..die.free_count() as usize).filter(fits).collect();
        Some((id, pick_among(core, id, Stream::Host, &places)?))
    };
    let mut offers: Vec<(DieId, usize)> = roomy.filter_map(first).collect();
    // One group of each die, the die with most of them first: the policy chooses as it does within a die.
    offers.sort_by_key(|&(id, _)| std::cmp::Reverse(core.die(id).free_count()));
    let group = |at: usize| core.die(offers[at].0).free_group(offers[at].1);
    let at = core.groups().pick(core.settings().free_block.key, offers.len(), &group, Stream::Host)?;
    Some(offers[at])
}

/// Have a free group with spared wordlines erased once more, because metadata wants one without any. Returns true if there is one.
pub(crate) fn make_plain(core: &mut Core) -> bool {
    let group = take_spared_group(core, 0);
    group.inspect(|&group| release_metadata_group(core, group, Cause::Recovery)).is_some()
}

/// Take the last free group of the die that has most, in a new core: a fill begins with the first of each die.
pub(crate) fn take_last_group(core: &mut Core) -> Option<BlockGroup> {
    let (.., die) = core.dies().map(|(id, die)| (std::cmp::Reverse(die.free_count()), id)).min()?;
    let group = core.die_mut(die).take_last_free()?;
    core.groups_mut().take_for_core(group);
    Some(group)
}

/// Release `group`, whose metadata is not needed any more. On a failed die it is bad already.
pub(crate) fn release_metadata_group(core: &mut Core, group: BlockGroup, cause: Cause) {
    if core.is_failed(core.layout().die(group)) {
        return;
    }
    core.groups_mut().release(group);
    let die = core.layout().die(group);
    core.die_mut(die).give_erasable(group, cause);
    core.wake(die);
}

/// True if so few groups without spared wordlines are free that the next erase is to spare nothing.
pub(crate) fn lacks_plain_groups(core: &Core) -> bool {
    core.groups().can_spare() && plain_groups(core) < core.settings().plain_groups
}

/// Number of free groups of all dies of which the last erase has spared nothing.
fn plain_groups(core: &Core) -> u32 {
    core.groups().guarded().map_or(0, |spared| spared.room().all().map(|room| room.plain).sum())
}

fn pick(core: &Core, die: DieId, stream: Stream) -> Option<usize> {
    let state = core.die(die);
    core.groups().pick(core.settings().free_block.key, state.free_count() as usize, &|place| state.free_group(place), stream)
}

fn pick_among(core: &Core, die: DieId, stream: Stream, places: &[usize]) -> Option<usize> {
    let state = core.die(die);
    let at = core.groups().pick(core.settings().free_block.key, places.len(), &|at| state.free_group(places[at]), stream)?;
    Some(places[at])
}

#[cfg(test)]
mod tests {
    use wordline_units::WordlineSet;

    use super::*;
    use crate::Config;
    use crate::config::tests::small;
    use crate::setup::build;
    use crate::state::groups::Use;

    const DIE: DieId = DieId(0);

    /// A core with ten free groups, of which those of `spared` have a spared wordline. It keeps room for metadata.
    fn core(spared: &[u32]) -> Core {
        let mut sheet = small(64).sheet;
        sheet.capabilities.guarded_erase = true;
        let mut core = build(&Config { spared_max: 1, recovers: true, exported_units: 24, sheet, ..small(64) }).core;
        for group in spared.iter().copied().map(BlockGroup) {
            let place = core.die(DIE).free_groups().position(|free| free == group).expect("it is free");
            core.die_mut(DIE).take_free_at(place);
            core.groups_mut().spare_next(group, WordlineSet::of([0])).expect("one may be spared");
            assert!(core.groups_mut().begin_erase(group, false));
            core.groups_mut().erased(group);
            core.die_mut(DIE).give_free(group);
        }
        core
    }

    #[test]
    fn data_leaves_the_last_groups_without_spared_wordlines_to_metadata_where_there_are_others() {
        let mut core = core(&[0, 1, 2]);
        // Of ten groups two are the journal's, and five are plain.
        let taken: Vec<bool> = (0..8)
            .map_while(|_| {
                allocate(&mut core, DIE, Stream::Host).map(|group| {
                    let is_plain = core.groups().is_plain(group);
                    core.groups_mut().open(group);
                    is_plain
                })
            })
            .collect();
        assert_eq!(taken, [true, true, true, false, false, false, true, true]);
    }

    #[test]
    fn metadata_takes_groups_of_which_nothing_is_spared_or_erases_them_first() {
        let mut core = core(&[3, 4]);
        let plain: Vec<BlockGroup> = std::iter::from_fn(|| take_metadata_group(&mut core, 0)).collect();
        assert!(plain.len() == 6 && plain.iter().all(|&group| core.groups().is_plain(group)));
        assert!(lacks_plain_groups(&core));
        let spared = take_spared_group(&mut core, 0).expect("two are left");
        assert_eq!((core.groups().is_plain(spared), core.groups().use_of(spared)), (false, Use::Metadata));
        assert!(make_plain(&mut core) && !make_plain(&mut core));
        assert_eq!(core.die(DIE).erasable().len(), 1);
    }
}
