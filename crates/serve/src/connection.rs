//! One client: a thread that reads, and one that writes what is answered late.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use wordline_block::{Answer, Disk, Done, Farewell, Hints, Op, Reply, Requester, Session, Visit};
use wordline_live::doors::{Origin, Stream};
use wordline_nbd::{Close, Event, Lent, Opened, Request, Server, Settings};

use crate::inlet::Inlet;
use crate::patience::Patience;
use crate::tickets::Tickets;
use crate::tls::{Peers, Tls, TlsKeys};

/// What the threads of a connection share.
#[derive(Debug)]
pub(crate) struct Connection {
    stream: Stream,
    settings: Arc<Settings>,
    keys: Option<TlsKeys>,
    /// Once it is agreed on.
    tls: OnceLock<Tls>,
    state: Mutex<State>,
    /// For the first thread: room for input, nothing left to be sent, or the end.
    changed: Condvar,
    /// For the second thread: something that nobody else sends, or the end.
    left_over: Condvar,
    /// The reading thread is handing out requests, and will send their answers itself.
    in_batch: AtomicBool,
    /// Nobody waits for an answer any more.
    is_gone: AtomicBool,
    began: Instant,
    origin: Origin,
    /// Number of times that its client has completed a message.
    said: AtomicU32,
    /// When its client was heard last, in microseconds since it began.
    heard: AtomicU64,
}

/// Way to a place for a client that has shown who it is. False: there is none for it.
pub(crate) type Admit<'a> = &'a dyn Fn(&Arc<Connection>) -> bool;

/// Room for output that is kept once all of it is sent.
const OUTPUT_KEPT: usize = 1 << 20;

/// Bytes of a message that is half there that have to come in a second, in the mean of as long as a peer is waited for in the middle of one.
const LEAST_RATE: u64 = 1 << 10;

/// Rate at which a message comes that is half there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Half {
    /// Since when bytes of it are counted, in microseconds.
    since: u64,
    bytes: u64,
}

impl Half {
    /// `count` bytes of it have come at `now`. `None`: in the last `patience` so few have come that it is not waited for any longer.
    fn goes_on(self, now: u64, count: u64, patience: Duration) -> Option<Half> {
        let Half { since, bytes } = Half { bytes: self.bytes + count, ..self };
        let window = u64::try_from(patience.as_micros()).unwrap_or(u64::MAX);
        if now.saturating_sub(since) < window {
            return Some(Half { since, bytes });
        }
        (bytes / LEAST_RATE >= patience.as_secs()).then_some(Half { since: now, bytes: 0 })
    }
}

/// Messages of a negotiation that count.
const SAID_MAX: u32 = 4;

/// Output that is encrypted at once: what is encrypted is there twice.
const RECORDS_BYTES: usize = 256 << 10;

#[derive(Debug)]
struct State {
    server: Server,
    /// Of the requests that the disk has.
    tickets: Tickets,
    /// Somebody is writing to the stream.
    writing: bool,
    /// Output that was begun to be sent.
    unsent: Unsent,
    /// The first thread sleeps until something changes.
    first_waits: bool,
    /// The second thread sleeps until there is something to send.
    second_waits: bool,
    /// The stream is of no more use.
    dead: bool,
}

/// Output that a sender has taken from the server, which knows of it until all of it is sent.
#[derive(Debug, Default)]
struct Unsent {
    plain: Vec<u8>,
    /// So much of it is sent or, in TLS, encrypted.
    done: usize,
    /// What was encrypted last, as it goes over the line.
    sealed: Vec<u8>,
    /// So much of that is sent.
    sealed_done: usize,
}

impl Unsent {
    fn is_empty(&self) -> bool {
        self.done == self.plain.len() && self.sealed_done == self.sealed.len()
    }

    /// What goes over the line next, in TLS or in the clear.
    fn next(&mut self, tls: Option<&Tls>) -> io::Result<&[u8]> {
        let Some(tls) = tls else { return Ok(&self.plain[self.done..]) };
        if self.sealed_done == self.sealed.len() {
            let end = self.plain.len().min(self.done + RECORDS_BYTES);
            (self.sealed, self.sealed_done) = (tls.encrypt(&self.plain[self.done..end])?, 0);
            self.done = end;
        }
        Ok(&self.sealed[self.sealed_done..])
    }

