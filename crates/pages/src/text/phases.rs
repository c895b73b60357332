//! What a drive did in each phase of a workload, as a table.

use super::layout::line;
use crate::number::{fit, number};
use wordline_figures::result::DriveResult;

const NAME: usize = 14;
/// Columns, with the width of each.
const COLUMNS: [(&str, usize); 9] =
    [("s", 8), ("IOPS", 9), ("rd MiB/s", 9), ("wr MiB/s", 9), ("rd mean", 10), ("rd p99", 10), ("wr mean", 10), ("wr p99", 11), ("WAF", 8)];

/// A row for each phase; nothing where the workload has one.
pub(super) fn table(text: &mut String, drive: &DriveResult) {
    if drive.phases.is_empty() {
        return;
    }
    let header: String = COLUMNS.iter().map(|(name, width)| format!("{name:>width$}")).collect();
    line(text, &format!("  {:<NAME$}{header}", "by phase, us"));
    for phase in &drive.phases {
        let latency = &phase.latency_us;
        let mean_and_tail = |latency: &Option<wordline_figures::result::Latency>| {
            latency.as_ref().map_or([None; 2], |latency| [Some(latency.mean), Some(latency.p99)])
        };
        let [read, write] = [mean_and_tail(&latency.read), mean_and_tail(&latency.write)];
        let moved = |requests: u64, rate: f64| (requests > 0).then_some(rate);
        let values = [
            Some(phase.simulated_seconds),
            Some(phase.host.iops),
            moved(phase.host.reads, phase.host.read_mib_s),
            moved(phase.host.writes, phase.host.write_mib_s),
            read[0],
            read[1],
            write[0],
            write[1],
            phase.waf.total,
        ];
        let cells: String = COLUMNS
            .iter()
            .zip(values)
            .map(|((_, width), value)| format!("{:>width$}", value.map_or("-".to_owned(), |value| fit(&number(value), width - 1))))
            .collect();
        let mark = if phase.host.failed > 0 { "!" } else { "" };
        line(text, &format!("  {:<NAME$}{cells}", format!("{}{mark}", fit(&phase.name, NAME - 2))));
    }
    if drive.phases.iter().any(|phase| phase.host.failed > 0) {
        line(text, "  !: requests of it failed, and its figures are of the others");
    }
    text.push('\n');
}
