//! Activity of a die: what its array, its interface and its bus are doing, and until when.

use wordline_flash::{Capabilities, Status, Stop, Target};
use wordline_units::Nanos;

use crate::probe::Why;
use crate::rule::{Ability, Array, Bus, Class, Interface, Rule, Span, Suspended};
use crate::stop::{Progress, Stops};
use crate::times::Times;
use crate::work::{Held, Work, WorkKind};

/// Outcome of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Issued {
    /// Instant at which the die has done it. With the cache register the interface may be ready earlier: [`crate::Chip::probe`] gives that instant.
    pub ready_at: Nanos,
    /// Status register at that instant.
    pub status: Status,
    /// Reads: wrong bits in the worst codeword, as error correction will find; zero where the cells have no physics.
    pub errors: u32,
    /// Programs and erases: pulses of the slowest plane; zero where the cells have no physics.
    pub loops: u8,
}

/// Array, interface and bus.
#[derive(Clone, Debug)]
pub(crate) struct Activity {
    /// The instant of the last command.
    latest: Nanos,
    array_until: Nanos,
    interface_until: Nanos,
    bus_until: Nanos,
    /// True if the last transfer was data in.
    bus_takes_in: bool,
    /// True if the end of work matters to a store.
    reports_ends: bool,
    /// True if the store has yet to be told that this work has ended.
    is_unended: bool,
    /// Status register while the array is idle.
    status: Status,
    work: Work,
    /// Progress of the program or the erase that the array is doing, if it was resumed.
    progress: Progress,
    suspended: Option<Held>,
    /// The earliest suspend that the interval after the last resume allows.
    suspend_from: Nanos,
}

impl Activity {
    /// No activity. `reports_ends`: a store waits for the ends of programs and erases.
    pub(crate) fn new(reports_ends: bool) -> Activity {
        Activity {
            latest: Nanos::ZERO,
            array_until: Nanos::ZERO,
            interface_until: Nanos::ZERO,
            bus_until: Nanos::ZERO,
            bus_takes_in: false,
            reports_ends,
            is_unended: false,
            status: Status::Good,
            work: Work::OTHER,
            progress: Progress::new(Nanos::ZERO),
            suspended: None,
            suspend_from: Nanos::ZERO,
        }
    }

    /// The instant of the last command.
    #[inline(always)]
    pub(crate) fn latest(&self) -> Nanos {
        self.latest
    }

    /// A command comes at `now`.
    #[inline(always)]
    pub(crate) fn set_latest(&mut self, now: Nanos) {
        self.latest = now;
    }

    #[inline(always)]
    pub(crate) fn array_until(&self) -> Nanos {
        self.array_until
    }

    #[inline(always)]
    pub(crate) fn bus_until(&self) -> Nanos {
        self.bus_until
    }

    #[inline(always)]
    pub(crate) fn suspended(&self) -> Option<&Held> {
        self.suspended.as_ref()
    }

    /// Status register once the array is idle, and the instant of that.
    pub(crate) fn status(&self, now: Nanos) -> Issued {
        Issued { ready_at: now.max(self.array_until), status: self.status, errors: 0, loops: 0 }
    }

    /// True if work has ended by `now` whose end the store does not have yet.
    #[inline(always)]
    pub(crate) fn has_ended(&self, now: Nanos) -> bool {
        self.is_unended && now >= self.array_until
    }

    /// True if the store does not have the end of the last work yet.
    pub(crate) fn is_unended(&self) -> bool {
        self.is_unended
    }

    /// The store gets the end of the last work: the work, and whether it has failed.
    pub(crate) fn take_end(&mut self) -> (Work, bool) {
        self.is_unended = false;
        (self.work, self.status == Status::Failed)
    }

    /// The array and the interface are busy as the rules say.
    #[inline(always)]
    pub(crate) fn occupy(&mut self, class: Class, now: Nanos, work: Work, status: Status, times: Times<'_>) -> Issued {
        let rule = Rule::of(class);
        let ready_at = now + self.sum(rule.array_busy, &work, times);
        self.interface_until =
            if rule.interface_busy.len() == rule.array_busy.len() { ready_at } else { now + self.sum(rule.interface_busy, &work, times) };
        self.array_until = ready_at;
        self.is_unended = self.reports_ends && work.kind().is_suspendable();
        self.work = work;
        self.status = status;
        Issued { ready_at, status, errors: 0, loops: 0 }
    }

