//! The journal on its way to flash: which operation comes next, and what follows when it ends. `journal.rs` says what for.

use wordline_flash::{Operation, OperationKind, Report, Status};
use wordline_units::{Cause, DieId, Nanos};

use crate::config::Config;
use crate::die::Entry;
use crate::firmware::Ftl;
use crate::groups::Use;
use crate::journal::{JOURNAL, Journal, Other, Snapshot};
use crate::journal_page::{Facts, Page, Record, Serial, marks_per_page, memos_per_page, records_per_page, units_per_page};
use crate::layout::{Group, Layout, UnitAddr};
use crate::memos;
use crate::operations::{Pending, Purpose};
use crate::techniques::seam::EraseReport;

/// What the journal would do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Nothing,
    Records(Group),
    Snapshot(Group),
    Erase(Group),
    /// Something has to be written and there is no place for it.
    NoRoom,
}

impl Journal {
    /// `full`: records that fill a program; `marks`: marks wait to be sealed; `programs`: program units of a group.
    fn next(&self, full: usize, marks: bool, programs: u32) -> Step {
        match (self.other, self.active) {
            _ if self.busy => Step::Nothing,
            (Other::Erased(group), _) if self.snapshot.is_some() => Step::Snapshot(group),
            (Other::Used(group), _) => Step::Erase(group),
            _ if !self.wants(full, marks) => Step::Nothing,
            (_, Some(group)) if !self.is_anew && self.program + u32::from(self.is_narrow && !self.repeats) < programs => {
                Step::Records(group)
            }
            (Other::Erased(group), _) => Step::Snapshot(group),
            (Other::Missing, _) => Step::NoRoom,
        }
    }
}

/// Program units that the longest snapshot takes.
pub(crate) fn snapshot_programs(config: &Config, layout: &Layout) -> usize {
    let page = config.sheet.geometry.page.0 as usize;
    let bits = (config.exported_units as usize).div_ceil(units_per_page(page));
    let records = (config.buffer.units as usize).div_ceil(records_per_page(page));
    let memos = memos::most(config, layout).div_ceil(memos_per_page(page));
    // The units that are refused are told only where marks are.
    let refused = if config.copies_oob() { bits } else { 0 };
    // Those of groups that are open now, and of those that were when the power went.
    let groups = if config.copies_oob() { 2 * layout.dies as usize * (1 + config.order.open_blocks() as usize) } else { 0 };
    let marks = (groups * layout.data_programs as usize).div_ceil(marks_per_page(page, layout.units_per_program as usize));
    (2 * (bits + refused + records + memos + 1) + marks).div_ceil((layout.units_per_program / layout.units_per_page) as usize)
}

impl Ftl {
    fn journal_next(&self) -> Step {
        let marks = self.oob.as_ref().is_some_and(|oob| oob.wants(self.marks_per_program()));
        self.journal.as_ref().map_or(Step::Nothing, |journal| journal.next(self.records_per_program(), marks, self.layout.programs))
    }

    /// The journal may have something to do: the die that it would do it on is to ask.
    #[cold]
    pub(crate) fn wake_journal(&mut self) {
        if self.journal.as_ref().is_some_and(|journal| journal.other == Other::Missing && !journal.stuck) {
            self.find_room_for_journal(self.config.reclaim.floor);
        }
        if let Step::Records(group) | Step::Snapshot(group) | Step::Erase(group) = self.journal_next() {
            self.wake(self.layout.die(group));
        }
    }

    fn find_room_for_journal(&mut self, left: u32) -> bool {
        let Some(group) = self.take_own_group(left) else {
            return false;
        };
        self.journal.as_mut().expect("it wants room").other = Other::Erased(group);
        true
    }

    /// Nothing is under way. If that is because the journal has no room, it takes the last there is, or gives up; returns whether there is something to do now.
    pub(crate) fn rescue_journal(&mut self) -> bool {
        let full = self.records_per_program();
        // Nobody waits for memos, and they are not worth the last room there is. Marks may not be waited for, either.
        let is_awaited = self.oob.as_ref().is_some_and(|oob| oob.is_wanted());
        let is_worth_it = |journal: &Journal| journal.wants_trims(full) || is_awaited;
        if self.journal_next() != Step::NoRoom || self.journal.as_ref().is_some_and(|journal| !is_worth_it(journal)) {
            return false;
        }
        if self.find_room_for_journal(0) {
            self.wake_journal();
            return true;
        }
        self.journal.as_mut().expect("it wants room").stuck = true;
        if self.worn_out {
            self.fail_trims();
        } else {
            self.wear_out();
        }
        false
    }

