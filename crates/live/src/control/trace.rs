//! A recording as the lines of a trace, with all that is needed to replay it in lines of comment.

use std::io::{self, ErrorKind, Write};
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use wordline_units::host::SECTOR_BYTES;
use wordline_units::{Bytes, FlashOp, HostRequest};
use wordline_workload::TraceRecord;
use wordline_workload::trace::{OutputFormat, TraceWriter};

use crate::ask::Look;
use crate::disk::LiveDisk;
use crate::doors::Stream;
use crate::record::{Recorded, Recording};

/// Silence after which the client is checked.
const QUIET: Duration = Duration::from_millis(500);
/// Bytes that are sent together.
const CHUNK: usize = 64 << 10;

/// Lines on their way to the client.
struct Out<'a>(&'a Stream, Vec<u8>);

impl Write for Out<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.1.extend_from_slice(bytes);
        if self.1.len() >= CHUNK {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.write_all(&self.1)?;
        self.1.clear();
        Ok(())
    }
}

/// Writes `recording` to the client until it ends, or the client goes.
pub(super) fn write(stream: &Stream, recording: Recording, disk: &LiveDisk) -> io::Result<()> {
    let mut out = Out(stream, Vec::new());
    head(&mut out, disk, recording.is_late)?;
    let mut writer = TraceWriter::new(&mut out, OutputFormat::Csv, true)?;
    loop {
        match recording.lines.recv_timeout(QUIET) {
            Ok(Recorded::Request(request)) => writer.write(&record(&request), "disk")?,
            Ok(Recorded::Note(at, what)) => writer.comment(&format!("{} us: {what}", at.as_micros_f64()))?,
            Ok(Recorded::End(look)) => {
                if recording.is_broken() {
                    broken(&mut writer)?;
                } else {
                    writer.comment(&end(&look))?;
                }
                return writer.flush();
            }
            Err(RecvTimeoutError::Timeout) => {
                writer.flush()?;
                if recording.is_broken() {
                    broken(&mut writer)?;
                    return writer.flush();
                }
                if is_gone(stream)? {
                    return Ok(());
                }
            }
            Err(RecvTimeoutError::Disconnected) => {
                writer.comment("broken off: the drive has stopped")?;
                return writer.flush();
            }
        }
    }
}

fn broken<W: Write>(writer: &mut TraceWriter<W>) -> io::Result<()> {
    writer.comment("broken off: requests came faster than they were read, and some are missing")
}

/// True if the client has hung up. Its input meanwhile is ignored.
fn is_gone(stream: &Stream) -> io::Result<bool> {
    stream.set_read_timeout(Some(Duration::from_millis(1)))?;
    match stream.read(&mut [0; 256]) {
        Ok(count) => Ok(count == 0),
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted) => Ok(false),
        Err(error) => Err(error),
    }
}

fn record(request: &HostRequest) -> TraceRecord {
    TraceRecord {
        at: Some(request.at),
        volume: 0,
        op: request.op,
        offset: Bytes(request.sector * SECTOR_BYTES),
        length: Bytes(u64::from(request.sectors) * SECTOR_BYTES),
        latency: None,
        fua: request.fua,
        priority: Some(request.attributes.priority),
        insecure: !request.attributes.secure,
        tolerance: request.attributes.tolerance,
    }
}

fn head(out: &mut impl Write, disk: &LiveDisk, is_late: bool) -> io::Result<()> {
    let about = disk.about();
    writeln!(out, "# what {} was asked, with virtual times; timing {}", one_line(&about.name), disk.timing())?;
    let words: Vec<String> = about.again.iter().map(|word| quoted(word)).collect();
    if is_late {
        writeln!(out, "# the drive had been used before: a replay starts from another state, and its figures differ")?;
    }
    writeln!(out, "# replay: wordline run {} --open-loop --workload THIS", words.join(" "))
}

/// State of the drive when the last request had been answered: a replay of the whole ends the same.
fn end(look: &Look) -> String {
    let totals = look.metrics.so_far();
    let requests: u64 = wordline_units::HostOp::ALL.into_iter().map(|op| totals.host(op).requests).sum();
    format!(
        "end: {requests} requests, event log {:016x}, write amplification {}, flash pages programmed {}, read {}, block groups erased {}",
        look.log.0,
        look.waf().map_or("none".to_owned(), |waf| waf.to_string()),
        totals.pages_programmed(),
        totals.pages(FlashOp::Read),
        totals.pages(FlashOp::Erase),
    )
}

fn one_line(text: &str) -> String {
    text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}

/// Quotes `word` for a shell.
fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./=,:+@".contains(letter);
    let word = one_line(word);
    if !word.is_empty() && word.chars().all(is_plain) { word } else { format!("'{}'", word.replace('\'', "'\\''")) }
}
