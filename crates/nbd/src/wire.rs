//! Every number of the protocol, from `doc/proto.md` of the NBD project (sections "Values" and "Protocol phases").
//!
//! The extended headers are from the branch `extension-ext-header` of the same document.

/// First eight bytes a server sends: `NBDMAGIC`.
pub const MAGIC: u64 = 0x4e42_444d_4147_4943;
/// `IHAVEOPT`: follows [`MAGIC`], and opens every option.
pub const OPTION_MAGIC: u64 = 0x4948_4156_454f_5054;
/// Opens every reply to an option.
pub const OPTION_REPLY_MAGIC: u64 = 0x0003_e889_0455_65a9;
/// Opens a request.
pub const REQUEST_MAGIC: u32 = 0x2560_9513;
/// Opens a request with an extended header.
pub const EXTENDED_REQUEST_MAGIC: u32 = 0x21e4_1c71;
/// Opens a simple reply.
pub const SIMPLE_REPLY_MAGIC: u32 = 0x6744_6698;
/// Opens a chunk of a structured reply.
pub const STRUCTURED_REPLY_MAGIC: u32 = 0x668e_33ef;
/// Opens a chunk with an extended header.
pub const EXTENDED_REPLY_MAGIC: u32 = 0x6e8a_278c;

/// The longest string the protocol allows.
pub const STRING_MAX: usize = 4096;
/// Bytes of a request header, magic included.
pub const REQUEST_BYTES: usize = 28;
/// Bytes of an extended request header, magic included.
pub const EXTENDED_REQUEST_BYTES: usize = 32;
/// Zeroes after the answer to `EXPORT_NAME`, unless the client forgoes them.
pub const EXPORT_NAME_ZEROES: usize = 124;

/// Handshake flags, and the client's answer to them.
pub mod handshake {
    /// Fixed newstyle negotiation.
    pub const FIXED_NEWSTYLE: u16 = 1 << 0;
    /// The 124 zeroes may be left out.
    pub const NO_ZEROES: u16 = 1 << 1;
}

/// Options a client can send during negotiation.
pub mod option {
    /// Open an export, without a chance for an error message.
    pub const EXPORT_NAME: u32 = 1;
    /// End the session.
    pub const ABORT: u32 = 2;
    /// List the exports.
    pub const LIST: u32 = 3;
    /// Continue in TLS.
    pub const STARTTLS: u32 = 5;
    /// Describe an export.
    pub const INFO: u32 = 6;
    /// Open an export.
    pub const GO: u32 = 7;
    /// Answer requests with structured replies.
    pub const STRUCTURED_REPLY: u32 = 8;
    /// List metadata contexts.
    pub const LIST_META_CONTEXT: u32 = 9;
    /// Choose metadata contexts.
    pub const SET_META_CONTEXT: u32 = 10;
    /// 64-bit lengths.
    pub const EXTENDED_HEADERS: u32 = 11;
}

/// Replies to options. Errors have bit 31 set.
pub mod option_reply {
    /// Done, or the end of a list.
    pub const ACK: u32 = 1;
    /// An export.
    pub const SERVER: u32 = 2;
    /// A fact about an export.
    pub const INFO: u32 = 3;
    /// A metadata context.
    pub const META_CONTEXT: u32 = 4;
    /// The option is unknown here.
    pub const ERR_UNSUP: u32 = 1 << 31 | 1;
    /// The option is switched off.
    pub const ERR_POLICY: u32 = 1 << 31 | 2;
    /// The option's data is wrong.
    pub const ERR_INVALID: u32 = 1 << 31 | 3;
    /// Only after TLS.
    pub const ERR_TLS_REQD: u32 = 1 << 31 | 5;
    /// No such export.
    pub const ERR_UNKNOWN: u32 = 1 << 31 | 6;
    /// The option is too long.
    pub const ERR_TOO_BIG: u32 = 1 << 31 | 9;
    /// Only with extended headers.
    pub const ERR_EXT_HEADER_REQD: u32 = 1 << 31 | 10;
}

/// Facts about an export, for `INFO` and `GO`.
pub mod info {
    /// Size and transmission flags.
    pub const EXPORT: u16 = 0;
    /// Its name.
    pub const NAME: u16 = 1;
    /// A description for people.
    pub const DESCRIPTION: u16 = 2;
    /// Smallest, preferred and largest block.
    pub const BLOCK_SIZE: u16 = 3;
}

