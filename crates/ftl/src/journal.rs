//! The journal of trims: how a trim holds its promise through a power cut.
//!
//! A trim leaves old copies of its units on flash, and at a power cut the map that says they are old is gone. So a core that keeps data writes a record of
//! each trim into the journal, and a flush waits for the records before it.
//!
//! ```text
//!   group A   [ snapshot g ][ record page ][ record page ] … full
//!   group B   (erased)                                        [ snapshot g+1 ][ record page ] …     then A is erased
//! ```
//!
//! - Two block groups of the first die are set aside. When one is full, a snapshot goes into the other: one bit for each unit that holds nothing. It makes all
//!   older records needless, so once it is whole the full group is erased. The first generation needs no snapshot: nothing was written before it.
//! - A group whose last valid unit was taken by a trim is not erased before that trim's record is on flash. Otherwise a cut could leave a unit with neither the
//!   trim nor its last data, and something still older would take its place.
//! - A snapshot says nothing of units that are only in the write buffer; a record beside it says which of their older copies are dead.

use std::collections::VecDeque;

use wordline_flash::{Operation, OperationKind, Report, Status};
use wordline_units::{Cause, DieId, Lpn, Nanos};

use crate::buffer::Dropped;
use crate::config::Config;
use crate::die::Entry;
use crate::firmware::Ftl;
use crate::groups::Use;
use crate::journal_page::{Facts, Page, Record, records_per_page, units_per_page};
use crate::layout::{Group, Layout, UnitAddr};
use crate::list::NIL;
use crate::operations::{Pending, Purpose};
use crate::request::Note;

/// The logical unit in the spare areas of journal pages.
pub const JOURNAL: Lpn = Lpn(u32::MAX - 1);
/// Block groups set aside for the journal.
pub(crate) const GROUPS: usize = 2;

/// What the group that is not being written is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Room {
    /// It can take a snapshot.
    Erased,
    /// It must be erased first.
    Used,
    /// It is out of service and nothing could stand in.
    Gone,
}

/// A snapshot that is being written into the other group.
#[derive(Clone, Debug)]
struct Snapshot {
    /// All its pages, padded to whole program units.
    image: Vec<u8>,
    /// Its next program unit.
    program: u32,
    /// Trims up to this version are in it.
    trims: u64,
}

/// The journal of one core.
#[derive(Clone, Debug)]
pub(crate) struct Journal {
    die: DieId,
    groups: [Group; GROUPS],
    /// Which of them holds what is needed.
    active: usize,
    /// Its next program unit.
    program: u32,
    room: Room,
    generation: u64,
    /// Trims whose record was not ordered yet, oldest first.
    pending: VecDeque<Record>,
    /// The version of the newest trim.
    newest: u64,
    /// Trims up to this version are on flash.
    durable: u64,
    /// Somebody waits for records.
    hurry: bool,
    snapshot: Option<Snapshot>,
    /// An operation is under way.
    busy: bool,
    /// The records of the program that is under way.
    ordered: Vec<Record>,
    /// The bytes of the program that is under way.
    image: Vec<u8>,
    /// Trims that wait until they are durable, with their versions.
    waiting: VecDeque<(u32, u64)>,
    /// For each group of the core, which trims must be durable before it is erased.
    holds: Vec<u64>,
    /// Nothing can be written any more.
    stuck: bool,
}

impl Journal {
    /// Whether nothing in `group` is needed to outlast a power cut.
    pub(crate) fn lets_go(&self, group: Group) -> bool {
        self.holds[group.index()] <= self.durable
    }

    fn wants(&self, full: usize) -> bool {
        !self.stuck && self.newest > self.durable && (self.hurry || self.pending.len() >= full)
    }

    /// The groups it has.
    pub(crate) fn groups(&self) -> [Group; GROUPS] {
        self.groups
    }

    /// Go on after a power cut: what is needed is in the group number `active`, which takes no more, of this `generation`.
    pub(crate) fn resume(&mut self, active: usize, generation: u64, programs: u32, room: Room) {
        (self.active, self.generation, self.program, self.room) = (active, generation, programs, room);
    }
}

/// Whether a core with this configuration has room for a journal beside its data, and the journal for its snapshot; or what is missing.
pub fn fits(config: &Config) -> Result<(), String> {
    let layout = Layout::new(&config.sheet, config.dies, config.sheet.geometry.blocks - config.spare_blocks, config.unit);
    let programs = snapshot_programs(config, &layout);
    if programs >= layout.programs as usize {
        return Err(format!(
            "a snapshot of the journal takes {programs} program units and a block group has {}: \
             fewer logical units per core, or a smaller write buffer, would fit",
            layout.programs
        ));
    }
    let reserve = config.dies * (config.reclaim.floor + 2) + GROUPS as u32;
    let (room, needed) = (config.dies * layout.groups, reserve + config.exported_units.div_ceil(layout.units_per_group));
    if needed > room {
        return Err(format!(
            "a core that keeps data needs {needed} block groups, {GROUPS} of them for its journal, and has {room}: show less to the host"
        ));
    }
    Ok(())
}

