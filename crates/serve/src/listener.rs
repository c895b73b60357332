//! Accepting clients, so many and no more.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use thiserror::Error;
use wordline_block::Disk;
use wordline_live::doors::{Address, Closer, Hall, ListenError, Listener, Manners, News, SocketFile};
use wordline_nbd::{Export, Limits, Settings, Tls};

use crate::connection::Connection;
use crate::patience::Patience;
use crate::places::{Places, Room};
use crate::tls::TlsKeys;

/// How a server treats its clients.
#[derive(Clone, Debug)]
pub struct Config {
    /// Connections at a time that have shown who they are: with a certificate where the server asks for one, else by opening an export. Those count that are
    /// gone while the disk still has requests of theirs. One more has the place of the one that has been silent for longest, if [`Patience::idle`] allows
    /// that; else it is closed before a word is spoken.
    pub connections: usize,
    /// Connections at a time that have not, and have said something. One more has the place of the one that has said least, and of several the oldest.
    pub strangers: usize,
    /// Connections at a time that have not said a whole message. Each has a descriptor and no thread. One more has the place of the oldest.
    pub unheard: usize,
    /// What each may hold.
    pub limits: Limits,
    /// How long each is waited for.
    pub patience: Patience,
    /// With keys nothing but TLS is spoken.
    pub tls: Option<TlsKeys>,
}

impl Config {
    /// Bytes of a connection that has no thread yet.
    const UNHEARD: u64 = 4 << 10;

    /// Bytes of a connection beside what its limits say: what is read at once, in the clear and in TLS, output whose room is kept, stacks of its threads.
    const BESIDE: u64 = 4 << 20;

    /// The most bytes of memory that all connections together hold, whatever their peers send, and what they have asked of the disk with it.
    pub fn memory_bound(&self) -> u64 {
        // A stranger asks nothing of a disk: it holds an option, the answers to it, and what belongs to a connection.
        let stranger = 2 * u64::from(self.limits.option_bytes) + Config::BESIDE;
        self.connections as u64 * (self.limits.memory_bound() + Config::BESIDE)
            + self.strangers as u64 * stranger
            + self.unheard as u64 * Config::UNHEARD
    }
}

impl Default for Config {
    /// Sixteen connections, as many strangers, 256 that say nothing, [`Limits::DEFAULT`], the default [`Patience`], no TLS.
    fn default() -> Self {
        Config { connections: 16, strangers: 16, unheard: 256, limits: Limits::DEFAULT, patience: Patience::default(), tls: None }
    }
}

/// Bytes that every client says before it waits for anything but the greeting: its flags, and the head of an option.
const FIRST_BYTES: usize = 20;

