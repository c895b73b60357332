//! Work that the host's disk does not take: kept in memory, in its order, and done once it does.
//!
//! A die has no word for a host whose disk is full. So what such a host refuses is held here, and everything after it, of every file: the files then stand as
//! they stood at one instant, the one at which the first of it was refused. That is what they are after the process was killed at that instant, and what comes
//! back then is known to be sound. Whoever acknowledges something to a client asks first whether anything is held.
//!
//! ```text
//! Die ──► Held ──► Backing            nothing is held
//!           └────► Backlog ──► Backing   the host refused something; settle() tries again, first to last
//! ```
//!
//! Reads find what is held. A sync that comes while something is held has its place in the order, too.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::backing::Backing;
use crate::error::MediaError;
use crate::tape::{Act, Entry};

/// What is held for a number of files, in one order. Copies of it are the same.
#[derive(Clone, Debug, Default)]
pub struct Backlog(Arc<Mutex<Waiting>>);

#[derive(Debug, Default)]
struct Waiting {
    entries: VecDeque<Entry>,
    /// Bytes to be written among them.
    bytes: u64,
    /// Why the first of them could not be done.
    why: Option<Refusal>,
    /// Nothing is done or held any more.
    is_frozen: bool,
}

/// Why the host took something not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// It is full, or a quota is used up.
    pub is_full: bool,
    /// In words, with file and offset.
    pub why: String,
}

impl Backlog {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether nothing is held.
    pub fn is_empty(&self) -> bool {
        self.waiting().entries.is_empty()
    }

    /// Bytes that are held.
    pub fn bytes(&self) -> u64 {
        self.waiting().bytes
    }

    /// Why the host did not take the first of what is held; `None`: nothing is.
    pub fn refusal(&self) -> Option<Refusal> {
        let waiting = self.waiting();
        if waiting.entries.is_empty() { None } else { waiting.why.clone() }
    }

    /// Leaves the files as they are from now on: what comes later is neither done nor held. For a drive that cannot be relied on any more.
    pub fn freeze(&self) {
        self.waiting().is_frozen = true;
    }

    fn is_frozen(&self) -> bool {
        self.waiting().is_frozen
    }

    fn push(&self, file: usize, act: Act) {
        let mut waiting = self.waiting();
        waiting.bytes += bytes_of(&act);
        waiting.entries.push_back(Entry { file, act });
    }

    /// Tries to do the first of what is held, on the file that `file_of` gives for its number.
    ///
    /// # Errors
    /// If a sync failed: what was written before it may be lost, and trying again would not tell.
    pub(crate) fn attempt<'a, B: Backing + 'a>(&self, file_of: impl FnOnce(usize) -> &'a mut Held<B>) -> Result<Attempt, MediaError> {
        let mut waiting = self.waiting();
        let Some(Entry { file, act }) = waiting.entries.front() else { return Ok(Attempt::NothingHeld) };
        if waiting.is_frozen {
            return Ok(Attempt::Refused);
        }
        let held = file_of(*file);
        let (offset, doing) = place_of(act);
        match perform(&mut held.below, act) {
            Err(error) if matches!(act, Act::Sync) => Err(MediaError::host(&held.name, offset, doing, error)),
            Err(error) => {
                waiting.why = Some(held.refused(offset, doing, error));
                Ok(Attempt::Refused)
            }
            Ok(()) => {
                waiting.bytes -= bytes_of(act);
                waiting.entries.pop_front();
                Ok(Attempt::Done)
            }
        }
    }
}

/// What came of trying once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Attempt {
    /// There was nothing to do.
    NothingHeld,
    /// The first of what was held is done.
    Done,
    /// The host still does not take it.
    Refused,
}

fn bytes_of(act: &Act) -> u64 {
    match act {
        Act::Write { bytes, .. } => bytes.len() as u64,
        Act::SetLength(_) | Act::Punch { .. } | Act::Sync => 0,
    }
}

fn place_of(act: &Act) -> (u64, &'static str) {
    match act {
        Act::SetLength(length) => (*length, "changing the length"),
        Act::Write { offset, .. } => (*offset, "writing"),
        Act::Punch { offset, .. } => (*offset, "erasing a block"),
        Act::Sync => (0, "syncing"),
    }
}

