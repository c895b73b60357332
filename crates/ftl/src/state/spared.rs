//! Wordlines that take no data after an erase, and what they leave of each block group.
//!
//! A guarded erase lowers the stress of some wordlines of a block; until the next erase they take no data (001 §3.2). Others are withheld: they are erased like
//! the rest, and not programmed because they are too weak (001 §3.4.2). Here a set is one for all planes of a group. It is ordered for the group's next erase,
//! goes with that erase to the die as far as it is spared, and holds from its end to the end of the next:
//!
//! ```text
//!   next ──erase is ordered──► settings of the die ──erase has ended──► now ──next erase has ended──► …
//! ```
//!
//! A die tells nobody what it has spared. After a power cut nothing is known here, so every group that an erase may have left with spared wordlines is erased
//! once more before it takes data.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use wordline_flash::EraseSettings;
use wordline_units::{DieId, WordlineSet};

use crate::state::layout::{BlockGroup, Layout};
use crate::state::room::{Held, RoomTable};

/// Wordlines of a block group that take no data after its next erase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IdleWordlines {
    /// Wordlines that the erase spares.
    pub spared: WordlineSet,
    /// Wordlines that are erased like the others, and not programmed.
    pub withheld: WordlineSet,
}

impl IdleWordlines {
    /// Wordlines of either kind, of those below `of_data`: the others hold metadata.
    pub fn all(&self, of_data: u32) -> WordlineSet {
        of_data_in(&self.spared.with(self.withheld), of_data)
    }
}

impl From<WordlineSet> for IdleWordlines {
    fn from(spared: WordlineSet) -> IdleWordlines {
        IdleWordlines { spared, withheld: WordlineSet::NONE }
    }
}

fn of_data_in(set: &WordlineSet, of_data: u32) -> WordlineSet {
    WordlineSet::of(set.iter().filter(|&wordline| wordline < of_data))
}

/// Wordlines without data of all groups of a core, as plain data: of each group that has some, those of now and those of its next erase. Withheld ones
/// have the highest bit set beside their number: images of before there were any stay as they are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spared {
    now: Vec<(u32, Vec<u32>)>,
    next: Vec<(u32, Vec<u32>)>,
}

/// Mark of a wordline that the erase does not spare.
const WITHHELD: u32 = 1 << 31;

/// Wordlines without data of all groups of a core that has some.
#[derive(Clone, Debug)]
pub(crate) struct SparedWordlines {
    layout: Layout,
    /// Greatest number of wordlines that take no data after an erase.
    most: u32,
    /// Wordlines of each group that take no data since its last erase.
    now: Vec<WordlineSet>,
    /// Wordlines among them that the erase has spared. The others are withheld by the core alone.
    gentle: Vec<WordlineSet>,
    /// Units of each group that can hold data.
    usable: Vec<u32>,
    /// Wordlines that are to take no data after the next erase of each of these groups.
    next: BTreeMap<BlockGroup, IdleWordlines>,
    /// Settings of the erase of each die that was ordered last.
    settings: Vec<EraseSettings>,
    /// Wordlines that take no data after the erase of each die that was ordered last.
    under_way: Vec<IdleWordlines>,
    /// Room of each die, by which sets are granted.
    room: RoomTable,
}

impl SparedWordlines {
    /// Creates the table of a core whose erases spare up to `most` wordlines, with nothing spared and all groups free.
    pub(crate) fn new(layout: Layout, most: u32) -> SparedWordlines {
        assert!(layout.wordlines() <= WordlineSet::WORDLINES, "more wordlines than a die has bits for");
        assert!(most < layout.data_wordlines(), "an erase may not spare all wordlines that take data");
        SparedWordlines {
            layout,
            most,
            now: vec![WordlineSet::NONE; layout.group_count()],
            gentle: vec![WordlineSet::NONE; layout.group_count()],
            usable: vec![layout.data_units; layout.group_count()],
            next: BTreeMap::new(),
            settings: vec![EraseSettings::default(); layout.dies as usize],
            under_way: vec![IdleWordlines::default(); layout.dies as usize],
            room: RoomTable::new(layout, std::iter::repeat_n((Held::Free, layout.data_units), layout.group_count()), std::iter::repeat(0)),
        }
    }

