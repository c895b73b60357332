//! From a name to all the texts of a plan: the drive, what it inherits, its chip.

use std::io;
use std::path::{Path, PathBuf};

use crate::document::{Document, Role};
use crate::error::{Mistake, PlanError};
use crate::keys::{parsed, same_block, same_cells, same_layers};
use crate::kind::quoted;
use crate::layer::{Layer, Mistakes, Origin, Set};
use crate::nearest::nearest;
use crate::presets;
use crate::quantity::shown;

/// How files are read; the only way out of this crate.
pub(crate) type Reader<'a> = &'a dyn Fn(&Path) -> io::Result<String>;

/// The most files in a row of parents.
const PARENTS_MAX: usize = 16;

/// Values that hold for a stored plan which does not have the keys: it is of a build whose drives did so.
const STORED: &str = "[gc]\nscheduler = \"classic\"\n";

fn no_files(_: &Path) -> io::Result<String> {
    Err(io::Error::other("no files are read here"))
}

/// All texts of a plan, parsed, the nearest first; settings of a command line come after the files and count before them.
#[derive(Clone, Debug)]
pub(crate) struct Gathered {
    pub(crate) layers: Vec<Layer>,
    pub(crate) documents: Vec<Document>,
    /// The files among them.
    pub(crate) read: Vec<PathBuf>,
    files: usize,
}

/// A text and the folder its references start from; `None`: there are no files here, only presets.
struct Text {
    layer: Layer,
    folder: Option<PathBuf>,
}

impl Gathered {
    /// The texts of the drive called `name`: a preset, or a file where it ends in `.toml`.
    pub(crate) fn load(name: &str, reader: Reader<'_>) -> Result<Gathered, PlanError> {
        let text = if is_path(name) {
            let path = PathBuf::from(name);
            let text = reader(&path).map_err(|source| PlanError::Unreadable { path: path.clone(), source })?;
            Text { layer: Layer { name: name.to_owned(), text }, folder: Some(path.parent().map(Path::to_owned).unwrap_or_default()) }
        } else {
            let text = presets::drive(name).ok_or_else(|| PlanError::UnknownPreset {
                name: name.to_owned(),
                nearest: nearest(name, presets::drive_names())
                    .and_then(|near| presets::drive_names().into_iter().find(|known| *known == near)),
            })?;
            Text { layer: Layer { name: format!("drives/{name}.toml"), text: text.to_owned() }, folder: None }
        };
        Gathered::from_text(text, Role::Drive, reader)
    }

    /// The texts of a drive whose own text is given.
    pub(crate) fn parse(name: &str, text: &str) -> Result<Gathered, PlanError> {
        Gathered::parse_as(Role::Drive, name, text)
    }

    /// The texts of a drive that a build has written down, this one or an earlier one.
    pub(crate) fn parse_stored(name: &str, text: &str) -> Result<Gathered, PlanError> {
        let mut gathered = Gathered::parse_as(Role::Stored, name, text)?;
        let defaults = Layer { name: "defaults of stored plans".to_owned(), text: STORED.to_owned() };
        let mut found = Vec::new();
        gathered.chain(Text { layer: defaults, folder: None }, Role::Stored, &no_files, &mut found);
        gathered.files = gathered.documents.len();
        if found.is_empty() { Ok(gathered) } else { Err(PlanError::Mistakes(found)) }
    }

    fn parse_as(role: Role, name: &str, text: &str) -> Result<Gathered, PlanError> {
        let text = Text { layer: Layer { name: name.to_owned(), text: text.to_owned() }, folder: None };
        Gathered::from_text(text, role, &no_files)
    }

    /// The texts of the chip called `name`: a preset, or a file where it ends in `.toml`.
    pub(crate) fn load_chip(name: &str, reader: Reader<'_>) -> Result<Gathered, PlanError> {
        if is_path(name) {
            let path = PathBuf::from(name);
            let text = reader(&path).map_err(|source| PlanError::Unreadable { path: path.clone(), source })?;
            return Gathered::of_chip(
                Text { layer: Layer { name: name.to_owned(), text }, folder: path.parent().map(Path::to_owned) },
                reader,
            );
        }
        match presets::chip(name) {
            Some(text) => {
                Gathered::of_chip(Text { layer: Layer { name: format!("chips/{name}.toml"), text: text.to_owned() }, folder: None }, reader)
            }
            None => Err(PlanError::UnknownChip {
                name: name.to_owned(),
                nearest: nearest(name, presets::CHIPS.iter().map(|(known, _)| *known))
                    .and_then(|near| presets::CHIPS.iter().find(|(known, _)| *known == near).map(|(known, _)| *known)),
            }),
        }
    }

