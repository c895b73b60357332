//! Tolerated read latency of every logical unit, and the valid units of each class in every block group.
//!
//! ```text
//!   hint of a range ──► class of a unit ─┬─ data lands   ─► + 1 ─┐
//!                                        └─ data is stale ─► − 1 ─┴─► units of a class in a group
//! ```
//!
//! The class of a unit is that of its range, whatever is written there: data of a hinted range has it, old or new. Units without a class are not
//! counted: they are all other valid ones. A core in which nothing is hinted has no table.

use serde::{Deserialize, Serialize};
use wordline_units::Tolerance;

use crate::state::Core;
use crate::state::layout::{BlockGroup, Layout, UnitAddr};

/// Units in a word of the table of classes.
const IN_WORD: u32 = 32;
/// Classes that are counted: all but [`Tolerance::Default`].
pub(crate) const CLASSES: [Tolerance; 3] = [Tolerance::Shortest, Tolerance::Typical, Tolerance::Longer];

/// The bits of a class in the table.
const fn code(class: Tolerance) -> u64 {
    match class {
        Tolerance::Default => 0,
        Tolerance::Shortest => 1,
        Tolerance::Typical => 2,
        Tolerance::Longer => 3,
    }
}

/// Place of a class among all, the strictest first: what has none tolerates nothing.
pub(crate) const fn rank(class: Tolerance) -> u64 {
    code(class)
}

/// Classes of all units of a core in which some are hinted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tolerances {
    /// Two bits for each logical unit.
    classes: Box<[u64]>,
    /// Valid units of each of [`CLASSES`] in each group.
    counts: Vec<[u32; CLASSES.len()]>,
    /// Units with a class.
    hinted: u32,
}

/// Image of the classes: runs of units of one class, as their first units, with the class; empty: nothing is hinted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ToleranceTable(Vec<(u32, u8)>);

impl Tolerances {
    fn new(units: u32, groups: usize) -> Tolerances {
        Tolerances { classes: vec![0; units.div_ceil(IN_WORD) as usize].into(), counts: vec![[0; CLASSES.len()]; groups], hinted: 0 }
    }

    fn code_of(&self, lpn: u32) -> u64 {
        self.classes[(lpn / IN_WORD) as usize] >> (lpn % IN_WORD * 2) & 3
    }

    /// Valid units of `class` in `group`, of which `valid` are valid.
    pub(crate) fn units(&self, group: BlockGroup, class: Tolerance, valid: u32) -> u32 {
        let counts = &self.counts[group.index()];
        match code(class) {
            0 => valid - counts.iter().sum::<u32>(),
            code => counts[code as usize - 1],
        }
    }

    /// Count data of `lpn` that is valid in `group` now.
    pub(crate) fn landed(&mut self, lpn: u32, group: BlockGroup) {
        let code = self.code_of(lpn);
        if code > 0 {
            self.counts[group.index()][code as usize - 1] += 1;
        }
    }

    /// Count data of `lpn` in `group` no more, which has become stale.
    pub(crate) fn left(&mut self, lpn: u32, group: BlockGroup) {
        let code = self.code_of(lpn);
        if code > 0 {
            self.counts[group.index()][code as usize - 1] -= 1;
        }
    }

    /// Give `count` units from `first` on this `class`. `group_of`: where a unit is valid. Returns the groups in which that changes a count, in
    /// rising order.
    fn hint(&mut self, (first, count): (u32, u32), class: Tolerance, group_of: impl Fn(u32) -> Option<BlockGroup>) -> Vec<BlockGroup> {
        // A mark for each group, and no list of units: a hint may be of the whole drive.
        let mut changed = vec![false; self.counts.len()];
        let (new, whole) = (code(class), code(class) * 0x5555_5555_5555_5555);
        let (mut at, end) = (first, first + count);
        while at < end {
            let stop = end.min((at / IN_WORD + 1) * IN_WORD);
            // A word that has the class already, as one has that is hinted again, takes no walk.
            if self.classes[(at / IN_WORD) as usize] != whole {
                (at..stop).for_each(|lpn| self.hint_unit(lpn, new, &group_of, &mut changed));
            }
            at = stop;
        }
        (0..).map(BlockGroup).zip(changed).filter(|(_, is_changed)| *is_changed).map(|(group, _)| group).collect()
    }

