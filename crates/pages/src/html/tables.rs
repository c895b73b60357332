//! The parts of the page that are words and numbers.

use std::fmt::Write;

use super::axis::micros;
use super::escape;
use crate::number::{count, number, share};
use crate::phrases::comparison::{factor, value};
use crate::phrases::tolerances::{HEADS, cells, told};
use crate::phrases::{comparison as words, failures, warnings};
use wordline_figures::Report;
use wordline_figures::catalogue::{self, Depth, Figure};
use wordline_figures::result::names;
use wordline_figures::result::{ByOp, DriveResult, Latency, StopsOf};
use wordline_figures::together::Intervals;
use wordline_figures::{Comparison, Ratio};

/// Whether the books balanced.
pub(super) fn checks(report: &Report) -> String {
    let not_made = not_made(report);
    let violations: Vec<_> = report.violations().collect();
    if violations.is_empty() {
        let runs = match report.runs().count() {
            1 => "this run".to_owned(),
            runs => format!("all {runs} runs"),
        };
        let made = if not_made.is_empty() { "" } else { " that was made" };
        return format!(
            "<p class=\"passed\">✓ Every self-check of {runs}{made} passed: served = asked, stages = latency, Little's law, no part over its capacity.</p>{not_made}"
        );
    }
    let mut html = String::from("<div class=\"failed\"><b>Self-checks failed: the figures on this page cannot be trusted.</b><ul>");
    for broken in violations {
        let _ = write!(html, "<li>{}: {}</li>", escape(&broken.run()), escape(&broken.violation.to_string()));
    }
    html.push_str("</ul></div>");
    html.push_str(&not_made);
    html
}

/// Checks that were not made, with the number of runs of each.
fn not_made(report: &Report) -> String {
    let runs = report.runs().count();
    let of_each = |(check, of): (&str, usize)| {
        let of = if runs == 1 { String::new() } else { format!(" in {of} of {runs} runs") };
        format!("<p>Not checked{of}: {}.</p>", escape(check))
    };
    report.checks_not_made().into_iter().map(of_each).collect()
}

/// Which drives failed requests.
pub(super) fn failures(report: &Report) -> String {
    let failures: String = report.failures().iter().map(|of| format!("<li>{}</li>", escape(&failures::sentence(of)))).collect();
    if failures.is_empty() {
        return failures;
    }
    format!(
        "<div class=\"failed\"><b>Requests failed. All figures are of the others, and no drive that failed any is said to be better.</b><ul>{failures}</ul></div>"
    )
}

/// What must be known beside the figures.
pub(super) fn notes(report: &Report) -> String {
    let warnings = warnings::of_report(report);
    let warnings = warnings.iter().map(|warning| format!("<li><b class=\"worse\">{}</b></li>", escape(warning)));
    let notes: String = warnings.chain(report.all_notes().iter().map(|note| format!("<li>{}</li>", escape(note)))).collect();
    if notes.is_empty() { notes } else { format!("<div class=\"told\"><b>To know beside the figures</b><ul>{notes}</ul></div>") }
}

/// Every drive against the first one.
pub(super) fn comparison(drives: &[DriveResult], comparison: Option<&Comparison>) -> String {
    let Some(comparison) = comparison else { return String::new() };
    let mut html = String::from("<h2>Comparison</h2>");
    ratios(&mut html, drives, comparison);
    for phase in &comparison.phases {
        let _ = write!(html, "<h3>In phase {}</h3>", escape(&phase.phase));
        ratios(&mut html, drives, &comparison.in_phase(phase));
    }
    html.push_str(&legend(comparison, Intervals::of(std::iter::once(comparison))));
    html
}

/// One table of ratios.
fn ratios(html: &mut String, drives: &[DriveResult], comparison: &Comparison) {
    let names = names(drives);
    html.push_str("<div class=\"tablebox\"><table class=\"figures\"><thead><tr><th></th>");
    for name in &names {
        let _ = write!(html, "<th>{}</th>", escape(name));
    }
    html.push_str("</tr></thead><tbody>");
    for figure in catalogue::compared() {
        let Some(first) = comparison.ratios.iter().find(|ratio| ratio.figure == figure.path()) else { continue };
        let class = if figure.label().starts_with(' ') { " class=\"part\"" } else { "" };
        let unit =
            if first.unit.is_empty() || first.unit == "1/s" { String::new() } else { format!(" <small>{}</small>", unit(&first.unit)) };
        let _ = write!(html, "<tr{class}><td>{}{unit}</td>", escape(figure.label().trim()));
        for name in &names {
            let cell = comparison.find(figure.path(), name).map_or("–".to_owned(), |ratio| cell(figure, comparison, ratio));
            let _ = write!(html, "<td>{cell}</td>");
        }
        html.push_str("</tr>");
    }
    html.push_str("</tbody></table></div>");
}

