//! Flash operations under way: what each was for, and what follows when it ends.

use wordline_flash::{Operation, OperationKind, Report, Status};
use wordline_units::{Bytes, Cause, DieId, Lpn, Nanos};

use crate::buffer::Landing;
use crate::config::Protection;
use crate::die::{Activity, Entry, Moved};
use crate::firmware::Ftl;
use crate::groups::Use;
use crate::layout::{Group, Place, UnitAddr};
use crate::list::NIL;
use crate::techniques::hooks::{Hook, Hooks};
use crate::techniques::say::Way;
use crate::techniques::seam::{Busy, CopyReport, EraseReport, FlashPage, News, ProgramUnit, ReadReport};

/// What a read that has ended is told to, and may set going.
const OF_READS: Hooks = Hooks::of(&[Hook::Read, Hook::MayWork]);

/// What is told and asked of a program that has ended.
const OF_PROGRAMS: Hooks = Hooks::of(&[Hook::Programmed, Hook::ProgramSettings, Hook::Distrusts]);

/// Questions about a program or erase that is under way.
const STOPPING: Hooks = Hooks::of(&[Hook::Stop, Hook::Hold]);

/// What an operation is for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Purpose {
    /// Part of a host read.
    HostRead { part: u32 },
    /// The rest of a partly written unit.
    Fill { slot: u32 },
    /// Valid units of a victim's page, one bit each from the page's first unit.
    Move { units: u64 },
    /// A program of the die's batch; `closes`: the last of its group.
    Program { program: u32, closes: bool },
    /// An erase.
    Erase,
    /// A move of a program unit without the bus.
    Copyback { from: Group, from_program: u32, program: u32 },
    /// A program of journal pages.
    Journal,
    /// A program of pages of a checkpoint.
    Checkpoint,
    /// A program of pages of the key store.
    Keys,
    /// A program of the summary of its group.
    Oob { program: u32 },
    /// The erase of the journal group that is not needed any more.
    JournalErase,
    /// Something is made unreadable.
    Sanitise { duty: u32 },
}

/// An operation queued or under way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pending {
    pub(crate) purpose: Purpose,
    /// The group it acts on; for a copyback, the one it writes.
    pub(crate) group: Group,
    /// The unit a read is after.
    pub(crate) offset: u32,
    pub(crate) bytes: Bytes,
    /// The next read in the die's queue.
    pub(crate) next: u32,
    /// Of a read: what it is for.
    pub(crate) cause: Cause,
}

impl Pending {
    /// An operation that nothing is queued behind.
    #[inline]
    pub(crate) fn new(purpose: Purpose, group: Group, offset: u32, bytes: Bytes) -> Pending {
        Pending { purpose, group, offset, bytes, next: NIL, cause: Cause::Host }
    }

    /// A read for `cause`.
    #[inline]
    pub(crate) fn read(purpose: Purpose, group: Group, offset: u32, bytes: Bytes, cause: Cause) -> Pending {
        Pending { cause, ..Pending::new(purpose, group, offset, bytes) }
    }
}

impl Ftl {
    /// Order the read `tag` of the page it names.
    pub(crate) fn order_read(&mut self, die: DieId, tag: u32) -> Operation {
        let Pending { group, offset, bytes, cause, .. } = self.pending[tag];
        let place = self.layout.place(offset);
        let target = self.layout.one_plane(self.groups.blocks(group), place.plane, place.page);
        let begin = if self.panel.has(Hook::ReadEntry) { self.read_entry(group, &place) } else { 0 };
        self.order(die, tag, OperationKind::Read { target, bytes, begin }, cause)
    }

    #[inline(never)]
    fn read_entry(&self, group: Group, place: &Place) -> u8 {
        let at = FlashPage { group, plane: place.plane, page: place.page };
        self.panel.read_entry(&self.ctx(), at).unwrap_or(0)
    }

