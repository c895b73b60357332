//! Dies that take their time, a host that asks at random, and the order in which things happen: what every world around a core needs.
//!
//! Does not check anything but that a die is not told to do two things at once.

use std::collections::BTreeMap;

use wordline_flash::{Operation, OperationKind, ProgramTrace, Stop};
use wordline_ftl::{Firmware, Request};
use wordline_units::random::Draw;
use wordline_units::{Attributes, DieId, HostOp, Nanos, OpTag, Priority};

use crate::swarm::Habits;

/// What is due. A read brings an `R`.
#[derive(Clone, Debug)]
pub(crate) enum Due<R> {
    DieReady { die: DieId, tag: OpTag },
    Read { die: DieId, tag: OpTag, page: R },
    Worked { die: DieId, attempt: u32 },
    Suspended { die: DieId, attempt: u32, how: Stop, since: Nanos },
    Aborted { die: DieId, tag: OpTag, since: Nanos },
}

/// A program, an erase or a copyback under way, with what it carries.
#[derive(Clone, Debug)]
pub(crate) struct Work<L> {
    pub(crate) operation: Operation,
    ends: Nanos,
    left: Nanos,
    /// Stop that is under way: when it takes hold, which it is, and when it was ordered.
    stopping: Option<(Nanos, Stop, Nanos)>,
    pub(crate) good: bool,
    /// It was ordered while its die was at another.
    pub(crate) follows: bool,
    pub(crate) load: L,
}

/// Time, and who is busy until when.
#[derive(Clone, Debug)]
pub(crate) struct Pace<R, L> {
    pub(crate) now: Nanos,
    /// When the core was last told the time.
    ticked: Option<Nanos>,
    due: BTreeMap<(Nanos, u64), Due<R>>,
    entered: u64,
    work: Vec<Option<Work<L>>>,
    /// Programs whose data goes into a die that is at another.
    next: Vec<Option<Work<L>>>,
    attempts: Vec<u32>,
    pub(crate) dice: Draw,
    /// Dice of the tries of reads.
    boundaries: Draw,
}

/// What happens next.
#[derive(Clone, Debug)]
pub(crate) enum Next<R> {
    /// The core is to be told the time.
    Tick(Nanos),
    /// Something that was due.
    Due(Due<R>),
    /// Nothing will ever happen again.
    Never,
}

impl<R, L> Pace<R, L> {
    pub(crate) fn new(dies: u32, [dice, boundaries]: [Draw; 2]) -> Pace<R, L> {
        Pace {
            now: Nanos::ZERO,
            ticked: None,
            due: BTreeMap::new(),
            entered: 0,
            work: (0..dies).map(|_| None).collect(),
            next: (0..dies).map(|_| None).collect(),
            attempts: vec![0; dies as usize],
            boundaries,
            dice,
        }
    }

    /// When `ftl` should be told the time, if it was not told that already.
    fn deadline(&self, ftl: &Firmware) -> Option<Nanos> {
        ftl.next_deadline().map(|at| at.max(self.now)).filter(|&at| self.ticked != Some(at))
    }

    /// Whether no die works and no report is on its way.
    pub(crate) fn is_still(&self) -> bool {
        self.due.is_empty() && self.work.iter().all(Option::is_none)
    }

    pub(crate) fn has_something_due(&self, ftl: &Firmware) -> bool {
        !self.due.is_empty() || self.deadline(ftl).is_some()
    }

    /// Go on to what comes next.
    pub(crate) fn next(&mut self, ftl: &Firmware) -> Next<R> {
        let first = self.due.keys().next().map(|&(at, _)| at);
        match (first, self.deadline(ftl)) {
            (None, None) => Next::Never,
            (first, Some(at)) if first.is_none_or(|first| at < first) => {
                (self.now, self.ticked) = (at, Some(at));
                Next::Tick(at)
            }
            _ => {
                let ((at, _), due) = self.due.pop_first().expect("the deadline is later");
                self.now = at;
                Next::Due(due)
            }
        }
    }

    pub(crate) fn enter(&mut self, after: Nanos, due: Due<R>) {
        self.entered += 1;
        self.due.insert((self.now + after, self.entered), due);
    }

    /// A span around `us` microseconds.
    pub(crate) fn about(&mut self, us: u64) -> Nanos {
        Nanos(us * 500 + self.dice.below(us * 1_000))
    }

    /// What a die tells of a program, `odd` of them with many wrong cells.
    pub(crate) fn trace(&mut self, odd: f64) -> ProgramTrace {
        let few = self.dice.below(80) as u32;
        let errors = if self.dice.happens(odd) { 2_000 } else { few };
        let first = core::array::from_fn(|state| 1 + state as u8 + self.dice.below(2) as u8);
        ProgramTrace { first, last: first.map(|pulse| pulse + 1), low_errors: few / 2, errors }
    }

