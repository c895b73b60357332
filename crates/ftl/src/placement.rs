//! Placement: where the next program goes, and what becomes of open groups when they are full or a program in them fails.

use wordline_units::DieId;

use crate::metadata::Metadata;
use crate::state::Core;
use crate::state::layout::BlockGroup;
use crate::state::wordline_order::{self, Open, Pick, WordlineOrder};
use crate::state::work::Stream;
use crate::techniques::hooks::Hook;
use crate::techniques::panel::Panel;
use crate::techniques::seam::News;

/// Destination of a program that is about to be ordered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProgramPlace {
    pub group: BlockGroup,
    pub program: u32,
    /// True if the program is the last one of its group.
    pub closes: bool,
}

/// Destination of the next program of `stream`, which counts as ordered from now on. A free group is opened where that is due. `None`: no group is left.
pub(crate) fn next_program(
    core: &mut Core,
    panel: &mut Panel,
    metadata: &mut Metadata,
    die: DieId,
    stream: Stream,
) -> Option<ProgramPlace> {
    let order = if stream == Stream::Host { core.settings().wordline_order } else { WordlineOrder::HorizontalFirst };
    let may_open = core.is_roomy(die);
    let in_use = if order == WordlineOrder::HorizontalFirst { 0.0 } else { core.buffer().fill() };
    let picked = wordline_order::pick(order, core.die(die).open(stream), core.layout(), in_use, may_open);
    let Pick { at, program } = match picked {
        Some(pick) => pick,
        None => {
            let group = core.allocate(die, stream)?;
            core.groups_mut().open(group);
            if panel.has(Hook::Opened) {
                tell_opened(core, panel, metadata, group, stream);
            }
            let open = Open::at(group, 0, core.layout());
            Pick { at: core.die_mut(die).push_open(stream, open), program: 0 }
        }
    };
    let (group, closes) = core.take_program(die, stream, at, program);
    Some(ProgramPlace { group, program, closes })
}

#[cold]
#[inline(never)]
fn tell_opened(core: &mut Core, panel: &mut Panel, metadata: &mut Metadata, group: BlockGroup, stream: Stream) {
    metadata.notify(core, panel, News::Opened { group, moved: stream == Stream::Moved });
}

/// Closes `group`: it takes no more data, and can be a victim.
pub(crate) fn close(core: &mut Core, panel: &mut Panel, metadata: &mut Metadata, group: BlockGroup) {
    core.groups_mut().close(group);
    metadata.notify(core, panel, News::Closed { group });
}

/// Ends the data of `group`, all of which has been programmed: its summary comes next, or it is closed as it is.
pub(crate) fn complete(core: &mut Core, panel: &mut Panel, metadata: &mut Metadata, group: BlockGroup) {
    if !metadata.begin_summary(core, group) {
        close(core, panel, metadata, group);
    }
}

/// Abandons `group`, in which the program at `program` failed: nothing more is written to it, and its data moves away. `has_secrets`: units of it that were
/// never written must not pass for valid either.
pub(crate) fn abandon(core: &mut Core, group: BlockGroup, program: u32, has_secrets: bool) {
    let (layout, die) = (*core.layout(), core.layout().die(group));
    let open = core.die_mut(die).take_open(group);
    let groups = core.groups_mut();
    groups.condemn(group);
    // The summary that will not be written holds nothing that could move.
    groups.give_up(group, layout.data_units..layout.units_per_group);
    let mut end = program * layout.units_per_program;
    if core.settings().wordline_order != WordlineOrder::HorizontalFirst {
        end = open.map_or(layout.units_per_group, |open| end_of(core, &open));
        core.groups_mut().give_up(group, layout.units_of(program));
    }
    core.die_mut(die).fail(group, end);
    if has_secrets {
        core.groups_mut().give_up(group, end..layout.units_per_group);
    }
}

/// Offset up to which a group was written that takes no more data. If there are gaps before it, they count as stale.
pub(crate) fn end_of(core: &mut Core, open: &Open) -> u32 {
    let layout = *core.layout();
    if open.is_prefix(&layout) {
        return open.ordered() * layout.units_per_program;
    }
    let gaps = (0..layout.programs).filter(|&program| !open.has(program, &layout));
    gaps.for_each(|program| core.groups_mut().give_up(open.group, layout.units_of(program)));
    layout.units_per_group
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::tests::small;
    use crate::dispatch::Rooms;
    use crate::setup::build;
    use crate::state::groups::Use;

    const DIE: DieId = DieId(0);

    fn next(rooms: &mut Rooms, stream: Stream) -> Option<ProgramPlace> {
        let Rooms { core, panel, metadata, .. } = rooms;
        next_program(core, panel, metadata, DIE, stream)
    }

    #[test]
    fn streams_keep_to_groups_of_their_own_and_the_last_program_closes() {
        let mut rooms = build(&small(64));
        let programs = rooms.core.layout().data_programs;
        let host: Vec<_> = (0..programs).filter_map(|_| next(&mut rooms, Stream::Host)).collect();
        let moved = next(&mut rooms, Stream::Moved).expect("there are free groups");
        assert!(host.iter().all(|place| place.group == host[0].group && place.group != moved.group));
        assert!(host.iter().map(|place| place.program).eq(0..programs));
        assert!(host.iter().all(|place| place.closes == (place.program + 1 == programs)));
        assert_ne!(next(&mut rooms, Stream::Host).map(|place| place.group), Some(host[0].group));
    }

    #[test]
    fn no_place_is_left_where_no_group_is_free() {
        let mut rooms = build(&small(64));
        let all = rooms.core.layout().groups * rooms.core.layout().data_programs;
        assert!((0..all).all(|_| next(&mut rooms, Stream::Moved).is_some()));
        assert!(next(&mut rooms, Stream::Moved).is_none());
    }

    #[test]
    fn a_group_in_which_a_program_fails_takes_no_more_and_is_to_be_emptied_up_to_there() {
        let mut rooms = build(&small(64));
        let place = (0..3).filter_map(|_| next(&mut rooms, Stream::Host)).last().expect("there are free groups");
        abandon(&mut rooms.core, place.group, place.program, false);
        let units = rooms.core.layout().units_per_program;
        assert!(rooms.core.groups().is_condemned(place.group));
        assert_eq!(rooms.core.die(DIE).failed_end(place.group), Some(place.program * units));
        assert_ne!(next(&mut rooms, Stream::Host).map(|next| next.group), Some(place.group));
        let Rooms { core, panel, metadata, .. } = &mut rooms;
        let other = core.die(DIE).open(Stream::Host)[0].group;
        complete(core, panel, metadata, other);
        assert_eq!(core.groups().use_of(other), Use::Closed);
    }
}
