//! The format of a journal page, as bytes.
//!
//! A page stands for itself: it says which generation of the journal it belongs to, and facts of one kind. A fact is that copies of some units with a
//! version below a given one are not wanted, or that a technique remembers a number, or a greater one, of a block group between two erases. Facts never become
//! untrue, so they can be applied in any order and more than once.
//!
//! ```text
//!   0 magic | 8 generation | 16 version | 24 kind | 25 mirrored pages of its program so far | 26 pages of marks of its program so far
//!   28 count | 32 index | 36 total | 40 check
//!   48 serial | 52 mirrored pages so far | 56 pages of marks so far | 60 first unit | 64 facts
//! ```
//!
//! Trims and memos stand nowhere else, so their pages are *mirrored*: each is programmed twice, with one serial number. Marks of program units have their
//! first copy in the out-of-band area of those units, so their pages are programmed once. Serial numbers of a kind count the pages of a generation from 1 on,
//! and each page says how many there are so far, and how many of those are in its own program: so it shows if one of an earlier program is missing.
//!
//! Pages of the format before had no serial numbers (a magic of their own, facts from byte 48 on). They are still read.

use wordline_units::DieId;

use crate::pages::check::check;
use crate::pages::oob::{ProgramMarks, record_bytes};
use crate::state::layout::Layout;

/// Magic number that a journal page begins with.
const MAGIC: u64 = u64::from_le_bytes(*b"wl-jrnl2");
/// Magic number of a page of the format before.
const MAGIC_BEFORE: u64 = u64::from_le_bytes(*b"wl-trims");
/// Size in bytes of the page's header.
const HEAD: usize = 64;
/// Size in bytes of the header in the format before.
const HEAD_BEFORE: usize = 48;
/// Size in bytes of a record: first unit, count, version.
const RECORD: usize = 16;
/// Size in bytes of a memo: technique, die, block, erases, value.
const MEMO: usize = 16;
/// Offset of the checksum over all other bytes.
const CHECK: std::ops::Range<usize> = 40..48;

/// Record of a trim of `count` units from `first`: data with a version below `version` is not needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// First unit trimmed.
    pub first: u32,
    /// Number of units trimmed.
    pub count: u32,
    /// Version of the trim.
    pub version: u64,
}

/// Number of a technique in memos. It must not depend on which other techniques there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Owner(pub u32);

/// A memo as it stands on flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrittenMemo {
    /// The technique whose memo it is.
    pub owner: Owner,
    /// Die of the block group.
    pub die: u16,
    /// Block of the group in the first plane; it determines those of the other planes.
    pub block: u16,
    /// Erase count of the group.
    pub erases: u32,
    /// Value of the memo.
    pub value: u32,
}

/// Facts of a journal page, all of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Facts {
    /// Records of trims.
    Records(Vec<Record>),
    /// A part of a snapshot: of the units from `first` on, those whose bit is set were trimmed, as a record says it.
    Unmapped {
        /// The first of the units.
        first: u32,
        /// The version that a record would have.
        version: u64,
        /// Bitmap with one bit for each unit.
        bits: Vec<u8>,
    },
    /// Memos of techniques.
    Memos(Vec<WrittenMemo>),
    /// Marks of program units of block groups that have no summary yet.
    Marks(Vec<ProgramMarks>),
    /// A part of a snapshot: of the units from `first` on, those whose bit is set are refused unless they were written at `version` or later.
    Refused {
        /// The first of the units.
        first: u32,
        /// Version below which a copy of one of the units is not trusted.
        version: u64,
        /// Bitmap with one bit for each unit.
        bits: Vec<u8>,
    },
    /// History of the core over all starts.
    History(History),
}

impl Facts {
    /// True if pages of these facts are programmed twice.
    pub fn is_mirrored(&self) -> bool {
        !matches!(self, Facts::Marks(_))
    }
}

