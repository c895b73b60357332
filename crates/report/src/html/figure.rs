//! Figures of measurements: curves, columns, heat maps, and the block drawn as the block it is. All inline SVG.
//!
//! What a drive's page needs is drawn by the other modules; this is the part that whoever measures something else can draw with.

use std::fmt::Write;

use super::axis::{Axis, Spread, Unit, short};
use super::bars::ramp;
use super::chart::{self, Chart, figure_head};
use super::escape;
use crate::text::number;

const WIDTH: f64 = 620.0;

/// What an axis shows and how its values are spread.
#[derive(Clone, Debug)]
pub struct Scale {
    /// Quantity and unit.
    pub label: String,
    /// Powers of ten evenly spaced; values at or below zero are left out.
    pub log: bool,
    /// Begin at zero even where no value is near it.
    pub zero: bool,
}

impl Scale {
    /// An even axis that spans the values.
    pub fn even(label: &str) -> Scale {
        Scale { label: label.to_owned(), log: false, zero: false }
    }

    /// An even axis from zero.
    pub fn from_zero(label: &str) -> Scale {
        Scale { zero: true, ..Scale::even(label) }
    }

    /// A logarithmic axis.
    pub fn log(label: &str) -> Scale {
        Scale { log: true, ..Scale::even(label) }
    }

    fn axis(&self, values: impl Iterator<Item = f64>) -> Axis {
        let (mut low, mut high) = (f64::MAX, f64::MIN);
        for value in values.filter(|value| value.is_finite() && !(self.log && *value <= 0.0)) {
            (low, high) = (low.min(value), high.max(value));
        }
        if low > high {
            (low, high) = (0.0, 1.0);
        }
        match (self.log, self.zero) {
            (true, _) => Axis::decades(&self.label, low, high),
            (false, true) if low >= 0.0 => Axis::linear(&self.label, Unit::Plain(""), high),
            (false, _) => Axis::between(&self.label, low, high),
        }
    }
}

/// One curve.
#[derive(Clone, Debug)]
pub struct Curve {
    /// What it is.
    pub label: String,
    /// Which colour, counted modulo the number of colours.
    pub colour: usize,
    /// Drawn dashed.
    pub dashed: bool,
    /// Its points in order of x.
    pub points: Vec<(f64, f64)>,
}

/// Curves over a common axis.
#[derive(Clone, Debug)]
pub struct Curves {
    /// The figure's title.
    pub title: String,
    /// A line of explanation.
    pub note: String,
    /// The axis across.
    pub x: Scale,
    /// The axis upwards.
    pub y: Scale,
    /// The curves.
    pub curves: Vec<Curve>,
    /// Upright marks with their names, such as read references.
    pub marks: Vec<(f64, String)>,
}

/// Columns side by side, in groups, such as the histogram of a count.
#[derive(Clone, Debug)]
pub struct Columns {
    /// The figure's title.
    pub title: String,
    /// A line of explanation.
    pub note: String,
    /// What the groups are.
    pub x: String,
    /// What the heights are.
    pub y: String,
    /// The groups' names.
    pub groups: Vec<String>,
    /// For each series its name and its heights, one for each group.
    pub series: Vec<(String, Vec<f64>)>,
}

/// Values over two conditions.
#[derive(Clone, Debug)]
pub struct Heat {
    /// The figure's title.
    pub title: String,
    /// A line of explanation.
    pub note: String,
    /// What the columns are.
    pub x: String,
    /// What the rows are.
    pub y: String,
    /// The columns' names.
    pub columns: Vec<String>,
    /// For each row its name and its values.
    pub rows: Vec<(String, Vec<f64>)>,
    /// Shades by the logarithm.
    pub log: bool,
}

/// A value for each wordline, painted on the block: h-layers stacked, the first at the top, wordlines side by side.
#[derive(Clone, Debug)]
pub struct Cube {
    /// The figure's title.
    pub title: String,
    /// A line of explanation.
    pub note: String,
    /// What the shade shows.
    pub value: String,
    /// For each h-layer from the top, the value of each of its wordlines.
    pub layers: Vec<Vec<f64>>,
    /// Names of h-layers worth naming.
    pub names: Vec<(usize, String)>,
}