/// Transmission flags: what an export can do.
pub mod transmission {
    /// Always set.
    pub const HAS_FLAGS: u16 = 1 << 0;
    /// Writes are refused.
    pub const READ_ONLY: u16 = 1 << 1;
    /// `FLUSH` is understood.
    pub const SEND_FLUSH: u16 = 1 << 2;
    /// The flag `FUA` is understood.
    pub const SEND_FUA: u16 = 1 << 3;
    /// `TRIM` is understood.
    pub const SEND_TRIM: u16 = 1 << 5;
    /// `WRITE_ZEROES` is understood.
    pub const SEND_WRITE_ZEROES: u16 = 1 << 6;
    /// The flag `DF` is understood.
    pub const SEND_DF: u16 = 1 << 7;
    /// What is flushed on one connection is flushed on all.
    pub const CAN_MULTI_CONN: u16 = 1 << 8;
    /// `CACHE` is understood.
    pub const SEND_CACHE: u16 = 1 << 10;
    /// The flag `FAST_ZERO` is understood.
    pub const SEND_FAST_ZERO: u16 = 1 << 11;
}

/// Commands of the transmission phase.
pub mod command {
    /// Read a range.
    pub const READ: u16 = 0;
    /// Write a range.
    pub const WRITE: u16 = 1;
    /// End the session.
    pub const DISC: u16 = 2;
    /// Make durable what was completed before.
    pub const FLUSH: u16 = 3;
    /// Contents are no longer needed.
    pub const TRIM: u16 = 4;
    /// Will be read soon.
    pub const CACHE: u16 = 5;
    /// Write zeroes that are not sent.
    pub const WRITE_ZEROES: u16 = 6;
    /// Ask for metadata.
    pub const BLOCK_STATUS: u16 = 7;
}

/// Flags of a command.
pub mod command_flag {
    /// Durable before it is answered.
    pub const FUA: u16 = 1 << 0;
    /// Zeroes must be allocated.
    pub const NO_HOLE: u16 = 1 << 1;
    /// One chunk of content at most.
    pub const DF: u16 = 1 << 2;
    /// One extent per context.
    pub const REQ_ONE: u16 = 1 << 3;
    /// Zeroes only if that is faster than writing them.
    pub const FAST_ZERO: u16 = 1 << 4;
    /// With extended headers: the length is that of a payload.
    pub const PAYLOAD_LEN: u16 = 1 << 5;
}

/// Types of chunks of structured replies. Errors have bit 15 set.
pub mod chunk {
    /// Nothing more.
    pub const NONE: u16 = 0;
    /// Bytes at an offset.
    pub const OFFSET_DATA: u16 = 1;
    /// Zeroes at an offset.
    pub const OFFSET_HOLE: u16 = 2;
    /// Extents of one context.
    pub const BLOCK_STATUS: u16 = 5;
    /// The same with 64-bit lengths and flags.
    pub const BLOCK_STATUS_EXT: u16 = 6;
    /// An error.
    pub const ERROR: u16 = 1 << 15 | 1;
    /// An error at an offset.
    pub const ERROR_OFFSET: u16 = 1 << 15 | 2;
    /// Flag of the last chunk of a reply.
    pub const FLAG_DONE: u16 = 1 << 0;
}

/// Errors of a request. No other number is allowed in a reply.
pub mod error {
    /// Operation not permitted (`EPERM`).
    pub const PERM: u32 = 1;
    /// The medium failed (`EIO`).
    pub const IO: u32 = 5;
    /// Out of memory (`ENOMEM`).
    pub const NO_MEM: u32 = 12;
    /// Invalid request (`EINVAL`).
    pub const INVALID: u32 = 22;
    /// No space left (`ENOSPC`).
    pub const NO_SPACE: u32 = 28;
    /// Answer too long (`EOVERFLOW`).
    pub const OVERFLOW: u32 = 75;
    /// Not supported here (`ENOTSUP`).
    pub const NOT_SUPPORTED: u32 = 95;
    /// Server going down (`ESHUTDOWN`).
    pub const SHUTDOWN: u32 = 108;
}

/// Flags of extents in `base:allocation`.
pub mod allocation {
    /// Not allocated.
    pub const HOLE: u32 = 1 << 0;
    /// Reads as zeroes.
    pub const ZERO: u32 = 1 << 1;
}

/// Extents go to the wire with the flags that a disk gives them.
const _: () = {
    assert!(allocation::HOLE == wordline_block::allocation::HOLE);
    assert!(allocation::ZERO == wordline_block::allocation::ZERO);
};
