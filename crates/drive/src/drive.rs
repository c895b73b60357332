//! The drive and its calendar.

use wordline_chip::Chip;
use wordline_engine::{Bus, Calendar, Completion, Event, EventLog, Observer, Server, Stages};
use wordline_flash::Spans;
use wordline_ftl::techniques::hooks::Hook;
use wordline_ftl::techniques::seam::Technique;
use wordline_ftl::{Acknowledgement, Firmware, Request};
use wordline_units::host::SECTOR_BYTES;
use wordline_units::{Bytes, DieId, HostOp, HostRequest, IdMap, Nanos, RequestId};

use crate::cells::PayloadOf;
use crate::config::Config;
use crate::data::DataPlane;
use crate::events::Events;
use crate::faults::Waiting;
use crate::flash::{Flight, FlightSlot};
use crate::habits::Habits;
use crate::host::{HostQueues, InFlight, Pace, Trims};
use crate::leap::Epoch;
use crate::silent::ToCome;
use crate::stripe::{Stripe, Units, Wiring};
use crate::tries::Tries;

/// An event of the calendar. The type is one word, so that it goes into the calendar in a register: written to memory part by part and read as a whole, it
/// would stall the processor at every event.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Due {
    /// The next request of an open loop arrives.
    Arrival,
    /// A core receives a part of a request.
    Hear { part: u32 },
    /// A page has been sensed, unless that was broken off since.
    Sensed { flight: FlightSlot, attempt: u16 },
    /// A page has left the die.
    Transferred { flight: FlightSlot },
    /// A read is corrected and in DRAM.
    Read { flight: FlightSlot },
    /// A read could not be corrected and is tried again with other references.
    Retry { flight: FlightSlot },
    /// A die that programs can take in the data of its next program.
    TakeIn { flight: FlightSlot },
    /// A die has the data of its next program.
    TakenIn { flight: FlightSlot },
    /// A program, an erase or a copyback has ended, unless it was suspended since.
    Worked { flight: FlightSlot, attempt: u16 },
    /// A part of a copyback before its program has ended.
    Copied { flight: FlightSlot, attempt: u16 },
    /// A die may accept a suspend now.
    TrySuspend { flight: FlightSlot, attempt: u16 },
    /// A suspend has taken hold, unless a sooner one was ordered since.
    Suspended { flight: FlightSlot, attempt: u16 },
    /// The die is free after a read that was broken off.
    Aborted { flight: FlightSlot },
    /// A read's data has reached the host.
    Delivered { slot: u32 },
    /// The deadline of a core has come.
    Tick { core: u32 },
    /// A part of a die fails, as it was ordered to.
    Harm { number: u32 },
}

const _: () = assert!(size_of::<Due>() == 8);

/// The part of a host request that goes to one core.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    slot: u32,
    core: u32,
    request: Request,
}

/// A drive in virtual time.
#[derive(Debug)]
pub struct Drive {
    pub(crate) config: Config,
    pub(crate) calendar: Calendar<Due>,
    pub(crate) log: EventLog,
    /// Events that no observer has been shown yet.
    pub(crate) events: Events,
    pub(crate) chips: IdMap<DieId, Chip>,
    pub(crate) ftls: Vec<Firmware>,
    pub(crate) stripe: Stripe,
    pub(crate) wiring: Wiring,
    pub(crate) cores: Vec<Server>,
    ticks: Vec<Nanos>,
    pub(crate) channels: Vec<Bus>,
    pub(crate) ecc: Vec<Server>,
    pub(crate) ecc_rate: Option<wordline_units::Rate>,
    /// Entries of the read-retry table; 1: no retry is possible.
    pub(crate) read_levels: u32,
    pub(crate) dram: Option<Bus>,
    link_in: Option<Bus>,
    link_out: Option<Bus>,
    pub(crate) flights: Vec<Flight>,
    pub(crate) idle_flights: Vec<FlightSlot>,
    /// Program or erase that each die is busy with.
    pub(crate) working: IdMap<DieId, FlightSlot>,
    /// Program that each die does next, while it is busy with one.
    pub(crate) following: IdMap<DieId, FlightSlot>,
    parts: Vec<Part>,
    idle_parts: Vec<u32>,
    pub(crate) host: HostQueues,
    /// Next request of an open loop.
    pub(crate) expected: Option<HostRequest>,
    /// Tries of the read that keeps a die after a failed try.
    pub(crate) tries: IdMap<DieId, Tries>,
    pub(crate) parked: crate::parked::ParkedReads,
    /// Die whose operation was reported last.
    pub(crate) reporting: DieId,
    /// Scratch list for the spare areas of one report.
    pub(crate) spare: Vec<wordline_units::Lpn>,
    completed: u64,
    /// Bytes of the drive, if it keeps data.
    pub(crate) data: Option<Box<DataPlane>>,
    /// Number of flash operations that have ended.
    pub(crate) operations: u64,
    pub(crate) units: Units,
    /// Faults on demand that wait for an operation.
    pub(crate) waiting: Option<Box<Waiting>>,
    /// Faults that were ordered for instants, until they have come.
    pub(crate) to_come: Vec<Option<ToCome>>,
    /// The present epoch, if one has begun.
    pub(crate) epoch: Option<Epoch>,
    /// Use of block groups over the epochs so far.
    pub(crate) habits: Habits,
    /// Number of reads that each read of the host stands for.
    pub(crate) read_times: u32,
}

