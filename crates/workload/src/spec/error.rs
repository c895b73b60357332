//! What is wrong with a workload file, with the place underlined.

use std::fmt;
use std::ops::Range;

/// A workload that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecError {
    place: Option<Place>,
    subject: String,
    message: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    line: usize,
    column: usize,
    width: usize,
    text: String,
}

impl SpecError {
    /// A fault at `span` of `text`.
    pub(crate) fn at(file: &str, text: &str, span: Option<Range<usize>>, message: impl Into<String>) -> SpecError {
        SpecError { place: span.map(|span| place(text, span)), subject: file.to_owned(), message: message.into() }
    }

    /// A fault of a workload that did not come from a file, or that only shows on a particular drive.
    pub(crate) fn of(workload: &str, phase: &str, message: impl Into<String>) -> SpecError {
        SpecError { place: None, subject: format!("workload {workload}, phase {phase}"), message: message.into() }
    }

    /// As [`SpecError::of`], of a job.
    pub(crate) fn of_job(workload: &str, job: &str, message: impl Into<String>) -> SpecError {
        SpecError { place: None, subject: format!("workload {workload}, job {job}"), message: message.into() }
    }

    /// A fault of a whole workload that only shows on a particular drive.
    pub(crate) fn whole(workload: &str, message: impl Into<String>) -> SpecError {
        SpecError { place: None, subject: format!("workload {workload}"), message: message.into() }
    }

    /// Line and column of the fault, from 1, where it has a place in a file.
    pub fn position(&self) -> Option<(usize, usize)> {
        self.place.as_ref().map(|place| (place.line, place.column))
    }

    /// What is wrong, without the place.
    pub fn message(&self) -> &str {
        &self.message
    }
}

fn place(text: &str, span: Range<usize>) -> Place {
    let mut start = span.start.min(text.len());
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
    let line = text[line_start..].lines().next().unwrap_or("");
    let column = text[line_start..start].chars().count() + 1;
    let room = line.chars().count().saturating_sub(column - 1);
    let width = text.get(start..span.end.clamp(start, text.len())).map_or(1, |marked| marked.chars().take_while(|c| *c != '\n').count());
    let line_number = text[..start].matches('\n').count() + 1;
    Place { line: line_number, column, width: width.clamp(1, room.max(1)), text: line.to_owned() }
}

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(place) = &self.place else {
            return write!(f, "{}: {}", self.subject, self.message);
        };
        let number = place.line.to_string();
        let margin = " ".repeat(number.len());
        let before: String = place.text.chars().take(place.column - 1).map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
        writeln!(f, "{}:{}:{}: {}", self.subject, place.line, place.column, self.message)?;
        writeln!(f, "{margin} |")?;
        writeln!(f, "{number} | {}", place.text)?;
        write!(f, "{margin} | {before}{}", "^".repeat(place.width))
    }
}

impl std::error::Error for SpecError {}
