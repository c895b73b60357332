//! Columns, and values of them.

use parquet::data_type::ByteArray;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// 64-bit integers.
    Integer,
    /// Double-precision numbers; null where there is nothing to measure.
    Real,
    /// UTF-8 words.
    Text,
    /// Yes or no.
    Flag,
}

impl Kind {
    /// The kind's name in the reference.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Integer => "integer",
            Kind::Real => "number or null",
            Kind::Text => "string",
            Kind::Flag => "boolean",
        }
    }
}

/// One column of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// What it holds.
    pub kind: Kind,
    /// Its unit; empty for words and ratios.
    pub unit: &'static str,
    /// What it means.
    pub meaning: &'static str,
}

/// One value of a row.
#[derive(Clone, Debug)]
pub enum Cell<'a> {
    /// A whole number.
    Integer(u64),
    /// A number, or nothing to measure.
    Real(Option<f64>),
    /// A word.
    Text(&'a ByteArray),
    /// Yes or no.
    Flag(bool),
}

pub(crate) const fn integer(name: &'static str, unit: &'static str, meaning: &'static str) -> Column {
    Column { name, kind: Kind::Integer, unit, meaning }
}

pub(crate) const fn real(name: &'static str, unit: &'static str, meaning: &'static str) -> Column {
    Column { name, kind: Kind::Real, unit, meaning }
}

pub(crate) const fn word(name: &'static str, meaning: &'static str) -> Column {
    Column { name, kind: Kind::Text, unit: "", meaning }
}
