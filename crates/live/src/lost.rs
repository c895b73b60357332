//! Lost data, as reported to clients, from the tables of the drive's firmware alone: losses that it has not noticed are not reported.

use wordline_drive::{LbaStatus, Reason, Watched};
use wordline_engine::Completion;
use wordline_units::DieId;
use wordline_units::host::SECTOR_BYTES;

use crate::ask::Told;
use crate::disk::Watch;

/// Runs in an answer, at most.
const RUNS_MAX: usize = 1024;

/// Mapping units that are looked at for an answer, at most: the drive stands still meanwhile.
const UNITS_MAX: u64 = 1 << 21;

/// Lost stretches of a range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostFound {
    /// The stretches, lowest first.
    pub runs: Vec<LbaStatus>,
    /// Offset of the next question; `None`: the list is complete.
    pub next: Option<u64>,
    /// Number of times since the start that something has gone from whole to lost.
    pub generation: u64,
}

/// The lost stretches from byte `from` to byte `end`; with an `element`, only those on that die.
pub(crate) fn lost(drive: &Watched<Watch>, from: u64, end: u64, element: Option<DieId>) -> Told {
    let dies = drive.config().sheet.geometry.dies();
    if let Some(die) = element.filter(|die| u32::from(die.0) >= dies) {
        return Told::Refused(format!("\"element\" is die:{}: the drive has {dies} dies, counted from 0", die.0));
    }
    let until = end.min(from.saturating_add(UNITS_MAX * drive.unit_bytes().0));
    let mut all = drive.lba_status(from / SECTOR_BYTES..until.div_ceil(SECTOR_BYTES), element);
    let runs: Vec<LbaStatus> = all.by_ref().take(RUNS_MAX).collect();
    let next = all.next().map(|run| run.lba * SECTOR_BYTES).or_else(|| (until < end).then_some(until));
    Told::Lost(LostFound { runs, next, generation: drive.lost_generation() })
}

/// The place of the first lost byte of the read that has failed, counted from its first, and the reason of its loss in a sentence.
pub(crate) fn lost_in(drive: &Watched<Watch>, read: &Completion) -> (Option<u64>, &'static str) {
    let (mut at, end) = (read.sector, read.sector + u64::from(read.sectors));
    let mut noticed = None;
    while at < end && noticed.is_none() {
        let (loss, until) = drive.loss_at(at);
        noticed = loss.map(|loss| (at, loss.reason));
        at = until;
    }
    let known = drive.first_lost(read.request).map(|first| read.sector + u64::from(first));
    let first = known.into_iter().chain(noticed.map(|(at, _)| at)).min();
    let why = match noticed.map(|(_, reason)| reason) {
        Some(Reason::Lost) => "the data is lost with its die, which has failed",
        Some(Reason::Refused) => "nobody can tell whether what there is of the data is the newest",
        Some(Reason::Unreadable) | None => "the data cannot be corrected",
    };
    (first.map(|first| (first - read.sector) * SECTOR_BYTES), why)
}

/// A sentence on lost or refused data, and on a drive that takes no more writes; `None`: neither, as far as the firmware has noticed.
pub(crate) fn loss(drive: &Watched<Watch>) -> Option<String> {
    let (health, is_worn_out) = (drive.health(), drive.is_worn_out());
    let worn_out = is_worn_out.then(|| "the drive takes no more writes, as a firmware core has no room for them: replace it".to_owned());
    if health.unreadable == 0 {
        return worn_out;
    }
    let dies: Vec<String> = drive.failed_dies().map(|die| die.0.to_string()).collect();
    let on_dies = drive.firmware().iter().map(|core| core.lost_units()).sum::<u64>();
    let others = health.unreadable.saturating_sub(on_dies + health.refused);
    let of_dies = format!("{on_dies} units are lost with {} {}", if dies.len() > 1 { "dies" } else { "die" }, dies.join(", "));
    let parts = [
        (on_dies > 0).then_some(of_dies),
        (health.refused > 0)
            .then(|| format!("{} units are refused, as nobody can tell whether what there is of them is the newest", health.refused)),
        (others > 0).then(|| format!("{others} units cannot be read")),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let until = if is_worn_out { "" } else { " until they are written or trimmed" };
    let lost = format!("{}: they answer EIO{until}", parts.join("; "));
    Some(worn_out.into_iter().chain([lost]).collect::<Vec<_>>().join("; "))
}
