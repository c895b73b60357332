//! Preconditioning: making a drive old without waiting for it.
//!
//! | way | what it does | cost |
//! |---|---|---|
//! | [`crate::Drive::fill`] | declares the drive written once in order | nothing per unit |
//! | [`crate::Drive::age`] | runs the firmware itself, every operation taking no time | some hundred ns per page |
//! | [`crate::Drive::construct_steady`] | draws the state that uniform overwrites end in | some ten ns per unit |
//!
//! Ageing is not a second firmware: the same calls are made in the same order as in virtual time (submit, next operation, die ready, report), and the same
//! commands reach the same dies. What is missing is the calendar: operations end in the order in which they were ordered, as if all took equally
//! long. So host data is dealt to the dies as evenly as a saturated host would deal it, and a die that reclaims still falls behind.

use std::collections::VecDeque;

use wordline_chip::{Contents, Issued};
use wordline_flash::{Command, Operation, OperationKind, Origin, ReadOffsets, ReadTry, Report, Status, Stopped, Tally};
use wordline_ftl::driver::{self, Driver};
use wordline_ftl::{Acknowledgement, Firmware, Request};
use wordline_units::{Cause, HostOp, HostRequest, Lpn, Nanos};

use super::inspect::is_worn_out;
use super::rest::is_quiet;
use crate::config::Trims;
use crate::device::registers::{set_erase, set_program};
use crate::device::tries::{Sensing, first_try, set_references};
use crate::machine::{Machine, Parts};
use crate::place::FlashPlace;

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

/// Operations ordered and not yet reported, oldest first. One without an outcome is a program that its die does after the one before it has been reported.
type Line = VecDeque<(u32, Operation, Option<Outcome>)>;

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
    parts: Parts<'a>,
    now: Nanos,
    core: u32,
    line: &'a mut Line,
    work: &'a mut Work,
    /// Number of parts of requests that the cores have acknowledged.
    done: Done,
}

/// Work that ageing has done, and the way in which it does it.
#[derive(Clone, Copy, Debug)]
struct Work {
    aged: Aged,
    /// Number of reads that each read of the host stands for.
    read_times: u32,
}

impl Driver for Ageing<'_> {
    fn core(&mut self) -> &mut Firmware {
        &mut self.parts.ftls[self.core as usize]
    }

    fn now(&self) -> Nanos {
        self.now
    }

    fn carry_out(&mut self, operation: &Operation) {
        if let OperationKind::Suspend { .. } | OperationKind::Abort = operation.kind {
            // An operation that takes no time cannot be stopped.
            let now = self.now();
            return self.core().stopped(now, operation.die, Stopped::Refused);
        }
        // Programs alone are ordered one behind the other on a die.
        let is_behind = matches!(operation.kind, OperationKind::Program { is_cached: true, .. })
            && self.line.iter().any(|(core, before, _)| (*core, before.die) == (self.core, operation.die));
        let outcome = if is_behind { None } else { Some(perform(&mut self.parts, self.now, self.core, operation, self.work)) };
        self.line.push_back((self.core, *operation, outcome));
    }

    fn acknowledged(&mut self, done: Acknowledgement) {
        self.done.parts += 1;
        self.done.pages += u32::from(done.id == PAGE);
    }
}

/// Requests on their way into a drive that is made old.
struct Intake<'a> {
    load: &'a mut dyn Iterator<Item = HostRequest>,
    count: u64,
    /// Request that has not been taken in, or the rest of it.
    waiting: Option<HostRequest>,
    parts: Vec<(u32, Request)>,
    /// Most parts that are outstanding: reads take no room in the buffer, so they need a bound of their own.
    depth: u32,
    outstanding: u32,
    /// Pages of TRIMs that go page by page.
    pages: u32,
    is_flushed: bool,
    flushes: u32,
    has_spoken: bool,
}

impl Intake<'_> {
    /// Submit requests while the cores of `machine` have room, then the flush. `is_idle`: nothing is under way.
    fn submit(&mut self, machine: &mut Machine, is_idle: bool, aged: &mut Aged) {
        let now = machine.now();
        while !self.is_flushed {
            if self.waiting.is_none() && aged.requests < self.count && !is_worn_out(machine) {
                self.waiting = self.load.next();
            }
            let Some(request) = self.waiting else {
                // Exhausted: write out the content of the buffer.
                self.outstanding += machine.config().cores;
                for ftl in machine.ftls_mut() {
                    ftl.submit(now, FLUSH);
                }
                (self.is_flushed, self.flushes) = (true, self.flushes + 1);
                break;
            };
            let by_page = request.op == HostOp::Trim && machine.config().trims == Trims::ByPage;
            let sectors = if by_page { machine.host().page_from(request.sector, request.sectors) } else { request.sectors };
            parts_of(machine, &HostRequest { sectors, ..request }, &mut self.parts);
            let has_room =
                |&(core, part): &(u32, Request)| request.op != HostOp::Write || machine.ftls()[core as usize].buffer_room() >= part.units;
            // A request that finds no room with nothing under way is bigger than the buffer, or completes what the buffer holds in part: the firmware has an
            // answer to it.
            let is_stuck = is_idle && self.has_spoken;
            // A page of a TRIM waits for the one before, as long as that goes on by itself.
            if !is_stuck && (self.outstanding >= self.depth || (by_page && self.pages > 0) || !self.parts.iter().all(has_room)) {
                break;
            }
            self.outstanding += self.parts.len() as u32;
            for (core, part) in &mut self.parts {
                if by_page {
                    (part.id, self.pages) = (PAGE, self.pages + 1);
                }
                machine.ftls_mut()[*core as usize].submit(now, *part);
            }
            let left = request.sectors - sectors;
            self.waiting = (left > 0).then_some(HostRequest { sector: request.sector + u64::from(sectors), sectors: left, ..request });
            aged.requests += u64::from(left == 0);
            self.has_spoken = false;
        }
    }
}

