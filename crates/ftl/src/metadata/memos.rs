//! Memos of techniques: numbers about block groups that outlast a power cut, in the journal.
//!
//! A technique gives a memo with [`Technique::remember`](crate::techniques::seam::Technique::remember). The core keeps the greatest of each technique, group
//! and slot until the group is erased, brings it to flash with the journal's next program, and gives it back after a cut. On flash a memo is of the blocks
//! that the group stands on and of their erase count, so an erase makes it void without anything being written.
//!
//! A technique that is switched off at a start is not given its memos, and they are let go.

use std::collections::{BTreeMap, BTreeSet};

use crate::pages::journal::{Owner, WrittenMemo};
use crate::state::Core;
use crate::state::groups::BlockGroups;
use crate::state::layout::BlockGroup;
use crate::state::services::OwnMemos;
use crate::techniques::panel::Panel;
use crate::techniques::seam::{Card, Memo};

/// Name under which the core has memos of its own. No technique has a name of two words.
const CORE: &str = "the core";
/// Slot of the core's memo of a birth.
const BIRTH: u8 = 1;

/// Number of slot `slot` of the technique of this `name`: FNV-1a of its name, and of the slot where that is not the first. So memos of the first slot are told
/// as they were when a technique had no other.
fn owner(name: &str, slot: u8) -> Owner {
    let slot = (slot > 0).then_some(slot);
    Owner(name.bytes().chain(slot).fold(0x811C_9DC5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)))
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
    latest_birth: Option<u32>,
}

/// Block groups by their die, first block and erase count.
type Stands = BTreeMap<(u16, u16, u32), BlockGroup>;

impl Memos {
    /// True if a memo waits to be written.
    pub(crate) fn wait(&self) -> bool {
        !self.unwritten.is_empty()
    }

    /// Record `memo` of the technique that `card` describes. Returns true if it was news.
    pub(crate) fn note(&mut self, card: &Card, memo: Memo) -> bool {
        debug_assert!(memo.slot < Memo::SLOTS, "{} has no memo slot {}", card.name, memo.slot);
        self.keep((memo.group, owner(card.name, memo.slot)), memo.value)
    }

    /// Record memos of the core itself about `group`. Returns true if one was news.
    pub(crate) fn note_own(&mut self, group: BlockGroup, memos: OwnMemos) -> bool {
        let told = (0..).zip(memos).filter_map(|(slot, value)| Some((slot, value?)));
        told.fold(false, |has_news, (slot, value)| self.keep((group, owner(CORE, slot)), value) || has_news)
    }

    /// Memos of the core itself about `group`.
    pub(crate) fn own(&self, group: BlockGroup) -> OwnMemos {
        std::array::from_fn(|slot| self.values.get(&(group, owner(CORE, slot as u8))).copied())
    }

    /// Memo of the latest birth that was found after a power cut, whether or not its group still holds what was born then.
    pub(crate) fn latest_birth(&self) -> Option<u32> {
        self.latest_birth
    }

