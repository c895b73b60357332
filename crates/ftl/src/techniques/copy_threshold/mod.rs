//! Data is copied inside a die only as often in a row as its blocks stand, by their wear (FastCopy) or by their P/E count (FastGC).
//!
//! A copy without error correction takes all errors along and adds its own. A table tells how many copies in a row a block of some wear still stands, so that
//! the data can be read after the retention that is asked for. Here a copy is proposed as long as the data has been through fewer, by the table's line for the
//! more worn of the two blocks; otherwise the data goes over the bus, is corrected, and may be copied anew.

use std::sync::Arc;

use wordline_flash::tables::{CopyIndex, CopyReferences, Copyback};

use crate::state::groups::BlockGroups;
use crate::state::layout::BlockGroup;
use crate::techniques::block_class::BlockClasses;
pub use crate::techniques::block_class::Classes;
use crate::techniques::declaration::{Declaration, Kind, Need, Site, Table, Value, params, words};
use crate::techniques::hooks::{Hook, Hooks};
use crate::techniques::say::{Say, Says, Way};
use crate::techniques::seam::{Ask, Card, Copy, Ctx, Memo, News, Persists, Technique, Why};
pub use crate::techniques::wear_index::Index;
use crate::techniques::work::Work;

/// Declaration of the technique.
pub const DECLARATION: Declaration = Declaration {
    card: Card {
        name: "copy-threshold",
        source: "FastCopy: dissertation 000 of the papers, §3.4.5; by P/E count: FastGC, its reference 69",
        claim: "garbage collection saves the bus and loses no data; by wear it copies where a P/E count would forbid it already",
        hooks: Hooks::of(&[Hook::Closed, Hook::Read, Hook::Unmeasured, Hook::VictimChosen, Hook::Erased, Hook::Way, Hook::Work]),
        asks: &[Ask::Provenance, Ask::Counters("counters", Value::Word("written"))],
        persists: Persists::Nothing(
            "copies in a row are the core's to remember; after a power cut none is counted too low, and a block is of the worst class until it is measured",
        ),
        limits: "thresholds are of the worst class of blocks unless classes are measured, of programs with default settings and of copies in quick succession; data that is copied late in its \
                 retention is sensed with more errors than the table was made of; programs that settings narrow lower the threshold by one",
    },
    about: "data is copied inside the die at most as often in a row as the chip's `copyback` says, by wear or P/E count (000 §3.4.5).",
    params: Params::ALL,
    needs: &[Need::Copyback, Need::NoKeys, Need::Table(Table::Copyback), Need::Where("index", Value::Word("age"), &Need::Wear)],
};

params! {
    /// Parameters of thresholds of copies.
    pub struct Params {
        /// Index of the table: "age", the wear that a technique reports, or "pe", the P/E count.
        index: Index {
            kind: Kind::Word(Index::WORDS),
            default: Some(Value::Word("age")),
            tried: &[],
            source: "000 §3.4.5",
        }
        /// Class of blocks by which thresholds are taken: "worst" for all, or "block", that of each block as measured just after program.
        classes: Classes {
            kind: Kind::Word(Classes::WORDS),
            default: Some(Value::Word("worst")),
            tried: &[],
            source: "000 §3.4.5; by block: 001 §4.2.1",
        }
        /// Counts of copies on flash: "kept" in memory and memos, or "written", in a program unit at the end of each block group that has received a copy.
        counters: Counters {
            kind: Kind::Word(Counters::WORDS),
            default: Some(Value::Word("kept")),
            tried: &[],
            source: "assumed: a page of each block for \"written\"; 001 §4.4.2 has counts of pages on flash, whose cost grows with smaller blocks",
        }
    }
}

words! {
    /// Place of counts of copies.
    pub enum Counters {
        /// Memory and memos.
        Kept = "kept",
        /// A program unit of each block group that has received a copy.
        Written = "written",
    }
}

/// Card where all blocks count as the worst: nothing is measured.
const OF_WORST: Card = Card { hooks: Hooks::of(&[Hook::Way]), ..DECLARATION.card };

