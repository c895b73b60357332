//! Which keys there are, for somebody who has the flash and the controller's register: by the bytes of key pages, not by what the core believes.
//!
//! What a cipher does is taken for granted: a page of the key store is opened by the register, or by what that has opened, or not at all; and a key that was in
//! no page that can be opened is gone. Does not check: what is in the controller's memory while it is on.

use std::collections::BTreeMap;

use wordline_ftl::{Key, KeyFacts, KeyPage, Tree};

use super::nand::{Bytes, Nand};

/// What the register opens.
#[derive(Clone, Debug, Default)]
pub(super) struct Opened {
    register: u64,
    /// The commit of each tree, by the newest table.
    commits: BTreeMap<u32, u64>,
    /// All trees there are, by number and commit: which of them can be opened, the table says.
    trees: BTreeMap<(u32, u64), Tree>,
}

impl Opened {
    pub(super) fn by(register: u64, nand: &Nand) -> Opened {
        let mut opened = Opened { register, ..Opened::default() };
        for units in nand.whole_pages().filter(|units| units[0].mark.lpn == wordline_ftl::KEYS) {
            let parts = units.iter().map(|unit| match &unit.bytes {
                Bytes::Journal(part) => part,
                other @ (Bytes::Nothing | Bytes::Sectors(_) | Bytes::Lost) => panic!("a page of keys holds {other:?}"),
            });
            let bytes: Vec<u8> = parts.flat_map(|part| part.iter().copied()).collect();
            let Some(page) = KeyPage::read(&bytes) else { continue };
            match page.facts {
                KeyFacts::Trees(trees) => opened.trees.extend(trees.into_iter().map(|tree| ((tree.number, page.commit), tree))),
                KeyFacts::Table { first, commits } if page.commit == register => opened.commits.extend((first..).zip(commits)),
                KeyFacts::Table { .. } => {}
            }
        }
        opened
    }

    /// Whether something encrypted with `key` can be read.
    pub(super) fn has(&self, key: Key) -> bool {
        match self.commits.get(&key.tree) {
            _ if self.register == 0 => true,
            None => false,
            Some(0) => true,
            Some(&commit) => self.trees.get(&(key.tree, commit)).is_some_and(|tree| tree.has(key.epoch, key.leaf)),
        }
    }
}
