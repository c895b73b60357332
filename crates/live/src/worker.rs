//! The thread that owns the drive.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::time::{Duration, Instant};

use wordline_block::{Batch, Done, Errno, Op, Session};
use wordline_drive::{PowerCut, Watched};
use wordline_units::host::SECTOR_BYTES;
use wordline_units::{Attributes, HostOp, HostRequest, Nanos, Tolerance};

use crate::ask::{Query, Stored, Told};
use crate::clock::{Clock, Timing};
use crate::disk::{About, Answer, Watch};
use crate::errand::Errand;
use crate::faults::{Darkness, in_words};
use crate::hints::HintMap;
use crate::hints_file;
use crate::keeper::{Keeper, Refused};
use crate::lost::lost_in;
use crate::pieces::{Piece, Pieces};
use crate::record::{Recorder, note_all};
use crate::smart::Trims;
use crate::status::status;

/// Events handled before the inbox is looked at again.
const SLICE: usize = 256;

/// Answers that are kept back, at most, to be sent together while no clock is watched and more will come at once.
const BATCH: usize = 32;

/// Oversleep of a thread, at most. The last bit of a wait is spent awake.
const OVERSLEEP: Duration = Duration::from_micros(120);

/// Pause before the next try to write down data that the host has not taken, if no client asks for anything.
const RETRY: Duration = Duration::from_millis(50);

/// Time to stay awake, if a clock is watched and nothing is to be done.
const AWAKE: Duration = Duration::from_micros(300);

/// The same without a clock: a client that waits for each answer sends its next request within this time, and to be woken for it takes longer.
const AWAKE_WITHOUT_CLOCK: Duration = Duration::from_micros(50);

/// Inputs of the worker.
#[derive(Debug)]
pub(crate) enum Command {
    /// A client's request.
    Request(Asked),
    /// A query from outside the request path.
    Ask(Query, Answer),
    /// A client is gone without waiting for its answers.
    Gone,
}

/// A client's request.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) op: Op,
    pub(crate) session: Arc<Session>,
    pub(crate) done: Done,
    /// Arrival; `None` if no clock is watched.
    pub(crate) came: Option<Instant>,
}

/// Lateness of answers, in virtual time behind their own instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lateness {
    /// The number of answers.
    pub answers: u64,
    /// Sum of all lateness.
    pub sum: Nanos,
    /// Greatest lateness.
    pub max: Nanos,
}

/// Recipient of the end of a job.
#[derive(Debug)]
enum End {
    Client(Done),
    Errand(Errand),
    /// Requester of a hint, and whether it is kept for the next start; `None`: the hint is of an earlier start.
    Hint(Option<(Answer, Stored)>),
}

/// A block request, or the flush of an errand.
#[derive(Debug)]
struct Job {
    end: End,
    /// Next request to the drive; taken when it is made.
    piece: Option<Piece>,
    /// Pieces after it.
    pieces: Pieces,
    is_read: bool,
    /// True if its client has asked for a trim.
    is_trim: bool,
    /// True once it has freed a unit.
    has_freed: bool,
    /// True if it must be durable before it is answered.
    is_durable: bool,
    /// Arrival, for its first piece, if a clock is watched.
    came: Option<Instant>,
    /// True once a piece of it has gone to the drive.
    has_begun: bool,
}

impl Job {
    /// True if it is still to be done: a job that has not begun is dropped once its client is gone.
    fn is_wanted(&self) -> bool {
        match &self.end {
            End::Client(done) => self.has_begun || done.is_wanted(),
            End::Errand(_) | End::Hint(_) => true,
        }
    }
}

