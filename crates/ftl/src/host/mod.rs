//! Host requests: reads, writes, trims, flushes and hints, from arrival to the events that complete them.

use wordline_units::{Attributes, Bytes, Cause, OpTag, PartId, Tolerance};

use crate::gc::{invalidate, unpark};
use crate::metadata::Metadata;
use crate::sanitise::Sanitise;
use crate::state::Core;
use crate::state::buffer::{Admission, Dropped, Held};
use crate::state::data::DataStep;
use crate::state::layout::UnitAddr;
use crate::state::pending::Purpose;
use crate::state::request::Request;
use crate::state::settings::{Acknowledge, Protection};
use crate::state::tolerances;
use crate::state::work::Activity;
use crate::techniques::apply::give_way;
use crate::techniques::panel::Panel;

/// The host's side of one core.
#[derive(Debug, Default)]
pub(crate) struct Host {
    /// Scratch list of the addresses that a trim makes stale.
    stale: Vec<(u32, UnitAddr)>,
}

impl Host {
    /// Trim the units of `request`.
    pub(crate) fn trim(&mut self, core: &mut Core, panel: &mut Panel, metadata: &mut Metadata, sanitise: &mut Sanitise, request: Request) {
        let part = core.requests_mut().begin(request, 0);
        let (first, count) = dropped_units(core, &request);
        let doomed = sanitise.doom_copies(core, first, count);
        let was_empty = core.buffer().is_empty();
        let was_refused = core.refused().is_some();
        let mut dropped = None;
        // Units that the buffer alone held.
        let mut freed = 0;
        if !was_empty && !metadata.has_journal() {
            (first..first + count)
                .for_each(|lpn| freed += u32::from(core.buffer_mut().discard(lpn) && core.map().get(lpn) == UnitAddr::NONE));
        } else if !was_empty {
            let lost = dropped.insert(Dropped { epoch: u64::MAX, waiters: Vec::new() });
            (first..first + count)
                .for_each(|lpn| freed += u32::from(core.buffer_mut().discard_into(lpn, lost) && core.map().get(lpn) == UnitAddr::NONE));
        }
        let mut stale = std::mem::take(&mut self.stale);
        core.map_mut().clear(first, count, |lpn, addr| stale.push((lpn, addr)));
        count_blank(core, part, &request, freed + stale.len() as u32);
        if was_refused {
            (first..first + count).for_each(|lpn| core.trust(lpn));
        }
        if core.lost().is_some()
            && let Some(lost) = core.lost_mut()
        {
            lost.forget(first, count);
        }
        core.changes_mut().add_invalidated(stale.len() as u32);
        core.changes_mut().note(true);
        // Before anything becomes erasable: what the trim has emptied must outlast the cut until its record is on flash.
        if !was_empty || !stale.is_empty() || was_refused {
            metadata.trim(core, first, count);
        }
        let inherited = dropped.as_ref().map_or(Vec::new(), |dropped: &Dropped| dropped.waiters.clone());
        if let Some(dropped) = dropped {
            metadata.inherit(core, dropped);
        }
        stale.drain(..).for_each(|(lpn, addr)| invalidate(core, metadata, sanitise, lpn, addr));
        self.stale = stale;
        // Held until all who have a say have been asked.
        core.requests_mut().hold(part);
        sanitise.expose_left(first, count);
        if sanitise.has_exposed(&doomed) {
            // Whoever waited for what the trim has dropped from the buffer waits for what the trim waits for.
            let mut parts = core.buffer_mut().take_released();
            let inherited = if metadata.is_stuck() { Vec::new() } else { inherited };
            for part in std::iter::once(part).chain(inherited) {
                core.requests_mut().hold(part);
                parts.push(part);
            }
            sanitise.guard(core, panel, metadata, parts, doomed, Vec::new());
        }
        sanitise.seal_emptied(core, panel, metadata);
        // With capacitors an answer is a promise: it waits where they have no room for the record.
        if !core.settings().acknowledges_buffered(request.fua) || core.settings().has_capacitors() {
            metadata.await_trims(core, part);
        }
        core.requests_mut().release(part);
        settle(core, panel, metadata, sanitise);
    }
}