    /// A page is sensed; its report may come late.
    pub(crate) fn read(&mut self, die: DieId, tag: OpTag, page: R, slow_reports: bool) {
        let ready = self.about(70);
        self.enter(ready, Due::DieReady { die, tag });
        let slow = slow_reports && self.dice.happens(0.1);
        let later = if slow { self.about(9_000) } else { Nanos(self.dice.below(40_000)) };
        self.enter(ready + later, Due::Read { die, tag, page });
    }

    /// A die begins to work for about `us` microseconds, or will when it has ended the program that it is at.
    pub(crate) fn begin(&mut self, operation: Operation, us: u64, good: bool, load: L) {
        let (die, slot) = (operation.die, usize::from(operation.die.0));
        let after = self.about(us);
        let follows = self.work[slot].is_some();
        let work = Work { operation, ends: self.now + after, left: after, stopping: None, good, follows, load };
        if let Some(first) = &self.work[slot] {
            let is_cached = |operation: &Operation| matches!(operation.kind, OperationKind::Program { is_cached: true, .. });
            assert!(is_cached(&first.operation) && is_cached(&operation), "die {die} is ordered to do two things at once");
            assert!(self.next[slot].replace(work).is_none(), "die {die} takes in the data of one program");
            return;
        }
        self.work[slot] = Some(work);
        self.enter(after, Due::Worked { die, attempt: self.attempts[slot] });
    }

    /// Whether `die` is at work.
    pub(crate) fn is_at_work(&self, die: DieId) -> bool {
        self.work[usize::from(die.0)].is_some()
    }

    /// Number of programs that wait for the one before them.
    pub(crate) fn waiting(&self) -> u64 {
        self.next.iter().flatten().count() as u64
    }

    /// What `die` is at.
    pub(crate) fn work(&self, die: DieId) -> Option<&Work<L>> {
        self.work[usize::from(die.0)].as_ref()
    }

    /// A die may take a suspend, refuse it, or be done before it has answered. Returns whether it refuses. Ordered again, it may be done sooner.
    pub(crate) fn suspend(&mut self, die: DieId, stop: Stop, by_steps: bool) -> bool {
        let slot = usize::from(die.0);
        let now = self.now;
        let Some(work) = self.work[slot].as_mut() else {
            // It has ended, and its report is on its way.
            return false;
        };
        if let Some((at, before, since)) = work.stopping {
            assert!(stop > before, "die {die} is ordered to stop as it does already");
            let free = now + Nanos::from_micros(20);
            if free < at {
                // The step that it was going to end is done again.
                work.left += Nanos(self.dice.below(40_000));
                work.stopping = Some((free, stop, since));
                self.attempts[slot] += 1;
                let attempt = self.attempts[slot];
                self.enter(Nanos::from_micros(20), Due::Suspended { die, attempt, how: stop, since });
            }
            return false;
        }
        let left = work.ends.saturating_sub(now);
        let refuses = left < Nanos::from_micros(25) || self.dice.happens(0.1);
        if refuses {
            return self.dice.happens(0.5);
        }
        let resume = Nanos::from_micros(5);
        let (span, left) = match stop {
            Stop::AtStep if by_steps => {
                let step = Nanos(1 + self.dice.below(117_000));
                if step >= left {
                    return true;
                }
                (step, left - step + resume)
            }
            Stop::AtStep => (Nanos::from_micros(20), left + resume),
            Stop::Now => (Nanos::from_micros(20), left + resume + Nanos(self.dice.below(40_000))),
        };
        work.left = left;
        work.stopping = Some((now + span, stop, now));
        self.attempts[slot] += 1;
        self.enter(span, Due::Suspended { die, attempt: self.attempts[slot], how: stop, since: now });
        false
    }

    /// A die may break off its read `tag`, or be done before. Returns whether it refuses.
    pub(crate) fn abort(&mut self, die: DieId, tag: OpTag) -> bool {
        let of_read = |due: &Due<R>| match due {
            Due::DieReady { tag: of, .. } | Due::Read { tag: of, .. } => *of == tag,
            Due::Worked { .. } | Due::Suspended { .. } | Due::Aborted { .. } => false,
        };
        let is_sensing = self.due.values().any(|due| matches!(due, Due::DieReady { die: of, .. } if *of == die));
        if !is_sensing || self.dice.happens(0.2) {
            return true;
        }
        self.due.retain(|_, due| !of_read(due));
        self.enter(Nanos::from_micros(5), Due::Aborted { die, tag, since: self.now });
        false
    }

