//! Bad blocks: those the die came with, those that fail, and the spares that stand in for them.

use wordline_units::{Cause, DieId};

use crate::metadata::{self, Metadata};
use crate::sanitise::Sanitise;
use crate::state::Core;
use crate::state::failures::has_enough_space;
use crate::state::layout::{BlockGroup, Layout};
use crate::state::request::Note;
use crate::techniques::panel::Panel;
use crate::techniques::seam::News;

/// Spare blocks of each plane of one die.
type Spares = [Vec<u16>; 4];

/// Assign good blocks to every group. Returns the physical block of each group in each plane and whether the group can be used, and the spares left in each
/// die.
pub(crate) fn form_groups(factory_bad: &[Vec<(u8, u16)>], blocks_per_plane: u32, layout: &Layout) -> (Vec<([u16; 4], bool)>, Vec<Spares>) {
    let count = layout.group_count();
    let mut groups = vec![([0; 4], true); count];
    let mut spares = Vec::with_capacity(layout.dies as usize);
    for die in 0..layout.dies as usize {
        let bad = factory_bad.get(die).map_or(&[][..], Vec::as_slice);
        let mut left: Spares = Default::default();
        for (plane, left) in left.iter_mut().enumerate().take(layout.planes as usize) {
            let is_bad = |block: u16| bad.contains(&(plane as u8, block));
            *left = (layout.groups as u16..blocks_per_plane as u16).rev().filter(|&block| !is_bad(block)).collect();
            for number in 0..layout.groups as usize {
                let group = die * layout.groups as usize + number;
                let block = if is_bad(number as u16) { left.pop() } else { Some(number as u16) };
                match block {
                    Some(block) => groups[group].0[plane] = block,
                    None => groups[group].1 = false,
                }
            }
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
    metadata.notify(core, panel, News::Retired { group });
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
        assert!(!groups[3].1 && !groups[4].1, "the only other spare is bad itself");
        assert!(spares[0].iter().all(Vec::is_empty));
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
