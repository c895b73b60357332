//! Accepting clients, so many and no more.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use thiserror::Error;
use wordline_nbd::{Export, Limits, Settings, Tls};

use crate::address::{Address, Listener, Stream};
use crate::connection::Connection;
use crate::disk::Disk;
use crate::tls::TlsKeys;

/// How a server treats its clients.
#[derive(Clone, Debug)]
pub struct Config {
    /// Connections at a time. One more is closed before a word is spoken.
    pub connections: usize,
    /// What each may hold.
    pub limits: Limits,
    /// How long each is waited for.
    pub patience: Patience,
    /// With keys nothing but TLS is spoken.
    pub tls: Option<TlsKeys>,
}

/// How long a silent peer is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// For the next byte within the negotiation or a message, and for room to send an answer. Between two requests there is no limit.
    pub message: Duration,
    /// Awake, before it sleeps until the peer speaks again. Waking up takes a machine tens of microseconds, which is much beside the latency of a read; a
    /// peer that is silent for longer costs nothing more.
    pub awake: Duration,
}

impl Default for Patience {
    /// Half a minute, and asleep at once.
    fn default() -> Self {
        Patience { message: Duration::from_secs(30), awake: Duration::ZERO }
    }
}

impl Default for Config {
    /// Sixteen connections, [`Limits::DEFAULT`], half a minute, no TLS.
    fn default() -> Self {
        Config { connections: 16, limits: Limits::DEFAULT, patience: Patience::default(), tls: None }
    }
}

/// Why a server did not come up.
#[derive(Debug, Error)]
pub enum ServeError {
    /// An address that others can reach.
    #[error("{0} is not a loopback address: others are served in TLS only; use 127.0.0.1, [::1] or a Unix socket, or give keys")]
    NotLoopback(std::net::SocketAddr),
    /// The host refused.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// Where.
        address: Address,
        /// What it said.
        source: io::Error,
    },
}

/// A server that runs. It stops when this is dropped.
#[derive(Debug)]
pub struct Running {
    address: Address,
    /// The socket file was made here, and goes with it.
    is_own: bool,
    shared: Arc<Shared>,
    acceptor: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    stopping: AtomicBool,
    clients: Mutex<Vec<(Weak<Connection>, JoinHandle<()>)>>,
}

impl Shared {
    fn clients(&self) -> MutexGuard<'_, Vec<(Weak<Connection>, JoinHandle<()>)>> {
        self.clients.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Serves disks at `address`, each with its description as an export.
///
/// # Errors
/// If the address is not for this machine alone and there are no keys for TLS, or the host refuses it.
pub fn serve(address: &Address, disks: Vec<(Export, Arc<dyn Disk>)>, config: Config) -> Result<Running, ServeError> {
    check(address, &config)?;
    let listener = Listener::bind(address).map_err(|source| ServeError::Listen { address: address.clone(), source })?;
    serve_on(listener, disks, config)
}

/// As [`serve`], where somebody has opened the door already.
///
/// # Errors
/// If it is not for this machine alone and there are no keys for TLS.
pub fn serve_on(listener: Listener, disks: Vec<(Export, Arc<dyn Disk>)>, config: Config) -> Result<Running, ServeError> {
    let (address, is_own) = (listener.address().clone(), listener.is_own());
    check(&address, &config)?;
    let (exports, disks): (Vec<Export>, Vec<Arc<dyn Disk>>) = disks.into_iter().unzip();
    let tls = if config.tls.is_some() { Tls::Required } else { Tls::Absent };
    let settings = Arc::new(Settings { exports, tls, extended_headers: true, limits: config.limits });
    let shared = Arc::new(Shared { stopping: AtomicBool::new(false), clients: Mutex::new(Vec::new()) });
    let acceptor = {
        let shared = Arc::clone(&shared);
        thread::spawn(move || accept(&listener, &settings, &disks.into(), &config, &shared))
    };
    Ok(Running { address, is_own, shared, acceptor: Some(acceptor) })
}

fn check(address: &Address, config: &Config) -> Result<(), ServeError> {
    match address {
        Address::Tcp(address) if !address.ip().is_loopback() && config.tls.is_none() => Err(ServeError::NotLoopback(*address)),
        Address::Tcp(_) | Address::Unix(_) => Ok(()),
    }
}

fn accept(listener: &Listener, settings: &Arc<Settings>, disks: &Arc<[Arc<dyn Disk>]>, config: &Config, shared: &Shared) {
    while !shared.stopping.load(Ordering::Acquire) {
        // A client that is gone again before it was accepted is no reason to stop.
        let Ok(stream) = listener.accept() else {
            // Nor is a lack of descriptors, but it lasts a while.
            thread::park_timeout(Duration::from_millis(10));
            continue;
        };
        let mut clients = shared.clients();
        clients.retain(|(_, thread)| !thread.is_finished());
        if shared.stopping.load(Ordering::Acquire) || clients.len() >= config.connections {
            stream.shut();
            continue;
        }
        let connection = Arc::new(Connection::new(stream, Arc::clone(settings), config.tls.clone()));
        let weak = Arc::downgrade(&connection);
        let disks = Arc::clone(disks);
        let patience = config.patience;
        clients.push((weak, thread::spawn(move || connection.run(&disks, patience))));
    }
}

impl Running {
    /// Where it listens; with a port if any was free.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Clients that are connected.
    pub fn connections(&self) -> usize {
        self.shared.clients().iter().filter(|(_, thread)| !thread.is_finished()).count()
    }

    /// Waits until it stops, which it does not by itself.
    pub fn wait(mut self) {
        if let Some(acceptor) = self.acceptor.take() {
            // It panics only if the host gives no thread for a client.
            let _ = acceptor.join();
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.shared.stopping.store(true, Ordering::Release);
        // Wakes the acceptor.
        drop(Stream::connect(&self.address));
        if let Some(acceptor) = self.acceptor.take() {
            let _ = acceptor.join();
        }
        let clients = std::mem::take(&mut *self.shared.clients());
        for (connection, thread) in clients {
            if let Some(connection) = connection.upgrade() {
                connection.shut();
            }
            let _ = thread.join();
        }
        if let (Address::Unix(path), true) = (&self.address, self.is_own) {
            // Somebody may have tidied up before.
            let _ = std::fs::remove_file(path);
        }
    }
}