    /// Whether the read that has just been sensed would have to be tried again: the core is asked whether it gives way.
    pub(crate) fn is_between_tries(&mut self) -> bool {
        self.boundaries.happens(0.3)
    }

    /// The read `tag` has given way: it will be ordered again.
    pub(crate) fn withdraw(&mut self, tag: OpTag) {
        self.due.retain(|_, due| !matches!(due, Due::Read { tag: of, .. } if *of == tag));
    }

    pub(crate) fn resume(&mut self, die: DieId) {
        let slot = usize::from(die.0);
        let work = self.work[slot].as_mut().expect("something is suspended");
        work.ends = self.now + work.left;
        work.stopping = None;
        let after = work.left;
        self.enter(after, Due::Worked { die, attempt: self.attempts[slot] });
    }

    /// Whether `attempt` was not overtaken by a suspend.
    pub(crate) fn is_current(&self, die: DieId, attempt: u32) -> bool {
        self.attempts[usize::from(die.0)] == attempt
    }

    /// Let the work that `is_hit` says fail, and what is to follow it.
    pub(crate) fn fail(&mut self, is_hit: impl Fn(&Operation) -> bool) {
        let works = self.work.iter_mut().chain(&mut self.next).flatten();
        works.filter(|work| is_hit(&work.operation)).for_each(|work| work.good = false);
    }

    /// What `die` was at. It goes on with the program whose data it has taken in.
    pub(crate) fn finish(&mut self, die: DieId) -> Work<L> {
        let slot = usize::from(die.0);
        let ended = self.work[slot].take().expect("it was at work");
        if let Some(next) = self.next[slot].take() {
            let after = next.left;
            self.work[slot] = Some(Work { ends: self.now + after, ..next });
            self.enter(after, Due::Worked { die, attempt: self.attempts[slot] });
        }
        ended
    }

    /// The power goes: nothing is due any more. Returns what was under way. Of what would have come next no cell knows.
    pub(crate) fn cut(&mut self) -> Vec<Work<L>> {
        // The next core has not been told the time.
        self.ticked = None;
        self.due.clear();
        self.next.fill_with(|| None);
        self.attempts.iter_mut().for_each(|attempt| *attempt += 1);
        self.work.iter_mut().filter_map(Option::take).collect()
    }
}

/// A request that asks for nothing.
pub(crate) const BLANK: Request =
    Request { id: 0, op: HostOp::Read, lpn: 0, units: 0, skip_head: 0, skip_tail: 0, attributes: Attributes::NONE, fua: false };

/// A request as a host with these `habits` makes it, of a core that shows `exported` units of `sectors` sectors each. Whatever is among `lasting` may ask for
/// FUA.
pub(crate) fn request(id: u32, habits: &Habits, (exported, sectors): (u32, u32), lasting: &[HostOp], dice: &mut Draw) -> Request {
    let kind = dice.unit();
    let [write, trim, flush] = habits.mix;
    let op = match kind {
        kind if kind < write => HostOp::Write,
        kind if kind < write + trim => HostOp::Trim,
        kind if kind < write + trim + flush => HostOp::Flush,
        _ => HostOp::Read,
    };
    if op == HostOp::Flush {
        return Request { id, op, ..BLANK };
    }
    let units = 1 + dice.below(u64::from(habits.units_max)) as u32;
    let span = if dice.happens(0.9) { (f64::from(exported) * habits.hot) as u32 } else { exported };
    let lpn = dice.below(u64::from(span.clamp(1, exported - units + 1))) as u32;
    let edge = |dice: &mut Draw| if dice.happens(habits.partial) { dice.below(u64::from(sectors / 2)) as u32 } else { 0 };
    let (skip_head, skip_tail) = (edge(dice), edge(dice));
    let priority = Priority::ALL[dice.below(4) as usize];
    let fua = lasting.contains(&op) && dice.happens(habits.fua);
    let insecure = op == HostOp::Write && habits.insecure > 0.0 && dice.happens(habits.insecure);
    Request { id, op, lpn, units, skip_head, skip_tail, attributes: Attributes::of(priority).with_secure(!insecure), fua }
}

/// The sectors of the `index`-th unit that `request` covers, one bit each, of `sectors`.
pub(crate) fn mask(request: &Request, index: u32, sectors: u32) -> u64 {
    let head = if index == 0 { request.skip_head } else { 0 };
    let tail = if index + 1 == request.units { request.skip_tail } else { 0 };
    (u64::MAX >> (64 - (sectors - head - tail))) << head
}
