//! A simulated drive behind a socket: the same object that runs in virtual time, with bytes, on the wall's clock.
//!
//! ```text
//! Disk::submit ─► inbox ─► worker ── HostRequests ──► Drive (virtual time) ── Completed ──► Done
//!                           └── clock: virtual time may not run ahead of the wall's
//! ```
//!
//! One thread owns the drive. Where the clock is [`Timing::Off`], virtual time runs as fast as the machine does, and an answer is sent as soon as the drive has
//! it. Where it is [`Timing::Real`], nothing is done before its instant has come on the wall's clock: an answer is never early, and how late it was is counted.

mod clock;
mod pieces;
mod worker;

use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use wordline_chip::Payload;
use wordline_drive::Drive;
use wordline_nbd::{Errno, Op};

pub use clock::Timing;
pub use worker::{Completions, Lateness};

use crate::disk::{Disk, Done, Session};
use worker::Worker;

/// Who keeps the bytes of a drive's dies, where that can fail.
pub trait Keeper {
    /// Makes everything that was programmed as durable as it is to be. Called before a flush, or anything with FUA, is answered.
    ///
    /// # Errors
    /// What the client is told.
    fn sync(&self) -> Result<(), String>;

    /// What went wrong that a die has no way to say. From then on nothing is answered well.
    fn trouble(&self) -> Option<String>;
}

/// Nothing is kept, so nothing can fail.
impl Keeper for () {
    fn sync(&self) -> Result<(), String> {
        Ok(())
    }

    fn trouble(&self) -> Option<String> {
        None
    }
}

/// A drive that answers block requests.
#[derive(Debug)]
pub struct LiveDisk {
    /// Taken when it closes.
    inbox: Mutex<Option<Sender<worker::Command>>>,
    worker: Mutex<Option<JoinHandle<()>>>,
    lateness: Arc<Mutex<Lateness>>,
}

impl LiveDisk {
    /// Runs the drive that `build` makes, in a thread of its own.
    pub fn start<P: Payload>(build: impl FnOnce() -> Drive<Completions, P> + Send + 'static, timing: Timing) -> LiveDisk {
        LiveDisk::start_kept(move || (build(), ()), timing)
    }

    /// Runs the drive that `build` makes, with the keeper of its bytes, in a thread of its own.
    pub fn start_kept<P: Payload, K: Keeper + 'static>(
        build: impl FnOnce() -> (Drive<Completions, P>, K) + Send + 'static,
        timing: Timing,
    ) -> LiveDisk {
        let (inbox, outbox) = channel();
        let lateness = Arc::new(Mutex::new(Lateness::default()));
        let told = Arc::clone(&lateness);
        let worker = std::thread::spawn(move || {
            let (drive, keeper) = build();
            Worker::new((drive, Box::new(keeper)), timing, outbox, told).run();
        });
        LiveDisk { inbox: Mutex::new(Some(inbox)), worker: Mutex::new(Some(worker)), lateness }
    }

    /// How late answers have been so far.
    pub fn lateness(&self) -> Lateness {
        *self.lateness.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers what is outstanding and stops the drive.
    pub fn close(&self) {
        drop(self.inbox.lock().unwrap_or_else(PoisonError::into_inner).take());
        if let Some(worker) = self.worker.lock().unwrap_or_else(PoisonError::into_inner).take() {
            // A drive that broke an invariant has said so already, and its clients have had their errors.
            let _ = worker.join();
        }
    }
}

impl Disk for LiveDisk {
    fn submit(&self, op: Op, session: &Arc<Session>, done: Done) {
        let inbox = self.inbox.lock().unwrap_or_else(PoisonError::into_inner);
        let contexts = session.opened.contexts.clone();
        let refused = match inbox.as_ref() {
            Some(inbox) => inbox.send(worker::Command { op, contexts, done }).map_err(|refused| refused.0.done).err(),
            None => Some(done),
        };
        if let Some(done) = refused {
            done.fail(Errno::Shutdown, "the drive has stopped");
        }
    }
}

impl Drop for LiveDisk {
    fn drop(&mut self) {
        self.close();
    }
}
