//! Clients that have connected and not sent enough yet. Each has a descriptor and no thread, so that there is room for many, and a client about to send is
//! not pushed out by those that never will.

use std::collections::VecDeque;
use std::io;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::address::{Listener, Stream};
use super::rank::{Origin, Standing, to_go};

/// Clients that are let in at once, at most: others are to be read in between.
const AT_ONCE: usize = 64;

/// Time after which a client that has sent something, and not enough, is read again.
const AGAIN: Duration = Duration::from_millis(1);

/// Limits on waiting: the number of clients, the bytes to be sent, and the time.
#[derive(Clone, Copy, Debug)]
pub struct Manners {
    /// Clients that may wait at a time, at least one.
    pub most: usize,
    /// Bytes that a client has to send before it is served.
    pub enough: usize,
    /// Time for a client to send them.
    pub patience: Duration,
}

#[derive(Debug)]
struct Waiting<T> {
    who: T,
    origin: Origin,
    came: Instant,
    /// True once the client has sent something.
    mumbles: bool,
}

/// Waiting clients, in the order of their arrival.
#[derive(Debug)]
pub struct Hall<T> {
    manners: Manners,
    waiting: VecDeque<Waiting<T>>,
}

/// Events at the door.
#[derive(Debug)]
pub struct News<T> {
    /// Clients that have sent enough, which leave the hall.
    pub heard: Vec<T>,
    /// New connections, in no hall yet.
    pub came: Vec<Stream>,
    /// True if the door is to be closed.
    pub closes: bool,
}

impl<T: AsRef<Stream>> Hall<T> {
    /// An empty hall.
    pub fn new(manners: Manners) -> Hall<T> {
        Hall { manners, waiting: VecDeque::new() }
    }

    /// Lets `who` in. Returns the client that has to leave for it.
    pub fn enter(&mut self, who: T) -> Option<T> {
        let mut goes = None;
        if self.waiting.len() >= self.manners.most.max(1) {
            // Less than enough is nothing: a byte is as cheap as none.
            let all: Vec<Standing> = self.waiting.iter().map(|waiting| Standing { origin: waiting.origin, said: 0 }).collect();
            goes = to_go(&all, self.manners.most).and_then(|at| self.waiting.remove(at)).map(|waiting| waiting.who);
        }
        let origin = who.as_ref().origin();
        self.waiting.push_back(Waiting { who, origin, came: Instant::now(), mumbles: false });
        goes
    }

    /// Waits until something happens at `listener` or in the hall, for `limit` at most, if there is one.
    ///
    /// # Errors
    /// The error that the host returns, such as that there are no descriptors left.
    pub fn wait(&mut self, listener: &Listener, limit: Option<Duration>) -> io::Result<News<T>> {
        let next = self.waiting.front().map(|first| self.manners.patience.saturating_sub(first.came.elapsed()));
        let again = self.waiting.iter().any(|waiting| waiting.mumbles).then_some(AGAIN);
        let limit = [limit, next, again].into_iter().flatten().min();
        let mut fds = Vec::with_capacity(2 + self.waiting.len());
        fds.extend(listener.watched().map(|descriptor| PollFd::from_borrowed_fd(descriptor, PollFlags::IN)));
        // A client that has sent something, and not enough, is readable all the time.
        let wanted = |waiting: &Waiting<T>| if waiting.mumbles { PollFlags::RDHUP } else { PollFlags::IN };
        fds.extend(self.waiting.iter().map(|waiting| PollFd::from_borrowed_fd(waiting.who.as_ref().descriptor(), wanted(waiting))));
        let limit = limit.and_then(|limit| Timespec::try_from(limit).ok());
        match poll(&mut fds, limit.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let mut happened = fds.iter().map(|fd| !fd.revents().is_empty()).collect::<Vec<bool>>().into_iter();
        let [knocks, closes] = [happened.next(), happened.next()].map(|happened| happened == Some(true));
        let heard = self.listen(happened);
        let came = if knocks && !closes { listener.let_in(AT_ONCE)? } else { Vec::new() };
        Ok(News { heard, came, closes })
    }

    /// Reads clients with an event, and those that have sent too little. Takes out clients that have sent enough, and hangs up on those that have gone or whose
    /// time is over.
    fn listen(&mut self, mut happened: impl Iterator<Item = bool>) -> Vec<T> {
        let mut heard = Vec::new();
        for _ in 0..self.waiting.len() {
            let mut waiting = self.waiting.pop_front().expect("so many are there");
            if happened.next() == Some(true) || waiting.mumbles {
                match waiting.who.as_ref().peek(self.manners.enough) {
                    Ok(Some(count)) if count >= self.manners.enough => {
                        heard.push(waiting.who);
                        continue;
                    }
                    Ok(Some(0)) | Err(_) => {
                        waiting.who.as_ref().shut();
                        continue;
                    }
                    Ok(Some(_)) => waiting.mumbles = true,
                    Ok(None) => {}
                }
            }
            if waiting.came.elapsed() >= self.manners.patience {
                waiting.who.as_ref().shut();
            } else {
                self.waiting.push_back(waiting);
            }
        }
        heard
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::net::UnixStream;

    use super::*;
    use crate::doors::Address;

    struct One(Stream);

    impl AsRef<Stream> for One {
        fn as_ref(&self) -> &Stream {
            &self.0
        }
    }

    fn pair() -> (UnixStream, One) {
        let (theirs, ours) = UnixStream::pair().expect("descriptors");
        (theirs, One(Stream::Unix(ours)))
    }

    #[test]
    fn who_has_said_enough_is_heard_and_who_is_gone_or_late_is_not() {
        let listener = Listener::bind(&Address::Tcp(([127, 0, 0, 1], 0).into())).expect("a port is free");
        let mut hall = Hall::new(Manners { most: 3, enough: 4, patience: Duration::from_millis(200) });
        let [(mut talks, first), (mut mumbles, second), (gone, third), (_late, fourth)] = [pair(), pair(), pair(), pair()];
        assert!(hall.enter(first).is_none() && hall.enter(second).is_none() && hall.enter(third).is_none());
        assert!(hall.wait(&listener, Some(Duration::ZERO)).expect("a host").heard.is_empty());
        talks.write_all(b"four").expect("room");
        mumbles.write_all(b"two").expect("room");
        drop(gone);
        assert_eq!(hall.wait(&listener, None).expect("a host").heard.len(), 1);
        assert_eq!(hall.waiting.len(), 1, "the one that is gone is out");
        mumbles.write_all(b"!").expect("room");
        assert_eq!(hall.wait(&listener, None).expect("a host").heard.len(), 1);
        hall.enter(fourth);
        let news = hall.wait(&listener, None).expect("a host");
        assert!(news.heard.is_empty() && hall.waiting.is_empty(), "its time was over");
    }

    #[test]
    fn the_oldest_goes_for_one_who_comes_when_all_places_are_taken() {
        let mut hall = Hall::new(Manners { most: 2, enough: 1, patience: Duration::from_secs(9) });
        let people: Vec<_> = (0..3).map(|_| pair()).collect();
        let numbers: Vec<_> = people.iter().map(|(_, ours)| std::os::fd::AsRawFd::as_raw_fd(&ours.0.descriptor())).collect();
        let gone: Vec<_> = people.into_iter().filter_map(|(_, ours)| hall.enter(ours)).collect();
        let gone: Vec<_> = gone.iter().map(|one| std::os::fd::AsRawFd::as_raw_fd(&one.0.descriptor())).collect();
        assert_eq!(gone, numbers[..1]);
    }
}
