//! Placement: where the next program goes, and what becomes of open groups when they are full or a program in them fails.

use wordline_units::DieId;

use crate::metadata::Metadata;
use crate::state::Core;
use crate::state::layout::Group;
use crate::state::order::{self, Open, Order, Pick};
use crate::state::work::Stream;
use crate::techniques::hooks::Hook;
use crate::techniques::panel::Panel;
use crate::techniques::seam::News;

/// Destination of a program that is about to be ordered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProgramPlace {
    pub group: Group,
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
    let order = if stream == Stream::Host { core.settings().order } else { Order::HorizontalFirst };
    let may_open = core.is_roomy(die);
    let in_use = if order == Order::HorizontalFirst { 0.0 } else { core.buffer().fill() };
    let picked = order::pick(order, core.die(die).open(stream), core.layout(), in_use, may_open);
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
fn tell_opened(core: &mut Core, panel: &mut Panel, metadata: &mut Metadata, group: Group, stream: Stream) {
    metadata.tell(core, panel, News::Opened { group, moved: stream == Stream::Moved });
}

/// Closes `group`: it takes no more data, and can be a victim.
pub(crate) fn close(core: &mut Core, panel: &mut Panel, metadata: &mut Metadata, group: Group) {
    core.groups_mut().close(group);
    metadata.tell(core, panel, News::Closed { group });
}

/// Ends the data of `group`, all of which has been programmed: its summary comes next, or it is closed as it is.
pub(crate) fn complete(core: &mut Core, panel: &mut Panel, metadata: &mut Metadata, group: Group) {
    if !metadata.begin_summary(core, group) {
        close(core, panel, metadata, group);
    }
}

/// Abandons `group`, in which the program at `program` failed: nothing more is written to it, and its data moves away. `has_secrets`: units of it that were
/// never written must not pass for valid either.
pub(crate) fn abandon(core: &mut Core, group: Group, program: u32, has_secrets: bool) {
    let (layout, die) = (*core.layout(), core.layout().die(group));
    let open = core.die_mut(die).take_open(group);
    let groups = core.groups_mut();
    groups.condemn(group);
    // The summary that will not be written holds nothing that could move.
    groups.give_up(group, layout.data_units..layout.units_per_group);
    let mut end = program * layout.units_per_program;
    if core.settings().order != Order::HorizontalFirst {
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