    /// Let the techniques learn that the page that holds `offset` of `group` was read for `cause`.
    #[inline]
    fn page_read(&mut self, report: &Report, group: Group, offset: u32, cause: Cause) {
        if self.panel.has_any(OF_READS) {
            self.tell_read(report, group, offset, cause);
        }
    }

    #[inline(never)]
    fn tell_read(&mut self, report: &Report, group: Group, offset: u32, cause: Cause) {
        let at = self.page_at(group, offset);
        let &Report { status, retries, entry, corrected_bits: worst, array, .. } = report;
        self.notify(News::Read(ReadReport { at, cause, status, retries, entry, worst, array }));
        if self.panel.has(Hook::MayWork) {
            self.look_again(report.die, group);
        }
    }

    /// Let the techniques learn that valid units of the page that holds `offset` of `group` could not be read.
    #[cold]
    fn tell_lost(&mut self, group: Group, offset: u32, units: u64) {
        let at = self.page_at(group, offset);
        self.notify(News::DataLost { at, units: units.count_ones() as u16 });
    }

    /// The page that holds `offset` of `group`.
    fn page_at(&self, group: Group, offset: u32) -> FlashPage {
        let Place { page, plane, .. } = self.layout.place(offset);
        FlashPage { group, plane, page }
    }

    pub(crate) fn order(&mut self, die: DieId, tag: u32, kind: OperationKind, cause: Cause) -> Operation {
        self.under_way += 1;
        if self.panel.has_any(STOPPING) {
            self.note_busy(die, tag, kind, cause);
        }
        let state = &mut self.dies[die];
        state.activity = match (state.activity, kind) {
            (Activity::Suspended(of), _) => Activity::Suspended(of),
            (_, OperationKind::Program { .. } | OperationKind::Erase { .. }) => Activity::Working(cause),
            (
                _,
                OperationKind::Read { .. }
                | OperationKind::Copyback { .. }
                | OperationKind::Sanitise { .. }
                | OperationKind::Suspend
                | OperationKind::Resume,
            ) => Activity::Busy,
        };
        Operation { tag, die, kind, cause }
    }

    /// Keep what is under way for whoever is asked whether it is stopped.
    #[cold]
    #[inline(never)]
    fn note_busy(&mut self, die: DieId, tag: u32, kind: OperationKind, cause: Cause) {
        let is_erase = matches!(kind, OperationKind::Erase { .. });
        if is_erase || matches!(kind, OperationKind::Program { .. }) {
            self.dies[die].busy = Busy { die, is_erase, cause, group: self.pending[tag].group, stops: 0 };
        }
    }

