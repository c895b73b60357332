//! The client's end of one connection, for tests and measurements: it asks for one export, sends requests without waiting, and takes answers apart.
//!
//! It is sans-IO as the server is. It trusts its server more than the server trusts it: a wrong answer is an error, but its length is believed.

mod answer;
mod send;

use std::collections::{BTreeMap, VecDeque};

use thiserror::Error;
use wordline_block::Op;

use crate::encode::Dialect;
use crate::fields::{Fields, Put};
use crate::wire::{EXPORT_NAME_ZEROES, MAGIC, OPTION_MAGIC, OPTION_REPLY_MAGIC, handshake, info, option, option_reply};

pub use answer::{Answer, Content, Fault};
pub use send::{put_op, put_option, put_request};

/// What a client asks for before its first request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ask {
    /// The export's name, hint classes included.
    pub export: String,
    /// How much of the protocol to ask for.
    pub dialect: Speak,
    /// Metadata contexts; they need at least [`Speak::Structured`].
    pub contexts: Vec<String>,
    /// Open the export with the older `EXPORT_NAME` in place of `GO`.
    pub by_export_name: bool,
    /// Ask for the list of exports first.
    pub list: bool,
}

/// How much of the protocol to ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speak {
    /// Simple replies.
    Simple,
    /// Structured replies.
    Structured,
    /// Extended headers.
    Extended,
}

/// What the server said of the export.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ready {
    /// Size in bytes.
    pub size: u64,
    /// Transmission flags.
    pub flags: u16,
    /// Smallest, preferred and largest block, if it said so.
    pub blocks: Option<[u32; 3]>,
    /// The contexts it will answer, with their numbers.
    pub contexts: Vec<(u32, String)>,
    /// The exports it listed, where asked.
    pub listed: Vec<String>,
}

/// What has come from the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Heard {
    /// The export is open.
    Ready(Ready),
    /// A request is answered.
    Answer(Answer),
}

/// Why a client gives up.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ClientError {
    /// The server refused an option that was needed.
    #[error("option {option} was refused with {error:#x}: {message}")]
    Refused {
        /// The option.
        option: u32,
        /// The reply's type.
        error: u32,
        /// What it said.
        message: String,
    },
    /// The server does not keep to the protocol.
    #[error("the server breaks the protocol: {0}")]
    Protocol(&'static str),
}

#[derive(Debug)]
enum Stage {
    Greeting,
    Options,
    ExportName,
    Transmission,
}

/// One connection.
#[derive(Debug)]
pub struct Client {
    ask: Ask,
    stage: Stage,
    /// Options that wait for the answer to the one before.
    options: VecDeque<(u32, Vec<u8>)>,
    ready: Ready,
    dialect: Dialect,
    input: Vec<u8>,
    output: Vec<u8>,
    heard: VecDeque<Heard>,
    /// What is under way, by cookie: where it begins, how long it is, and what has come so far.
    pending: BTreeMap<u64, answer::Pending>,
}

impl Client {
    /// A client that was just connected.
    pub fn new(ask: Ask) -> Client {
        Client {
            ask,
            stage: Stage::Greeting,
            options: VecDeque::new(),
            ready: Ready::default(),
            dialect: Dialect::Simple,
            input: Vec::new(),
            output: Vec::new(),
            heard: VecDeque::new(),
            pending: BTreeMap::new(),
        }
    }

    /// Takes bytes from the server.
    ///
    /// # Errors
    /// If the server refuses or breaks the protocol; the connection is of no use then.
    pub fn receive(&mut self, bytes: &[u8]) -> Result<(), ClientError> {
        self.input.extend_from_slice(bytes);
        let input = std::mem::take(&mut self.input);
        let mut rest = &input[..];
        loop {
            let before = rest;
            let whole = match self.stage {
                Stage::Greeting => self.greeting(&mut rest)?,
                Stage::Options => self.option_reply(&mut rest)?,
                Stage::ExportName => self.export_name(&mut rest)?,
                Stage::Transmission => self.answer(&mut rest)?,
            };
            if !whole {
                self.input = before.to_vec();
                return Ok(());
            }
        }
    }

    /// What has come, in its order.
    #[expect(clippy::should_implement_trait, reason = "more may follow a `None`")]
    pub fn next(&mut self) -> Option<Heard> {
        self.heard.pop_front()
    }

    /// Sends a request. Its answer bears `cookie`.
    ///
    /// # Panics
    /// If the export is not open yet, or a request with this cookie is under way.
    pub fn request(&mut self, cookie: u64, op: &Op) {
        assert!(matches!(self.stage, Stage::Transmission), "the export is not open yet");
        put_op(&mut self.output, self.dialect == Dialect::Extended, cookie, op);
        let before = self.pending.insert(cookie, answer::Pending::of(op));
        assert!(before.is_none(), "cookie {cookie} is under way");
    }

    /// Says good-bye.
    pub fn disconnect(&mut self) {
        put_request(&mut self.output, self.dialect == Dialect::Extended, 0, crate::wire::command::DISC, 0, 0, 0);
    }

