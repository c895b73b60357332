//! Line charts as inline SVG.

use std::fmt::Write;

use super::axis::{Axis, Spread, Unit};
use super::escape;

const WIDTH: f64 = 620.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 44.0;

/// Colours there are for what is compared.
pub(super) const COLOURS: usize = 8;

/// One line: `None` is a gap.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) label: String,
    /// Which drive, which decides the colour.
    pub(super) drive: usize,
    pub(super) dashed: bool,
    pub(super) points: Vec<(f64, Option<f64>)>,
}

#[derive(Clone, Debug)]
pub(super) struct Chart {
    pub(super) title: String,
    pub(super) note: String,
    pub(super) height: f64,
    pub(super) x: Axis,
    pub(super) y: Axis,
    pub(super) lines: Vec<Line>,
    /// Upright marks and their names.
    pub(super) marks: Vec<(f64, String)>,
}

impl Line {
    pub(super) fn is_empty(&self) -> bool {
        self.points.iter().all(|point| point.1.is_none())
    }
}

impl Chart {
    pub(super) fn html(&self) -> String {
        let mut html = String::new();
        figure_head(&mut html, &self.title, &self.note);
        let plot = (WIDTH - LEFT - RIGHT, self.height - TOP - BOTTOM);
        let _ = write!(
            html,
            "<svg class=\"chart\" viewBox=\"0 0 {WIDTH} {}\" role=\"img\" aria-label=\"{}\" data-x=\"{}\" data-y=\"{}\" data-plot=\"{LEFT}|{TOP}|{}|{}\">",
            self.height,
            escape(&self.title),
            self.x.data(),
            self.y.data(),
            plot.0,
            plot.1
        );
        self.grid(&mut html);
        self.upright(&mut html);
        for line in &self.lines {
            self.line(&mut html, line);
        }
        html.push_str("<line class=\"cursor\" y1=\"0\" y2=\"0\"/></svg>");
        legend(&mut html, &self.lines);
        html.push_str("</figure>");
        html
    }

    fn across(&self, value: f64) -> f64 {
        LEFT + self.x.place(value) * (WIDTH - LEFT - RIGHT)
    }

    fn up(&self, value: f64) -> f64 {
        self.height - BOTTOM - self.y.place(value) * (self.height - TOP - BOTTOM)
    }

    fn grid(&self, html: &mut String) {
        let (right, bottom) = (WIDTH - RIGHT, self.height - BOTTOM);
        for tick in &self.y.ticks {
            let y = self.up(*tick);
            let _ = write!(html, "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{right}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>");
            let _ = write!(html, "<text class=\"tick end\" x=\"{}\" y=\"{:.1}\">{}</text>", LEFT - 8.0, y + 4.0, self.y.tick(*tick));
        }
        for tick in &self.x.ticks {
            let x = self.across(*tick);
            if self.x.spread == Spread::Log {
                let _ = write!(html, "<line class=\"grid\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{TOP}\" y2=\"{bottom}\"/>");
            }
            let _ = write!(html, "<text class=\"tick middle\" x=\"{x:.1}\" y=\"{}\">{}</text>", bottom + 17.0, self.x.tick(*tick));
        }
        let _ = write!(html, "<line class=\"axis\" x1=\"{LEFT}\" x2=\"{right}\" y1=\"{bottom}\" y2=\"{bottom}\"/>");
        let middle = LEFT + (WIDTH - LEFT - RIGHT) / 2.0;
        let _ = write!(html, "<text class=\"name middle\" x=\"{middle}\" y=\"{}\">{}</text>", self.height - 8.0, escape(&self.x.label));
    }

    fn upright(&self, html: &mut String) {
        for (value, name) in &self.marks {
            let x = self.across(*value);
            let _ = write!(html, "<line class=\"mark\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{TOP}\" y2=\"{}\"/>", self.height - BOTTOM);
            let _ = write!(html, "<text class=\"tick middle\" x=\"{x:.1}\" y=\"{}\">{}</text>", TOP - 2.0, escape(name));
        }
    }

    fn line(&self, html: &mut String, line: &Line) {
        let mut path = String::new();
        // The pieces between gaps. One of a single point goes to that point again, so that its round caps show.
        for piece in line.points.split(|point| point.1.is_none()) {
            let twice = if piece.len() == 1 { 2 } else { 1 };
            let places = piece.iter().filter_map(|(x, y)| Some((self.across(*x), self.up((*y)?))));
            for (index, (x, y)) in places.flat_map(|place| std::iter::repeat_n(place, twice)).enumerate() {
                let _ = write!(path, "{}{x:.1} {y:.1}", if index == 0 { "M" } else { "L" });
            }
        }
        if path.is_empty() {
            return;
        }
        let dashed = if line.dashed { " dashed" } else { "" };
        let _ =
            write!(html, "<path class=\"line d{}{dashed}\" data-label=\"{}\" d=\"{path}\"/>", line.drive % COLOURS, escape(&line.label));
    }
}

/// The head of a figure; the caller closes it.
pub(super) fn figure_head(html: &mut String, title: &str, note: &str) {
    let _ = write!(html, "<figure><figcaption><b>{}</b>", escape(title));
    if !note.is_empty() {
        let _ = write!(html, " <span>{}</span>", escape(note));
    }
    html.push_str("</figcaption>");
}

fn legend(html: &mut String, lines: &[Line]) {
    if lines.len() < 2 {
        return;
    }
    html.push_str("<div class=\"legend\">");
    for line in lines {
        let dashed = if line.dashed { " dashed" } else { "" };
        let _ = write!(
            html,
            "<span><svg viewBox=\"0 0 22 8\" width=\"22\" height=\"8\" aria-hidden=\"true\"><path class=\"line d{}{dashed}\" d=\"M1 4L21 4\"/></svg>{}</span>",
            line.drive % COLOURS,
            escape(&line.label)
        );
    }
    html.push_str("</div>");
}

/// A time axis for runs of up to `seconds`.
pub(super) fn time_axis(seconds: f64) -> (Axis, f64) {
    if seconds < 1.0 {
        (Axis::until("simulated time, ms", Unit::Plain("ms"), seconds * 1e3), 1e3)
    } else {
        (Axis::until("simulated time, s", Unit::Plain("s"), seconds), 1.0)
    }
}
