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
//! Here is what is promised and who waits; `journal_write.rs` brings it to flash.

use std::collections::VecDeque;

use wordline_units::Lpn;

use crate::buffer::Dropped;
use crate::config::Protection;
use crate::firmware::Ftl;
use crate::journal_page::{Facts, Page, Record, Serial, marks_per_page, records_per_page};
use crate::layout::Group;
use crate::memos::Memos;
use crate::oob::KEPT_MAX;
use crate::oob::kept::{Fact, TRIMS_MAX};

/// The logical unit in the spare areas of journal pages.
pub const JOURNAL: Lpn = Lpn(u32::MAX - 1);
/// Block groups that the journal has.
pub(crate) const GROUPS: u32 = 2;

/// The group that the next snapshot goes to, and what it is good for now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Other {
    /// It can take a snapshot.
    Erased(Group),
    /// It must be erased first.
    Used(Group),
    /// There is none.
    Missing,
}

/// A snapshot that is being written into the other group.
#[derive(Clone, Debug)]
pub(crate) struct Snapshot {
    /// All its pages, padded to whole program units.
    pub(crate) image: Vec<u8>,
    /// Its next program unit.
    pub(crate) program: u32,
    /// Trims up to this version are in it.
    pub(crate) trims: u64,
}

/// The journal of one core.
#[derive(Clone, Debug)]
pub(crate) struct Journal {
    /// Holds what is needed; none has been written yet, if there is none.
    pub(crate) active: Option<Group>,
    /// Its next program unit.
    pub(crate) program: u32,
    pub(crate) other: Other,
    pub(crate) generation: u64,
    /// Trims whose record was not ordered yet, oldest first.
    pub(crate) pending: VecDeque<Record>,
    /// The version of the newest trim.
    pub(crate) newest: u64,
    /// Trims up to this version are on flash.
    pub(crate) durable: u64,
    /// Trims up to this version are kept by capacitors, if not by flash.
    kept: u64,
    /// Places of capacitors that are free, and those that keep trims, with the trim that must be durable before they are free again.
    places: Vec<u32>,
    kept_at: VecDeque<(u64, u32)>,
    /// Mirrored pages, and pages of marks, of this generation so far.
    pub(crate) serial: Serial,
    /// A program unit is one page, and a mirrored page takes two of them.
    pub(crate) is_narrow: bool,
    /// The page just programmed is to be programmed again, for its second copy.
    pub(crate) repeats: bool,
    /// The next thing to be written is a snapshot.
    pub(crate) is_anew: bool,
    /// The program ordered last has mirrored pages.
    pub(crate) is_mirrored: bool,
    /// Somebody waits for records.
    pub(crate) hurry: bool,
    pub(crate) snapshot: Option<Snapshot>,
    /// An operation is under way.
    pub(crate) busy: bool,
    /// The records of the program that is under way.
    pub(crate) ordered: Vec<Record>,
    /// The bytes of the program that is under way.
    pub(crate) image: Vec<u8>,
    /// Trims that wait until they are durable, with their versions.
    pub(crate) waiting: VecDeque<(u32, u64)>,
    /// For each group of the core, which trims must be durable before it is erased.
    holds: Vec<u64>,
    /// Nothing can be written any more.
    pub(crate) stuck: bool,
    /// What techniques must not forget.
    pub(crate) memos: Memos,
}

impl Journal {
    /// Whether nothing in `group` is needed to outlast a power cut.
    pub(crate) fn lets_go(&self, group: Group) -> bool {
        self.holds[group.index()] <= self.known()
    }

    /// Trims up to this version outlast a power cut.
    pub(crate) fn known(&self) -> u64 {
        self.durable.max(self.kept)
    }

    /// Whether there is something to be written. `full`: so many records fill a program. `marks`: marks wait to be sealed.
    pub(crate) fn wants(&self, full: usize, marks: bool) -> bool {
        !self.stuck && (self.wants_trims(full) || self.memos.wait() || marks || self.repeats)
    }

    pub(crate) fn wants_trims(&self, full: usize) -> bool {
        self.newest > self.durable && (self.hurry || self.pending.len() >= full.min(TRIMS_MAX as usize / 2))
    }

    /// Capacitors have kept these trims, oldest first, at these places, and flash may not have them.
    pub(crate) fn resume_kept(&mut self, trims: &[(u32, Record)]) {
        for &(place, record) in trims {
            self.places.retain(|&free| free != place);
            self.kept_at.push_back((record.version, place));
            self.pending.push_back(record);
            (self.newest, self.kept) = (record.version, record.version);
        }
    }

    /// Trims up to `version` are on flash.
    pub(crate) fn made_durable(&mut self, version: u64) {
        self.durable = version;
        while let Some((_, place)) = self.kept_at.pop_front_if(|&mut (trim, _)| trim <= version) {
            self.places.push(place);
        }
    }

    /// What was written up to `version` must be known by a snapshot before anything is erased.
    pub(crate) fn snapshot_at(&mut self, version: u64) {
        (self.newest, self.hurry, self.is_anew) = (version, true, true);
        self.holds.fill(version);
    }