/// The units that the trim `request` drops, as the first of them and their number: those that it covers, and one at either end of which all sectors have been
/// trimmed by now. A unit that is trimmed only in part keeps its data, as every standard allows.
fn dropped_units(core: &mut Core, request: &Request) -> (u32, u32) {
    let head = u32::from(request.skip_head > 0);
    let tail = u32::from(request.skip_tail > 0 && request.units > head);
    let (mut first, mut count) = (request.lpn + head, request.units - head - tail);
    if head > 0 && trims_the_rest(core, request, 0) {
        (first, count) = (first - 1, count + 1);
    }
    count += u32::from(tail > 0 && trims_the_rest(core, request, request.units - 1));
    if !core.trimmed().is_empty() {
        core.trimmed_mut().forget(first, count);
    }
    (first, count)
}

/// True if with the trim `request` all sectors of its `index`-th unit are trimmed, which it covers in part.
fn trims_the_rest(core: &mut Core, request: &Request, index: u32) -> bool {
    let lpn = request.lpn + index;
    let holds = core.map().get(lpn) != UnitAddr::NONE || core.buffer().held(lpn).is_some() || core.is_refused(lpn);
    let (sectors, whole) = (mask(core, request, index), u64::MAX >> (64 - core.settings().sectors()));
    holds && core.trimmed_mut().trim(lpn, sectors) == whole
}

/// Count the sectors of the trim `part` beyond the `freed` units that it has freed.
fn count_blank(core: &mut Core, part: PartId, request: &Request, freed: u32) {
    let sectors = core.settings().sectors();
    let covered = request.units * sectors - request.skip_head - request.skip_tail;
    core.requests_mut().add_blank(part, covered.saturating_sub(freed * sectors));
}

/// Read the units of `request`.
pub(crate) fn read(core: &mut Core, panel: &mut Panel, request: Request) {
    let part = core.requests_mut().begin(request, 0);
    let mut run: Option<OpTag> = None;
    for index in 0..request.units {
        let lpn = request.lpn + index;
        let mask = mask(core, &request, index);
        if core.lost().is_some() && covers_lost(core, lpn, mask) {
            core.requests_mut().spoil(part);
        }
        if core.buffer().covers(lpn, mask) {
            run = None;
            continue;
        }
        let addr = core.map().get(lpn);
        if core.is_refused(lpn) || core.is_lost(addr) {
            core.requests_mut().spoil(part);
            run = None;
            continue;
        }
        if addr == UnitAddr::NONE {
            let held = core.buffer().held(lpn).map_or(0, |(_, held)| held);
            core.requests_mut().add_blank(part, (mask & !held).count_ones());
            run = None;
            continue;
        }
        let bytes = Bytes(u64::from(sectors(core, &request, index).1) * wordline_units::host::SECTOR_BYTES);
        match run {
            Some(before) if is_same_page(core, before, addr) => core.lengthen(before, bytes),
            _ => {
                run = Some(queue_read(core, panel, Purpose::HostRead { part }, Cause::Host, addr, bytes, request.attributes));
                core.requests_mut().hold(part);
            }
        }
    }
    if core.requests().is_free(part) {
        core.requests_mut().finish(part);
    }
}

/// True if the sectors of `mask` of `lpn` have a lost one among them, in the buffer or on flash.
#[cold]
fn covers_lost(core: &Core, lpn: u32, mask: u64) -> bool {
    let (buffered, held) = core.buffer().held(lpn).map_or((0, 0), |(slot, held)| (core.buffer().lost_in(slot), held));
    let on_flash = core.lost().map_or(0, |lost| lost.of(lpn));
    ((buffered & held) | (on_flash & !held)) & mask != 0
}