    /// An operation has ended.
    pub(crate) fn conclude(&mut self, now: Nanos, report: &Report, spare: &[Lpn]) {
        let Pending { purpose, group, offset, cause, .. } = self.pending.remove(report.tag);
        match purpose {
            Purpose::HostRead { part } => {
                self.history.media_errors += u64::from(report.status != Status::Good);
                self.groups.unpin(group);
                self.end_reading(group, offset);
                let state = &mut self.parts[part];
                state.ok &= report.status == Status::Good;
                state.pending -= 1;
                if state.pending == 0 {
                    self.finish(part);
                }
                self.page_read(report, group, offset, cause);
                self.wake_for_erase(report.die, group);
            }
            Purpose::Fill { slot } => {
                self.history.media_errors += u64::from(report.status != Status::Good);
                self.groups.unpin(group);
                self.complete(slot, self.layout.unit(group, offset));
                self.end_reading(group, offset);
                self.admit_waiting(now);
                // A unit that was trimmed meanwhile is let go here, and somebody may have waited for it to become durable.
                self.settle(now);
                self.page_read(report, group, offset, cause);
                self.wake_for_erase(report.die, group);
            }
            Purpose::Move { units } => {
                let first = self.layout.page_start(offset);
                let mut left = units;
                while left != 0 {
                    let unit = left.trailing_zeros();
                    left &= left - 1;
                    // The host may have overwritten it while it was read.
                    if self.groups.is_valid(group, first + unit) {
                        let from = self.layout.unit(group, first + unit);
                        // Reclaim and a sanitiser may have read it both.
                        if self.secrets.is_some() && self.is_on_its_way(report.die, from) {
                            continue;
                        }
                        let lpn = self.named(spare[unit as usize].0, from);
                        self.map.prefetch(lpn);
                        self.dies[report.die].moved.push_back(Moved { lpn, from });
                    }
                }
                self.groups.unpin(group);
                self.dies[report.die].moves_under_way -= 1;
                self.wake(report.die);
                self.page_read(report, group, offset, cause);
                if report.status != Status::Good {
                    self.tell_lost(group, offset, units);
                }
            }
            Purpose::Program { program, closes } => self.programmed(now, report, group, program, closes),
            Purpose::Copyback { from, from_program, program } => self.copied(now, report, (from, from_program), (group, program), spare),
            Purpose::Erase => self.erased(report, group),
            Purpose::Journal => self.journaled(now, report, group),
            Purpose::Keys => self.keys_programmed(now, report, group),
            Purpose::Checkpoint => self.checkpointed(now, report, group),
            Purpose::Oob { program } => self.summarised(now, report, group, program),
            Purpose::JournalErase => self.journal_erased(report, group),
            Purpose::Sanitise { duty } => self.sanitised(report, duty),
        }
    }

    /// The unit at `addr`, which is valid: `marked` as the spare area says, or as the map knows where that can no longer be read.
    #[inline]
    pub(crate) fn named(&self, marked: u32, addr: UnitAddr) -> u32 {
        if marked < self.map.exported() { marked } else { self.look_up(addr) }
    }

    #[cold]
    fn look_up(&self, addr: UnitAddr) -> u32 {
        (0..self.map.exported()).find(|&lpn| self.map.get(lpn) == addr).expect("what is valid is mapped")
    }

    fn programmed(&mut self, now: Nanos, report: &Report, group: Group, program: u32, closes: bool) {
        let mut batch = std::mem::take(&mut self.dies[report.die].batch);
        let first = program * self.layout.units_per_program;
        let carried = self.secrets.is_some().then(|| self.before_landing(&batch));
        if self.oob.is_some() {
            // Before anything becomes stale by it: what that was must not be erased before this program is sealed.
            let is_host = batch.iter().any(|entry| matches!(entry, Entry::Host { .. }));
            self.note_landing(report.die, (group, program), (report.status == Status::Good, is_host));
        }
        if self.panel.has_any(OF_PROGRAMS) && self.is_distrusted(report, group, program) {
            self.program_again(now, report.die, (group, program), closes, &batch, carried.as_deref());
        } else if report.status == Status::Good {
            let moved = if self.panel.has(Hook::Moved) { Some(self.sources_of(&batch)) } else { None };
            let mut valid = 0;
            let per_page = self.layout.units_per_page;
            if per_page == 1 {
                for (unit, &entry) in batch.iter().enumerate() {
                    let (lpn, is_host) = self.landed(entry);
                    valid += self.land_unit(lpn, self.layout.unit(group, first + unit as u32), is_host);
                }
            } else {
                for (page, entries) in batch.chunks_exact(per_page as usize).enumerate() {
                    valid += self.land_page(entries, self.layout.unit(group, first + page as u32 * per_page));
                }
            }
            self.groups.add_valid(group, valid);
            if let Some(sources) = moved {
                self.tell_moved(sources, group, program);
            }
            if self.oob.is_some() {
                self.hold_back_released();
            }
            if self.config.buffer.protection == Protection::Capacitor {
                // A unit that was trimmed on its way here is no longer in the buffer, and never valid here.
                self.hold_for_journal(group);
            }
            if closes {
                self.complete_group(group);
            }
            if self.checkpoints.is_some() {
                self.count_for_checkpoint();
            }
            if let Some(carried) = carried {
                self.after_landing(group, first, true, &carried);
            }
            self.settle(now);
        } else {
            self.take_back(report.die, &batch);
            self.abandon(report.die, group, program);
            if let Some(carried) = carried {
                self.after_landing(group, first, false, &carried);
            }
            self.settle(now);
        }
        batch.clear();
        self.dies[report.die].batch = batch;
    }

