//! Data is copied inside a die within a quota of its block group (rCPB and the error propagation management of rcFTL).
//!
//! A copy without error correction takes all errors along and adds its own. Data has a quota of such copies, and each takes a part of it by the class of the
//! block that it leaves. All data of a group has one quota, the least of what came into it: a group costs a byte, and no page does. Copies therefore go to
//! groups of their own quota, and a die has several open for moved data. Data that passes the controller is corrected, and has the whole quota again.

mod declaration;
mod quota;

use std::sync::Arc;

use wordline_flash::Status;
use wordline_flash::tables::{CopyReferences, Copyback};
use wordline_units::Seconds;

pub use declaration::{DECLARATION, Params};
use quota::Column;

use crate::state::groups::BlockGroups;
use crate::state::layout::BlockGroup;
use crate::techniques::block_class::BlockClasses;
pub use crate::techniques::block_class::Classes;
use crate::techniques::census::Census;
use crate::techniques::declaration::Site;
use crate::techniques::say::{Say, Says, Way};
use crate::techniques::seam::{
    Card, Copy, CopyReport, Ctx, EraseReport, Fit, Leap, Memo, Moving, News, Place, ProgramReport, Technique, Why, ignores,
};
use crate::techniques::work::Work;

/// Quota of a group of which no data is known.
const UNSET: u8 = u8::MAX;

/// Memo slot of the quota.
const QUOTA: u8 = 0;
/// Memo slot of the class.
const CLASS: u8 = 1;
/// A class that was measured in the present filling goes before one of the filling before.
const MEASURED: u32 = 1 << 16;

/// Quotas and classes of all groups.
#[derive(Clone, Debug)]
pub struct RestrictedCopyback {
    table: Option<Arc<Copyback>>,
    /// Column of the table in use; `None`: there is none.
    retention: Option<usize>,
    /// Quotas by bin of P/E counts, and none beyond.
    columns: Vec<Column>,
    /// Bin of the most erased group.
    bin: usize,
    /// Erases of the most erased group.
    erases: u32,
    /// True if the erases of all groups have been looked at since the start.
    has_looked: bool,
    quotas: Vec<u8>,
    classes: BlockClasses,
    /// Days since the first program of data after which it is not copied.
    days_max: u32,
}

impl RestrictedCopyback {
    /// Creates the technique for the groups of the `site`.
    pub fn new(site: &Site<'_>, params: Params) -> Self {
        let Params { classes, samples, retention, moved_blocks: _, days_max } = params;
        let table = site.tables.copyback.clone();
        let retention = table.as_deref().and_then(|table| table.retention.len().checked_sub(1 + retention as usize));
        let lowered = u32::from(site.sets_programs);
        let mut columns = Vec::new();
        if let (Some(table), Some(column)) = (table.as_deref(), retention) {
            let threshold = |bin, class| table.by_pe.threshold(CopyReferences::Default, column, class, bin).saturating_sub(lowered);
            columns.extend((0..table.pe.len()).map(|bin| Column::new(std::array::from_fn(|class| threshold(bin, class)))));
        }
        // The class of a block is no matter where none ever stands a copy.
        let is_able = site.sheet.capabilities.copyback && columns.iter().any(|column| column.init() > 0);
        let classes = if is_able { classes } else { Classes::Worst };
        columns.push(Column::default());
        RestrictedCopyback {
            table,
            retention,
            columns,
            bin: 0,
            erases: 0,
            has_looked: false,
            quotas: vec![UNSET; site.layout.group_count()],
            classes: BlockClasses::new(site, classes, samples),
            days_max,
        }
    }

    fn column(&self) -> &Column {
        &self.columns[self.bin]
    }

    /// Bin of a P/E count; beyond the table, the one that forbids copies.
    fn bin_of(&self, erases: u32) -> usize {
        let beyond = self.columns.len() - 1;
        self.table.as_deref().and_then(|table| table.pe_bin(erases)).unwrap_or(beyond).min(beyond)
    }

    /// Notes that a group has been erased so often. All quotas are carried over where that is of another bin.
    fn note_erases(&mut self, erases: u32) {
        self.erases = self.erases.max(erases);
        let bin = self.bin_of(self.erases);
        if bin != self.bin {
            let (now, before) = (self.columns[bin], self.columns[self.bin]);
            self.quotas.iter_mut().filter(|quota| **quota != UNSET).for_each(|quota| *quota = now.carry(*quota, &before));
            self.bin = bin;
        }
    }

