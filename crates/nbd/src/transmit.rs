//! The head of a request: is it one, and may it be done?

use wordline_block::{ContextStatus, Errno, Failure, Op, ZeroHow};

use crate::close::Close;
use crate::encode::{Dialect, OVERHEAD_MAX};
use crate::export::Export;
use crate::fields::Fields;
use crate::limits::Limits;
use crate::request::{Kind, Ticket};
use crate::wire::{EXTENDED_REQUEST_MAGIC, REQUEST_MAGIC, command, command_flag};

/// A request's fixed part.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Head {
    pub(crate) flags: u16,
    pub(crate) command: u16,
    pub(crate) cookie: u64,
    pub(crate) offset: u64,
    pub(crate) length: u64,
}

/// What a head asks for.
pub(crate) enum Asked {
    /// Hand it out.
    Op(Op),
    /// Hand it out once the payload is there.
    Write { fua: bool },
    /// Answer at once, after so many bytes of payload have gone by.
    Refuse { errno: Errno, message: &'static str, skip: u64 },
    /// The client disconnects.
    Disconnect,
}

impl Head {
    /// Takes apart a whole head.
    pub(crate) fn parse(bytes: &[u8], dialect: Dialect) -> Result<Head, Close> {
        let extended = dialect == Dialect::Extended;
        let expected = if extended { EXTENDED_REQUEST_MAGIC } else { REQUEST_MAGIC };
        let mut fields = Fields(bytes);
        let found = fields.u32().unwrap_or(0);
        if found != expected {
            return Err(Close::request_magic(expected, found));
        }
        let mut head = || {
            Some(Head {
                flags: fields.u16()?,
                command: fields.u16()?,
                cookie: fields.u64()?,
                offset: fields.u64()?,
                length: if extended { fields.u64()? } else { u64::from(fields.u32()?) },
            })
        };
        Ok(head().expect("a whole head"))
    }

    /// The ticket for it, with what it will count for: its payload, or the room for its answer.
    pub(crate) fn ticket(&self, limits: &Limits, contexts: usize) -> Ticket {
        let readable = self.length.min(u64::from(limits.request_bytes));
        let (kind, size) = match self.command {
            command::READ => (Kind::Read { unfragmented: self.flags & command_flag::DF != 0 }, readable),
            command::WRITE => (Kind::Plain, readable),
            command::BLOCK_STATUS => (
                Kind::Status { one: self.flags & command_flag::REQ_ONE != 0 },
                contexts as u64 * (ContextStatus::EXTENTS_MAX as u64 * 16 + 64),
            ),
            _ => (Kind::Plain, 0),
        };
        Ticket { cookie: self.cookie, kind, offset: self.offset, length: self.length, cost: size + OVERHEAD_MAX }
    }

    /// Bytes that follow the head.
    fn payload(&self, dialect: Dialect) -> u64 {
        let follows = match dialect {
            Dialect::Simple | Dialect::Structured => self.command == command::WRITE,
            Dialect::Extended => self.flags & command_flag::PAYLOAD_LEN != 0,
        };
        if follows { self.length } else { 0 }
    }

    /// Holds the head against the rules. `contexts`: how many the client chose.
    pub(crate) fn check(&self, export: &Export, dialect: Dialect, limits: &Limits, contexts: usize) -> Result<Asked, Close> {
        let skip = self.payload(dialect);
        let max = u64::from(limits.request_bytes);
        if skip > 2 * max {
            return Err(Close::PayloadLength { length: skip, max: 2 * max });
        }
        if self.command == command::DISC {
            return Ok(Asked::Disconnect);
        }
        if dialect == Dialect::Extended && self.command == command::WRITE && self.flags & command_flag::PAYLOAD_LEN == 0 {
            return Err(Close::WriteWithoutPayload);
        }
        Ok(match self.judge(export, dialect, max, contexts) {
            Ok(asked) => asked,
            Err(Failure { errno, message }) => Asked::Refuse { errno, message, skip },
        })
    }

    fn judge(&self, export: &Export, dialect: Dialect, max: u64, contexts: usize) -> Result<Asked, Failure<'static>> {
        use command_flag::{DF, FAST_ZERO, FUA, NO_HOLE, PAYLOAD_LEN, REQ_ONE};
        let no = |errno, message| Err(Failure { errno, message });
        let &Head { flags, command, offset, length, .. } = self;
        // FUA is advertised, so it may stand on every command.
        let allowed = FUA
            | match command {
                command::READ if dialect >= Dialect::Structured => DF,
                command::WRITE if dialect == Dialect::Extended => PAYLOAD_LEN,
                command::WRITE_ZEROES => NO_HOLE | FAST_ZERO,
                command::BLOCK_STATUS => REQ_ONE,
                command::READ | command::WRITE | command::FLUSH | command::TRIM | command::CACHE => 0,
                _ => return no(Errno::Invalid, "an unknown command"),
            };
        if flags & !allowed != 0 {
            return no(Errno::Invalid, "a flag that does not belong to this command");
        }
        if command == command::FLUSH {
            return if (offset, length) == (0, 0) { Ok(Asked::Op(Op::Flush)) } else { no(Errno::Invalid, "a flush covers everything") };
        }
        let writes = matches!(command, command::WRITE | command::TRIM | command::WRITE_ZEROES);
        if writes && !export.is_writable() {
            return no(Errno::Perm, "the export is read-only");
        }
        if length == 0 {
            return no(Errno::Invalid, "a length of zero");
        }
        if offset.checked_add(length).is_none_or(|end| end > export.size) {
            let errno = if matches!(command, command::WRITE | command::WRITE_ZEROES) { Errno::NoSpace } else { Errno::Invalid };
            return no(errno, "past the end of the export");
        }
        if (offset | length) & u64::from(export.block_min - 1) != 0 {
            return no(Errno::Invalid, "not a multiple of the smallest block");
        }
        if matches!(command, command::READ | command::WRITE) && length > max {
            return match flags & DF {
                0 => no(Errno::Invalid, "longer than the largest block"),
                _ => no(Errno::Overflow, "longer than the largest block"),
            };
        }
        let fua = flags & FUA != 0;
        Ok(Asked::Op(match command {
            command::READ => Op::Read { offset, length: length as u32 },
            command::WRITE => return Ok(Asked::Write { fua }),
            command::TRIM => Op::Trim { offset, length, fua },
            command::WRITE_ZEROES => {
                let how = ZeroHow { may_punch: flags & NO_HOLE == 0, must_be_fast: flags & FAST_ZERO != 0 };
                Op::WriteZeroes { offset, length, how, fua }
            }
            command::CACHE => Op::Cache { offset, length },
            _ if contexts == 0 => return no(Errno::Invalid, "no metadata context was chosen"),
            _ => Op::BlockStatus { offset, length, one: flags & REQ_ONE != 0 },
        }))
    }
}
