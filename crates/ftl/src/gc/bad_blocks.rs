//! Bad blocks: those the die came with, those that fail, and the spares that stand in for them.

use wordline_units::{Cause, DieId};

use crate::metadata::{self, Metadata};
use crate::news;
use crate::sanitise::Sanitise;
use crate::state::Core;
use crate::state::failures::has_enough_space;
use crate::state::layout::{BlockGroup, Layout};
use crate::state::request::Note;
use crate::techniques::panel::Panel;
use crate::techniques::seam::News;

/// Spare blocks of each plane of one die.
type Spares = [Vec<u16>; 4];

/// Assign good blocks to the groups of every die. Where spares run out, the last groups give their blocks: those out of service are the last of their die.
/// Returns the physical block of each group in each plane and whether the group can be used, and the spares left in each die.
pub(crate) fn form_groups(factory_bad: &[Vec<(u8, u16)>], blocks_per_plane: u32, layout: &Layout) -> (Vec<([u16; 4], bool)>, Vec<Spares>) {
    let (of_die, planes) = (layout.groups as usize, layout.planes as usize);
    let mut groups = vec![([0; 4], false); layout.group_count()];
    let mut spares = Vec::with_capacity(layout.dies as usize);
    for (die, groups) in groups.chunks_exact_mut(of_die).enumerate() {
        let bad = factory_bad.get(die).map_or(&[][..], Vec::as_slice);
        let is_good = |plane: usize, block: usize| !bad.contains(&(plane as u8, block as u16));
        let mut left: Spares = Default::default();
        for (plane, left) in left.iter_mut().enumerate().take(planes) {
            let behind = of_die..blocks_per_plane as usize;
            *left = behind.rev().filter(|&block| is_good(plane, block)).map(|block| block as u16).collect();
        }
        let (mut number, mut end) = (0, of_die);
        while number < end {
            let missing = (0..planes).any(|plane| !is_good(plane, number) && left[plane].is_empty());
            if missing {
                end -= 1;
                let given = (0..planes).filter(|&plane| end > number && is_good(plane, end));
                given.for_each(|plane| left[plane].insert(0, end as u16));
                continue;
            }
            for (plane, left) in left.iter_mut().enumerate().take(planes) {
                groups[number].0[plane] = if is_good(plane, number) { number as u16 } else { left.pop().expect("one is left") };
            }
            (groups[number].1, number) = (true, number + 1);
        }
        spares.push(left);
    }
    (groups, spares)
}

/// Replace the blocks of `group` by spare ones, or take the group out of service. Its erase failed, or a program in it failed and its data has moved.
pub(crate) fn replace(core: &mut Core, panel: &mut Panel, metadata: &mut Metadata, sanitise: &mut Sanitise, group: BlockGroup) {
    let (die, planes) = (core.layout().die(group), core.layout().planes as usize);
    let replacement = core.die_mut(die).spare_blocks_mut().take(planes);
    core.groups_mut().retire(group, replacement.map(|(blocks, _)| blocks));
    if let Some((_, erases)) = replacement {
        core.groups_mut().set_erases(group, erases);
        if core.groups().can_spare() && erases > 0 {
            // It was in service before a power cut, and what its last erase has spared is not known.
            core.groups_mut().release(group);
            core.die_mut(die).give_erasable(group, Cause::Retire);
        } else {
            core.die_mut(die).give_free(group);
        }
    }
    core.outbox_mut().note(Note::Retired(group));
    news::tell(core, panel, metadata, News::Retired { group });
    if !core.is_worn_out() && !has_enough_space(core) {
        wear_out(core, metadata, sanitise);
    }
}

/// Begin to empty the next group of `die` in which a program failed.
pub(super) fn start_retirement(core: &mut Core, panel: &mut Panel, metadata: &mut Metadata, die: DieId) -> bool {
    let Some((group, end)) = core.die_mut(die).take_failed() else {
        return false;
    };
    let cause = if core.groups().is_condemned(group) { Cause::Retire } else { Cause::Sanitise };
    super::begin(core, panel, metadata, die, group, cause, end);
    true
}

/// Stop taking writes. Buffered data stays readable; requests that wait for durability fail.
pub(crate) fn wear_out(core: &mut Core, metadata: &mut Metadata, sanitise: &Sanitise) {
    core.wear_out();
    while let Some(part) = core.requests_mut().take_waiting() {
        let requests = core.requests_mut();
        requests.refuse(part);
        if requests.is_free(part) {
            requests.finish(part);
        }
    }
    core.buffer_mut().give_up();
    while let Some(part) = core.buffer_mut().next_released() {
        core.requests_mut().spoil(part);
        core.requests_mut().release(part);
    }
    metadata.fail_trims(core);
    metadata.fail_sealed(core);
    fail_guarded(core, metadata, sanitise);
}