    /// Units of each group that can hold data.
    #[inline]
    pub(crate) fn usable(&self) -> &[u32] {
        &self.usable
    }

    /// Units that `group` can hold after its next erase, if that spares what was ordered.
    pub(crate) fn usable_next(&self, group: BlockGroup) -> u32 {
        least_usable(&self.layout, self.next.get(&group).map_or(0, |idle| idle.all(self.layout.data_wordlines()).len()))
    }

    /// Free groups without spared wordlines that a die keeps for GC, which keeps `floor` groups free, so that a victim always has room to go to: none where
    /// those hold a whole group's data even if erases have spared their most.
    pub(crate) fn whole_groups(&self, floor: u32) -> u32 {
        u32::from(floor.saturating_mul(least_usable(&self.layout, self.most)) < self.layout.data_units)
    }

    /// Room of each die.
    pub(crate) fn room(&self) -> &RoomTable {
        &self.room
    }

    pub(crate) fn room_mut(&mut self) -> &mut RoomTable {
        &mut self.room
    }

    /// Room of each die, counted anew from what all groups are `held` for and the `valid` units in them.
    pub(crate) fn counted(&self, held: impl Iterator<Item = Held>, valid: impl Iterator<Item = u32>) -> RoomTable {
        RoomTable::new(self.layout, held.zip(self.usable.iter().copied()), valid)
    }

    /// Count `group`, which was held for `from`, as held for `to`.
    pub(crate) fn turn(&mut self, group: BlockGroup, from: Held, to: Held) {
        let usable = self.usable[group.index()];
        self.room.turn(group, (from, usable), (to, usable));
    }

    /// Wordlines of `group` that take no data since its last erase.
    pub(crate) fn of(&self, group: BlockGroup) -> &WordlineSet {
        &self.now[group.index()]
    }

    /// Wordlines of `group` that its last erase has spared: those that take no data without the withheld ones.
    pub(crate) fn gentle(&self, group: BlockGroup) -> &WordlineSet {
        &self.gentle[group.index()]
    }

    /// True if program unit `program` of `group` lies on a wordline that takes no data.
    pub(crate) fn has(&self, group: BlockGroup, program: u32) -> bool {
        self.now[group.index()].has(self.layout.wordline(program))
    }