/// Any of the figures.
#[derive(Clone, Debug)]
pub enum Figure {
    /// Curves.
    Curves(Curves),
    /// Columns.
    Columns(Columns),
    /// A heat map.
    Heat(Heat),
    /// A block.
    Cube(Cube),
}

impl Figure {
    /// Its title.
    pub fn title(&self) -> &str {
        match self {
            Figure::Curves(curves) => &curves.title,
            Figure::Columns(columns) => &columns.title,
            Figure::Heat(heat) => &heat.title,
            Figure::Cube(cube) => &cube.title,
        }
    }

    /// The data it is drawn from: series, place across, value.
    pub fn data(&self) -> Vec<(String, String, f64)> {
        match self {
            Figure::Curves(curves) => {
                let of = |curve: &Curve| curve.points.iter().map(|(x, y)| (curve.label.clone(), x.to_string(), *y)).collect::<Vec<_>>();
                curves.curves.iter().flat_map(of).collect()
            }
            Figure::Columns(columns) => {
                let of = |(label, heights): &(String, Vec<f64>)| {
                    heights.iter().zip(&columns.groups).map(|(height, group)| (label.clone(), group.clone(), *height)).collect::<Vec<_>>()
                };
                columns.series.iter().flat_map(of).collect()
            }
            Figure::Heat(heat) => {
                let of = |(name, values): &(String, Vec<f64>)| {
                    values.iter().zip(&heat.columns).map(|(value, column)| (name.clone(), column.clone(), *value)).collect::<Vec<_>>()
                };
                heat.rows.iter().flat_map(of).collect()
            }
            Figure::Cube(cube) => {
                let of = |(layer, values): (usize, &Vec<f64>)| {
                    let of = |(wordline, value): (usize, &f64)| (format!("h-layer {layer}"), wordline.to_string(), *value);
                    values.iter().enumerate().map(of).collect::<Vec<_>>()
                };
                cube.layers.iter().enumerate().flat_map(of).collect()
            }
        }
    }

    /// The figure as HTML.
    pub fn html(&self) -> String {
        match self {
            Figure::Curves(curves) => curves.html(),
            Figure::Columns(columns) => columns.html(),
            Figure::Heat(heat) => heat.html(),
            Figure::Cube(cube) => cube.html(),
        }
    }
}

impl Figure {
    /// The drawing alone, as a file of its own: without caption and legend, which its surroundings give.
    pub fn svg(&self) -> String {
        let html = self.html();
        let (Some(begin), Some(end)) = (html.find("<svg"), html.find("</svg>")) else { return String::new() };
        let drawing = &html[begin + "<svg".len()..end];
        let (head, body) = drawing.split_at(drawing.find('>').map_or(0, |at| at + 1));
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\"{head}<style>{}</style>{body}</svg>\n",
            super::STYLE.replace('&', "&amp;").replace('<', "&lt;")
        )
    }
}

impl Curves {
    fn html(&self) -> String {
        let points = || self.curves.iter().flat_map(|curve| curve.points.iter());
        let x = self.x.axis(points().map(|point| point.0).chain(self.marks.iter().map(|mark| mark.0)));
        let y = self.y.axis(points().map(|point| point.1));
        let drawable = |spread: Spread, value: f64| value.is_finite() && (spread == Spread::Linear || value > 0.0);
        let lines = self.curves.iter().map(|curve| chart::Line {
            label: curve.label.clone(),
            drive: curve.colour,
            dashed: curve.dashed,
            points: curve
                .points
                .iter()
                .filter(|point| drawable(x.spread, point.0))
                .map(|point| (point.0, drawable(y.spread, point.1).then_some(point.1)))
                .collect(),
        });
        let lines = lines.collect();
        let note = if self.y.label.is_empty() { self.note.clone() } else { format!("{} {}", upright(&self.y.label), self.note) };
        Chart { title: self.title.clone(), note, height: 300.0, x, y, lines, marks: self.marks.clone() }.html()
    }
}

/// The upward axis has no room for its name, so the caption tells it.
fn upright(label: &str) -> String {
    format!("{label};")
}

