//! The device: a controller carries out the orders of the firmware on dies, from an order to its report.
//!
//! ```text
//!   order ─► Controller::issue ─► calendar ─► Controller::due ─► … ─► Outcome ─► Controller::end ─► event, report
//! ```
//!
//! Each kind of operation has a file: [`read`], [`program`], [`erase`], [`copyback`]; [`stop`] is what stops them. The controller asks the firmware nothing:
//! an order brings all that belongs to it, and a step that needs an answer returns the question.

mod board;
mod classes;
mod copyback;
pub(crate) mod dies;
mod end;
mod erase;
mod head;
mod outcome;
mod parked;
mod paths;
mod program;
mod read;
pub(crate) mod registers;
mod stop;
mod table;
pub(crate) mod tries;
mod wiring;

use wordline_chip::{DieFault, Probe};
use wordline_engine::{Calendar, FlashEvent};
use wordline_flash::{Command, EraseSettings, Failed, Feature, Operation, OperationKind, ProgramSettings, ReadTry, Status, Stop};
use wordline_units::{Bytes, Cause, DieId, FlashOp, Nanos, OpTag};

use crate::config::Config;
use crate::due::{Due, OpSlot, Step};
use board::{Board, work_until};
use copyback::Copyback;
use dies::Dies;
pub(crate) use end::Ended;
use end::Fetched;
use head::{Head, StopStage, Telling};
pub(crate) use outcome::Outcome;
pub(crate) use paths::Passed;
use program::Program;
pub(crate) use program::{Load, Place};
pub(crate) use read::Page;
use read::{Left, Read};
pub(crate) use stop::Halt;
use table::{Kind, Table, UnderWay};
use tries::Tries;

/// The part of an order that stays with the firmware.
#[derive(Debug)]
pub(crate) enum Brings<'a> {
    /// Orders that bring nothing with them.
    Nothing,
    /// Settings of the program of a copyback.
    Program(&'a ProgramSettings),
    /// Settings of an erase.
    Erase(&'a EraseSettings),
}

/// The question how a read is tried again that error correction could not mend.
#[derive(Debug)]
pub(crate) struct Question<'a> {
    pub(crate) core: u32,
    pub(crate) tag: OpTag,
    pub(crate) failed: Failed<'a>,
}

/// Name of an operation under way, as its core gave it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Name {
    pub(crate) core: u32,
    pub(crate) local: DieId,
    pub(crate) tag: OpTag,
}

/// The controller of all dies.
#[derive(Debug)]
pub(crate) struct Controller {
    board: Board,
    table: Table,
    fetched: Fetched,
}

impl Controller {
    /// Creates a controller of these `dies`, in which nothing is under way.
    pub(crate) fn new(config: &Config, dies: Dies) -> Controller {
        Controller { table: Table::new(dies.len()), board: Board::new(config, dies), fetched: Fetched::default() }
    }

    /// The dies.
    #[inline]
    pub(crate) fn dies(&self) -> &Dies {
        &self.board.dies
    }

    /// The dies.
    #[inline]
    pub(crate) fn dies_mut(&mut self) -> &mut Dies {
        &mut self.board.dies
    }

    /// The dies, and the tries of a read that keeps `die`.
    pub(crate) fn dies_and_tries(&mut self, die: DieId) -> (&mut Dies, &mut Tries) {
        let Board { dies, tries, .. } = &mut self.board;
        (dies, &mut tries[die])
    }

    /// The dies, without the controller.
    pub(crate) fn into_dies(self) -> Dies {
        self.board.dies
    }

    /// Occupies `core` for `span`. Returns the instant at which it is through.
    #[inline]
    pub(crate) fn occupy_core(&mut self, core: u32, now: Nanos, span: Nanos) -> Nanos {
        self.board.occupy_core(core, now, span)
    }

    /// Moves `bytes` of a write from the host into the memory of the firmware.
    #[inline]
    pub(crate) fn use_from_host(&mut self, now: Nanos, bytes: Bytes) -> Passed {
        self.board.paths.use_from_host(now, bytes)
    }

    /// Moves `bytes` of a read from the memory of the firmware to the host.
    #[inline]
    pub(crate) fn use_to_host(&mut self, now: Nanos, bytes: Bytes) -> Passed {
        self.board.paths.use_to_host(now, bytes)
    }

