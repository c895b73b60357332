//! Drives side by side, and grids of them.

use super::{WIDTH, fit, line, number, prose, run};
use crate::compare::{Better, Comparison, FIGURES, Figure, Ratio, names};
use crate::grid;
use crate::result::{DriveResult, Report};

const LABEL: usize = 28;
const COLUMN: usize = 24;
/// Drives beside each other in one comparison table.
const DRIVES: usize = (WIDTH - LABEL) / COLUMN;

/// Every drive against the first one: the figure, and its ratio to the first drive's with a 95 % confidence interval.
pub fn compare(report: &Report) -> String {
    if !report.cells.is_empty() {
        return grid(report);
    }
    let Some(comparison) = &report.comparison else {
        return report.drives.iter().map(run).collect::<Vec<_>>().join("\n");
    };
    let mut text = String::new();
    figures(&mut text, &report.drives, comparison);
    told(&mut text, report, Some(comparison));
    text
}

/// All figures of these drives.
fn figures(text: &mut String, drives: &[DriveResult], comparison: &Comparison) {
    let names = names(drives);
    for others in names[1..].chunks(DRIVES - 1) {
        table(text, comparison, &[&names[..1], others].concat());
        text.push('\n');
    }
}

/// How to read it, and whether it is to be believed.
fn told(text: &mut String, report: &Report, comparison: Option<&Comparison>) {
    if let Some(comparison) = comparison {
        prose(text, &format!("× is the ratio to {}.", fit(&comparison.baseline, 60)));
        prose(text, &format!("{}.", comparison.method));
    }
    let mut all_passed = true;
    for broken in report.violations() {
        all_passed = false;
        prose(text, &format!("CHECKS FAILED, {}: {}", broken.run(), broken.violation));
    }
    if all_passed {
        line(text, &format!("  All self-checks of {} runs passed.", report.runs().count()));
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
    line(&mut text, "IOPS");
    // Without others, a table of one drive.
    let none: &[&str] = &[];
    let others: Vec<&[&str]> = if others.is_empty() { vec![none] } else { others.chunks((WIDTH - ROW - FIRST) / OTHER).collect() };
    for table in grid::tables(&report.cells) {
        for others in &others {
            let header: String = others.iter().map(|name| format!("{:>OTHER$}", fit(name, OTHER - 2))).collect();
            text.push('\n');
            line(&mut text, &format!("{:<ROW$}{:>FIRST$}{header}", fit(table.title, ROW - 1), fit(first, FIRST - 1)));
            for (row, cell) in &table.rows {
                let ratios: String =
                    others.iter().map(|name| format!("{:>OTHER$}", cell.shown(name).map_or("-".to_owned(), ratio_text))).collect();
                line(&mut text, &format!("{:<ROW$}{:>FIRST$}{ratios}", fit(row, ROW - 1), number(cell.value(first))));
            }
        }
    }
    text.push('\n');
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

fn table(text: &mut String, comparison: &Comparison, names: &[&str]) {
    let header: String = names.iter().map(|name| format!("{:>COLUMN$}", fit(name, COLUMN - 2))).collect();
    line(text, &format!("{:<LABEL$}{header}", ""));
    for figure in FIGURES {
        let Some(first) = comparison.ratios.iter().find(|ratio| ratio.figure == figure.path) else { continue };
        let plain = first.unit.is_empty() || ["IOPS", "pages"].iter().any(|word| figure.label.contains(word));
        let unit = if plain { String::new() } else { format!(", {}", first.unit) };
        let label = fit(&format!("{}{unit}", figure.label), LABEL);
        let base = |ratio: &Ratio| ratio.drive == comparison.baseline;
        if comparison.seeds.len() == 1 {
            let both = |ratio: &Ratio| format!("{} {:>9}", value(ratio), if base(ratio) { String::new() } else { ratio_text(ratio) });
            line(text, &format!("{label:<LABEL$}{}", cells(comparison, figure, names, both)));
        } else {
            // Ratio and interval need a line of their own.
            line(text, &format!("{label:<LABEL$}{}", cells(comparison, figure, names, value)));
            let ratios = cells(comparison, figure, names, |ratio| if base(ratio) { String::new() } else { ratio_text(ratio) });
            line(text, &format!("{:<LABEL$}{ratios}", ""));
        }
    }
}

fn cells(comparison: &Comparison, figure: &Figure, names: &[&str], of: impl Fn(&Ratio) -> String) -> String {
    names.iter().map(|name| format!("{:>COLUMN$}", comparison.find(figure.path, name).map_or("-".to_owned(), &of))).collect()
}

/// The figure itself; there is no time of what did not happen.
pub(crate) fn value(ratio: &Ratio) -> String {
    if ratio.value == 0.0 && ratio.unit == "us" { "-".to_owned() } else { number(ratio.value) }
}

/// `×1.25 [1.20, 1.30]`, with a mark where it is surely better or worse.
pub(crate) fn ratio_text(ratio: &Ratio) -> String {
    match (ratio.ratio, ratio.low, ratio.high) {
        (Some(mean), Some(low), Some(high)) => format!("×{mean:.3} [{low:.3}, {high:.3}]"),
        (Some(mean), ..) => format!("×{mean:.3}"),
        (None, ..) => "-".to_owned(),
    }
}

/// Whether a ratio is good news, as far as one can tell: `None` where the interval holds 1, or where neither way is better.
pub(crate) fn verdict(ratio: &Ratio) -> Option<bool> {
    let mean = ratio.ratio?;
    let (low, high) = (ratio.low.unwrap_or(mean), ratio.high.unwrap_or(mean));
    // Without an interval, a difference that would not show in the table is none.
    let (low, high) = if ratio.low.is_none() { (low - 5e-4, high + 5e-4) } else { (low, high) };
    let greater = if low > 1.0 {
        true
    } else if high < 1.0 {
        false
    } else {
        return None;
    };
    match ratio.better {
        Better::Higher => Some(greater),
        Better::Lower => Some(!greater),
        Better::Neither => None,
    }
}
