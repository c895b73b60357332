//! Reading and writing `"80 us"`: exact decimals with a unit.
//!
//! Nothing here goes through a float on its way to a whole number of nanoseconds or bytes: what is written is what is simulated, or it is refused.

use wordline_units::calendar::{DAY, HOUR, MONTH, YEAR};

use crate::nearest::nearest;

/// A dimension: what is measured, and the units it may be written in with their size in the smallest, rising.
pub(crate) struct Dimension {
    /// The word for it in messages.
    pub(crate) name: &'static str,
    /// An example to follow.
    pub(crate) example: &'static str,
    /// What one count of the held number is.
    pub(crate) step: &'static str,
    /// Units and how many steps each has. The first of equals is the one that is written.
    pub(crate) units: &'static [(&'static str, u64)],
}

/// Time, held in nanoseconds.
pub(crate) const TIME: Dimension = Dimension {
    name: "time",
    example: "80 us",
    step: "a nanosecond",
    units: &[
        ("ns", 1),
        ("us", 1_000),
        ("µs", 1_000),
        ("μs", 1_000),
        ("ms", 1_000_000),
        ("s", 1_000_000_000),
        ("min", 60_000_000_000),
        ("h", 3_600_000_000_000),
    ],
};

/// Long times, held in seconds: rests, and how long data are kept. A month is a twelfth of a year of 365 days.
pub(crate) const AGE: Dimension = Dimension {
    name: "time",
    example: "3 mo",
    step: "a second",
    units: &[("s", 1), ("min", 60), ("h", HOUR), ("d", DAY), ("mo", MONTH), ("y", YEAR)],
};

/// Instants of virtual time, held in nanoseconds.
pub(crate) const INSTANT: Dimension = Dimension {
    name: "time",
    example: "2 d",
    step: "a nanosecond",
    units: &[
        ("ns", 1),
        ("us", 1_000),
        ("ms", 1_000_000),
        ("s", 1_000_000_000),
        ("min", 60_000_000_000),
        ("h", HOUR * 1_000_000_000),
        ("d", DAY * 1_000_000_000),
    ],
};

/// Amounts of data, held in bytes.
pub(crate) const SIZE: Dimension = Dimension {
    name: "size",
    example: "16 KiB",
    step: "a byte",
    units: &[
        ("B", 1),
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
        ("TiB", 1 << 40),
        ("kB", 1_000),
        ("MB", 1_000_000),
        ("GB", 1_000_000_000),
        ("TB", 1_000_000_000_000),
    ],
};

/// Data rates, held in bytes per second.
pub(crate) const DATA_RATE: Dimension = Dimension {
    name: "data rate",
    example: "3.2 GB/s",
    step: "a byte per second",
    units: &[
        ("B/s", 1),
        ("kB/s", 1_000),
        ("MB/s", 1_000_000),
        ("GB/s", 1_000_000_000),
        ("KiB/s", 1 << 10),
        ("MiB/s", 1 << 20),
        ("GiB/s", 1 << 30),
    ],
};

/// Transfer rates of a bus, held in transfers per second.
pub(crate) const TRANSFER_RATE: Dimension = Dimension {
    name: "transfer rate",
    example: "533 MT/s",
    step: "a transfer per second",
    units: &[("MT/s", 1_000_000), ("GT/s", 1_000_000_000)],
};

/// Voltages that are set, held in microvolts.
pub(crate) const VOLTAGE: Dimension = Dimension {
    name: "voltage",
    example: "162.5 mV",
    step: "a microvolt",
    units: &[("uV", 1), ("µV", 1), ("μV", 1), ("mV", 1_000), ("V", 1_000_000)],
};

/// Shares and probabilities, held in parts per 10^15: fine enough for the rate of uncorrectable reads that a data sheet promises.
pub(crate) const SHARE: Dimension =
    Dimension { name: "share", example: "12 %", step: "one in 10^15", units: &[("%", 10_000_000_000_000), ("ppm", 1_000_000_000)] };

/// Steps in a whole, for [`SHARE`].
pub(crate) const WHOLE: u64 = 1_000_000_000_000_000;

const DIMENSIONS: [&Dimension; 7] = [&TIME, &AGE, &SIZE, &DATA_RATE, &TRANSFER_RATE, &VOLTAGE, &SHARE];

/// Why a text is no quantity: what is wrong, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) what: String,
    pub(crate) help: Option<String>,
}

impl Refusal {
    pub(crate) fn new(what: impl Into<String>) -> Refusal {
        Refusal { what: what.into(), help: None }
    }

    pub(crate) fn with_help(mut self, help: impl Into<String>) -> Refusal {
        self.help = Some(help.into());
        self
    }
}