impl Columns {
    fn html(&self) -> String {
        const LEFT: f64 = 64.0;
        const RIGHT: f64 = 16.0;
        const TOP: f64 = 12.0;
        const BOTTOM: f64 = 44.0;
        const HEIGHT: f64 = 300.0;
        let mut html = String::new();
        figure_head(&mut html, &self.title, &format!("{} {}", upright(&self.y), self.note));
        let axis = Axis::linear("", Unit::Plain(""), self.series.iter().flat_map(|series| series.1.iter().copied()).fold(0.0, f64::max));
        let _ = write!(html, "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{}\">", escape(&self.title));
        let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
        let up = |value: f64| bottom - axis.place(value) * (bottom - TOP);
        for tick in &axis.ticks {
            let y = up(*tick);
            let _ = write!(html, "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{right}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>");
            let _ = write!(html, "<text class=\"tick end\" x=\"{}\" y=\"{:.1}\">{}</text>", LEFT - 8.0, y + 4.0, short(*tick));
        }
        let step = (right - LEFT) / self.groups.len().max(1) as f64;
        let bar = step * 0.8 / self.series.len().max(1) as f64;
        // Names that would run into each other are left out.
        let every = (self.groups.iter().map(|name| name.chars().count()).max().unwrap_or(1) as f64 * 7.5 / step).ceil().max(1.0) as usize;
        for (group, name) in self.groups.iter().enumerate() {
            let start = LEFT + step * (group as f64 + 0.1);
            for (index, (label, heights)) in self.series.iter().enumerate() {
                let height = heights.get(group).copied().filter(|height| height.is_finite()).unwrap_or(0.0).max(0.0);
                let (x, y) = (start + bar * index as f64, up(height));
                let _ = write!(
                    html,
                    "<rect class=\"fill d{}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{:.1}\" data-tip=\"{}: {}&#10;{}: {}\"/>",
                    index % 7,
                    (bar - 1.0).max(0.5),
                    (bottom - y).max(0.0),
                    escape(&self.x),
                    escape(name),
                    escape(label),
                    number(height)
                );
            }
            if group % every == 0 {
                let x = LEFT + step * (group as f64 + 0.5);
                let _ = write!(html, "<text class=\"tick middle\" x=\"{x:.1}\" y=\"{}\">{}</text>", bottom + 17.0, escape(name));
            }
        }
        let _ = write!(html, "<line class=\"axis\" x1=\"{LEFT}\" x2=\"{right}\" y1=\"{bottom}\" y2=\"{bottom}\"/>");
        let middle = (LEFT + right) / 2.0;
        let _ = write!(html, "<text class=\"name middle\" x=\"{middle}\" y=\"{}\">{}</text></svg>", HEIGHT - 8.0, escape(&self.x));
        if self.series.len() > 1 {
            html.push_str("<div class=\"legend\">");
            for (index, (label, _)) in self.series.iter().enumerate() {
                let _ = write!(html, "<span><i class=\"fill d{}\"></i>{}</span>", index % 7, escape(label));
            }
            html.push_str("</div>");
        }
        html.push_str("</figure>");
        html
    }
}

/// From values to shades between 0.06 and 1.
struct Shades {
    log: bool,
    low: f64,
    high: f64,
}

impl Shades {
    fn of(values: impl Iterator<Item = f64>, log: bool) -> Shades {
        let (mut low, mut high) = (f64::MAX, f64::MIN);
        for value in values.filter(|value| value.is_finite() && !(log && *value <= 0.0)) {
            (low, high) = (low.min(value), high.max(value));
        }
        if low > high { Shades { log, low: 0.0, high: 0.0 } } else { Shades { log, low, high } }
    }

    fn shade(&self, value: f64) -> f64 {
        if !value.is_finite() || (self.log && value <= 0.0) {
            return 0.0;
        }
        let place = match self.log {
            true if self.high > self.low => libm::log10(value / self.low) / libm::log10(self.high / self.low),
            false if self.high > self.low => (value - self.low) / (self.high - self.low),
            _ => 1.0,
        };
        0.06 + 0.94 * place.clamp(0.0, 1.0)
    }

