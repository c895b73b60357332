//! The checked plan.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use wordline_cells::{Physics, Shape};
use wordline_drive::Config;
use wordline_units::{Celsius, Geometry};

use crate::check;
use crate::describe::Described;
use crate::doubt::Calibrated;
use crate::error::PlanError;
use crate::figures::Figures;
use crate::keys::{Tables, filled};
use crate::kind::Kind;
use crate::layer::{Mistakes, Origin};
use crate::load::Gathered;
use crate::stages::Cycles;

/// A drive that has been checked as a whole. There is no other way to make one than by checking it.
#[derive(Clone, Debug)]
pub struct Plan {
    name: String,
    gathered: Gathered,
    sections: filled::Sections,
    config: Config,
    physics: Option<Physics>,
    figures: Figures,
    notes: Vec<String>,
    /// Figures of the drive at its own size, of which this is one of another.
    own: Option<Box<Figures>>,
}

impl Plan {
    /// Loads a drive: a preset by its name, or a file, whose name ends in `.toml`.
    ///
    /// # Errors
    /// Says all that is wrong with it, and where.
    pub fn load(name_or_path: &str) -> Result<Plan, PlanError> {
        Plan::load_with(name_or_path, &crate::disk::read_text)
    }

    /// As [`Plan::load`], with files read by `reader`.
    ///
    /// # Errors
    /// Says all that is wrong with it, and where.
    pub fn load_with(name_or_path: &str, reader: &dyn Fn(&Path) -> std::io::Result<String>) -> Result<Plan, PlanError> {
        Plan::check(name_or_path, Gathered::load(name_or_path, reader)?)
    }

    /// As [`Plan::load`], with settings on top; see [`Plan::override_keys`]. The drive need not be right without them.
    ///
    /// # Errors
    /// Says all that is wrong with it, and where.
    pub fn load_set<S: AsRef<str>>(name_or_path: &str, settings: &[S]) -> Result<Plan, PlanError> {
        Plan::check(name_or_path, Gathered::load(name_or_path, &crate::disk::read_text)?.with_settings(settings)?)
    }

    /// A drive whose text is given. It may refer to presets, and to no files.
    ///
    /// # Errors
    /// Says all that is wrong with it, and where; places are in `name`.
    pub fn parse(name: &str, text: &str) -> Result<Plan, PlanError> {
        Plan::check(name, Gathered::parse(name, text)?)
    }

    /// A drive that a build has written down beside media or in a saved drive, this build or an earlier one: keys may have the names of that time.
    ///
    /// # Errors
    /// Says all that is wrong with it, and where; places are in `name`.
    pub fn parse_stored(name: &str, text: &str) -> Result<Plan, PlanError> {
        Plan::check(name, Gathered::parse_stored(name, text)?)
    }

    /// The one constructor.
    fn check(name: &str, gathered: Gathered) -> Result<Plan, PlanError> {
        let mut missing = Vec::new();
        let filled = gathered.merged().fill(&mut missing);
        let mut mistakes = Mistakes::new(&gathered.layers);
        tell_missing(&missing, &mut mistakes);
        let checked = filled.and_then(|mut sections| {
            let config = check::check(&mut sections, &gathered, &mut mistakes)?;
            let shape = shape(&config.sheet.geometry);
            let physics = sections.physics.check(shape, &mut mistakes);
            let margins = check::margins(&sections.margins, &shape, physics.as_ref(), &mut mistakes);
            let cells = check::cells(&sections, physics.as_ref(), &mut mistakes);
            let tables = check::tables(&Tables::of(&sections), &shape, physics.as_ref(), &mut mistakes);
            check::own_seed(&sections, sections.run.seed.value, &mut mistakes);
            let read_sets = tables.ort.as_ref().map(|ort| Arc::new(ort.read_sets())).unwrap_or_default();
            let firmware = wordline_ftl::Config { margins, tables, ..config.firmware };
            check::outlived(&sections, &firmware, &mut mistakes);
            check::overread(&sections, &firmware, &mut mistakes);
            check::spared(&sections, &firmware, &mut mistakes);
            let classes = check::classes(&sections, cells.is_some(), &firmware.tables, &mut mistakes);
            let cycles = if cells.is_some() { 0 } else { check::worn_by(&sections) };
            let config = wordline_drive::Config { cells, cycles, classes, firmware, read_sets, ..config };
            Some((sections, config, physics))
        });
        match checked {
            Some((sections, config, physics)) if mistakes.is_empty() => {
                let stem = name.rsplit(['/', '\\']).next().unwrap_or(name);
                let name = stem.strip_suffix(".toml").unwrap_or(stem).to_owned();
                let figures = Figures::of(&config);
                let notes = crate::doubt::notes(&sections, &config);
                Ok(Plan { name, sections, config, physics, figures, gathered, notes, own: None })
            }
            _ => Err(PlanError::Mistakes(mistakes.into_found())),
        }
    }

