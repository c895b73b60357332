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
//! - Marks of program units whose group has no summary yet (`oob/`) stand beside the records, and all that are needed in the snapshot.
//! - What cannot be found anywhere else, trims and memos, is programmed twice, so that one unreadable page loses none of it.
//! - Where capacitors keep the write buffer they keep trims too, until the journal has them.
//!
//! - Memos of techniques (`memos.rs`) stand beside the records, and all that hold in the snapshot.
//!
//! Who waits for it, [`Metadata`](super::Metadata) knows.

use std::collections::VecDeque;

use wordline_flash::Operation;
use wordline_units::{Cause, Lpn};

use crate::metadata::memos::Memos;
use crate::metadata::oob::OobCopies;
use crate::pages::journal::{Facts, History, Page, Record, Serial, marks_per_page, memos_per_page, records_per_page, units_per_page};
use crate::pages::kept::{Fact, KEPT_MAX, TRIMS_MAX};
use crate::state::Core;
use crate::state::layout::{Group, UnitAddr};
use crate::state::pending::Purpose;
use crate::state::work::Entry;

/// The logical unit in the spare areas of journal pages.
pub const JOURNAL: Lpn = Lpn(u32::MAX - 1);
/// State of the group that takes the next snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Other {
    /// The group is erased and can take a snapshot.
    Erased(Group),
    /// The group must be erased first.
    Used(Group),
    /// The journal has no second group.
    Missing,
}

/// A snapshot that is being written into the other group.
#[derive(Clone, Debug)]
pub(crate) struct Snapshot {
    /// All pages of the snapshot, padded to whole program units.
    image: Vec<u8>,
    /// Next program unit of the snapshot.
    program: u32,
    /// Version up to which trims are in the snapshot.
    trims: u64,
}

/// The journal of one core.
#[derive(Clone, Debug)]
pub(crate) struct Journal {
    /// Group with the records that recovery needs; `None`: none has been written yet.
    active: Option<Group>,
    /// Next program unit of the active group.
    program: u32,
    other: Other,
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
    /// True if an operation is under way.
    busy: bool,
    /// Records of the program that is under way.
    ordered: Vec<Record>,
    /// Bytes of the program that is under way.
    image: Vec<u8>,
    /// Trims that wait until they are durable, with their versions.
    waiting: VecDeque<(u32, u64)>,
    /// For each group of the core, the version up to which trims must be durable before the group is erased.
    holds: Vec<u64>,
    /// True if nothing can be written any more.
    stuck: bool,
    /// Memos of techniques.
    memos: Memos,
}

/// The journal's next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Nothing,
    Records(Group),
    Snapshot(Group),
    Erase(Group),
    /// A page is due and no group can take it.
    NoRoom,
}

/// Outcome of a program of the journal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Journaled {
    /// Group that the journal no longer uses, because a program in it failed. Its blocks are replaced, or it goes out of service.
    pub spoilt: Option<Group>,
}

impl Journal {
    /// Creates the journal of a new core, with its first groups.
    pub(crate) fn new(core: &mut Core) -> Journal {
        let active = core.take_last_group();
        let other = core.take_last_group().map_or(Other::Missing, Other::Erased);
        let layout = core.layout();
        Journal {
            active,
            program: 0,
            other,
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
            busy: false,
            ordered: Vec::new(),
            image: vec![0; core.settings().unit_bytes(layout.units_per_program).0 as usize],
            waiting: VecDeque::new(),
            holds: vec![0; layout.group_count()],
            stuck: false,
            memos: Memos::default(),
        }
    }

    // What is promised.

    /// True if recovery needs nothing in `group`.
    pub(crate) fn lets_go(&self, group: Group) -> bool {
        self.holds[group.index()] <= self.known()
    }

