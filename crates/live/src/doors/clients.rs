//! Clients of a socket that is answered one question at a time: a thread each, with a limit on their number.
//!
//! If all places are taken, one more takes the place of the one that has sent least, and of several the oldest; not of one whose question is being worked on.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::{self, JoinHandle};

use super::address::Stream;
use super::rank::{Origin, Standing, to_go};

/// A client of the socket.
#[derive(Debug)]
pub struct Client {
    stream: Stream,
    origin: Origin,
    said: AtomicU32,
    is_busy: AtomicBool,
}

impl AsRef<Stream> for Client {
    fn as_ref(&self) -> &Stream {
        &self.stream
    }
}

impl Client {
    /// A client that has sent nothing.
    pub fn new(stream: Stream) -> Client {
        Client { origin: stream.origin(), stream, said: AtomicU32::new(0), is_busy: AtomicBool::new(false) }
    }

    /// Counts a complete message of the client. `is_busy`: work on it lasts until [`Client::is_answered`].
    pub fn has_said(&self, is_busy: bool) {
        self.said.fetch_add(1, Ordering::AcqRel);
        self.is_busy.store(is_busy, Ordering::Release);
    }

    /// Ends the work on its message.
    pub fn is_answered(&self) {
        self.is_busy.store(false, Ordering::Release);
    }
}

#[derive(Debug)]
struct Place {
    client: Weak<Client>,
    thread: JoinHandle<()>,
    is_out: bool,
}

/// Clients that are connected.
#[derive(Debug)]
pub struct Clients {
    most: usize,
    there: Mutex<Vec<Place>>,
}

impl Clients {
    /// Room for `most` clients.
    pub fn new(most: usize) -> Clients {
        Clients { most, there: Mutex::new(Vec::new()) }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Place>> {
        self.there.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs `talk` with `client` in a thread of its own. `farewell` is sent to the client that has to leave for it and has sent no complete message, or to
    /// `client`, if no other can leave.
    pub fn take(&self, client: Arc<Client>, farewell: &[u8], talk: impl FnOnce(&Client) + Send + 'static) {
        let mut there = self.lock();
        there.retain(|place| !place.thread.is_finished());
        // Clients that have been hung up on still have threads, for a moment.
        let is_full = there.iter().filter(|place| !place.is_out).count() >= self.most || there.len() >= 4 * self.most;
        if is_full && !hang_up_on_one(&mut there, self.most, farewell) {
            let _ = client.stream.send_some(farewell);
            return client.stream.shut();
        }
        let weak = Arc::downgrade(&client);
        let talks = Arc::clone(&client);
        let talk = move || {
            talk(&talks);
            talks.stream.shut();
        };
        match thread::Builder::new().spawn(talk) {
            Ok(thread) => there.push(Place { client: weak, thread, is_out: false }),
            Err(_) => client.stream.shut(),
        }
    }

    /// True if a client is there, after `with` was done to the stream of each.
    pub fn each(&self, with: impl Fn(&Stream)) -> bool {
        let there = self.lock();
        there.iter().filter_map(|place| place.client.upgrade()).for_each(|client| with(&client.stream));
        there.iter().any(|place| !place.thread.is_finished())
    }

    /// Hangs up on all clients, and waits until they are gone.
    pub fn empty(&self) {
        let there = std::mem::take(&mut *self.lock());
        for place in there {
            place.client.upgrade().iter().for_each(|client| client.stream.shut());
            // The cause of a panic of the thread has been reported.
            let _ = place.thread.join();
        }
    }
}

/// Hangs up on the client that has to leave. False: all are busy, or too many are on their way out.
fn hang_up_on_one(there: &mut [Place], most: usize, farewell: &[u8]) -> bool {
    if there.len() >= 4 * most {
        return false;
    }
    let seen = |(at, place): (usize, &Place)| {
        let client = place.client.upgrade().filter(|client| !place.is_out && !client.is_busy.load(Ordering::Acquire))?;
        Some((at, Standing { origin: client.origin, said: client.said.load(Ordering::Acquire) }))
    };
    let (places, standings): (Vec<usize>, Vec<Standing>) = there.iter().enumerate().filter_map(seen).unzip();
    let Some(at) = to_go(&standings, most) else { return false };
    let (place, said) = (&mut there[places[at]], standings[at].said);
    place.is_out = true;
    if let Some(client) = place.client.upgrade() {
        if said == 0 {
            let _ = client.stream.send_some(farewell);
        }
        client.stream.shut();
    }
    true
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::os::unix::net::UnixStream;
    use std::sync::mpsc::{Receiver, Sender, channel};

    use super::*;

    fn take(clients: &Clients, steps: &[bool]) -> (UnixStream, Receiver<()>) {
        let (theirs, ours) = UnixStream::pair().expect("descriptors");
        theirs.set_read_timeout(Some(std::time::Duration::from_secs(20))).expect("a timeout");
        let client = Arc::new(Client::new(Stream::Unix(ours)));
        steps.iter().for_each(|&is_busy| client.has_said(is_busy));
        let (ends, ended): (Sender<()>, _) = channel();
        clients.take(client, b"full", move |client| {
            let _ends = ends;
            // Waits until the connection ends.
            let _ = client.stream.read(&mut [0; 1]);
        });
        (theirs, ended)
    }

    fn rest(mut stream: &UnixStream) -> String {
        let mut rest = String::new();
        stream.read_to_string(&mut rest).expect("the end");
        rest
    }

    #[test]
    fn one_more_has_the_place_of_the_one_that_has_said_least_and_not_of_one_that_is_answered() {
        let clients = Clients::new(3);
        let (busy, _) = take(&clients, &[true]);
        let (spoke, _) = take(&clients, &[false]);
        let (silent, ended) = take(&clients, &[]);
        let (next, _) = take(&clients, &[true]);
        assert_eq!(rest(&silent), "full");
        assert!(ended.recv().is_err(), "its thread ends");
        let (last, _) = take(&clients, &[true]);
        assert_eq!(rest(&spoke), "", "an answer may have begun");
        let (late, _) = take(&clients, &[]);
        assert_eq!(rest(&late), "full", "the others are all busy");
        assert!(clients.each(|_| {}));
        clients.empty();
        assert_eq!([&busy, &next, &last].map(rest), ["", "", ""]);
        assert!(!clients.each(|_| {}));
    }
}
