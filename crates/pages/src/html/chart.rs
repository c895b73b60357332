//! Line charts as inline SVG.

use std::fmt::Write;

use super::axis::{Axis, Spread, Unit};
use super::escape;

/// The frame around a plot, in pixels. The plot itself is as wide as there is room: what lies across is in shares of it, so that letters keep their size.
pub(super) const LEFT: f64 = 64.0;
pub(super) const RIGHT: f64 = 16.0;
pub(super) const TOP: f64 = 16.0;
pub(super) const BOTTOM: f64 = 44.0;
/// Lines are drawn in so many units across, which are stretched to the plot.
const UNITS: f64 = 1000.0;
/// Widths of a plot for which names are laid out: beside others, and on a telephone.
const WIDE: f64 = 520.0;
const NARROW: f64 = 260.0;
/// Letters are about so wide.
const LETTER: f64 = 6.7;

/// Colours there are for what is compared.
const COLOURS: usize = 16;

/// The class that gives the one of this number its colour. Beyond the last colour they begin again, with dashes or hatched.
pub(super) fn colour(number: usize) -> String {
    match number / COLOURS {
        0 => format!("d{number}"),
        round => format!("d{} again{}", number % COLOURS, (round - 1) % 2 + 1),
    }
}

/// One line: `None` is a gap.
#[derive(Clone, Debug, Default)]
pub(super) struct Line {
    pub(super) label: String,
    /// Which drive, which decides the colour.
    pub(super) drive: usize,
    pub(super) dashed: bool,
    pub(super) points: Vec<(f64, Option<f64>)>,
    /// Intervals about the points: where, from and to.
    pub(super) whiskers: Vec<(f64, f64, f64)>,
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
    /// Upright lines where a phase begins: where, its name, and the drive where there are several. Names stand above the plot where there is room.
    pub(super) phases: Vec<(f64, String, Option<usize>)>,
}

impl Line {
    pub(super) fn is_empty(&self) -> bool {
        self.points.iter().all(|point| point.1.is_none())
    }
}

/// Which of several names have room beside each other: class and name, for those that are shown at all.
pub(super) struct Names {
    free: [f64; 2],
}

impl Names {
    pub(super) fn new() -> Names {
        Names { free: [f64::MIN; 2] }
    }

    /// The class of a name that begins at `share` of the plot, or has its middle there; `None` where there is no room for it anywhere.
    pub(super) fn place(&mut self, share: f64, name: &str, is_middle: bool) -> Option<&'static str> {
        let wide = LETTER * name.chars().count() as f64;
        let is_last = !is_middle && is_last(share, name);
        let mut fits = [WIDE, NARROW].into_iter().zip(&mut self.free).map(|(width, free)| {
            let from = share * width - if is_middle { wide / 2.0 } else { 0.0 };
            let from = if is_last { width - wide } else { from };
            let ends = is_middle || from + wide <= width + RIGHT;
            (ends && from >= *free, from + wide + 4.0, free)
        });
        let (Some((in_wide, end, free)), Some((in_narrow, narrow_end, narrow_free))) = (fits.next(), fits.next()) else { return None };
        if !in_wide {
            return None;
        }
        *free = end;
        if in_narrow {
            *narrow_free = narrow_end;
        }
        Some(if in_narrow { "" } else { " roomy" })
    }
}

/// Whether a name that begins at `share` would stand out of the plot, so that it ends with the plot instead.
fn is_last(share: f64, name: &str) -> bool {
    share * WIDE + LETTER * name.chars().count() as f64 > WIDE + RIGHT
}

impl Chart {
    pub(super) fn html(&self) -> String {
        let mut html = String::new();
        let note = match self.highest_above() {
            Some(above) => {
                let end = self.y.tick(self.y.high);
                format!("{}; ▲ is above {end}, where the scale ends: up to {}", self.note, self.y.tick(above))
            }
            None => self.note.clone(),
        };
        figure_head(&mut html, &self.title, &note);
        html.push_str(&self.drawing());
        legend(&mut html, &self.lines);
        html.push_str("</figure>");
        html
    }

    fn drawing(&self) -> String {
        let mut html = plot(
            self.plot(),
            &format!(
                "class=\"chart\" aria-label=\"{}\" data-x=\"{}\" data-y=\"{}\"{}",
                escape(&self.title),
                self.x.data(),
                self.y.data(),
                self.x.named_places()
            ),
        );
        self.grid(&mut html);
        self.upright(&mut html);
        let _ = write!(
            html,
            "<svg class=\"lines\" width=\"100%\" height=\"{0}\" viewBox=\"0 0 {UNITS} {0}\" preserveAspectRatio=\"none\" overflow=\"visible\">",
            self.plot()
        );
        self.begins(&mut html);
        for line in &self.lines {
            self.line(&mut html, line);
        }
        html.push_str("<line class=\"cursor\" y1=\"0\" y2=\"0\"/></svg>");
        for line in &self.lines {
            self.points(&mut html, line);
        }
        html.push_str("</svg></div>");
        html
    }

    /// The height of the plot within its frame.
    fn plot(&self) -> f64 {
        self.height - TOP - BOTTOM
    }