pub(crate) struct Worker {
    pub(crate) drive: Watched<Watch>,
    pub(crate) keeper: Box<dyn Keeper>,
    inbox: Receiver<Command>,
    timing: Timing,
    /// The clock, which runs from the first event on.
    clock: Option<Clock>,
    batch: Batch,
    /// Answers in the batch.
    kept_back: usize,
    /// Requests that have not begun.
    arriving: VecDeque<Job>,
    /// Requests of which a piece is done.
    going_on: VecDeque<Job>,
    pub(crate) errands: VecDeque<Errand>,
    /// True if an errand's flush is under way.
    is_on_errand: bool,
    pub(crate) trims: Trims,
    /// Jobs that are writing zeroes to trim them again.
    zeroing: usize,
    /// Jobs by the drive's request.
    jobs: Vec<Option<Job>>,
    /// Requests that have begun and are not answered.
    outstanding: usize,
    pub(crate) lateness: Lateness,
    pub(crate) hints: HintMap,
    /// True if nothing that the drive does reaches its media.
    pub(crate) is_read_only: bool,
    pub(crate) recorders: Vec<Recorder>,
    /// True if the drive is not as it was made.
    pub(crate) is_touched: bool,
    /// True if something was written since the last flush of an errand.
    pub(crate) is_unflushed: bool,
    /// Requester that waits for the drive to stop, once everything is answered.
    pub(crate) stop: Option<Answer>,
    /// Requester of the stop, and its answer.
    pub(crate) last_words: Option<(Answer, Told)>,
    closing: bool,
    /// Callback for a power cut on demand.
    pub(crate) darkness: Option<Darkness>,
    /// Travel time of an answer and of the next request: virtual time leads the wall's by it.
    pub(crate) link: Duration,
}

impl Worker {
    pub(crate) fn new(
        (drive, keeper): (Watched<Watch>, Box<dyn Keeper>),
        timing: Timing,
        inbox: Receiver<Command>,
        About { is_used, is_read_only, .. }: &About,
    ) -> Worker {
        let (is_used, is_read_only) = (*is_used, *is_read_only);
        let is_touched = is_used || drive.has_begun();
        let hints = if is_used { hints_file::kept(&*keeper, drive.config().exported().0) } else { HintMap::default() };
        let mut worker = Worker {
            drive,
            keeper,
            inbox,
            timing,
            clock: None,
            batch: Batch::default(),
            kept_back: 0,
            arriving: VecDeque::new(),
            going_on: VecDeque::new(),
            errands: VecDeque::new(),
            is_on_errand: false,
            trims: Trims::default(),
            zeroing: 0,
            jobs: Vec::new(),
            outstanding: 0,
            lateness: Lateness::default(),
            hints,
            is_read_only,
            recorders: Vec::new(),
            is_touched,
            is_unflushed: false,
            stop: None,
            last_words: None,
            closing: false,
            darkness: None,
            link: Duration::ZERO,
        };
        if is_touched {
            worker.start_clock(Instant::now());
        }
        worker.go_on_with_hints(is_used);
        worker
    }

    fn start_clock(&mut self, at: Instant) {
        if let (None, Timing::Real(factor)) = (&self.clock, self.timing) {
            self.clock = Some(Clock::new(at, self.drive.now(), factor));
        }
    }

    /// Serves until no requester is left and everything is answered.
    pub(crate) fn run(mut self) {
        loop {
            self.take_in();
            if self.keeper.is_overfull()
                && let Err(refused) = self.keeper.catches_up()
            {
                if self.closing {
                    // The flush of the stop may be what found no room.
                    self.last_words = self.last_words.take().or_else(|| Some((self.stop.take()?, Told::Refused(refused.why))));
                    break;
                }
                // Every step of the drive may have more to write.
                self.pause(RETRY);
                continue;
            }
            self.submit();
            if self.closing && self.outstanding == 0 && self.arriving.is_empty() && self.errands.is_empty() {
                match self.stop.clone().filter(|_| self.last_words.is_none()) {
                    Some(answer) if !self.is_unflushed && self.drive.is_worn_out() => self.stop_after(None, answer),
                    Some(answer) => self.errands.push_back(Errand::Stop(answer)),
                    None => break,
                }
                continue;
            }
            self.advance();
            if let Some(cut) = self.drive.power_cut() {
                return self.go_dark(&cut);
            }
            let before = self.kept_back;
            self.answer();
            // If a clock is watched, an answer goes out at its instant; otherwise when there are many, or when no other has followed at once. It is sent from
            // this thread: another one would have to be woken first.
            if self.clock.is_some() || self.outstanding == 0 || self.kept_back >= BATCH || self.kept_back == before {
                self.batch.send_now();
                self.kept_back = 0;
            }
            self.rest();
        }
        self.batch.send();
        let last_words = self.last_words.take();
        // The drive lets go of its media first: a client that gets the answer may start it again.
        drop(self);
        if let Some((answer, told)) = last_words {
            let _ = answer.send(told);
        }
    }