    /// What it is called: the preset's name, or the file's without folder and ending.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The files it was read from: its own, those it inherits, and that of its chip. Presets come with the program and are none.
    pub fn files(&self) -> &[PathBuf] {
        &self.gathered.read
    }

    /// One line on what it is.
    pub fn summary(&self) -> &str {
        self.gathered.summary()
    }

    /// What [`wordline_drive`] needs to make the drive.
    pub fn build(&self) -> Config {
        self.config.clone()
    }

    /// As [`Plan::build`], without a copy.
    pub(crate) fn config(&self) -> &Config {
        &self.config
    }

    /// The physics of its dies' cells; `None` where the chip file has none.
    pub fn physics(&self) -> Option<&Physics> {
        self.physics.as_ref()
    }

    /// Figures that follow from it.
    pub fn figures(&self) -> &Figures {
        &self.figures
    }

    /// What whoever reads results of this drive must know, such as what [`crate::sized`] has changed besides the size.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Calibration of its cells.
    pub fn calibrated(&self) -> Calibrated {
        Calibrated::of(&self.sections.calibrated)
    }

    /// This plan with something more to be said of it.
    #[must_use]
    pub fn with_note(self, note: &str) -> Plan {
        self.with_notes(vec![note.to_owned()])
    }

    /// The same drive with these notes, too.
    pub(crate) fn with_notes(mut self, notes: Vec<String>) -> Plan {
        self.notes.extend(notes);
        self
    }

    /// The same drive, as one of another size than that of the drive with these figures.
    pub(crate) fn sized_from(mut self, own: &Figures) -> Plan {
        self.own = Some(Box::new(*own));
        self
    }

    /// Figures of the drive at its own size; `None`: this is that drive.
    pub(crate) fn own_figures(&self) -> Option<&Figures> {
        self.own.as_deref()
    }

    /// The seed.
    pub fn seed(&self) -> u64 {
        self.config.seed
    }

    /// The share of the exported capacity that is to be written before a run starts.
    pub fn initial_fill(&self) -> f64 {
        self.sections.run.fill.value.fraction()
    }

    /// Whether what is written before a run starts lies as endless random overwrites would leave it.
    pub fn begins_steady(&self) -> bool {
        self.sections.run.steady.value
    }

    /// What its cells do, and of which chip: `physics of tlc48`, or `fixed times of tlc-48l`.
    pub fn cells(&self) -> String {
        match &self.config.cells {
            Some(_) => format!("physics of {}", self.gathered.physics_of().unwrap_or("its own chip")),
            None => format!("fixed times of {}", self.gathered.chip().unwrap_or("its own chip")),
        }
    }

    /// The age that its cells are set to before a run, in words; `None` where they are new.
    pub fn age(&self) -> Option<String> {
        let cells = &self.sections.cells;
        self.config.age()?;
        let at = cells.kept_at.value.0.map(|_| format!(" at {}", cells.kept_at.value.write().trim_matches('"'))).unwrap_or_default();
        let dwells = &cells.dwells.value;
        let rests = if dwells.0.is_empty() { String::new() } else { format!(" with rests of {}", dwells.write().replace('"', "")) };
        let (cycles, lifetime) = (cells.cycles.value, cells.lifetime.value);
        let stage = if let Cycles::Stage(stage) = cycles { format!(" ({} of {lifetime})", stage.name) } else { String::new() };
        Some(format!("{} cycles{stage}{rests}, {}{at}", cycles.of(lifetime), cells.retention.value.write().trim_matches('"')))
    }

    /// Temperature at which its data is kept where nothing else is said; `None`: its cells have no physics.
    pub fn kept_at(&self) -> Option<Celsius> {
        let own = Celsius(self.config.cells.as_ref()?.physics.retention.temperature);
        Some(self.sections.cells.kept_at.value.0.map_or(own, |degrees| Celsius(degrees.celsius())))
    }

    /// Whether it may fail requests without that being a failure of a comparison.
    pub fn may_fail(&self) -> bool {
        self.sections.run.may_fail.value
    }

    /// The same drive with another seed, which [`Plan::allows_seed`] has looked at. Its hash stays.
    #[must_use]
    pub fn with_seed(mut self, seed: u64) -> Plan {
        self.sections.run.seed.value = seed;
        self.sections.run.seed.origin = Origin::Caller;
        self.config.seed = seed;
        self.config.firmware.seed = seed;
        self
    }