    /// A place across, in percent of the plot.
    fn across(&self, value: f64) -> String {
        format!("{:.2}%", self.x.place(value) * 100.0)
    }

    fn up(&self, value: f64) -> f64 {
        (1.0 - self.y.place(value)) * self.plot()
    }

    /// The highest value that the scale has no room for.
    fn highest_above(&self) -> Option<f64> {
        let all = self.lines.iter().flat_map(|line| &line.points).filter_map(|point| point.1);
        all.filter(|value| self.is_above(*value)).reduce(f64::max)
    }

    fn is_above(&self, value: f64) -> bool {
        self.y.spread == Spread::Linear && value > self.y.high * (1.0 + 1e-9)
    }

    fn grid(&self, html: &mut String) {
        let bottom = self.plot();
        upward(html, &self.y, bottom);
        let mut names = Names::new();
        for tick in &self.x.ticks {
            let x = self.across(*tick);
            if self.x.spread == Spread::Log {
                let _ = write!(html, "<line class=\"grid\" x1=\"{x}\" x2=\"{x}\" y1=\"0\" y2=\"{bottom}\"/>");
            }
            let name = self.x.tick(*tick);
            if let Some(class) = names.place(self.x.place(*tick), &name, true) {
                let _ = write!(html, "<text class=\"tick middle{class}\" x=\"{x}\" y=\"{}\">{}</text>", bottom + 17.0, escape(&name));
            }
        }
        let _ = write!(html, "<text class=\"name middle\" x=\"50%\" y=\"{}\">{}</text>", bottom + 36.0, escape(&self.x.label));
    }

    /// Marks with their names, and the names of phases.
    fn upright(&self, html: &mut String) {
        let mut names = Names::new();
        for (value, name) in &self.marks {
            let x = self.across(*value);
            let _ = write!(html, "<line class=\"mark\" x1=\"{x}\" x2=\"{x}\" y1=\"0\" y2=\"{}\"/>", self.plot());
            if let Some(class) = names.place(self.x.place(*value), name, true) {
                let _ = write!(html, "<text class=\"tick head middle{class}\" x=\"{x}\" y=\"0\">{}</text>", escape(name));
            }
        }
        for (value, name, _) in self.phases.iter().filter(|(.., drive)| drive.is_none_or(|drive| drive == 0)) {
            if let Some(class) = names.place(self.x.place(*value), name, false) {
                let (end, x) = if is_last(self.x.place(*value), name) { (" end", "100%".to_owned()) } else { ("", self.across(*value)) };
                let _ = write!(html, "<text class=\"tick head{end}{class}\" x=\"{x}\" y=\"0\">{}</text>", escape(name));
            }
        }
    }

    /// Where phases begin.
    fn begins(&self, html: &mut String) {
        for (value, name, drive) in &self.phases {
            let x = self.x.place(*value) * UNITS;
            let class = drive.map_or(String::new(), |drive| format!(" {}", colour(drive)));
            let _ = write!(html, "<path class=\"phase{class}\" d=\"M{x:.1} 0V{}\"><title>{}</title></path>", self.plot(), escape(name));
        }
    }

    fn line(&self, html: &mut String, line: &Line) {
        let mut path = String::new();
        let mut above = Vec::new();
        // The pieces between gaps. One of a single point goes to that point again, so that its round caps show.
        for piece in line.points.split(|point| point.1.is_none()) {
            let twice = if piece.len() == 1 { 2 } else { 1 };
            let places = piece.iter().filter_map(|(x, y)| Some((self.x.place(*x) * UNITS, (*y)?)));
            for (index, (x, y)) in places.flat_map(|place| std::iter::repeat_n(place, twice)).enumerate() {
                let _ = write!(path, "{}{x:.1} {:.1}", if index == 0 { "M" } else { "L" }, self.up(y));
                if self.is_above(y) {
                    above.push(format!("{x:.1} {y}"));
                }
            }
        }
        if path.is_empty() {
            return;
        }
        let dashed = if line.dashed { " dashed" } else { "" };
        let above = if above.is_empty() { String::new() } else { format!(" data-above=\"{}\"", above.join("|")) };
        let _ = write!(
            html,
            "<path class=\"line {}{dashed}\" data-label=\"{}\"{above} d=\"{path}\"/>",
            colour(line.drive),
            escape(&line.label)
        );
    }

