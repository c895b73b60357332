//! Who waited for whom: reads that found their die at work, by what it was doing when they came to it; and how often operations were stopped.
//!
//! A read's whole wait is booked on the operation that its die was doing when the wait began, be it one of many that it waited for. What was doing at that
//! instant is known once that operation has ended, which may be after the read: an erase that let it through ends later.
//!
//! ```text
//!   die      │ erase ……………… stopped │ read │ erase goes on …… ended
//!   reads          ▲ comes  waits ──────┤                       ▲ only now is it known what it waited for
//! ```

use std::collections::VecDeque;

use wordline_engine::{Completion, FlashEvent, StopKind};
use wordline_units::{Cause, DieId, FlashOp, HostOp, Id, Nanos, Priority};

/// Operations of a die that are remembered. A read that waited through more of them is booked on the oldest.
const KEPT: usize = 64;
/// Reads of a die that wait to be booked at most; the oldest is booked on nothing known.
const OPEN: usize = 256;

/// What a die was doing when a read came to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Behind {
    /// A read of a more urgent class.
    MoreUrgent,
    /// A read of the same class.
    AsUrgent,
    /// A read of a less urgent class.
    LessUrgent,
    /// A read that the firmware has ordered for itself, such as one of garbage collection.
    Internal,
    /// A program of new data of the host.
    HostProgram,
    /// Another program, or a copyback.
    OtherProgram,
    /// An erase.
    Erase,
    /// Anything else, or nothing that is known: the read waited for its turn.
    Other,
}

impl Behind {
    /// All of them, in the order of tables.
    pub const ALL: [Behind; 8] = [
        Behind::MoreUrgent,
        Behind::AsUrgent,
        Behind::LessUrgent,
        Behind::Internal,
        Behind::HostProgram,
        Behind::OtherProgram,
        Behind::Erase,
        Behind::Other,
    ];

    /// The name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Behind::MoreUrgent => "more urgent read",
            Behind::AsUrgent => "read as urgent",
            Behind::LessUrgent => "less urgent read",
            Behind::Internal => "internal read",
            Behind::HostProgram => "host program",
            Behind::OtherProgram => "other program",
            Behind::Erase => "erase",
            Behind::Other => "other",
        }
    }
}

/// Reads of one class that came while their die was doing one kind of thing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WaitCount {
    /// Number of reads.
    pub reads: u64,
    /// Sum of their waits for the die, in nanoseconds.
    pub ns: u64,
    /// The longest of them, in nanoseconds.
    pub most: u64,
}

/// Operations of one kind, and their stops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StopCount {
    /// Operations that were stopped.
    pub stopped: u64,
    /// All stops.
    pub stops: u64,
    /// Those of them that were at once.
    pub now: u64,
    /// The most stops of one operation.
    pub most: u16,
    /// The most stops at once of one operation.
    pub most_now: u16,
}

impl StopCount {
    #[cold]
    fn add(&mut self, flash: &FlashEvent) {
        self.stopped += 1;
        self.stops += u64::from(flash.stops);
        self.now += u64::from(flash.stops_now);
        self.most = self.most.max(flash.stops);
        self.most_now = self.most_now.max(flash.stops_now);
    }
}

/// Stops of everything that can be stopped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stops {
    /// Of erases.
    pub erases: StopCount,
    /// Of programs.
    pub programs: StopCount,
    /// Of copybacks.
    pub copybacks: StopCount,
    /// Reads that were broken off.
    pub reads_broken_off: u64,
    /// Reads that gave way between two tries.
    pub reads_gave_way: u64,
}

impl Stops {
    fn of(&mut self, op: FlashOp) -> &mut StopCount {
        match op {
            FlashOp::Erase => &mut self.erases,
            FlashOp::Copyback => &mut self.copybacks,
            FlashOp::Program | FlashOp::Read | FlashOp::LockPage | FlashOp::LockBlock | FlashOp::Scrub | FlashOp::Reprogram => {
                &mut self.programs
            }
        }
    }

