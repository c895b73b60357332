//! The streaming reader: one record after another in constant memory.
//!
//! The exception is the FlashNet replay, whose rows are not in the order of submission: it is read whole and sorted.

use std::io::Read;
use std::vec;

use super::TraceRecord;
use super::detect::{self, Recognised};
use super::error::{LineFault, TraceError};
use super::format::Format;
use super::input::{LineRead, Lines};
use super::parser::Parser;

/// What to do about a line that does not follow the format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnFault {
    /// Stop with an error that names the line.
    #[default]
    Stop,
    /// Count it, keep the first few for the report, and read on.
    Skip,
}

/// How to read a trace.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReadOptions {
    /// The format; `None` recognises it by content.
    pub format: Option<Format>,
    /// What to do about malformed lines.
    pub on_fault: OnFault,
}

/// The malformed lines that a lenient reading passed over.
#[derive(Debug, Default)]
pub struct Skipped {
    /// How many there were.
    pub count: u64,
    /// The first few, each naming file and line.
    pub first: Vec<TraceError>,
}

impl Skipped {
    const KEPT: usize = 5;
}

/// The records of one trace.
pub struct TraceReader<'a> {
    lines: Lines<'a>,
    parser: Parser,
    file: String,
    on_fault: OnFault,
    recognised: Recognised,
    skipped: Skipped,
    sorted: Option<vec::IntoIter<TraceRecord>>,
    finished: bool,
}

impl<'a> TraceReader<'a> {
    /// Read a trace from `source`, plain or compressed; `file` is its name in messages.
    pub fn new(source: impl Read + 'a, file: &str, options: ReadOptions) -> Result<TraceReader<'a>, TraceError> {
        let mut lines = Lines::new(source).map_err(|source| TraceError::Read { file: file.to_owned(), line: 0, source })?;
        let head = lines.take_head();
        let recognised = match options.format {
            Some(format) => Recognised { format, why: "the format was named".to_owned() },
            None => detect::recognise(&head, file)?,
        };
        let parser = Parser::new(recognised.format, &head);
        let sorts = recognised.format == Format::FlashNet;
        let mut reader = TraceReader {
            lines,
            parser,
            file: file.to_owned(),
            on_fault: options.on_fault,
            recognised,
            skipped: Skipped::default(),
            sorted: None,
            finished: false,
        };
        if sorts {
            reader.sort_by_time()?;
        }
        Ok(reader)
    }

    /// The format and how it was found.
    pub fn recognised(&self) -> &Recognised {
        &self.recognised
    }

    /// The name used in messages.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// Whether records have a time. For plain CSV this is known once the header has been read, that is after the first record.
    pub fn timed(&self) -> bool {
        self.parser.timed()
    }

    /// The names of the volumes met so far, by number.
    pub fn volume_names(&self) -> &[String] {
        self.parser.volume_names()
    }

    /// What a lenient reading has passed over so far.
    pub fn skipped(&self) -> &Skipped {
        &self.skipped
    }

    fn sort_by_time(&mut self) -> Result<(), TraceError> {
        let mut records = Vec::new();
        while let Some(record) = self.next_in_file() {
            records.push(record?);
        }
        records.sort_by_key(|record| record.at);
        self.sorted = Some(records.into_iter());
        Ok(())
    }

    fn next_in_file(&mut self) -> Option<Result<TraceRecord, TraceError>> {
        while !self.finished {
            let fault = match self.lines.advance() {
                Ok(LineRead::End) => {
                    self.finished = true;
                    return None;
                }
                Ok(LineRead::Whole) => match self.parser.line(self.lines.line(), self.lines.number()) {
                    Ok(Some(record)) => return Some(Ok(record)),
                    Ok(None) => continue,
                    Err(fault) => fault,
                },
                Ok(LineRead::TooLong) => LineFault::line("a line shorter than 64 KiB", self.lines.line()),
                Err(source) => {
                    self.finished = true;
                    return Some(Err(TraceError::Read { file: self.file.clone(), line: self.lines.number(), source }));
                }
            };
            if let Some(error) = self.judge(fault) {
                return Some(Err(error));
            }
        }
        None
    }

    /// The error to stop with, or nothing when the reading goes on.
    fn judge(&mut self, fault: LineFault) -> Option<TraceError> {
        let error = || TraceError::Line {
            file: self.file.clone(),
            line: self.lines.number(),
            format: self.parser.format(),
            fault: Box::new(fault),
        };
        match self.on_fault {
            OnFault::Stop => {
                self.finished = true;
                Some(error())
            }
            OnFault::Skip => {
                if self.skipped.first.len() < Skipped::KEPT {
                    let error = error();
                    self.skipped.first.push(error);
                }
                self.skipped.count += 1;
                None
            }
        }
    }
}

impl Iterator for TraceReader<'_> {
    type Item = Result<TraceRecord, TraceError>;

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.sorted {
            Some(records) => records.next().map(Ok),
            None => self.next_in_file(),
        }
    }
}