/// Lets the firmware serve up to `count` requests of `load` with every flash operation taking no time, then writes out the buffer: see [`crate::Drive::age`].
/// Each read of the host stands for `read_times`.
///
/// # Panics
/// If the drive is not quiet, or if a request ends beyond it.
pub(crate) fn age(machine: &mut Machine, load: &mut dyn Iterator<Item = HostRequest>, count: u64, read_times: u32) -> Aged {
    assert!(is_quiet(machine), "only a quiet drive can be aged: settle it first");
    let now = machine.now();
    let (mut work, mut line) = (Work { aged: Aged::default(), read_times }, Line::new());
    let mut intake = Intake {
        load,
        count,
        waiting: None,
        parts: Vec::new(),
        depth: machine.ftls().iter().map(Firmware::buffer_room).sum::<u32>(),
        outstanding: 0,
        pages: 0,
        is_flushed: false,
        flushes: 0,
        has_spoken: false,
    };
    let mut spare = Vec::new();
    loop {
        intake.submit(machine, line.is_empty(), &mut work.aged);
        let done = order(machine, &mut line, &mut work);
        (intake.outstanding, intake.pages) = (intake.outstanding - done.parts, intake.pages - done.pages);
        intake.has_spoken = true;
        match line.pop_front() {
            Some(next) => {
                conclude(machine.parts(), now, next, (&mut work, &mut spare));
                intake.has_spoken = false;
            }
            // A write that waited for room when the flush came was not covered by it.
            None if intake.flushes == 1 && !is_worn_out(machine) && !machine.ftls().iter().all(Firmware::is_quiet) => {
                intake.is_flushed = false;
            }
            None if intake.is_flushed => break,
            None => {}
        }
    }
    let outstanding = intake.outstanding;
    assert!(outstanding == 0 || is_worn_out(machine), "{}", machine.post_mortem("ageing ended with requests outstanding"));
    machine.dies_mut().iter_mut().for_each(|(_, chip)| chip.rest(now));
    work.aged
}

/// Parts of `request` for each core.
fn parts_of(machine: &Machine, request: &HostRequest, parts: &mut Vec<(u32, Request)>) {
    let (config, host) = (machine.config(), machine.host());
    let end = request.sector + u64::from(request.sectors);
    assert!(
        end <= config.exported_units * host.units().sectors(),
        "a request ends at sector {end}, beyond the drive: the host edge must refuse it"
    );
    let (first, units) = host.units().touched(request.sector, request.sectors);
    parts.clear();
    parts.extend((0..config.cores).filter_map(|core| host.cut(request, core, first, units).map(|part| (core, part))));
}

/// Lets the firmware do all that it wants done, with every operation taking no time. The drive must be quiet, and a drive that keeps bytes has no such time.
pub(crate) fn work_without_time(machine: &mut Machine) {
    let (now, mut line, mut spare) = (machine.now(), Line::new(), Vec::new());
    let mut work = Work { aged: Aged::default(), read_times: 1 };
    loop {
        order(machine, &mut line, &mut work);
        let Some(next) = line.pop_front() else { break };
        conclude(machine.parts(), now, next, (&mut work, &mut spare));
    }
    machine.dies_mut().iter_mut().for_each(|(_, chip)| chip.rest(now));
}

/// Let every core order its operations. Returns the number of parts of requests that were acknowledged.
fn order(machine: &mut Machine, line: &mut Line, work: &mut Work) -> Done {
    let mut done = Done::default();
    let now = machine.now();
    for core in 0..machine.config().cores {
        let mut ageing = Ageing { parts: machine.parts(), now, core, line, work, done };
        driver::converse(&mut ageing);
        done = ageing.done;
    }
    done
}

