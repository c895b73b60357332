//! Options and requests as bytes.

use wordline_block::{Op, ZeroHow};

use crate::fields::Put;
use crate::wire::{EXTENDED_REQUEST_MAGIC, OPTION_MAGIC, REQUEST_MAGIC, command, command_flag};

/// Appends an option.
pub fn put_option(out: &mut Vec<u8>, option: u32, data: &[u8]) {
    out.put_u64(OPTION_MAGIC);
    out.put_u32(option);
    out.put_u32(data.len() as u32);
    out.extend_from_slice(data);
}

/// Appends the head of any request, right or wrong. A length that does not fit the shorter header is cut.
pub fn put_request(out: &mut Vec<u8>, extended: bool, flags: u16, command: u16, cookie: u64, offset: u64, length: u64) {
    out.put_u32(if extended { EXTENDED_REQUEST_MAGIC } else { REQUEST_MAGIC });
    out.put_u16(flags);
    out.put_u16(command);
    out.put_u64(cookie);
    out.put_u64(offset);
    if extended {
        out.put_u64(length);
    } else {
        out.put_u32(length as u32);
    }
}

/// Appends a request with its payload.
pub fn put_op(out: &mut Vec<u8>, extended: bool, cookie: u64, op: &Op) {
    let with = |fua: bool| if fua { command_flag::FUA } else { 0 };
    let mut put = |flags, command, offset, length| put_request(out, extended, flags, command, cookie, offset, length);
    match op {
        Op::Read { offset, length } => put(0, command::READ, *offset, u64::from(*length)),
        Op::Write { offset, data, fua } => {
            let payload = if extended { command_flag::PAYLOAD_LEN } else { 0 };
            put(with(*fua) | payload, command::WRITE, *offset, data.len() as u64);
            out.extend_from_slice(data);
        }
        Op::Flush => put(0, command::FLUSH, 0, 0),
        Op::Trim { offset, length, fua } => put(with(*fua), command::TRIM, *offset, *length),
        Op::WriteZeroes { offset, length, how: ZeroHow { may_punch, must_be_fast }, fua } => {
            let hole = if *may_punch { 0 } else { command_flag::NO_HOLE };
            let fast = if *must_be_fast { command_flag::FAST_ZERO } else { 0 };
            put(with(*fua) | hole | fast, command::WRITE_ZEROES, *offset, *length);
        }
        Op::Cache { offset, length } => put(0, command::CACHE, *offset, *length),
        Op::BlockStatus { offset, length, one } => {
            put(if *one { command_flag::REQ_ONE } else { 0 }, command::BLOCK_STATUS, *offset, *length);
        }
    }
}
