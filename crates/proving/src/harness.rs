//! One firmware core between a random host and flash with random delays, watched by the [`Twin`].
//!
//! Checks beyond the twin's: every request is acknowledged exactly once, and nothing stops while something is owed. Does not check: that delays are
//! those of a data sheet; buses, DRAM, cores and host queues (the drive's own tests do).

mod ends;

use std::collections::BTreeMap;

use wordline_flash::{Operation, OperationKind, Target};
use wordline_ftl::config::Acknowledge;
use wordline_ftl::{Ftl, Note, Request};
use wordline_units::random::{Draw, Stream};
use wordline_units::{Cause, DieId, HostOp, Lpn, Nanos, Priority};

use crate::flash::{Flash, Spot, Stored};
use crate::swarm::Scenario;
use crate::twin::{Moved, Twin};

/// A core that says nothing for so many operations while requests wait is not getting anywhere.
const OPERATIONS_WITHOUT_ANSWER: u64 = 300_000;

#[derive(Clone, Debug)]
enum Due {
    DieReady(DieId),
    Report(DieId, u32, Vec<Lpn>),
    Worked { die: DieId, attempt: u32 },
    Suspended { die: DieId, attempt: u32 },
}

#[derive(Clone, Debug)]
struct Work {
    operation: Operation,
    ends: Nanos,
    left: Nanos,
    good: bool,
    host: Vec<Stored>,
    moved: Vec<Moved>,
    padding: usize,
}

/// The world around one core.
#[derive(Debug)]
pub struct Harness {
    scenario: Scenario,
    /// The core.
    pub ftl: Ftl,
    flash: Flash,
    /// The model.
    pub twin: Twin,
    now: Nanos,
    due: BTreeMap<(Nanos, u64), Due>,
    entered: u64,
    work: Vec<Option<Work>>,
    /// Victims' pages on their way to the firmware.
    gathering: BTreeMap<u32, (Vec<Spot>, Vec<Stored>)>,
    attempts: Vec<u32>,
    dice: Draw,
    /// Host requests submitted so far.
    pub requests: u64,
    /// Flash operations ordered so far, by what they do: reads, programs, erases, copybacks, suspends.
    pub operations: [u64; 5],
    unanswered: u64,
}

impl Harness {
    /// A fresh core.
    pub fn new(scenario: Scenario) -> Harness {
        let ftl = Ftl::new(scenario.config.clone());
        let layout = *ftl.layout();
        let flash = Flash::new(layout, scenario.config.sheet.geometry.blocks, &scenario.config.factory_bad);
        let sectors = (scenario.config.unit.0 / 512) as u32;
        Harness {
            twin: Twin::new(layout.dies, flash.block_count(), sectors),
            flash,
            now: Nanos::ZERO,
            due: BTreeMap::new(),
            entered: 0,
            work: vec![None; layout.dies as usize],
            gathering: BTreeMap::new(),
            attempts: vec![0; layout.dies as usize],
            dice: Draw::new(scenario.seed, Stream::Arrival, 0),
            requests: 0,
            operations: [0; 5],
            unanswered: 0,
            ftl,
            scenario,
        }
    }

    /// Submit `requests` requests, let everything end, and look at all of it.
    pub fn run(&mut self, requests: u64) {
        let goal = self.requests + requests;
        while self.requests < goal {
            let room = self.twin.outstanding() < self.scenario.habits.depth;
            if room && (self.dice.happens(0.4) || !self.has_something_due()) {
                let request = self.request();
                self.submit(request);
            } else {
                self.step();
            }
            if self.requests.is_multiple_of(997) {
                self.audit();
            }
        }
        // What waits for room is not yet acknowledged, so a flush would not wait for it.
        while self.twin.outstanding() > 0 {
            self.step();
        }
        self.submit(Request { id: u32::MAX - 1, op: HostOp::Flush, lpn: 0, units: 0, ..self.blank() });
        while self.twin.outstanding() > 0 {
            self.step();
        }
        self.twin.rest();
        self.audit();
    }

    fn blank(&self) -> Request {
        Request { id: 0, op: HostOp::Read, lpn: 0, units: 0, skip_head: 0, skip_tail: 0, priority: Priority::Normal, fua: false }
    }