    /// Looks at the erases of all groups, once after a start: an age, a fill or an image sets them without news.
    fn look(&mut self, ctx: &Ctx<'_>) {
        if !self.has_looked {
            let all = (0..self.quotas.len() as u32).map(|group| ctx.view.erases(BlockGroup(group)));
            let most = all.max().unwrap_or(0);
            self.has_looked = true;
            self.note_erases(most);
        }
    }

    /// Lowers the quota of `group`, which has received data of this quota.
    fn receive(&mut self, group: BlockGroup, quota: u8) {
        let known = &mut self.quotas[group.index()];
        *known = quota.min(*known);
    }

    /// Settles the quota of `group`, which takes no more data: what is from before goes by its provenance.
    fn settle(&mut self, ctx: &Ctx<'_>, group: BlockGroup) {
        let copies = |program| ctx.view.copies(group, program).unwrap_or(u8::MAX);
        let most = (0..ctx.view.layout().data_programs).map(copies).max().unwrap_or(0);
        let init = self.column().init();
        let quota = &mut self.quotas[group.index()];
        if most == u8::MAX || (*quota == UNSET && most > 0) {
            *quota = 0;
        } else if *quota == UNSET {
            *quota = init;
        }
    }

    /// Quota of data that a copy brings from `group`, or the reason why none may be made.
    fn left(&self, group: BlockGroup) -> Result<u8, Why> {
        let (quota, class) = (self.quotas[group.index()], self.classes.class(group));
        self.column().cost(class).ok_or(Why::BeyondTable)?;
        if quota == UNSET {
            return Err(Why::Unmeasured);
        }
        self.column().spend(quota, class).ok_or(Why::UsedUp)
    }

    /// Copies in a row that the quota of `group` pays for, each out of blocks of its class.
    fn copies_left(&self, group: BlockGroup) -> u32 {
        self.column().cost(self.classes.class(group)).map_or(0, |cost| u32::from(self.quotas[group.index()] / cost))
    }

    /// True if data of `group` has been kept for as long as copies may follow its first program, or for an unknown time: since before a start, for one.
    fn is_kept(&self, ctx: &Ctx<'_>, group: BlockGroup) -> bool {
        if ctx.view.kept(group).is_some_and(|kept| kept.is_least) {
            return true;
        }
        let days = ctx.view.today().zip(ctx.view.born(group)).map(|(today, born)| today.0.saturating_sub(born.0));
        days.is_none_or(|days| days >= self.days_max)
    }

    /// Reason why the copy must not be made.
    fn refusal(&self, ctx: &Ctx<'_>, copy: &Copy) -> Option<Why> {
        if self.retention.is_none() {
            return Some(Why::Unmeasured);
        }
        if let Err(why) = self.left(copy.from.group) {
            return Some(why);
        }
        if self.is_kept(ctx, copy.from.group) {
            return Some(Why::KeptTooLong);
        }
        let Some(to) = copy.to else { return Some(Why::NoConcern) };
        let is_beyond = |group| self.bin_of(ctx.view.erases(group)) > self.bin;
        (is_beyond(copy.from.group) || is_beyond(to)).then_some(Why::BeyondTable)
    }
}

