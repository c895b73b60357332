//! Writing traces in formats that other tools read.
//!
//! `CARRIED` says what each format can carry.
//!
//! Requests that a format has no word for are left out and counted. Where a format has whole sectors only, a request is widened to
//! them. Times are rounded down. A trace without times is written with time zero throughout, except to `csv`, which then has no
//! time column.

use std::io::{self, Write};

use serde::Serialize;
use wordline_units::host::SECTOR_BYTES;
use wordline_units::{HostOp, Nanos, Priority, Tolerance};

use super::error::TraceError;
use super::format::UnknownFormat;
use super::{TraceReader, TraceRecord};

/// A format that traces can be written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OutputFormat {
    /// MSR Cambridge.
    Msr,
    /// MQSim's five columns.
    Mqsim,
    /// fio iolog, version 3.
    Fio,
    /// blkparse's default text, Q events only.
    Blkparse,
    /// Plain columns under a header.
    Csv,
}

impl OutputFormat {
    /// Every format.
    pub const ALL: [OutputFormat; 5] =
        [OutputFormat::Msr, OutputFormat::Mqsim, OutputFormat::Fio, OutputFormat::Blkparse, OutputFormat::Csv];

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            OutputFormat::Msr => "msr",
            OutputFormat::Mqsim => "mqsim",
            OutputFormat::Fio => "fio",
            OutputFormat::Blkparse => "blkparse",
            OutputFormat::Csv => "csv",
        }
    }

    /// The format of this name.
    pub fn parse(name: &str) -> Result<OutputFormat, UnknownFormat> {
        let lower = name.trim().to_ascii_lowercase();
        let names = OutputFormat::ALL.map(OutputFormat::name);
        OutputFormat::ALL.into_iter().find(|format| format.name() == lower).ok_or_else(|| UnknownFormat {
            name: name.to_owned(),
            hint: crate::words::did_you_mean(&lower, names),
            known: format!("known are {}", names.join(", ")),
        })
    }
}

/// Contents of each of [`OutputFormat::ALL`]: times, operations, addresses, volumes, latency, unit access, and priority with security and tolerance.
pub(crate) const CARRIED: [[&str; 7]; OutputFormat::ALL.len()] = [
    ["100 ns steps", "read, write", "bytes", "names", "100 ns steps", "no", "no"],
    ["whole ns", "read, write", "whole sectors", "numbers", "no", "no", "no"],
    ["whole us", "all but hints", "bytes", "names", "no", "no", "no"],
    ["whole ns", "all but hints", "whole sectors", "numbers", "no", "yes", "no"],
    ["whole ns", "all", "bytes", "names", "whole ns", "yes", "yes"],
];

/// What a conversion came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Written {
    /// Records in the output.
    pub records: u64,
    /// Records left out because the format has no word for their operation.
    pub left_out: u64,
    /// Records widened to whole sectors.
    pub widened: u64,
}

/// Writes records one by one.
pub struct TraceWriter<W: Write> {
    out: W,
    format: OutputFormat,
    timed: bool,
    opened: u32,
    written: Written,
}

impl<W: Write> TraceWriter<W> {
    /// A writer to `out`; `timed` says whether records have times.
    pub fn new(mut out: W, format: OutputFormat, timed: bool) -> io::Result<TraceWriter<W>> {
        match format {
            OutputFormat::Csv => {
                let from = if timed { 0 } else { "time_us,".len() };
                writeln!(out, "{}", &super::own::HEADER[from..])?;
            }
            OutputFormat::Fio => writeln!(out, "fio version 3 iolog")?,
            OutputFormat::Msr | OutputFormat::Mqsim | OutputFormat::Blkparse => {}
        }
        Ok(TraceWriter { out, format, timed, opened: 0, written: Written::default() })
    }

    /// Write one record of the volume called `volume`.
    pub fn write(&mut self, record: &TraceRecord, volume: &str) -> io::Result<()> {
        let at = record.at.unwrap_or(Nanos::ZERO).0;
        let (offset, length) = (record.offset.0, record.length.0);
        let data = matches!(record.op, HostOp::Read | HostOp::Write);
        let sector = offset / SECTOR_BYTES;
        let sectors = record.end().0.div_ceil(SECTOR_BYTES) - sector;
        match self.format {
            OutputFormat::Msr | OutputFormat::Mqsim if !data => return self.leave_out(),
            OutputFormat::Fio | OutputFormat::Blkparse if record.op == HostOp::Hint => return self.leave_out(),
            OutputFormat::Csv => self.write_csv(record, volume)?,
            OutputFormat::Msr => {
                let kind = if record.op == HostOp::Read { "Read" } else { "Write" };
                let (host, disk) = host_and_disk(volume, record.volume);
                let response = record.latency.unwrap_or(Nanos::ZERO).0 / 100;
                writeln!(self.out, "{},{host},{disk},{kind},{offset},{length},{response}", at / 100)?;
            }
            OutputFormat::Mqsim => {
                writeln!(self.out, "{at} {} {sector} {sectors} {}", record.volume, u8::from(record.op == HostOp::Read))?;
            }
            OutputFormat::Fio => {
                let (at, name) = (at / 1_000, word(volume));
                if record.volume >= self.opened {
                    self.opened = record.volume + 1;
                    writeln!(self.out, "{at} {name} add\n{at} {name} open")?;
                }
                match record.op {
                    HostOp::Flush => writeln!(self.out, "{at} {name} sync 0 0")?,
                    HostOp::Read | HostOp::Write | HostOp::Trim | HostOp::Hint => {
                        writeln!(self.out, "{at} {name} {} {offset} {length}", record.op.name())?;
                    }
                }
            }
            OutputFormat::Blkparse => self.write_event(record, at, sector, sectors)?,
        }
        self.written.records += 1;
        let whole = offset.is_multiple_of(SECTOR_BYTES) && length.is_multiple_of(SECTOR_BYTES);
        self.written.widened += u64::from(!whole && matches!(self.format, OutputFormat::Mqsim | OutputFormat::Blkparse));
        Ok(())
    }

