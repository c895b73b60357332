//! Reclaim: move what is valid out of a victim, erase it.
//!
//! One victim at a time per die, one operation at a time: read a page that holds valid units, until a program unit is gathered; program it; go on.
//! Units left over at the end of a victim travel with the next one. The victim is erased once its last valid unit is on flash elsewhere and its last
//! reader is gone.

use wordline_flash::{Operation, OperationKind, ProgramSettings};
use wordline_units::{Cause, DieId, Nanos};

use crate::die::{Asked, Entry, Job, Moved, Stream, Wanted};
use crate::firmware::Ftl;
use crate::groups::Use;
use crate::layout::Group;
use crate::operations::{Pending, Purpose};
use crate::scheduler::{self, Policy};
use crate::techniques::hooks::Hook;
use crate::techniques::say::Way;
use crate::techniques::seam::{Copy, EraseReport, News, ProgramUnit};
use crate::techniques::work::{NEVER, Waiting, Work, WorkKind};
use crate::victim::{Candidates, VictimPolicy};

impl Ftl {
    /// The next operation that serves reclaim on `die`, if there is one.
    pub(crate) fn reclaim_step(&mut self, die: DieId) -> Option<Operation> {
        loop {
            if !self.dies[die].erasable.is_empty()
                && let Some(operation) = self.erase_one(die)
            {
                return Some(operation);
            }
            let full = self.layout.units_per_program;
            let is_full = self.dies[die].moved.len() as u32 >= full && self.drop_overtaken(die) >= full;
            if is_full && let Some(operation) = self.program_moved(die) {
                return Some(operation);
            }
            // No block takes what was gathered, but there may be one in which nothing is valid.
            let Some(job) = self.dies[die].job else {
                if self.dies[die].moves_under_way > 0 {
                    return None;
                }
                if self.start_job(die, is_full) {
                    continue;
                }
                return if !is_full && self.drop_overtaken(die) > 0 { self.program_moved(die) } else { None };
            };
            match self.groups.next_valid(job.victim, job.cursor, job.end) {
                Some(_) if is_full => return None,
                Some(offset) => return self.move_page(die, job, offset),
                None => {
                    self.end_job(die, job);
                    // What it held may have to be made unreadable before anything else.
                    if let Some(operation) = self.sanitise_step(die) {
                        return Some(operation);
                    }
                }
            }
        }
    }

    /// Forget units that the host has overwritten since they were read: they would take room that nothing has freed, and where bytes are kept their source may
    /// have been erased. Returns how many are left.
    pub(crate) fn drop_overtaken(&mut self, die: DieId) -> u32 {
        // What is mapped elsewhere is stale where it was. The map says so too, but to look there is the greatest single cost of a flash page.
        let Ftl { dies, groups, layout, .. } = self;
        let moved = &mut dies[die].moved;
        let is_current = |moved: &Moved| groups.is_valid(layout.group(moved.from), layout.offset(moved.from));
        if !moved.iter().all(is_current) {
            moved.retain(is_current);
        }
        moved.len() as u32
    }

    fn erase_one(&mut self, die: DieId) -> Option<Operation> {
        let is_lazy = self.config.reclaim.lazy_erase && self.dies[die].free.len() as u32 > self.config.reclaim.floor;
        let (group, cause) = loop {
            let is_abandoned = |group| self.checkpoints.as_ref().is_some_and(|checkpoints| checkpoints.is_abandoned(group));
            let is_due = |group| !is_lazy || self.must_erase(group) || self.groups.is_condemned(group) || is_abandoned(group);
            let may_go = |group| {
                let is_sealed = !self.groups.is_condemned(group) || !self.has_secrets(group);
                !self.groups.is_pinned(group)
                    && is_due(group)
                    && is_sealed
                    && self.journal.as_ref().is_none_or(|journal| journal.lets_go(group))
                    && self.oob.as_ref().is_none_or(|oob| oob.lets_go(group))
                    && self.checkpoints.as_ref().is_none_or(|checkpoints| checkpoints.lets_go(group))
            };
            let Some(at) = self.dies[die].erasable.iter().position(|&(group, _)| may_go(group)) else {
                if !self.dies[die].erasable.iter().any(|&(group, _)| is_due(group)) {
                    return None;
                }
                self.hurry_journal();
                self.seal_all();
                return self.journal_step(die);
            };
            let (group, cause) = self.dies[die].erasable.remove(at);
            // What was read from it and is not programmed yet has been overtaken. Later the same unit may lie in the same place again.
            let Ftl { dies, layout, .. } = self;
            dies[die].moved.retain(|moved| layout.group(moved.from) != group);
            if !self.groups.is_condemned(group) {
                break (group, cause);
            }
            self.replace(die, group);
            self.erase_ended(EraseReport::without_erase(group));
        };
        let tag = self.pending.insert(Pending::new(Purpose::Erase, group, 0, self.unit_bytes(0)));
        let target = self.layout.all_planes(self.groups.blocks(group), self.layout.first_page(0));
        Some(self.order(die, tag, OperationKind::Erase { target }, cause))
    }