impl Drive {
    /// Creates a new drive, with all blocks erased. The drive keeps no bytes.
    pub fn new(config: Config, events: Events) -> Drive {
        Drive::with_payload(config, events, &mut |_| None)
    }
}

impl Drive {
    /// Creates a new drive, with all blocks erased, whose dies keep bytes in what `payload` gives them.
    pub fn with_payload(config: Config, events: Events, payload: &mut PayloadOf<'_>) -> Drive {
        let mut drive = Drive::assemble(config, events, payload);
        // Techniques may have timers that are due before the first request.
        (0..drive.config.cores).for_each(|core| drive.pump(Nanos::ZERO, core));
        drive
    }

    /// Puts a drive together whose firmware has not been asked for anything yet.
    pub(crate) fn assemble(config: Config, events: Events, payload: &mut PayloadOf<'_>) -> Drive {
        let geometry = config.sheet.geometry;
        let (chips, read_levels) = crate::cells::dies(&config, payload);
        let keeps = chips[DieId(0)].payload().is_some();
        let stripe = Stripe::new(config.cores, config.stripe_units);
        let wiring = Wiring::new(&geometry, config.cores);
        let dies = geometry.dies() / config.cores;
        let ftls = (0..config.cores)
            .map(|core| {
                let mut firmware = config.firmware.clone();
                firmware.dies = dies;
                firmware.core = core;
                firmware.read_entries = read_levels;
                firmware.read_search = config.searches();
                firmware.codeword_bits = config.cells.as_ref().map_or(0, |cells| (8.0 * cells.physics.ecc.codeword) as u32);
                firmware.keeps_data = keeps;
                let has_keys = firmware.techniques.iter().any(|choice| choice.card().hooks.has(Hook::KeyStore));
                assert!(!keeps || !has_keys, "whoever keeps bytes has seen to it that they need not be encrypted");
                firmware.seed = config.seed;
                firmware.exported_units = stripe.share(core, config.exported_units);
                firmware.factory_bad =
                    (0..dies as u16).map(|local| crate::cells::factory_bad(&chips[wiring.die(core, DieId(local))], &geometry)).collect();
                let mut core = Firmware::new(firmware);
                config.cells.iter().for_each(|cells| core.warmth(Nanos::ZERO, cells.temperature));
                core
            })
            .collect();
        Drive {
            calendar: Calendar::default(),
            log: EventLog::default(),
            events,
            chips,
            ftls,
            stripe,
            wiring,
            cores: vec![Server::default(); config.cores as usize],
            ticks: vec![Nanos::MAX; config.cores as usize],
            channels: vec![Bus::new(config.channel); geometry.channels as usize],
            ecc: vec![Server::default(); geometry.channels as usize],
            ecc_rate: config.ecc.rate,
            read_levels,
            dram: config.dram.map(Bus::new),
            link_in: config.link.map(Bus::new),
            link_out: config.link.map(Bus::new),
            flights: Vec::new(),
            idle_flights: Vec::new(),
            working: IdMap::from_fn(geometry.dies() as usize, |_| FlightSlot::NONE),
            following: IdMap::from_fn(geometry.dies() as usize, |_| FlightSlot::NONE),
            parts: Vec::new(),
            idle_parts: Vec::new(),
            host: HostQueues::new(config.weights),
            expected: None,
            tries: IdMap::from_fn(geometry.dies() as usize, |_| Tries::default()),
            parked: crate::parked::ParkedReads::default(),
            reporting: DieId(0),
            spare: Vec::new(),
            completed: 0,
            data: keeps.then(|| {
                let Config { firmware, cores, .. } = &config;
                Box::new(DataPlane::new(firmware.unit.0, geometry.page.0, *cores, firmware.buffer.units))
            }),
            operations: 0,
            units: Units::new(config.firmware.unit.0 / SECTOR_BYTES),
            waiting: None,
            to_come: Vec::new(),
            epoch: None,
            habits: Habits::default(),
            read_times: 1,
            config,
        }
    }

