//! Sanitise operations: how a die carries out its tasks. The rules of the room decide which tasks there are.

use wordline_flash::{Operation, OperationKind, Sanitisation};
use wordline_units::{Cause, DieId, PageId, PlaneId};

use super::secrets::{Scope, Secrets};
use crate::metadata::Metadata;
use crate::placement;
use crate::state::Core;
use crate::state::groups::Use;
use crate::state::pending::{Pending, Purpose};
use crate::state::work::{Offer, Source};
use crate::techniques::apply::{issue_read, next_read};
use crate::techniques::panel::Panel;
use crate::techniques::seam::SanitiseMethod;

/// Next sanitise operation of `die`, or one that clears the way for it.
pub(super) fn step(secrets: &mut Secrets, core: &mut Core, panel: &mut Panel, metadata: &mut Metadata, die: DieId) -> Offer {
    let tasks: Vec<u32> = secrets.tasks_of(die).collect();
    let (mut needs_moves, mut needs_journal) = (false, false);
    for id in tasks {
        let task = secrets.task(id);
        if task.how == SanitiseMethod::Erase {
            continue;
        }
        let (scope, cursor) = (reach(core, task.scope, task.how), task.cursor);
        let group = scope.group;
        // What is read must have somewhere to go, and what is cut off is lost: not where GC has counted on it, or it could free nothing any more.
        let has_room = core.die(die).job().is_none() && core.is_roomy(die);
        let is_cut = scope.plane.is_none() && task.scope.plane.is_some();
        if is_cut && !has_room {
            needs_moves = true;
            continue;
        }
        let valid = |offset: &u32| core.groups().is_valid(group, *offset);
        let is_blocked = core.groups().valid(group) > 0 && programmed_offsets(core, scope).any(|offset| valid(&offset));
        if is_blocked {
            if matches!(core.groups().use_of(group), Use::Closed | Use::Active) {
                let next = programmed_offsets(core, scope).find(|offset| *offset >= cursor && valid(offset));
                if let Some(offset) = next.filter(|_| has_room) {
                    return Offer::Ready(clear_way(secrets, core, panel, die, id, scope, offset));
                }
            }
            needs_moves = true;
            continue;
        }
        let trims = if is_cut { secrets.trims_of(scope) } else { task.trims };
        if trims > metadata.trims_durable() {
            metadata.hurry(core);
            needs_journal = true;
            continue;
        }
        // A locked block gives out its summary no more than its data: as before an erase, what has made it stale must be known.
        // And the map log may still have its units there.
        if (task.how == SanitiseMethod::LockBlock || core.settings().twins) && !metadata.are_marks_known(group) {
            metadata.seal_all(core);
            needs_journal = true;
            continue;
        }
        // It was asked for before it became stale, and is not to be answered with zeroes.
        if core.is_being_read(group, scope.page_starts(core.layout())) {
            if core.die(die).reads().waiting() > 0 {
                return next_read(core, panel, die).into();
            }
            continue;
        }
        return Offer::Ready(sanitise(secrets, core, panel, metadata, die, id, scope));
    }
    // What is in the way is read and waits to be programmed, or is to be read by garbage collection; and the trims that made it stale have to be on flash.
    match (needs_moves, needs_journal) {
        (true, true) => Offer::Needs(&[Source::Gc, Source::Metadata]),
        (true, false) => Offer::Needs(&[Source::Gc]),
        (false, true) => Offer::Needs(&[Source::Metadata]),
        (false, false) => Offer::Nothing,
    }
}

/// Pages that `how` takes along with `scope`: a wordline that is scrubbed while it is still being written is lost in all planes.
fn reach(core: &Core, scope: Scope, how: SanitiseMethod) -> Scope {
    let layout = core.layout();
    let is_cut = core.die(layout.die(scope.group)).open_at(scope.group).is_some_and(|open| {
        let next = open.ordered() * layout.pages_per_program;
        // Where a program fills whole wordlines, no wordline is written in part.
        how == SanitiseMethod::Scrub && layout.programs_per_layer == 1 && next < scope.first + scope.pages
    });
    if is_cut { Scope { plane: None, ..scope } } else { scope }
}