    /// Choose the next victim of `die`; returns whether there is one. `must_be_empty`: nothing can be moved.
    fn start_job(&mut self, die: DieId, must_be_empty: bool) -> bool {
        if !must_be_empty && self.start_retirement(die) {
            return true;
        }
        let roomy = self.dies[die].free.len() as u32 > self.config.reclaim.floor;
        if !must_be_empty && let Some(Wanted { group, cause, .. }) = self.next_wanted(die, roomy) {
            self.begin(die, group, cause, self.layout.units_per_group);
            return true;
        }
        let short = self.is_short(die);
        if !short && !self.takes_extra(die) {
            return false;
        }
        let is_fruitless = self.dies[die].fruitless.take() == Some(self.changes);
        // Moves out of a sanitiser's way are padded too, so where somebody waits for it, that says nothing of victims.
        if is_fruitless && !self.has_program(Nanos::MAX) && !self.is_sanitising_awaited() {
            let state = &mut self.dies[die];
            (state.fruitless, state.starved) = (Some(self.changes), true);
            self.starved = true;
            return false;
        }
        let candidates = self.groups.candidates(die);
        let state = &self.dies[die];
        let programs: u32 = state.open[Stream::Moved as usize].iter().map(|open| self.layout.data_programs - open.ordered()).sum();
        let room = (programs * self.layout.units_per_program).saturating_sub(state.moved.len() as u32);
        // Without a free block nothing may be begun that does not fit into what is left of the open one.
        let has_none = state.free.is_empty() || must_be_empty;
        let policy = if has_none { VictimPolicy::Greedy } else { self.config.reclaim.victim };
        // Groups that have been read to their end are free once the rest of them is programmed.
        let promised = state.draining.len() as u32 * self.layout.data_units;
        let victim = if candidates.free_a_group(room + promised) { policy.pick(&candidates, &mut self.victim_draw) } else { None };
        let victim = victim.filter(|&victim| !has_none || candidates.valid[victim] <= room);
        let Some(victim) = victim else {
            self.dies[die].starved = short;
            self.starved |= short;
            return false;
        };
        assert!(candidates.valid[victim] < Candidates::OUT, "the victim policy took a block it may not");
        let group = self.layout.group_at(die, victim as u32);
        self.begin(die, group, Cause::Reclaim, self.layout.units_per_group);
        true
    }

    /// Take the first rewrite asked for that may start; `roomy`: the die has a free group beyond the reserve. Those that have nothing left to do are let go.
    fn next_wanted(&mut self, die: DieId, roomy: bool) -> Option<Wanted> {
        let mut at = 0;
        while let Some(&wanted) = self.dies[die].wanted.get(at) {
            let Wanted { group, cause, erases, asked } = wanted;
            // Somebody waits for what a sanitiser wants, and emptying one group into another gives back as much room as it takes.
            if !roomy && (cause != Cause::Sanitise || self.dies[die].free.is_empty()) {
                return None;
            }
            // It may have been reclaimed since it was asked for.
            let is_current = self.groups.erases(group) == erases && self.groups.use_of(group) == Use::Closed;
            if is_current && !self.may_start(die, WorkKind::Rewrite(group), cause, asked) {
                at += 1;
                continue;
            }
            self.dies[die].wanted.remove(at);
            if is_current {
                return Some(wanted);
            }
        }
        None
    }

    /// Take the victim that `die` is to reclaim beyond what space demands, if there is one and it may start.
    fn takes_extra(&mut self, die: DieId) -> bool {
        let starts = self.dies[die].extra.is_some_and(|asked| self.may_start(die, WorkKind::Collect(die), Cause::Reclaim, asked));
        if starts {
            self.dies[die].extra = None;
        }
        starts
    }