impl Technique for RestrictedCopyback {
    fn card(&self) -> &'static Card {
        &DECLARATION.card
    }

    fn censuses(&self) -> Vec<Census> {
        let with_data = || (0..self.quotas.len() as u32).map(BlockGroup).filter(|group| self.quotas[group.index()] != UNSET);
        vec![
            Census::new("quota", with_data().map(|group| u32::from(self.quotas[group.index()]))),
            Census::new("copies left", with_data().map(|group| self.copies_left(group))),
            Census::new("class", with_data().map(|group| self.classes.class(group) as u32)),
        ]
    }

    fn image(&self) -> Vec<u32> {
        let classes = self.classes.image();
        let word = |at: usize| u32::from(self.quotas[at]) | u32::from(classes.get(at).copied().unwrap_or(0)) << 8;
        let groups = (0..self.quotas.len()).step_by(2).map(|at| word(at) | if at + 1 < self.quotas.len() { word(at + 1) << 16 } else { 0 });
        std::iter::once(self.erases).chain(groups).chain(self.classes.surveys_image()).collect()
    }

    fn restore(&mut self, state: &[u32]) -> bool {
        let Some((&erases, state)) = state.split_first() else { return false };
        let Some((groups, surveys)) = state.split_at_checked(self.quotas.len().div_ceil(2)) else { return false };
        if !self.classes.restore_surveys(surveys) {
            return false;
        }
        (self.erases, self.bin, self.has_looked) = (erases, self.bin_of(erases), false);
        let init = self.column().init();
        for group in 0..self.quotas.len() {
            let word = groups[group / 2] >> (16 * (group % 2));
            let quota = word as u8;
            self.quotas[group] = if quota == UNSET { UNSET } else { quota.min(init) };
            self.classes.set(BlockGroup(group as u32), usize::from((word >> 8) as u8));
        }
        true
    }

    fn recover(&mut self, groups: &BlockGroups, memos: &[Memo]) {
        self.quotas.fill(UNSET);
        self.classes.forget();
        let all = (0..self.quotas.len() as u32).map(|group| groups.erases(BlockGroup(group)));
        self.erases = all.max().unwrap_or(0);
        (self.bin, self.has_looked) = (self.bin_of(self.erases), true);
        for &Memo { group, slot, value } in memos {
            match slot {
                QUOTA => {
                    let before = self.columns.get((value >> 8) as usize).copied().unwrap_or_default();
                    let quota = before.of_share(255 - (value & 0xFF).max(1));
                    self.quotas[group.index()] =
                        if (value >> 8) as usize == self.bin { quota } else { self.column().carry(quota, &before) };
                }
                CLASS if (value & 0xFFFF) >> 4 == self.bin as u32 => self.classes.set(group, (value & 0xF) as usize - 1),
                _ => {}
            }
        }
    }

    fn leap(&mut self, leap: &Leap<'_>) {
        let all = leap.erases.iter().zip(leap.cycles).map(|(erases, cycles)| erases.saturating_add(*cycles));
        self.note_erases(all.max().unwrap_or(0));
    }

    fn learn(&mut self, ctx: &Ctx<'_>, news: &News) {
        match *news {
            News::Closed { group } => {
                self.look(ctx);
                self.settle(ctx, group);
            }
            News::VictimChosen { victim, .. } => {
                self.look(ctx);
                self.note_erases(ctx.view.erases(victim));
                self.settle(ctx, victim);
            }
            News::Copied(CopyReport { from, to, status: Status::Good, .. }) => {
                self.look(ctx);
                let left = self.left(from.group).unwrap_or(0);
                self.receive(to.group, left);
            }
            // Data of a program has passed the controller, that of the host and that of victims alike.
            News::Programmed(ProgramReport { at, .. }) => {
                self.look(ctx);
                let init = self.column().init();
                self.receive(at.group, init);
            }
            News::Erased(EraseReport { group, .. }) => {
                self.look(ctx);
                self.quotas[group.index()] = UNSET;
                self.note_erases(ctx.view.erases(group));
            }
            ignores!(Read, Copied, Unmeasured, Opened, Moved, Retired, DataLost, DieFailed, Stopped, Timer, Idle) => {}
        }
        let (table, bin) = (self.table.as_deref(), self.bin);
        let class_of = |_, errors| table.map_or(usize::MAX, |table| table.by_pe.class(bin, errors));
        self.classes.learn(ctx, news, class_of);
    }

    fn work(&self, _ctx: &Ctx<'_>, news: &News) -> Option<Work> {
        self.classes.work(news)
    }

    fn remember(&self, _ctx: &Ctx<'_>, news: &News) -> Option<Memo> {
        if let News::Closed { group } = *news {
            let share = self.column().share(self.quotas[group.index()]);
            return Some(Memo { group, slot: QUOTA, value: (self.bin as u32) << 8 | (255 - share) });
        }
        let group = self.classes.settled(news)?;
        let is_measured = if matches!(news, News::Erased(_)) { 0 } else { MEASURED };
        let value = is_measured | (self.bin as u32) << 4 | (self.classes.class(group) as u32 + 1);
        Some(Memo { group, slot: CLASS, value })
    }

    fn way(&self, ctx: &Ctx<'_>, copy: &Copy) -> Says<Way> {
        // Proposals of other techniques are held to the quota as well.
        match self.refusal(ctx, copy) {
            None => [Say::Propose(Way::Copyback), Say::Abstain],
            Some(why) => [Say::AtMost(Way::Bus), Say::Because(why)],
        }
    }

    fn fit(&self, _ctx: &Ctx<'_>, data: &Moving, to: &Place) -> Fit {
        let there = if to.is_open { self.quotas[to.group.index()] } else { UNSET };
        let (quota, higher) = match (data.way, data.from) {
            (Way::Copyback, Some(from)) => match self.left(from) {
                Ok(left) => (left, Fit::Never),
                Err(_) => return Fit::Never,
            },
            (Way::Copyback | Way::Bus, _) => (self.column().init(), Fit::Exact),
        };
        match there {
            UNSET => Fit::Exact,
            _ if there < quota => Fit::Loose(quota - there),
            _ if there > quota => higher,
            _ => Fit::Exact,
        }
    }

    /// A free group has no quota yet.
    fn tells_free_apart(&self) -> bool {
        false
    }

    fn doubt(&self) -> Option<String> {
        let is_beyond = self.days_max > 1;
        is_beyond.then(|| {
            format!(
                "days_max is {}, and thresholds are of copies on the day of the program: copies of older data can be beyond error correction before their \
                 retention is over",
                self.days_max
            )
        })
    }

    fn measured_pages(&self) -> u32 {
        self.classes.measured_pages()
    }

    fn retention(&self) -> Option<Seconds> {
        let table = self.table.as_deref()?;
        Some(Seconds(u64::from(*table.retention.get(self.retention?)?)))
    }
}

