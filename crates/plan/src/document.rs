//! The first stage: from text to shape. Every key is known, every value is of its kind; how values go together is not looked at.

use std::ops::Range;

use toml::de::{DeTable, DeValue};

use crate::keys::{parsed, table};
use crate::kind::{Kind, unfit};
use crate::layer::{Layer, Mistakes, Origin, Set};
use crate::nearest::nearest;
use crate::quantity::{Refusal, shown};
use crate::renamed;

/// Whether a text describes a chip or a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Only what a die is.
    Chip,
    /// A drive; may also say how its dies differ from their chip file.
    Drive,
    /// A drive that a build has written down, perhaps an earlier one: keys may have the names of that time.
    Stored,
    /// Settings of a command line: keys of a drive, but no other files.
    Settings,
}

/// One text, parsed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Document {
    /// One line on what it describes.
    pub(crate) summary: Option<Set<String>>,
    /// The file whose keys hold where this one says nothing.
    pub(crate) inherit: Option<Set<String>>,
    /// The chip file.
    pub(crate) chip: Option<Set<String>>,
    /// The chip file whose physics the cells have, where the drive's own has none.
    pub(crate) physics_of: Option<Set<String>>,
    /// It was read for its physics alone.
    pub(crate) only_physics: bool,
    /// It sets no key that a drive or a chip has, well or badly.
    pub(crate) is_foreign: bool,
    /// All keys.
    pub(crate) sections: parsed::Sections,
}

impl Document {
    /// Parses layer number `layer`. What cannot be understood is a mistake, and the rest is still read.
    pub(crate) fn parse(layers: &[Layer], layer: usize, role: Role, mistakes: &mut Mistakes<'_>) -> Document {
        let (table, errors) = DeTable::parse_recoverable(&layers[layer].text);
        let is_foreign = role != Role::Settings && !table.get_ref().iter().any(|(key, _)| is_known(key.get_ref()));
        let mut document = Document { is_foreign, ..Document::default() };
        let mut reader = Reader { document: &mut document, layer, role, mistakes };
        if errors.is_empty() {
            reader.top(table.get_ref());
        }
        for error in errors {
            reader.refuse(error.span().unwrap_or_default(), Refusal::new(format!("not TOML: {}", error.message().replace('\n', ", "))));
        }
        document
    }
}

/// Whether a word or section of this name can stand at the top of a file.
fn is_known(name: &str) -> bool {
    let of_section = |path: &str| path.split('.').next() == Some(name);
    WORDS.contains(&name) || renamed::is_old_section(name) || table().iter().any(|section| of_section(section.path))
}

/// What stands outside of sections.
const WORDS: [&str; 4] = ["summary", "inherit", "chip", "physics_of"];

struct Reader<'a, 'm> {
    document: &'a mut Document,
    layer: usize,
    role: Role,
    mistakes: &'a mut Mistakes<'m>,
}

impl Reader<'_, '_> {
    fn origin(&self, span: Range<usize>, source: Option<String>) -> Origin {
        Origin::Written { layer: self.layer, span, source }
    }

    fn refuse(&mut self, span: Range<usize>, refusal: Refusal) {
        let origin = self.origin(span, None);
        self.mistakes.at(&origin, refusal.what, refusal.help);
    }

    fn top(&mut self, table: &DeTable<'_>) {
        for (key, value) in table {
            let name: &str = key.get_ref();
            match (name, value.get_ref()) {
                ("summary" | "inherit" | "chip" | "physics_of", _) => self.word(name, value.get_ref(), key.span(), value.span()),
                ("techniques", DeValue::Table(techniques)) => {
                    for (technique, value) in techniques {
                        self.section(&format!("techniques.{}", technique.get_ref()), technique.span(), value.get_ref());
                    }
                }
                ("physics", DeValue::Table(effects)) => {
                    for (effect, value) in effects {
                        self.section(&format!("physics.{}", effect.get_ref()), effect.span(), value.get_ref());
                    }
                }
                (name, value) => self.section(name, key.span(), value),
            }
        }
    }

    fn word(&mut self, name: &str, value: &DeValue<'_>, key: Range<usize>, span: Range<usize>) {
        let origin = self.origin(span.clone(), None);
        let allowed = match self.role {
            Role::Drive | Role::Stored => true,
            Role::Chip => !matches!(name, "chip" | "physics_of"),
            Role::Settings => false,
        };
        if !allowed {
            self.refuse(key, Refusal::new(format!("`{name}` cannot be set here")));
            return;
        }
        match String::read(value) {
            Err(refusal) => self.refuse(span, refusal),
            Ok(value) => {
                let slot = match name {
                    "summary" => &mut self.document.summary,
                    "inherit" => &mut self.document.inherit,
                    "chip" => &mut self.document.chip,
                    _ => &mut self.document.physics_of,
                };
                *slot = Some(Set { value, origin });
            }
        }
    }

