//! Units whose copy on flash the core does not return, and why: what the host is told of lost data comes from here.

use std::ops::Range;

use wordline_units::DieId;

use crate::state::Core;
use crate::state::failures::{Failures, place_of};

/// Reason why a core does not return its copy of a unit on flash. Sectors of the unit in the write buffer can be read all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Withheld {
    /// The copy lies on this die, as the core counts it, which has failed.
    Lost(DieId),
    /// The core cannot tell whether the copy is the newest.
    Refused,
    /// A read of the copy has failed.
    Unreadable,
}

/// Units in a row that are lost with one die.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostRun {
    /// Logical units of the core.
    pub units: Range<u32>,
    /// Die that they were lost with, as the core counts it.
    pub die: DieId,
}

/// Reason why the copy of `lpn` is not returned; `None`: it is.
pub(crate) fn of(core: &Core, lpn: u32) -> Option<Withheld> {
    if let Some(die) = lost_with(core, lpn) {
        return Some(Withheld::Lost(die));
    }
    if core.is_refused(lpn) {
        return Some(Withheld::Refused);
    }
    let is_unreadable = |failures: &Failures| !failures.unreadable().is_empty() && failures.unreadable().has(lpn, place_of(core, lpn));
    core.failures().is_some_and(is_unreadable).then_some(Withheld::Unreadable)
}

/// Number of units whose copy is not returned. Where some are refused and others are lost, it looks at each mapped unit.
pub(crate) fn count(core: &Core) -> u64 {
    let refused = core.refused().map_or(0, |refused| u64::from(refused.count()));
    let Some(failures) = core.failures() else { return refused };
    let refused_too = if refused > 0 && failures.lost() > 0 {
        let runs = lost(core, 0..core.map().exported());
        runs.flat_map(|run| run.units).filter(|&lpn| core.is_refused(lpn)).count() as u64
    } else {
        0
    };
    let unreadable = failures.unreadable().all(|lpn| place_of(core, lpn)).filter(|&lpn| of(core, lpn) == Some(Withheld::Unreadable));
    refused + failures.lost() - refused_too + unreadable.count() as u64
}

fn lost_with(core: &Core, lpn: u32) -> Option<DieId> {
    let addr = core.map().get(lpn);
    core.is_lost(addr).then(|| core.layout().die(core.layout().group(addr)))
}

/// Lost units of `range` as runs, first unit first.
pub(crate) fn lost(core: &Core, range: Range<u32>) -> impl Iterator<Item = LostRun> + '_ {
    let is_any = core.failures().is_some_and(|failures| failures.lost() > 0);
    let end = if is_any { range.end.min(core.map().exported()) } else { range.start };
    let mut at = range.start;
    std::iter::from_fn(move || {
        while at < end {
            let Some(die) = lost_with(core, at) else {
                at = core.map().skip_unmapped(at + 1);
                continue;
            };
            let first = at;
            while at < end && lost_with(core, at) == Some(die) {
                at += 1;
            }
            return Some(LostRun { units: first..at, die });
        }
        None
    })
}