    /// The texts of a chip whose own text is given.
    pub(crate) fn parse_chip(name: &str, text: &str, reader: Reader<'_>) -> Result<Gathered, PlanError> {
        Gathered::of_chip(Text { layer: Layer { name: name.to_owned(), text: text.to_owned() }, folder: None }, reader)
    }

    fn of_chip(chip: Text, reader: Reader<'_>) -> Result<Gathered, PlanError> {
        let mut gathered = Gathered { layers: Vec::new(), documents: Vec::new(), read: Vec::new(), files: 0 };
        let mut found = Vec::new();
        gathered.chain(chip, Role::Chip, reader, &mut found);
        gathered.files = gathered.documents.len();
        if found.is_empty() { Ok(gathered) } else { Err(PlanError::Mistakes(found)) }
    }

    fn from_text(drive: Text, role: Role, reader: Reader<'_>) -> Result<Gathered, PlanError> {
        let mut gathered = Gathered { layers: Vec::new(), documents: Vec::new(), read: Vec::new(), files: 0 };
        let mut found = Vec::new();
        gathered.chain(drive, role, reader, &mut found);
        let chip = gathered.documents.iter().find_map(|document| document.chip.clone());
        if let Some(chip) = chip
            && let Some(text) = gathered.refer(&chip, Role::Chip, reader, &mut found)
        {
            gathered.chain(text, Role::Chip, reader, &mut found);
        }
        gathered.files = gathered.documents.len();
        // A chip named without it is a chip without: what a parent said was of the parent's chip.
        let nearest = gathered.documents.iter().find(|document| document.physics_of.is_some() || document.chip.is_some());
        if let Some(chip) = nearest.and_then(|document| document.physics_of.clone())
            && gathered.merged().physics.is_empty()
            && let Some(text) = gathered.refer(&chip, Role::Chip, reader, &mut found)
        {
            let start = gathered.documents.len();
            gathered.chain(text, Role::Chip, reader, &mut found);
            gathered.documents[start..].iter_mut().for_each(|document| document.only_physics = true);
        }
        gathered.files = gathered.documents.len();
        if found.is_empty() { Ok(gathered) } else { Err(PlanError::Mistakes(found)) }
    }

    /// Adds a text and its parents.
    fn chain(&mut self, first: Text, role: Role, reader: Reader<'_>, found: &mut Vec<Mistake>) {
        let start = self.layers.len();
        let mut next = Some(first);
        while let Some(Text { layer, folder }) = next.take() {
            if folder.is_some() {
                self.read.push(PathBuf::from(&layer.name));
            }
            self.layers.push(layer);
            let mut mistakes = Mistakes::new(&self.layers);
            let document = Document::parse(&self.layers, self.layers.len() - 1, role, &mut mistakes);
            if document.is_foreign && !mistakes.is_empty() {
                found.push(self.foreign(role));
            } else {
                found.extend(mistakes.into_found());
            }
            let parent = document.inherit.clone();
            self.documents.push(document);
            let Some(parent) = parent else { return };
            let text = self.refer_from(&parent, role, folder.as_deref(), reader, found);
            let Some(text) = text else { return };
            if self.layers[start..].iter().any(|layer| layer.name == text.layer.name) || self.layers.len() - start >= PARENTS_MAX {
                let row: Vec<&str> =
                    self.layers[start..].iter().map(|layer| layer.name.as_str()).chain([text.layer.name.as_str()]).collect();
                let what = if row.len() > PARENTS_MAX {
                    "too many parents in a row".into()
                } else {
                    format!("a file cannot be its own ancestor: {}", row.join(" → "))
                };
                self.mistake(&parent.origin, what, None, found);
                return;
            }
            next = Some(text);
        }
    }

