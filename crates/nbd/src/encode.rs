//! Replies as bytes.

use wordline_block::{ContextStatus, Errno, Failure, Piece, Reply};

use crate::fields::Put;
use crate::request::{Kind, Ticket};
use crate::wire::{EXTENDED_REPLY_MAGIC, SIMPLE_REPLY_MAGIC, STRUCTURED_REPLY_MAGIC, chunk, error};

/// How replies look, as negotiated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Dialect {
    /// An error number and, for reads, all the bytes.
    Simple,
    /// Reads, and whatever else is worth it, in chunks.
    Structured,
    /// Everything in chunks with 64-bit lengths.
    Extended,
}

/// A shorter hole is sent as zeroes. A longer one saves more than the heads of the chunks it needs, so no answer is much longer than what was read.
const HOLE_MIN: u64 = 512;

/// Bytes of a message that are sent.
const MESSAGE_MAX: usize = 200;

/// The most that [`reply`] appends for a ticket, beyond the bytes that were read.
pub(crate) const OVERHEAD_MAX: u64 = 512;

/// Appends the answer to `ticket`.
///
/// # Panics
/// If the reply does not fit the request.
pub(crate) fn reply(out: &mut Vec<u8>, dialect: Dialect, active: &[usize], ticket: &Ticket, reply: Reply<'_>) {
    let mut to = Encoder { out, dialect, ticket };
    match (ticket.kind, reply) {
        (Kind::Plain, Reply::Done) => to.done(),
        (_, Reply::Failed(failure)) => to.failed(failure, None),
        (Kind::Read { .. }, Reply::FailedAt(at, failure)) => {
            assert!(at < ticket.length, "a read fails at one of its bytes");
            to.failed(failure, Some(ticket.offset + at));
        }
        (Kind::Read { unfragmented }, Reply::Read(pieces)) => {
            assert_eq!(covered(pieces), ticket.length, "a read is answered with all its bytes");
            to.read(pieces, unfragmented, None);
        }
        (Kind::Read { unfragmented }, Reply::ReadUntil(pieces, failure)) => {
            assert!(covered(pieces) < ticket.length, "a read that failed lacks a byte");
            to.read(pieces, unfragmented, Some(failure));
        }
        (Kind::Status { one }, Reply::Status(contexts)) => {
            let mut answered: Vec<usize> = contexts.iter().map(|status| status.context).collect();
            answered.sort_unstable();
            assert_eq!(answered, active, "a block status answers every context once");
            to.status(contexts, one);
        }
        (Kind::Plain | Kind::Read { .. } | Kind::Status { .. }, _) => panic!("{reply:?} does not answer {ticket:?}"),
    }
}

/// Appends the head of a read's answer and room for its bytes, and returns where the room begins.
pub(crate) fn read_room(out: &mut Vec<u8>, dialect: Dialect, ticket: &Ticket) -> usize {
    let mut to = Encoder { out, dialect, ticket };
    if dialect == Dialect::Simple {
        to.simple(0);
    } else {
        to.head(chunk::FLAG_DONE, chunk::OFFSET_DATA, ticket.length + 8);
        to.out.put_u64(ticket.offset);
    }
    let room = out.len();
    out.resize(room + ticket.length as usize, 0);
    room
}

fn covered(pieces: &[Piece<'_>]) -> u64 {
    pieces.iter().map(Piece::length).sum()
}

/// The longest start of `message` that fits.
fn shortened(message: &str) -> &str {
    let end = (0..=message.len().min(MESSAGE_MAX)).rev().find(|&end| message.is_char_boundary(end));
    &message[..end.unwrap_or(0)]
}

struct Encoder<'a> {
    out: &'a mut Vec<u8>,
    dialect: Dialect,
    ticket: &'a Ticket,
}

