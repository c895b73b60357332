//! Warnings: what makes figures say something else than they seem to.

use wordline_figures::result::{SaturatedResult, names};
use wordline_figures::{DriveResult, Report};

use super::{rewrites, spared, techniques};
use crate::number::{count, number, percent};

/// The share of what is read that may hold nothing without a warning.
const BLANK_MAX: f64 = 0.01;

/// Warnings about one run: reads of what was never written, lost data, a load that the drive cannot follow, rewrites that starve, idle techniques.
pub fn of_run(run: &DriveResult) -> Vec<String> {
    let mut warnings = Vec::new();
    let blank = run.host.read_blank_bytes as f64 / (run.host.read_bytes as f64).max(1.0);
    if blank > BLANK_MAX {
        warnings.push(format!(
            "{} of what was read holds nothing: it was never written, or was trimmed. Such reads cost no flash read, and the figures are better for it; \
             --fill 100% fills the drive first, and --prefill-reads writes what a trace reads before it writes it",
            percent(blank)
        ));
    }
    if run.lost_units > 0 {
        warnings.push(format!(
            "data is lost: {} mapping units could not be read when the drive had to move or complete them",
            count(run.lost_units)
        ));
    }
    warnings.extend(run.saturated.as_ref().map(|found| unable(found, !run.phases.is_empty())));
    warnings.extend(run.rewrites.iter().filter_map(|of| rewrites::warning(of, run.simulated_seconds)));
    warnings.extend(run.spared.as_ref().and_then(spared::warning));
    warnings.extend(run.techniques.iter().filter_map(techniques::warning));
    warnings
}

/// Sentence on an open loop that a drive could not follow; `has_phases`: it is one of several phases.
fn unable(found: &SaturatedResult, has_phases: bool) -> String {
    let of = if has_phases { format!(" of phase {}", found.phase) } else { String::new() };
    if found.growth_per_second > 0.0 {
        return format!(
            "saturated: the drive does not keep up with the open loop{of}. {} requests were in flight when the last one came, {} more with each second, of {} that were \
             asked for in it: latencies say how long the run was, not how fast the drive is",
            count(found.backlog),
            number(found.growth_per_second),
            number(found.asked_per_second)
        );
    }
    format!(
        "saturated: the drive does not keep up with the bursts of the open loop{of}. Up to {} requests were in flight, {} when the last one came, and {} of their \
         latency is time in the host's queue: latencies say how long the bursts were, not how fast the drive is",
        count(found.most),
        count(found.backlog),
        percent(found.queued_share)
    )
}

/// The warnings of all drives, each with the drives that it is of; what differs by seed alone is told once, with the first of them.
pub fn of_report(report: &Report) -> Vec<String> {
    let mut told: Vec<(String, &str, &str)> = Vec::new();
    for (cell, drive) in report.runs() {
        let of = cell.map(|cell| format!(", {}", cell.title())).unwrap_or_default();
        for warning in &drive.warnings {
            let (kind, key) =
                (warning.split(|letter: char| letter.is_ascii_digit()).next().unwrap_or_default(), format!("{}{of}", drive.name));
            if !told.iter().any(|(known, known_kind, _)| (known, *known_kind) == (&key, kind)) {
                told.push((key, kind, warning));
            }
        }
    }
    let of_sweep = report.sweep.iter().flat_map(|sweep| &sweep.warnings).cloned();
    let of_comparison = cautions(&report.drives).into_iter().filter(|_| report.comparison.is_some());
    let of_cells = report
        .cells
        .iter()
        .filter(|_| report.sweep.is_none())
        .flat_map(|cell| cautions(&cell.drives).into_iter().map(|caution| format!("{}: {caution}", cell.title())));
    of_sweep.chain(of_comparison).chain(of_cells).chain(told.into_iter().map(|(of, _, warning)| format!("{of}: {warning}"))).collect()
}

/// Cautions about the runs of one comparison.
fn cautions(drives: &[DriveResult]) -> Vec<String> {
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
    let of = |name: &&&str| drives.iter().filter(|run| run.name == **name).all(|drive| drive.is_unreached());
    let unreached: Vec<&str> = all.iter().filter(of).copied().collect();
    let by = if unreached.len() == all.len() { String::new() } else { format!(" by {}", unreached.join(", ")) };
    (!unreached.is_empty()).then(|| {
        format!(
            "garbage collection was not reached{by}: write amplification is that of a drive which still has free blocks. Write more (--requests, --repeat), \
             fill it (--fill 100%), or measure with --until-steady"
        )
    })
}
