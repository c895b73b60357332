//! What can be wrong with a trace, said so that the reader can mend it.

use std::borrow::Cow;
use std::fmt;
use std::io;

use wordline_units::Nanos;

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
    /// True if such lines are usual in the format, so that they are passed over and counted by any reading.
    pub is_usual: bool,
}

impl LineFault {
    pub(crate) fn column(column: &'static str, expected: impl Into<Cow<'static, str>>, found: &[u8]) -> LineFault {
        LineFault { column: Some(column), expected: expected.into(), found: excerpt(found), hint: String::new(), is_usual: false }
    }

    pub(crate) fn line(expected: impl Into<Cow<'static, str>>, found: &[u8]) -> LineFault {
        LineFault { column: None, expected: expected.into(), found: excerpt(found), hint: String::new(), is_usual: false }
    }

    /// Such a line is usual in the format.
    pub(crate) fn passed_over(mut self) -> LineFault {
        self.is_usual = true;
        self
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

/// The columns that a file may do without, for messages.
const OPTIONAL: &str = "time_us, volume, latency_us, fua (0 or 1), priority (urgent, high, normal or low), insecure (0 or 1) and tolerance \
                        (shortest, typical, longer or default)";

/// What can be done about a file in an unknown format.
fn ways_out(nearest: &[Format]) -> String {
    let named: String = nearest.iter().map(|format| format!("\n  {:<12} {}", format.name(), format.columns())).collect();
    format!(
        "The nearest are{named}\nIf it is one of them, name the format. Otherwise put the header of csv over the columns, which are\n  \
         op (read, write, trim, flush or hint), offset and length in bytes, and where they are known {}",
        OPTIONAL
    )
}

fn window_records() -> String {
    format!("{} records", super::order::WINDOW_RECORDS)
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
    /// A folder was named that is no trace.
    #[error("{file}: cannot be read as a trace: a directory without files of blktrace (DEVICE.blktrace.0 and so on)")]
    Folder {
        /// The folder.
        file: String,
    },
    /// The file is of another kind than was said.
    #[error("{file}: not {named}: the file holds {found}")]
    OtherFormat {
        /// The file.
        file: String,
        /// The format that was named, or that the file's name promises.
        named: &'static str,
        /// What it holds instead.
        found: &'static str,
    },
    /// The file is of a known kind that holds no trace as it is.
    #[error("{file}: {kind}, which is no trace{}", help.map(|help| format!(": {help}")).unwrap_or_default())]
    Foreign {
        /// The file.
        file: String,
        /// What it is.
        kind: &'static str,
        /// What to do with it.
        help: Option<&'static str>,
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
    /// An option on columns is of none that the file has.
    #[error("{file}: {what} does nothing here: {why}")]
    Meaningless {
        /// The file.
        file: String,
        /// The option.
        what: &'static str,
        /// Why nothing follows from it.
        why: String,
    },
    /// There is no line to recognise the format by.
    #[error("{file}: the file holds no line of data")]
    Empty {
        /// The file.
        file: String,
    },
    /// The content resembles no known format.
    #[error("{file}:{line}: '{excerpt}' is in no known trace format. {}", ways_out(nearest))]
    Unrecognised {
        /// The file.
        file: String,
        /// The first line that holds data.
        line: u64,
        /// How that line begins.
        excerpt: String,
        /// The formats that it resembles most.
        nearest: Vec<super::Format>,
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
    /// A record of a binary format is wrong.
    #[error("{file}: the record at byte {at}: {fault} (read as {format}: {})", format.columns())]
    Record {
        /// The file.
        file: String,
        /// Where in it the record begins.
        at: u64,
        /// The format the file is read as.
        format: super::Format,
        /// What is wrong.
        fault: Box<LineFault>,
    },
    /// Records are too far from the order of their times.
    #[error(
        "{place}: this record is {late} earlier than one before it. Records are put in order within {} of the file and {}; sort the file by time",
        window_records(),
        super::order::WINDOW_TIME
    )]
    Disorder {
        /// The file and where in it the record stands.
        place: String,
        /// By how much it is late.
        late: Nanos,
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
