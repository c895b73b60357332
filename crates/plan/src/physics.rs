//! The `[physics.*]` sections of a chip file: either all of their keys, or none.
//!
//! Which keys there are, and what they are measured in, is [`wordline_cells::Physics::PARAMETERS`]; this module knows how each unit is written.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::{Value as Json, json};
use toml::de::DeValue;
use wordline_cells::{Parameter, Physics, Shape, Unit};

use crate::kind::{quoted, unfit};
use crate::layer::{Mistakes, Origin, Set};
use crate::nearest::nearest;
use crate::quantity::{Refusal, shown};
use crate::section::{KeyInfo, Line, SectionInfo, prose};

/// `physics.wear` for each section, in the order of the reference.
static PATHS: LazyLock<Vec<(String, &'static str)>> =
    LazyLock::new(|| Physics::SECTIONS.iter().map(|(section, _)| (format!("physics.{section}"), *section)).collect());

fn path(section: &str) -> &'static str {
    PATHS.iter().find(|(_, known)| *known == section).map_or("physics", |(path, _)| path.as_str())
}

/// The parameters that texts set.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Written(BTreeMap<usize, Set<Vec<f64>>>);

impl Written {
    /// Reads one value. `None`: there is no such key.
    pub(crate) fn read(&mut self, path: &str, key: &str, value: &DeValue<'_>, origin: Origin) -> Option<Result<(), Refusal>> {
        let section = path.strip_prefix("physics.")?;
        let number = Physics::PARAMETERS.iter().position(|parameter| parameter.section == section && parameter.key == key)?;
        let read = numbers(Physics::PARAMETERS[number].unit, value);
        Some(read.map(|value| {
            self.0.insert(number, Set { value, origin });
        }))
    }

    /// Whether no key is set.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes from `parent` what is not set here.
    pub(crate) fn inherit(&mut self, parent: &Written) {
        for (number, set) in &parent.0 {
            self.0.entry(*number).or_insert_with(|| set.clone());
        }
    }

    pub(crate) fn lines(&self) -> impl Iterator<Item = Line<'_>> {
        self.0.iter().map(|(number, set)| {
            let parameter = &Physics::PARAMETERS[*number];
            Line { section: path(parameter.section), key: parameter.key, value: write(parameter.unit, &set.value), origin: &set.origin }
        })
    }

    /// The physics of a chip of this shape; `None` where no key is set, or where there are mistakes.
    pub(crate) fn check(&self, shape: Shape, mistakes: &mut Mistakes<'_>) -> Option<Physics> {
        if self.0.is_empty() {
            return None;
        }
        let before = mistakes.count();
        let missing: Vec<String> = Physics::PARAMETERS
            .iter()
            .enumerate()
            .filter(|(number, parameter)| !self.0.contains_key(number) && neutral(parameter).is_none())
            .map(|(_, parameter)| format!("physics.{}.{}", parameter.section, parameter.key))
            .collect();
        if !missing.is_empty() {
            let what = match missing.as_slice() {
                [one] => format!("{one} is not set"),
                several => format!("{} keys are not set: {}", several.len(), several.join(", ")),
            };
            mistakes
                .whole(what, Some("a chip has all keys of [physics.*] or none: write inherit = \"tlc48\" and only what differs".into()));
            return None;
        }
        let mut physics = Physics::unset(shape);
        for parameter in Physics::PARAMETERS {
            if let Some(value) = neutral(parameter) {
                physics.set(parameter.section, parameter.key, &[value]);
            }
        }
        for (number, set) in &self.0 {
            let parameter = &Physics::PARAMETERS[*number];
            physics.set(parameter.section, parameter.key, &set.value);
        }
        for fault in physics.check().err().unwrap_or_default() {
            let set = self.0.iter().find(|(number, _)| {
                let parameter = &Physics::PARAMETERS[**number];
                parameter.section == fault.section && parameter.key == fault.key
            });
            let origin = set.map_or(&Origin::Default, |(_, set)| &set.origin);
            mistakes.at(origin, format!("physics.{}.{} {}", fault.section, fault.key, fault.what), None);
        }
        (mistakes.count() == before).then_some(physics)
    }
}

/// The value by which a key does nothing, if files written before it was there have no such key: they mean what they meant.
fn neutral(parameter: &Parameter) -> Option<f64> {
    match (parameter.section, parameter.key) {
        ("variation", "erase_loss") | ("wear", "onset") | ("retry", "disturb_entries" | "disturb_step") => Some(0.0),
        ("states", "noise_by_state") | ("tails", "lower_by_state") => Some(1.0),
        _ => None,
    }
}

fn expected(unit: Unit) -> String {
    match (unit.names(), unit) {
        (_, Unit::MillivoltList) => "a list of voltages with their units, such as [\"0.9 V\", \"1600 mV\"]".into(),
        (_, Unit::Codes) => "a list of whole numbers, such as [1, 0]".into(),
        ([], _) if unit.is_list() => "a list of plain numbers, such as [1.0, 0.98]".into(),
        ([], _) => "a plain number, such as 0.5".into(),
        ([(name, _), ..], _) => format!("a number with its unit, such as \"25 {name}\""),
    }
}

fn numbers(unit: Unit, value: &DeValue<'_>) -> Result<Vec<f64>, Refusal> {
    if !unit.is_list() {
        return number(unit, value).map(|number| vec![number]);
    }
    let DeValue::Array(list) = value else { return Err(unfit(value, &expected(unit))) };
    list.iter().map(|item| number(unit, item.get_ref())).collect()
}

