//! Where a conversation stands: what the next bytes from the peer are.

use wordline_block::Failure;

use crate::encode::Dialect;
use crate::request::Ticket;
use crate::wire::{EXTENDED_REQUEST_BYTES, REQUEST_BYTES};

/// What the next bytes are.
#[derive(Debug)]
pub(crate) enum Stage {
    ClientFlags,
    OptionHead,
    OptionData {
        option: u32,
        length: usize,
    },
    SkipOption {
        option: u32,
        left: u32,
    },
    Tls,
    RequestHead,
    /// `lent`: room of the payload while somebody else has it, to be filled.
    Payload {
        ticket: Ticket,
        fua: bool,
        data: Vec<u8>,
        lent: usize,
    },
    SkipPayload {
        ticket: Ticket,
        failure: Failure<'static>,
        left: u64,
    },
    Over,
}

impl Stage {
    /// The size of what has to be there as a whole before it means anything.
    pub(crate) fn wanted(&self, dialect: Dialect) -> usize {
        match self {
            Stage::ClientFlags => 4,
            Stage::OptionHead => 16,
            Stage::OptionData { length, .. } => *length,
            Stage::RequestHead if dialect == Dialect::Extended => EXTENDED_REQUEST_BYTES,
            Stage::RequestHead => REQUEST_BYTES,
            Stage::Tls | Stage::SkipOption { .. } | Stage::Payload { .. } | Stage::SkipPayload { .. } | Stage::Over => 0,
        }
    }

    /// In words, where the stream would break off here. `None`: it is over anyway.
    pub(crate) fn during(&self, nothing_collected: bool) -> Option<&'static str> {
        Some(match self {
            Stage::ClientFlags | Stage::OptionHead | Stage::OptionData { .. } | Stage::SkipOption { .. } => "in the negotiation",
            Stage::Tls => "where TLS was to begin",
            Stage::RequestHead if nothing_collected => "between two requests",
            Stage::RequestHead => "within a request",
            Stage::Payload { .. } | Stage::SkipPayload { .. } => "within a payload",
            Stage::Over => return None,
        })
    }
}
