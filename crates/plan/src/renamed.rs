//! Keys that were renamed. A user's text in the old names is refused with the new ones, a stored plan in the old names is read, and the number of a plan is
//! made from the names under which its keys were first known, so that it outlives them.

use std::borrow::Cow;

use toml::de::DeValue;

use crate::section::Line;

/// One renamed key.
struct Renamed {
    /// Section and name under which the key was first known.
    first: (&'static str, &'static str),
    now: (&'static str, &'static str),
    /// Values as TOML that are written in another way now: first, and now.
    values: &'static [(&'static str, &'static str)],
}

const RENAMED: &[Renamed] = &[
    Renamed { first: ("reclaim", "victim"), now: ("gc", "victim"), values: &[] },
    Renamed { first: ("reclaim", "start"), now: ("gc", "start"), values: &[] },
    Renamed { first: ("reclaim", "floor"), now: ("gc", "floor"), values: &[] },
    Renamed { first: ("reclaim", "scheduler"), now: ("gc", "scheduler"), values: &[] },
    Renamed { first: ("reclaim", "preemptible"), now: ("gc", "preemptible"), values: &[] },
    Renamed { first: ("reclaim", "lazy_erase"), now: ("gc", "lazy_erase"), values: &[] },
    Renamed { first: ("wear", "dynamic"), now: ("free_block", "key"), values: &[("false", "\"longest-free\""), ("true", "\"erases\"")] },
    Renamed { first: ("wear", "static_gap"), now: ("free_block", "gap"), values: &[] },
];

/// Whether a section had this name once and has it no more.
pub(crate) fn is_old_section(path: &str) -> bool {
    RENAMED.iter().any(|key| key.first.0 == path)
}

/// The names that the section `path` has now: "[gc]".
pub(crate) fn section_now(path: &str) -> String {
    let mut now: Vec<&str> = RENAMED.iter().filter(|key| key.first.0 == path).map(|key| key.now.0).collect();
    now.dedup();
    now.iter().map(|section| format!("[{section}]")).collect::<Vec<_>>().join(" or ")
}

/// Section and name that the key `name` of the old `section` has now.
pub(crate) fn key_now(section: &str, name: &str) -> Option<(&'static str, &'static str)> {
    find(section, name).map(|key| key.now)
}

/// What is said to a user of the key `name` of the old `section`: its new name, and how its values are written now.
pub(crate) fn advice(section: &str, name: &str) -> Option<String> {
    let key = find(section, name)?;
    let (now, key_now) = key.now;
    let values: Vec<String> = key.values.iter().map(|(first, now)| format!("{first} is {now}")).collect();
    let values = if values.is_empty() { String::new() } else { format!(": {}", values.join(", ")) };
    Some(format!("the key is {now}.{key_now} now{values}"))
}

/// The value of the key `name` of the old `section` as it is written now.
pub(crate) fn value_now<'v>(section: &str, name: &str, value: &'v DeValue<'v>) -> Cow<'v, DeValue<'v>> {
    let DeValue::Boolean(is_true) = value else { return Cow::Borrowed(value) };
    let values = find(section, name).map_or(&[][..], |key| key.values);
    match values.iter().find(|(first, _)| *first == is_true.to_string()) {
        Some((_, now)) => Cow::Owned(DeValue::String(Cow::Borrowed(now.trim_matches('"')))),
        None => Cow::Borrowed(value),
    }
}

/// Section, key and value of `line` as they were first known.
pub(crate) fn first_of<'l>(line: &'l Line<'_>) -> (&'l str, &'l str, &'l str) {
    match RENAMED.iter().find(|key| key.now == (line.section, line.key)) {
        None => (line.section, line.key, &line.value),
        Some(key) => {
            let value = key.values.iter().find(|(_, now)| *now == line.value).map_or(line.value.as_str(), |(first, _)| first);
            (key.first.0, key.first.1, value)
        }
    }
}

fn find(section: &str, name: &str) -> Option<&'static Renamed> {
    RENAMED.iter().find(|key| key.first == (section, name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::table;

    #[test]
    fn every_key_is_known_by_its_new_name_and_by_no_old_one() {
        for key in RENAMED {
            assert!(table().iter().all(|section| section.path != key.first.0), "[{}] is a section again", key.first.0);
            let section = table().iter().find(|section| section.path == key.now.0).unwrap_or_else(|| panic!("no [{}]", key.now.0));
            assert!(section.keys.iter().any(|known| known.name == key.now.1), "{:?}", key.now);
        }
    }
}
