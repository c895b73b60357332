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
    /// Bits of the layers above.
    pub(crate) flags: u32,
    /// The wear of the block, in numbers of the layers above. It outlasts erases.
    pub(crate) wear: [u32; 5],
}

impl Record {
    pub(crate) fn encode(&self) -> [u8; RECORD_BYTES] {
        let mut bytes = [0; RECORD_BYTES];
        let state = u32::from(self.torn) | u32::from(self.bad) << 1;
        let head = [self.changes, self.erases, state, self.flags];
        for (index, number) in head.into_iter().chain(self.wear).enumerate() {
            bytes[4 * index..4 * index + 4].copy_from_slice(&number.to_le_bytes());
        }
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
        if number(60) != crc32fast::hash(&bytes[..60]) || number(8) > 3 {
            return None;
        }
        Some(Record {
            changes: number(0),
            erases: number(4),
            torn: number(8) & 1 != 0,
            bad: number(8) & 2 != 0,
            flags: number(12),
            wear: std::array::from_fn(|index| number(16 + 4 * index)),
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
        let record = Record { changes: 7, erases: 9, torn: true, bad: false, flags: 5, wear: [1, 2, 3, u32::MAX, 4] };
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
