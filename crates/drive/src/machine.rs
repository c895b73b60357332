//! The machine: the parts of a drive around one calendar.

use wordline_chip::DieFault;
use wordline_engine::{Calendar, Event, EventLog, Observer};
use wordline_flash::{Operation, OperationKind, Stop, Stopped};
use wordline_ftl::{Acknowledgement, Firmware, Note};
use wordline_units::{Celsius, DieId, HostOp, HostRequest, Nanos, RequestId};

use crate::config::Config;
use crate::cores::firmware;
use crate::device::dies::{Dies, PayloadOf};
use crate::device::{Brings, Controller, Halt, Load, Name, Outcome, Page, Place, Question};
use crate::due::{Due, OpSlot, Step};
use crate::events::Events;
use crate::failed::is_for_failure;
use crate::faults::{Faults, failed_part};
use crate::follow::{Followed, Follower};
use crate::host::data::DataPlane;
use crate::host::jobs::{JobLoad, Jobs};
use crate::host::queues::Pace;
use crate::host::requests::{Answered, Host, Way};
use crate::notes::event_of;
use crate::warmth::{self, Warmth};

/// A drive in virtual time.
#[derive(Debug)]
pub(crate) struct Machine {
    config: Config,
    calendar: Calendar<Due>,
    log: EventLog,
    /// Events that no observer has been shown yet.
    events: Events,
    ftls: Vec<Firmware>,
    /// Deadline of each core that is in the calendar.
    ticks: Vec<Nanos>,
    device: Controller,
    host: Host,
    /// Bytes of the drive, if it keeps data.
    data: Option<Box<DataPlane>>,
    faults: Faults,
    warmth: Warmth,
    /// Number of flash operations that have ended.
    operations: u64,
}

/// Parts of a drive that is at rest, or whose time stands still.
pub(crate) struct Parts<'a> {
    pub(crate) config: &'a Config,
    pub(crate) ftls: &'a mut [Firmware],
    pub(crate) device: &'a mut Controller,
    pub(crate) data: &'a mut Option<Box<DataPlane>>,
}

impl Machine {
    /// Puts a drive together whose firmware has not been asked for anything yet, with all blocks erased and dies that keep bytes in what `payload` gives them.
    pub(crate) fn assemble(config: Config, events: Events, payload: &mut PayloadOf<'_>) -> Machine {
        let (dies, host) = (Dies::new(&config, payload), Host::new(&config));
        let Config { firmware: template, cores, sheet, .. } = &config;
        let bytes = || DataPlane::new(template.unit.0, sheet.geometry.page.0, *cores, template.buffer.units);
        let warmth = Warmth::new(&config);
        Machine {
            calendar: Calendar::default(),
            log: EventLog::default(),
            events,
            ftls: firmware(&config, &host, &dies),
            ticks: vec![Nanos::MAX; config.cores as usize],
            data: dies.keep_bytes().then(|| Box::new(bytes())),
            device: Controller::new(&config, dies),
            host,
            faults: Faults::default(),
            warmth,
            operations: 0,
            config,
        }
    }

    /// Time for which the drive has worked, as far as its temperature goes by it.
    pub(crate) fn lived(&self) -> Nanos {
        self.warmth.lived(self.now())
    }

    /// Begins the course of temperatures of a drive that had worked for `lived` when its clock began, which has just been.
    pub(crate) fn warm_after(&mut self, lived: Nanos) {
        let changed = self.warmth.begin_after(lived);
        self.take_temperature(Nanos::ZERO, changed);
    }

    /// Takes the temperature to which the drive has changed, and expects the next one.
    #[cold]
    fn take_temperature(&mut self, now: Nanos, changed: Option<Celsius>) {
        let Machine { warmth, ftls, device, calendar, .. } = self;
        changed.into_iter().for_each(|to| _ = warmth::set(to, now, ftls, device.dies_mut()));
        warmth.next(now).into_iter().for_each(|at| calendar.enter(at, Due::Warmth));
    }

