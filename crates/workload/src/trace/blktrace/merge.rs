//! The files of a recording as one stream of records, in the order of their times.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{self, ErrorKind, Read};

use wordline_units::Nanos;

use super::super::draft::Draft;
use super::super::error::{LineFault, TraceError};
use super::super::format::BlockEvent;
use super::record::{NoRecord, RECORD, Record};

/// One file of a recording.
struct Stream<'a> {
    name: String,
    source: Box<dyn Read + 'a>,
    /// The record that comes next, and where in the file it stands.
    next: Option<(Record, u64)>,
    /// How much of the file has been read.
    read: u64,
}

/// What the next record of a stream is, if it is not one.
enum Broken {
    Fault(u64, LineFault),
    Io(io::Error),
}

impl Stream<'_> {
    /// Read the record that comes next, if there is one.
    fn advance(&mut self) -> Result<(), Broken> {
        self.next = None;
        let from = self.read;
        let mut bytes = [0; RECORD];
        let length = fill(&mut self.source, &mut bytes).map_err(Broken::Io)?;
        self.read += length as u64;
        if length == 0 {
            return Ok(());
        }
        let cut = |what: String| Broken::Fault(from, LineFault::line("a whole record of blktrace", what.as_bytes()));
        if length < RECORD {
            return Err(cut(format!("{length} bytes at the end of the file")));
        }
        let record = Record::parse(&bytes).map_err(|wrong| {
            Broken::Fault(
                from,
                match wrong {
                    NoRecord::Magic(found) => LineFault::line("the magic number 0x65617407", format!("{found:#010x}").as_bytes()),
                    NoRecord::Version(found) => LineFault::line("version 7 of blktrace's records", format!("version {found}").as_bytes()),
                },
            )
        })?;
        let data = u64::from(record.data);
        let passed = io::copy(&mut self.source.by_ref().take(data), &mut io::sink()).map_err(Broken::Io)?;
        self.read += passed;
        if passed < data {
            return Err(cut(format!("{passed} of {data} bytes of data at the end of the file")));
        }
        self.next = Some((record, from));
        Ok(())
    }
}

fn fill(source: &mut impl Read, bytes: &mut [u8]) -> io::Result<usize> {
    let mut length = 0;
    while length < bytes.len() {
        match source.read(&mut bytes[length..]) {
            Ok(0) => break,
            Ok(count) => length += count,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(length)
}

/// What reading the next record came to.
pub(crate) enum Step<'a> {
    /// A request, and the record that stands for it.
    Request(Draft<'a>, Record),
    /// A record that is no request.
    Other,
    /// A file cannot be read on from the place of the last record, because what stands there is no record.
    Fault(LineFault),
    /// A file cannot be read.
    Failed(TraceError),
    /// There are no more.
    End,
}

/// The records of all files, merged.
pub(crate) struct Merged<'a> {
    streams: Vec<Stream<'a>>,
    /// The time, device, sequence number and stream of each stream's next record: the order of `blkparse`.
    heads: BinaryHeap<Reverse<(Nanos, u32, u32, usize)>>,
    /// Streams whose next record has not been read.
    behind: Vec<usize>,
    event: BlockEvent,
    /// The device of the last record, and its name.
    device: (Option<u32>, String),
    /// The stream and the place of the last record.
    place: (usize, u64),
}

impl<'a> Merged<'a> {
    /// The requests in `files`, of which `event` makes one.
    pub(crate) fn new(files: Vec<(String, Box<dyn Read + 'a>)>, event: BlockEvent) -> Merged<'a> {
        let streams: Vec<Stream<'a>> = files.into_iter().map(|(name, source)| Stream { name, source, next: None, read: 0 }).collect();
        let behind = (0..streams.len()).rev().collect();
        Merged { streams, heads: BinaryHeap::new(), behind, event, device: (None, String::new()), place: (0, 0) }
    }

    /// The next record.
    pub(crate) fn step(&mut self) -> Step<'_> {
        while let Some(index) = self.behind.pop() {
            let stream = &mut self.streams[index];
            match stream.advance() {
                Ok(()) => {
                    if let Some((record, _)) = stream.next {
                        self.heads.push(Reverse((record.at, record.device, record.sequence, index)));
                    }
                }
                Err(Broken::Fault(at, fault)) => {
                    self.place = (index, at);
                    return Step::Fault(fault);
                }
                Err(Broken::Io(source)) => {
                    let place = format!("{}: byte {}", stream.name, stream.read);
                    return Step::Failed(TraceError::Read { file: place, line: 0, source });
                }
            }
        }
        let Some(Reverse((.., index))) = self.heads.pop() else { return Step::End };
        self.behind.push(index);
        let Some((record, at)) = self.streams[index].next else { return Step::Other };
        self.place = (index, at);
        if self.device.0 != Some(record.device) {
            self.device = (Some(record.device), record.device_name());
        }
        record.draft(self.event, self.device.1.as_bytes()).map_or(Step::Other, |draft| Step::Request(draft, record))
    }

    /// The file of the last record and where in it that stands.
    pub(crate) fn place(&self) -> (&str, u64) {
        (self.streams.get(self.place.0).map_or("", |stream| &stream.name), self.place.1)
    }
}
