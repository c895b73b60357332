//! The page of a sweep: each figure as a curve over the values of the key.

use std::fmt::Write;

use super::axis::{Axis, Unit};
use super::chart::{Chart, Line};
use super::{escape, section};
use crate::phrases::comparison::with_interval;
use wordline_figures::Report;
use wordline_figures::grid;
use wordline_figures::sweep::{Group, SweepPoint, SweepResult, groups, places};

/// Highest over lowest from which on an axis is logarithmic.
const LOGARITHMIC: f64 = 30.0;

/// The curves and their tables; nothing where no key was swept.
pub(super) fn sections(html: &mut String, report: &Report) {
    let Some(sweep) = &report.sweep else { return };
    let drives = grid::drives(&report.cells);
    for group in groups(&report.cells) {
        let title = format!("{} over {}", escape(&group.title()), escape(&sweep.key));
        let charts: Vec<String> = sweep.shown().into_iter().filter_map(|figure| chart(sweep, &group, &drives, figure)).collect();
        section(html, &title, "grid", charts);
        html.push_str("<p></p>");
        drives.iter().for_each(|drive| html.push_str(&table(sweep, &group, drive)));
    }
    let _ = write!(html, "<p class=\"note\">± is half of an interval. {}.</p>", escape(&sweep.method));
}

fn chart(sweep: &SweepResult, group: &Group<'_>, drives: &[&str], (path, label, unit): (&str, &str, &str)) -> Option<String> {
    let place = places(&sweep.values).unwrap_or_else(|| (0..sweep.values.len()).map(|index| index as f64).collect());
    let at = |point: &SweepPoint| sweep.values.iter().position(|value| *value == point.value).map(|index| place[index]);
    let line = |(drive, name): (usize, &&str)| {
        let curve = || sweep.curve(group, name, path).filter_map(|point| Some((at(point)?, point)));
        let mut points: Vec<(f64, Option<f64>)> = curve().map(|(x, point)| (x, Some(point.mean))).collect();
        points.sort_by(|one, other| one.0.total_cmp(&other.0));
        let whiskers = curve().map(|(x, point)| (x, point.low.unwrap_or(point.mean), point.high.unwrap_or(point.mean))).collect();
        Line { label: (*name).to_owned(), drive, dashed: false, points, whiskers }
    };
    let lines: Vec<Line> = drives.iter().enumerate().map(line).filter(|line| !line.is_empty()).collect();
    let means = || lines.iter().flat_map(|line| &line.points).filter_map(|point| point.1);
    let highest = lines.iter().flat_map(|line| &line.whiskers).map(|whisker| whisker.2).fold(0.0, f64::max);
    let lowest = means().filter(|mean| *mean > 0.0).fold(f64::MAX, f64::min);
    if lines.is_empty() || highest <= 0.0 {
        return None;
    }
    let (title, unit) = if unit == "us" { (label.to_owned(), Unit::Micros) } else { (label.to_owned(), Unit::Plain("")) };
    let is_log = highest / lowest > LOGARITHMIC;
    let y = if is_log { Axis::log(label, unit, lowest, highest) } else { Axis::linear(label, unit, highest) };
    let note = if is_log { "logarithmic; whiskers are 95 % confidence intervals" } else { "whiskers are 95 % confidence intervals" };
    let x = Axis::named(&sweep.key, &place, &sweep.values);
    Some(Chart { title, note: note.to_owned(), height: 270.0, x, y, lines, marks: Vec::new(), phases: Vec::new() }.html())
}

fn table(sweep: &SweepResult, group: &Group<'_>, drive: &str) -> String {
    let mut figures = sweep.shown();
    figures.retain(|(path, ..)| sweep.curve(group, drive, path).next().is_some());
    let mut html =
        format!("<div class=\"tablebox\"><table><thead><tr><th>{}</th><th>for the host</th><th>usable spare</th>", escape(drive));
    for (_, label, unit) in &figures {
        let unit = if *unit == "us" { ", µs" } else { "" };
        let _ = write!(html, "<th>{}{unit}</th>", escape(label));
    }
    html.push_str("</tr></thead><tbody>");
    for cell in &group.cells {
        let Some(swept) = &cell.swept else { continue };
        let capacity = cell.drives.iter().find(|run| run.name == drive).and_then(|run| run.capacity.as_ref());
        let [size, usable] = capacity.map_or([const { String::new() }; 2], |of| {
            [wordline_units::Bytes(of.exported_bytes).to_string(), format!("{:.2} %", of.spare_usable * 100.0)]
        });
        let _ = write!(html, "<tr><td>{}</td><td>{size}</td><td>{usable}</td>", escape(&swept.value));
        for (path, ..) in &figures {
            let shown = match sweep.point(group, drive, path, &swept.value) {
                Some(point) if point.failed => format!("<b class=\"worse\" title=\"failed requests\">{}</b>", with_interval(point)),
                Some(point) => with_interval(point),
                None => "–".to_owned(),
            };
            let _ = write!(html, "<td>{shown}</td>");
        }
        html.push_str("</tr>");
    }
    html.push_str("</tbody></table></div>");
    html
}