/// True if `addr` is the next unit of the page that the queued read `tag` reads.
fn is_same_page(core: &Core, tag: OpTag, addr: UnitAddr) -> bool {
    let (pending, layout) = (core.pending(tag), core.layout());
    let per_page = layout.units_per_page;
    layout.group(addr) == pending.group && layout.offset(addr) / per_page == pending.offset / per_page
}

/// Queue a read of the page that holds `addr`, and wake its die.
fn queue_read(
    core: &mut Core,
    panel: &mut Panel,
    purpose: Purpose,
    cause: Cause,
    addr: UnitAddr,
    bytes: Bytes,
    attributes: Attributes,
) -> OpTag {
    let (tag, die) = core.queue_read(purpose, cause, addr, bytes, attributes);
    match core.die(die).activity() {
        Activity::Free => core.wake(die),
        Activity::Working(_) | Activity::Suspending(_) | Activity::Busy | Activity::Suspended(_) => {
            give_way(core, panel, die, attributes.priority)
        }
    }
    tag
}

/// Write the units of `request`.
pub(crate) fn write(core: &mut Core, panel: &mut Panel, metadata: &mut Metadata, sanitise: &Sanitise, request: Request) {
    let part = core.requests_mut().begin(request, request.units);
    if core.is_worn_out() {
        core.requests_mut().refuse(part);
        return core.requests_mut().finish(part);
    }
    if request.attributes.tolerance != Tolerance::Default && core.services().keeps_tolerances() {
        note_tolerance(core, &request);
    }
    core.requests_mut().wait_for_room(part);
    // Behind others that wait, it waits too: admission is in order.
    if core.requests().waiting() == 1 {
        admit_waiting(core, panel, metadata, sanitise);
    }
}

/// Admit waiting writes to the buffer, in order, until one finds no room.
pub(crate) fn admit_waiting(core: &mut Core, panel: &mut Panel, metadata: &mut Metadata, sanitise: &Sanitise) {
    while let Some(part) = core.requests().first_waiting() {
        if !admit(core, metadata, sanitise, part) {
            break;
        }
        let requests = core.requests_mut();
        requests.take_waiting();
        if requests.is_free(part) {
            requests.finish(part);
        }
    }
    complete_partials(core, panel, metadata, sanitise);
}

fn admit(core: &mut Core, metadata: &mut Metadata, sanitise: &Sanitise, part: PartId) -> bool {
    let request = core.requests().request(part);
    let buffer = core.settings().buffer;
    let awaited = buffer.acknowledge == Acknowledge::Programmed || (request.fua && buffer.protection == Protection::None);
    loop {
        let unadmitted = core.requests().unadmitted(part);
        if unadmitted == 0 {
            return true;
        }
        let index = request.units - unadmitted;
        let (now, mask) = (core.now(), mask(core, &request, index));
        let (slot, continues) = match core.buffer_mut().write(now, request.lpn + index, mask, request.attributes) {
            Admission::Full => {
                if core.buffer().has_retired() {
                    metadata.hurry(core);
                }
                return false;
            }
            Admission::Slot(slot) => (slot, None),
            Admission::Behind(slot, older) => (slot, Some(older)),
        };
        if !core.trimmed().is_empty() {
            core.trimmed_mut().write(request.lpn + index, mask);
        }
        if core.settings().keeps_data {
            let held = core.buffer().content(slot);
            core.outbox_mut().step(DataStep::Stored { request: request.id, index, slot, continues, held });
        }
        if core.settings().has_capacitors() {
            complete_unmapped(core, sanitise, slot);
        }
        core.requests_mut().admit_one(part);
        if awaited {
            core.buffer_mut().await_durable(slot, part);
            core.requests_mut().hold(part);
        }
    }
}

