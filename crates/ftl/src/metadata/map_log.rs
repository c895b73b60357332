//! The map log: everything that a core must know again after a power cut and that a failed die must not take along, in one sequence that is written twice.
//!
//! ```text
//!   … [ marks │ trims │ places │ places ] [ marks │ end ] [ marks ] [ memos │ marks │ groups │ places ] …
//!              checkpoint n ▲ begun                ▲ whole: what is before its begin is let go
//! ```
//!
//! - A page of facts holds records of trims, memos, marks of programs, or the history of the core; a page of a checkpoint tells how groups stood, or where
//!   units lie. Each has a serial number, and each program goes to two dies.
//! - The map of durable data is the newest whole checkpoint and, over it, the marks that follow its begin, in the order in which their programs have landed. A
//!   unit that was overtaken while it was moved is told as nothing. So what a page, a block or a die held is known without reading it, and nothing else is in
//!   doubt: an unreadable page that neither the checkpoint nor a mark names holds nothing that was promised.
//! - A promise is kept once both copies are down.
//!
//! The log takes the place of the journal's generations, of checkpoints of their own and of the summaries at the ends of groups.

use std::collections::{BTreeSet, VecDeque};

use wordline_flash::Operation;
use wordline_units::DieId;

use super::checkpoint::Writing;
use super::memos::Memos;
use super::oob::OobCopies;
use super::told::{buffered, nothings, refusals, spoilt, unmapped};
use super::twin_log::{Pair, TwinLog};
use crate::pages::checkpoint::{KnownState, Said};
use crate::pages::journal::{Facts, History, Record, marks_per_page, memos_per_page, records_per_page};
use crate::pages::map_log::{Body, LogPage, body_bytes};
use crate::state::Core;
use crate::state::allocation::Left;
use crate::state::data::MetadataKind;
use crate::state::layout::BlockGroup;

/// Data programs for one program of a checkpoint, where the configuration names no number.
const EVERY: u32 = 32;

/// Number of kinds of facts that wait to be written: memos, trims and marks.
const KINDS: usize = 3;

/// Progress of an orderly stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stop {
    /// The core goes on.
    No,
    /// A whole checkpoint is to be the last thing but the record of the stop.
    Wanted,
    /// The record of the stop is under way.
    Ordered,
    /// The record of the stop is down.
    Done,
}

/// Waiting facts of the journal, as the log takes them for its next program.
pub(super) struct Waiting<'a> {
    /// Trims that no program was ordered for, oldest first.
    pub(super) trims: &'a mut VecDeque<Record>,
    /// Trims in the program that is being ordered.
    pub(super) ordered: &'a mut Vec<Record>,
    pub(super) memos: &'a mut Memos,
    pub(super) history: &'a History,
}

/// Place of a recovered log among serial numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Resumed {
    /// First serial number that was never used.
    pub(crate) next: u64,
    /// Last serial number that must be there.
    pub(crate) before: u64,
    /// First serial number that is needed.
    pub(crate) begun: u64,
    /// Number of the newest whole checkpoint.
    pub(crate) whole: Option<u64>,
}

/// A checkpoint that is being written.
#[derive(Clone, Debug)]
struct InWriting {
    pages: Writing,
    /// First serial number of the checkpoint.
    begun: u64,
    /// Number of programs when it was begun.
    begun_at: u64,
    /// Facts that are still to be written.
    facts: VecDeque<Facts>,
}

