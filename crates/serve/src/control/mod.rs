//! The control socket of a served drive: lines of JSON, one question and one answer at a time.
//!
//! ```text
//! {"do":"status"}                                         {"ok":true, …}
//! {"do":"hint","offset":0,"length":65536,"priority":"high"}   {"ok":true, …}
//! {"do":"hnit"}                                           {"ok":false,"error":"…; did you mean hint?"}
//! ```
//!
//! It is a socket file that only its owner may open. Whoever has it is trusted to do to the drive what the commands do, and is not trusted to be quick,
//! short or right: a line has so many bytes, a client is waited for so long, there are so many of them, and whatever is wrong is said in the answer.

mod commands;
mod lines;
mod replies;
mod trace;

use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

pub use commands::{Command, commands};

use crate::address::{Address, Listener, Stream};
use crate::listener::ServeError;
use crate::live::{LiveDisk, Told};
use commands::Order;
use lines::{Line, Lines};

/// Clients at a time.
const CLIENTS_MAX: usize = 16;
/// How long a client is waited for in the middle of a line, and until it takes an answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// A control socket that is listened on. It goes when this is dropped.
#[derive(Debug)]
pub struct ControlSocket {
    address: Address,
    shared: Arc<Shared>,
    acceptor: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    stopping: AtomicBool,
    clients: Mutex<Vec<(Weak<Stream>, JoinHandle<()>)>>,
}

/// What a client talks to.
#[derive(Clone, Debug)]
struct Served {
    disk: Arc<LiveDisk>,
    began: Instant,
}

/// Listens on a Unix socket at `path` for those who want to look at `disk`, or to do something to it.
///
/// # Errors
/// If the host refuses the socket.
pub fn control(path: &Path, disk: Arc<LiveDisk>) -> Result<ControlSocket, ServeError> {
    let address = Address::Unix(path.to_owned());
    let failed = |source| ServeError::Listen { address: address.clone(), source };
    let listener = Listener::bind(&address).map_err(failed)?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).map_err(failed)?;
    let shared = Arc::new(Shared { stopping: AtomicBool::new(false), clients: Mutex::new(Vec::new()) });
    let acceptor = {
        let (shared, served) = (Arc::clone(&shared), Served { disk, began: Instant::now() });
        thread::spawn(move || accept(&listener, &served, &shared))
    };
    Ok(ControlSocket { address, shared, acceptor: Some(acceptor) })
}

fn accept(listener: &Listener, served: &Served, shared: &Shared) {
    while !shared.stopping.load(Ordering::Acquire) {
        let Ok(stream) = listener.accept() else {
            // A lack of descriptors lasts a while.
            thread::park_timeout(Duration::from_millis(10));
            continue;
        };
        let mut clients = shared.clients.lock().unwrap_or_else(PoisonError::into_inner);
        clients.retain(|(_, thread)| !thread.is_finished());
        if shared.stopping.load(Ordering::Acquire) || clients.len() >= CLIENTS_MAX {
            stream.shut();
            continue;
        }
        let (stream, served) = (Arc::new(stream), served.clone());
        let weak = Arc::downgrade(&stream);
        let talk = move || {
            // What went wrong with a stream is the same as its end.
            let _ = talk(&served, &stream);
            stream.shut();
        };
        clients.push((weak, thread::spawn(talk)));
    }
}

impl ControlSocket {
    /// Where it listens.
    pub fn path(&self) -> &Path {
        match &self.address {
            Address::Unix(path) => path,
            Address::Tcp(_) => unreachable!("it was made on a path"),
        }
    }
}

impl Drop for ControlSocket {
    fn drop(&mut self) {
        self.shared.stopping.store(true, Ordering::Release);
        // Wakes the acceptor.
        drop(Stream::connect(&self.address));
        if let Some(acceptor) = self.acceptor.take() {
            let _ = acceptor.join();
        }
        let clients = std::mem::take(&mut *self.shared.clients.lock().unwrap_or_else(PoisonError::into_inner));
        for (stream, thread) in clients {
            if let Some(stream) = stream.upgrade() {
                stream.shut();
            }
            let _ = thread.join();
        }
        // Somebody may have tidied up before.
        let _ = std::fs::remove_file(self.path());
    }
}

/// Answer one client until it is gone.
fn talk(served: &Served, stream: &Stream) -> io::Result<()> {
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
        let (reply, recording) = match commands::read(&line) {
            Err(why) => (refusal(&why), None),
            Ok(Order::Help) => (replies::help(), None),
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
