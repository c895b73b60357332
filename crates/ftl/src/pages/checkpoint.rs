//! The format of a checkpoint page, as bytes.
//!
//! A page stands for itself: it says which checkpoint it belongs to and which of its pages it is. The last one says so, and with it how many there are.
//!
//! ```text
//!   0 magic | 8 number | 16 kind | 20 count | 24 index | 28 first | 32 check | 40 groups, or places
//! ```

use crate::pages::check::check;
use crate::state::layout::UnitAddr;

/// Magic number that a checkpoint page begins with.
const MAGIC: u64 = u64::from_le_bytes(*b"wl-chkpt");
/// Size in bytes of the page's header.
const HEAD: usize = 40;
/// Offset of the checksum over all other bytes.
const CHECK: std::ops::Range<usize> = 32..40;
/// Size in bytes of a group's entry: its blocks, its erases, how long ago it was closed.
const GROUP: usize = 16;
/// Size in bytes of a unit's address.
const PLACE: usize = 4;
/// Erase count that marks a group of which the checkpoint knows nothing.
const UNKNOWN: u32 = u32::MAX;
/// Ages that stand for other states: a group that is free, and one that takes programs.
const EMPTY: u32 = u32::MAX;
const OPEN: u32 = u32::MAX - 1;

/// State of a block group when the checkpoint was begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownGroup {
    /// Block of the group in each plane.
    pub blocks: [u16; 4],
    /// Erase count of the group.
    pub erases: u32,
    /// Use of the group.
    pub state: KnownState,
}

/// Use of a block group when a checkpoint was begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KnownState {
    /// The group takes no more programs before it is erased.
    Closed {
        /// Number of groups closed since this one was, up to [`KnownState::AGE_MAX`].
        age: u32,
    },
    /// The group was erased, and free.
    Free,
    /// The group may still have been programmed.
    Open,
}

impl KnownState {
    /// The highest age.
    pub const AGE_MAX: u32 = OPEN - 1;
}

/// Facts of a checkpoint page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// State of the groups from `first` on; `None` where pages may be readable that the map does not know, or nothing of the host's is.
    Groups {
        /// The first group.
        first: u32,
        /// State of each group.
        groups: Vec<Option<KnownGroup>>,
    },
    /// Addresses of the units from `first` on. In groups that are not settled they may have moved since.
    Places {
        /// The first unit.
        first: u32,
        /// Address of each unit; [`UnitAddr::NONE`]: the unit is not mapped.
        places: Vec<UnitAddr>,
    },
    /// End of the checkpoint: this is the last page.
    End,
}

/// A page of a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckpointPage {
    /// Number of the checkpoint. Numbers are versions of units: what was written later than the checkpoint was begun has a higher one.
    pub number: u64,
    /// Index of the page in the checkpoint.
    pub index: u32,
    /// Facts of the page.
    pub said: Said,
}

/// Number of groups that fit a page of `bytes` bytes.
pub(crate) fn groups_per_page(bytes: usize) -> usize {
    (bytes - HEAD) / GROUP
}

/// Number of units whose addresses fit a page of `bytes` bytes.
pub(crate) fn places_per_page(bytes: usize) -> usize {
    (bytes - HEAD) / PLACE
}

