//! Lost data as the drive's own firmware knows it: dies that it has found failed, units that it refuses, pages that it could not read.
//!
//! Nothing here looks into the chips. Losses that the firmware has not noticed are not reported.

use std::ops::Range;

use wordline_ftl::{Doubt, Firmware, UnitAddr, Withheld};
use wordline_units::DieId;

use crate::machine::Machine;

/// Reason why sectors answer with an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Die failure: the die that holds them has failed.
    Lost,
    /// The firmware cannot tell whether its copy is the newest.
    Refused,
    /// Read failure: the page could not be read, or could not when it was moved.
    Unreadable,
}

/// Record of sectors that answer with an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loss {
    /// The reason.
    pub reason: Reason,
    /// Die that their unit lies on, counted over the drive, if it lies on any.
    pub die: Option<DieId>,
}

/// Sectors in a row that answer with an error, for one reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LbaStatus {
    /// First sector.
    pub lba: u64,
    /// Number of sectors.
    pub count: u64,
    /// Reason for the error.
    pub loss: Loss,
}

/// Dies that the firmware has found to have failed, counted over the drive, core by core.
pub(crate) fn failed_dies(machine: &Machine) -> impl Iterator<Item = DieId> + '_ {
    (0..).zip(machine.ftls()).flat_map(move |(core, ftl)| ftl.failed_dies().map(move |die| machine.dies().die(core, die)))
}

/// Number of times since this start that units have gone from whole to lost.
pub(crate) fn lost_generation(machine: &Machine) -> u64 {
    machine.ftls().iter().map(Firmware::lost_generation).sum()
}

/// Number of mapping units that the firmware refuses.
pub(crate) fn refused_units(machine: &Machine) -> u64 {
    machine.ftls().iter().map(Firmware::refused_units).sum()
}

/// Number of mapping units that answer with an error, in whole or in part, as far as the firmware has noticed since its start.
pub(crate) fn lost_units(machine: &Machine) -> u64 {
    let withheld: u64 = machine.ftls().iter().map(Firmware::withheld_units).sum();
    let is_marked = |core: u32, lpn: u32| lost_in_mark(machine, core, lpn) != 0 && machine.ftls()[core as usize].withheld(lpn).is_none();
    let marked = machine.data().into_iter().flat_map(|data| data.lost_units()).filter(|&(core, lpn)| is_marked(core, lpn)).count() as u64;
    // Sectors of them that the buffer holds can be read, and it may hold lost sectors of others.
    let (mut healed, mut spoilt) = (0, 0);
    for (core, ftl) in (0..).zip(machine.ftls()) {
        let mut units: Vec<u32> = ftl.units_in_buffer().collect();
        units.sort_unstable();
        units.dedup();
        for lpn in units {
            let was_counted = ftl.withheld(lpn).is_some() || is_marked(core, lpn);
            let is_lost = loss_of(machine, core, lpn).is_some();
            healed += u64::from(was_counted && !is_lost);
            spoilt += u64::from(!was_counted && is_lost);
        }
    }
    withheld + marked + spoilt - healed
}

/// Reason for the error of `sector`, if it answers with an error, and the first sector behind it of which something else may be known.
///
/// # Panics
/// If there is no such sector.
pub(crate) fn loss_at(machine: &Machine, sector: u64) -> (Option<Loss>, u64) {
    let unit = machine.host().units().holding(sector);
    assert!(unit < machine.config().exported_units, "sector {sector} is beyond the drive");
    let (core, lpn) = machine.host().stripe().locate(unit);
    let (first, sectors) = (unit * machine.host().units().sectors(), machine.host().units().sectors());
    let Some((lost, loss)) = loss_of(machine, core, lpn) else { return (None, first + sectors) };
    let here = lost >> (sector - first);
    let is_lost = here & 1 == 1;
    let same = if is_lost { here.trailing_ones() } else { here.trailing_zeros() };
    (is_lost.then_some(loss), (sector + u64::from(same)).min(first + sectors))
}