    /// What is wrong with the last text, which is no drive and no chip: nothing of it is shown, because it may be anything on this machine.
    fn foreign(&self, role: Role) -> Mistake {
        let name = self.layers.last().map_or("", |layer| layer.name.as_str());
        let kind = if role == Role::Chip { "chip" } else { "drive" };
        Mistake {
            place: None,
            what: format!("{}: not a {kind} file: none of its lines sets a key of one", shown(name)),
            help: Some(
                "a drive file has summary, inherit or chip, and sections such as [gc]; a chip file has [geometry] and others".into(),
            ),
        }
    }

    fn mistake(&self, origin: &Origin, what: String, help: Option<String>, found: &mut Vec<Mistake>) {
        let mut mistakes = Mistakes::new(&self.layers);
        mistakes.at(origin, what, help);
        found.extend(mistakes.into_found());
    }

    /// The text that a drive's `chip` names.
    fn refer(&self, name: &Set<String>, role: Role, reader: Reader<'_>, found: &mut Vec<Mistake>) -> Option<Text> {
        let folder = match &name.origin {
            Origin::Written { layer, .. } => {
                self.layers.get(*layer).filter(|layer| is_path(&layer.name)).and_then(|layer| Path::new(&layer.name).parent())
            }
            Origin::Default | Origin::Caller => None,
        };
        self.refer_from(name, role, folder, reader, found)
    }

