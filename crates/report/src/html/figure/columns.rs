//! Columns side by side.

use std::fmt::Write;

use super::super::axis::{Axis, Unit, short};
use super::super::chart::{COLOURS, figure_head};
use super::super::escape;
use super::{Columns, WIDTH, upright};
use crate::text::number;

impl Columns {
    pub(super) fn html(&self) -> String {
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
        let every =
            ((self.groups.iter().map(|name| name.chars().count()).max().unwrap_or(1) as f64 * 7.5 + 6.0) / step).ceil().max(1.0) as usize;
        for (group, name) in self.groups.iter().enumerate() {
            let start = LEFT + step * (group as f64 + 0.1);
            for (index, (label, heights)) in self.series.iter().enumerate() {
                let height = heights.get(group).copied().filter(|height| height.is_finite()).unwrap_or(0.0).max(0.0);
                let (x, y) = (start + bar * index as f64, up(height));
                let _ = write!(
                    html,
                    "<rect class=\"fill d{}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{:.1}\" data-tip=\"{}: {}&#10;{}: {}\"/>",
                    index % COLOURS,
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
                let _ = write!(html, "<span><i class=\"fill d{}\"></i>{}</span>", index % COLOURS, escape(label));
            }
            html.push_str("</div>");
        }
        html.push_str("</figure>");
        html
    }
}
