//! Marks as recovery has found them, handed to the tables of their second copies.

use wordline_units::Cause;

use super::physical_blocks::PhysicalBlocks;
use super::scan::{RecoveryScan, lost};
use crate::config::Config;
use crate::dispatch::Rooms;
use crate::pages::oob::{Filling, MarkCopy, ProgramMarks};
use crate::state::layout::{BlockGroup, Layout};
use crate::state::rewrites::Rewrite;

/// Program units of data of `stand`, and the marks of all its units as far as they are known.
fn found_marks(scan: &RecoveryScan, stand: usize, layout: &Layout) -> (u32, Vec<MarkCopy>) {
    let seen = &scan.stands[stand].seen;
    let programs = seen.written.min(layout.data_programs);
    let mut marks = seen.marks().to_vec();
    marks.resize(layout.data_units as usize, MarkCopy::NOTHING);
    for page in &seen.unread {
        for offset in page.first..(page.first + layout.units_per_page).min(layout.data_units) {
            if let Some(mark) = lost::second_mark(scan, stand, offset, layout) {
                marks[offset as usize] = mark;
            }
        }
    }
    (programs, marks)
}

/// Place in the capacitors of the marks of program unit `program` of the blocks with this `filling`, if they have kept some, and true if all of `marks`, those
/// of the group, are there: they may keep a unit as overtaken of which the copy here has become the newest again.
fn kept_place(scan: &RecoveryScan, filling: Filling, program: u32, marks: &[MarkCopy], layout: &Layout) -> Option<(u32, bool)> {
    let place = *scan.kept_places.get(&(filling, program))?;
    let units = layout.units_of(program);
    Some((place, scan.sealed.has_all(filling, program, &marks[units.start as usize..units.end as usize])))
}

/// Have the journal name the unreadable pages of `group`, which stands on `stand` and is to be erased: without a second copy of their marks the next recovery
/// could not tell that nothing in them is needed.
pub(super) fn resume_of_unread(rooms: &mut Rooms, scan: &RecoveryScan, stand: usize, group: BlockGroup) {
    let Rooms { core, metadata, .. } = rooms;
    if scan.log.is_some() {
        // Of what the log does not name, nothing is needed.
        return;
    }
    let layout = *core.layout();
    let physical = &scan.stands[stand];
    let seen = &physical.seen;
    let is_named = physical.broken || physical.erase_was_begun() || seen.is_summarised(&layout) || seen.is_old(&layout);
    if is_named || seen.unread.iter().all(|page| page.is_gone) {
        return;
    }
    let Some(oob) = metadata.oob_mut() else { return };
    let (programs, marks) = found_marks(scan, stand, &layout);
    let filling = scan.filling(stand);
    oob.found(group, &marks, programs, None, |program| kept_place(scan, filling, program, &marks, &layout));
}

/// Close `group`, which stands on `stand`, or have its summary written first.
pub(super) fn resume(config: &Config, rooms: &mut Rooms, scan: &RecoveryScan, stand: usize, group: BlockGroup) {
    if scan.log.is_some() {
        return resume_logged(rooms, scan, stand, group);
    }
    let Rooms { core, metadata, sanitise, .. } = rooms;
    let layout = *core.layout();
    let PhysicalBlocks { broken, seen, erases, .. } = &scan.stands[stand];
    if let (Some(oob), Some(begin)) = (metadata.oob_mut(), scan.sealed.early_summary(scan.filling(stand), seen, &layout)) {
        oob.found_early(group, begin);
    }
    let is_done = seen.written == 0 || seen.is_summarised(&layout) || seen.is_old(&layout);
    let Some(oob) = metadata.oob_mut().filter(|_| !is_done) else {
        if !broken {
            core.groups_mut().close(group);
        }
        return;
    };
    let (programs, marks) = found_marks(scan, stand, &layout);
    let summary = if config.sheet.capabilities.any_order {
        Some(layout.data_programs).filter(|_| seen.written <= layout.data_programs)
    } else if config.most_spared() > 0 {
        // The wordlines behind its data that take a summary are not known.
        None
    } else {
        // A sanitiser may scrub what was not programmed yet of a wordline that it scrubs.
        let is_whole = !sanitise.is_on() || layout.ends_wordline(seen.written);
        Some(seen.written).filter(|&written| !seen.is_ragged && is_whole && written + layout.oob_programs() <= layout.programs)
    };
    let summary = summary.filter(|_| !broken);
    let filling = scan.filling(stand);
    oob.found(group, &marks, programs, summary, |program| kept_place(scan, filling, program, &marks, &layout));
    if summary.is_none() && !broken {
        // There is no place for a summary: the journal keeps its marks until its data has moved.
        core.groups_mut().close(group);
        metadata.leave_unsettled(group, None);
        let wish = Rewrite::by_core(group, Cause::Recovery, *erases, core.now());
        core.die_mut(layout.die(group)).change_rewrites(|rewrites| rewrites.ask_again(wish));
    }
}

/// Close `group`, which stands on `stand`, and have the log told of the programs in it that it does not name and that are needed.
fn resume_logged(rooms: &mut Rooms, scan: &RecoveryScan, stand: usize, group: BlockGroup) {
    let Rooms { core, metadata, .. } = rooms;
    let layout = *core.layout();
    if !scan.stands[stand].broken {
        core.groups_mut().close(group);
    }
    let (programs, marks) = found_marks(scan, stand, &layout);
    let is_best = |offset: u32| {
        let best = marks.get(offset as usize).and_then(|mark| scan.best.get(mark.lpn as usize));
        best.is_some_and(|best| (best.stand, best.offset) == (stand as u32, offset))
    };
    let is_untold = |offset: u32| is_best(offset) && !lost::is_logged(scan, stand, offset, &layout);
    let filling = scan.filling(stand);
    let Some(oob) = metadata.oob_mut() else { return };
    for program in (0..programs).filter(|&program| layout.units_of(program).any(is_untold)) {
        // Units that are not the best here were overtaken.
        let told: Vec<MarkCopy> =
            layout.units_of(program).map(|offset| if is_best(offset) { marks[offset as usize] } else { MarkCopy::NOTHING }).collect();
        // Capacitors may keep the unit as overtaken, and another copy of it, which is not the best here any more.
        let kept = scan.kept_marks.iter().map(|(_, record)| record).find(|record| (record.filling, record.program) == (filling, program));
        let is_in = |kept: &ProgramMarks| kept.marks.iter().zip(&told).all(|(kept, told)| *told == MarkCopy::NOTHING || kept == told);
        let place = scan.kept_places.get(&(filling, program)).map(|&place| (place, kept.is_some_and(is_in)));
        oob.found_program(group, program, &told, place);
    }
}

/// Hold the places of the capacitors whose marks are in force until all that was found is sealed: other copies that the firmware goes on with are not, yet.
pub(super) fn hold_places(rooms: &mut Rooms, scan: &RecoveryScan) {
    let Some(oob) = rooms.metadata.oob_mut() else { return };
    let in_force = scan.kept_marks.iter().filter_map(|(_, record)| scan.kept_places.get(&(record.filling, record.program)));
    in_force.for_each(|&place| oob.hold_place(place));
}
