//! A live drive as a disk: it answers block requests from a thread of its own.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use wordline_block::hints::classes;
use wordline_block::{Description, Disk, Done, Errno, Farewell, Op, Session};
use wordline_drive::{Config, Watched};
use wordline_engine::Completions;
use wordline_figures::{Metrics, Scope};
use wordline_units::Bytes;

use crate::ask::{Look, Query, Told};
use crate::clock::Timing;
use crate::faults;
use crate::keeper::Keeper;
use crate::status;
use crate::worker::{self, Lateness, Worker};

/// Observers of a live drive: completed requests, for their requesters, and the metrics, for questions about its state.
pub type Watch = (Completions, Metrics);

/// The watch of a drive with this configuration.
pub fn watch(config: &Config) -> Watch {
    (Completions::default(), Metrics::new(Scope::new(&config.sheet.geometry, config.firmware.unit, config.cores)))
}

/// Name of a live drive, and the way to make it again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct About {
    /// Name of the drive.
    pub name: String,
    /// The hash of its plan.
    pub plan_hash: u64,
    /// The seed of all random streams.
    pub seed: u64,
    /// The arguments with which `wordline run` makes the same drive, erased, for virtual time.
    pub again: Vec<String>,
    /// True if the drive was found on its media, and not erased at its start.
    pub is_used: bool,
    /// True if clients may not write, and nothing that the drive does reaches its media.
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
    pub fn start(build: impl FnOnce() -> Watched<Watch> + Send + 'static, timing: Timing) -> LiveDisk {
        LiveDisk::start_kept(move || (build(), ()), timing, About::default())
    }

    /// Runs the drive that `build` makes, with the keeper of its bytes, in a thread of its own.
    pub fn start_kept<K: Keeper + 'static>(
        build: impl FnOnce() -> (Watched<Watch>, K) + Send + 'static,
        timing: Timing,
        about: About,
    ) -> LiveDisk {
        let (inbox, outbox) = std::sync::mpsc::channel();
        let of = about.clone();
        let worker = std::thread::spawn(move || {
            let (drive, keeper) = build();
            Worker::new((drive, Box::new(keeper)), timing, outbox, &of).run();
        });
        LiveDisk { inbox: Mutex::new(Some(inbox)), worker: Mutex::new(Some(worker)), timing, about, clients: AtomicUsize::new(0) }
    }

    /// Relation between virtual time and the wall's.
    pub fn timing(&self) -> Timing {
        self.timing
    }

    /// Name and arguments of the drive.
    pub fn about(&self) -> &About {
        &self.about
    }

    /// Description of a drive with mapping units of `unit`: it prefers requests that are aligned to its units. Such requests cost nothing beyond
    /// themselves, but for a request that covers a unit in part the rest of that unit is read or written, too.
    ///
    /// # Panics
    /// If a unit has more than 4 GiB, which none has.
    pub fn description(unit: Bytes) -> Description {
        let preferred = u32::try_from(unit.0).expect("a unit has 64 sectors at most");
        Description { preferred, contexts: [status::MEDIA, status::HINT].map(str::to_owned).to_vec(), classes: classes() }
    }

    /// State of the drive; `None` once it has stopped.
    pub fn look(&self) -> Option<Look> {
        match self.ask(Query::Look)? {
            Told::Look(look) => Some(*look),
            Told::Done
            | Told::Refused(_)
            | Told::Places(_)
            | Told::Lost(_)
            | Told::Hints(_)
            | Told::Hinted { .. }
            | Told::Copied { .. }
            | Told::Recording(_)
            | Told::Harmed(_)
            | Told::Faults(_) => None,
        }
    }

    /// Sends answers before their instant, so that they arrive at it: `link` is the travel time of an answer to a client and of its next request back.
    pub fn allow_for(&self, link: Duration) {
        self.ask(Query::AllowFor(link));
    }

    /// Sets the callback for a power cut on demand: `then` is called in the drive's thread with a description of the cut. No request has been answered since
    /// the cut, and the media are as the cut has left them. Without a callback the drive just stops.
    pub fn on_power_cut(&self, then: impl FnOnce(&str) + Send + 'static) {
        self.ask(Query::OnPowerCut(faults::Darkness(Box::new(then))));
    }

    /// Lateness of answers so far.
    pub fn lateness(&self) -> Lateness {
        self.look().map(|look| look.lateness).unwrap_or_default()
    }

    /// Puts `query` to the drive and returns its answer; `None` once it has stopped.
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

    /// Stops the drive in good order: requests received are answered, later ones are refused, the drive is flushed and its media are synced. On return
    /// the media are free.
    ///
    /// # Errors
    /// The data that could not be written down, in words.
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

    /// Answers outstanding requests and stops the drive as it is: unflushed data may be lost.
    pub fn close(&self) {
        drop(self.inbox.lock().unwrap_or_else(PoisonError::into_inner).take());
        if let Some(worker) = self.worker.lock().unwrap_or_else(PoisonError::into_inner).take() {
            // A drive that broke an invariant has reported it already, and its clients have had their errors.
            let _ = worker.join();
        }
    }
}

impl Disk for LiveDisk {
    fn submit(&self, op: Op, session: &Arc<Session>, done: Done) {
        // The arrival matters only if the wall's clock does.
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

    /// Makes the data of the last client durable before the connection ends, if the client takes leave. Requests of a client that does not take leave are
    /// dropped unless they have begun.
    fn leave(&self, farewell: Farewell) {
        if farewell == Farewell::None {
            // A drive that has stopped has dropped everything.
            drop(self.put(worker::Command::Gone));
        }
        if self.clients.fetch_sub(1, Ordering::AcqRel) == 1 && farewell == Farewell::Said {
            // Errors have no recipient here: the keeper of the bytes records them.
            self.ask(Query::Rest);
        }
    }
}

impl Drop for LiveDisk {
    fn drop(&mut self) {
        self.close();
    }
}

/// Way back to the requester.
pub(crate) type Answer = SyncSender<Told>;
