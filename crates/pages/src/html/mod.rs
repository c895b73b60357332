//! One self-contained page: every chart is inline SVG, drawn here; the page loads nothing, opens offline and prints.
//!
//! Without its few lines of script the page loses only the values under the pointer.

mod axis;
mod bars;
mod cards;
mod cells;
mod censuses;
mod chart;
pub mod figure;
pub mod gantt;
mod jobs;
mod map;
mod over_time;
mod swept;
mod tables;

use std::collections::BTreeSet;
use std::fmt::Write;

use crate::number::number;
use wordline_figures::Comparison;
use wordline_figures::Report;
use wordline_figures::conclude::DriveDetail;
use wordline_figures::grid::{self, CellResult};
use wordline_figures::result::DriveResult;
use wordline_figures::result::names;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

/// The page of a report. Tables show every drive of the report; charts show the first seed of each drive that has a detail. Of a report of several cells,
/// `details` are those of its cells, in order.
pub fn page(report: &Report, details: &[Vec<DriveDetail>]) -> String {
    let names = if report.cells.is_empty() { names(&report.drives) } else { grid::drives(&report.cells) };
    let title = match names.as_slice() {
        [] => "Wordline".to_owned(),
        [only] => format!("{only} · Wordline"),
        [first, others @ ..] => format!("{first} and {} more · Wordline", others.len()),
    };
    let mut html = head(&title);
    let _ = write!(html, "<h1>{}</h1>", escape(&heading(&names)));
    let _ = write!(html, "<p class=\"sub\">{}</p>", escape(&subtitle(report, &names)));
    html.push_str(&tables::checks(report));
    html.push_str(&tables::failures(report));
    html.push_str(&tables::notes(report));
    if report.cells.is_empty() {
        let details = details.first().map_or(&[][..], Vec::as_slice);
        sections(&mut html, &report.drives, report.comparison.as_ref(), details, over_time::ROWS_MAX);
        section(
            &mut html,
            "Plans",
            "stack",
            details.iter().map(|detail| plan(&format!("{}, seed {}", detail.name, detail.seed), &detail.plan)).collect(),
        );
    } else {
        swept::sections(&mut html, report);
        cells::sections(&mut html, &report.cells, details);
    }
    html.push_str(&tables::made_by(report));
    let _ = writeln!(html, "</main><div id=\"tip\" role=\"tooltip\"></div><script>{SCRIPT}</script></body></html>");
    html
}

/// Everything there is to show of drives that ran the same workload, in lines over time of `points` points at most.
fn sections(html: &mut String, results: &[DriveResult], comparison: Option<&Comparison>, details: &[DriveDetail], points: usize) {
    let names = names(results);
    let drives: Vec<&DriveResult> = names.iter().filter_map(|name| results.iter().find(|drive| drive.name == *name)).collect();
    let details: Vec<&DriveDetail> = names.iter().filter_map(|name| details.iter().find(|detail| detail.name == *name)).collect();
    html.push_str(&cards::cards(&drives));
    html.push_str(&tables::phases(&drives));
    html.push_str(&jobs::table(&drives));
    html.push_str(&tables::comparison(results, comparison));
    section(html, "Over time", "grid", over_time::charts(&details, points));
    section(html, "Latency", "grid", over_time::distributions(&details));
    section(html, "Latency by job", "grid", jobs::distributions(&details));
    if !drives.is_empty() {
        let _ = write!(html, "<p></p>{}", tables::percentiles(&drives));
        section(html, "Where the time went", "stack", vec![bars::stages(&drives)]);
        let (waits, classes) = (bars::waits(&drives), tables::classes(&drives));
        if !waits.is_empty() {
            section(html, "Reads by class", "stack", vec![waits, classes]);
        }
        section(html, "Reads by tolerated latency", "stack", vec![tables::tolerances(&drives)]);
        section(html, "How busy the drive was", "stack", vec![bars::utilisation(&drives)]);
    }
    let worn = details.iter().enumerate().filter(|(_, detail)| !detail.wear.bars.is_empty());
    if let [only] = details.as_slice() {
        // One drive's two small figures share a row.
        let wear: String = worn.map(|(index, _)| bars::wear("Wear", only, index)).collect();
        let _ = write!(html, "<p></p><div class=\"grid\">{}{wear}</div>", bars::strips(&details));
    } else {
        let _ = write!(html, "<p></p><div class=\"grid\">{}</div>", bars::strips(&details));
        section(html, "Wear", "grid", worn.map(|(index, detail)| bars::wear(&detail.name, detail, index)).collect());
    }
    section(html, "Block groups by what techniques hold of them", "grid", censuses::pictures(&drives));
    section(html, "Block map at the end of the run", "stack", details.iter().map(|detail| map::block_map(detail)).collect());
    if !drives.is_empty() {
        section(html, "Runs", "stack", vec![tables::runs(results)]);
    }
}

