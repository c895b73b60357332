//! The world around a core that keeps data: a random host, dies with random delays, and a power switch.

use std::collections::BTreeMap;
use std::rc::Rc;

use wordline_flash::{Mark, Operation, OperationKind, Report, Status, Target};
use wordline_ftl::config::Acknowledge;
use wordline_ftl::{Carried, DataStep, Ftl, Layout, Note, PagePlace, Request, UnitAddr};
use wordline_units::random::{Draw, Stream};
use wordline_units::{BlockId, Cause, DieId, HostOp, Lpn, Nanos, Priority};

use super::ledger::Ledger;
use super::nand::{Bytes, Look, Nand, Page, Stored};
use super::{Bug, Tally};
use crate::swarm::Scenario;

/// A core that orders so many operations while a request waits is not getting anywhere.
const OPERATIONS_WITHOUT_ANSWER: u64 = 100_000;

#[derive(Clone, Debug)]
enum Due {
    DieReady(DieId),
    Read(DieId, u32, Vec<(UnitAddr, Stored)>),
    Worked { die: DieId, attempt: u32 },
    Suspended { die: DieId, attempt: u32 },
}

#[derive(Clone, Debug)]
struct Work {
    operation: Operation,
    ends: Nanos,
    left: Nanos,
    good: bool,
    units: Vec<Stored>,
    /// The firmware has been told already.
    told: bool,
}

/// The world.
pub struct World {
    scenario: Scenario,
    ftl: Ftl,
    nand: Nand,
    ledger: Ledger,
    bug: Option<Bug>,
    /// What was seen.
    pub tally: Tally,
    now: Nanos,
    /// When the core was last told the time.
    ticked: Option<Nanos>,
    due: BTreeMap<(Nanos, u64), Due>,
    entered: u64,
    work: Vec<Option<Work>>,
    attempts: Vec<u32>,
    /// The bytes of the buffer's slots.
    slots: Vec<Vec<u32>>,
    /// Units read from victims.
    moved: BTreeMap<UnitAddr, Stored>,
    asked: BTreeMap<u32, Request>,
    requests: u32,
    stamps: u32,
    dice: Draw,
    boundaries: u64,
    cut_at: Option<u64>,
    worn_out: bool,
    unanswered: u64,
    /// The generation of the journal page programmed last.
    generation: u64,
    broken: Option<String>,
}

impl World {
    /// A new drive.
    pub fn new(scenario: Scenario, bug: Option<Bug>) -> World {
        let ftl = Ftl::new(scenario.config.clone());
        let layout = *ftl.layout();
        let config = &scenario.config;
        let sectors = (config.unit.0 / 512) as u32;
        World {
            nand: Nand::new(layout, config.sheet.geometry.blocks, &config.factory_bad),
            ledger: Ledger::new(config.exported_units, sectors),
            bug,
            tally: Tally::default(),
            now: Nanos::ZERO,
            ticked: None,
            due: BTreeMap::new(),
            entered: 0,
            work: vec![None; layout.dies as usize],
            attempts: vec![0; layout.dies as usize],
            slots: vec![vec![0; sectors as usize]; config.buffer.units as usize],
            moved: BTreeMap::new(),
            asked: BTreeMap::new(),
            requests: 0,
            stamps: 0,
            dice: Draw::new(scenario.seed, Stream::Arrival, 1),
            boundaries: 0,
            cut_at: None,
            worn_out: false,
            unanswered: 0,
            generation: 1,
            broken: None,
            ftl,
            scenario,
        }
    }

    /// Operation boundaries since the last cut.
    pub fn boundaries(&self) -> u64 {
        self.boundaries
    }

    fn is_dark(&self) -> bool {
        self.broken.is_some() || self.cut_at.is_some_and(|at| self.boundaries >= at)
    }

