//! The control socket of a served drive: lines of JSON, one question and one answer at a time.
//!
//! ```text
//! {"do":"status"}                                         {"ok":true, …}
//! {"do":"hint","offset":0,"length":65536,"priority":"high"}   {"ok":true, …}
//! {"do":"hnit"}                                           {"ok":false,"error":"…; did you mean hint?"}
//! ```
//!
//! The socket is a file that only its owner may open. A client may do to the drive all that the commands do, but is not trusted to be quick, short or
//! right: line length, waiting time and number of clients are limited, and every error is described in the answer.

mod arguments;
mod commands;
mod faults;
mod lines;
mod replies;
mod trace;
mod words;

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

pub use arguments::Command;
pub use commands::commands;

use crate::ask::{Query, Told};
use crate::disk::LiveDisk;
use crate::doors::{Address, Client, Clients, Closer, Hall, ListenError, Listener, Manners, News, SocketFile, Stream};
use crate::faults::Harm;
use crate::stop::Stop;
use arguments::Order;
use lines::{Line, Lines};

/// Clients at a time that have sent something. One more takes the place of the one that has sent least, and of several the oldest; not of one whose question
/// is being worked on.
const CLIENTS_MAX: usize = 16;
/// Clients at a time that have sent nothing. One more takes the place of the oldest.
const UNHEARD_MAX: usize = 64;
/// Limit of the wait for a client, in the middle of a line and until it takes an answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// A control socket that is listened on, until this is dropped.
#[derive(Debug)]
pub struct ControlSocket {
    address: Address,
    file: Option<SocketFile>,
    shared: Arc<Shared>,
    closer: Closer,
    acceptor: Option<JoinHandle<()>>,
    stop: Stop,
}

#[derive(Debug)]
struct Shared {
    stopping: AtomicBool,
    clients: Clients,
}

/// Context of a client's session.
#[derive(Clone, Debug)]
struct Served {
    disk: Arc<LiveDisk>,
    stop: Stop,
    began: Instant,
}

/// Listens on a Unix socket at `path` for questions and orders to `disk`. Orders to stop the server go to
/// `stop`, and wait there for its end.
///
/// # Errors
/// If the host refuses the socket.
pub fn control(path: &Path, disk: Arc<LiveDisk>, stop: Stop) -> Result<ControlSocket, ListenError> {
    control_on(open_control(path)?, disk, stop)
}

/// Opens the door of a control socket at `path`, for [`control_on`].
///
/// # Errors
/// If the host refuses the socket.
pub fn open_control(path: &Path) -> Result<Listener, ListenError> {
    let address = Address::Unix(path.to_owned());
    Listener::bind(&address).map_err(|source| ListenError { address, source })
}

/// As [`control`], if the door is open already.
///
/// # Errors
/// If the host has no descriptors left.
pub fn control_on(mut listener: Listener, disk: Arc<LiveDisk>, stop: Stop) -> Result<ControlSocket, ListenError> {
    let address = listener.address().clone();
    let failed = |source| ListenError { address: address.clone(), source };
    let (file, closer) = (listener.take_file(), listener.closer().map_err(failed)?);
    let shared = Arc::new(Shared { stopping: AtomicBool::new(false), clients: Clients::new(CLIENTS_MAX) });
    let acceptor = {
        let (shared, served) = (Arc::clone(&shared), Served { disk, stop: stop.clone(), began: Instant::now() });
        thread::spawn(move || accept(&listener, &served, &shared))
    };
    Ok(ControlSocket { address, file, shared, closer, acceptor: Some(acceptor), stop })
}

fn accept(listener: &Listener, served: &Served, shared: &Shared) {
    let mut hall: Hall<Client> = Hall::new(Manners { most: UNHEARD_MAX, enough: 1, patience: Duration::MAX });
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
            let served = served.clone();
            // An error of a stream is the same as its end.
            shared.clients.take(Arc::new(client), &[], move |client: &Client| drop(talk(&served, client)));
        }
        came.into_iter().filter_map(|stream| hall.enter(Client::new(stream))).for_each(|gone| gone.as_ref().shut());
    }
}

impl ControlSocket {
    /// Path of the socket.
    pub fn path(&self) -> &Path {
        match &self.address {
            Address::Unix(path) => path,
            Address::Tcp(_) => unreachable!("it was made on a path"),
        }
    }

    /// Takes no new client, and removes the socket file. Clients that are connected stay.
    pub fn close_door(&mut self) {
        self.shared.stopping.store(true, Ordering::Release);
        // As long as it is listened on, no other server takes the file for a leftover and puts its own there.
        if let Some(file) = self.file.take() {
            file.remove();
        }
        self.closer.close();
        if let Some(acceptor) = self.acceptor.take() {
            let _ = acceptor.join();
        }
    }

    /// Closes the door, and every connection once its client has the answer that it waits for; a client that does not take it within `patience` loses it.
    pub fn finish(mut self, patience: Duration) {
        self.close_door();
        let is_there = |shared: &Shared| shared.clients.each(Stream::shut_input);
        let begun = Instant::now();
        while is_there(&self.shared) && begun.elapsed() < patience {
            thread::park_timeout(Duration::from_millis(1));
        }
    }
}

impl Drop for ControlSocket {
    fn drop(&mut self) {
        self.close_door();
        // Waits for its end are over.
        self.stop.end(Err("the server has ended without being stopped".to_owned()));
        self.shared.clients.empty();
    }
}

/// Answers one client until it is gone.
fn talk(served: &Served, client: &Client) -> io::Result<()> {
    let stream = client.as_ref();
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut lines = Lines::new(PATIENCE);
    loop {
        let line = match lines.next(stream)? {
            Line::Whole(line) => line,
            Line::TooLong => {
                say(stream, &refusal(&format!("a line of more than {} bytes", lines::LONGEST)))?;
                return Ok(());
            }
            Line::End => return Ok(()),
        };
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        client.has_said(true);
        let (reply, recording) = match commands::read(&line) {
            Err(why) => (refusal(&why), None),
            Ok(Order::Help) => (replies::help(), None),
            Ok(Order::Stop) => {
                served.stop.ask("ctl stop");
                let ended = served.stop.wait_until_ended();
                (ended.map_or_else(|why| refusal(&why), |()| json!({ "ok": true, "stopped": true })), None)
            }
            Ok(Order::PowerCut) => {
                // Later there is no client to send to.
                say(stream, &json!({ "ok": true }))?;
                served.disk.ask(Query::Harm(Harm::Power { after: 0, seed: None }));
                return Ok(());
            }
            Ok(Order::Ask(query, shown)) => match served.disk.ask(query) {
                None => (refusal("the drive has stopped"), None),
                Some(Told::Recording(recording)) => (json!({ "ok": true, "recording": true }), Some(recording)),
                Some(told) => (replies::of(told, shown, served), None),
            },
        };
        say(stream, &reply)?;
        if let Some(recording) = recording {
            return trace::write(stream, recording, &served.disk);
        }
        client.is_answered();
    }
}

fn refusal(why: &str) -> Value {
    json!({ "ok": false, "error": why })
}

fn say(stream: &Stream, reply: &Value) -> io::Result<()> {
    let mut line = reply.to_string();
    line.push('\n');
    stream.write_all(line.as_bytes())
}
