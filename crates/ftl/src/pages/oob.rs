//! The second copy of out-of-band marks, as bytes: a page of a block group's summary, and a record in the journal.
//!
//! ```text
//!   summary page   0 magic | 8 erases | 12 die | 14 blocks | 24 first offset | 28 count | 32 check | 40 zero | 64 marks
//!   journal record 0 erases | 4 die | 8 blocks | 16 program | 20 zero | 24 marks of one program unit
//!   mark           0 logical unit | 4 version, the highest bit set where the unit is insecure, the next where some of its sectors are lost
//! ```
//!
//! Both name the physical blocks and their erase count, so that an erase makes them void without anything being written.

use wordline_flash::Mark;

use crate::pages::check::check;

/// Magic number that a summary page begins with.
const MAGIC: u64 = u64::from_le_bytes(*b"wl-oobcp");
/// Size in bytes of a summary page's header. Its unused bytes are kept for lists of other dies.
const HEAD: usize = 64;
/// Offset of the checksum over all other bytes of a summary page.
const CHECK: std::ops::Range<usize> = 32..40;
/// Size in bytes of a mark.
const MARK: usize = 12;
/// Size in bytes of a journal record before its marks.
const RECORD_HEAD: usize = 24;
/// The bit of a version that says that the unit is insecure.
const INSECURE: u64 = 1 << 63;
/// The bit of a version that says that some sectors of the unit are lost.
const SPOILT: u64 = 1 << 62;

/// The mark of one mapping unit, as its second copy keeps it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MarkCopy {
    /// Logical unit; all ones where the place holds nothing that is needed.
    pub lpn: u32,
    /// Version of the unit.
    pub version: u64,
    /// True if the unit may stay readable on the chips once it is stale.
    pub insecure: bool,
    /// True if some sectors of the unit are lost: the mark in its page names them.
    pub is_spoilt: bool,
}

impl MarkCopy {
    /// The mark of a place that holds nothing that is needed.
    pub const NOTHING: MarkCopy = MarkCopy { lpn: u32::MAX, version: 0, insecure: false, is_spoilt: false };

    /// The copy of `mark`.
    pub fn of(mark: &Mark) -> MarkCopy {
        MarkCopy { lpn: mark.lpn.0, version: mark.version, insecure: mark.insecure, is_spoilt: mark.lost != 0 }
    }

    fn write(&self, at: &mut [u8]) {
        at[..4].copy_from_slice(&self.lpn.to_le_bytes());
        let version = self.version | if self.insecure { INSECURE } else { 0 } | if self.is_spoilt { SPOILT } else { 0 };
        at[4..MARK].copy_from_slice(&version.to_le_bytes());
    }

    fn read(at: &[u8]) -> MarkCopy {
        let version = long(at, 4);
        MarkCopy {
            lpn: word(at, 0),
            version: version & !(INSECURE | SPOILT),
            insecure: version & INSECURE != 0,
            is_spoilt: version & SPOILT != 0,
        }
    }
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(std::array::from_fn(|byte| bytes[at + byte]))
}

fn long(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(std::array::from_fn(|byte| bytes[at + byte]))
}

/// Filling of no blocks: marks of units in the write buffer.
pub(crate) const BUFFER: Filling = Filling { die: u16::MAX, blocks: [u16::MAX; 4], erases: 0 };

/// Filling of no blocks: units of which some sectors are lost.
pub(crate) const IN_PART: Filling = Filling { erases: 1, ..BUFFER };

/// One filling of physical blocks, which marks belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Filling {
    /// Die, counted over the core's own.
    pub die: u16,
    /// The block in each plane.
    pub blocks: [u16; 4],
    /// Erase count of the blocks.
    pub erases: u32,
}

impl Filling {
    fn write(&self, erases: &mut [u8], die: &mut [u8], blocks: &mut [u8]) {
        erases.copy_from_slice(&self.erases.to_le_bytes());
        die.copy_from_slice(&self.die.to_le_bytes());
        for (block, at) in self.blocks.iter().zip(blocks.chunks_exact_mut(2)) {
            at.copy_from_slice(&block.to_le_bytes());
        }
    }

    fn read(erases: &[u8], die: &[u8], blocks: &[u8]) -> Filling {
        let half = |bytes: &[u8], at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        Filling { die: half(die, 0), blocks: std::array::from_fn(|plane| half(blocks, 2 * plane)), erases: word(erases, 0) }
    }
}

/// A page of the summary that a block group ends with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OobPage {
    /// Filling that the marks belong to.
    pub filling: Filling,
    /// Offset of the first mark in the group.
    pub first: u32,
    /// Marks of the units from that offset on.
    pub marks: Vec<MarkCopy>,
}

