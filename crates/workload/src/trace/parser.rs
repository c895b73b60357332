//! One line of a known format into one record.

use wordline_units::host::SECTOR_BYTES;
use wordline_units::{Bytes, HostOp, Nanos, Priority};

use super::error::LineFault;
use super::format::{AsciiTime, Format};
use super::iolog::{self, Waits};
use super::own::Header;
use super::volumes::Volumes;
use super::{TraceRecord, ascii, comma, event};

/// A record whose volume is still a name and whose extent has not been checked.
pub(crate) struct Draft<'a> {
    pub(crate) at: Option<Nanos>,
    pub(crate) volume: &'a [u8],
    pub(crate) op: HostOp,
    pub(crate) offset: u64,
    pub(crate) length: u64,
    pub(crate) latency: Option<Nanos>,
    pub(crate) fua: bool,
    pub(crate) priority: Option<Priority>,
    pub(crate) insecure: bool,
}

impl<'a> Draft<'a> {
    /// A flush, which is of no place.
    pub(crate) fn flush(at: Option<Nanos>, volume: &'a [u8]) -> Draft<'a> {
        Draft { at, volume, op: HostOp::Flush, offset: 0, length: 0, latency: None, fua: false, priority: None, insecure: false }
    }
}

/// `count` sectors in bytes.
pub(crate) fn sectors(count: u64, column: &'static str) -> Result<u64, LineFault> {
    count.checked_mul(SECTOR_BYTES).ok_or_else(|| LineFault::column(column, "a number of sectors below 2^55", count.to_string().as_bytes()))
}

/// The state that reading one file needs.
#[derive(Debug)]
pub(crate) struct Parser {
    format: Format,
    header: Option<Header>,
    waits: Waits,
    volumes: Volumes,
}

impl Parser {
    /// A parser of `format`; `head` is the beginning of the file, which says whether an fio log keeps time.
    pub(crate) fn new(format: Format, head: &[u8]) -> Parser {
        let timed = head.split(|byte| *byte == b'\n').any(|line| super::fields::Fields::blanks(line).get(1) == b"wait");
        Parser { format, header: None, waits: Waits { timed, now: Nanos::ZERO }, volumes: Volumes::default() }
    }

    pub(crate) fn format(&self) -> Format {
        self.format
    }

    pub(crate) fn volume_names(&self) -> &[String] {
        self.volumes.names()
    }

    /// Whether records have a time.
    pub(crate) fn timed(&self) -> bool {
        match self.format {
            Format::Nexus5 => false,
            Format::FioV2 => self.waits.timed,
            Format::Ascii(meaning) => meaning.time != AsciiTime::Position,
            Format::Csv => self.header.is_some_and(|header| header.timed()),
            Format::Msr
            | Format::Systor
            | Format::Alibaba
            | Format::Tencent
            | Format::FlashNet
            | Format::Spc
            | Format::CloudPhysics
            | Format::Ycsb
            | Format::WiscSee
            | Format::Blkparse(_)
            | Format::FioV3 => true,
        }
    }

    /// The record on `line`, if the line holds one; `number` counts from 1.
    pub(crate) fn line(&mut self, line: &[u8], number: u64) -> Result<Option<TraceRecord>, LineFault> {
        if line.is_empty() || line[0] == b'#' || self.is_head(line, number)? {
            return Ok(None);
        }
        let draft = match self.format {
            Format::Msr => Some(comma::msr(line)?),
            Format::Systor => comma::systor(line)?,
            Format::Alibaba => Some(comma::alibaba(line)?),
            Format::Tencent => Some(comma::tencent(line)?),
            Format::FlashNet => Some(comma::flashnet(line)?),
            Format::Spc => Some(comma::spc(line)?),
            Format::CloudPhysics => Some(comma::cloudphysics(line)?),
            Format::Ycsb => event::ycsb(line)?,
            Format::Nexus5 => Some(comma::nexus5(line)?),
            Format::WiscSee => event::wiscsee(line)?,
            Format::Blkparse(kind) => event::blkparse(line, kind)?,
            Format::FioV2 => iolog::version_2(line, &mut self.waits)?,
            Format::FioV3 => iolog::version_3(line)?,
            Format::Ascii(meaning) => Some(ascii::line(line, meaning)?),
            Format::Csv => match &self.header {
                Some(header) => Some(header.line(line)?),
                None => return Err(LineFault::line(format!("the header {} first", super::own::HEADER), line)),
            },
        };
        draft.map(|draft| self.checked(draft, line)).transpose()
    }

    /// Whether `line` heads the file instead of holding a record.
    fn is_head(&mut self, line: &[u8], number: u64) -> Result<bool, LineFault> {
        match self.format {
            Format::Csv if self.header.is_none() => {
                self.header = Some(Header::parse(line)?);
                Ok(true)
            }
            Format::FioV2 | Format::FioV3 => Ok(number == 1 && line.starts_with(b"fio version")),
            Format::Msr
            | Format::Systor
            | Format::Alibaba
            | Format::Tencent
            | Format::FlashNet
            | Format::Spc
            | Format::CloudPhysics
            | Format::Ycsb
            | Format::Nexus5 => Ok(number == 1 && line[0].is_ascii_alphabetic()),
            Format::Csv | Format::WiscSee | Format::Blkparse(_) | Format::Ascii(_) => Ok(false),
        }
    }

    fn checked(&mut self, draft: Draft<'_>, line: &[u8]) -> Result<TraceRecord, LineFault> {
        let (offset, length) = if draft.op == HostOp::Flush { (0, 0) } else { (draft.offset, draft.length) };
        let largest = match draft.op {
            HostOp::Read | HostOp::Write => TraceRecord::LARGEST_TRANSFER,
            HostOp::Trim => TraceRecord::LARGEST_TRIM,
            HostOp::Flush => Bytes(u64::MAX),
        };
        if draft.op != HostOp::Flush && length == 0 {
            return Err(LineFault::line(format!("a {} of at least one byte", draft.op.name()), line));
        }
        if length > largest.0 {
            let expected = format!("a {} of at most {largest} (if sizes are in another unit, name the format)", draft.op.name());
            return Err(LineFault::line(expected, line));
        }
        // Widening to sector bounds must not overflow either.
        if offset.checked_add(length).is_none_or(|end| end > u64::MAX - SECTOR_BYTES) {
            return Err(LineFault::line("a request that ends below byte 2^64", line));
        }
        Ok(TraceRecord {
            at: draft.at,
            volume: self.volumes.number(draft.volume),
            op: draft.op,
            offset: Bytes(offset),
            length: Bytes(length),
            latency: draft.latency,
            fua: draft.fua && draft.op == HostOp::Write,
            priority: draft.priority,
            insecure: draft.insecure && draft.op == HostOp::Write,
        })
    }
}
