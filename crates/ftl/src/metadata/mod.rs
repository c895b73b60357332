//! What the core writes for itself, so that it comes back after a power cut: a journal of trims and memos, checkpoints of the map, second copies of marks.
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
pub(crate) mod journal;
pub(crate) mod memos;
pub(crate) mod oob;

use std::collections::VecDeque;

use wordline_flash::{Mark, Operation};
use wordline_units::{DieId, Lpn};

use checkpoint::{Checkpoints, TrimsFirst};
use journal::{Journal, Journaled, Step, marks_per_program, records_per_program};
use oob::OobCopies;

use crate::pages::journal::History;
use crate::pages::kept::Fact;
use crate::pages::oob::MarkCopy;
use crate::state::Core;
use crate::state::buffer::Dropped;
use crate::state::layout::Group;
use crate::techniques::apply::{ctx, enqueue};
use crate::techniques::hooks::Hook;
use crate::techniques::panel::Panel;
use crate::techniques::seam::News;
use crate::techniques::work::Work;

/// A flush that waits.
#[derive(Clone, Copy, Debug)]
struct Flush {
    part: u32,
    /// Writes up to this epoch must be durable.
    epoch: u64,
    /// And trims up to this version.
    trims: u64,
    /// Once all of it is on flash: so many programs must be sealed.
    sealed: Option<u64>,
    /// Once it could pass: the newest gate there was then.
    gate: Option<u64>,
}

/// What came of an attempt to go on where nothing is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rescue {
    /// There was nothing to be done.
    Needless,
    /// There is something to do now.
    Found,
    /// Nothing can be written any more.
    Stuck,
}

/// What one core writes for itself.
#[derive(Debug)]
pub(crate) struct Metadata {
    journal: Option<Box<Journal>>,
    checkpoints: Option<Box<Checkpoints>>,
    /// The second copy of the marks, where there is one.
    oob: Option<Box<OobCopies>>,
    flushes: VecDeque<Flush>,
    /// What the core has lived through.
    history: History,
    /// It was told that the power will go.
    is_going: bool,
    /// Room for work that techniques want done.
    work: Vec<Work>,
}

/// Which of it a core has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kinds {
    pub journal: bool,
    pub checkpoints: bool,
    pub oob: bool,
}

impl Metadata {
    /// That of a new core.
    pub(crate) fn new(core: &mut Core, kinds: Kinds) -> Metadata {
        let bytes = core.settings().unit_bytes(core.layout().units_per_program).0 as usize;
        let journal = kinds.journal.then(|| Box::new(Journal::new(core)));
        let oob = kinds.oob.then(|| Box::new(OobCopies::new(*core.layout(), bytes, core.settings().has_capacitors())));
        let checkpoints = kinds.checkpoints.then(|| Box::new(Checkpoints::new(bytes)));
        let history = History { starts: 1, ..History::default() };
        Metadata { journal, checkpoints, oob, flushes: VecDeque::new(), history, is_going: false, work: Vec::new() }
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
        self.checkpoints.is_some()
    }

    /// What the core has lived through, this start included.
    pub(crate) fn history(&self) -> History {
        self.history
    }

    pub(crate) fn resume_history(&mut self, history: History) {
        self.history = history;
    }

    /// A read could not be corrected, if so.
    #[inline]
    pub(crate) fn note_media_error(&mut self, is_one: bool) {
        self.history.media_errors += u64::from(is_one);
    }

    /// The power will go once all that is in hand is done: the journal's last word says so.
    pub(crate) fn go_down(&mut self, core: &mut Core) {
        self.is_going = true;
        if let Some(journal) = &mut self.journal {
            journal.snapshot_at(core.buffer_mut().next_version());
            self.wake_journal(core);
        }
    }

    /// Whether everything of it is on flash, and that the power would go.
    pub(crate) fn is_down(&self) -> bool {
        self.is_going && self.journal.as_ref().is_none_or(|journal| journal.is_at_rest())
    }

    // What techniques are told, and want remembered.

    /// Let the techniques that have subscribed to it learn `news`, and gather what they want done.
    #[inline]
    pub(crate) fn tell(&mut self, core: &mut Core, panel: &mut Panel, news: News) {
        if panel.has(news.hook()) {
            self.tell_all(core, panel, &news);
        }
    }

    fn tell_all(&mut self, core: &mut Core, panel: &mut Panel, news: &News) {
        panel.learn(&ctx(core), news);
        if panel.has(Hook::Remember) {
            self.note_memos(core, panel, news);
        }
        if panel.has(Hook::Work) {
            let mut wanted = std::mem::take(&mut self.work);
            panel.work(&ctx(core), news, &mut wanted);
            wanted.drain(..).for_each(|work| enqueue(core, work));
            self.work = wanted;
        }
    }