    /// Takes in everything in the inbox.
    fn take_in(&mut self) {
        loop {
            match self.inbox.try_recv() {
                Ok(command) => self.take(command),
                Err(TryRecvError::Empty) => return,
                Err(TryRecvError::Disconnected) => {
                    self.closing = true;
                    return;
                }
            }
        }
    }

    fn take(&mut self, command: Command) {
        let Asked { op, session, done, came } = match command {
            Command::Request(asked) => asked,
            Command::Ask(query, answer) => return self.consider(query, answer),
            Command::Gone => return self.arriving.retain(Job::is_wanted),
        };
        match &op {
            Op::Cache { .. } => return done.ok(),
            Op::BlockStatus { offset, length, .. } => return status(&self.drive, &self.hints, (*offset, *length), &session, done),
            Op::WriteZeroes { how, .. } if how.must_be_fast && !how.may_punch => {
                return done.fail(Errno::NotSupported, "zeroes that keep their place are written like anything else");
            }
            Op::Read { .. } | Op::Write { .. } | Op::Flush | Op::Trim { .. } | Op::WriteZeroes { .. } => {}
        }
        if let Err(refused) = self.admits(&op) {
            return done.fail(refused.errno, &refused.why);
        }
        let class = session.hints;
        let otherwise = class.priority.unwrap_or_default();
        let attributes = match reach(&op) {
            Some((from, end)) => {
                let priority = self.hints.priority(from, end, otherwise);
                let latency = class.read_latency.filter(|_| self.hints.leaves_latency(from, end));
                Attributes::of(priority)
                    .with_secure(!self.hints.is_insecure(from, end, class.security))
                    .with_tolerance(latency.map_or(Tolerance::Default, Tolerance::from))
            }
            None => Attributes::of(otherwise),
        };
        let job = self.job(op, attributes, End::Client(done), came);
        self.arriving.extend(job);
    }

    /// Admits an operation whose bytes have a place, or come from one.
    fn admits(&self, op: &Op) -> Result<(), Refused> {
        match op {
            Op::Write { .. } | Op::Trim { .. } | Op::WriteZeroes { .. } => self.keeper.catches_up().and_then(|()| self.keeper.admits()),
            // The refused data may be no more than this operation needs, and then there is no reason to stand still.
            Op::Read { .. } | Op::Flush | Op::Cache { .. } | Op::BlockStatus { .. } if self.keeper.is_overfull() => {
                self.keeper.catches_up()
            }
            Op::Read { .. } | Op::Flush | Op::Cache { .. } | Op::BlockStatus { .. } => Ok(()),
        }
    }

    /// The job that does `op`. Every operation here has at least one piece.
    fn job(&self, op: Op, attributes: Attributes, end: End, came: Option<Instant>) -> Option<Job> {
        let is_read = matches!(op, Op::Read { .. });
        let is_durable = match &op {
            Op::Flush => true,
            Op::Write { fua, .. } | Op::Trim { fua, .. } | Op::WriteZeroes { fua, .. } => *fua,
            Op::Read { .. } | Op::Cache { .. } | Op::BlockStatus { .. } => false,
        };
        let is_trim = matches!(op, Op::Trim { .. });
        let mut pieces = Pieces::of(op, self.drive.unit_bytes().0, attributes);
        let piece = Some(pieces.next(|at| self.drive.holds(at / SECTOR_BYTES))?);
        Some(Job { end, piece, pieces, is_read, is_trim, has_freed: false, is_durable, came, has_begun: false })
    }

    /// Hands the drive a hint that reads of bytes `from` to `end` may have the latency of `tolerance`, behind the requests that have come before. The answer
    /// follows when the drive has taken it.
    pub(crate) fn pass_hint(&mut self, (from, end): (u64, u64), tolerance: Tolerance, answer: Option<(Answer, Stored)>) {
        let mut pieces = Pieces::hint(from, end, self.drive.unit_bytes().0, tolerance);
        let piece = pieces.next(|_| false);
        let (is_read, is_trim, has_freed, is_durable, has_begun) = (false, false, false, false, false);
        let came = (self.timing != Timing::Off).then(Instant::now);
        self.arriving.push_back(Job { end: End::Hint(answer), piece, pieces, is_read, is_trim, has_freed, is_durable, came, has_begun });
    }

