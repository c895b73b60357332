//! Data is copied inside a die within a quota of its block group (rCPB and the error propagation management of rcFTL).
//!
//! A copy without error correction takes all errors along and adds its own. What data may still be copied is its quota; a copy takes a part of it by the class of
//! the block that it leaves. All data of a group has one quota, the least of what came into it, so that a group costs a byte and no page does. Copies therefore go
//! to groups of their own quota: a die has several open for moved data. Data that passes the controller is corrected, and has the whole quota again.

mod quota;

use std::sync::Arc;

use wordline_flash::Status;
use wordline_flash::tables::{CopyReferences, Copyback};
use wordline_units::Seconds;

use self::quota::Column;
use crate::state::groups::BlockGroups;
use crate::state::layout::BlockGroup;
use crate::techniques::block_class::{BlockClasses, Classes};
use crate::techniques::declaration::{Declaration, Kind, Need, Site, Table, Value, params};
use crate::techniques::hooks::{Hook, Hooks};
use crate::techniques::say::{Say, Says, Way};
use crate::techniques::seam::{
    Amount, Ask, Card, Copy, CopyReport, Ctx, EraseReport, Fit, Leap, Memo, Moving, News, Persists, Place, ProgramReport, Technique, Why,
    ignores,
};
use crate::techniques::work::Work;

/// Declaration of the technique.
pub const DECLARATION: Declaration = Declaration {
    card: Card {
        name: "restricted-copyback",
        source: "rcFTL: dissertation 001 of the papers, §4.2 and §4.3.1",
        claim: "garbage collection saves the bus wherever the blocks still stand a copy, at the cost of a byte for each block group",
        hooks: Hooks::of(&[
            Hook::Closed,
            Hook::Read,
            Hook::Unmeasured,
            Hook::VictimChosen,
            Hook::Copied,
            Hook::Programmed,
            Hook::Erased,
            Hook::Way,
            Hook::Fit,
            Hook::Work,
            Hook::Remember,
        ]),
        asks: &[Ask::Provenance, Ask::Places(Amount::Param("moved_blocks"))],
        persists: Persists::Memos(
            "the share of the quota that is left in each closed group, and the class of its blocks; a group without memos has no quota, unless its data is known \
             to be corrected",
        ),
        limits: "a group goes by its least data; open groups for each quota take spare; thresholds are of one P/E bin, that of the most erased group of the core; \
                 they hold for the retention of the table from the first program of the data, so data must be moved over the bus before that is over",
    },
    about: "data is copied inside the die within a quota of its block group, by the chip's `copyback`, its P/E count and the class of its blocks (001 §4.3.1).",
    params: Params::ALL,
    needs: &[Need::Copyback, Need::NoKeys, Need::Table(Table::Copyback)],
};

params! {
    /// Parameters of restricted copybacks.
    pub struct Params {
        /// Class of blocks by which thresholds are taken: "block", that of each block as measured just after program, or "worst" for all.
        classes: Classes {
            kind: Kind::Word(Classes::WORDS),
            default: Some(Value::Word("block")),
            tried: &[],
            source: "001 §4.2.1",
        }
        /// Pages of a wordline that are measured in each block to find its class, at most as many as the wordline has.
        samples: u32 {
            kind: Kind::Count { least: 1, most: 4 },
            default: Some(Value::Count(3)),
            tried: &[Value::Count(1), Value::Count(3)],
            source: "assumed: the pages of one TLC wordline; 001 §4.2.1 reads a block",
        }
        /// Column of the table by its retention, counted from the longest, which is 0.
        retention: u32 {
            kind: Kind::Count { least: 0, most: 15 },
            default: Some(Value::Count(0)),
            tried: &[Value::Count(0)],
            source: "001 §4.2.2: a year",
        }
        /// Block groups of a die that are open for moved data at once, each for data of one quota.
        moved_blocks: u32 {
            kind: Kind::Count { least: 1, most: 16 },
            default: Some(Value::Count(4)),
            tried: &[Value::Count(1), Value::Count(2), Value::Count(4)],
            source: "001 §4.3.1 has one for each quota, five in its Fig 21",
        }
    }
}

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
}

impl RestrictedCopyback {
    /// Creates the technique for the groups of the `site`.
    pub fn new(site: &Site<'_>, params: Params) -> Self {
        let Params { classes, samples, retention, moved_blocks: _ } = params;
        let table = site.tables.copyback.clone();
        let retention = table.as_deref().and_then(|table| table.retention.len().checked_sub(1 + retention as usize));
        let lowered = u32::from(site.sets_programs);
        let mut columns = Vec::new();
        if let (Some(table), Some(column)) = (table.as_deref(), retention) {
            let threshold = |bin, class| table.by_pe.threshold(CopyReferences::Default, column, class, bin).saturating_sub(lowered);
            columns.extend((0..table.pe.len()).map(|bin| Column::new(std::array::from_fn(|class| threshold(bin, class)))));
        }
        // Where no block ever stands a copy, its class is no matter.
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

    /// Reason why the copy must not be made.
    fn refusal(&self, ctx: &Ctx<'_>, copy: &Copy) -> Option<Why> {
        if self.retention.is_none() {
            return Some(Why::Unmeasured);
        }
        if let Err(why) = self.left(copy.from.group) {
            return Some(why);
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
            // What is programmed has passed the controller, whoever it came from.
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
        // Whoever else wants to copy is held to the quota as well.
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

    fn retention(&self) -> Option<Seconds> {
        let table = self.table.as_deref()?;
        Some(Seconds(u64::from(*table.retention.get(self.retention?)?)))
    }
}

#[cfg(test)]
mod tests;