    /// Let wordlines `idle` of `group` take no data after its next erase. Those that hold the second copy of marks are left out.
    pub(crate) fn order(&mut self, group: BlockGroup, idle: IdleWordlines) -> Result<(), &'static str> {
        let of_data = self.layout.data_wordlines();
        let all = idle.all(of_data);
        if all.len() > self.most {
            return Err("an erase may not spare so many wordlines");
        }
        self.next.remove(&group);
        if !all.is_empty() {
            let [spared, withheld] = [idle.spared, idle.withheld].map(|set| of_data_in(&set, of_data));
            self.next.insert(group, IdleWordlines { spared, withheld });
        }
        Ok(())
    }

    /// Begin the erase of `group`. `is_plain`: it spares nothing, whatever was ordered.
    pub(crate) fn begin(&mut self, group: BlockGroup, is_plain: bool) {
        let idle = self.next.remove(&group).filter(|_| !is_plain).unwrap_or_default();
        let all = idle.all(self.layout.data_wordlines());
        let (before, after) = (self.usable[group.index()], least_usable(&self.layout, all.len()));
        let die = self.layout.die(group);
        self.room.grant(die, before.saturating_sub(after));
        self.settings[usize::from(die.0)] = EraseSettings { spared: idle.spared };
        self.under_way[usize::from(die.0)] = idle;
    }

    /// Settings of the erase of `die` that was ordered last.
    pub(crate) fn settings(&self, die: DieId) -> &EraseSettings {
        &self.settings[usize::from(die.0)]
    }

    /// Wordlines that take no data after the erase of `die` that was ordered last.
    pub(crate) fn next_of(&self, die: DieId) -> WordlineSet {
        self.under_way[usize::from(die.0)].all(self.layout.data_wordlines())
    }

    /// End the erase of `group`, which was the last of its die. The group was held for `from` and is free.
    pub(crate) fn erased(&mut self, group: BlockGroup, from: Held) {
        self.end(group, (from, Held::Free), self.under_way[usize::from(self.layout.die(group).0)]);
    }

    /// Forget what is known and ordered of `group`, which has left its blocks. The group was held for `from` and is for `to`.
    pub(crate) fn forget(&mut self, group: BlockGroup, from: Held, to: Held) {
        self.next.remove(&group);
        self.end(group, (from, to), IdleWordlines::default());
    }

    fn end(&mut self, group: BlockGroup, (from, to): (Held, Held), idle: IdleWordlines) {
        let before = self.usable[group.index()];
        self.set(group, idle);
        self.room.turn(group, (from, before), (to, self.usable[group.index()]));
        self.room.end(group);
    }

    fn set(&mut self, group: BlockGroup, idle: IdleWordlines) {
        let of_data = self.layout.data_wordlines();
        let all = idle.all(of_data);
        (self.now[group.index()], self.gentle[group.index()]) = (all, of_data_in(&idle.spared, of_data));
        self.usable[group.index()] = least_usable(&self.layout, all.len());
    }

    /// Image of the table as plain data.
    pub(crate) fn image(&self) -> Spared {
        let marked = |spared: &WordlineSet, withheld: &WordlineSet| {
            spared.iter().chain(withheld.iter().map(|wordline| wordline | WITHHELD)).collect::<Vec<u32>>()
        };
        let of_now = |(group, (all, gentle)): (u32, (&WordlineSet, &WordlineSet))| {
            let withheld = WordlineSet::of(all.iter().filter(|&wordline| !gentle.has(wordline)));
            (!all.is_empty()).then(|| (group, marked(gentle, &withheld)))
        };
        Spared {
            now: (0..).zip(self.now.iter().zip(&self.gentle)).filter_map(of_now).collect(),
            next: self.next.iter().map(|(group, idle)| (group.0, marked(&idle.spared, &idle.withheld))).collect(),
        }
    }

    /// Restore a new table from `image`, which may be anything.
    pub(crate) fn restore(&mut self, image: &Spared) -> Result<(), &'static str> {
        for (group, wordlines) in image.now.iter().chain(&image.next) {
            let is_outside = |&wordline: &u32| wordline & !WITHHELD >= self.layout.data_wordlines();
            if *group as usize >= self.layout.group_count() || wordlines.iter().any(is_outside) {
                return Err("a spared wordline lies outside its core");
            }
        }
        let idle = |wordlines: &[u32]| {
            let [spared, withheld] = [0, WITHHELD].map(|mark| {
                WordlineSet::of(wordlines.iter().filter(|&&wordline| wordline & WITHHELD == mark).map(|wordline| wordline & !WITHHELD))
            });
            IdleWordlines { spared, withheld }
        };
        for (group, wordlines) in &image.now {
            let idle = idle(wordlines);
            if idle.all(self.layout.data_wordlines()).len() > self.most {
                return Err("a block group has more spared wordlines than an erase may spare");
            }
            self.set(BlockGroup(*group), idle);
        }
        image.next.iter().try_for_each(|(group, wordlines)| self.order(BlockGroup(*group), idle(wordlines)))
    }
}