impl Dimension {
    /// What to write, for messages.
    pub(crate) fn expected(&self) -> String {
        format!("a {} with its unit, such as \"{}\"", self.name, self.example)
    }

    /// Reads a text as a whole number of steps.
    pub(crate) fn read(&self, text: &str) -> Result<u64, Refusal> {
        let text = text.trim();
        let split = text.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '_' | '+' | '-'))).unwrap_or(text.len());
        let (number, unit) = (text[..split].trim(), text[split..].trim());
        if number.is_empty() {
            return Err(
                Refusal::new(format!("\"{}\" is not a {}", shown(text), self.name)).with_help(format!("expected {}", self.expected()))
            );
        }
        let steps = self.steps(unit, text)?;
        if number.starts_with('-') {
            return Err(Refusal::new(format!("a {} cannot be negative", self.name)));
        }
        let (digits, places) = decimal(number).ok_or_else(|| {
            Refusal::new(format!("\"{}\" is not a number", shown(number))).with_help(format!("expected {}", self.expected()))
        })?;
        let too_great = || Refusal::new(format!("\"{}\" is greater than any {} Wordline can hold", shown(text), self.name));
        if places > 18 {
            return Err(Refusal::new(format!("\"{}\" has more decimals than Wordline can hold", shown(text))));
        }
        let digits: u128 = if digits.is_empty() { 0 } else { digits.parse().map_err(|_| too_great())? };
        let scaled = digits.checked_mul(u128::from(steps)).ok_or_else(too_great)?;
        let divisor = 10u128.pow(places);
        if !scaled.is_multiple_of(divisor) {
            return Err(Refusal::new(format!("\"{}\" is finer than {}, the least step of a {}", shown(text), self.step, self.name)));
        }
        u64::try_from(scaled / divisor).map_err(|_| too_great())
    }

    fn steps(&self, unit: &str, text: &str) -> Result<u64, Refusal> {
        if let Some((_, steps)) = self.units.iter().find(|(name, _)| *name == unit) {
            return Ok(*steps);
        }
        let names: Vec<&str> = self.units.iter().map(|(name, _)| *name).filter(|name| name.is_ascii()).collect();
        if unit.is_empty() {
            let what = format!("\"{}\" has no unit", shown(text));
            // Most who leave the unit out mean bytes.
            let bytes = text.trim().parse::<u64>().ok().filter(|_| self.name == SIZE.name);
            let meant = bytes.map_or(String::new(), |bytes| format!(" ({bytes} bytes are \"{}\")", self.write(bytes)));
            return Err(Refusal::new(what).with_help(format!("expected {}{meant}; units are {}", self.expected(), names.join(", "))));
        }
        if matches!(unit, "KB" | "K" | "k") && self.name == SIZE.name {
            return Err(Refusal::new(format!("\"{unit}\" can be read in two ways")).with_help("write KiB for 1024 bytes or kB for 1000"));
        }
        let other = DIMENSIONS.iter().find(|other| other.units.iter().any(|(name, _)| *name == unit));
        // Years are a unit of how long data is kept, not of how long a bus waits, and both are times.
        if let Some(other) = other.filter(|other| other.name == self.name) {
            let what = format!("\"{unit}\" is no unit of this {}", other.name);
            return Err(Refusal::new(what).with_help(format!("units are {}", names.join(", "))));
        }
        if let Some(other) = other {
            let what = format!("\"{unit}\" is a unit of {}, not of {}", other.name, self.name);
            return Err(Refusal::new(what).with_help(format!("expected {}", self.expected())));
        }
        let what = format!("\"{}\" is no unit of {}", shown(unit), self.name);
        // "usec" and "seconds" begin with the right word.
        let begins = names.iter().copied().filter(|name| unit.starts_with(name)).max_by_key(|name| name.len());
        Err(Refusal::new(what).with_help(match nearest(unit, names.iter().copied()).or(begins) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None => format!("units are {}", names.join(", ")),
        }))
    }

    /// Writes a number of steps, exactly, in the unit a person would choose: the greatest in which it has at most three decimals.
    pub(crate) fn write(&self, steps: u64) -> String {
        // Binary and decimal units are both exact; the shorter text is the one that was meant, and among equals that in the greater unit.
        let mut best: Option<String> = None;
        for (name, size) in self.units.iter().rev().filter(|(name, size)| name.is_ascii() && (steps >= *size || *size == self.units[0].1)) {
            if let Some(number) = exact(steps, *size) {
                let text = format!("{number} {name}");
                if best.as_ref().is_none_or(|best| text.len() < best.len()) {
                    best = Some(text);
                }
            }
        }
        best.unwrap_or_else(|| format!("{steps} {}", self.units[0].0))
    }
}

