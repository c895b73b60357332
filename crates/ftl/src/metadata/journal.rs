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
//! - The journal has two block groups, wherever there were free ones. When one is full, a snapshot goes into the other: one bit for each unit that holds
//!   nothing. It makes all older records needless, so once it is whole the full group is erased, and gives its place to a less worn one. The first generation
//!   needs no snapshot: nothing was written before it.
//! - A group whose last valid unit was taken by a trim is not erased before that trim's record is on flash. Otherwise a cut could leave a unit with neither the
//!   trim nor its last data, and something still older would take its place.
//! - A snapshot says nothing of units that are only in the write buffer; a record beside it says which of their older copies are dead.
//!
//! - Marks of program units whose group has no summary yet (`oob.rs`) stand beside the records, and all that are needed in the snapshot.
//! - What cannot be found anywhere else, trims and memos, is programmed twice, so that one unreadable page loses none of it.
//! - Where capacitors keep the write buffer they keep trims too, until the journal has them.
//!
//! - Memos of techniques (`memos.rs`) stand beside the records, and all that hold in the snapshot.
//!
//! Trims that wait for their records stand here; flushes, which wait for more than the journal, stand in [`Metadata`](super::Metadata).

use std::collections::VecDeque;

use wordline_flash::Operation;
use wordline_units::{Cause, DieId, PartId};

use super::log::Log;
use super::map_log::{MapLog, Waiting};
use super::memos::Memos;
use super::oob::OobCopies;
pub(crate) use super::steps::{Journaled, Reserve, Step, marks_per_program, records_per_program};
use super::told::{refusals, unmapped};
use crate::pages::journal::{Facts, History, Page, Record, Serial, SnapshotPlaces, marks_per_page, memos_per_page, records_per_page};
use crate::pages::kept::{Fact, KEPT_MAX, TRIMS_MAX};
use crate::state::Core;
use crate::state::allocation;
use crate::state::data::MetadataKind;
use crate::state::layout::BlockGroup;
use crate::state::pending::Purpose;

/// A snapshot that is being written into the newest group.
#[derive(Clone, Debug)]
pub(crate) struct Snapshot {
    /// All pages of the snapshot, padded to whole program units.
    image: Vec<u8>,
    /// Version up to which trims are in the snapshot.
    trims: u64,
}

/// The journal of one core.
#[derive(Clone, Debug)]
pub(crate) struct Journal {
    /// The group with the records that recovery needs, and behind it the one that takes a snapshot.
    log: Log,
    reserve: Reserve,
    generation: u64,
    /// Trims whose record was not ordered yet, oldest first.
    pending: VecDeque<Record>,
    /// Version of the newest trim.
    newest: u64,
    /// Version up to which trims are on flash.
    durable: u64,
    /// Version up to which trims are kept by capacitors or flash.
    kept: u64,
    /// Free places of the capacitors. The places in use each keep a trim, and are free again once that trim is durable.
    places: Vec<u32>,
    kept_at: VecDeque<(u64, u32)>,
    /// Numbers of the mirrored pages, and of the pages of marks, of this generation so far.
    serial: Serial,
    /// True if a program unit is one page, so that a mirrored page takes two of them.
    is_narrow: bool,
    /// True if the page just programmed is to be programmed again, as its second copy.
    repeats: bool,
    /// True if the next thing to be written is a snapshot.
    is_anew: bool,
    /// True if the program ordered last has mirrored pages.
    is_mirrored: bool,
    /// True if a request waits for records.
    hurry: bool,
    snapshot: Option<Snapshot>,
    /// True if the erase of the reserve is under way.
    is_erasing: bool,
    /// Records of the program that is under way.
    ordered: Vec<Record>,
    /// Trims that wait until they are durable, with their versions.
    waiting: VecDeque<(PartId, u64)>,
    /// For each group of the core, the version up to which trims must be durable before the group is erased.
    holds: Vec<u64>,
    /// Memos of techniques.
    memos: Memos,
    /// The map log, where it takes the place of generations.
    map_log: Option<Box<MapLog>>,
}

