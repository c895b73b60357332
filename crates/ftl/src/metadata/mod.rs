//! Metadata of a core for recovery after a power cut: a journal of trims and memos, checkpoints of the map, second copies of marks.
//!
//! ```text
//!   trim ────────► record ─┐
//!   memo ──────────────────┼─► journal ──► what it makes durable lets groups be erased, and trims, flushes and FUA writes be answered
//!   program ──► its marks ─┘
//!   every n programs of data ──► a page of a checkpoint
//! ```
//!
//! [`Journal`], [`Checkpoints`] and [`OobCopies`] each know their own pages and groups. Here is what they need of each other, who waits for them, and the
//! flushes, which wait for all of them. A core that does not recover has none of the three, and then nobody waits.

pub(crate) mod checkpoint;
mod flushes;
pub(crate) mod journal;
mod kinds;
pub(crate) mod log;
pub(crate) mod map_log;
pub(crate) mod memos;
pub(crate) mod oob;
mod steps;
mod told;
pub(crate) mod twin_log;

use wordline_flash::{Mark, Operation};
use wordline_units::{DieId, PartId};

use checkpoint::{Checkpoints, TrimsFirst};
use flushes::Flushes;
use journal::{Journal, Journaled, Reserve, Step, marks_per_program, records_per_program};
pub(crate) use kinds::{Kinds, fail};
use log::Rescue;
use map_log::MapLog;
use oob::OobCopies;

use crate::pages::journal::History;
use crate::pages::kept::Fact;
use crate::state::Core;
use crate::state::allocation::{self, Left};
use crate::state::buffer::Dropped;
use crate::state::layout::BlockGroup;
use crate::state::services::OwnMemos;
use crate::techniques::seam::{Card, Memo};

/// Metadata of one core.
#[derive(Debug)]
pub(crate) struct Metadata {
    journal: Option<Box<Journal>>,
    checkpoints: Option<Box<Checkpoints>>,
    /// Second copy of the marks, if the core keeps one.
    oob: Option<Box<OobCopies>>,
    flushes: Flushes,
    /// History of the core over all starts.
    history: History,
    /// True after the call that announces a shutdown.
    is_going: bool,
}

impl Metadata {
    /// Creates the metadata of a new core.
    pub(crate) fn new(core: &mut Core, kinds: Kinds) -> Metadata {
        let bytes = core.settings().unit_bytes(core.layout().units_per_program).0 as usize;
        let journal = kinds.journal.then(|| Box::new(Journal::new(core)));
        let oob = kinds.oob.then(|| Box::new(OobCopies::new(core, bytes)));
        let checkpoints = kinds.checkpoints.then(|| Box::new(Checkpoints::new(bytes)));
        let history = History { starts: 1, ..History::default() };
        Metadata { journal, checkpoints, oob, flushes: Flushes::default(), history, is_going: false }
    }

    pub(crate) fn journal(&self) -> Option<&Journal> {
        self.journal.as_deref()
    }

    pub(crate) fn journal_mut(&mut self) -> Option<&mut Journal> {
        self.journal.as_deref_mut()
    }

    pub(crate) fn checkpoints(&self) -> Option<&Checkpoints> {
        self.checkpoints.as_deref()
    }

    pub(crate) fn checkpoints_mut(&mut self) -> Option<&mut Checkpoints> {
        self.checkpoints.as_deref_mut()
    }

    pub(crate) fn oob(&self) -> Option<&OobCopies> {
        self.oob.as_deref()
    }

    pub(crate) fn oob_mut(&mut self) -> Option<&mut OobCopies> {
        self.oob.as_deref_mut()
    }

    #[inline]
    pub(crate) fn has_journal(&self) -> bool {
        self.journal.is_some()
    }

    #[inline]
    pub(crate) fn has_oob(&self) -> bool {
        self.oob.is_some()
    }

    #[inline]
    pub(crate) fn has_checkpoints(&self) -> bool {
        self.checkpoints.is_some() || self.map_log().is_some()
    }

    /// The map log, where it takes the place of the journal's generations and of checkpoints.
    pub(crate) fn map_log(&self) -> Option<&MapLog> {
        self.journal.as_ref().and_then(|journal| journal.map_log())
    }

    fn map_log_mut(&mut self) -> Option<&mut MapLog> {
        self.journal.as_mut().and_then(|journal| journal.map_log_mut())
    }

