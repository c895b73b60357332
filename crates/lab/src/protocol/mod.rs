//! Conditions of benches: P/E counts, times, temperatures, sample sizes, limits that a source sets.
//!
//! They are data, because they are what the sources did and not what came out. `studies/benches/<bench>.toml` holds those of each bench with their sources;
//! a study may change them for itself under `[conditions.<bench>]`.

use std::collections::BTreeMap;

use toml::de::DeValue;
use toml::{Table, Value};
use wordline_plan::{Mistake, Place, nearest, shown};

use crate::error::LabError;

mod kinds;

pub(crate) use kinds::{Bits, Count, Cycles, Degrees, Kind, Micros, Name, Number, Reads, Rest, Rising, Share, Size, Span, Volts};

/// Conditions that a study changes, by bench and key.
pub type Changes = BTreeMap<String, Table>;

/// One condition of a bench.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Name of the condition.
    pub name: &'static str,
    /// Meaning of the condition.
    pub meaning: &'static str,
    /// Check of a value: the text of its fault.
    pub check: fn(&Value) -> Result<(), String>,
}

/// The conditions of one bench.
#[derive(Clone, Copy, Debug)]
pub struct Protocol {
    /// Name of the bench.
    pub bench: &'static str,
    /// Text of the bench's file; empty where it has no conditions.
    pub text: &'static str,
    /// Keys of the file.
    pub keys: &'static [Key],
}

impl Protocol {
    /// A protocol without conditions.
    pub(crate) const NONE: Protocol = Protocol { bench: "", text: "", keys: &[] };

    /// Path of the bench's file in the repository.
    pub fn file(&self) -> String {
        format!("studies/benches/{}.toml", self.bench)
    }

    /// Text of the fault of `key = value`, and help.
    pub(crate) fn fault(&self, key: &str, value: &Value) -> Option<(String, Option<String>)> {
        let Some(known) = self.keys.iter().find(|known| known.name == key) else {
            let names: Vec<&str> = self.keys.iter().map(|key| key.name).collect();
            let help = match nearest(key, names.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None if names.is_empty() => format!("bench {} has none", self.bench),
                None => format!("there are {}", names.join(", ")),
            };
            return Some((format!("bench {} has no condition `{}`", self.bench, shown(key)), Some(help)));
        };
        (known.check)(bare(value)).err().map(|what| (format!("`{key}`: {what}"), Some(format!("`{key}` is {}", known.meaning))))
    }

    /// The conditions of the bench's file with the changes applied: name, value as it is written.
    ///
    /// # Errors
    ///
    /// The file is no TOML, or the changes are no conditions of this bench.
    pub(crate) fn table(&self, changes: &Changes) -> Result<Table, LabError> {
        let mut table: Table = self.text.parse().map_err(|error: toml::de::Error| self.wrong(error.message().to_owned(), None))?;
        for (key, value) in changes.get(self.bench).into_iter().flatten().filter(|(key, _)| *key != "source") {
            table.insert(key.clone(), value.clone());
        }
        for (key, value) in table.iter().filter(|(key, _)| *key != "source") {
            if let Some((what, help)) = self.fault(key, value) {
                return Err(self.wrong(what, help));
            }
        }
        Ok(table)
    }

    /// Reads one condition.
    pub(crate) fn read<K: Kind>(&self, table: &Table, key: &str) -> Result<K::Held, LabError> {
        let value = table.get(key).ok_or_else(|| self.wrong(format!("no `{key}`"), None))?;
        K::read(bare(value)).map_err(|what| self.wrong(format!("`{key}`: {what}"), None))
    }

    /// The conditions as a person reads them: name, value, meaning.
    ///
    /// # Errors
    ///
    /// The changes are no conditions of this bench.
    pub fn told(&self, changes: &Changes) -> Result<Vec<(&'static str, String, &'static str)>, LabError> {
        let table = self.table(changes)?;
        Ok(self.keys.iter().filter_map(|key| Some((key.name, written(table.get(key.name)?), key.meaning))).collect())
    }

    fn wrong(&self, what: String, help: Option<String>) -> LabError {
        LabError::Mistakes(vec![Mistake { place: Some(Place::of(&self.file(), self.text, 0..0)), what, help }])
    }
}

/// Converts a value, without the places it stands at.
pub(crate) fn value_of(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => Value::String(text.to_string()),
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix()).map_or(Value::Float(f64::NAN), Value::Integer),
        DeValue::Float(number) => Value::Float(number.as_str().parse().unwrap_or(f64::NAN)),
        DeValue::Boolean(yes) => Value::Boolean(*yes),
        DeValue::Datetime(when) => Value::Datetime(*when),
        DeValue::Array(list) => Value::Array(list.iter().map(|entry| value_of(entry.get_ref())).collect()),
        DeValue::Table(table) => {
            Value::Table(table.iter().map(|(key, entry)| (key.get_ref().to_string(), value_of(entry.get_ref()))).collect())
        }
    }
}

/// The value itself where it comes with a source: `{ value = 3, source = "…" }` is 3.
pub(crate) fn bare(value: &Value) -> &Value {
    value.as_table().and_then(|table| table.get("value")).unwrap_or(value)
}

/// A value as it was written, on one line.
pub(crate) fn written(value: &Value) -> String {
    match bare(value) {
        Value::String(text) => text.clone(),
        Value::Array(list) => list.iter().map(written).collect::<Vec<_>>().join(if list.iter().any(Value::is_array) { "; " } else { ", " }),
        other @ (Value::Integer(_) | Value::Float(_) | Value::Boolean(_) | Value::Datetime(_) | Value::Table(_)) => other.to_string(),
    }
}

/// The conditions of a bench as a type: each field is read from the bench's file, or from what a study changes.
macro_rules! conditions {
    ($bench:literal, $(#[doc = $doc:literal])* struct $name:ident { $($(#[doc = $meaning:literal])* $key:ident: $kind:ty,)* }) => {
        $(#[doc = $doc])*
        #[derive(Clone, Debug)]
        pub(super) struct $name {
            $($(#[doc = $meaning])* pub(super) $key: <$kind as $crate::protocol::Kind>::Held,)*
        }

        impl $name {
            /// Protocol of the bench: its file and keys.
            pub(super) const PROTOCOL: $crate::protocol::Protocol = $crate::protocol::Protocol {
                bench: $bench,
                text: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../studies/benches/", $bench, ".toml")),
                keys: &[$($crate::protocol::Key {
                    name: stringify!($key),
                    meaning: concat!($($meaning),*).trim_ascii(),
                    check: |value| <$kind as $crate::protocol::Kind>::read(value).map(drop),
                }),*],
            };

            /// The conditions of the bench that a setup asks for.
            pub(super) fn of(setup: &$crate::bench::Setup) -> Result<$name, $crate::error::LabError> {
                let table = Self::PROTOCOL.table(&setup.conditions)?;
                Ok($name { $($key: Self::PROTOCOL.read::<$kind>(&table, stringify!($key))?,)* })
            }
        }
    };
}
pub(crate) use conditions;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bench_has_the_conditions_it_reads_and_no_others() {
        for bench in crate::bench::BENCHES {
            let table = bench.conditions.table(&Changes::new()).unwrap_or_else(|error| panic!("{error}"));
            for key in bench.conditions.keys {
                assert!(table.contains_key(key.name), "{}: no `{}`", bench.conditions.file(), key.name);
                assert!(!key.meaning.is_empty(), "{}.{}", bench.name, key.name);
            }
        }
    }
}