    /// True if anything was stopped.
    pub fn any(&self) -> bool {
        self.erases.stops + self.programs.stops + self.copybacks.stops + self.reads_broken_off + self.reads_gave_way > 0
    }
}

/// An operation of a die that has ended.
#[derive(Clone, Copy, Debug)]
struct Done {
    from: Nanos,
    to: Nanos,
    op: FlashOp,
    cause: Cause,
    priority: Option<Priority>,
}

/// A read whose wait is not booked yet.
#[derive(Clone, Copy, Debug)]
struct Open {
    began: Nanos,
    waited: Nanos,
    priority: Priority,
}

#[derive(Clone, Debug)]
struct DieWaits {
    /// The last operations, in a ring: the oldest at `next`.
    done: [Done; KEPT],
    next: usize,
    open: VecDeque<Open>,
}

/// An operation of before all others.
const NONE: Done = Done { from: Nanos::ZERO, to: Nanos::ZERO, op: FlashOp::Read, cause: Cause::Host, priority: None };

impl DieWaits {
    /// The last operations, the oldest first.
    fn done(&self) -> impl DoubleEndedIterator<Item = &Done> {
        self.done[self.next..].iter().chain(&self.done[..self.next])
    }
}

/// Waits of the measured window so far.
#[derive(Clone, Debug)]
pub(crate) struct Waits {
    dies: Vec<DieWaits>,
    table: [[WaitCount; Behind::ALL.len()]; Priority::ALL.len()],
    stops: Stops,
    /// True once a read has waited for its die. What dies did before that is not remembered.
    has_reads: bool,
}

/// Waits of a measured window.
#[derive(Clone, Debug, Default)]
pub struct Waited {
    table: [[WaitCount; Behind::ALL.len()]; Priority::ALL.len()],
    /// How often operations were stopped.
    pub stops: Stops,
}

impl Waited {
    /// Reads of this class that came while their die was doing this.
    pub fn of(&self, priority: Priority, behind: Behind) -> WaitCount {
        self.table[priority as usize][behind as usize]
    }
}

impl Waits {
    pub(crate) fn new(dies: u32) -> Waits {
        Waits {
            dies: vec![DieWaits { done: [NONE; KEPT], next: 0, open: VecDeque::new() }; dies as usize],
            table: Default::default(),
            stops: Stops::default(),
            has_reads: false,
        }
    }

    /// The measured window begins.
    pub(crate) fn reset(&mut self) {
        self.table = Default::default();
        self.stops = Stops::default();
        self.dies.iter_mut().for_each(|die| die.open.clear());
    }

    /// A flash operation ended at `at`.
    #[inline]
    pub(crate) fn operated(&mut self, at: Nanos, flash: &FlashEvent) {
        // Nobody has waited yet: most loads of writes pay for nothing else.
        if self.has_reads || flash.stops > 0 {
            self.keep(at, flash);
        }
    }

    #[inline(never)]
    fn keep(&mut self, at: Nanos, flash: &FlashEvent) {
        let done = Done {
            from: flash.issued,
            to: at,
            op: flash.op,
            cause: flash.cause,
            priority: flash.attributes.map(|attributes| attributes.priority),
        };
        if flash.stops > 0 {
            self.stops.of(flash.op).add(flash);
        }
        let Waits { dies, table, .. } = self;
        let Some(die) = dies.get_mut(flash.die.index()) else { return };
        die.done[die.next] = done;
        die.next = (die.next + 1) % KEPT;
        if flash.op != FlashOp::Read && !die.open.is_empty() {
            // Whoever came before this began came to an idle die: nothing else was under way that has not ended yet.
            die.open.retain(|open| {
                if open.began < at {
                    book(table, open, if open.began >= done.from { Some(&done) } else { None });
                }
                open.began >= at
            });
        }
    }

    /// A request was completed.
    #[inline]
    pub(crate) fn completed(&mut self, done: &Completion) {
        if let (HostOp::Read, Some(die)) = (done.op, done.die)
            && done.stages.die_wait > Nanos::ZERO
        {
            self.has_reads = true;
            self.waited(die, done);
        }
    }