/// Read the missing sectors of partly written units, if they should not wait for the host to write the rest.
pub(crate) fn complete_partials(core: &mut Core, panel: &mut Panel, metadata: &Metadata, sanitise: &Sanitise) {
    while core.buffer().partial() > 0 && (is_pressed(core, metadata) || core.buffer().fill() > core.settings().buffer.partial_watermark) {
        let (slot, lpn) = core.buffer_mut().take_partial().expect("there is one");
        let addr = core.map().get(lpn);
        if core.is_refused(lpn) {
            if core.settings().keeps_data {
                let missing = core.buffer().missing(slot);
                core.outbox_mut().step(DataStep::Refused { slot, missing });
            }
            core.buffer_mut().filled(slot);
        } else if core.is_lost(addr) {
            lose_rest(core, slot);
        } else if addr == UnitAddr::NONE {
            complete(core, sanitise, slot, addr);
        } else {
            let bytes = core.settings().unit_bytes(1);
            queue_read(core, panel, Purpose::Fill { slot }, Cause::Fill, addr, bytes, Attributes::NONE);
        }
    }
}

/// Complete the unit in `slot`, whose missing sectors are lost with a failed die.
pub(crate) fn lose_rest(core: &mut Core, slot: u32) {
    let missing = core.buffer().missing(slot);
    if core.settings().keeps_data {
        core.outbox_mut().step(DataStep::Refused { slot, missing });
    } else {
        // Where the sectors that it landed with are looked for.
        core.lost_mut();
        core.buffer_mut().lose(slot, missing);
    }
    core.buffer_mut().filled(slot);
}

/// Complete the unit in `slot`, whose missing sectors lie at `from`.
pub(crate) fn complete(core: &mut Core, sanitise: &Sanitise, slot: u32, from: UnitAddr) {
    if core.settings().keeps_data {
        let (held, missing) = (core.buffer().content(slot), core.buffer().missing(slot));
        core.outbox_mut().step(DataStep::Completed { held: Held { mask: held.mask | missing, ..held }, slot, missing, from });
    }
    if sanitise.is_secret(from) {
        core.buffer_mut().make_secret(slot);
    }
    core.buffer_mut().filled(slot);
}

/// Complete with zeroes the unit in `slot`, which was trimmed and is written again in part. Capacitors must keep those zeroes: the record of the trim may
/// not be on flash yet, and without it the unit's older bytes would reappear.
fn complete_unmapped(core: &mut Core, sanitise: &Sanitise, slot: u32) {
    let lpn = core.buffer().unit_in(slot);
    if core.map().get(lpn) == UnitAddr::NONE && !core.is_refused(lpn) && core.buffer_mut().take_this_partial(slot) {
        complete(core, sanitise, slot, UnitAddr::NONE);
    }
}

/// True if a request waits for buffered data to become durable, or for room in the buffer.
pub(crate) fn is_pressed(core: &Core, metadata: &Metadata) -> bool {
    core.buffer().is_awaited() || metadata.flushes_press(core) || core.requests().waiting() > 0
}

/// Flush: make all that was written and trimmed before durable.
pub(crate) fn flush(core: &mut Core, panel: &mut Panel, metadata: &mut Metadata, sanitise: &Sanitise, request: Request) {
    let part = core.requests_mut().begin(request, 0);
    metadata.flush(core, part);
    complete_partials(core, panel, metadata, sanitise);
    metadata.pass_flushes(core);
}

/// Take the hint `request`: reads of its sectors tolerate `request.attributes.tolerance`. It is complete at once, also in a core that is worn out.
pub(crate) fn hint(core: &mut Core, request: Request) {
    if core.services().keeps_tolerances() {
        note_tolerance(core, &request);
    }
    let part = core.requests_mut().begin(request, 0);
    core.requests_mut().finish(part);
}

