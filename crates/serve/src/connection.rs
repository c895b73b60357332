//! One client: a thread that reads, and one that writes what is answered late.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use wordline_nbd::{Event, Opened, Request, Server, Settings};

use crate::address::Stream;
use crate::disk::{Disk, Done, Session};
use crate::listener::Patience;

/// Bytes read at once. Larger does not help: a payload is copied once in any case.
const INPUT_BYTES: usize = 256 << 10;

/// What the threads of a connection share.
#[derive(Debug)]
pub(crate) struct Connection {
    stream: Stream,
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
    /// Output that was begun to be sent, from `sent` on.
    unsent: Vec<u8>,
    sent: usize,
    /// A thread sleeps until something changes.
    somebody_waits: bool,
    /// The stream is of no more use.
    dead: bool,
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
    pub(crate) fn new(stream: Stream, settings: Arc<Settings>) -> Connection {
        let state =
            State { server: Server::new(settings), writing: false, unsent: Vec::new(), sent: 0, somebody_waits: false, dead: false };
        Connection { stream, state: Mutex::new(state), changed: Condvar::new(), in_batch: AtomicBool::new(false) }
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
            if state.unsent.is_empty() {
                let mut output = std::mem::take(&mut state.unsent);
                state.server.take_output(&mut output);
                state.unsent = output;
            }
            let (bytes, from) = (std::mem::take(&mut state.unsent), state.sent);
            state.writing = true;
            drop(state);
            let sent = match wait {
                Wait::Yes => self.stream.write_all(&bytes[from..]).map(|()| bytes.len() - from),
                Wait::No => self.stream.send_some(&bytes[from..]),
            };
            state = self.lock();
            state.writing = false;
            let count = *sent.as_ref().unwrap_or(&0);
            state.server.delivered(count);
            state.unsent = bytes;
            state.sent = from + count;
            state.dead |= sent.is_err();
            if state.sent == state.unsent.len() {
                state.unsent.clear();
                state.sent = 0;
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
        let mut input = vec![0; INPUT_BYTES];
        let mut session: Option<Arc<Session>> = None;
        let mut limited = true;
        // The greeting.
        drop(self.send(self.lock(), Wait::No));
        loop {
            let count = match self.stream.read(&mut input) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                other => other?,
            };
            if count == 0 {
                self.lock().server.hang_up();
                return Ok(());
            }
            let mut taken = 0;
            loop {
                self.in_batch.store(true, Ordering::Release);
                taken += self.hand_out(&input[taken..count], disks, &mut session);
                self.in_batch.store(false, Ordering::Release);
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
                        break taken < count;
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

    /// Gives bytes to the protocol, and what comes of them to the disk. Returns how many were taken.
    fn hand_out(self: &Arc<Self>, mut bytes: &[u8], disks: &[Arc<dyn Disk>], session: &mut Option<Arc<Session>>) -> usize {
        let before = bytes.len();
        let mut events = Vec::new();
        loop {
            let mut state = self.lock();
            let taken = state.server.receive(bytes);
            bytes = &bytes[taken..];
            while let Some(event) = state.server.next() {
                events.push(event);
            }
            drop(state);
            if events.is_empty() {
                return before - bytes.len();
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
                    Event::StartTls | Event::Closed(_) => {}
                }
            }
        }
    }
}