    /// Require that all trims so far are durable before `group`, which they have emptied, is erased.
    pub(crate) fn hold(&mut self, group: Group) {
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

    pub(crate) fn generation(&self) -> u64 {
        self.generation
    }

    /// True if nothing can be written to the journal any more.
    pub(crate) fn is_stuck(&self) -> bool {
        self.stuck
    }

    pub(crate) fn set_stuck(&mut self) {
        self.stuck = true;
    }

    /// Memos of techniques.
    pub(crate) fn memos_mut(&mut self) -> &mut Memos {
        &mut self.memos
    }

    /// True if the journal lacks its second group.
    pub(crate) fn wants_group(&self) -> bool {
        self.other == Other::Missing && !self.stuck
    }

    /// Give the journal its second group, which is erased.
    pub(crate) fn give_group(&mut self, group: Group) {
        self.other = Other::Erased(group);
    }

    /// Note that the journal has lost its second group.
    pub(crate) fn lose_group(&mut self) {
        self.other = Other::Missing;
    }

    /// Record that `count` units from `first` have been trimmed. Returns true if there are enough records to write.
    pub(crate) fn trim(&mut self, core: &mut Core, first: u32, count: u32) -> bool {
        let version = core.buffer_mut().next_version();
        let record = Record { first, count, version };
        let before = std::mem::replace(&mut self.newest, version);
        if !self.stuck {
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
    pub(crate) fn await_trims(&mut self, part: u32, version: u64) {
        self.waiting.push_back((part, version));
    }

    /// True if a request waits for trims.
    pub(crate) fn is_awaited(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Take the requests whose trims outlast a power cut.
    pub(crate) fn take_known(&mut self) -> Vec<u32> {
        let known = self.known();
        let mut done = Vec::new();
        while let Some((part, _)) = self.waiting.pop_front_if(|&mut (_, version)| version <= known) {
            done.push(part);
        }
        done
    }

    /// Take all waiting requests, because nothing will be written any more.
    pub(crate) fn give_up(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.waiting).into_iter().map(|(part, _)| part).collect()
    }

    /// True if something is to be written. `full`: number of records that fill a program. `marks`: marks wait to be sealed.
    fn wants(&self, full: usize, marks: bool) -> bool {
        !self.stuck && (self.wants_trims(full) || self.memos.wait() || marks || self.repeats)
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

    /// True if everything is on flash and no operation is under way.
    pub(crate) fn is_at_rest(&self) -> bool {
        !self.busy && self.snapshot.is_none() && self.newest <= self.durable
    }

    /// Resume after a power cut: the records are in the group `active`, whose next program unit is `program`, of this `generation`.
    pub(crate) fn resume(&mut self, active: Option<Group>, generation: u64, program: u32, other: Other) {
        (self.active, self.generation, self.program, self.other) = (active, generation, program, other);
    }

    // How it comes to flash.

    /// The bytes of part `unit` of the program that has just been ordered, of units of `bytes` bytes.
    pub(crate) fn bytes(&self, unit: u32, bytes: usize) -> &[u8] {
        &self.image[unit as usize * bytes..][..bytes]
    }

    /// Next step of the journal, beside the second copies of marks in `oob`.
    pub(crate) fn next(&self, core: &Core, oob: Option<&OobCopies>) -> Step {
        let marks = oob.is_some_and(|oob| oob.wants(marks_per_program(core)));
        let programs = core.layout().programs;
        match (self.other, self.active) {
            _ if self.busy => Step::Nothing,
            (Other::Erased(group), _) if self.snapshot.is_some() => Step::Snapshot(group),
            (Other::Used(group), _) => Step::Erase(group),
            _ if !self.wants(records_per_program(core), marks) => Step::Nothing,
            (_, Some(group)) if !self.is_anew && self.program + u32::from(self.is_narrow && !self.repeats) < programs => {
                Step::Records(group)
            }
            (Other::Erased(group), _) => Step::Snapshot(group),
            (Other::Missing, _) => Step::NoRoom,
        }
    }

    /// Order `step`, which must be one with an operation. `history`: the core's history over all starts.
    #[cold]
    pub(crate) fn order(&mut self, core: &mut Core, oob: Option<&mut OobCopies>, step: Step, history: &History) -> Option<Operation> {
        match step {
            Step::Nothing | Step::NoRoom => None,
            Step::Records(group) => Some(self.program_records(core, oob, group)),
            Step::Snapshot(group) => {
                if self.snapshot.is_none() {
                    self.take_snapshot(core, oob, history);
                }
                Some(self.program_snapshot(core, group))
            }
            Step::Erase(group) => {
                self.busy = true;
                Some(core.order_erase(group, Purpose::JournalErase, Cause::Recovery))
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

    fn program_records(&mut self, core: &mut Core, oob: Option<&mut OobCopies>, group: Group) -> Operation {
        let page_bytes = core.settings().page;
        let marks_each = marks_per_page(page_bytes, core.layout().units_per_program as usize);
        if !self.repeats {
            let pages = self.image.len() / page_bytes;
            let copies = if self.is_narrow { 1 } else { 2 };
            let mut facts = Vec::new();
            // Memos come first: they are few, and one page is enough for a long time.
            let memos = self.memos.order(memos_per_page(page_bytes), core.groups());
            facts.extend((!memos.is_empty()).then_some(Facts::Memos(memos)));
            let count = ((pages / copies - facts.len()) * records_per_page(page_bytes)).min(self.pending.len());
            self.ordered.clear();
            self.ordered.extend(self.pending.drain(..count));
            self.hurry &= !self.pending.is_empty();
            facts.extend(self.ordered.chunks(records_per_page(page_bytes)).map(|some| Facts::Records(some.to_vec())));
            let mirrored = facts.len();
            let records = oob.map_or(Vec::new(), |oob| oob.order((pages - mirrored * copies) * marks_each, core.groups()));
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
            self.image.fill(0);
            all.zip(self.image.chunks_exact_mut(page_bytes)).for_each(|(page, bytes)| page.write(bytes));
        }
        let program = self.program;
        self.program += 1;
        self.program_image(core, group, program)
    }

    /// Make a snapshot of the units that hold nothing.
    fn take_snapshot(&mut self, core: &mut Core, oob: Option<&mut OobCopies>, history: &History) {
        let page_bytes = core.settings().page;
        let version = core.buffer_mut().next_version();
        let (map, buffer) = (core.map(), core.buffer());
        let exported = map.exported();
        let mut bits = vec![0u8; (exported as usize).div_ceil(8)];
        for lpn in (0..exported).filter(|&lpn| map.get(lpn) == UnitAddr::NONE) {
            bits[lpn as usize / 8] |= 1 << (lpn % 8);
        }
        let mut records = Vec::new();
        for (first, version) in buffer.wanted().filter(|&(lpn, _)| map.get(lpn) == UnitAddr::NONE) {
            bits[first as usize / 8] &= !(1 << (first % 8));
            records.push(Record { first, count: 1, version });
        }
        let each = units_per_page(page_bytes);
        let mut facts: Vec<Facts> = bits
            .chunks(each / 8)
            .enumerate()
            .map(|(index, bits)| Facts::Unmapped { first: (index * each) as u32, version, bits: bits.to_vec() })
            .collect();
        if let Some(refused) = core.refused() {
            let chunks = (0..exported).step_by(each);
            facts.extend(chunks.filter_map(|first| {
                let bits = refused.chunk(first, each / 8, exported)?;
                Some(Facts::Refused { first, version: refused.version(), bits })
            }));
        }
        let memos = self.memos.order_all(core.groups());
        facts.extend(records.chunks(records_per_page(page_bytes)).map(|some| Facts::Records(some.to_vec())));
        facts.extend(memos.chunks(memos_per_page(page_bytes)).map(|some| Facts::Memos(some.to_vec())));
        facts.push(Facts::History(History { version, ..*history }));
        let marks_each = marks_per_page(page_bytes, core.layout().units_per_program as usize);
        let marks = oob.map_or(Vec::new(), |oob| oob.order_all(core.groups()));
        self.generation += 1;
        self.serial = Serial::default();
        let total = facts.len() as u32;
        let mut mirrored: Vec<Page> = (0..).zip(facts).map(|(index, facts)| self.page(Some((index, total)), facts)).collect();
        let mut marks: Vec<Page> = marks.chunks(marks_each).map(|some| self.page(None, Facts::Marks(some.to_vec()))).collect();
        // Marks come last: whether the snapshot is whole shows only if its first pages say how many there are.
        mirrored.iter_mut().for_each(|page| page.serial.marks = marks.len() as u32);
        // Of mirrored pages, a snapshot that is whole needs no other proof.
        mirrored.iter_mut().for_each(|page| page.serial.here = [u8::MAX; 2]);
        let each = self.image.len() / page_bytes;
        for (position, page) in (2 * mirrored.len()..).zip(&mut marks) {
            let begin = position / each * each;
            let before = [begin.min(mirrored.len()), begin.saturating_sub(2 * mirrored.len())];
            let so_far = [mirrored.len(), page.serial.own as usize];
            page.serial.here = std::array::from_fn(|kind| (so_far[kind] - before[kind]).min(255) as u8);
        }
        let count = 2 * mirrored.len() + marks.len();
        let room = core.layout().programs as usize * (self.image.len() / page_bytes);
        assert!(count <= room, "a snapshot of {count} pages, and a group of {room}");
        let mut image = vec![0; (count * page_bytes).next_multiple_of(self.image.len())];
        let all = mirrored.iter().chain(&mirrored).chain(&marks);
        all.zip(image.chunks_exact_mut(page_bytes)).for_each(|(page, bytes)| page.write(bytes));
        self.pending.clear();
        self.hurry = false;
        (self.repeats, self.is_anew) = (false, false);
        self.snapshot = Some(Snapshot { image, program: 0, trims: self.newest });
    }

    fn program_snapshot(&mut self, core: &mut Core, group: Group) -> Operation {
        let snapshot = self.snapshot.as_mut().expect("asked before");
        let length = self.image.len();
        self.image.copy_from_slice(&snapshot.image[snapshot.program as usize * length..][..length]);
        let program = snapshot.program;
        snapshot.program += 1;
        self.program_image(core, group, program)
    }

    fn program_image(&mut self, core: &mut Core, group: Group, program: u32) -> Operation {
        self.busy = true;
        let (die, units) = (core.layout().die(group), core.layout().units_per_program);
        core.die_mut(die).batch_mut().fill(units, JOURNAL, |unit| Entry::Journal { unit });
        core.order_program(group, program, Purpose::Journal, Cause::Recovery)
    }

    /// End a program of the journal in `group`.
    pub(crate) fn programmed(&mut self, core: &mut Core, oob: Option<&mut OobCopies>, good: bool, group: Group) -> Journaled {
        self.busy = false;
        let (mut spoilt, mut sealed) = (None, None);
        match self.snapshot.take() {
            Some(snapshot) if good => {
                if (snapshot.program as usize) * self.image.len() < snapshot.image.len() {
                    self.snapshot = Some(snapshot);
                } else {
                    self.memos.end(true);
                    let old = self.active.replace(group);
                    self.program = snapshot.program;
                    self.made_durable(snapshot.trims);
                    sealed = Some(true);
                    self.other = old.map_or(Other::Missing, Other::Used);
                    spoilt = old.filter(|&group| core.groups().is_condemned(group));
                }
            }
            Some(_) => {
                // Nothing in it is needed yet: another snapshot, elsewhere.
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
                (self.program, self.hurry, self.repeats) = (core.layout().programs, true, false);
                self.memos.end(false);
                sealed = Some(false);
                core.groups_mut().condemn(group);
            }
        }
        if let (Some(oob), Some(good)) = (oob, sealed) {
            oob.journaled(good);
        }
        if spoilt.is_some() {
            self.lose_group();
        }
        Journaled { spoilt }
    }

    /// End the erase of the group that is not needed any more. `good`: the erase succeeded. Otherwise the caller replaces its blocks.
    pub(crate) fn erased(&mut self, core: &mut Core, good: bool, group: Group) {
        self.busy = false;
        if !good {
            return self.lose_group();
        }
        let die = core.layout().die(group);
        core.groups_mut().erased(group);
        core.die_mut(die).give_free(group);
        let next = core.take_own_group(core.settings().reclaim.floor).unwrap_or_else(|| {
            // Its die has none to spare: it goes on with this one.
            core.die_mut(die).take_last_free();
            core.groups_mut().take_for_core(group);
            group
        });
        self.give_group(next);
    }
}

/// Number of trim records that fill a program of the journal, second copies counted.
pub(crate) fn records_per_program(core: &Core) -> usize {
    let pages = core.layout().units_per_program / core.layout().units_per_page;
    records_per_page(core.settings().page) * (pages as usize / 2).max(1)
}

/// Number of mark records that fill a program of the journal.
pub(crate) fn marks_per_program(core: &Core) -> usize {
    let pages = (core.layout().units_per_program / core.layout().units_per_page) as usize;
    marks_per_page(core.settings().page, core.layout().units_per_program as usize) * pages
}