    /// Notes that power is lost: no step under way comes to its end any more.
    pub(crate) fn go_dark(&mut self) {
        self.board.is_dark = true;
    }

    /// True if `die` is busy with a program, an erase, a copyback or a sanitisation.
    pub(crate) fn is_working(&self, die: DieId) -> bool {
        self.table.present(die) != OpSlot::NONE
    }

    /// Carries out the `operation` of `core`, which is neither a read nor a program that begins at once, with the part of it that stays with the firmware.
    pub(crate) fn issue(
        &mut self,
        now: Nanos,
        (core, operation): (u32, &Operation),
        brings: Brings<'_>,
        calendar: &mut Calendar<Due>,
    ) -> Outcome {
        let Controller { board, table, .. } = self;
        let die = board.dies.die(core, operation.die);
        match operation.kind {
            OperationKind::Suspend { stop } => return stop::suspend(now, die, stop, table, board, calendar),
            OperationKind::Resume => stop::resume(now, die, table, board, calendar),
            OperationKind::Abort => return stop::abort(now, die, operation.tag, table, board, calendar),
            OperationKind::Program { target, bytes, origin, .. } => {
                self.program_behind(now, core, operation, &Place { target: &target, bytes, origin }, calendar);
            }
            OperationKind::Erase { target, is_traced, .. } => {
                let (op, attempt) = table.open();
                let begun = board.begin(now, core, die, attempt);
                let settings = if let Brings::Erase(settings) = brings { Some(settings) } else { None };
                let (head, until) = erase::erase(board, &begun, operation, (target, is_traced), settings);
                self.work(op, head, Kind::Array, until, calendar);
            }
            OperationKind::Sanitise { target, how } => {
                let (op, attempt) = table.open();
                let begun = board.begin(now, core, die, attempt);
                let (head, until) = erase::sanitise(board, &begun, operation, (target, how));
                self.work(op, head, Kind::Array, until, calendar);
            }
            OperationKind::Copyback { from, to, .. } => {
                let (op, attempt) = table.open();
                let begun = board.begin(now, core, die, attempt);
                let settings = if let Brings::Program(settings) = brings { Some(settings) } else { None };
                let (head, copyback, set) = Copyback::begin(board, &begun, operation, (from, to), settings);
                table.put(op, head, Kind::Copyback(copyback));
                table.occupy(die, op);
                let (head, copyback) = table.copyback(op);
                copyback.sense_source(set, op, 0, head, board, calendar);
            }
            OperationKind::Read { .. } => unreachable!("carried out by itself"),
        }
        Outcome::Nothing
    }

    /// Carries out the read of `page` that `core` has ordered.
    #[inline]
    pub(crate) fn read(&mut self, now: Nanos, (core, operation): (u32, &Operation), page: &Page<'_>, calendar: &mut Calendar<Due>) {
        let Controller { board, table, .. } = self;
        let die = board.dies.die(core, operation.die);
        if let Some((op, tries)) = table.take_parked(core, operation.tag) {
            return self.go_on(now, op, page.bytes, tries, calendar);
        }
        // Reads of garbage collection go through a block page by page, and what is known of it is in the processor's cache.
        if operation.cause == Cause::Host {
            board.dies[die].prefetch(page.target);
        }
        let (op, attempt) = table.open();
        let begun = board.begin(now, core, die, attempt);
        let (head, read) = Read::begin(board, &begun, operation, page);
        let sensed = read.sensed();
        table.put(op, head, Kind::Read(read));
        calendar.enter(sensed, Due::Device(Step::Sensed { op, attempt }));
    }

    /// Carries out the program of `place` that `core` has ordered, and which begins at once.
    #[inline]
    pub(crate) fn program(
        &mut self,
        now: Nanos,
        (core, operation): (u32, &Operation),
        place: &Place<'_>,
        load: Load<'_>,
        calendar: &mut Calendar<Due>,
    ) {
        let Controller { board, table, .. } = self;
        let (op, attempt) = table.open();
        let begun = board.begin(now, core, board.dies.die(core, operation.die), attempt);
        let (head, program, until) = Program::begin(board, &begun, operation, place, load);
        self.work(op, head, Kind::Program(program), until, calendar);
    }