/// The map log of one core.
#[derive(Clone, Debug)]
pub(crate) struct MapLog {
    log: TwinLog,
    /// First serial number in each pair of the log.
    firsts: VecDeque<u64>,
    /// Serial number of the next page.
    serial: u64,
    /// Serial number of the first page since the start, or since a program failed.
    start: u64,
    /// Last serial number before that which must be there.
    before: u64,
    /// Serial number of the first page of the program ordered last.
    first: u64,
    /// First serial number that the newest whole checkpoint needs.
    begun: u64,
    /// Number of the newest whole checkpoint.
    whole: Option<u64>,
    /// The checkpoint that is being written.
    writing: Option<InWriting>,
    /// Groups with readable pages that the map does not know.
    unsure: BTreeSet<BlockGroup>,
    /// Program units in them that count for nothing, though their pages can be read.
    given_up: BTreeSet<(BlockGroup, u32)>,
    /// Number of programs so far, and when the newest whole checkpoint was begun.
    programs: u64,
    begun_at: u64,
    /// True if the last program left room to a checkpoint because the log is long.
    took_turn: bool,
    /// Kind of the facts that come first in the next program.
    turn: usize,
    /// Data programs since the last page of a checkpoint was ordered.
    due: u32,
    /// True if something that the map knows has changed since the checkpoint was begun.
    is_changed: bool,
    /// True if the newest whole checkpoint tells all that the map knows.
    is_fresh: bool,
    /// Facts of the last program before the start, of which one copy may be missing.
    again: Vec<Facts>,
    /// True if the history was not written since the start.
    owes_history: bool,
    /// True if the history is to be written without anything else: there was a start, or a die has failed.
    is_eventful: bool,
    /// True if the next checkpoint is to be whole as soon as possible.
    is_urgent: bool,
    stop: Stop,
    /// Length of the log in programs from which on checkpoints hurry.
    long: u64,
}

impl MapLog {
    /// Creates the log of a new core.
    pub(crate) fn new(core: &mut Core) -> MapLog {
        let bytes = core.settings().unit_bytes(core.layout().units_per_program).0 as usize;
        let mut log = TwinLog::new(MetadataKind::Journal, bytes);
        let is_found = log.begin(core);
        MapLog {
            firsts: is_found.then_some(1).into_iter().collect(),
            log,
            serial: 1,
            start: 1,
            before: 0,
            first: 1,
            begun: 1,
            whole: None,
            writing: None,
            unsure: BTreeSet::new(),
            given_up: BTreeSet::new(),
            programs: 0,
            begun_at: 0,
            took_turn: false,
            turn: 0,
            due: 0,
            is_changed: false,
            is_fresh: false,
            again: Vec::new(),
            owes_history: true,
            is_eventful: false,
            is_urgent: false,
            stop: Stop::No,
            long: u64::from(core.settings().log_programs),
        }
    }

    /// Resumes after a power cut with `pairs`, oldest first, each with its first serial number. Nothing is added to them. `again`: facts that are to be
    /// written once more before anything else, a program of them at most.
    pub(crate) fn resume(&mut self, core: &Core, pairs: Vec<(u64, Pair)>, at: Resumed, again: Vec<Facts>) {
        (self.again, self.is_eventful) = (again, true);
        let (firsts, pairs): (VecDeque<u64>, Vec<Pair>) = pairs.into_iter().unzip();
        self.firsts = firsts;
        self.programs = pairs.len() as u64 * u64::from(core.layout().programs);
        self.log.resume(pairs, core.layout());
        (self.serial, self.start, self.first) = (at.next, at.next, at.next);
        (self.before, self.begun, self.whole) = (at.before, at.begun, at.whole);
    }

    /// Serial number of the next page: a number by which programs of the log are told apart.
    pub(crate) fn serial(&self) -> u64 {
        self.serial
    }

    /// Number of the newest whole checkpoint.
    pub(crate) fn whole(&self) -> Option<u64> {
        self.whole
    }

    /// The bytes of part `unit` of the program ordered last, of units of `bytes` bytes.
    pub(crate) fn bytes(&self, unit: u32, bytes: usize) -> &[u8] {
        self.log.bytes(unit, bytes)
    }

    pub(crate) fn is_stuck(&self) -> bool {
        self.log.is_stuck()
    }

    pub(crate) fn set_stuck(&mut self) {
        self.log.set_stuck();
    }

    /// True if no program is under way and none is owed for an orderly stop, or none can be written.
    pub(crate) fn is_at_rest(&self) -> bool {
        !self.log.is_busy() && (matches!(self.stop, Stop::No | Stop::Done) || self.is_stuck())
    }

