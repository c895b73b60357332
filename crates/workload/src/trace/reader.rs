//! The streaming reader: one record after another, in the order of their times and in constant memory.

use std::borrow::Cow;
use std::io::Read;

use wordline_units::{Bytes, HostOp, Nanos};

use super::TraceRecord;
use super::blktrace::{self, Merged, Step};
use super::detect::{self, Recognised};
use super::draft::Draft;
use super::error::{LineFault, TraceError};
use super::format::Format;
use super::input::{LineRead, Lines, Opened};
use super::meaning::{Spaces, Units};
use super::order::{Disorder, Order};
use super::parser::Parser;
use super::volumes::Volumes;

/// What to do about a line that does not follow the format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnFault {
    /// Stop with an error that names the line.
    #[default]
    Stop,
    /// Count it, keep the first few for the report, and read on.
    Skip,
}

/// Options of reading a trace.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReadOptions {
    /// The format; `None` recognises it by content.
    pub format: Option<Format>,
    /// What to do about malformed lines.
    pub on_fault: OnFault,
    /// The unit of times; `None` is that of the format.
    pub time_unit: Option<Nanos>,
    /// The size of a sector in formats that count in sectors; `None` is 512 B.
    pub sector: Option<Bytes>,
    /// The address spaces of volumes.
    pub spaces: Spaces,
}

impl ReadOptions {
    fn units(&self) -> Units {
        Units { time: self.time_unit, sector: self.sector }
    }

    /// Refuse units of columns that `format` has not.
    fn check(&self, format: Format, file: &str) -> Result<(), TraceError> {
        let nothing = |what, why| Err(TraceError::Meaningless { file: file.to_owned(), what, why });
        match format.fixed_units() {
            Some(why) if self.time_unit.is_some() => nothing("a unit of times", why.to_owned()),
            Some(why) if self.sector.is_some() => nothing("a size of sectors", why.to_owned()),
            _ if self.time_unit.is_some() && !format.has_times() => nothing("a unit of times", format!("{format} has none")),
            _ if self.sector.is_some() && !format.counts_sectors() => nothing("a size of sectors", format!("{format} counts in bytes")),
            _ => Ok(()),
        }
    }
}

/// The lines that a reading passed over: those without a request that are usual in the format, and in a lenient reading malformed ones.
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

/// Where records come from.
enum Source<'a> {
    Text(Lines<'a>, Parser),
    Binary(Merged<'a>),
}

/// One step through a source.
enum Next {
    /// One record, or two where a flush is asked for before the data.
    Records(Option<TraceRecord>, TraceRecord),
    Nothing,
    Fault(LineFault),
    Failed(TraceError),
    End,
}

/// The records of one trace.
pub struct TraceReader<'a> {
    source: Source<'a>,
    volumes: Volumes,
    file: String,
    on_fault: OnFault,
    recognised: Recognised,
    skipped: Skipped,
    order: Order,
    /// Whether the source has been read to its end, or to what ended the reading.
    finished: bool,
    /// What ended it, told once the records before it have gone out.
    failure: Option<TraceError>,
}

