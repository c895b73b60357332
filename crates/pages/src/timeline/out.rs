//! Events of a timeline as they are written: one JSON object a line, in the trace format of Chrome.

use std::fmt::Display;
use std::io::{Result, Write};

use wordline_units::Nanos;

/// The list of events as it is written.
pub(super) struct Out<'a, W: Write> {
    to: &'a mut W,
    began: Nanos,
    is_first: bool,
}

impl<'a, W: Write> Out<'a, W> {
    /// Begins the list of a run whose measured part began at `began`; `other` stands before it.
    pub(super) fn begin(to: &'a mut W, began: Nanos, other: serde_json::Map<String, serde_json::Value>) -> Result<Out<'a, W>> {
        write!(to, "{{\"displayTimeUnit\":\"ns\",\"otherData\":{},\"traceEvents\":[", serde_json::Value::Object(other))?;
        Ok(Out { to, began, is_first: true })
    }

    /// Ends the list.
    pub(super) fn end(self) -> Result<()> {
        writeln!(self.to, "\n]}}")
    }

    fn next(&mut self) -> Result<()> {
        self.to.write_all(if std::mem::replace(&mut self.is_first, false) { b"\n" } else { b",\n" })
    }

    /// An instant in microseconds since the beginning of the measured part.
    fn at(&self, at: Nanos) -> Micros {
        Micros(at.saturating_sub(self.began))
    }

    /// A slice of a row.
    pub(super) fn slice(&mut self, process: u32, row: u32, name: &str, (from, end): (Nanos, Nanos), args: &str) -> Result<()> {
        let (ts, dur) = (self.at(from), Micros(end - from));
        self.next()?;
        write!(
            self.to,
            "{{\"ph\":\"X\",\"pid\":{process},\"tid\":{row},\"ts\":{ts},\"dur\":{dur},\"name\":\"{name}\",\"args\":{{{args}}}}}"
        )
    }

    /// An instant on a row.
    pub(super) fn mark(&mut self, process: u32, row: u32, name: &str, at: Nanos, args: &str) -> Result<()> {
        let ts = self.at(at);
        self.next()?;
        write!(self.to, "{{\"ph\":\"i\",\"s\":\"t\",\"pid\":{process},\"tid\":{row},\"ts\":{ts},\"name\":\"{name}\",\"args\":{{{args}}}}}")
    }

    /// What a counter shows from `at` on, series by series.
    pub(super) fn count<'n>(&mut self, process: u32, name: &str, at: Nanos, values: impl Iterator<Item = (&'n str, u64)>) -> Result<()> {
        let ts = self.at(at);
        self.next()?;
        write!(self.to, "{{\"ph\":\"C\",\"pid\":{process},\"tid\":0,\"ts\":{ts},\"name\":\"{name}\",\"args\":{{")?;
        for (number, (series, value)) in values.enumerate() {
            write!(self.to, "{}\"{series}\":{value}", if number > 0 { "," } else { "" })?;
        }
        write!(self.to, "}}}}")
    }

    /// The name of a process, or of a row of it, which also says its place.
    pub(super) fn name(&mut self, process: u32, row: Option<u32>, name: &str) -> Result<()> {
        self.next()?;
        let (kind, row) = row.map_or(("process_name", 0), |row| ("thread_name", row));
        write!(self.to, "{{\"ph\":\"M\",\"pid\":{process},\"tid\":{row},\"name\":\"{kind}\",\"args\":{{\"name\":\"{name}\"}}}}")?;
        if row > 0 {
            self.next()?;
            write!(
                self.to,
                "{{\"ph\":\"M\",\"pid\":{process},\"tid\":{row},\"name\":\"thread_sort_index\",\"args\":{{\"sort_index\":{row}}}}}"
            )?;
        }
        Ok(())
    }
}

/// A time as microseconds to the nanosecond.
struct Micros(Nanos);

impl Display for Micros {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(to, "{}.{:03}", self.0.0 / 1_000, self.0.0 % 1_000)
    }
}