    /// Run `requests` requests, or until the power goes at the boundary `cut_at`. If it does not, everything is flushed at the end.
    pub fn live(&mut self, requests: u64, cut_at: Option<u64>) -> Result<(), String> {
        (self.boundaries, self.cut_at) = (0, cut_at);
        self.pump();
        let goal = self.requests + requests as u32;
        while self.requests < goal && !self.is_dark() && !self.worn_out {
            let room = self.asked.len() < self.scenario.habits.depth;
            if room && (self.dice.happens(0.4) || !self.has_something_due()) {
                let request = self.request();
                self.submit(request);
            } else {
                self.step();
            }
        }
        while !self.asked.is_empty() && !self.is_dark() {
            self.step();
        }
        if !self.is_dark() && !self.worn_out {
            self.requests += 1;
            self.submit(Request { id: self.requests, op: HostOp::Flush, ..self.blank() });
            while !self.asked.is_empty() && !self.is_dark() {
                self.step();
            }
        }
        if !self.is_dark() {
            self.look()?;
        }
        self.broken.take().map_or(Ok(()), Err)
    }

    /// The power goes now; then it comes back. Returns whether the core still takes writes.
    pub fn recover(&mut self) -> Result<bool, String> {
        self.tally.cuts += 1;
        for slot in 0..self.work.len() {
            let Some(work) = self.work[slot].take() else { continue };
            self.tally.in_flight += 1;
            let (die, good) = (work.operation.die, work.good);
            match work.operation.kind {
                OperationKind::Program { target, .. } | OperationKind::Copyback { to: target, .. } => {
                    self.nand.cut_program(die, &target, &work.units, good, &mut self.dice);
                }
                OperationKind::Erase { target } => self.nand.cut_erase(die, &target, good, &mut self.dice),
                OperationKind::Read { .. } | OperationKind::Suspend | OperationKind::Resume => unreachable!("not work"),
            }
        }
        self.due.clear();
        self.asked.clear();
        self.moved.clear();
        self.ledger.forget_requests();
        self.attempts.iter_mut().for_each(|attempt| *attempt += 1);
        // Bytes that are in no chip are gone.
        self.slots.iter_mut().for_each(|sectors| sectors.fill(u32::MAX));
        let config = self.scenario.config.clone();
        self.ftl = Ftl::recover(config.clone(), &mut Look { nand: &self.nand, bug: self.bug });
        let again = Ftl::recover(config, &mut Look { nand: &self.nand, bug: self.bug });
        let units = self.ftl.map().exported();
        if let Some(lpn) = (0..units).find(|&lpn| self.ftl.map().get(lpn) != again.map().get(lpn)) {
            return Err(format!("unit {lpn} is recovered to two places"));
        }
        self.audit()?;
        for lpn in 0..units {
            let found = self.on_flash(self.ftl.map().get(lpn)).map_err(|problem| format!("unit {lpn}: {problem}"))?;
            self.tally.older += u64::from(self.ledger.after_cut(lpn, &found)?);
        }
        self.tally.units += u64::from(units);
        self.note_worn_out();
        self.broken.take().map_or(Ok(()), Err)?;
        self.tally.worn_out += u64::from(self.ftl.is_worn_out());
        Ok(!self.ftl.is_worn_out())
    }

    fn audit(&self) -> Result<(), String> {
        self.ftl.audit(|addr| match self.nand.page(self.place(addr)) {
            Page::Whole(units) => units[self.ftl.layout().place(self.ftl.layout().offset(addr)).unit as usize].mark.lpn,
            Page::Erased | Page::Torn => Lpn(u32::MAX),
        })
    }

    /// Every unit holds what was written last.
    fn look(&self) -> Result<(), String> {
        self.audit()?;
        (0..self.ftl.map().exported()).try_for_each(|lpn| self.look_at(lpn))
    }

    fn look_at(&self, lpn: u32) -> Result<(), String> {
        let newest = self.ftl.newest(lpn);
        let mut sectors = self.on_flash(newest.on_flash)?.to_vec();
        if let Some((slot, mask)) = newest.buffered {
            over(&mut sectors, &self.slots[slot as usize], mask);
        }
        if sectors[..] == self.ledger.latest(lpn)[..] {
            Ok(())
        } else {
            Err(format!("unit {lpn} reads as {sectors:?}; last written was {:?}", self.ledger.latest(lpn)))
        }
    }