    /// Note what techniques must not forget because of `news`.
    fn note_memos(&mut self, core: &mut Core, panel: &Panel, news: &News) {
        let Some(journal) = &mut self.journal else { return };
        let mut has_news = false;
        panel.memos(&ctx(core), news, |card, memo| has_news |= journal.memos_mut().note(card, memo));
        if has_news {
            self.wake_journal(core);
        }
    }

    // Trims.

    /// The version of the newest trim.
    pub(crate) fn trims_newest(&self) -> u64 {
        self.journal.as_ref().map_or(0, |journal| journal.newest())
    }

    /// Trims up to this version outlast a power cut.
    pub(crate) fn trims_durable(&self) -> u64 {
        self.journal.as_ref().map_or(u64::MAX, |journal| journal.known())
    }

    /// Whether nothing can be written to the journal any more.
    pub(crate) fn is_stuck(&self) -> bool {
        self.journal.as_ref().is_some_and(|journal| journal.is_stuck())
    }

    /// `count` units from `first` have been trimmed.
    pub(crate) fn trim(&mut self, core: &mut Core, first: u32, count: u32) {
        if let Some(journal) = &mut self.journal
            && count > 0
            && journal.trim(core, first, count)
        {
            self.wake_journal(core);
        }
    }

    /// Somebody waits for the records up to now. Returns the version of the newest trim.
    pub(crate) fn hurry(&mut self, core: &mut Core) -> u64 {
        if self.journal.as_mut().is_some_and(|journal| journal.hurry()) {
            self.wake_journal(core);
        }
        self.trims_newest()
    }