    /// Whether work that was `asked` for may start. Past its deadline nobody is asked.
    fn may_start(&mut self, die: DieId, kind: WorkKind, cause: Cause, asked: Asked) -> bool {
        let Asked { since, due } = asked;
        if due <= self.now || !self.panel.has(Hook::MayWork) {
            return true;
        }
        let waiting = Waiting { since, reads: self.next_priority(die) };
        let starts = self.panel.starts(&self.ctx(), &Work { kind, cause, due }, &waiting);
        if !starts {
            self.held_until = self.held_until.min(due);
            self.has_held = true;
        }
        starts
    }

    /// Work that was held back is due: its dies look at it again.
    pub(crate) fn start_due(&mut self, now: Nanos) {
        self.held_until = NEVER;
        for die in (0..self.dies.len() as u16).map(DieId) {
            let state = &self.dies[die];
            let earliest = state.wanted.iter().map(|wanted| wanted.asked).chain(state.extra).map(|asked| asked.due).min();
            match earliest {
                Some(due) if due <= now => self.wake(die),
                Some(due) => self.held_until = self.held_until.min(due),
                None => {}
            }
        }
    }

    /// A page of `group` was read: what is held back of it may start now.
    pub(crate) fn look_again(&mut self, die: DieId, group: Group) {
        if self.has_held && self.dies[die].wanted.iter().any(|wanted| wanted.group == group) {
            self.wake(die);
        }
    }

    /// Begin to empty `victim`, which is programmed up to `end`.
    pub(crate) fn begin(&mut self, die: DieId, victim: Group, cause: Cause, end: u32) {
        self.groups.drain(victim);
        let state = &mut self.dies[die];
        assert_eq!(state.job, None);
        state.job = Some(Job { victim, cause, cursor: 0, end });
        state.won = state.won.saturating_add(end - self.groups.valid(victim));
        state.moved_cause = cause;
        state.victim_valid = self.groups.valid(victim);
        if state.victim_valid == 0 {
            self.earn(die, 0);
        }
        self.notify(News::VictimChosen { victim, why: cause });
    }

    fn end_job(&mut self, die: DieId, job: Job) {
        self.dies[die].job = None;
        let is_empty = self.groups.drained(job.victim);
        if is_empty {
            self.hold_for_journal(job.victim);
        }
        let state = &mut self.dies[die];
        if is_empty { &mut state.erasable } else { &mut state.draining }.push((job.victim, job.cause));
        if is_empty {
            self.seal(job.victim);
        }
    }

    /// So many units of the victim of `die` are on their way: the host may have its share of what that gives back.
    #[inline]
    fn earn(&mut self, die: DieId, moved: u32) {
        let state = &mut self.dies[die];
        let earned = self.config.reclaim.scheduler.earned(moved, state.victim_valid, self.layout.data_units);
        state.credit = scheduler::add(state.credit, earned);
    }

    /// The last unit of a drained group has become stale.
    pub(crate) fn emptied(&mut self, group: Group) {
        let die = self.layout.die(group);
        let state = &mut self.dies[die];
        let at = state.draining.iter().position(|&(draining, _)| draining == group).expect("a drained group was a job before");
        let emptied = state.draining.swap_remove(at);
        state.erasable.push(emptied);
        self.hold_for_journal(group);
        if let Some(secrets) = &mut self.secrets {
            secrets.emptied.push(group);
        }
        self.wake(die);
    }

    /// Move the page that holds the valid unit at `offset`, or its whole program unit where copyback is agreed on.
    fn move_page(&mut self, die: DieId, job: Job, offset: u32) -> Option<Operation> {
        if self.is_copyback_agreed(&job, offset) && self.can_copy_back(die, job.victim, offset) {
            return self.copy_back(die, job, offset / self.layout.units_per_program);
        }
        let per_page = self.layout.units_per_page;
        let first = self.layout.page_start(offset);
        // Counted beside: the baseline processor has no instruction that counts bits.
        let (mut units, mut count) = (0u64, 0);
        for unit in offset - first..per_page.min(job.end - first) {
            if self.groups.is_valid(job.victim, first + unit) {
                units |= 1 << unit;
                count += 1;
            }
        }
        self.dies[die].job = Some(Job { cursor: first + per_page, ..job });
        self.earn(die, count);
        self.dies[die].moves_under_way += 1;
        // All its units may become stale before the data comes; erased and written again, the block would then pass for what was read.
        self.groups.pin(job.victim);
        let bytes = self.unit_bytes(count);
        let tag = self.pending.insert(Pending::read(Purpose::Move { units }, job.victim, offset, bytes, job.cause));
        Some(self.order_read(die, tag))
    }

