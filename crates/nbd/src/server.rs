//! The server's end of one connection: takes apart what comes from the peer, and gathers what goes back.

mod payload;

pub use payload::Lent;

use std::collections::VecDeque;
use std::sync::Arc;

use wordline_block::{Failure, Op, Reply};

use crate::close::Close;
use crate::encode;
use crate::export::Export;
use crate::fields::Fields;
use crate::negotiate::{self, Negotiation, Next};
use crate::request::{Kind, Request, Ticket};
use crate::settings::{Opened, Settings};
use crate::stage::Stage;
use crate::transmit::{Asked, Head};
use crate::wire::{OPTION_MAGIC, handshake, option, option_reply};

/// A payload grows as it arrives, by at least so much: a peer that only announces one costs nothing.
const PAYLOAD_START: usize = 64 << 10;
/// Answers to options that wait for a peer that does not read.
const NEGOTIATION_OUTPUT_MAX: u64 = 64 << 10;

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

    /// The payload that is being received, if more than a little of it is to come. Until it is given back, [`Server::receive`] takes nothing.
    pub fn lend_payload(&mut self) -> Option<Lent> {
        self.spare.lend(&mut self.stage)
    }

    /// Takes back what was lent. Where the conversation is over meanwhile, it goes.
    ///
    /// # Panics
    /// If it is longer than the payload.
    pub fn give_back(&mut self, payload: Lent) {
        payload.give_back(&mut self.stage);
    }

    /// The buffer of a payload that is done with is for another.
    pub fn spare(&mut self, buffer: Vec<u8>) {
        if self.closed.is_none() {
            self.spare.put(buffer);
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

    /// Bytes allocated here at this moment. Their bound, with payloads that were handed out, is [`memory_bound`](crate::limits::Limits::memory_bound).
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

    /// Takes bytes for one part of a message. Returns how many, and whether there may be more to do.
    fn step(&mut self, input: &[u8]) -> (usize, bool) {
        match &mut self.stage {
            Stage::Tls | Stage::Over => (0, false),
            Stage::SkipOption { option, left } => {
                let count = input.len().min(*left as usize);
                *left -= count as u32;
                if *left > 0 {
                    return (count, false);
                }
                negotiate::refuse(&mut self.output, *option, option_reply::ERR_TOO_BIG, "more data than any option needs");
                self.stage = Stage::OptionHead;
                (count, true)
            }
            Stage::SkipPayload { left, .. } => {
                let count = usize::try_from(*left).unwrap_or(usize::MAX).min(input.len());
                *left -= count as u64;
                if *left > 0 {
                    return (count, false);
                }
                if let Stage::SkipPayload { ticket, failure, .. } = std::mem::replace(&mut self.stage, Stage::RequestHead) {
                    self.reply(ticket, Reply::Failed(failure));
                }
                (count, true)
            }
            Stage::Payload { lent, .. } if *lent > 0 => (0, false),
            Stage::Payload { ticket, data, .. } => {
                let left = ticket.length as usize - data.len();
                let count = input.len().min(left);
                if data.capacity() == 0 && count > 0 {
                    *data = self.spare.take(ticket.length);
                }
                if data.capacity() - data.len() < count {
                    data.reserve_exact(left.min((2 * count).max(data.len()).max(PAYLOAD_START)));
                }
                data.extend_from_slice(&input[..count]);
                if (data.len() as u64) < ticket.length {
                    return (count, false);
                }
                if let Stage::Payload { ticket, fua, data, .. } = std::mem::replace(&mut self.stage, Stage::RequestHead) {
                    self.hand_out(Op::Write { offset: ticket.offset, data, fua }, ticket);
                }
                (count, true)
            }
            Stage::ClientFlags | Stage::OptionHead | Stage::OptionData { .. } | Stage::RequestHead => {
                let count = input.len().min(self.stage.wanted(self.negotiation.dialect) - self.partial.len());
                self.partial.extend_from_slice(&input[..count]);
                if self.partial.len() < self.stage.wanted(self.negotiation.dialect) {
                    return (count, false);
                }
                (count, self.collected())
            }
        }
    }

    /// Acts on what was collected. False if it has to wait.
    fn collected(&mut self) -> bool {
        if matches!(self.stage, Stage::OptionHead | Stage::OptionData { .. }) && self.waiting() >= NEGOTIATION_OUTPUT_MAX {
            return false;
        }
        let bytes = std::mem::take(&mut self.partial);
        let done = match self.stage {
            Stage::ClientFlags => self.client_flags(&bytes),
            Stage::OptionHead => self.option_head(&bytes),
            Stage::OptionData { option, .. } => self.option(option, &bytes),
            Stage::RequestHead => match self.request_head(&bytes) {
                Ok(done) => done,
                Err(close) => {
                    self.close(close);
                    true
                }
            },
            Stage::Tls | Stage::SkipOption { .. } | Stage::Payload { .. } | Stage::SkipPayload { .. } | Stage::Over => true,
        };
        if !matches!(self.stage, Stage::Over) {
            self.partial = bytes;
            if done {
                self.partial.clear();
            }
        }
        done
    }

    fn client_flags(&mut self, bytes: &[u8]) -> bool {
        let flags = Fields(bytes).u32().unwrap_or(u32::MAX);
        if flags & !u32::from(handshake::FIXED_NEWSTYLE | handshake::NO_ZEROES) != 0 {
            self.close(Close::ClientFlags(flags));
            return true;
        }
        self.negotiation.no_zeroes = flags & u32::from(handshake::NO_ZEROES) != 0;
        self.stage = Stage::OptionHead;
        true
    }

    fn option_head(&mut self, bytes: &[u8]) -> bool {
        let mut fields = Fields(bytes);
        let (Some(magic), Some(option), Some(length)) = (fields.u64(), fields.u32(), fields.u32()) else { return true };
        let limits = self.settings.limits;
        self.negotiation.count += 1;
        if magic != OPTION_MAGIC {
            self.close(Close::option_magic(magic));
        } else if self.negotiation.count > limits.options {
            self.close(Close::OptionCount(limits.options));
        } else if length > limits.request_bytes.max(limits.option_bytes) {
            self.close(Close::OptionLength { option, length, max: limits.request_bytes.max(limits.option_bytes) });
        } else if length > limits.option_bytes && option == option::EXPORT_NAME {
            self.close(Close::UnknownExport(format!("a name of {length} bytes")));
        } else if length > limits.option_bytes {
            self.stage = Stage::SkipOption { option, left: length };
        } else {
            self.stage = Stage::OptionData { option, length: length as usize };
        }
        true
    }

    fn option(&mut self, option: u32, data: &[u8]) -> bool {
        self.stage = Stage::OptionHead;
        match self.negotiation.option(&self.settings, option, data, &mut self.output) {
            Next::Option => {}
            Next::Tls => {
                self.stage = Stage::Tls;
                self.events.push_back(Event::StartTls);
            }
            Next::Transmission(opened) => {
                self.stage = Stage::RequestHead;
                self.events.push_back(Event::Opened(opened.clone()));
                self.opened = Some(opened);
            }
            Next::Close(close) => self.close(close),
        }
        true
    }

    fn request_head(&mut self, bytes: &[u8]) -> Result<bool, Close> {
        let Some(Opened { export, contexts, .. }) = &self.opened else { return Ok(true) };
        let (limits, dialect) = (self.settings.limits, self.negotiation.dialect);
        let head = Head::parse(bytes, dialect)?;
        let ticket = head.ticket(&limits, contexts.len());
        let alone = self.in_flight == 0 && self.waiting() == 0;
        let held = self.promised + self.waiting() + ticket.cost;
        if !alone && (self.in_flight >= limits.requests || held > limits.held_bytes) {
            return Ok(false);
        }
        let asked = head.check(&self.settings.exports[*export], dialect, &limits, contexts.len())?;
        self.in_flight += 1;
        self.promised += ticket.cost;
        match asked {
            Asked::Op(op) => self.hand_out(op, ticket),
            Asked::Write { fua } => {
                self.stage = Stage::Payload { ticket, fua, data: Vec::new(), lent: 0 };
            }
            Asked::Refuse { errno, message, skip } => {
                self.stage = Stage::SkipPayload { ticket, failure: Failure { errno, message }, left: skip };
            }
            Asked::Disconnect => {
                self.settle(&ticket);
                self.close(Close::Disconnected);
            }
        }
        Ok(true)
    }

    fn hand_out(&mut self, op: Op, ticket: Ticket) {
        self.events.push_back(Event::Request(Request { op, ticket }));
    }
}