    fn key(&self) -> String {
        ramp(&scientific(self.low), &scientific(self.high))
    }
}

/// A number that may be as small as an error rate.
pub fn scientific(value: f64) -> String {
    if value == 0.0 || !value.is_finite() || value.abs() >= 1e-3 {
        return number(value);
    }
    let text = format!("{value:.2e}");
    let (digits, exponent) = text.split_once("e-").unwrap_or((&text, "0"));
    let raised = |digit: char| digit.to_digit(10).and_then(|digit| "⁰¹²³⁴⁵⁶⁷⁸⁹".chars().nth(digit as usize)).unwrap_or('?');
    format!("{digits}·10⁻{}", exponent.chars().map(raised).collect::<String>())
}

impl Heat {
    fn html(&self) -> String {
        const LEFT: f64 = 96.0;
        const TOP: f64 = 8.0;
        let mut html = String::new();
        figure_head(&mut html, &self.title, &self.note);
        let shades = Shades::of(self.rows.iter().flat_map(|row| row.1.iter().copied()), self.log);
        let cell = ((WIDTH - LEFT - 12.0) / self.columns.len().max(1) as f64, (360.0 / self.rows.len().max(1) as f64).clamp(5.0, 34.0));
        let bottom = TOP + cell.1 * self.rows.len() as f64;
        let _ = write!(html, "<svg viewBox=\"0 0 {WIDTH} {:.0}\" role=\"img\" aria-label=\"{}\">", bottom + 44.0, escape(&self.title));
        let skip = (14.0 / cell.1).ceil().max(1.0) as usize;
        for (index, (name, values)) in self.rows.iter().enumerate() {
            let y = TOP + cell.1 * index as f64;
            if index % skip == 0 {
                let _ = write!(
                    html,
                    "<text class=\"tick end\" x=\"{}\" y=\"{:.1}\">{}</text>",
                    LEFT - 8.0,
                    y + cell.1 / 2.0 + 4.0,
                    escape(name)
                );
            }
            for (column, value) in values.iter().enumerate() {
                let x = LEFT + cell.0 * column as f64;
                let (width, height) = (cell.0 - 1.0, cell.1 - if cell.1 > 8.0 { 1.0 } else { 0.0 });
                let _ = write!(
                    html,
                    "<rect class=\"hole\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\"/><rect class=\"heat\" fill-opacity=\"{:.2}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" data-tip=\"{}, {}: {}\"/>",
                    shades.shade(*value),
                    escape(name),
                    escape(self.columns.get(column).map_or("", String::as_str)),
                    scientific(*value)
                );
                if cell.1 >= 18.0 && cell.0 >= 44.0 {
                    let _ = write!(
                        html,
                        "<text class=\"on{} middle\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                        if shades.shade(*value) > 0.55 { "dark" } else { "light" },
                        x + cell.0 / 2.0,
                        y + cell.1 / 2.0 + 4.0,
                        scientific(*value)
                    );
                }
            }
        }
        let every =
            (self.columns.iter().map(|name| name.chars().count()).max().unwrap_or(1) as f64 * 7.5 / cell.0).ceil().max(1.0) as usize;
        for (column, name) in self.columns.iter().enumerate().filter(|(column, _)| column % every == 0) {
            let x = LEFT + cell.0 * (column as f64 + 0.5);
            let _ = write!(html, "<text class=\"tick middle\" x=\"{x:.1}\" y=\"{:.1}\">{}</text>", bottom + 16.0, escape(name));
        }
        let _ = write!(
            html,
            "<text class=\"name middle\" x=\"{:.1}\" y=\"{:.1}\">{}</text></svg>",
            (LEFT + WIDTH) / 2.0,
            bottom + 36.0,
            escape(&self.x)
        );
        let _ = write!(
            html,
            "<div class=\"legend\"><span>{}</span><span>{}</span></div></figure>",
            escape(&format!("rows: {}", self.y)),
            shades.key()
        );
        html
    }
}

