//! The keys that hold for a job: those that are global above it, and its own after them.

use super::lines::{Entry, Fault, Section};
use super::values::{self, Data};
use crate::words::did_you_mean;

/// The keys that hold for a job.
pub(super) struct Given<'a> {
    section: &'a Section<'a>,
    globals: &'a [&'a Section<'a>],
    is_si: bool,
}

/// `message` about `entry`, with its place.
pub(super) fn fault(entry: &Entry<'_>, message: impl Into<String>) -> Fault {
    (entry.span(), format!("{}: {}", entry.written(), message.into()))
}

/// The word of `known` that `value` of `entry` is.
pub(super) fn word<'k>(entry: &Entry<'_>, value: &str, known: impl Iterator<Item = &'k str> + Clone) -> Result<&'k str, Fault> {
    let lower = value.trim().to_ascii_lowercase();
    known.clone().find(|word| *word == lower).ok_or_else(|| {
        let words: Vec<&str> = known.clone().collect();
        fault(entry, format!("'{value}' is not one of {}{}", words.join(", "), did_you_mean(value, known)))
    })
}

impl<'a> Given<'a> {
    /// The keys of `section` below these sections of global keys.
    ///
    /// # Errors
    /// `kb_base` is neither 1000 nor 1024.
    pub(super) fn new(section: &'a Section<'a>, globals: &'a [&'a Section<'a>]) -> Result<Given<'a>, Fault> {
        let mut given = Given { section, globals, is_si: false };
        given.overridden();
        if let Some(entry) = given.take("kb_base") {
            given.is_si = word(entry, entry.value(), ["1000", "1024"].into_iter())? == "1000";
        }
        Ok(given)
    }

    /// True if `k` is 1000.
    pub(super) fn is_si(&self) -> bool {
        self.is_si
    }

    /// The entries that hold: the last one of each key.
    pub(super) fn each(&self) -> impl Iterator<Item = &'a Entry<'a>> {
        let all: Vec<&'a Entry<'a>> = self.all().collect();
        let holds = |place: usize| !all[place + 1..].iter().any(|later| later.key() == all[place].key());
        (0..all.len()).filter(|place| holds(*place)).map(|place| all[place]).collect::<Vec<_>>().into_iter()
    }

    fn all(&self) -> impl DoubleEndedIterator<Item = &'a Entry<'a>> {
        self.globals.iter().flat_map(|global| global.entries()).chain(self.section.entries())
    }

    /// The entry that holds for any of these keys: the last one.
    pub(super) fn any(&self, keys: &[&str]) -> Option<&'a Entry<'a>> {
        self.all().rfind(|entry| keys.contains(&entry.key()))
    }

    /// The entry that holds for this key: the last one.
    pub(super) fn find(&self, key: &str) -> Option<&'a Entry<'a>> {
        self.any(&[key])
    }

    /// As [`Given::find`]; the entry has its counterpart.
    pub(super) fn take(&self, key: &str) -> Option<&'a Entry<'a>> {
        self.find(key).inspect(|entry| entry.take())
    }

    /// The entry of this key in the section itself.
    pub(super) fn own(&self, key: &str) -> Option<&'a Entry<'a>> {
        self.section.entries().iter().rfind(|entry| entry.key() == key)
    }

    /// The number of `key`, or `usual`.
    pub(super) fn count(&self, key: &str, usual: u64, most: u64) -> Result<u64, Fault> {
        let Some(entry) = self.take(key) else { return Ok(usual) };
        let count = values::number(entry.value(), self.is_si).map_err(|message| fault(entry, message))?;
        if (1..=most).contains(&count) { Ok(count) } else { Err(fault(entry, format!("'{}' is not from 1 to {most}", entry.value()))) }
    }

    /// True if the flag `key` is set. It has its counterpart.
    pub(super) fn is_set(&self, key: &str) -> Result<bool, Fault> {
        self.take(key).map_or(Ok(false), |entry| values::flag(entry.value()).map_err(|message| fault(entry, message)))
    }

    /// The value of `key` as an amount of data; `None` where it is 0 or not set.
    pub(super) fn data(&self, key: &str) -> Result<Option<Data>, Fault> {
        let Some(entry) = self.take(key) else { return Ok(None) };
        let data = values::data(entry.value(), self.is_si).map_err(|message| fault(entry, message))?;
        Ok((data != Data::Bytes(0) && data != Data::Percent(0.0)).then_some(data))
    }

    /// Say which keys of the section a later line of it sets again.
    fn overridden(&self) {
        let mixes = ["rwmixread", "rwmixwrite"];
        let same = |one: &str, other: &str| one == other || mixes.contains(&one) && mixes.contains(&other);
        let entries = self.section.entries();
        for (place, entry) in entries.iter().enumerate() {
            if entries[place + 1..].iter().any(|later| same(later.key(), entry.key())) {
                entry.explain("a later line sets it again");
            }
        }
    }
}
