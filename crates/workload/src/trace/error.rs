//! What can be wrong with a trace, said so that the reader can mend it.

use std::borrow::Cow;
use std::fmt;
use std::io;

use super::format::UnknownFormat;

/// Why one line was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineFault {
    /// The column at fault, by its name in the format's description; `None` when the line as a whole is wrong.
    pub column: Option<&'static str>,
    /// What should stand there.
    pub expected: Cow<'static, str>,
    /// What stands there, shortened.
    pub found: String,
    /// `; did you mean …?`, or empty.
    pub hint: String,
}

impl LineFault {
    pub(crate) fn column(column: &'static str, expected: impl Into<Cow<'static, str>>, found: &[u8]) -> LineFault {
        LineFault { column: Some(column), expected: expected.into(), found: excerpt(found), hint: String::new() }
    }

    pub(crate) fn line(expected: impl Into<Cow<'static, str>>, found: &[u8]) -> LineFault {
        LineFault { column: None, expected: expected.into(), found: excerpt(found), hint: String::new() }
    }

    /// Add the nearest of the right words.
    pub(crate) fn meant<'a>(mut self, known: impl IntoIterator<Item = &'a str>) -> LineFault {
        self.hint = crate::words::did_you_mean(&self.found, known);
        self
    }
}

impl fmt::Display for LineFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(column) = self.column {
            write!(f, "column {column}: ")?;
        }
        write!(f, "expected {}, found '{}'{}", self.expected, self.found, self.hint)
    }
}

/// Where reading ended.
fn unread(file: &str, line: u64) -> String {
    if line == 0 { format!("{file}: cannot be read") } else { format!("{file}:{line}: cannot read on after this line") }
}

/// A trace that cannot be read on.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The file could not be opened.
    #[error("{file}: cannot open the trace: {source}")]
    Open {
        /// The file.
        file: String,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// Reading or decompressing failed part way.
    #[error("{}: {source}", unread(file, *line))]
    Read {
        /// The file.
        file: String,
        /// The last line that was read whole.
        line: u64,
        /// What the system or the decompressor said.
        source: io::Error,
    },
    /// There is no line to recognise the format by.
    #[error("{file}: the file holds no line of data")]
    Empty {
        /// The file.
        file: String,
    },
    /// The content resembles no known format.
    #[error("{file}:{line}: '{excerpt}' is in no known trace format; known are {}. Name the format if it is one of these", Format::names().join(", "))]
    Unrecognised {
        /// The file.
        file: String,
        /// The first line that holds data.
        line: u64,
        /// How that line begins.
        excerpt: String,
    },
    /// A line does not follow the format.
    #[error("{file}:{line}: {fault} (read as {format}: {})", format.columns())]
    Line {
        /// The file.
        file: String,
        /// The line, counted from 1.
        line: u64,
        /// The format the file is read as.
        format: super::Format,
        /// What is wrong. Boxed, because results carry the largest error's size.
        fault: Box<LineFault>,
    },
    /// A format was named that does not exist.
    #[error(transparent)]
    UnknownFormat(#[from] UnknownFormat),
    /// A trace that is read twice was not the same the second time.
    #[error("{file}: the trace changed between two readings: {what}")]
    Changed {
        /// The file.
        file: String,
        /// What differs.
        what: String,
    },
    /// Writing failed.
    #[error("cannot write the converted trace: {0}")]
    Write(#[source] io::Error),
}

use super::Format;

/// The beginning of `text`, printable and short enough for a message.
pub(crate) fn excerpt(text: &[u8]) -> String {
    const LONGEST: usize = 80;
    let shown = &text[..text.len().min(LONGEST)];
    let mut out: String = String::from_utf8_lossy(shown).chars().map(|c| if c.is_control() { '\u{b7}' } else { c }).collect();
    if text.len() > LONGEST {
        out.push('…');
    }
    out
}