    /// Configuration of the drive.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The present instant.
    pub fn now(&self) -> Nanos {
        self.calendar.now()
    }

    /// Event log of the run so far, which identifies it.
    pub fn log(&self) -> &EventLog {
        &self.log
    }

    /// Adds techniques that no plan names to each core, before the first request: see [`Firmware::join`].
    pub fn join(&mut self, mut technique: impl FnMut() -> Box<dyn Technique>) {
        self.ftls.iter_mut().for_each(|ftl| ftl.join(technique()));
        (0..self.config.cores).for_each(|core| self.pump(self.now(), core));
    }

    /// Firmware cores of the drive.
    pub fn firmware(&self) -> &[Firmware] {
        &self.ftls
    }

    /// Number of acknowledged requests.
    pub fn completed(&self) -> u64 {
        self.completed
    }

    /// Number of requests that have arrived and are not yet acknowledged.
    pub fn outstanding(&self) -> u32 {
        self.host.outstanding
    }

    /// Serves `load` until `completions` more requests are acknowledged, or, with `None`, until the load is exhausted and everything is acknowledged.
    /// Returns the number of acknowledged requests.
    ///
    /// What is outstanding at the end stays so: the next call goes on where this one stopped, so a run cut into rounds is the same run.
    pub fn serve(
        &mut self,
        load: &mut impl Iterator<Item = HostRequest>,
        pace: Pace,
        completions: Option<u64>,
        observer: &mut dyn Observer,
    ) -> u64 {
        let before = self.completed;
        let goal = completions.map_or(u64::MAX, |count| before + count);
        let mut exhausted = false;
        while self.completed < goal {
            match pace {
                Pace::Closed { depth } => {
                    while !exhausted && self.host.outstanding < depth {
                        match load.next() {
                            Some(request) => self.arrive(self.calendar.now(), &request),
                            None => exhausted = true,
                        }
                    }
                }
                Pace::Open { origin } => {
                    if self.expected.is_none() && !exhausted {
                        self.expected = load.next();
                        exhausted = self.expected.is_none();
                        if let Some(request) = &self.expected {
                            // A trace whose lines are out of order cannot bring a request into the past.
                            self.calendar.enter((origin + request.at).max(self.calendar.now()), Due::Arrival);
                        }
                    }
                }
            }
            if exhausted && self.host.outstanding == 0 && self.expected.is_none() {
                break;
            }
            let Some((now, due)) = self.calendar.pop() else {
                panic!("{}", self.post_mortem("nothing is due, yet requests are outstanding"));
            };
            self.handle(now, due);
            if self.events.is_full() {
                self.events.show(observer);
            }
        }
        self.completed - before
    }

    pub(crate) fn handle(&mut self, now: Nanos, due: Due) {
        match due {
            Due::Hear { part } => {
                let Part { slot, core, request } = self.parts[part as usize];
                self.host.requests[slot as usize].heard = now;
                if self.data.is_some() && request.op == HostOp::Read {
                    self.resolve(core, slot, &request);
                }
                let units = self.ftls[core as usize].submit(now, request).invalidated;
                if units > 0 {
                    self.emit(now, Event::Invalidated { die: self.wiring.die(core, DieId(0)), units });
                }
                if self.events.follows() && request.op == HostOp::Trim {
                    self.tell_trimmed(now, core, &request);
                }
                self.pump(now, core);
            }
            Due::Sensed { flight, attempt } => self.sensed(now, flight, attempt),
            Due::Transferred { flight } => self.transferred(now, flight),
            Due::Read { flight } => self.read_done(now, flight),
            Due::Retry { flight } => self.retry(now, flight),
            Due::TakeIn { flight } => self.take_in_next(now, flight),
            Due::TakenIn { flight } => self.next_taken_in(now, flight),
            Due::Worked { flight, attempt } => self.worked(now, flight, attempt),
            Due::Copied { flight, attempt } => self.copied(now, flight, attempt),
            Due::TrySuspend { flight, attempt } => self.try_suspend(now, flight, attempt),
            Due::Suspended { flight, attempt } => self.suspended(now, flight, attempt),
            Due::Aborted { flight } => self.aborted(now, flight),
            Due::Delivered { slot } => self.complete(now, slot),
            Due::Tick { core } => {
                self.ticks[core as usize] = Nanos::MAX;
                self.ftls[core as usize].tick(now);
                self.pump(now, core);
            }
            Due::Harm { number } => self.come_true(number),
            Due::Arrival => {
                let request = self.expected.take().expect("an arrival is due only while a request is expected");
                self.arrive(now, &request);
            }
        }
    }