impl<'a> TraceReader<'a> {
    /// Read a trace from `source`, plain or compressed; `file` is its name in messages.
    pub fn new(source: impl Read + 'a, file: &str, options: ReadOptions) -> Result<TraceReader<'a>, TraceError> {
        let opened = Opened::new(source).map_err(|source| TraceError::Read { file: file.to_owned(), line: 0, source })?;
        if blktrace::begins(opened.head()) {
            return TraceReader::of_recording(vec![(file.to_owned(), opened)], file, "", options);
        }
        let recognised = match options.format {
            Some(format) => detect::named(format, opened.head(), file)?,
            None => detect::recognise(opened.head(), file)?,
        };
        options.check(recognised.format, file)?;
        let parser = Parser::new(recognised.format, opened.head(), options.units());
        if options.time_unit.is_some() && recognised.format == Format::FioV2 && !parser.timed() {
            return Err(TraceError::Meaningless {
                file: file.to_owned(),
                what: "a unit of times",
                why: "there is no wait, so no time".to_owned(),
            });
        }
        Ok(TraceReader::of(Source::Text(Lines::new(opened), parser), file, recognised, options))
    }

    /// Read the files of one recording of blktrace; `note`: what there is to say of them.
    pub(crate) fn of_recording(
        files: Vec<(String, Opened<'a>)>,
        file: &str,
        note: &str,
        options: ReadOptions,
    ) -> Result<TraceReader<'a>, TraceError> {
        let heads = || files.iter().map(|(_, opened)| opened.head());
        if heads().all(<[u8]>::is_empty) {
            return Err(TraceError::Empty { file: file.to_owned() });
        }
        let event = match options.format {
            Some(Format::Blktrace(event)) => event,
            Some(format) => {
                return Err(TraceError::OtherFormat { file: file.to_owned(), named: format.name(), found: "binary records of blktrace" });
            }
            None => blktrace::chosen(heads()),
        };
        let files_are = match files.len() {
            1 => "a file".to_owned(),
            count => format!("{count} files"),
        };
        options.check(Format::Blktrace(event), file)?;
        let why = format!("records of blktrace in {files_are}{note}; {}", event.chosen_words());
        let recognised = Recognised { format: Format::Blktrace(event), why };
        let files = files.into_iter().map(|(name, opened)| (name, opened.into_reader())).collect();
        Ok(TraceReader::of(Source::Binary(Merged::new(files, event)), file, recognised, options))
    }

    fn of(source: Source<'a>, file: &str, recognised: Recognised, options: ReadOptions) -> TraceReader<'a> {
        TraceReader {
            source,
            volumes: Volumes::new(options.spaces),
            file: file.to_owned(),
            on_fault: options.on_fault,
            recognised,
            skipped: Skipped::default(),
            order: Order::default(),
            finished: false,
            failure: None,
        }
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
        match &self.source {
            Source::Text(_, parser) => parser.timed(),
            Source::Binary(_) => true,
        }
    }

    /// The names of the volumes met so far, by number.
    pub fn volume_names(&self) -> &[String] {
        self.volumes.names()
    }

    /// Number of volumes met so far; more than there are names where all are one.
    pub fn volumes_met(&self) -> usize {
        self.volumes.met()
    }

    /// Lines passed over so far.
    pub fn skipped(&self) -> &Skipped {
        &self.skipped
    }

    /// How far the records read so far were from the order of their times in the file.
    pub fn disorder(&self) -> Disorder {
        self.order.disorder()
    }

    /// Read on until a record is due or the source has ended.
    fn read_on(&mut self) -> Option<TraceRecord> {
        loop {
            if let Some(record) = self.order.pop(self.finished) {
                return Some(record);
            }
            if self.finished {
                return None;
            }
            match self.source.next(&self.file, &mut self.volumes) {
                Next::Records(first, second) => {
                    let pushed = first.into_iter().chain([second]).try_for_each(|record| self.order.push(record));
                    if let Err(late) = pushed {
                        self.fail(TraceError::Disorder { place: self.source.place(&self.file), late });
                    }
                }
                Next::Nothing => {}
                Next::Fault(fault) => self.judge(fault),
                Next::Failed(error) => self.fail(error),
                Next::End => self.finished = true,
            }
        }
    }

    fn fail(&mut self, error: TraceError) {
        self.finished = true;
        self.failure = Some(error);
    }

    /// Stop because of `fault`, or count it, as the format and the options say.
    fn judge(&mut self, mut fault: LineFault) {
        let on_fault = if fault.is_usual { OnFault::Skip } else { self.on_fault };
        if self.on_fault == OnFault::Skip && matches!(self.source, Source::Binary(_)) {
            // Where the next record begins is not known.
            fault.hint = "; the rest of this file is passed over".to_owned();
        }
        let error = self.source.error(&self.file, self.recognised.format, fault);
        match on_fault {
            OnFault::Stop => self.fail(error),
            OnFault::Skip => {
                self.skipped.count += 1;
                if self.skipped.first.len() < Skipped::KEPT {
                    self.skipped.first.push(error);
                }
            }
        }
    }
}

impl Source<'_> {
    fn next(&mut self, file: &str, volumes: &mut Volumes) -> Next {
        match self {
            Source::Text(lines, parser) => match lines.advance() {
                Ok(LineRead::End) => Next::End,
                Ok(LineRead::Whole) => match parser.line(lines.line(), lines.number()) {
                    Ok(Some(draft)) => records(&draft, volumes, || Cow::Borrowed(lines.line())),
                    Ok(None) => Next::Nothing,
                    Err(fault) => Next::Fault(fault),
                },
                Ok(LineRead::TooLong) => Next::Fault(LineFault::line("a line shorter than 64 KiB", lines.line())),
                Err(source) => Next::Failed(TraceError::Read { file: file.to_owned(), line: lines.number(), source }),
            },
            Source::Binary(merged) => match merged.step() {
                Step::Request(draft, shown) => records(&draft, volumes, || Cow::Owned(shown.shown().into_bytes())),
                Step::Other => Next::Nothing,
                Step::Fault(fault) => Next::Fault(fault),
                Step::Failed(error) => Next::Failed(error),
                Step::End => Next::End,
            },
        }
    }

    /// The place of the last record.
    fn place(&self, file: &str) -> String {
        match self {
            Source::Text(lines, _) => format!("{file}:{}", lines.number()),
            Source::Binary(merged) => {
                let (file, at) = merged.place();
                format!("{file}: the record at byte {at}")
            }
        }
    }

    /// What is wrong with the last line or record, as an error.
    fn error(&self, file: &str, format: Format, fault: LineFault) -> TraceError {
        let fault = Box::new(fault);
        match self {
            Source::Text(lines, _) => TraceError::Line { file: file.to_owned(), line: lines.number(), format, fault },
            Source::Binary(merged) => {
                let (file, at) = merged.place();
                TraceError::Record { file: file.to_owned(), at, format, fault }
            }
        }
    }
}

/// The records that `draft` stands for; `found` shows it in messages.
fn records<'f>(draft: &Draft<'_>, volumes: &mut Volumes, found: impl FnOnce() -> Cow<'f, [u8]>) -> Next {
    match draft.check(volumes) {
        Ok(record) => {
            let flush =
                draft.flush_first.then_some(TraceRecord { op: HostOp::Flush, offset: Bytes(0), length: Bytes(0), fua: false, ..record });
            Next::Records(flush, record)
        }
        Err(expected) => Next::Fault(LineFault::line(expected, &found())),
    }
}

impl Iterator for TraceReader<'_> {
    type Item = Result<TraceRecord, TraceError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read_on().map(Ok).or_else(|| self.failure.take().map(Err))
    }
}
