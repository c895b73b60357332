//! The parts of the page that are words and numbers.

use std::fmt::Write;

use super::axis::micros;
use super::chart::COLOURS;
use super::{escape, percent};
use crate::compare::{Comparison, FIGURES, Ratio, names};
use crate::result::{ByOp, DriveResult, Latency, Report};
use crate::text::{count, number, value, verdict};

/// One card per drive: the figures that one looks for first.
pub(super) fn cards(drives: &[&DriveResult]) -> String {
    let mut html = String::from("<div class=\"cards\">");
    for (index, drive) in drives.iter().enumerate() {
        let host = &drive.host;
        let _ = write!(
            html,
            "<section class=\"card d{}\"><h3>{}</h3><div class=\"big\">{} <small>IOPS</small></div><dl>",
            index % COLOURS,
            escape(&drive.name),
            number(host.iops)
        );
        let mut entry = |name: &str, value: String| {
            let _ = write!(html, "<dt>{name}</dt><dd>{value}</dd>");
        };
        if host.reads > 0 {
            entry("reads", format!("{} MiB/s", number(host.read_mib_s)));
        }
        if host.writes > 0 {
            entry("writes", format!("{} MiB/s", number(host.write_mib_s)));
        }
        let latency = &drive.latency_us;
        for (name, latency) in [("read", &latency.read), ("write", &latency.write)] {
            if let Some(latency) = latency {
                entry(&format!("{name} mean / p99"), format!("{} / {}", micros(latency.mean), micros(latency.p99)));
            }
        }
        if let Some(total) = drive.waf.total {
            entry("write amplification", number(total));
        }
        entry("dies busy", percent(drive.utilisation.die));
        entry("simulated", format!("{} s, {}", number(drive.simulated_seconds), if drive.steady { "steady" } else { "not steady" }));
        if let Some(seconds) = drive.worn_out_seconds {
            entry("worn out after", format!("{} s", number(seconds)));
        }
        html.push_str("</dl></section>");
    }
    html.push_str("</div>");
    html
}

/// Whether the books balanced.
pub(super) fn checks(report: &Report) -> String {
    let violations: Vec<_> = report.violations().collect();
    if violations.is_empty() {
        let runs = match report.runs().count() {
            1 => "this run".to_owned(),
            runs => format!("all {runs} runs"),
        };
        return format!(
            "<p class=\"passed\">✓ Every self-check of {runs} passed: served = asked, stages = latency, Little's law, no part over its capacity.</p>"
        );
    }
    let mut html = String::from("<div class=\"failed\"><b>Self-checks failed: the figures on this page cannot be trusted.</b><ul>");
    for broken in violations {
        let _ = write!(html, "<li>{}: {}</li>", escape(&broken.run()), escape(&broken.violation.to_string()));
    }
    html.push_str("</ul></div>");
    html
}

/// Every drive against the first one.
pub(super) fn comparison(drives: &[DriveResult], comparison: Option<&Comparison>) -> String {
    let Some(comparison) = comparison else { return String::new() };
    let names = names(drives);
    let mut html = String::from("<h2>Comparison</h2><div class=\"tablebox\"><table><thead><tr><th></th>");
    for name in &names {
        let _ = write!(html, "<th>{}</th>", escape(name));
    }
    html.push_str("</tr></thead><tbody>");
    for figure in FIGURES {
        let Some(first) = comparison.ratios.iter().find(|ratio| ratio.figure == figure.path) else { continue };
        let class = if figure.label.starts_with(' ') { " class=\"part\"" } else { "" };
        let unit =
            if first.unit.is_empty() || first.unit == "1/s" { String::new() } else { format!(" <small>{}</small>", unit(&first.unit)) };
        let _ = write!(html, "<tr{class}><td>{}{unit}</td>", escape(figure.label.trim()));
        for name in &names {
            let cell = comparison.find(figure.path, name).map_or("–".to_owned(), |ratio| cell(comparison, ratio));
            let _ = write!(html, "<td>{cell}</td>");
        }
        html.push_str("</tr>");
    }
    let _ = write!(html, "</tbody></table>{}</div>", legend(comparison));
    html
}