    /// End with a whole checkpoint and the record of an orderly stop.
    pub(crate) fn finish(&mut self) {
        self.stop = Stop::Wanted;
    }

    /// Go on without `die`, which has failed: of what the log holds there one copy is left, so a whole checkpoint comes as soon as possible. Returns true if
    /// the program under way has ended with that, badly.
    pub(crate) fn leave(&mut self, core: &mut Core, die: DieId) -> bool {
        let (had_any, is_cut) = self.log.leave(core, die);
        self.is_urgent |= had_any;
        if is_cut {
            self.fail();
        }
        (self.owes_history, self.is_eventful) = (true, true);
        is_cut
    }

    /// Count a data program that has ended. Returns true if a program of a checkpoint is due.
    pub(crate) fn count(&mut self, core: &Core) -> bool {
        (self.is_changed, self.is_fresh) = (true, false);
        self.due = self.due.saturating_add(1);
        self.is_due(core)
    }

    /// Note that `group` holds pages that the map does not know, and that its `program` counts for nothing.
    pub(crate) fn give_up(&mut self, group: BlockGroup, program: Option<u32>) {
        self.unsure.insert(group);
        self.given_up.extend(program.map(|program| (group, program)));
    }

    /// Forget that of `group`, which holds nothing any more.
    pub(crate) fn forget(&mut self, group: BlockGroup) {
        if self.unsure.remove(&group) {
            self.given_up.retain(|&(of, _)| of != group);
        }
    }

    fn is_due(&self, core: &Core) -> bool {
        // While units are refused, what the log lacks may come back; a checkpoint would make it needless.
        let is_wanted = core.refused().is_none_or(|refused| refused.count() == 0) || self.length() > self.long;
        let is_time = self.due >= core.settings().checkpoint_every.unwrap_or(EVERY) || self.hurries();
        (is_time && is_wanted) || self.is_urgent || self.owes_stop()
    }

    /// True if the record of a start, of a failed die or of an orderly stop is still to be written.
    pub(crate) fn owes_record(&self) -> bool {
        self.owes_event() || self.owes_stop()
    }

    fn owes_stop(&self) -> bool {
        self.stop == Stop::Wanted
    }

    /// True if the log does not tell yet that there was a start, or that a die has failed.
    fn owes_event(&self) -> bool {
        self.owes_history && self.is_eventful
    }

    /// Number of programs behind the begin of the newest whole checkpoint.
    fn length(&self) -> u64 {
        self.programs - self.begun_at
    }

    /// True if the log is so long that a checkpoint takes a share in each program.
    fn hurries(&self) -> bool {
        self.length() > self.long / 2
    }

    // How it comes to flash.

    /// Group of the next operation; `Err`: a program is due and no group can take it. `wants`: facts wait to be written.
    pub(crate) fn next(&self, core: &Core, wants: bool) -> Result<Option<BlockGroup>, ()> {
        if self.log.is_busy() {
            return Ok(self.log.next(core.layout()));
        }
        // Something may still have been moved after the last record of an orderly stop: then it was not the last.
        let has_work = if self.stop == Stop::Done { !self.is_fresh } else { self.is_due(core) || self.owes_event() };
        let is_wanted = (wants || has_work) && !self.log.is_stuck();
        if !is_wanted || (core.is_worn_out() && !wants && !self.owes_stop()) {
            return Ok(None);
        }
        self.log.next(core.layout()).map(Some).ok_or(())
    }

    /// Find free groups for the programs after those that there is room for, of dies that keep `left`.
    pub(crate) fn refill(&mut self, core: &mut Core, left: Left) {
        self.log.refill(core, left);
    }

    /// Take free groups for the next programs, of dies that keep `left`. Returns false if there are none.
    pub(crate) fn find_room(&mut self, core: &mut Core, left: Left, alone: bool) -> bool {
        let is_found = self.log.find_room(core, left, alone);
        if is_found {
            self.firsts.push_back(self.serial);
        }
        is_found
    }