    /// The next operation of `die` that serves the journal.
    #[cold]
    pub(crate) fn journal_step(&mut self, die: DieId) -> Option<Operation> {
        let step = self.journal_next();
        match step {
            Step::Records(group) | Step::Snapshot(group) | Step::Erase(group) if self.layout.die(group) != die => None,
            Step::Nothing | Step::NoRoom => None,
            Step::Records(group) => Some(self.program_records(group)),
            Step::Snapshot(group) => {
                if self.journal.as_ref().is_some_and(|journal| journal.snapshot.is_none()) {
                    self.take_snapshot();
                }
                Some(self.program_snapshot(group))
            }
            Step::Erase(group) => Some(self.erase_journal(group)),
        }
    }

    fn program_records(&mut self, group: Group) -> Operation {
        let page_bytes = self.config.sheet.geometry.page.0 as usize;
        let marks_each = marks_per_page(page_bytes, self.layout.units_per_program as usize);
        let journal = self.journal.as_mut().expect("asked before");
        if !journal.repeats {
            let pages = journal.image.len() / page_bytes;
            let copies = if journal.is_narrow { 1 } else { 2 };
            let mut facts = Vec::new();
            // Memos come first: they are few, and one page is enough for a long time.
            let memos = journal.memos.order(memos_per_page(page_bytes), &self.groups);
            facts.extend((!memos.is_empty()).then_some(Facts::Memos(memos)));
            let count = ((pages / copies - facts.len()) * records_per_page(page_bytes)).min(journal.pending.len());
            journal.ordered.clear();
            journal.ordered.extend(journal.pending.drain(..count));
            journal.hurry &= !journal.pending.is_empty();
            facts.extend(journal.ordered.chunks(records_per_page(page_bytes)).map(|some| Facts::Records(some.to_vec())));
            let mirrored = facts.len();
            let records = self.oob.as_mut().map_or(Vec::new(), |oob| oob.order((pages - mirrored * copies) * marks_each, &self.groups));
            facts.extend(records.chunks(marks_each).map(|some| Facts::Marks(some.to_vec())));
            journal.is_mirrored = mirrored > 0;
            journal.serial.here = [0; 2];
            let mut written = Vec::new();
            for facts in facts {
                written.push(journal.page(None, facts));
            }
            // The second copies lie in other planes, as far as there are any.
            let (first, rest) = written.split_at(mirrored);
            let all = first.iter().chain(first.iter().take(if copies == 2 { mirrored } else { 0 })).chain(rest);
            journal.image.fill(0);
            all.zip(journal.image.chunks_exact_mut(page_bytes)).for_each(|(page, bytes)| page.write(bytes));
        }
        let program = journal.program;
        journal.program += 1;
        self.order_journal(group, program)
    }