impl Cube {
    fn html(&self) -> String {
        const LEFT: f64 = 110.0;
        const FRONT: f64 = 300.0;
        const DEPTH: f64 = 110.0;
        const RISE: f64 = 56.0;
        const TALL: f64 = 360.0;
        let mut html = String::new();
        figure_head(&mut html, &self.title, &self.note);
        let count = self.layers.len().max(1);
        let shades = Shades::of(self.layers.iter().flatten().copied(), false);
        let step = TALL / count as f64;
        let top = 14.0 + RISE;
        let bottom = top + TALL;
        let _ = write!(html, "<svg viewBox=\"0 0 {WIDTH} {:.0}\" role=\"img\" aria-label=\"{}\">", bottom + 16.0, escape(&self.title));
        for (layer, values) in self.layers.iter().enumerate() {
            let y = top + step * layer as f64;
            let width = FRONT / values.len().max(1) as f64;
            for (wordline, value) in values.iter().enumerate() {
                let x = LEFT + width * wordline as f64;
                let shade = shades.shade(*value);
                let tip = format!("h-layer {layer}, wordline {wordline}: {}", scientific(*value));
                let _ = write!(
                    html,
                    "<rect class=\"hole\" x=\"{x:.1}\" y=\"{y:.2}\" width=\"{:.1}\" height=\"{step:.2}\"/><rect class=\"heat\" fill-opacity=\"{shade:.2}\" x=\"{x:.1}\" y=\"{y:.2}\" width=\"{:.1}\" height=\"{step:.2}\" data-tip=\"{tip}\"/>",
                    width - 1.0,
                    width - 1.0
                );
            }
            // The right side shows the last wordline's layer going into the depth.
            let shade = shades.shade(values.last().copied().unwrap_or(0.0));
            let (x, far) = (LEFT + FRONT, LEFT + FRONT + DEPTH);
            let _ = write!(
                html,
                "<path class=\"heat\" fill-opacity=\"{:.2}\" d=\"M{x} {:.2}L{far} {:.2}L{far} {:.2}L{x} {y:.2}Z\"/>",
                shade * 0.7,
                y + step,
                y + step - RISE,
                y - RISE
            );
        }
        let shade = self.layers.first().and_then(|layer| layer.first()).map_or(0.0, |value| shades.shade(*value));
        let _ = write!(
            html,
            "<path class=\"heat\" fill-opacity=\"{:.2}\" d=\"M{LEFT} {top}L{} {}L{} {}L{} {top}Z\"/>",
            shade * 0.85,
            LEFT + DEPTH,
            top - RISE,
            LEFT + FRONT + DEPTH,
            top - RISE,
            LEFT + FRONT
        );
        let _ = write!(
            html,
            "<path class=\"frame\" d=\"M{LEFT} {top}H{}V{bottom}H{LEFT}ZM{LEFT} {top}L{} {}H{}V{}L{} {bottom}M{} {top}L{} {}\"/>",
            LEFT + FRONT,
            LEFT + DEPTH,
            top - RISE,
            LEFT + FRONT + DEPTH,
            bottom - RISE,
            LEFT + FRONT,
            LEFT + FRONT,
            LEFT + FRONT + DEPTH,
            top - RISE
        );
        // Where an h-layer at an end has a name, that says enough.
        let named = |layer: usize| self.names.iter().any(|(known, _)| known.abs_diff(layer) < 3);
        for (layer, y, word) in [(0, top + 10.0, "top"), (count - 1, bottom, "bottom")] {
            if !named(layer) {
                let _ = write!(html, "<text class=\"tick end\" x=\"{}\" y=\"{y:.1}\">{word}</text>", LEFT - 12.0);
            }
        }
        for (layer, name) in &self.names {
            let y = top + step * (*layer as f64 + 0.5);
            let _ = write!(html, "<line class=\"axis\" x1=\"{}\" x2=\"{LEFT}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>", LEFT - 8.0);
            let _ = write!(html, "<text class=\"name end\" x=\"{}\" y=\"{:.1}\">{}</text>", LEFT - 12.0, y + 4.0, escape(name));
        }
        let _ =
            write!(html, "</svg><div class=\"legend\"><span>{}</span><span>{}</span></div></figure>", escape(&self.value), shades.key());
        html
    }
}
