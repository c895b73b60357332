//! Bad blocks: those the die came with, those that fail, and the spares that stand in for them.

use wordline_units::{Cause, DieId};

use crate::metadata::{self, Metadata};
use crate::sanitise::Sanitise;
use crate::state::Core;
use crate::state::layout::{Group, Layout};
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
pub(crate) fn replace(core: &mut Core, panel: &mut Panel, metadata: &mut Metadata, sanitise: &mut Sanitise, group: Group) {
    let (die, planes) = (core.layout().die(group), core.layout().planes as usize);
    let replacement = core.die_mut(die).take_spares(planes);
    core.groups_mut().retire(group, replacement);
    if let Some(blocks) = replacement {
        let erases = core.take_spare_erases(die, blocks[0]);
        core.groups_mut().set_erases(group, erases);
        core.die_mut(die).give_free(group);
    }
    core.outbox_mut().note(Note::Retired(group));
    metadata.tell(core, panel, News::Retired { group });
    if !core.is_worn_out() && !core.has_enough_space() {
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
        let guarded = core.gates_mut().give_up();
        metadata::fail(core, guarded);
    }
    metadata.pass_flushes(core);
}