    fn place(&self, addr: UnitAddr) -> PagePlace {
        let layout = self.ftl.layout();
        let group = layout.group(addr);
        let place = layout.place(layout.offset(addr));
        let block = BlockId(u32::from(self.ftl.groups().blocks(group)[usize::from(place.plane.0)]));
        PagePlace { die: layout.die(group), plane: place.plane, block, page: place.page }
    }

    fn on_flash(&self, addr: UnitAddr) -> Result<Rc<[u32]>, String> {
        let sectors = (self.scenario.config.unit.0 / 512) as usize;
        if addr == UnitAddr::NONE {
            return Ok(vec![0; sectors].into());
        }
        let layout: &Layout = self.ftl.layout();
        let unit = layout.place(layout.offset(addr)).unit as usize;
        match self.nand.page(self.place(addr)) {
            Page::Whole(units) => match &units[unit].bytes {
                Bytes::Sectors(sectors) => Ok(sectors.clone()),
                bytes @ (Bytes::Nothing | Bytes::Journal(_)) => Err(format!("{addr:?} holds {bytes:?}")),
            },
            page @ (Page::Erased | Page::Torn) => Err(format!("{addr:?} is {page:?}")),
        }
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
        let id = self.requests;
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
        let fua = matches!(op, HostOp::Write | HostOp::Trim) && self.dice.happens(habits.fua);
        Request { id, op, lpn, units, skip_head, skip_tail, priority, fua }
    }

    fn submit(&mut self, request: Request) {
        self.tally.requests += 1;
        self.asked.insert(request.id, request);
        match request.op {
            HostOp::Trim => {
                for index in 0..request.units {
                    let whole = (index > 0 || request.skip_head == 0) && (index + 1 < request.units || request.skip_tail == 0);
                    if whole {
                        self.ledger.trim(request.id, request.lpn + index);
                    }
                }
            }
            HostOp::Flush => self.ledger.flush(request.id),
            HostOp::Read => {
                for lpn in request.lpn..request.lpn + request.units {
                    let looked = self.look_at(lpn);
                    self.fail(looked);
                }
            }
            HostOp::Write => {}
        }
        if request.op == HostOp::Flush && self.bug == Some(Bug::FlushReordered) {
            self.ledger.flushed(request.id);
        }
        self.ftl.submit(self.now, request);
        self.follow();
        self.pump();
    }

    fn fail(&mut self, looked: Result<(), String>) {
        if let Err(problem) = looked {
            self.broken.get_or_insert(problem);
        }
    }

    fn has_something_due(&self) -> bool {
        !self.due.is_empty() || self.deadline().is_some()
    }

    /// When the core should be told the time, if it was not told that already.
    fn deadline(&self) -> Option<Nanos> {
        self.ftl.next_deadline().map(|at| at.max(self.now)).filter(|&at| self.ticked != Some(at))
    }

    fn step(&mut self) {
        let deadline = self.deadline();
        let next = self.due.keys().next().copied();
        match (next, deadline) {
            (None, None) => {
                let waiting: Vec<_> = self.asked.values().collect();
                let state = (self.ftl.buffer_room(), self.ftl.is_worn_out(), self.groups());
                self.fail(Err(format!("nothing is due and requests wait: {waiting:?}; buffer room, worn out, groups: {state:?}")));
                return;
            }
            (next, Some(at)) if next.is_none_or(|(then, _)| at < then) => {
                (self.now, self.ticked) = (at, Some(at));
                self.ftl.tick(at);
            }
            (next, _) => {
                let key = next.expect("the deadline is later");
                let due = self.due.remove(&key).expect("just seen");
                self.now = key.0;
                self.happen(due);
            }
        }
        self.follow();
        self.pump();
    }

    fn enter(&mut self, after: Nanos, due: Due) {
        self.entered += 1;
        self.due.insert((self.now + after, self.entered), due);
    }

    fn about(&mut self, us: u64) -> Nanos {
        Nanos(us * 500 + self.dice.below(us * 1_000))
    }

