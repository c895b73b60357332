//! The format of a key-store page, as bytes.
//!
//! A page belongs to a commit. It holds trees of keys, or a part of the table of all trees. Keys themselves are not modelled: where they would stand there are
//! zeroes, so that pages are as full as they would be, and a tree says which of its leaves are gone.
//!
//! ```text
//!   0 magic | 8 commit | 16 kind | 20 first | 24 count | 32 check | 40 trees or table
//!   tree:  number | epoch | nodes | words | leaves that are gone, 64 in a word | key of the next epoch | a key for each node
//!   table: the commit that each tree was last written by | its key
//! ```

use crate::pages::check::check;

/// Magic number that a key-store page begins with.
const MAGIC: u64 = u64::from_le_bytes(*b"wl-keys\0");
/// Size in bytes of the page's header.
const HEAD: usize = 40;
/// Size in bytes of a key.
const KEY: usize = 16;
/// Size in bytes of a tree before its leaves.
const TREE: usize = 16;
/// Size in bytes of the table's entry for a tree.
const ENTRY: usize = 8 + KEY;
/// Offset of the checksum over all other bytes.
const CHECK: std::ops::Range<usize> = 32..40;

/// A tree of keys: one for each of its leaves, the units of a part of a block group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    /// The tree's number.
    pub number: u32,
    /// Epoch of the keys: the block's erase count when the units were programmed. Keys of earlier epochs are gone.
    pub epoch: u32,
    /// Leaves without a key, one bit each; empty: every leaf has its key.
    pub gone: Vec<u64>,
}

impl Tree {
    /// Number of keys that give all remaining leaves and no others: those of the greatest subtrees that are whole.
    pub fn nodes(&self, leaves: u32) -> u32 {
        if self.gone.iter().all(|&word| word == 0) { 1 } else { self.nodes_of(0, leaves) }
    }

    fn nodes_of(&self, first: u32, leaves: u32) -> u32 {
        let is_gone = |leaf: u32| self.gone[leaf as usize / 64] >> (leaf % 64) & 1 == 1;
        if leaves.is_multiple_of(64) {
            let words = &self.gone[first as usize / 64..][..leaves as usize / 64];
            if words.iter().all(|&word| word == 0) {
                return 1;
            }
            if words.iter().all(|&word| word == u64::MAX) {
                return 0;
            }
        } else if leaves == 1 {
            return u32::from(!is_gone(first));
        } else if (first..first + leaves).all(|leaf| !is_gone(leaf)) {
            return 1;
        }
        self.nodes_of(first, leaves / 2) + self.nodes_of(first + leaves / 2, leaves / 2)
    }

    /// Size of the tree in bytes.
    pub(crate) fn bytes(&self, leaves: u32) -> usize {
        TREE + 8 * self.gone.len() + KEY * (1 + self.nodes(leaves) as usize)
    }

    /// True if the key of `leaf`, programmed in `epoch`, is there.
    pub fn has(&self, epoch: u32, leaf: u32) -> bool {
        let is_gone = || self.gone.get(leaf as usize / 64).is_some_and(|word| word >> (leaf % 64) & 1 == 1);
        epoch > self.epoch || (epoch == self.epoch && !is_gone())
    }
}

/// Greatest size in bytes of a tree of which only the first `used` leaves can ever lose their keys. Worst is every other leaf gone: each one left needs a key
/// of its own, and the leaves behind `used` need a few nodes.
pub(crate) fn most_bytes(leaves: u32, used: u32) -> usize {
    let rest = if used < leaves { leaves.ilog2() } else { 0 };
    TREE + leaves as usize / 8 + KEY * (1 + (used.div_ceil(2) + rest).min(leaves / 2) as usize)
}

/// Greatest number of pages of `bytes` bytes that trees of `all` bytes together take, when none is larger than `largest`.
pub(crate) fn most_pages(all: usize, largest: usize, bytes: usize) -> usize {
    // What stays free at the end of a page is less than the tree that did not fit.
    all.div_ceil((bytes - HEAD + 1).saturating_sub(largest).max(1))
}