/// Note the tolerance of `request` for its units, and look again at what was parked for another one. A unit that it covers in part becomes stricter by it,
/// and never more tolerant.
#[cold]
fn note_tolerance(core: &mut Core, request: &Request) {
    let class = request.attributes.tolerance;
    let end = request.lpn + request.units;
    let [head, tail] = [request.skip_head > 0, request.skip_tail > 0];
    let (first, last) = (request.lpn + u32::from(head), end - u32::from(tail));
    let mut changed = Vec::new();
    if first < last {
        changed.extend(tolerances::hint(core, (first, last - first), class));
    }
    let [at_head, at_tail] = [(head, request.lpn), (tail && (end - 1 > request.lpn || !head), end - 1)];
    for (_, lpn) in [at_head, at_tail].into_iter().filter(|(is_part, _)| *is_part) {
        if tolerances::rank(class) < tolerances::rank(tolerances::class_of(core, lpn)) {
            changed.extend(tolerances::hint(core, (lpn, 1), class));
        }
    }
    changed.into_iter().for_each(|group| unpark(core, group));
}

/// Admit waiting writes and pass flushes, after a change of the buffer or of the free space.
#[inline]
pub(crate) fn settle(core: &mut Core, panel: &mut Panel, metadata: &mut Metadata, sanitise: &Sanitise) {
    if metadata.has_oob() {
        metadata.release_sealed(core);
    }
    while let Some(part) = core.buffer_mut().next_released() {
        core.requests_mut().release(part);
    }
    if core.buffer().has_retired() {
        core.buffer_mut().pass_retired(metadata.trims_newest(), metadata.trims_durable());
    }
    if core.requests().waiting() > 0 {
        admit_waiting(core, panel, metadata, sanitise);
    }
    if metadata.has_flushes() {
        metadata.pass_flushes(core);
    }
}

/// First sector of the `index`-th unit that `request` covers, and the number of sectors covered there.
#[inline]
fn sectors(core: &Core, request: &Request, index: u32) -> (u32, u32) {
    let sectors = core.settings().sectors();
    let head = if index == 0 { request.skip_head } else { 0 };
    let tail = if index + 1 == request.units { request.skip_tail } else { 0 };
    debug_assert!(head + tail < sectors);
    (head, sectors - head - tail)
}

/// Bitmap of the sectors that `request` covers in its `index`-th unit.
#[inline]
fn mask(core: &Core, request: &Request, index: u32) -> u64 {
    let (first, count) = sectors(core, request, index);
    (u64::MAX >> (64 - count)) << first
}

#[cfg(test)]
mod tests {
    use wordline_units::HostOp;

    use super::*;
    use crate::Config;
    use crate::config::tests::small;
    use crate::dispatch::Rooms;
    use crate::setup::build;
    use crate::state::request::tests::WRITE;

    const PLAIN: Request = Request { units: 1, ..WRITE };

    fn told(rooms: &mut Rooms) -> Vec<(u32, bool)> {
        std::iter::from_fn(|| rooms.core.requests_mut().acknowledge()).map(|done| (done.id, done.ok)).collect()
    }

    #[test]
    fn writes_come_in_in_order_and_one_without_room_keeps_those_behind_it_waiting() {
        let mut rooms = build(&small(64));
        rooms.submit(Request { id: 1, units: 16, ..PLAIN });
        rooms.submit(Request { id: 2, lpn: 20, units: 2, ..PLAIN });
        rooms.submit(Request { id: 3, lpn: 0, ..PLAIN });
        assert_eq!(told(&mut rooms), [(1, true)], "the third would find its unit in the buffer, and is behind the second");
        assert_eq!(rooms.core.requests().waiting(), 2);
    }

    #[test]
    fn a_read_of_nothing_is_answered_at_once_with_the_sectors_that_hold_nothing() {
        let mut rooms = build(&small(64));
        rooms.submit(Request { id: 1, lpn: 3, skip_head: 2, skip_tail: 5, ..PLAIN });
        rooms.submit(Request { id: 2, op: HostOp::Read, lpn: 3, ..PLAIN });
        let done: Vec<_> = std::iter::from_fn(|| rooms.core.requests_mut().acknowledge()).map(|done| (done.id, done.blank)).collect();
        assert_eq!(done, [(1, 0), (2, 7)], "one sector of the unit was written, and seven hold nothing");
    }