    /// The groups that the moved units of `batch` leave, and how many leave each.
    #[cold]
    fn sources_of(&self, batch: &[Entry]) -> Vec<(Group, u16)> {
        let mut sources: Vec<(Group, u16)> = Vec::new();
        for entry in batch {
            let Entry::Moved(Moved { lpn, from }) = *entry else { continue };
            if self.map.get(lpn) == from {
                let group = self.layout.group(from);
                match sources.iter_mut().find(|(known, _)| *known == group) {
                    Some((_, units)) => *units += 1,
                    None => sources.push((group, 1)),
                }
            }
        }
        sources
    }

    /// Units that have left `sources` lie at `program` of `group`.
    #[cold]
    fn tell_moved(&mut self, sources: Vec<(Group, u16)>, group: Group, program: u32) {
        let to = ProgramUnit::new(&self.layout, group, program);
        sources.into_iter().for_each(|(from, units)| self.notify(News::Moved { from, to, units, way: Way::Bus }));
    }

    /// What was to be programmed waits again.
    pub(crate) fn take_back(&mut self, die: DieId, batch: &[Entry]) {
        for entry in batch.iter().rev() {
            match *entry {
                Entry::Host { slot } => self.buffer.failed(slot),
                Entry::Moved(moved) => self.dies[die].moved.push_front(moved),
                Entry::Padding | Entry::Journal { .. } | Entry::Checkpoint { .. } | Entry::Keys { .. } | Entry::Oob { .. } => {}
            }
        }
    }

    /// The unit of `entry` is on flash: the logical unit that lies there now, or none, and whether the data is the host's.
    #[inline]
    fn landed(&mut self, entry: Entry) -> (u32, bool) {
        match entry {
            Entry::Host { slot } => match self.buffer.landed(slot) {
                Landing::Commit(lpn) => {
                    self.trust(lpn);
                    (lpn, true)
                }
                Landing::Discard => {
                    self.invalidated += 1;
                    (u32::MAX, true)
                }
            },
            // The host may have overwritten it while it moved.
            Entry::Moved(Moved { lpn, from }) if self.map.get(lpn) == from => (lpn, false),
            Entry::Moved(_)
            | Entry::Padding
            | Entry::Journal { .. }
            | Entry::Checkpoint { .. }
            | Entry::Keys { .. }
            | Entry::Oob { .. } => (u32::MAX, false),
        }
    }

    /// The units of one page are on flash, from `addr` on; returns how many of them are valid.
    fn land_page(&mut self, entries: &[Entry], addr: UnitAddr) -> u32 {
        let mut run = std::mem::take(&mut self.run);
        run.clear();
        let mut is_host = false;
        for &entry in entries {
            let (lpn, by_host) = self.landed(entry);
            is_host |= by_host;
            run.push(lpn);
        }
        self.changes += u64::from(is_host);
        let per_page = self.layout.units_per_page;
        let is_whole =
            run[0] != u32::MAX && run[0].is_multiple_of(per_page) && run.windows(2).all(|pair| pair[1] == pair[0].wrapping_add(1));
        let valid = if is_whole { self.land_run(run[0], addr, is_host) } else { self.land_units(&run, addr, is_host) };
        self.run = run;
        valid
    }

