//! Figures of measurements: curves, columns, heat maps, and the block drawn as the block it is. All inline SVG.
//!
//! What a drive's page needs is drawn by the other modules; this is the part that whoever measures something else can draw with.

use super::axis::{Axis, Spread, Unit};
use super::chart::{self, BOTTOM, Chart, LEFT, RIGHT, TOP, upright};
pub use crate::number::scientific;

mod columns;
mod cube;
mod heat;
mod shades;

pub use columns::Columns;
pub use cube::Cube;
pub use heat::Heat;

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

/// Any of the figures.
#[derive(Clone, Debug)]
pub enum Figure {
    /// A figure of curves.
    Curves(Curves),
    /// A figure of columns.
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
        const WIDTH: f64 = 620.0;
        let html = self.html();
        let style = super::STYLE.replace('&', "&amp;").replace('<', "&lt;");
        let between = |from: &str, to: &str| {
            let rest = &html[html.find(from)? + from.len()..];
            Some(&rest[..rest.find(to)?])
        };
        if let Some(plot) = between("<div class=\"plot\"><svg", "</svg></div>") {
            // As wide as its surroundings, which are its frame.
            let height = plot.split('"').nth(1).and_then(|height| height.parse::<f64>().ok()).unwrap_or(240.0) + TOP + BOTTOM;
            return format!(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 {WIDTH} {height}\"><style>{style}</style>\
                 <svg x=\"{LEFT}\" y=\"{TOP}\" width=\"{}\" overflow=\"visible\"{plot}</svg></svg>\n",
                WIDTH - LEFT - RIGHT
            );
        }
        let Some(drawing) = between("<svg", "</svg>") else { return String::new() };
        let (head, body) = drawing.split_at(drawing.find('>').map_or(0, |at| at + 1));
        format!("<svg xmlns=\"http://www.w3.org/2000/svg\"{head}<style>{style}</style>{body}</svg>\n")
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
            whiskers: Vec::new(),
        });
        let lines = lines.collect();
        let note = if self.y.label.is_empty() { self.note.clone() } else { format!("{} {}", upright(&self.y.label), self.note) };
        Chart { title: self.title.clone(), note, height: 300.0, x, y, lines, marks: self.marks.clone(), phases: Vec::new() }.html()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_a_file_of_its_own() {
        let curve = Curve { label: "one".to_owned(), colour: 3, dashed: false, points: vec![(0.0, 1.0), (1.0, 2.0)] };
        let other = Curve { label: "other".to_owned(), colour: 4, dashed: true, points: vec![(0.0, 2.0), (1.0, 1.0)] };
        let title = "a title".to_owned();
        let curves = Curves {
            title: title.clone(),
            note: String::new(),
            x: Scale::even("x"),
            y: Scale::even("y"),
            curves: vec![curve, other],
            marks: vec![(0.5, "R1".to_owned())],
        };
        let groups = vec!["first".to_owned(), "second".to_owned()];
        let series = vec![("one".to_owned(), vec![1.0, 2.0]), ("other".to_owned(), vec![2.0, 1.0])];
        let columns = Columns { title: title.clone(), note: String::new(), x: "x".to_owned(), y: "y".to_owned(), groups, series };
        let layers = vec![vec![1.0, 2.0], vec![3.0, 4.0]];
        let cube = Cube { title, note: String::new(), value: "errors".to_owned(), layers, names: Vec::new() };
        for figure in [Figure::Curves(curves), Figure::Columns(columns), Figure::Cube(cube)] {
            let file = figure.svg();
            assert!(file.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\"") && file.ends_with("</svg>\n"), "{file}");
            assert_eq!(file.matches("<svg").count(), file.matches("</svg>").count(), "{file}");
            let body = file.split("</style>").nth(1).expect("a drawing after its style");
            assert!(!body.contains("<div") && !body.contains("legend"), "its surroundings give caption and legend: {body}");
        }
    }
}
