//! Where the next program goes: open groups, and what becomes of them when they are full or a program in them fails.

use wordline_units::DieId;

use crate::metadata::Metadata;
use crate::state::Core;
use crate::state::layout::Group;
use crate::state::order::{self, Open, Order, Pick};
use crate::state::work::Stream;
use crate::techniques::hooks::Hook;
use crate::techniques::panel::Panel;
use crate::techniques::seam::News;

/// Where a program goes that is going to be ordered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProgramPlace {
    pub group: Group,
    pub program: u32,
    /// It is the last one of its group.
    pub closes: bool,
}

/// Where the next program of `stream` goes, which is ordered from now on; takes a free group where that is due. `None`: there is none to take.
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

/// `group` takes no more data, and can be a victim.
pub(crate) fn close(core: &mut Core, panel: &mut Panel, metadata: &mut Metadata, group: Group) {
    core.groups_mut().close(group);
    metadata.tell(core, panel, News::Closed { group });
}

/// All data of `group` has been programmed: its summary comes next, or it is closed as it is.
pub(crate) fn complete(core: &mut Core, panel: &mut Panel, metadata: &mut Metadata, group: Group) {
    if !metadata.begin_summary(core, group) {
        close(core, panel, metadata, group);
    }
}

/// A program of `group` failed at `program`: nothing more is written to it, and what it holds moves away. `has_secrets`: what was never written of it must
/// not pass for valid, either.
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

/// How far a group was written that takes no more. Where what was written is not the first of it, the gaps pass for stale.
pub(crate) fn end_of(core: &mut Core, open: &Open) -> u32 {
    let layout = *core.layout();
    if open.is_prefix(&layout) {
        return open.ordered() * layout.units_per_program;
    }
    let gaps = (0..layout.programs).filter(|&program| !open.has(program, &layout));
    gaps.for_each(|program| core.groups_mut().give_up(open.group, layout.units_of(program)));
    layout.units_per_group
}