/// History of a core over all its starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct History {
    /// Version at which the history was written.
    pub version: u64,
    /// Number of starts, the first included.
    pub starts: u64,
    /// Number of starts after power was lost without an orderly shutdown.
    pub unsafe_shutdowns: u64,
    /// Number of reads that no retry could correct.
    pub media_errors: u64,
    /// Number of units lost to unreadable pages at this start.
    pub units_lost: u64,
    /// Dies that had failed at the last start: bit n stands for die n. Dies from 64 on are not in it, and count as newly failed at every start.
    pub failed_dies: u64,
    /// Version that was the newest when the last of the failed dies failed; 0: none has.
    pub failed_at: u64,
    /// True if the core was shut down in order, and this is its last record.
    pub is_clean: bool,
}

impl History {
    /// Note that a die has failed when `version` was the newest; `die`: which, where recovery need not find out by itself.
    pub(crate) fn note_failure(&mut self, version: u64, die: Option<DieId>) {
        self.failed_at = version;
        self.failed_dies |= set_of(die);
    }

    /// True if `die` had failed at the last start.
    pub(crate) fn has_failed(&self, die: DieId) -> bool {
        self.failed_dies & set_of([die]) != 0
    }
}

/// Set of `dies` as [`History::failed_dies`] has it.
pub(crate) fn set_of(dies: impl IntoIterator<Item = DieId>) -> u64 {
    dies.into_iter().filter(|die| die.0 < 64).fold(0, |set, die| set | 1 << die.0)
}

/// Serial numbers of a page within its generation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Serial {
    /// Number of the page among those of its kind (mirrored, or of marks), from 1 on; 0: the page is of the format before, which has none.
    pub own: u32,
    /// Number of mirrored pages of the generation up to this page.
    pub mirrored: u32,
    /// Number of pages of marks of the generation up to this page.
    pub marks: u32,
    /// Numbers of those mirrored pages, and of those pages of marks, that are in the page's own program.
    pub here: [u8; 2],
}

/// A page of the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// The generation of the journal.
    pub generation: u64,
    /// Index of the page in the snapshot that its generation begins with, and the snapshot's length in pages; `None`: the page was written behind the
    /// snapshot.
    pub of_snapshot: Option<(u32, u32)>,
    /// Serial numbers of the page.
    pub serial: Serial,
    /// Facts of the page.
    pub facts: Facts,
}

/// Places of a snapshot's pages in a block group: mirrored pages, their second copies, marks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SnapshotPlaces {
    /// Pages of a program unit.
    pub(crate) each: u32,
    /// Place of the first page of marks, by pages of the group.
    pub(crate) marks: u32,
    /// Number of pages up to the last of marks.
    pub(crate) end: u32,
}

impl SnapshotPlaces {
    /// Places in a group of this layout of so many mirrored pages and pages of marks. Where the group has the room, the second copies begin a program unit of
    /// their own: a power cut cannot take both copies of a page.
    pub(crate) fn new(layout: &Layout, mirrored: u32, marks: u32) -> SnapshotPlaces {
        let each = layout.units_per_program / layout.units_per_page;
        let apart = mirrored.next_multiple_of(each) + mirrored;
        // One program unit stays for what follows the snapshot.
        let first = if apart + marks <= (layout.programs - 1) * each { apart } else { 2 * mirrored };
        SnapshotPlaces { each, marks: first, end: first + marks }
    }
}

/// Number of records that fit a page of `bytes` bytes.
pub(crate) fn records_per_page(bytes: usize) -> usize {
    (bytes - HEAD) / RECORD
}

/// Number of memos that fit a page of `bytes` bytes.
pub(crate) fn memos_per_page(bytes: usize) -> usize {
    (bytes - HEAD) / MEMO
}

/// Number of mark records for program units of `units` mapping units that fit a page of `bytes` bytes.
pub(crate) fn marks_per_page(bytes: usize, units: usize) -> usize {
    (bytes - HEAD) / record_bytes(units)
}

/// Number of units whose bits fit a page of `bytes` bytes.
pub(crate) fn units_per_page(bytes: usize) -> usize {
    (bytes - HEAD) * 8
}