/// Offsets of `scope` that have been programmed.
fn programmed_offsets(core: &Core, scope: Scope) -> impl Iterator<Item = u32> + use<> {
    let layout = *core.layout();
    let die = core.die(layout.die(scope.group));
    let open = die.open_at(scope.group);
    let end = layout.units_per_group;
    let end = end.min(die.failed_end(scope.group).unwrap_or(end));
    let is_there = move |offset: u32| offset < end && open.is_none_or(|open| open.has(offset / layout.units_per_program, &layout));
    scope.offsets(&layout).filter(move |&offset| is_there(offset))
}

/// Read the page that holds the valid unit at `offset`, to be moved.
fn clear_way(secrets: &mut Secrets, core: &mut Core, panel: &mut Panel, die: DieId, id: u32, scope: Scope, offset: u32) -> Operation {
    let (group, per_page) = (scope.group, core.layout().units_per_page);
    let first = core.layout().page_start(offset);
    let units = (0..per_page).filter(|unit| core.groups().is_valid(group, first + unit)).fold(0u64, |units, unit| units | 1 << unit);
    secrets.task_mut(id).cursor = first + per_page;
    core.die_mut(die).begin_move();
    core.groups_mut().pin(group);
    let bytes = core.settings().unit_bytes(units.count_ones());
    let tag = core.begin(Pending::read(Purpose::Move { units }, group, offset, bytes, Cause::Sanitise));
    core.die_mut(die).set_moved_cause(Cause::Sanitise);
    issue_read(core, panel, die, tag)
}

fn sanitise(
    secrets: &mut Secrets,
    core: &mut Core,
    panel: &mut Panel,
    metadata: &mut Metadata,
    die: DieId,
    id: u32,
    scope: Scope,
) -> Operation {
    let task = secrets.task_mut(id);
    task.scope = scope;
    let how = match task.how {
        SanitiseMethod::LockPages => Sanitisation::LockPage,
        SanitiseMethod::LockBlock => Sanitisation::LockBlock,
        SanitiseMethod::Scrub => Sanitisation::Scrub,
        SanitiseMethod::Reprogram => Sanitisation::Reprogram,
        SanitiseMethod::Erase | SanitiseMethod::DropKeys => unreachable!("erases are reclaim's, and keys the key store's"),
    };
    skip_scrubbed(core, panel, metadata, die, scope);
    core.groups_mut().destroy(scope.group);
    let blocks = core.groups().blocks(scope.group);
    let page = PageId(scope.first as u16);
    let target = match scope.plane {
        Some(plane) => core.layout().one_plane(blocks, PlaneId(plane as u8), page),
        None => core.layout().all_planes(blocks, page),
    };
    let tag = core.begin(Pending::new(Purpose::Sanitise { task: id }, scope.group, 0, wordline_units::Bytes(0)));
    core.issue(die, tag, OperationKind::Sanitise { target, how }, Cause::Sanitise)
}

/// Skip what was not programmed yet of a wordline that is scrubbed, because it is lost.
fn skip_scrubbed(core: &mut Core, panel: &mut Panel, metadata: &mut Metadata, die: DieId, scope: Scope) {
    let layout = *core.layout();
    let end = (scope.first + scope.pages).div_ceil(layout.pages_per_program);
    if scope.plane.is_some() {
        return;
    }
    if let Some((skipped, is_full)) = core.die_mut(die).skip_open(scope.group, end, &layout) {
        let units = layout.units_per_program;
        (skipped.start * units..skipped.end * units).for_each(|offset| core.groups_mut().add_stale(layout.unit(scope.group, offset)));
        let is_full = is_full || (core.groups().can_spare() && core.pass_spared(die, scope.group));
        if is_full {
            placement::complete(core, panel, metadata, scope.group);
        }
    }
}
