//! The page of several workloads and ages: the grid as bars and as tables, and below it everything there is of each cell.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::axis::{Axis, Unit};
use super::chart::{Names, colour, figure_head, plot, upward};
use super::{escape, tables};
use crate::number::number;
use crate::phrases::comparison::ratio_text;
use wordline_figures::Ratio;
use wordline_figures::catalogue::Figure;
use wordline_figures::conclude::DriveDetail;
use wordline_figures::grid::{self, CellResult, Table};
use wordline_figures::together::Intervals;

/// The most points in a line over time. There are as many pictures of a cell as on a page of its own, so each has to be smaller.
const POINTS: usize = 64;

/// The grid, then cell by cell, folded, what a page of its own would show.
pub(super) fn sections(html: &mut String, cells: &[CellResult], details: &[Vec<DriveDetail>]) {
    let drives = grid::drives(cells);
    let grid = grid::tables(cells);
    for (number, figure) in grid::figures(cells).into_iter().enumerate() {
        let unit = if figure.unit() == "us" { ", µs" } else { "" };
        let _ = write!(html, "<h2>{}{unit}</h2><div class=\"stack\">", escape(figure.label()));
        if drives.len() > 1 && number == 0 {
            let highest = highest(figure, cells, &drives);
            html.push_str("<div class=\"grid\">");
            for table in &grid {
                bars(html, figure, table, &drives, highest);
            }
            html.push_str("</div>");
        }
        html.push_str(&tabled(figure, &grid, &drives));
        html.push_str("</div>");
    }
    let intervals = Intervals::of(cells.iter().filter_map(|cell| cell.comparison.as_ref()));
    let legend = cells.iter().find_map(|cell| cell.comparison.as_ref()).map(|comparison| tables::legend(comparison, intervals));
    html.push_str(&legend.unwrap_or_default());
    let _ = write!(html, "<h2>Each workload{}</h2>", if cells.iter().any(|cell| cell.age.is_some()) { " at each age" } else { "" });
    for (cell, details) in cells.iter().zip(details) {
        let _ = write!(html, "<details class=\"cell\"><summary>{}</summary>", escape(&cell.title()));
        super::sections(html, &cell.drives, cell.comparison.as_ref(), details, POINTS);
        html.push_str("</details>");
    }
    super::section(html, "Plans", "stack", plans(cells, details));
}

/// The plans at the first age, and in which lines those at the others differ. They are long, and the workload changes nothing in them.
fn plans(cells: &[CellResult], details: &[Vec<DriveDetail>]) -> Vec<String> {
    let mut ages: Vec<(&CellResult, &Vec<DriveDetail>)> = Vec::new();
    for (cell, details) in cells.iter().zip(details) {
        if ages.iter().all(|(known, _)| known.age != cell.age) {
            ages.push((cell, details));
        }
    }
    let mut plans = Vec::new();
    for (cell, details) in &ages {
        for (index, detail) in details.iter().enumerate() {
            let age = cell.age.as_deref().map(|age| format!(", {age}")).unwrap_or_default();
            let title = format!("{}{age}, seed {}", detail.name, detail.seed);
            let first = ages[0].1.get(index).filter(|first| !std::ptr::eq(*first, detail));
            plans.push(match first {
                None => super::plan(&title, &detail.plan),
                Some(first) => {
                    let known: BTreeSet<&str> = first.plan.lines().collect();
                    let new: Vec<&str> = detail.plan.lines().filter(|line| !known.contains(line)).collect();
                    super::plan(&format!("{title}: what differs"), &new.join("\n"))
                }
            });
        }
    }
    plans
}

/// The end of the highest bar and its whisker.
fn highest(figure: &Figure, cells: &[CellResult], drives: &[&str]) -> f64 {
    let ratios = cells.iter().flat_map(|cell| drives.iter().filter_map(|drive| cell.shown(figure, drive)));
    ratios.filter_map(|ratio| ratio.high.or(ratio.ratio)).fold(1.0, f64::max)
}

