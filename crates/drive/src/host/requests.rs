//! Requests of the host, from their arrival to their completion, and their parts for each core.

use wordline_engine::{Calendar, Completion, Stages};
use wordline_flash::Spans;
use wordline_ftl::{Acknowledgement, Firmware, Request};
use wordline_units::host::SECTOR_BYTES;
use wordline_units::{Bytes, DieId, HostOp, HostRequest, Nanos, RequestId};

use super::queues::{HostQueues, InFlight};
use super::stripe::{Stripe, Units};
use crate::config::{Config, Costs, Trims};
use crate::device::{Controller, Passed};
use crate::due::Due;

/// The part of a host request that goes to one core.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub(crate) slot: u32,
    pub(crate) core: u32,
    pub(crate) request: Request,
}

/// Resources that requests use on their way to the firmware.
pub(crate) struct Way<'a> {
    pub(crate) device: &'a mut Controller,
    pub(crate) ftls: &'a [Firmware],
    pub(crate) calendar: &'a mut Calendar<Due>,
}

/// State of a request after one of its parts has been acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answered {
    /// The request goes on.
    GoesOn,
    /// The request is complete now.
    Complete {
        /// Slot of the request.
        slot: u32,
    },
}

/// The host side of a drive.
#[derive(Debug)]
pub(crate) struct Host {
    queues: HostQueues,
    stripe: Stripe,
    units: Units,
    parts: Vec<Part>,
    idle_parts: Vec<u32>,
    /// Next request of an open loop.
    expected: Option<HostRequest>,
    completed: u64,
    cores: u32,
    costs: Costs,
    queue_depth: u32,
    trims: Trims,
    /// Sectors of a page.
    page_sectors: u64,
    exported_units: u64,
}

impl Host {
    /// Creates the host side of a drive that nothing has been asked of.
    pub(crate) fn new(config: &Config) -> Host {
        Host {
            queues: HostQueues::new(config.weights),
            stripe: Stripe::new(config.cores, config.stripe_units),
            units: Units::new(config.firmware.unit.0 / SECTOR_BYTES),
            parts: Vec::new(),
            idle_parts: Vec::new(),
            expected: None,
            completed: 0,
            cores: config.cores,
            costs: config.costs,
            queue_depth: config.queue_depth,
            trims: config.trims,
            page_sectors: config.sheet.geometry.page.0 / SECTOR_BYTES,
            exported_units: config.exported_units,
        }
    }

    /// Striping of the host's units over cores.
    pub(crate) fn stripe(&self) -> &Stripe {
        &self.stripe
    }

    /// Conversion from sectors to units.
    pub(crate) fn units(&self) -> &Units {
        &self.units
    }

    /// Number of acknowledged requests.
    pub(crate) fn completed(&self) -> u64 {
        self.completed
    }

    /// Number of requests that have arrived and are not yet acknowledged.
    #[inline]
    pub(crate) fn outstanding(&self) -> u32 {
        self.queues.outstanding()
    }

    /// Number of requests of each job that have arrived and are not yet acknowledged.
    pub(crate) fn outstanding_of(&self) -> &[u32] {
        self.queues.outstanding_of()
    }

    /// True if the next request of an open loop is known.
    #[inline]
    pub(crate) fn expects(&self) -> bool {
        self.expected.is_some()
    }

    /// Sets the next request of an open loop.
    pub(crate) fn expect(&mut self, request: HostRequest) {
        self.expected = Some(request);
    }

    /// Takes the next request of an open loop, which arrives.
    pub(crate) fn take_expected(&mut self) -> HostRequest {
        self.expected.take().expect("an arrival is due only while a request is expected")
    }

    /// Id that the next request will have.
    pub(crate) fn next_request(&self) -> RequestId {
        RequestId(self.queues.next_slot())
    }

    /// First sector of the request in `slot`, and its number of sectors.
    pub(crate) fn extent(&self, slot: u32) -> (u64, u32) {
        self.queues.extent(slot)
    }

