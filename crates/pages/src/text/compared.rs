//! Drives side by side, and grids of them.

use wordline_units::Bytes;

use super::beside::told;
use super::classes;
use super::layout::{WIDTH, line, prose};
use super::run::run;
use super::tolerances;
use crate::number::{fit, number};
use crate::phrases::comparison::{ratio_text, value};
use wordline_figures::Report;
use wordline_figures::catalogue::{Figure, compared};
use wordline_figures::grid::{self, CellResult};
use wordline_figures::result::DriveResult;
use wordline_figures::result::names;
use wordline_figures::{Comparison, Ratio};

const LABEL: usize = 28;
const COLUMN: usize = 24;
/// Drives beside each other in one comparison table.
const DRIVES: usize = (WIDTH - LABEL) / COLUMN;

/// Every drive against the first one: the figure, and its ratio to the first drive's with a 95 % confidence interval.
pub fn compare(report: &Report) -> String {
    if let Some(sweep) = &report.sweep {
        return super::swept::sweep(report, sweep);
    }
    if !report.cells.is_empty() {
        return grid(report);
    }
    let Some(comparison) = &report.comparison else {
        return report.drives.iter().map(run).collect::<Vec<_>>().join("\n");
    };
    let mut text = String::new();
    drives(&mut text, report);
    figures(&mut text, &report.drives, comparison);
    by_class(&mut text, report);
    by_tolerance(&mut text, report);
    told(&mut text, report, Some(comparison));
    text
}

/// What each drive is, and what must be known of it.
fn drives(text: &mut String, report: &Report) {
    let mut seen: Vec<&str> = Vec::new();
    for (_, drive) in report.runs() {
        if seen.contains(&drive.name.as_str()) {
            continue;
        }
        seen.push(&drive.name);
        let Some(capacity) = &drive.capacity else { continue };
        if text.is_empty() {
            let header = ["for the host", "raw flash", "spare", "usable"].map(|name| format!("{name:>13}")).concat();
            line(text, &format!("{:<LABEL$}{header}{:>8}{:>10}", "", "dies", "channels"));
        }
        let bytes = [capacity.exported_bytes, capacity.raw_bytes].map(|bytes| format!("{:>13}", Bytes(bytes).to_string())).concat();
        let shares = [capacity.spare_nominal, capacity.spare_usable].map(|share| format!("{:>11.2} %", share * 100.0)).concat();
        let name = fit(&drive.name, LABEL - 1);
        line(text, &format!("{name:<LABEL$}{bytes}{shares}{:>8}{:>10}", capacity.dies, capacity.channels));
    }
    for note in report.all_notes() {
        prose(text, &format!("Note: {note}."));
    }
    if !text.is_empty() {
        text.push('\n');
    }
}

/// All figures of these drives.
fn figures(text: &mut String, drives: &[DriveResult], comparison: &Comparison) {
    let names = names(drives);
    for others in names[1..].chunks(DRIVES - 1) {
        table(text, comparison, &[&names[..1], others].concat());
        text.push('\n');
    }
    for phase in &comparison.phases {
        line(text, &format!("In phase {}", fit(&phase.phase, WIDTH - 10)));
        let only = comparison.in_phase(phase);
        for others in names[1..].chunks(DRIVES - 1) {
            table(text, &only, &[&names[..1], others].concat());
            text.push('\n');
        }
    }
}

/// Latencies by class, who waited for whom, and stops, of the first run of each drive that has any to tell.
fn by_class(text: &mut String, report: &Report) {
    if !report.drives.iter().any(classes::tells) {
        return;
    }
    for name in names(&report.drives) {
        if let Some(drive) = report.drives.iter().find(|drive| drive.name == name) {
            line(text, &format!("{}, seed {}", fit(&drive.name, LABEL - 1), drive.seed));
            classes::tables(text, drive);
        }
    }
}

/// Reads by tolerated latency, of the first run of each drive that has any.
fn by_tolerance(text: &mut String, report: &Report) {
    for name in names(&report.drives) {
        if let Some(drive) = report.drives.iter().find(|drive| drive.name == name && drive.hinted_reads.is_some()) {
            line(text, &format!("{}, seed {}", fit(&drive.name, LABEL - 1), drive.seed));
            tolerances::table(text, drive);
        }
    }
}

