//! The way back from a disk to those who ask it.

use std::fmt;
use std::sync::Arc;

use crate::errno::Errno;
use crate::reply::{Failure, Piece, Reply};

/// Receiver of answers: a client's connection, or something inside the process, such as a member of an array.
///
/// Answers come from any thread, and in any order.
pub trait Requester: fmt::Debug + Send + Sync {
    /// Takes the answer to the request with this tag. With `is_followed`, [`Requester::send`] or [`Requester::send_now`] is called after it, and the answer
    /// need not be passed on before.
    ///
    /// # Panics
    /// May panic if the answer does not fit the request: see [`Reply`].
    fn answer(&self, tag: u64, answer: Answer<'_>, is_followed: bool);

    /// Whether anybody waits for answers. A request of a requester that is gone need not be done.
    fn is_there(&self) -> bool;

    /// Sees to it that answers that were taken are passed on.
    fn send(&self) {}

    /// Passes answers on from the caller's thread, as far as that goes without waiting, and sees to the rest.
    fn send_now(&self) {}
}

/// Answer to one request.
pub enum Answer<'a> {
    /// A reply, whose bytes are to be copied.
    Reply(Reply<'a>),
    /// The request is done, and this is the buffer of its payload: another request of the requester may use it.
    DoneWith(Vec<u8>),
    /// Function that writes the bytes of a read to where they are sent from. It is given zeroes, as many as the read is long, and is called once.
    Fill(&'a mut Fill<'a>),
}

/// Function that writes the bytes of a read.
pub type Fill<'a> = dyn FnMut(&mut [u8]) -> Result<(), Failure<'a>> + 'a;

/// The way to answer one request. Dropped without an answer, it answers with an I/O error.
#[derive(Debug)]
pub struct Done {
    requester: Arc<dyn Requester>,
    tag: u64,
    is_answered: bool,
    /// The answer is sent with a batch.
    in_batch: bool,
}

/// Answers that are sent together: for a disk that has many at once, and would else wake a thread of the requester for each. They are sent when this is
/// dropped, or earlier.
#[derive(Debug, Default)]
pub struct Batch(Vec<Arc<dyn Requester>>);

impl Batch {
    /// Lets the answer given through `done` be sent with this batch.
    pub fn take_in(&mut self, done: &mut Done) {
        done.in_batch = true;
        let is_it = |requester: &Arc<dyn Requester>| std::ptr::addr_eq(Arc::as_ptr(requester), Arc::as_ptr(&done.requester));
        if !self.0.iter().any(is_it) {
            self.0.push(Arc::clone(&done.requester));
        }
    }

    /// Sends the answers.
    pub fn send(&mut self) {
        self.0.drain(..).for_each(|requester| requester.send());
    }

    /// Sends the answers from this thread, as far as that goes without waiting.
    pub fn send_now(&mut self) {
        self.0.drain(..).for_each(|requester| requester.send_now());
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        self.send();
    }
}

impl Done {
    /// The way to answer the request of `requester` with this tag. Nothing makes tags unique but the requester.
    pub fn new(requester: Arc<dyn Requester>, tag: u64) -> Done {
        Done { requester, tag, is_answered: false, in_batch: false }
    }

    /// Whether anybody waits for the answer. A request that is not wanted need not be done; dropped, it costs nothing more.
    pub fn is_wanted(&self) -> bool {
        self.requester.is_there()
    }

    fn answer(&mut self, answer: Answer<'_>) {
        if !std::mem::replace(&mut self.is_answered, true) {
            self.requester.answer(self.tag, answer, self.in_batch);
        }
    }

    /// Answers.
    ///
    /// # Panics
    /// If the reply does not fit the request: see [`Reply`].
    pub fn reply(mut self, reply: Reply<'_>) {
        self.answer(Answer::Reply(reply));
    }

    /// It is done.
    ///
    /// # Panics
    /// If it was a read or a block status.
    pub fn ok(self) {
        self.reply(Reply::Done);
    }

    /// It is done, and `payload` is the buffer that it brought: another request of this requester may use it.
    ///
    /// # Panics
    /// If it was a read or a block status.
    pub fn ok_with(mut self, payload: Vec<u8>) {
        self.answer(Answer::DoneWith(payload));
    }