/// How to read ratios.
pub(super) fn legend(comparison: &Comparison) -> String {
    format!(
        "<p class=\"note\">× is the ratio to {}. {}. Green is surely better, red surely worse.</p>",
        escape(&comparison.baseline),
        escape(&comparison.method)
    )
}

fn unit(unit: &str) -> &str {
    if unit == "us" { "µs" } else { unit }
}

fn cell(comparison: &Comparison, ratio: &Ratio) -> String {
    if ratio.drive == comparison.baseline { value(ratio) } else { format!("{}<br/>{}", value(ratio), against(ratio)) }
}

/// A ratio and its interval.
pub(super) fn against(ratio: &Ratio) -> String {
    let class = match verdict(ratio) {
        Some(true) => "better",
        Some(false) => "worse",
        None => "same",
    };
    let mean = ratio.ratio.map_or("–".to_owned(), |mean| format!("×{mean:.3}"));
    let range = match (ratio.low, ratio.high) {
        (Some(low), Some(high)) => format!(" <small>[{low:.3}, {high:.3}]</small>"),
        _ => String::new(),
    };
    format!("<span class=\"{class}\">{mean}</span>{range}")
}

/// Mean, percentiles and maximum per kind of request and drive.
pub(super) fn percentiles(drives: &[&DriveResult]) -> String {
    type Of = fn(&ByOp<Latency>) -> Option<&Latency>;
    let kinds: [(&str, Of); 4] = [
        ("read", |by| by.read.as_ref()),
        ("write", |by| by.write.as_ref()),
        ("trim", |by| by.trim.as_ref()),
        ("flush", |by| by.flush.as_ref()),
    ];
    let mut html = String::from("<div class=\"tablebox\"><table><thead><tr><th>latency</th><th>requests</th>");
    for name in ["mean", "p50", "p90", "p99", "p99.9", "p99.99", "max"] {
        let _ = write!(html, "<th>{name}</th>");
    }
    html.push_str("</tr></thead><tbody>");
    for (kind, of) in kinds {
        for drive in drives {
            let Some(latency) = of(&drive.latency_us) else { continue };
            let name = if drives.len() > 1 { format!("{kind}, {}", escape(&drive.name)) } else { kind.to_owned() };
            let _ = write!(html, "<tr><td>{name}</td><td>{}</td>", count(latency.count));
            for value in [latency.mean, latency.p50, latency.p90, latency.p99, latency.p999, latency.p9999, latency.max] {
                let _ = write!(html, "<td>{}</td>", micros(value));
            }
            html.push_str("</tr>");
        }
    }
    html.push_str("</tbody></table></div>");
    html
}

/// What identifies each run, and what it cost to simulate.
pub(super) fn runs(drives: &[DriveResult]) -> String {
    let head = [
        "drive",
        "seed",
        "plan",
        "events",
        "pages read",
        "programmed",
        "erased",
        "CPU s",
        "flash pages / CPU s",
        "requests / CPU s",
        "peak MiB",
    ];
    let mut html = String::from("<div class=\"tablebox\"><table><thead><tr>");
    for name in head {
        let _ = write!(html, "<th>{name}</th>");
    }
    html.push_str("</tr></thead><tbody>");
    for drive in drives {
        let run = &drive.run;
        let rate = |rate: Option<f64>| rate.map_or("–".to_owned(), number);
        let _ = write!(
            html,
            "<tr><td>{}</td><td>{}</td><td><code>{}</code></td><td><code>{}</code></td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
            escape(&drive.name),
            drive.seed,
            escape(&drive.plan_hash),
            escape(&drive.event_log_hash),
            count(drive.pages_read),
            count(drive.pages_programmed),
            count(drive.erases),
            number(run.cpu_seconds),
            rate(run.flash_pages_per_cpu_second),
            rate(run.host_requests_per_cpu_second),
            number(run.peak_rss_bytes as f64 / f64::from(1 << 20))
        );
    }
    html.push_str("</tbody></table><p class=\"note\">Equal event hashes mean equal runs, on any machine.</p></div>");
    html
}