    /// Number of the newest whole checkpoint.
    pub(crate) fn whole_checkpoint(&self) -> Option<u64> {
        self.map_log().map_or_else(|| self.checkpoints()?.whole(), |log| log.whole())
    }

    /// History of the core over all starts, this one included.
    pub(crate) fn history(&self) -> History {
        self.history
    }

    pub(crate) fn resume_history(&mut self, history: History) {
        self.history = history;
    }

    /// Count a read that could not be corrected, if `is_one`.
    #[inline]
    pub(crate) fn note_media_error(&mut self, is_one: bool) {
        self.history.media_errors += u64::from(is_one);
    }

    /// Begin an orderly shutdown, which ends with a last record in the journal.
    pub(crate) fn go_down(&mut self, core: &mut Core) {
        self.is_going = true;
        if let Some(journal) = &mut self.journal {
            journal.finish(core.buffer_mut().next_version());
            self.wake_journal(core);
        }
    }

    /// True if all metadata is on flash, the record of the shutdown included.
    pub(crate) fn is_down(&self) -> bool {
        self.is_going && self.journal.as_ref().is_none_or(|journal| journal.is_at_rest())
    }

    /// Record `memos` of techniques, each with its technique's card. Returns true if one was news. Without a journal none is asked for.
    pub(crate) fn note_memos(&mut self, memos: impl Iterator<Item = (&'static Card, Memo)>) -> bool {
        let Some(journal) = &mut self.journal else { return false };
        memos.fold(false, |has_news, (card, memo)| journal.memos_mut().note(card, memo) || has_news)
    }

    /// Record memos of the core itself about `group`.
    #[cold]
    pub(crate) fn note_own(&mut self, core: &mut Core, group: BlockGroup, memos: OwnMemos) {
        let Some(journal) = &mut self.journal else { return };
        if journal.memos_mut().note_own(group, memos) {
            self.wake_journal(core);
        }
    }

    // Trims.

    /// Version of the newest trim.
    pub(crate) fn trims_newest(&self) -> u64 {
        self.journal.as_ref().map_or(0, |journal| journal.newest())
    }

    /// Version up to which trims outlast a power cut.
    pub(crate) fn trims_durable(&self) -> u64 {
        self.journal.as_ref().map_or(u64::MAX, |journal| journal.known())
    }

    /// True if nothing can be written to the journal any more.
    pub(crate) fn is_stuck(&self) -> bool {
        self.journal.as_ref().is_some_and(|journal| journal.is_stuck())
    }

    /// Record that `count` units from `first` have been trimmed.
    pub(crate) fn trim(&mut self, core: &mut Core, first: u32, count: u32) {
        if let Some(journal) = &mut self.journal
            && count > 0
            && journal.trim(core, first, count)
        {
            self.wake_journal(core);
        }
    }

    /// Hurry the journal, because a request waits for the records so far. Returns the version of the newest trim.
    pub(crate) fn hurry(&mut self, core: &mut Core) -> u64 {
        if self.journal.as_mut().is_some_and(|journal| journal.hurry()) {
            self.wake_journal(core);
        }
        self.trims_newest()
    }

    /// Make the trim `part` wait until all trims so far are durable.
    pub(crate) fn await_trims(&mut self, core: &mut Core, part: PartId) {
        let version = self.hurry(core);
        let Some(journal) = self.journal.as_mut().filter(|journal| version > journal.known()) else {
            return;
        };
        if journal.is_stuck() {
            return core.requests_mut().spoil(part);
        }
        journal.await_trims(part, version);
        core.requests_mut().hold(part);
    }

    /// Make the requests that waited for `dropped` data wait for the trim's record instead: without either, older data would come back.
    pub(crate) fn inherit(&mut self, core: &mut Core, dropped: Dropped) {
        let version = self.trims_newest();
        let flushes_wait = self.flushes.inherit(dropped.epoch, version);
        if flushes_wait || !dropped.waiters.is_empty() {
            self.hurry(core);
            let journal = self.journal.as_mut().expect("only a core that keeps data asks");
            dropped.waiters.into_iter().for_each(|part| journal.await_trims(part, version));
            if version <= journal.known() {
                self.release_known(core);
            } else if journal.is_stuck() {
                self.fail_trims(core);
            }
        }
    }

    /// Release the requests whose trims outlast a power cut.
    fn release_known(&mut self, core: &mut Core) {
        let done = self.journal.as_mut().map_or(Vec::new(), |journal| journal.take_known());
        done.into_iter().for_each(|part| core.requests_mut().release(part));
    }

    /// Fail the trims that wait, because the core takes no more writes.
    pub(crate) fn fail_trims(&mut self, core: &mut Core) {
        let waiting = self.journal.as_mut().map_or(Vec::new(), |journal| journal.give_up());
        fail(core, waiting);
    }

    // Groups that are to be erased.

    /// Require that all trims so far are durable before `group`, which they have emptied, is erased.
    pub(crate) fn hold(&mut self, group: BlockGroup) {
        if let Some(journal) = &mut self.journal {
            journal.hold(group);
        }
    }

    /// Note that a unit of `group` has become stale.
    #[inline]
    pub(crate) fn note_stale(&mut self, group: BlockGroup) {
        if let Some(oob) = &mut self.oob {
            oob.hold(group);
        }
    }

    /// True if recovery needs nothing in `group`.
    pub(crate) fn lets_go(&self, group: BlockGroup) -> bool {
        self.journal.as_ref().is_none_or(|journal| journal.lets_go(group))
            && self.are_marks_known(group)
            && self.checkpoints.as_ref().is_none_or(|checkpoints| checkpoints.lets_go(group))
    }

    /// True if the marks of all programs that made units of `group` stale are known without reading those programs' pages.
    pub(crate) fn are_marks_known(&self, group: BlockGroup) -> bool {
        self.oob.as_ref().is_none_or(|oob| oob.lets_go(group))
    }

    /// True if `group` holds a checkpoint that must go.
    pub(crate) fn is_abandoned(&self, group: BlockGroup) -> bool {
        self.checkpoints.as_ref().is_some_and(|checkpoints| checkpoints.is_abandoned(group))
    }

    /// Forget the marks of `group`, which holds nothing any more or is out of service.
    pub(crate) fn forget_marks(&mut self, group: BlockGroup) {
        if let Some(oob) = &mut self.oob {
            oob.forget(group);
        }
    }

    /// Forget what checkpoints and techniques know of `group`, which holds nothing any more.
    pub(crate) fn forget(&mut self, core: &mut Core, group: BlockGroup) {
        if self.checkpoints.as_mut().is_some_and(|checkpoints| checkpoints.forget(group)) {
            core.die_ids().for_each(|die| core.wake(die));
        }
        if let Some(journal) = &mut self.journal {
            journal.memos_mut().forget(group);
        }
        if let Some(log) = self.map_log_mut() {
            log.forget(group);
            self.wake_journal(core);
        }
    }

    /// Note that `group` holds pages that the map does not know, and that its program unit `given_up` counts for nothing.
    pub(crate) fn leave_unsettled(&mut self, group: BlockGroup, given_up: Option<u32>) {
        self.checkpoints.iter_mut().for_each(|checkpoints| checkpoints.leave_unsettled(group));
        self.map_log_mut().into_iter().for_each(|log| log.give_up(group, given_up));
    }

    // The journal's work.

    fn journal_next(&self, core: &Core) -> Step {
        self.journal.as_ref().map_or(Step::Nothing, |journal| journal.next(core, self.oob.as_deref()))
    }

    /// Wake the die on which the journal has its next operation, if it has one.
    #[cold]
    pub(crate) fn wake_journal(&mut self, core: &mut Core) {
        if self.journal.as_ref().is_some_and(|journal| journal.wants_group()) {
            self.find_room(core, core.settings().gc.floor);
        }
        let (mut step, left) = (self.journal_next(core), Left::UnlessEmptied(core.settings().gc.floor));
        if step == Step::NoRoom && self.find_log_room(core, left, false) {
            step = self.journal_next(core);
        }
        self.map_log_mut().into_iter().for_each(|log| log.refill(core, left));
        step.group().into_iter().for_each(|group| core.wake(core.layout().die(group)));
    }

    /// Find groups for the map log, if there is one. `alone`: the two may be of one die.
    pub(crate) fn find_log_room(&mut self, core: &mut Core, left: Left, alone: bool) -> bool {
        self.map_log_mut().is_some_and(|log| log.find_room(core, left, alone))
    }

    fn find_room(&mut self, core: &mut Core, left: u32) -> bool {
        let plain = allocation::take_metadata_group(core, left).map(Reserve::Erased);
        let found = plain.or_else(|| allocation::take_spared_group(core, left).map(Reserve::Used));
        if let (Some(group), Some(journal)) = (found, &mut self.journal) {
            journal.give_group(group);
        }
        found.is_some()
    }

    /// Rescue a journal that has no room, when no operation is under way: it takes the last free group, or gives up.
    pub(crate) fn rescue(&mut self, core: &mut Core) -> Rescue {
        // Nobody waits for memos, and they are not worth the last room there is. Marks may not be waited for, either.
        let is_awaited = self.oob.as_ref().is_some_and(|oob| oob.is_wanted());
        let is_awaited = is_awaited || self.journal.as_ref().is_some_and(|journal| journal.wants_trims(records_per_program(core)));
        let is_owed = self.map_log().is_some_and(MapLog::owes_record);
        if self.journal_next(core) != Step::NoRoom || !(is_awaited || is_owed) {
            return Rescue::Needless;
        }
        let is_found = if self.map_log().is_some() {
            let is_found = [false, true].into_iter().any(|alone| self.find_log_room(core, Left::Groups(0), alone));
            is_found || allocation::make_plain(core)
        } else {
            self.find_room(core, 0)
        };
        if is_found {
            self.wake_journal(core);
            return Rescue::Found;
        }
        if is_awaited || self.is_going {
            self.journal.as_mut().expect("it wants room").set_stuck();
        }
        if is_awaited { Rescue::Stuck } else { Rescue::Needless }
    }

    /// Next operation of `die` for the journal.
    #[cold]
    pub(crate) fn journal_step(&mut self, core: &mut Core, die: DieId) -> Option<Operation> {
        let step = self.journal_next(core);
        let history = History { is_clean: self.is_going, ..self.history };
        if step.group().is_none_or(|group| core.layout().die(group) != die) {
            return None;
        }
        let operation = self.journal.as_mut()?.issue(core, self.oob.as_deref_mut(), step, &history);
        if matches!(step, Step::Log(_)) {
            // The other copy goes to another die at the same time.
            self.wake_journal(core);
        }
        operation
    }

    /// Next program of `die` for a checkpoint.
    #[cold]
    pub(crate) fn checkpoint_step(&mut self, core: &mut Core, die: DieId) -> Option<Operation> {
        let trims = (self.trims_newest(), self.trims_durable());
        let checkpoints = self.checkpoints.as_mut()?;
        match checkpoints.next(core, die, trims.1)? {
            Ok(_) => Some(checkpoints.issue(core, trims)),
            Err(TrimsFirst) => {
                self.hurry(core);
                None
            }
        }
    }

    /// Next program of `die` for a summary, or one that a summary waits for. `is_blocked`: true for a group in which nothing may be programmed yet.
    #[cold]
    pub(crate) fn oob_step(&mut self, core: &mut Core, die: DieId, is_blocked: impl Fn(BlockGroup) -> bool) -> Option<Operation> {
        let oob = self.oob.as_mut()?;
        match oob.next(die, is_blocked) {
            (_, Some(group)) => Some(oob.issue_summary(core, group)),
            (true, None) => {
                self.seal_all(core);
                self.journal_step(core, die)
            }
            (false, None) => None,
        }
    }

    /// End a program of the journal in `group`.
    pub(crate) fn journal_programmed(&mut self, core: &mut Core, good: bool, group: BlockGroup) -> Journaled {
        self.journal.as_mut().expect("it was ordered").programmed(core, self.oob.as_deref_mut(), good, group)
    }

    /// Release the requests that waited for trims, or for marks, after more trims may be durable.
    pub(crate) fn release_trims(&mut self, core: &mut Core) {
        let is_flushed = !self.flushes.is_empty() && (self.oob.is_none() || self.flushes.sealed().is_some());
        let journal = self.journal.as_mut().expect("it has written");
        if journal.newest() > journal.known() && (journal.is_awaited() || is_flushed) {
            journal.hurry_on();
        }
        self.release_known(core);
        self.release_sealed(core);
    }

    /// End the erase of the group that the journal does not need any more.
    pub(crate) fn journal_erased(&mut self, core: &mut Core, good: bool, group: BlockGroup) {
        self.journal.as_mut().expect("it was ordered").erased(core, good, group);
    }

    /// End a program of a checkpoint in `group`.
    pub(crate) fn checkpoint_programmed(&mut self, core: &mut Core, good: bool, group: BlockGroup) {
        self.checkpoints.as_mut().expect("it was ordered").programmed(core, good, group);
    }

    /// Count a data program that has ended: a program of a checkpoint may be due.
    #[inline]
    pub(crate) fn count_program(&mut self, core: &mut Core) {
        if let Some(checkpoints) = &mut self.checkpoints {
            checkpoints.count(core);
        }
        if self.map_log_mut().is_some_and(|log| log.count(core)) {
            self.wake_journal(core);
        }
    }

    /// Go on without `die`, which has failed.
    #[cold]
    pub(crate) fn leave(&mut self, core: &mut Core, die: DieId) {
        let known = self.map_log().map(|_| die);
        self.history.note_failure(core.buffer_mut().next_version(), known);
        let is_cut = self.journal.as_mut().is_some_and(|journal| journal.leave(core, die));
        if let Some(oob) = &mut self.oob {
            if is_cut {
                oob.journaled(false);
            }
            oob.leave(die, core.groups());
        }
        if self.checkpoints.as_mut().is_some_and(|checkpoints| checkpoints.leave(core)) {
            core.die_ids().for_each(|die| core.wake(die));
        }
        self.wake_journal(core);
    }

    // Second copies of marks.

    /// Record the marks of the program or copyback just ordered on `die`.
    pub(crate) fn note_marks(&mut self, die: DieId, marks: &[Mark]) {
        if let Some(oob) = &mut self.oob {
            oob.note_marks(die, marks);
        }
    }

    /// True if a program of host data may be ordered.
    #[inline]
    pub(crate) fn has_place(&self) -> bool {
        self.oob.as_ref().is_none_or(|oob| oob.has_place())
    }

    /// Reserve a place for the marks of the program of host data ordered on `die`.
    #[inline]
    pub(crate) fn reserve(&mut self, die: DieId) {
        if let Some(oob) = &mut self.oob {
            oob.reserve(die);
        }
    }

    /// Note that program unit `program` of `group` has ended on `die`. `is_host`: the host has written some of it.
    pub(crate) fn note_landing(&mut self, core: &mut Core, die: DieId, at: (BlockGroup, u32), (good, is_host): (bool, bool)) {
        let serial = self.map_log().map_or(0, |log| log.serial());
        let Some(oob) = &mut self.oob else { return };
        let kept = oob.landed(die, at, (good, is_host), core.groups());
        if let Some((index, record)) = kept.filter(|_| core.settings().keeps_data) {
            core.outbox_mut().keep(index, Fact::Marks(record, serial).encode());
        }
        if oob.wants(marks_per_program(core)) {
            self.wake_journal(core);
        }
    }

    /// Note that unit `unit` of the program that ends on `die` holds nothing that is new: it was overtaken on its way. The map log tells the newest place of
    /// each unit by the order in which programs land.
    pub(crate) fn note_overtaken(&mut self, die: DieId, unit: usize) {
        if let Some(oob) = &mut self.oob {
            oob.overtaken(die, unit);
        }
    }

    /// Make the requests that waited for the program that has just landed wait for its record, too.
    pub(crate) fn hold_back_released(&mut self, core: &mut Core) {
        let Some(oob) = &mut self.oob else { return };
        let mut has_to_wait = false;
        for at in 0..core.buffer().released().len() {
            let part = core.buffer().released()[at];
            if oob.hold_back(part) {
                core.requests_mut().hold(part);
                has_to_wait = true;
            }
        }
        if has_to_wait {
            self.wake_journal(core);
        }
    }

    /// Request that all marks are sealed.
    pub(crate) fn seal_all(&mut self, core: &mut Core) {
        let Some(oob) = &mut self.oob else { return };
        let now = oob.now();
        if !oob.is_sealed(now) {
            oob.want(now);
            self.wake_journal(core);
        }
    }

    /// Begin the summary of `group`, all data of which has been programmed. Returns false where groups have no summary.
    pub(crate) fn begin_summary(&mut self, core: &mut Core, group: BlockGroup) -> bool {
        let Some(oob) = self.oob.as_mut().filter(|_| !core.settings().twins) else { return false };
        let layout = *core.layout();
        core.groups_mut().give_up(group, layout.data_units..layout.units_per_group);
        oob.finish(group, layout.data_programs);
        core.wake(layout.die(group));
        true
    }

    /// Drop the summary of `group` from those to be programmed. Returns true if it was among them.
    pub(crate) fn drop_summary(&mut self, group: BlockGroup) -> bool {
        self.oob.as_mut().is_some_and(|oob| oob.drop_summary(group))
    }

    /// Count one more programmed unit of the summary of `group`. Returns true if the summary is whole.
    pub(crate) fn wrote_summary(&mut self, group: BlockGroup) -> bool {
        self.oob.as_mut().expect("it was ordered").wrote_summary(group)
    }

    /// Release the requests that waited for marks to be sealed.
    pub(crate) fn release_sealed(&mut self, core: &mut Core) {
        while let Some(part) = self.oob.as_mut().and_then(|oob| oob.next_released()) {
            core.requests_mut().release(part);
        }
    }

    /// Fail the requests that wait for marks, because none will be sealed any more.
    pub(crate) fn fail_sealed(&mut self, core: &mut Core) {
        let waiting = self.oob.as_mut().map_or(Vec::new(), |oob| oob.give_up());
        fail(core, waiting);
    }

    // Flushes.

    /// True if flushes wait.
    #[inline]
    pub(crate) fn has_flushes(&self) -> bool {
        !self.flushes.is_empty()
    }

    /// True if the buffer is to be programmed soon: without capacitors, because a flush waits for it; with them, because the drive is to be emptied.
    pub(crate) fn flushes_press(&self, core: &Core) -> bool {
        if core.settings().has_capacitors() { core.is_flushing_all() } else { self.has_flushes() }
    }

    /// Make the flush `part` wait until everything before it is durable.
    pub(crate) fn flush(&mut self, core: &mut Core, part: PartId) {
        // Writes still waiting for room were not acknowledged, so the flush need not wait for them.
        let epoch = core.buffer_mut().barrier();
        // Where marks follow the data into the journal, the trims go with them.
        let trims = if self.oob.is_some() { self.trims_newest() } else { self.hurry(core) };
        self.flushes.add(part, epoch, trims);
    }

    /// Answer the flushes that have nothing left to wait for.
    pub(crate) fn pass_flushes(&mut self, core: &mut Core) {
        let durable = if core.settings().has_capacitors() { u64::MAX } else { core.buffer_mut().durable_epoch() };
        let trimmed = self.trims_durable();
        if self.oob.is_some() {
            self.seal_flushed(core, durable);
        }
        while let Some((part, epoch, trims)) = self.flushes.first() {
            let passes = epoch < durable && trims <= trimmed && self.is_flush_sealed();
            if !core.is_worn_out() && (!passes || self.is_guarded(core)) {
                break;
            }
            self.flushes.remove_first();
            if !passes {
                core.requests_mut().spoil(part);
            }
            core.requests_mut().finish(part);
        }
    }

    /// Request that the marks of waiting flushes are sealed, once everything before epoch `durable` is on flash. One program of the journal serves all
    /// flushes that wait, and the trims before them.
    fn seal_flushed(&mut self, core: &mut Core, durable: u64) {
        let newest = self.oob.as_ref().map_or(0, |oob| oob.newest_host());
        let Some((number, trims)) = self.flushes.seal(durable, newest) else { return };
        if trims > self.trims_durable() {
            self.hurry(core);
        }
        if let Some(oob) = self.oob.as_mut().filter(|oob| !oob.is_host_sealed(number)) {
            oob.want(number);
            self.wake_journal(core);
        }
    }

    /// True if the marks of everything that the first flush makes durable are sealed.
    fn is_flush_sealed(&self) -> bool {
        match (&self.oob, self.flushes.sealed()) {
            (Some(oob), Some(number)) => oob.is_host_sealed(number),
            _ => true,
        }
    }

    /// True if the first flush has to wait at a barrier, because what it makes durable has made secrets stale that are still readable.
    fn is_guarded(&mut self, core: &Core) -> bool {
        let barrier = self.flushes.barrier(core.barriers().newest());
        barrier.is_some_and(|barrier| core.barriers().is_shut(barrier))
    }

    /// Remove one of the things that `barrier` waits for.
    pub(crate) fn pass_barrier(&mut self, core: &mut Core, barrier: u64) {
        let parts = core.barriers_mut().pass(barrier);
        parts.into_iter().for_each(|part| core.requests_mut().release(part));
        if self.has_flushes() {
            self.pass_flushes(core);
        }
    }
}