    /// Hands the drive the tolerated latencies of an earlier start, which it has forgotten, before any request. Hints beside a drive that is made anew are of
    /// another one, and go.
    fn go_on_with_hints(&mut self, is_used: bool) {
        if !is_used && !self.is_read_only {
            self.store_hints().err().iter().for_each(|why| self.keeper.say(&format!("warning: {why}")));
        }
        let latencies: Vec<_> = self.hints.all().filter_map(|(from, end, hints)| Some(((from, end), hints.read_latency?))).collect();
        latencies.into_iter().for_each(|(stretch, latency)| self.pass_hint(stretch, latency.into(), None));
    }

    /// Keeps the hints for the next start.
    pub(crate) fn store_hints(&self) -> Stored {
        if self.is_read_only { Ok(false) } else { hints_file::keep(&*self.keeper, &self.hints) }
    }

    /// Submits everything that may go to the drive now.
    fn submit(&mut self) {
        loop {
            if self.outstanding == 0
                && !self.is_on_errand
                && let Some(errand) = self.errands.pop_front()
            {
                self.prepare(&errand);
                self.is_on_errand = true;
                let flush = self.job(Op::Flush, Attributes::NONE, End::Errand(errand), None);
                self.going_on.extend(flush);
            }
            let job = match self.going_on.pop_front() {
                Some(job) => Some(job),
                // Nothing new begins while an errand waits.
                None if self.errands.is_empty() && !self.is_on_errand => self.arriving.pop_front(),
                None => None,
            };
            let Some(mut job) = job else { return };
            if !job.is_wanted() {
                continue;
            }
            if !std::mem::replace(&mut job.has_begun, true) {
                self.outstanding += 1;
            }
            self.arrive(job);
        }
    }

    /// Lets `job` arrive at an instant of its own.
    fn arrive(&mut self, mut job: Job) {
        let came = job.came.take();
        if self.clock.is_none() {
            self.start_clock(came.unwrap_or_else(Instant::now));
        }
        // The first event of a drive is at the beginning of its time, as it will be in a replay.
        let clock = self.clock.as_ref().filter(|_| self.is_touched);
        let wanted = clock.map_or(Nanos::ZERO, |clock| clock.at(came.unwrap_or_else(Instant::now)));
        self.make_room(wanted);
        // The drive gives a completed request's id, and its bytes' place, to the next.
        self.answer();
        let Some(Piece { request, bytes }) = job.piece.take() else { return };
        let request = HostRequest { at: self.drive.now(), ..request };
        self.recorders.iter_mut().for_each(|recorder| recorder.request(request.at, &request));
        self.is_unflushed |= matches!(request.op, HostOp::Write | HostOp::Trim);
        if request.op == HostOp::Write {
            self.overtake(&request);
            self.zeroing += usize::from(job.pieces.zeroed().is_some());
            self.trims.zeroed += if job.is_trim { u64::from(request.sectors) * SECTOR_BYTES } else { 0 };
        }
        let id = self.drive.submit_with(&request, bytes);
        self.is_touched = true;
        let index = id.0 as usize;
        if self.jobs.len() <= index {
            self.jobs.resize_with(index + 1, || None);
        }
        self.jobs[index] = Some(job);
    }

    /// Cancels the second trim of zeroed sectors if `write` comes after the zeroes: the client's data would go with them once the
    /// rest of the unit is trimmed.
    fn overtake(&mut self, write: &HostRequest) {
        if self.zeroing == 0 {
            return;
        }
        let (from, to) = (write.sector * SECTOR_BYTES, (write.sector + u64::from(write.sectors)) * SECTOR_BYTES);
        for job in self.jobs.iter_mut().flatten().filter(|job| job.pieces.zeroed().is_some_and(|(at, end)| at < to && from < end)) {
            job.pieces.leave_zeroed();
            self.zeroing -= 1;
        }
    }

