//! Preconditioning: making a drive old without waiting for it.
//!
//! | way | what it does | cost |
//! |---|---|---|
//! | [`Drive::fill`] | declares the drive written once in order | nothing per unit |
//! | [`Drive::age`] | runs the firmware itself, every operation taking no time | some hundred ns per page |
//! | [`Drive::construct_steady`] | draws the state that uniform overwrites end in | some ten ns per unit |
//!
//! Ageing is not a second firmware: the same calls are made in the same order as in virtual time (submit, next operation, die ready, report), and the same
//! commands reach the same dies. What is missing is the calendar: operations end in the order in which they were ordered, as if all took equally
//! long. So host data is dealt to the dies as evenly as a saturated host would deal it, and a die that reclaims still falls behind.

use std::collections::VecDeque;

use wordline_chip::{Contents, Issued};
use wordline_flash::{Command, Operation, OperationKind, Origin, ReadOffsets, ReadTry, Report, Status, Stopped, Tally, Target};
use wordline_ftl::driver::{self, Driver};
use wordline_ftl::{Acknowledgement, Firmware, Request};
use wordline_units::{Bytes, Cause, HostOp, HostRequest, Nanos};

use crate::control::FlashPlace;
use crate::drive::Drive;
use crate::flash::{set_erase, set_program};
use crate::host::Trims;
use crate::tries::{Sensing, first_try, set_references};

/// Work that ageing did on the flash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Aged {
    /// Number of host requests taken in, all of them done.
    pub requests: u64,
    /// Number of units programmed for the host.
    pub host_units: u64,
    /// Number of units programmed again because they had to move.
    pub moved_units: u64,
    /// Number of program units that padding filled up.
    pub padding_units: u64,
    /// Number of pages read, planes and tries counted singly.
    pub page_reads: u64,
    /// Number of block groups erased.
    pub erases: u64,
    /// Number of page reads of whatever cause, without further tries.
    pub reads: u64,
    /// Number of tries of those after the first.
    pub retries: u64,
    /// Number of reads of the host that could not be corrected.
    pub failed_host_reads: u64,
    /// Number of reads of data to be moved or completed that could not be corrected.
    pub failed_moves: u64,
    /// The first page of those.
    pub failed_at: Option<FlashPlace>,
}

impl Aged {
    /// Number of units programmed, for whatever cause.
    pub fn programmed(&self) -> u64 {
        self.host_units + self.moved_units + self.padding_units
    }

    /// Units programmed for each unit that was programmed for the host. Writes that the buffer joins count once, and parts of units count as whole ones.
    pub fn waf(&self) -> f64 {
        self.programmed() as f64 / self.host_units as f64
    }
}

/// Operations ordered and not yet reported, oldest first.
type Line = VecDeque<(u32, Operation, Outcome)>;

/// Report of a die on an operation.
#[derive(Clone, Copy, Debug)]
struct Outcome {
    status: Status,
    /// Of a read: wrong bits in the worst codeword of the last try.
    errors: u32,
    /// Of a read: tries after the first, and the last one.
    retries: u32,
    last: ReadTry,
    /// Of a program or an erase: its loops.
    loops: u8,
    /// Of a read that is counted: the wrong bits of the last try.
    tally: Option<Tally>,
}

impl From<Issued> for Outcome {
    fn from(issued: Issued) -> Outcome {
        Outcome { status: issued.status, errors: issued.errors, retries: 0, last: ReadTry::DEFAULT, loops: issued.loops, tally: None }
    }
}

/// Number of parts of requests, and of pages of TRIMs that go page by page among them.
#[derive(Clone, Copy, Debug, Default)]
struct Done {
    parts: u32,
    pages: u32,
}

/// Id of the parts of a TRIM that goes page by page. Nobody asks for the others by name.
const PAGE: u32 = 1;

/// Driver of a core that is made old.
struct Ageing<'a> {
    drive: &'a mut Drive,
    core: u32,
    line: &'a mut Line,
    aged: &'a mut Aged,
    /// Number of parts of requests that the cores have acknowledged.
    done: Done,
}

impl Driver for Ageing<'_> {
    fn core(&mut self) -> &mut Firmware {
        &mut self.drive.ftls[self.core as usize]
    }

    fn now(&self) -> Nanos {
        self.drive.now()
    }

    fn carry_out(&mut self, operation: &Operation) {
        if let OperationKind::Suspend { .. } | OperationKind::Abort = operation.kind {
            // What takes no time cannot be stopped.
            let now = self.now();
            return self.core().stopped(now, operation.die, Stopped::Refused);
        }
        let outcome = self.drive.perform(self.core, operation, self.aged);
        self.line.push_back((self.core, *operation, outcome));
    }

    fn acknowledged(&mut self, done: Acknowledgement) {
        self.done.parts += 1;
        self.done.pages += u32::from(done.id == PAGE);
    }
}