    /// Why a run of this drive must not have this seed: a table of its chip was made from the very chips that the seed draws.
    ///
    /// # Errors
    /// Names the table.
    pub fn allows_seed(&self, seed: u64) -> Result<(), PlanError> {
        let mut mistakes = Mistakes::new(&self.gathered.layers);
        check::own_seed(&self.sections, seed, &mut mistakes);
        if mistakes.is_empty() { Ok(()) } else { Err(PlanError::Mistakes(mistakes.into_found())) }
    }

    /// The same drive with one key changed: `gc.victim=fifo`.
    ///
    /// # Errors
    /// Says what is wrong with the setting, or with the drive it makes.
    pub fn override_key(&self, setting: &str) -> Result<Plan, PlanError> {
        self.override_keys(&[setting])
    }

    /// The same drive with several keys changed together, so that only the outcome must be right. The last of several settings for one key holds.
    ///
    /// # Errors
    /// Says what is wrong with a setting, or with the drive they make.
    pub fn override_keys<S: AsRef<str>>(&self, settings: &[S]) -> Result<Plan, PlanError> {
        let plan = Plan::check(&self.name, self.gathered.clone().with_settings(settings)?)?;
        let seeded_by_hand = self.sections.run.seed.origin == Origin::Caller;
        let seeded_by_setting = settings.iter().any(|setting| setting.as_ref().trim_start().starts_with("run.seed"));
        Ok(if seeded_by_hand && !seeded_by_setting { plan.with_seed(self.seed()) } else { plan })
    }

    /// Identity of the plan: the first 32 hexadecimal digits of BLAKE3 over every line of it, its seed and the units that its host sees. Plans of which any
    /// run could differ have other ids.
    pub fn id(&self) -> String {
        crate::identity::id(&self.sections.lines(), self.config.exported_units, self.seed())
    }

    /// True if both plans make the same drive with the same seed: they differ in parts that are switched off in both, at most.
    pub fn makes_same(&self, other: &Plan) -> bool {
        let of =
            |plan: &Plan| crate::identity::id(&crate::identity::acting(plan.sections.lines()), plan.config.exported_units, plan.seed());
        of(self) == of(other)
    }

    /// Number that media and saved drives carry, without the seed. It stays what earlier builds gave to the same drive, so it leaves out lines that came
    /// later: [`Plan::id`] tells plans apart.
    pub fn media_number(&self) -> u64 {
        crate::identity::number(&self.sections.lines(), self.config.exported_units)
    }

    /// True if `number` is the media number of this plan, by the rule of today or by those of the builds before it: a drive that was made under one of them is
    /// the same drive.
    pub fn has_media_number(&self, number: u128) -> bool {
        let is_number = |number| crate::identity::is_number(&self.sections.lines(), self.config.exported_units, number);
        u64::try_from(number).is_ok_and(is_number)
    }

    /// [`Plan::media_number`] as sixteen hexadecimal digits.
    pub fn media_number_hex(&self) -> String {
        format!("{:016x}", self.media_number())
    }

    /// The whole plan: every key with its value, defaults included, who says so, and what follows by arithmetic.
    ///
    /// The text is itself a drive file that makes the same drive.
    pub fn describe(&self) -> String {
        let described = Described {
            title: format!("{}, plan {}", self.name(), self.media_number_hex()),
            summary: self.summary(),
            figures: &self.figures,
            own: self.own_figures(),
            layers: &self.gathered.layers,
            notes: &self.notes,
            lines: &self.sections.lines(),
        };
        described.text()
    }

    pub(crate) fn sections(&self) -> &filled::Sections {
        &self.sections
    }
}

fn shape(geometry: &Geometry) -> Shape {
    Shape {
        cell: geometry.cell,
        layers: geometry.layers,
        wordlines_per_layer: geometry.wordlines_per_layer,
        page: geometry.page,
        spare: geometry.spare,
    }
}

/// A key or two that are missing are told one by one. Many mean that the file was not meant to stand alone.
fn tell_missing(missing: &[(&'static str, &'static str, String)], mistakes: &mut Mistakes<'_>) {
    if missing.len() <= 3 {
        for (section, key, expected) in missing {
            mistakes.whole(format!("{section}.{key} is not set"), Some(format!("expected {expected}")));
        }
        return;
    }
    let keys: Vec<String> = missing.iter().map(|(section, key, _)| format!("{section}.{key}")).collect();
    let help = "to start from a drive that is complete, write inherit = \"pageftl\" and only what differs";
    mistakes.whole(format!("{} keys are not set: {}", keys.len(), keys.join(", ")), Some(help.into()));
}