/// `steps / size` as a decimal number with at most three places, where that is exact.
fn exact(steps: u64, size: u64) -> Option<String> {
    let thousandths = u128::from(steps) * 1_000;
    let size = u128::from(size);
    if !thousandths.is_multiple_of(size) {
        return None;
    }
    let thousandths = thousandths / size;
    let text = format!("{}.{:03}", thousandths / 1_000, thousandths % 1_000);
    Some(text.trim_end_matches('0').trim_end_matches('.').to_owned())
}

/// The significant digits and the decimal places of a plain decimal number, `_` between digits allowed.
fn decimal(text: &str) -> Option<(String, u32)> {
    let text = text.strip_prefix('+').unwrap_or(text);
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let plain = |part: &str| part.split('_').all(|run| !run.is_empty() && run.bytes().all(|b| b.is_ascii_digit()));
    if !plain(whole) || (text.contains('.') && !plain(fraction)) {
        return None;
    }
    let fraction = fraction.replace('_', "");
    let fraction = fraction.trim_end_matches('0');
    let digits: String = whole.chars().filter(|&c| c != '_').chain(fraction.chars()).collect();
    let places = u32::try_from(fraction.len()).unwrap_or(u32::MAX);
    Some((digits.trim_start_matches('0').to_owned(), places))
}

/// At most forty characters of a text, for a message.
pub fn shown(text: &str) -> String {
    let cut: String = text.chars().take(40).map(|c| if c.is_control() { '?' } else { c }).collect();
    if cut.len() < text.len() { cut + "…" } else { cut }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_written_is_what_is_held() {
        let cases = [
            (&TIME, "80 us", 80_000),
            (&TIME, "3.5ms", 3_500_000),
            (&TIME, " 1_000  ns ", 1_000),
            (&TIME, "0.115 µs", 115),
            (&TIME, "+2 s", 2_000_000_000),
            (&TIME, "0.000 s", 0),
            (&SIZE, "16 KiB", 16_384),
            (&SIZE, "1.5 GB", 1_500_000_000),
            (&SIZE, "1872 B", 1_872),
            (&DATA_RATE, "3.2 GB/s", 3_200_000_000),
            (&TRANSFER_RATE, "533.333333 MT/s", 533_333_333),
            (&SHARE, "0.1 %", WHOLE / 1_000),
            (&SHARE, "100 %", WHOLE),
            (&SHARE, "1 ppm", WHOLE / 1_000_000),
        ];
        for (dimension, text, steps) in cases {
            assert_eq!(dimension.read(text), Ok(steps), "{text}");
        }
    }

    #[test]
    fn what_is_no_quantity_is_refused() {
        for text in [
            "", " ", "us", "80", "- us", "-1 us", "1..2 us", ".5 us", "5. us", "1e3 us", "1__0 us", "_1 us", "80 us us", "∞ us", "NaN us",
            "0x10 us",
        ] {
            assert!(TIME.read(text).is_err(), "{text:?}");
        }
        assert!(SIZE.read("18446744073709551616 B").is_err());
        assert_eq!(SIZE.read("18446744073709551615 B"), Ok(u64::MAX));
        assert!(SIZE.read(&"9".repeat(10_000)).is_err());
        assert!(SIZE.read(&format!("{} B", "9".repeat(10_000))).is_err());
        assert!(SIZE.read(&format!("0.{}1 TiB", "0".repeat(10_000))).is_err());
    }

    #[test]
    fn a_wrong_unit_finds_the_right_one() {
        let help = |text: &str| TIME.read(text).expect_err(text).help.unwrap_or_default();
        assert_eq!(help("80 US"), "did you mean \"us\"?");
        assert_eq!(help("80 usec"), "did you mean \"us\"?");
        assert_eq!(help("80 seconds"), "did you mean \"s\"?");
        assert_eq!(SIZE.read("4 kib").expect_err("wrong case").help.as_deref(), Some("did you mean \"KiB\"?"));
    }

    proptest! {
        #[test]
        fn whatever_is_held_is_written_so_that_it_is_read_again(steps: u64, few in 0u64..5_000, scale in 0usize..8) {
            for dimension in DIMENSIONS {
                for steps in [steps, few.saturating_mul(dimension.units[scale % dimension.units.len()].1)] {
                    // A share is written in per cent by its own kind, with as many places as it takes.
                    if dimension.name != SHARE.name && dimension.name != TRANSFER_RATE.name {
                        prop_assert_eq!(dimension.read(&dimension.write(steps)), Ok(steps));
                    }
                }
            }
        }

        #[test]
        fn no_text_is_a_panic(text in "\\PC*") {
            for dimension in DIMENSIONS {
                let _ = dimension.read(&text);
            }
        }
    }
}