    /// Carry out a program of `place` during which the die can take in the data of another.
    #[cold]
    #[inline(never)]
    fn program_behind(&mut self, now: Nanos, core: u32, operation: &Operation, place: &Place<'_>, calendar: &mut Calendar<Due>) {
        let Controller { board, table, .. } = self;
        let die = board.dies.die(core, operation.die);
        let (op, attempt) = table.open();
        let begun = board.begin(now, core, die, attempt);
        let (head, program) = Program::wait(board, &begun, operation, place);
        table.put(op, head, Kind::Program(program));
        let present = table.present(die);
        if present == OpSlot::NONE {
            table.occupy(die, op);
        } else {
            table.follow(die, op);
            // A program whose own data is not in yet calls the next when it begins.
            if matches!(&table.at(present).kind, Kind::Program(program) if !program.has_begun()) {
                return;
            }
        }
        program.call_in(begun.start, op, &head, board, calendar);
    }

    /// Occupy the array of the die of `head` until `until` with what is put at `op`.
    #[inline(always)]
    fn work(&mut self, op: OpSlot, head: Head, kind: Kind, until: Nanos, calendar: &mut Calendar<Due>) {
        self.table.occupy(head.die(), op);
        work_until(calendar, until, op, &head);
        self.table.put(op, head, kind);
    }

    /// Takes the step that has become due.
    #[inline(always)]
    pub(crate) fn due(&mut self, now: Nanos, step: Step, calendar: &mut Calendar<Due>) -> Outcome {
        match step {
            Step::Sensed { op, attempt } => self.sensed(now, op, attempt, calendar),
            Step::Transferred { op } => self.transferred(now, op, calendar),
            Step::Read { op } => Outcome::Ended { op, frees: false, next: OpSlot::NONE },
            Step::ArrayDone { op, attempt } => self.array_done(now, op, attempt, calendar),
            Step::Retry { op } => {
                self.table.read(op).1.count_failed(now);
                Outcome::MayYield { op }
            }
            Step::LoadNext { op } => {
                let (head, program) = self.table.program(op);
                program.load_next(now, op, head, &mut self.board, calendar);
                Outcome::Nothing
            }
            Step::Loaded { op } => {
                let (head, program) = self.table.program(op);
                program.loaded();
                let die = head.die();
                if self.table.present(die) == op { Outcome::Loaded { op } } else { Outcome::Nothing }
            }
            Step::Copied { op, attempt } => self.copied(now, op, attempt, calendar),
            Step::TrySuspend { op, attempt } => stop::try_suspend(now, (op, attempt), &mut self.table, &mut self.board, calendar),
            Step::Suspended { op, attempt } if self.table.at(op).head.attempt == attempt => Outcome::Held { op },
            Step::Suspended { .. } => Outcome::Nothing,
            Step::Aborted { op } => Outcome::Aborted { op },
        }
    }

    /// Transfer a page that has been sensed.
    #[inline]
    fn sensed(&mut self, now: Nanos, op: OpSlot, attempt: u16, calendar: &mut Calendar<Due>) -> Outcome {
        let UnderWay { head, kind } = self.table.at_mut(op);
        if head.attempt != attempt {
            return Outcome::Nothing;
        }
        if head.status == Status::Uncorrectable {
            return self.not_corrected(now, op, calendar);
        }
        let Kind::Read(read) = kind else { unreachable!("only a read is sensed") };
        read.transfer(now, op, head, &mut self.board, calendar);
        Outcome::Nothing
    }

    /// Go on with the read at `op`, which is sensed by its time and cannot be corrected.
    #[inline(never)]
    fn not_corrected(&mut self, now: Nanos, op: OpSlot, calendar: &mut Calendar<Due>) -> Outcome {
        let Controller { board, table, .. } = self;
        let (head, read) = table.read(op);
        if board.dies[head.die()].is_silent() {
            if head.no_answer {
                read.give_up(now);
                return Outcome::Ended { op, frees: true, next: OpSlot::NONE };
            }
            let until = board.wait_in_vain(now, head);
            calendar.enter(until, Due::Device(Step::Sensed { op, attempt: head.attempt }));
            return Outcome::Nothing;
        }
        if read.ask(now, head, board).is_some() {
            return Outcome::Failed { op };
        }
        read.transfer(now, op, head, board, calendar);
        Outcome::Nothing
    }