    fn request(&mut self) -> Request {
        let habits = self.scenario.habits;
        let exported = self.ftl.map().exported();
        let kind = self.dice.unit();
        let [write, trim, flush] = habits.mix;
        let op = match kind {
            kind if kind < write => HostOp::Write,
            kind if kind < write + trim => HostOp::Trim,
            kind if kind < write + trim + flush => HostOp::Flush,
            _ => HostOp::Read,
        };
        self.requests += 1;
        let id = self.requests as u32;
        if op == HostOp::Flush {
            return Request { id, op, ..self.blank() };
        }
        let units = 1 + self.dice.below(u64::from(habits.units_max)) as u32;
        let span = if self.dice.happens(0.9) { (f64::from(exported) * habits.hot) as u32 } else { exported };
        let lpn = self.dice.below(u64::from(span.clamp(1, exported - units + 1))) as u32;
        let sectors = (self.scenario.config.unit.0 / 512) as u32;
        let edge = |dice: &mut Draw| if dice.happens(habits.partial) { dice.below(u64::from(sectors / 2)) as u32 } else { 0 };
        let (skip_head, skip_tail) = (edge(&mut self.dice), edge(&mut self.dice));
        let priority = Priority::ALL[self.dice.below(4) as usize];
        let fua = op == HostOp::Write && self.dice.happens(habits.fua);
        Request { id, op, lpn, units, skip_head, skip_tail, priority, fua }
    }

    fn submit(&mut self, request: Request) {
        let flash = &self.flash;
        let index_of = |spot: Spot| flash.block_index(spot.die, spot.plane, spot.block);
        let through = self.scenario.config.buffer.acknowledge == Acknowledge::Programmed;
        let roomy = through && self.scenario.is_roomy();
        self.twin.submit(request, request.op == HostOp::Write && !roomy, |spot| flash.at(spot), index_of);
        self.ftl.submit(self.now, request);
        // What the buffer took in is acknowledged before anything is programmed, so the twin knows what a program carries.
        self.hear();
        self.pump();
        for lpn in request.lpn..request.lpn + request.units {
            self.compare(lpn);
        }
    }

    fn has_something_due(&self) -> bool {
        !self.due.is_empty() || self.ftl.next_deadline().is_some_and(|at| at > self.now)
    }

    /// Let the next thing happen.
    fn step(&mut self) {
        let deadline = self.ftl.next_deadline().filter(|&at| at > self.now);
        let next = self.due.keys().next().copied();
        match (next, deadline) {
            (None, None) => panic!("nothing is due and {} requests wait", self.twin.outstanding()),
            (next, Some(at)) if next.is_none_or(|(then, _)| at < then) => {
                self.now = at;
                self.ftl.tick(at);
            }
            (next, _) => {
                let key = next.expect("the deadline is later");
                let due = self.due.remove(&key).expect("just seen");
                self.now = key.0;
                self.happen(due);
            }
        }
        self.pump();
    }

    fn enter(&mut self, after: Nanos, due: Due) {
        self.entered += 1;
        self.due.insert((self.now + after, self.entered), due);
    }

    /// A span around `us` microseconds.
    fn about(&mut self, us: u64) -> Nanos {
        Nanos(us * 500 + self.dice.below(us * 1_000))
    }

    fn pump(&mut self) {
        loop {
            while let Some(operation) = self.ftl.speak(self.now) {
                self.unanswered += 1;
                assert!(self.unanswered < OPERATIONS_WITHOUT_ANSWER, "no request is answered any more");
                self.order(operation);
            }
            if !self.hear() {
                return;
            }
        }
    }

    /// Take notes and acknowledgements; returns whether there was any of these.
    fn hear(&mut self) -> bool {
        while let Some(note) = self.ftl.note() {
            self.twin.worn_out |= note == Note::WornOut;
        }
        let through = self.scenario.config.buffer.acknowledge == Acknowledge::Programmed;
        let mut heard = false;
        while let Some(done) = self.ftl.acknowledge() {
            self.twin.acknowledge(done.id, done.ok, |request| through || request.fua);
            (heard, self.unanswered) = (true, 0);
        }
        heard
    }