/// Greatest number of leaves of a tree where pages have `bytes` bytes: any tree must fit a page.
pub fn most_leaves(bytes: u64) -> u32 {
    (6..).map(|power| 1 << power).take_while(|&leaves| most_bytes(leaves, leaves) + HEAD <= bytes as usize).last().unwrap_or(0)
}

/// Number of table entries that a page of `bytes` bytes holds.
pub(crate) fn entries_per_page(bytes: usize) -> usize {
    (bytes - HEAD) / ENTRY
}

/// Facts of a key-store page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyFacts {
    /// Whole key trees.
    Trees(Vec<Tree>),
    /// Commits that last wrote the trees from `first` on; 0: never, and all keys of the tree are there.
    Table {
        /// Number of the first tree.
        first: u32,
        /// Commit of each tree.
        commits: Vec<u64>,
    },
}

/// A page of the key store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyPage {
    /// Number of the commit.
    pub commit: u64,
    /// Facts of the page.
    pub facts: KeyFacts,
}

/// Distribute `trees` over pages of `bytes` bytes, in their order.
pub(crate) fn pack(commit: u64, trees: Vec<Tree>, leaves: u32, bytes: usize) -> Vec<KeyPage> {
    let (mut pages, mut page, mut room) = (Vec::new(), Vec::new(), bytes - HEAD);
    for tree in trees {
        let takes = tree.bytes(leaves);
        if takes > room {
            pages.push(KeyPage { commit, facts: KeyFacts::Trees(std::mem::take(&mut page)) });
            room = bytes - HEAD;
        }
        room -= takes;
        page.push(tree);
    }
    pages.push(KeyPage { commit, facts: KeyFacts::Trees(page) });
    pages
}

impl KeyPage {
    /// Writes the page into `bytes`, which are a whole page.
    pub fn write(&self, leaves: u32, bytes: &mut [u8]) {
        bytes.fill(0);
        let (kind, first, count) = match &self.facts {
            KeyFacts::Trees(trees) => {
                let mut at = HEAD;
                for tree in trees {
                    for (place, number) in (at..).step_by(4).zip([tree.number, tree.epoch, tree.nodes(leaves), tree.gone.len() as u32]) {
                        bytes[place..place + 4].copy_from_slice(&number.to_le_bytes());
                    }
                    for (place, word) in (at + TREE..).step_by(8).zip(&tree.gone) {
                        bytes[place..place + 8].copy_from_slice(&word.to_le_bytes());
                    }
                    at += tree.bytes(leaves);
                }
                (0u32, 0, trees.len())
            }
            KeyFacts::Table { first, commits } => {
                for (commit, at) in commits.iter().zip(bytes[HEAD..].chunks_exact_mut(ENTRY)) {
                    at[..8].copy_from_slice(&commit.to_le_bytes());
                }
                (1, *first, commits.len())
            }
        };
        bytes[0..8].copy_from_slice(&MAGIC.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.commit.to_le_bytes());
        bytes[16..20].copy_from_slice(&kind.to_le_bytes());
        bytes[20..24].copy_from_slice(&first.to_le_bytes());
        bytes[24..28].copy_from_slice(&(count as u32).to_le_bytes());
        let check = check(bytes, CHECK);
        bytes[CHECK].copy_from_slice(&check.to_le_bytes());
    }

