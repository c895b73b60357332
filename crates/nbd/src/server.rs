//! The server's end of one connection.

mod intake;
mod payload;

pub use payload::Lent;

use std::collections::VecDeque;
use std::sync::Arc;

use wordline_block::{Failure, Op, Reply};

use crate::close::Close;
use crate::encode;
use crate::export::Export;
use crate::limits::Limits;
use crate::negotiate::{self, Negotiation};
use crate::request::{Kind, Request, Ticket};
use crate::stage::Stage;
/// What every connection of a server shares.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What is served.
    pub exports: Vec<Export>,
    /// Whether TLS is spoken.
    pub tls: Tls,
    /// Whether 64-bit lengths may be agreed on. They are an extension whose text is not final.
    pub extended_headers: bool,
    /// What one connection may hold.
    pub limits: Limits,
}

/// Whether a connection can be continued in TLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tls {
    /// It cannot.
    Absent,
    /// If the client likes.
    Offered,
    /// Nothing else is answered before.
    Required,
}

/// What a connection has to say to the server behind it.
#[derive(Debug, PartialEq, Eq)]
pub enum Event {
    /// The client opened an export. Requests follow.
    Opened(Opened),
    /// A request, to be answered in any order.
    Request(Request),
    /// Send what is in [`Server::output`], then speak TLS. Bytes that [`Server::receive`] left belong to TLS already. Call [`Server::tls_started`] when it
    /// stands.
    StartTls,
    /// The last event: nothing more is taken from this peer.
    Closed(Close),
}

/// What a client opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opened {
    /// The place in [`Settings::exports`].
    pub export: usize,
    /// The hint classes in force, as places in [`Export::classes`], rising.
    pub classes: Vec<usize>,
    /// The contexts that every block status is to answer, as places in [`Export::contexts`], rising.
    pub contexts: Vec<usize>,
}

/// One connection.
///
/// Feed it with [`receive`](Server::receive), take events with [`next`](Server::next), answer requests with [`reply`](Server::reply), send
/// [`output`](Server::output) and say so with [`sent`](Server::sent).
#[derive(Debug)]
pub struct Server {
    settings: Arc<Settings>,
    negotiation: Negotiation,
    opened: Option<Opened>,
    stage: Stage,
    /// The head or the option being collected.
    partial: Vec<u8>,
    events: VecDeque<Event>,
    output: Vec<u8>,
    sent: usize,
    /// Output that a sender has taken and not delivered.
    taken: u64,
    in_flight: usize,
    /// The sum of the costs of the tickets that are out.
    promised: u64,
    /// Buffers of payloads that are done with.
    spare: payload::Spare,
    closed: Option<Close>,
}

impl Server {
    /// A connection that was just accepted. Its greeting is in [`Server::output`].
    ///
    /// # Panics
    /// If an export cannot be described in the protocol.
    pub fn new(settings: Arc<Settings>) -> Server {
        settings.exports.iter().for_each(Export::check);
        let mut output = Vec::new();
        negotiate::greeting(&mut output);
        Server {
            settings,
            negotiation: Negotiation::new(),
            opened: None,
            stage: Stage::ClientFlags,
            partial: Vec::new(),
            events: VecDeque::new(),
            output,
            sent: 0,
            taken: 0,
            in_flight: 0,
            promised: 0,
            spare: payload::Spare::default(),
            closed: None,
        }
    }

    /// Takes bytes from the peer and returns how many. Fewer than given: something must be answered, sent or handed over first ([`Server::wants_input`] says
    /// when), or the conversation is over. The rest is to be given again.
    pub fn receive(&mut self, input: &[u8]) -> usize {
        let mut taken = 0;
        loop {
            let (count, goes_on) = self.step(&input[taken..]);
            taken += count;
            if !goes_on {
                return taken;
            }
        }
    }

    /// The next event, if there is one. Taking the last may let a request in that was waiting, so ask [`Server::wants_input`] after it.
    #[expect(clippy::should_implement_trait, reason = "more events may follow a `None`")]
    pub fn next(&mut self) -> Option<Event> {
        if self.events.is_empty() {
            // A head may be waiting for room that has become free.
            self.receive(&[]);
        }
        self.events.pop_front()
    }

    /// Whether [`Server::next`] would give an event now.
    pub fn has_event(&mut self) -> bool {
        if self.events.is_empty() {
            self.receive(&[]);
        }
        !self.events.is_empty()
    }

    /// Whether [`Server::receive`] would take anything now. While it would not, do not read from the peer.
    pub fn wants_input(&self) -> bool {
        match &self.stage {
            Stage::Tls | Stage::Over => false,
            Stage::OptionHead | Stage::OptionData { .. } | Stage::RequestHead => {
                self.partial.is_empty() || self.partial.len() < self.stage.wanted(self.negotiation.dialect)
            }
            Stage::Payload { lent, .. } => *lent == 0,
            Stage::ClientFlags | Stage::SkipOption { .. } | Stage::SkipPayload { .. } => true,
        }
    }

    /// TLS stands: what is received and sent from now on is inside.
    ///
    /// # Panics
    /// If no [`Event::StartTls`] came before.
    pub fn tls_started(&mut self) {
        assert!(matches!(self.stage, Stage::Tls), "nobody asked for TLS");
        self.negotiation.start_tls();
        self.stage = Stage::OptionHead;
    }