impl Journal {
    /// Creates the journal of a new core, with its first groups.
    pub(crate) fn new(core: &mut Core) -> Journal {
        let bytes = core.settings().unit_bytes(core.layout().units_per_program).0 as usize;
        let mut log = Log::new(MetadataKind::Journal, bytes);
        let map_log = core.settings().twins.then(|| Box::new(MapLog::new(core)));
        let mut first = || if map_log.is_none() { allocation::take_last_group(core) } else { None };
        if let Some(first) = first() {
            log.extend(first);
        }
        let reserve = first().map_or(Reserve::Missing, Reserve::Erased);
        let layout = core.layout();
        Journal {
            log,
            reserve,
            generation: 1,
            pending: VecDeque::new(),
            newest: 0,
            durable: 0,
            kept: 0,
            places: (0..TRIMS_MAX as u32).map(|place| KEPT_MAX as u32 + place).collect(),
            kept_at: VecDeque::new(),
            serial: Serial::default(),
            is_narrow: layout.units_per_program == layout.units_per_page,
            repeats: false,
            is_mirrored: false,
            is_anew: false,
            hurry: false,
            snapshot: None,
            is_erasing: false,
            ordered: Vec::new(),
            waiting: VecDeque::new(),
            holds: vec![0; layout.group_count()],
            memos: Memos::default(),
            map_log,
        }
    }

    /// The map log, where it takes the place of generations.
    pub(crate) fn map_log(&self) -> Option<&MapLog> {
        self.map_log.as_deref()
    }

    pub(crate) fn map_log_mut(&mut self) -> Option<&mut MapLog> {
        self.map_log.as_deref_mut()
    }

    // What is promised.

    /// True if recovery needs nothing in `group`.
    pub(crate) fn lets_go(&self, group: BlockGroup) -> bool {
        self.holds[group.index()] <= self.known()
    }

    /// Require that all trims so far are durable before `group`, which they have emptied, is erased.
    pub(crate) fn hold(&mut self, group: BlockGroup) {
        self.holds[group.index()] = self.newest;
    }

    /// Version of the newest trim.
    pub(crate) fn newest(&self) -> u64 {
        self.newest
    }

    /// Version up to which trims outlast a power cut.
    pub(crate) fn known(&self) -> u64 {
        self.durable.max(self.kept)
    }

    /// Number by which programs of the journal are told from older ones.
    pub(crate) fn generation(&self) -> u64 {
        self.map_log.as_ref().map_or(self.generation, |log| log.serial())
    }

    /// True if nothing can be written to the journal any more.
    pub(crate) fn is_stuck(&self) -> bool {
        self.log.is_stuck() || self.map_log.as_ref().is_some_and(|log| log.is_stuck())
    }

    pub(crate) fn set_stuck(&mut self) {
        self.log.set_stuck();
        self.map_log.iter_mut().for_each(|log| log.set_stuck());
    }

    /// Memos of techniques.
    pub(crate) fn memos(&self) -> &Memos {
        &self.memos
    }

    pub(crate) fn memos_mut(&mut self) -> &mut Memos {
        &mut self.memos
    }

    /// True if the journal has no group for its next snapshot.
    pub(crate) fn wants_group(&self) -> bool {
        self.map_log.is_none() && self.reserve == Reserve::Missing && self.snapshot.is_none() && !self.log.is_stuck()
    }

    /// Give the journal the group for its next snapshot.
    pub(crate) fn give_group(&mut self, group: Reserve) {
        self.reserve = group;
    }

    /// Record that `count` units from `first` have been trimmed. Returns true if there are enough records to write.
    pub(crate) fn trim(&mut self, core: &mut Core, first: u32, count: u32) -> bool {
        let version = core.buffer_mut().next_version();
        let record = Record { first, count, version };
        let before = std::mem::replace(&mut self.newest, version);
        if !self.is_stuck() {
            self.pending.push_back(record);
        }
        let is_kept = core.settings().has_capacitors() && before <= self.known();
        let place = if is_kept { self.places.pop() } else { None };
        let wants = self.wants_trims(records_per_program(core));
        if let Some(place) = place {
            self.kept = version;
            self.kept_at.push_back((version, place));
            if core.settings().keeps_data {
                core.outbox_mut().keep(place, Fact::Trim(record).encode());
            }
        }
        wants
    }

    /// True if a request has to wait for trims that are not durable yet; if so, the journal hurries.
    pub(crate) fn hurry(&mut self) -> bool {
        let is_due = self.newest > self.known();
        self.hurry |= is_due;
        is_due
    }

