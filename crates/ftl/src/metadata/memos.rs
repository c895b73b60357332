//! Memos of techniques: numbers about block groups that outlast a power cut, in the journal.
//!
//! A technique gives a memo with [`Technique::remember`](crate::techniques::seam::Technique::remember). The core keeps the greatest of each technique and
//! group until the group is erased, brings it to flash with the journal's next program, and gives it back after a cut. On flash a memo is of the blocks
//! that the group stands on and of their erase count, so an erase makes it void without anything being written.
//!
//! A technique that is switched off at a start is not given its memos, and they are let go.

use std::collections::{BTreeMap, BTreeSet};

use crate::pages::journal::{Owner, WrittenMemo};
use crate::state::Core;
use crate::state::groups::BlockGroups;
use crate::state::layout::BlockGroup;
use crate::techniques::panel::Panel;
use crate::techniques::seam::{Card, Memo};

/// Number of the technique that `card` describes: FNV-1a of its name.
fn owner(card: &Card) -> Owner {
    Owner(card.name.bytes().fold(0x811C_9DC5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)))
}

/// The memos of one core.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memos {
    /// All valid memos.
    values: BTreeMap<(BlockGroup, Owner), u32>,
    /// Memos that no program was ordered for.
    unwritten: BTreeSet<(BlockGroup, Owner)>,
    /// Memos in the program that is under way.
    ordered: Vec<(BlockGroup, Owner)>,
}

impl Memos {
    /// True if a memo waits to be written.
    pub(crate) fn wait(&self) -> bool {
        !self.unwritten.is_empty()
    }

    /// Record `memo` of the technique that `card` describes. Returns true if it was news.
    pub(crate) fn note(&mut self, card: &Card, memo: Memo) -> bool {
        let key = (memo.group, owner(card));
        let known = self.values.entry(key).or_insert(0);
        let grows = memo.value > *known;
        if grows {
            *known = memo.value;
            self.unwritten.insert(key);
        }
        grows
    }

    /// Forget the memos of `group`, which holds nothing any more.
    pub(crate) fn forget(&mut self, group: BlockGroup) {
        let of_group = (group, Owner(0))..=(group, Owner(u32::MAX));
        let gone: Vec<_> = self.values.range(of_group).map(|(&key, _)| key).collect();
        for key in gone {
            self.values.remove(&key);
            self.unwritten.remove(&key);
        }
    }

    /// Take up to `room` waiting memos for the program that is being ordered.
    pub(crate) fn take_unwritten(&mut self, room: usize, groups: &BlockGroups) -> Vec<WrittenMemo> {
        self.ordered = self.unwritten.iter().copied().take(room).collect();
        self.ordered.iter().for_each(|key| _ = self.unwritten.remove(key));
        self.ordered.iter().map(|key| self.written(*key, groups)).collect()
    }

    /// Take all valid memos for a snapshot.
    pub(crate) fn take_all(&mut self, groups: &BlockGroups) -> Vec<WrittenMemo> {
        self.unwritten.clear();
        self.ordered = self.values.keys().copied().collect();
        self.ordered.iter().map(|key| self.written(*key, groups)).collect()
    }

    /// End the program, or the snapshot, for which memos were taken.
    pub(crate) fn end(&mut self, good: bool) {
        for key in self.ordered.drain(..).filter(|key| !good && self.values.contains_key(key)) {
            self.unwritten.insert(key);
        }
    }

    fn written(&self, (group, owner): (BlockGroup, Owner), groups: &BlockGroups) -> WrittenMemo {
        let value = self.values[&(group, owner)];
        WrittenMemo { owner, die: groups.layout().die(group).0, block: groups.blocks(group)[0], erases: groups.erases(group), value }
    }

    /// Give the techniques those of their memos that were `found` after a power cut.
    pub(crate) fn recall(&mut self, core: &Core, panel: &mut Panel, found: &[WrittenMemo]) {
        let (groups, layout) = (core.groups(), core.layout());
        let stands: BTreeMap<(u16, u16, u32), BlockGroup> = (0..layout.group_count() as u32)
            .map(BlockGroup)
            .map(|group| ((layout.die(group).0, groups.blocks(group)[0], groups.erases(group)), group))
            .collect();
        panel.recover(groups, |card| {
            let owner = owner(card);
            let mut of_groups: BTreeMap<BlockGroup, u32> = BTreeMap::new();
            for memo in found.iter().filter(|memo| memo.owner == owner) {
                if let Some(&group) = stands.get(&(memo.die, memo.block, memo.erases)) {
                    let known = of_groups.entry(group).or_insert(0);
                    *known = (*known).max(memo.value);
                }
            }
            self.values.extend(of_groups.iter().map(|(&group, &value)| ((group, owner), value)));
            of_groups.into_iter().map(|(group, value)| Memo { group, value }).collect()
        });
    }
}
