//! Cautions about a comparison: drives that did the same to the last event, and drives that never had to reclaim.

use crate::compare::names;
use crate::result::DriveResult;

/// True if a run wrote, and nothing had to be freed for it. A drive that is worn out has nothing left to free.
pub(crate) fn is_unreached(run: &DriveResult) -> bool {
    run.host.writes > 0 && run.worn_out_seconds.is_none() && run.erases == 0 && !run.flash.iter().any(|flash| flash.cause == "gc")
}

/// Cautions about the runs of one comparison.
pub(crate) fn of(drives: &[DriveResult]) -> Vec<String> {
    let names = names(drives);
    let logs = |name: &str| -> Vec<(u64, &str)> {
        drives.iter().filter(|run| run.name == name).map(|run| (run.seed, run.event_log_hash.as_str())).collect()
    };
    let base = names.first().map(|base| logs(base)).unwrap_or_default();
    let is_same = |name: &&&str| logs(name) == base;
    let same: Vec<&str> = names.iter().skip(1).filter(is_same).copied().collect();
    let identical = names.first().filter(|_| !same.is_empty()).map(|base| {
        let verb = if same.len() == 1 { "is" } else { "are" };
        format!("{} {verb} identical to {base} to the last event: whatever makes the drives two did nothing here", same.join(", "))
    });
    identical.into_iter().chain(unreached(drives)).collect()
}

/// Caution about runs in which garbage collection was not reached; `None`: it was, or nothing was written.
pub(crate) fn unreached(drives: &[DriveResult]) -> Option<String> {
    let all = names(drives);
    let of = |name: &&&str| drives.iter().filter(|run| run.name == **name).all(is_unreached);
    let unreached: Vec<&str> = all.iter().filter(of).copied().collect();
    let by = if unreached.len() == all.len() { String::new() } else { format!(" by {}", unreached.join(", ")) };
    (!unreached.is_empty()).then(|| {
        format!(
            "garbage collection was not reached{by}: write amplification is that of a drive which still has free blocks. Write more (--requests, --repeat), \
             fill it (--fill 100%), or measure with --until-steady"
        )
    })
}