    fn waited(&mut self, die: DieId, done: &Completion) {
        let began = done.arrived + done.stages.host_queue + done.stages.core;
        let open = Open { began, waited: done.stages.die_wait, priority: done.attributes.priority };
        let Waits { dies, table, .. } = self;
        let Some(die) = dies.get_mut(die.index()) else { return };
        // In the order of their ends: the first that ended after the wait began was doing then, unless something longer was.
        let ended_since = die.done().rev().take_while(|done| done.to > began);
        let (mut found, mut count) = (None, 0);
        for done in ended_since {
            count += 1;
            if done.from <= began {
                found = Some(*done);
            }
        }
        let oldest = *die.done().next().unwrap_or(&NONE);
        match found {
            Some(found) => book(table, &open, Some(&found)),
            None if count == KEPT => book(table, &open, Some(&oldest)),
            None => {
                die.open.push_back(open);
                if die.open.len() > OPEN
                    && let Some(open) = die.open.pop_front()
                {
                    book(table, &open, None);
                }
            }
        }
    }

    /// Notes a stop of a read. Those of others come with their ends.
    pub(crate) fn stopped(&mut self, kind: FlashOp, how: StopKind) {
        if kind == FlashOp::Read {
            let count = if how == StopKind::Now { &mut self.stops.reads_broken_off } else { &mut self.stops.reads_gave_way };
            *count += 1;
        }
    }

    /// The waits of the window, at its end.
    pub(crate) fn finish(mut self) -> Waited {
        for die in &mut self.dies {
            die.open.drain(..).for_each(|open| book(&mut self.table, &open, None));
        }
        Waited { table: self.table, stops: self.stops }
    }
}

fn book(table: &mut [[WaitCount; Behind::ALL.len()]; Priority::ALL.len()], open: &Open, done: Option<&Done>) {
    let behind = done.map_or(Behind::Other, |done| match done.op {
        FlashOp::Erase => Behind::Erase,
        FlashOp::Program if done.cause == Cause::Host => Behind::HostProgram,
        FlashOp::Program | FlashOp::Copyback => Behind::OtherProgram,
        FlashOp::Read => match done.priority.map(|priority| priority.cmp(&open.priority)) {
            None => Behind::Internal,
            Some(std::cmp::Ordering::Less) => Behind::MoreUrgent,
            Some(std::cmp::Ordering::Equal) => Behind::AsUrgent,
            Some(std::cmp::Ordering::Greater) => Behind::LessUrgent,
        },
        FlashOp::LockPage | FlashOp::LockBlock | FlashOp::Scrub | FlashOp::Reprogram => Behind::Other,
    });
    let count = &mut table[open.priority as usize][behind as usize];
    count.reads += 1;
    count.ns += open.waited.0;
    count.most = count.most.max(open.waited.0);
}

#[cfg(test)]
mod tests {
    use wordline_engine::Stages;
    use wordline_units::{Attributes, BlockId, ChannelId, PageId, RequestId};

    use super::*;

    fn flash(op: FlashOp, cause: Cause, (from, to): (u64, u64), priority: Option<Priority>) -> (Nanos, FlashEvent) {
        let event = FlashEvent {
            die: DieId(0),
            channel: ChannelId(0),
            op,
            cause,
            block: BlockId(0),
            page: PageId(0),
            pages: 1,
            host_units: 0,
            moved_units: 0,
            padding_units: 0,
            issued: Nanos(from),
            array: Nanos(to - from),
            bus: Nanos::ZERO,
            bus_end: Nanos::ZERO,
            dram: Nanos::ZERO,
            link: Nanos::ZERO,
            core: Nanos::ZERO,
            ok: true,
            retries: 0,
            errors: 0,
            stops: if op == FlashOp::Read { 0 } else { 2 },
            stops_now: u16::from(op != FlashOp::Read),
            attributes: priority.map(Attributes::of),
        };
        (Nanos(to), event)
    }

