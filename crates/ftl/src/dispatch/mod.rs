//! Dispatch: what each die does next, and what follows when an operation has ended.
//!
//! [`Rooms`] are the rooms of one core. [`next`] asks them for the next operation of a die, one after the other; [`ended`] takes what an operation has brought
//! from one room to the next.

pub(crate) mod ended;
mod ends;
mod failing;
mod landing;
pub(crate) mod load;
pub(crate) mod next;
mod stopping;
pub(crate) mod unrest;

use wordline_flash::Stopped;
use wordline_units::{DieId, HostOp, Nanos};

use crate::die_failure::Detector;
use crate::gc::{self, Gc};
use crate::host::{self, Host};
use crate::metadata::Metadata;
use crate::news;
use crate::sanitise::Sanitise;
use crate::state::Core;
use crate::state::die::Die;
use crate::state::groups::Use;
use crate::state::request::Request;
use crate::state::work::Stream;
use crate::techniques::apply::{ctx, enqueue_work};
use crate::techniques::hooks::{Hook, Hooks};
use crate::techniques::panel::Panel;
use crate::techniques::seam::{EraseReport, News, StopReport};
use crate::techniques::work::Work;
use landing::Landing;

/// The rooms of one core.
#[derive(Debug)]
pub(crate) struct Rooms {
    pub core: Core,
    pub panel: Panel,
    pub metadata: Metadata,
    pub sanitise: Sanitise,
    pub gc: Gc,
    pub host: Host,
    pub landing: Landing,
    pub detector: Detector,
}

/// Hooks that make something due without a die that waits for it.
const TIMED: Hooks = Hooks::of(&[Hook::Timer, Hook::MayWork]);

impl Rooms {
    /// Creates the rooms of a core with these tables.
    pub(crate) fn new(core: Core, panel: Panel, metadata: Metadata, sanitise: Sanitise, gc: Gc) -> Rooms {
        Rooms { core, panel, metadata, sanitise, gc, host: Host::default(), landing: Landing::default(), detector: Detector::default() }
    }

    /// Submit a request of the host.
    pub(crate) fn submit(&mut self, request: Request) {
        let Rooms { core, panel, metadata, sanitise, host, .. } = self;
        match request.op {
            HostOp::Read => host::read(core, panel, request),
            HostOp::Write => host::write(core, panel, metadata, sanitise, request),
            HostOp::Trim => host.trim(core, panel, metadata, sanitise, request),
            HostOp::Flush => host::flush(core, panel, metadata, sanitise, request),
            HostOp::Hint => host::hint(core, request),
        }
    }

    /// Admit waiting writes and pass flushes, after a change of the buffer or of the free space.
    #[inline]
    pub(crate) fn settle(&mut self) {
        host::settle(&mut self.core, &mut self.panel, &mut self.metadata, &self.sanitise);
    }

    /// Stop taking writes.
    pub(crate) fn wear_out(&mut self) {
        gc::wear_out(&mut self.core, &mut self.metadata, &self.sanitise);
    }

    /// Begin an orderly shutdown, which is complete once all work in hand is done.
    pub(crate) fn go_down(&mut self) {
        self.metadata.go_down(&mut self.core);
        self.settle();
    }

    /// Tell the techniques the past of the group of `report` as they would have lived it: the erase, and the present filling.
    pub(crate) fn observe_past(&mut self, report: EraseReport) {
        let Rooms { core, panel, metadata, .. } = self;
        let group = report.group;
        let (use_of, is_filled) = (core.groups().use_of(group), core.groups().valid(group) > 0);
        news::tell(core, panel, metadata, News::Erased(report));
        if is_filled && matches!(use_of, Use::Active | Use::Closed) {
            news::tell(core, panel, metadata, News::Opened { group, moved: false });
        }
        if is_filled && use_of == Use::Closed {
            news::tell(core, panel, metadata, News::Closed { group });
        }
    }

    /// Take the answer to the order to stop what `die` is doing, and tell the techniques.
    #[cold]
    pub(crate) fn stopped(&mut self, die: DieId, answer: Stopped) {
        if let Some(report) = stopping::answered(&mut self.core, die, answer) {
            self.tell_stop(report);
        }
    }

    /// Decide whether the read that `die` is doing gives way between two tries. If it does, it is queued again and the die is free.
    #[cold]
    pub(crate) fn yields(&mut self, die: DieId) -> bool {
        let report = stopping::between_tries(&mut self.core, &mut self.panel, die);
        report.inspect(|&report| self.tell_stop(report)).is_some()
    }

    fn tell_stop(&mut self, report: StopReport) {
        let Rooms { core, panel, metadata, .. } = self;
        if panel.has(Hook::Stopped) {
            news::tell(core, panel, metadata, News::Stopped(report));
        }
    }

