//! Provenance: copies in a row without correction, and since when data has been there, counted once more without groups and memos.
//!
//! Checks: before any power cut each valid unit has gone through exactly as many copies as its core says; after one through as many at most. No data is older
//! than its group's day says, where that is known. Days are let pass in between. Where thresholds of copies are on, no data is copied that has been through
//! as many copies as the more worn of its two blocks stands, worked out once more from the law behind the made-up table. Where quotas of copies are on, each
//! page keeps its own, by the classes of the blocks that it was copied out of: no copy is made that its own does not last for, none of data that has been kept
//! for too many days or since before a cut, and no group has more than any page of it. Blank blocks come back with more erases from some cuts, so that the
//! column changes while the power is off. Does not check: how far a core that has lost its memos is on the safe side; classes, which are taken as the
//! technique has measured them.

use std::collections::BTreeMap;

use wordline_flash::{Operation, OperationKind, Target};
use wordline_ftl::groups::Use;
use wordline_ftl::techniques::block_class::Classes;
use wordline_ftl::techniques::seam::Ask;
use wordline_ftl::techniques::{Choice, copy_threshold, restricted_copyback};
use wordline_ftl::{BlockGroup, UnitAddr};
use wordline_units::random::{Draw, Stream};
use wordline_units::{Celsius, DieId, PlaneId};

use super::World;
use crate::tables::{self, copies_at_age, copies_at_count};

/// Quota of a group of which none is known.
const UNSET: u32 = 255;

/// What is true of a program unit.
#[derive(Clone, Copy, Debug, Default)]
struct Past {
    copies: u32,
    born: u32,
    /// A power cut has come since its data was corrected.
    is_old: bool,
    /// Its time is unknown: the power has been off, and since then no age was set.
    is_timeless: bool,
    /// Copies out of blocks of each class.
    by_class: [u32; 3],
}

/// The past of all program units, by die, block of the first plane, and page.
#[derive(Debug)]
pub(super) struct Copies {
    pasts: BTreeMap<(DieId, u32, u16), Past>,
    today: u32,
    dice: Draw,
}

fn key(die: DieId, at: &Target) -> (DieId, u32, u16) {
    (die, at.block(PlaneId(0)).0, at.page.0)
}

impl Copies {
    pub(super) fn new(seed: u64) -> Copies {
        Copies { pasts: BTreeMap::new(), today: 0, dice: Draw::new(seed, Stream::Mix, 14) }
    }

    /// A program of `to` has ended, or was cut short.
    fn programmed(&mut self, die: DieId, to: &Target) {
        self.pasts.insert(key(die, to), Past { born: self.today, ..Past::default() });
    }

    /// A copyback out of a block of this class has ended, or was cut short.
    fn copied(&mut self, die: DieId, from: &Target, to: &Target, class: usize) {
        let source = self.pasts.get(&key(die, from)).copied().unwrap_or_default();
        let mut by_class = source.by_class;
        by_class[class] += 1;
        self.pasts.insert(key(die, to), Past { copies: source.copies + 1, by_class, ..source });
    }

    /// The power has gone.
    pub(super) fn cut(&mut self) {
        self.pasts.values_mut().for_each(|past| (past.is_old, past.is_timeless) = (true, true));
    }
}

/// Share of its own quota that a page has left in a column with these thresholds, as a fraction; `None`: more than all of it is used.
fn own_left(thresholds: [u32; 3], by_class: [u32; 3]) -> Option<(u64, u64)> {
    let whole: u64 = thresholds.iter().filter(|&&stands| stands > 0).map(|&stands| u64::from(stands)).product();
    let mut left = whole;
    for (stands, copies) in thresholds.into_iter().zip(by_class).filter(|&(_, copies)| copies > 0) {
        left = left.checked_sub(u64::from(copies) * whole.checked_div(u64::from(stands))?)?;
    }
    Some((left, whole))
}

/// The least number that all of `numbers` but zeroes divide; 0: there is none.
fn multiple_of(numbers: [u32; 3]) -> u32 {
    let present: Vec<u32> = numbers.into_iter().filter(|&number| number > 0).collect();
    let divides = |all: &u32| present.iter().all(|number| all.is_multiple_of(*number));
    if present.is_empty() { 0 } else { (1..).find(divides).expect("their product is one") }
}

impl World {
    /// Days pass now and then, where somebody asks for them.
    pub(super) fn pass_days(&mut self) {
        if self.scenario.habits.is_copying && self.copies.dice.happens(0.05) {
            let days = self.copies.dice.below(4);
            self.copies.today += days as u32;
            self.copies.pasts.values_mut().for_each(|past| past.is_timeless = false);
            self.ftl.let_pass(self.pace.now, (days * 86_400) as f64, Celsius(30.0));
        }
    }