    /// Keep the journal in a hurry: the program under way does not cover all that requests wait for.
    pub(crate) fn hurry_on(&mut self) {
        self.hurry = true;
    }

    /// Register that `part` waits for the trims up to `version`.
    pub(crate) fn await_trims(&mut self, part: PartId, version: u64) {
        self.waiting.push_back((part, version));
    }

    /// True if a request waits for trims.
    pub(crate) fn is_awaited(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Take the requests whose trims outlast a power cut.
    pub(crate) fn take_known(&mut self) -> Vec<PartId> {
        let known = self.known();
        let mut done = Vec::new();
        while let Some((part, _)) = self.waiting.pop_front_if(|&mut (_, version)| version <= known) {
            done.push(part);
        }
        done
    }

    /// Take all waiting requests, because nothing will be written any more.
    pub(crate) fn give_up(&mut self) -> Vec<PartId> {
        std::mem::take(&mut self.waiting).into_iter().map(|(part, _)| part).collect()
    }

    /// True if something is to be written. `full`: number of records that fill a program. `marks`: marks wait to be sealed.
    fn wants(&self, full: usize, marks: bool) -> bool {
        !self.is_stuck() && (self.wants_trims(full) || self.memos.wait() || marks || self.repeats)
    }

    /// True if a request waits for trims, or if `full` of them fill a program.
    pub(crate) fn wants_trims(&self, full: usize) -> bool {
        self.newest > self.durable && (self.hurry || self.pending.len() >= full.min(TRIMS_MAX as usize / 2))
    }

    /// Restore the trims that capacitors have kept, oldest first, with their places. Flash may not have them.
    pub(crate) fn resume_kept(&mut self, trims: &[(u32, Record)]) {
        for &(place, record) in trims {
            self.places.retain(|&free| free != place);
            self.kept_at.push_back((record.version, place));
            self.pending.push_back(record);
            (self.newest, self.kept) = (record.version, record.version);
        }
    }

    /// Note that trims up to `version` are on flash.
    fn made_durable(&mut self, version: u64) {
        self.durable = version;
        while let Some((_, place)) = self.kept_at.pop_front_if(|&mut (trim, _)| trim <= version) {
            self.places.push(place);
        }
    }

    /// Require a snapshot that covers everything up to `version` before any group is erased.
    pub(crate) fn snapshot_at(&mut self, version: u64) {
        (self.newest, self.hurry, self.is_anew) = (version, true, true);
        self.holds.fill(version);
    }

    /// End with a record of the stop, which takes `version`.
    pub(crate) fn finish(&mut self, version: u64) {
        match &mut self.map_log {
            Some(log) => log.finish(),
            None => self.snapshot_at(version),
        }
    }

    /// True if everything is on flash and no operation is under way.
    pub(crate) fn is_at_rest(&self) -> bool {
        self.map_log.as_ref().is_none_or(|log| log.is_at_rest())
            && !self.log.is_busy()
            && !self.is_erasing
            && self.snapshot.is_none()
            && self.newest <= self.durable
    }

    /// Resume after a power cut: the records of this `generation` are in the group `active`, whose next program unit is `program`.
    pub(crate) fn resume(&mut self, active: Option<BlockGroup>, generation: u64, program: u32, reserve: Reserve) {
        self.log.resume(active.into_iter().collect(), program);
        (self.generation, self.reserve) = (generation, reserve);
    }

    /// Go on without the groups on dies that have failed: what they hold comes into a snapshot elsewhere, from memory, before any group is erased. Returns true
    /// if records that were ordered are to be ordered again.
    pub(crate) fn leave(&mut self, core: &mut Core, die: DieId) -> bool {
        if let Some(log) = &mut self.map_log {
            return log.leave(core, die).then(|| self.give_back()).is_some();
        }
        let is_there = |core: &Core, group: BlockGroup| core.is_failed(core.layout().die(group));
        if let Reserve::Erased(group) | Reserve::Used(group) = self.reserve
            && is_there(core, group)
            && !self.is_erasing
        {
            self.reserve = Reserve::Missing;
        }
        let newest = self.log.groups().last();
        let (_, had_any) = self.log.leave(core, 0);
        if !had_any {
            return false;
        }
        // The report of a program that is under way does the rest.
        let is_cut = !self.log.is_busy() && newest.is_some_and(|newest| is_there(core, newest));
        if is_cut {
            (self.snapshot, self.repeats) = (None, false);
            self.give_back();
        }
        self.snapshot_at(core.buffer_mut().next_version());
        is_cut
    }

    // How it comes to flash.

    /// The bytes of part `unit` of the program that has just been ordered, of units of `bytes` bytes.
    pub(crate) fn bytes(&self, unit: u32, bytes: usize) -> &[u8] {
        self.map_log.as_ref().map_or_else(|| self.log.bytes(unit, bytes), |log| log.bytes(unit, bytes))
    }

    /// Next step of the journal, beside the second copies of marks in `oob`.
    pub(crate) fn next(&self, core: &Core, oob: Option<&OobCopies>) -> Step {
        let marks = oob.is_some_and(|oob| oob.wants(marks_per_program(core)));
        if let Some(log) = &self.map_log {
            let wants = self.wants(records_per_program(core), marks);
            return log.next(core, wants).map_or(Step::NoRoom, |group| group.map_or(Step::Nothing, Step::Log));
        }
        if self.log.is_busy() || self.is_erasing {
            return Step::Nothing;
        }
        let next = self.log.room(core.layout(), 1);
        if self.snapshot.is_some() {
            return next.map_or(Step::NoRoom, Step::Snapshot);
        }
        if let Reserve::Used(group) = self.reserve {
            return Step::Erase(group);
        }
        if !self.wants(records_per_program(core), marks) {
            return Step::Nothing;
        }
        // A mirrored page takes two program units where one is a page.
        let units = if self.is_narrow && !self.repeats { 2 } else { 1 };
        match (self.log.room(core.layout(), units), self.reserve) {
            (Some(group), _) if !self.is_anew => Step::Records(group),
            (_, Reserve::Erased(group)) => Step::Snapshot(group),
            (_, Reserve::Used(_) | Reserve::Missing) => Step::NoRoom,
        }
    }

    /// Order `step`, which must be one with an operation. `history`: the core's history over all starts.
    #[cold]
    pub(crate) fn issue(&mut self, core: &mut Core, oob: Option<&mut OobCopies>, step: Step, history: &History) -> Option<Operation> {
        match step {
            Step::Nothing | Step::NoRoom => None,
            Step::Log(_) => {
                let waiting = Waiting { trims: &mut self.pending, ordered: &mut self.ordered, memos: &mut self.memos, history };
                let operation = self.map_log.as_mut()?.issue(core, waiting, oob);
                self.hurry &= !self.pending.is_empty();
                Some(operation)
            }
            Step::Records(_) => Some(self.program_records(core, oob)),
            Step::Snapshot(group) => {
                if self.snapshot.is_none() {
                    self.take_snapshot(core, oob, history);
                    self.log.extend(group);
                    self.reserve = Reserve::Missing;
                }
                Some(self.program_snapshot(core))
            }
            Step::Erase(group) => {
                self.is_erasing = true;
                Some(core.issue_erase(group, Purpose::JournalErase, Cause::Recovery))
            }
        }
    }

    /// Create the next page of this generation, with these `facts`.
    fn page(&mut self, of_snapshot: Option<(u32, u32)>, facts: Facts) -> Page {
        let kind = usize::from(!facts.is_mirrored());
        let count = if kind == 0 { &mut self.serial.mirrored } else { &mut self.serial.marks };
        *count += 1;
        self.serial.here[kind] = self.serial.here[kind].saturating_add(1);
        let own = *count;
        Page { generation: self.generation, of_snapshot, serial: Serial { own, ..self.serial }, facts }
    }

    fn program_records(&mut self, core: &mut Core, oob: Option<&mut OobCopies>) -> Operation {
        let page_bytes = core.settings().page;
        let marks_each = marks_per_page(page_bytes, core.layout().units_per_program as usize);
        if !self.repeats {
            let pages = self.log.program_bytes() / page_bytes;
            let copies = if self.is_narrow { 1 } else { 2 };
            let mut facts = Vec::new();
            // Memos come first: they are few, and one page is enough for a long time.
            let memos = self.memos.take_unwritten(memos_per_page(page_bytes), core.groups());
            facts.extend((!memos.is_empty()).then_some(Facts::Memos(memos)));
            let count = ((pages / copies - facts.len()) * records_per_page(page_bytes)).min(self.pending.len());
            self.ordered.clear();
            self.ordered.extend(self.pending.drain(..count));
            self.hurry &= !self.pending.is_empty();
            facts.extend(self.ordered.chunks(records_per_page(page_bytes)).map(|some| Facts::Records(some.to_vec())));
            let mirrored = facts.len();
            let records = oob.map_or(Vec::new(), |oob| oob.take_records((pages - mirrored * copies) * marks_each, core.groups()));
            facts.extend(records.chunks(marks_each).map(|some| Facts::Marks(some.to_vec())));
            self.is_mirrored = mirrored > 0;
            self.serial.here = [0; 2];
            let mut written = Vec::new();
            for facts in facts {
                written.push(self.page(None, facts));
            }
            // The second copies lie in other planes, as far as there are any.
            let (first, rest) = written.split_at(mirrored);
            let all = first.iter().chain(first.iter().take(if copies == 2 { mirrored } else { 0 })).chain(rest);
            let image = self.log.image_mut();
            image.fill(0);
            all.zip(image.chunks_exact_mut(page_bytes)).for_each(|(page, bytes)| page.write(bytes));
        }
        self.log.issue(core)
    }

    /// Make a snapshot of the units that hold nothing.
    fn take_snapshot(&mut self, core: &mut Core, oob: Option<&mut OobCopies>, history: &History) {
        let page_bytes = core.settings().page;
        let version = core.buffer_mut().next_version();
        let mut facts = unmapped(core, version, page_bytes);
        let records = facts.split_off(facts.iter().take_while(|facts| matches!(facts, Facts::Unmapped { .. })).count());
        facts.extend(refusals(core, page_bytes));
        let memos = self.memos.take_all(core.groups());
        facts.extend(records);
        facts.extend(memos.chunks(memos_per_page(page_bytes)).map(|some| Facts::Memos(some.to_vec())));
        facts.push(Facts::History(History { version, ..*history }));
        let marks_each = marks_per_page(page_bytes, core.layout().units_per_program as usize);
        let marks = oob.map_or(Vec::new(), |oob| oob.take_all_records(core.groups()));
        self.generation += 1;
        self.serial = Serial::default();
        let total = facts.len() as u32;
        let mut mirrored: Vec<Page> = (0..).zip(facts).map(|(index, facts)| self.page(Some((index, total)), facts)).collect();
        let mut marks: Vec<Page> = marks.chunks(marks_each).map(|some| self.page(None, Facts::Marks(some.to_vec()))).collect();
        // Marks come last: whether the snapshot is whole shows only if its first pages say how many there are.
        mirrored.iter_mut().for_each(|page| page.serial.marks = marks.len() as u32);
        // Of mirrored pages, a snapshot that is whole needs no other proof.
        mirrored.iter_mut().for_each(|page| page.serial.here = [u8::MAX; 2]);
        let each = self.log.program_bytes() / page_bytes;
        let places = SnapshotPlaces::new(core.layout(), total, marks.len() as u32);
        let (first_marks, count) = (places.marks as usize, places.end as usize);
        for (position, page) in (first_marks..).zip(&mut marks) {
            let begin = position / each * each;
            let before = [begin.min(mirrored.len()), begin.saturating_sub(first_marks)];
            let so_far = [mirrored.len(), page.serial.own as usize];
            page.serial.here = std::array::from_fn(|kind| (so_far[kind] - before[kind]).min(255) as u8);
        }
        let room = core.layout().programs as usize * (self.log.program_bytes() / page_bytes);
        assert!(count <= room, "a snapshot of {count} pages, and a group of {room}");
        let mut image = vec![0; (count * page_bytes).next_multiple_of(self.log.program_bytes())];
        let second = first_marks - mirrored.len();
        let positions = (0..mirrored.len()).chain(second..count);
        let all = positions.zip(mirrored.iter().chain(&mirrored).chain(&marks));
        all.for_each(|(position, page)| page.write(&mut image[position * page_bytes..][..page_bytes]));
        self.pending.clear();
        self.hurry = false;
        (self.repeats, self.is_anew) = (false, false);
        self.snapshot = Some(Snapshot { image, trims: self.newest });
    }

    fn program_snapshot(&mut self, core: &mut Core) -> Operation {
        let snapshot = self.snapshot.as_ref().expect("asked before");
        let (begin, length) = (self.log.program() as usize * self.log.program_bytes(), self.log.program_bytes());
        self.log.image_mut().copy_from_slice(&snapshot.image[begin..][..length]);
        self.log.issue(core)
    }

    /// Have the facts of the program under way, which has failed, written again.
    fn give_back(&mut self) {
        self.ordered.drain(..).rev().for_each(|record| self.pending.push_front(record));
        self.memos.end(false);
        self.hurry |= !self.pending.is_empty();
    }

    /// End a copy of a program of the map log, in `group`.
    fn logged(&mut self, core: &mut Core, oob: Option<&mut OobCopies>, good: bool, group: BlockGroup) {
        let Some(log) = &mut self.map_log else { return };
        let Some(is_good) = log.ended(core, good, group) else { return };
        if is_good {
            self.memos.end(true);
            self.made_durable(self.ordered.last().map_or(self.durable, |record| record.version));
            self.ordered.clear();
        } else {
            self.give_back();
        }
        if let Some(oob) = oob {
            oob.journaled(is_good);
        }
    }

    /// End a program of the journal in `group`.
    pub(crate) fn programmed(&mut self, core: &mut Core, oob: Option<&mut OobCopies>, good: bool, group: BlockGroup) -> Journaled {
        if self.map_log.is_some() {
            self.logged(core, oob, good, group);
            return Journaled::default();
        }
        self.log.ended();
        let (mut spoilt, mut sealed) = (None, None);
        match self.snapshot.take() {
            Some(snapshot) if good => {
                if self.log.program() as usize * self.log.program_bytes() < snapshot.image.len() {
                    self.snapshot = Some(snapshot);
                } else {
                    self.memos.end(true);
                    self.made_durable(snapshot.trims);
                    sealed = Some(true);
                    let old = if self.log.before_newest() > 0 { self.log.take_oldest() } else { None };
                    spoilt = old.filter(|&group| core.groups().is_condemned(group));
                    self.reserve = old.filter(|_| spoilt.is_none()).map_or(Reserve::Missing, Reserve::Used);
                }
            }
            Some(_) => {
                // Nothing in it is needed yet: another snapshot, elsewhere. What it holds has been taken from those that waited for records.
                self.log.take_newest();
                self.log.seal(core.layout());
                self.hurry = true;
                self.memos.end(false);
                sealed = Some(false);
                spoilt = Some(group);
            }
            None if good && self.is_narrow && self.is_mirrored && !self.repeats => self.repeats = true,
            None if good => {
                self.repeats = false;
                self.memos.end(true);
                self.made_durable(self.ordered.last().map_or(self.durable, |record| record.version));
                self.ordered.clear();
                sealed = Some(true);
            }
            None => {
                // What it holds is still readable. A snapshot in the other group comes next.
                self.ordered.drain(..).rev().for_each(|record| self.pending.push_front(record));
                self.log.failed(core, group);
                (self.hurry, self.repeats) = (true, false);
                self.memos.end(false);
                sealed = Some(false);
            }
        }
        if let (Some(oob), Some(good)) = (oob, sealed) {
            oob.journaled(good);
        }
        Journaled { spoilt }
    }

    /// End the erase of the group that is not needed any more. `good`: the erase succeeded. Otherwise the caller replaces its blocks.
    pub(crate) fn erased(&mut self, core: &mut Core, good: bool, group: BlockGroup) {
        self.is_erasing = false;
        if !good {
            self.reserve = Reserve::Missing;
            return;
        }
        let die = core.layout().die(group);
        core.groups_mut().erased(group);
        core.die_mut(die).give_free(group);
        let next = allocation::take_metadata_group(core, core.settings().gc.floor).unwrap_or_else(|| {
            // Its die has none to spare: it goes on with this one.
            core.die_mut(die).take_last_free();
            core.groups_mut().take_for_core(group);
            group
        });
        self.give_group(Reserve::Erased(next));
    }
}

#[cfg(test)]
mod tests {
    use wordline_flash::{Mark, OperationKind, Report, Status};
    use wordline_units::{HostOp, Nanos};