    #[test]
    fn a_trim_takes_whole_units_and_leaves_those_that_it_covers_in_part() {
        let mut rooms = build(&small(64));
        rooms.submit(Request { id: 1, lpn: 4, units: 3, ..PLAIN });
        rooms.submit(Request { id: 2, op: HostOp::Trim, lpn: 4, units: 3, skip_head: 1, skip_tail: 1, ..PLAIN });
        assert_eq!(told(&mut rooms), [(1, true), (2, true)]);
        let held = |lpn| rooms.core.buffer().held(lpn).is_some();
        assert_eq!([4, 5, 6].map(held), [true, false, true]);
    }

    #[test]
    fn a_unit_all_of_whose_sectors_are_trimmed_is_dropped() {
        let mut rooms = build(&small(64));
        let sectors = rooms.core.settings().sectors();
        let trim = |id, from: u32, to: u32| Request { id, op: HostOp::Trim, lpn: 4, skip_head: from, skip_tail: sectors - to, ..PLAIN };
        rooms.submit(Request { id: 1, lpn: 4, ..PLAIN });
        rooms.submit(trim(2, 0, 3));
        rooms.submit(trim(3, 3, sectors - 1));
        // A sector that is written anew has to be trimmed anew.
        rooms.submit(Request { id: 4, lpn: 4, skip_head: 1, skip_tail: sectors - 2, ..PLAIN });
        rooms.submit(trim(5, sectors - 1, sectors));
        assert!(rooms.core.buffer().held(4).is_some(), "a sector was written since");
        rooms.submit(trim(6, 0, 2));
        assert!(rooms.core.buffer().held(4).is_none() && rooms.core.trimmed().is_empty());
        rooms.submit(trim(7, 0, 2));
        rooms.submit(Request { id: 8, op: HostOp::Trim, lpn: 4, ..PLAIN });
        let blank: Vec<_> = std::iter::from_fn(|| rooms.core.requests_mut().acknowledge()).map(|done| (done.id, done.blank)).collect();
        let freed_nothing = [(1, 0), (2, 3), (3, sectors - 4), (4, 0), (5, 1), (6, 0), (7, 2), (8, sectors)];
        assert_eq!(blank, freed_nothing, "sectors of trims that freed nothing");
    }

    #[test]
    fn a_trim_drops_the_units_at_its_ends_that_it_trims_the_rest_of() {
        let mut rooms = build(&small(64));
        let sectors = rooms.core.settings().sectors();
        rooms.submit(Request { id: 1, lpn: 4, units: 4, ..PLAIN });
        rooms.submit(Request { id: 2, op: HostOp::Trim, lpn: 4, skip_tail: sectors - 1, ..PLAIN });
        rooms.submit(Request { id: 3, op: HostOp::Trim, lpn: 6, skip_head: sectors - 1, ..PLAIN });
        rooms.submit(Request { id: 4, op: HostOp::Trim, lpn: 4, units: 3, skip_head: 1, skip_tail: 1, ..PLAIN });
        let held = |lpn| rooms.core.buffer().held(lpn).is_some();
        assert_eq!([4, 5, 6, 7].map(held), [false, false, false, true]);
    }

    #[test]
    fn a_flush_waits_for_what_is_in_the_buffer_unless_capacitors_keep_it() {
        for (protection, answered) in [(Protection::None, 1), (Protection::Capacitor, 2)] {
            let config = small(64);
            let buffer = crate::config::BufferConfig { protection, ..config.buffer };
            let mut rooms = build(&Config { buffer, ..config });
            rooms.submit(Request { id: 1, ..PLAIN });
            rooms.submit(Request { id: 2, op: HostOp::Flush, units: 0, ..PLAIN });
            assert_eq!(told(&mut rooms).len(), answered, "{protection:?}");
        }
    }
}
