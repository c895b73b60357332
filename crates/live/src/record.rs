//! Requests on their way into a trace.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};

use wordline_units::{HostRequest, Nanos};

use crate::ask::Look;

/// Requests that may wait to be written down. A drive does not wait for a slow recorder: beyond this number, the recording ends.
const WAITING_MAX: usize = 1 << 17;

/// A line of a recording.
#[derive(Debug)]
pub(crate) enum Recorded {
    /// A request, with its instant since the recording began.
    Request(HostRequest),
    /// An event that a trace has no columns for.
    Note(Nanos, String),
    /// The end, with the state of the drive when the last request was answered.
    End(Box<Look>),
}

/// The recorder's end of the way.
#[derive(Debug)]
pub(crate) struct Recorder {
    to: SyncSender<Recorded>,
    state: Arc<State>,
    /// The instant of the first request.
    origin: Option<Nanos>,
}

/// Shared state of both ends.
#[derive(Debug, Default)]
struct State {
    /// True once the reader is gone.
    is_gone: AtomicBool,
    /// True if a request was left out.
    is_broken: AtomicBool,
}

/// The reader's end of the way.
#[derive(Debug)]
pub(crate) struct Recording {
    pub(crate) lines: Receiver<Recorded>,
    state: Arc<State>,
    /// True if the drive was not new: a replay starts from another state.
    pub(crate) is_late: bool,
}

impl Recorder {
    pub(crate) fn new(is_late: bool) -> (Recorder, Recording) {
        let (to, lines) = sync_channel(WAITING_MAX);
        let state = Arc::new(State::default());
        (Recorder { to, state: Arc::clone(&state), origin: None }, Recording { lines, state, is_late })
    }

    /// True if the reader is there, and has missed nothing.
    pub(crate) fn is_heard(&self) -> bool {
        !self.state.is_gone.load(Ordering::Acquire) && !self.state.is_broken.load(Ordering::Acquire)
    }

    fn send(&self, line: Recorded) {
        if let Err(TrySendError::Full(_)) = self.to.try_send(line) {
            self.state.is_broken.store(true, Ordering::Release);
        }
    }

    /// `request` arrives at `now`.
    pub(crate) fn request(&mut self, now: Nanos, request: &HostRequest) {
        let origin = *self.origin.get_or_insert(now);
        self.send(Recorded::Request(HostRequest { at: now - origin, ..*request }));
    }

    pub(crate) fn note(&self, now: Nanos, note: String) {
        self.send(Recorded::Note(now.saturating_sub(self.origin.unwrap_or(now)), note));
    }

    pub(crate) fn end(self, look: &Look) {
        self.send(Recorded::End(Box::new(look.clone())));
    }
}

impl Recording {
    /// True if a request was left out, because the reader was too slow.
    pub(crate) fn is_broken(&self) -> bool {
        self.state.is_broken.load(Ordering::Acquire)
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        self.state.is_gone.store(true, Ordering::Release);
    }
}

/// Adds a note to all recordings about an event that they have no columns for.
pub(crate) fn note_all(recorders: &[Recorder], now: Nanos, note: String) {
    recorders.iter().for_each(|recorder| recorder.note(now, note.clone()));
}