/// The columns of a grid: its rows' names, the first drive's figures, and the other drives'.
const ROW: usize = 16;
const FIRST: usize = 15;
const OTHER: usize = 23;
/// Cells of which all figures are shown beside the grid.
const FEW: usize = 2;

/// Several cells: IOPS of all of them, and whatever else there is room for.
fn grid(report: &Report) -> String {
    let mut text = String::new();
    let names = grid::drives(&report.cells);
    let [first, others @ ..] = names.as_slice() else { return text };
    drives(&mut text, report);
    // Without others, a table of one drive.
    let none: &[&str] = &[];
    let others: Vec<&[&str]> = if others.is_empty() { vec![none] } else { others.chunks((WIDTH - ROW - FIRST) / OTHER).collect() };
    for figure in grid::figures(&report.cells) {
        let unit = if figure.unit() == "us" { ", us" } else { "" };
        line(&mut text, &format!("{}{unit}", figure.label()));
        for table in grid::tables(&report.cells) {
            for others in &others {
                let header: String = others.iter().map(|name| format!("{:>OTHER$}", fit(name, OTHER - 2))).collect();
                text.push('\n');
                line(&mut text, &format!("{:<ROW$}{:>FIRST$}{header}", fit(&table.title, ROW - 1), fit(first, FIRST - 1)));
                for (row, cell) in &table.rows {
                    let shown = |name: &&str| cell.shown(figure, name).map_or("-".to_owned(), |ratio| marked(cell, ratio));
                    let ratios: String = others.iter().map(|name| format!("{:>OTHER$}", shown(name))).collect();
                    let value = cell.value(figure, first).map_or("-".to_owned(), number);
                    let value = format!("{value}{}", mark(cell, first));
                    line(&mut text, &format!("{:<ROW$}{value:>FIRST$}{ratios}", fit(row, ROW - 1)));
                }
            }
        }
        text.push('\n');
    }
    let comparisons = || report.cells.iter().filter_map(|cell| Some((cell, cell.comparison.as_ref()?)));
    if report.cells.len() <= FEW {
        for (cell, comparison) in comparisons() {
            line(&mut text, &cell.title());
            figures(&mut text, &cell.drives, comparison);
        }
    }
    told(&mut text, report, comparisons().next().map(|(_, comparison)| comparison));
    text
}

/// A ratio, with the mark of a drive that failed requests.
fn marked(cell: &CellResult, ratio: &Ratio) -> String {
    format!("{}{}", ratio_text(ratio), mark(cell, &ratio.drive))
}

/// `!` where `drive` failed requests in `cell`.
fn mark(cell: &CellResult, drive: &str) -> &'static str {
    if cell.failed(drive) { "!" } else { "" }
}

fn table(text: &mut String, comparison: &Comparison, names: &[&str]) {
    let header: String = names.iter().map(|name| format!("{:>COLUMN$}", fit(name, COLUMN - 2))).collect();
    line(text, &format!("{:<LABEL$}{header}", ""));
    for figure in compared() {
        let Some(first) = comparison.ratios.iter().find(|ratio| ratio.figure == figure.path()) else { continue };
        let plain = first.unit.is_empty() || figure.is_bare();
        let unit = if plain { String::new() } else { format!(", {}", first.unit) };
        let label = fit(&format!("{}{unit}", figure.label()), LABEL);
        let base = |ratio: &Ratio| ratio.drive == comparison.baseline;
        if comparison.seeds.len() == 1 {
            let both = |ratio: &Ratio| format!("{} {:>9}", value(ratio), if base(ratio) { String::new() } else { ratio_text(ratio) });
            line(text, &format!("{label:<LABEL$}{}", cells(comparison, figure, names, both)));
        } else {
            // Ratio and interval need a line of their own.
            line(text, &format!("{label:<LABEL$}{}", cells(comparison, figure, names, value)));
            let ratios = cells(comparison, figure, names, |ratio| if base(ratio) { String::new() } else { ratio_text(ratio) });
            if comparison.ratios.iter().any(|ratio| ratio.figure == figure.path() && ratio.ratio.is_some()) {
                line(text, &format!("{:<LABEL$}{ratios}", ""));
            }
        }
    }
}

fn cells(comparison: &Comparison, figure: &Figure, names: &[&str], of: impl Fn(&Ratio) -> String) -> String {
    names.iter().map(|name| format!("{:>COLUMN$}", comparison.find(figure.path(), name).map_or("-".to_owned(), &of))).collect()
}