/// Number of marks that fit a summary page of `bytes` bytes.
pub(crate) fn marks_per_page(bytes: usize) -> usize {
    (bytes - HEAD) / MARK
}

impl OobPage {
    /// Writes the page into `bytes`, which are a whole page.
    pub fn write(&self, bytes: &mut [u8]) {
        bytes.fill(0);
        bytes[..8].copy_from_slice(&MAGIC.to_le_bytes());
        let (erases, rest) = bytes[8..24].split_at_mut(4);
        let (die, blocks) = rest.split_at_mut(2);
        self.filling.write(erases, die, &mut blocks[..8]);
        bytes[24..28].copy_from_slice(&self.first.to_le_bytes());
        bytes[28..32].copy_from_slice(&(self.marks.len() as u32).to_le_bytes());
        self.marks.iter().zip(bytes[HEAD..].chunks_exact_mut(MARK)).for_each(|(mark, at)| mark.write(at));
        let check = check(bytes, CHECK);
        bytes[CHECK].copy_from_slice(&check.to_le_bytes());
    }

    /// Parses `bytes`; `None` where they are no page of a summary.
    pub fn read(bytes: &[u8]) -> Option<OobPage> {
        if bytes.len() < HEAD || long(bytes, 0) != MAGIC || long(bytes, CHECK.start) != check(bytes, CHECK) {
            return None;
        }
        let count = word(bytes, 28) as usize;
        let marks = bytes[HEAD..].chunks_exact(MARK).take(count).map(MarkCopy::read).collect();
        Some(OobPage { filling: Filling::read(&bytes[8..12], &bytes[12..14], &bytes[14..22]), first: word(bytes, 24), marks })
    }
}

/// The marks of one program unit of a group that has no summary yet, as the journal keeps them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramMarks {
    /// Filling that the marks belong to.
    pub filling: Filling,
    /// Number of the program unit in its group.
    pub program: u32,
    /// Marks of the unit's mapping units.
    pub marks: Vec<MarkCopy>,
}

/// Size in bytes of a journal record with the marks of `units` mapping units.
pub(crate) const fn record_bytes(units: usize) -> usize {
    RECORD_HEAD + units * MARK
}

impl ProgramMarks {
    /// Writes the record into `at`, which is as long as [`record_bytes`] says.
    pub(crate) fn write(&self, at: &mut [u8]) {
        at[..RECORD_HEAD].fill(0);
        let (erases, rest) = at.split_at_mut(4);
        let (die, rest) = rest.split_at_mut(4);
        self.filling.write(erases, &mut die[..2], &mut rest[..8]);
        at[16..20].copy_from_slice(&self.program.to_le_bytes());
        self.marks.iter().zip(at[RECORD_HEAD..].chunks_exact_mut(MARK)).for_each(|(mark, at)| mark.write(at));
    }

    /// Parses the record in `at`.
    pub(crate) fn read(at: &[u8]) -> ProgramMarks {
        let marks = at[RECORD_HEAD..].chunks_exact(MARK).map(MarkCopy::read).collect();
        ProgramMarks { filling: Filling::read(&at[..4], &at[4..6], &at[8..16]), program: word(at, 16), marks }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILLING: Filling = Filling { die: 300, blocks: [1, 2, 70, 4_000], erases: 1 << 20 };

    fn mark(n: u32) -> MarkCopy {
        MarkCopy { lpn: n * 7, version: u64::from(n) << 33, insecure: n.is_multiple_of(3), is_spoilt: n % 5 == 1 }
    }

    #[test]
    fn a_summary_page_reads_as_written_and_not_at_all_once_it_is_damaged() {
        let page = OobPage { filling: FILLING, first: 1_360, marks: (0..marks_per_page(2_048) as u32).map(mark).collect() };
        let mut bytes = vec![0xA5; 2_048];
        page.write(&mut bytes);
        assert_eq!(OobPage::read(&bytes), Some(page));
        for at in (0..2_048).step_by(13) {
            bytes[at] ^= 0x10;
            assert_eq!(OobPage::read(&bytes), None, "byte {at}");
            bytes[at] ^= 0x10;
        }
        assert_eq!(OobPage::read(&[]), None);
        assert_eq!(OobPage::read(&[0; 64]), None);
    }

    #[test]
    fn a_journal_record_reads_as_written() {
        let record = ProgramMarks { filling: FILLING, program: 77, marks: (0..24).map(mark).collect() };
        let mut bytes = vec![0xA5; record_bytes(24)];
        record.write(&mut bytes);
        assert_eq!(ProgramMarks::read(&bytes), record);
    }
}