/// Groups of bars side by side, one for each row, over the first drive's.
fn bars(html: &mut String, figure: &Figure, table: &Table<'_>, drives: &[&str], highest: f64) {
    const HEIGHT: f64 = 240.0;
    let title = if table.title.is_empty() { "IOPS" } else { &table.title };
    figure_head(html, title, &format!("IOPS over those of {}; whiskers are 95 % confidence intervals", drives[0]));
    let axis = Axis::linear("", Unit::Plain(""), highest);
    html.push_str(&plot(HEIGHT, &format!("aria-label=\"IOPS, {}\"", escape(title))));
    let up = |value: f64| (1.0 - axis.place(value)) * HEIGHT;
    upward(html, &axis, HEIGHT);
    let mut names = Names::new();
    // In percent of the plot.
    let step = 100.0 / table.rows.len().max(1) as f64;
    let bar = (step * 0.8 / drives.len() as f64).min(12.0);
    for (group, (row, cell)) in table.rows.iter().enumerate() {
        let middle = step * (group as f64 + 0.5);
        let start = middle - bar * drives.len() as f64 / 2.0;
        for (index, ratio) in drives.iter().enumerate().filter_map(|(index, drive)| Some((index, cell.shown(figure, drive)?))) {
            let Some(mean) = ratio.ratio else { continue };
            let x = start + bar * index as f64;
            let _ = write!(
                html,
                "<rect class=\"fill {}\" x=\"{x:.2}%\" y=\"{:.1}\" width=\"{:.2}%\" height=\"{:.1}\" data-tip=\"{}&#10;{}\"/>",
                colour(index),
                up(mean),
                bar * 0.92,
                HEIGHT - up(mean),
                escape(row),
                escape(&tip(ratio))
            );
            // Of the first drive's ratio to itself there is no doubt.
            if let (Some(low), Some(high)) = (ratio.low, ratio.high)
                && index > 0
            {
                let (low, high, at) = (up(low), up(high), x + bar * 0.46);
                let _ = write!(html, "<line class=\"whisker\" x1=\"{at:.2}%\" x2=\"{at:.2}%\" y1=\"{low:.1}\" y2=\"{high:.1}\"/>");
            }
        }
        if let Some(class) = names.place(middle / 100.0, row, true) {
            let _ = write!(html, "<text class=\"tick middle{class}\" x=\"{middle:.2}%\" y=\"{}\">{}</text>", HEIGHT + 17.0, escape(row));
        }
    }
    html.push_str("</svg></div><div class=\"legend\">");
    for (index, drive) in drives.iter().enumerate() {
        let _ = write!(html, "<span><i class=\"fill {}\"></i>{}</span>", colour(index), escape(drive));
    }
    html.push_str("</div></figure>");
}

fn tip(ratio: &Ratio) -> String {
    format!("{}: {} IOPS, {}", ratio.drive, number(ratio.value), ratio_text(ratio))
}

/// The grid as tables.
fn tabled(figure: &Figure, grid: &[Table<'_>], drives: &[&str]) -> String {
    let mut html = String::from("<div class=\"tablebox\"><table>");
    for table in grid {
        let _ = write!(html, "<thead><tr><th>{}</th>", escape(&table.title));
        for drive in drives {
            let _ = write!(html, "<th>{}</th>", escape(drive));
        }
        html.push_str("</tr></thead><tbody>");
        for (row, cell) in &table.rows {
            let _ = write!(html, "<tr><td>{}</td>", escape(row));
            for drive in drives {
                let value = cell.value(figure, drive).map_or("–".to_owned(), number);
                let value = if cell.failed(drive) { format!("<b class=\"worse\" title=\"failed requests\">{value} !</b>") } else { value };
                let shown = match cell.shown(figure, drive).filter(|ratio| ratio.drive != drives[0]) {
                    Some(ratio) => format!("<small>{value}</small> {}", tables::against(ratio)),
                    None => value,
                };
                let _ = write!(html, "<td>{shown}</td>");
            }
            html.push_str("</tr>");
        }
        html.push_str("</tbody>");
    }
    html.push_str("</table></div>");
    html
}