    /// Set down which units hold nothing.
    fn take_snapshot(&mut self) {
        let page_bytes = self.config.sheet.geometry.page.0 as usize;
        let version = self.buffer.next_version();
        let exported = self.map.exported();
        let mut bits = vec![0u8; (exported as usize).div_ceil(8)];
        for lpn in (0..exported).filter(|&lpn| self.map.get(lpn) == UnitAddr::NONE) {
            bits[lpn as usize / 8] |= 1 << (lpn % 8);
        }
        let mut records = Vec::new();
        for (first, version) in self.buffer.wanted().filter(|&(lpn, _)| self.map.get(lpn) == UnitAddr::NONE) {
            bits[first as usize / 8] &= !(1 << (first % 8));
            records.push(Record { first, count: 1, version });
        }
        let each = units_per_page(page_bytes);
        let mut facts: Vec<Facts> = bits
            .chunks(each / 8)
            .enumerate()
            .map(|(index, bits)| Facts::Unmapped { first: (index * each) as u32, version, bits: bits.to_vec() })
            .collect();
        let history = self.history_now(version);
        if let Some(refused) = &self.refused {
            let chunks = (0..exported).step_by(each);
            facts.extend(chunks.filter_map(|first| {
                let bits = refused.chunk(first, each / 8, exported)?;
                Some(Facts::Refused { first, version: refused.version(), bits })
            }));
        }
        let journal = self.journal.as_mut().expect("asked before");
        let memos = journal.memos.order_all(&self.groups);
        facts.extend(records.chunks(records_per_page(page_bytes)).map(|some| Facts::Records(some.to_vec())));
        facts.extend(memos.chunks(memos_per_page(page_bytes)).map(|some| Facts::Memos(some.to_vec())));
        facts.push(Facts::History(history));
        let marks_each = marks_per_page(page_bytes, self.layout.units_per_program as usize);
        let marks = self.oob.as_mut().map_or(Vec::new(), |oob| oob.order_all(&self.groups));
        journal.generation += 1;
        journal.serial = Serial::default();
        let total = facts.len() as u32;
        let mut mirrored: Vec<Page> = (0..).zip(facts).map(|(index, facts)| journal.page(Some((index, total)), facts)).collect();
        let mut marks: Vec<Page> = marks.chunks(marks_each).map(|some| journal.page(None, Facts::Marks(some.to_vec()))).collect();
        // Marks come last: whether the snapshot is whole shows only if its first pages say how many there are.
        mirrored.iter_mut().for_each(|page| page.serial.marks = marks.len() as u32);
        // Of mirrored pages, a snapshot that is whole needs no other proof.
        mirrored.iter_mut().for_each(|page| page.serial.here = [u8::MAX; 2]);
        let each = journal.image.len() / page_bytes;
        for (position, page) in (2 * mirrored.len()..).zip(&mut marks) {
            let begin = position / each * each;
            let before = [begin.min(mirrored.len()), begin.saturating_sub(2 * mirrored.len())];
            let so_far = [mirrored.len(), page.serial.own as usize];
            page.serial.here = std::array::from_fn(|kind| (so_far[kind] - before[kind]).min(255) as u8);
        }
        let count = 2 * mirrored.len() + marks.len();
        let room = self.layout.programs as usize * (journal.image.len() / page_bytes);
        assert!(count <= room, "a snapshot of {count} pages, and a group of {room}");
        let mut image = vec![0; (count * page_bytes).next_multiple_of(journal.image.len())];
        let all = mirrored.iter().chain(&mirrored).chain(&marks);
        all.zip(image.chunks_exact_mut(page_bytes)).for_each(|(page, bytes)| page.write(bytes));
        journal.pending.clear();
        journal.hurry = false;
        (journal.repeats, journal.is_anew) = (false, false);
        journal.snapshot = Some(Snapshot { image, program: 0, trims: journal.newest });
    }

    fn program_snapshot(&mut self, group: Group) -> Operation {
        let journal = self.journal.as_mut().expect("asked before");
        let snapshot = journal.snapshot.as_mut().expect("asked before");
        let length = journal.image.len();
        journal.image.copy_from_slice(&snapshot.image[snapshot.program as usize * length..][..length]);
        let program = snapshot.program;
        snapshot.program += 1;
        self.order_journal(group, program)
    }

    fn order_journal(&mut self, group: Group, program: u32) -> Operation {
        let units = self.layout.units_per_program;
        let journal = self.journal.as_mut().expect("asked before");
        journal.busy = true;
        let die = self.layout.die(group);
        let state = &mut self.dies[die];
        state.begin_batch();
        (0..units).for_each(|unit| state.push_entry(Entry::Journal { unit }, JOURNAL.0));
        let bytes = self.unit_bytes(units);
        let tag = self.pending.insert(Pending::new(Purpose::Journal, group, 0, bytes));
        let target = self.layout.all_planes(self.groups.blocks(group), self.layout.first_page(program));
        self.order(die, tag, OperationKind::Program { target, bytes }, Cause::Recovery)
    }

    fn erase_journal(&mut self, group: Group) -> Operation {
        self.journal.as_mut().expect("asked before").busy = true;
        let die = self.layout.die(group);
        let tag = self.pending.insert(Pending::new(Purpose::JournalErase, group, 0, self.unit_bytes(0)));
        let target = self.layout.all_planes(self.groups.blocks(group), self.layout.first_page(0));
        self.order(die, tag, OperationKind::Erase { target }, Cause::Recovery)
    }

