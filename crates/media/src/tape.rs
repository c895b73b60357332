//! Everything that was done to backings in memory, in order.

use std::sync::{Arc, Mutex};

/// One thing done to one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Which file.
    pub file: usize,
    /// What was done.
    pub act: Act,
}

/// What was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// It became so long.
    SetLength(u64),
    /// Bytes were written.
    Write {
        /// The first byte written.
        offset: u64,
        /// The bytes written.
        bytes: Box<[u8]>,
    },
    /// A stretch became zeroes.
    Punch {
        /// From where.
        offset: u64,
        /// How many bytes.
        length: u64,
    },
    /// All before it was made durable.
    Sync,
}

/// A record of everything that was done to a number of files, in one order.
#[derive(Clone, Debug, Default)]
pub struct Tape(Arc<Mutex<Vec<Entry>>>);

impl Tape {
    /// An empty tape.
    pub fn new() -> Tape {
        Tape::default()
    }

    pub(crate) fn record(&self, file: usize, act: Act) {
        self.lock().push(Entry { file, act });
    }

    /// Entries so far.
    pub fn len(&self) -> usize {
        self.lock().len()
    }

    /// Whether nothing was done yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Everything so far.
    pub fn entries(&self) -> Vec<Entry> {
        self.lock().clone()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Entry>> {
        // A test that died while it recorded has nothing half done: an entry is pushed or not.
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