impl Drive {
    /// Makes a new drive look as if the first `fraction` of it had been written once in order.
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
        let depth = self.ftls.iter().map(Firmware::buffer_room).sum::<u32>();
        let (mut outstanding, mut pages) = (0u32, 0u32);
        let (mut flushed, mut flushes, mut has_spoken) = (false, 0, false);
        loop {
            while !flushed {
                if waiting.is_none() && aged.requests < count && !self.is_worn_out() {
                    waiting = load.next();
                }
                let Some(request) = waiting else {
                    // Exhausted: write out what the buffer holds.
                    outstanding += self.config.cores;
                    for ftl in &mut self.ftls {
                        ftl.submit(now, FLUSH);
                    }
                    (flushed, flushes) = (true, flushes + 1);
                    break;
                };
                let by_page = request.op == HostOp::Trim && self.config.trims == Trims::ByPage;
                let sectors = if by_page { self.page_from(request.sector, request.sectors) } else { request.sectors };
                self.parts_of(&HostRequest { sectors, ..request }, &mut parts);
                let has_room =
                    |&(core, part): &(u32, Request)| request.op != HostOp::Write || self.ftls[core as usize].buffer_room() >= part.units;
                // A request that finds no room with nothing under way is bigger than the buffer, or completes what the buffer holds in part: the
                // firmware knows what to do.
                let is_stuck = line.is_empty() && has_spoken;
                // A page of a TRIM waits for the one before, as long as that goes on by itself.
                if !is_stuck && (outstanding >= depth || (by_page && pages > 0) || !parts.iter().all(has_room)) {
                    break;
                }
                outstanding += parts.len() as u32;
                for (core, part) in &mut parts {
                    if by_page {
                        (part.id, pages) = (PAGE, pages + 1);
                    }
                    self.ftls[*core as usize].submit(now, *part);
                }
                let left = request.sectors - sectors;
                waiting = (left > 0).then_some(HostRequest { sector: request.sector + u64::from(sectors), sectors: left, ..request });
                aged.requests += u64::from(left == 0);
                has_spoken = false;
            }
            let done = self.order(&mut line, &mut aged);
            (outstanding, pages) = (outstanding - done.parts, pages - done.pages);
            has_spoken = true;
            match line.pop_front() {
                Some((core, operation, outcome)) => {
                    self.conclude(now, core, &operation, &outcome, &mut aged);
                    has_spoken = false;
                }
                // A write that waited for room when the flush came was not covered by it.
                None if flushes == 1 && !self.is_worn_out() && !self.ftls.iter().all(Firmware::is_quiet) => flushed = false,
                None if flushed => break,
                None => {}
            }
        }
        assert!(outstanding == 0 || self.is_worn_out(), "{}", self.post_mortem("ageing ended with requests outstanding"));
        self.chips.iter_mut().for_each(|(_, chip)| chip.rest(now));
        aged
    }

    /// Parts of `request` for each core.
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

    /// True if no request and no operation is under way and the buffer is empty.
    pub fn is_quiet(&self) -> bool {
        self.host.outstanding == 0
            && self.expected.is_none()
            && self.ftls.iter().all(Firmware::is_quiet)
            && self.chips.iter().all(|(_, chip)| chip.is_at_rest(self.now()))
    }
}

impl Drive {
    /// Let the firmware do all that it wants done, with every operation taking no time. The drive must be quiet, and a drive that keeps bytes has no such time.
    pub(crate) fn work_without_time(&mut self) {
        let (now, mut aged, mut line) = (self.now(), Aged::default(), Line::new());
        loop {
            self.order(&mut line, &mut aged);
            let Some((core, operation, outcome)) = line.pop_front() else { break };
            self.conclude(now, core, &operation, &outcome, &mut aged);
        }
        self.chips.iter_mut().for_each(|(_, chip)| chip.rest(now));
    }

    /// Let every core order its operations. Returns the number of parts of requests that were acknowledged.
    fn order(&mut self, line: &mut Line, aged: &mut Aged) -> Done {
        let mut done = Done::default();
        for core in 0..self.config.cores {
            let mut ageing = Ageing { drive: self, core, line, aged, done };
            driver::converse(&mut ageing);
            done = ageing.done;
        }
        done
    }

    /// Perform `operation` at the die, by the die's own clock.
    fn perform(&mut self, core: u32, operation: &Operation, aged: &mut Aged) -> Outcome {
        let now = self.now();
        let Drive { chips, wiring, ftls, .. } = self;
        let (chip, ftl) = (&mut chips[wiring.die(core, operation.die)], &ftls[core as usize]);
        let mut at = chip.array_until().max(now);
        if let OperationKind::Program { is_set: true, .. } | OperationKind::Copyback { is_set: true, .. } = operation.kind
            && let Some(settings) = ftl.load(operation.die, operation.tag).settings
        {
            at = set_program(chip, settings, at);
        }
        if let OperationKind::Erase { is_set: true, .. } = operation.kind
            && let Some(settings) = ftl.erase_settings(operation.die)
        {
            at = set_erase(chip, settings, at);
        }
        match operation.kind {
            OperationKind::Read { target, bytes, first, tally, attributes: _ } => {
                self.read_through(core, operation, (target, bytes, first), tally, at, aged)
            }
            OperationKind::Program { target, bytes, .. } => {
                chip.transfer(Command::DataIn { bytes }, at, at);
                chip.program(Command::Program { target, cache: false }, at, ftl.load(operation.die, operation.tag).oob, Contents::NONE)
                    .into()
            }
            OperationKind::Erase { target, .. } => {
                aged.erases += 1;
                chip.issue(Command::Erase { target }, at).into()
            }
            OperationKind::Copyback { from, to, .. } => {
                let aimed = set_references(chip, 0, &ReadOffsets::NONE, at);
                chip.copy_back(from, to, aimed).into()
            }
            OperationKind::Sanitise { target, how } => chip.issue(Command::Sanitise { target, how }, at).into(),
            OperationKind::Suspend { .. } | OperationKind::Resume | OperationKind::Abort => unreachable!("nothing is suspended"),
        }
    }