    use super::*;
    use crate::Request;
    use crate::config::Config;
    use crate::config::tests::small;
    use crate::dispatch::Rooms;
    use crate::dispatch::ended::ended;
    use crate::dispatch::next::next_operation;
    use crate::setup::build;
    use crate::state::groups::Use;
    use crate::state::request::tests::WRITE;

    fn keeping() -> Rooms {
        build(&Config { keeps_data: true, ..small(64) })
    }

    /// Carry out everything that `rooms` orders. `fails` tells by the number of a program of the journal whether it fails. Returns how many of those there
    /// were.
    fn work(rooms: &mut Rooms, fails: impl Fn(u32) -> bool) -> u32 {
        let mut programs = 0;
        for at in 1..10_000 {
            while rooms.core.outbox_mut().next_step().is_some() {}
            let Some(operation) = next_operation(rooms, Nanos(at)) else { return programs };
            let mut status = Status::Good;
            if matches!(operation.kind, OperationKind::Program { .. }) {
                let units = rooms.core.layout().units_per_program as usize;
                rooms.metadata.note_marks(operation.die, &vec![Mark::NOTHING; units]);
                if matches!(rooms.core.pending(operation.tag).purpose, Purpose::Metadata { kind: MetadataKind::Journal, .. }) {
                    status = if fails(programs) { Status::Failed } else { Status::Good };
                    programs += 1;
                }
            }
            rooms.core.ready(operation.die);
            ended(rooms, &Report::plain(operation.tag, operation.die, status, &[]));
        }
        panic!("it never rests");
    }