/// Perform `operation` at the die, by the die's own clock.
fn perform(parts: &mut Parts<'_>, now: Nanos, core: u32, operation: &Operation, work: &mut Work) -> Outcome {
    let ftl = &parts.ftls[core as usize];
    let chip = parts.device.dies_mut().of_mut(core, operation.die);
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
        OperationKind::Read { .. } => read_through(parts, (now, at), core, operation, work),
        OperationKind::Program { target, bytes, .. } => {
            chip.transfer(Command::DataIn { bytes }, at, at);
            chip.program(Command::Program { target, cache: false }, at, ftl.load(operation.die, operation.tag).oob, Contents::NONE).into()
        }
        OperationKind::Erase { target, .. } => {
            work.aged.erases += 1;
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

/// Carry out the read that `operation` is from `at` on, trying again as the firmware chooses until it can be corrected or nothing is left to try.
fn read_through(parts: &mut Parts<'_>, (now, mut at): (Nanos, Nanos), core: u32, operation: &Operation, work: &mut Work) -> Outcome {
    let OperationKind::Read { target, bytes, first, tally: is_counted, .. } = operation.kind else { unreachable!("it is a read") };
    let Parts { config, ftls, device, .. } = parts;
    let die = device.dies().die(core, operation.die);
    let (dies, tries) = device.dies_and_tries(die);
    let levels = dies.levels();
    let chip = &mut dies[die];
    if work.read_times > 1 {
        // A page that the firmware reads by itself it reads once.
        chip.reads_stand_for(if operation.cause == Cause::Host { work.read_times } else { 1 });
    }
    tries.clear();
    let (mut retries, mut last) = (0, first_try(first, levels, &config.read_sets));
    loop {
        let from = tries.aim(chip, last, &config.read_sets, at);
        let issued = chip.issue(Command::Read { target, cache: false }, from);
        at = issued.ready_at;
        chip.transfer(Command::DataOut { bytes }, at, at);
        work.aged.page_reads += u64::from(target.planes.len());
        let outcome = Outcome { retries, last, ..Outcome::from(issued) };
        if issued.status != Status::Uncorrectable {
            return Outcome { tally: if is_counted { chip.tally(&target) } else { None }, ..outcome };
        }
        let of = Sensing { target: &target, last, errors: issued.errors, now: at };
        let next = if tries.search_on(chip, &of) {
            Some(ReadTry::SEARCH)
        } else {
            let next = ftls[core as usize].next_try(now, operation.tag, &tries.failed(&of));
            tries.answered(next, chip.references_of(target.page), config.search);
            next
        };
        let Some(next) = next else {
            chip.read_failed(&target);
            return outcome;
        };
        (retries, last) = (retries + 1, next);
    }
}

/// Report to the firmware that `operation` of `core` has ended, which is carried out by now unless it has an outcome. `spare`: scratch list.
fn conclude(
    mut parts: Parts<'_>,
    now: Nanos,
    (core, operation, outcome): (u32, Operation, Option<Outcome>),
    (work, spare): (&mut Work, &mut Vec<Lpn>),
) {
    let outcome = outcome.unwrap_or_else(|| perform(&mut parts, now, core, &operation, work));
    let (Outcome { status, errors, retries, last, loops, tally }, aged) = (outcome, &mut work.aged);
    let Parts { config, ftls, device, .. } = parts;
    let (ftl, dies) = (&mut ftls[core as usize], device.dies_mut());
    spare.clear();
    let die = dies.die(core, operation.die);
    let chip = &mut dies[die];
    let (mut program, mut erase) = (None, None);
    match operation.kind {
        OperationKind::Read { target, .. } => {
            chip.spare_of(&target, 1, spare);
            (aged.reads, aged.retries) = (aged.reads + 1, aged.retries + u64::from(retries));
            if status == Status::Uncorrectable {
                let failed = if operation.cause == Cause::Host { &mut aged.failed_host_reads } else { &mut aged.failed_moves };
                *failed += 1;
                let at = |plane| FlashPlace { die, plane, block: target.block(plane), page: target.page, unit: 0 };
                aged.failed_at = aged.failed_at.or(target.planes.first_plane().map(at));
            }
        }
        OperationKind::Copyback { from, .. } => {
            chip.spare_of(&from, config.sheet.pages_per_program(), spare);
            aged.moved_units += u64::from(ftl.layout().units_per_program);
        }
        OperationKind::Program { origin: Origin { host, moved, padding }, is_set, .. } => {
            aged.host_units += u64::from(host);
            aged.moved_units += u64::from(moved);
            aged.padding_units += u64::from(padding);
            if status == Status::Good && is_set {
                program = chip.program_trace();
            }
        }
        OperationKind::Erase { is_traced, .. } => {
            let able = config.sheet.capabilities.erase_trace;
            erase = if is_traced && able && status == Status::Good { chip.erase_trace() } else { None };
        }
        OperationKind::Sanitise { .. } | OperationKind::Suspend { .. } | OperationKind::Resume | OperationKind::Abort => {}
    }
    let plain = Report::plain(operation.tag, operation.die, status, spare);
    let no_answer = status != Status::Good && chip.is_silent();
    let report = Report { no_answer, corrected_bits: errors, loops, retries, last, tally, erase, program: program.as_ref(), ..plain };
    driver::ended(ftl, now, &report);
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
