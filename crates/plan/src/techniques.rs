//! The `[techniques.*]` sections of a drive file, as the firmware's techniques declare them.
//!
//! Which techniques there are, and what each is set to and needs, is [`DECLARATIONS`]; this module knows how values of each kind are written, and no
//! technique by its name.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::{Value as Json, json};
use toml::de::DeValue;
use wordline_ftl::techniques::DECLARATIONS;
use wordline_ftl::techniques::declaration::{Declaration, Kind as Form, Lack, Need, Param, Value};
use wordline_units::Nanos;

use crate::kind::{Kind, Maybe, quoted};
use crate::layer::{Origin, Set};
use crate::quantity::Refusal;
use crate::section::{KeyInfo, Line, SectionInfo, prose};
use crate::words::{one_of, read_one_of};

/// What the sections of techniques begin with.
pub(crate) const TECHNIQUES: &str = "techniques.";

/// The key that switches a technique on.
const ON: &str = "on";

/// `techniques.idle-reclaim` for each technique, in the order of the list.
static PATHS: LazyLock<Vec<String>> =
    LazyLock::new(|| DECLARATIONS.iter().map(|declaration| format!("{TECHNIQUES}{}", declaration.card.name)).collect());

/// The keys of techniques with their values: those that texts set, or all of them, once defaults are filled in. A value of nothing is written `"none"`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Keys(BTreeMap<Place, Set<Option<Value>>>);

/// A key of a technique: its number in the list, and 0 for `on` or the number of the parameter from 1.
type Place = (usize, usize);

/// A technique that is switched on.
pub(crate) struct On<'a> {
    pub(crate) declaration: &'static Declaration,
    /// Its section.
    pub(crate) path: &'static str,
    /// Who switched it on.
    pub(crate) origin: &'a Origin,
    /// Its parameters, in the order in which they are declared.
    pub(crate) params: Vec<(&'static Param, &'a Set<Option<Value>>)>,
}

impl On<'_> {
    /// True if the parameter `key` has this `value`.
    pub(crate) fn has(&self, key: &str, value: Value) -> bool {
        self.params.iter().any(|(param, set)| param.key == key && set.value == Some(value))
    }
}

impl Keys {
    /// Reads one value. `None`: there is no such key.
    pub(crate) fn read(&mut self, path: &str, key: &str, value: &DeValue<'_>, origin: Origin) -> Option<Result<(), Refusal>> {
        let number = PATHS.iter().position(|known| known == path)?;
        let (place, read) = if key == ON {
            ((number, 0), read::<bool>(value))
        } else {
            let params = DECLARATIONS[number].params;
            let at = params.iter().position(|param| param.key == key)?;
            ((number, at + 1), written(&params[at]).read(value))
        };
        Some(read.map(|value| {
            self.0.insert(place, Set { value, origin });
        }))
    }

    /// Takes from `parent` what is not set here.
    pub(crate) fn inherit(&mut self, parent: &Keys) {
        for (place, set) in &parent.0 {
            self.0.entry(*place).or_insert_with(|| set.clone());
        }
    }

    /// Fills in defaults.
    pub(crate) fn fill(mut self) -> Keys {
        for (number, declaration) in DECLARATIONS.iter().enumerate() {
            let defaults = std::iter::once(Some(Value::Flag(false))).chain(declaration.params.iter().map(|param| param.default));
            for (at, default) in defaults.enumerate() {
                self.0.entry((number, at)).or_insert_with(|| Set::default_of(default));
            }
        }
        self
    }

    /// All that are set, in the order of the list.
    pub(crate) fn lines(&self) -> impl Iterator<Item = Line<'_>> {
        self.0.iter().map(|(&(number, at), set)| Line {
            section: &PATHS[number],
            key: if at == 0 { ON } else { DECLARATIONS[number].params[at - 1].key },
            value: write(set.value),
            origin: &set.origin,
        })
    }

    /// Counts of wordlines of blocks, of the techniques that are switched on: key and number.
    pub(crate) fn wordlines(&self) -> impl Iterator<Item = (String, u32)> {
        self.on().flat_map(|on| {
            let of_block = |(param, set): (&Param, &Set<Option<Value>>)| match (param.kind, set.value) {
                (Form::Wordlines { .. }, Some(Value::Count(count))) => Some((format!("{}.{}", on.path, param.key), count)),
                _ => None,
            };
            on.params.into_iter().filter_map(of_block).collect::<Vec<_>>()
        })
    }

    /// The techniques that are switched on, once defaults are filled in.
    pub(crate) fn on(&self) -> impl Iterator<Item = On<'_>> {
        DECLARATIONS.iter().enumerate().filter_map(|(number, declaration)| {
            let Set { value: Some(Value::Flag(true)), origin } = self.0.get(&(number, 0))? else { return None };
            let params = declaration.params.iter().enumerate();
            let params = params.filter_map(|(at, param)| Some((param, self.0.get(&(number, at + 1))?))).collect();
            Some(On { declaration, path: &PATHS[number], origin, params })
        })
    }
}

/// How values of a parameter are written.
enum Written {
    /// As values of a kind.
    As { expected: fn() -> String, read: fn(&DeValue<'_>) -> Result<Option<Value>, Refusal>, schema: fn() -> Json },
    /// As one of these words.
    Word(&'static [&'static str]),
}

impl Written {
    fn expected(&self) -> String {
        match self {
            Written::As { expected, .. } => expected(),
            Written::Word(words) => one_of(words),
        }
    }

    fn read(&self, value: &DeValue<'_>) -> Result<Option<Value>, Refusal> {
        match self {
            Written::As { read, .. } => read(value),
            Written::Word(words) => read_one_of(value, "value of this key", words).map(|word| Some(Value::Word(word))),
        }
    }