    /// It failed, and this is why.
    pub fn fail(self, errno: Errno, message: &str) {
        self.reply(Reply::Failed(Failure { errno, message }));
    }

    /// It is a read, and failed: `at` is the place of the first byte that could not be read, counted from its first, if that is known.
    ///
    /// # Panics
    /// If it was no read.
    pub fn fail_at(self, at: Option<u64>, errno: Errno, message: &str) {
        let failure = Failure { errno, message };
        self.reply(at.map_or(Reply::Failed(failure), |at| Reply::FailedAt(at, failure)));
    }

    /// Answers a read with all its bytes.
    ///
    /// # Panics
    /// If it was no read, or of another length.
    pub fn read(self, pieces: &[Piece<'_>]) {
        self.reply(Reply::Read(pieces));
    }

    /// Answers a read with bytes that are written to where they are sent from. `fill` should be quick: the requester waits for it.
    ///
    /// # Panics
    /// If it was no read.
    pub fn fill<'a>(mut self, fill: impl FnOnce(&mut [u8]) -> Result<(), Failure<'a>>) {
        let mut fill = Some(fill);
        let mut once = |into: &mut [u8]| match fill.take() {
            Some(fill) => fill(into),
            None => Err(Failure { errno: Errno::Io, message: "a read is filled once" }),
        };
        self.answer(Answer::Fill(&mut once));
    }
}

impl Drop for Done {
    fn drop(&mut self) {
        self.answer(Answer::Reply(Reply::Failed(Failure { errno: Errno::Io, message: "the disk gave no answer" })));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Mutex, PoisonError};

    use super::*;

    /// A requester that writes down what happens to it.
    #[derive(Debug, Default)]
    struct Noted(Mutex<Vec<String>>);

    impl Noted {
        fn note(&self, line: String) {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push(line);
        }

        fn take(&self) -> Vec<String> {
            std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
        }
    }

    impl Requester for Noted {
        fn answer(&self, tag: u64, answer: Answer<'_>, is_followed: bool) {
            let what = match answer {
                Answer::Reply(Reply::Failed(failure)) => failure.message.to_owned(),
                Answer::Reply(reply) => format!("{reply:?}"),
                Answer::DoneWith(payload) => format!("done with {payload:?}"),
                Answer::Fill(fill) => {
                    let mut bytes = [0; 2];
                    let first = fill(&mut bytes).is_ok();
                    format!("{bytes:?} {first} {}", fill(&mut bytes).is_ok())
                }
            };
            self.note(format!("{tag}: {what}{}", if is_followed { ", followed" } else { "" }));
        }

        fn is_there(&self) -> bool {
            true
        }

        fn send(&self) {
            self.note("send".to_owned());
        }

        fn send_now(&self) {
            self.note("send now".to_owned());
        }
    }

    #[test]
    fn every_request_is_answered_once() {
        let noted = Arc::new(Noted::default());
        let done = |tag| Done::new(Arc::clone(&noted) as Arc<dyn Requester>, tag);
        done(1).ok();
        done(2).ok_with(vec![7]);
        done(3).fail(Errno::Io, "lost");
        drop(done(4));
        done(5).fill(|into| {
            into.fill(9);
            Ok(())
        });
        let lines = ["1: Done", "2: done with [7]", "3: lost", "4: the disk gave no answer", "5: [9, 9] true false"];
        assert_eq!(noted.take(), lines);
    }

    #[test]
    fn a_batch_sends_once_for_each_requester() {
        let noted = [0, 1].map(|_| Arc::new(Noted::default()));
        let mut batch = Batch::default();
        for (at, tag) in [(0, 1), (1, 2), (0, 3)] {
            let mut done = Done::new(Arc::clone(&noted[at]) as Arc<dyn Requester>, tag);
            batch.take_in(&mut done);
            done.ok();
        }
        batch.send_now();
        assert_eq!(noted[0].take(), ["1: Done, followed", "3: Done, followed", "send now"]);
        drop(batch);
        assert_eq!(noted[1].take(), ["2: Done, followed", "send now"], "nothing is left to be sent");
    }
}
