//! Gantt charts: what was done one after the other, lane by lane under one axis of time.

use std::fmt::Write;

use wordline_engine::Stages;

use super::axis::{Axis, Unit, micros};
use super::chart::{colour, figure_head, plot};
use super::{bars, escape};

/// The height of a bar, and from one lane to the next with its name above it.
const BAR: f64 = 20.0;
const STEP: f64 = 44.0;
const NAME: f64 = 16.0;
/// The width of the narrowest bar, and of the gap after a bar, in percent of the plot.
const GAP: f64 = 0.1;
/// A bar that is narrower, in percent of the plot, has no word in it.
const WORDY: f64 = 14.0;

/// What a bar shows, which decides its colour.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Shade {
    /// A stage of a request, by its place among [`Stages::NAMES`].
    Stage(usize),
    /// Operations of a die, by the number of their colour and their name.
    Op(usize, String),
}

/// A bar of a lane.
#[derive(Clone, Debug)]
pub struct Bar {
    /// What it shows.
    pub shade: Shade,
    /// Beginning, in microseconds.
    pub from: f64,
    /// End, in microseconds.
    pub end: f64,
    /// A word in it, where there is room.
    pub word: String,
    /// What is said of it under the pointer.
    pub tip: String,
}

/// A lane: bars that do not overlap, and marks.
#[derive(Clone, Debug)]
pub struct Lane {
    /// What it shows.
    pub name: String,
    /// The bars.
    pub bars: Vec<Bar>,
    /// Instants, in microseconds, and what is said of them.
    pub marks: Vec<(f64, String)>,
}

/// A Gantt chart.
#[derive(Clone, Debug)]
pub struct Gantt {
    /// The figure's title.
    pub title: String,
    /// A line of explanation.
    pub note: String,
    /// Time that it shows, from zero, in microseconds.
    pub length: f64,
    /// The lanes, from top to bottom.
    pub lanes: Vec<Lane>,
    /// The same in words, for those who cannot see it.
    pub words: String,
}

impl Shade {
    fn class(&self) -> String {
        match self {
            Shade::Stage(stage) => format!("t{stage}"),
            Shade::Op(number, _) => format!("fill {}", colour(*number)),
        }
    }

    fn name(&self) -> &str {
        match self {
            Shade::Stage(stage) => Stages::NAMES[*stage],
            Shade::Op(_, name) => name,
        }
    }

    /// The class of a word in a bar.
    fn word(&self) -> &'static str {
        match self {
            Shade::Stage(_) => "ontint",
            Shade::Op(..) => "ondark",
        }
    }
}

impl Gantt {
    /// The chart as a figure.
    pub fn html(&self) -> String {
        let mut html = String::new();
        figure_head(&mut html, &self.title, &self.note);
        let axis = Axis::until("", Unit::Micros, self.length);
        let height = STEP * self.lanes.len() as f64;
        let label = format!("aria-label=\"{}\"", escape(self.words.lines().next().unwrap_or(&self.title)));
        let _ = write!(html, "<div class=\"across\">{}", plot(height, &label));
        bars::scale(&mut html, &axis, height);
        for (number, lane) in self.lanes.iter().enumerate() {
            draw(&mut html, &axis, lane, STEP * number as f64 + NAME);
        }
        html.push_str("</svg></div></div>");
        self.legend(&mut html);
        let _ = write!(html, "<details><summary>In words</summary><pre>{}</pre></details></figure>", escape(&self.words));
        html
    }

    /// The colours, stages and operations apart.
    fn legend(&self, html: &mut String) {
        let mut shades: Vec<&Shade> = self.lanes.iter().flat_map(|lane| &lane.bars).map(|bar| &bar.shade).collect();
        shades.sort_unstable();
        shades.dedup();
        let (stages, ops): (Vec<&Shade>, Vec<&Shade>) = shades.into_iter().partition(|shade| matches!(shade, Shade::Stage(_)));
        let has_marks = self.lanes.iter().any(|lane| !lane.marks.is_empty());
        for (of, shades, is_last) in [("stages:", stages, false), ("on the die:", ops, true)] {
            if shades.is_empty() {
                continue;
            }
            let _ = write!(html, "<div class=\"legend\"><span>{of}</span>");
            for shade in shades {
                let _ = write!(html, "<span><i class=\"{}\"></i>{}</span>", shade.class(), escape(shade.name()));
            }
            if is_last && has_marks {
                html.push_str("<span>▾ stop</span>");
            }
            html.push_str("</div>");
        }
    }
}

fn draw(html: &mut String, axis: &Axis, lane: &Lane, y: f64) {
    bars::label(html, &lane.name, y);
    let across = |value: f64| axis.place(value) * 100.0;
    for bar in &lane.bars {
        let (from, end) = (across(bar.from), across(bar.end));
        let _ = write!(
            html,
            "<rect class=\"{}\" x=\"{from:.3}%\" y=\"{y}\" width=\"{:.3}%\" height=\"{BAR}\" data-tip=\"{}&#10;{}\"/>",
            bar.shade.class(),
            // Bars one after the other stay apart for the eye.
            (end - from - if end - from > 6.0 * GAP { GAP } else { 0.0 }).max(GAP),
            escape(&bar.tip),
            micros(bar.end - bar.from)
        );
        if end - from > WORDY {
            let _ = write!(
                html,
                "<text class=\"{} roomy\" x=\"{from:.3}%\" dx=\"6\" y=\"{}\">{}</text>",
                bar.shade.word(),
                y + 14.0,
                escape(&bar.word)
            );
        }
    }
    for (at, tip) in &lane.marks {
        let x = across(*at);
        let _ = write!(html, "<line class=\"whisker\" x1=\"{x:.3}%\" x2=\"{x:.3}%\" y1=\"{y}\" y2=\"{}\"/>", y + BAR);
        let _ = write!(html, "<text class=\"middle\" x=\"{x:.3}%\" y=\"{}\" data-tip=\"{}\">▾</text>", y + 2.0, escape(tip));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_lie_where_their_times_are_and_everything_has_words() {
        let bar = |shade, from, end| Bar { shade, from, end, word: "a <b>".to_owned(), tip: "read & wait".to_owned() };
        let lanes = vec![
            Lane {
                name: "the request".to_owned(),
                bars: vec![bar(Shade::Stage(4), 0.0, 50.0), bar(Shade::Stage(5), 50.0, 200.0)],
                marks: vec![],
            },
            Lane {
                name: "die 3".to_owned(),
                bars: vec![bar(Shade::Op(2, "erase (gc)".to_owned()), 20.0, 40.0)],
                marks: vec![(30.0, "stop".to_owned())],
            },
        ];
        let html =
            Gantt { title: "1. a read".to_owned(), note: String::new(), length: 200.0, lanes, words: "it \"waited\"\nlong".to_owned() }
                .html();
        assert!(html.contains("<rect class=\"t4\" x=\"0.000%\" y=\"16\" width=\"24.900%\""), "{html}");
        assert!(html.contains("<rect class=\"t5\" x=\"25.000%\" y=\"16\" width=\"74.900%\""), "{html}");
        assert!(html.contains("<rect class=\"fill d2\" x=\"10.000%\" y=\"60\" width=\"9.900%\""), "{html}");
        assert!(html.contains("aria-label=\"it &quot;waited&quot;\"") && html.contains("<pre>it &quot;waited&quot;\nlong</pre>"));
        assert!(html.contains("a &lt;b&gt;") && !html.contains("a <b>") && html.contains("read &amp; wait&#10;20 µs"));
        assert!(html.contains("</i>die wait") && html.contains("</i>erase") && html.contains("▾ stop"));
    }
}