impl Page {
    /// Writes the page into `bytes`, which are a whole page.
    pub fn write(&self, bytes: &mut [u8]) {
        bytes.fill(0);
        let (kind, version, count) = match &self.facts {
            Facts::Records(records) => {
                for (record, at) in records.iter().zip(bytes[HEAD..].chunks_exact_mut(RECORD)) {
                    at[..4].copy_from_slice(&record.first.to_le_bytes());
                    at[4..8].copy_from_slice(&record.count.to_le_bytes());
                    at[8..].copy_from_slice(&record.version.to_le_bytes());
                }
                (0u8, 0, records.len())
            }
            Facts::Unmapped { first, version, bits } => {
                bytes[60..64].copy_from_slice(&first.to_le_bytes());
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
            Facts::Marks(programs) => {
                let units = programs.first().map_or(0, |program| program.marks.len());
                for (program, at) in programs.iter().zip(bytes[HEAD..].chunks_exact_mut(record_bytes(units))) {
                    program.write(at);
                }
                (3, units as u64, programs.len())
            }
            Facts::Refused { first, version, bits } => {
                bytes[60..64].copy_from_slice(&first.to_le_bytes());
                bytes[HEAD..HEAD + bits.len()].copy_from_slice(bits);
                (4, *version, bits.len())
            }
            Facts::History(history) => {
                let History { version, starts, unsafe_shutdowns, media_errors, units_lost, failed_dies, failed_at, is_clean } = *history;
                let numbers = [starts, unsafe_shutdowns, media_errors, units_lost, u64::from(is_clean), failed_dies, failed_at];
                for (number, at) in numbers.iter().zip(bytes[HEAD..].chunks_exact_mut(8)) {
                    at.copy_from_slice(&number.to_le_bytes());
                }
                (5, version, 1)
            }
        };
        let (index, total) = self.of_snapshot.unwrap_or((0, 0));
        bytes[0..8].copy_from_slice(&MAGIC.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.generation.to_le_bytes());
        bytes[16..24].copy_from_slice(&version.to_le_bytes());
        bytes[24..27].copy_from_slice(&[kind, self.serial.here[0], self.serial.here[1]]);
        bytes[28..32].copy_from_slice(&(count as u32).to_le_bytes());
        bytes[32..36].copy_from_slice(&index.to_le_bytes());
        bytes[36..40].copy_from_slice(&total.to_le_bytes());
        for (number, at) in [self.serial.own, self.serial.mirrored, self.serial.marks].iter().zip(bytes[48..60].chunks_exact_mut(4)) {
            at.copy_from_slice(&number.to_le_bytes());
        }
        let check = check(bytes, CHECK);
        bytes[CHECK].copy_from_slice(&check.to_le_bytes());
    }

    /// Parses `bytes`; `None` where they are no page of a journal.
    pub fn read(bytes: &[u8]) -> Option<Page> {
        let word = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
        let long = |at: usize| Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
        let is_before = long(0)? == MAGIC_BEFORE;
        if (long(0)? != MAGIC && !is_before) || long(CHECK.start)? != check(bytes, CHECK) {
            return None;
        }
        let head = if is_before { HEAD_BEFORE } else { HEAD };
        let (count, index, total) = (word(28)? as usize, word(32)?, word(36)?);
        let serial = Serial { own: word(48)?, mirrored: word(52)?, marks: word(56)?, here: [bytes[25], bytes[26]] };
        let serial = if is_before { Serial::default() } else { serial };
        let facts = match bytes[24] {
            0 => {
                let records = bytes[head..].chunks_exact(RECORD).take(count).map(|at| Record {
                    first: u32::from_le_bytes([at[0], at[1], at[2], at[3]]),
                    count: u32::from_le_bytes([at[4], at[5], at[6], at[7]]),
                    version: u64::from_le_bytes([at[8], at[9], at[10], at[11], at[12], at[13], at[14], at[15]]),
                });
                Facts::Records(records.collect())
            }
            1 => {
                // In the format before, where its units begin followed from its place in the snapshot.
                let first = if is_before { u64::from(index) * ((bytes.len() - HEAD_BEFORE) * 8) as u64 } else { u64::from(word(60)?) };
                Facts::Unmapped { first: first.try_into().ok()?, version: long(16)?, bits: bytes.get(head..head + count)?.to_vec() }
            }
            2 => {
                let memos = bytes[head..].chunks_exact(MEMO).take(count).map(|at| WrittenMemo {
                    owner: Owner(u32::from_le_bytes([at[0], at[1], at[2], at[3]])),
                    die: u16::from_le_bytes([at[4], at[5]]),
                    block: u16::from_le_bytes([at[6], at[7]]),
                    erases: u32::from_le_bytes([at[8], at[9], at[10], at[11]]),
                    value: u32::from_le_bytes([at[12], at[13], at[14], at[15]]),
                });
                Facts::Memos(memos.collect())
            }
            3 => {
                let units = usize::try_from(long(16)?).ok().filter(|&units| (1..=bytes.len()).contains(&units))?;
                Facts::Marks(bytes[head..].chunks_exact(record_bytes(units)).take(count).map(ProgramMarks::read).collect())
            }
            4 => Facts::Refused { first: word(60)?, version: long(16)?, bits: bytes.get(head..head + count)?.to_vec() },
            5 => Facts::History(History {
                version: long(16)?,
                starts: long(head)?,
                unsafe_shutdowns: long(head + 8)?,
                media_errors: long(head + 16)?,
                units_lost: long(head + 24)?,
                is_clean: long(head + 32)? != 0,
                // Formats before had zeroes there.
                failed_dies: long(head + 40)?,
                failed_at: long(head + 48)?,
            }),
            _ => return None,
        };
        Some(Page { generation: long(8)?, of_snapshot: (total > 0).then_some((index, total)), serial, facts })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::oob::{Filling, MarkCopy};

    #[test]
    fn a_page_says_what_was_written_and_nothing_once_it_is_damaged() {
        let records = (0..70).map(|n| Record { first: n, count: n + 1, version: u64::from(n) << 40 }).collect();
        let bits = (0..=200).collect();
        let unmapped = Facts::Unmapped { first: 3 * units_per_page(2_048) as u32, version: 77, bits };
        let memo = |n: u16| WrittenMemo { owner: Owner(1 << n), die: n, block: 999 - n, erases: 1 << 20, value: u32::from(n) << 24 };
        let memos = Facts::Memos((0..32).map(memo).collect());
        let filling = Filling { die: 3, blocks: [9, 8, 7, 6], erases: 12 };
        let mark = |n: u32| MarkCopy { lpn: n, version: u64::from(n) + 5, insecure: n == 2, is_spoilt: n == 3 };
        let marks = Facts::Marks((0..6).map(|program| ProgramMarks { filling, program, marks: (0..8).map(mark).collect() }).collect());
        let refused = Facts::Refused { first: 4_000, version: 99, bits: (0..100).collect() };
        let history = History {
            version: 4,
            starts: 3,
            unsafe_shutdowns: 2,
            media_errors: 1 << 40,
            units_lost: 7,
            failed_dies: 2,
            failed_at: 3,
            is_clean: true,
        };
        let all = [
            (None, Facts::Records(records)),
            (Some((3, 5)), unmapped),
            (Some((4, 5)), memos),
            (None, marks),
            (Some((2, 3)), refused),
            (None, Facts::History(history)),
        ];
        for (of_snapshot, facts) in all {
            let page = Page { generation: 9, of_snapshot, serial: Serial { own: 3, mirrored: 3, marks: 8, here: [1, 2] }, facts };
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

    #[test]
    fn second_copies_of_a_snapshot_begin_a_program_of_their_own_where_there_is_room() {
        let layout = crate::config::tests::small(64).layout();
        let each = layout.units_per_program / layout.units_per_page;
        let places = |mirrored: u32, marks: u32| {
            let SnapshotPlaces { marks: first, end, .. } = SnapshotPlaces::new(&layout, mirrored, marks);
            (first - mirrored, end)
        };
        assert_eq!(places(1, 2), (each, each + 3));
        let most = (layout.programs - 1) * each;
        assert_eq!(places(each + 1, most - 3 * each - 1), (2 * each, most), "to the last page");
        assert_eq!(places(each + 1, most - 3 * each), (each + 1, most - each + 2), "one page more, and both copies lie close");
    }
}
