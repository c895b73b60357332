//! Columns side by side.

use std::fmt::Write;

use super::super::axis::{Axis, Unit};
use super::super::chart::{Names, colour, figure_head, plot, upright, upward};
use super::super::escape;
use crate::number::number;

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

impl Columns {
    pub(super) fn html(&self) -> String {
        const HEIGHT: f64 = 240.0;
        let mut html = String::new();
        figure_head(&mut html, &self.title, &format!("{} {}", upright(&self.y), self.note));
        let axis = Axis::linear("", Unit::Plain(""), self.series.iter().flat_map(|series| series.1.iter().copied()).fold(0.0, f64::max));
        html.push_str(&plot(HEIGHT, &format!("aria-label=\"{}\"", escape(&self.title))));
        let up = |value: f64| (1.0 - axis.place(value)) * HEIGHT;
        upward(&mut html, &axis, HEIGHT);
        let step = 1.0 / self.groups.len().max(1) as f64;
        let bar = step * 0.8 / self.series.len().max(1) as f64;
        let mut names = Names::new();
        for (group, name) in self.groups.iter().enumerate() {
            let start = step * (group as f64 + 0.1);
            for (index, (label, heights)) in self.series.iter().enumerate() {
                let height = heights.get(group).copied().filter(|height| height.is_finite()).unwrap_or(0.0).max(0.0);
                let (x, y) = ((start + bar * index as f64) * 100.0, up(height));
                let _ = write!(
                    html,
                    "<rect class=\"fill {}\" x=\"{x:.2}%\" y=\"{y:.1}\" width=\"{:.2}%\" height=\"{:.1}\" data-tip=\"{}: {}&#10;{}: {}\"/>",
                    colour(index),
                    bar * 92.0,
                    (HEIGHT - y).max(0.0),
                    escape(&self.x),
                    escape(name),
                    escape(label),
                    number(height)
                );
            }
            let middle = step * (group as f64 + 0.5);
            if let Some(class) = names.place(middle, name, true) {
                let (x, y) = (middle * 100.0, HEIGHT + 17.0);
                let _ = write!(html, "<text class=\"tick middle{class}\" x=\"{x:.2}%\" y=\"{y}\">{}</text>", escape(name));
            }
        }
        let _ = write!(html, "<text class=\"name middle\" x=\"50%\" y=\"{}\">{}</text></svg></div>", HEIGHT + 36.0, escape(&self.x));
        if self.series.len() > 1 {
            html.push_str("<div class=\"legend\">");
            for (index, (label, _)) in self.series.iter().enumerate() {
                let _ = write!(html, "<span><i class=\"fill {}\"></i>{}</span>", colour(index), escape(label));
            }
            html.push_str("</div>");
        }
        html.push_str("</figure>");
        html
    }
}