/// Units of a group that can hold data where `wordlines` of those that take data are spared.
pub(crate) fn least_usable(layout: &Layout, wordlines: u32) -> u32 {
    layout.data_units.saturating_sub(wordlines * layout.units_per_wordline())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::layout::tests::small_sheet;
    use wordline_flash::ProgramScope;
    use wordline_units::Bytes;

    /// Three groups of four wordlines of three pages of 16 KiB; the last wordline holds the second copy of marks.
    fn table() -> SparedWordlines {
        let layout = Layout::new(&small_sheet(1, 3, ProgramScope::Page), 1, 3, Bytes::kib(4)).with_oob_copies(100);
        assert_eq!((layout.wordlines(), layout.data_wordlines(), layout.units_per_wordline()), (4, 3, 12));
        SparedWordlines::new(layout, 2)
    }

    const GROUP: BlockGroup = BlockGroup(1);

    #[test]
    fn a_set_holds_from_the_end_of_its_erase_to_the_end_of_the_next() {
        let mut spared = table();
        spared.order(GROUP, WordlineSet::of([0, 2]).into()).expect("two may be spared");
        assert_eq!((spared.usable_next(GROUP), spared.usable_next(BlockGroup(0))), (12, 36));
        assert_eq!((spared.of(GROUP).len(), spared.usable()[1]), (0, 36));
        spared.begin(GROUP, false);
        assert_eq!((spared.settings(DieId(0)).spared, spared.of(GROUP).len()), (WordlineSet::of([0, 2]), 0), "it is under way");
        spared.erased(GROUP, Held::Free);
        assert_eq!(spared.usable(), &[36, 12, 36]);
        assert_eq!([0, 2, 3, 5, 6, 8].map(|program| spared.has(GROUP, program)), [true, true, false, false, true, true]);
        spared.begin(GROUP, false);
        spared.erased(GROUP, Held::Free);
        assert_eq!((spared.usable()[1], spared.settings(DieId(0))), (36, &EraseSettings::default()), "nothing was ordered for it");
    }

    #[test]
    fn a_plain_erase_spares_nothing_and_uses_up_what_was_ordered() {
        let mut spared = table();
        spared.order(GROUP, WordlineSet::of([1]).into()).expect("one may be spared");
        spared.begin(GROUP, true);
        assert!(spared.settings(DieId(0)).spared.is_empty());
        spared.begin(GROUP, false);
        assert!(spared.settings(DieId(0)).spared.is_empty());
    }

    #[test]
    fn a_withheld_wordline_takes_no_data_and_the_die_is_not_told_of_it() {
        let mut spared = table();
        spared.order(GROUP, IdleWordlines { withheld: WordlineSet::of([0]), spared: WordlineSet::of([2]) }).expect("two may take no data");
        assert_eq!(spared.usable_next(GROUP), 12);
        spared.begin(GROUP, false);
        assert_eq!(spared.settings(DieId(0)).spared, WordlineSet::of([2]));
        spared.erased(GROUP, Held::Free);
        assert_eq!((spared.usable()[1], *spared.of(GROUP), *spared.gentle(GROUP)), (12, WordlineSet::of([0, 2]), WordlineSet::of([2])));
        let mut back = table();
        back.restore(&spared.image()).expect("it is of the same kind");
        assert_eq!((*back.of(GROUP), *back.gentle(GROUP)), (WordlineSet::of([0, 2]), WordlineSet::of([2])));
    }

    #[test]
    fn wordlines_of_a_summary_are_left_out_and_more_than_the_most_are_refused() {
        let mut spared = table();
        assert!(spared.order(GROUP, WordlineSet::of([0, 1, 2]).into()).is_err());
        spared.order(GROUP, WordlineSet::of([0, 1, 3]).into()).expect("the summary's does not count");
        spared.begin(GROUP, false);
        assert_eq!(spared.settings(DieId(0)).spared, WordlineSet::of([0, 1]));
    }

    #[test]
    fn a_table_comes_back_from_its_image_and_refuses_what_it_cannot_hold() {
        let mut spared = table();
        spared.order(GROUP, WordlineSet::of([2]).into()).expect("one may be spared");
        spared.begin(GROUP, false);
        spared.erased(GROUP, Held::Free);
        let withheld = IdleWordlines { withheld: WordlineSet::of([0]), spared: WordlineSet::of([1]) };
        spared.order(BlockGroup(2), withheld).expect("two may take no data");
        let mut back = table();
        back.restore(&spared.image()).expect("it is of the same kind");
        assert_eq!((back.image(), back.usable()), (spared.image(), spared.usable()));
        for (group, wordlines) in [(3, vec![0]), (0, vec![3]), (0, vec![0, 1, 2])] {
            assert!(table().restore(&Spared { now: vec![(group, wordlines)], ..Spared::default() }).is_err());
        }
        spared.forget(GROUP, Held::Free, Held::Free);
        assert_eq!(spared.usable()[1], 36);
    }
}