fn perform<B: Backing>(below: &mut B, act: &Act) -> io::Result<()> {
    match act {
        Act::SetLength(length) => below.set_length(*length),
        Act::Write { offset, bytes } => below.write(*offset, bytes),
        Act::Punch { offset, length } => below.punch(*offset, *length),
        Act::Sync => below.sync(),
    }
}

/// A file whose writes and erases are held where the host does not take them.
#[derive(Debug)]
pub struct Held<B> {
    below: B,
    /// Its number in the backlog.
    file: usize,
    /// For messages.
    name: String,
    backlog: Backlog,
}

impl<B: Backing> Held<B> {
    /// `below`, as file number `file` of those that share `backlog`. `name` is for messages.
    pub fn new(below: B, file: usize, name: &str, backlog: &Backlog) -> Held<B> {
        Held { below, file, name: name.to_owned(), backlog: backlog.clone() }
    }

    /// What it stands on, without what is held.
    pub fn below(&self) -> &B {
        &self.below
    }

    fn refused(&self, offset: u64, doing: &'static str, error: io::Error) -> Refusal {
        let error = MediaError::host(&self.name, offset, doing, error);
        Refusal { is_full: matches!(error, MediaError::NoSpace { .. }), why: error.to_string() }
    }

    /// Does `act`, or holds it.
    fn act(&mut self, act: impl Fn() -> Act, now: impl FnOnce(&mut B) -> io::Result<()>) {
        if self.backlog.is_frozen() {
            return;
        }
        if self.backlog.is_empty() {
            let Err(error) = now(&mut self.below) else { return };
            let (offset, doing) = place_of(&act());
            let refusal = self.refused(offset, doing, error);
            self.backlog.waiting().why = Some(refusal);
        }
        self.backlog.push(self.file, act());
    }
}

impl<B: Backing> Backing for Held<B> {
    fn length(&self) -> io::Result<u64> {
        self.below.length()
    }

    fn set_length(&mut self, length: u64) -> io::Result<()> {
        self.below.set_length(length)
    }

    fn read(&self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        self.below.read(offset, into)?;
        let waiting = self.backlog.waiting();
        let end = offset + into.len() as u64;
        // The last one counts.
        for Entry { file, act } in &waiting.entries {
            if *file != self.file {
                continue;
            }
            let (from, length) = match act {
                Act::Write { offset, bytes } => (*offset, bytes.len() as u64),
                Act::Punch { offset, length } => (*offset, *length),
                Act::SetLength(_) | Act::Sync => continue,
            };
            let (first, last) = (from.max(offset), (from + length).min(end));
            if first >= last {
                continue;
            }
            let part = &mut into[(first - offset) as usize..(last - offset) as usize];
            match act {
                Act::Write { bytes, .. } => part.copy_from_slice(&bytes[(first - from) as usize..(last - from) as usize]),
                Act::SetLength(_) | Act::Punch { .. } | Act::Sync => part.fill(0),
            }
        }
        Ok(())
    }

    /// It never fails: what the host does not take is held.
    fn write(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.act(|| Act::Write { offset, bytes: bytes.into() }, |below| below.write(offset, bytes));
        Ok(())
    }

    /// It never fails: what the host does not take is held.
    fn punch(&mut self, offset: u64, length: u64) -> io::Result<()> {
        self.act(|| Act::Punch { offset, length }, |below| below.punch(offset, length));
        Ok(())
    }

    /// It never fails: what the host does not take is held.
    fn zero(&mut self, offset: u64, length: u64, anew: bool) -> io::Result<()> {
        self.act(|| Act::Punch { offset, length }, |below| below.zero(offset, length, anew));
        Ok(())
    }

    fn data_end(&self, from: u64, until: u64) -> io::Result<u64> {
        if self.backlog.is_empty() { self.below.data_end(from, until) } else { Ok(until) }
    }

    /// While something is held, it only takes its place behind it.
    fn sync(&mut self) -> io::Result<()> {
        if self.backlog.is_empty() {
            return self.below.sync();
        }
        if !self.backlog.is_frozen() {
            self.backlog.push(self.file, Act::Sync);
        }
        Ok(())
    }

    fn room(&self) -> io::Result<u64> {
        self.below.room()
    }
}
