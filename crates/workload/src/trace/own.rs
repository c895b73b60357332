//! Plain columns under a header that names them.

use wordline_units::{HostOp, Nanos, Priority};

use super::error::LineFault;
use super::fields::Fields;
use super::parser::Draft;

/// The header that the writer puts first.
pub(crate) const HEADER: &str = "time_us,op,offset,length,volume,latency_us,fua,priority,insecure";
const COLUMNS: [&str; 9] = ["time_us", "op", "offset", "length", "volume", "latency_us", "fua", "priority", "insecure"];

/// Where each column stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    places: [Option<usize>; 9],
    count: usize,
}

impl Header {
    pub(crate) fn parse(line: &[u8]) -> Result<Header, LineFault> {
        let fields = Fields::commas(line);
        let mut places = [None; 9];
        for index in 0..fields.count().min(16) {
            let name = fields.get(index);
            let Some(column) = COLUMNS.iter().position(|known| known.as_bytes() == name) else {
                return Err(LineFault::line(format!("a header of {}", COLUMNS.join(", ")), name).meant(COLUMNS));
            };
            if places[column].replace(index).is_some() {
                return Err(LineFault::line("every column once", name));
            }
        }
        for required in 1..=3 {
            if places[required].is_none() {
                return Err(LineFault::line(format!("a header with the column {}", COLUMNS[required]), line));
            }
        }
        Ok(Header { places, count: fields.count() })
    }

    /// Whether records have a time.
    pub(crate) fn timed(&self) -> bool {
        self.places[0].is_some()
    }

    pub(crate) fn line<'a>(&self, line: &'a [u8]) -> Result<Draft<'a>, LineFault> {
        let fields = Fields::commas(line);
        if fields.count() != self.count {
            return Err(LineFault::line(format!("{} columns, as in the header", self.count), line));
        }
        let time = |column: usize, name: &'static str| -> Result<Option<Nanos>, LineFault> {
            match self.places[column] {
                Some(index) if !fields.get(index).is_empty() => fields.time(index, name, 1_000).map(Some),
                Some(_) | None => Ok(None),
            }
        };
        let column = |column: usize| self.places[column].map_or(&b""[..], |index| fields.get(index));
        let op = match column(1) {
            b"read" => HostOp::Read,
            b"write" => HostOp::Write,
            b"trim" => HostOp::Trim,
            b"flush" => HostOp::Flush,
            other => {
                let words = HostOp::ALL.map(HostOp::name);
                return Err(LineFault::column("op", words.join(", "), other).meant(words));
            }
        };
        let at = match self.places[0] {
            Some(index) => Some(fields.time(index, "time_us", 1_000)?),
            None => None,
        };
        let flag = |index: usize| match column(index) {
            b"" | b"0" => Ok(false),
            b"1" => Ok(true),
            other => Err(LineFault::column(COLUMNS[index], "0 or 1", other)),
        };
        let (fua, insecure) = (flag(6)?, flag(8)?);
        let priority = match column(7) {
            b"" => None,
            word => Some(Priority::ALL.into_iter().find(|class| class.name().as_bytes() == word).ok_or_else(|| {
                let words = Priority::ALL.map(Priority::name);
                LineFault::column("priority", words.join(", "), word).meant(words)
            })?),
        };
        Ok(Draft {
            at,
            volume: if self.places[4].is_some() { column(4) } else { b"0" },
            op,
            offset: fields.whole(self.places[2].unwrap_or(usize::MAX), "offset")?,
            length: fields.whole(self.places[3].unwrap_or(usize::MAX), "length")?,
            latency: time(5, "latency_us")?,
            fua,
            priority,
            insecure,
        })
    }
}