    /// What stands at single points of a line: intervals, and marks of those that are beyond the scale.
    fn points(&self, html: &mut String, line: &Line) {
        let class = colour(line.drive);
        for (value, low, high) in &line.whiskers {
            let (x, low, high) = (self.across(*value), self.up(*low), self.up(*high));
            let _ = write!(html, "<line class=\"line {class}\" x1=\"{x}\" x2=\"{x}\" y1=\"{low:.1}\" y2=\"{high:.1}\"/>");
            for end in [low, high] {
                let _ = write!(
                    html,
                    "<svg x=\"{x}\" y=\"{end:.1}\" class=\"at\" overflow=\"visible\"><path class=\"line {class}\" d=\"M-4 0H4\"/></svg>"
                );
            }
        }
        if !line.whiskers.is_empty() {
            for (x, y) in line.points.iter().filter_map(|(x, y)| Some((self.across(*x), self.up((*y)?)))) {
                let _ = write!(html, "<circle class=\"fill {class}\" cx=\"{x}\" cy=\"{y:.1}\" r=\"3.2\"/>");
            }
        }
        for (x, y) in line.points.iter().filter_map(|(x, y)| Some((*x, (*y)?))).filter(|(_, y)| self.is_above(*y)) {
            let (x, y, label) = (self.across(x), self.y.tick(y), escape(&line.label));
            let _ = write!(html, "<text class=\"above middle fill {class}\" x=\"{x}\" y=\"9\">▲<title>{label}: {y}</title></text>");
        }
    }
}

/// Begins a plot so many pixels high and as wide as its surroundings; the caller closes it with `</svg></div>`. What stands across is in percent, and the frame
/// about it stands out of it.
pub(super) fn plot(height: f64, attributes: &str) -> String {
    format!("<div class=\"plot\"><svg height=\"{height}\" style=\"height:{height}px\" role=\"img\" {attributes}>")
}

/// The lines and numbers of an upward axis, and the line that it stands on.
pub(super) fn upward(html: &mut String, axis: &Axis, height: f64) {
    for tick in &axis.ticks {
        let y = (1.0 - axis.place(*tick)) * height;
        let _ = write!(html, "<line class=\"grid\" x1=\"0\" x2=\"100%\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>");
        let _ = write!(html, "<text class=\"tick left\" x=\"0\" y=\"{:.1}\">{}</text>", y + 4.0, axis.tick(*tick));
    }
    let _ = write!(html, "<line class=\"axis\" x1=\"0\" x2=\"100%\" y1=\"{height}\" y2=\"{height}\"/>");
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
            "<span><svg viewBox=\"0 0 22 8\" width=\"22\" height=\"8\" aria-hidden=\"true\"><path class=\"line {}{dashed}\" d=\"M1 4L21 4\"/></svg>{}</span>",
            colour(line.drive),
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

/// The upward axis has no room for its name, so the caption tells it.
pub(super) fn upright(label: &str) -> String {
    format!("{label};")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(drive: usize, points: &[(f64, f64)], high: f64) -> Chart {
        let points = points.iter().map(|(x, y)| (*x, Some(*y))).collect();
        Chart {
            title: "WAF".to_owned(),
            note: "of a toy".to_owned(),
            height: 270.0,
            x: Axis::until("time", Unit::Plain("s"), 10.0),
            y: Axis::linear("WAF", Unit::Plain(""), high),
            lines: vec![Line { label: "toy".to_owned(), drive, dashed: false, points, whiskers: Vec::new() }],
            marks: Vec::new(),
            phases: vec![(0.0, "mixed".to_owned(), None), (1.0, "storm".to_owned(), None), (9.9, "read-back".to_owned(), None)],
        }
    }

    #[test]
    fn what_is_beyond_the_scale_is_marked_and_its_value_told() {
        let html = chart(0, &[(0.0, 2.0), (1.0, 41.25), (2.0, 3.0)], 4.0).html();
        assert_eq!(html.matches('▲').count(), 2, "one in the plot, one in the caption: {html}");
        assert!(html.contains("▲ is above 4, where the scale ends: up to 41.25") && html.contains("<title>toy: 41.25</title>"), "{html}");
        assert!(html.contains("data-above=\"100.0 41.25\""), "{html}");
        assert!(!chart(0, &[(0.0, 2.0), (2.0, 4.0)], 4.0).html().contains('▲'));
    }

    #[test]
    fn no_two_of_forty_look_the_same() {
        let mut classes: Vec<String> = (0..40).map(colour).collect();
        assert!(chart(37, &[(0.0, 1.0), (1.0, 2.0)], 2.0).html().contains("class=\"line d5 again2\""));
        classes.sort();
        classes.dedup();
        assert_eq!(classes.len(), 40);
        let style = super::super::STYLE;
        assert!((0..16).all(|number| style.contains(&format!(".d{number}{{--c:var(--d{number})}}"))), "each has its colour");
        assert!((0..16).all(|number| style.matches(&format!("--d{number}:#")).count() == 2), "by day and by night");
        assert!(style.contains(".line.again1{") && style.contains(".line.again2{"));
    }

    #[test]
    fn names_keep_apart_where_it_is_narrow_and_the_last_stands_before_its_mark() {
        let html = chart(0, &[(0.0, 1.0), (9.0, 2.0)], 2.0).html();
        let class = |name: &str| {
            let end = html.find(&format!(">{name}</text>")).unwrap_or_else(|| panic!("no {name}: {html}"));
            html[..end].rsplit("class=\"").next().and_then(|class| class.split('"').next()).expect("a class").to_owned()
        };
        assert_eq!([class("mixed"), class("storm"), class("read-back")], ["tick head", "tick head roomy", "tick head end"]);
        assert!(html.contains("<path class=\"phase\" d=\"M990.0 0V210\">"), "{html}");
    }
}