    /// Order the next copy of the program under way, or a new program with what waits.
    pub(super) fn issue(&mut self, core: &mut Core, waiting: Waiting<'_>, oob: Option<&mut OobCopies>) -> Operation {
        if !self.log.is_busy() {
            self.compose(core, waiting, oob);
        }
        self.log.issue(core)
    }

    fn compose(&mut self, core: &mut Core, mut waiting: Waiting<'_>, mut oob: Option<&mut OobCopies>) {
        let page = core.settings().page;
        let pages = self.log.image_mut().len() / page;
        let room = body_bytes(page);
        self.first = self.serial;
        self.programs += 1;
        self.stop = if self.stop == Stop::Done { Stop::Wanted } else { self.stop };
        // Where facts fill all programs, they take turns with a checkpoint.
        let is_held = self.writing.as_ref().is_some_and(|writing| writing.pages.waits(before_first(waiting.trims)));
        let share = usize::from(self.hurries() && (pages > 1 || !self.took_turn) && !is_held);
        self.took_turn = share > 0;
        let fact_pages = pages - share;
        let mut bodies: Vec<Body> = self.again.iter().take(pages).cloned().map(Body::Facts).collect();
        let has_all = waiting.trims.is_empty() && !waiting.memos.wait() && oob.as_ref().is_none_or(|oob| !oob.has_unordered());
        let is_last = self.owes_stop() && self.is_fresh && has_all;
        if (self.owes_history || is_last) && bodies.len() < fact_pages {
            let history = History { version: core.buffer_mut().next_version(), is_clean: is_last, ..*waiting.history };
            bodies.push(Body::Facts(Facts::History(history)));
            (self.owes_history, self.stop) = (false, if is_last { Stop::Ordered } else { self.stop });
        }
        let count = fact_pages.saturating_sub(bodies.len());
        bodies.extend(self.facts(core, &mut waiting, oob.as_deref_mut(), count));
        let mut program: Vec<LogPage> = bodies.into_iter().map(|body| self.page(0, body)).collect();
        if self.is_due(core) {
            while program.len() < pages {
                let Some(page) = self.checkpoint_page(core, &mut waiting, oob.as_deref(), room) else { break };
                program.push(page);
                self.due = 0;
            }
        }
        let image = self.log.image_mut();
        image.fill(0);
        program.iter().zip(image.chunks_exact_mut(page)).for_each(|(page, bytes)| page.write(bytes));
    }

    /// Take facts that wait, of `count` pages at most. Where they are more, the kinds of facts take turns: none of them can keep the others waiting.
    fn facts(&mut self, core: &Core, waiting: &mut Waiting<'_>, mut oob: Option<&mut OobCopies>, count: usize) -> Vec<Body> {
        let (room, units) = (body_bytes(core.settings().page), core.layout().units_per_program as usize);
        let mut bodies: Vec<Body> = Vec::with_capacity(count);
        waiting.ordered.clear();
        for kind in 0..KINDS {
            let left = count - bodies.len();
            match (self.turn + kind) % KINDS {
                0 => {
                    let memos = if left > 0 { waiting.memos.take_unwritten(memos_per_page(room), core.groups()) } else { Vec::new() };
                    bodies.extend((!memos.is_empty()).then_some(Body::Facts(Facts::Memos(memos))));
                }
                1 => {
                    let each = records_per_page(room);
                    waiting.ordered.extend(waiting.trims.drain(..(left * each).min(waiting.trims.len())));
                    bodies.extend(waiting.ordered.chunks(each).map(|some| Body::Facts(Facts::Records(some.to_vec()))));
                }
                _ => {
                    let each = marks_per_page(room, units);
                    let marks = oob.as_mut().map_or(Vec::new(), |oob| oob.take_records(left * each, core.groups()));
                    bodies.extend(marks.chunks(each).map(|some| Body::Facts(Facts::Marks(some.to_vec()))));
                }
            }
        }
        self.turn = if bodies.len() < count { 0 } else { (self.turn + 1) % KINDS };
        bodies
    }

