//! What a die remembers of a block besides its pages. Each record is kept twice and changed one copy after the other, so a torn write leaves the copy before
//! it, and a rotten copy leaves its twin.

/// Bytes of one copy of a record. Eight of them share a sector of 512 bytes, which host disks write whole.
pub(crate) const RECORD_BYTES: usize = 64;

/// The record of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Record {
    /// Counts the changes of this record. Zero: never written.
    pub(crate) changes: u32,
    /// Erases, the one under way included.
    pub(crate) erases: u32,
    /// An erase was begun and not ended.
    pub(crate) torn: bool,
    /// Not to be used.
    pub(crate) bad: bool,
    /// It has failed for good, whether or not anybody has noticed.
    pub(crate) failed: bool,
    /// Bits of the layers above.
    pub(crate) flags: u32,
    /// The wear of the block, in a string of the layers above. It outlasts erases.
    pub(crate) wear: Wear,
}

/// What a record has of the string that layers above keep of a block's wear: the whole of a short one, the beginning of a long one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wear {
    /// The first bytes.
    pub(crate) head: [u8; HEAD_BYTES],
    /// Bytes of the string. Zero: none was kept, or it is of a file of version 2, which had twenty bytes and no version of their own.
    pub(crate) length: u32,
    /// The checksum of what stands in the tail; zero, where nothing does.
    pub(crate) sum: u32,
    /// The tail that it stands in, 0 or 1.
    pub(crate) tail: u8,
}

/// Bytes of a string that its record has.
pub(crate) const HEAD_BYTES: usize = 32;

impl Wear {
    /// A string, with what is not in the record in `tail`.
    pub(crate) fn of(bytes: &[u8], tail: u8) -> Wear {
        let (first, rest) = bytes.split_at(bytes.len().min(HEAD_BYTES));
        let mut head = [0; HEAD_BYTES];
        head[..first.len()].copy_from_slice(first);
        Wear { head, length: bytes.len() as u32, sum: if rest.is_empty() { 0 } else { crc32fast::hash(rest) }, tail }
    }

    /// True if a string needs a tail.
    pub(crate) fn is_long(bytes: &[u8]) -> bool {
        bytes.len() > HEAD_BYTES
    }

    /// Bytes in the tail.
    pub(crate) fn behind(&self) -> usize {
        (self.length as usize).saturating_sub(HEAD_BYTES)
    }
}

impl Record {
    pub(crate) fn encode(&self) -> [u8; RECORD_BYTES] {
        let mut bytes = [0; RECORD_BYTES];
        let state = u32::from(self.torn) | u32::from(self.bad) << 1 | u32::from(self.failed) << 2;
        let head = [self.changes, self.erases, state, self.flags];
        for (index, number) in head.into_iter().enumerate() {
            bytes[4 * index..4 * index + 4].copy_from_slice(&number.to_le_bytes());
        }
        bytes[16..48].copy_from_slice(&self.wear.head);
        bytes[48..52].copy_from_slice(&self.wear.length.to_le_bytes());
        bytes[52..56].copy_from_slice(&self.wear.sum.to_le_bytes());
        bytes[56] = self.wear.tail;
        let sum = crc32fast::hash(&bytes[..60]);
        bytes[60..].copy_from_slice(&sum.to_le_bytes());
        bytes
    }

    /// One copy: `None` if it is broken.
    fn decode(bytes: &[u8]) -> Option<Record> {
        if bytes.iter().all(|&byte| byte == 0) {
            return Some(Record::default());
        }
        let number = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        if number(60) != crc32fast::hash(&bytes[..60]) || number(8) > 7 || bytes[56] > 1 {
            return None;
        }
        Some(Record {
            changes: number(0),
            erases: number(4),
            torn: number(8) & 1 != 0,
            bad: number(8) & 2 != 0,
            failed: number(8) & 4 != 0,
            flags: number(12),
            wear: Wear { head: std::array::from_fn(|index| bytes[16 + index]), length: number(48), sum: number(52), tail: bytes[56] },
        })
    }

    /// The newer of two copies that is whole. `None` if neither is.
    pub(crate) fn newer(first: &[u8], second: &[u8]) -> Option<Record> {
        match (Record::decode(first), Record::decode(second)) {
            (Some(first), Some(second)) => Some(if second.changes > first.changes { second } else { first }),
            (first, second) => first.or(second),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_says_what_was_written_and_nothing_once_it_is_damaged() {
        let wear = Wear::of(&(1..=70).collect::<Vec<u8>>(), 1);
        assert_eq!(wear.behind(), 38);
        let record = Record { changes: 7, erases: 9, torn: true, bad: false, failed: true, flags: 5, wear };
        let mut bytes = record.encode();
        assert_eq!(Record::decode(&bytes), Some(record));
        assert_eq!(Record::decode(&[0; RECORD_BYTES]), Some(Record::default()), "never written");
        for at in 0..RECORD_BYTES {
            bytes[at] ^= 4;
            assert_eq!(Record::decode(&bytes), None, "byte {at}");
            bytes[at] ^= 4;
        }
    }
}