/// Program units that the longest snapshot takes.
fn snapshot_programs(config: &Config, layout: &Layout) -> usize {
    let page = config.sheet.geometry.page.0 as usize;
    let bits = (config.exported_units as usize).div_ceil(units_per_page(page));
    let records = (config.buffer.units as usize).div_ceil(records_per_page(page));
    (bits + records).div_ceil((layout.units_per_program / layout.units_per_page) as usize)
}

impl Ftl {
    /// Take the last two groups of the first die out of service as data and give them to the journal.
    pub(crate) fn set_journal_aside(&mut self) {
        fits(&self.config).expect("the plan has checked it");
        let die = DieId(0);
        let state = &mut self.dies[die];
        let mut free: Vec<Group> = state.free.iter().copied().collect();
        assert!(free.len() > GROUPS, "the first die has no room for a journal: the plan has checked it");
        free.sort_unstable();
        let groups = [free[free.len() - 2], free[free.len() - 1]];
        state.free.retain(|group| !groups.contains(group));
        for group in groups {
            self.groups.uses[group.index()] = Use::Journal;
        }
        self.journal = Some(Box::new(Journal {
            die,
            groups,
            active: 0,
            program: 0,
            room: Room::Erased,
            generation: 1,
            pending: VecDeque::new(),
            newest: 0,
            durable: 0,
            hurry: false,
            snapshot: None,
            busy: false,
            ordered: Vec::new(),
            image: vec![0; self.unit_bytes(self.layout.units_per_program).0 as usize],
            waiting: VecDeque::new(),
            holds: vec![0; self.layout.group_count()],
            stuck: false,
        }));
    }

    /// The bytes of part `unit` of the journal's program that has just been ordered.
    pub fn journal_bytes(&self, unit: u32) -> &[u8] {
        let journal = self.journal.as_ref().expect("only a core that keeps data programs its journal");
        let bytes = self.config.unit.0 as usize;
        &journal.image[unit as usize * bytes..][..bytes]
    }

    pub(crate) fn journal_generation(&self) -> u64 {
        self.journal.as_ref().map_or(0, |journal| journal.generation)
    }

    fn records_per_program(&self) -> usize {
        let pages = self.layout.units_per_program / self.layout.units_per_page;
        records_per_page(self.config.sheet.geometry.page.0 as usize) * pages as usize
    }

    /// `count` units from `first` have been trimmed.
    pub(crate) fn journal_trim(&mut self, first: u32, count: u32) {
        let full = self.records_per_program();
        let Some(journal) = &mut self.journal else {
            return;
        };
        if count == 0 {
            return;
        }
        let version = self.buffer.next_version();
        journal.newest = version;
        if !journal.stuck {
            journal.pending.push_back(Record { first, count, version });
        }
        if journal.pending.len() >= full {
            let die = journal.die;
            self.wake(die);
        }
    }

    /// The trim `part` waits until all trims up to now are durable; returns whether it has to.
    pub(crate) fn await_trims(&mut self, part: u32) -> bool {
        let version = self.hurry_journal();
        let Some(journal) = self.journal.as_mut().filter(|journal| version > journal.durable) else {
            return false;
        };
        if journal.stuck {
            self.parts[part].ok = false;
            return false;
        }
        journal.waiting.push_back((part, version));
        self.parts[part].pending = 1;
        true
    }

    /// Whoever waits for what a trim has dropped from the buffer waits for the trim's record instead: without either, older data would come back.
    pub(crate) fn inherit(&mut self, dropped: Dropped) {
        let version = self.journal.as_ref().map_or(0, |journal| journal.newest);
        let mut is_awaited = !dropped.waiters.is_empty();
        for flush in self.flushes.iter_mut().filter(|flush| flush.epoch >= dropped.epoch) {
            flush.trims = version;
            is_awaited = true;
        }
        if is_awaited {
            self.hurry_journal();
            let journal = self.journal.as_mut().expect("only a core that keeps data asks");
            journal.waiting.extend(dropped.waiters.into_iter().map(|part| (part, version)));
            if journal.stuck {
                self.fail_trims();
            }
        }
    }

