//! The metrics of a served drive over HTTP, as OpenMetrics text: `GET /metrics`.
//!
//! The server does as little of HTTP as a scraper needs: one request for a connection, answered and closed. A client can read the metrics, and do nothing
//! else. Clients are not trusted: size and time of a head, time of an answer, and number of connections are limited.

mod families;
mod request;
mod response;
mod text;

use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

pub use families::{Family, metrics};
pub use text::Kind;

use crate::disk::LiveDisk;
use crate::doors::{Address, Client, Clients, Closer, Hall, ListenError, Listener, Manners, News, Stream};
use families::Seen;
use request::{HEAD_MAX, Names, Request};
use response::Status;

/// Connections at a time that have sent something. One more takes the place of the one that has sent least, and of several the oldest.
const CLIENTS_MAX: usize = 8;
/// Connections at a time that have sent nothing. One more takes the place of the oldest.
const UNHEARD_MAX: usize = 64;
/// Lifetime of a connection, at most.
const PATIENCE: Duration = Duration::from_secs(5);
/// Bytes read of a client's further input after its answer, so that the answer reaches it, at most.
const REST_MAX: usize = 64 << 10;

/// A running server of metrics, which ends when this is dropped.
#[derive(Debug)]
pub struct MetricsServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    closer: Closer,
    acceptor: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    disk: Arc<LiveDisk>,
    names: Names,
    began: Instant,
    stopping: AtomicBool,
    clients: Clients,
}

/// Serves the metrics of `disk` at `address`.
///
/// # Errors
/// If the host refuses the address.
pub fn serve_metrics(address: SocketAddr, disk: Arc<LiveDisk>) -> Result<MetricsServer, ListenError> {
    open_metrics(address)?.serve(disk)
}

/// A door at which metrics will be served.
#[derive(Debug)]
pub struct MetricsDoor {
    address: SocketAddr,
    listener: Listener,
}

/// Opens the door of the metrics at `address`.
///
/// # Errors
/// If the host refuses the address.
pub fn open_metrics(address: SocketAddr) -> Result<MetricsDoor, ListenError> {
    let listener = Listener::bind(&Address::Tcp(address)).map_err(|source| ListenError { address: Address::Tcp(address), source })?;
    let address = match listener.address() {
        Address::Tcp(bound) => *bound,
        Address::Unix(_) => address,
    };
    Ok(MetricsDoor { address, listener })
}

impl MetricsDoor {
    /// Serves the metrics of `disk`.
    ///
    /// # Errors
    /// If the host has no descriptors left.
    pub fn serve(self, disk: Arc<LiveDisk>) -> Result<MetricsServer, ListenError> {
        let MetricsDoor { address, listener } = self;
        let failed = |source| ListenError { address: Address::Tcp(address), source };
        let closer = listener.closer().map_err(failed)?;
        let shared = Arc::new(Shared {
            disk,
            names: Names::of(address.ip()),
            began: Instant::now(),
            stopping: AtomicBool::new(false),
            clients: Clients::new(CLIENTS_MAX),
        });
        let accepts = Arc::clone(&shared);
        let acceptor = thread::spawn(move || accept(&listener, &accepts));
        Ok(MetricsServer { address, shared, closer, acceptor: Some(acceptor) })
    }
}

impl MetricsServer {
    /// Address of the server.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for MetricsServer {
    fn drop(&mut self) {
        self.shared.stopping.store(true, Ordering::Release);
        self.closer.close();
        if let Some(acceptor) = self.acceptor.take() {
            let _ = acceptor.join();
        }
        self.shared.clients.empty();
    }
}

