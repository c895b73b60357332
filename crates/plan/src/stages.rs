//! Stages of a drive's life that have a name: `studies/stages.toml`.

use std::sync::LazyLock;

use toml::de::{DeTable, DeValue};

use crate::kind::{Kind, Share};

/// A stage of life.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stage {
    /// Its name.
    pub name: String,
    /// P/E cycles that blocks have behind them.
    pub cycles: u32,
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
    let lifetime: u32 = value(file.get_ref(), "lifetime")?;
    let Some(DeValue::Table(table)) = file.get_ref().get("stage").map(|entry| entry.get_ref()) else {
        return Err("no [stage]".to_owned());
    };
    let cycles = |share: Share| share.of(u64::from(lifetime)) as u32;
    let stage = |name: &str| value(table, name).map(|share| Stage { name: name.to_owned(), cycles: cycles(share) });
    let mut stages = table.iter().map(|(name, _)| stage(name.get_ref())).collect::<Result<Vec<Stage>, String>>()?;
    stages.sort_by_key(|stage| stage.cycles);
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
        let cycles: Vec<(&str, u32)> = stages().iter().map(|stage| (stage.name.as_str(), stage.cycles)).collect();
        assert_eq!(cycles, [("fresh", 0), ("child", 200), ("young-adult", 400), ("old-adult", 1_000)]);
        let twice = include_str!("../../../studies/stages.toml").replace("2000", "4000");
        assert_eq!(read(&twice).expect("read").last().map(|stage| stage.cycles), Some(2_000));
        for wrong in ["", "lifetime = 2000", "[stage]\nchild = { value = \"10 %\" }", "lifetime = { value = -1, source = \"x\" }"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