    /// The trim `part` waits until all trims up to now are durable.
    pub(crate) fn await_trims(&mut self, core: &mut Core, part: u32) {
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

    /// Whoever waits for what a trim has dropped from the buffer waits for the trim's record instead: without either, older data would come back.
    pub(crate) fn inherit(&mut self, core: &mut Core, dropped: Dropped) {
        let version = self.trims_newest();
        let mut is_awaited = !dropped.waiters.is_empty();
        for flush in self.flushes.iter_mut().filter(|flush| flush.epoch >= dropped.epoch) {
            flush.trims = version;
            is_awaited = true;
        }
        if is_awaited {
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

    /// Who waited for trims that outlast a power cut now goes on.
    fn release_known(&mut self, core: &mut Core) {
        let done = self.journal.as_mut().map_or(Vec::new(), |journal| journal.take_known());
        done.into_iter().for_each(|part| core.requests_mut().release(part));
    }

    /// The core takes no more writes: trims that wait will not become durable.
    pub(crate) fn fail_trims(&mut self, core: &mut Core) {
        let waiting = self.journal.as_mut().map_or(Vec::new(), |journal| journal.give_up());
        fail(core, waiting);
    }

    // Groups that are to be erased.

    /// All trims that have emptied `group` must be durable before it is erased.
    pub(crate) fn hold(&mut self, group: Group) {
        if let Some(journal) = &mut self.journal {
            journal.hold(group);
        }
    }

    /// A unit of `group` has become stale.
    #[inline]
    pub(crate) fn note_stale(&mut self, group: Group) {
        if let Some(oob) = &mut self.oob {
            oob.hold(group);
        }
    }

    /// Whether nothing in `group` is needed to outlast a power cut.
    pub(crate) fn lets_go(&self, group: Group) -> bool {
        self.journal.as_ref().is_none_or(|journal| journal.lets_go(group))
            && self.are_marks_known(group)
            && self.checkpoints.as_ref().is_none_or(|checkpoints| checkpoints.lets_go(group))
    }

    /// Whether it is known by something else than the pages themselves what has made units of `group` stale.
    pub(crate) fn are_marks_known(&self, group: Group) -> bool {
        self.oob.as_ref().is_none_or(|oob| oob.lets_go(group))
    }

    /// Whether `group` holds a checkpoint that must go.
    pub(crate) fn is_abandoned(&self, group: Group) -> bool {
        self.checkpoints.as_ref().is_some_and(|checkpoints| checkpoints.is_abandoned(group))
    }

    /// `group` holds nothing any more, or is out of service: its marks are needless.
    pub(crate) fn forget_marks(&mut self, group: Group) {
        if let Some(oob) = &mut self.oob {
            oob.forget(group);
        }
    }

    /// `group` holds nothing any more: what checkpoints and techniques know of it is void.
    pub(crate) fn forget(&mut self, core: &mut Core, group: Group) {
        if self.checkpoints.as_mut().is_some_and(|checkpoints| checkpoints.forget(group)) {
            core.die_ids().for_each(|die| core.wake(die));
        }
        if let Some(journal) = &mut self.journal {
            journal.memos_mut().forget(group);
        }
    }

    /// `group` holds a page that the map does not know.
    pub(crate) fn leave_unsettled(&mut self, group: Group) {
        if let Some(checkpoints) = &mut self.checkpoints {
            checkpoints.leave_unsettled(group);
        }
    }

    // The journal's work.

    fn journal_next(&self, core: &Core) -> Step {
        self.journal.as_ref().map_or(Step::Nothing, |journal| journal.next(core, self.oob.as_deref()))
    }

    /// The journal may have something to do: the die that it would do it on is to ask.
    #[cold]
    pub(crate) fn wake_journal(&mut self, core: &mut Core) {
        if self.journal.as_ref().is_some_and(|journal| journal.wants_group()) {
            self.find_room(core, core.settings().reclaim.floor);
        }
        if let Step::Records(group) | Step::Snapshot(group) | Step::Erase(group) = self.journal_next(core) {
            core.wake(core.layout().die(group));
        }
    }

    fn find_room(&mut self, core: &mut Core, left: u32) -> bool {
        let group = core.take_own_group(left);
        if let (Some(group), Some(journal)) = (group, &mut self.journal) {
            journal.give_group(group);
        }
        group.is_some()
    }

    /// Nothing is under way. If that is because the journal has no room, it takes the last there is, or gives up.
    pub(crate) fn rescue(&mut self, core: &mut Core) -> Rescue {
        // Nobody waits for memos, and they are not worth the last room there is. Marks may not be waited for, either.
        let is_awaited = self.oob.as_ref().is_some_and(|oob| oob.is_wanted());
        let is_worth_it = |journal: &Journal| journal.wants_trims(records_per_program(core)) || is_awaited;
        if self.journal_next(core) != Step::NoRoom || self.journal.as_ref().is_some_and(|journal| !is_worth_it(journal)) {
            return Rescue::Needless;
        }
        if self.find_room(core, 0) {
            self.wake_journal(core);
            return Rescue::Found;
        }
        self.journal.as_mut().expect("it wants room").set_stuck();
        Rescue::Stuck
    }

    /// The next operation of `die` that serves the journal.
    #[cold]
    pub(crate) fn journal_step(&mut self, core: &mut Core, die: DieId) -> Option<Operation> {
        let step = self.journal_next(core);
        let history = History { is_clean: self.is_going, ..self.history };
        match step {
            Step::Records(group) | Step::Snapshot(group) | Step::Erase(group) if core.layout().die(group) != die => None,
            Step::Nothing | Step::NoRoom | Step::Records(_) | Step::Snapshot(_) | Step::Erase(_) => {
                self.journal.as_mut()?.order(core, self.oob.as_deref_mut(), step, &history)
            }
        }
    }

    /// The next program of `die` that belongs to a checkpoint.
    #[cold]
    pub(crate) fn checkpoint_step(&mut self, core: &mut Core, die: DieId) -> Option<Operation> {
        let trims = (self.trims_newest(), self.trims_durable());
        let checkpoints = self.checkpoints.as_mut()?;
        match checkpoints.next(core, die, trims.1)? {
            Ok(group) => Some(checkpoints.order(core, group, trims)),
            Err(TrimsFirst) => {
                self.hurry(core);
                None
            }
        }
    }

    /// The next program of `die` that belongs to a summary, or that one waits for. `is_blocked`: nothing may be programmed in a group yet.
    #[cold]
    pub(crate) fn oob_step(&mut self, core: &mut Core, die: DieId, is_blocked: impl Fn(Group) -> bool) -> Option<Operation> {
        let oob = self.oob.as_mut()?;
        match oob.next(die, is_blocked) {
            (_, Some(group)) => Some(oob.order_summary(core, group)),
            (true, None) => {
                self.seal_all(core);
                self.journal_step(core, die)
            }
            (false, None) => None,
        }
    }

    /// A program of the journal in `group` has ended.
    pub(crate) fn journal_programmed(&mut self, core: &mut Core, good: bool, group: Group) -> Journaled {
        self.journal.as_mut().expect("it was ordered").programmed(core, self.oob.as_deref_mut(), good, group)
    }

    /// More trims may be durable: who waited for them, or for marks, goes on.
    pub(crate) fn release_trims(&mut self, core: &mut Core) {
        let is_flushed = self.flushes.front().is_some_and(|flush| self.oob.is_none() || flush.sealed.is_some());
        let journal = self.journal.as_mut().expect("it has written");
        if journal.newest() > journal.known() && (journal.is_awaited() || is_flushed) {
            journal.hurry_on();
        }
        self.release_known(core);
        self.release_sealed(core);
    }

    /// The erase of the group that the journal does not need any more has ended.
    pub(crate) fn journal_erased(&mut self, core: &mut Core, good: bool, group: Group) {
        self.journal.as_mut().expect("it was ordered").erased(core, good, group);
    }

    /// A program of a checkpoint in `group` has ended.
    pub(crate) fn checkpoint_programmed(&mut self, core: &mut Core, good: bool, group: Group) {
        self.checkpoints.as_mut().expect("it was ordered").programmed(core, good, group);
    }

    /// A program of data has ended: a checkpoint may have its turn.
    #[inline]
    pub(crate) fn count_program(&mut self, core: &mut Core) {
        if let Some(checkpoints) = &mut self.checkpoints {
            checkpoints.count(core);
        }
    }

    // Second copies of marks.

    /// The marks that the program or copyback just ordered on `die` bears.
    pub(crate) fn note_marks(&mut self, die: DieId, marks: &[Mark]) {
        if let Some(oob) = &mut self.oob {
            oob.note_marks(die, marks);
        }
    }

    /// Whether a program of host data may be ordered.
    #[inline]
    pub(crate) fn has_place(&self) -> bool {
        self.oob.as_ref().is_none_or(|oob| oob.has_place())
    }

    /// A program of host data is ordered on `die`.
    #[inline]
    pub(crate) fn reserve(&mut self, die: DieId) {
        if let Some(oob) = &mut self.oob {
            oob.reserve(die);
        }
    }

    /// Program unit `program` of `group` has ended on `die`; `is_host`: the host has written some of it.
    pub(crate) fn note_landing(&mut self, core: &mut Core, die: DieId, at: (Group, u32), (good, is_host): (bool, bool)) {
        let Some(oob) = &mut self.oob else { return };
        let kept = oob.landed(die, at, (good, is_host), core.groups());
        if let Some((index, record)) = kept.filter(|_| core.settings().keeps_data) {
            core.outbox_mut().keep(index, Fact::Marks(record).encode());
        }
        if oob.wants(marks_per_program(core)) {
            self.wake_journal(core);
        }
    }

    /// The logical units of a copyback of program unit `from.1` of `from.0` on `die`, whose spare areas say `spare`. A page that could not be read was copied
    /// with its errors, and says nothing: what is valid in it is known by the map, and lost.
    pub(crate) fn name_copied(&mut self, core: &mut Core, die: DieId, from: (Group, u32), spare: &[Lpn]) -> Vec<Lpn> {
        let first = from.1 * core.layout().units_per_program;
        let exported = core.map().exported();
        let mut named = spare.to_vec();
        for (unit, lpn) in named.iter_mut().enumerate().filter(|(_, lpn)| lpn.0 >= exported) {
            let offset = first + unit as u32;
            if core.groups().is_valid(from.0, offset) {
                *lpn = Lpn(core.named(u32::MAX, core.layout().unit(from.0, offset)));
                let version = core.version_of_lost(lpn.0);
                if let Some(oob) = &mut self.oob {
                    oob.name(die, unit, MarkCopy { lpn: lpn.0, version, insecure: false });
                }
            }
        }
        named
    }

    /// Whoever waited for the program that has just landed waits for its record, too.
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

    /// Have all marks sealed, as something waits for it.
    pub(crate) fn seal_all(&mut self, core: &mut Core) {
        let Some(oob) = &mut self.oob else { return };
        let now = oob.now();
        if !oob.is_sealed(now) {
            oob.want(now);
            self.wake_journal(core);
        }
    }

    /// All data of `group` has been programmed: its summary comes next. Returns false where groups have none.
    pub(crate) fn begin_summary(&mut self, core: &mut Core, group: Group) -> bool {
        let Some(oob) = &mut self.oob else { return false };
        let layout = *core.layout();
        core.groups_mut().give_up(group, layout.data_units..layout.units_per_group);
        oob.finish(group, layout.data_programs);
        core.wake(layout.die(group));
        true
    }

    /// The summary of `group` is not to be programmed. Returns whether it was.
    pub(crate) fn drop_summary(&mut self, group: Group) -> bool {
        self.oob.as_mut().is_some_and(|oob| oob.drop_summary(group))
    }

    /// One more program of the summary of `group` is down. Returns whether it is whole.
    pub(crate) fn wrote_summary(&mut self, group: Group) -> bool {
        self.oob.as_mut().expect("it was ordered").wrote_summary(group)
    }

    /// Who waited for marks to be sealed goes on.
    pub(crate) fn release_sealed(&mut self, core: &mut Core) {
        while let Some(part) = self.oob.as_mut().and_then(|oob| oob.next_released()) {
            core.requests_mut().release(part);
        }
    }

    /// Nothing will be sealed any more: who waits is told.
    pub(crate) fn fail_sealed(&mut self, core: &mut Core) {
        let waiting = self.oob.as_mut().map_or(Vec::new(), |oob| oob.give_up());
        fail(core, waiting);
    }

    // Flushes.

    /// Whether flushes wait.
    #[inline]
    pub(crate) fn has_flushes(&self) -> bool {
        !self.flushes.is_empty()
    }

    /// Whether what is in the buffer is to be programmed soon: a flush waits for it, where flushes do, or it is to be emptied.
    pub(crate) fn flushes_press(&self, core: &Core) -> bool {
        if core.settings().has_capacitors() { core.is_draining() } else { self.has_flushes() }
    }

    /// The flush `part` waits until all before it is durable.
    pub(crate) fn flush(&mut self, core: &mut Core, part: u32) {
        // Writes still waiting for room were not acknowledged, so the flush need not wait for them.
        let epoch = core.buffer_mut().barrier();
        // Where marks follow the data into the journal, the trims go with them.
        let trims = if self.oob.is_some() { self.trims_newest() } else { self.hurry(core) };
        self.flushes.push_back(Flush { part, epoch, trims, sealed: None, gate: None });
    }

    /// Answer the flushes that need not wait any more.
    pub(crate) fn pass_flushes(&mut self, core: &mut Core) {
        let durable = if core.settings().has_capacitors() { u64::MAX } else { core.buffer_mut().durable_epoch() };
        let trimmed = self.trims_durable();
        if self.oob.is_some() {
            self.seal_flushed(core, durable);
        }
        while let Some(&Flush { part, epoch, trims, .. }) = self.flushes.front() {
            let passes = epoch < durable && trims <= trimmed && self.is_flush_sealed();
            if !core.is_worn_out() && (!passes || self.is_guarded(core)) {
                break;
            }
            self.flushes.pop_front();
            if !passes {
                core.requests_mut().spoil(part);
            }
            core.requests_mut().finish(part);
        }
    }

    /// Of each flush of which everything is on flash, as all before epoch `durable` is, the marks of what it covers are to be sealed, and nothing that comes
    /// later: one program of the journal does for all that wait, and for the trims before them.
    fn seal_flushed(&mut self, core: &mut Core, durable: u64) {
        let newest = self.oob.as_ref().map_or(0, |oob| oob.newest_host());
        let mut last = None;
        for flush in self.flushes.iter_mut().take_while(|flush| flush.epoch < durable) {
            last = Some((*flush.sealed.get_or_insert(newest), flush.trims));
        }
        let Some((number, trims)) = last else { return };
        if trims > self.trims_durable() {
            self.hurry(core);
        }
        if let Some(oob) = self.oob.as_mut().filter(|oob| !oob.is_host_sealed(number)) {
            oob.want(number);
            self.wake_journal(core);
        }
    }

    /// Whether the marks of all that the first flush, of which everything is on flash, makes durable are sealed.
    fn is_flush_sealed(&self) -> bool {
        match (&self.oob, self.flushes.front().and_then(|flush| flush.sealed)) {
            (Some(oob), Some(number)) => oob.is_host_sealed(number),
            _ => true,
        }
    }

    /// Whether the first flush has to wait at a gate: what it makes durable has made secrets stale, and they must be unreadable first.
    fn is_guarded(&mut self, core: &Core) -> bool {
        let gate = self.flushes.front_mut().map(|flush| *flush.gate.get_or_insert(core.gates().newest()));
        gate.is_some_and(|gate| core.gates().is_shut(gate))
    }

    /// One of the things that `gate` waits for is over.
    pub(crate) fn pass_gate(&mut self, core: &mut Core, gate: u64) {
        let parts = core.gates_mut().pass(gate);
        parts.into_iter().for_each(|part| core.requests_mut().release(part));
        if self.has_flushes() {
            self.pass_flushes(core);
        }
    }
}

/// What `parts` waited for will not come.
pub(crate) fn fail(core: &mut Core, parts: Vec<u32>) {
    for part in parts {
        core.requests_mut().spoil(part);
        core.requests_mut().release(part);
    }
}