#[cfg(test)]
mod tests {
    use wordline_flash::tables::{CopyIndex, Tables};
    use wordline_units::{Cause, Celsius, Nanos};

    use super::*;
    use crate::config::Config;
    use crate::config::tests::small;
    use crate::dispatch::Rooms;
    use crate::setup::build;
    use crate::state::groups::Use;
    use crate::techniques::Choice;
    use crate::techniques::apply::ctx;
    use crate::techniques::say::agree;
    use crate::techniques::seam::ProgramUnit;

    const PARAMS: Params = Params { classes: Classes::Block, samples: 1, retention: 0, moved_blocks: 4, days_max: 2 };

    /// The columns (3K, 4K] and (4K, 5K] of 001 Table 6, one year, at 10 and 20 cycles.
    fn table() -> Copyback {
        let by_pe =
            CopyIndex { class_errors: vec![[5, 9]; 2], thresholds: vec![vec![3, 2], vec![2, 1], vec![1, 0]], ..CopyIndex::default() };
        Copyback { pe: vec![10, 20], retention: vec![31_536_000], layers: vec![0], by_pe, ..Copyback::default() }
    }

    /// A core that keeps the provenance of its data, and the technique.
    fn trial_of(table: Copyback) -> (Rooms, RestrictedCopyback) {
        let tables = Tables { copyback: Some(Arc::new(table)), ..Tables::NONE };
        let mut sheet = small(64).sheet;
        sheet.capabilities.copyback = true;
        let config =
            Config { techniques: vec![Choice::RestrictedCopyback(PARAMS)], tables: tables.clone(), exported_units: 48, sheet, ..small(64) };
        let layout = config.layout();
        let technique = RestrictedCopyback::new(&Site { tables: &tables, ..Site::bare(&layout, &config.sheet) }, PARAMS);
        (build(&config), technique)
    }

    fn trial() -> (Rooms, RestrictedCopyback) {
        trial_of(table())
    }

    fn unit(group: u32) -> ProgramUnit {
        ProgramUnit { group: BlockGroup(group), layer: 0, place: 0 }
    }

    fn program(rooms: &mut Rooms, technique: &mut RestrictedCopyback, group: u32) {
        rooms.core.services_mut().programmed(BlockGroup(group), Nanos(1));
        let report = ProgramReport { at: unit(group), status: Status::Good, loops: 0, array: Nanos(1), trace: None };
        technique.learn(&ctx(&rooms.core), &News::Programmed(report));
    }

    fn copy(rooms: &mut Rooms, technique: &mut RestrictedCopyback, from: u32, to: u32) {
        let report = CopyReport { from: unit(from), to: unit(to), status: Status::Good, copies: None, array: Nanos(1) };
        technique.learn(&ctx(&rooms.core), &News::Copied(report));
        let services = rooms.core.services_mut().get_mut().expect("provenance is asked for");
        services.copied((BlockGroup(from), 0), (BlockGroup(to), 0), Nanos(1));
    }

