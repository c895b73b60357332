//! What a die does next.
//!
//! Work is bound to a die as late as possible: host data stays in the buffer until a die that can take a program asks. So no write ever queues behind
//! a busy die while another is idle, which is what a fixed address-to-die rule costs (a drive under reclaim then runs at the pace of its slowest
//! die).

use wordline_flash::{Operation, OperationKind};
use wordline_units::{Cause, DieId, Nanos, Priority};

use crate::config::ReclaimConfig;
use crate::die::{Activity, Entry, Stream};
use crate::firmware::Ftl;
use crate::layout::Group;
use crate::list::NIL;
use crate::operations::{Pending, Purpose};
use crate::order::{self, Open, Order, Pick};
use crate::scheduler::{self, DieWork, Policy, Source};
use crate::techniques::hooks::Hook;
use crate::techniques::say::Urgency;
use crate::techniques::seam::{Held, News};

impl Ftl {
    /// The next operation of `die`, which is free or suspended.
    pub(crate) fn decide(&mut self, now: Nanos, die: DieId) -> Option<Operation> {
        if let Activity::Suspended(cause) = self.dies[die].activity {
            if self.serves_while_held(die)
                && let Some(read) = self.next_read(die)
            {
                self.dies[die].served = self.dies[die].served.saturating_add(1);
                return Some(read);
            }
            self.dies[die].activity = Activity::Working(cause);
            if let Some(priority) = self.next_priority(die) {
                self.give_way(die, priority);
            }
            return Some(Operation { tag: NIL, die, kind: OperationKind::Resume, cause });
        }
        let state = &mut self.dies[die];
        debug_assert_eq!(state.activity, Activity::Free);
        if state.reads_waiting > 0 {
            state.read_turn = !state.read_turn;
            if self.config.schedule.reads_first || state.read_turn {
                return self.next_read(die);
            }
        }
        // One after the other: handed on by `or_else`, an operation is copied once for each that is asked.
        if let Some(work) = self.next_work(now, die) {
            return Some(work);
        }
        // What reclaim has just emptied may have left keys to destroy, and only a die that is not being asked can be woken for them.
        if self.keys.is_some()
            && let Some(step) = self.keys_step(die)
        {
            return Some(step);
        }
        self.next_read(die)
    }

    /// The priority of the read that is served next; `None`: no read waits for `die`.
    pub(crate) fn next_priority(&self, die: DieId) -> Option<Priority> {
        let state = &self.dies[die];
        Priority::ALL.into_iter().zip(&state.reads).find(|(_, fifo)| fifo.head != NIL).map(|(priority, _)| priority)
    }

    /// Whether a read that waits for `die` is served before what is suspended goes on.
    fn serves_while_held(&self, die: DieId) -> bool {
        if !self.panel.has(Hook::Hold) {
            return true;
        }
        let state = &self.dies[die];
        let held = |next| Held { busy: state.busy, served: state.served, next };
        self.next_priority(die).is_some_and(|next| self.panel.serves(&self.ctx(), &held(next)))
    }

    /// Have `die` stop its program or erase for a waiting read, if that is agreed on.
    pub(crate) fn give_way(&mut self, die: DieId, priority: Priority) {
        let Activity::Working(cause) = self.dies[die].activity else {
            return;
        };
        if self.panel.has(Hook::Stop) && self.panel.urgency(&self.ctx(), self.dies[die].busy, priority) == Urgency::Now {
            self.dies[die].activity = Activity::Suspending(cause);
            self.suspends.push(die);
        }
    }

    pub(crate) fn next_read(&mut self, die: DieId) -> Option<Operation> {
        if self.dies[die].reads_waiting == 0 {
            return None;
        }
        let tag = (0..Priority::ALL.len()).find_map(|queue| self.pop_read(die, queue))?;
        Some(self.order_read(die, tag))
    }

    /// A program of host data or a step of reclaim.
    fn next_work(&mut self, now: Nanos, die: DieId) -> Option<Operation> {
        if self.journal.is_some()
            && let Some(step) = self.journal_step(die).or_else(|| self.checkpoint_step(die))
        {
            return Some(step);
        }
        if self.oob.is_some()
            && let Some(step) = self.oob_step(die)
        {
            return Some(step);
        }
        if self.keys.is_some()
            && let Some(step) = self.keys_step(die)
        {
            return Some(step);
        }
        if self.secrets.as_ref().is_some_and(|secrets| secrets.has_duties(die))
            && let Some(step) = self.sanitise_step(die)
        {
            return Some(step);
        }
        let state = &self.dies[die];
        let short = state.is_short(self.config.reclaim.start);
        let at_it = state.job.is_some() || !state.erasable.is_empty() || !state.failed.is_empty();
        let reclaim = short || at_it || state.extra.is_some() || !state.wanted.is_empty() || !state.moved.is_empty();
        let ReclaimConfig { scheduler, floor, preemptible, .. } = self.config.reclaim;
        let work = DieWork { is_due: short || at_it, free: state.free.len() as u32, floor, preemptible, credit: state.credit };
        let before_host = scheduler.first(&work) == Source::Reclaim;
        if reclaim
            && before_host
            && let Some(step) = self.reclaim_step(die)
        {
            return Some(step);
        }
        if self.has_program(now) && self.can_write(die) {
            // What the host has while nothing has to be reclaimed is not kept for later.
            let taken = scheduler.taken(self.layout.units_per_program);
            self.dies[die].credit = if work.is_due { scheduler::add(work.credit, taken) } else { 0 };
            return Some(self.program_host(die));
        }
        if reclaim && !before_host { self.reclaim_step(die) } else { None }
    }