    fn schema(&self) -> Json {
        match self {
            Written::As { schema, .. } => schema(),
            Written::Word(words) => json!({ "enum": words }),
        }
    }
}

/// How `param` is written, with `"none"` for the default where it has none.
fn written(param: &Param) -> Written {
    written_as(param.kind, param.default.is_none())
}

fn written_as(kind: Form, is_needed: bool) -> Written {
    fn of<T: Kind + Into<Value>>(is_needed: bool) -> Written {
        if is_needed {
            let read = |value: &DeValue<'_>| Maybe::<T>::read(value).map(|Maybe(value)| value.map(T::into));
            return Written::As { expected: Maybe::<T>::expected, read, schema: Maybe::<T>::schema };
        }
        Written::As { expected: T::expected, read: read::<T>, schema: T::schema }
    }
    match kind {
        Form::Flag => of::<bool>(is_needed),
        Form::Count { .. } | Form::Wordlines { .. } | Form::FreeGroups | Form::KeyLeaves => of::<u32>(is_needed),
        Form::Span { .. } => of::<Nanos>(is_needed),
        Form::Word(words) => Written::Word(words),
    }
}

fn read<T: Kind + Into<Value>>(value: &DeValue<'_>) -> Result<Option<Value>, Refusal> {
    T::read(value).map(|value| Some(value.into()))
}

/// What to write for a parameter that must be set.
pub(crate) fn expected(param: &Param) -> String {
    written_as(param.kind, false).expected()
}

/// As TOML, the same text for the same value always.
pub(crate) fn write(value: Option<Value>) -> String {
    match value {
        None => Maybe::<bool>(None).write(),
        Some(Value::Flag(flag)) => flag.write(),
        Some(Value::Count(count)) => count.write(),
        Some(Value::Span(span)) => span.write(),
        Some(Value::Word(word)) => quoted(word),
    }
}

/// A sentence about each of these needs.
fn told(needs: impl Iterator<Item = Need>) -> String {
    let one = |need: Need| {
        let feature = need.feature();
        let who = match feature.lack {
            Lack::Teller => return " A technique that tells the wear of blocks must be on.".to_owned(),
            Lack::Keeper => return " No technique that keeps keys of places may be on.".to_owned(),
            Lack::Table(_) => "chip",
            Lack::Ability | Lack::AnyOf(_) | Lack::Time => "die",
        };
        let keys: Vec<String> = feature.keys.iter().map(|key| format!("`{key}`")).collect();
        format!(" The {who} needs {}.", keys.join(" or "))
    };
    needs.map(one).collect()
}

/// A sentence about each of these needs of a parameter that has some value.
fn told_where(needs: impl Iterator<Item = (Value, Need)>) -> String {
    let one = |(value, need): (Value, Need)| match value {
        // Of a flag it goes without saying.
        Value::Flag(_) => told(std::iter::once(need)),
        other @ (Value::Count(_) | Value::Span(_) | Value::Word(_)) => {
            let told = told(std::iter::once(need));
            format!(" With {}: {}{}", write(Some(other)), told[1..2].to_lowercase(), &told[2..])
        }
    };
    needs.map(one).collect()
}

/// The sections for the reference.
pub(crate) fn sections() -> Vec<SectionInfo> {
    let of = |(number, declaration): (usize, &&'static Declaration)| {
        let needs = declaration.needs.iter().copied();
        let whole = needs.clone().filter(|need| !matches!(need, Need::Where(..)));
        let on = KeyInfo {
            name: ON,
            doc: format!("Switches the technique on.{}", told(whole)),
            expected: bool::expected(),
            default: Some(write(Some(Value::Flag(false)))),
            schema: bool::schema(),
        };
        let params = declaration.params.iter().map(|param| {
            let here = needs
                .clone()
                .filter_map(|need| if let Need::Where(key, value, of) = need { (key == param.key).then_some((value, *of)) } else { None });
            let must = if param.default.is_none() { " Needed where it is on." } else { "" };
            let how = written(param);
            KeyInfo {
                name: param.key,
                doc: format!("{}{}{must} Source: {}.", prose(param.doc), told_where(here), param.source),
                expected: how.expected(),
                default: Some(write(param.default)),
                schema: how.schema(),
            }
        });
        let keys = std::iter::once(on).chain(params).collect();
        SectionInfo { path: &PATHS[number], doc: format!("Technique: {}", declaration.about), of_chip: false, keys }
    };
    DECLARATIONS.iter().enumerate().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_that_is_declared_is_written_and_read_again() {
        for (number, declaration) in DECLARATIONS.iter().enumerate() {
            for param in declaration.params {
                for value in param.tried.iter().chain(&param.kind.ends()).copied().map(Some).chain([param.default]) {
                    let text = write(value);
                    let toml = DeValue::parse(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
                    let mut keys = Keys::default();
                    let read = keys.read(&PATHS[number], param.key, toml.get_ref(), Origin::Default).expect("there is such a key");
                    assert_eq!(read, Ok(()), "{}.{} = {text}", PATHS[number], param.key);
                    assert_eq!(keys.lines().map(|line| line.value).collect::<Vec<_>>(), [text]);
                }
            }
        }
    }

    #[test]
    fn none_stands_only_where_there_is_no_default() {
        let none = "\"none\"";
        let toml = DeValue::parse(none).expect("a text");
        for (number, declaration) in DECLARATIONS.iter().enumerate() {
            for param in declaration.params {
                let read = Keys::default().read(&PATHS[number], param.key, toml.get_ref(), Origin::Default).expect("there is such a key");
                assert_eq!(read.is_ok(), param.default.is_none(), "{}.{}", PATHS[number], param.key);
            }
        }
    }
}
