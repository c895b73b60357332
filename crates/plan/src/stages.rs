//! Stages of a drive's life that have a name: `studies/stages.toml`.

use std::sync::LazyLock;

use serde_json::{Value as Json, json};
use toml::de::{DeTable, DeValue};

use crate::kind::{Kind, Share, quoted};
use crate::quantity::Refusal;
use crate::words::{one_of, read_one_of};

/// A stage of life.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stage {
    /// Its name.
    pub name: String,
    /// Share of the P/E cycles that blocks are good for which they have behind them.
    share: Share,
}

impl Stage {
    /// P/E cycles that blocks have behind them which are good for `lifetime`.
    pub fn cycles(&self, lifetime: u32) -> u32 {
        self.share.of(u64::from(lifetime)) as u32
    }
}

/// P/E cycles behind a drive's blocks: a count, or a stage of life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cycles {
    Count(u32),
    Stage(&'static Stage),
}

impl Cycles {
    /// The cycles of blocks that are good for `lifetime`.
    pub(crate) fn of(self, lifetime: u32) -> u32 {
        match self {
            Cycles::Count(count) => count,
            Cycles::Stage(stage) => stage.cycles(lifetime),
        }
    }
}

impl Kind for Cycles {
    fn expected() -> String {
        format!("{}, or {}", <u32 as Kind>::expected(), one_of(&names()))
    }
    fn read(value: &DeValue<'_>) -> Result<Self, Refusal> {
        if value.as_str().is_none() {
            return <u32 as Kind>::read(value).map(Cycles::Count);
        }
        let name = read_one_of(value, "stage of life", &names())?;
        Ok(Cycles::Stage(stages().iter().find(|stage| stage.name == name).expect("it is one of them")))
    }
    fn write(&self) -> String {
        match self {
            Cycles::Count(count) => count.write(),
            Cycles::Stage(stage) => quoted(&stage.name),
        }
    }
    fn schema() -> Json {
        json!({ "anyOf": [<u32 as Kind>::schema(), { "enum": names() }] })
    }
}

fn names() -> Vec<&'static str> {
    stages().iter().map(|stage| stage.name.as_str()).collect()
}

/// All stages that have a name, the youngest first.
///
/// # Panics
///
/// The file that comes with Wordline is wrong, which the tests exclude.
pub fn stages() -> &'static [Stage] {
    static STAGES: LazyLock<Vec<Stage>> =
        LazyLock::new(|| read(include_str!("../../../studies/stages.toml")).unwrap_or_else(|why| panic!("studies/stages.toml: {why}")));
    &STAGES
}

fn read(text: &str) -> Result<Vec<Stage>, String> {
    let file = DeTable::parse(text).map_err(|error| error.message().to_owned())?;
    let Some(DeValue::Table(table)) = file.get_ref().get("stage").map(|entry| entry.get_ref()) else {
        return Err("no [stage]".to_owned());
    };
    let stage = |name: &str| value(table, name).map(|share| Stage { name: name.to_owned(), share });
    let mut stages = table.iter().map(|(name, _)| stage(name.get_ref())).collect::<Result<Vec<Stage>, String>>()?;
    stages.sort_by_key(|stage| stage.cycles(1_000_000));
    Ok(stages)
}

/// `key = { value = …, source = "…" }`.
fn value<K: Kind>(table: &DeTable<'_>, key: &str) -> Result<K, String> {
    match table.get(key).map(|entry| entry.get_ref()) {
        Some(DeValue::Table(entry)) if entry.contains_key("source") => {
            let value = entry.get("value").ok_or_else(|| format!("`{key}` has no value"))?;
            K::read(value.get_ref()).map_err(|refusal| format!("`{key}`: {}", refusal.what))
        }
        Some(_) => Err(format!("`{key}` has no source")),
        None => Err(format!("no `{key}`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_follow_from_the_lifetime() {
        let cycles = |lifetime| stages().iter().map(|stage| (stage.name.as_str(), stage.cycles(lifetime))).collect::<Vec<_>>();
        assert_eq!(cycles(2_000), [("fresh", 0), ("child", 200), ("young-adult", 400), ("old-adult", 1_000)]);
        assert_eq!(cycles(12_300), [("fresh", 0), ("child", 1_230), ("young-adult", 2_460), ("old-adult", 6_150)]);
        for wrong in ["", "lifetime = 2000", "[stage]\nchild = { value = \"10 %\" }", "[stage]\nchild = { value = -1, source = \"x\" }"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn cycles_are_a_count_or_a_stage() {
        let read = |text: &str| Cycles::read(DeValue::parse(text).expect("toml").get_ref());
        for (text, cycles) in [("300", 300), ("\"child\"", 1_230), ("\"fresh\"", 0)] {
            let value = read(text).expect("it is one");
            assert_eq!((value.of(12_300), value.write()), (cycles, text.to_owned()));
        }
        assert_eq!(read("\"old\"").expect_err("no stage").what, "\"old\" is no stage of life");
    }
}
