//! Kinds that are one word out of a few, and the list of times by page type.

use serde_json::{Value as Json, json};
use toml::de::DeValue;
use wordline_drive::{FtlPlace, Trims};
use wordline_flash::ProgramScope;
use wordline_ftl::config::{Acknowledge, OobPlace, Protection};
use wordline_ftl::free_block::FreeBlockPolicy;
use wordline_ftl::retirement::RetirementPolicy;
use wordline_ftl::scheduler::Scheduler;
use wordline_ftl::victim::VictimPolicy;
use wordline_units::{CellKind, Nanos};

use crate::kind::{Kind, quoted, unfit};
use crate::nearest::nearest;
use crate::quantity::{Refusal, shown};

/// A kind with a word for each of its values.
trait Words: Copy + PartialEq + 'static {
    /// What the words choose between.
    const NAME: &'static str;
    /// The words.
    fn all() -> Vec<(&'static str, Self)>;
}

macro_rules! words {
    ($($type:ty: $name:literal, $all:expr;)*) => {$(
        impl Words for $type {
            const NAME: &'static str = $name;
            fn all() -> Vec<(&'static str, Self)> {
                $all
            }
        }

        impl Kind for $type {
            fn expected() -> String {
                one_of(&<Self as Words>::all().iter().map(|(word, _)| *word).collect::<Vec<_>>())
            }
            fn read(value: &DeValue<'_>) -> Result<Self, Refusal> {
                read_word(value)
            }
            fn write(&self) -> String {
                <Self as Words>::all().iter().find(|(_, value)| value == self).map(|(word, _)| quoted(word)).unwrap_or_default()
            }
            fn schema() -> Json {
                json!({ "enum": <Self as Words>::all().iter().map(|(word, _)| *word).collect::<Vec<_>>() })
            }
        }
    )*};
}

words! {
    CellKind: "cell kind", [CellKind::Slc, CellKind::Mlc, CellKind::Tlc, CellKind::Qlc].iter().map(|kind| (kind.name(), *kind)).collect();
    ProgramScope: "program scope", vec![("page", ProgramScope::Page), ("wordline", ProgramScope::Wordline)];
    Trims: "way of trims", vec![("whole", Trims::Whole), ("by-page", Trims::ByPage)];
    FtlPlace: "place of the firmware", vec![("drive", FtlPlace::Drive), ("host", FtlPlace::Host)];
    OobPlace: "place of second copies", vec![("group", OobPlace::Group), ("neighbour", OobPlace::Neighbour)];
    Acknowledge: "time of acknowledgement", vec![("buffered", Acknowledge::Buffered), ("programmed", Acknowledge::Programmed)];
    Protection: "protection", vec![("none", Protection::None), ("capacitor", Protection::Capacitor)];
    WordlineOrder: "order of wordlines", vec![("horizontal-first", WordlineOrder::HorizontalFirst), ("mixed", WordlineOrder::Mixed)];
    Scheduler: "scheduler", Scheduler::ALL.iter().map(|policy| (policy.name(), *policy)).collect();
    FreeBlockPolicy: "free-block policy", FreeBlockPolicy::ALL.iter().map(|policy| (policy.name(), *policy)).collect();
    RetirementPolicy: "retirement policy", RetirementPolicy::ALL.iter().map(|policy| (policy.name(), *policy)).collect();
    VictimPolicy: "victim policy", VictimPolicy::ALL.iter().map(|policy| (policy.name(), *policy)).collect();
}

fn read_word<T: Words + Kind>(value: &DeValue<'_>) -> Result<T, Refusal> {
    let all = T::all();
    let words: Vec<&'static str> = all.iter().map(|(word, _)| *word).collect();
    let word = read_one_of(value, T::NAME, &words)?;
    Ok(all.into_iter().find(|(known, _)| *known == word).map(|(_, value)| value).expect("it is one of them"))
}

/// What is expected where one of `words` is.
pub(crate) fn one_of(words: &[&str]) -> String {
    format!("one of {}", words.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(", "))
}

/// Reads one of `words`, which choose between values of the kind `name`.
pub(crate) fn read_one_of(value: &DeValue<'_>, name: &str, words: &[&'static str]) -> Result<&'static str, Refusal> {
    let Some(text) = value.as_str() else {
        return Err(unfit(value, &one_of(words)));
    };
    if let Some(word) = words.iter().find(|word| **word == text) {
        return Ok(word);
    }
    let refusal = Refusal::new(format!("\"{}\" is no {name}", shown(text)));
    Err(refusal.with_help(match nearest(text, words.iter().copied()) {
        Some(near) => format!("did you mean \"{near}\"?"),
        None => format!("expected {}", one_of(words)),
    }))
}

/// In which order the wordlines of a block are programmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WordlineOrder {
    /// One h-layer after the other.
    HorizontalFirst,
    /// Leaders ahead of their followers.
    Mixed,
}

/// One time for all page types, or a list with one for each, LSB first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PageTimes {
    times: [Nanos; 4],
    len: usize,
}

impl PageTimes {
    /// The times of `bits` page types, or `None` where the list has another length.
    pub(crate) fn for_bits(self, bits: u32) -> Option<[Nanos; 4]> {
        (self.len == 1 || self.len == bits as usize).then_some(self.times)
    }

    /// How many were written.
    pub(crate) fn len(self) -> usize {
        self.len
    }

    /// What was written.
    pub(crate) fn as_slice(&self) -> &[Nanos] {
        &self.times[..self.len]
    }
}

impl Kind for PageTimes {
    fn expected() -> String {
        format!("{}, or a list with one for each page type of a wordline", Nanos::expected())
    }
    fn read(value: &DeValue<'_>) -> Result<Self, Refusal> {
        let DeValue::Array(list) = value else {
            return Nanos::read(value).map(|time| PageTimes { times: [time; 4], len: 1 });
        };
        if list.is_empty() || list.len() > 4 {
            return Err(Refusal::new(format!("a list of {} times: a wordline has between 1 and 4 page types", list.len())));
        }
        let mut times = [Nanos::ZERO; 4];
        for (slot, item) in times.iter_mut().zip(list.iter()) {
            *slot = Nanos::read(item.get_ref())?;
        }
        let last = times[list.len() - 1];
        times[list.len()..].fill(last);
        Ok(PageTimes { times, len: list.len() })
    }
    fn write(&self) -> String {
        match self.as_slice() {
            [time] => time.write(),
            times => format!("[{}]", times.iter().map(Nanos::write).collect::<Vec<_>>().join(", ")),
        }
    }
    fn schema() -> Json {
        json!({ "anyOf": [Nanos::schema(), { "type": "array", "items": Nanos::schema(), "minItems": 1, "maxItems": 4 }] })
    }
}