    /// The program or copyback `operation` has ended, or was cut short.
    pub(super) fn note_past(&mut self, operation: &Operation) {
        match operation.kind {
            OperationKind::Program { target, .. } => self.copies.programmed(operation.die, &target),
            OperationKind::Copyback { from, to, .. } => {
                let class = self.group_at(operation.die, &from).map_or(0, |group| self.quota_told(group).map_or(0, |(_, class)| class));
                self.copies.copied(operation.die, &from, &to, class);
            }
            OperationKind::Read { .. }
            | OperationKind::Erase { .. }
            | OperationKind::Sanitise { .. }
            | OperationKind::Suspend { .. }
            | OperationKind::Resume
            | OperationKind::Abort => {}
        }
    }

    /// Group that stands on the block of `at`.
    fn group_at(&self, die: DieId, at: &Target) -> Option<BlockGroup> {
        let mut groups = self.ftl.layout().groups_of(die).map(|group| BlockGroup(group as u32));
        groups.find(|&group| u32::from(self.ftl.groups().blocks(group)[0]) == at.block(PlaneId(0)).0)
    }

    /// Parameters of the technique of quotas; `None`: it is off.
    fn quotas(&self) -> Option<restricted_copyback::Params> {
        let techniques = &self.scenario.config.techniques;
        techniques.iter().find_map(|choice| if let Choice::RestrictedCopyback(params) = choice { Some(*params) } else { None })
    }

    /// Raises the erases of a blank group at some cuts, so that another column of quotas holds at the next start. Returns the column that has held; `None`:
    /// there is none, or no group is blank.
    pub(super) fn wear_blank(&mut self) -> Option<[u32; 3]> {
        self.quotas()?;
        let thresholds = self.thresholds();
        if self.copies.dice.happens(0.3) {
            let groups = self.ftl.groups();
            let all = (0..self.ftl.layout().group_count() as u32).map(BlockGroup);
            let free: Vec<BlockGroup> = all.filter(|&group| groups.use_of(group) == Use::Free).collect();
            let group = *free.get(self.copies.dice.below(free.len().max(1) as u64) as usize)?;
            let most = self.most_erased();
            let next = tables::PE.into_iter().find(|&last| most <= last)?;
            self.nand.wear(self.ftl.layout().die(group), groups.blocks(group), next + 1);
        }
        Some(thresholds)
    }

    /// Counts a start at which another column of quotas holds than `before` the power cut.
    pub(super) fn note_column(&mut self, before: Option<[u32; 3]>) {
        self.tally.quotas[5] += u64::from(before.is_some_and(|before| before != self.thresholds()));
    }

    /// Quota of `group` and its class, as the technique of quotas has them; `None`: it is off. The quota is [`UNSET`] where none is known.
    fn quota_told(&self, group: BlockGroup) -> Option<(u32, usize)> {
        let params = self.quotas()?;
        let word = self.ftl.learnt("restricted-copyback")?[1 + group.index() / 2] >> (16 * (group.index() % 2));
        let class = if params.classes == Classes::Worst { 2 } else { word >> 8 & 0xFF };
        Some((word & 0xFF, class as usize))
    }

    /// Class of `group` by which thresholds of copies are taken.
    fn class_told(&self, params: &copy_threshold::Params, group: BlockGroup) -> usize {
        match params.classes {
            Classes::Worst => 2,
            Classes::Block => {
                let learnt = self.ftl.learnt("copy-threshold").expect("it is on");
                (learnt[group.index() / 4] >> (8 * (group.index() % 4)) & 0xFF) as usize
            }
        }
    }

    /// Thresholds of the column of quotas: that of the most erased group.
    fn thresholds(&self) -> [u32; 3] {
        let most = self.most_erased();
        std::array::from_fn(|class| copies_at_count(class, most).saturating_sub(self.lowered()))
    }

    /// Erases of the most erased group.
    fn most_erased(&self) -> u32 {
        let view = self.ftl.view(self.pace.now);
        (0..self.ftl.layout().group_count() as u32).map(|group| view.erases(BlockGroup(group))).max().unwrap_or(0)
    }

    fn lowered(&self) -> u32 {
        u32::from(self.scenario.config.techniques.iter().any(|choice| choice.card().asks.contains(&Ask::Programs)))
    }

    /// True of data with this `past`: it is young enough to be copied. Data from before a power cut is of an unknown age.
    fn is_young(&mut self, params: &restricted_copyback::Params, past: &Past) -> Result<(), String> {
        if past.is_timeless {
            return Err("data is copied that a power cut has left for an unknown time".to_owned());
        }
        let days = self.copies.today - past.born;
        if days >= params.days_max {
            return Err(format!("data is copied that has been kept for {days} days, and {} is the limit", params.days_max));
        }
        self.tally.quotas[4] += u64::from(days > 0);
        Ok(())
    }