    /// Bytes for the server; they are taken out.
    pub fn take_output(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.output)
    }

    /// Requests without an answer.
    pub fn pending(&self) -> usize {
        self.pending.len()
    }

    fn greeting(&mut self, rest: &mut &[u8]) -> Result<bool, ClientError> {
        let mut fields = Fields(rest);
        let (Some(magic), Some(second), Some(flags)) = (fields.u64(), fields.u64(), fields.u16()) else { return Ok(false) };
        if (magic, second) != (MAGIC, OPTION_MAGIC) || flags & handshake::FIXED_NEWSTYLE == 0 {
            return Err(ClientError::Protocol("no greeting of a fixed newstyle server"));
        }
        *rest = fields.0;
        // The zeroes are only asked for where the older way is taken whole.
        let zeroes = if self.ask.by_export_name { 0 } else { handshake::NO_ZEROES };
        self.output.put_u32(u32::from(handshake::FIXED_NEWSTYLE | zeroes));
        if self.ask.list {
            self.options.push_back((option::LIST, Vec::new()));
        }
        match self.ask.dialect {
            Speak::Simple => {}
            Speak::Structured => self.options.push_back((option::STRUCTURED_REPLY, Vec::new())),
            Speak::Extended => self.options.push_back((option::EXTENDED_HEADERS, Vec::new())),
        }
        if !self.ask.contexts.is_empty() {
            let mut data = Vec::new();
            data.put_string(&self.ask.export);
            data.put_u32(self.ask.contexts.len() as u32);
            self.ask.contexts.iter().for_each(|name| data.put_string(name));
            self.options.push_back((option::SET_META_CONTEXT, data));
        }
        if self.ask.by_export_name {
            self.options.push_back((option::EXPORT_NAME, self.ask.export.clone().into_bytes()));
        } else {
            let mut data = Vec::new();
            data.put_string(&self.ask.export);
            data.put_u16(1);
            data.put_u16(info::BLOCK_SIZE);
            self.options.push_back((option::GO, data));
        }
        self.send_option();
        Ok(true)
    }

    /// Sends the option in front.
    fn send_option(&mut self) {
        if let Some((option, data)) = self.options.front() {
            put_option(&mut self.output, *option, data);
            self.stage = if *option == option::EXPORT_NAME { Stage::ExportName } else { Stage::Options };
        }
    }

    fn option_reply(&mut self, rest: &mut &[u8]) -> Result<bool, ClientError> {
        let mut fields = Fields(rest);
        let (Some(magic), Some(of), Some(kind), Some(length)) = (fields.u64(), fields.u32(), fields.u32(), fields.u32()) else {
            return Ok(false);
        };
        let Some(data) = fields.bytes(length as usize) else { return Ok(false) };
        let asked = self.options.front().map(|(option, _)| *option);
        if magic != OPTION_REPLY_MAGIC || Some(of) != asked {
            return Err(ClientError::Protocol("a reply to an option that was not asked"));
        }
        *rest = fields.0;
        match kind {
            option_reply::ACK => {
                match of {
                    option::STRUCTURED_REPLY => self.dialect = Dialect::Structured,
                    option::EXTENDED_HEADERS => self.dialect = Dialect::Extended,
                    option::GO => self.open(),
                    _ => {}
                }
                self.options.pop_front();
                self.send_option();
            }
            option_reply::SERVER => {
                let name = Fields(data).string().ok_or(ClientError::Protocol("an export without a name"))?;
                self.ready.listed.push(name.to_owned());
            }
            option_reply::META_CONTEXT => {
                let mut fields = Fields(data);
                let id = fields.u32().ok_or(ClientError::Protocol("a context without a number"))?;
                self.ready.contexts.push((id, String::from_utf8_lossy(fields.0).into_owned()));
            }
            option_reply::INFO => self.info(Fields(data)).ok_or(ClientError::Protocol("a fact too short"))?,
            error => {
                let message = String::from_utf8_lossy(data).into_owned();
                return Err(ClientError::Refused { option: of, error, message });
            }
        }
        Ok(true)
    }

    fn info(&mut self, mut fields: Fields<'_>) -> Option<()> {
        match fields.u16()? {
            info::EXPORT => {
                self.ready.size = fields.u64()?;
                self.ready.flags = fields.u16()?;
            }
            info::BLOCK_SIZE => self.ready.blocks = Some([fields.u32()?, fields.u32()?, fields.u32()?]),
            _ => {}
        }
        Some(())
    }

    fn export_name(&mut self, rest: &mut &[u8]) -> Result<bool, ClientError> {
        let mut fields = Fields(rest);
        let (Some(size), Some(flags), Some(zeroes)) = (fields.u64(), fields.u16(), fields.bytes(EXPORT_NAME_ZEROES)) else {
            return Ok(false);
        };
        if zeroes.iter().any(|&byte| byte != 0) {
            return Err(ClientError::Protocol("124 bytes that should be zero are not"));
        }
        *rest = fields.0;
        (self.ready.size, self.ready.flags) = (size, flags);
        self.options.pop_front();
        self.open();
        Ok(true)
    }

    fn open(&mut self) {
        self.stage = Stage::Transmission;
        self.heard.push_back(Heard::Ready(self.ready.clone()));
    }

    fn answer(&mut self, rest: &mut &[u8]) -> Result<bool, ClientError> {
        let Some(answer) = answer::parse(rest, self.dialect, &mut self.pending)? else { return Ok(false) };
        self.heard.extend(answer.finished().map(Heard::Answer));
        Ok(true)
    }
}