    /// Somebody waits for the records up to now. Returns the version of the newest trim.
    pub(crate) fn hurry_journal(&mut self) -> u64 {
        let Some(journal) = &mut self.journal else {
            return 0;
        };
        let (newest, die) = (journal.newest, journal.die);
        if newest > journal.durable {
            journal.hurry = true;
            self.wake(die);
        }
        newest
    }

    /// Trims up to this version are durable.
    pub(crate) fn trims_durable(&self) -> u64 {
        self.journal.as_ref().map_or(u64::MAX, |journal| journal.durable)
    }

    /// All trims that have emptied `group` must be durable before it is erased.
    pub(crate) fn hold_for_journal(&mut self, group: Group) {
        if let Some(journal) = &mut self.journal {
            journal.holds[group.index()] = journal.newest;
        }
    }

    /// The core takes no more writes: trims that wait will not become durable.
    pub(crate) fn fail_trims(&mut self) {
        let Some(journal) = &mut self.journal else {
            return;
        };
        for (part, _) in std::mem::take(&mut journal.waiting) {
            self.parts[part].ok = false;
            self.release_part(part);
        }
    }

    /// One of the things that `part` waits for is over.
    fn release_part(&mut self, part: u32) {
        self.parts[part].pending -= 1;
        if self.parts[part].pending == 0 && self.parts[part].unadmitted == 0 {
            self.finish(part);
        }
    }

    /// The next operation of `die` that serves the journal.
    #[cold]
    pub(crate) fn journal_step(&mut self, die: DieId) -> Option<Operation> {
        let full = self.records_per_program();
        let programs = self.layout.programs;
        let journal = self.journal.as_mut().filter(|journal| journal.die == die && !journal.busy)?;
        if journal.snapshot.is_some() {
            return Some(self.program_snapshot());
        }
        if journal.room == Room::Used {
            return Some(self.erase_journal());
        }
        if !journal.wants(full) {
            return None;
        }
        if journal.program < programs {
            return Some(self.program_records(full));
        }
        if journal.room == Room::Gone {
            journal.stuck = true;
            if self.worn_out {
                self.fail_trims();
            } else {
                self.wear_out();
            }
            return None;
        }
        self.take_snapshot();
        Some(self.program_snapshot())
    }

    fn program_records(&mut self, full: usize) -> Operation {
        let page_bytes = self.config.sheet.geometry.page.0 as usize;
        let journal = self.journal.as_mut().expect("asked before");
        let count = full.min(journal.pending.len());
        journal.ordered.clear();
        journal.ordered.extend(journal.pending.drain(..count));
        journal.hurry &= !journal.pending.is_empty();
        let mut chunks = journal.ordered.chunks(records_per_page(page_bytes));
        for bytes in journal.image.chunks_exact_mut(page_bytes) {
            let facts = Facts::Records(chunks.next().unwrap_or(&[]).to_vec());
            Page { generation: journal.generation, of_snapshot: None, facts }.write(bytes);
        }
        let (group, program) = (journal.groups[journal.active], journal.program);
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
        let unmapped = bits.chunks(each / 8).enumerate().map(|(index, bits)| Facts::Unmapped {
            first: (index * each) as u32,
            version,
            bits: bits.to_vec(),
        });
        let facts: Vec<Facts> =
            unmapped.chain(records.chunks(records_per_page(page_bytes)).map(|some| Facts::Records(some.to_vec()))).collect();
        let journal = self.journal.as_mut().expect("asked before");
        journal.generation += 1;
        let total = facts.len() as u32;
        let mut image = vec![0; (total as usize * page_bytes).next_multiple_of(journal.image.len())];
        let mut pages = image.chunks_exact_mut(page_bytes);
        for (index, facts) in facts.into_iter().enumerate() {
            let bytes = pages.next().expect("as many as facts, and more");
            Page { generation: journal.generation, of_snapshot: Some((index as u32, total)), facts }.write(bytes);
        }
        for bytes in pages {
            Page { generation: journal.generation, of_snapshot: None, facts: Facts::Records(Vec::new()) }.write(bytes);
        }
        journal.pending.clear();
        journal.hurry = false;
        journal.snapshot = Some(Snapshot { image, program: 0, trims: journal.newest });
    }

    fn program_snapshot(&mut self) -> Operation {
        let journal = self.journal.as_mut().expect("asked before");
        let snapshot = journal.snapshot.as_mut().expect("asked before");
        let length = journal.image.len();
        journal.image.copy_from_slice(&snapshot.image[snapshot.program as usize * length..][..length]);
        let (group, program) = (journal.groups[1 - journal.active], snapshot.program);
        snapshot.program += 1;
        self.order_journal(group, program)
    }