    /// The stream from the peer has ended.
    pub fn hang_up(&mut self) {
        if let Some(during) = self.stage.during(self.partial.is_empty()) {
            self.close(Close::HungUp { during });
        }
    }

    /// Answers a request.
    ///
    /// # Panics
    /// If the reply does not fit the request: see [`Reply`].
    pub fn reply(&mut self, ticket: Ticket, reply: Reply<'_>) {
        if self.settle(&ticket) {
            let active = self.opened.as_ref().map_or(&[][..], |opened| &opened.contexts);
            encode::reply(&mut self.output, self.negotiation.dialect, active, &ticket, reply);
        }
    }

    /// Answers a read with bytes that `fill` writes where they will be sent from. It is given zeroes, as many as the read is long.
    ///
    /// # Panics
    /// If the request is not a read.
    pub fn reply_in_place<'a>(&mut self, ticket: Ticket, fill: impl FnOnce(&mut [u8]) -> Result<(), Failure<'a>>) {
        assert!(matches!(ticket.kind, Kind::Read { .. }), "{ticket:?} is not a read");
        if !self.settle(&ticket) {
            return;
        }
        let start = self.output.len();
        let room = encode::read_room(&mut self.output, self.negotiation.dialect, &ticket);
        if let Err(failure) = fill(&mut self.output[room..]) {
            self.output.truncate(start);
            encode::reply(&mut self.output, self.negotiation.dialect, &[], &ticket, Reply::Failed(failure));
        }
    }

    /// Bytes for the peer.
    pub fn output(&self) -> &[u8] {
        &self.output[self.sent..]
    }

    /// The first `count` bytes of [`Server::output`] are on their way.
    ///
    /// # Panics
    /// If there were not so many.
    pub fn sent(&mut self, count: usize) {
        assert!(count <= self.output().len(), "more sent than there was");
        self.sent += count;
        if self.sent == self.output.len() {
            self.output.clear();
            self.sent = 0;
        } else if self.sent >= self.output.len() / 2 {
            self.output.drain(..self.sent);
            self.sent = 0;
        }
    }

    /// Takes everything in [`Server::output`] at once, for a sender that works beside the server. It counts as held until [`Server::delivered`] says that it is
    /// on its way.
    ///
    /// # Panics
    /// If `into` is not empty.
    pub fn take_output(&mut self, into: &mut Vec<u8>) {
        assert!(into.is_empty(), "what was taken before has to go first");
        if self.sent > 0 {
            self.output.drain(..self.sent);
            self.sent = 0;
        }
        std::mem::swap(&mut self.output, into);
        self.taken += into.len() as u64;
    }

    /// Note that a number of the taken bytes are on their way, or never will be.
    ///
    /// # Panics
    /// If there were not so many.
    pub fn delivered(&mut self, count: usize) {
        self.taken = self.taken.checked_sub(count as u64).expect("more delivered than was taken");
    }

    /// Whether nothing of a message has come that is not whole yet, once an export is open. Only here may a well-behaved client stay silent.
    pub fn is_between_requests(&self) -> bool {
        matches!(self.stage, Stage::RequestHead) && self.partial.is_empty()
    }

    /// Why the conversation is over, if it is.
    pub fn closed(&self) -> Option<&Close> {
        self.closed.as_ref()
    }

    /// Whether the connection can go down: it is over, and the peer has all it is owed.
    pub fn is_finished(&self) -> bool {
        self.closed.as_ref().is_some_and(|close| !close.is_graceful() || (self.in_flight == 0 && self.waiting() == 0))
    }

    /// Requests handed out, or about to be, and not answered.
    pub fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// Bytes allocated here at this moment. [`Limits::memory_bound`] is their bound, the payloads that were handed out included.
    pub fn buffered_bytes(&self) -> u64 {
        let payload = |event: &Event| {
            if let Event::Request(Request { op: Op::Write { data, .. }, .. }) = event { data.capacity() } else { 0 }
        };
        let collecting = if let Stage::Payload { data, lent, .. } = &self.stage { data.capacity() + lent } else { 0 };
        let waiting: usize = self.events.iter().map(payload).sum();
        let own = self.partial.capacity() + self.output.capacity() + self.events.capacity() * size_of::<Event>();
        (own + collecting + waiting + self.spare.bytes()) as u64
    }

    /// Bytes of output that are not on their way.
    fn waiting(&self) -> u64 {
        self.output().len() as u64 + self.taken
    }

    /// Takes a ticket back. False if nobody waits for the answer any more.
    fn settle(&mut self, ticket: &Ticket) -> bool {
        self.in_flight -= 1;
        self.promised -= ticket.cost;
        self.closed.as_ref().is_none_or(Close::is_graceful)
    }

    fn close(&mut self, close: Close) {
        if !close.is_graceful() {
            self.output = Vec::new();
            self.sent = 0;
        }
        self.partial = Vec::new();
        self.stage = Stage::Over;
        self.closed = Some(close.clone());
        self.events.push_back(Event::Closed(close));
    }
}