/// Pages of a wordline that are measured in each block.
const SAMPLES: u32 = 3;

/// Thresholds by the table.
#[derive(Clone, Debug)]
pub struct CopyThreshold {
    params: Params,
    classes: BlockClasses,
    table: Option<Arc<Copyback>>,
    /// Copies by which thresholds are lower, because a program with settings has more errors than the table knows of.
    lowered: u32,
}

impl CopyThreshold {
    /// Creates the technique for the dies of the `site`.
    pub fn new(site: &Site<'_>, params: Params) -> Self {
        let classes = BlockClasses::new(site, params.classes, SAMPLES);
        CopyThreshold { params, classes, table: site.tables.copyback.clone(), lowered: u32::from(site.sets_programs) }
    }

    /// Index of the table and the bin of `group`, or why there is none.
    fn bin<'t>(index: Index, table: &'t Copyback, ctx: &Ctx<'_>, group: BlockGroup) -> Result<(&'t CopyIndex, usize), Why> {
        Ok(match index {
            Index::Age => (&table.by_age, Copyback::age_bin(ctx.view.wear(group).ok_or(Why::Unmeasured)?.0)),
            Index::Pe => (&table.by_pe, table.pe_bin(ctx.view.erases(group)).ok_or(Why::BeyondTable)?),
        })
    }

    /// Most copies in a row that `group` stands, or why none is known.
    fn threshold(&self, ctx: &Ctx<'_>, group: BlockGroup) -> Result<u32, Why> {
        let table = self.table.as_deref().ok_or(Why::Unmeasured)?;
        let (index, bin) = CopyThreshold::bin(self.params.index, table, ctx, group)?;
        let column = table.retention.len().checked_sub(1).ok_or(Why::BeyondTable)?;
        Ok(index.threshold(CopyReferences::Default, column, self.classes.class(group), bin).saturating_sub(self.lowered))
    }

    /// Reason why the copy must not be made.
    fn refusal(&self, ctx: &Ctx<'_>, copy: &Copy) -> Option<Why> {
        let Some(copies) = ctx.view.copies(copy.from.group, copy.from.program(ctx.view.layout())) else { return Some(Why::Unmeasured) };
        let Some(to) = copy.to else { return Some(Why::NoConcern) };
        match self.threshold(ctx, copy.from.group).and_then(|from| Ok(from.min(self.threshold(ctx, to)?))) {
            Ok(0) => Some(Why::BeyondTable),
            Ok(threshold) => (u32::from(copies) >= threshold).then_some(Why::UsedUp),
            Err(why) => Some(why),
        }
    }
}

impl Technique for CopyThreshold {
    fn card(&self) -> &'static Card {
        if self.classes.is_measured() { &DECLARATION.card } else { &OF_WORST }
    }

    fn measured_pages(&self) -> u32 {
        self.classes.measured_pages()
    }

    fn image(&self) -> Vec<u32> {
        let word = |classes: &[u8]| classes.iter().rev().fold(0, |word, &class| word << 8 | u32::from(class));
        self.classes.image().chunks(4).map(word).chain(self.classes.surveys_image()).collect()
    }

    fn restore(&mut self, state: &[u32]) -> bool {
        let groups = self.classes.image().len();
        // A drive that was saved when all blocks counted as the worst has measured none.
        if state.is_empty() {
            self.classes.forget();
            return true;
        }
        let Some((classes, surveys)) = state.split_at_checked(groups.div_ceil(4)) else { return false };
        if !self.classes.restore_surveys(surveys) {
            return false;
        }
        (0..groups)
            .for_each(|group| self.classes.set(BlockGroup(group as u32), usize::from((classes[group / 4] >> (group % 4 * 8)) as u8)));
        true
    }

    fn recover(&mut self, _groups: &BlockGroups, _memos: &[Memo]) {
        self.classes.forget();
    }

    fn learn(&mut self, ctx: &Ctx<'_>, news: &News) {
        let (table, index) = (self.table.as_deref(), self.params.index);
        let class_of = |group, errors| {
            let found = table.ok_or(Why::Unmeasured).and_then(|table| CopyThreshold::bin(index, table, ctx, group));
            found.map_or(usize::MAX, |(index, bin)| index.class(bin, errors))
        };
        self.classes.learn(ctx, news, class_of);
    }

    fn work(&self, _ctx: &Ctx<'_>, news: &News) -> Option<Work> {
        self.classes.work(news)
    }

    fn way(&self, ctx: &Ctx<'_>, copy: &Copy) -> Says<Way> {
        // Whoever else wants to copy is held to the threshold as well.
        match self.refusal(ctx, copy) {
            None => [Say::Propose(Way::Copyback), Say::Abstain],
            Some(why) => [Say::AtMost(Way::Bus), Say::Because(why)],
        }
    }
}

