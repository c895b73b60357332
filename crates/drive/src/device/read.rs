//! Reads: a page is sensed, leaves its die over the bus, and flows through error correction into the memory of the firmware.
//!
//! ```text
//!   order ─core─► sense ──Sensed──► bus, DRAM or link ──Transferred──► ECC ──Read──► report
//!                   ▲                                                    │
//!                   └──────── another try ──────Retry────────────────────┘
//! ```

use wordline_engine::Calendar;
use wordline_flash::{Command, Failed, Operation, ReadTry, Status, Tally, Target};
use wordline_units::{Attributes, Bytes, FlashOp, Nanos};

use super::board::Board;
use super::head::{Begun, Head};
use super::tries::{Sensing, Tries, first_try, set_try};
use crate::due::{Due, OpSlot, Step};

/// The page of an order to read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Page<'a> {
    pub(crate) target: &'a Target,
    pub(crate) bytes: Bytes,
    pub(crate) first: ReadTry,
    /// True if the wrong bits are counted.
    pub(crate) is_counted: bool,
    pub(crate) attributes: Option<Attributes>,
}

/// A read under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Read {
    pub(super) bytes: Bytes,
    /// Present try.
    pub(super) last: ReadTry,
    /// Next try, after one that error correction cannot mend; `None`: the read fails.
    next: Option<ReadTry>,
    /// Number of tries after the first.
    pub(super) retries: u32,
    /// Wrong bits in the worst codeword of the last try.
    pub(super) errors: u32,
    /// True if all wrong bits of the last try are counted.
    is_counted: bool,
    /// Wrong bits of the present try.
    pub(super) tally: Option<Tally>,
    /// Instant at which the page was sensed.
    sensed: Nanos,
    /// Instant at which the page had left the die.
    transferred: Nanos,
    /// Time on the bus, waits included, of tries that failed.
    lost_on_bus: Nanos,
    /// Time in error correction of tries that failed.
    decoding: Nanos,
    /// Instant at which all data read is in the memory of the firmware, as far as DRAM or the link decides.
    in_memory: Nanos,
    /// Time for which the corrected data waits for DRAM or the link.
    behind: Nanos,
}

/// State of a read whose page has left the die.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Left {
    /// The read is tried again.
    TriesAgain,
    /// The last codewords are corrected later.
    Corrects,
    /// The read has ended.
    Ended,
}

impl Read {
    /// Begin the read of `page`.
    #[inline(always)]
    pub(super) fn begin(board: &mut Board, begun: &Begun, operation: &Operation, page: &Page<'_>) -> (Head, Read) {
        let &Page { target: &target, bytes, first, is_counted, attributes } = page;
        let last = first_try(first, board.dies.levels(), &board.read_sets);
        let chip = &mut board.dies[begun.die];
        // The read before may have left the die at other references.
        let from = set_try(chip, last, &board.read_sets, begun.start);
        let issued = chip.issue(Command::Read { target, cache: false }, from);
        let tally = if is_counted && issued.status == Status::Good { chip.tally(&target) } else { None };
        let mut head = Head::new(begun, operation, (FlashOp::Read, target, target.planes.len()));
        (head.status, head.array_from) = (issued.status, from);
        (head.event.array, head.event.attributes) = (issued.ready_at - begun.start, attributes);
        let read = Read {
            bytes,
            last,
            next: None,
            retries: 0,
            errors: issued.errors,
            is_counted,
            tally,
            sensed: issued.ready_at,
            transferred: begun.start,
            lost_on_bus: Nanos::ZERO,
            decoding: Nanos::ZERO,
            in_memory: Nanos::ZERO,
            behind: Nanos::ZERO,
        };
        (head, read)
    }

    /// Count `worst` wrong bits in the worst codeword, and `all` of the page where they are counted.
    pub(super) fn count(&mut self, worst: u32, all: Tally) {
        self.errors = worst;
        self.tally = self.is_counted.then_some(all);
    }

    /// Time for which the corrected data waited for DRAM or the link.
    pub(super) fn behind(&self) -> Nanos {
        self.behind
    }

    /// Instant at which the page is sensed.
    #[inline]
    pub(super) fn sensed(&self) -> Nanos {
        self.sensed
    }

    /// True if the page has not left the die at `now`.
    pub(super) fn is_in_die(&self, now: Nanos) -> bool {
        self.sensed.max(self.transferred) > now
    }

