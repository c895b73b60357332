//! Salvage: the best copy of each unit that can be read, where the newest cannot be or nobody can tell whether it is the newest.
//!
//! A core that was recovered so returns what recovery would have refused, and an older version where the newest is lost. It is for looking, not for going on:
//! what is doubtful is told, and is no promise.

use super::scan::{Copied, RecoveryScan, lost};

/// A unit of which a salvage cannot say that its data is the newest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Doubtful {
    /// Logical unit of the core.
    pub unit: u32,
    /// State of its data.
    pub doubt: Doubt,
}

/// Reason why the data of a unit is doubtful.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Doubt {
    /// Doubt: the core cannot tell whether it is the newest, or whether it was trimmed.
    Unproved,
    /// Older data: the newest cannot be read.
    Older,
    /// None of its copies can be read.
    Unreadable,
}

/// Put the best copy that can be read in the place of each that cannot be, and let nothing be refused. Returns what is doubtful, lowest unit first.
pub(super) fn take_best(scan: &mut RecoveryScan) -> Vec<Doubtful> {
    let Some(readable) = scan.readable.take() else { return Vec::new() };
    let is_all = std::mem::take(&mut scan.is_unknown);
    let mut refused = vec![is_all; readable.len()];
    for (lpn, version) in lost::refused_before(scan).collect::<Vec<_>>() {
        if lost::newest_version(scan, lpn) < version {
            refused[lpn as usize] = true;
        }
    }
    let mut doubtful = Vec::new();
    for (unit, (copy, is_refused)) in (0..).zip(readable.into_iter().zip(refused)) {
        let best = scan.best[unit as usize];
        let doubt = match (best != Copied::NONE && lost::is_lost(scan, &best), copy == Copied::NONE) {
            (true, true) => Some(Doubt::Unreadable),
            (true, false) => {
                scan.best[unit as usize] = copy;
                Some(if copy.version < best.version { Doubt::Older } else { Doubt::Unproved })
            }
            (false, _) => is_refused.then_some(Doubt::Unproved),
        };
        doubtful.extend(doubt.map(|doubt| Doubtful { unit, doubt }));
    }
    doubtful
}