    /// A page of consecutive units: one entry of a compact map is enough for all of them.
    fn land_run(&mut self, lpn: u32, addr: UnitAddr, is_host: bool) -> u32 {
        let mut stale = std::mem::take(&mut self.stale);
        let mut at = lpn;
        self.map.set_page(lpn, addr, |before| {
            if before != UnitAddr::NONE {
                stale.push((at, before));
            }
            at += 1;
        });
        if is_host {
            self.invalidated += stale.len() as u32;
        }
        stale.drain(..).for_each(|(lpn, addr)| self.invalidate(lpn, addr));
        self.stale = stale;
        self.layout.units_per_page
    }

    fn land_units(&mut self, lpns: &[u32], addr: UnitAddr, is_host: bool) -> u32 {
        (addr.0..).zip(lpns).map(|(addr, &lpn)| self.land_unit(lpn, UnitAddr(addr), is_host)).sum()
    }

    /// `lpn`, or nothing that is wanted, lies at `addr` now; returns how many valid units that makes.
    #[inline]
    fn land_unit(&mut self, lpn: u32, addr: UnitAddr, is_host: bool) -> u32 {
        if lpn == u32::MAX {
            self.groups.add_stale(addr);
            return 0;
        }
        let had_data = self.repoint(lpn, addr);
        self.invalidated += u32::from(is_host && had_data);
        1
    }

    #[inline(never)]
    fn copied(&mut self, now: Nanos, report: &Report, from: (Group, u32), to: (Group, u32), spare: &[Lpn]) {
        let units = self.layout.units_per_program;
        let [source, place] = [from, to].map(|(group, program)| ProgramUnit::new(&self.layout, group, program));
        self.notify(News::Copied(CopyReport { from: source, to: place, status: report.status, array: report.array }));
        let named: Vec<Lpn>;
        let mut spare = spare;
        if self.oob.is_some() {
            named = self.name_copied(report.die, from, spare);
            spare = &named;
            self.note_landing(report.die, to, (report.status == Status::Good, false));
        }
        if report.status != Status::Good {
            // The source is untouched, so its units are moved again.
            let job = self.dies[report.die].job.as_mut().expect("a copyback belongs to a reclaim job");
            assert_eq!(job.victim, from.0);
            job.cursor = from.1 * units;
            self.abandon(report.die, to.0, to.1);
            self.guard_copyback(false, from, to, spare);
            return self.settle(now);
        }
        let mut valid = 0;
        for unit in 0..units {
            let source = self.layout.unit(from.0, from.1 * units + unit);
            let addr = self.layout.unit(to.0, to.1 * units + unit);
            if self.groups.is_valid(from.0, from.1 * units + unit)
                && self.land_moved(self.named(spare[unit as usize].0, source), source, addr)
            {
                valid += 1;
            } else {
                self.groups.add_stale(addr);
            }
        }
        self.groups.add_valid(to.0, valid);
        self.notify(News::Moved { from: from.0, to: place, units: valid as u16, way: Way::Copyback });
        if to.1 + 1 == self.layout.data_programs {
            self.complete_group(to.0);
        }
        if self.checkpoints.is_some() {
            self.count_for_checkpoint();
        }
        self.guard_copyback(true, from, to, spare);
        self.settle(now);
    }

    fn guard_copyback(&mut self, good: bool, from: (Group, u32), to: (Group, u32), spare: &[Lpn]) {
        if self.secrets.is_some() {
            let units = self.layout.units_per_program;
            let lpns: Vec<u32> = spare.iter().map(|lpn| lpn.0).collect();
            self.after_copyback(good, (from.0, from.1 * units), (to.0, to.1 * units), &lpns);
        }
    }

    /// Point `lpn` at `addr`; what it pointed at before, if anything, is stale. Returns whether there was something.
    #[inline]
    pub(crate) fn repoint(&mut self, lpn: u32, addr: UnitAddr) -> bool {
        let before = self.map.set(lpn, addr);
        if before == UnitAddr::NONE {
            return false;
        }
        self.invalidate(lpn, before);
        true
    }