/// Sectors of `range` that answer with an error, in runs, lowest first; with an `element`, only those whose unit lies on that die. It looks at each unit of
/// the range where anything is lost, and at none elsewhere.
///
/// # Panics
/// If the range goes beyond the drive.
pub(crate) fn lba_status(machine: &Machine, range: Range<u64>, element: Option<DieId>) -> impl Iterator<Item = LbaStatus> + '_ {
    let is_any = lost_units(machine) > 0;
    let (mut at, end) = (range.start, if is_any { range.end } else { range.start });
    let mut look = move || -> Option<LbaStatus> {
        while at < end {
            let (loss, until) = loss_at(machine, at);
            let (lba, until) = (at, until.min(end));
            at = until;
            if let Some(loss) = loss.filter(|loss| element.is_none() || loss.die == element) {
                return Some(LbaStatus { lba, count: until - lba, loss });
            }
        }
        None
    };
    let mut next = look();
    std::iter::from_fn(move || {
        let mut run = next?;
        next = look();
        while let Some(more) = next.filter(|more| more.lba == run.lba + run.count && more.loss == run.loss) {
            run.count += more.count;
            next = look();
        }
        Some(run)
    })
}

/// Stretches of mapping units whose data a salvage ([`wordline_ftl::Trust::Salvage`]) could not prove to be the newest, lowest first: their first unit,
/// their number, and what is known of them.
pub(crate) fn doubtful(machine: &Machine) -> Vec<(u64, u64, Doubt)> {
    let of_core = |(core, ftl): (u32, &Firmware)| -> Vec<(u64, Doubt)> {
        ftl.doubtful().iter().map(|doubtful| (machine.host().stripe().global(core, doubtful.unit), doubtful.doubt)).collect()
    };
    let mut units: Vec<(u64, Doubt)> =
        (0..).zip(machine.ftls()).flat_map(of_core).filter(|&(unit, _)| unit < machine.config().exported_units).collect();
    units.sort_unstable();
    let mut runs: Vec<(u64, u64, Doubt)> = Vec::new();
    for (unit, doubt) in units {
        match runs.last_mut() {
            Some((first, count, same)) if *first + *count == unit && *same == doubt => *count += 1,
            _ => runs.push((unit, 1, doubt)),
        }
    }
    runs
}

/// Lost sectors of the copy of `lpn` on flash, by its mark.
fn lost_in_mark(machine: &Machine, core: u32, lpn: u32) -> u64 {
    let lost = machine.data().map_or(0, |data| data.lost_of(core, lpn));
    if lost == 0 || machine.ftls()[core as usize].map().get(lpn) == UnitAddr::NONE { 0 } else { lost }
}

/// Lost sectors of unit `lpn`, one bit each, and what is known of them; `None`: it has none.
fn loss_of(machine: &Machine, core: u32, lpn: u32) -> Option<(u64, Loss)> {
    let ftl = &machine.ftls()[core as usize];
    let newest = ftl.newest(lpn);
    let whole = u64::MAX >> (64 - machine.host().units().sectors());
    let (withheld, marked) = (ftl.withheld(lpn), lost_in_mark(machine, core, lpn));
    let (held, spoilt) = newest.buffered.map_or((0, 0), |(slot, mask)| {
        let lost = machine.data().map_or(0, |data| data.lost_in(core, slot));
        (mask, lost & mask)
    });
    let on_flash = if withheld.is_some() { whole } else { marked };
    let lost = spoilt | (on_flash & whole & !held);
    let reason = match withheld {
        Some(Withheld::Lost(_)) => Reason::Lost,
        Some(Withheld::Refused) => Reason::Refused,
        Some(Withheld::Unreadable) | None => Reason::Unreadable,
    };
    let layout = ftl.layout();
    let die = (newest.on_flash != UnitAddr::NONE).then(|| machine.dies().die(core, layout.die(layout.group(newest.on_flash))));
    (lost != 0).then_some((lost, Loss { reason, die }))
}