/// How to read ratios, of which so many have an interval.
pub(super) fn legend(comparison: &Comparison, intervals: Intervals) -> String {
    let colours = if intervals.shown > 0 {
        "Green is better and red worse by the interval of that figure alone"
    } else {
        "Green is better, red worse"
    };
    let doubt = words::intervals(intervals).map(|doubt| format!(" {doubt}.")).unwrap_or_default();
    format!(
        "<p class=\"note\">× is the ratio to {}. {}. {colours}.{}</p>",
        escape(&comparison.baseline),
        escape(&comparison.method),
        escape(&doubt)
    )
}

/// Latencies of reads by class, and how often what was in their way was stopped.
pub(super) fn classes(drives: &[&DriveResult]) -> String {
    let latencies = || catalogue::latency(Depth::Most);
    let mut html = String::from("<div class=\"tablebox\"><table><thead><tr>");
    for name in ["drive", "reads", "requests"].into_iter().chain(latencies().map(|column| column.head)) {
        let name = if name == "max" { "longest" } else { name };
        let _ = write!(html, "<th>{name}</th>");
    }
    html.push_str("</tr></thead><tbody>");
    for drive in drives {
        for class in drive.latency_us_by_priority.iter().filter(|class| class.op == "read") {
            let of = &class.latency_us;
            let spans = latencies().map(|column| micros((column.of)(of)));
            html.push_str("<tr>");
            for cell in [escape(&drive.name), class.priority.clone(), count(of.count)].into_iter().chain(spans) {
                let _ = write!(html, "<td>{cell}</td>");
            }
            html.push_str("</tr>");
        }
    }
    html.push_str("</tbody></table></div>");
    let stopped = drives.iter().filter_map(|drive| Some((drive, drive.stops.as_ref()?)));
    let lines: String = stopped
        .map(|(drive, stops)| {
            let of = |name: &str, of: &StopsOf| {
                format!("{} stops per {name} ({} at once), at most {} ({})", number(of.mean), number(of.mean_now), of.max, of.max_now)
            };
            format!(
                "<li>{}: {}; {}; {} reads broken off, {} gave way between tries</li>",
                escape(&drive.name),
                of("erase", &stops.erases),
                of("program", &stops.programs),
                count(stops.reads_broken_off),
                count(stops.reads_gave_way)
            )
        })
        .collect();
    if !lines.is_empty() {
        let _ = write!(html, "<ul class=\"note\">{lines}</ul>");
    }
    html
}

/// Reads of each drive by tolerated latency; nothing where nothing was hinted.
pub(super) fn tolerances(drives: &[&DriveResult]) -> String {
    let hinted: Vec<_> = drives.iter().filter_map(|drive| Some((drive, drive.hinted_reads.as_ref()?))).collect();
    if hinted.is_empty() {
        return String::new();
    }
    let mut html = String::from("<div class=\"tablebox\"><table><thead><tr>");
    ["drive", "reads of class"].into_iter().chain(HEADS).for_each(|head| _ = write!(html, "<th>{head}</th>"));
    html.push_str("</tr></thead><tbody>");
    for (drive, of) in &hinted {
        for class in &of.classes {
            html.push_str("<tr>");
            for cell in [escape(&drive.name), class.tolerance.clone()].into_iter().chain(cells(class, micros)) {
                let _ = write!(html, "<td>{cell}</td>");
            }
            html.push_str("</tr>");
        }
    }
    html.push_str("</tbody></table></div><ul class=\"note\">");
    hinted.iter().for_each(|(drive, of)| _ = write!(html, "<li>{}: {}</li>", escape(&drive.name), told(of)));
    html.push_str("</ul>");
    html
}

