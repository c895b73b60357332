//! Host requests: reads, writes, trims, flushes.

use wordline_units::{Bytes, Cause, HostOp, Nanos, Priority};

use crate::buffer::{Admission, Dropped};
use crate::config::{Acknowledge, BufferConfig, Protection};
use crate::data::DataStep;
use crate::die::Activity;
use crate::firmware::{Flush, Ftl, Part};
use crate::layout::UnitAddr;
use crate::operations::{Pending, Purpose};
use crate::request::{Acknowledgement, Note, Request};
use crate::survey::Held;

impl Ftl {
    pub(crate) fn read(&mut self, part: Part) {
        let request = part.request;
        let tag = self.parts.insert(part);
        let mut run: Option<u32> = None;
        for index in 0..request.units {
            let lpn = request.lpn + index;
            let mask = self.mask(&request, index);
            if self.buffer.covers(lpn, mask) {
                run = None;
                continue;
            }
            let addr = self.map.get(lpn);
            if self.is_refused(lpn) {
                (run, self.parts[tag].ok) = (None, false);
                continue;
            }
            if addr == UnitAddr::NONE {
                let held = self.buffer.held(lpn).map_or(0, |(_, held)| held);
                self.parts[tag].blank += (mask & !held).count_ones();
                run = None;
                continue;
            }
            let bytes = Bytes(u64::from(self.sectors(&request, index).1) * wordline_units::host::SECTOR_BYTES);
            match run {
                Some(before) if self.same_page(before, addr) => self.pending[before].bytes += bytes,
                _ => {
                    run = Some(self.queue_read(Purpose::HostRead { part: tag }, Cause::Host, addr, bytes, request.priority));
                    self.parts[tag].pending += 1;
                }
            }
        }
        if self.parts[tag].pending == 0 {
            self.finish(tag);
        }
    }

    /// Whether `addr` is the next unit of the page that the queued read `tag` is after.
    fn same_page(&self, tag: u32, addr: UnitAddr) -> bool {
        let Pending { group, offset, .. } = self.pending[tag];
        let per_page = self.layout.units_per_page;
        self.layout.group(addr) == group && self.layout.offset(addr) / per_page == offset / per_page
    }

    /// Queue a read of the page that holds `addr`.
    fn queue_read(&mut self, purpose: Purpose, cause: Cause, addr: UnitAddr, bytes: Bytes, priority: Priority) -> u32 {
        let (group, offset) = (self.layout.group(addr), self.layout.offset(addr));
        let die = self.layout.die(group);
        let tag = self.pending.insert(Pending::read(purpose, group, offset, bytes, cause));
        self.groups.pin(group);
        self.begin_reading(addr);
        self.push_read(die, priority as usize, tag);
        match self.dies[die].activity {
            Activity::Free => self.wake(die),
            Activity::Working(_) => self.give_way(die, priority),
            Activity::Busy | Activity::Suspending(_) | Activity::Suspended(_) => {}
        }
        tag
    }

    pub(crate) fn write(&mut self, now: Nanos, mut part: Part) {
        part.unadmitted = part.request.units;
        let tag = self.parts.insert(part);
        if self.worn_out {
            self.parts[tag].ok = false;
            self.parts[tag].unadmitted = 0;
            return self.finish(tag);
        }
        self.admissions.push_back(tag);
        // Behind others that wait, it waits too: admission is in order.
        if self.admissions.len() == 1 {
            self.admit_waiting(now);
        }
    }

    /// Bring waiting writes into the buffer, in order, until one finds no room.
    pub(crate) fn admit_waiting(&mut self, now: Nanos) {
        while let Some(&tag) = self.admissions.front() {
            if !self.admit(now, tag) {
                break;
            }
            self.admissions.pop_front();
            if self.parts[tag].pending == 0 {
                self.finish(tag);
            }
        }
        self.complete_partials();
    }

