//! Provenance: copies in a row without correction, and since when data has been there, counted once more without groups and memos.
//!
//! Checks: before any power cut each valid unit has gone through exactly as many copies as its core says; after one through as many at most. No data is older
//! than its group's day says, where that is known. Days pass by decree, in between. Where thresholds of copies are on, no data is copied that has been through
//! as many copies as the more worn of its two blocks stands, worked out once more from the law behind the made-up table. Does not check: how far a core that
//! has lost its memos is on the safe side.

use std::collections::BTreeMap;

use wordline_flash::{Operation, OperationKind, Target};
use wordline_ftl::techniques::seam::Ask;
use wordline_ftl::techniques::{Choice, copy_threshold};
use wordline_ftl::{BlockGroup, UnitAddr};
use wordline_units::random::{Draw, Stream};
use wordline_units::{Celsius, DieId, PlaneId};

use super::World;
use crate::tables::{copies_at_age, copies_at_count};

/// What is true of a program unit.
#[derive(Clone, Copy, Debug, Default)]
struct Past {
    copies: u32,
    born: u32,
    /// A power cut has come since its data was corrected.
    is_old: bool,
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

    /// A copyback has ended, or was cut short.
    fn copied(&mut self, die: DieId, from: &Target, to: &Target) {
        let source = self.pasts.get(&key(die, from)).copied().unwrap_or_default();
        self.pasts.insert(key(die, to), Past { copies: source.copies + 1, ..source });
    }

    /// The power has gone.
    pub(super) fn cut(&mut self) {
        self.pasts.values_mut().for_each(|past| past.is_old = true);
    }
}

impl World {
    /// Days pass now and then, where somebody asks for them.
    pub(super) fn pass_days(&mut self) {
        if self.scenario.habits.is_copying && self.copies.dice.happens(0.05) {
            let days = self.copies.dice.below(4);
            self.copies.today += days as u32;
            self.ftl.decree(self.pace.now, (days * 86_400) as f64, Celsius(30.0));
        }
    }

    /// The program or copyback `operation` has ended, or was cut short.
    pub(super) fn note_past(&mut self, operation: &Operation) {
        match operation.kind {
            OperationKind::Program { target, .. } => self.copies.programmed(operation.die, &target),
            OperationKind::Copyback { from, to, .. } => self.copies.copied(operation.die, &from, &to),
            OperationKind::Read { .. }
            | OperationKind::Erase { .. }
            | OperationKind::Sanitise { .. }
            | OperationKind::Suspend { .. }
            | OperationKind::Resume
            | OperationKind::Abort => {}
        }
    }

    /// True of data copied from `from` to `to` on `die`: both blocks stand one copy more. An error says what they stand.
    pub(super) fn stands_copy(&mut self, die: DieId, from: &Target, to: &Target) -> Result<(), String> {
        let config = &self.scenario.config;
        let Some(params) =
            config.techniques.iter().find_map(|choice| if let Choice::CopyThreshold(params) = choice { Some(*params) } else { None })
        else {
            return Ok(());
        };
        let lowered = u32::from(config.techniques.iter().any(|choice| choice.card().asks.contains(&Ask::Programs)));
        let copies = self.copies.pasts.get(&key(die, from)).copied().unwrap_or_default().copies;
        let (layout, view) = (*self.ftl.layout(), self.ftl.view(self.pace.now));
        for block in [from, to].map(|at| at.block(PlaneId(0)).0) {
            let mut groups = layout.groups_of(die).map(|group| BlockGroup(group as u32));
            let group = groups.find(|&group| u32::from(self.ftl.groups().blocks(group)[0]) == block).ok_or("a copy of no group")?;
            let stands = match params.index {
                copy_threshold::Index::Age => copies_at_age(view.wear(group).ok_or("nobody tells the wear")?.0),
                copy_threshold::Index::Pe => copies_at_count(view.erases(group)),
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
        let (layout, view) = (*self.ftl.layout(), self.ftl.view(self.pace.now));
        for lpn in 0..self.ftl.map().exported() {
            let addr = self.ftl.map().get(lpn);
            if addr == UnitAddr::NONE {
                continue;
            }
            let group: BlockGroup = layout.group(addr);
            let program = layout.offset(addr) / layout.units_per_program;
            let place = (layout.die(group), u32::from(self.ftl.groups().blocks(group)[0]), layout.first_page(program).0);
            let Past { copies, born, is_old } = self.copies.pasts.get(&place).copied().unwrap_or_default();
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