    /// Lets each core do what it wants done before the first request: techniques may have timers that are due.
    pub(crate) fn start(&mut self) {
        (0..self.config.cores).for_each(|core| self.pump(self.now(), core));
    }

    /// Configuration of the drive.
    pub(crate) fn config(&self) -> &Config {
        &self.config
    }

    /// The present instant.
    pub(crate) fn now(&self) -> Nanos {
        self.calendar.now()
    }

    /// Event log of the run so far.
    pub(crate) fn log(&self) -> &EventLog {
        &self.log
    }

    /// Events that no observer has been shown yet.
    #[inline]
    pub(crate) fn events(&mut self) -> &mut Events {
        &mut self.events
    }

    /// Firmware cores of the drive.
    pub(crate) fn ftls(&self) -> &[Firmware] {
        &self.ftls
    }

    /// Firmware cores of the drive.
    pub(crate) fn ftls_mut(&mut self) -> &mut [Firmware] {
        &mut self.ftls
    }

    /// The dies.
    pub(crate) fn dies(&self) -> &Dies {
        self.device.dies()
    }

    /// The dies.
    pub(crate) fn dies_mut(&mut self) -> &mut Dies {
        self.device.dies_mut()
    }

    /// The host side.
    pub(crate) fn host(&self) -> &Host {
        &self.host
    }

    /// Bytes of the drive, if it keeps data.
    pub(crate) fn data(&self) -> Option<&DataPlane> {
        self.data.as_deref()
    }

    /// Bytes of the drive, if it keeps data.
    pub(crate) fn data_mut(&mut self) -> Option<&mut DataPlane> {
        self.data.as_deref_mut()
    }

    /// Faults on demand that have not come.
    pub(crate) fn faults(&self) -> &Faults {
        &self.faults
    }

    /// Faults on demand that have not come, and the device that they come to.
    pub(crate) fn faults_mut(&mut self) -> (&mut Faults, &mut Controller) {
        (&mut self.faults, &mut self.device)
    }

    /// Number of flash operations that have ended.
    pub(crate) fn operations(&self) -> u64 {
        self.operations
    }