    fn hint_unit(&mut self, lpn: u32, new: u64, group_of: impl Fn(u32) -> Option<BlockGroup>, changed: &mut [bool]) {
        let old = self.code_of(lpn);
        if old == new {
            return;
        }
        let (word, shift) = ((lpn / IN_WORD) as usize, lpn % IN_WORD * 2);
        self.classes[word] = self.classes[word] & !(3 << shift) | new << shift;
        self.hinted = self.hinted + u32::from(old == 0) - u32::from(new == 0);
        let Some(group) = group_of(lpn) else { return };
        let counts = &mut self.counts[group.index()];
        if old > 0 {
            counts[old as usize - 1] -= 1;
        }
        if new > 0 {
            counts[new as usize - 1] += 1;
        }
        changed[group.index()] = true;
    }

    fn image(&self, units: u32) -> ToleranceTable {
        let mut runs: Vec<(u32, u8)> = Vec::new();
        for lpn in 0..units {
            let code = self.code_of(lpn) as u8;
            if runs.last().map_or(0, |&(_, last)| last) != code {
                runs.push((lpn, code));
            }
        }
        ToleranceTable(runs)
    }
}

/// Group in which `lpn` is valid on flash.
fn group_of(core: &Core, lpn: u32) -> Option<BlockGroup> {
    Some(core.map().get(lpn)).filter(|&addr| addr != UnitAddr::NONE).map(|addr| core.layout().group(addr))
}

/// Give `count` units of `core` from `first` on this `class`. Returns the groups in which that changes what is tolerated, in rising order. A core in which no
/// technique asks for it keeps no classes.
pub(crate) fn hint(core: &mut Core, (first, count): (u32, u32), class: Tolerance) -> Vec<BlockGroup> {
    if !core.services().keeps_tolerances() || (core.services().tolerances().is_none() && class == Tolerance::Default) {
        return Vec::new();
    }
    let (units, groups) = (core.map().exported(), core.layout().group_count());
    let mut table = core.services_mut().tolerances_mut().take().unwrap_or_else(|| Box::new(Tolerances::new(units, groups)));
    let changed = table.hint((first, count), class, |lpn| group_of(core, lpn));
    *core.services_mut().tolerances_mut() = (table.hinted > 0).then_some(table);
    changed
}

/// Class of `lpn`.
pub(crate) fn class_of(core: &Core, lpn: u32) -> Tolerance {
    let code = core.services().tolerances().map_or(0, |table| table.code_of(lpn));
    code.checked_sub(1).map_or(Tolerance::Default, |class| CLASSES[class as usize])
}

/// Count the data of `lpn` that lies at `addr` now.
#[cold]
#[inline(never)]
pub(crate) fn landed(core: &mut Core, lpn: u32, addr: UnitAddr) {
    let group = core.layout().group(addr);
    core.services_mut().tolerances_mut().iter_mut().for_each(|table| table.landed(lpn, group));
}

/// Count the data of `lpn` at `addr` no more.
#[cold]
#[inline(never)]
pub(crate) fn left(core: &mut Core, lpn: u32, group: BlockGroup) {
    core.services_mut().tolerances_mut().iter_mut().for_each(|table| table.left(lpn, group));
}

/// Image of the classes of `core`.
pub(crate) fn image(core: &Core) -> ToleranceTable {
    core.services().tolerances().map_or(ToleranceTable::default(), |table| table.image(core.map().exported()))
}

/// Restore the classes of `core`, whose map is restored, from `table`. A core that keeps none ignores it.
pub(crate) fn restore(core: &mut Core, table: &ToleranceTable) -> Result<(), &'static str> {
    let (runs, units) = (&table.0, core.map().exported());
    let is_sound = runs.windows(2).all(|pair| pair[0].0 < pair[1].0) && runs.iter().all(|&(first, code)| first < units && code < 4);
    if !is_sound {
        return Err("its tolerances of read latency are of no drive of this size");
    }
    for (at, &(first, code)) in runs.iter().enumerate() {
        let end = runs.get(at + 1).map_or(units, |&(next, _)| next);
        let class = code.checked_sub(1).map_or(Tolerance::Default, |class| CLASSES[usize::from(class)]);
        hint(core, (first, end - first), class);
    }
    Ok(())
}