    /// Keep `value` under `key`, if it is greater than what is there. Returns true if it is.
    fn keep(&mut self, key: (BlockGroup, Owner), value: u32) -> bool {
        let known = self.values.entry(key).or_insert(0);
        let grows = value > *known;
        if grows {
            *known = value;
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

    /// All valid memos, for a checkpoint of the map log. Those that wait are written besides.
    pub(crate) fn all(&self, groups: &BlockGroups) -> Vec<WrittenMemo> {
        self.values.keys().map(|key| self.written(*key, groups)).collect()
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

    /// Give the techniques those of their memos that were `found` after a power cut, and keep the core's own: they hold whoever asks for them.
    pub(crate) fn recall(&mut self, core: &Core, panel: &mut Panel, found: &[WrittenMemo]) {
        let (groups, layout) = (core.groups(), core.layout());
        let stands: Stands = (0..layout.group_count() as u32)
            .map(BlockGroup)
            .map(|group| ((layout.die(group).0, groups.blocks(group)[0], groups.erases(group)), group))
            .collect();
        panel.recover(groups, |card| self.take_found(card.name, &stands, found));
        self.take_found(CORE, &stands, found);
        let birth = owner(CORE, BIRTH);
        self.latest_birth = found.iter().filter(|memo| memo.owner == birth).map(|memo| memo.value).min();
    }

    /// Take those memos of the technique of this `name` that are of the present filling of a group. Returns them.
    fn take_found(&mut self, name: &str, stands: &Stands, found: &[WrittenMemo]) -> Vec<Memo> {
        let owners: [Owner; Memo::SLOTS as usize] = std::array::from_fn(|slot| owner(name, slot as u8));
        let mut newest: BTreeMap<(BlockGroup, u8), u32> = BTreeMap::new();
        for memo in found {
            let Some(slot) = owners.iter().position(|&owner| owner == memo.owner) else { continue };
            if let Some(&group) = stands.get(&(memo.die, memo.block, memo.erases)) {
                let known = newest.entry((group, slot as u8)).or_insert(0);
                *known = (*known).max(memo.value);
            }
        }
        self.values.extend(newest.iter().map(|(&(group, slot), &value)| ((group, owners[usize::from(slot)]), value)));
        newest.into_iter().map(|((group, slot), value)| Memo { group, slot, value }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::tests::small;
    use crate::dispatch::Rooms;
    use crate::setup::build;
    use crate::techniques::hooks::{Hook, Hooks};
    use crate::techniques::seam::{Persists, Technique};
    use crate::techniques::{Choice, read_disturb_refresh};

    const CARD: Card = Card {
        name: "rememberer",
        source: "a test",
        claim: "none",
        hooks: Hooks::of(&[Hook::Remember]),
        asks: &[],
        persists: Persists::Memos("two numbers for each group"),
        limits: "none",
    };

    /// Tells in its image which memos it was given.
    #[derive(Debug, Default)]
    struct Rememberer(Vec<Memo>);

    impl Technique for Rememberer {
        fn card(&self) -> &'static Card {
            &CARD
        }

        fn image(&self) -> Vec<u32> {
            self.0.iter().flat_map(|memo| [memo.group.0, u32::from(memo.slot), memo.value]).collect()
        }

        fn recover(&mut self, _: &BlockGroups, memos: &[Memo]) {
            self.0 = memos.to_vec();
        }
    }

    fn memo(group: u32, slot: u8, value: u32) -> Memo {
        Memo { group: BlockGroup(group), slot, value }
    }

    #[test]
    fn each_slot_keeps_its_greatest_value_and_comes_back_as_itself() {
        let mut rooms = build(&small(64));
        let mut memos = Memos::default();
        for news in [memo(3, 0, 7), memo(3, 1, 40), memo(5, 3, 1), memo(3, 0, 9)] {
            assert!(memos.note(&CARD, news));
        }
        assert!(!memos.note(&CARD, memo(3, 1, 39)), "it only grows");
        let written = memos.take_unwritten(10, rooms.core.groups());
        rooms.panel = rooms.panel.with(Box::<Rememberer>::default());
        let Rooms { core, panel, .. } = &mut rooms;
        Memos::default().recall(core, panel, &written);
        assert_eq!(panel.image("rememberer"), Some(vec![3, 0, 9, 3, 1, 40, 5, 3, 1]));
    }

    #[test]
    fn the_first_slot_is_told_as_it_was_when_there_was_no_other() {
        let known = "read-disturb-refresh".bytes().fold(0x811C_9DC5, |hash: u32, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
        let card = crate::techniques::DECLARATIONS.iter().find(|declaration| declaration.card.name == "read-disturb-refresh");
        let card = card.expect("it is one of them");
        assert_eq!(owner(card.card.name, 0), Owner(known));
        assert!((1..Memo::SLOTS).all(|slot| owner(card.card.name, slot) != owner(card.card.name, slot - 1)));
    }

    #[test]
    fn memos_of_the_core_come_back_and_the_latest_birth_even_of_a_group_that_was_erased() {
        let mut rooms = build(&small(64));
        let mut memos = Memos::default();
        assert!(memos.note_own(BlockGroup(3), [Some(4), Some(900)]) && memos.note_own(BlockGroup(5), [Some(1), Some(800)]));
        assert!(!memos.note_own(BlockGroup(3), [Some(4), None]));
        let written = memos.take_unwritten(10, rooms.core.groups());
        rooms.core.groups_mut().set_erases(BlockGroup(5), 1);
        let Rooms { core, panel, .. } = &mut rooms;
        let mut back = Memos::default();
        back.recall(core, panel, &written);
        assert_eq!((back.own(BlockGroup(3)), back.own(BlockGroup(5))), ([Some(4), Some(900)], [None; 2]));
        assert_eq!(back.latest_birth(), Some(800));
    }

    const ONE: &Card = &read_disturb_refresh::DECLARATION.card;
    const OTHER: &Card = &crate::techniques::plain_copyback::DECLARATION.card;

    fn first(group: u32, value: u32) -> Memo {
        memo(group, 0, value)
    }

    fn values(written: &[WrittenMemo]) -> Vec<u32> {
        written.iter().map(|memo| memo.value).collect()
    }

    #[test]
    fn only_a_greater_number_is_news_and_each_technique_has_its_own() {
        let mut memos = Memos::default();
        assert!(memos.note(ONE, first(1, 5)));
        assert!(!memos.note(ONE, first(1, 5)) && !memos.note(ONE, first(1, 4)));
        assert!(memos.note(OTHER, first(1, 2)) && memos.note(ONE, first(1, 6)));
        let rooms = build(&small(64));
        let mut written = values(&memos.take_unwritten(9, rooms.core.groups()));
        written.sort_unstable();
        assert_eq!(written, [2, 6]);
    }

    #[test]
    fn a_memo_waits_again_after_a_failed_program_but_not_after_its_group_was_erased() {
        let rooms = build(&small(64));
        let groups = rooms.core.groups();
        let mut memos = Memos::default();
        assert!([first(1, 5), first(2, 6), first(3, 7)].into_iter().all(|memo| memos.note(ONE, memo)));
        assert_eq!(values(&memos.take_unwritten(2, groups)), [5, 6]);
        memos.forget(BlockGroup(2));
        memos.end(false);
        assert_eq!(values(&memos.take_unwritten(9, groups)), [5, 7]);
        memos.end(true);
        assert!(!memos.wait());
        assert_eq!(values(&memos.take_all(groups)), [5, 7], "a snapshot has all that are valid");
    }

    #[test]
    fn memos_come_back_to_their_technique_for_the_blocks_and_the_filling_they_are_about() {
        let config =
            crate::Config { techniques: vec![Choice::ReadDisturbRefresh(read_disturb_refresh::Params::by_reads(80))], ..small(64) };
        let mut rooms = build(&config);
        let of = |block, erases, value| WrittenMemo { owner: owner(ONE.name, 0), die: 0, block, erases, value };
        rooms.core.groups_mut().set_erases(BlockGroup(2), 3);
        let found = [of(1, 0, 20), of(1, 0, 10), of(2, 2, 30), WrittenMemo { owner: owner(OTHER.name, 0), ..of(3, 0, 40) }];
        let mut memos = Memos::default();
        memos.recall(&rooms.core, &mut rooms.panel, &found);
        assert_eq!(values(&memos.take_all(rooms.core.groups())), [20], "the second is of an earlier filling, the third of another");
        let counts = rooms.panel.image(ONE.name).expect("it is switched on");
        assert!(counts[1] >= 20 && counts[2] < 10 && counts[3] < 10, "{counts:?}");
    }
}