    /// Do everything that `core` wants done now.
    pub(crate) fn pump(&mut self, now: Nanos, core: u32) {
        if self.data.is_some() {
            self.follow(core);
        }
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
            if self.data.is_some() {
                self.follow(core);
            }
            self.converse(now, core);
            deadline = self.ftls[core as usize].next_deadline();
        }
        while let Some(note) = self.ftls[core as usize].note() {
            let Some(event) = self.event_of(now, core, note) else { continue };
            self.emit(now, event);
        }
        if let Some(deadline) = deadline
            && deadline > now
            && deadline < self.ticks[core as usize]
        {
            self.ticks[core as usize] = deadline;
            self.calendar.enter(deadline, Due::Tick { core });
        }
    }

    /// Carry out the operations of `core` and complete what it acknowledges, until neither is left.
    #[inline(always)]
    fn converse(&mut self, now: Nanos, core: u32) {
        while let Some(operation) = self.ftls[core as usize].next_operation(now) {
            self.issue(now, core, &operation);
        }
        while let Some(done) = self.ftls[core as usize].acknowledge() {
            self.acknowledged(now, done);
        }
        debug_assert!(self.ftls[core as usize].next_operation(now).is_none(), "it had nothing more to say, and has been told nothing");
    }

    #[inline(always)]
    pub(crate) fn emit(&mut self, now: Nanos, event: Event) {
        write_down(&mut self.log, &mut self.events, now, event);
    }

    pub(crate) fn arrive(&mut self, now: Nanos, request: &HostRequest) {
        let end = request.sector + u64::from(request.sectors);
        assert!(
            end <= self.config.exported_units * self.units.sectors(),
            "a request ends at sector {end}, beyond the drive: the host edge must refuse it"
        );
        assert!(request.sectors > 0 || request.op == HostOp::Flush, "only a flush has no sectors");
        let &HostRequest { sector, sectors, op, attributes, fua, job, .. } = request;
        let slot = self.host.arrive(InFlight {
            op,
            attributes,
            fua,
            sector,
            sectors,
            left: 0,
            arrived: now,
            fetched: now,
            heard: now,
            parts: 0,
            ok: true,
            blank: 0,
            stages: Stages::default(),
            core: Nanos::ZERO,
            dram: Nanos::ZERO,
            served_by: None,
            job,
        });
        self.emit(now, Event::Arrived { request: RequestId(slot), op, attributes, sectors });
        if self.host.nobody_waits() && self.host.inside < self.config.queue_depth {
            self.host.pass(attributes.priority);
            self.take_in(now, slot);
        } else {
            self.host.wait(slot);
            self.fetch(now);
        }
    }

    /// Take in waiting requests, as far as the device's queue has room.
    #[inline]
    fn fetch(&mut self, now: Nanos) {
        while self.host.inside < self.config.queue_depth {
            let Some(slot) = self.host.next() else {
                break;
            };
            self.take_in(now, slot);
        }
    }

    fn take_in(&mut self, now: Nanos, slot: u32) {
        self.host.inside += 1;
        let InFlight { op, sector, sectors, arrived, attributes, fua, job, .. } = self.host.requests[slot as usize];
        let bytes = Bytes(u64::from(sectors) * SECTOR_BYTES);
        // Data flows through the link into DRAM as it comes, so both are held at once and the slower one decides.
        let (mut data_in, mut held_dram) = (now, Nanos::ZERO);
        if op == HostOp::Write {
            if let Some(link) = &mut self.link_in {
                data_in = data_in.max(link.transfer(now, bytes, Nanos::ZERO).1);
            }
            if let Some(dram) = &mut self.dram {
                let (span, end) = dram.transfer(now, bytes, Nanos::ZERO);
                (held_dram, data_in) = (span, data_in.max(end));
            }
        }
        let mut asked = HostRequest { at: arrived, sector, sectors, op, attributes, fua, job };
        if op == HostOp::Trim && self.config.trims == Trims::ByPage {
            asked.sectors = self.page_from(sector, sectors);
            self.host.requests[slot as usize].left = sectors - asked.sectors;
        }
        let (worked, held_core, parts) = self.give(now, slot, &asked, self.config.costs.command, data_in);
        let request = &mut self.host.requests[slot as usize];
        request.fetched = now;
        request.parts = parts;
        request.stages.host_queue = now - arrived;
        request.stages.core = worked - now;
        request.stages.dram = data_in.saturating_sub(worked);
        (request.core, request.dram) = (held_core, held_dram);
    }

    /// Give `asked`, of the request in `slot`, to the cores that own its units, each part at `ready` or later. Taking it in costs each of them `command`.
    /// Returns the instant at which the cores have worked on it, for how long they did, and the number of parts.
    #[inline(always)]
    fn give(&mut self, now: Nanos, slot: u32, asked: &HostRequest, command: Nanos, ready: Nanos) -> (Nanos, Nanos, u32) {
        let (first, units) = self.units.touched(asked.sector, asked.sectors);
        let (mut worked, mut held) = (now, Nanos::ZERO);
        let mut parts = 0;
        for core in 0..self.config.cores {
            let Some(request) = self.cut(asked, core, first, units) else { continue };
            self.ftls[core as usize].prefetch(&request);
            let cost = command + self.config.costs.unit * u64::from(request.units);
            let done = self.cores[core as usize].occupy(now, cost);
            worked = worked.max(done);
            held += cost;
            parts += 1;
            let part = self.store_part(Part { slot, core, request });
            self.calendar.enter(done.max(ready), Due::Hear { part });
        }
        (worked, held, parts)
    }

    /// Number of the `sectors` from `sector` that lie in its page.
    pub(crate) fn page_from(&self, sector: u64, sectors: u32) -> u32 {
        let page = self.config.sheet.geometry.page.0 / SECTOR_BYTES;
        ((page - sector % page) as u32).min(sectors)
    }

    /// Go on with the TRIM in `slot`, which goes page by page and of which a page is done.
    #[cold]
    #[inline(never)]
    fn trim_on(&mut self, now: Nanos, slot: u32) {
        let InFlight { op, attributes, fua, sector, sectors, left, arrived, job, .. } = self.host.requests[slot as usize];
        let next = sector + u64::from(sectors - left);
        let asked = HostRequest { at: arrived, sector: next, sectors: self.page_from(next, left), op, attributes, fua, job };
        let (_, held, parts) = self.give(now, slot, &asked, Nanos::ZERO, now);
        let request = &mut self.host.requests[slot as usize];
        request.left -= asked.sectors;
        request.parts = parts;
        request.core += held;
    }

    /// Part of `asked` that falls to `core`. It touches `units` units from `first`, a run that is consecutive in the core.
    #[inline]
    pub(crate) fn cut(&self, asked: &HostRequest, core: u32, first: u64, units: u32) -> Option<Request> {
        let &HostRequest { op, sector, sectors, attributes, fua, .. } = asked;
        if op == HostOp::Flush {
            return Some(Request { id: 0, op, lpn: 0, units: 0, skip_head: 0, skip_tail: 0, attributes, fua });
        }
        let (lpn, end) = (self.stripe.share(core, first), self.stripe.share(core, first + u64::from(units)));
        if lpn == end {
            return None;
        }
        // The request may begin and end inside a unit; only the core that owns that unit skips sectors.
        let skip_head = if self.stripe.locate(first).0 == core { (sector - first * self.units.sectors()) as u32 } else { 0 };
        let last = first + u64::from(units) - 1;
        let stop = (last + 1) * self.units.sectors() - (sector + u64::from(sectors));
        let skip_tail = if self.stripe.locate(last).0 == core { stop as u32 } else { 0 };
        Some(Request { id: 0, op, lpn, units: end - lpn, skip_head, skip_tail, attributes, fua })
    }

    /// Store `part`. Returns its number, which its request carries from now on.
    #[inline]
    fn store_part(&mut self, mut part: Part) -> u32 {
        let free = self.idle_parts.pop();
        let slot = free.unwrap_or(self.parts.len() as u32);
        part.request.id = slot;
        match free {
            Some(slot) => self.parts[slot as usize] = part,
            None => self.parts.push(part),
        }
        slot
    }

    fn acknowledged(&mut self, now: Nanos, done: Acknowledgement) {
        let slot = self.parts[done.id as usize].slot;
        self.idle_parts.push(done.id);
        let request = &mut self.host.requests[slot as usize];
        request.ok &= done.ok;
        request.blank += done.blank;
        if self.data.is_some() {
            request.ok &= !self.data.as_ref().is_some_and(|data| data.is_spoiled(RequestId(slot)));
        }
        request.parts -= 1;
        if request.parts > 0 {
            return;
        }
        if request.left > 0 {
            return self.trim_on(now, slot);
        }
        let rest = now - request.arrived - request.stages.total();
        let Spans { die, channel, ecc } = done.released_by.unwrap_or_default();
        let flash = die + channel + ecc;
        let stages = &mut request.stages;
        if flash <= rest {
            (stages.die, stages.channel, stages.ecc) = (die, channel, ecc);
            request.served_by = done.released_by.map(|_| self.reporting);
            let waited = rest - flash;
            if request.op == HostOp::Read { stages.die_wait = waited } else { stages.buffer = waited }
        } else {
            // The operation that released it began before it arrived (a flush, a wait for room): all of it was waiting.
            stages.buffer = rest;
        }
        let delivered = if request.op == HostOp::Read { self.deliver(now, slot) } else { now };
        if delivered == now {
            self.complete(now, slot);
        } else {
            self.calendar.enter(delivered, Due::Delivered { slot });
        }
    }

    /// Send a read's data to the host. Returns the instant of its arrival.
    fn deliver(&mut self, now: Nanos, slot: u32) -> Nanos {
        let request = &mut self.host.requests[slot as usize];
        let bytes = Bytes(u64::from(request.sectors) * SECTOR_BYTES);
        let mut end = now;
        if let Some(dram) = &mut self.dram {
            let (span, there) = dram.transfer(now, bytes, Nanos::ZERO);
            (request.dram, end) = (span, end.max(there));
        }
        if let Some(link) = &mut self.link_out {
            end = end.max(link.transfer(now, bytes, Nanos::ZERO).1);
        }
        request.stages.dram += end - now;
        end
    }

    fn complete(&mut self, now: Nanos, slot: u32) {
        let InFlight { op, attributes, sector, sectors, arrived, ok, blank, stages, core, dram, served_by: die, job, .. } =
            self.host.requests[slot as usize];
        self.host.inside -= 1;
        self.host.leave(slot);
        self.completed += 1;
        let for_failure = !ok && self.is_for_failure(op, sector, sectors, die);
        let request = RequestId(slot);
        let done = Completion { request, op, attributes, sectors, sector, arrived, stages, core, dram, ok, for_failure, blank, die, job };
        self.emit(now, Event::Completed(done));
        self.fetch(now);
    }

    /// Host slot and request of a part.
    pub(crate) fn part(&self, part: u32) -> (u32, Request) {
        let Part { slot, request, .. } = self.parts[part as usize];
        (slot, request)
    }

    /// Id that the next request will have.
    pub(crate) fn next_request(&self) -> RequestId {
        RequestId(self.host.next_slot())
    }

    /// Instant of the next event, if any is pending.
    pub fn next_at(&self) -> Option<Nanos> {
        self.calendar.next_at()
    }

    /// Executes the next event. Returns true if there was one.
    pub fn step(&mut self) -> bool {
        let Some((now, due)) = self.calendar.pop() else { return false };
        self.handle(now, due);
        true
    }

    /// Executes all events up to `until`, which becomes the present instant.
    pub fn run_until(&mut self, until: Nanos) {
        while self.calendar.next_at().is_some_and(|at| at <= until) {
            let Some((now, due)) = self.calendar.pop() else { return };
            self.handle(now, due);
        }
        self.calendar.advance(until);
    }

    /// Explanation why the run cannot go on, with what is needed to repeat it.
    pub(crate) fn post_mortem(&self, what: &str) -> String {
        format!("{what}\nseed {}, event {}, now {}; the last events:\n{}", self.config.seed, self.log.count(), self.now(), self.log.tail())
    }
}

/// Log that `event` happened, and keep it for the observer.
#[inline(always)]
pub(crate) fn write_down(log: &mut EventLog, events: &mut Events, now: Nanos, event: Event) {
    log.record(now, &event);
    events.happened(now, event);
}