    fn choose(rooms: &Rooms, technique: &mut RestrictedCopyback, victim: u32) {
        technique.learn(&ctx(&rooms.core), &News::VictimChosen { victim: BlockGroup(victim), why: Cause::Gc });
    }

    fn close(rooms: &Rooms, technique: &mut RestrictedCopyback, group: u32) -> Memo {
        let news = News::Closed { group: BlockGroup(group) };
        technique.learn(&ctx(&rooms.core), &news);
        technique.remember(&ctx(&rooms.core), &news).expect("the quota is remembered")
    }

    fn way(rooms: &Rooms, technique: &RestrictedCopyback, from: u32, to: u32) -> Way {
        agree(technique.way(&ctx(&rooms.core), &Copy { from: unit(from), to: Some(BlockGroup(to)), why: Cause::Gc }))
    }

    fn quota(technique: &RestrictedCopyback, group: u32) -> u8 {
        technique.quotas[group as usize]
    }

    fn age(rooms: &mut Rooms, technique: &mut RestrictedCopyback, group: u32, erases: u32) {
        rooms.core.groups_mut().set_erases(BlockGroup(group), erases);
        let report = EraseReport { has_left: false, ..EraseReport::without_erase(BlockGroup(group)) };
        technique.learn(&ctx(&rooms.core), &News::Erased(report));
    }

    /// Groups 1, 2 and 3 are of the best, the median and the worst class.
    fn classed() -> (Rooms, RestrictedCopyback) {
        let (rooms, mut technique) = trial();
        (0..3).for_each(|class| technique.classes.set(BlockGroup(class as u32 + 1), class));
        (rooms, technique)
    }

    #[test]
    fn the_quota_of_figures_20_and_21_goes_down_by_what_the_source_stands_and_is_whole_again_over_the_bus() {
        let (mut rooms, mut technique) = classed();
        program(&mut rooms, &mut technique, 1);
        choose(&rooms, &mut technique, 1);
        assert_eq!((quota(&technique, 1), way(&rooms, &technique, 1, 4)), (6, Way::Copyback));
        copy(&mut rooms, &mut technique, 1, 4);
        assert_eq!(quota(&technique, 4), 4, "a copy out of a block that stands three");
        program(&mut rooms, &mut technique, 2);
        choose(&rooms, &mut technique, 2);
        copy(&mut rooms, &mut technique, 2, 5);
        assert_eq!(quota(&technique, 5), 3, "b_v2[6, 3] goes to a block of quota 3");
        technique.classes.set(BlockGroup(4), 1);
        choose(&rooms, &mut technique, 4);
        copy(&mut rooms, &mut technique, 4, 6);
        assert_eq!((quota(&technique, 6), way(&rooms, &technique, 6, 7)), (0, Way::Bus), "4 - 3 is less than any copy takes");
        program(&mut rooms, &mut technique, 7);
        assert_eq!(quota(&technique, 7), 6, "corrected data has the whole quota");
        program(&mut rooms, &mut technique, 3);
        choose(&rooms, &mut technique, 3);
        assert_eq!((way(&rooms, &technique, 3, 8), technique.left(BlockGroup(3))), (Way::Copyback, Ok(0)), "the last copy that it stands");
    }

    #[test]
    fn a_group_has_the_least_quota_of_what_came_into_it_in_any_order() {
        for order in [[1, 2], [2, 1]] {
            let (mut rooms, mut technique) = classed();
            [1, 2].into_iter().for_each(|group| program(&mut rooms, &mut technique, group));
            order.into_iter().for_each(|from| copy(&mut rooms, &mut technique, from, 5));
            program(&mut rooms, &mut technique, 5);
            assert_eq!(quota(&technique, 5), 3, "{order:?}");
        }
    }

    #[test]
    fn a_failed_copy_lowers_nothing_and_the_class_of_the_destination_is_no_matter() {
        let (mut rooms, mut technique) = classed();
        program(&mut rooms, &mut technique, 1);
        let report = CopyReport { from: unit(1), to: unit(5), status: Status::Failed, copies: None, array: Nanos(1) };
        technique.learn(&ctx(&rooms.core), &News::Copied(report));
        assert_eq!(quota(&technique, 5), UNSET);
        copy(&mut rooms, &mut technique, 1, 3);
        assert_eq!(quota(&technique, 3), 4, "group 3 is of the worst class");
    }