    fn pump(&mut self) {
        while !self.is_dark() {
            if let Some(operation) = self.ftl.speak(self.now) {
                self.unanswered += 1;
                if self.unanswered > OPERATIONS_WITHOUT_ANSWER {
                    return self.fail(Err("no request is answered any more".to_owned()));
                }
                self.boundaries += 1;
                self.order(operation);
                self.follow();
            } else if !self.hear() {
                return;
            }
        }
    }

    /// Take acknowledgements; returns whether there was any.
    fn hear(&mut self) -> bool {
        self.note_worn_out();
        let through = self.scenario.config.buffer.acknowledge == Acknowledge::Programmed;
        let mut heard = false;
        while let Some(done) = self.ftl.acknowledge() {
            (heard, self.unanswered) = (true, 0);
            let request = self.asked.remove(&done.id).expect("a request is acknowledged once");
            if !done.ok {
                if !self.worn_out {
                    self.fail(Err(format!("{request:?} fails")));
                }
                continue;
            }
            match request.op {
                HostOp::Flush => self.ledger.flushed(request.id),
                HostOp::Write | HostOp::Trim => self.ledger.acknowledge(request.id, through || request.fua),
                HostOp::Read => {}
            }
        }
        heard
    }

    fn note_worn_out(&mut self) {
        while let Some(note) = self.ftl.note() {
            if note == Note::WornOut {
                self.worn_out = true;
                let habits = self.scenario.habits;
                if habits.program_fail == 0.0 && habits.erase_fail == 0.0 {
                    self.fail(Err(format!("the core gives up on good flash: {}", self.groups())));
                }
            }
        }
    }

    /// Use and valid units of each group.
    fn groups(&self) -> String {
        let groups = (0..self.ftl.layout().group_count() as u32).map(wordline_ftl::Group);
        let each = groups.map(|group| format!("{:?} {}", self.ftl.groups().use_of(group), self.ftl.groups().valid(group)));
        format!("{:?} of {}", each.collect::<Vec<_>>(), self.ftl.layout().units_per_group)
    }

    /// Do with the bytes what the core notes.
    fn follow(&mut self) {
        while let Some(step) = self.ftl.next_data_step() {
            match step {
                DataStep::Stored { request, index, slot, continues } => {
                    if let Some(older) = continues {
                        let bytes = self.slots[older as usize].clone();
                        self.slots[slot as usize] = bytes;
                    }
                    let request = self.asked[&request];
                    let sectors = (self.scenario.config.unit.0 / 512) as u32;
                    let head = if index == 0 { request.skip_head } else { 0 };
                    let tail = if index + 1 == request.units { request.skip_tail } else { 0 };
                    let mask = (u64::MAX >> (64 - (sectors - head - tail))) << head;
                    self.stamps += 1;
                    let first = self.stamps * 64;
                    let stamp = |sector: u32| first + sector;
                    self.ledger.write(request.id, request.lpn + index, mask, stamp);
                    let bytes: Vec<u32> = (0..sectors).map(stamp).collect();
                    over(&mut self.slots[slot as usize], &bytes, mask);
                }
                DataStep::Completed { slot, missing, from, lpn: _ } => match self.on_flash(from) {
                    Ok(bytes) => over(&mut self.slots[slot as usize], &bytes, missing),
                    Err(problem) => self.fail(Err(problem)),
                },
            }
        }
    }

