//! One line of a known format into one record.

use wordline_units::Nanos;

use super::draft::Draft;
use super::error::LineFault;
use super::format::{AsciiTime, Format};
use super::iolog::{self, Waits};
use super::meaning::Units;
use super::own::Header;
use super::{ascii, comma, event};

/// The state that reading one file needs.
#[derive(Debug)]
pub(crate) struct Parser {
    format: Format,
    header: Option<Header>,
    waits: Waits,
    units: Units,
}

impl Parser {
    /// A parser of `format`; `head` is the beginning of the file, which says whether an fio log keeps time.
    pub(crate) fn new(format: Format, head: &[u8], units: Units) -> Parser {
        let timed = head.split(|byte| *byte == b'\n').any(|line| super::fields::Fields::blanks(line).get(1) == b"wait");
        Parser { format, header: None, waits: Waits { timed, now: Nanos::ZERO }, units }
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
            | Format::Blktrace(_)
            | Format::FioV3 => true,
        }
    }

    /// The record on `line`, if the line holds one; `number` counts from 1.
    pub(crate) fn line<'a>(&mut self, line: &'a [u8], number: u64) -> Result<Option<Draft<'a>>, LineFault> {
        if line.is_empty() || line[0] == b'#' || self.is_head(line, number)? {
            return Ok(None);
        }
        let units = &self.units;
        Ok(match self.format {
            Format::Msr => Some(comma::msr(line, units)?),
            Format::Systor => Some(comma::systor(line, units)?),
            Format::Alibaba => Some(comma::alibaba(line, units)?),
            Format::Tencent => Some(comma::tencent(line, units)?),
            Format::FlashNet => Some(comma::flashnet(line, units)?),
            Format::Spc => Some(comma::spc(line, units)?),
            Format::CloudPhysics => Some(comma::cloudphysics(line, units)?),
            Format::Ycsb => event::ycsb(line, units)?,
            Format::Nexus5 => Some(comma::nexus5(line, units)?),
            Format::WiscSee => event::wiscsee(line, units)?,
            Format::Blkparse(kind) => event::blkparse(line, kind, units)?,
            Format::FioV2 => iolog::version_2(line, &mut self.waits, units)?,
            Format::FioV3 => iolog::version_3(line, units)?,
            Format::Ascii(meaning) => Some(ascii::line(line, meaning, units)?),
            Format::Csv => match &self.header {
                Some(header) => Some(header.line(line, units)?),
                None => return Err(LineFault::line(format!("the header {} first", super::own::HEADER), line)),
            },
            Format::Blktrace(_) => return Err(LineFault::line("records of blktrace, which are not text", line)),
        })
    }

    /// Whether `line` heads the file instead of holding a record.
    fn is_head(&mut self, line: &[u8], number: u64) -> Result<bool, LineFault> {
        match self.format {
            Format::Csv if self.header.is_none() => {
                let header = Header::parse(line)?;
                if self.units.time.is_some() && !header.timed() {
                    return Err(LineFault::line("a header with the column time_us, whose unit was named", line));
                }
                self.header = Some(header);
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
            Format::Csv | Format::WiscSee | Format::Blkparse(_) | Format::Blktrace(_) | Format::Ascii(_) => Ok(false),
        }
    }
}
