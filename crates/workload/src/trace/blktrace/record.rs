//! One record of 48 bytes: its numbers, and the request that it stands for.

use wordline_units::host::SECTOR_BYTES;
use wordline_units::{HostOp, Nanos};

use super::super::draft::Draft;
use super::super::event::Flags;
use super::super::format::BlockEvent;

/// The size of a record without the data behind it.
pub(super) const RECORD: usize = 48;

/// The upper three bytes of a record's first number; the lowest is the version.
const MAGIC: u32 = 0x6561_7400;
const VERSION: u8 = 7;

// The lower half of `action` says what happened, the upper half is a set of flags.
const WHAT: u32 = 0xFFFF;
/// Set beside what happened where the data begins with a control group.
const IN_GROUP: u32 = 1 << 8;
const QUEUED: u32 = 1;
const ISSUED: u32 = 7;
const COMPLETED: u32 = 8;
const WRITE: u32 = 1 << (16 + 1);
const FLUSH: u32 = 1 << (16 + 2);
const PASSED_THROUGH: u32 = 1 << (16 + 9);
const NOTE: u32 = 1 << (16 + 10);
const DISCARD: u32 = 1 << (16 + 13);
const UNIT_ACCESS: u32 = 1 << (16 + 15);

/// Why bytes are no record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoRecord {
    Magic(u32),
    Version(u8),
}

/// The numbers of a record that requests depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    pub(super) sequence: u32,
    pub(super) at: Nanos,
    sector: u64,
    bytes: u32,
    action: u32,
    pub(super) device: u32,
    /// How many bytes of data stand behind it.
    pub(super) data: u16,
}

impl Record {
    pub(super) fn parse(bytes: &[u8; RECORD]) -> Result<Record, NoRecord> {
        let four = |at: usize| [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
        let (little, big) = (u32::from_le_bytes(four(0)), u32::from_be_bytes(four(0)));
        let is_little = little & !0xFF == MAGIC;
        if !is_little && big & !0xFF != MAGIC {
            return Err(NoRecord::Magic(little));
        }
        let version = (if is_little { little } else { big }) as u8;
        if version != VERSION {
            return Err(NoRecord::Version(version));
        }
        let number = |at: usize| if is_little { u32::from_le_bytes(four(at)) } else { u32::from_be_bytes(four(at)) };
        let long = |at: usize| {
            let (first, second) = (u64::from(number(at)), u64::from(number(at + 4)));
            if is_little { second << 32 | first } else { first << 32 | second }
        };
        let short = |at: usize| {
            let pair = [bytes[at], bytes[at + 1]];
            if is_little { u16::from_le_bytes(pair) } else { u16::from_be_bytes(pair) }
        };
        Ok(Record {
            sequence: number(4),
            at: Nanos(long(8)),
            sector: long(16),
            bytes: number(24),
            action: number(28),
            device: number(36),
            data: short(46),
        })
    }

    /// Which kind of event it is, if it is one that can stand for a request.
    pub(super) fn event(&self) -> Option<BlockEvent> {
        if self.action & (NOTE | PASSED_THROUGH) != 0 {
            return None;
        }
        match self.action & WHAT & !IN_GROUP {
            QUEUED => Some(BlockEvent::Queue),
            ISSUED => Some(BlockEvent::Issue),
            COMPLETED => Some(BlockEvent::Complete),
            _ => None,
        }
    }

    /// What it asks for, by the rules that the text of `blkparse` is read by.
    fn flags(&self) -> Flags {
        let is = |flag: u32| self.action & flag != 0;
        let op = if is(DISCARD) {
            Some(HostOp::Trim)
        } else if is(WRITE) {
            Some(HostOp::Write)
        } else if self.bytes > 0 {
            Some(HostOp::Read)
        } else {
            None
        };
        Flags { flush: is(FLUSH), op, fua: is(UNIT_ACCESS) && op != Some(HostOp::Trim) }
    }

    /// The request of volume `volume` that the record stands for; `None` if it is of another kind than `event`, or moves nothing.
    pub(super) fn draft<'a>(&self, event: BlockEvent, volume: &'a [u8]) -> Option<Draft<'a>> {
        if self.event() != Some(event) {
            return None;
        }
        let extent = (self.bytes > 0).then_some((self.sector.saturating_mul(SECTOR_BYTES), u64::from(self.bytes)));
        self.flags().draft(self.at, volume, extent, event)
    }

    /// The device as `blkparse` prints it.
    pub(super) fn device_name(&self) -> String {
        format!("{},{}", self.device >> 20, self.device & ((1 << 20) - 1))
    }

    /// The record in a few words, for messages.
    pub(crate) fn shown(&self) -> String {
        format!("action {:#x}, sector {}, {} bytes", self.action, self.sector, self.bytes)
    }
}

/// Whether a file begins as `blktrace` writes it, in any version.
pub(crate) fn begins(head: &[u8]) -> bool {
    matches!(head, [1..=9, b't', b'a', b'e', ..] | [b'e', b'a', b't', 1..=9, ..])
}

/// Which events stand for requests in files that begin with `heads`: Q if there are any, else D, else C.
pub(crate) fn chosen<'a>(heads: impl IntoIterator<Item = &'a [u8]>) -> BlockEvent {
    let mut found = [false; 3];
    for head in heads {
        let mut rest = head;
        while let Some((bytes, behind)) = rest.split_first_chunk::<RECORD>() {
            let Ok(record) = Record::parse(bytes) else { break };
            if let Some(event) = record.event() {
                found[event as usize] = true;
            }
            rest = behind.get(usize::from(record.data)..).unwrap_or_default();
        }
    }
    BlockEvent::chosen(found[0], found[1], found[2])
}
