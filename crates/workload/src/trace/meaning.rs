//! Facts of a trace that its format leaves open: the unit of its times, the size of its sectors, and whether its volumes are one.

use wordline_units::host::SECTOR_BYTES;
use wordline_units::{Bytes, Nanos};

use super::error::LineFault;
use super::fields::Fields;
use crate::spec::{read_bytes, read_time};
use crate::words::did_you_mean;

/// The address spaces of a trace with several volumes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Spaces {
    /// Every volume has one of its own; they stand side by side on a drive.
    #[default]
    Apart,
    /// All volumes are parts of one.
    One,
}

impl Spaces {
    /// Every way, the default first.
    pub const ALL: [Spaces; 2] = [Spaces::Apart, Spaces::One];

    /// The word on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Spaces::Apart => "apart",
            Spaces::One => "one",
        }
    }

    /// The way of this name.
    ///
    /// # Errors
    /// The words that are known.
    pub fn parse(name: &str) -> Result<Spaces, String> {
        let lower = name.trim().to_ascii_lowercase();
        let known = Spaces::ALL.map(Spaces::name);
        let found = Spaces::ALL.into_iter().find(|spaces| spaces.name() == lower);
        found.ok_or_else(|| format!("'{name}' is no way to take volumes; known are {}{}", known.join(", "), did_you_mean(&lower, known)))
    }
}

/// The unit of times that `text` names: `s`, `ms`, `us`, `ns`, or so many of one, such as `100ns`.
///
/// # Errors
/// It is no unit.
pub fn read_time_unit(text: &str) -> Result<Nanos, String> {
    let text = text.trim();
    let whole = if text.starts_with(|letter: char| letter.is_ascii_digit()) { text.to_owned() } else { format!("1{text}") };
    match read_time(&whole) {
        Ok(Nanos::ZERO) => Err("a unit of times is longer than 0".to_owned()),
        Ok(unit) => Ok(unit),
        Err(_) => Err(format!("'{text}' is no unit of times: expected s, ms, us, ns, or so many of one, such as 100ns")),
    }
}

/// The size of a sector that `text` names, such as `4KiB`; a bare number is bytes.
///
/// # Errors
/// It is no size, or not a power of two from 512 B to 1 MiB.
pub fn read_sector(text: &str) -> Result<Bytes, String> {
    let text = text.trim();
    let bare = text.parse::<u64>().ok().map(Bytes);
    let size = bare.map_or_else(|| read_bytes(text), Ok)?;
    let is_sector = size.0.is_power_of_two() && (SECTOR_BYTES..=Bytes::mib(1).0).contains(&size.0);
    if is_sector { Ok(size) } else { Err(format!("a sector is a power of two from {SECTOR_BYTES} B to 1 MiB, not {}", size.0)) }
}

/// The units of the columns of a file.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Units {
    /// Of times, where it is not that of the format.
    pub(crate) time: Option<Nanos>,
    /// Of sectors, where they are not of 512 B.
    pub(crate) sector: Option<Bytes>,
}

impl Units {
    /// The time in column `index`, whose unit in the format is `usual` nanoseconds.
    pub(crate) fn time(&self, fields: &Fields<'_>, index: usize, column: &'static str, usual: u64) -> Result<Nanos, LineFault> {
        fields.time(index, column, self.time.map_or(usual, |unit| unit.0))
    }

    /// `count` sectors in bytes.
    pub(crate) fn sectors(&self, count: u64, column: &'static str) -> Result<u64, LineFault> {
        let sector = self.sector.map_or(SECTOR_BYTES, |sector| sector.0);
        count.checked_mul(sector).ok_or_else(|| LineFault::column(column, "a number of sectors below 2^64 B", count.to_string().as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_read_with_or_without_a_number_and_nothing_else_is() {
        for (text, nanos) in [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000), ("100ns", 100), ("15.625ms", 15_625_000)] {
            assert_eq!(read_time_unit(text), Ok(Nanos(nanos)), "{text}");
        }
        for wrong in ["", "0s", "jiffies", "12", "-1ms"] {
            assert!(read_time_unit(wrong).is_err(), "{wrong}");
        }
        for (text, bytes) in [("512", 512), ("4096", 4_096), ("4KiB", 4_096)] {
            assert_eq!(read_sector(text), Ok(Bytes(bytes)), "{text}");
        }
        for wrong in ["0", "500", "4kB", "2MiB", "few"] {
            assert!(read_sector(wrong).is_err(), "{wrong}");
        }
        assert_eq!(Spaces::parse("One"), Ok(Spaces::One));
        assert!(Spaces::parse("on").unwrap_err().contains("did you mean 'one'?"));
    }
}