/// First group whose counts are not those that map and classes come to.
pub(crate) fn wrong(core: &Core) -> Option<BlockGroup> {
    let table = core.services().tolerances()?;
    let layout: &Layout = core.layout();
    let mut counts = vec![[0; CLASSES.len()]; layout.group_count()];
    for lpn in (0..core.map().exported()).filter(|&lpn| table.code_of(lpn) > 0) {
        if let Some(group) = group_of(core, lpn) {
            counts[group.index()][table.code_of(lpn) as usize - 1] += 1;
        }
    }
    counts.iter().zip(&table.counts).position(|(right, counted)| right != counted).map(|group| BlockGroup(group as u32))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::tests::small;
    use crate::setup::{build, construct};

    /// A core of which the first 60 of 64 units are written.
    fn filled() -> Core {
        let crate::dispatch::Rooms { mut core, mut sanitise, .. } = build(&small(64));
        construct::fill(&mut core, &mut sanitise, 60);
        core.services_mut().keep_tolerances(true);
        core
    }

    fn counted(core: &Core, group: u32) -> [u32; 4] {
        [Tolerance::Shortest, Tolerance::Typical, Tolerance::Longer, Tolerance::Default]
            .map(|class| core.view().units_tolerating(BlockGroup(group), class))
    }

    #[test]
    fn a_hint_moves_the_counts_of_what_is_mapped_in_its_range() {
        let mut core = filled();
        let valid = core.groups().valid(BlockGroup(0));
        assert_eq!(counted(&core, 0), [0, 0, 0, valid], "nothing is hinted");
        let changed = hint(&mut core, (0, 64), Tolerance::Longer);
        assert!(changed.contains(&BlockGroup(0)) && changed.is_sorted());
        assert_eq!((counted(&core, 0), wrong(&core)), ([0, 0, valid, 0], None));
        assert_eq!(hint(&mut core, (0, 64), Tolerance::Longer), [], "nothing has changed");
        let inside = (0..60).filter(|&lpn| group_of(&core, lpn) == Some(BlockGroup(0))).collect::<Vec<_>>();
        assert_eq!(hint(&mut core, (inside[0], 1), Tolerance::Shortest), [BlockGroup(0)]);
        assert_eq!((counted(&core, 0), wrong(&core)), ([1, 0, valid - 1, 0], None));
        let group = BlockGroup(0);
        left(&mut core, inside[0], group);
        assert_eq!(wrong(&core), Some(group), "a unit that the map has is missing");
        let addr = core.map().get(inside[0]);
        landed(&mut core, inside[0], addr);
        assert_eq!(wrong(&core), None);
        hint(&mut core, (0, 64), Tolerance::Default);
        assert!(core.services().tolerances().is_none(), "without a hint there is no table");
    }

    #[test]
    fn classes_are_restored_and_counted_anew() {
        let mut core = filled();
        hint(&mut core, (3, 40), Tolerance::Typical);
        hint(&mut core, (40, 20), Tolerance::Longer);
        let table = image(&core);
        assert_eq!(table.0, [(3, 2), (40, 3), (60, 0)]);
        let mut other = filled();
        restore(&mut other, &table).expect("it is of such a core");
        assert_eq!(core.services().tolerances(), other.services().tolerances());
        for wrong in [vec![(3, 4)], vec![(64, 1)], vec![(5, 1), (5, 2)]] {
            restore(&mut filled(), &ToleranceTable(wrong)).expect_err("no core has such classes");
        }
        let crate::dispatch::Rooms { mut core, .. } = build(&small(64));
        restore(&mut core, &table).expect("it has no use for it");
        assert!(core.services().tolerances().is_none());
    }
}