    #[test]
    fn a_copy_goes_to_a_group_of_its_own_quota_or_a_lower_one_and_data_of_the_bus_is_never_refused() {
        let (mut rooms, mut technique) = classed();
        [1, 2, 6].into_iter().for_each(|group| program(&mut rooms, &mut technique, group));
        copy(&mut rooms, &mut technique, 1, 4);
        copy(&mut rooms, &mut technique, 2, 5);
        let fit = |technique: &RestrictedCopyback, from: u32, way, to: u32, is_open| {
            let data = Moving { from: Some(BlockGroup(from)), way, cause: Cause::Gc };
            technique.fit(&ctx(&rooms.core), &data, &Place { group: BlockGroup(to), is_open })
        };
        let copied = |to, is_open| fit(&technique, 1, Way::Copyback, to, is_open);
        assert_eq!([4, 5, 6, 8].map(|to| copied(to, true)), [Fit::Exact, Fit::Loose(1), Fit::Never, Fit::Exact]);
        assert_eq!(copied(6, false), Fit::Exact, "a free group, whatever was in it");
        let moved = |to| fit(&technique, 1, Way::Bus, to, true);
        assert_eq!([4, 5, 6, 8].map(moved), [Fit::Loose(2), Fit::Loose(3), Fit::Exact, Fit::Exact]);
        assert_eq!(fit(&technique, 8, Way::Copyback, 7, false), Fit::Never, "nothing is known of its source");
    }

    #[test]
    fn the_bin_is_that_of_the_most_erased_group_and_quotas_are_carried_over() {
        let (mut rooms, mut technique) = classed();
        [1, 2].into_iter().for_each(|group| program(&mut rooms, &mut technique, group));
        copy(&mut rooms, &mut technique, 1, 4);
        age(&mut rooms, &mut technique, 9, 10);
        assert_eq!((quota(&technique, 1), quota(&technique, 4)), (6, 4));
        age(&mut rooms, &mut technique, 9, 11);
        assert_eq!(technique.column().init(), 2);
        assert_eq!((quota(&technique, 1), quota(&technique, 4)), (2, 0), "one of three is used, and the worst class stands none any more");
        assert_eq!(technique.left(BlockGroup(3)), Err(Why::BeyondTable));
        age(&mut rooms, &mut technique, 9, 21);
        assert_eq!((quota(&technique, 1), way(&rooms, &technique, 1, 5)), (0, Way::Bus), "beyond the table nothing is copied");
    }

    #[test]
    fn erases_that_came_without_news_are_seen_before_anything_is_copied() {
        let (mut rooms, mut technique) = classed();
        rooms.core.groups_mut().set_erases(BlockGroup(7), 15);
        program(&mut rooms, &mut technique, 1);
        assert_eq!((quota(&technique, 1), technique.column().init()), (2, 2));
        rooms.core.groups_mut().set_erases(BlockGroup(8), 25);
        choose(&rooms, &mut technique, 1);
        assert_eq!(way(&rooms, &technique, 1, 8), Way::Bus, "the group that would take it is beyond the table");
        assert_eq!(way(&rooms, &technique, 1, 7), Way::Copyback);
    }

    #[test]
    fn a_leap_counts_its_cycles_and_an_image_brings_everything_back() {
        let (mut rooms, mut technique) = classed();
        [1, 2].into_iter().for_each(|group| program(&mut rooms, &mut technique, group));
        copy(&mut rooms, &mut technique, 1, 4);
        let _ = close(&rooms, &mut technique, 2);
        let (_, mut back) = trial();
        assert!(back.restore(&technique.image()));
        assert_eq!(
            (back.image(), back.quotas.clone(), back.classes.class(BlockGroup(2))),
            (technique.image(), technique.quotas.clone(), 1)
        );
        let image = technique.image();
        assert!(!back.restore(&image[..4]) && !back.restore(&[]));
        let cycles: Vec<u32> = (0..10).map(|group| if group == 3 { 12 } else { 0 }).collect();
        technique.leap(&Leap { times: 1, cycles: &cycles, erases: &[1; 10] });
        assert_eq!((quota(&technique, 1), quota(&technique, 4)), (2, 0));
    }