/// Every drive in each phase of the workload; nothing where it has one.
pub(super) fn phases(drives: &[&DriveResult]) -> String {
    if drives.iter().all(|drive| drive.phases.is_empty()) {
        return String::new();
    }
    let latencies = || catalogue::latency(Depth::Tail);
    let spans = ["read", "write"].into_iter().flat_map(|kind| latencies().map(move |column| format!("{kind} {}", column.head)));
    let first = ["phase", "begins", "took", "IOPS", "reads MiB/s", "writes MiB/s"].map(str::to_owned);
    let mut html = String::from("<h2>By phase</h2><div class=\"tablebox\"><table><thead><tr>");
    for name in first.into_iter().chain(spans).chain(["WAF", "failed"].map(str::to_owned)) {
        let _ = write!(html, "<th>{name}</th>");
    }
    html.push_str("</tr></thead><tbody>");
    for drive in drives {
        for phase in &drive.phases {
            let name = if drives.len() > 1 { format!("{}, {}", phase.name, drive.name) } else { phase.name.clone() };
            let host = &phase.host;
            let spans = |of: &Option<Latency>| -> Vec<String> {
                latencies().map(|column| of.as_ref().map_or("–".to_owned(), |of| micros((column.of)(of)))).collect()
            };
            let moved = |requests: u64, rate: f64| if requests > 0 { number(rate) } else { "–".to_owned() };
            let failed = if host.failed > 0 { format!("<b class=\"worse\">{}</b>", count(host.failed)) } else { "–".to_owned() };
            let first = [
                escape(&name),
                format!("{} s", number(phase.start_seconds)),
                format!("{} s", number(phase.simulated_seconds)),
                number(host.iops),
                moved(host.reads, host.read_mib_s),
                moved(host.writes, host.write_mib_s),
            ];
            let waf = phase.waf.total.map_or("–".to_owned(), number);
            let latencies = [spans(&phase.latency_us.read), spans(&phase.latency_us.write)].concat();
            html.push_str("<tr>");
            for cell in first.into_iter().chain(latencies).chain([waf, failed]) {
                let _ = write!(html, "<td>{cell}</td>");
            }
            html.push_str("</tr>");
        }
    }
    html.push_str("</tbody></table></div>");
    html
}

/// How the page was made: the command, and what identifies each run.
pub(super) fn made_by(report: &Report) -> String {
    let Some(made) = &report.made_by else { return String::new() };
    let mut html = format!(
        "<h2>How to make this again</h2><div class=\"tablebox\"><pre>{}</pre><table><thead><tr><th>Wordline {}</th>",
        escape(&made.command),
        escape(&made.version)
    );
    for name in ["workload", "digest", "size", "age", "cells", "filled", "seed", "plan"] {
        let _ = write!(html, "<th>{name}</th>");
    }
    html.push_str("</tr></thead><tbody>");
    for (_, drive) in report.runs() {
        let asked = drive.asked.clone().unwrap_or_default();
        let size = drive.capacity.as_ref().map_or("–".to_owned(), |capacity| wordline_units::Bytes(capacity.exported_bytes).to_string());
        let cells = [
            escape(&drive.name),
            escape(&asked.workload.name),
            format!("<code>{}</code>", escape(&asked.workload.digest)),
            size,
            escape(asked.age.as_deref().unwrap_or("new")),
            escape(&asked.cells),
            asked.fill.map_or("as saved".to_owned(), share),
            drive.seed.to_string(),
            format!("<code>{}</code>", escape(&drive.plan_hash)),
        ];
        html.push_str("<tr>");
        cells.iter().for_each(|cell| {
            let _ = write!(html, "<td>{cell}</td>");
        });
        html.push_str("</tr>");
    }
    html.push_str("</tbody></table></div>");
    html
}

fn unit(unit: &str) -> &str {
    if unit == "us" { "µs" } else { unit }
}

fn cell(figure: &Figure, comparison: &Comparison, ratio: &Ratio) -> String {
    let bad = ratio.value > 0.0 && figure.is_alarm();
    let value = if bad { format!("<b class=\"worse\">{}</b>", value(ratio)) } else { value(ratio) };
    if ratio.drive == comparison.baseline || bad { value } else { format!("{value}<br/>{}", against(ratio)) }
}

/// A ratio and its interval.
pub(super) fn against(ratio: &Ratio) -> String {
    let class = match ratio.verdict() {
        Some(true) => "better",
        Some(false) => "worse",
        None => "same",
    };
    let mean = ratio.ratio.map_or("–".to_owned(), |mean| format!("×{}", factor(mean)));
    let range = match (ratio.low, ratio.high) {
        (Some(low), Some(high)) => format!(" <small>[{}, {}]{}</small>", factor(low), factor(high), if ratio.together { "*" } else { "" }),
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
    for column in catalogue::latency(Depth::All) {
        let _ = write!(html, "<th>{}</th>", column.head);
    }
    html.push_str("</tr></thead><tbody>");
    for (kind, of) in kinds {
        for drive in drives {
            let Some(latency) = of(&drive.latency_us) else { continue };
            let name = if drives.len() > 1 { format!("{kind}, {}", escape(&drive.name)) } else { kind.to_owned() };
            let _ = write!(html, "<tr><td>{name}</td><td>{}</td>", count(latency.count));
            for column in catalogue::latency(Depth::All) {
                let _ = write!(html, "<td>{}</td>", micros((column.of)(latency)));
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