fn number(unit: Unit, value: &DeValue<'_>) -> Result<f64, Refusal> {
    let units = unit.names();
    match value {
        DeValue::Float(bare) if units.is_empty() => plain(bare.as_str(), unit),
        DeValue::Integer(bare) if units.is_empty() => plain(bare.as_str(), unit),
        // A command line has texts only.
        DeValue::String(text) if units.is_empty() => plain(text.trim(), unit),
        DeValue::Float(bare) => Err(unitless(bare.as_str(), unit)),
        DeValue::Integer(bare) => Err(unitless(bare.as_str(), unit)),
        DeValue::String(text) => {
            let text = text.trim();
            let split = text.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '_' | '+' | '-'))).unwrap_or(text.len());
            let (digits, name) = (text[..split].trim(), text[split..].trim());
            if name.is_empty() && !digits.is_empty() {
                return Err(unitless(digits, unit));
            }
            let Some((_, size)) = units.iter().find(|(known, _)| *known == name) else {
                let what = format!("\"{}\" is no unit of this: expected {}", shown(name), expected(unit));
                let near = nearest(name, units.iter().map(|(known, _)| *known));
                return Err(match near {
                    Some(near) => Refusal::new(what).with_help(format!("did you mean \"{near}\"?")),
                    None => Refusal::new(what),
                });
            };
            // Division where it is exact: "0.1 %" is the number nearest to one thousandth.
            let number = plain(digits, unit)?;
            Ok(if *size < 1.0 { number / (1.0 / *size) } else { number * *size })
        }
        DeValue::Boolean(_) | DeValue::Datetime(_) | DeValue::Array(_) | DeValue::Table(_) => Err(unfit(value, &expected(unit))),
    }
}

fn unitless(digits: &str, unit: Unit) -> Refusal {
    Refusal::new(format!("a bare number says no unit: expected {}", expected(unit))).with_help(format!(
        "write \"{} {}\" if that is what is meant",
        shown(digits),
        unit.names()[0].0
    ))
}

fn plain(text: &str, unit: Unit) -> Result<f64, Refusal> {
    let digits = text.replace('_', "");
    match digits.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(number),
        Ok(_) | Err(_) => Err(Refusal::new(format!("\"{}\" is not a number: expected {}", shown(text), expected(unit)))),
    }
}

/// As TOML, the same text for the same value always.
fn write(unit: Unit, numbers: &[f64]) -> String {
    let one = |number: &f64| match unit.names().first() {
        None => float(*number),
        Some((name, size)) if *size < 1.0 => quoted(&format!("{} {name}", percent(*number))),
        Some((name, size)) => quoted(&format!("{} {name}", number / size)),
    };
    match numbers {
        [number] if !unit.is_list() => one(number),
        several => format!("[{}]", several.iter().map(one).collect::<Vec<_>>().join(", ")),
    }
}

fn float(number: f64) -> String {
    if number == number.trunc() && number.abs() < 1e15 { format!("{number:.0}") } else { format!("{number}") }
}

/// A fraction as per cent, in the shortest text that is read as the same fraction.
fn percent(fraction: f64) -> String {
    (0..18)
        .map(|places| format!("{:.places$}", fraction * 100.0))
        .find(|text| text.parse::<f64>().is_ok_and(|number| number / 100.0 == fraction))
        .unwrap_or_else(|| format!("{}", fraction * 100.0))
}

fn schema(unit: Unit) -> Json {
    let one = match unit.names() {
        [] => json!({ "type": "number" }),
        units => {
            let names: Vec<String> = units.iter().map(|(name, _)| name.replace('/', "\\/")).collect();
            json!({ "type": "string", "pattern": format!("^[-+]?[0-9][0-9_]*(\\.[0-9_]+)? ?({})$", names.join("|")) })
        }
    };
    if unit.is_list() { json!({ "type": "array", "items": one }) } else { one }
}

/// The sections for the reference.
pub(crate) fn sections() -> Vec<SectionInfo> {
    let keys = |section: &str| {
        let of = |parameter: &Parameter| KeyInfo {
            name: parameter.key,
            doc: prose(parameter.doc),
            expected: expected(parameter.unit),
            default: neutral(parameter).map(|value| write(parameter.unit, &[value])),
            schema: schema(parameter.unit),
        };
        Physics::PARAMETERS.iter().filter(|parameter| parameter.section == section).map(of).collect()
    };
    Physics::SECTIONS
        .iter()
        .map(|(section, doc)| SectionInfo { path: path(section), doc: prose(doc), of_chip: true, keys: keys(section) })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        for number in [0.0, 0.0021, 0.07, 0.125, 0.8] {
            for unit in [Unit::Share, Unit::Number, Unit::Millivolts, Unit::Seconds, Unit::ElectronVolts] {
                let text = write(unit, &[number]);
                let value = DeValue::parse(&text).expect("TOML");
                assert_eq!(numbers(unit, value.get_ref()), Ok(vec![number]), "{text}");
            }
        }
        let text = write(Unit::MillivoltList, &[-1500.0, 0.25]);
        assert_eq!(text, "[\"-1500 mV\", \"0.25 mV\"]");
        assert_eq!(numbers(Unit::MillivoltList, DeValue::parse(&text).expect("TOML").get_ref()), Ok(vec![-1500.0, 0.25]));
    }

    #[test]
    fn units_are_asked_for() {
        let refuse = |unit: Unit, text: &str| numbers(unit, DeValue::parse(text).expect("TOML").get_ref()).expect_err(text).what;
        assert!(refuse(Unit::Millivolts, "25").contains("says no unit"));
        assert!(refuse(Unit::Millivolts, "\"25\"").contains("says no unit"));
        assert!(refuse(Unit::Millivolts, "\"25 eV\"").contains("is no unit"));
        assert!(refuse(Unit::Number, "\"much\"").contains("is not a number"));
        assert!(refuse(Unit::MillivoltList, "\"25 mV\"").contains("a list"));
    }
}