    fn page(&mut self, begun: u64, body: Body) -> LogPage {
        self.serial += 1;
        let copies = self.log.copies();
        LogPage { serial: self.serial - 1, first: self.first, start: self.start, before: self.before, begun, copies, body }
    }

    /// Next page of the checkpoint that is being written, or the first of a new one; `None`: its last page is under way, or a fresh one is whole.
    fn checkpoint_page(&mut self, core: &mut Core, waiting: &mut Waiting<'_>, oob: Option<&OobCopies>, room: usize) -> Option<LogPage> {
        if self.writing.is_none() {
            if self.owes_stop() && self.is_fresh {
                return None;
            }
            self.is_changed = false;
            let mut facts = facts_of(core, waiting.memos, waiting.history, room);
            facts.extend(nothings(core, &self.given_up, room));
            facts.extend(oob.map(|oob| spoilt(core, oob.spoilt(), room)).unwrap_or_default());
            let pages = Writing::begin(core, &self.unsure, Some(KnownState::Open));
            self.writing = Some(InWriting { pages, begun: self.serial, begun_at: self.programs - 1, facts });
        }
        let writing = self.writing.as_mut().expect("just begun");
        let begun = writing.begun;
        let body = match writing.facts.pop_front() {
            Some(facts) => Body::Facts(facts),
            None => {
                let newest = waiting.trims.back().map_or(0, |record| record.version);
                Body::Checkpoint(writing.pages.next_page(core, room, (newest, before_first(waiting.trims)))?)
            }
        };
        let begun = if matches!(&body, Body::Checkpoint(page) if page.said == Said::End) { begun } else { 0 };
        Some(self.page(begun, body))
    }

    /// End the program under way, which has failed. Its pages may be readable in one copy, in both, or in none, and what they held is written again.
    fn fail(&mut self) {
        if self.first > self.start {
            self.before = self.first - 1;
        }
        (self.start, self.writing, self.owes_history) = (self.serial, None, true);
        self.stop = if self.stop == Stop::Ordered { Stop::Wanted } else { self.stop };
    }

    /// End a copy of the program under way, in `group`. Returns whether both have succeeded, once both have ended.
    pub(crate) fn ended(&mut self, core: &mut Core, good: bool, group: BlockGroup) -> Option<bool> {
        let is_good = self.log.ended(core, good, group)?;
        if !is_good {
            self.fail();
            return Some(false);
        }
        self.again.clear();
        if self.stop == Stop::Ordered {
            self.stop = Stop::Done;
        }
        if let Some(InWriting { pages, begun, begun_at, .. }) = self.writing.take_if(|writing| writing.pages.is_complete()) {
            (self.whole, self.begun, self.begun_at) = (Some(pages.number()), begun, begun_at);
            (self.is_fresh, self.is_urgent) = (!self.is_changed, false);
            let needless = self.firsts.iter().skip(1).take_while(|&&first| first <= begun).count().min(self.log.len() - 1);
            self.firsts.drain(..needless);
            self.log.release_oldest(core, needless);
        }
        Some(true)
    }
}

/// Version of the last trim that a program was ordered for, or one above; `trims`: those that wait.
fn before_first(trims: &VecDeque<Record>) -> u64 {
    trims.front().map_or(u64::MAX, |record| record.version - 1)
}

/// Facts that a checkpoint begins with: all that is not of the map, and would be forgotten with the pages before it.
fn facts_of(core: &mut Core, memos: &mut Memos, history: &History, room: usize) -> VecDeque<Facts> {
    let version = core.buffer_mut().next_version();
    let mut facts = VecDeque::from([Facts::History(History { version, is_clean: false, ..*history })]);
    facts.extend(memos.all(core.groups()).chunks(memos_per_page(room)).map(|some| Facts::Memos(some.to_vec())));
    // Units that hold nothing are recorded once more with the version of now: capacitors may keep something older.
    facts.extend(unmapped(core, version, room));
    facts.extend(refusals(core, room));
    facts.extend(buffered(core, room));
    facts
}