    /// Part number `part`.
    #[inline]
    pub(crate) fn part(&self, part: u32) -> Part {
        self.parts[part as usize]
    }

    /// The part number `part`, which its core receives at `now`.
    #[inline]
    pub(crate) fn submitted(&mut self, now: Nanos, part: u32) -> Part {
        let part = self.parts[part as usize];
        self.queues.request(part.slot).heard = now;
        part
    }

    /// Registers `request`, which arrives at `now`. Returns its slot.
    ///
    /// # Panics
    /// If it ends beyond the drive, or has no sectors and is no flush.
    pub(crate) fn arrive(&mut self, now: Nanos, request: &HostRequest) -> u32 {
        let end = request.sector + u64::from(request.sectors);
        assert!(
            end <= self.exported_units * self.units.sectors(),
            "a request ends at sector {end}, beyond the drive: the host edge must refuse it"
        );
        assert!(request.sectors > 0 || request.op == HostOp::Flush, "only a flush has no sectors");
        let &HostRequest { sector, sectors, op, attributes, fua, job, .. } = request;
        self.queues.arrive(InFlight {
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
        })
    }

    /// Takes in the request in `slot`, which has just arrived, or queues it.
    #[inline]
    pub(crate) fn admit(&mut self, now: Nanos, slot: u32, way: &mut Way<'_>) {
        if self.queues.nobody_waits() && self.queues.inside() < self.queue_depth {
            self.queues.pass(slot);
            self.take_in(now, slot, way);
        } else {
            self.queues.wait(slot);
            self.fetch(now, way);
        }
    }

    /// Takes in waiting requests, as far as the device's queue has room.
    #[inline]
    pub(crate) fn fetch(&mut self, now: Nanos, way: &mut Way<'_>) {
        while self.queues.inside() < self.queue_depth {
            let Some(slot) = self.queues.next() else {
                break;
            };
            self.take_in(now, slot, way);
        }
    }