/// Fail the requests that wait for stale secrets to become unreadable.
pub(crate) fn fail_guarded(core: &mut Core, metadata: &mut Metadata, sanitise: &Sanitise) {
    if sanitise.is_on() {
        let guarded = core.barriers_mut().give_up();
        metadata::fail(core, guarded);
    }
    metadata.pass_flushes(core);
}

#[cfg(test)]
mod tests {
    use wordline_units::random::{Draw, Stream};

    use super::*;
    use crate::config::tests::small;
    use crate::dispatch::Rooms;
    use crate::setup::build;
    use crate::state::groups::Use;
    use crate::state::request::tests::WRITE;

    #[test]
    fn spares_stand_in_for_bad_blocks_as_long_as_there_are_any() {
        let config = crate::Config { spare_blocks: 2, ..small(32) };
        let bad = vec![vec![(0, 1), (0, 3), (0, 9), (0, 4)]];
        let (groups, spares) = form_groups(&bad, 10, &config.layout());
        assert_eq!(groups.len(), 8);
        assert_eq!(groups[1], ([8, 0, 0, 0], true));
        let blocks: Vec<u16> = groups.iter().filter(|group| group.1).map(|group| group.0[0]).collect();
        assert_eq!(blocks, [0, 8, 2, 7, 6, 5], "the only other spare is bad itself, so the last groups give their blocks");
        assert!(groups[..6].iter().all(|group| group.1) && spares[0].iter().all(Vec::is_empty));
    }

    /// The groups in service are the first of each die, as many as its worst plane has good blocks, and no block is in two places.
    #[test]
    fn as_many_groups_are_in_service_as_the_worst_plane_allows() {
        let mut draw = Draw::new(1, Stream::Mix, 0);
        for _ in 0..200 {
            let (planes, spare) = (1 + draw.below(4) as u32, draw.below(3) as u32);
            let mut config = crate::Config { spare_blocks: spare, ..small(32) };
            config.sheet.geometry.planes = planes;
            let (layout, blocks) = (config.layout(), config.sheet.geometry.blocks);
            let bad: Vec<(u8, u16)> = (0..planes as u8)
                .flat_map(|plane| (0..blocks as u16).map(move |block| (plane, block)))
                .filter(|_| draw.happens(0.2))
                .collect();
            let (groups, spares) = form_groups(std::slice::from_ref(&bad), blocks, &layout);
            let good = |plane: u8| blocks as usize - bad.iter().filter(|block| block.0 == plane).count();
            let in_service = groups.iter().filter(|group| group.1).count();
            assert_eq!(in_service, (0..planes as u8).map(good).min().expect("a plane").min(groups.len()));
            assert!(groups[..in_service].iter().all(|group| group.1));
            for plane in 0..planes as u8 {
                let own = groups.iter().filter(|group| group.1).map(|group| group.0[usize::from(plane)]);
                let mut used: Vec<u16> = own.chain(spares[0][usize::from(plane)].iter().copied()).collect();
                used.sort_unstable();
                assert!(used.windows(2).all(|pair| pair[0] < pair[1]) && used.iter().all(|&block| !bad.contains(&(plane, block))));
            }
        }
    }

    #[test]
    fn a_group_that_leaves_its_blocks_goes_on_with_spares_and_then_out_of_service() {
        let mut rooms = build(&crate::Config { spare_blocks: 1, ..small(32) });
        let Rooms { core, panel, metadata, sanitise, .. } = &mut rooms;
        for (group, uses) in [(BlockGroup(2), Use::Free), (BlockGroup(3), Use::Bad)] {
            let at = core.die(DieId(0)).free_groups().position(|free| free == group).expect("all are free");
            core.die_mut(DieId(0)).take_free_at(at);
            replace(core, panel, metadata, sanitise, group);
            assert_eq!(core.groups().use_of(group), uses);
            assert_eq!(core.outbox_mut().next_note(), Some(Note::Retired(group)));
        }
        assert_eq!(core.groups().blocks(BlockGroup(2))[0], 9);
        assert!(!core.is_worn_out() && has_enough_space(core));
    }

    #[test]
    fn who_waits_when_a_drive_wears_out_is_told_and_no_write_is_taken_any_more() {
        let mut rooms = build(&small(64));
        let request = crate::Request { id: 5, units: 32, ..WRITE };
        rooms.submit(request);
        assert_eq!(rooms.core.requests().waiting(), 1, "the buffer takes half of it");
        rooms.wear_out();
        let told = rooms.core.requests_mut().acknowledge().expect("it does not wait for ever");
        assert_eq!((told.id, told.ok), (5, false));
        rooms.submit(crate::Request { id: 6, ..request });
        assert_eq!(rooms.core.requests_mut().acknowledge().map(|told| (told.id, told.ok)), Some((6, false)));
    }
}