    fn refer_from(
        &self,
        name: &Set<String>,
        role: Role,
        folder: Option<&Path>,
        reader: Reader<'_>,
        found: &mut Vec<Mistake>,
    ) -> Option<Text> {
        let Set { value, origin } = name;
        if is_path(value) {
            if !value.ends_with(".toml") {
                let what = format!("\"{}\" is not the name of a drive or chip file", shown(value));
                self.mistake(origin, what, Some("a file that is included has a name that ends in .toml".into()), found);
                return None;
            }
            let path = folder.map_or_else(|| PathBuf::from(value), |folder| folder.join(value));
            return match reader(&path) {
                Ok(text) => {
                    let folder = Some(path.parent().map(Path::to_owned).unwrap_or_default());
                    Some(Text { layer: Layer { name: path.display().to_string(), text }, folder })
                }
                Err(error) => {
                    self.mistake(origin, format!("{} cannot be read: {error}", shown(&path.display().to_string())), None, found);
                    None
                }
            };
        }
        let (kind, list, text) = match role {
            Role::Chip => ("chip", presets::CHIPS, presets::chip(value)),
            Role::Drive | Role::Stored | Role::Settings => ("drive", presets::DRIVES, presets::drive(value)),
        };
        if let Some(text) = text {
            return Some(Text { layer: Layer { name: format!("{kind}s/{value}.toml"), text: text.to_owned() }, folder: None });
        }
        let names = || list.iter().map(|(name, _)| *name);
        let help = match nearest(value, names()) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None => format!("there are {}; a file's name ends in .toml", names().collect::<Vec<_>>().join(", ")),
        };
        self.mistake(origin, format!("there is no {kind} called \"{}\"", shown(value)), Some(help), found);
        None
    }

    /// Reads one setting by itself.
    pub(crate) fn allows(setting: &str) -> Result<(), PlanError> {
        let nothing = Gathered { layers: Vec::new(), documents: Vec::new(), read: Vec::new(), files: 0 };
        nothing.with_settings(&[setting]).map(drop)
    }

    /// Adds settings of a command line, `section.key=value`. The last of several for one key holds.
    pub(crate) fn with_settings<S: AsRef<str>>(mut self, settings: &[S]) -> Result<Gathered, PlanError> {
        let mut found = Vec::new();
        for setting in settings {
            let setting = setting.as_ref();
            let text = setting_as_toml(setting);
            self.layers.push(Layer { name: "--set".into(), text: text.clone().unwrap_or_else(|| setting.to_owned()) });
            let layer = self.layers.len() - 1;
            let mut mistakes = Mistakes::new(&self.layers);
            let document = if text.is_some() {
                Document::parse(&self.layers, layer, Role::Settings, &mut mistakes)
            } else {
                let origin = Origin::Written { layer, span: 0..setting.len(), source: None };
                mistakes.at(&origin, "not a setting", Some("expected section.key=value, such as gc.victim=fifo".into()));
                Document::default()
            };
            found.extend(mistakes.into_found());
            self.documents.push(document);
        }
        if found.is_empty() { Ok(self) } else { Err(PlanError::Mistakes(found)) }
    }

    /// The documents' numbers, the one that counts most first.
    fn by_rank(&self) -> impl Iterator<Item = usize> {
        (self.files..self.documents.len()).rev().chain(0..self.files)
    }

    /// How near a layer is: less is nearer.
    pub(crate) fn rank(&self, origin: &Origin) -> usize {
        match origin {
            Origin::Written { layer, .. } => self.by_rank().position(|number| number == *layer).unwrap_or(usize::MAX),
            Origin::Caller => 0,
            Origin::Default => usize::MAX,
        }
    }

    /// All keys, each from the nearest text that has it.
    pub(crate) fn merged(&self) -> parsed::Sections {
        let mut sections = parsed::Sections::default();
        let mut lent = parsed::Sections::default();
        for number in self.by_rank() {
            let document = &self.documents[number];
            if document.only_physics {
                lent.inherit(&document.sections);
            } else {
                sections.inherit(&document.sections);
            }
        }
        sections.calibrated.inherit(&lent.calibrated);
        sections.physics.inherit(&lent.physics);
        // Margins hold for as many h-layers and cells as were characterised: to a chip of another shape its physics comes without them, unless it is said
        // which of them each h-layer goes by.
        let fits = |is_fitted: bool| if is_fitted { same_cells } else { same_block };
        if sections.margins.step.is_none() && fits(sections.margins.layers.is_some())(&sections.geometry, &lent.geometry) {
            sections.margins.inherit(&lent.margins);
        }
        // Tables of lots name pages and h-layers, so that blocks must be alike to the last page, unless it is said which h-layers of these blocks they name.
        let aging = sections.aging.page.is_some();
        let ort = sections.ort.layers.is_some();
        let copyback = sections.copyback.layers.is_some();
        let guard = sections.guard.order.is_some();
        // These two name none.
        let [retirement_limits, disturb] = [aging || ort || copyback || guard; 2];
        if same_layers(&sections.geometry, &lent.geometry) {
            macro_rules! lend {
                ($($table:ident)*) => { $(if sections.$table.seed.is_none() && fits($table)(&sections.geometry, &lent.geometry) {
                    sections.$table.inherit(&lent.$table);
                })* };
            }
            lend!(aging ort retirement_limits disturb copyback guard);
        }
        sections
    }

    /// The chip whose physics the cells have, as the nearest text names it.
    pub(crate) fn physics_of(&self) -> Option<&str> {
        let named = self.documents.iter().find_map(|document| document.physics_of.as_ref());
        named.map(|chip| chip.value.as_str()).or(self.chip())
    }

    /// The chip, as the nearest text names it.
    pub(crate) fn chip(&self) -> Option<&str> {
        self.documents.iter().find_map(|document| document.chip.as_ref()).map(|chip| chip.value.as_str())
    }

    /// The nearest summary.
    pub(crate) fn summary(&self) -> &str {
        self.documents.first().and_then(|document| document.summary.as_ref()).map_or("", |summary| summary.value.as_str())
    }
}

/// Whether a name is a file's: presets have neither folders nor endings.
fn is_path(name: &str) -> bool {
    name.ends_with(".toml") || name.contains(['/', '\\'])
}

/// `gc.victim=fifo` as a line of TOML. Words and quantities need no quotes on a command line.
fn setting_as_toml(setting: &str) -> Option<String> {
    let (key, value) = setting.split_once('=')?;
    let (key, value) = (key.trim(), value.trim());
    let plain = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    if !key.contains('.') || !key.split('.').all(plain) || value.contains(['\n', '\r']) {
        return None;
    }
    let value = if toml::de::DeValue::parse(value).is_ok() { value.to_owned() } else { quoted(value) };
    Some(format!("{key} = {value}"))
}
