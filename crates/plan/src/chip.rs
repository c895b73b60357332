//! A chip by itself, for looking at its cells without a drive around it.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use wordline_cells::Physics;
use wordline_flash::{Margins, Tables};

use crate::check::{IDS, PLANES_MAX, within, wordlines};
use crate::doubt::Calibrated;
use crate::error::PlanError;
use crate::layer::Mistakes;
use crate::load::Gathered;

/// A chip file with physics that has been checked.
#[derive(Clone, Debug)]
pub struct Chip {
    name: String,
    summary: String,
    physics: Physics,
    margins: Option<Arc<Margins>>,
    tables: Tables,
    calibrated: Calibrated,
    files: Vec<PathBuf>,
}

impl Chip {
    /// Loads a chip: a preset by its name, or a file, whose name ends in `.toml`.
    ///
    /// # Errors
    /// Says all that is wrong with it, and where; a chip without `[physics.*]` is refused.
    pub fn load(name_or_path: &str) -> Result<Chip, PlanError> {
        Chip::load_set::<&str>(name_or_path, &[])
    }

    /// As [`Chip::load`], with settings on top: `physics.wear.erase_share=70 %`.
    ///
    /// # Errors
    /// As [`Chip::load`].
    pub fn load_set<S: AsRef<str>>(name_or_path: &str, settings: &[S]) -> Result<Chip, PlanError> {
        Chip::check(name_or_path, Gathered::load_chip(name_or_path, &crate::disk::read_text)?.with_settings(settings)?)
    }

    /// A chip whose text is given. It may refer to presets, and to no files.
    ///
    /// # Errors
    /// As [`Chip::load`]; places are in `name`.
    pub fn parse(name: &str, text: &str) -> Result<Chip, PlanError> {
        Chip::check(name, Gathered::parse_chip(name, text, &|_: &Path| Err(io::Error::other("no files are read here")))?)
    }

    /// The files it was read from: its own and those it inherits. Presets come with the program and are none.
    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }

    fn check(name: &str, gathered: Gathered) -> Result<Chip, PlanError> {
        let sections = gathered.merged();
        let mut mistakes = Mistakes::new(&gathered.layers);
        let geometry = &sections.geometry;
        let shape = match (&geometry.cell, &geometry.layers, &geometry.wordlines_per_layer, &geometry.page, &geometry.spare) {
            (Some(cell), Some(layers), Some(of_layer), Some(page), Some(spare)) => {
                wordlines(&mut mistakes, cell, [layers, of_layer], page, spare)
            }
            _ => {
                mistakes.whole("geometry.cell, layers, wordlines_per_layer, page and spare must be set", None);
                None
            }
        };
        geometry.planes.iter().for_each(|planes| within(&mut mistakes, "geometry.planes", planes, 1, PLANES_MAX));
        geometry.blocks.iter().for_each(|blocks| within(&mut mistakes, "geometry.blocks", blocks, 1, IDS));
        // What does not go with a shape that cannot be is no mistake of its own.
        let shape = shape.filter(|_| mistakes.is_empty());
        let physics = shape.and_then(|shape| sections.physics.check(shape, &mut mistakes));
        if physics.is_none() && mistakes.is_empty() {
            let help = "chips with physics are tlc48, mlc48, qlc64, tlc2d, tlc64-measured and tlc64-rlr";
            mistakes.whole("this chip has no [physics.*]: its times and failures are fixed", Some(help.into()));
        }
        // All keys of tables have defaults.
        let tables = crate::keys::OwnTables::fill(&sections).zip(shape);
        let tables = tables.map(|(tables, shape)| crate::check::tables(&tables.borrowed(), &shape, physics.as_ref(), &mut mistakes));
        let table = sections.margins.fill(&mut Vec::new());
        let margins = table.zip(shape).and_then(|(table, shape)| crate::check::margins(&table, &shape, physics.as_ref(), &mut mistakes));
        match physics {
            Some(physics) if mistakes.is_empty() => {
                let stem = name.rsplit(['/', '\\']).next().unwrap_or(name);
                let name = stem.strip_suffix(".toml").unwrap_or(stem).to_owned();
                let calibrated = sections.calibrated.fill(&mut Vec::new()).as_ref().map(Calibrated::of).unwrap_or_default();
                let tables = tables.unwrap_or_default();
                Ok(Chip { name, summary: gathered.summary().to_owned(), physics, margins, tables, calibrated, files: gathered.read })
            }
            _ => Err(PlanError::Mistakes(mistakes.into_found())),
        }
    }

    /// What it is called: the preset's name, or the file's without folder and ending.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// One line on what it is.
    pub fn summary(&self) -> &str {
        &self.summary
    }

    /// How far its programs may be narrowed, where that was characterised.
    pub fn margins(&self) -> Option<&Margins> {
        self.margins.as_deref()
    }

    /// The tables of how its blocks age, where lots were characterised.
    pub fn tables(&self) -> &Tables {
        &self.tables
    }

    /// What its cells were calibrated to.
    pub fn calibrated(&self) -> Calibrated {
        self.calibrated
    }

    /// Its physics.
    pub fn physics(&self) -> &Physics {
        &self.physics
    }
}