    #[inline]
    fn is_copyback_agreed(&self, job: &Job, offset: u32) -> bool {
        self.panel.has(Hook::Way) && self.config.sheet.capabilities.copyback && {
            let from = ProgramUnit::new(&self.layout, job.victim, offset / self.layout.units_per_program);
            self.panel.way(&self.ctx(), &Copy { from, why: job.cause }) == Way::Copyback
        }
    }

    /// Whether nothing stands in the way of a copyback of the program unit that begins with the unit at `offset`, if one does.
    fn can_copy_back(&self, die: DieId, victim: Group, offset: u32) -> bool {
        let state = &self.dies[die];
        // Units left over from the victim before hold its block until they are programmed: with no other block free, they must not be overtaken by copybacks.
        let roomy = !state.free.is_empty() || (state.moved.is_empty() && state.moves_under_way == 0);
        roomy && offset.is_multiple_of(self.layout.units_per_program) && self.is_whole(victim, offset)
    }

    fn is_whole(&self, group: Group, first: u32) -> bool {
        (first..first + self.layout.units_per_program).all(|offset| self.groups.is_valid(group, offset))
    }

    fn copy_back(&mut self, die: DieId, job: Job, from_program: u32) -> Option<Operation> {
        let (group, program) = self.next_program(die, Stream::Moved)?;
        self.dies[die].job = Some(Job { cursor: (from_program + 1) * self.layout.units_per_program, ..job });
        self.earn(die, self.layout.units_per_program);
        let purpose = Purpose::Copyback { from: job.victim, from_program, program };
        let tag = self.pending.insert(Pending::new(purpose, group, 0, self.unit_bytes(0)));
        let from = self.layout.all_planes(self.groups.blocks(job.victim), self.layout.first_page(from_program));
        let to = self.layout.all_planes(self.groups.blocks(group), self.layout.first_page(program));
        self.dies[die].settings = ProgramSettings::DEFAULT;
        if let Some(secrets) = &mut self.secrets {
            secrets.copying[usize::from(die.0)] = Some((job.victim, from_program * self.layout.units_per_program));
        }
        Some(self.order(die, tag, OperationKind::Copyback { from, to }, job.cause))
    }

    /// Program what was gathered. `None`: no block is left to take it.
    pub(crate) fn program_moved(&mut self, die: DieId) -> Option<Operation> {
        let place = self.next_program(die, Stream::Moved)?;
        let state = &mut self.dies[die];
        state.begin_batch();
        let padding = self.layout.units_per_program.saturating_sub(state.moved.len() as u32);
        if padding > 0 {
            // Where this takes as much as the victims have given, the next would do so too, for ever, until the host changes what is valid.
            state.fruitless = (std::mem::take(&mut state.won) <= padding).then_some(self.changes);
        }
        for _ in 0..self.layout.units_per_program {
            match state.moved.pop_front() {
                Some(moved) => state.push_entry(Entry::Moved(moved), moved.lpn),
                None => state.push_entry(Entry::Padding, u32::MAX),
            }
        }
        let cause = state.moved_cause;
        Some(self.program(die, place, cause))
    }

    /// Have done what a technique asked for.
    pub(crate) fn enqueue_work(&mut self, work: Work) {
        let asked = Asked { since: self.now, due: work.due };
        let sooner = |known: &mut Asked| known.due = known.due.min(work.due);
        let die = match work.kind {
            WorkKind::Rewrite(group) => {
                let die = self.layout.die(group);
                let erases = self.groups.erases(group);
                if self.groups.use_of(group) != Use::Closed {
                    return;
                }
                if let Some(known) = self.dies[die].wanted.iter_mut().find(|wanted| wanted.group == group && wanted.erases == erases) {
                    return sooner(&mut known.asked);
                }
                self.dies[die].wanted.push_back(Wanted { group, cause: work.cause, erases, asked });
                die
            }
            WorkKind::Collect(die) => {
                match &mut self.dies[die].extra {
                    Some(known) => sooner(known),
                    none => *none = Some(asked),
                }
                die
            }
        };
        self.wake(die);
    }
}