    fn read(priority: Priority, arrived: u64, die_wait: u64) -> Completion {
        Completion {
            request: RequestId(0),
            op: HostOp::Read,
            attributes: Attributes::of(priority),
            sectors: 8,
            sector: 0,
            arrived: Nanos(arrived),
            stages: Stages { host_queue: Nanos(2), core: Nanos(3), die_wait: Nanos(die_wait), ..Stages::default() },
            core: Nanos::ZERO,
            dram: Nanos::ZERO,
            ok: true,
            for_failure: false,
            blank: 0,
            die: Some(DieId(0)),
            job: wordline_units::JobId(0),
        }
    }

    fn end(waits: &mut Waits, (at, event): (Nanos, FlashEvent)) {
        waits.operated(at, &event);
    }

    /// Classes and kinds with reads, with their number and the longest wait.
    fn booked(waits: Waits) -> Vec<(Priority, Behind, u64, u64)> {
        let waited = waits.finish();
        let cells = Priority::ALL.into_iter().flat_map(|priority| Behind::ALL.map(|behind| (priority, behind)));
        let told = cells.map(|(priority, behind)| (priority, behind, waited.of(priority, behind)));
        told.filter(|(.., count)| count.reads > 0).map(|(priority, behind, count)| (priority, behind, count.reads, count.most)).collect()
    }

    #[test]
    fn a_read_is_booked_on_what_its_die_did_when_it_came_even_if_that_ends_after_it() {
        use Priority::{High, Low, Normal};
        let mut waits = Waits { has_reads: true, ..Waits::new(1) };
        end(&mut waits, flash(FlashOp::Program, Cause::Host, (0, 700), None));
        // Comes at 600 behind the program, and at 605 its wait begins.
        waits.completed(&read(Normal, 600, 95));
        // An erase from 1,000 on lets a high read of 1,100 through and ends at 5,000.
        end(&mut waits, flash(FlashOp::Read, Cause::Host, (1_150, 1_250), Some(High)));
        waits.completed(&read(High, 1_100, 45));
        // A low one of 1,200 waits for that high read, not for the erase.
        waits.completed(&read(Low, 1_200, 60));
        end(&mut waits, flash(FlashOp::Erase, Cause::Gc, (1_000, 5_000), None));
        end(&mut waits, flash(FlashOp::Read, Cause::Gc, (6_000, 6_100), None));
        waits.completed(&read(Low, 6_010, 85));
        let stops = waits.stops;
        assert_eq!(
            booked(waits),
            [
                (High, Behind::Erase, 1, 45),
                (Normal, Behind::HostProgram, 1, 95),
                (Low, Behind::MoreUrgent, 1, 60),
                (Low, Behind::Internal, 1, 85),
            ]
        );
        assert_eq!((stops.erases.stopped, stops.erases.stops, stops.erases.now, stops.erases.most), (1, 2, 1, 2));
        assert_eq!((stops.programs.stopped, stops.reads_broken_off), (1, 0));
    }

    #[test]
    fn who_came_to_an_idle_die_waited_for_nothing_that_is_known_and_who_did_not_wait_is_not_told() {
        let mut waits = Waits::new(1);
        waits.completed(&read(Priority::Normal, 100, 30));
        waits.completed(&read(Priority::Normal, 100, 0));
        waits.completed(&Completion { die: None, ..read(Priority::Normal, 100, 30) });
        end(&mut waits, flash(FlashOp::Erase, Cause::Gc, (1_000, 5_000), None));
        assert_eq!(booked(waits), [(Priority::Normal, Behind::Other, 1, 30)]);
    }

    #[test]
    fn nothing_of_before_the_window_is_told() {
        let mut waits = Waits::new(1);
        waits.completed(&read(Priority::Normal, 100, 30));
        end(&mut waits, flash(FlashOp::Program, Cause::Host, (50, 700), None));
        waits.stopped(FlashOp::Read, StopKind::Now);
        waits.reset();
        assert!(!waits.stops.any());
        assert!(booked(waits).is_empty());
    }
}
