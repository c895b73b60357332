//! One client: a thread that reads, and one that writes what is answered late.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;

use wordline_nbd::{Event, Opened, Request, Server, Settings};

use crate::address::Stream;
use crate::disk::{Disk, Done, Session};
use crate::inlet::Inlet;
use crate::listener::Patience;
use crate::tls::{Tls, TlsKeys};

/// What the threads of a connection share.
#[derive(Debug)]
pub(crate) struct Connection {
    stream: Stream,
    keys: Option<TlsKeys>,
    /// Once it is agreed on.
    tls: OnceLock<Tls>,
    state: Mutex<State>,
    /// Something to send, room for input, or the end.
    changed: Condvar,
    /// The reading thread is handing out requests, and will send their answers itself.
    in_batch: AtomicBool,
}

#[derive(Debug)]
struct State {
    server: Server,
    /// Somebody is writing to the stream.
    writing: bool,
    /// Output that was begun to be sent, from `sent` on, as it goes over the line.
    unsent: Vec<u8>,
    sent: usize,
    /// How much of the server's output it is; known to the server once all of it is sent.
    carries: usize,
    /// A thread sleeps until something changes.
    somebody_waits: bool,
    /// The stream is of no more use.
    dead: bool,
}

/// What follows the bytes that were handed out.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Then {
    GoOn,
    /// What comes next is TLS.
    Tls,
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

impl Connection {
    pub(crate) fn new(stream: Stream, settings: Arc<Settings>, keys: Option<TlsKeys>) -> Connection {
        let server = Server::new(settings);
        let state = State { server, writing: false, unsent: Vec::new(), sent: 0, carries: 0, somebody_waits: false, dead: false };
        let (tls, changed) = (OnceLock::new(), Condvar::new());
        Connection { stream, keys, tls, state: Mutex::new(state), changed, in_batch: AtomicBool::new(false) }
    }

    /// The state, also after a disk that panicked over an answer: what it had not answered is dropped with it.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, mut state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        state.somebody_waits = true;
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes whoever waits for a change. Only the first change after they fell asleep has to: what comes before they are up, they find.
    fn wake(&self, state: &mut State) {
        if std::mem::take(&mut state.somebody_waits) {
            self.changed.notify_all();
        }
    }

    /// Lets `answer` reply to a request. `in_batch`: [`Connection::send_late`] will be called.
    pub(crate) fn answer(&self, in_batch: bool, answer: impl FnOnce(&mut Server)) {
        let mut state = self.lock();
        answer(&mut state.server);
        if !in_batch && !self.in_batch.load(Ordering::Acquire) {
            self.wake(&mut state);
        }
    }

    /// Sees to it that answers are sent.
    pub(crate) fn send_late(&self) {
        self.wake(&mut self.lock());
    }

    /// Sends answers from the caller's thread, as far as they go without waiting; the rest is left to the second thread.
    pub(crate) fn send_now(&self) {
        let mut state = self.send(self.lock(), Wait::No);
        if state.has_output() {
            self.wake(&mut state);
        }
    }

    /// Ends it from outside.
    pub(crate) fn shut(&self) {
        self.die(self.lock());
    }

    fn die(&self, mut state: MutexGuard<'_, State>) {
        state.dead = true;
        drop(state);
        self.stream.shut();
        self.changed.notify_all();
    }

    /// Sends what there is, unless somebody is at it. Without waiting, what does not go at once is left to the second thread: the first one has to go on
    /// reading, for there are clients that read no answers before they have sent all they have to say.
    fn send<'a>(&'a self, mut state: MutexGuard<'a, State>, wait: Wait) -> MutexGuard<'a, State> {
        while !state.dead && !state.writing && state.has_output() {
            state.writing = true;
            let is_new = state.unsent.is_empty();
            let mut bytes = std::mem::take(&mut state.unsent);
            if is_new {
                state.server.take_output(&mut bytes);
                (state.sent, state.carries) = (0, bytes.len());
            }
            let from = state.sent;
            drop(state);
            let sent = match self.tls.get().filter(|_| is_new) {
                Some(tls) => tls.encrypt(&bytes).map(|encrypted| bytes = encrypted),
                None => Ok(()),
            };
            let sent = sent.and_then(|()| match wait {
                Wait::Yes => self.stream.write_all(&bytes[from..]).map(|()| bytes.len() - from),
                Wait::No => self.stream.send_some(&bytes[from..]),
            });
            state = self.lock();
            state.writing = false;
            let count = *sent.as_ref().unwrap_or(&0);
            state.unsent = bytes;
            state.sent = from + count;
            state.dead |= sent.is_err();
            if state.sent == state.unsent.len() {
                state.unsent.clear();
                let carries = std::mem::take(&mut state.carries);
                state.server.delivered(carries);
            }
            self.wake(&mut state);
            if count == 0 {
                break;
            }
        }
        state
    }

