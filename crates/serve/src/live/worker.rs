//! The thread that owns the drive.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::sync::{Arc, Mutex, PoisonError};

use wordline_chip::Payload;
use wordline_drive::Drive;
use wordline_engine::{Event, Observer};
use wordline_nbd::wire::allocation;
use wordline_nbd::{ContextStatus, Errno, Extent, Op, Reply};
use wordline_units::host::SECTOR_BYTES;
use wordline_units::{Nanos, RequestId};

use super::Keeper;
use super::clock::{Clock, Timing};
use super::pieces::{Bytes, Pieces};
use crate::disk::{Batch, Done};

/// Events handled before the inbox is looked at again.
const SLICE: usize = 256;

/// Answers that are kept back, at most, to be sent together while no clock is watched and more will come at once.
const BATCH: usize = 32;

/// What a client asks.
#[derive(Debug)]
pub(super) struct Command {
    pub(super) op: Op,
    /// Contexts that a block status answers.
    pub(super) contexts: Vec<usize>,
    pub(super) done: Done,
}

/// Remembers the requests that the drive has completed.
#[derive(Debug, Default)]
pub struct Completions(VecDeque<(Nanos, RequestId, bool)>);

impl Observer for Completions {
    #[inline]
    fn observe(&mut self, at: Nanos, event: &Event) {
        if let Event::Completed(done) = event {
            self.0.push_back((at, done.request, done.ok));
        }
    }
}

/// How late answers were, in virtual time behind their own instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lateness {
    /// Answers.
    pub answers: u64,
    /// All of it.
    pub sum: Nanos,
    /// The latest.
    pub max: Nanos,
}

/// A block request under way.
#[derive(Debug)]
struct Job {
    done: Done,
    pieces: Pieces,
    is_read: bool,
    /// It is to be durable before it is answered.
    is_durable: bool,
}

pub(super) struct Worker<P: Payload> {
    drive: Drive<Completions, P>,
    keeper: Box<dyn Keeper>,
    inbox: Receiver<Command>,
    clock: Option<Clock>,
    batch: Batch,
    /// Answers in the batch.
    kept_back: usize,
    /// By the drive's request.
    jobs: Vec<Option<Job>>,
    outstanding: usize,
    lateness: Arc<Mutex<Lateness>>,
    zeroes: Vec<u8>,
    closing: bool,
}

impl<P: Payload> Worker<P> {
    pub(super) fn new(
        (drive, keeper): (Drive<Completions, P>, Box<dyn Keeper>),
        timing: Timing,
        inbox: Receiver<Command>,
        lateness: Arc<Mutex<Lateness>>,
    ) -> Worker<P> {
        let clock = match timing {
            Timing::Off => None,
            Timing::Real(factor) => Some(Clock::new(drive.now(), factor)),
        };
        Worker {
            drive,
            keeper,
            inbox,
            clock,
            batch: Batch::default(),
            kept_back: 0,
            jobs: Vec::new(),
            outstanding: 0,
            lateness,
            zeroes: Vec::new(),
            closing: false,
        }
    }

    /// Serve until nobody can ask any more and everything is answered.
    pub(super) fn run(mut self) {
        loop {
            self.take_in();
            if self.closing && self.outstanding == 0 {
                return;
            }
            match &self.clock {
                None => self.run_on(),
                Some(clock) => {
                    let now = clock.now();
                    self.drive.run_until(now);
                }
            }
            let before = self.kept_back;
            self.answer();
            // With a clock an answer goes out at its instant; without, when there are many, or when no other has followed at once.
            if self.clock.is_some() || self.outstanding == 0 || self.kept_back >= BATCH || self.kept_back == before {
                self.batch.send();
                self.kept_back = 0;
            }
            self.rest();
        }
    }

    /// Begin everything that has been asked.
    fn take_in(&mut self) {
        loop {
            match self.inbox.try_recv() {
                Ok(command) => self.begin(command),
                Err(TryRecvError::Empty) => return,
                Err(TryRecvError::Disconnected) => {
                    self.closing = true;
                    return;
                }
            }
        }
    }

    /// Without a clock: handle some events, up to the first that completes something.
    fn run_on(&mut self) {
        for _ in 0..SLICE {
            let Some(next) = self.drive.next_at() else { return };
            self.drive.run_until(next);
            if !self.drive.observer.0.is_empty() {
                return;
            }
        }
    }

    /// Wait until there is something to do.
    fn rest(&mut self) {
        let next = self.drive.next_at();
        match (&self.clock, next) {
            // There is work that needs no waiting.
            (None, Some(_)) => {}
            (_, None) if !self.closing => match self.inbox.recv() {
                Ok(command) => self.begin_now(command),
                Err(_) => self.closing = true,
            },
            (_, None) => {}
            (Some(clock), Some(next)) => {
                let now = clock.now();
                if next > now {
                    let pause = clock.wall(next - now);
                    if self.closing {
                        std::thread::park_timeout(pause);
                        return;
                    }
                    match self.inbox.recv_timeout(pause) {
                        Ok(command) => self.begin_now(command),
                        Err(RecvTimeoutError::Timeout) => {}
                        Err(RecvTimeoutError::Disconnected) => self.closing = true,
                    }
                }
            }
        }
    }

