//! A simulated drive behind a socket: the same object that runs in virtual time, with bytes, on the wall's clock.
//!
//! ```text
//! Disk::submit ─► inbox ─► worker ── HostRequests ──► Drive (virtual time) ── Completed ──► Done
//! control      ─►           └── clock: virtual time may not run ahead of the wall's
//! ```
//!
//! One thread owns the drive. Where the clock is [`Timing::Off`], virtual time runs as fast as the machine does, and an answer is sent as soon as the drive has
//! it. Where it is [`Timing::Real`], nothing is done before its instant has come on the wall's clock, or comes
//! once the answer has reached the client ([`LiveDisk::allow_for`]): an answer is never early there, and how late it was is counted.
//!
//! **What can be replayed.** Every request arrives at an instant of its own, at which nothing else happens. So the requests with their instants say all
//! there is to say of what came from outside: on the same drive in virtual time they lead to the same events, to the last bit of the event log's hash.

mod ask;
mod clock;
mod errand;
mod faults;
mod hints;
mod lost;
mod pieces;
mod record;
mod smart;
mod status;
mod worker;

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use wordline_block::hints::classes;
use wordline_block::{Description, Disk, Done, Errno, Farewell, Op, Session};
use wordline_chip::Payload;
use wordline_drive::{Config, Drive};
use wordline_engine::Completions;
use wordline_report::{Metrics, Scope};
use wordline_units::Bytes;

pub use ask::{Look, Place};
pub(crate) use ask::{Query, Told};
pub use clock::Timing;
pub(crate) use faults::{Harm, Harmed};
pub use hints::Change;
pub use lost::LostFound;
pub(crate) use record::{Recorded, Recording};
pub use smart::{Life, Smart};
pub(crate) use status::hint_flags;
pub use worker::Lateness;

use worker::Worker;

/// Who watches a served drive: what has completed, for its clients, and the books, for whoever asks how it is.
pub type Watch = (Completions, Metrics);

/// The watch of a drive with this configuration.
pub fn watch(config: &Config) -> Watch {
    (Completions::default(), Metrics::new(Scope::new(&config.sheet.geometry, config.firmware.unit, config.cores)))
}

/// Who keeps the bytes of a drive's dies, where that can fail.
pub trait Keeper {
    /// Makes everything that was programmed as durable as it is to be. Called before a flush, or anything with FUA, is answered.
    ///
    /// # Errors
    /// What the client is told.
    fn sync(&self) -> Result<(), Refused>;

    /// What went wrong that a die has no way to say. From then on nothing is answered well.
    fn trouble(&self) -> Option<String>;

    /// Whether a write may be let in. What is let in is programmed later, and has to have its place then.
    ///
    /// # Errors
    /// What the client is told.
    fn admits(&self) -> Result<(), Refused> {
        Ok(())
    }

    /// Whether all that was programmed is where it is to be kept; what is not is tried again. Until it is, no write may be acknowledged: what it wrote may be
    /// in memory alone.
    ///
    /// # Errors
    /// What the client is told.
    fn catches_up(&self) -> Result<(), Refused> {
        Ok(())
    }

    /// Whether so much waits for its place that the drive has to stand still.
    fn is_overfull(&self) -> bool {
        false
    }

    /// What it survives, in a word: nothing, process or host.
    fn survives(&self) -> &'static str {
        "nothing"
    }

    /// Whether it keeps the write buffers too.
    fn keeps_buffer(&self) -> bool {
        false
    }

    /// Copies all that is kept into a new `folder`; returns how many bytes that took.
    ///
    /// # Errors
    /// Why it could not be, in words. Nothing is left half-copied then.
    fn copy(&self, folder: &Path) -> Result<u64, String> {
        Err(format!("{}: the bytes of this drive are in memory, there are no media to copy", folder.display()))
    }
}

/// Why something was not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The error in the protocol's words.
    pub errno: Errno,
    /// And in plain ones.
    pub why: String,
}

/// Nothing is kept, so nothing can fail.
impl Keeper for () {
    fn sync(&self) -> Result<(), Refused> {
        Ok(())
    }

    fn trouble(&self) -> Option<String> {
        None
    }
}

/// What a served drive is called, and how it is made again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct About {
    /// Its name.
    pub name: String,
    /// The hash of its plan.
    pub plan_hash: u64,
    /// The seed of all random streams.
    pub seed: u64,
    /// The arguments with which `wordline run` makes the same drive, erased, for virtual time.
    pub again: Vec<String>,
    /// It was found on its media, and was not erased when it was started.
    pub is_used: bool,
    /// Its clients may not write, and nothing that it does reaches its media.
    pub is_read_only: bool,
}

/// A drive that answers block requests.
#[derive(Debug)]
pub struct LiveDisk {
    /// Taken when it closes.
    inbox: Mutex<Option<Sender<worker::Command>>>,
    worker: Mutex<Option<JoinHandle<()>>>,
    timing: Timing,
    about: About,
    /// Clients that have it open.
    clients: AtomicUsize,
}

impl LiveDisk {
    /// Runs the drive that `build` makes, in a thread of its own.
    pub fn start<P: Payload>(build: impl FnOnce() -> Drive<Watch, P> + Send + 'static, timing: Timing) -> LiveDisk {
        LiveDisk::start_kept(move || (build(), ()), timing, About::default())
    }

