//! Wordlines are given up one by one, and a block once too many of its wordlines are gone (BPM, the rival of guarded erases).
//!
//! ```text
//!   read ──failed, deep in the retry table, or beyond the limit of retirement──► its wordline is lost ──next erase──► withheld
//!                                                                                     └── too many are ──► end of the block's life
//! ```
//!
//! A lost wordline is erased like the others and not programmed, so a die must take the wordlines after it without it; what a block can hold never grows again.

use wordline_flash::Status;
use wordline_units::{Wear, WordlineSet};

use crate::state::groups::BlockGroups;
use crate::state::layout::BlockGroup;
use crate::techniques::census::Census;
use crate::techniques::declaration::{Declaration, Kind, Need, Site, Value, params};
use crate::techniques::hooks::{Hook, Hooks};
use crate::techniques::seam::{
    Amount, Ask, Card, Ctx, EraseReport, IdleWordlines, Memo, News, Persists, ReadReport, Technique, Why, Worn, ignores,
};
use crate::techniques::weak_order::WeakOrder;

/// Declaration of the technique.
pub const DECLARATION: Declaration = Declaration {
    card: Card {
        name: "bad-page-management",
        source: "BPM: dissertation 001 of the papers, §3.2.1 and §3.4",
        claim: "a block outlives its weakest wordlines, for a capacity that never comes back",
        hooks: Hooks::of(&[Hook::Read, Hook::Erased, Hook::EraseSettings, Hook::WearOf, Hook::Remember]),
        asks: &[Ask::Spared(Amount::Param("wordlines_max")), Ask::WarmClock],
        persists: Persists::Memos(
            "how many wordlines of each group are lost; after a cut as many of the weakest of the chip's table are withheld, and without memos none",
        ),
        limits: "a wordline is lost only once a read has shown it; data that lies on it stays until its group is erased; an erase that the core needs for a whole \
                 group gives lost wordlines to data once more; planes of a group lose a wordline together",
    },
    about: "wordlines that reads show to be worn out are not programmed any more, and a block with too many of them is at its end (001 §3.4.2).",
    params: Params::ALL,
    needs: &[Need::AnyOrder],
};

params! {
    /// Parameters of bad-page management.
    pub struct Params {
        /// Wordlines that a block may lose. One more ends its life, with `retirement.policy = "spent"`.
        wordlines_max: u32 {
            kind: Kind::Wordlines { least: 1, most: 64 },
            default: Some(Value::Count(4)),
            tried: &[Value::Count(1), Value::Count(2)],
            source: "001 §3.4.2: 2.1 % of 192, or 10 for 5.2 %",
        }
        /// Wordlines that are lost from the first erase of a block on, the weakest of the chip's `guard` table; at most `wordlines_max`.
        fixed: u32 {
            kind: Kind::Wordlines { least: 0, most: 64 },
            default: Some(Value::Count(0)),
            tried: &[Value::Count(0), Value::Count(1)],
            source: "assumed: 001 §3.4.2 evaluates capacities of 2.1 % and 5.2 % less, and not how they come",
        }
    }
}

/// Longest time for which data may have been kept that is held against errors just after program.
const FRESH_SECONDS: u64 = 3_600;

/// Lost wordlines of all groups.
#[derive(Clone, Debug)]
pub struct BadPageManagement {
    params: Params,
    limits: Option<std::sync::Arc<wordline_flash::tables::Retirement>>,
    order: WeakOrder,
    /// True if the order is that of a table of the chip.
    has_order: bool,
    /// Wordlines that are lost from the first erase on.
    fixed: WordlineSet,
    /// Retries from which on a read is deep in the table.
    deep: u32,
    pages_per_wordline: u32,
    lost: Vec<WordlineSet>,
}

impl BadPageManagement {
    /// Creates the technique for the groups of the `site`.
    pub fn new(site: &Site<'_>, params: Params) -> Self {
        let order = WeakOrder::new(site);
        BadPageManagement {
            fixed: order.weakest(params.fixed.min(params.wordlines_max), |_| 0),
            limits: site.tables.retirement.clone(),
            order,
            has_order: site.tables.guard.is_some(),
            // The last entry of a short table is deep.
            deep: (3 * site.read_entries).div_ceil(4).max(1),
            pages_per_wordline: site.sheet.geometry.cell.bits(),
            lost: vec![WordlineSet::NONE; site.layout.group_count()],
            params,
        }
    }

    /// Lost wordlines of `group`, those that are lost from the first among them.
    fn all(&self, group: BlockGroup) -> WordlineSet {
        self.fixed.with(self.lost[group.index()])
    }

    fn is_bad(&self, ctx: &Ctx<'_>, report: &ReadReport) -> bool {
        let &ReadReport { at, status, retries, worst, .. } = report;
        let is_fresh = || ctx.view.kept(at.group).is_some_and(|kept| kept.effective.0 <= FRESH_SECONDS && !kept.is_least);
        let most = || self.limits.as_deref().and_then(|limits| limits.errors_max(ctx.view.erases(at.group)));
        status != Status::Good || retries >= self.deep || most().is_some_and(|most| worst > most && is_fresh())
    }
}