    /// Read a page from `at` on, trying again as the firmware says until it can be corrected or nothing is left to try.
    fn read_through(
        &mut self,
        core: u32,
        operation: &Operation,
        (target, bytes, first): (Target, Bytes, ReadTry),
        counts: bool,
        mut at: Nanos,
        aged: &mut Aged,
    ) -> Outcome {
        let now = self.now();
        let die = self.wiring.die(core, operation.die);
        let Drive { chips, ftls, tries, config, read_levels, read_times, .. } = self;
        let (chip, tries) = (&mut chips[die], &mut tries[die]);
        if *read_times > 1 {
            // What the firmware reads by itself it reads once.
            chip.reads_stand_for(if operation.cause == Cause::Host { *read_times } else { 1 });
        }
        tries.clear();
        let (mut retries, mut last) = (0, first_try(first, *read_levels, &config.read_sets));
        loop {
            let from = tries.aim(chip, last, &config.read_sets, at);
            let issued = chip.issue(Command::Read { target, cache: false }, from);
            at = issued.ready_at;
            chip.transfer(Command::DataOut { bytes }, at, at);
            aged.page_reads += u64::from(target.planes.len());
            let outcome = Outcome { retries, last, ..Outcome::from(issued) };
            if issued.status != Status::Uncorrectable {
                return Outcome { tally: if counts { chip.tally(&target) } else { None }, ..outcome };
            }
            let of = Sensing { target: &target, last, errors: issued.errors, now: at };
            let Some(next) = tries.next(chip, &of, config.search, |failed| ftls[core as usize].next_try(now, operation.tag, failed)) else {
                chip.read_failed(&target);
                return outcome;
            };
            (retries, last) = (retries + 1, next);
        }
    }

    /// Tell the firmware that `operation` has ended.
    fn conclude(&mut self, now: Nanos, core: u32, operation: &Operation, outcome: &Outcome, aged: &mut Aged) {
        let &Outcome { status, errors, retries, last, loops, tally } = outcome;
        let mut spare = std::mem::take(&mut self.spare);
        spare.clear();
        let die = self.wiring.die(core, operation.die);
        let (mut program, mut erase) = (None, None);
        match operation.kind {
            OperationKind::Read { target, .. } => {
                self.chips[die].spare_of(&target, 1, &mut spare);
                (aged.reads, aged.retries) = (aged.reads + 1, aged.retries + u64::from(retries));
                if status == Status::Uncorrectable {
                    let failed = if operation.cause == Cause::Host { &mut aged.failed_host_reads } else { &mut aged.failed_moves };
                    *failed += 1;
                    aged.failed_at = aged.failed_at.or(target.planes.first_plane().map(|plane| FlashPlace {
                        die,
                        plane,
                        block: target.block(plane),
                        page: target.page,
                        unit: 0,
                    }));
                }
            }
            OperationKind::Copyback { from, .. } => {
                self.chips[die].spare_of(&from, self.config.sheet.pages_per_program(), &mut spare);
                aged.moved_units += u64::from(self.ftls[core as usize].layout().units_per_program);
            }
            OperationKind::Program { origin: Origin { host, moved, padding }, is_set, .. } => {
                aged.host_units += u64::from(host);
                aged.moved_units += u64::from(moved);
                aged.padding_units += u64::from(padding);
                if status == Status::Good && is_set {
                    program = self.chips[die].program_trace();
                }
            }
            OperationKind::Erase { is_traced, .. } => {
                let able = self.config.sheet.capabilities.erase_trace;
                erase = if is_traced && able && status == Status::Good { self.chips[die].erase_trace() } else { None };
            }
            OperationKind::Sanitise { .. } | OperationKind::Suspend { .. } | OperationKind::Resume | OperationKind::Abort => {}
        }
        let plain = Report::plain(operation.tag, operation.die, status, &spare);
        let no_answer = status != Status::Good && self.chips[die].is_silent();
        let report = Report { no_answer, corrected_bits: errors, loops, retries, last, tally, erase, program: program.as_ref(), ..plain };
        driver::ended(&mut self.ftls[core as usize], now, &report);
        self.spare = spare;
    }
}

const FLUSH: Request = Request {
    id: 0,
    op: HostOp::Flush,
    lpn: 0,
    units: 0,
    skip_head: 0,
    skip_tail: 0,
    attributes: wordline_units::Attributes::NONE,
    fua: false,
};