    fn order_journal(&mut self, group: Group, program: u32) -> Operation {
        let units = self.layout.units_per_program;
        let journal = self.journal.as_mut().expect("asked before");
        journal.busy = true;
        let die = journal.die;
        let state = &mut self.dies[die];
        state.begin_batch();
        (0..units).for_each(|unit| state.push_entry(Entry::Journal { unit }, JOURNAL.0));
        let bytes = self.unit_bytes(units);
        let tag = self.pending.insert(Pending { purpose: Purpose::Journal, group, offset: 0, bytes, next: NIL });
        let target = self.layout.all_planes(self.groups.blocks(group), self.layout.first_page(program));
        self.order(die, tag, OperationKind::Program { target, bytes }, Cause::Host)
    }

    fn erase_journal(&mut self) -> Operation {
        let journal = self.journal.as_mut().expect("asked before");
        journal.busy = true;
        let (die, group) = (journal.die, journal.groups[1 - journal.active]);
        let tag = self.pending.insert(Pending { purpose: Purpose::JournalErase, group, offset: 0, bytes: self.unit_bytes(0), next: NIL });
        let target = self.layout.all_planes(self.groups.blocks(group), self.layout.first_page(0));
        self.order(die, tag, OperationKind::Erase { target }, Cause::Host)
    }

    /// A program of journal pages has ended.
    pub(crate) fn journaled(&mut self, now: Nanos, report: &Report) {
        let good = report.status == Status::Good;
        self.dies[report.die].batch.clear();
        let programs = self.layout.programs;
        let journal = self.journal.as_mut().expect("it was ordered");
        journal.busy = false;
        let mut spoilt = None;
        match journal.snapshot.take() {
            Some(snapshot) if good => {
                if (snapshot.program as usize) * journal.image.len() < snapshot.image.len() {
                    journal.snapshot = Some(snapshot);
                } else {
                    let old = journal.groups[journal.active];
                    journal.active = 1 - journal.active;
                    (journal.program, journal.durable, journal.room) = (snapshot.program, snapshot.trims, Room::Used);
                    spoilt = Some(old).filter(|&group| self.groups.is_condemned(group));
                }
            }
            Some(_) => {
                // Nothing in it is needed yet: another snapshot, elsewhere.
                journal.hurry = true;
                spoilt = Some(journal.groups[1 - journal.active]);
            }
            None if good => journal.durable = journal.ordered.last().map_or(journal.durable, |record| record.version),
            None => {
                // What it holds is still readable. A snapshot in the other group comes next.
                journal.ordered.drain(..).rev().for_each(|record| journal.pending.push_front(record));
                (journal.program, journal.hurry) = (programs, true);
                self.groups.condemn(journal.groups[journal.active]);
            }
        }
        if let Some(group) = spoilt {
            self.replace_journal(report.die, group);
        }
        self.release_trims(now);
    }

    /// The erase of the group that is not needed any more has ended.
    pub(crate) fn journal_erased(&mut self, report: &Report, group: Group) {
        let journal = self.journal.as_mut().expect("it was ordered");
        journal.busy = false;
        if report.status == Status::Good {
            journal.room = Room::Erased;
            self.groups.erased(group);
            self.groups.uses[group.index()] = Use::Journal;
        } else {
            self.replace_journal(report.die, group);
        }
    }

    /// Put the journal's `group`, in which nothing is needed, on spare blocks, or do without it.
    fn replace_journal(&mut self, die: DieId, group: Group) {
        let replacement = self.take_spares(die);
        self.groups.retire(group, replacement);
        let journal = self.journal.as_mut().expect("it is its group");
        journal.room = if replacement.is_some() { Room::Erased } else { Room::Gone };
        if replacement.is_some() {
            self.groups.uses[group.index()] = Use::Journal;
        }
        self.notes.push_back(Note::Retired(group));
    }

    /// More trims may be durable: who waited for them goes on.
    fn release_trims(&mut self, now: Nanos) {
        let journal = self.journal.as_mut().expect("it has written");
        let durable = journal.durable;
        let mut done = Vec::new();
        while let Some((part, _)) = journal.waiting.pop_front_if(|&mut (_, version)| version <= durable) {
            done.push(part);
        }
        if journal.newest > durable && (!journal.waiting.is_empty() || !self.flushes.is_empty()) {
            journal.hurry = true;
        }
        done.into_iter().for_each(|part| self.release_part(part));
        for index in 0..self.dies.len() {
            let die = DieId(index as u16);
            if !self.dies[die].erasable.is_empty() {
                self.wake(die);
            }
        }
        self.settle(now);
    }
}