    /// Goes to the first instant from `wanted` on at which nothing has happened and nothing will: an arrival then comes neither before nor after any other
    /// event of the same instant, so its instant alone orders it among the events.
    fn make_room(&mut self, wanted: Nanos) {
        let first = if self.is_touched { self.drive.now() + Nanos(1) } else { self.drive.now() };
        let mut at = wanted.max(first);
        while self.drive.next_at().is_some_and(|next| next <= at) {
            self.drive.run_until(at);
            at += Nanos(1);
        }
        self.drive.run_until(at);
    }

    /// Instant of the next event that the drive comes to unasked. The time of a new drive begins with its first request, as in a replay. Without a clock,
    /// timers, which ring for ever, wait for a request.
    fn next_at(&self) -> Option<Nanos> {
        let stands_still = !self.is_touched || (self.clock.is_none() && self.drive.waits_for_timers_only());
        self.drive.next_at().filter(|_| !stands_still)
    }

    /// Lets the drive go on: up to the first event that completes something, and not beyond the wall's clock.
    fn advance(&mut self) {
        let limit = self.clock.as_ref().map_or(Nanos::MAX, |clock| clock.after(self.link));
        for _ in 0..SLICE {
            let is_due = self.next_at().is_some_and(|next| next <= limit);
            let is_off = self.drive.power_cut().is_some();
            if is_off || !is_due || !self.drive.step() || !self.drive.observer.0.0.is_empty() {
                return;
            }
        }
    }

    /// Answers completed requests, or sees to it that the drive goes on.
    fn answer(&mut self) {
        if self.drive.power_cut().is_some() {
            // The outcome has no recipient any more.
            return;
        }
        while let Some((at, done)) = self.drive.observer.0.0.pop_front() {
            let Some(mut job) = self.jobs.get_mut(done.request.0 as usize).and_then(Option::take) else { continue };
            // Another request may use its buffer.
            let payload = if job.is_read { Vec::new() } else { self.drive.take_bytes(done.request) };
            self.count_lateness(at);
            job.has_freed |= done.op == HostOp::Trim && done.blank < done.sectors;
            self.zeroing -= usize::from(job.pieces.zeroed().is_some());
            // Programmed data is acknowledged once it has its place.
            let mut kept = if job.is_read { Ok(()) } else { self.keeper.catches_up() };
            if done.ok
                && kept.is_ok()
                && self.keeper.trouble().is_none()
                && let Some(piece) = job.pieces.next(|at| self.drive.holds(at / SECTOR_BYTES))
            {
                if piece.request.op != HostOp::Flush && !job.is_read {
                    kept = self.keeper.admits();
                }
                if kept.is_ok() {
                    job.piece = Some(piece);
                    self.going_on.push_back(job);
                    continue;
                }
            }
            self.outstanding -= 1;
            self.trims.freed_nothing += u64::from(job.is_trim && !job.has_freed);
            let Job { end, is_read, is_durable, .. } = job;
            match end {
                End::Errand(errand) => {
                    self.is_on_errand = false;
                    self.carry_out(errand, done.ok);
                }
                // The requester may be gone.
                End::Hint(Some((answer, stored))) => {
                    let _ = answer.send(Told::Hinted { acts_on_latency: self.drive.has_tolerances(), stored });
                }
                End::Hint(None) => {}
                End::Client(mut client) => {
                    self.batch.take_in(&mut client);
                    self.kept_back += 1;
                    if let Some(why) = self.keeper.trouble() {
                        client.fail(Errno::Io, &why);
                    } else if !done.ok && is_read {
                        let (at, why) = lost_in(&self.drive, &done);
                        client.fail_at(at, Errno::Io, why);
                    } else if !done.ok {
                        client.fail(Errno::Io, self.failure());
                    } else if is_read {
                        let bytes = self.drive.bytes_of(done.request);
                        client.fill(|into| {
                            into.copy_from_slice(bytes);
                            Ok(())
                        });
                    } else {
                        match kept.and_then(|()| if is_durable { self.keeper.sync() } else { Ok(()) }) {
                            Ok(()) => client.ok_with(payload),
                            Err(refused) => client.fail(refused.errno, &refused.why),
                        }
                    }
                    if is_read {
                        self.drive.let_go(done.request);
                    }
                }
            }
        }
    }