    /// Parses `bytes`; `None` where they are no page of a key store.
    pub fn read(bytes: &[u8]) -> Option<KeyPage> {
        let word = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
        let long = |at: usize| Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
        if bytes.len() < HEAD || long(0)? != MAGIC || long(CHECK.start)? != check(bytes, CHECK) {
            return None;
        }
        let (first, count) = (word(20)?, word(24)? as usize);
        let facts = match word(16)? {
            0 => {
                let (mut at, mut trees) = (HEAD, Vec::new());
                for _ in 0..count {
                    let (nodes, words) = (word(at + 8)? as usize, word(at + 12)? as usize);
                    let gone = (0..words).map(|word| long(at + TREE + 8 * word)).collect::<Option<Vec<u64>>>()?;
                    trees.push(Tree { number: word(at)?, epoch: word(at + 4)?, gone });
                    at += TREE + 8 * words + KEY * (1 + nodes);
                }
                KeyFacts::Trees(trees)
            }
            1 => KeyFacts::Table { first, commits: (0..count).map(|entry| long(HEAD + entry * ENTRY)).collect::<Option<Vec<u64>>>()? },
            _ => return None,
        };
        Some(KeyPage { commit: long(8)?, facts })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Number of keys by the definition: subtrees that are whole and whose parent is not.
    fn counted(gone: &[bool]) -> u32 {
        let is_whole = |first: usize, leaves: usize| gone[first..first + leaves].iter().all(|gone| !gone);
        let mut count = u32::from(is_whole(0, gone.len()));
        let mut leaves = 1;
        while leaves < gone.len() {
            let parent = |first: usize| first / (2 * leaves) * (2 * leaves);
            count +=
                (0..gone.len()).step_by(leaves).filter(|&first| is_whole(first, leaves) && !is_whole(parent(first), 2 * leaves)).count()
                    as u32;
            leaves *= 2;
        }
        count
    }

    proptest! {
        #[test]
        fn nodes_are_the_greatest_whole_subtrees(share in 0.0f64..1.0, seed in any::<u64>(), size in 6u32..9) {
            let mut state = seed;
            let gone: Vec<bool> = (0..1usize << size).map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                ((state >> 33) as f64) < share * f64::from(1u32 << 31)
            }).collect();
            let words = gone.chunks(64).map(|part| part.iter().enumerate().fold(0, |word, (at, &gone)| word | u64::from(gone) << at)).collect();
            let tree = Tree { number: 1, epoch: 2, gone: words };
            prop_assert_eq!(tree.nodes(1 << size), counted(&gone));
            let used = gone.iter().rposition(|&gone| gone).map_or(0, |last| last as u32 + 1);
            prop_assert!(tree.bytes(1 << size) <= most_bytes(1 << size, used));
            let page = KeyPage { commit: 9, facts: KeyFacts::Trees(vec![tree.clone(), Tree { number: 3, epoch: 0, gone: Vec::new() }]) };
            let mut bytes = vec![0xA5; 16_384];
            page.write(1 << size, &mut bytes);
            prop_assert_eq!(KeyPage::read(&bytes), Some(page));
            for leaf in 0..1 << size {
                prop_assert_eq!(tree.has(2, leaf), !gone[leaf as usize]);
                prop_assert!(tree.has(3, leaf) && !tree.has(1, leaf));
            }
        }
    }

    #[test]
    fn a_damaged_page_says_nothing() {
        let page = KeyPage { commit: 7, facts: KeyFacts::Table { first: 80, commits: (0..80).collect() } };
        let mut bytes = vec![0xA5; 2_048];
        page.write(64, &mut bytes);
        assert_eq!(KeyPage::read(&bytes), Some(page));
        for at in (0..2_048).step_by(13) {
            bytes[at] ^= 0x10;
            assert_eq!(KeyPage::read(&bytes), None, "byte {at}");
            bytes[at] ^= 0x10;
        }
    }

    #[test]
    fn trees_are_packed_in_order_and_none_is_lost() {
        let tree = |number: u32| Tree { number, epoch: number, gone: vec![0x5555_5555_5555_5555 >> (number % 40); 4] };
        let trees: Vec<Tree> = (0..50).map(tree).collect();
        let pages = pack(3, trees.clone(), 256, 4_096);
        assert!(pages.len() > 3, "{}", pages.len());
        let mut found = Vec::new();
        for page in pages {
            let mut bytes = vec![0; 4_096];
            page.write(256, &mut bytes);
            let Some(KeyPage { commit: 3, facts: KeyFacts::Trees(some) }) = KeyPage::read(&bytes) else { panic!("{page:?}") };
            found.extend(some);
        }
        assert_eq!(found, trees);
    }
}