    fn order(&mut self, operation: Operation) {
        let die = operation.die;
        let slot = usize::from(die.0);
        let count = match operation.kind {
            OperationKind::Read { .. } => 0,
            OperationKind::Program { .. } => 1,
            OperationKind::Erase { .. } => 2,
            OperationKind::Copyback { .. } => 3,
            OperationKind::Suspend | OperationKind::Resume => 4,
        };
        self.operations[count] += 1;
        match operation.kind {
            OperationKind::Read { target, .. } => self.order_read(operation, &target),
            OperationKind::Program { .. } => {
                let spare = self.ftl.spare(die).to_vec();
                let [host, moved, padding] = self.ftl.carried(die).map(usize::from);
                assert!(host == 0 || moved == 0);
                let host: Vec<Stored> = spare[..host].iter().map(|&lpn| self.twin.take(lpn)).collect();
                let moved: Vec<Moved> = spare[..moved].iter().map(|&lpn| self.take_moved(slot, lpn)).collect();
                let good = !self.dice.happens(self.scenario.habits.program_fail);
                self.begin(operation, 700, good, host, moved, padding);
            }
            OperationKind::Erase { target } => {
                for spot in self.flash.spots(die, &target, 1) {
                    let index = self.flash.block_index(spot.die, spot.plane, spot.block);
                    assert_eq!(self.twin.valid(index), 0, "{spot:?} is erased with valid data");
                    // All that was read from it is overtaken, and the same units may lie there again before their turn comes.
                    let is_elsewhere = |from: Spot| (from.die, from.plane, from.block) != (spot.die, spot.plane, spot.block);
                    self.twin.moved[slot].retain(|moved| is_elsewhere(moved.1));
                }
                let good = !self.dice.happens(self.scenario.habits.erase_fail);
                self.begin(operation, 4_000, good, vec![], vec![], 0);
            }
            OperationKind::Copyback { .. } => {
                let good = !self.dice.happens(self.scenario.habits.program_fail);
                self.begin(operation, 800, good, vec![], vec![], 0);
            }
            OperationKind::Suspend => self.suspend(die),
            OperationKind::Resume => {
                let work = self.work[slot].as_mut().expect("something is suspended");
                work.ends = self.now + work.left;
                let after = work.left;
                let attempt = self.attempts[slot];
                self.enter(after, Due::Worked { die, attempt });
            }
        }
    }

    /// The next moved unit of `die`, which is `lpn`. Those before it that the host has overtaken are dropped, and only those may be.
    fn take_moved(&mut self, die: usize, lpn: Lpn) -> Moved {
        loop {
            let moved = self.twin.moved[die].pop_front().unwrap_or_else(|| panic!("unit {lpn} is programmed as moved and was never read"));
            if self.twin.spot(moved.0) == Some(moved.1) {
                assert_eq!(moved.0, lpn.0, "moved units that nothing has overtaken are programmed in the order they were read");
                return moved;
            }
        }
    }

    fn order_read(&mut self, operation: Operation, target: &Target) {
        let die = operation.die;
        let page = self.flash.spots(die, target, 1);
        let found = self.flash.read(die, target);
        match operation.cause {
            Cause::Host => {
                let flash = &self.flash;
                self.twin.host_read(&page, |spot| flash.at(spot));
            }
            Cause::Fill => self.twin.fill_read(&found),
            Cause::Reclaim | Cause::Wear | Cause::Disturb | Cause::Retire => {}
        }
        let ready = self.about(70);
        self.enter(ready, Due::DieReady(die));
        let slow = self.scenario.habits.slow_reports && self.dice.happens(0.1);
        let later = if slow { self.about(9_000) } else { Nanos(self.dice.below(40_000)) };
        let spare = found.iter().map(|stored| stored.lpn).collect();
        let tag = operation.tag;
        if !matches!(operation.cause, Cause::Host | Cause::Fill) {
            // Kept until the report, which is when the firmware decides what of it is still wanted.
            self.gathering.insert(tag, (page, found));
        }
        self.enter(ready + later, Due::Report(die, tag, spare));
    }
}
