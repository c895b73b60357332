//! What a page of the journal says, as bytes.
//!
//! A page stands for itself: it says which generation of the journal it belongs to, and facts of one kind. A fact is that copies of some units with a
//! version below a given one are not wanted, or that a technique remembers a number, or a greater one, of a block group between two erases. Facts never become
//! untrue, so they can be applied in any order and more than once.
//!
//! ```text
//!   0 magic | 8 generation | 16 version | 24 kind | 28 count | 32 index | 36 total | 40 check | 48 records, bits or memos
//! ```

use crate::memos::{Owner, WrittenMemo};

/// What a journal page begins with.
const MAGIC: u64 = u64::from_le_bytes(*b"wl-trims");
/// Bytes before the facts.
const HEAD: usize = 48;
/// Bytes of a record: first unit, count, version.
const RECORD: usize = 16;
/// Bytes of a memo: whose, die, block, erases, value.
const MEMO: usize = 16;
/// Where the check over all other bytes stands.
const CHECK: std::ops::Range<usize> = 40..48;

/// `count` units from `first` were trimmed: what has a version below `version` is not wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// The first unit.
    pub first: u32,
    /// How many.
    pub count: u32,
    /// The version of the trim.
    pub version: u64,
}

/// The facts of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Facts {
    /// Trims.
    Records(Vec<Record>),
    /// A part of a snapshot: of the units from `first` on, those whose bit is set were trimmed, as a record says it.
    Unmapped {
        /// The first of the units.
        first: u32,
        /// The version that a record would have.
        version: u64,
        /// One for each unit.
        bits: Vec<u8>,
    },
    /// What techniques remember.
    Memos(Vec<WrittenMemo>),
}

/// A page of the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// The generation of the journal.
    pub generation: u64,
    /// Which page of the snapshot that its generation begins with, and of how many; `None` for what was written behind it.
    pub of_snapshot: Option<(u32, u32)>,
    /// What it says.
    pub facts: Facts,
}

/// Records that a page of `bytes` bytes holds.
pub(crate) fn records_per_page(bytes: usize) -> usize {
    (bytes - HEAD) / RECORD
}

/// Memos that a page of `bytes` bytes holds.
pub(crate) fn memos_per_page(bytes: usize) -> usize {
    (bytes - HEAD) / MEMO
}

/// Units whose bits a page of `bytes` bytes holds.
pub(crate) fn units_per_page(bytes: usize) -> usize {
    (bytes - HEAD) * 8
}

impl Page {
    /// Write the page into `bytes`, which are a whole page.
    pub fn write(&self, bytes: &mut [u8]) {
        bytes.fill(0);
        let (kind, version, count) = match &self.facts {
            Facts::Records(records) => {
                for (record, at) in records.iter().zip(bytes[HEAD..].chunks_exact_mut(RECORD)) {
                    at[..4].copy_from_slice(&record.first.to_le_bytes());
                    at[4..8].copy_from_slice(&record.count.to_le_bytes());
                    at[8..].copy_from_slice(&record.version.to_le_bytes());
                }
                (0u32, 0, records.len())
            }
            // Where its units begin follows from its place in the snapshot.
            Facts::Unmapped { version, bits, .. } => {
                bytes[HEAD..HEAD + bits.len()].copy_from_slice(bits);
                (1, *version, bits.len())
            }
            Facts::Memos(memos) => {
                for (memo, at) in memos.iter().zip(bytes[HEAD..].chunks_exact_mut(MEMO)) {
                    at[..4].copy_from_slice(&memo.owner.0.to_le_bytes());
                    at[4..6].copy_from_slice(&memo.die.to_le_bytes());
                    at[6..8].copy_from_slice(&memo.block.to_le_bytes());
                    at[8..12].copy_from_slice(&memo.erases.to_le_bytes());
                    at[12..].copy_from_slice(&memo.value.to_le_bytes());
                }
                (2, 0, memos.len())
            }
        };
        let (index, total) = self.of_snapshot.unwrap_or((0, 0));
        bytes[0..8].copy_from_slice(&MAGIC.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.generation.to_le_bytes());
        bytes[16..24].copy_from_slice(&version.to_le_bytes());
        bytes[24..28].copy_from_slice(&kind.to_le_bytes());
        bytes[28..32].copy_from_slice(&(count as u32).to_le_bytes());
        bytes[32..36].copy_from_slice(&index.to_le_bytes());
        bytes[36..40].copy_from_slice(&total.to_le_bytes());
        let check = check(bytes, CHECK);
        bytes[CHECK].copy_from_slice(&check.to_le_bytes());
    }