    /// The parts of the drive.
    pub(crate) fn parts(&mut self) -> Parts<'_> {
        let Machine { config, ftls, device, data, .. } = self;
        Parts { config, ftls, device, data }
    }

    /// The parts of the drive, and its host side.
    pub(crate) fn parts_and_host(&mut self) -> (Parts<'_>, &Host) {
        let Machine { config, ftls, device, data, host, .. } = self;
        (Parts { config, ftls, device, data }, host)
    }

    /// The dies without the drive, its configuration, and the present instant.
    pub(crate) fn into_dies(self) -> (Config, Dies, Nanos) {
        let now = self.now();
        (self.config, self.device.into_dies(), now)
    }

    /// Serves `load`: see [`crate::Drive::serve`].
    pub(crate) fn serve(
        &mut self,
        load: &mut dyn Iterator<Item = HostRequest>,
        pace: Pace,
        completions: Option<u64>,
        observer: &mut dyn Observer,
    ) -> u64 {
        let before = self.host.completed();
        let goal = completions.map_or(u64::MAX, |count| before + count);
        let mut exhausted = false;
        while self.host.completed() < goal {
            match pace {
                Pace::Closed { depth } => {
                    while !exhausted && self.host.outstanding() < depth {
                        match load.next() {
                            Some(request) => self.arrive(self.calendar.now(), &request),
                            None => exhausted = true,
                        }
                    }
                }
                Pace::Gaps { depth, run, cycle, gap } => {
                    while !exhausted && !self.host.expects() {
                        let outstanding = u64::from(self.host.outstanding());
                        let is_in_run = (self.host.completed() + outstanding) % cycle < run;
                        let most = if is_in_run { u64::from(depth) } else { 1 };
                        if outstanding >= most {
                            break;
                        }
                        match load.next() {
                            Some(request) if is_in_run => self.arrive(self.calendar.now(), &request),
                            Some(request) => {
                                self.calendar.enter(self.calendar.now() + gap, Due::Arrival);
                                self.host.expect(request);
                            }
                            None => exhausted = true,
                        }
                    }
                }
                Pace::Open { origin } => {
                    if !self.host.expects() && !exhausted {
                        match load.next() {
                            Some(request) => {
                                // A trace whose lines are out of order cannot bring a request into the past.
                                self.calendar.enter((origin + request.at).max(self.calendar.now()), Due::Arrival);
                                self.host.expect(request);
                            }
                            None => exhausted = true,
                        }
                    }
                }
            }
            if exhausted && self.host.outstanding() == 0 && !self.host.expects() {
                break;
            }
            let Some((now, due)) = self.calendar.pop() else {
                panic!("{}", self.post_mortem("nothing is due, yet requests are outstanding"));
            };
            self.handle(now, due);
            self.show_full(observer);
        }
        self.host.completed() - before
    }

    /// Serves `jobs`: see [`crate::Drive::serve_jobs`].
    pub(crate) fn serve_jobs(
        &mut self,
        jobs: &mut Jobs,
        load: &mut dyn JobLoad,
        completions: Option<u64>,
        observer: &mut dyn Observer,
    ) -> u64 {
        let before = self.host.completed();
        let goal = completions.map_or(u64::MAX, |count| before.saturating_add(count));
        let mut looked_at = None;
        while self.host.completed() < goal {
            self.show_full(observer);
            if looked_at != Some(self.host.completed()) {
                looked_at = Some(self.host.completed());
                jobs.refill(self.now(), load, self, Machine::outstanding_of, Machine::arrive);
            }
            if let Some(at) = jobs.due_at().filter(|&at| self.next_at().is_none_or(|event| at <= event)) {
                let request = jobs.next_open();
                // A load whose requests are out of order cannot bring one into the past.
                let at = at.max(self.now());
                self.calendar.advance(at);
                self.arrive(at, &request);
                jobs.go_on(load);
            } else if jobs.are_over() && self.host.outstanding() == 0 {
                break;
            } else if !self.step() {
                panic!("{}", self.post_mortem("nothing is due, yet requests of jobs are outstanding"));
            }
        }
        self.host.completed() - before
    }

    fn outstanding_of(&self) -> &[u32] {
        self.host.outstanding_of()
    }

    /// Instant of the next event, if any is pending.
    pub(crate) fn next_at(&self) -> Option<Nanos> {
        self.calendar.next_at()
    }

    /// Executes the next event. Returns true if there was one.
    pub(crate) fn step(&mut self) -> bool {
        let Some((now, due)) = self.calendar.pop() else { return false };
        self.handle(now, due);
        true
    }

    /// Executes all events up to `until`, which becomes the present instant.
    pub(crate) fn run_until(&mut self, until: Nanos, mut observer: Option<&mut dyn Observer>) {
        while self.calendar.next_at().is_some_and(|at| at <= until) {
            if !self.step() {
                return;
            }
            if let Some(observer) = &mut observer {
                self.show_full(*observer);
            }
        }
        self.calendar.advance(until);
    }

    /// Explanation why the run cannot go on, with what is needed to repeat it.
    pub(crate) fn post_mortem(&self, what: &str) -> String {
        format!("{what}\nseed {}, event {}, now {}; the last events:\n{}", self.config.seed, self.log.count(), self.now(), self.log.tail())
    }

    #[inline(always)]
    fn handle(&mut self, now: Nanos, due: Due) {
        match due {
            Due::Device(step) => self.take_step(now, step),
            Due::Submit { part } => self.submit(now, part),
            Due::Delivered { slot } => self.complete(now, slot),
            Due::Tick { core } => {
                self.ticks[core as usize] = Nanos::MAX;
                self.ftls[core as usize].tick(now);
                self.pump(now, core);
            }
            Due::Harm { number } => {
                if let Some((die, fault)) = self.faults.come(number) {
                    self.harm(die, fault);
                }
            }
            Due::Warmth => self.take_temperature(now, self.warmth.change_at(now)),
            Due::Arrival => {
                let request = self.host.take_expected();
                self.arrive(now, &request);
            }
        }
    }

    /// Let `request` arrive.
    pub(crate) fn arrive(&mut self, now: Nanos, request: &HostRequest) {
        let slot = self.host.arrive(now, request);
        let &HostRequest { op, attributes, sectors, .. } = request;
        self.emit(now, Event::Arrived { request: RequestId(slot), op, attributes, sectors });
        let Machine { host, device, ftls, calendar, .. } = self;
        host.admit(now, slot, &mut Way { device, ftls, calendar });
    }

    /// Show `observer` the events so far, if they are many.
    #[inline(always)]
    pub(crate) fn show_full(&mut self, observer: &mut dyn Observer) {
        if self.events.is_full() {
            self.events.show(observer);
        }
    }

    /// Submit `part` of a request to its core.
    fn submit(&mut self, now: Nanos, part: u32) {
        let Machine { host, device, ftls, data, .. } = self;
        let part = host.submitted(now, part);
        let (core, request) = (part.core, part.request);
        let ftl = &mut ftls[core as usize];
        if let Some(data) = data
            && request.op == HostOp::Read
        {
            data.resolve(&part, host, ftl, device.dies_mut());
        }
        let units = ftl.submit(now, request).invalidated;
        if units > 0 {
            self.emit(now, Event::Invalidated { die: self.device.dies().die(core, DieId(0)), units });
        }
        if self.events.follows() && request.op == HostOp::Trim {
            self.follower(now, core).trimmed(&request);
        }
        self.pump(now, core);
    }

    /// Take a `step` of an operation under way, and carry its effect to the firmware.
    #[inline(always)]
    fn take_step(&mut self, now: Nanos, step: Step) {
        match self.device.due(now, step, &mut self.calendar) {
            Outcome::Nothing => {}
            Outcome::Free { core, local } => {
                self.ftls[core as usize].die_ready(local);
                self.pump(now, core);
            }
            Outcome::Ended { op, frees, next } => {
                self.ended(now, op, frees);
                // The firmware has taken the report of the program before, and with it what was held for that one.
                if next != OpSlot::NONE && self.device.is_loaded(next) {
                    self.begin_loaded(now, next);
                }
            }
            Outcome::Loaded { op } => self.begin_loaded(now, op),
            outcome @ (Outcome::Failed { .. }
            | Outcome::MayYield { .. }
            | Outcome::Held { .. }
            | Outcome::Aborted { .. }
            | Outcome::Refused { .. }) => self.take_rarer(now, outcome),
        }
    }

    /// Carry the effect of a step to the firmware that few steps of a young drive have, and most of an aged one whose reads are tried again.
    #[inline(never)]
    fn take_rarer(&mut self, now: Nanos, outcome: Outcome) {
        match outcome {
            Outcome::Failed { op } => {
                let Question { core, tag, failed } = self.device.question(op);
                let next = self.ftls[core as usize].next_try(now, tag, &failed);
                self.device.answer(now, op, next, &mut self.calendar);
            }
            Outcome::MayYield { op } => {
                let Name { core, local, .. } = self.device.name(op);
                if self.ftls[core as usize].yields(now, local) {
                    let halt = self.device.put_aside(now, op, Stop::AtStep);
                    self.stopped(now, &halt, None);
                } else {
                    self.device.sense_again(now, op, &mut self.calendar);
                }
            }
            Outcome::Held { op } => {
                let halt = self.device.hold(now, op);
                self.stopped(now, &halt, Some(Stopped::Held { how: halt.how, waited: halt.waited }));
            }
            Outcome::Aborted { op } => {
                let halt = self.device.put_aside(now, op, Stop::Now);
                self.stopped(now, &halt, Some(Stopped::Aborted { waited: halt.waited }));
            }
            Outcome::Refused { core, local } => self.ftls[core as usize].stopped(now, local, Stopped::Refused),
            Outcome::Nothing | Outcome::Free { .. } | Outcome::Ended { .. } | Outcome::Loaded { .. } => {}
        }
    }

    /// Log that an operation was stopped, and give the firmware its `answer` if it has ordered that.
    fn stopped(&mut self, now: Nanos, halt: &Halt, answer: Option<Stopped>) {
        let &Halt { core, local, die, kind: how, op: kind, cause, waited, .. } = halt;
        self.emit(now, Event::Stopped { die, how, kind, cause, waited });
        if let Some(answer) = answer {
            self.ftls[core as usize].stopped(now, local, answer);
        }
        self.pump(now, core);
    }

    /// Log the end of the operation at `op` and report it to the firmware. `frees`: whether its die is free with it, or was before.
    #[inline(always)]
    fn ended(&mut self, now: Nanos, op: OpSlot, frees: bool) {
        let Machine { device, ftls, log, events, .. } = self;
        let ended = device.end(op);
        let (core, event) = (ended.core(), ended.event());
        let ftl = &mut ftls[core as usize];
        if frees {
            ftl.die_ready(ended.local());
        }
        self.operations += 1;
        let die = event.die;
        log.record_flash(now, event);
        events.flash_ended(now, event);
        let report = ended.report(now);
        let followed = if events.follows() { Followed::of(&ended, &report, ftl) } else { None };
        let units = ftl.report(now, &report).invalidated;
        if units > 0 {
            write_down(log, events, now, Event::Invalidated { die, units });
        }
        if let Some(followed) = followed {
            self.follower(now, core).ended(followed);
        }
        self.serve_core(now, core);
    }

    /// Do everything that `core` wants done now.
    #[inline(never)]
    pub(crate) fn pump(&mut self, now: Nanos, core: u32) {
        self.serve_core(now, core);
    }

    /// Do everything that `core` wants done now: where it is inlined, at the end of an operation, and [`Machine::pump`] elsewhere.
    #[inline(always)]
    fn serve_core(&mut self, now: Nanos, core: u32) {
        self.move_bytes(core);
        self.converse(now, core);
        let ftl = &mut self.ftls[core as usize];
        let deadline = ftl.next_deadline();
        if deadline.is_some() || ftl.has_notes() {
            self.wait(now, core, deadline);
        }
    }

    /// Schedule `deadline` of `core` and log its notes.
    #[inline(never)]
    fn wait(&mut self, now: Nanos, core: u32, mut deadline: Option<Nanos>) {
        if deadline.is_some_and(|deadline| deadline <= now) {
            // It has passed unseen, as the first does of a core that nothing was asked of; the next may be hidden behind it.
            self.ftls[core as usize].tick(now);
            self.move_bytes(core);
            self.converse(now, core);
            deadline = self.ftls[core as usize].next_deadline();
        }
        while let Some(note) = self.ftls[core as usize].note() {
            if let Note::KeyGone(addr) = note {
                if self.events.follows() {
                    self.follower(now, core).key_gone(addr);
                }
            } else if let Some(event) = event_of(note, core, self.ftls[core as usize].layout(), self.device.dies()) {
                self.emit(now, event);
            }
        }
        if let Some(deadline) = deadline
            && deadline > now
            && deadline < self.ticks[core as usize]
        {
            self.ticks[core as usize] = deadline;
            self.calendar.enter(deadline, Due::Tick { core });
        }
    }

    /// Let bytes follow the decisions of `core`.
    #[inline(always)]
    fn move_bytes(&mut self, core: u32) {
        let Machine { host, device, ftls, data, .. } = self;
        if let Some(data) = data {
            data.follow(core, host, &mut ftls[core as usize], device.dies_mut());
        }
    }

    /// Carry out the operations of `core` and complete what it acknowledges, until neither is left.
    #[inline(always)]
    fn converse(&mut self, now: Nanos, core: u32) {
        while let Some(operation) = self.ftls[core as usize].next_operation(now) {
            self.issue(now, core, &operation);
        }
        while let Some(done) = self.ftls[core as usize].acknowledge() {
            self.acknowledged(now, core, done);
        }
        debug_assert!(self.ftls[core as usize].next_operation(now).is_none(), "it had nothing more to say, and has been told nothing");
    }

    /// Carry out the operation that `core` has ordered.
    #[inline(never)]
    fn issue(&mut self, now: Nanos, core: u32, operation: &Operation) {
        // Three questions whose answer is mostly no, in one branch.
        if (self.faults.are_waiting() | self.data.is_some() | self.events.follows()) && self.accompany(now, core, operation) {
            return;
        }
        let Machine { device, ftls, data, calendar, .. } = self;
        match &operation.kind {
            OperationKind::Read { target, bytes, first, tally, attributes } => {
                let page = Page { target, bytes: *bytes, first: *first, is_counted: *tally, attributes: *attributes };
                device.read(now, (core, operation), &page, calendar);
            }
            OperationKind::Program { target, bytes, origin, is_cached: false, .. } => {
                let load = load_of(core, (operation.die, operation.tag), &ftls[core as usize], data.as_deref());
                device.program(now, (core, operation), &Place { target, bytes: *bytes, origin: *origin }, load, calendar);
            }
            OperationKind::Program { .. }
            | OperationKind::Erase { .. }
            | OperationKind::Copyback { .. }
            | OperationKind::Sanitise { .. }
            | OperationKind::Suspend { .. }
            | OperationKind::Resume
            | OperationKind::Abort => self.issue_rarer(now, core, operation),
        }
    }

    /// Carry out an operation of `core` that is neither a read nor a program which begins at once.
    #[inline(never)]
    fn issue_rarer(&mut self, now: Nanos, core: u32, operation: &Operation) {
        let Machine { device, ftls, calendar, .. } = self;
        let ftl = &ftls[core as usize];
        let brings = match operation.kind {
            OperationKind::Erase { is_set: true, .. } => ftl.erase_settings(operation.die).map_or(Brings::Nothing, Brings::Erase),
            OperationKind::Copyback { .. } => ftl.load(operation.die, operation.tag).settings.map_or(Brings::Nothing, Brings::Program),
            OperationKind::Program { .. }
            | OperationKind::Read { .. }
            | OperationKind::Erase { .. }
            | OperationKind::Sanitise { .. }
            | OperationKind::Suspend { .. }
            | OperationKind::Resume
            | OperationKind::Abort => Brings::Nothing,
        };
        if let Outcome::Refused { core, local } = device.issue(now, (core, operation), brings, calendar) {
            self.ftls[core as usize].stopped(now, local, Stopped::Refused);
        }
    }

    /// Apply faults to `operation` of `core`, gather the bytes that go with it, and show its units. Returns true if it does not reach its die.
    #[cold]
    #[inline(never)]
    fn accompany(&mut self, now: Nanos, core: u32, operation: &Operation) -> bool {
        let Machine { device, ftls, data, faults, .. } = self;
        let ftl = &mut ftls[core as usize];
        if faults.are_waiting() && faults.meet((core, operation), ftl, device, data) {
            return true;
        }
        if let Some(data) = data {
            match operation.kind {
                OperationKind::Program { is_cached: false, .. } => {
                    data.gather(core, (operation.die, operation.tag), ftl, device.dies_mut());
                }
                OperationKind::Copyback { from, .. } => {
                    let pages = self.config.sheet.pages_per_program();
                    data.gather_copyback(core, (operation.die, &from, pages), ftl, device.dies_mut());
                }
                OperationKind::Program { .. }
                | OperationKind::Read { .. }
                | OperationKind::Erase { .. }
                | OperationKind::Sanitise { .. }
                | OperationKind::Suspend { .. }
                | OperationKind::Resume
                | OperationKind::Abort => {}
            }
        }
        if self.events.follows() {
            self.follower(now, core).taken(operation);
        }
        false
    }

    /// Begin the program at `op`, whose data is in its die.
    #[cold]
    fn begin_loaded(&mut self, now: Nanos, op: OpSlot) {
        let Machine { device, ftls, data, calendar, .. } = self;
        let Name { core, local, tag } = device.name(op);
        if let Some(data) = data {
            data.gather(core, (local, tag), &mut ftls[core as usize], device.dies_mut());
        }
        let load = load_of(core, (local, tag), &ftls[core as usize], data.as_deref());
        device.begin_loaded(now, op, load, calendar);
    }

    fn acknowledged(&mut self, now: Nanos, core: u32, done: Acknowledgement) {
        let Machine { host, device, ftls, data, calendar, .. } = self;
        let die = device.dies().die(core, done.die);
        let is_spoiled = |slot| data.as_ref().is_some_and(|data| data.is_spoiled(slot));
        match host.acknowledged(now, done, die, is_spoiled, &mut Way { device, ftls, calendar }) {
            Answered::Complete { slot } => self.complete(now, slot),
            Answered::GoesOn => {}
        }
    }

    fn complete(&mut self, now: Nanos, slot: u32) {
        let Machine { host, device, ftls, .. } = self;
        let mut done = host.complete(slot);
        if !done.ok {
            done.for_failure = is_for_failure(&done, ftls, host, device.dies());
        }
        self.emit(now, Event::Completed(done));
        let Machine { host, device, ftls, calendar, .. } = self;
        host.fetch(now, &mut Way { device, ftls, calendar });
    }

    /// Lets `fault` happen to `die` now.
    pub(crate) fn harm(&mut self, die: DieId, fault: DieFault) {
        let Some(part) = failed_part(fault) else { return self.device.dies_mut()[die].inject(fault) };
        let now = self.now();
        self.device.harm(now, die, fault);
        self.emit(now, Event::Harmed { die, part });
    }

    /// Schedules `fault` of `die` for the instant `at`, or now if that has passed.
    pub(crate) fn schedule(&mut self, at: Nanos, die: DieId, fault: DieFault) {
        let number = self.faults.schedule(at, die, fault);
        self.calendar.enter(at.max(self.now()), Due::Harm { number });
    }

    #[inline(always)]
    fn emit(&mut self, now: Nanos, event: Event) {
        write_down(&mut self.log, &mut self.events, now, event);
    }

    fn follower(&mut self, now: Nanos, core: u32) -> Follower<'_> {
        let Machine { ftls, host, device, events, .. } = self;
        Follower { now, core, ftl: &ftls[core as usize], host, dies: device.dies(), events }
    }
}

/// Content of the program `tag` of `die` of `core`.
#[inline(always)]
fn load_of<'a>(core: u32, (die, tag): (DieId, wordline_units::OpTag), ftl: &'a Firmware, data: Option<&'a DataPlane>) -> Load<'a> {
    let load = ftl.load(die, tag);
    let contents = data.map_or(wordline_chip::Contents::NONE, |data| data.gathered(core));
    Load { spare: load.oob, settings: load.settings, contents }
}

/// Log that `event` happened, and keep it for the observer.
#[inline(always)]
fn write_down(log: &mut EventLog, events: &mut Events, now: Nanos, event: Event) {
    log.record(now, &event);
    events.happened(now, event);
}
