//! The whole plan as text.

use std::fmt::Write;

use crate::figures::{Figures, SetAside};
use crate::layer::{Layer, Origin};
use crate::section::Line;

/// Everything that the text of a plan has.
pub(crate) struct Described<'a> {
    /// Name of the drive, and the number of its plan.
    pub(crate) title: String,
    pub(crate) summary: &'a str,
    pub(crate) figures: &'a Figures,
    /// Figures of the drive at its own size, of which this is one of another.
    pub(crate) own: Option<&'a Figures>,
    pub(crate) layers: &'a [Layer],
    pub(crate) notes: &'a [String],
    pub(crate) lines: &'a [Line<'a>],
}

impl Described<'_> {
    /// The text.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        let figures = self.figures;
        let mb = |rate: f64| format!("{:.1} MB/s", rate / 1e6);
        // Writing into a String cannot fail.
        let _ = writeln!(text, "# {}", self.title);
        let beside = |share: fn(&Figures) -> f64| match self.own {
            Some(own) => format!("{} ({} at the drive's own {})", percent(share(figures)), percent(share(own)), own.exported),
            None => percent(share(figures)),
        };
        let facts = [
            ("raw", figures.raw.to_string()),
            ("exported", figures.exported.to_string()),
            ("spare, nominal", beside(|figures| figures.spare_factor)),
            ("spare, usable", format!("{}: {}", beside(|figures| figures.usable_spare), set_aside(figures))),
            ("pages", figures.pages.to_string()),
            ("dies", figures.dies.to_string()),
            ("a die", format!("planes {} × blocks {} × pages {}", figures.planes, figures.groups_per_die, figures.pages_per_block)),
            ("channels", mb(figures.channel_bandwidth)),
            ("planes sensing", mb(figures.sense_bandwidth)),
            ("planes programming", mb(figures.program_bandwidth)),
            ("read peak", mb(figures.read_peak)),
            ("write peak", mb(figures.write_peak)),
        ];
        let files: Vec<&str> = self.layers.iter().map(|layer| layer.name.as_str()).collect();
        let _ = writeln!(text, "# {:<20}{}", "made of", files.join(", ").replace(char::is_control, " "));
        for (name, fact) in facts {
            let _ = writeln!(text, "# {name:<20}{fact}");
        }
        for note in self.notes {
            let _ = writeln!(text, "# {:<20}{}", "note", note.replace(char::is_control, " "));
        }
        if !self.summary.is_empty() {
            let _ = writeln!(text, "summary = {}", crate::kind::quoted(self.summary));
        }
        let lines = self.lines;
        let key_width = lines.iter().map(|line| line.key.len()).max().unwrap_or(0);
        let value_width = lines.iter().map(|line| line.value.chars().count()).filter(|&width| width <= 32).max().unwrap_or(0);
        let mut section = "";
        for line in lines {
            if line.section != section {
                section = line.section;
                let _ = writeln!(text, "\n[{section}]");
            }
            let _ = writeln!(text, "{:<key_width$} = {:<value_width$}  # {}", line.key, line.value, self.source(line.origin));
        }
        text
    }

    fn source(&self, origin: &Origin) -> String {
        match origin {
            Origin::Default => "default".into(),
            Origin::Caller => "given by the program".into(),
            Origin::Written { layer, source, .. } => {
                let file = self.layers.get(*layer).map_or("", |layer| layer.name.as_str());
                let source = source.as_deref().unwrap_or("no source given");
                if file == "--set" { "--set".into() } else { format!("{source} ({file})").replace(char::is_control, " ") }
            }
        }
    }
}

fn percent(share: f64) -> String {
    format!("{:.2} %", share * 100.0)
}

/// Why less of the spare flash can be used than there is: "less 36 block groups free, 8 of open ones".
fn set_aside(figures: &Figures) -> String {
    let SetAside { free, open, bad, own, marks } = figures.set_aside;
    let parts = [
        (free, "that garbage collection keeps free"),
        (open, "for the empty half of open ones"),
        (bad, "spare or bad from the factory"),
        (own, "for journal, checkpoints and keys"),
        (marks, "for the second copy of out-of-band marks"),
    ];
    let parts: Vec<String> = parts.iter().filter(|(groups, _)| *groups > 0.0).map(|(groups, why)| format!("{groups:.0} {why}")).collect();
    let groups = u64::from(figures.dies) * u64::from(figures.groups_per_die);
    let usable = groups as f64 - figures.set_aside.total();
    format!("of {groups} block groups, {}; a share of the {usable:.0} others", parts.join(", "))
}
