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
    /// The stream is of no more use.
    dead: bool,
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
        let state = State { server: Server::new(settings), writing: false, dead: false };
        Connection { stream, state: Mutex::new(state), changed: Condvar::new(), in_batch: AtomicBool::new(false) }
    }

    /// The state, also after a disk that panicked over an answer: what it had not answered is dropped with it.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets `answer` reply to a request.
    pub(crate) fn answer(&self, answer: impl FnOnce(&mut Server)) {
        answer(&mut self.lock().server);
        if !self.in_batch.load(Ordering::Acquire) {
            self.changed.notify_all();
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

    /// Sends what there is, unless somebody is at it. `buffer` is scratch.
    fn send<'a>(&'a self, mut state: MutexGuard<'a, State>, buffer: &mut Vec<u8>) -> MutexGuard<'a, State> {
        while !state.dead && !state.writing && !state.server.output().is_empty() {
            buffer.clear();
            state.server.take_output(buffer);
            state.writing = true;
            drop(state);
            let sent = self.stream.write_all(buffer);
            state = self.lock();
            state.writing = false;
            state.server.delivered(buffer.len());
            state.dead |= sent.is_err();
            self.changed.notify_all();
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

    /// The second thread: sends what is answered outside of a batch.
    fn write_late(&self) {
        let mut buffer = Vec::new();
        let mut state = self.lock();
        while !state.dead {
            state = self.send(state, &mut buffer);
            if !state.dead && (state.writing || state.server.output().is_empty()) {
                state = self.wait(state);
            }
        }
    }

    fn read(self: &Arc<Self>, disks: &[Arc<dyn Disk>], patience: Patience) -> io::Result<()> {
        self.stream.set_write_timeout(Some(patience.message))?;
        self.stream.set_read_timeout(Some(patience.message))?;
        let (mut input, mut output) = (vec![0; INPUT_BYTES], Vec::new());
        let mut session: Option<Arc<Session>> = None;
        let mut limited = true;
        // The greeting.
        drop(self.send(self.lock(), &mut output));
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
                let mut state = self.send(self.lock(), &mut output);
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
                    state = self.send(state, &mut output);
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
