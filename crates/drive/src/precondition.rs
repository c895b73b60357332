//! Making a drive old without waiting for it.
//!
//! | way | what it does | cost |
//! |---|---|---|
//! | [`Drive::fill`] | declares the drive written once in order | nothing per unit |
//! | [`Drive::age`] | runs the firmware itself, every operation taking no time | some hundred ns per page |
//! | [`Drive::construct_steady`] | draws the state that uniform overwrites end in | some ten ns per unit |
//!
//! Ageing is not a second firmware: the same calls are made in the same order as in virtual time (submit, speak, report, die ready), and the same
//! commands reach the same dies. What is missing is the calendar: operations end in the order in which they were ordered, as if all took equally
//! long. So host data is dealt to the dies as evenly as a saturated host would deal it, and a die that reclaims still falls behind.

use std::collections::VecDeque;

use wordline_chip::Contents;
use wordline_engine::Observer;
use wordline_flash::{Command, Operation, OperationKind, Report, Status};
use wordline_ftl::{Ftl, Request};
use wordline_units::{HostOp, HostRequest, Nanos};

use crate::drive::Drive;
use crate::flash::set_program;

/// What ageing did to the flash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Aged {
    /// Host requests taken in, all of them done.
    pub requests: u64,
    /// Units programmed for the host.
    pub host_units: u64,
    /// Units programmed again because they had to move.
    pub moved_units: u64,
    /// Program units filled up with nothing.
    pub padding_units: u64,
    /// Pages read, planes counted singly.
    pub page_reads: u64,
    /// Block groups erased.
    pub erases: u64,
}

impl Aged {
    /// Units programmed for each unit the host wrote.
    pub fn waf(&self) -> f64 {
        (self.host_units + self.moved_units + self.padding_units) as f64 / self.host_units as f64
    }
}

/// Operations ordered and not yet reported, oldest first.
type Line = VecDeque<(u32, Operation, Status)>;

impl<O: Observer> Drive<O> {
    /// Make a new drive look as if the first `fraction` of it had been written once in order.
    ///
    /// # Panics
    /// If `fraction` is not between 0 and 1, or if the drive is not new.
    pub fn fill(&mut self, fraction: f64) {
        assert!((0.0..=1.0).contains(&fraction), "a drive can be filled to between 0 and 1, not {fraction}");
        self.construct_filled((self.config.exported_units as f64 * fraction) as u64);
    }

    /// Let the firmware serve up to `count` requests of `load` with every flash operation taking no time, then write out the buffer. Virtual time
    /// stands still, nothing is logged or observed, and the drive is quiet before and after. The host is saturated: as much is outstanding as the
    /// write buffer takes.
    ///
    /// Stops early where the drive wears out; [`Drive::is_worn_out`] tells.
    ///
    /// # Panics
    /// If the drive is not quiet ([`Drive::settle`] makes it so), or if a request ends beyond it.
    pub fn age(&mut self, load: &mut impl Iterator<Item = HostRequest>, count: u64) -> Aged {
        assert!(self.is_quiet(), "only a quiet drive can be aged: settle it first");
        let now = self.now();
        let mut aged = Aged::default();
        let mut line = Line::new();
        let mut parts = Vec::new();
        let mut waiting: Option<HostRequest> = None;
        // Reads take no room in the buffer, so they need a bound of their own.
        let depth = self.ftls.iter().map(Ftl::buffer_room).sum::<u32>();
        let mut outstanding = 0u32;
        let (mut flushed, mut flushes, mut has_spoken) = (false, 0, false);
        loop {
            while !flushed {
                if waiting.is_none() && aged.requests < count && !self.is_worn_out() {
                    waiting = load.next();
                }
                let Some(request) = waiting else {
                    // Exhausted: write out what the buffer holds.
                    outstanding += self.config.cores;
                    self.ftls.iter_mut().for_each(|ftl| ftl.submit(now, FLUSH));
                    (flushed, flushes) = (true, flushes + 1);
                    break;
                };
                self.parts_of(&request, &mut parts);
                let has_room =
                    |&(core, part): &(u32, Request)| request.op != HostOp::Write || self.ftls[core as usize].buffer_room() >= part.units;
                // A request that finds no room with nothing under way is bigger than the buffer, or completes what the buffer holds in part: the
                // firmware knows what to do.
                let is_stuck = line.is_empty() && has_spoken;
                if !is_stuck && (outstanding >= depth || !parts.iter().all(has_room)) {
                    break;
                }
                outstanding += parts.len() as u32;
                for &(core, part) in &parts {
                    self.ftls[core as usize].submit(now, part);
                }
                aged.requests += 1;
                waiting = None;
                has_spoken = false;
            }
            outstanding -= self.order(now, &mut line, &mut aged);
            has_spoken = true;
            match line.pop_front() {
                Some((core, operation, status)) => {
                    self.conclude(now, core, &operation, status, &mut aged);
                    has_spoken = false;
                }
                // A write that waited for room when the flush came was not covered by it.
                None if flushes == 1 && !self.is_worn_out() && !self.ftls.iter().all(Ftl::is_quiet) => flushed = false,
                None if flushed => break,
                None => {}
            }
        }
        assert!(outstanding == 0 || self.is_worn_out(), "{}", self.post_mortem("ageing ended with requests outstanding"));
        self.chips.iter_mut().for_each(|(_, chip)| chip.rest(now));
        aged
    }