    #[inline(always)]
    fn sum(&self, spans: &[Span], work: &Work, times: Times<'_>) -> Nanos {
        match *spans {
            [span] => self.span(span, work, times),
            [first, second] => self.span(first, work, times) + self.span(second, work, times),
            _ => unreachable!("a command occupies the die for one span or for two"),
        }
    }

    #[inline(always)]
    fn span(&self, span: Span, work: &Work, times: Times<'_>) -> Nanos {
        let timing = times.timing();
        match span {
            Span::Read => times.read(work.target().page.0),
            Span::Copyback if work.kind() == WorkKind::Other => timing.cache_busy,
            Span::Program | Span::Copyback => times.program(work.target().page.0),
            Span::Erase => times.erase(),
            Span::LockPage => timing.lock_page,
            Span::LockBlock => timing.lock_block,
            Span::Scrub => timing.scrub,
            Span::Reprogram => timing.reprogram,
            Span::HandOver => timing.cache_busy,
            Span::Suspend => self.suspend_span(times),
            Span::Halt => self.halt_time(times),
            Span::Abort => timing.abort_read,
            Span::Resume => timing.resume,
            Span::Remaining => self.suspended.as_ref().map_or(Nanos::ZERO, Held::remaining),
            Span::Feature => timing.feature,
            Span::Reset => timing.reset,
        }
    }

    /// From a suspend that has just been ordered until the array is free.
    fn suspend_span(&self, times: Times<'_>) -> Nanos {
        let step = times.step_to_stop_at(self.work.kind());
        if step > Nanos::ZERO {
            self.progress(times).step_end(step, self.latest) - self.latest
        } else if self.work.kind() == WorkKind::Erase {
            times.timing().suspend_erase
        } else {
            times.timing().suspend_program
        }
    }

    /// Stop what the array is doing, or what it is going to stop at the end of a step, in the way of `stop`. Returns the erase that has been stopped, if it is
    /// one, with its stops.
    pub(crate) fn suspend(&mut self, class: Class, stop: Stop, now: Nanos, times: Times<'_>) -> (Issued, Option<(Target, u16)>) {
        if let Some(mut held) = self.suspended {
            held.raise(times.step_of(held.work().kind()));
            let issued = self.occupy(class, now, Work::OTHER, Status::Good, times);
            self.suspended = Some(held);
            return (issued, None);
        }
        let (work, status, mut progress) = (self.work, self.status, self.progress(times));
        let at_step = times.step_to_stop_at(work.kind());
        let ends = match stop {
            Stop::AtStep if at_step > Nanos::ZERO => Work::new(WorkKind::Stopping, *Work::OTHER.target()),
            Stop::AtStep | Stop::Now => Work::OTHER,
        };
        let until = self.array_until;
        let issued = self.occupy(class, now, ends, Status::Good, times);
        let remaining = match stop {
            Stop::Now => progress.stop_now(times.step_of(work.kind()), now, until),
            Stop::AtStep if at_step > Nanos::ZERO => progress.stop_at_step(at_step, now, until),
            Stop::AtStep => progress.stop_anywhere(now, until),
        };
        self.suspended = Some(Held::new(work, remaining, status, progress));
        let stopped = (work.kind() == WorkKind::Erase).then(|| (*work.target(), progress.stops().all));
        (issued, stopped)
    }

    /// Go on with what is suspended.
    pub(crate) fn resume(&mut self, class: Class, now: Nanos, times: Times<'_>) -> Issued {
        let Some(held) = self.suspended else { unreachable!("the rules demand a suspended operation") };
        let issued = self.occupy(class, now, *held.work(), held.status(), times);
        self.suspended = None;
        self.progress = held.progress();
        self.progress.resumed(issued.ready_at);
        self.suspend_from = now + times.timing().suspend_interval;
        issued
    }

    /// Progress of the program or erase that the array is working at. It is worked out on demand: most work is never stopped.
    pub(crate) fn progress(&self, times: Times<'_>) -> Progress {
        if self.progress.is_of(self.array_until) {
            return self.progress;
        }
        let span = match self.work.kind() {
            WorkKind::Program => self.span(Span::Program, &self.work, times),
            WorkKind::Erase => self.span(Span::Erase, &self.work, times),
            WorkKind::Read | WorkKind::Stopping | WorkKind::Other => Nanos::ZERO,
        };
        Progress::new(self.array_until.saturating_sub(span))
    }

    /// Stops of the program or erase that the array is doing or has just done, or that is suspended.
    pub(crate) fn stops(&self, times: Times<'_>) -> Stops {
        self.suspended.as_ref().map_or_else(|| self.progress(times), Held::progress).stops()
    }