    /// Serves the client until it is gone.
    pub(crate) fn run(self: &Arc<Self>, disks: &[Arc<dyn Disk>], patience: Patience) {
        let _end = End(self);
        let writer = {
            let connection = Arc::clone(self);
            thread::spawn(move || connection.write_late())
        };
        // What went wrong with a stream is the same as its end.
        let _ = self.read(disks, patience);
        let mut state = self.lock();
        if state.server.closed().is_none() {
            state.server.hang_up();
        }
        while !state.dead && !state.server.is_finished() {
            state = self.wait(state);
        }
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
            state = self.send(state, Wait::Yes);
            if !state.dead && (state.writing || !state.has_output()) {
                state = self.wait(state);
            }
        }
    }

    fn read(self: &Arc<Self>, disks: &[Arc<dyn Disk>], patience: Patience) -> io::Result<()> {
        self.stream.set_write_timeout(Some(patience.message))?;
        self.stream.set_read_timeout(Some(patience.message))?;
        let mut inlet = Inlet::new(patience.awake);
        let mut session: Option<Arc<Session>> = None;
        let mut limited = true;
        // The greeting.
        drop(self.send(self.lock(), Wait::No));
        loop {
            let Some(input) = inlet.next(&self.stream, self.tls.get())? else {
                self.lock().server.hang_up();
                return Ok(());
            };
            let mut taken = 0;
            loop {
                self.in_batch.store(true, Ordering::Release);
                let (count, then) = self.hand_out(&input[taken..], disks, &mut session);
                taken += count;
                self.in_batch.store(false, Ordering::Release);
                if then == Then::Tls {
                    let said = input[taken..].to_vec();
                    self.start_tls(&said, patience, &mut inlet)?;
                    break;
                }
                let mut state = self.send(self.lock(), Wait::No);
                // The server may hold as much as it may: it goes on once something is answered, or taken by the client.
                let goes_on = loop {
                    if state.dead || state.server.closed().is_some() {
                        return Ok(());
                    }
                    if state.server.has_event() {
                        break true;
                    }
                    if state.server.wants_input() {
                        break taken < input.len();
                    }
                    state = self.wait(state);
                    state = self.send(state, Wait::No);
                };
                if goes_on {
                    continue;
                }
                let between = state.server.is_between_requests();
                drop(state);
                // Only between two requests may a client be silent for as long as it likes.
                if limited == between {
                    limited = !between;
                    self.stream.set_read_timeout(limited.then_some(patience.message))?;
                }
                break;
            }
        }
    }

    /// Goes on in TLS, as was agreed. `said`: what the client has sent since.
    fn start_tls(&self, said: &[u8], patience: Patience, inlet: &mut Inlet) -> io::Result<()> {
        // The agreement itself goes in the clear, and all of it before anything else.
        let mut state = self.lock();
        while !state.dead && (state.writing || state.has_output()) {
            state = self.send(state, Wait::Yes);
            if state.writing {
                state = self.wait(state);
            }
        }
        drop(state);
        let keys = self.keys.as_ref().expect("the server offers no TLS without keys");
        let tls = Tls::agree(keys, &self.stream, said, patience.message, inlet.plain())?;
        self.tls.set(tls).expect("it is agreed on once");
        self.stream.set_read_timeout(Some(patience.message))?;
        self.lock().server.tls_started();
        Ok(())
    }

    /// Gives bytes to the protocol, and what comes of them to the disk. Returns how many were taken, and what is next.
    fn hand_out(self: &Arc<Self>, mut bytes: &[u8], disks: &[Arc<dyn Disk>], session: &mut Option<Arc<Session>>) -> (usize, Then) {
        let before = bytes.len();
        let mut events = Vec::new();
        let mut then = Then::GoOn;
        loop {
            let mut state = self.lock();
            let taken = state.server.receive(bytes);
            bytes = &bytes[taken..];
            while let Some(event) = state.server.next() {
                events.push(event);
            }
            drop(state);
            if events.is_empty() {
                return (before - bytes.len(), then);
            }
            for event in events.drain(..) {
                match event {
                    Event::Opened(opened) => *session = Some(Arc::new(Session { opened })),
                    Event::Request(Request { op, ticket }) => {
                        let done = Done::new(Arc::clone(self), ticket);
                        if let Some(session) = session.as_ref() {
                            let Opened { export, .. } = session.opened;
                            disks[export].submit(op, session, done);
                        }
                    }
                    Event::StartTls => then = Then::Tls,
                    Event::Closed(_) => {}
                }
            }
        }
    }
}