    /// A program of journal pages in `group` has ended.
    pub(crate) fn journaled(&mut self, now: Nanos, report: &Report, group: Group) {
        let good = report.status == Status::Good;
        self.dies[report.die].batch.clear();
        let programs = self.layout.programs;
        let journal = self.journal.as_mut().expect("it was ordered");
        journal.busy = false;
        let (mut spoilt, mut sealed) = (None, None);
        match journal.snapshot.take() {
            Some(snapshot) if good => {
                if (snapshot.program as usize) * journal.image.len() < snapshot.image.len() {
                    journal.snapshot = Some(snapshot);
                } else {
                    journal.memos.end(true);
                    let old = journal.active.replace(group);
                    journal.program = snapshot.program;
                    journal.made_durable(snapshot.trims);
                    sealed = Some(true);
                    journal.other = old.map_or(Other::Missing, Other::Used);
                    spoilt = old.filter(|&group| self.groups.is_condemned(group));
                }
            }
            Some(_) => {
                // Nothing in it is needed yet: another snapshot, elsewhere.
                journal.hurry = true;
                journal.memos.end(false);
                sealed = Some(false);
                spoilt = Some(group);
            }
            None if good && journal.is_narrow && journal.is_mirrored && !journal.repeats => journal.repeats = true,
            None if good => {
                journal.repeats = false;
                journal.memos.end(true);
                journal.made_durable(journal.ordered.last().map_or(journal.durable, |record| record.version));
                journal.ordered.clear();
                sealed = Some(true);
            }
            None => {
                // What it holds is still readable. A snapshot in the other group comes next.
                journal.ordered.drain(..).rev().for_each(|record| journal.pending.push_front(record));
                (journal.program, journal.hurry, journal.repeats) = (programs, true, false);
                journal.memos.end(false);
                sealed = Some(false);
                self.groups.condemn(group);
            }
        }
        if let (Some(oob), Some(good)) = (&mut self.oob, sealed) {
            oob.journaled(good);
        }
        if let Some(group) = spoilt {
            self.replace_journal(group);
            self.erase_ended(EraseReport::without_erase(group));
        }
        self.release_trims(now);
        self.wake_journal();
    }

    /// The erase of the group that is not needed any more has ended.
    pub(crate) fn journal_erased(&mut self, report: &Report, group: Group) {
        self.journal.as_mut().expect("it was ordered").busy = false;
        if report.status == Status::Good {
            self.groups.erased(group);
            self.dies[report.die].free.push_back(group);
            let next = self.take_own_group(self.config.reclaim.floor).unwrap_or_else(|| {
                // Its die has none to spare: it goes on with this one.
                self.dies[report.die].free.pop_back();
                self.groups.uses[group.index()] = Use::Journal;
                group
            });
            self.journal.as_mut().expect("it was ordered").other = Other::Erased(next);
        } else {
            self.replace_journal(group);
        }
        // After a power cut it may have been taken as it was, with what its last user has left in it.
        self.erase_ended(EraseReport::of(report, group));
        self.wake_journal();
    }

    /// The journal's other `group`, in which nothing is needed, has failed: it is put on spare blocks or goes out of service, and the journal looks elsewhere.
    fn replace_journal(&mut self, group: Group) {
        self.journal.as_mut().expect("it is its group").other = Other::Missing;
        self.replace(self.layout.die(group), group);
    }

    /// More trims may be durable: who waited for them goes on.
    fn release_trims(&mut self, now: Nanos) {
        let is_flushed = self.is_flush_ready_for_trims();
        let journal = self.journal.as_mut().expect("it has written");
        let durable = journal.known();
        if journal.newest > durable && (!journal.waiting.is_empty() || is_flushed) {
            journal.hurry = true;
        }
        self.release_known();
        self.release_sealed();
        for index in 0..self.dies.len() {
            let die = DieId(index as u16);
            if !self.dies[die].erasable.is_empty() || self.secrets.as_ref().is_some_and(|secrets| secrets.has_duties(die)) {
                self.wake(die);
            }
        }
        self.wake_keys();
        self.settle(now);
    }
}