#[cfg(test)]
mod tests {
    use wordline_flash::tables::Tables;
    use wordline_units::{Cause, Nanos};

    use super::*;
    use crate::config::Config;
    use crate::config::tests::small;
    use crate::dispatch::Rooms;
    use crate::setup::build;
    use crate::techniques::Choice;
    use crate::techniques::apply::ctx;
    use crate::techniques::say::agree;
    use crate::techniques::seam::{ProgramUnit, Wear, Worn};

    const FROM: BlockGroup = BlockGroup(1);
    const TO: BlockGroup = BlockGroup(2);

    fn table() -> Copyback {
        let by = |last: &[u32]| CopyIndex { thresholds: vec![vec![9; 11], vec![9; 11], last.to_vec()], ..CopyIndex::default() };
        Copyback {
            pe: vec![10, 20],
            retention: vec![100],
            by_age: by(&[3, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0]),
            by_pe: by(&[2, 1]),
            ..Copyback::default()
        }
    }

    /// A core that keeps the provenance of its data, and the technique.
    fn trial(index: Index) -> (Rooms, CopyThreshold) {
        let tables = Tables { copyback: Some(Arc::new(table())), ..Tables::NONE };
        let params = Params { index, classes: Classes::Worst, counters: Counters::Kept };
        let config = Config { techniques: vec![Choice::CopyThreshold(params)], tables: tables.clone(), ..small(64) };
        let layout = config.layout();
        let technique = CopyThreshold::new(&Site { tables: &tables, ..Site::bare(&layout, &config.sheet) }, params);
        (build(&config), technique)
    }

    fn way(rooms: &Rooms, technique: &CopyThreshold, to: Option<BlockGroup>) -> Way {
        let copy = Copy { from: ProgramUnit { group: FROM, layer: 0, place: 0 }, to, why: Cause::Gc };
        agree(technique.way(&ctx(&rooms.core), &copy))
    }

    #[test]
    fn data_is_copied_as_often_in_a_row_as_the_more_worn_of_its_two_blocks_stands() {
        for (from, to, stands) in [(0, 0, 3), (1, 0, 2), (0, 100, 2), (101, 0, 1), (0, 101, 1), (201, 0, 0), (0, 9_999, 0)] {
            let (mut rooms, technique) = trial(Index::Age);
            rooms.core.groups_mut().set_wear(FROM, Some(Worn::measured(Wear(from))));
            rooms.core.groups_mut().set_wear(TO, Some(Worn::measured(Wear(to))));
            rooms.core.services_mut().programmed(FROM, Nanos(1));
            let mut copies = 0;
            while way(&rooms, &technique, Some(TO)) == Way::Copyback {
                let services = rooms.core.services_mut().get_mut().expect("provenance is asked for");
                services.copied((FROM, 0), (FROM, 0), Nanos(1));
                copies += 1;
            }
            assert_eq!(copies, stands, "from {from} to {to}");
        }
    }

