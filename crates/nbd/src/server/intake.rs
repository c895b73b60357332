//! Taking apart what comes from the peer.

use wordline_block::{Failure, Op, Reply};

use super::{Event, Opened, Server};
use crate::close::Close;
use crate::fields::Fields;
use crate::negotiate::{self, Next};
use crate::request::{Request, Ticket};
use crate::stage::Stage;
use crate::transmit::{Asked, Head};
use crate::wire::{OPTION_MAGIC, handshake, option, option_reply};

/// A payload grows as it arrives, by at least so much: a peer that only announces one costs nothing.
const PAYLOAD_START: usize = 64 << 10;
/// Answers to options that wait for a peer that does not read.
const NEGOTIATION_OUTPUT_MAX: u64 = 64 << 10;

impl Server {
    /// Takes bytes for one part of a message. Returns how many, and whether there may be more to do.
    pub(super) fn step(&mut self, input: &[u8]) -> (usize, bool) {
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
