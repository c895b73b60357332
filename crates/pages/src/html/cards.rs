//! One card per drive: the figures that one looks for first.

use std::fmt::Write;

use wordline_figures::catalogue::{Part, figures};
use wordline_figures::result::DriveResult;

use super::axis::micros;
use super::chart::colour;
use super::escape;
use crate::number::{count, number, share, written};
use crate::phrases::drive::{flash, spare};

/// An entry: its place, its name and its value.
type Entry = (u8, String, String);

/// The cards of these drives, side by side.
pub(super) fn cards(drives: &[&DriveResult]) -> String {
    let mut html = String::from("<div class=\"cards\">");
    for (index, drive) in drives.iter().enumerate() {
        let _ = write!(
            html,
            "<section class=\"card {}\"><h3>{}</h3><div class=\"big\">{} <small>IOPS</small></div><dl>",
            colour(index),
            escape(&drive.name),
            number(drive.host.iops)
        );
        let mut entries = single(drive);
        entries.extend(alarms(drive));
        entries.extend(combined(drive));
        entries.sort_by_key(|(place, ..)| *place);
        for (_, name, value) in entries {
            let _ = write!(html, "<dt>{name}</dt><dd>{value}</dd>");
        }
        html.push_str("</dl></section>");
    }
    html.push_str("</div>");
    html
}

/// Entries of one figure, from the catalogue.
fn single(drive: &DriveResult) -> Vec<Entry> {
    let part = Part::of_run(drive);
    let entry = |figure: &wordline_figures::catalogue::Figure| {
        let card = figure.card()?;
        let value = written(figure.of(&part)?, card.form);
        Some((card.place, card.name.to_owned(), card.words.replacen("{}", &value, 1)))
    };
    figures().iter().filter_map(entry).collect()
}

/// Entries of what went wrong.
fn alarms(drive: &DriveResult) -> Vec<Entry> {
    let host = &drive.host;
    let mut all = Vec::new();
    let mut alarm = |place, name: &str, value: String| {
        all.push((place, format!("<b class=\"worse\">{name}</b>"), format!("<b class=\"worse\">{value}</b>")));
    };
    if host.failed > 0 {
        alarm(0, "failed", format!("{} requests, {}", count(host.failed), share(host.failed as f64 / host.asked() as f64)));
    }
    if let Some(seconds) = drive.worn_out_seconds {
        alarm(10, "worn out after", format!("{} s", number(seconds)));
    }
    if let Some(found) = &drive.saturated {
        let backlog = match found.growth_per_second > 0.0 {
            true => format!("{} behind, {} more each second", count(found.backlog), number(found.growth_per_second)),
            false => format!("in bursts, up to {} behind", count(found.most)),
        };
        alarm(20, "saturated", backlog);
    }
    all
}

/// Entries of several figures.
fn combined(drive: &DriveResult) -> Vec<Entry> {
    let host = &drive.host;
    let mut all = Vec::new();
    let mut entry = |place, name: &str, value: String| all.push((place, name.to_owned(), value));
    if host.read_blank_bytes > 0 {
        entry(30, "read of nothing", share(host.read_blank_bytes as f64 / host.read_bytes.max(1) as f64));
    }
    let latency = &drive.latency_us;
    for (place, name, latency) in [(60, "read mean / p99", &latency.read), (70, "write mean / p99", &latency.write)] {
        if let Some(latency) = latency {
            entry(place, name, format!("{} / {}", micros(latency.mean), micros(latency.p99)));
        }
    }
    if let Some(capacity) = &drive.capacity {
        entry(100, "for the host", flash(capacity));
        entry(110, "spare", spare(capacity));
        entry(120, "dies", format!("{} on {} channels", capacity.dies, capacity.channels));
    }
    entry(150, "simulated", format!("{} s, {}", number(drive.simulated_seconds), if drive.steady { "steady" } else { "not steady" }));
    all
}
