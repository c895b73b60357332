//! What each job of a workload got beside the others, as a table.

use super::layout::line;
use crate::number::{fit, number};
use wordline_figures::DriveResult;
use wordline_figures::catalogue::{Depth, latency};

/// Widths of the column of names: it is as wide as the longest of them needs.
const NAME: std::ops::RangeInclusive<usize> = 16..=32;
/// Columns of what was moved, with the width of each.
const MOVED: [(&str, usize); 5] = [("s", 8), ("requests", 12), ("IOPS", 10), ("rd MiB/s", 10), ("wr MiB/s", 10)];
/// Width of a column of latencies.
const WIDTH: usize = 12;

/// A row for each job, and one for the latencies of its reads and writes; nothing where the workload has no jobs.
pub(super) fn table(text: &mut String, drive: &DriveResult) {
    if drive.jobs.is_empty() {
        return;
    }
    let longest = drive.jobs.iter().map(|job| job.name.chars().count() + 2).max().unwrap_or(0);
    let name_width = longest.clamp(*NAME.start(), *NAME.end());
    let header: String = MOVED.iter().map(|(name, width)| format!("{name:>width$}")).collect();
    line(text, &format!("  {:<name_width$}{header}", "by job"));
    for job in &drive.jobs {
        let host = &job.host;
        let moved = |requests: u64, rate: f64| if requests > 0 { number(rate) } else { "-".to_owned() };
        let values = [
            number(job.simulated_seconds),
            number(host.served() as f64),
            number(host.iops),
            moved(host.reads, host.read_mib_s),
            moved(host.writes, host.write_mib_s),
        ];
        let cells: String = MOVED.iter().zip(values).map(|((_, width), value)| format!("{:>width$}", fit(&value, width - 1))).collect();
        let mark = if host.failed > 0 { "!" } else { "" };
        line(text, &format!("  {:<name_width$}{cells}", format!("{}{mark}", fit(&job.name, name_width - 2))));
    }
    if drive.jobs.iter().any(|job| job.host.failed > 0) {
        line(text, "  !: requests of it failed, and its figures are of the others");
    }
    text.push('\n');
    let rows = drive.jobs.iter().flat_map(|job| {
        let kinds = [("read", &job.latency_us.read), ("write", &job.latency_us.write)];
        kinds.into_iter().filter_map(|(kind, latency)| Some((job.name.as_str(), kind, latency.as_ref()?)))
    });
    let header: String = latency(Depth::Most).map(|column| format!("{:>WIDTH$}", column.head)).collect();
    line(text, &format!("  {:<name_width$}{:<6}{header}", "latency, us", ""));
    for (name, kind, of) in rows {
        let cells: String = latency(Depth::Most).map(|column| format!("{:>WIDTH$}", fit(&number((column.of)(of)), WIDTH - 1))).collect();
        line(text, &format!("  {:<name_width$}{kind:<6}{cells}", fit(name, name_width - 2)));
    }
    text.push('\n');
}