    fn sent(&mut self, count: usize, in_tls: bool) {
        *(if in_tls { &mut self.sealed_done } else { &mut self.done }) += count;
    }

    /// Once it is empty: makes room for more, and returns how much of the server's output it was.
    fn clear(&mut self) -> usize {
        let carried = self.plain.len();
        if self.plain.capacity() > OUTPUT_KEPT {
            self.plain = Vec::new();
        }
        self.plain.clear();
        self.sealed = Vec::new();
        (self.done, self.sealed_done) = (0, 0);
        carried
    }
}

/// What follows the bytes that were handed out.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Then {
    GoOn,
    /// What comes next is TLS.
    Tls,
    /// There is no place for this client.
    Out,
}

/// An event of the protocol, with the ticket of a request in its place.
enum HandedOut {
    Opened(Opened),
    Request(Op, u64),
    StartTls,
    Closed,
}

/// The disk that the client has opened.
struct Open {
    /// Its place among the disks.
    export: usize,
    session: Arc<Session>,
}

impl Open {
    fn new(opened: Opened, settings: &Settings) -> Open {
        let Opened { export, classes, contexts } = opened;
        let words = classes.iter().map(|&class| settings.exports[export].classes[class].as_str());
        Open { export, session: Arc::new(Session { hints: Hints::of_classes(words), contexts }) }
    }
}

/// Continuation once bytes were handed out.
struct Rest {
    /// More can be handed out.
    goes_on: bool,
    /// Something had to be answered or taken first: however long that took was not the client's doing.
    has_waited: bool,
    /// The payload that is read to its own place next, and whether the client may be silent.
    next: (Option<Lent>, bool),
}

/// Whether to wait for room in the socket.
#[derive(Clone, Copy)]
enum Wait {
    Yes,
    No,
}

impl State {
    fn has_output(&self) -> bool {
        !self.unsent.is_empty() || !self.server.output().is_empty()
    }
}

/// Ends the connection when it goes, also where a disk panics.
struct End<'a>(&'a Connection);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.shut();
    }
}

impl AsRef<Stream> for Connection {
    fn as_ref(&self) -> &Stream {
        &self.stream
    }
}

impl Requester for Connection {
    fn answer(&self, tag: u64, answer: Answer<'_>, is_followed: bool) {
        let mut state = self.lock();
        let Some(ticket) = state.tickets.take(tag) else { return };
        match answer {
            Answer::Reply(reply) => state.server.reply(ticket, reply),
            Answer::DoneWith(payload) => {
                state.server.spare(payload);
                state.server.reply(ticket, Reply::Done);
            }
            Answer::Fill(fill) => state.server.reply_in_place(ticket, fill),
        }
        if !is_followed && !self.in_batch.load(Ordering::Acquire) {
            self.wake(&mut state);
        }
    }

    fn is_there(&self) -> bool {
        !self.is_gone.load(Ordering::Acquire)
    }

    fn send(&self) {
        self.wake(&mut self.lock());
    }

    /// What does not go without waiting is left to the second thread.
    fn send_now(&self) {
        self.wake(&mut self.transmit(self.lock(), Wait::No));
    }
}

impl Connection {
    pub(crate) fn new(stream: Stream, settings: Arc<Settings>, keys: Option<TlsKeys>) -> Connection {
        let (server, origin) = (Server::new(Arc::clone(&settings)), stream.origin());
        let (tickets, unsent) = (Tickets::default(), Unsent::default());
        let state = State { server, tickets, writing: false, unsent, first_waits: false, second_waits: false, dead: false };
        Connection {
            stream,
            settings,
            keys,
            tls: OnceLock::new(),
            state: Mutex::new(state),
            changed: Condvar::new(),
            left_over: Condvar::new(),
            in_batch: AtomicBool::new(false),
            is_gone: AtomicBool::new(false),
            began: Instant::now(),
            origin,
            said: AtomicU32::new(0),
            heard: AtomicU64::new(0),
        }
    }

    /// The state, also after a disk that panicked over an answer: what it had not answered is dropped with it.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The first thread sleeps.
    fn wait<'a>(&self, mut state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        state.first_waits = true;
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes the first thread, if it waits for a change. Only the first change after it fell asleep has to: what comes before it is up, it finds.
    fn wake_first(&self, state: &mut State) {
        if std::mem::take(&mut state.first_waits) {
            self.changed.notify_one();
        }
    }