    #[test]
    fn data_is_copied_on_its_last_day_and_goes_over_the_bus_on_the_next_or_where_its_birth_is_unknown() {
        let (mut rooms, mut technique) = classed();
        program(&mut rooms, &mut technique, 1);
        choose(&rooms, &mut technique, 1);
        let pass = |rooms: &mut Rooms, days: u32| {
            let services = rooms.core.services_mut().get_mut().expect("provenance is asked for");
            services.let_pass(Nanos(1), f64::from(days) * 86_400.0, Celsius(30.0));
        };
        pass(&mut rooms, PARAMS.days_max - 1);
        assert_eq!(way(&rooms, &technique, 1, 4), Way::Copyback, "the last day");
        copy(&mut rooms, &mut technique, 1, 4);
        technique.classes.set(BlockGroup(4), 0);
        program(&mut rooms, &mut technique, 2);
        pass(&mut rooms, 1);
        [2, 4].into_iter().for_each(|group| choose(&rooms, &mut technique, group));
        assert_eq!(
            [1, 4, 2].map(|from| way(&rooms, &technique, from, 7)),
            [Way::Bus, Way::Bus, Way::Copyback],
            "a copy does not renew data"
        );
        let refusal = |rooms: &Rooms, from: u32, to: Option<u32>| {
            technique.refusal(&ctx(&rooms.core), &Copy { from: unit(from), to: to.map(BlockGroup), why: Cause::Gc })
        };
        assert_eq!([Some(7), None].map(|to| refusal(&rooms, 4, to)), [Some(Why::KeptTooLong); 2], "wherever it would go");
        // The quota is known, and the day is not.
        rooms.core.groups_mut().add_valid(BlockGroup(2), 1);
        let groups = rooms.core.groups().clone();
        rooms.core.services_mut().find(&groups, Nanos(1), |_| [Some(1), None]);
        assert_eq!(technique.left(BlockGroup(2)), Ok(3));
        assert_eq!(refusal(&rooms, 2, Some(7)), Some(Why::KeptTooLong), "its birth is unknown");
        let today = ctx(&rooms.core).view.today().expect("births are of days").0;
        rooms.core.services_mut().find(&groups, Nanos(1), |_| [Some(1), Some(u32::MAX - today)]);
        assert_eq!(refusal(&rooms, 2, Some(7)), Some(Why::KeptTooLong), "the time without power is unknown");
        rooms.core.services_mut().get_mut().expect("provenance is asked for").away(Seconds(60));
        assert_eq!(refusal(&rooms, 2, Some(7)), None, "it was a minute");
    }

    #[test]
    fn after_a_power_cut_a_group_has_what_its_memo_says_and_without_one_what_its_provenance_says() {
        let (mut rooms, mut technique) = classed();
        [1, 2].into_iter().for_each(|group| program(&mut rooms, &mut technique, group));
        copy(&mut rooms, &mut technique, 1, 4);
        copy(&mut rooms, &mut technique, 2, 5);
        let memos: Vec<Memo> = [1, 4, 5].into_iter().map(|group| close(&rooms, &mut technique, group)).collect();
        assert_eq!(memos.iter().map(|memo| memo.value).collect::<Vec<_>>(), [1, 86, 128]);
        let (_, mut back) = trial();
        back.recover(rooms.core.groups(), &memos);
        assert_eq!([1, 4, 5, 2, 6].map(|group| quota(&back, group)), [6, 4, 3, UNSET, UNSET]);
        assert_eq!(back.classes.class(BlockGroup(1)), 2, "no memo of its class");
        assert_eq!(way(&rooms, &back, 2, 7), Way::Bus, "nothing is known");
        choose(&rooms, &mut back, 2);
        assert_eq!(quota(&back, 2), 6, "its data is known to be corrected");
        // A group that was open at the cut: the copies of its data are not known.
        rooms.core.groups_mut().add_valid(BlockGroup(6), 1);
        let groups = rooms.core.groups().clone();
        rooms.core.services_mut().find(&groups, Nanos(1), |_| [None; 2]);
        program(&mut rooms, &mut back, 6);
        choose(&rooms, &mut back, 6);
        assert_eq!((quota(&back, 6), way(&rooms, &back, 6, 7)), (0, Way::Bus));
        let later = Memo { group: BlockGroup(6), slot: QUOTA, value: 1 };
        back.recover(rooms.core.groups(), &[later]);
        choose(&rooms, &mut back, 6);
        assert_eq!(quota(&back, 6), 0, "a memo does not outdo that");
    }