impl Encoder<'_> {
    fn simple(&mut self, error: u32) {
        self.out.put_u32(SIMPLE_REPLY_MAGIC);
        self.out.put_u32(error);
        self.out.put_u64(self.ticket.cookie);
    }

    fn head(&mut self, flags: u16, kind: u16, length: u64) {
        let extended = self.dialect == Dialect::Extended;
        self.out.put_u32(if extended { EXTENDED_REPLY_MAGIC } else { STRUCTURED_REPLY_MAGIC });
        self.out.put_u16(flags);
        self.out.put_u16(kind);
        self.out.put_u64(self.ticket.cookie);
        if extended {
            self.out.put_u64(self.ticket.offset);
            self.out.put_u64(length);
        } else {
            self.out.put_u32(u32::try_from(length).expect("requests are far below 4 GiB"));
        }
    }

    fn done(&mut self) {
        match self.dialect {
            // Shorter than a chunk of nothing, and allowed for everything but reads.
            Dialect::Simple | Dialect::Structured => self.simple(0),
            Dialect::Extended => self.head(chunk::FLAG_DONE, chunk::NONE, 0),
        }
    }

    fn failed(&mut self, failure: Failure<'_>, offset: Option<u64>) {
        let Failure { errno, message } = failure;
        if self.dialect == Dialect::Simple {
            // Before structured replies there was no way to say that an answer would not fit.
            let errno = if errno == Errno::Overflow { Errno::Invalid } else { errno };
            return self.simple(number(errno));
        }
        let message = shortened(message);
        let kind = if offset.is_some() { chunk::ERROR_OFFSET } else { chunk::ERROR };
        self.head(chunk::FLAG_DONE, kind, 6 + message.len() as u64 + if offset.is_some() { 8 } else { 0 });
        self.out.put_u32(number(errno));
        self.out.put_u16(message.len() as u16);
        self.out.extend_from_slice(message.as_bytes());
        if let Some(offset) = offset {
            self.out.put_u64(offset);
        }
    }

    fn read(&mut self, pieces: &[Piece<'_>], unfragmented: bool, failure: Option<Failure<'_>>) {
        let until = covered(pieces);
        if self.dialect == Dialect::Simple {
            if let Some(failure) = failure {
                return self.failed(failure, None);
            }
            self.simple(0);
            return self.bytes(pieces);
        }
        let mut from = 0;
        while from < until {
            let run = if unfragmented && !is_hole(pieces) { Run { hole: false, until } } else { run(pieces, from, until) };
            let last = run.until == until && failure.is_none();
            let flags = if last { chunk::FLAG_DONE } else { 0 };
            let length = run.until - from;
            if run.hole {
                self.head(flags, chunk::OFFSET_HOLE, 12);
                self.out.put_u64(self.ticket.offset + from);
                self.out.put_u32(length as u32);
            } else {
                self.head(flags, chunk::OFFSET_DATA, 8 + length);
                self.out.put_u64(self.ticket.offset + from);
                self.part(pieces, from, run.until);
            }
            from = run.until;
        }
        if let Some(failure) = failure {
            self.failed(failure, Some(self.ticket.offset + until));
        }
    }

    fn bytes(&mut self, pieces: &[Piece<'_>]) {
        self.part(pieces, 0, covered(pieces));
    }

    /// The bytes of `pieces` from `from` to `until`.
    fn part(&mut self, pieces: &[Piece<'_>], from: u64, until: u64) {
        let mut at = 0;
        for piece in pieces {
            let next = at + piece.length();
            let (start, end) = (from.clamp(at, next), until.clamp(at, next));
            match piece {
                Piece::Data(bytes) => self.out.extend_from_slice(&bytes[(start - at) as usize..(end - at) as usize]),
                Piece::Hole(_) => self.out.resize(self.out.len() + (end - start) as usize, 0),
            }
            at = next;
        }
    }

    fn status(&mut self, contexts: &[ContextStatus<'_>], one: bool) {
        for (index, status) in contexts.iter().enumerate() {
            let count_max = if one { 1 } else { ContextStatus::EXTENTS_MAX };
            let mut left = self.ticket.length;
            let extents: Vec<(u64, u32)> = status
                .extents
                .iter()
                .take(count_max)
                .map_while(|extent| {
                    assert!(extent.length > 0, "an extent is not empty");
                    let length = extent.length.min(left);
                    left -= length;
                    (length > 0).then_some((length, extent.flags))
                })
                .collect();
            assert!(!extents.is_empty(), "a context has something to say");
            let flags = if index + 1 == contexts.len() { chunk::FLAG_DONE } else { 0 };
            if self.dialect == Dialect::Extended {
                self.head(flags, chunk::BLOCK_STATUS_EXT, 8 + 16 * extents.len() as u64);
                self.out.put_u32(context_id(status.context));
                self.out.put_u32(extents.len() as u32);
            } else {
                self.head(flags, chunk::BLOCK_STATUS, 4 + 8 * extents.len() as u64);
                self.out.put_u32(context_id(status.context));
            }
            for (length, flags) in extents {
                if self.dialect == Dialect::Extended {
                    self.out.put_u64(length);
                    self.out.put_u64(u64::from(flags));
                } else {
                    self.out.put_u32(length as u32);
                    self.out.put_u32(flags);
                }
            }
        }
    }
}

/// The number of an error on the wire.
fn number(errno: Errno) -> u32 {
    match errno {
        Errno::Perm => error::PERM,
        Errno::Io => error::IO,
        Errno::NoMem => error::NO_MEM,
        Errno::Invalid => error::INVALID,
        Errno::NoSpace => error::NO_SPACE,
        Errno::Overflow => error::OVERFLOW,
        Errno::NotSupported => error::NOT_SUPPORTED,
        Errno::Shutdown => error::SHUTDOWN,
    }
}

/// The number of a context on the wire.
pub(crate) fn context_id(context: usize) -> u32 {
    context as u32 + 1
}

fn is_hole(pieces: &[Piece<'_>]) -> bool {
    pieces.iter().all(|piece| matches!(piece, Piece::Hole(_)))
}

/// A stretch that is sent in one chunk.
struct Run {
    hole: bool,
    until: u64,
}

/// The run that begins at `from`: a hole as long as it goes, or everything up to the next hole that is long enough to be one.
fn run(pieces: &[Piece<'_>], from: u64, until: u64) -> Run {
    // Neighbouring holes are one hole.
    let mut hole: Option<(u64, u64)> = None;
    let mut at = 0;
    let worth = |(start, end): (u64, u64)| end - start >= HOLE_MIN || (start, end) == (0, until);
    let found = |(start, end)| if start <= from { Run { hole: true, until: end } } else { Run { hole: false, until: start } };
    for piece in pieces {
        let next = at + piece.length();
        match piece {
            Piece::Hole(_) => hole = Some((hole.map_or(at, |(start, _)| start), next)),
            Piece::Data([]) => {}
            Piece::Data(_) => {
                if let Some(hole) = hole.take().filter(|&hole| hole.1 > from && worth(hole)) {
                    return found(hole);
                }
            }
        }
        at = next;
    }
    match hole.filter(|&hole| hole.1 > from && worth(hole)) {
        Some(hole) => found(hole),
        None => Run { hole: false, until },
    }
}
