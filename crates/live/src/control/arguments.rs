//! Commands of the control socket as data: their arguments, the orders that they come to, and values of keys.

use serde_json::{Map, Value};
use wordline_units::DieId;

use super::words::listed;
use crate::ask::Query;

/// A command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command {
    /// Name, the value of `do`.
    pub word: &'static str,
    /// Description in the reference and in `ctl help`.
    pub what: &'static str,
    /// Keys it takes.
    pub arguments: &'static [Argument],
}

/// A key that a command takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Argument {
    /// Name of the key.
    pub key: &'static str,
    /// True if the command needs it.
    pub is_needed: bool,
    /// True if it is an amount of bytes.
    pub is_size: bool,
    /// Description, with the default.
    pub what: &'static str,
}

pub(super) const fn argument(key: &'static str, what: &'static str) -> Argument {
    Argument { key, is_needed: false, is_size: false, what }
}

pub(super) const fn needed(key: &'static str, what: &'static str) -> Argument {
    Argument { key, is_needed: true, is_size: false, what }
}

/// Offset of a command that needs one.
pub(super) const FROM_NEEDED: Argument = Argument { key: "offset", is_needed: true, is_size: true, what: "first byte" };

/// Action for a line.
#[derive(Debug)]
pub(super) enum Order {
    Help,
    /// The server stops.
    Stop,
    /// The power goes, once that is answered.
    PowerCut,
    /// A query to the drive, and the part of its answer to show.
    Ask(Query, Shown),
}

/// Part of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    All,
    Media,
    Smart,
    /// The effect of hints of these kinds.
    Hint {
        priority: bool,
        security: bool,
        read_latency: bool,
        lifetime: bool,
    },
}

/// The whole number at `key`, up to `most`.
pub(super) fn number(object: &Map<String, Value>, key: &str, most: u64) -> Result<Option<u64>, String> {
    let Some(value) = object.get(key) else { return Ok(None) };
    let found = value.as_u64().filter(|&number| number <= most);
    found.map(Some).ok_or_else(|| format!("\"{key}\" is {}: expected a whole number from 0 to {most}", cut(&value.to_string())))
}

/// The boolean at `key` (default false).
pub(super) fn is_true(object: &Map<String, Value>, key: &str) -> Result<bool, String> {
    match object.get(key) {
        None => Ok(false),
        Some(Value::Bool(value)) => Ok(*value),
        Some(Value::String(word)) if word == "true" => Ok(true),
        Some(Value::String(word)) if word == "false" => Ok(false),
        Some(value) => Err(format!("\"{key}\" is {}: expected true or false", cut(&value.to_string()))),
    }
}

/// Number of the die in `element`.
pub(super) fn element(object: &Map<String, Value>) -> Result<Option<DieId>, String> {
    let Some(value) = object.get("element") else { return Ok(None) };
    let die = value.as_str().and_then(|text| text.strip_prefix("die:")?.parse().ok()).map(DieId);
    die.map(Some).ok_or_else(|| format!("\"element\" is {}: expected die:N, such as die:17", cut(&value.to_string())))
}

/// The range of `offset` and `length`; an end of 2^64 - 1 stands for that of the drive.
pub(super) fn range(object: &Map<String, Value>) -> Result<(u64, u64), String> {
    let bytes = |key: &str| match object.get(key) {
        None => Ok(None),
        Some(value) => {
            value.as_u64().map(Some).ok_or(format!("\"{key}\" is {}: expected a whole number of bytes", cut(&value.to_string())))
        }
    };
    let from = bytes("offset")?.unwrap_or(0);
    let Some(length) = bytes("length")? else { return Ok((from, u64::MAX)) };
    if length == 0 {
        return Err("\"length\" is 0: expected at least one byte".to_owned());
    }
    from.checked_add(length).map(|end| (from, end)).ok_or(format!("{length} bytes from {from}: beyond any drive"))
}

/// A word of `list`, or "none".
pub(super) fn hint<T: Copy>(object: &Map<String, Value>, key: &str, list: &[(&'static str, T)]) -> Result<Option<Option<T>>, String> {
    let Some(value) = object.get(key) else { return Ok(None) };
    let found = value.as_str().and_then(|word| {
        if word == "none" { Some(None) } else { list.iter().find(|(known, _)| *known == word).map(|(_, value)| Some(*value)) }
    });
    let words = || list.iter().map(|(word, _)| *word).chain(["none"]);
    found.map(Some).ok_or_else(|| format!("\"{key}\" is {}: expected one of {}", cut(&value.to_string()), listed(words())))
}

/// The beginning of a client's text, fit to be shown in an answer.
pub(super) fn cut(text: &str) -> String {
    text.chars().take(40).map(|letter| if letter.is_control() { '?' } else { letter }).collect()
}