    fn admit(&mut self, now: Nanos, tag: u32) -> bool {
        let request = self.parts[tag].request;
        let BufferConfig { acknowledge, protection, .. } = self.config.buffer;
        let awaited = acknowledge == Acknowledge::Programmed || (request.fua && protection == Protection::None);
        while self.parts[tag].unadmitted > 0 {
            let index = request.units - self.parts[tag].unadmitted;
            match self.buffer.write(now, request.lpn + index, self.mask(&request, index), request.insecure) {
                Admission::Full => {
                    if self.buffer.has_retired() {
                        self.hurry_journal();
                    }
                    return false;
                }
                Admission::Slot(slot) => self.admitted(tag, (request.id, index), slot, None, awaited),
                Admission::Behind(slot, older) => self.admitted(tag, (request.id, index), slot, Some(older), awaited),
            }
        }
        true
    }

    /// The `index`-th unit of `request` is in `slot`.
    #[inline]
    fn admitted(&mut self, tag: u32, (request, index): (u32, u32), slot: u32, continues: Option<u32>, awaited: bool) {
        if self.config.keeps_data {
            let held = self.buffer.content(slot);
            self.note_data(DataStep::Stored { request, index, slot, continues, held });
        }
        if self.config.buffer.protection == Protection::Capacitor {
            self.complete_unmapped(slot);
        }
        self.parts[tag].unadmitted -= 1;
        if awaited {
            self.buffer.await_durable(slot, tag);
            self.parts[tag].pending += 1;
        }
    }

    /// Fetch what is missing of partly written units, if they should not wait for the host to write the rest.
    pub(crate) fn complete_partials(&mut self) {
        while self.buffer.partial() > 0 && (self.is_pressed() || self.buffer.fill() > self.config.buffer.partial_watermark) {
            let (slot, lpn) = self.buffer.take_partial().expect("there is one");
            let addr = self.map.get(lpn);
            if self.is_refused(lpn) {
                self.note_refused(slot);
                self.buffer.filled(slot);
            } else if addr == UnitAddr::NONE {
                self.complete(slot, addr);
            } else {
                self.queue_read(Purpose::Fill { slot }, Cause::Fill, addr, self.unit_bytes(1), Priority::Normal);
            }
        }
    }

    /// What was missing of the unit in `slot` is known: it lies at `from`.
    pub(crate) fn complete(&mut self, slot: u32, from: UnitAddr) {
        if self.config.keeps_data {
            let (held, missing) = (self.buffer.content(slot), self.buffer.missing(slot));
            self.note_data(DataStep::Completed { held: Held { mask: held.mask | missing, ..held }, slot, missing, from });
        }
        if self.secrets.as_ref().is_some_and(|secrets| from != UnitAddr::NONE && secrets.is_secret(from)) {
            self.buffer.make_secret(slot);
        }
        self.buffer.filled(slot);
    }

    /// What was trimmed and is written again in part has zeroes for the rest. What capacitors keep must say so itself: the record of the trim may not be on
    /// flash yet, and without it the unit's older bytes would shine through.
    fn complete_unmapped(&mut self, slot: u32) {
        let lpn = self.buffer.unit_in(slot);
        if self.map.get(lpn) == UnitAddr::NONE && !self.is_refused(lpn) && self.buffer.take_this_partial(slot) {
            self.complete(slot, UnitAddr::NONE);
        }
    }

    /// Whether somebody waits for buffered data to become durable, or for room.
    pub(crate) fn is_pressed(&self) -> bool {
        self.buffer.is_awaited() || self.flushes_press() || !self.admissions.is_empty()
    }

    /// Whether what is in the buffer is to be programmed soon: a flush waits for it, where flushes do, or it is to be emptied.
    pub(crate) fn flushes_press(&self) -> bool {
        match self.config.buffer.protection {
            Protection::None => !self.flushes.is_empty(),
            Protection::Capacitor => self.draining,
        }
    }