    #[test]
    fn a_memo_of_another_bin_is_carried_over() {
        let (mut rooms, mut technique) = classed();
        [1, 2].into_iter().for_each(|group| program(&mut rooms, &mut technique, group));
        copy(&mut rooms, &mut technique, 1, 4);
        let memos: Vec<Memo> = [2, 4].into_iter().map(|group| close(&rooms, &mut technique, group)).collect();
        rooms.core.groups_mut().set_erases(BlockGroup(9), 11);
        let (_, mut back) = trial();
        back.recover(rooms.core.groups(), &memos);
        assert_eq!((quota(&back, 2), quota(&back, 4)), (2, 0));
    }

    #[test]
    fn the_class_comes_back_in_its_bin_and_the_one_that_was_measured_last_is_told() {
        let (mut rooms, mut technique) = trial();
        program(&mut rooms, &mut technique, 1);
        technique.classes.set(BlockGroup(1), 1);
        let erased = News::Erased(EraseReport { has_left: false, ..EraseReport::without_erase(BlockGroup(1)) });
        technique.learn(&ctx(&rooms.core), &erased);
        let before = technique.remember(&ctx(&rooms.core), &erased).expect("the class of the filling before");
        let closed = News::Closed { group: BlockGroup(1) };
        technique.learn(&ctx(&rooms.core), &closed);
        let Some(Work { kind: crate::techniques::work::WorkKind::Measure { at, .. }, .. }) = technique.work(&ctx(&rooms.core), &closed)
        else {
            panic!("a page is to be measured")
        };
        let read = News::Read(crate::techniques::seam::ReadReport {
            at,
            cause: Cause::Measure,
            status: Status::Good,
            retries: 0,
            last: wordline_flash::ReadTry::DEFAULT,
            worst: 3,
            tally: None,
            array: Nanos(1),
            times: 1,
        });
        technique.learn(&ctx(&rooms.core), &read);
        let after = technique.remember(&ctx(&rooms.core), &read).expect("the class that was measured");
        assert!(after.value > before.value && after.slot == before.slot, "memos only grow, and a better class comes back all the same");
        let (_, mut back) = trial();
        back.recover(rooms.core.groups(), &[after]);
        assert_eq!(back.classes.class(BlockGroup(1)), 0);
        rooms.core.groups_mut().set_erases(BlockGroup(9), 11);
        back.recover(rooms.core.groups(), &[after]);
        assert_eq!(back.classes.class(BlockGroup(1)), 2, "it is of another bin");
    }

    #[test]
    fn where_no_block_stands_a_copy_none_is_proposed_and_every_place_suits() {
        let by_pe = CopyIndex { class_errors: vec![[5, 9]], thresholds: vec![vec![0]; 3], ..CopyIndex::default() };
        let (mut rooms, mut technique) = trial_of(Copyback { pe: vec![99], by_pe, ..table() });
        program(&mut rooms, &mut technique, 1);
        choose(&rooms, &mut technique, 1);
        assert_eq!(way(&rooms, &technique, 1, 2), Way::Bus);
        let data = Moving { from: Some(BlockGroup(1)), way: Way::Bus, cause: Cause::Gc };
        let fits = [1, 2].map(|to| technique.fit(&ctx(&rooms.core), &data, &Place { group: BlockGroup(to), is_open: true }));
        assert_eq!(fits, [Fit::Exact; 2]);
        let closed = News::Closed { group: BlockGroup(1) };
        technique.learn(&ctx(&rooms.core), &closed);
        assert_eq!(technique.work(&ctx(&rooms.core), &closed), None, "nothing is measured");
        assert_eq!(rooms.core.groups().use_of(BlockGroup(1)), Use::Free);
    }

    #[test]
    fn thresholds_are_of_the_longest_retention_unless_a_shorter_one_is_wanted() {
        let mut two = table();
        two.retention = vec![7_776_000, 31_536_000];
        two.by_pe.thresholds = vec![vec![6; 2], vec![6; 2], vec![6; 2], vec![3; 2], vec![3; 2], vec![3; 2]];
        let tables = Tables { copyback: Some(Arc::new(two)), ..Tables::NONE };
        let (layout, sheet) = (small(64).layout(), small(64).sheet);
        let of = |retention| {
            let site = Site { tables: &tables, ..Site::bare(&layout, &sheet) };
            let technique = RestrictedCopyback::new(&site, Params { retention, ..PARAMS });
            (technique.column().init(), technique.retention())
        };
        assert_eq!([0, 1, 2].map(of), [(3, Some(Seconds(31_536_000))), (6, Some(Seconds(7_776_000))), (0, None)]);
    }
}