/// Why a server did not come up.
#[derive(Debug, Error)]
pub enum ServeError {
    /// An address that others can reach.
    #[error("{0} is not a loopback address: others are served in TLS only; use 127.0.0.1, [::1] or a Unix socket, or give keys")]
    NotLoopback(std::net::SocketAddr),
    /// The host refused.
    #[error(transparent)]
    Listen(#[from] ListenError),
}

/// A server that runs. When this is dropped it stops at once, and what is on its way to a client is lost: see [`Running::finish`].
#[derive(Debug)]
pub struct Running {
    address: Address,
    /// The socket file, if it was made here; it goes with it.
    file: Option<SocketFile>,
    shared: Arc<Shared>,
    closer: Closer,
    acceptor: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    stopping: AtomicBool,
    places: Places,
}

/// Serves disks at `address`, each with its description as an export.
///
/// # Errors
/// If the address is not for this machine alone and there are no keys for TLS, or the host refuses it.
pub fn serve(address: &Address, disks: Vec<(Export, Arc<dyn Disk>)>, config: Config) -> Result<Running, ServeError> {
    serve_on(open_door(address, &config)?, disks, config)
}

/// Opens the door at `address`, for [`serve_on`] with the same `config`. Clients that come meanwhile wait. A caller that has other things to make ready for a
/// server does that behind an open door, and makes nothing where another server has it.
///
/// # Errors
/// As [`serve`].
pub fn open_door(address: &Address, config: &Config) -> Result<Listener, ServeError> {
    check(address, config)?;
    Ok(Listener::bind(address).map_err(|source| ListenError { address: address.clone(), source })?)
}

/// As [`serve`], where somebody has opened the door already.
///
/// # Errors
/// If it is not for this machine alone and there are no keys for TLS, or the host has no descriptors left.
pub fn serve_on(mut listener: Listener, disks: Vec<(Export, Arc<dyn Disk>)>, config: Config) -> Result<Running, ServeError> {
    let (address, file) = (listener.address().clone(), listener.take_file());
    check(&address, &config)?;
    let closer = listener.closer().map_err(|source| ListenError { address: address.clone(), source })?;
    let (exports, disks): (Vec<Export>, Vec<Arc<dyn Disk>>) = disks.into_iter().unzip();
    let tls = if config.tls.is_some() { Tls::Required } else { Tls::Absent };
    let settings = Arc::new(Settings { exports, tls, extended_headers: true, limits: config.limits });
    let Patience { negotiation, idle, .. } = config.patience;
    let room = Room { guests: config.connections, strangers: config.strangers, negotiation, idle };
    let shared = Arc::new(Shared { stopping: AtomicBool::new(false), places: Places::new(room) });
    let acceptor = {
        let shared = Arc::clone(&shared);
        thread::spawn(move || accept(&listener, &settings, &disks.into(), &config, &shared))
    };
    Ok(Running { address, file, shared, closer, acceptor: Some(acceptor) })
}

fn check(address: &Address, config: &Config) -> Result<(), ServeError> {
    match address {
        Address::Tcp(address) if !address.ip().is_loopback() && config.tls.is_none() => Err(ServeError::NotLoopback(*address)),
        Address::Tcp(_) | Address::Unix(_) => Ok(()),
    }
}

fn accept(listener: &Listener, settings: &Arc<Settings>, disks: &Arc<[Arc<dyn Disk>]>, config: &Config, shared: &Arc<Shared>) {
    let patience = config.patience.negotiation.min(config.patience.message);
    let mut hall: Hall<Connection> = Hall::new(Manners { most: config.unheard, enough: FIRST_BYTES, patience });
    while !shared.stopping.load(Ordering::Acquire) {
        let News { heard, came, closes } = match hall.wait(listener, shared.places.clear()) {
            Ok(news) => news,
            Err(_) => {
                // A lack of descriptors is no reason to stop, but it lasts a while.
                thread::park_timeout(Duration::from_millis(10));
                continue;
            }
        };
        if closes {
            return;
        }
        for connection in heard.into_iter().map(Arc::new) {
            while shared.places.is_crowded() && !shared.stopping.load(Ordering::Acquire) {
                thread::park_timeout(Duration::from_millis(1));
            }
            let (disks, patience, told) = (Arc::clone(disks), config.patience, Arc::clone(shared));
            let talks = Arc::clone(&connection);
            shared.places.take(&connection, move || talks.run(&disks, patience, &|talks| told.places.admit(talks)));
        }
        let may_come = came.is_empty() || shared.places.may_come();
        for stream in came {
            if !may_come {
                stream.shut();
                continue;
            }
            let connection = Connection::new(stream, Arc::clone(settings), config.tls.clone());
            connection.greet();
            hall.enter(connection).iter().for_each(Connection::shut);
        }
    }
}

impl Running {
    /// Where it listens; with a port if any was free.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Clients that are connected.
    pub fn connections(&self) -> usize {
        self.shared.places.connected()
    }

    /// Waits until it stops, which it does not by itself.
    pub fn wait(mut self) {
        if let Some(acceptor) = self.acceptor.take() {
            // It has no reason to panic.
            let _ = acceptor.join();
        }
    }

    /// Takes no new client, and removes the socket file if it was made here. Clients that are connected stay.
    pub fn close_door(&mut self) {
        self.shared.stopping.store(true, Ordering::Release);
        // As long as it is listened on, no other server takes the file for a leftover and puts its own there.
        if let Some(file) = self.file.take() {
            file.remove();
        }
        self.closer.close();
        if let Some(acceptor) = self.acceptor.take() {
            // It has no reason to panic.
            let _ = acceptor.join();
        }
    }

    /// Closes the door, and every connection once its client has the answers that it is owed; a client that does not take them within `patience` loses
    /// them. Disks are to have answered everything before.
    pub fn finish(mut self, patience: Duration) {
        self.close_door();
        self.shared.places.each(Connection::stop_reading);
        let begun = Instant::now();
        while self.connections() > 0 && begun.elapsed() < patience {
            thread::park_timeout(Duration::from_millis(1));
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.close_door();
        self.shared.places.empty();
    }
}