    /// True of data copied from `from` on `die`: its own quota lasts for one copy more. The error has the copies of the data.
    pub(super) fn affords_copy(&mut self, die: DieId, from: &Target) -> Result<(), String> {
        let group = self.group_at(die, from).ok_or("a copy of no group")?;
        let Some((params, (_, class))) = self.quotas().zip(self.quota_told(group)) else { return Ok(()) };
        let past = self.copies.pasts.get(&key(die, from)).copied().unwrap_or_default();
        self.is_young(&params, &past)?;
        let (thresholds, mut by_class) = (self.thresholds(), past.by_class);
        self.tally.quotas[1] += u64::from(by_class != [0; 3]);
        by_class[class] += 1;
        if own_left(thresholds, by_class).is_none() {
            return Err(format!(
                "data is copied that has been through {by_class:?} copies by class, this one counted, in a column of {thresholds:?}"
            ));
        }
        self.tally.quotas[0] += 1;
        Ok(())
    }

    /// True of `group`, which holds data with this `past`: its quota is no greater a share than the data's own. The error has both.
    fn holds_quota(&mut self, group: BlockGroup, past: &Past) -> Result<(), String> {
        let Some((quota, _)) = self.quota_told(group).filter(|&(quota, _)| quota != UNSET) else { return Ok(()) };
        let thresholds = self.thresholds();
        let (left, whole) = own_left(thresholds, past.by_class).unwrap_or((0, 1));
        let all = multiple_of(thresholds);
        if u64::from(quota) * whole > left * u64::from(all) {
            let Past { by_class, is_old, .. } = past;
            return Err(format!(
                "{group:?} has a quota of {quota} in a column of {thresholds:?}, and data that was copied {by_class:?} times by class (old: {is_old})"
            ));
        }
        self.tally.quotas[2] += u64::from(quota > 0 && quota < all);
        self.tally.quotas[3] += u64::from(quota > 0 && quota < all && past.is_old);
        Ok(())
    }

    /// True of data copied from `from` to `to` on `die`: both blocks stand one copy more. An error says what they stand.
    pub(super) fn stands_copy(&mut self, die: DieId, from: &Target, to: &Target) -> Result<(), String> {
        let config = &self.scenario.config;
        let Some(params) =
            config.techniques.iter().find_map(|choice| if let Choice::CopyThreshold(params) = choice { Some(*params) } else { None })
        else {
            return Ok(());
        };
        let lowered = self.lowered();
        let copies = self.copies.pasts.get(&key(die, from)).copied().unwrap_or_default().copies;
        let view = self.ftl.view(self.pace.now);
        for at in [from, to] {
            let group = self.group_at(die, at).ok_or("a copy of no group")?;
            let class = self.class_told(&params, group);
            let stands = match params.index {
                copy_threshold::Index::Age => copies_at_age(class, view.wear(group).ok_or("the wear is not known")?.0),
                copy_threshold::Index::Pe => copies_at_count(class, view.erases(group)),
            };
            if copies + lowered >= stands {
                return Err(format!("data that was copied {copies} times in a row is copied by {group:?}, which stands {stands}"));
            }
        }
        self.tally.copies[3] += 1;
        Ok(())
    }

    pub(super) fn compare_copies(&mut self) -> Result<(), String> {
        if !self.scenario.habits.is_copying {
            return Ok(());
        }
        let layout = *self.ftl.layout();
        for lpn in 0..self.ftl.map().exported() {
            let addr = self.ftl.map().get(lpn);
            if addr == UnitAddr::NONE {
                continue;
            }
            let group: BlockGroup = layout.group(addr);
            let program = layout.offset(addr) / layout.units_per_program;
            let place = (layout.die(group), u32::from(self.ftl.groups().blocks(group)[0]), layout.first_page(program).0);
            let past = self.copies.pasts.get(&place).copied().unwrap_or_default();
            self.holds_quota(group, &past)?;
            let (Past { copies, born, is_old, .. }, view) = (past, self.ftl.view(self.pace.now));
            // The greatest number stands for whatever is more.
            let copies = copies.min(u32::from(u8::MAX));
            let told = u32::from(view.copies(group, program).ok_or("nobody counts copies")?);
            if told < copies || (told > copies && !is_old) {
                return Err(format!(
                    "unit {lpn} in {group:?} was copied {copies} times in a row, and the core says {told} (old: {is_old})"
                ));
            }
            if let Some(day) = view.born(group).filter(|day| day.0 > born) {
                return Err(format!("unit {lpn} in {group:?} was born on day {born}, and the core says {day:?}"));
            }
            self.tally.copies[0] += u64::from(copies > 1);
            self.tally.copies[1] += u64::from(is_old && told < 255 && copies > 0);
            self.tally.copies[2] += u64::from(born > 0 && view.born(group).is_some());
        }
        Ok(())
    }
}
