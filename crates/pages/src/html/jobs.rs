//! The jobs of a workload on the page: a table, and the latencies of each beside those of the others.

use std::fmt::Write;

use wordline_units::HostOp;

use super::axis::micros;
use super::chart::Line;
use super::escape;
use super::over_time::nines;
use crate::number::{count, number};
use wordline_figures::catalogue::{self, Depth};
use wordline_figures::conclude::DriveDetail;
use wordline_figures::result::{DriveResult, Latency};

/// Jobs that a chart shows: as many as there are colours.
const SHOWN: usize = 16;

/// Every job of every drive; nothing where the workload has none.
pub(super) fn table(drives: &[&DriveResult]) -> String {
    if drives.iter().all(|drive| drive.jobs.is_empty()) {
        return String::new();
    }
    let latencies = || catalogue::latency(Depth::Most);
    let mut html = String::from("<h2>By job</h2><div class=\"tablebox\"><table><thead><tr>");
    for name in ["job", "took", "requests", "failed", "IOPS", "reads MiB/s", "writes MiB/s"] {
        let _ = write!(html, "<th>{name}</th>");
    }
    for (kind, column) in ["read", "write"].iter().flat_map(|kind| latencies().map(move |column| (kind, column))) {
        let _ = write!(html, "<th>{kind} {}</th>", column.head);
    }
    html.push_str("</tr></thead><tbody>");
    for (drive, job) in drives.iter().flat_map(|drive| drive.jobs.iter().map(move |job| (drive, job))) {
        let host = &job.host;
        let name = if drives.len() > 1 { format!("{}, {}", job.name, drive.name) } else { job.name.clone() };
        let moved = |requests: u64, rate: f64| if requests > 0 { number(rate) } else { "–".to_owned() };
        let first = [
            escape(&name),
            format!("{} s", number(job.simulated_seconds)),
            count(host.served()),
            if host.failed > 0 { format!("<b class=\"worse\">{}</b>", count(host.failed)) } else { "–".to_owned() },
            number(host.iops),
            moved(host.reads, host.read_mib_s),
            moved(host.writes, host.write_mib_s),
        ];
        let spans = |of: &Option<Latency>| -> Vec<String> {
            latencies().map(|column| of.as_ref().map_or("–".to_owned(), |of| micros((column.of)(of)))).collect()
        };
        html.push_str("<tr>");
        for cell in first.into_iter().chain(spans(&job.latency_us.read)).chain(spans(&job.latency_us.write)) {
            let _ = write!(html, "<td>{cell}</td>");
        }
        html.push_str("</tr>");
    }
    html.push_str("</tbody></table></div>");
    html
}

/// The distribution of the latency of reads and of writes, a line for each job, of each drive.
pub(super) fn distributions(details: &[&DriveDetail]) -> Vec<String> {
    let each = details.iter().flat_map(|detail| HostOp::ALL.into_iter().map(move |op| (*detail, op)));
    each.filter_map(|(detail, op)| {
        let line = |(number, job): (usize, &wordline_figures::conclude::JobDetail)| {
            let points = job.curves[op as usize].iter().map(|(span, fraction)| (span.as_micros_f64(), Some(*fraction)));
            Line { label: job.name.clone(), drive: number, points: points.collect(), ..Line::default() }
        };
        let mut lines: Vec<Line> = detail.jobs.iter().take(SHOWN).enumerate().map(line).collect();
        lines.retain(|line| !line.points.is_empty());
        let kind = match op {
            HostOp::Read => "Read",
            HostOp::Write => "Write",
            HostOp::Trim => "Trim",
            HostOp::Flush => "Flush",
            HostOp::Hint => "Hint",
        };
        let of = if details.len() > 1 { format!(", {}", detail.name) } else { String::new() };
        let most = if detail.jobs.len() > SHOWN { format!(" (the first {SHOWN})") } else { String::new() };
        nines(format!("{kind} latency by job{most}{of}"), lines)
    })
    .map(|chart| chart.html())
    .collect()
}