    fn section(&mut self, path: &str, span: Range<usize>, value: &DeValue<'_>) {
        let sections = table();
        let Some(info) = sections.iter().find(|section| section.path == path) else {
            if let DeValue::Table(keys) = value
                && renamed::is_old_section(path)
            {
                return self.old_section(path, span, keys);
            }
            self.refuse(span, unknown_section(path, value, sections));
            return;
        };
        if self.role == Role::Chip && !info.of_chip {
            self.refuse(span, Refusal::new(format!("[{path}] belongs in a drive file, and this is a chip file")));
            return;
        }
        let DeValue::Table(keys) = value else {
            self.refuse(span, unfit(value, &format!("a section: [{path}] with keys below it")));
            return;
        };
        let mut common = None;
        if let Some(source) = keys.get("source") {
            match String::read(source.get_ref()) {
                Ok(text) => common = Some(text),
                Err(refusal) => self.refuse(source.span(), refusal),
            }
        }
        for (key, value) in keys {
            let name: &str = key.get_ref();
            if name != "source" {
                self.key(info.path, name, key.span(), value.get_ref(), value.span(), common.clone());
            }
        }
    }

    /// A section that is called otherwise now. Of a stored plan it is read, and whoever else has written it is told the new names.
    fn old_section(&mut self, path: &str, span: Range<usize>, keys: &DeTable<'_>) {
        if self.role != Role::Stored && keys.is_empty() {
            let refusal = Refusal::new(format!("unknown section [{path}]"));
            self.refuse(span, refusal.with_help(format!("the section is {} now", renamed::section_now(path))));
            return;
        }
        for (key, value) in keys {
            let name: &str = key.get_ref();
            let refusal = Refusal::new(format!("unknown key `{}` in [{path}]", shown(name)));
            match (renamed::key_now(path, name), renamed::advice(path, name)) {
                (Some((section, now)), _) if self.role == Role::Stored => {
                    let value_now = renamed::value_now(path, name, value.get_ref());
                    self.key(section, now, key.span(), &value_now, value.span(), None);
                }
                (_, Some(advice)) => self.refuse(key.span(), refusal.with_help(advice)),
                // What is said of a source goes with the section.
                (_, None) if name == "source" && keys.len() > 1 => {}
                (_, None) => self.refuse(key.span(), refusal.with_help(format!("the section is {} now", renamed::section_now(path)))),
            }
        }
    }

    fn key(&mut self, section: &str, name: &str, key: Range<usize>, value: &DeValue<'_>, span: Range<usize>, common: Option<String>) {
        let (mut value, mut span, mut source) = (value, span, common);
        if let DeValue::Table(pair) = value {
            for (word, given) in pair {
                match word.get_ref().as_ref() {
                    "value" => {}
                    "source" => match String::read(given.get_ref()) {
                        Ok(text) => source = Some(text),
                        Err(refusal) => self.refuse(given.span(), refusal),
                    },
                    other => {
                        let what = format!("`{}` cannot stand beside a value", shown(other));
                        self.refuse(word.span(), Refusal::new(what).with_help("expected { value = …, source = \"…\" }"));
                    }
                }
            }
            let Some(given) = pair.get("value") else {
                self.refuse(span, Refusal::new(format!("`{name}` has no value")).with_help("expected { value = …, source = \"…\" }"));
                return;
            };
            (value, span) = (given.get_ref(), given.span());
        }
        let origin = self.origin(span.clone(), source);
        match self.document.sections.read(section, name, value, origin) {
            None => self.refuse(key, unknown_key(section, name)),
            Some(Err(refusal)) => {
                let refusal = Refusal { what: format!("{section}.{name}: {}", refusal.what), ..refusal };
                self.refuse(span, refusal);
            }
            Some(Ok(())) => {}
        }
    }
}

fn unknown_section(path: &str, value: &DeValue<'_>, sections: &[crate::section::SectionInfo]) -> Refusal {
    if !matches!(value, DeValue::Table(_)) {
        let homes = homes(path, sections);
        let refusal = Refusal::new(format!("unknown key `{}`", shown(path)));
        let near = nearest(path, sections.iter().flat_map(|section| section.keys.iter().map(|key| key.name)).chain(WORDS));
        return match (homes.is_empty(), near) {
            (false, _) => refusal.with_help(format!("it belongs in {}", homes.join(" or "))),
            (true, Some(near)) => refusal.with_help(format!("did you mean `{near}`?")),
            (true, None) => refusal.with_help("outside of sections there are only summary, inherit and chip"),
        };
    }
    let refusal = Refusal::new(format!("unknown section [{}]", shown(path)));
    refusal.with_help(match nearest(path, sections.iter().map(|section| section.path)) {
        Some(near) => format!("did you mean [{near}]?"),
        None => format!("sections are {}", sections.iter().map(|section| section.path).collect::<Vec<_>>().join(", ")),
    })
}

fn homes(key: &str, sections: &[crate::section::SectionInfo]) -> Vec<String> {
    sections
        .iter()
        .filter(|section| section.keys.iter().any(|known| known.name == key))
        .map(|section| format!("[{}]", section.path))
        .collect()
}

fn unknown_key(section: &str, name: &str) -> Refusal {
    let sections = table();
    let refusal = Refusal::new(format!("unknown key `{}` in [{section}]", shown(name)));
    let names: Vec<&str> =
        sections.iter().find(|known| known.path == section).map_or_else(Vec::new, |known| known.keys.iter().map(|key| key.name).collect());
    let homes = homes(name, sections);
    refusal.with_help(match nearest(name, names.iter().copied()) {
        _ if !homes.is_empty() => format!("it belongs in {}", homes.join(" or ")),
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("keys are {}", names.join(", ")),
    })
}
