//! Disks, and the sessions of those who ask them.

use std::sync::Arc;

use crate::done::Done;
use crate::hints::Hints;
use crate::op::Op;

/// A disk that requests are handed to.
///
/// Requests come from many threads. Each carries its [`Done`] and is finished when that is used. A flush covers every request that was finished before it came.
pub trait Disk: Send + Sync {
    /// Does `op`, at once or later. Range, alignment and permission have been checked against the disk's description.
    fn submit(&self, op: Op, session: &Arc<Session>, done: Done);

    /// A requester has opened it.
    fn enter(&self) {}

    /// A requester that had opened it is leaving, and all that it asked for is answered. Its end is waited for until this returns.
    fn leave(&self, _farewell: Farewell) {}
}

/// Manner in which a requester leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Farewell {
    /// It announced that it leaves.
    Said,
    /// It is gone, or was hung up on.
    None,
}

/// Time of a requester with a disk that it has opened: [`Disk::enter`] at the beginning, [`Disk::leave`] at the end.
pub struct Visit {
    disk: Arc<dyn Disk>,
    farewell: Farewell,
}

impl Visit {
    /// Enters `disk`.
    pub fn begin(disk: &Arc<dyn Disk>) -> Visit {
        disk.enter();
        Visit { disk: Arc::clone(disk), farewell: Farewell::None }
    }

    /// Leaves the disk with this farewell. A visit that is dropped leaves it without one.
    pub fn end(mut self, farewell: Farewell) {
        self.farewell = farewell;
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        self.disk.leave(self.farewell);
    }
}

/// Terms on which a requester has opened a disk. They hold for all of its requests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Session {
    /// Hints about its data, where a stretch of the disk has none of its own.
    pub hints: Hints,
    /// The contexts that every block status is to answer, as places in the disk's list, rising.
    pub contexts: Vec<usize>,
}

/// Description of a disk beside its size, for those who may open it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    /// Bytes of a request that is done without reading or writing anything around it: a power of two, at least 512.
    pub preferred: u32,
    /// Names of the contexts of a block status beyond allocation, which is context 0 of every disk.
    pub contexts: Vec<String>,
    /// Words of hints that a session can have: some of [`crate::hints::classes`].
    pub classes: Vec<String>,
}