    fn order(&mut self, operation: Operation) {
        let die = operation.die;
        match operation.kind {
            OperationKind::Read { target, .. } => self.order_read(operation, &target),
            OperationKind::Program { target, .. } => {
                self.nand.check_program(die, &target);
                let units = self.gather(die);
                let good = !self.dice.happens(self.scenario.habits.program_fail);
                self.begin(operation, 700, good, units);
            }
            OperationKind::Erase { target } => {
                self.nand.check_erase(die, &target);
                self.tally.work[0] += 1;
                let good = !self.dice.happens(self.scenario.habits.erase_fail);
                self.begin(operation, 4_000, good, vec![]);
            }
            OperationKind::Copyback { from, to } => {
                self.nand.check_program(die, &to);
                let pages = self.nand.places(die, &from, self.ftl.layout().pages_per_program);
                let units: Vec<Stored> = pages.into_iter().flat_map(|place| self.nand.read(place).to_vec()).collect();
                self.tally.work[1] += units.len() as u64;
                let good = !self.dice.happens(self.scenario.habits.program_fail);
                self.begin(operation, 800, good, units);
            }
            OperationKind::Suspend => self.suspend(die),
            OperationKind::Resume => {
                let work = self.work[usize::from(die.0)].as_mut().expect("something is suspended");
                work.ends = self.now + work.left;
                let (after, attempt) = (work.left, self.attempts[usize::from(die.0)]);
                self.enter(after, Due::Worked { die, attempt });
            }
        }
    }

    /// What the program that has just been ordered carries.
    fn gather(&mut self, die: DieId) -> Vec<Stored> {
        let spare = self.ftl.spare(die).to_vec();
        let batch: Vec<Carried> = self.ftl.batch(die).collect();
        assert_eq!(spare.len(), batch.len());
        let mut units = Vec::with_capacity(batch.len());
        for (carried, lpn) in batch.into_iter().zip(spare) {
            units.push(match carried {
                Carried::Buffered { slot, version } => {
                    let version = self.marked(lpn, version);
                    Stored { mark: Mark { lpn, version, lost: 0 }, bytes: Bytes::Sectors(self.slots[slot as usize].as_slice().into()) }
                }
                Carried::Moved { from } => {
                    self.tally.work[1] += 1;
                    let mut unit = self.moved.get(&from).cloned().unwrap_or_else(|| panic!("{from:?} is moved and was never read"));
                    match self.bug {
                        Some(Bug::CopyRenewed) => unit.mark.version += 1 << 30,
                        Some(Bug::CopyUnmarked) => unit.mark = Mark::NOTHING,
                        _ => {}
                    }
                    unit
                }
                Carried::Padding => Stored::PADDING,
                Carried::Journal { unit, version } => {
                    self.tally.journal[0] += u64::from(unit == 0);
                    self.tally.journal[1] += u64::from(version > self.generation);
                    self.generation = version;
                    let dropped = self.bug == Some(Bug::RecordDropped);
                    let bytes = if dropped { vec![0; self.scenario.config.unit.0 as usize] } else { self.ftl.journal_bytes(unit).to_vec() };
                    Stored { mark: Mark { lpn, version, lost: 0 }, bytes: Bytes::Journal(bytes.into()) }
                }
            });
        }
        units
    }

    fn marked(&self, lpn: Lpn, version: u64) -> u64 {
        match self.bug {
            Some(Bug::VersionKept) => u64::from(lpn.0) + 1,
            Some(Bug::VersionsAnew) => version % (1 << 20),
            _ => version,
        }
    }

    fn order_read(&mut self, operation: Operation, target: &Target) {
        let die = operation.die;
        let place = self.nand.places(die, target, 1)[0];
        let found = self.nand.read(place).to_vec();
        let ftl = &self.ftl;
        let layout = ftl.layout();
        let plane = usize::from(place.plane.0);
        let group = layout
            .groups_of(die)
            .map(|index| wordline_ftl::Group(index as u32))
            .find(|&group| u32::from(ftl.groups().blocks(group)[plane]) == place.block.0 && ftl.groups().is_pinned(group))
            .expect("what is read is pinned");
        let first = (u32::from(place.page.0) * layout.planes + u32::from(place.plane.0)) * layout.units_per_page;
        let page = (first..).zip(found).map(|(offset, unit)| (layout.unit(group, offset), unit)).collect();
        let ready = self.about(70);
        self.enter(ready, Due::DieReady(die));
        let slow = self.scenario.habits.slow_reports && self.dice.happens(0.1);
        let later = if slow { self.about(9_000) } else { Nanos(self.dice.below(40_000)) };
        self.enter(ready + later, Due::Read(die, operation.tag, page));
    }