    pub(crate) fn trim(&mut self, now: Nanos, part: Part) {
        let request = part.request;
        let tag = self.parts.insert(part);
        // A unit that is trimmed only in part keeps its data, as every standard allows.
        let head = u32::from(request.skip_head > 0);
        let tail = u32::from(request.skip_tail > 0 && request.units > head);
        let (first, count) = (request.lpn + head, request.units - head - tail);
        let doomed = self.doom_copies(first, count);
        let was_empty = self.buffer.is_empty();
        let was_refused = self.refused.is_some();
        let mut dropped = None;
        if !was_empty && self.journal.is_none() {
            (first..first + count).for_each(|lpn| self.buffer.discard(lpn));
        } else if !was_empty {
            let lost = dropped.insert(Dropped { epoch: u64::MAX, waiters: Vec::new() });
            (first..first + count).for_each(|lpn| self.buffer.discard_into(lpn, lost));
        }
        let mut stale = std::mem::take(&mut self.stale);
        self.map.clear(first, count, |lpn, addr| stale.push((lpn, addr)));
        if self.refused.is_some() {
            (first..first + count).for_each(|lpn| self.trust(lpn));
        }
        self.invalidated += stale.len() as u32;
        self.changes += 1;
        // Before anything becomes erasable: what the trim has emptied must outlast the cut until its record is on flash.
        if !was_empty || !stale.is_empty() || was_refused {
            self.journal_trim(first, count);
        }
        let inherited = dropped.as_ref().map_or(Vec::new(), |dropped: &Dropped| dropped.waiters.clone());
        if let Some(dropped) = dropped {
            self.inherit(dropped);
        }
        stale.drain(..).for_each(|(lpn, addr)| self.invalidate(lpn, addr));
        self.stale = stale;
        // Held until all who have a say have been asked.
        self.parts[tag].pending += 1;
        if let Some(secrets) = &mut self.secrets {
            secrets.expose_left(first..first + count);
        }
        if self.has_exposed(&doomed) {
            // Whoever waited for what the trim has dropped from the buffer waits for what the trim waits for.
            let mut parts = self.buffer.take_released();
            let inherited = if self.is_journal_stuck() { Vec::new() } else { inherited };
            for part in std::iter::once(tag).chain(inherited) {
                self.parts[part].pending += 1;
                parts.push(part);
            }
            self.guard(parts, doomed, Vec::new());
        }
        self.seal_emptied();
        // With capacitors an answer is a promise: it waits where they have no room for the record.
        if !self.acknowledges_buffered(&request) || self.config.buffer.protection == Protection::Capacitor {
            self.await_trims(tag);
        }
        self.release_part(tag);
        self.settle(now);
    }

    pub(crate) fn flush(&mut self, part: Part) {
        let tag = self.parts.insert(part);
        // Writes still waiting for room were not acknowledged, so the flush need not wait for them.
        let epoch = self.buffer.barrier();
        // Where marks follow the data into the journal, the trims go with them.
        let trims = if self.oob.is_some() { self.trims_newest() } else { self.hurry_journal() };
        self.flushes.push_back(Flush { part: tag, epoch, trims, sealed: None, gate: None });
        self.complete_partials();
        self.pass_flushes();
    }

    pub(crate) fn pass_flushes(&mut self) {
        let durable = match self.config.buffer.protection {
            Protection::None => self.buffer.durable_epoch(),
            Protection::Capacitor => u64::MAX,
        };
        let trimmed = self.trims_durable();
        if self.oob.is_some() {
            self.seal_flushed(durable);
        }
        while let Some(&Flush { part, epoch, trims, .. }) = self.flushes.front() {
            let passes = epoch < durable && trims <= trimmed && self.is_flush_sealed();
            if !self.worn_out && (!passes || self.is_guarded()) {
                break;
            }
            self.flushes.pop_front();
            self.parts[part].ok &= passes;
            self.finish(part);
        }
    }

    /// Of each flush of which everything is on flash, as all before epoch `durable` is, the marks of what it covers are to be sealed, and nothing that comes
    /// later: one program of the journal does for all that wait, and for the trims before them.
    fn seal_flushed(&mut self, durable: u64) {
        let newest = self.oob.as_ref().map_or(0, |oob| oob.newest_host());
        let mut last = None;
        for flush in self.flushes.iter_mut().take_while(|flush| flush.epoch < durable) {
            last = Some((*flush.sealed.get_or_insert(newest), flush.trims));
        }
        if let Some((number, trims)) = last {
            if trims > self.trims_durable() {
                self.hurry_journal();
            }
            self.seal_host_up_to(number);
        }
    }

