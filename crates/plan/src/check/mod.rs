//! The second stage: how values go together. Each rule names the key, its value and what was expected.

mod capacity;
mod chip;
mod classes;
mod drive;
mod margins;
mod mistakes;
mod stops;
mod tables;
mod techniques;

use wordline_cells::{Age, Physics};
use wordline_drive::Config;
use wordline_drive::config::Cells;
use wordline_ftl::scheduler::Scheduler;
use wordline_units::Celsius;

use crate::course::Course;
use crate::keys::filled::Sections;
use crate::kind::{Degrees, Kind, Maybe, Share};
use crate::layer::{Mistakes, Origin, Set};
use crate::load::Gathered;

pub(crate) use chip::{IDS, PLANES_MAX, wordlines};
pub(crate) use classes::classes;
pub(crate) use margins::check as margins;
pub(crate) use tables::{check as tables, own_seed};
pub(crate) use techniques::{outlived, overread, spared};

/// Checks a plan and works out what the drive needs; `None` where there are mistakes that leave nothing to work with. What can be checked without it still
/// is.
pub(crate) fn check(sections: &mut Sections, gathered: &Gathered, mistakes: &mut Mistakes<'_>) -> Option<Config> {
    // Either of the two, and the nearer text wins: the other is taken back, so that what is described is what holds.
    let (op, capacity) = (&sections.mapping.over_provisioning, &sections.mapping.capacity);
    if op.value.0.is_some() && capacity.value.0.is_some() {
        match gathered.rank(&op.origin).cmp(&gathered.rank(&capacity.origin)) {
            std::cmp::Ordering::Less => sections.mapping.capacity.value.0 = None,
            std::cmp::Ordering::Greater => sections.mapping.over_provisioning.value.0 = None,
            std::cmp::Ordering::Equal => {
                mistakes.at(&capacity.origin, "mapping.capacity and mapping.over_provisioning say the same thing: set one of them", None);
            }
        }
    }
    // Only whole victims can be preempted.
    if sections.gc.preemptible.value && sections.gc.scheduler.origin == Origin::Default {
        sections.gc.scheduler.value = Scheduler::Classic;
    }
    if sections.controller.link_in.origin == Origin::Default {
        sections.controller.link_in.value = sections.controller.link.value;
    }
    let sheet = chip::check(sections, mistakes);
    let rates = drive::check(sections, mistakes);
    let sheet = sheet?;
    let config = drive::assemble(sections, sheet, rates?);
    capacity::check(sections, config, mistakes)
}

/// The block groups of a die below which garbage collection runs.
fn gc_start(sections: &Sections) -> u32 {
    sections.gc.start.value.of(sections.geometry.blocks.value)
}

/// The cells of the drive; `None` where they have no physics, or it is off.
pub(crate) fn cells(sections: &Sections, physics: Option<&Physics>, mistakes: &mut Mistakes<'_>) -> Option<Cells> {
    let Some(physics) = physics.filter(|_| sections.cells.physics.value).cloned() else {
        check_course(sections, mistakes);
        return None;
    };
    let by_rate = [
        ("retries.share", &sections.retries.share, "a read needs what they say", "retries"),
        ("programs.saving", &sections.programs.saving, "a program takes what they say", "programs"),
    ];
    for (key, share, says, what) in by_rate.into_iter().filter(|(_, share, ..)| share.value != Share::NONE) {
        let told = format!("{key} is {}, and the cells have their physics: {says}", share.value.write().trim_matches('"'));
        mistakes.at(&share.origin, told, Some(format!("set cells.physics = false for {what} by rate")));
    }
    let own = physics.retention.temperature;
    let celsius = |set: &Set<Maybe<Degrees>>| set.value.0.map_or(own, Degrees::celsius);
    let (cycles, retention) = (worn_by(sections), sections.cells.retention.value.0);
    let dwells: Vec<f64> = sections.cells.dwells.value.0.iter().map(|dwell| dwell.0 as f64).collect();
    check_dwells(sections, mistakes);
    let age = (cycles > 0 || retention > 0).then(|| Age {
        cycles: f64::from(cycles),
        dwell: sections.cells.dwell.value.0 as f64,
        retention: retention as f64,
        temperature: celsius(&sections.cells.kept_at),
    });
    let course = sections.cells.temperature.value.0.as_ref();
    let temperature = Celsius(course.map_or(own, |course| course.first().celsius()));
    Some(Cells { temperature, changes: course.map_or_else(Vec::new, Course::changes), age, dwells, physics })
}

/// A temperature that changes is felt by cells with physics alone.
fn check_course(sections: &Sections, mistakes: &mut Mistakes<'_>) {
    let temperature = &sections.cells.temperature;
    if temperature.value.0.as_ref().is_some_and(|course| !course.changes().is_empty()) {
        let told = "cells.temperature changes over time, and the cells have no physics: nothing feels it".to_owned();
        let help = "leave the later temperatures out, or take a chip with [physics.*] and cells.physics = true";
        mistakes.at(&temperature.origin, told, Some(help.to_owned()));
    }
}

/// P/E cycles that blocks have behind them.
pub(crate) fn worn_by(sections: &Sections) -> u32 {
    sections.cells.cycles.value.of(sections.cells.lifetime.value)
}

/// Rests of single blocks take the place of the one rest of all, and are of no use to blocks without cycles.
fn check_dwells(sections: &Sections, mistakes: &mut Mistakes<'_>) {
    let (dwells, dwell) = (&sections.cells.dwells, &sections.cells.dwell);
    if dwells.value.0.is_empty() {
        return;
    }
    if worn_by(sections) == 0 {
        let help = "set cells.cycles to the cycles between which blocks have rested";
        mistakes.at(&dwells.origin, "cells.dwells does nothing: cells.cycles is 0".to_owned(), Some(help.into()));
    }
    if dwell.value.0 > 0 {
        let what = format!("cells.dwell is {}, and cells.dwells takes its place", dwell.value.write().trim_matches('"'));
        mistakes.at(&dwell.origin, what, Some("set cells.dwell = \"0 s\", or leave out cells.dwells".into()));
    }
}

/// A count that must be between two others.
pub(crate) fn within(mistakes: &mut Mistakes<'_>, key: &str, set: &Set<u32>, least: u32, most: u32) {
    let value = set.value;
    if value < least {
        mistakes.at(&set.origin, format!("{key} is {value}: expected at least {least}"), None);
    } else if value > most {
        mistakes.at(&set.origin, format!("{key} is {value}: expected at most {most}"), None);
    }
}
