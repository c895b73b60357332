//! Ends that are the same on dies in service and on dies that have failed: those of a host's read and of a program of metadata.

use wordline_units::{DieId, PartId};

use super::Rooms;
use crate::gc;
use crate::metadata::journal::Journaled;
use crate::placement;
use crate::state::data::MetadataKind;
use crate::state::failures;
use crate::state::layout::BlockGroup;
use crate::techniques::seam::EraseReport;

/// End a read for the host's request `part`.
#[inline]
pub(super) fn host_read(rooms: &mut Rooms, (group, offset): (BlockGroup, u32), part: PartId, good: bool) {
    rooms.metadata.note_media_error(!good);
    rooms.core.groups_mut().unpin(group);
    end_reading(rooms, group, offset);
    if !good {
        failures::note_unreadable(&mut rooms.core, part, (group, offset));
        rooms.core.requests_mut().spoil(part);
    } else if rooms.core.failures().is_some() {
        failures::note_readable(&mut rooms.core, (group, offset));
    }
    rooms.core.requests_mut().release(part);
}

/// End a host's read of the page that holds `offset` of `group`: a sanitise task may have waited for it.
#[inline]
pub(super) fn end_reading(rooms: &mut Rooms, group: BlockGroup, offset: u32) {
    if rooms.core.end_reading(group, offset) {
        let die = rooms.core.layout().die(group);
        if rooms.sanitise.has_tasks(die) {
            rooms.core.wake(die);
        }
    }
}

/// End a program of metadata on `die`. What waited for it goes on.
#[inline(never)]
pub(super) fn written(rooms: &mut Rooms, die: DieId, good: bool, kind: MetadataKind, at: (BlockGroup, u32)) {
    rooms.core.die_mut(die).programs_mut().now_mut().clear();
    match kind {
        MetadataKind::Journal => journaled(rooms, good, at.0),
        MetadataKind::Checkpoint => rooms.metadata.checkpoint_programmed(&mut rooms.core, good, at.0),
        MetadataKind::Keys => {
            rooms.sanitise.keys_programmed(&mut rooms.core, good, at.0);
            rooms.sanitise.wake_keys(&mut rooms.core, &rooms.metadata);
        }
        MetadataKind::Summary => summarised(rooms, good, at),
    }
    rooms.settle();
    if kind == MetadataKind::Journal {
        rooms.metadata.wake_journal(&mut rooms.core);
    }
}

/// End a program of the summary of `group`.
fn summarised(rooms: &mut Rooms, good: bool, (group, program): (BlockGroup, u32)) {
    let Rooms { core, panel, metadata, sanitise, .. } = rooms;
    if core.is_failed(core.layout().die(group)) {
        metadata.drop_summary(group);
    } else if !good {
        // The journal still holds the records of the summary; the data of the group moves away.
        metadata.drop_summary(group);
        placement::abandon(core, group, program, sanitise.is_on());
    } else if metadata.wrote_summary(group) {
        placement::close(core, panel, metadata, group);
        sanitise.empty_closed(core, group);
    }
}

/// End a program of the journal in `group`. Requests that waited for its records go on, and so does what waited for them to be erased or locked.
fn journaled(rooms: &mut Rooms, good: bool, group: BlockGroup) {
    let Rooms { core, panel, metadata, sanitise, .. } = rooms;
    let Journaled { spoilt } = metadata.journal_programmed(core, good, group);
    // Blocks of a failed die are bad as they are.
    if let Some(group) = spoilt.filter(|&group| !core.is_failed(core.layout().die(group))) {
        gc::replace(core, panel, metadata, sanitise, group);
        gc::erase_ended(core, panel, metadata, sanitise, EraseReport::without_erase(group));
    }
    metadata.release_trims(core);
    for die in core.die_ids() {
        if !core.die(die).erasable().is_empty() || sanitise.has_tasks(die) {
            core.wake(die);
        }
    }
    sanitise.wake_keys(core, metadata);
}