impl Technique for BadPageManagement {
    fn card(&self) -> &'static Card {
        &DECLARATION.card
    }

    fn censuses(&self) -> Vec<Census> {
        vec![Census::new("lost wordlines", (0..self.lost.len() as u32).map(|group| self.all(BlockGroup(group)).len()))]
    }

    fn image(&self) -> Vec<u32> {
        let of = |(group, lost): (u32, &WordlineSet)| lost.iter().map(move |wordline| group << 10 | wordline).collect::<Vec<_>>();
        (0..).zip(&self.lost).flat_map(of).collect()
    }

    fn restore(&mut self, state: &[u32]) -> bool {
        self.lost.fill(WordlineSet::NONE);
        state.iter().all(|word| {
            let (group, wordline) = ((word >> 10) as usize, word & 0x3FF);
            let is_sound = group < self.lost.len() && wordline < self.order.count();
            if is_sound {
                self.lost[group].insert(wordline);
            }
            is_sound
        })
    }

    fn recover(&mut self, _groups: &BlockGroups, memos: &[Memo]) {
        self.lost.fill(WordlineSet::NONE);
        for memo in memos {
            self.lost[memo.group.index()] = self.order.weakest(memo.value, |_| 0);
        }
    }

    fn learn(&mut self, ctx: &Ctx<'_>, news: &News) {
        match *news {
            News::Read(ref report) => {
                let wordline = u32::from(report.at.page.0) / self.pages_per_wordline;
                if wordline < self.order.count() && self.is_bad(ctx, report) {
                    self.lost[report.at.group.index()].insert(wordline);
                }
            }
            News::Erased(EraseReport { group, has_left: true, .. }) => self.lost[group.index()] = WordlineSet::NONE,
            ignores!(
                Erased,
                Programmed,
                Copied,
                Unmeasured,
                Opened,
                Closed,
                VictimChosen,
                Moved,
                Retired,
                DataLost,
                DieFailed,
                Stopped,
                Timer,
                Idle
            ) => {}
        }
    }

    fn erase_settings(&self, _: &Ctx<'_>, group: BlockGroup) -> Option<IdleWordlines> {
        let withheld = WordlineSet::of(self.all(group).iter().take(self.params.wordlines_max as usize));
        (!withheld.is_empty()).then_some(IdleWordlines { withheld, ..IdleWordlines::default() })
    }

    fn idle_share(&self) -> f64 {
        f64::from(self.params.wordlines_max) / f64::from(self.order.count().max(1))
    }

    fn doubt(&self) -> Option<String> {
        let Params { wordlines_max, fixed } = self.params;
        if fixed > wordlines_max {
            return Some(format!("fixed is {fixed}, and wordlines_max, {wordlines_max}, are taken"));
        }
        (fixed > 0 && !self.has_order)
            .then(|| format!("the chip has no table of weak wordlines, so the first {fixed} of each block count as the weakest"))
    }

    fn remember(&self, _: &Ctx<'_>, news: &News) -> Option<Memo> {
        let News::Erased(EraseReport { group, has_left: false, .. }) = *news else { return None };
        let value = self.lost[group.index()].len();
        (value > 0).then_some(Memo { group, slot: 0, value })
    }

    fn wear_of(&self, _: &Ctx<'_>, group: BlockGroup) -> Result<Worn, Why> {
        let (lost, most) = (self.all(group).len(), self.params.wordlines_max);
        let wear = if lost > most { Wear::END } else { Wear((lost * 1_000 / (most + 1)) as u16) };
        Ok(Worn::measured(wear))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use wordline_flash::ReadTry;
    use wordline_flash::tables::{Guard, Retirement, Tables};
    use wordline_units::{Cause, Nanos, PageId, PlaneId};

    use super::*;
    use crate::config::tests::small;
    use crate::techniques::empty::EmptyCore;
    use crate::techniques::seam::FlashPage;

    const GROUP: BlockGroup = BlockGroup(3);

    fn trial(params: Params) -> (EmptyCore, BadPageManagement) {
        let config = small(64);
        let layout = config.layout();
        let guard = Guard { order: (0..config.sheet.geometry.layers).collect(), ..Guard::default() };
        let retirement = Retirement { pe: vec![100], errors_max: vec![40], ..Retirement::default() };
        let tables = Tables { guard: Some(Arc::new(guard)), retirement: Some(Arc::new(retirement)), ..Tables::NONE };
        let site = Site { tables: &tables, read_entries: 8, ..Site::bare(&layout, &config.sheet) };
        (EmptyCore::new(layout), BadPageManagement::new(&site, params))
    }

    fn read(core: &EmptyCore, technique: &mut BadPageManagement, wordline: u32, (status, retries): (Status, u32)) {
        let page = wordline * technique.pages_per_wordline + 1;
        let at = FlashPage { group: GROUP, plane: PlaneId(0), page: PageId(page as u16) };
        let (cause, last) = (Cause::Host, ReadTry::DEFAULT);
        let report = ReadReport { at, cause, status, retries, last, worst: 50, tally: None, array: Nanos(1), times: 1 };
        technique.learn(&core.ctx(Nanos(1)), &News::Read(report));
    }

    fn withheld(core: &EmptyCore, technique: &BadPageManagement) -> Vec<u32> {
        let idle = technique.erase_settings(&core.ctx(Nanos(1)), GROUP).unwrap_or_default();
        assert!(idle.spared.is_empty(), "a die is told nothing");
        idle.withheld.iter().collect()
    }

    fn erased(has_left: bool) -> News {
        News::Erased(EraseReport { has_left, ..EraseReport::without_erase(GROUP) })
    }

    const PARAMS: Params = Params { wordlines_max: 2, fixed: 0 };

    #[test]
    fn a_wordline_is_lost_by_a_read_that_failed_or_was_deep_in_the_retry_table_and_by_no_other() {
        let (core, mut technique) = trial(PARAMS);
        read(&core, &mut technique, 0, (Status::Good, 5));
        assert_eq!(withheld(&core, &technique), [], "how long its data was kept is not known, and five of eight is not deep");
        read(&core, &mut technique, 2, (Status::Good, 6));
        read(&core, &mut technique, 1, (Status::Uncorrectable, 0));
        assert_eq!(withheld(&core, &technique), [1, 2]);
    }

    #[test]
    fn a_block_that_loses_one_more_than_it_may_is_at_its_end_and_new_blocks_have_lost_none() {
        let (core, mut technique) = trial(PARAMS);
        let wear = |technique: &BadPageManagement| technique.wear_of(&core.ctx(Nanos(1)), GROUP).map(|worn| worn.most.0);
        for (wordline, worn) in [(0, 333), (1, 666), (2, 1_000)] {
            read(&core, &mut technique, wordline, (Status::Uncorrectable, 0));
            assert_eq!(wear(&technique), Ok(worn));
        }
        assert_eq!(withheld(&core, &technique).len(), 2, "no more than an erase may leave out");
        technique.learn(&core.ctx(Nanos(1)), &erased(true));
        assert_eq!((withheld(&core, &technique).len(), wear(&technique)), (0, Ok(0)));
    }

    #[test]
    fn fixed_wordlines_are_lost_from_the_first_and_are_the_weakest_of_the_table() {
        let (core, mut technique) = trial(Params { fixed: 1, ..PARAMS });
        assert_eq!(withheld(&core, &technique), [0]);
        read(&core, &mut technique, 3, (Status::Uncorrectable, 0));
        assert_eq!(withheld(&core, &technique), [0, 3]);
        technique.learn(&core.ctx(Nanos(1)), &erased(false));
        assert_eq!(withheld(&core, &technique), [0, 3], "an erase gives nothing back");
        assert_eq!(withheld(&core, &trial(Params { wordlines_max: 1, fixed: 9 }).1), [0], "no more than the most");
    }

    #[test]
    fn more_fixed_wordlines_than_may_be_lost_and_a_chip_without_a_table_are_told() {
        let doubt = |fixed| trial(Params { fixed, ..PARAMS }).1.doubt();
        assert_eq!([doubt(0), doubt(2)], [None, None]);
        assert!(doubt(3).is_some_and(|doubt| doubt.contains("fixed is 3")));
        let config = small(64);
        let layout = config.layout();
        let bare = BadPageManagement::new(&Site::bare(&layout, &config.sheet), Params { fixed: 1, ..PARAMS });
        assert!(bare.doubt().is_some_and(|doubt| doubt.contains("no table")));
    }

    #[test]
    fn after_a_cut_as_many_of_the_weakest_are_withheld_as_were_lost() {
        let (core, mut technique) = trial(PARAMS);
        read(&core, &mut technique, 2, (Status::Uncorrectable, 0));
        let memo = technique.remember(&core.ctx(Nanos(1)), &erased(false)).expect("one is lost");
        technique.recover(core.groups(), &[memo]);
        assert_eq!(withheld(&core, &technique), [0]);
        technique.recover(core.groups(), &[]);
        assert_eq!(withheld(&core, &technique), []);
    }

    #[test]
    fn lost_wordlines_come_back_from_their_image_and_no_others() {
        let (core, mut technique) = trial(PARAMS);
        [0, 2].into_iter().for_each(|wordline| read(&core, &mut technique, wordline, (Status::Uncorrectable, 0)));
        let (_, mut back) = trial(PARAMS);
        assert!(back.restore(&technique.image()) && back.image() == technique.image());
        assert!(back.restore(&[]) && back.image().is_empty());
        assert!(!back.restore(&[u32::MAX]) && !back.restore(&[9]));
    }
}