    /// Transfer the sensed page: it waits for the bus, and flows through error correction into DRAM or over the link codeword by codeword. Codewords
    /// that will not be corrected go no further.
    #[inline]
    pub(super) fn transfer(&mut self, now: Nanos, op: OpSlot, head: &mut Head, board: &mut Board, calendar: &mut Calendar<Due>) {
        let bytes = self.bytes;
        if self.next.is_none()
            && let Some((held, there)) = board.paths.use_from_die(now, bytes)
        {
            head.hold_memory(held, board.paths.pass_link());
            self.in_memory = there;
        }
        let (span, end) = board.use_bus(head.event.channel, now, bytes);
        head.event.bus += span;
        (head.event.bus_end, self.transferred) = (end, end);
        board.chip(head).transfer(Command::DataOut { bytes }, end - span, end);
        calendar.enter(end, Due::Device(Step::Transferred { op }));
    }

    /// The question how the read, which error correction cannot mend, is tried once more; `None`: it is transferred, and its search goes on by itself.
    pub(super) fn ask<'a>(&mut self, now: Nanos, head: &Head, board: &'a mut Board) -> Option<Failed<'a>> {
        let Board { dies, tries, .. } = board;
        let tries: &mut Tries = &mut tries[head.die()];
        if self.retries == 0 {
            tries.clear();
        }
        let of = Sensing { target: &head.target, last: self.last, errors: self.errors, now };
        if tries.search_on(&mut dies[head.die()], &of) {
            self.next = Some(ReadTry::SEARCH);
            return None;
        }
        Some(tries.failed(&of))
    }

    /// Take the answer to the question for the `next` try.
    pub(super) fn answered(&mut self, next: Option<ReadTry>, head: &Head, board: &mut Board) {
        let Board { dies, tries, search, .. } = board;
        tries[head.die()].answered(next, dies[head.die()].references_of(head.target.page), *search);
        self.next = next;
    }

    /// End the transfer of the page: the last codewords go on through error correction.
    #[inline]
    pub(super) fn leave(&mut self, now: Nanos, op: OpSlot, head: &Head, board: &mut Board, calendar: &mut Calendar<Due>) -> Left {
        let end = board.correct(head.event.channel, now, self.bytes);
        if self.next.is_some() {
            calendar.enter(end, Due::Device(Step::Retry { op }));
            return Left::TriesAgain;
        }
        self.behind = self.in_memory.saturating_sub(end);
        let end = end + self.behind;
        if end == now {
            return Left::Ended;
        }
        calendar.enter(end, Due::Device(Step::Read { op }));
        Left::Corrects
    }

    /// Count a try that failed, and that error correction ends at `now`.
    pub(super) fn count_failed(&mut self, now: Nanos) {
        self.lost_on_bus += self.transferred - self.sensed;
        self.decoding += now - self.transferred;
        self.retries += 1;
    }

    /// Sense the page with the try that comes next.
    pub(super) fn sense_again(&mut self, now: Nanos, op: OpSlot, head: &mut Head, board: &mut Board, calendar: &mut Calendar<Due>) {
        self.last = self.next.take().expect("it is known how it is tried again");
        let Board { dies, tries, read_sets, .. } = board;
        let chip = &mut dies[head.die()];
        let from = tries[head.die()].aim(chip, self.last, read_sets, now);
        let issued = chip.issue(Command::Read { target: head.target, cache: false }, from);
        head.event.array += issued.ready_at - now;
        head.status = issued.status;
        head.array_from = from;
        self.errors = issued.errors;
        self.sensed = issued.ready_at;
        self.tally = if self.is_counted && issued.status == Status::Good { chip.tally(&head.target) } else { None };
        calendar.enter(issued.ready_at, Due::Device(Step::Sensed { op, attempt: head.attempt }));
    }

    /// Go on with the read, of `bytes` from now on, in which it had left its die and is ordered again after these `tries`.
    #[cold]
    pub(super) fn go_on(&mut self, bytes: Bytes, tries: Tries, head: &Head, board: &mut Board) {
        self.bytes = bytes;
        board.tries[head.die()] = tries;
    }

    /// Break off the sensing at `now`: the die is `free` then. This try is made again.
    pub(super) fn break_off(&mut self, now: Nanos, free: Nanos, head: &mut Head) {
        head.event.array = (head.event.array + (free - now)).saturating_sub(self.sensed - now);
        head.stopping.since = now;
        self.next = Some(self.last);
        self.sensed = now;
    }

    /// Give up the read of a die that has not answered.
    #[cold]
    pub(super) fn give_up(&mut self, now: Nanos) {
        (self.sensed, self.transferred) = (now, now);
        self.next = None;
    }

    /// Note that the page, which has not left its die, is noise with this number of `errors`.
    pub(super) fn spoil(&mut self, errors: u32, head: &mut Head) {
        (head.status, self.errors) = (Status::Uncorrectable, errors);
    }

    /// Time on the bus and time in error correction of a read that ends at `now`.
    #[inline]
    pub(super) fn spans(&self, now: Nanos) -> (Nanos, Nanos) {
        (self.lost_on_bus + (self.transferred - self.sensed), self.decoding + (now - self.transferred))
    }
}