    /// Whether a flush waits for trims now.
    pub(crate) fn is_flush_ready_for_trims(&self) -> bool {
        self.flushes.front().is_some_and(|flush| self.oob.is_none() || flush.sealed.is_some())
    }

    /// Whether the marks of all that the first flush, of which everything is on flash, makes durable are sealed.
    fn is_flush_sealed(&self) -> bool {
        match (&self.oob, self.flushes.front().and_then(|flush| flush.sealed)) {
            (Some(oob), Some(number)) => oob.is_host_sealed(number),
            _ => true,
        }
    }

    /// Whether the first flush has to wait for stale secrets: what it makes durable has made some, and they must be unreadable first.
    fn is_guarded(&mut self) -> bool {
        let (Some(secrets), Some(flush)) = (&self.secrets, self.flushes.front_mut()) else {
            return false;
        };
        let gate = *flush.gate.get_or_insert(secrets.newest_gate());
        secrets.is_shut(gate)
    }

    /// The request of `tag` is done.
    pub(crate) fn finish(&mut self, tag: u32) {
        let part = self.parts.remove(tag);
        self.done.push_back(Acknowledgement { id: part.request.id, ok: part.ok, blank: part.blank });
    }

    /// Where nothing is under way and yet somebody waits, no block is left that could take the data.
    pub(crate) fn give_up_if_stuck(&mut self, now: Nanos) {
        if self.under_way > 0 || self.register_due().is_some() {
            return;
        }
        let is_sanitising_stuck = self.is_sanitising_awaited();
        if self.worn_out {
            // A trim may still have come, whose record no flash can take any more.
            if is_sanitising_stuck {
                self.fail_guarded();
            }
        } else if is_sanitising_stuck || (self.is_pressed() && self.has_program(now)) {
            self.wear_out();
        }
    }

    /// Whether somebody waits for stale secrets to become unreadable.
    pub(crate) fn is_sanitising_awaited(&self) -> bool {
        self.secrets.as_ref().is_some_and(|secrets| secrets.is_awaited() || (!self.flushes.is_empty() && !secrets.is_idle()))
    }

    /// Take no more writes. What is in the buffer stays readable.
    pub(crate) fn wear_out(&mut self) {
        self.worn_out = true;
        self.notes.push_back(Note::WornOut);
        while let Some(tag) = self.admissions.pop_front() {
            self.parts[tag].ok = false;
            self.parts[tag].unadmitted = 0;
            if self.parts[tag].pending == 0 {
                self.finish(tag);
            }
        }
        self.buffer.give_up();
        while let Some(part) = self.buffer.next_released() {
            self.parts[part].ok = false;
            self.parts[part].pending -= 1;
            if self.parts[part].pending == 0 {
                self.finish(part);
            }
        }
        self.fail_trims();
        self.fail_sealed();
        self.fail_guarded();
    }

    /// Whoever waits for stale secrets waits no longer, and is told so.
    fn fail_guarded(&mut self) {
        let guarded = self.secrets.as_mut().map_or(Vec::new(), |secrets| secrets.give_up());
        for part in guarded {
            self.parts[part].ok = false;
            self.release_part(part);
        }
        self.pass_flushes();
    }

    /// The first sector of the `index`-th unit that `request` covers, and how many it covers there.
    #[inline]
    fn sectors(&self, request: &Request, index: u32) -> (u32, u32) {
        let sectors = self.sectors_per_unit;
        let head = if index == 0 { request.skip_head } else { 0 };
        let tail = if index + 1 == request.units { request.skip_tail } else { 0 };
        debug_assert!(head + tail < sectors && request.op != HostOp::Flush);
        (head, sectors - head - tail)
    }

    /// Those sectors, one bit each.
    #[inline]
    fn mask(&self, request: &Request, index: u32) -> u64 {
        let (first, count) = self.sectors(request, index);
        (u64::MAX >> (64 - count)) << first
    }
}