    /// Work of the array that could be stopped at once, or that is going to stop at the end of its step.
    fn stoppable(&self) -> WorkKind {
        match &self.suspended {
            Some(held) if self.work.kind() == WorkKind::Stopping => held.work().kind(),
            _ => self.work.kind(),
        }
    }

    /// Time that it takes to stop that at once.
    fn halt_time(&self, times: Times<'_>) -> Nanos {
        let timing = times.timing();
        if self.stoppable() == WorkKind::Erase { timing.halt_erase } else { timing.halt_program }
    }

    /// A transfer has the bus until `until`.
    #[inline(always)]
    pub(crate) fn transfer(&mut self, takes_in: bool, until: Nanos) {
        self.bus_takes_in = takes_in;
        self.bus_until = until;
    }

    /// Everything stops at `now`. Returns the work under way and the suspended work, as far as there are any.
    pub(crate) fn abandon(&mut self, now: Nanos) -> [Option<Work>; 2] {
        let under_way = (self.array_until > now).then_some(self.work);
        self.is_unended = false;
        self.bus_until = self.bus_until.min(now);
        [under_way, self.suspended.take().map(|held| *held.work())]
    }

    /// Programs and erases, under way at `now` or suspended, end as failed if `has_failed` is true of their target. Returns them.
    pub(crate) fn fail(&mut self, now: Nanos, has_failed: impl Fn(&Target) -> bool) -> [Option<Work>; 2] {
        let hits_work = self.array_until > now && self.work.kind().is_suspendable() && has_failed(self.work.target());
        if hits_work {
            self.status = Status::Failed;
        }
        let held = self.suspended.as_mut().filter(|held| has_failed(held.work().target()));
        let held = held.map(|held| {
            held.fail();
            *held.work()
        });
        [hits_work.then_some(self.work), held]
    }

    /// True if nothing is going on at `now` and nothing is suspended.
    pub(crate) fn is_at_rest(&self, now: Nanos) -> bool {
        self.suspended.is_none() && self.array_until.max(self.interface_until).max(self.bus_until) <= now
    }

    /// The clock stands at `now`, wherever it was, with nothing going on.
    pub(crate) fn rest(&mut self, now: Nanos) {
        let (is_unended, progress) = (self.is_unended, self.progress);
        let at = Activity {
            latest: now,
            array_until: now,
            interface_until: now,
            bus_until: now,
            suspend_from: now,
            ..Activity::new(self.reports_ends)
        };
        *self = Activity { is_unended, progress, ..at };
    }

    /// True if the data sheet lists an ability, as far as it matters to what the array is doing.
    #[inline(always)]
    pub(crate) fn check_ability(&self, ability: Ability, able: &Capabilities) -> Result<(), Why> {
        let listed = match ability {
            Ability::Basic => true,
            Ability::CacheRead => able.cache_read,
            Ability::CacheProgram => able.cache_program,
            Ability::Copyback => able.copyback,
            Ability::PageLock => able.page_lock,
            Ability::BlockLock => able.block_lock,
            Ability::Scrub => able.scrub,
            Ability::Reprogram => able.reprogram,
            Ability::Suspend => match self.work.kind() {
                WorkKind::Program => able.suspend_program,
                WorkKind::Erase => able.suspend_erase,
                WorkKind::Read | WorkKind::Stopping | WorkKind::Other => able.suspend_program || able.suspend_erase,
            },
            Ability::Halt => match self.stoppable() {
                WorkKind::Program => able.stop_now_program,
                WorkKind::Erase => able.stop_now_erase,
                WorkKind::Read | WorkKind::Stopping | WorkKind::Other => able.stop_now_program || able.stop_now_erase,
            },
            Ability::Abort => able.abort_read,
        };
        if listed { Ok(()) } else { Err(Why::Unsupported) }
    }

    /// True if no more is suspended than a rule allows.
    #[inline(always)]
    pub(crate) fn check_suspended(&self, need: Suspended) -> Result<(), Why> {
        let held = self.suspended.as_ref().map(|held| held.work().kind());
        match (need, held) {
            (Suspended::Nothing, Some(_)) => Err(Why::SomethingSuspended),
            (Suspended::AtMostStopping, Some(_)) if self.work.kind() != WorkKind::Stopping => Err(Why::SomethingSuspended),
            (Suspended::AtMostErase, Some(WorkKind::Program)) => Err(Why::ProgramSuspended),
            (Suspended::Something, None) => Err(Why::NothingSuspended),
            (Suspended::Nothing | Suspended::AtMostStopping | Suspended::AtMostErase | Suspended::Something | Suspended::Any, _) => Ok(()),
        }
    }