    /// A moved unit is on flash again; returns whether it is still the newest.
    #[inline]
    fn land_moved(&mut self, lpn: u32, from: UnitAddr, addr: UnitAddr) -> bool {
        if self.map.get(lpn) != from {
            return false;
        }
        self.repoint(lpn, addr);
        true
    }

    /// The data at `addr` is not wanted any more.
    #[inline]
    pub(crate) fn invalidate(&mut self, lpn: u32, addr: UnitAddr) {
        self.expose(lpn, addr);
        if let Some(oob) = &mut self.oob {
            oob.hold(self.layout.group(addr));
        }
        if self.groups.invalidate(addr) {
            let group = self.layout.group(addr);
            self.emptied(group);
        }
        if self.starved {
            self.wake_starved();
        }
    }

    #[inline(never)]
    fn erased(&mut self, report: &Report, group: Group) {
        if report.status == Status::Good {
            self.groups.erased(group);
            self.next_epoch(group);
            self.dies[report.die].free.push_back(group);
            self.level_wear(report.die, group);
        } else {
            self.replace(report.die, group);
        }
        self.erase_ended(EraseReport::of(report, group));
        if self.journal.is_some() {
            self.wake_journal();
        }
    }

    /// A group holds nothing any more: it was erased, or has left its blocks. Whatever is known of what it held is forgotten.
    pub(crate) fn erase_ended(&mut self, report: EraseReport) {
        let group = report.group;
        self.forget_marks(group);
        self.secrets_erased(group);
        self.wake_keys();
        self.forget_settled(group);
        self.forget_memos(group);
        self.notify(News::Erased(report));
    }

    /// What follows a change of the buffer or of the free space: waiting writes come in, flushes pass.
    #[inline]
    pub(crate) fn settle(&mut self, now: Nanos) {
        if self.oob.is_some() {
            self.release_sealed();
        }
        while let Some(part) = self.buffer.next_released() {
            self.parts[part].pending -= 1;
            if self.parts[part].pending == 0 && self.parts[part].unadmitted == 0 {
                self.finish(part);
            }
        }
        if self.buffer.has_retired() {
            self.buffer.pass_retired(self.trims_newest(), self.trims_durable());
        }
        if !self.admissions.is_empty() {
            self.admit_waiting(now);
        }
        if !self.flushes.is_empty() {
            self.pass_flushes();
        }
    }

    /// A pinned group that only waited for its readers can be erased now.
    fn wake_for_erase(&mut self, die: DieId, group: Group) {
        if self.groups.use_of(group) == Use::Drained && !self.groups.is_pinned(group) && self.idle.contains(die) {
            self.wake(die);
        }
    }

    #[inline]
    pub(crate) fn wake(&mut self, die: DieId) {
        if self.idle.contains(die) {
            self.idle.remove(die);
            self.ready.push(die);
        }
    }

    #[cold]
    fn wake_starved(&mut self) {
        self.starved = false;
        for index in 0..self.dies.len() {
            let die = DieId(index as u16);
            if std::mem::take(&mut self.dies[die].starved) {
                self.wake(die);
            }
        }
    }

    /// Take the first read of `queue` of `die`.
    pub(crate) fn pop_read(&mut self, die: DieId, queue: usize) -> Option<u32> {
        let fifo = &mut self.dies[die].reads[queue];
        if fifo.head == NIL {
            return None;
        }
        let tag = fifo.head;
        fifo.head = self.pending[tag].next;
        if fifo.head == NIL {
            fifo.tail = NIL;
        }
        self.dies[die].reads_waiting -= 1;
        Some(tag)
    }

    /// Queue the read `tag` at `die`.
    pub(crate) fn push_read(&mut self, die: DieId, queue: usize, tag: u32) {
        let fifo = &mut self.dies[die].reads[queue];
        match fifo.tail {
            NIL => fifo.head = tag,
            tail => self.pending[tail].next = tag,
        }
        self.dies[die].reads[queue].tail = tag;
        self.dies[die].reads_waiting += 1;
    }
}