    /// Whether everything is on flash and nothing is under way.
    pub(crate) fn is_at_rest(&self) -> bool {
        !self.busy && self.snapshot.is_none() && self.newest <= self.durable
    }

    /// The next page of this generation, with these `facts`.
    pub(crate) fn page(&mut self, of_snapshot: Option<(u32, u32)>, facts: Facts) -> Page {
        let kind = usize::from(!facts.is_mirrored());
        let count = if kind == 0 { &mut self.serial.mirrored } else { &mut self.serial.marks };
        *count += 1;
        self.serial.here[kind] = self.serial.here[kind].saturating_add(1);
        let own = *count;
        Page { generation: self.generation, of_snapshot, serial: Serial { own, ..self.serial }, facts }
    }

    /// Go on after a power cut: what is needed is in the group `active`, which has `program` for its next program unit, of this `generation`.
    pub(crate) fn resume(&mut self, active: Option<Group>, generation: u64, program: u32, other: Other) {
        (self.active, self.generation, self.program, self.other) = (active, generation, program, other);
    }
}

impl Ftl {
    /// Give the journal its groups.
    pub(crate) fn start_journal(&mut self) {
        crate::own::fits(&self.config).expect("whoever builds a core that keeps data has checked it");
        let active = self.take_last_group();
        let other = self.take_last_group().map_or(Other::Missing, Other::Erased);
        self.journal = Some(Box::new(Journal {
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
            is_narrow: self.layout.units_per_program == self.layout.units_per_page,
            repeats: false,
            is_mirrored: false,
            is_anew: false,
            hurry: false,
            snapshot: None,
            busy: false,
            ordered: Vec::new(),
            image: vec![0; self.unit_bytes(self.layout.units_per_program).0 as usize],
            waiting: VecDeque::new(),
            holds: vec![0; self.layout.group_count()],
            stuck: false,
            memos: Memos::default(),
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

    pub(crate) fn records_per_program(&self) -> usize {
        let pages = self.layout.units_per_program / self.layout.units_per_page;
        records_per_page(self.config.sheet.geometry.page.0 as usize) * (pages as usize / 2).max(1)
    }

    /// Records of the marks of program units that fill a program of the journal.
    pub(crate) fn marks_per_program(&self) -> usize {
        let pages = (self.layout.units_per_program / self.layout.units_per_page) as usize;
        marks_per_page(self.config.sheet.geometry.page.0 as usize, self.layout.units_per_program as usize) * pages
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
        let record = Record { first, count, version };
        let before = std::mem::replace(&mut journal.newest, version);
        if !journal.stuck {
            journal.pending.push_back(record);
        }
        let is_kept = self.config.buffer.protection == Protection::Capacitor && before <= journal.known();
        let place = if is_kept { journal.places.pop() } else { None };
        let wants = journal.wants_trims(full);
        if let Some(place) = place {
            journal.kept = version;
            journal.kept_at.push_back((version, place));
            if self.config.keeps_data {
                self.keep_fact(place, Fact::Trim(record));
            }
        }
        if wants {
            self.wake_journal();
        }
    }

    /// The trim `part` waits until all trims up to now are durable; returns whether it has to.
    pub(crate) fn await_trims(&mut self, part: u32) -> bool {
        let version = self.hurry_journal();
        let Some(journal) = self.journal.as_mut().filter(|journal| version > journal.known()) else {
            return false;
        };
        if journal.stuck {
            self.parts[part].ok = false;
            return false;
        }
        journal.waiting.push_back((part, version));
        self.parts[part].pending += 1;
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
            if version <= journal.known() {
                self.release_known();
            } else if journal.stuck {
                self.fail_trims();
            }
        }
    }

    /// Who waited for trims that outlast a power cut now goes on.
    pub(crate) fn release_known(&mut self) {
        let journal = self.journal.as_mut().expect("it has written");
        let known = journal.known();
        let mut done = Vec::new();
        while let Some((part, _)) = journal.waiting.pop_front_if(|&mut (_, version)| version <= known) {
            done.push(part);
        }
        done.into_iter().for_each(|part| self.release_part(part));
    }

    /// Somebody waits for the records up to now. Returns the version of the newest trim.
    pub(crate) fn hurry_journal(&mut self) -> u64 {
        let Some(journal) = &mut self.journal else {
            return 0;
        };
        let newest = journal.newest;
        if newest > journal.known() {
            journal.hurry = true;
            self.wake_journal();
        }
        newest
    }

    /// Whether nothing can be written to it any more.
    pub(crate) fn is_journal_stuck(&self) -> bool {
        self.journal.as_ref().is_some_and(|journal| journal.stuck)
    }

    /// Trims up to this version outlast a power cut.
    pub(crate) fn trims_durable(&self) -> u64 {
        self.journal.as_ref().map_or(u64::MAX, |journal| journal.known())
    }

    /// The version of the newest trim.
    pub(crate) fn trims_newest(&self) -> u64 {
        self.journal.as_ref().map_or(0, |journal| journal.newest)
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
    pub(crate) fn release_part(&mut self, part: u32) {
        self.parts[part].pending -= 1;
        if self.parts[part].pending == 0 && self.parts[part].unadmitted == 0 {
            self.finish(part);
        }
    }
}
