//! What is wrong with a plan, told so that a person can mend it.

use std::fmt;
use std::path::PathBuf;

/// Why there is no plan.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// There is no preset of this name.
    #[error("{}", unknown_preset(.name, *.nearest))]
    UnknownPreset {
        /// The name that was asked for.
        name: String,
        /// The preset it may have been meant to be.
        nearest: Option<&'static str>,
    },
    /// There is no chip of this name.
    #[error("{}", unknown_chip(.name, *.nearest))]
    UnknownChip {
        /// The name that was asked for.
        name: String,
        /// The chip it may have been meant to be.
        nearest: Option<&'static str>,
    },
    /// A drive of this size cannot be made.
    #[error("{drive}: size {size}: {why}")]
    Size {
        /// The drive.
        drive: String,
        /// What was asked for.
        size: String,
        /// Why not, and what can be.
        why: String,
    },
    /// A file could not be read.
    #[error("{}: cannot be read: {source}", .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// The files were read and say something that cannot be, in one place or in several.
    #[error("{}", all(.0))]
    Mistakes(Vec<Mistake>),
}

fn unknown_preset(name: &str, nearest: Option<&str>) -> String {
    let help = match nearest {
        Some(near) => format!("did you mean \"{near}\"?"),
        None => format!("presets are {}; a file's name ends in .toml", crate::presets::drive_names().join(", ")),
    };
    format!("there is no drive called \"{}\"\n  = help: {help}", crate::quantity::shown(name))
}

fn unknown_chip(name: &str, nearest: Option<&str>) -> String {
    let help = match nearest {
        Some(near) => format!("did you mean \"{near}\"?"),
        None => {
            let names: Vec<&str> = crate::presets::CHIPS.iter().map(|(name, _)| *name).collect();
            format!("chips are {}; a file's name ends in .toml", names.join(", "))
        }
    };
    format!("there is no chip called \"{}\"\n  = help: {help}", crate::quantity::shown(name))
}

fn all(mistakes: &[Mistake]) -> String {
    mistakes.iter().map(Mistake::to_string).collect::<Vec<_>>().join("\n\n")
}

/// One mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// Where it is; `None` where something is missing from the plan as a whole.
    pub place: Option<Place>,
    /// What is wrong: the key, its value, and what was expected.
    pub what: String,
    /// What to do about it.
    pub help: Option<String>,
}

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file, or `--set` for the command line.
    pub file: String,
    /// Its line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The text of the line, or of what surrounds the place in a very long one.
    pub text: String,
    /// How many characters of the line were left out before `text`.
    pub cut: usize,
    /// How many characters are meant.
    pub width: usize,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            None => write!(f, "{}", self.what)?,
            Some(place) => {
                let margin = " ".repeat(place.line.to_string().len());
                let lead: String =
                    place.text.chars().take(place.column - 1 - place.cut).map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
                writeln!(f, "{}:{}:{}: {}", place.file, place.line, place.column, self.what)?;
                writeln!(f, "{margin} |")?;
                writeln!(f, "{} | {}", place.line, place.text)?;
                write!(f, "{margin} | {lead}{}", "^".repeat(place.width))?;
            }
        }
        match &self.help {
            Some(help) => write!(f, "\n  = help: {help}"),
            None => Ok(()),
        }
    }
}

impl Place {
    /// The place of `span` (bytes) in `text`. A span that leaves its line is cut at the line's end, and one outside the text is moved to its end.
    pub fn of(file: &str, text: &str, span: std::ops::Range<usize>) -> Place {
        let start = floor_boundary(text, span.start);
        let line_start = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let line_end = text[start..].find('\n').map_or(text.len(), |newline| start + newline);
        let end = floor_boundary(text, span.end).clamp(start, line_end);
        let line_text = text[line_start..line_end].trim_end_matches('\r');
        let column = text[line_start..start].chars().count() + 1;
        let (shown, cut) = window(line_text, column);
        let room = (shown.chars().count() + 1).saturating_sub(column - cut).max(1);
        Place {
            file: file.to_owned(),
            line: text[..line_start].matches('\n').count() + 1,
            column,
            text: shown,
            cut,
            width: text[start..end].chars().count().clamp(1, room),
        }
    }
}

/// Keeps a very long line from flooding the terminal: past 200 characters only what surrounds the place is shown.
fn window(line: &str, column: usize) -> (String, usize) {
    const WIDTH: usize = 200;
    let printable = |c: char| if c.is_control() && c != '\t' { '\u{fffd}' } else { c };
    if line.chars().count() <= WIDTH {
        return (line.chars().map(printable).collect(), 0);
    }
    let skip = (column - 1).saturating_sub(WIDTH / 2);
    (line.chars().skip(skip).take(WIDTH).map(printable).collect(), skip)
}

fn floor_boundary(text: &str, index: usize) -> usize {
    let mut index = index.min(text.len());
    while !text.is_char_boundary(index) {
        index -= 1;
    }
    index
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str, span: std::ops::Range<usize>) -> String {
        Mistake { place: Some(Place::of("x.toml", text, span)), what: "wrong".into(), help: None }.to_string()
    }

    #[test]
    fn the_caret_stands_below_what_is_meant() {
        assert_eq!(told("a = 1\nµµ = 22\n", 13..15), "x.toml:2:6: wrong\n  |\n2 | µµ = 22\n  |      ^^");
        assert_eq!(told("\tk = 2\r\n", 5..6), "x.toml:1:6: wrong\n  |\n1 | \tk = 2\n  | \t    ^");
    }

    #[test]
    fn a_place_outside_of_the_text_is_moved_into_it() {
        assert_eq!(told("", 5..9), "x.toml:1:1: wrong\n  |\n1 | \n  | ^");
        assert_eq!(told("ab\ncd", 1..99), "x.toml:1:2: wrong\n  |\n1 | ab\n  |  ^");
        assert!(told("µ", 1..1).starts_with("x.toml:1:1"), "the middle of a character is its beginning");
    }

    #[test]
    fn a_very_long_line_is_cut() {
        let text = format!("{}!{}", "x".repeat(10_000), "y".repeat(10_000));
        let told = told(&text, 10_000..10_001);
        assert!(told.starts_with("x.toml:1:10001: wrong") && told.len() < 700, "{told}");
        let lines: Vec<&str> = told.lines().collect();
        assert_eq!(lines[2].find('!'), lines[3].find('^'));
    }
}