    /// Wakes whoever has something to do. Not the second thread where nothing is left for it: most answers are sent by others, and to be woken costs more than
    /// to send one.
    fn wake(&self, state: &mut State) {
        self.wake_first(state);
        if (state.dead || (!state.writing && state.has_output())) && std::mem::take(&mut state.second_waits) {
            self.left_over.notify_one();
        }
    }

    fn since_it_began(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX)
    }

    /// How long its client has said nothing; `None`: something that it asked for, or is owed, is under way.
    pub(crate) fn silent_for(&self) -> Option<Duration> {
        let state = self.lock();
        let rests = state.server.in_flight() == 0 && state.server.is_between_requests() && !state.has_output() && !state.writing;
        rests.then(|| Duration::from_micros(self.since_it_began().saturating_sub(self.heard.load(Ordering::Acquire))))
    }

    /// When it came.
    pub(crate) fn began(&self) -> Instant {
        self.began
    }

    /// Where its client is from.
    pub(crate) fn origin(&self) -> Origin {
        self.origin
    }

    /// Number of messages of the negotiation that its client has completed, as far as that counts: a client that has completed more is about to show who it is,
    /// or sends more without an end.
    pub(crate) fn said(&self) -> u32 {
        self.said.load(Ordering::Acquire).min(SAID_MAX)
    }

    /// Says what a server says first, as far as that goes without waiting.
    pub(crate) fn greet(&self) {
        drop(self.transmit(self.lock(), Wait::No));
    }

    /// Takes no more requests. It ends once those that it has are answered and the client has the answers.
    pub(crate) fn stop_reading(&self) {
        self.stream.shut_input();
    }

    /// Ends it from outside.
    pub(crate) fn shut(&self) {
        self.die(self.lock());
    }

    fn die(&self, mut state: MutexGuard<'_, State>) {
        state.dead = true;
        self.is_gone.store(true, Ordering::Release);
        drop(state);
        self.stream.shut();
        self.changed.notify_all();
        self.left_over.notify_all();
    }

    /// Sends what there is, unless somebody is at it. Without waiting, what does not go at once is left to the second thread: the first one has to go on
    /// reading, for there are clients that read no answers before they have sent all they have to say.
    fn transmit<'a>(&'a self, mut state: MutexGuard<'a, State>, wait: Wait) -> MutexGuard<'a, State> {
        while !state.dead && !state.writing && state.has_output() {
            state.writing = true;
            let mut unsent = std::mem::take(&mut state.unsent);
            if unsent.is_empty() {
                state.server.take_output(&mut unsent.plain);
            }
            drop(state);
            let tls = self.tls.get();
            let sent = unsent.next(tls).and_then(|bytes| match wait {
                Wait::Yes => self.stream.write_all(bytes).map(|()| bytes.len()),
                Wait::No => self.stream.send_some(bytes),
            });
            state = self.lock();
            state.writing = false;
            let count = *sent.as_ref().unwrap_or(&0);
            unsent.sent(count, tls.is_some());
            state.dead |= sent.is_err();
            if unsent.is_empty() {
                let carried = unsent.clear();
                state.server.delivered(carried);
            }
            state.unsent = unsent;
            if count == 0 {
                self.wake(&mut state);
                break;
            }
            self.wake_first(&mut state);
        }
        state
    }

    /// Serves the client until it is gone.
    pub(crate) fn run(self: &Arc<Self>, disks: &[Arc<dyn Disk>], patience: Patience, admit: Admit<'_>) {
        let _end = End(self);
        let writer = {
            let connection = Arc::clone(self);
            thread::spawn(move || connection.write_late())
        };
        let mut visit = None;
        // What went wrong with a stream is the same as its end.
        let _ = self.read(disks, (patience, admit), &mut visit);
        let mut state = self.lock();
        if state.server.closed().is_none() {
            state.server.hang_up();
        }
        while !state.dead && !state.server.is_finished() {
            state = self.wait(state);
        }
        let farewell = if state.server.closed() == Some(&Close::Disconnected) { Farewell::Said } else { Farewell::None };
        drop(state);
        // What it has asked for need not be done any more, and whoever has it is told so by its leave.
        self.is_gone.store(true, Ordering::Release);
        if let Some(visit) = visit {
            visit.end(farewell);
        }
        let state = self.lock();
        if let (Some(tls), false, false) = (self.tls.get(), state.dead, state.writing) {
            // A peer that has gone has no use for it.
            let _ = tls.close().and_then(|bytes| self.stream.send_some(&bytes));
        }
        self.die(state);
        // A writer that panicked has nothing to tell.
        let _ = writer.join();
    }

    /// The second thread: sends what is answered outside of a batch, and what the first could not get rid of.
    fn write_late(&self) {
        let mut state = self.lock();
        while !state.dead {
            state = self.transmit(state, Wait::Yes);
            if !state.dead && (state.writing || !state.has_output()) {
                state.second_waits = true;
                state = self.left_over.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        }
    }

    fn read(
        self: &Arc<Self>,
        disks: &[Arc<dyn Disk>],
        (patience, admit): (Patience, Admit<'_>),
        visit: &mut Option<Visit>,
    ) -> io::Result<()> {
        self.stream.set_write_timeout(Some(patience.message))?;
        self.stream.set_read_timeout(Some(patience.message))?;
        let mut inlet = Inlet::new(patience.awake);
        let mut open: Option<Open> = None;
        // The greeting.
        drop(self.transmit(self.lock(), Wait::No));
        // The payload that is read to its own place next, and whether the client may be silent.
        let mut next = (None, false);
        let mut half: Option<Half> = None;
        loop {
            let (payload, may_be_silent) = std::mem::take(&mut next);
            let (input, count): (&[u8], usize) = match payload {
                Some(payload) => (&[], self.read_payload(payload, &mut inlet)?),
                // Only between two requests may a client be silent for as long as it likes.
                None => inlet.next(&self.stream, self.tls.get(), may_be_silent)?.map_or((&[][..], 0), |input| (input, input.len())),
            };
            if count == 0 {
                self.lock().server.hang_up();
                return Ok(());
            }
            half = Some(self.hear(half.filter(|_| !may_be_silent), count as u64, patience.message)?);
            let mut taken = 0;
            loop {
                self.in_batch.store(true, Ordering::Release);
                let (count, then) = self.hand_out(&input[taken..], disks, (&mut open, admit));
                if let (Some(open), None) = (&open, &visit) {
                    *visit = Some(Visit::begin(&disks[open.export]));
                }
                taken += count;
                self.in_batch.store(false, Ordering::Release);
                if open.is_none() {
                    // A message that is complete has an answer.
                    let is_answered = self.lock().has_output();
                    self.said.fetch_add(u32::from(is_answered), Ordering::AcqRel);
                }
                if then == Then::Out {
                    return Ok(());
                }
                if then == Then::Tls {
                    let said = input[taken..].to_vec();
                    self.start_tls(&said, patience, &mut inlet)?;
                    let is_certified = self.keys.as_ref().is_some_and(|keys| keys.peers() == Peers::Certified);
                    if is_certified && !admit(self) {
                        return Ok(());
                    }
                    break;
                }
                let Some(rest) = self.rest(taken < input.len()) else { return Ok(()) };
                half = half.filter(|_| !rest.has_waited);
                if !rest.goes_on {
                    next = rest.next;
                    break;
                }
            }
        }
    }

    /// `count` bytes have come, of a message of which some was there before if `half` says so.
    fn hear(&self, half: Option<Half>, count: u64, patience: Duration) -> io::Result<Half> {
        let now = self.since_it_began();
        self.heard.store(now, Ordering::Release);
        half.map_or(Some(Half { since: now, bytes: 0 }), |half| half.goes_on(now, count, patience)).ok_or(io::ErrorKind::TimedOut.into())
    }

    /// Sends answers, and waits until something can be handed out or read. `has_more`: not all was handed out. `None`: the conversation is over.
    fn rest(&self, has_more: bool) -> Option<Rest> {
        let mut has_waited = false;
        let mut state = self.transmit(self.lock(), Wait::No);
        // The server may hold as much as it may: it goes on once something is answered, or taken by the client.
        let goes_on = loop {
            if state.dead || state.server.closed().is_some() {
                return None;
            }
            if state.server.has_event() {
                break true;
            }
            if state.server.wants_input() {
                break has_more;
            }
            has_waited = true;
            state = self.wait(state);
            state = self.transmit(state, Wait::No);
        };
        let lent = if !goes_on && self.tls.get().is_none() { state.server.lend_payload() } else { None };
        Some(Rest { goes_on, has_waited, next: (lent, state.server.is_between_requests()) })
    }

    /// Reads more of a payload to its own place, and returns how much. Nothing is left to be handed out, then; 0: the client is gone.
    fn read_payload(&self, mut payload: Lent, inlet: &mut Inlet) -> io::Result<usize> {
        let count = inlet.read_behind(&self.stream, &mut payload.bytes)?;
        self.lock().server.give_back(payload);
        Ok(count)
    }

    /// Goes on in TLS, as was agreed. `said`: what the client has sent since.
    fn start_tls(&self, said: &[u8], patience: Patience, inlet: &mut Inlet) -> io::Result<()> {
        // The agreement itself goes in the clear, and all of it before anything else.
        let mut state = self.lock();
        while !state.dead && (state.writing || state.has_output()) {
            state = self.transmit(state, Wait::Yes);
            if state.writing {
                state = self.wait(state);
            }
        }
        drop(state);
        let keys = self.keys.as_ref().expect("the server offers no TLS without keys");
        let flight = || _ = self.said.fetch_add(1, Ordering::AcqRel);
        let tls = Tls::agree(keys, &self.stream, (said, inlet.plain()), patience.message, flight)?;
        self.tls.set(tls).expect("it is agreed on once");
        self.stream.set_read_timeout(Some(patience.message))?;
        self.lock().server.tls_started();
        Ok(())
    }

    /// Gives bytes to the protocol, and what comes of them to the disk. Returns how many were taken, and what is next.
    fn hand_out(
        self: &Arc<Self>,
        mut bytes: &[u8],
        disks: &[Arc<dyn Disk>],
        (open, admit): (&mut Option<Open>, Admit<'_>),
    ) -> (usize, Then) {
        let before = bytes.len();
        let mut events = Vec::new();
        let mut then = Then::GoOn;
        loop {
            let mut state = self.lock();
            let State { server, tickets, .. } = &mut *state;
            let taken = server.receive(bytes);
            bytes = &bytes[taken..];
            while let Some(event) = server.next() {
                events.push(match event {
                    Event::Opened(opened) => HandedOut::Opened(opened),
                    Event::Request(Request { op, ticket }) => HandedOut::Request(op, tickets.put(ticket)),
                    Event::StartTls => HandedOut::StartTls,
                    Event::Closed(_) => HandedOut::Closed,
                });
            }
            drop(state);
            if events.is_empty() {
                return (before - bytes.len(), then);
            }
            for event in events.drain(..) {
                match event {
                    // Nothing of what follows is done for one that has no place.
                    HandedOut::Opened(_) if !admit(self) => return (before - bytes.len(), Then::Out),
                    HandedOut::Opened(opened) => *open = Some(Open::new(opened, &self.settings)),
                    HandedOut::Request(op, tag) => {
                        let done = Done::new(Arc::clone(self) as Arc<dyn Requester>, tag);
                        if let Some(open) = open.as_ref() {
                            disks[open.export].submit(op, &open.session, done);
                        }
                    }
                    HandedOut::StartTls => then = Then::Tls,
                    HandedOut::Closed => {}
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For how long a peer is waited for that sends `bytes` every so many milliseconds, in seconds; `None`: for an hour at least.
    fn waited_for(bytes: u64, every_ms: u64) -> Option<u64> {
        let patience = Duration::from_secs(30);
        let mut half = Half { since: 0, bytes: 0 };
        for now in (1..3_600_000 / every_ms).map(|at| at * every_ms * 1000) {
            match half.goes_on(now, bytes, patience) {
                Some(more) => half = more,
                None => return Some(now / 1_000_000),
            }
        }
        None
    }

    #[test]
    fn a_message_that_trickles_is_waited_for_as_long_as_a_silent_one() {
        assert_eq!(waited_for(1, 4000), Some(32));
        assert_eq!(waited_for(512, 1000), Some(30));
        assert_eq!(waited_for(1100, 1000), None, "a slow line is a line");
        assert_eq!(waited_for(15_000, 20_000), Some(40));
        assert_eq!(waited_for(16_000, 20_000), None);
    }
}