    /// The question how the read at `op`, which has just failed, is tried again.
    #[inline(never)]
    pub(crate) fn question(&mut self, op: OpSlot) -> Question<'_> {
        let (head, read) = self.table.read(op);
        let &mut Head { core, tag, event: FlashEvent { die, .. }, .. } = head;
        Question { core, tag, failed: self.board.tries[die].question(read.errors) }
    }

    /// Takes the answer to the question how the read at `op` is tried again; `None`: it fails.
    #[inline(never)]
    pub(crate) fn answer(&mut self, now: Nanos, op: OpSlot, next: Option<ReadTry>, calendar: &mut Calendar<Due>) {
        let (head, read) = self.table.read(op);
        read.answered(next, head, &mut self.board);
        read.transfer(now, op, head, &mut self.board, calendar);
    }

    /// End the transfer of a page: the die is free again, unless the read is tried again.
    #[inline]
    fn transferred(&mut self, now: Nanos, op: OpSlot, calendar: &mut Calendar<Due>) -> Outcome {
        let (head, read) = self.table.read(op);
        match read.leave(now, op, head, &mut self.board, calendar) {
            Left::TriesAgain => Outcome::Nothing,
            Left::Corrects => Outcome::Free { core: head.core, local: head.local },
            Left::Ended => Outcome::Ended { op, frees: true, next: OpSlot::NONE },
        }
    }

    /// Senses the page of the read at `op` once more. The die was kept for it.
    pub(crate) fn sense_again(&mut self, now: Nanos, op: OpSlot, calendar: &mut Calendar<Due>) {
        let (head, read) = self.table.read(op);
        read.sense_again(now, op, head, &mut self.board, calendar);
    }

    /// Go on with the read of `bytes` at `op`, which had left its die and is ordered again after these `tries`.
    #[cold]
    fn go_on(&mut self, now: Nanos, op: OpSlot, bytes: Bytes, tries: Tries, calendar: &mut Calendar<Due>) {
        let Controller { board, table, .. } = self;
        let (head, read) = table.read(op);
        let (cost, start) = board.take_order(head.core, now);
        head.event.core += cost;
        read.go_on(bytes, tries, head, board);
        read.sense_again(start, op, head, board, calendar);
    }

    /// End the work of an array.
    #[inline]
    fn array_done(&mut self, now: Nanos, op: OpSlot, attempt: u16, calendar: &mut Calendar<Due>) -> Outcome {
        let head = &self.table.at(op).head;
        if head.attempt != attempt {
            return Outcome::Nothing;
        }
        let die = head.die();
        if (head.telling == Telling::ToAsk || head.status != Status::Good) && self.goes_on(now, op, calendar) {
            return Outcome::Nothing;
        }
        let Controller { board, table, .. } = self;
        // After a power cut on demand nothing that is under way comes to its end. Dies that keep no bytes have nothing to end.
        if board.keeps_bytes && !board.is_dark {
            board.dies[die].end(now);
        }
        Outcome::Ended { op, frees: true, next: table.end_work(die) }
    }

    /// True if the operation at `op`, whose array is done by its time, goes on: the die is asked how it went, or never answers.
    #[cold]
    fn goes_on(&mut self, now: Nanos, op: OpSlot, calendar: &mut Calendar<Due>) -> bool {
        let Controller { board, table, .. } = self;
        let under_way = table.at_mut(op);
        let head = &mut under_way.head;
        if head.telling == Telling::ToAsk && head.status == Status::Good {
            // The program stays the die's business until it has told how it went.
            let feature = if head.event.op == FlashOp::Erase { Feature::EraseTrace } else { Feature::ProgramTrace };
            let (chip, ask) = (board.chip(head), Command::GetFeature { feature });
            // The data of the next program may be on its way into the die.
            let from = if let Probe::Blocked { until } = chip.probe(&ask, now) { until } else { now };
            let told = chip.issue(ask, from).ready_at;
            head.telling = Telling::Asked;
            head.event.array += told - from;
            work_until(calendar, told, op, head);
            return true;
        }
        if head.status == Status::Failed && board.dies[head.die()].is_silent() && !head.no_answer {
            self.wait_for_silent(now, op, calendar);
            return true;
        }
        false
    }

    /// Wait for the die of the program, erase, copyback or sanitisation at `op`, which never ends it, and then for a reset of it.
    #[cold]
    fn wait_for_silent(&mut self, now: Nanos, op: OpSlot, calendar: &mut Calendar<Due>) {
        let under_way = self.table.at_mut(op);
        if let Kind::Copyback(copyback) = &mut under_way.kind {
            copyback.give_up_parts();
        }
        let head = &mut under_way.head;
        let until = self.board.wait_in_vain(now, head);
        head.status = Status::Failed;
        work_until(calendar, until, op, head);
    }

    /// End a part of a copyback: the next one begins, or the copyback is held for a read.
    fn copied(&mut self, now: Nanos, op: OpSlot, attempt: u16, calendar: &mut Calendar<Due>) -> Outcome {
        let head = &self.table.at(op).head;
        if head.attempt != attempt || self.board.is_dark {
            return Outcome::Nothing;
        }
        if self.board.dies[head.die()].is_silent() {
            self.wait_for_silent(now, op, calendar);
            return Outcome::Nothing;
        }
        if head.stopping.stage == StopStage::Waiting {
            return Outcome::Held { op };
        }
        let (head, copyback) = self.table.copyback(op);
        copyback.go_on(now, op, head, &mut self.board, calendar);
        Outcome::Nothing
    }

    /// Ends the operation at `op`, whose place is free from now on.
    #[inline(always)]
    pub(crate) fn end(&mut self, op: OpSlot) -> Ended<'_> {
        let Controller { board, table, fetched } = self;
        Ended::of(table.close(op), board, fetched)
    }

    /// Holds the operation at `op`: it is stopped, and its die is free for reads.
    pub(crate) fn hold(&mut self, now: Nanos, op: OpSlot) -> Halt {
        stop::hold(now, op, &mut self.table, &self.board)
    }

    /// Keeps the read at `op`, which leaves its die, until the firmware orders it again. `how`: broken off at once, or between two tries.
    pub(crate) fn put_aside(&mut self, now: Nanos, op: OpSlot, how: Stop) -> Halt {
        stop::put_aside(now, op, how, &mut self.table, &mut self.board)
    }

    /// Name of the operation at `op`.
    #[inline]
    pub(crate) fn name(&self, op: OpSlot) -> Name {
        let &Head { core, local, tag, .. } = &self.table.at(op).head;
        Name { core, local, tag }
    }

    /// True if the die has the data of the program at `op`, and has not begun it.
    #[inline]
    pub(crate) fn is_loaded(&self, op: OpSlot) -> bool {
        matches!(&self.table.at(op).kind, Kind::Program(program) if program.is_loaded())
    }

    /// Begins the program at `op`, whose data is in the die, and calls in that of the next.
    pub(crate) fn begin_loaded(&mut self, now: Nanos, op: OpSlot, load: Load<'_>, calendar: &mut Calendar<Due>) {
        let Controller { board, table, .. } = self;
        let (head, program) = table.program(op);
        program.begin_loaded(now, op, head, load, board, calendar);
        let die = head.die();
        table.occupy(die, op);
        let next = table.next(die);
        if next != OpSlot::NONE {
            let (head, program) = table.program(next);
            program.call_in(now, next, head, board, calendar);
        }
    }

    /// Lets `fault` happen to `die` now. Progress of what a part that fails works on counts for nothing.
    pub(crate) fn harm(&mut self, now: Nanos, die: DieId, fault: DieFault) {
        let Controller { board, table, .. } = self;
        let chip = &mut board.dies[die];
        chip.inject(fault);
        let has_hit = chip.fail_under_way(now);
        let op = table.present(die);
        if op != OpSlot::NONE && (has_hit || matches!(fault, DieFault::Die { .. })) {
            table.at_mut(op).head.status = Status::Failed;
        }
        // A page that has left the die is past harm.
        for (_, head, read) in table.reads_of(die) {
            if read.is_in_die(now) && chip.has_failed_at(&head.target) {
                read.spoil(chip.noise(), head);
            }
        }
    }
}