    fn write_csv(&mut self, record: &TraceRecord, volume: &str) -> io::Result<()> {
        if self.timed {
            let at = record.at.unwrap_or(Nanos::ZERO).0;
            write!(self.out, "{}.{:03},", at / 1_000, at % 1_000)?;
        }
        write!(self.out, "{},{},{},{},", record.op.name(), record.offset.0, record.length.0, word(volume))?;
        if let Some(latency) = record.latency {
            write!(self.out, "{}.{:03}", latency.0 / 1_000, latency.0 % 1_000)?;
        }
        let (fua, insecure, priority) = (u8::from(record.fua), u8::from(record.insecure), record.priority.map_or("", Priority::name));
        let is_said = record.op == HostOp::Hint || record.tolerance != Tolerance::Default;
        writeln!(self.out, ",{fua},{priority},{insecure},{}", if is_said { record.tolerance.name() } else { "" })
    }

    fn leave_out(&mut self) -> io::Result<()> {
        self.written.left_out += 1;
        Ok(())
    }

    fn write_event(&mut self, record: &TraceRecord, at: u64, sector: u64, sectors: u64) -> io::Result<()> {
        let (second, nano, minor) = (at / 1_000_000_000, at % 1_000_000_000, record.volume);
        let number = self.written.records + 1;
        let rwbs = match (record.op, record.fua) {
            // Hints are left out before.
            (HostOp::Hint, _) => "N",
            (HostOp::Read, _) => "R",
            (HostOp::Write, false) => "W",
            (HostOp::Write, true) => "WF",
            (HostOp::Trim, _) => "D",
            (HostOp::Flush, _) => "FN",
        };
        write!(self.out, "8,{minor:<4} 0 {number:>8} {second:>5}.{nano:09}     0  Q {rwbs:>3} ")?;
        match record.op {
            HostOp::Flush => writeln!(self.out, "[wordline]"),
            HostOp::Read | HostOp::Write | HostOp::Trim | HostOp::Hint => writeln!(self.out, "{sector} + {sectors} [wordline]"),
        }
    }

    /// Write a line that readers pass over.
    pub fn comment(&mut self, text: &str) -> io::Result<()> {
        let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        writeln!(self.out, "# {text}")
    }

    /// Hand on what was written so far.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// Flush the output and say what was written.
    pub fn finish(mut self) -> io::Result<Written> {
        self.out.flush()?;
        Ok(self.written)
    }
}

/// `hm.0` is disk 0 of host hm; another name is a host with the volume's number as its disk.
fn host_and_disk(volume: &str, number: u32) -> (String, u64) {
    match volume.rsplit_once('.').and_then(|(host, disk)| Some((word(host), disk.parse().ok()?))) {
        Some((host, disk)) => (host, disk),
        None => (word(volume), u64::from(number)),
    }
}

/// A name that no format takes for two columns, for a comment or for nothing.
fn word(name: &str) -> String {
    let cleaned: String = name.chars().map(|c| if c.is_whitespace() || c == ',' || c == '#' || c.is_control() { '_' } else { c }).collect();
    if cleaned.is_empty() { "0".to_owned() } else { cleaned }
}

/// Write the rest of `reader` to `out`.
pub fn convert(reader: &mut TraceReader<'_>, out: impl Write, format: OutputFormat) -> Result<Written, TraceError> {
    let first = reader.next().transpose()?;
    let mut writer = TraceWriter::new(out, format, reader.timed()).map_err(TraceError::Write)?;
    let mut next = first;
    while let Some(record) = next {
        let name = reader.volume_names().get(record.volume as usize).map_or("0", String::as_str);
        writer.write(&record, name).map_err(TraceError::Write)?;
        next = reader.next().transpose()?;
    }
    writer.finish().map_err(TraceError::Write)
}