    /// Let every core order what it wants; returns how many parts of requests it acknowledged.
    fn order(&mut self, now: Nanos, line: &mut Line, aged: &mut Aged) -> u32 {
        let mut done = 0;
        for core in 0..self.config.cores {
            while let Some(operation) = self.ftls[core as usize].speak(now) {
                if operation.kind == OperationKind::Suspend {
                    // What takes no time cannot be suspended.
                    self.ftls[core as usize].suspend_refused(operation.die);
                } else {
                    let status = self.perform(now, core, &operation, aged);
                    line.push_back((core, operation, status));
                }
            }
            while self.ftls[core as usize].acknowledge().is_some() {
                done += 1;
            }
        }
        done
    }

    /// Do `operation` at the die, by the die's own clock.
    fn perform(&mut self, now: Nanos, core: u32, operation: &Operation, aged: &mut Aged) -> Status {
        let chip = &mut self.chips[self.wiring.die(core, operation.die)];
        let mut at = chip.array_until().max(now);
        if let (OperationKind::Program { .. } | OperationKind::Copyback { .. }, Some(settings)) =
            (operation.kind, self.ftls[core as usize].program_settings(operation.die))
        {
            at = set_program(chip, settings, at);
        }
        match operation.kind {
            OperationKind::Read { target, bytes, begin: _ } => {
                let issued = chip.issue(Command::Read { target, cache: false }, at);
                chip.transfer(Command::DataOut { bytes }, issued.ready_at, issued.ready_at);
                aged.page_reads += u64::from(target.planes.len());
                issued.status
            }
            OperationKind::Program { target, bytes } => {
                chip.transfer(Command::DataIn { bytes }, at, at);
                chip.program(Command::Program { target, cache: false }, at, self.ftls[core as usize].spare(operation.die), Contents::NONE)
                    .status
            }
            OperationKind::Erase { target } => {
                aged.erases += 1;
                chip.issue(Command::Erase { target }, at).status
            }
            OperationKind::Copyback { from, to } => chip.copy_back(from, to, at).status,
            OperationKind::Sanitise { target, how } => chip.issue(Command::Sanitise { target, how }, at).status,
            OperationKind::Suspend | OperationKind::Resume => unreachable!("nothing is suspended"),
        }
    }

    /// Tell the firmware that `operation` has ended.
    fn conclude(&mut self, now: Nanos, core: u32, operation: &Operation, status: Status, aged: &mut Aged) {
        let mut spare = std::mem::take(&mut self.spare);
        spare.clear();
        let die = self.wiring.die(core, operation.die);
        let ftl = &self.ftls[core as usize];
        let mut is_to_tell = false;
        match operation.kind {
            OperationKind::Read { target, .. } => self.chips[die].spare_of(&target, 1, &mut spare),
            OperationKind::Copyback { from, .. } => {
                self.chips[die].spare_of(&from, self.config.sheet.pages_per_program(), &mut spare);
                aged.moved_units += u64::from(ftl.layout().units_per_program);
            }
            OperationKind::Program { .. } => {
                let [host, moved, padding] = ftl.carried(operation.die).map(u64::from);
                aged.host_units += host;
                aged.moved_units += moved;
                aged.padding_units += padding;
                is_to_tell = status == Status::Good && ftl.program_settings(operation.die).is_some();
            }
            OperationKind::Erase { .. } | OperationKind::Sanitise { .. } | OperationKind::Suspend | OperationKind::Resume => {}
        }
        let report = Report {
            tag: operation.tag,
            die: operation.die,
            status,
            corrected_bits: 0,
            loops: 0,
            retries: 0,
            entry: 0,
            array: Nanos::ZERO,
        };
        let ftl = &mut self.ftls[core as usize];
        ftl.suspend_refused(operation.die);
        ftl.die_ready(operation.die);
        if is_to_tell && let Some(trace) = self.chips[die].program_trace() {
            ftl.hear(trace);
        }
        ftl.report(now, &report, &spare);
        ftl.take_invalidated();
        while ftl.note().is_some() {}
        self.spare = spare;
    }

    /// What `request` asks of each core.
    fn parts_of(&self, request: &HostRequest, parts: &mut Vec<(u32, Request)>) {
        let end = request.sector + u64::from(request.sectors);
        let sectors = self.units.sectors();
        assert!(
            end <= self.config.exported_units * sectors,
            "a request ends at sector {end}, beyond the drive: the host edge must refuse it"
        );
        let (first, units) = self.units.touched(request.sector, request.sectors);
        parts.clear();
        parts.extend((0..self.config.cores).filter_map(|core| self.cut(request, core, first, units).map(|part| (core, part))));
    }

    /// Whether nothing is under way: no request, no operation, nothing in the buffer.
    pub fn is_quiet(&self) -> bool {
        self.host.outstanding == 0
            && self.expected.is_none()
            && self.ftls.iter().all(Ftl::is_quiet)
            && self.chips.iter().all(|(_, chip)| chip.is_at_rest(self.now()))
    }
}

const FLUSH: Request = Request {
    id: 0,
    op: HostOp::Flush,
    lpn: 0,
    units: 0,
    skip_head: 0,
    skip_tail: 0,
    priority: wordline_units::Priority::Normal,
    fua: false,
    insecure: false,
};
