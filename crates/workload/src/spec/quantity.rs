//! Quantities in workload files: a number and a unit in a string. A bare number is refused, since nobody can tell its unit later.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{Deserializer, Error, Visitor};
use wordline_units::{Bytes, Nanos, Priority, Tolerance};

use super::{Amount, Rate};
use crate::words::did_you_mean;

/// A kind of quantity.
pub(crate) trait Quantity: Sized {
    /// What it is, for messages.
    const KIND: &'static str;
    /// The unit most people mean, for messages.
    const USUAL: &'static str;
    /// Its units, each with its factor.
    const UNITS: &'static [(&'static str, f64)];

    /// The unit that a bare number was probably meant in.
    fn guess(_number: f64) -> &'static str {
        Self::USUAL
    }

    /// From a number of the unit with this factor.
    fn of(number: f64, unit: &str, factor: f64) -> Result<Self, String>;
}

/// A quantity as it stands in a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Q<T>(pub(crate) T);

/// Unit of rates for each GiB of the drive.
const PER_GIB: &str = "/s/GiB";

const SIZES: [(&str, f64); 9] = [
    ("B", 1.0),
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
    ("TiB", 1_099_511_627_776.0),
    ("kB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("TB", 1e12),
];

impl Quantity for Bytes {
    const KIND: &'static str = "a size";
    const USUAL: &'static str = "KiB";
    const UNITS: &'static [(&'static str, f64)] = &SIZES;

    fn guess(number: f64) -> &'static str {
        if number >= 512.0 { "B" } else { Self::USUAL }
    }

    fn of(number: f64, _unit: &str, factor: f64) -> Result<Bytes, String> {
        whole(number * factor, "a whole number of bytes").map(Bytes)
    }
}

impl Quantity for Nanos {
    const KIND: &'static str = "a time";
    const USUAL: &'static str = "ms";
    const UNITS: &'static [(&'static str, f64)] =
        &[("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9), ("min", 6e10), ("h", 3.6e12), ("d", 8.64e13)];

    fn of(number: f64, _unit: &str, factor: f64) -> Result<Nanos, String> {
        whole(libm::round(number * factor), "a time below 584 years").map(Nanos)
    }
}

/// A part of a whole, zero to one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Share(pub(crate) f64);

impl Quantity for Share {
    const KIND: &'static str = "a share";
    const USUAL: &'static str = "%";
    const UNITS: &'static [(&'static str, f64)] = &[("%", 0.01)];

    fn of(number: f64, _unit: &str, factor: f64) -> Result<Share, String> {
        if number <= 100.0 { Ok(Share(number * factor)) } else { Err(format!("{number} % is more than the whole")) }
    }
}

impl Quantity for Rate {
    const KIND: &'static str = "a rate";
    const USUAL: &'static str = "/s";
    const UNITS: &'static [(&'static str, f64)] = &[("/s", 1.0), ("k/s", 1e3), ("M/s", 1e6), (PER_GIB, 1.0)];

    fn of(number: f64, unit: &str, factor: f64) -> Result<Rate, String> {
        let rate = number * factor;
        match unit {
            // Virtual time ends after 584 years, which a run of some hundred thousand requests at the least rate does not reach.
            _ if !(1e-4..=1e9).contains(&rate) => Err("a rate must be at least 0.0001 /s and at most 1000 M/s".to_owned()),
            PER_GIB => Ok(Rate::PerGib(rate)),
            _ => Ok(Rate::PerSecond(rate)),
        }
    }
}

impl Quantity for Amount {
    const KIND: &'static str = "a size or a part of the drive";
    const USUAL: &'static str = "%";
    const UNITS: &'static [(&'static str, f64)] =
        &[("%", 0.01), SIZES[0], SIZES[1], SIZES[2], SIZES[3], SIZES[4], SIZES[5], SIZES[6], SIZES[7], SIZES[8]];

    fn of(number: f64, unit: &str, factor: f64) -> Result<Amount, String> {
        match unit {
            "%" if number <= 1e6 => Ok(Amount::OfDrive(number * factor)),
            "%" => Err("more than 10 000 times the drive".to_owned()),
            _ => Bytes::of(number, unit, factor).map(Amount::Bytes),
        }
    }
}

fn whole(value: f64, expected: &str) -> Result<u64, String> {
    let fits = value >= 0.0 && value < u64::MAX as f64 && libm::floor(value) == value;
    if fits { Ok(value as u64) } else { Err(format!("{value} is not {expected}")) }
}

/// The quantity in `text`.
pub(crate) fn parse<T: Quantity>(text: &str) -> Result<T, String> {
    let text = text.trim();
    let digits = text.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_')).unwrap_or(text.len());
    let (number, unit) = (text[..digits].replace('_', ""), text[digits..].trim());
    let Ok(number) = number.parse::<f64>() else {
        return Err(format!("'{text}' is not {}: a number and a unit are expected, such as \"10 {}\"", T::KIND, T::USUAL));
    };
    if unit.is_empty() {
        let example = format!("{number} {}", T::guess(number));
        return Err(format!("'{text}' is a bare number where {} is expected; write its unit, such as \"{example}\"", T::KIND));
    }
    match T::UNITS.iter().find(|(name, _)| *name == unit) {
        Some((_, factor)) => T::of(number, unit, *factor),
        None => {
            let names: Vec<&str> = T::UNITS.iter().map(|(name, _)| *name).collect();
            let hint = match names.iter().find(|name| name.eq_ignore_ascii_case(unit)) {
                Some(name) => format!("; did you mean '{name}'?"),
                None => did_you_mean(unit, names.iter().copied()),
            };
            Err(format!("'{unit}' is not a unit of {}; known are {}{hint}", T::KIND, names.join(", ")))
        }
    }
}

impl<'de, T: Quantity> Deserialize<'de> for Q<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Q<T>, D::Error> {
        deserializer.deserialize_any(QuantityVisitor(PhantomData)).map(Q)
    }
}

struct QuantityVisitor<T>(PhantomData<T>);

impl<T: Quantity> Visitor<'_> for QuantityVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} with its unit, such as \"10 {}\"", T::KIND, T::USUAL)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        parse(text).map_err(E::custom)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<T, E> {
        parse(&number.to_string()).map_err(E::custom)
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<T, E> {
        parse(&number.to_string()).map_err(E::custom)
    }
}

/// A tolerated latency as a file writes it.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum RawTolerance {
    Shortest,
    Typical,
    Longer,
    Default,
}

impl From<RawTolerance> for Tolerance {
    fn from(raw: RawTolerance) -> Tolerance {
        match raw {
            RawTolerance::Shortest => Tolerance::Shortest,
            RawTolerance::Typical => Tolerance::Typical,
            RawTolerance::Longer => Tolerance::Longer,
            RawTolerance::Default => Tolerance::Default,
        }
    }
}

/// A class of requests as a file writes it.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum RawPriority {
    Urgent,
    High,
    Normal,
    Low,
}

impl From<RawPriority> for Priority {
    fn from(raw: RawPriority) -> Priority {
        match raw {
            RawPriority::Urgent => Priority::Urgent,
            RawPriority::High => Priority::High,
            RawPriority::Normal => Priority::Normal,
            RawPriority::Low => Priority::Low,
        }
    }
}