    fn begin(&mut self, operation: Operation, us: u64, good: bool, units: Vec<Stored>) {
        let die = operation.die;
        let after = self.about(us);
        let is_journal = units.first().is_some_and(|unit| unit.mark.lpn == wordline_ftl::JOURNAL);
        let is_host = operation.cause == Cause::Host && !is_journal;
        let told = match (self.bug, operation.kind) {
            (Some(Bug::EarlyReport), OperationKind::Program { .. }) => is_host,
            (Some(Bug::EarlyJournalReport), OperationKind::Program { .. }) => is_journal,
            _ => false,
        };
        let work = Work { operation, ends: self.now + after, left: Nanos::ZERO, good, units, told };
        assert!(self.work[usize::from(die.0)].replace(work).is_none(), "die {die} is ordered to do two things at once");
        let attempt = self.attempts[usize::from(die.0)];
        self.enter(after, Due::Worked { die, attempt });
        if told {
            self.report(die, operation.tag, true, &[]);
        }
    }

    fn suspend(&mut self, die: DieId) {
        let slot = usize::from(die.0);
        let work = self.work[slot].as_mut().expect("only work is suspended");
        let left = work.ends.saturating_sub(self.now);
        if left < Nanos::from_micros(25) || self.dice.happens(0.1) {
            if self.dice.happens(0.5) {
                self.ftl.suspend_refused(die);
            }
            return;
        }
        work.left = left + Nanos::from_micros(5);
        self.attempts[slot] += 1;
        let attempt = self.attempts[slot];
        self.enter(Nanos::from_micros(20), Due::Suspended { die, attempt });
    }

    fn happen(&mut self, due: Due) {
        match due {
            Due::DieReady(die) => self.ftl.die_ready(die),
            Due::Read(die, tag, page) => {
                self.boundaries += 1;
                if self.is_dark() {
                    return;
                }
                let spare: Vec<Lpn> = page.iter().map(|(_, unit)| unit.mark.lpn).collect();
                self.moved.extend(page);
                self.report(die, tag, true, &spare);
            }
            Due::Worked { die, attempt } if attempt == self.attempts[usize::from(die.0)] => {
                self.boundaries += 1;
                if !self.is_dark() {
                    self.worked(die);
                }
            }
            Due::Suspended { die, attempt } if attempt == self.attempts[usize::from(die.0)] => self.ftl.die_ready(die),
            Due::Worked { .. } | Due::Suspended { .. } => {}
        }
    }

    fn report(&mut self, die: DieId, tag: u32, good: bool, spare: &[Lpn]) {
        let status = if good { Status::Good } else { Status::Failed };
        let report = Report { tag, die, status, corrected_bits: 0, loops: 0, retries: 0, array: Nanos::ZERO };
        self.ftl.report(self.now, &report, spare);
        self.follow();
    }

    fn worked(&mut self, die: DieId) {
        let work = self.work[usize::from(die.0)].take().expect("it was at work");
        self.tally.work[2] += u64::from(!work.good);
        let mut spare = vec![];
        match work.operation.kind {
            OperationKind::Program { target, .. } => self.nand.program(die, &target, &work.units, work.good, &mut self.dice),
            OperationKind::Erase { target } => self.nand.erase(die, &target, work.good, &mut self.dice),
            OperationKind::Copyback { to, .. } => {
                spare = work.units.iter().map(|unit| unit.mark.lpn).collect();
                self.nand.program(die, &to, &work.units, work.good, &mut self.dice);
            }
            OperationKind::Read { .. } | OperationKind::Suspend | OperationKind::Resume => unreachable!("not work"),
        }
        self.ftl.suspend_refused(die);
        self.ftl.die_ready(die);
        if !work.told {
            self.report(die, work.operation.tag, work.good, &spare);
        }
    }
}

fn over(to: &mut [u32], from: &[u32], mask: u64) {
    for (sector, (to, &from)) in to.iter_mut().zip(from).enumerate() {
        if mask >> sector & 1 == 1 {
            *to = from;
        }
    }
}