impl CheckpointPage {
    /// Writes the page into `bytes`, which are a whole page.
    pub fn write(&self, bytes: &mut [u8]) {
        bytes.fill(0);
        let (kind, first, count) = match &self.said {
            Said::Groups { first, groups } => {
                for (group, at) in groups.iter().zip(bytes[HEAD..].chunks_exact_mut(GROUP)) {
                    let KnownGroup { blocks, erases, state } =
                        group.unwrap_or(KnownGroup { blocks: [0; 4], erases: UNKNOWN, state: KnownState::Free });
                    for (block, at) in blocks.iter().zip(at.chunks_exact_mut(2)) {
                        at.copy_from_slice(&block.to_le_bytes());
                    }
                    at[8..12].copy_from_slice(&erases.to_le_bytes());
                    let age = match state {
                        KnownState::Closed { age } => age.min(KnownState::AGE_MAX),
                        KnownState::Free => EMPTY,
                        KnownState::Open => OPEN,
                    };
                    at[12..].copy_from_slice(&age.to_le_bytes());
                }
                (0u32, *first, groups.len())
            }
            Said::Places { first, places } => {
                for (place, at) in places.iter().zip(bytes[HEAD..].chunks_exact_mut(PLACE)) {
                    at.copy_from_slice(&place.0.to_le_bytes());
                }
                (1, *first, places.len())
            }
            Said::End => (2, 0, 0),
        };
        bytes[..8].copy_from_slice(&MAGIC.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.number.to_le_bytes());
        for (number, at) in [kind, count as u32, self.index, first].iter().zip(bytes[16..CHECK.start].chunks_exact_mut(4)) {
            at.copy_from_slice(&number.to_le_bytes());
        }
        let check = check(bytes, CHECK);
        bytes[CHECK].copy_from_slice(&check.to_le_bytes());
    }

    /// Parses `bytes`; `None` where they are no page of a checkpoint.
    pub fn read(bytes: &[u8]) -> Option<CheckpointPage> {
        let word = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
        let long = |at: usize| Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
        if long(0)? != MAGIC || long(CHECK.start)? != check(bytes, CHECK) {
            return None;
        }
        let (count, index, first) = (word(20)? as usize, word(24)?, word(28)?);
        let said = match word(16)? {
            0 => {
                let half = |at: &[u8], index: usize| u16::from_le_bytes([at[2 * index], at[2 * index + 1]]);
                let groups = bytes[HEAD..].chunks_exact(GROUP).take(count).map(|at| {
                    let known = KnownGroup {
                        blocks: std::array::from_fn(|plane| half(at, plane)),
                        erases: u32::from_le_bytes([at[8], at[9], at[10], at[11]]),
                        state: match u32::from_le_bytes([at[12], at[13], at[14], at[15]]) {
                            EMPTY => KnownState::Free,
                            OPEN => KnownState::Open,
                            age => KnownState::Closed { age },
                        },
                    };
                    (known.erases != UNKNOWN).then_some(known)
                });
                Said::Groups { first, groups: groups.collect() }
            }
            1 => {
                let places = bytes[HEAD..].chunks_exact(PLACE).take(count);
                Said::Places { first, places: places.map(|at| UnitAddr(u32::from_le_bytes([at[0], at[1], at[2], at[3]]))).collect() }
            }
            2 => Said::End,
            _ => return None,
        };
        Some(CheckpointPage { number: long(8)?, index, said })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_says_what_was_written_and_nothing_once_it_is_damaged() {
        let known = |n: u16| {
            let state =
                [KnownState::Closed { age: 70_000 }, KnownState::Free, KnownState::Open, KnownState::Closed { age: KnownState::AGE_MAX }];
            (!n.is_multiple_of(3)).then_some(KnownGroup {
                blocks: [n, n + 1, 2, 3],
                erases: u32::from(n),
                state: state[usize::from(n % 4)],
            })
        };
        let groups = (0..groups_per_page(2_048) as u16).map(known).collect();
        let places =
            (0..places_per_page(2_048) as u32).map(|n| if n.is_multiple_of(5) { UnitAddr::NONE } else { UnitAddr(n << 12) }).collect();
        for said in [Said::Groups { first: 126, groups }, Said::Places { first: 4_080, places }, Said::End] {
            let page = CheckpointPage { number: 9 << 33, index: 4, said };
            let mut bytes = vec![0xA5; 2_048];
            page.write(&mut bytes);
            assert_eq!(CheckpointPage::read(&bytes), Some(page));
            for at in (0..2_048).step_by(13) {
                bytes[at] ^= 0x10;
                assert_eq!(CheckpointPage::read(&bytes), None, "byte {at}");
                bytes[at] ^= 0x10;
            }
        }
        assert_eq!(CheckpointPage::read(&[]), None);
        assert_eq!(CheckpointPage::read(&[0; 48]), None);
    }
}
