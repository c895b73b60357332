//! The key store after a power cut: the keys that are left, by the register and what it opens.
//!
//! A page of data whose keys are gone is as good as torn, so this is known before any mark of data is looked at.

use std::collections::{BTreeMap, BTreeSet};

use super::Recovery;
use super::flash_reader::{Found, Reader};
use super::physical_blocks::PhysicalBlocks;
use crate::pages::keys::{KeyFacts, KeyPage, Tree};
use crate::sanitise::Sanitise;
use crate::sanitise::keys::{Forest, Keys};
use crate::state::Core;
use crate::state::data::KEYS;
use crate::state::layout::BlockGroup;

/// Commits left out after a power cut, so that no number is given twice even if a page that could not be read at first can be read later.
const COMMITS_SKIPPED: u64 = 1 << 20;
/// The epoch of a tree that the register should open and that cannot be read: no stand comes so far.
const LOST: u32 = u32::MAX / 2;

/// Findings about a key store.
#[derive(Clone, Debug)]
pub(crate) struct KeysFound {
    forest: Forest,
    /// Trees that the register opens.
    trees: Vec<Tree>,
    commits: Vec<u64>,
    /// The number of the newest commit of which anything was found.
    newest: u64,
    /// The newest commit in each stand that is needed to open what the register opens.
    holds: BTreeMap<usize, u64>,
    /// Epoch in which the data in each stand was encrypted.
    seen: BTreeMap<usize, u32>,
}

impl KeysFound {
    /// Read the key store. `fresh` is that of a new core.
    pub(crate) fn gather(fresh: &Keys, stands: &[PhysicalBlocks], reader: &mut Reader<'_>) -> KeysFound {
        let register = reader.flash_reader.register();
        let mut pages: Vec<(usize, KeyPage)> = Vec::new();
        for (number, stand) in stands.iter().enumerate() {
            read_stand(number, stand, reader, &mut pages);
        }
        let mut commits: Vec<Option<u64>> = vec![None; fresh.trees().len()];
        if register == 0 {
            commits.fill(Some(0));
        }
        for (_, page) in pages.iter().filter(|(_, page)| page.commit == register) {
            if let KeyFacts::Table { first, commits: some } = &page.facts {
                for (slot, &commit) in commits.iter_mut().skip(*first as usize).zip(some) {
                    *slot = Some(commit);
                }
            }
        }
        let needed: BTreeSet<u64> = commits.iter().flatten().copied().chain([register]).filter(|&commit| commit > 0).collect();
        // What the register should open and is not there is lost, with all that was encrypted with it.
        let words = (fresh.forest().leaves() as usize).div_ceil(64);
        let mut trees: Vec<Tree> = fresh.trees().to_vec();
        for (tree, _) in trees.iter_mut().zip(&commits).filter(|(_, commit)| **commit != Some(0)) {
            (tree.epoch, tree.gone) = (LOST, vec![u64::MAX; words]);
        }
        let (mut holds, mut newest) = (BTreeMap::new(), register);
        for (stand, page) in pages {
            newest = newest.max(page.commit);
            if needed.contains(&page.commit) {
                let last = holds.entry(stand).or_insert(0);
                *last = page.commit.max(*last);
            }
            let KeyFacts::Trees(found) = page.facts else { continue };
            for tree in found {
                if commits.get(tree.number as usize) == Some(&Some(page.commit)) {
                    let number = tree.number as usize;
                    trees[number] = tree;
                }
            }
        }
        let commits = commits.into_iter().map(|commit| commit.unwrap_or(register)).collect();
        KeysFound { forest: fresh.forest(), trees, commits, newest, holds, seen: BTreeMap::new() }
    }

    /// True if `stand` holds a part of the key store that is needed.
    pub(crate) fn holds(&self, stand: usize) -> bool {
        self.holds.contains_key(&stand)
    }

    /// Note that `stand` holds a whole page of data, encrypted in `epoch`.
    pub(crate) fn see(&mut self, stand: usize, epoch: u32) {
        self.seen.insert(stand, epoch);
    }

    /// True if the key of the unit at `offset` of `stand`, whose index is `number`, is there.
    pub(crate) fn has(&self, number: usize, stand: &PhysicalBlocks, offset: u32) -> bool {
        let epoch = self.seen.get(&number).copied().unwrap_or(0);
        let key = self.forest.key(self.forest.stand(stand.die, stand.blocks[0]), epoch, offset);
        self.trees[key.tree as usize].has(epoch, key.leaf)
    }
}

/// Read the pages of the key store in a stand, if its first whole page is one.
fn read_stand(number: usize, stand: &PhysicalBlocks, reader: &mut Reader<'_>, pages: &mut Vec<(usize, KeyPage)>) {
    let mut read = Recovery::default();
    for program in 0..reader.layout.programs {
        let mut is_blank = true;
        for place in reader.places(stand.die, stand.blocks, program) {
            let found = reader.page(place, &mut read);
            is_blank &= found == Found::Erased;
            if found != Found::Whole {
                continue;
            }
            if reader.marks[0].lpn != KEYS {
                return;
            }
            reader.flash_reader.bytes(place, &mut reader.bytes);
            pages.extend(KeyPage::read(&reader.bytes).map(|page| (number, page)));
        }
        if is_blank {
            return;
        }
    }
}

/// Resume the key store as it was found.
pub(super) fn resume(
    core: &mut Core,
    sanitise: &mut Sanitise,
    found: Option<&KeysFound>,
    physical: &[PhysicalBlocks],
    stands: &[Option<usize>],
) {
    let Some(keys) = sanitise.keys_mut() else {
        return;
    };
    let found = found.expect("it was looked for");
    let mut held: Vec<(u64, BlockGroup, usize)> =
        (0..).map(BlockGroup).zip(stands).filter_map(|(group, &stand)| Some((*found.holds.get(&stand?)?, group, stand?))).collect();
    held.sort_unstable();
    for &(_, group, stand) in &held {
        if physical[stand].broken {
            core.groups_mut().condemn(group);
        }
    }
    let groups = held.into_iter().map(|(_, group, _)| group).collect();
    let seen = found.seen.iter().map(|(&number, &epoch)| {
        let stand = &physical[number];
        (found.forest.stand(stand.die, stand.blocks[0]), epoch)
    });
    let opened = (found.trees.clone(), found.commits.clone());
    keys.resume(groups, opened, found.newest + COMMITS_SKIPPED, seen, core.layout().programs);
}