    /// Whether `die` has fewer free groups than reclaim should keep, those about to be erased counted.
    pub(crate) fn is_short(&self, die: DieId) -> bool {
        self.dies[die].is_short(self.config.reclaim.start)
    }

    /// Whether `die` could take a program of host data.
    #[inline]
    pub(crate) fn can_write(&self, die: DieId) -> bool {
        let state = &self.dies[die];
        !state.open[Stream::Host as usize].is_empty() || state.free.len() as u32 > self.config.reclaim.floor
    }

    /// Whether the buffer has a program unit to give, full or forced out.
    #[inline]
    pub(crate) fn has_program(&self, now: Nanos) -> bool {
        if self.oob.as_ref().is_some_and(|oob| !oob.has_place()) {
            return false;
        }
        let complete = self.buffer.complete();
        if complete >= self.layout.units_per_program {
            return true;
        }
        complete > 0 && self.is_forced(now)
    }

    fn is_forced(&self, now: Nanos) -> bool {
        if self.flushes_press() || !self.admissions.is_empty() {
            return true;
        }
        match self.config.schedule.linger {
            Some(linger) => self.buffer.oldest_complete().is_some_and(|entered| entered + linger <= now),
            None => self.buffer.is_awaited(),
        }
    }

    /// An idle die that should program host data.
    pub(crate) fn idle_writer(&mut self, now: Nanos) -> Option<DieId> {
        if self.idle.is_empty() || !self.has_program(now) {
            return None;
        }
        let Ftl { idle, dies, config, .. } = self;
        let writer = idle.next(|die| {
            let state = &dies[die];
            state.activity == Activity::Free
                && (!state.open[Stream::Host as usize].is_empty() || state.free.len() as u32 > config.reclaim.floor)
        });
        if writer.is_none() && self.starved {
            self.press();
        }
        writer
    }

    /// Host data waits and no idle die can take it: reclaim that was not worth while at rest is now.
    #[cold]
    fn press(&mut self) {
        for index in 0..self.dies.len() {
            let die = DieId(index as u16);
            if self.dies[die].fruitless.take().is_some() {
                self.wake(die);
            }
        }
    }

    fn program_host(&mut self, die: DieId) -> Operation {
        let place = self.next_program(die, Stream::Host).expect("the die can take a host program");
        if let Some(oob) = &mut self.oob {
            oob.reserve(die);
        }
        let state = &mut self.dies[die];
        state.begin_batch();
        for _ in 0..self.layout.units_per_program {
            match self.buffer.take() {
                Some((slot, lpn)) => {
                    self.map.prefetch(lpn);
                    state.push_entry(Entry::Host { slot }, lpn);
                }
                None => state.push_entry(Entry::Padding, u32::MAX),
            }
        }
        self.program(die, place, Cause::Host)
    }

    /// Order the program of the die's batch at `place`.
    pub(crate) fn program(&mut self, die: DieId, (group, program): (Group, u32), cause: Cause) -> Operation {
        let bytes = self.unit_bytes(self.layout.units_per_program);
        let closes = !self.dies[die].open.iter().flatten().any(|open| open.group == group);
        let purpose = Purpose::Program { program, closes };
        let tag = self.pending.insert(Pending::new(purpose, group, 0, bytes));
        let target = self.layout.all_planes(self.groups.blocks(group), self.layout.first_page(program));
        if self.panel.sets_programs() {
            self.dies[die].settings = self.settings_for(group, program);
        }
        self.order(die, tag, OperationKind::Program { target, bytes }, cause)
    }

    #[cold]
    #[inline(never)]
    fn tell_opened(&mut self, group: Group, stream: Stream) {
        self.notify(News::Opened { group, moved: stream == Stream::Moved });
    }

    /// `group` takes no more data, and can be a victim.
    pub(crate) fn close_group(&mut self, group: Group) {
        self.groups.close(group);
        self.notify(News::Closed { group });
    }

    /// Where the next program of `stream` goes, which is ordered from now on; takes a free group where that is due. `None`: there is none to take.
    pub(crate) fn next_program(&mut self, die: DieId, stream: Stream) -> Option<(Group, u32)> {
        let order = if stream == Stream::Host { self.config.order } else { Order::HorizontalFirst };
        let may_open = self.dies[die].free.len() as u32 > self.config.reclaim.floor;
        let in_use = if order == Order::HorizontalFirst { 0.0 } else { self.buffer.fill() };
        let picked = order::pick(order, &self.dies[die].open[stream as usize], &self.layout, in_use, may_open);
        let Pick { at, program } = match picked {
            Some(pick) => pick,
            None => {
                let group = self.allocate(die, stream)?;
                self.groups.open(group);
                if self.panel.has(Hook::Opened) {
                    self.tell_opened(group, stream);
                }
                let open = &mut self.dies[die].open[stream as usize];
                open.push(Open::at(group, 0, &self.layout));
                Pick { at: open.len() - 1, program: 0 }
            }
        };
        let Ftl { dies, layout, .. } = self;
        let all = &mut dies[die].open[stream as usize];
        let open = &mut all[at];
        open.order(program, layout);
        let group = open.group;
        if open.is_full(layout) {
            all.remove(at);
        }
        Some((group, program))
    }
}
