//! Rows as text with commas: words in quotes where they need them, nothing where there was nothing to measure.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, Write};

use super::column::{Cell, Column};

/// Lines that are gathered and written by and by.
pub(super) struct Lines<W> {
    text: String,
    columns: usize,
    to: W,
}

impl<W: Write> Lines<W> {
    /// Begins with the header.
    pub(super) fn new(columns: &[Column], to: W) -> Lines<W> {
        let names: Vec<&str> = columns.iter().map(|column| column.name).collect();
        Lines { text: names.join(",") + "\n", columns: columns.len(), to }
    }

    pub(super) fn push(&mut self, cells: &[Cell<'_>]) {
        assert_eq!(cells.len(), self.columns, "a row has one value per column");
        for (index, cell) in cells.iter().enumerate() {
            if index > 0 {
                self.text.push(',');
            }
            // Writing into a String cannot fail.
            let _ = match cell {
                Cell::Integer(number) => write!(self.text, "{number}"),
                Cell::Real(Some(number)) => write!(self.text, "{number}"),
                Cell::Real(None) => Ok(()),
                Cell::Text(text) => write!(self.text, "{}", quoted(&String::from_utf8_lossy(text.data()))),
                Cell::Flag(flag) => write!(self.text, "{flag}"),
            };
        }
        self.text.push('\n');
    }

    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.to.write_all(self.text.as_bytes())?;
        self.text.clear();
        Ok(())
    }

    /// Writes what is left, at least the header.
    pub(super) fn finish(mut self) -> io::Result<W> {
        self.flush()?;
        self.to.flush()?;
        Ok(self.to)
    }
}

/// A word as a field of CSV (RFC 4180).
pub(super) fn quoted(text: &str) -> Cow<'_, str> {
    if text.contains([',', '"', '\n', '\r']) { Cow::Owned(format!("\"{}\"", text.replace('"', "\"\""))) } else { Cow::Borrowed(text) }
}