/// What every page has near its beginning, so that it is known again.
pub const GENERATOR: &str = "<meta name=\"generator\" content=\"Wordline";

fn head(title: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>{GENERATOR}\"/><meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'\"/>\
         <title>{}</title><style>{STYLE}</style></head><body><main>",
        escape(title)
    )
}

/// A page of parts that are HTML already, in sections: a title, the class of its box ("grid" or "stack"), and its parts.
pub fn document(title: &str, subtitle: &str, sections: &[(String, &str, Vec<String>)]) -> String {
    let mut html = head(&format!("{title} · Wordline"));
    let _ = write!(html, "<h1>{}</h1><p class=\"sub\">{}</p>", escape(title), escape(subtitle));
    for (name, class, parts) in sections {
        section(&mut html, &escape(name), class, parts.clone());
    }
    let _ = writeln!(html, "</main><div id=\"tip\" role=\"tooltip\"></div><script>{SCRIPT}</script></body></html>");
    html
}

fn heading(names: &[&str]) -> String {
    match names {
        [] => "No drives".to_owned(),
        [only] => (*only).to_owned(),
        [first, second] => format!("{first} and {second}"),
        [first, .., last] if names.len() > 4 => format!("{} drives, {first} to {last}", names.len()),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

fn subtitle(report: &Report, names: &[&str]) -> String {
    let mut seeds: Vec<u64> = report.runs().map(|(_, drive)| drive.seed).collect();
    seeds.sort_unstable();
    seeds.dedup();
    let seeds = match seeds.as_slice() {
        [one] => format!("seed {one}"),
        many => format!("{} seeds", many.len()),
    };
    let longest = report.runs().map(|(_, drive)| drive.simulated_seconds).fold(0.0, f64::max);
    let runs = report.runs().count();
    let charts = if runs > names.len() * report.cells.len().max(1) { "; charts and cards show the first seed" } else { "" };
    let counted = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    let distinct = |of: fn(&CellResult) -> &str| report.cells.iter().map(of).collect::<BTreeSet<_>>().len();
    let cells = if report.cells.is_empty() {
        String::new()
    } else {
        let workloads = counted(distinct(|cell| &cell.workload), "workload");
        format!(" on {workloads} at {}", counted(distinct(|cell| cell.age.as_deref().unwrap_or_default()), "age"))
    };
    format!(
        "Simulated by Wordline: {}{cells}, {seeds}, up to {} s of simulated time{charts}",
        counted(names.len(), "drive"),
        number(longest)
    )
}

/// A section with a title, unless there is nothing in it.
fn section(html: &mut String, title: &str, class: &str, parts: Vec<String>) {
    let content: String = parts.concat();
    if !content.is_empty() {
        let _ = write!(html, "<h2>{title}</h2><div class=\"{class}\">{content}</div>");
    }
}

/// A folded plan, unless it is empty.
fn plan(title: &str, text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    format!("<details><summary>{}</summary><pre>{}</pre></details>", escape(title), escape(text))
}

/// `text` with the characters that mean something to HTML made harmless.
pub fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            // Control characters have no place in HTML, escaped or not.
            control if control.is_control() && control != '\n' && control != '\t' => safe.push('\u{FFFD}'),
            other => safe.push(other),
        }
    }
    safe
}
