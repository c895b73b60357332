//! Facts that capacitors keep beside the write buffer: trims and marks that the journal has not brought to flash yet.
//!
//! Each has a place, which is used again once what stands in it is on flash. Nothing is ever deleted: facts do not become untrue, so an old one does no harm.

use super::journal::Record;
use super::oob::{ProgramMarks, record_bytes};

/// Records of program units that capacitors keep at most.
pub(crate) const KEPT_MAX: u64 = 256;

/// Trims that capacitors keep at most.
pub(crate) const TRIMS_MAX: u64 = 256;

/// Places that capacitors have for facts.
pub const FACTS: u32 = (KEPT_MAX + TRIMS_MAX) as u32;

/// A fact that capacitors keep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fact {
    /// Record of a trim.
    Trim(Record),
    /// Marks of a program unit, and the serial number that the next page of the map log had when the program ended; 0 where there is no such log.
    Marks(ProgramMarks, u64),
}

/// Bytes of the longest fact of a core with `units` mapping units in a program unit.
pub const fn fact_bytes(units: u32) -> usize {
    8 + record_bytes(units as usize)
}

impl Fact {
    /// Serialises the fact; the bytes are never longer than [`fact_bytes`] says.
    pub(crate) fn encode(&self) -> Vec<u8> {
        match self {
            Fact::Trim(Record { first, count, version }) => {
                let mut bytes = vec![1, 0, 0, 0, 0, 0, 0, 0];
                bytes.extend_from_slice(&first.to_le_bytes());
                bytes.extend_from_slice(&count.to_le_bytes());
                bytes.extend_from_slice(&version.to_le_bytes());
                bytes
            }
            Fact::Marks(record, serial) => {
                let mut bytes = vec![0; 8 + record_bytes(record.marks.len())];
                bytes[1..8].copy_from_slice(&serial.to_le_bytes()[..7]);
                bytes[0] = 2;
                record.write(&mut bytes[8..]);
                bytes
            }
        }
    }

    /// Parses the fact in `bytes`, of a core with `units` mapping units in a program unit; `None`: there is none.
    pub(crate) fn decode(bytes: &[u8], units: u32) -> Option<Fact> {
        let body = bytes.get(8..)?;
        match bytes[0] {
            1 if body.len() >= 16 => Some(Fact::Trim(Record {
                first: u32::from_le_bytes(body[..4].try_into().ok()?),
                count: u32::from_le_bytes(body[4..8].try_into().ok()?),
                version: u64::from_le_bytes(body[8..16].try_into().ok()?),
            })),
            2 if body.len() >= record_bytes(units as usize) => {
                let serial = u64::from_le_bytes(bytes[..8].try_into().ok()?) >> 8;
                Some(Fact::Marks(ProgramMarks::read(&body[..record_bytes(units as usize)]), serial))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::oob::{Filling, MarkCopy};

    #[test]
    fn facts_read_as_written_and_nothing_else_reads_as_one() {
        let filling = Filling { die: 3, blocks: [1, 2, 3, 4], erases: 9 };
        let mark = |n: u32| MarkCopy { lpn: n, version: 5, insecure: n == 1, is_spoilt: n == 2 };
        let marks = Fact::Marks(ProgramMarks { filling, program: 4, marks: (0..8).map(mark).collect() }, 1 << 50);
        for fact in [Fact::Trim(Record { first: 7, count: 8, version: 1 << 40 }), marks] {
            let mut bytes = fact.encode();
            assert!(bytes.len() <= fact_bytes(8));
            bytes.resize(fact_bytes(8), 0);
            assert_eq!(Fact::decode(&bytes, 8), Some(fact));
        }
        assert_eq!(Fact::decode(&[0; 200], 8), None);
        assert_eq!(Fact::decode(&[2; 9], 8), None);
        assert_eq!(Fact::decode(&[], 8), None);
    }
}