    /// Begin `command` at the present instant, which may be later than the drive's.
    fn begin_now(&mut self, command: Command) {
        if let Some(clock) = &self.clock {
            let now = clock.now();
            self.drive.run_until(now);
        }
        self.answer();
        self.begin(command);
    }

    /// Begin `command`. Everything completed has been answered: the drive gives a completed request's id, and its bytes' place, to the next.
    fn begin(&mut self, command: Command) {
        let Command { op, contexts, done } = command;
        match &op {
            Op::Cache { .. } => return done.ok(),
            Op::BlockStatus { offset, length, .. } => return self.status(*offset, *length, &contexts, done),
            Op::WriteZeroes { how, .. } if how.must_be_fast && !how.may_punch => {
                return done.fail(Errno::NotSupported, "zeroes that keep their place are written like anything else");
            }
            Op::Read { .. } | Op::Write { .. } | Op::Flush | Op::Trim { .. } | Op::WriteZeroes { .. } => {}
        }
        let is_read = matches!(op, Op::Read { .. });
        let is_durable = match &op {
            Op::Flush => true,
            Op::Write { fua, .. } | Op::Trim { fua, .. } | Op::WriteZeroes { fua, .. } => *fua,
            Op::Read { .. } | Op::Cache { .. } | Op::BlockStatus { .. } => false,
        };
        let pieces = Pieces::of(op, self.drive.unit_bytes().0);
        self.outstanding += 1;
        self.go_on(Job { done, pieces, is_read, is_durable });
    }

    /// Submit the next piece of `job`, or answer it.
    fn go_on(&mut self, mut job: Job) {
        let Some(piece) = job.pieces.next() else {
            self.outstanding -= 1;
            return match if job.is_durable { self.keeper.sync() } else { Ok(()) } {
                Ok(()) => job.done.ok(),
                Err(why) => job.done.fail(Errno::Io, &why),
            };
        };
        let bytes = match &piece.bytes {
            Bytes::These(bytes) => bytes.as_slice(),
            Bytes::Zeroes(count) => {
                if self.zeroes.len() < *count {
                    self.zeroes.resize(*count, 0);
                }
                &self.zeroes[..*count]
            }
        };
        let id = self.drive.submit(&piece.request, bytes);
        let index = id.0 as usize;
        if self.jobs.len() <= index {
            self.jobs.resize_with(index + 1, || None);
        }
        self.jobs[index] = Some(job);
    }

    /// Answer what the drive has completed, then go on with what has more pieces.
    fn answer(&mut self) {
        let mut unfinished = Vec::new();
        while let Some((at, id, ok)) = self.drive.observer.0.pop_front() {
            let Some(mut job) = self.jobs.get_mut(id.0 as usize).and_then(Option::take) else { continue };
            self.batch.take_in(&mut job.done);
            self.kept_back += 1;
            if let Some(clock) = &self.clock {
                let late = clock.now().saturating_sub(at);
                let mut lateness = self.lateness.lock().unwrap_or_else(PoisonError::into_inner);
                lateness.answers += 1;
                lateness.sum += late;
                lateness.max = lateness.max.max(late);
            }
            if let Some(why) = self.keeper.trouble() {
                self.outstanding -= 1;
                job.done.fail(Errno::Io, &why);
            } else if !ok {
                self.outstanding -= 1;
                let why = if self.drive.is_worn_out() {
                    "the drive is worn out and takes no more writes"
                } else {
                    "the data cannot be corrected"
                };
                job.done.fail(Errno::Io, why);
            } else if job.is_read {
                self.outstanding -= 1;
                let bytes = self.drive.bytes_of(id);
                job.done.fill(|into| {
                    into.copy_from_slice(bytes);
                    Ok(())
                });
            } else {
                unfinished.push(job);
            }
        }
        for job in unfinished {
            self.go_on(job);
        }
    }

    /// What is allocated: units that are mapped, or wait in the buffer.
    fn status(&self, offset: u64, length: u64, contexts: &[usize], done: Done) {
        let unit = self.drive.unit_bytes().0;
        let end = offset + length;
        let mut known: Vec<Extent> = Vec::new();
        let mut at = offset;
        while at < end {
            let next = ((at / unit + 1) * unit).min(end);
            let flags = if self.drive.holds(at / SECTOR_BYTES) { 0 } else { allocation::HOLE | allocation::ZERO };
            if let Some(last) = known.last_mut().filter(|last| last.flags == flags) {
                last.length += next - at;
            } else if known.len() < ContextStatus::EXTENTS_MAX {
                known.push(Extent { length: next - at, flags });
            } else {
                break;
            }
            at = next;
        }
        let unknown = [Extent { length, flags: 0 }];
        let status = |&context: &usize| ContextStatus { context, extents: if context == 0 { &known } else { &unknown } };
        let all: Vec<ContextStatus<'_>> = contexts.iter().map(status).collect();
        done.reply(Reply::Status(&all));
    }
}