    /// What `bytes` say; `None` where they are no page of a journal.
    pub fn read(bytes: &[u8]) -> Option<Page> {
        let word = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
        let long = |at: usize| Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
        if long(0)? != MAGIC || long(CHECK.start)? != check(bytes, CHECK) {
            return None;
        }
        let (count, index, total) = (word(28)? as usize, word(32)?, word(36)?);
        let facts = match word(24)? {
            0 => {
                let records = bytes[HEAD..].chunks_exact(RECORD).take(count).map(|at| Record {
                    first: u32::from_le_bytes([at[0], at[1], at[2], at[3]]),
                    count: u32::from_le_bytes([at[4], at[5], at[6], at[7]]),
                    version: u64::from_le_bytes([at[8], at[9], at[10], at[11], at[12], at[13], at[14], at[15]]),
                });
                Facts::Records(records.collect())
            }
            1 => {
                let first = (u64::from(index) * units_per_page(bytes.len()) as u64).try_into().ok()?;
                Facts::Unmapped { first, version: long(16)?, bits: bytes.get(HEAD..HEAD + count)?.to_vec() }
            }
            2 => {
                let memos = bytes[HEAD..].chunks_exact(MEMO).take(count).map(|at| WrittenMemo {
                    owner: Owner(u32::from_le_bytes([at[0], at[1], at[2], at[3]])),
                    die: u16::from_le_bytes([at[4], at[5]]),
                    block: u16::from_le_bytes([at[6], at[7]]),
                    erases: u32::from_le_bytes([at[8], at[9], at[10], at[11]]),
                    value: u32::from_le_bytes([at[12], at[13], at[14], at[15]]),
                });
                Facts::Memos(memos.collect())
            }
            _ => return None,
        };
        Some(Page { generation: long(8)?, of_snapshot: (total > 0).then_some((index, total)), facts })
    }
}

/// FNV-1a over everything but itself, which stands at `own`, eight bytes at a time.
pub(crate) fn check(bytes: &[u8], own: std::ops::Range<usize>) -> u64 {
    let parts = [&bytes[..own.start], &bytes[own.end..]];
    parts.iter().flat_map(|part| part.chunks(8)).fold(0xCBF2_9CE4_8422_2325, |hash, chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        (hash ^ u64::from_le_bytes(word)).wrapping_mul(0x100_0000_01B3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_says_what_was_written_and_nothing_once_it_is_damaged() {
        let records = (0..70).map(|n| Record { first: n, count: n + 1, version: u64::from(n) << 40 }).collect();
        let bits = (0..=200).collect();
        let unmapped = Facts::Unmapped { first: 3 * units_per_page(2_048) as u32, version: 77, bits };
        let memo = |n: u16| WrittenMemo { owner: Owner(1 << n), die: n, block: 999 - n, erases: 1 << 20, value: u32::from(n) << 24 };
        let memos = Facts::Memos((0..32).map(memo).collect());
        for (of_snapshot, facts) in [(None, Facts::Records(records)), (Some((3, 5)), unmapped), (Some((4, 5)), memos)] {
            let page = Page { generation: 9, of_snapshot, facts };
            let mut bytes = vec![0xA5; 2_048];
            page.write(&mut bytes);
            assert_eq!(Page::read(&bytes), Some(page));
            for at in (0..2_048).step_by(13) {
                bytes[at] ^= 0x10;
                assert_eq!(Page::read(&bytes), None, "byte {at}");
                bytes[at] ^= 0x10;
            }
        }
        assert_eq!(Page::read(&[]), None);
        assert_eq!(Page::read(&[0; 48]), None);
    }
}