    fn take_in(&mut self, now: Nanos, slot: u32, way: &mut Way<'_>) {
        let InFlight { op, sector, sectors, arrived, attributes, fua, job, .. } = *self.queues.enter(slot);
        let bytes = Bytes(u64::from(sectors) * SECTOR_BYTES);
        let mut passed = Passed { dram: Nanos::ZERO, end: now };
        if op == HostOp::Write {
            passed = way.device.use_from_host(now, bytes);
        }
        let Passed { dram: held_dram, end: data_in } = passed;
        let mut asked = HostRequest { at: arrived, sector, sectors, op, attributes, fua, job };
        if op == HostOp::Trim && self.trims == Trims::ByPage {
            asked.sectors = self.page_from(sector, sectors);
            self.queues.request(slot).left = sectors - asked.sectors;
        }
        let (worked, held_core, parts) = self.give(now, slot, &asked, (self.costs.command, data_in), way);
        let request = self.queues.request(slot);
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
    fn give(
        &mut self,
        now: Nanos,
        slot: u32,
        asked: &HostRequest,
        (command, ready): (Nanos, Nanos),
        way: &mut Way<'_>,
    ) -> (Nanos, Nanos, u32) {
        let (first, units) = self.units.touched(asked.sector, asked.sectors);
        let (mut worked, mut held) = (now, Nanos::ZERO);
        let mut parts = 0;
        for core in 0..self.cores {
            let Some(request) = self.cut(asked, core, first, units) else { continue };
            way.ftls[core as usize].prefetch(&request);
            // The controller keeps ranges: a hint is one command, however many units it covers.
            let units = if asked.op == HostOp::Hint { 0 } else { request.units };
            let cost = command + self.costs.unit * u64::from(units);
            let done = way.device.occupy_core(core, now, cost);
            worked = worked.max(done);
            held += cost;
            parts += 1;
            let part = self.store_part(Part { slot, core, request });
            way.calendar.enter(done.max(ready), Due::Submit { part });
        }
        (worked, held, parts)
    }

    /// Number of the `sectors` from `sector` that lie in its page.
    pub(crate) fn page_from(&self, sector: u64, sectors: u32) -> u32 {
        ((self.page_sectors - sector % self.page_sectors) as u32).min(sectors)
    }

    /// Go on with the TRIM in `slot`, which goes page by page and of which a page is done.
    #[cold]
    #[inline(never)]
    fn trim_on(&mut self, now: Nanos, slot: u32, way: &mut Way<'_>) {
        let InFlight { op, attributes, fua, sector, sectors, left, arrived, job, .. } = *self.queues.request(slot);
        let next = sector + u64::from(sectors - left);
        let asked = HostRequest { at: arrived, sector: next, sectors: self.page_from(next, left), op, attributes, fua, job };
        let (_, held, parts) = self.give(now, slot, &asked, (Nanos::ZERO, now), way);
        let request = self.queues.request(slot);
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

    /// Takes the acknowledgement `done` of a part. `die`: die of the operation that released it, if one did. `is_spoiled`: whether a read has lost sectors, by
    /// its slot.
    #[inline]
    pub(crate) fn acknowledged(
        &mut self,
        now: Nanos,
        done: Acknowledgement,
        die: DieId,
        is_spoiled: impl FnOnce(RequestId) -> bool,
        way: &mut Way<'_>,
    ) -> Answered {
        let slot = self.parts[done.id as usize].slot;
        self.idle_parts.push(done.id);
        let request = self.queues.request(slot);
        request.ok &= done.ok && !is_spoiled(RequestId(slot));
        request.blank += done.blank;
        request.parts -= 1;
        if request.parts > 0 {
            return Answered::GoesOn;
        }
        if request.left > 0 {
            self.trim_on(now, slot, way);
            return Answered::GoesOn;
        }
        let rest = now - request.arrived - request.stages.total();
        let Spans { die: array, channel, ecc, link } = done.released_by.unwrap_or_default();
        let flash = array + channel + ecc + link;
        let stages = &mut request.stages;
        if flash <= rest {
            (stages.die, stages.channel, stages.ecc) = (array, channel, ecc);
            stages.dram += link;
            request.served_by = done.released_by.map(|_| die);
            let waited = rest - flash;
            if request.op == HostOp::Read { stages.die_wait = waited } else { stages.buffer = waited }
        } else {
            // The operation that released it began before it arrived (a flush, a wait for room): all of it was waiting.
            stages.buffer = rest;
        }
        let delivered = if request.op == HostOp::Read { self.deliver(now, slot, way) } else { now };
        if delivered == now {
            return Answered::Complete { slot };
        }
        way.calendar.enter(delivered, Due::Delivered { slot });
        Answered::GoesOn
    }

    /// Send a read's data to the host, which has it already where the firmware is in the host. Returns the instant of its arrival.
    fn deliver(&mut self, now: Nanos, slot: u32, way: &mut Way<'_>) -> Nanos {
        let request = self.queues.request(slot);
        let bytes = Bytes(u64::from(request.sectors) * SECTOR_BYTES);
        let Passed { dram, end } = way.device.use_to_host(now, bytes);
        request.dram = dram;
        request.stages.dram += end - now;
        end
    }

    /// Completes the request in `slot`, whose slot is free from now on.
    #[inline]
    pub(crate) fn complete(&mut self, slot: u32) -> Completion {
        self.queues.leave(slot);
        self.completed += 1;
        let InFlight { op, attributes, sector, sectors, arrived, ok, blank, stages, core, dram, served_by: die, job, .. } =
            *self.queues.request(slot);
        let request = RequestId(slot);
        Completion { request, op, attributes, sectors, sector, arrived, stages, core, dram, ok, for_failure: false, blank, die, job }
    }
}