    #[test]
    fn what_is_not_known_goes_over_the_bus_and_others_are_held_to_it() {
        let (mut rooms, technique) = trial(Index::Age);
        rooms.core.services_mut().programmed(FROM, Nanos(1));
        assert_eq!(way(&rooms, &technique, Some(TO)), Way::Bus, "nobody tells the wear");
        [FROM, TO].into_iter().for_each(|group| rooms.core.groups_mut().set_wear(group, Some(Worn::measured(Wear(1)))));
        assert_eq!((way(&rooms, &technique, Some(TO)), way(&rooms, &technique, None)), (Way::Copyback, Way::Bus));
        let copy = Copy { from: ProgramUnit { group: FROM, layer: 0, place: 0 }, to: None, why: Cause::Gc };
        let plain = crate::techniques::plain_copyback::PlainCopyback.way(&ctx(&rooms.core), &copy);
        assert_eq!(agree(technique.way(&ctx(&rooms.core), &copy).into_iter().chain(plain)), Way::Bus);
    }

    #[test]
    fn by_the_count_it_goes_by_the_count_alone_and_beyond_the_table_nothing_is_copied() {
        let (mut rooms, technique) = trial(Index::Pe);
        rooms.core.services_mut().programmed(FROM, Nanos(1));
        for (erases, expected) in [(10, Way::Copyback), (20, Way::Copyback), (21, Way::Bus)] {
            rooms.core.groups_mut().set_erases(TO, erases);
            assert_eq!(way(&rooms, &technique, Some(TO)), expected, "{erases} erases");
        }
    }

    #[test]
    fn by_block_each_of_the_two_blocks_stands_what_its_class_does_and_by_the_worst_nothing_is_measured() {
        let by_pe = CopyIndex { class_errors: vec![[5, 9]], thresholds: vec![vec![5], vec![3], vec![1]], ..CopyIndex::default() };
        let table = Copyback { pe: vec![99], retention: vec![100], layers: vec![0], by_pe, ..Copyback::default() };
        let tables = Tables { copyback: Some(Arc::new(table)), ..Tables::NONE };
        let (layout, sheet) = (small(64).layout(), small(64).sheet);
        let site = Site { tables: &tables, ..Site::bare(&layout, &sheet) };
        let stands = |classes, of: [usize; 2]| {
            let (mut rooms, _) = trial(Index::Pe);
            let mut technique = CopyThreshold::new(&site, Params { index: Index::Pe, classes, counters: Counters::Kept });
            [FROM, TO].into_iter().zip(of).for_each(|(group, class)| technique.classes.set(group, class));
            rooms.core.services_mut().programmed(FROM, Nanos(1));
            let mut copies = 0;
            while way(&rooms, &technique, Some(TO)) == Way::Copyback {
                rooms.core.services_mut().get_mut().expect("it is asked for").copied((FROM, 0), (FROM, 0), Nanos(1));
                copies += 1;
            }
            copies
        };
        assert_eq!([[0, 0], [0, 1], [1, 0], [2, 0]].map(|of| stands(Classes::Block, of)), [5, 3, 3, 1]);
        assert_eq!(stands(Classes::Worst, [0, 0]), 1);
        let hooks = |classes| CopyThreshold::new(&site, Params { index: Index::Pe, classes, counters: Counters::Kept }).card().hooks;
        assert_eq!(hooks(Classes::Worst), Hooks::of(&[Hook::Way]));
        assert!(hooks(Classes::Block).has(Hook::Work) && DECLARATION.card.hooks == hooks(Classes::Block));
    }

    #[test]
    fn classes_come_back_from_an_image_and_not_after_a_power_cut() {
        let tables = Tables { copyback: Some(Arc::new(Copyback { layers: vec![0], ..table() })), ..Tables::NONE };
        let (layout, sheet) = (small(64).layout(), small(64).sheet);
        let site = Site { tables: &tables, ..Site::bare(&layout, &sheet) };
        let mut technique = CopyThreshold::new(&site, Params { index: Index::Pe, classes: Classes::Block, counters: Counters::Kept });
        technique.classes.set(FROM, 1);
        technique.classes.set(BlockGroup(9), 0);
        let mut back = CopyThreshold::new(&site, technique.params);
        assert!(back.restore(&technique.image()) && !back.restore(&technique.image()[..1]));
        assert_eq!([FROM, BlockGroup(9), TO].map(|group| back.classes.class(group)), [1, 0, 2]);
        back.recover(build(&small(64)).core.groups(), &[]);
        assert_eq!(back.classes.class(FROM), 2);
    }
}