    /// Runs the drive that `build` makes, with the keeper of its bytes, in a thread of its own.
    pub fn start_kept<P: Payload, K: Keeper + 'static>(
        build: impl FnOnce() -> (Drive<Watch, P>, K) + Send + 'static,
        timing: Timing,
        about: About,
    ) -> LiveDisk {
        let (inbox, outbox) = std::sync::mpsc::channel();
        let is_used = about.is_used;
        let worker = std::thread::spawn(move || {
            let (drive, keeper) = build();
            Worker::new((drive, Box::new(keeper)), timing, outbox, is_used).run();
        });
        LiveDisk { inbox: Mutex::new(Some(inbox)), worker: Mutex::new(Some(worker)), timing, about, clients: AtomicUsize::new(0) }
    }

    /// How its virtual time goes.
    pub fn timing(&self) -> Timing {
        self.timing
    }

    /// What it is called.
    pub fn about(&self) -> &About {
        &self.about
    }

    /// The description of a drive with mapping units of `unit`: it prefers requests that are aligned to its units. They cost nothing beyond themselves, where
    /// for one that covers a unit in part the rest of that unit is read or written, too.
    ///
    /// # Panics
    /// If a unit has more than 4 GiB, which none has.
    pub fn description(unit: Bytes) -> Description {
        let preferred = u32::try_from(unit.0).expect("a unit has 64 sectors at most");
        Description { preferred, contexts: [status::MEDIA, status::HINT].map(str::to_owned).to_vec(), classes: classes() }
    }

    /// How it is; `None` once it has stopped.
    pub fn look(&self) -> Option<Look> {
        match self.ask(Query::Look)? {
            Told::Look(look) => Some(*look),
            Told::Done
            | Told::Refused(_)
            | Told::Places(_)
            | Told::Lost(_)
            | Told::Hints(_)
            | Told::Copied { .. }
            | Told::Recording(_)
            | Told::Harmed(_)
            | Told::Faults(_) => None,
        }
    }

    /// Answers leave so much before their instant that they arrive at it: `link` is how long an answer takes to a client, and its next request back.
    pub fn allow_for(&self, link: Duration) {
        self.ask(Query::AllowFor(link));
    }

    /// From now on `then` is called in the drive's thread, with what has happened, when a power cut on demand strikes: nothing has been answered since, and the
    /// media are as the cut has left them. Without it the drive just stops.
    pub fn on_power_cut(&self, then: impl FnOnce(&str) + Send + 'static) {
        self.ask(Query::OnPowerCut(faults::Darkness(Box::new(then))));
    }

    /// How late answers have been so far.
    pub fn lateness(&self) -> Lateness {
        self.look().map(|look| look.lateness).unwrap_or_default()
    }

    /// Puts `query` to the drive and waits for what it says; `None` once it has stopped.
    pub(crate) fn ask(&self, query: Query) -> Option<Told> {
        let (answer, told) = sync_channel(1);
        self.put(worker::Command::Ask(query, answer)).ok()?;
        told.recv().ok()
    }

    fn put(&self, command: worker::Command) -> Result<(), Box<worker::Command>> {
        let inbox = self.inbox.lock().unwrap_or_else(PoisonError::into_inner);
        match inbox.as_ref() {
            Some(inbox) => inbox.send(command).map_err(|refused| Box::new(refused.0)),
            None => Err(Box::new(command)),
        }
    }

    /// Stops the drive in good order: what has come is answered, what comes now is refused, the drive is flushed and its media are synced. When this returns,
    /// it has let go of them.
    ///
    /// # Errors
    /// What could not be written down, in words.
    pub fn stop(&self) -> Result<(), String> {
        let (answer, told) = sync_channel(1);
        let inbox = self.inbox.lock().unwrap_or_else(PoisonError::into_inner).take();
        let sent = inbox.is_some_and(|inbox| inbox.send(worker::Command::Ask(Query::Stop, answer)).is_ok());
        let told = if sent { told.recv().ok() } else { None };
        self.close();
        match told {
            Some(Told::Refused(why)) => Err(why),
            Some(_) => Ok(()),
            None => Err("the drive had ended before".to_owned()),
        }
    }

    /// Answers what is outstanding and stops the drive, as it is: what was not flushed may be lost.
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
        // When it came matters only where the wall's clock does.
        let came = (self.timing != Timing::Off).then(Instant::now);
        let command = worker::Command::Request(worker::Asked { op, session: Arc::clone(session), done, came });
        if let Err(refused) = self.put(command)
            && let worker::Command::Request(asked) = *refused
        {
            asked.done.fail(Errno::Shutdown, "the drive has stopped");
        }
    }

    fn enter(&self) {
        self.clients.fetch_add(1, Ordering::AcqRel);
    }

    /// When the last one says goodbye, what it has written is written down before it is hung up on. Of one that does not, what has not begun is dropped.
    fn leave(&self, farewell: Farewell) {
        if farewell == Farewell::None {
            // One that has stopped has dropped everything.
            drop(self.put(worker::Command::Gone));
        }
        if self.clients.fetch_sub(1, Ordering::AcqRel) == 1 && farewell == Farewell::Said {
            // Whatever is wrong, there is nobody left to tell: who keeps the bytes knows it.
            self.ask(Query::Rest);
        }
    }
}

impl Drop for LiveDisk {
    fn drop(&mut self) {
        self.close();
    }
}

/// The way back to whoever asked.
type Answer = SyncSender<Told>;