    /// The earliest instant at which array, interface and bus are as a rule needs them.
    #[inline(always)]
    pub(crate) fn free_from(&self, rule: &Rule, now: Nanos, times: Times<'_>) -> Result<Nanos, Why> {
        let mut from = Nanos::ZERO;
        if rule.interface == Interface::Ready {
            from = self.interface_until;
        }
        match rule.array {
            Array::Idle => from = from.max(self.array_until),
            Array::Suspendable => {
                if now >= self.array_until || !self.work.kind().is_suspendable() {
                    return Err(Why::NothingToSuspend);
                }
                from = from.max(self.suspend_from);
                from = from.max(self.last_step_ends(now, times));
            }
            Array::Haltable => from = from.max(self.haltable_from(now, times)?),
            Array::Sensing => {
                if now >= self.array_until || self.work.kind() != WorkKind::Read {
                    return Err(Why::NothingToAbort);
                }
            }
            Array::Any => {}
        }
        match rule.bus {
            Bus::Idle => from = from.max(self.bus_until),
            Bus::DataOut if self.bus_takes_in => from = from.max(self.bus_until),
            Bus::DataOut | Bus::Any => {}
        }
        Ok(from)
    }

    /// The end of the work of the array if it is in its last step at `now`, so that nothing is left to be stopped at the end of a step; else no time at all.
    #[inline]
    fn last_step_ends(&self, now: Nanos, times: Times<'_>) -> Nanos {
        let step = times.step_to_stop_at(self.work.kind());
        let is_last = step > Nanos::ZERO && self.progress(times).step_end(step, now) >= self.array_until;
        if is_last { self.array_until } else { Nanos::ZERO }
    }

    /// The earliest instant at which the array can be stopped at once. Work that stops at the end of its step sooner than that is let go on.
    fn haltable_from(&self, now: Nanos, times: Times<'_>) -> Result<Nanos, Why> {
        if now >= self.array_until {
            return Err(Why::NothingToSuspend);
        }
        match self.work.kind() {
            WorkKind::Program | WorkKind::Erase => Ok(self.suspend_from),
            WorkKind::Stopping if now + self.halt_time(times) < self.array_until => Ok(Nanos::ZERO),
            WorkKind::Stopping => Ok(self.array_until),
            WorkKind::Read | WorkKind::Other => Err(Why::NothingToSuspend),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cells::DieCells;
    use crate::features::Features;
    use crate::place::Shape;
    use wordline_cells::Faults;
    use wordline_flash::example;
    use wordline_units::{BlockId, PageId, PlaneId};

    #[test]
    fn work_that_is_suspended_and_resumed_takes_what_was_left_of_it() {
        let mut sheet = example::sheet();
        (sheet.timing.suspend_erase, sheet.timing.resume) = (Nanos(300), Nanos(20));
        let (shape, features) = (Shape::new(&sheet, 1), Features::new(false));
        let cells = DieCells::new(&sheet, Faults::default(), 1, 0);
        let times = Times::new(&sheet, &shape, &cells, &features);
        let mut activity = Activity::new(true);
        let target = Target::single(PlaneId(0), BlockId(3), PageId(0));
        let erase = activity.occupy(Class::Erase, Nanos(5), Work::new(WorkKind::Erase, target), Status::Good, times);
        assert_eq!(erase.ready_at, Nanos(5) + sheet.timing.erase);
        activity.set_latest(Nanos(1_000));
        let (suspended, stopped) = activity.suspend(Class::Suspend, Stop::AtStep, Nanos(1_000), times);
        assert_eq!((suspended.ready_at, stopped), (Nanos(1_300), Some((target, 1))));
        assert!(!activity.is_at_rest(Nanos::MAX) && !activity.has_ended(Nanos::MAX));
        let resumed = activity.resume(Class::Resume, Nanos(2_000), times);
        assert_eq!(resumed.ready_at, Nanos(2_020) + (erase.ready_at - Nanos(1_000)));
        assert!(!activity.has_ended(Nanos(2_020)) && activity.has_ended(resumed.ready_at));
        let broken = activity.fail(Nanos(2_020), |at| *at == target);
        assert!(broken[0].is_some() && broken[1].is_none());
        assert!(activity.take_end().1 && !activity.is_unended());
        activity.rest(Nanos(10));
        assert!(activity.is_at_rest(Nanos(10)) && activity.latest() == Nanos(10));
    }
}
