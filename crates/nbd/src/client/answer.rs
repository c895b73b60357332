//! Answers out of bytes.

use std::collections::BTreeMap;

use wordline_block::{Extent, Op};

use super::ClientError;
use crate::encode::Dialect;
use crate::fields::Fields;
use crate::wire::{EXTENDED_REPLY_MAGIC, SIMPLE_REPLY_MAGIC, STRUCTURED_REPLY_MAGIC, chunk};

/// A whole answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Which request.
    pub cookie: u64,
    /// What came, in its order.
    pub content: Vec<Content>,
    /// What went wrong, if anything did.
    pub fault: Option<Fault>,
}

/// A part of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// Bytes at an offset of the export.
    Data(u64, Vec<u8>),
    /// So many zeroes at an offset.
    Hole(u64, u64),
    /// The extents of a context, by its number.
    Status(u32, Vec<Extent>),
}

/// An error that came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Its number.
    pub errno: u32,
    /// Where it happened, if the server said so.
    pub offset: Option<u64>,
    /// What the server said.
    pub message: String,
}

/// A request that is under way.
#[derive(Debug)]
pub(super) struct Pending {
    offset: u64,
    /// For a read, how many bytes.
    reads: Option<u64>,
    content: Vec<Content>,
    fault: Option<Fault>,
}

impl Pending {
    pub(super) fn of(op: &Op) -> Pending {
        let (offset, reads) = if let Op::Read { offset, length } = op { (*offset, Some(u64::from(*length))) } else { (0, None) };
        Pending { offset, reads, content: Vec::new(), fault: None }
    }
}

/// A chunk that was taken in: the last of its answer, or not.
pub(super) struct Parsed(Option<Answer>);

impl Parsed {
    pub(super) fn finished(self) -> Option<Answer> {
        self.0
    }
}

const SHORT: ClientError = ClientError::Protocol("a chunk is shorter than what it should hold");

/// Takes one chunk or simple reply off `rest`; `None` if it is not whole yet.
pub(super) fn parse(rest: &mut &[u8], dialect: Dialect, pending: &mut BTreeMap<u64, Pending>) -> Result<Option<Parsed>, ClientError> {
    let mut fields = Fields(rest);
    let Some(magic) = fields.u32() else { return Ok(None) };
    if magic == SIMPLE_REPLY_MAGIC && dialect < Dialect::Extended {
        return simple(rest, dialect, pending);
    }
    let expected = if dialect == Dialect::Extended { EXTENDED_REPLY_MAGIC } else { STRUCTURED_REPLY_MAGIC };
    if magic != expected || dialect == Dialect::Simple {
        return Err(ClientError::Protocol("a reply with a wrong magic number"));
    }
    let (Some(flags), Some(kind), Some(cookie)) = (fields.u16(), fields.u16(), fields.u64()) else { return Ok(None) };
    let length = if dialect == Dialect::Extended { fields.u64().and_then(|_| fields.u64()) } else { fields.u32().map(u64::from) };
    let Some(payload) = length.and_then(|length| fields.bytes(length as usize)) else { return Ok(None) };
    let request = pending.get_mut(&cookie).ok_or(ClientError::Protocol("an answer that nobody waits for"))?;
    take(kind, payload, request)?;
    *rest = fields.0;
    Ok(Some(if flags & chunk::FLAG_DONE != 0 { finish(cookie, pending)? } else { Parsed(None) }))
}

fn finish(cookie: u64, pending: &mut BTreeMap<u64, Pending>) -> Result<Parsed, ClientError> {
    let Some(Pending { offset, reads, content, fault }) = pending.remove(&cookie) else { return Ok(Parsed(None)) };
    if let (Some(length), None) = (reads, &fault) {
        let mut at = offset;
        for part in &content {
            let (start, size) = match part {
                Content::Data(start, bytes) => (*start, bytes.len() as u64),
                Content::Hole(start, size) => (*start, *size),
                Content::Status(..) => return Err(ClientError::Protocol("a read answered with a status")),
            };
            if start != at || size == 0 {
                return Err(ClientError::Protocol("a read answered out of order, or with nothing"));
            }
            at += size;
        }
        if at != offset + length {
            return Err(ClientError::Protocol("a read answered with another length"));
        }
    }
    Ok(Parsed(Some(Answer { cookie, content, fault })))
}

fn simple(rest: &mut &[u8], dialect: Dialect, pending: &mut BTreeMap<u64, Pending>) -> Result<Option<Parsed>, ClientError> {
    let mut fields = Fields(rest);
    let (Some(_), Some(errno), Some(cookie)) = (fields.u32(), fields.u32(), fields.u64()) else { return Ok(None) };
    let request = pending.get_mut(&cookie).ok_or(ClientError::Protocol("an answer that nobody waits for"))?;
    if errno != 0 {
        request.fault = Some(Fault { errno, offset: None, message: String::new() });
    } else if let Some(length) = request.reads {
        if dialect != Dialect::Simple {
            return Err(ClientError::Protocol("a simple reply to a read"));
        }
        let Some(data) = fields.bytes(length as usize) else { return Ok(None) };
        request.content.push(Content::Data(request.offset, data.to_vec()));
    }
    *rest = fields.0;
    finish(cookie, pending).map(Some)
}

fn take(kind: u16, payload: &[u8], request: &mut Pending) -> Result<(), ClientError> {
    let mut fields = Fields(payload);
    match kind {
        chunk::NONE => {}
        chunk::OFFSET_DATA => {
            let offset = fields.u64().ok_or(SHORT)?;
            request.content.push(Content::Data(offset, fields.0.to_vec()));
        }
        chunk::OFFSET_HOLE => {
            let (offset, length) = (fields.u64().ok_or(SHORT)?, fields.u32().ok_or(SHORT)?);
            request.content.push(Content::Hole(offset, u64::from(length)));
        }
        chunk::BLOCK_STATUS | chunk::BLOCK_STATUS_EXT => {
            let wide = kind == chunk::BLOCK_STATUS_EXT;
            let id = fields.u32().ok_or(SHORT)?;
            if wide {
                fields.u32().ok_or(SHORT)?;
            }
            let mut extents = Vec::new();
            while !fields.is_empty() {
                let mut number = || if wide { fields.u64() } else { fields.u32().map(u64::from) };
                let (length, flags) = (number().ok_or(SHORT)?, number().ok_or(SHORT)?);
                extents.push(Extent { length, flags: flags as u32 });
            }
            request.content.push(Content::Status(id, extents));
        }
        chunk::ERROR | chunk::ERROR_OFFSET => {
            let errno = fields.u32().ok_or(SHORT)?;
            let length = fields.u16().ok_or(SHORT)?;
            let message = String::from_utf8_lossy(fields.bytes(usize::from(length)).ok_or(SHORT)?).into_owned();
            let offset = if kind == chunk::ERROR_OFFSET { Some(fields.u64().ok_or(SHORT)?) } else { None };
            request.fault = Some(Fault { errno, offset, message });
        }
        _ => return Err(ClientError::Protocol("a chunk of an unknown type")),
    }
    Ok(())
}