fn accept(listener: &Listener, shared: &Arc<Shared>) {
    let mut hall: Hall<Client> = Hall::new(Manners { most: UNHEARD_MAX, enough: 1, patience: PATIENCE });
    while !shared.stopping.load(Ordering::Acquire) {
        let News { heard, came, closes } = match hall.wait(listener, None) {
            Ok(news) => news,
            Err(_) => {
                // A lack of descriptors lasts a while.
                thread::park_timeout(Duration::from_millis(10));
                continue;
            }
        };
        if closes {
            return;
        }
        for client in heard {
            let serves = Arc::clone(shared);
            // An error of a stream is the same as its end.
            let talk = move |client: &Client| drop(talk(&serves, client));
            shared.clients.take(Arc::new(client), &response::refusal(Status::ServiceUnavailable), talk);
        }
        for gone in came.into_iter().filter_map(|stream| hall.enter(Client::new(stream))) {
            // Without a word waited for: the answer fits the socket's buffer, or is lost.
            let _ = gone.as_ref().send_some(&response::refusal(Status::ServiceUnavailable));
            gone.as_ref().shut();
        }
    }
}

/// Answers the one request of a client.
fn talk(shared: &Shared, client: &Client) -> io::Result<()> {
    let stream = client.as_ref();
    let until = Instant::now() + PATIENCE;
    let answer = match head(stream, until)? {
        None => return Ok(()),
        Some(head) => match head.inspect(|_| client.has_said(false)).and_then(|head| request::read(&head, shared.names)) {
            Err(status) => response::refusal(status),
            Ok(Request { is_head }) => match page(shared) {
                Some(text) => response::metrics(&text, is_head),
                None => response::refusal(Status::ServiceUnavailable),
            },
        },
    };
    for part in answer.chunks(4096) {
        stream.set_write_timeout(Some(left(until)?))?;
        stream.write_all(part)?;
    }
    // A connection that is closed with something unread is reset, and the answer with it.
    stream.shut_output();
    let mut rest = 0;
    let mut buffer = [0; 4096];
    while rest < REST_MAX {
        stream.set_read_timeout(Some(left(until)?))?;
        match stream.read(&mut buffer)? {
            0 => break,
            count => rest += count,
        }
    }
    Ok(())
}

/// Time left until `until`.
fn left(until: Instant) -> io::Result<Duration> {
    let left = until.saturating_duration_since(Instant::now());
    if left.is_zero() { Err(ErrorKind::TimedOut.into()) } else { Ok(left) }
}

/// The head of a request, with its empty line, or the status of the refusal. `None`: the client has gone.
fn head(stream: &Stream, until: Instant) -> io::Result<Option<Result<Vec<u8>, Status>>> {
    let mut head = Vec::new();
    let mut buffer = [0; 1024];
    loop {
        let Ok(left) = left(until.checked_sub(PATIENCE / 5).unwrap_or(until)) else {
            return Ok(Some(Err(Status::RequestTimeout)));
        };
        stream.set_read_timeout(Some(left))?;
        let count = match stream.read(&mut buffer) {
            Ok(0) => return Ok(None),
            Ok(count) => count,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                return Ok(Some(Err(Status::RequestTimeout)));
            }
            Err(error) => return Err(error),
        };
        let from = head.len().saturating_sub(3);
        head.extend_from_slice(&buffer[..count]);
        if let Some(end) = head[from..].windows(4).position(|four| four == b"\r\n\r\n") {
            let end = from + end + 4;
            head.truncate(end);
            return Ok(Some(if end <= HEAD_MAX { Ok(head) } else { Err(Status::HeadTooLarge) }));
        }
        if head.len() >= HEAD_MAX {
            return Ok(Some(Err(Status::HeadTooLarge)));
        }
    }
}

/// The metrics as they are now; `None`: the drive has stopped.
fn page(shared: &Shared) -> Option<String> {
    let look = shared.disk.look()?;
    let measured = look.metrics.clone().finish(look.now, look.outstanding);
    let wall_seconds = shared.began.elapsed().as_secs_f64();
    Some(families::write(&Seen { look: &look, about: shared.disk.about(), measured, wall_seconds }))
}
