//! Clients that may be connected, and those that have to go for others.
//!
//! A **stranger** has not shown who it is: without a certificate where the server asks for one, else without an export open. A **guest** has. The two have
//! places of their own, so strangers cannot keep guests out. A client that comes waits in the hall ([`wordline_live::doors::Hall`]) until it has sent a whole
//! message, and has a thread from then on. A stranger that comes when all places are taken has the place of another one: in the hall of the oldest, behind it
//! of the one that has said least, and of several the oldest; an address with more than its share of the places gives up its own first. Each has to be through
//! with its negotiation before its deadline, however busily it sends. A guest that comes when all places are taken has the place of the one that has been
//! silent for longest, if that has been long enough and nothing that it asked for is under way; else it is hung up on.

#[cfg(test)]
mod flood;
mod room;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use wordline_live::doors::{Origin, Standing};

use crate::connection::Connection;
use room::{Admission, Seen};

pub(crate) use room::Room;

/// The places of a server.
#[derive(Debug)]
pub(crate) struct Places {
    room: Room,
    taken: Mutex<Vec<Place>>,
}

#[derive(Debug)]
struct Place {
    connection: Weak<Connection>,
    thread: JoinHandle<()>,
    origin: Origin,
    came: Instant,
    /// It has been hung up on.
    is_out: bool,
    is_guest: bool,
}

impl Place {
    /// One that is gone keeps its place as long as the disk has something of it: what connections may hold is a promise.
    fn is_taken(&self) -> bool {
        !self.thread.is_finished() || self.connection.strong_count() > 0
    }

    fn seen(&self) -> Seen {
        let connection = self.connection.upgrade();
        let silent = connection.as_ref().and_then(|connection| connection.silent_for());
        let said = connection.map_or(0, |connection| connection.said());
        Seen {
            is_guest: self.is_guest,
            is_out: self.is_out,
            here: self.came.elapsed(),
            silent,
            standing: Standing { origin: self.origin, said },
        }
    }

    fn hang_up(&mut self) {
        self.is_out = true;
        if let Some(connection) = self.connection.upgrade() {
            connection.shut();
        }
    }
}

impl Places {
    pub(crate) fn new(room: Room) -> Places {
        Places { room, taken: Mutex::new(Vec::new()) }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Place>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a place of a guest is free, or can be had. What it takes for that is done when there is a guest for it.
    pub(crate) fn may_come(&self) -> bool {
        self.room.for_guest(&seen(&mut self.lock())) != Admission::Refused
    }

    /// Whether those that have been hung up on and are not gone yet are so many that nobody else is to come before.
    pub(crate) fn is_crowded(&self) -> bool {
        let mut taken = self.lock();
        taken.retain(Place::is_taken);
        taken.iter().filter(|place| place.is_out && !place.thread.is_finished()).count() > self.room.strangers
    }

    /// A stranger has said its first message, and `talk` is what its thread does. Where the host gives no thread, it is hung up on.
    pub(crate) fn take(&self, connection: &Arc<Connection>, talk: impl FnOnce() + Send + 'static) {
        let mut taken = self.lock();
        // They stand in the order in which they came.
        let go = self.room.for_stranger(&seen(&mut taken));
        go.into_iter().for_each(|at| taken[at].hang_up());
        match thread::Builder::new().spawn(talk) {
            Ok(thread) => {
                let (origin, came) = (connection.origin(), connection.began());
                let connection = Arc::downgrade(connection);
                taken.push(Place { connection, thread, origin, came, is_out: false, is_guest: false });
            }
            Err(_) => connection.shut(),
        }
    }

    /// The stranger behind `connection` has shown who it is. False: there is no place for it.
    pub(crate) fn admit(&self, connection: &Arc<Connection>) -> bool {
        let mut taken = self.lock();
        let seen = seen(&mut taken);
        let is_it = |place: &Place| std::ptr::eq(place.connection.as_ptr(), Arc::as_ptr(connection));
        let Some(at) = taken.iter().position(is_it) else { return false };
        if taken[at].is_out {
            return false;
        }
        if !taken[at].is_guest {
            match self.room.for_guest(&seen) {
                Admission::Free => {}
                Admission::InsteadOf(idlest) => {
                    // Its place is free once it has gone, which is soon: nothing of it is under way.
                    taken[idlest].hang_up();
                    taken[idlest].is_guest = false;
                }
                Admission::Refused => return false,
            }
            taken[at].is_guest = true;
        }
        true
    }

    /// Hangs up on strangers whose time is over; says how long it is until the next one's is.
    pub(crate) fn clear(&self) -> Option<Duration> {
        let mut taken = self.lock();
        let (over, next) = self.room.overdue(&seen(&mut taken));
        over.into_iter().for_each(|at| taken[at].hang_up());
        next
    }

    /// Those who are connected.
    pub(crate) fn connected(&self) -> usize {
        self.lock().iter().filter(|place| !place.thread.is_finished()).count()
    }

    /// Does `with` to each connection.
    pub(crate) fn each(&self, with: impl Fn(&Connection)) {
        self.lock().iter().filter_map(|place| place.connection.upgrade()).for_each(|connection| with(&connection));
    }

    /// Hangs up on everybody, and waits until they are gone.
    pub(crate) fn empty(&self) {
        let places = std::mem::take(&mut *self.lock());
        for mut place in places {
            place.hang_up();
            // What a thread panicked over has been said.
            let _ = place.thread.join();
        }
    }
}

/// What is seen of those who still have places.
fn seen(taken: &mut Vec<Place>) -> Vec<Seen> {
    taken.retain(Place::is_taken);
    taken.iter().map(Place::seen).collect()
}
