//! Memos of techniques: numbers about block groups that outlast a power cut, in the journal.
//!
//! A technique gives a memo with [`Technique::remember`](crate::techniques::seam::Technique::remember). The core keeps the greatest of each technique and
//! group until the group is erased, brings it to flash with the journal's next program, and gives it back after a cut. On flash a memo is of the blocks
//! that the group stands on and of their erase count, so an erase makes it void without anything being written.
//!
//! A technique that is switched off at a start is not given its memos, and they are let go.

use std::collections::{BTreeMap, BTreeSet};

use crate::config::Config;
use crate::firmware::Ftl;
use crate::groups::Groups;
use crate::layout::{Group, Layout};
use crate::techniques::seam::{Card, Ctx, Memo, News, Persists};
use crate::view::View;

/// A technique's number in memos: it must not depend on which others there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Owner(pub u32);

impl Owner {
    /// FNV-1a of its name.
    fn of(card: &Card) -> Owner {
        Owner(card.name.bytes().fold(0x811C_9DC5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)))
    }
}

/// A memo as it stands on flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrittenMemo {
    /// Whose.
    pub owner: Owner,
    /// The die.
    pub die: u16,
    /// The group's block in the first plane; which blocks of the others belong to it is fixed.
    pub block: u16,
    /// How often the group had been erased.
    pub erases: u32,
    /// What is remembered.
    pub value: u32,
}

/// The memos of one core.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memos {
    /// All that hold.
    values: BTreeMap<(Group, Owner), u32>,
    /// Those that no program was ordered for.
    unwritten: BTreeSet<(Group, Owner)>,
    /// Those in the program that is under way.
    ordered: Vec<(Group, Owner)>,
}

impl Memos {
    /// Whether something is to be written.
    pub(crate) fn wait(&self) -> bool {
        !self.unwritten.is_empty()
    }

    /// Returns whether it was news.
    fn note(&mut self, owner: Owner, memo: Memo) -> bool {
        let key = (memo.group, owner);
        let known = self.values.entry(key).or_insert(0);
        let grows = memo.value > *known;
        if grows {
            *known = memo.value;
            self.unwritten.insert(key);
        }
        grows
    }

    /// `group` holds nothing any more.
    fn forget(&mut self, group: Group) {
        let of_group = (group, Owner(0))..=(group, Owner(u32::MAX));
        let gone: Vec<_> = self.values.range(of_group).map(|(&key, _)| key).collect();
        for key in gone {
            self.values.remove(&key);
            self.unwritten.remove(&key);
        }
    }

    /// Up to `room` of those that wait, for the program that is being ordered.
    pub(crate) fn order(&mut self, room: usize, groups: &Groups) -> Vec<WrittenMemo> {
        self.ordered = self.unwritten.iter().copied().take(room).collect();
        self.ordered.iter().for_each(|key| _ = self.unwritten.remove(key));
        self.ordered.iter().map(|key| self.written(*key, groups)).collect()
    }

    /// All that hold, for a snapshot.
    pub(crate) fn order_all(&mut self, groups: &Groups) -> Vec<WrittenMemo> {
        self.unwritten.clear();
        self.ordered = self.values.keys().copied().collect();
        self.ordered.iter().map(|key| self.written(*key, groups)).collect()
    }

    /// The program, or the snapshot, that they were ordered for is over.
    pub(crate) fn end(&mut self, good: bool) {
        for key in self.ordered.drain(..).filter(|key| !good && self.values.contains_key(key)) {
            self.unwritten.insert(key);
        }
    }

    fn written(&self, (group, owner): (Group, Owner), groups: &Groups) -> WrittenMemo {
        let value = self.values[&(group, owner)];
        WrittenMemo { owner, die: groups.layout.die(group).0, block: groups.blocks(group)[0], erases: groups.erases(group), value }
    }
}

/// The longest snapshot's memos.
pub(crate) fn most(config: &Config, layout: &Layout) -> usize {
    let remember = config.techniques.iter().filter(|choice| matches!(choice.card().persists, Persists::Memos(_)));
    remember.count() * layout.group_count()
}

impl Ftl {
    /// Note what techniques must not forget because of `news`.
    pub(crate) fn note_memos(&mut self, news: &News) {
        let Ftl { panel, groups, dies, journal: Some(journal), now, .. } = self else {
            return;
        };
        let ctx = Ctx { now: *now, view: View::new(groups, dies) };
        let mut has_news = false;
        panel.memos(&ctx, news, |card, memo| has_news |= journal.memos.note(Owner::of(card), memo));
        if has_news {
            self.wake_journal();
        }
    }

    /// `group` holds nothing any more, so nothing is to be remembered of it.
    pub(crate) fn forget_memos(&mut self, group: Group) {
        if let Some(journal) = &mut self.journal {
            journal.memos.forget(group);
        }
    }

    /// Give the techniques what was `found` of their memos.
    pub(crate) fn recall_memos(&mut self, found: &[WrittenMemo]) {
        let Ftl { panel, groups, journal, layout, .. } = self;
        let journal = journal.as_mut().expect("the core keeps data");
        let stands: BTreeMap<(u16, u16, u32), Group> = (0..layout.group_count() as u32)
            .map(Group)
            .map(|group| ((layout.die(group).0, groups.blocks(group)[0], groups.erases(group)), group))
            .collect();
        panel.recover(groups, |card| {
            let owner = Owner::of(card);
            let mut of_groups: BTreeMap<Group, u32> = BTreeMap::new();
            for memo in found.iter().filter(|memo| memo.owner == owner) {
                if let Some(&group) = stands.get(&(memo.die, memo.block, memo.erases)) {
                    let known = of_groups.entry(group).or_insert(0);
                    *known = (*known).max(memo.value);
                }
            }
            journal.memos.values.extend(of_groups.iter().map(|(&group, &value)| ((group, owner), value)));
            of_groups.into_iter().map(|(group, value)| Memo { group, value }).collect()
        });
    }
}