    fn answers(rooms: &mut Rooms) -> Vec<u32> {
        std::iter::from_fn(|| rooms.core.requests_mut().acknowledge()).filter(|done| done.ok).map(|done| done.id).collect()
    }

    #[test]
    fn a_flush_after_a_trim_is_answered_once_its_record_is_down_and_not_before() {
        let mut rooms = keeping();
        rooms.submit(WRITE);
        work(&mut rooms, |_| false);
        rooms.submit(Request { id: 1, op: HostOp::Trim, ..WRITE });
        rooms.submit(Request { id: 2, op: HostOp::Flush, units: 0, ..WRITE });
        assert_eq!(answers(&mut rooms), [0, 1]);
        assert!(rooms.metadata.trims_newest() > rooms.metadata.trims_durable());
        // A record is programmed twice, as one page is a whole program unit here.
        assert_eq!(work(&mut rooms, |_| false), 2);
        assert_eq!(answers(&mut rooms), [2]);
    }

    #[test]
    fn a_failed_program_of_a_record_is_made_good_by_a_snapshot_in_the_other_group() {
        let mut rooms = keeping();
        let first = rooms.metadata.journal().and_then(|journal| journal.log.groups().next()).expect("it has its groups from the start");
        rooms.submit(WRITE);
        work(&mut rooms, |_| false);
        rooms.submit(Request { id: 1, op: HostOp::Trim, ..WRITE });
        rooms.submit(Request { id: 2, op: HostOp::Flush, units: 0, ..WRITE });
        work(&mut rooms, |program| program == 0);
        assert_eq!(answers(&mut rooms), [0, 1, 2]);
        let journal = rooms.metadata.journal().expect("it keeps data");
        assert_eq!((journal.generation(), journal.log.groups().any(|group| group == first)), (2, false));
        assert_eq!(rooms.core.groups().use_of(first), Use::Bad, "there is no spare block for it");
    }

    #[test]
    fn a_shutdown_comes_to_its_end_even_if_its_last_program_fails() {
        for failing in 0..3 {
            let mut rooms = keeping();
            rooms.submit(WRITE);
            rooms.submit(Request { id: 1, op: HostOp::Trim, units: 1, ..WRITE });
            work(&mut rooms, |_| false);
            rooms.go_down();
            assert!(!rooms.metadata.is_down());
            work(&mut rooms, |program| program == failing);
            assert!(rooms.metadata.is_down(), "program {failing} of the snapshot failed");
        }
    }

    #[test]
    fn a_group_that_a_trim_has_emptied_is_held_until_the_trim_is_down() {
        let mut core = keeping().core;
        let mut journal = Journal::new(&mut core);
        journal.hold(BlockGroup(3));
        assert!(journal.lets_go(BlockGroup(3)), "nothing was trimmed");
        journal.trim(&mut core, 0, 1);
        journal.hold(BlockGroup(3));
        assert!(!journal.lets_go(BlockGroup(3)) && journal.lets_go(BlockGroup(4)));
        journal.made_durable(journal.newest());
        assert!(journal.lets_go(BlockGroup(3)));
    }
}
