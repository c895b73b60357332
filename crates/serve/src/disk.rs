//! What is behind the sockets.

use std::sync::Arc;

use wordline_block::{Errno, Failure, Op, Piece, Reply};
use wordline_nbd::{Opened, Ticket};

use crate::connection::Connection;

/// A disk that requests are handed to.
///
/// Requests come from many threads. Each carries its [`Done`] and is finished when that is used. A flush covers every request that was finished before it came.
pub trait Disk: Send + Sync {
    /// Does `op`, at once or later. Range, alignment and permission have been checked against the export.
    fn submit(&self, op: Op, session: &Arc<Session>, done: Done);

    /// A client has opened it.
    fn enter(&self) {}

    /// A client that had opened it is leaving, and all that it asked for is answered. Its connection ends once this returns.
    fn leave(&self, _farewell: Farewell) {}
}

/// How a client leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Farewell {
    /// It said that it does.
    Said,
    /// It is gone, or was hung up on.
    None,
}

/// A client's time with a disk that it has opened.
pub(crate) struct Visit {
    disk: Arc<dyn Disk>,
    farewell: Farewell,
}

impl Visit {
    pub(crate) fn begin(disk: &Arc<dyn Disk>) -> Visit {
        disk.enter();
        Visit { disk: Arc::clone(disk), farewell: Farewell::None }
    }

    pub(crate) fn end(mut self, farewell: Farewell) {
        self.farewell = farewell;
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        self.disk.leave(self.farewell);
    }
}

/// What a connection opened: which export, with which hint classes, and which contexts a block status answers.
#[derive(Debug)]
pub struct Session {
    /// As it was opened.
    pub opened: Opened,
}

/// The way to answer one request. Dropped without an answer, it answers with an I/O error.
#[derive(Debug)]
pub struct Done {
    connection: Arc<Connection>,
    /// There until it is used.
    ticket: Option<Ticket>,
    /// Somebody else sees to it that the answer is sent.
    in_batch: bool,
}

/// Answers that are sent together: for a disk that has many at once, and would else wake the connection's thread for each. They are sent when this is dropped,
/// or earlier.
#[derive(Debug, Default)]
pub struct Batch(Vec<Arc<Connection>>);

impl Batch {
    /// Lets the answer given through `done` be sent with this batch.
    pub fn take_in(&mut self, done: &mut Done) {
        done.in_batch = true;
        if !self.0.iter().any(|connection| Arc::ptr_eq(connection, &done.connection)) {
            self.0.push(Arc::clone(&done.connection));
        }
    }

    /// Sends what there is.
    pub fn send(&mut self) {
        self.0.drain(..).for_each(|connection| connection.send_late());
    }
}

impl Batch {
    /// Sends what there is from this thread, as far as it goes without waiting.
    pub(crate) fn send_now(&mut self) {
        self.0.drain(..).for_each(|connection| connection.send_now());
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        self.send();
    }
}

impl Done {
    pub(crate) fn new(connection: Arc<Connection>, ticket: Ticket) -> Done {
        Done { connection, ticket: Some(ticket), in_batch: false }
    }

    /// Whether anybody waits for the answer. A request that is not wanted need not be done; dropped, it costs nothing more.
    pub fn is_wanted(&self) -> bool {
        self.connection.is_there()
    }

    /// Answers.
    ///
    /// # Panics
    /// If the reply does not fit the request: see [`Reply`].
    pub fn reply(mut self, reply: Reply<'_>) {
        if let Some(ticket) = self.ticket.take() {
            self.connection.answer(self.in_batch, |server| server.reply(ticket, reply));
        }
    }

    /// It is done.
    ///
    /// # Panics
    /// If it was a read or a block status.
    pub fn ok(self) {
        self.reply(Reply::Done);
    }

    /// It is done, and `payload` is the buffer that it brought: another request of this client may use it.
    ///
    /// # Panics
    /// If it was a read or a block status.
    pub fn ok_with(mut self, payload: Vec<u8>) {
        if let Some(ticket) = self.ticket.take() {
            self.connection.answer(self.in_batch, |server| {
                server.spare(payload);
                server.reply(ticket, Reply::Done);
            });
        }
    }

    /// It failed, and this is why.
    pub fn fail(self, errno: Errno, message: &str) {
        self.reply(Reply::Failed(Failure { errno, message }));
    }

    /// It is a read, and failed: `at` is the place of the first byte that could not be read, counted from its first, if that is known.
    ///
    /// # Panics
    /// If it was no read.
    pub fn fail_at(self, at: Option<u64>, errno: Errno, message: &str) {
        let failure = Failure { errno, message };
        self.reply(at.map_or(Reply::Failed(failure), |at| Reply::FailedAt(at, failure)));
    }

    /// Answers a read with all its bytes.
    ///
    /// # Panics
    /// If it was no read, or of another length.
    pub fn read(self, pieces: &[Piece<'_>]) {
        self.reply(Reply::Read(pieces));
    }

    /// Answers a read with bytes that are written to where they are sent from. `fill` should be quick: the connection waits for it.
    ///
    /// # Panics
    /// If it was no read.
    pub fn fill<'a>(mut self, fill: impl FnOnce(&mut [u8]) -> Result<(), Failure<'a>>) {
        if let Some(ticket) = self.ticket.take() {
            self.connection.answer(self.in_batch, |server| server.reply_in_place(ticket, fill));
        }
    }
}

impl Drop for Done {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket.take() {
            let failure = Failure { errno: Errno::Io, message: "the disk gave no answer" };
            self.connection.answer(self.in_batch, |server| server.reply(ticket, Reply::Failed(failure)));
        }
    }
}