    /// Counts how late, by the wall's clock, a request is answered that was completed at `at`.
    fn count_lateness(&mut self, at: Nanos) {
        if let Some(clock) = &self.clock {
            let late = clock.after(self.link).saturating_sub(at);
            self.lateness.answers += 1;
            self.lateness.sum += late;
            self.lateness.max = self.lateness.max.max(late);
        }
    }

    /// The reason why a request other than a read fails.
    fn failure(&self) -> &'static str {
        if self.drive.is_worn_out() { "the drive is worn out and takes no more writes" } else { "the data cannot be corrected" }
    }

    /// Ends the drive after a power cut on demand: nothing more is answered or written down.
    fn go_dark(mut self, cut: &PowerCut) {
        let what = in_words(cut);
        if let Some(Darkness(then)) = self.darkness.take() {
            then(&what);
        }
    }

    /// Adds a note to the recordings about an event that they have no columns for.
    pub(crate) fn note(&self, note: String) {
        note_all(&self.recorders, self.drive.now(), note);
    }

    /// Waits until there is something to do.
    fn rest(&mut self) {
        let is_waiting = !self.arriving.is_empty() && self.errands.is_empty() && !self.is_on_errand;
        if is_waiting || !self.going_on.is_empty() || (!self.errands.is_empty() && self.outstanding == 0) {
            return;
        }
        // The next request mostly follows soon, and to be woken for it takes as long as some drives need for it.
        if self.next_at().is_none() && !self.closing && self.is_followed_soon() {
            return;
        }
        match (&self.clock, self.next_at()) {
            (Some(clock), Some(next)) => {
                let now = clock.after(self.link);
                if next > now {
                    let pause = clock.wall(next - now);
                    self.pause(pause);
                }
            }
            // There is work that needs no waiting.
            (None, Some(_)) => {}
            (_, None) if self.closing => {}
            (_, None) if self.keeper.catches_up().is_err() => self.pause(RETRY),
            (_, None) => match self.inbox.recv() {
                Ok(command) => self.take(command),
                Err(_) => self.closing = true,
            },
        }
    }

    /// Stays awake for a while; returns true if something came in.
    fn is_followed_soon(&mut self) -> bool {
        let begun = Instant::now();
        let awake = if self.clock.is_some() { AWAKE } else { AWAKE_WITHOUT_CLOCK };
        while begun.elapsed() < awake {
            match self.inbox.try_recv() {
                Ok(command) => {
                    self.take(command);
                    return true;
                }
                Err(TryRecvError::Empty) => std::thread::yield_now(),
                Err(TryRecvError::Disconnected) => return false,
            }
        }
        false
    }

    /// Waits for `pause`, or less if something comes in.
    fn pause(&mut self, pause: Duration) {
        let begun = Instant::now();
        if self.closing {
            return std::thread::park_timeout(pause);
        }
        let asleep = pause.saturating_sub(OVERSLEEP);
        if asleep > Duration::ZERO {
            match self.inbox.recv_timeout(asleep) {
                Ok(command) => return self.take(command),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => self.closing = true,
            }
        }
        while begun.elapsed() < pause {
            match self.inbox.try_recv() {
                Ok(command) => return self.take(command),
                // Other threads come first.
                Err(TryRecvError::Empty) => std::thread::yield_now(),
                Err(TryRecvError::Disconnected) => {
                    self.closing = true;
                    return;
                }
            }
        }
    }
}

/// The bytes of an operation: the first, and the one after the last.
fn reach(op: &Op) -> Option<(u64, u64)> {
    match op {
        Op::Read { offset, length } => Some((*offset, offset + u64::from(*length))),
        Op::Write { offset, data, .. } => Some((*offset, offset + data.len() as u64)),
        Op::Trim { offset, length, .. } | Op::WriteZeroes { offset, length, .. } => Some((*offset, offset + length)),
        Op::Flush | Op::Cache { .. } | Op::BlockStatus { .. } => None,
    }
}
