//! The page of several workloads and ages: the grid as bars and as tables, and below it everything there is of each cell.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::axis::{Axis, Unit, short};
use super::chart::{COLOURS, figure_head};
use super::{escape, tables};
use crate::compare::Ratio;
use crate::conclude::DriveDetail;
use crate::grid::{self, CellResult, Table};
use crate::text::{fit, number, ratio_text};

/// The most points in a line over time. There are as many pictures of a cell as on a page of its own, so each has to be smaller.
const POINTS: usize = 64;

/// The grid, then cell by cell, folded, what a page of its own would show.
pub(super) fn sections(html: &mut String, cells: &[CellResult], details: &[Vec<DriveDetail>]) {
    let drives = grid::drives(cells);
    let grid = grid::tables(cells);
    let _ = write!(html, "<h2>IOPS</h2><div class=\"stack\">");
    if drives.len() > 1 {
        let highest = highest(cells, &drives);
        html.push_str("<div class=\"grid\">");
        for table in &grid {
            bars(html, table, &drives, highest);
        }
        html.push_str("</div>");
    }
    html.push_str(&tabled(&grid, cells, &drives));
    let _ = write!(html, "</div><h2>Each workload{}</h2>", if cells.iter().any(|cell| cell.age.is_some()) { " at each age" } else { "" });
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
fn highest(cells: &[CellResult], drives: &[&str]) -> f64 {
    let ratios = cells.iter().flat_map(|cell| drives.iter().filter_map(|drive| cell.shown(drive)));
    ratios.filter_map(|ratio| ratio.high.or(ratio.ratio)).fold(1.0, f64::max)
}

/// Groups of bars side by side, one for each row, over the first drive's.
fn bars(html: &mut String, table: &Table<'_>, drives: &[&str], highest: f64) {
    const WIDTH: f64 = 620.0;
    const HEIGHT: f64 = 290.0;
    const LEFT: f64 = 46.0;
    const RIGHT: f64 = 8.0;
    const TOP: f64 = 12.0;
    const BOTTOM: f64 = 30.0;
    let title = if table.title.is_empty() { "IOPS" } else { table.title };
    figure_head(html, title, &format!("IOPS over those of {}; whiskers are 95 % confidence intervals", drives[0]));
    let axis = Axis::linear("", Unit::Plain(""), highest);
    let _ = write!(html, "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"IOPS, {}\">", escape(title));
    let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
    let up = |value: f64| bottom - axis.place(value) * (bottom - TOP);
    for tick in &axis.ticks {
        let y = up(*tick);
        let _ = write!(html, "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{right}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>");
        let _ = write!(html, "<text class=\"tick end\" x=\"{}\" y=\"{:.1}\">{}</text>", LEFT - 8.0, y + 4.0, short(*tick));
    }
    let step = (right - LEFT) / table.rows.len().max(1) as f64;
    let bar = (step * 0.8 / drives.len() as f64).min(60.0);
    for (group, (row, cell)) in table.rows.iter().enumerate() {
        let middle = LEFT + step * (group as f64 + 0.5);
        let start = middle - bar * drives.len() as f64 / 2.0;
        for (index, ratio) in drives.iter().enumerate().filter_map(|(index, drive)| Some((index, cell.shown(drive)?))) {
            let Some(mean) = ratio.ratio else { continue };
            let x = start + bar * index as f64;
            let _ = write!(
                html,
                "<rect class=\"fill d{}\" x=\"{x:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" data-tip=\"{}&#10;{}\"/>",
                index % COLOURS,
                up(mean),
                bar - 1.5,
                bottom - up(mean),
                escape(row),
                escape(&tip(ratio))
            );
            // Of the first drive's ratio to itself there is no doubt.
            if let (Some(low), Some(high)) = (ratio.low, ratio.high)
                && index > 0
            {
                let (low, high, at, half) = (up(low), up(high), x + bar / 2.0 - 0.75, (bar / 5.0).min(4.0));
                let (left, right) = (at - half, at + half);
                let _ = write!(
                    html,
                    "<path class=\"whisker\" d=\"M{left:.1} {low:.1}H{right:.1}M{at:.1} {low:.1}V{high:.1}M{left:.1} {high:.1}H{right:.1}\"/>"
                );
            }
        }
        let letters = ((step / 7.0) as usize).max(2);
        let _ = write!(html, "<text class=\"tick middle\" x=\"{middle:.1}\" y=\"{}\">{}</text>", bottom + 18.0, escape(&fit(row, letters)));
    }
    let _ = write!(html, "<line class=\"axis\" x1=\"{LEFT}\" x2=\"{right}\" y1=\"{bottom}\" y2=\"{bottom}\"/></svg><div class=\"legend\">");
    for (index, drive) in drives.iter().enumerate() {
        let _ = write!(html, "<span><i class=\"fill d{}\"></i>{}</span>", index % COLOURS, escape(drive));
    }
    html.push_str("</div></figure>");
}

fn tip(ratio: &Ratio) -> String {
    format!("{}: {} IOPS, {}", ratio.drive, number(ratio.value), ratio_text(ratio))
}

/// The grid as tables.
fn tabled(grid: &[Table<'_>], cells: &[CellResult], drives: &[&str]) -> String {
    let mut html = String::from("<div class=\"tablebox\"><table>");
    for table in grid {
        let _ = write!(html, "<thead><tr><th>{}</th>", escape(table.title));
        for drive in drives {
            let _ = write!(html, "<th>{}</th>", escape(drive));
        }
        html.push_str("</tr></thead><tbody>");
        for (row, cell) in &table.rows {
            let _ = write!(html, "<tr><td>{}</td>", escape(row));
            for drive in drives {
                let value = number(cell.value(drive));
                let shown = match cell.shown(drive).filter(|ratio| ratio.drive != drives[0]) {
                    Some(ratio) => format!("<small>{value}</small> {}", tables::against(ratio)),
                    None => value,
                };
                let _ = write!(html, "<td>{shown}</td>");
            }
            html.push_str("</tr>");
        }
        html.push_str("</tbody>");
    }
    let legend = cells.iter().find_map(|cell| cell.comparison.as_ref()).map(tables::legend).unwrap_or_default();
    let _ = write!(html, "</table>{legend}</div>");
    html
}