    /// Instant at which the passing of time next has an effect, if nothing else happens before.
    #[inline]
    pub(crate) fn next_deadline(&self) -> Option<Nanos> {
        if let Some(due) = self.sanitise.register_due() {
            // Alone: a deadline of idle dies that has passed, with nothing to be done about it, would hide it.
            return Some(due);
        }
        // Dies wait only while they are idle: for data to write, or for time to pass. Techniques have timers of their own.
        let idle = self.core.idle();
        let no_die_waits = idle.is_empty() || (idle.waiters() == 0 && self.core.buffer().complete() == 0);
        let is_alone = !self.panel.has_any(TIMED);
        if no_die_waits && is_alone { None } else { self.deadline_of_waits() }
    }

    /// True if no operation is under way and nothing is waited for but the timers of techniques, which ring for ever.
    pub(crate) fn waits_for_timers_only(&self) -> bool {
        let is_waiting = self.sanitise.register_due().is_some() || self.waits().iter().any(Option::is_some);
        self.core.under_way() == 0 && self.panel.alarm().is_some() && !is_waiting
    }

    fn deadline_of_waits(&self) -> Option<Nanos> {
        let [linger, idle, held] = self.waits();
        // A core that takes no more writes may have no room left to move anything: asked again and again, it would never rest.
        if self.core.idle().waiters() == 0 && !self.panel.has_any(TIMED) {
            return linger;
        }
        [linger, idle, self.panel.alarm(), held].into_iter().flatten().min()
    }

    /// Instants at which data has waited long enough for company, a die has been idle for long enough, and work is due that was held back.
    fn waits(&self) -> [Option<Nanos>; 3] {
        let core = &self.core;
        let linger = match (core.settings().schedule.linger, core.buffer().oldest_complete()) {
            (Some(linger), Some(entered)) => Some(entered + linger),
            _ => None,
        };
        let idle = self.panel.idle_waits().enumerate().filter(|_| !core.is_worn_out());
        let idle = idle.filter_map(|(place, wait)| core.idle().oldest(place).map(|since| since + wait)).min();
        [linger, idle, self.gc.held_until()]
    }

    /// Advance to the present instant: timers, deadlines and idle waits.
    pub(crate) fn tick(&mut self) {
        let now = self.core.now();
        if self.sanitise.register_due().is_some_and(|due| due <= now) {
            self.sanitise.register_overwritten(&mut self.core, &mut self.metadata);
            self.settle();
        }
        for place in 0..self.core.idle().waiters() {
            self.tell_idle(place);
        }
        if self.panel.alarm().is_some_and(|at| at <= now) {
            let mut wanted: Vec<Work> = Vec::new();
            self.panel.ring(&ctx(&self.core), &mut wanted);
            wanted.into_iter().for_each(|work| enqueue_work(&mut self.core, work));
        }
        if self.gc.held_until().is_some_and(|until| until <= now) {
            self.gc.start_due(&mut self.core);
        }
    }

    /// Tell the technique at `place` of [`Panel::idle_waits`] of all dies that have been idle for as long as it asked for.
    fn tell_idle(&mut self, place: usize) {
        let Rooms { core, panel, .. } = self;
        let (now, wait) = (core.now(), panel.idle_waits().nth(place).expect("there are as many lines of idle dies"));
        while let Some((die, idle)) = core.idle_mut().longest(place, now).filter(|&(_, idle)| idle >= wait) {
            // Told once in a spell: the die leaves the line whatever the answer is, and joins it again when it next falls idle.
            core.idle_mut().told(place, die);
            let emptied = core.die(die).erasable().iter().filter(|&&(group, _)| !core.groups().is_condemned(group)).count();
            let news = News::Idle { die, idle, free: core.die(die).free_count() + emptied as u32 };
            if let Some(work) = panel.learn_idle(place, &ctx(core), &news) {
                enqueue_work(core, work);
            }
        }
    }

    /// True if no operation is under way and the buffer is empty: the core can be snapshotted.
    pub(crate) fn is_quiet(&self) -> bool {
        let core = &self.core;
        core.under_way() == 0
            && core.buffer().is_empty()
            && core.requests().is_empty()
            && core.dies().all(|(_, die)| die.moved().is_empty())
            && self.sanitise.is_idle(core)
            && self.metadata.oob().is_none_or(|oob| oob.is_idle())
    }

    /// True if no operation is under way and none will start by itself. Unlike [`Rooms::is_quiet`], it allows data of dies that have no room left to move
    /// it to.
    pub(crate) fn is_at_rest(&self) -> bool {
        let core = &self.core;
        let has_room = |die: &Die| !die.open(Stream::Moved).is_empty() || die.free_count() > 0 || !die.erasable().is_empty();
        let is_done = |die: &Die| die.moved().is_empty() || !has_room(die);
        core.under_way() == 0 && core.buffer().is_empty() && core.requests().is_empty() && core.dies().all(|(_, die)| is_done(die))
    }
}
