//! Plain columns under a header that names them.

use wordline_units::{HostOp, Nanos, Priority, Tolerance};

use super::draft::Draft;
use super::error::LineFault;
use super::fields::Fields;
use super::meaning::Units;

/// The header that the writer puts first.
pub(crate) const HEADER: &str = "time_us,op,offset,length,volume,latency_us,fua,priority,insecure,tolerance";
/// A column, for readers and for the reference.
#[derive(Clone, Copy)]
pub(crate) struct Column {
    pub(crate) name: &'static str,
    pub(crate) needed: bool,
    pub(crate) value: &'static str,
    pub(crate) meaning: &'static str,
}

const fn column(name: &'static str, needed: bool, value: &'static str, meaning: &'static str) -> Column {
    Column { name, needed, value, meaning }
}

/// Every column, in the order in which the writer puts them.
pub(crate) const COLUMNS: [Column; 10] = [
    column("time_us", false, "us, with a fraction", "when it was issued, by any clock; without it only the order of requests is known"),
    column("op", true, "`read`, `write`, `trim`, `flush` or `hint`", "what it does"),
    column("offset", true, "bytes", "first byte; not looked at for a flush, but it must be a number"),
    column("length", true, "bytes", "number of bytes; above 0, except for a flush"),
    column("volume", false, "any word without a comma", "which volume it goes to; one volume without it"),
    column(
        "latency_us",
        false,
        "us, with a fraction; or nothing",
        "response time of the system that was traced; kept in conversions, not used in a replay",
    ),
    column("fua", false, "`0` or `1`", "force unit access: a write that is acknowledged when it is durable"),
    column("priority", false, "`urgent`, `high`, `normal`, `low` or nothing", "class of the request; normal without it"),
    column("insecure", false, "`0` or `1`", "a write whose data need not be secret once it is stale"),
    column(
        "tolerance",
        false,
        "`shortest`, `typical`, `longer`, `default` or nothing",
        "latency that later reads of the bytes of a hint or a write may have; a hint without it takes away what was declared before",
    ),
];

const NAMES: [&str; 10] = {
    let mut names = [""; 10];
    let mut index = 0;
    while index < names.len() {
        names[index] = COLUMNS[index].name;
        index += 1;
    }
    names
};

/// Where each column stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    places: [Option<usize>; 10],
    count: usize,
}

impl Header {
    pub(crate) fn parse(line: &[u8]) -> Result<Header, LineFault> {
        let fields = Fields::commas(line);
        let mut places = [None; 10];
        for index in 0..fields.count().min(16) {
            let name = fields.get(index);
            let Some(column) = NAMES.iter().position(|known| known.as_bytes() == name) else {
                return Err(LineFault::line(format!("a header of {}", NAMES.join(", ")), name).meant(NAMES));
            };
            if places[column].replace(index).is_some() {
                return Err(LineFault::line("every column once", name));
            }
        }
        if let Some((column, _)) = COLUMNS.iter().zip(&places).find(|(column, place)| column.needed && place.is_none()) {
            return Err(LineFault::line(format!("a header with the column {}", column.name), line));
        }
        Ok(Header { places, count: fields.count() })
    }

    /// Whether records have a time.
    pub(crate) fn timed(&self) -> bool {
        self.places[0].is_some()
    }

    pub(crate) fn line<'a>(&self, line: &'a [u8], units: &Units) -> Result<Draft<'a>, LineFault> {
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
        let op = one_of("op", column(1), HostOp::ALL, HostOp::name)?;
        let at = match self.places[0] {
            Some(index) => Some(units.time(&fields, index, "time_us", 1_000)?),
            None => None,
        };
        let flag = |index: usize| match column(index) {
            b"" | b"0" => Ok(false),
            b"1" => Ok(true),
            other => Err(LineFault::column(NAMES[index], "0 or 1", other)),
        };
        let (fua, insecure) = (flag(6)?, flag(8)?);
        let priority = match column(7) {
            b"" => None,
            word => Some(one_of("priority", word, Priority::ALL, Priority::name)?),
        };
        let tolerance = match column(9) {
            b"" => Tolerance::Default,
            word => one_of("tolerance", word, Tolerance::ALL, Tolerance::name)?,
        };
        let volume = if self.places[4].is_some() { column(4) } else { b"0" };
        let offset = fields.whole(self.places[2].unwrap_or(usize::MAX), "offset")?;
        let length = fields.whole(self.places[3].unwrap_or(usize::MAX), "length")?;
        let latency = time(5, "latency_us")?;
        Ok(Draft { latency, fua, priority, insecure, tolerance, ..Draft::new(at, volume, op, offset, length) })
    }
}

/// The one of `all` whose name is `word`, in the column `column`.
fn one_of<T: Copy, const N: usize>(column: &'static str, word: &[u8], all: [T; N], name: fn(T) -> &'static str) -> Result<T, LineFault> {
    all.into_iter().find(|one| name(*one).as_bytes() == word).ok_or_else(|| {
        let words = all.map(name);
        LineFault::column(column, words.join(", "), word).meant(words)
    })
}
