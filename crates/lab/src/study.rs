//! Studies: the chip, the size of its lot, the benches, and the claims that their values answer, each with its band.
//!
//! A study holds no physics and no result. Its bands were decided before anybody looked at a result, and say why.

use std::ops::Range;
use std::path::Path;

use toml::de::{DeTable, DeValue};
use wordline_plan::{Mistake, Place, PlanError, Setting, nearest, read_text, shown};

use crate::band::Band;
use crate::bench::{self, BENCHES};
use crate::claims::{Claim, claim, claims};
use crate::conditions::LotSize;
use crate::error::{LabError, Mistakes, help};
use crate::protocol::{Changes, value_of, written};

/// One claim put to a measured quantity.
#[derive(Clone, Debug)]
pub struct Judgement {
    /// Claim that is judged.
    pub claim: &'static Claim,
    /// Quantity that is measured, as `bench.metric`.
    pub measured: String,
    /// Band in which the measured value must lie.
    pub band: Band,
    /// Reason for this band.
    pub why: String,
    /// Reason why the claim does not come out, where it is known.
    pub reason: Option<String>,
    /// Null of the claim: settings by which its effect is switched off, each with its place in the study. Empty: there is none.
    pub null: Vec<(String, Place)>,
    /// Place that makes this reading the row of record of its claim: the one that the sentence means.
    pub row: Option<Place>,
}

impl Judgement {
    /// The settings of the null.
    pub fn null_settings(&self) -> Vec<String> {
        self.null.iter().map(|(setting, _)| setting.clone()).collect()
    }
}

/// A claim that nothing can measure.
#[derive(Clone, Debug)]
pub struct SetAside {
    /// Claim that is set aside.
    pub claim: &'static Claim,
    /// Reason why nothing can measure the claim.
    pub why: String,
}

/// A study: claims put to the metrics of benches.
#[derive(Clone, Debug)]
pub struct Study {
    /// Name of the study, which is the name of its file.
    pub id: String,
    /// One line on what the study is about.
    pub title: String,
    /// Group of the study, such as `cells`.
    pub group: String,
    /// Name of the chip that is measured.
    pub chip: String,
    /// Name of a second chip to compare with.
    pub against: Option<String>,
    /// Conditions that the study changes, by bench.
    pub conditions: Changes,
    /// Number of chips and of blocks of each.
    pub lot: LotSize,
    /// Seed of the lot.
    pub seed: u64,
    /// Claims that are judged.
    pub judge: Vec<Judgement>,
    /// Claims that are set aside.
    pub aside: Vec<SetAside>,
}

impl Study {
    /// Reads a study from its text; `file` is what to call it in messages.
    ///
    /// # Errors
    ///
    /// Every mistake with its place and the nearest right word.
    pub fn parse(id: &str, file: &str, text: &str) -> Result<Study, LabError> {
        let mut mistakes = Mistakes::new(file, text);
        let (table, errors) = DeTable::parse_recoverable(text);
        // Nothing is shown of a file that may be anything.
        if !table.get_ref().iter().any(|(key, _)| KEYS.contains(&key.get_ref().as_ref())) {
            let what = "not a study: none of its lines sets a key of one, such as title or judge";
            return Err(LabError::Usage(format!("{}: {what}", shown(file))));
        }
        for error in &errors {
            mistakes.at(error.span().unwrap_or_default(), format!("not TOML: {}", error.message().replace('\n', ", ")), None);
        }
        // What follows from a text that was not understood would only distract.
        let nothing = DeTable::default();
        let table = if errors.is_empty() { table.get_ref() } else { &nothing };
        let study = Reader { mistakes: &mut mistakes }.study(id, table, errors.is_empty());
        mistakes.unless_any(study)
    }

    /// The study of this name among those that come with Wordline, or that of the file of this name.
    ///
    /// # Errors
    ///
    /// There is no such study, or it is wrong.
    pub fn load(name: &str) -> Result<Study, LabError> {
        if name.ends_with(".toml") || name.contains(['/', '\\']) {
            let text = read_text(Path::new(name)).map_err(|error| LabError::Usage(format!("{}: cannot be read: {error}", shown(name))))?;
            let stem = Path::new(name).file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
            return Study::parse(&stem, name, &text);
        }
        let (id, text) = crate::STUDIES
            .iter()
            .find(|(id, _)| *id == name)
            .ok_or_else(|| LabError::unknown("study", name, crate::STUDIES.iter().map(|(id, _)| *id)))?;
        Study::parse(id, &format!("studies/{id}.toml"), text)
    }

    /// All studies that come with Wordline.
    ///
    /// # Panics
    ///
    /// One of them is wrong, which the tests exclude.
    pub fn all() -> Vec<Study> {
        let load = |(id, _): &(&str, &str)| Study::load(id).unwrap_or_else(|error| panic!("{error}"));
        crate::STUDIES.iter().map(load).collect()
    }

    /// The input of the study's benches.
    pub fn setup(&self, threads: usize) -> bench::Setup {
        let (chip, against) = (self.chip.clone(), self.against.clone());
        bench::Setup {
            chip,
            against,
            settings: Vec::new(),
            null: bench::Null::default(),
            conditions: self.conditions.clone(),
            lot: self.lot,
            seed: self.seed,
            threads,
            teller: bench::Teller::default(),
        }
    }

    /// Study on drives of another size, where its benches have one: `size` is what the host sees of a drive, such as "8 GiB", or "whole". A text that is no
    /// size is reported when the study runs.
    #[must_use]
    pub fn sized(mut self, size: &str) -> Study {
        for bench in self.benches().into_iter().filter(|bench| has_size(bench)) {
            self.conditions.entry(bench.name.to_owned()).or_default().insert(SIZE.to_owned(), toml::Value::String(size.to_owned()));
        }
        self
    }

    /// True if any of the study's benches has drives of a size.
    pub fn has_size(&self) -> bool {
        self.benches().into_iter().any(has_size)
    }

    /// The sizes of drives that the study changes.
    pub(crate) fn sizes(&self) -> Vec<String> {
        let mut sizes: Vec<String> = self.conditions.values().filter_map(|of| of.get(SIZE)).map(written).collect();
        sizes.dedup();
        sizes
    }

    /// True if the study measures on whole drives. A study that measures nothing does not.
    pub fn is_of_drives(&self) -> bool {
        self.benches().iter().any(|bench| bench.on == bench::On::Drives)
    }

    /// The benches that the study needs, each once, in the order of their first use.
    pub fn benches(&self) -> Vec<&'static bench::Bench> {
        self.benches_of(|_| true)
    }

    /// The benches of the judgements that `of` picks, each once, in the order of their first use.
    pub(crate) fn benches_of(&self, of: impl Fn(&Judgement) -> bool) -> Vec<&'static bench::Bench> {
        let mut benches: Vec<&'static bench::Bench> = Vec::new();
        for judgement in self.judge.iter().filter(|judgement| of(judgement)) {
            if let Some((bench, _)) = bench::metric(&judgement.measured)
                && !benches.iter().any(|known| known.name == bench.name)
            {
                benches.push(bench);
            }
        }
        benches
    }

    /// The nulls of the study's judgements, each once, in the order of their first use.
    pub(crate) fn nulls(&self) -> Vec<Vec<String>> {
        let mut nulls: Vec<Vec<String>> = Vec::new();
        for null in self.judge.iter().map(Judgement::null_settings) {
            if !null.is_empty() && !nulls.contains(&null) {
                nulls.push(null);
            }
        }
        nulls
    }

    /// Checks that a claim has one row of record at most in all of `studies`.
    ///
    /// # Errors
    ///
    /// The claims with two, with the places of both.
    pub(crate) fn one_row_each(studies: &[Study]) -> Result<(), LabError> {
        let mut rows: Vec<(&str, &Place)> = Vec::new();
        let mut found = Vec::new();
        for judgement in studies.iter().flat_map(|study| &study.judge) {
            let (id, Some(place)) = (judgement.claim.id.as_str(), &judgement.row) else { continue };
            match rows.iter().find(|(known, _)| *known == id) {
                Some((_, first)) if *first == place => {}
                Some((_, first)) => {
                    let (what, help) = second_row(id, first);
                    found.push(Mistake { place: Some(place.clone()), what, help: Some(help) });
                }
                None => rows.push((id, place)),
            }
        }
        if found.is_empty() { Ok(()) } else { Err(LabError::Mistakes(found)) }
    }
}

/// Key of the condition that says how large drives are.
const SIZE: &str = "size";
const KEYS: [&str; 9] = ["title", "group", "chip", "against", "lot", "seed", "conditions", "judge", "aside"];
const JUDGE: [&str; 7] = ["claim", "measured", "band", "why", "reason", "null", "row"];
const ASIDE: [&str; 2] = ["claim", "why"];

/// The mistake of a second row of record, and help, where the first stands at `first`.
fn second_row(claim: &str, first: &Place) -> (String, String) {
    let what = format!("`row`: claim \"{claim}\" has a row of record already");
    (what, format!("{}:{} is the first; the sentence of a claim means one row", shown(&first.file), first.line))
}

fn has_size(bench: &bench::Bench) -> bool {
    bench.conditions.keys.iter().any(|key| key.name == SIZE)
}

struct Reader<'m, 'a> {
    mistakes: &'m mut Mistakes<'a>,
}

impl Reader<'_, '_> {
    fn study(&mut self, id: &str, table: &DeTable<'_>, whole: bool) -> Study {
        self.known(table, &KEYS, "a study");
        let mut study = Study {
            id: id.to_owned(),
            title: self.text(table, "title", whole).unwrap_or_default().0,
            group: self.text(table, "group", false).map_or_else(|| "cells".to_owned(), |found| found.0),
            chip: self.text(table, "chip", false).map_or_else(|| crate::CHIP.to_owned(), |found| found.0),
            against: self.text(table, "against", false).map(|found| found.0),
            conditions: self.conditions(table),
            lot: LotSize { chips: 4, blocks: 8 },
            seed: 1,
            judge: Vec::new(),
            aside: Vec::new(),
        };
        if let Some((text, span)) = self.text(table, "lot", false) {
            match LotSize::read(&text) {
                Ok(lot) => study.lot = lot,
                Err(what) => self.mistakes.at(span, what, Some("expected chips × blocks of each, such as \"4x8\"".to_owned())),
            }
        }
        if let Some(seed) = table.get("seed") {
            let number = if let DeValue::Integer(number) = seed.get_ref() { number.as_str().parse().ok() } else { None };
            match number {
                Some(number) => study.seed = number,
                None => self.mistakes.at(seed.span(), "a seed is a whole number, zero or more", None),
            }
        }
        for entry in self.entries(table, "judge") {
            let judgement = self.judgement(entry.0, entry.1);
            self.refuse_second_row(entry.0, judgement.as_ref(), &study.judge);
            study.judge.extend(judgement);
        }
        for entry in self.entries(table, "aside") {
            study.aside.extend(self.aside(entry.0, entry.1));
        }
        study
    }

    /// The changes of a study to the conditions of its benches: a table for each, with a source.
    fn conditions(&mut self, table: &DeTable<'_>) -> Changes {
        let mut changes = Changes::new();
        let Some(value) = table.get("conditions") else { return changes };
        let DeValue::Table(benches) = value.get_ref() else {
            self.mistakes.at(value.span(), "`conditions` is a table for each bench", Some("write [conditions.layers]".to_owned()));
            return changes;
        };
        for (name, value) in benches.iter() {
            let Some(protocol) = bench::protocols().find(|known| known.bench == name.get_ref().as_ref()) else {
                let help = help(name.get_ref(), bench::protocols().map(|known| known.bench));
                self.mistakes.at(name.span(), format!("no bench \"{}\" has conditions", shown(name.get_ref())), Some(help));
                continue;
            };
            let DeValue::Table(keys) = value.get_ref() else {
                self.mistakes.at(value.span(), format!("the conditions of {} are a table", protocol.bench), None);
                continue;
            };
            if keys.get("source").is_none() {
                self.mistakes.at(name.span(), format!("the conditions of {} say no `source`", protocol.bench), None);
            }
            let mut changed = toml::Table::new();
            for (key, value) in keys.iter().filter(|(key, _)| key.get_ref() != "source") {
                let held = value_of(value.get_ref());
                if let Some((what, help)) = protocol.fault(key.get_ref(), &held) {
                    self.mistakes.at(value.span(), what, help);
                }
                changed.insert(key.get_ref().to_string(), held);
            }
            changes.insert(protocol.bench.to_owned(), changed);
        }
        changes
    }

    fn judgement(&mut self, table: &DeTable<'_>, span: Range<usize>) -> Option<Judgement> {
        self.known(table, &JUDGE, "[[judge]]");
        let claim = self.claim(table, span.clone());
        let why = self.required(table, "why", span.clone(), "the reason for the band");
        let reason = self.text(table, "reason", false).map(|found| found.0);
        let (null, row) = (self.null(table), self.row(table));
        let (measured, at) = self.required(table, "measured", span.clone(), "what is measured, such as \"layers.dv-fresh\"")?;
        let band = self.required(table, "band", span, "where the measured value must lie, such as \"1.5 to 1.7\"");
        let Some((_, metric)) = bench::metric(&measured) else {
            let all: Vec<String> = BENCHES.iter().flat_map(|bench| bench.metrics.iter().map(move |metric| bench.full(metric))).collect();
            let near = nearest(&measured, all.iter().map(String::as_str)).map(|near| format!("did you mean \"{near}\"?"));
            let of_bench = || {
                let name = measured.split('.').next().unwrap_or_default();
                let bench = BENCHES.iter().find(|bench| bench.name == name);
                match bench {
                    Some(bench) => {
                        format!("{} measures {}", bench.name, bench.metrics.iter().map(|metric| metric.name).collect::<Vec<_>>().join(", "))
                    }
                    None => help(name, BENCHES.iter().map(|bench| bench.name)),
                }
            };
            self.mistakes.at(at, format!("nothing measures \"{}\"", shown(&measured)), Some(near.unwrap_or_else(of_bench)));
            return None;
        };
        let (text, at) = band?;
        match Band::read(&text, metric.unit) {
            Ok(band) => Some(Judgement { claim: claim?, measured, band, why: why?.0, reason, null, row }),
            Err((what, help)) => {
                self.mistakes.at(at, what, help);
                None
            }
        }
    }

    /// The settings of a null, each with its place.
    fn null(&mut self, table: &DeTable<'_>) -> Vec<(String, Place)> {
        let Some(value) = table.get("null") else { return Vec::new() };
        let example = || Some("write null = [\"physics.wear.field=0\"]".to_owned());
        let list = if let DeValue::Array(list) = value.get_ref() { Some(list).filter(|list| !list.is_empty()) } else { None };
        let Some(list) = list else {
            self.mistakes.at(value.span(), "`null` is a list of settings that switch the claim's effect off", example());
            return Vec::new();
        };
        let mut null = Vec::new();
        for entry in list.iter() {
            let DeValue::String(text) = entry.get_ref() else {
                self.mistakes.at(entry.span(), "a setting of `null` is a text", example());
                continue;
            };
            match Setting::read(text) {
                Ok(setting) => null.push((setting.text().to_owned(), self.mistakes.place(entry.span()))),
                Err(PlanError::Mistakes(found)) => {
                    found
                        .into_iter()
                        .for_each(|Mistake { what, help, .. }| self.mistakes.at(entry.span(), format!("`null`: {what}"), help));
                }
                Err(other) => self.mistakes.at(entry.span(), format!("`null`: {other}"), None),
            }
        }
        null
    }

    /// The place of `row = true`.
    fn row(&mut self, table: &DeTable<'_>) -> Option<Place> {
        let value = table.get("row")?;
        if let DeValue::Boolean(is_row) = value.get_ref() {
            return is_row.then(|| self.mistakes.place(value.span()));
        }
        let help = "write row = true for the reading that the claim's sentence means";
        self.mistakes.at(value.span(), "`row` is true or false", Some(help.to_owned()));
        None
    }

    /// Reports a row of record of a claim of which one of `others` is that already.
    fn refuse_second_row(&mut self, table: &DeTable<'_>, judgement: Option<&Judgement>, others: &[Judgement]) {
        let Some(judgement) = judgement.filter(|judgement| judgement.row.is_some()) else { return };
        let first = others.iter().filter(|other| other.claim.id == judgement.claim.id).find_map(|other| other.row.as_ref());
        if let (Some(first), Some(value)) = (first, table.get("row")) {
            let (what, help) = second_row(&judgement.claim.id, first);
            self.mistakes.at(value.span(), what, Some(help));
        }
    }

    fn aside(&mut self, table: &DeTable<'_>, span: Range<usize>) -> Option<SetAside> {
        self.known(table, &ASIDE, "[[aside]]");
        let claim = self.claim(table, span.clone());
        let why = self.required(table, "why", span, "why nothing can measure it");
        Some(SetAside { claim: claim?, why: why?.0 })
    }

    fn claim(&mut self, table: &DeTable<'_>, span: Range<usize>) -> Option<&'static Claim> {
        let (id, at) = self.required(table, "claim", span, "the name of a claim, such as \"cube.dev.dV.fresh\"")?;
        let found = claim(&id);
        if found.is_none() {
            let help = nearest(&id, claims().iter().map(|claim| claim.id.as_str()))
                .map_or_else(|| "docs/claims.md lists all claims".to_owned(), |near| format!("did you mean \"{near}\"?"));
            self.mistakes.at(at, format!("there is no claim \"{}\"", shown(&id)), Some(help));
        }
        found
    }

    /// Reports keys that are unknown.
    fn known(&mut self, table: &DeTable<'_>, keys: &[&str], place: &str) {
        for (key, _) in table.iter().filter(|(key, _)| !keys.contains(&key.get_ref().as_ref())) {
            let near = nearest(key.get_ref(), keys.iter().copied());
            let help = near.map_or_else(|| format!("keys are {}", keys.join(", ")), |near| format!("did you mean `{near}`?"));
            self.mistakes.at(key.span(), format!("unknown key `{}` in {place}", shown(key.get_ref())), Some(help));
        }
    }

    fn text(&mut self, table: &DeTable<'_>, key: &str, needed: bool) -> Option<(String, Range<usize>)> {
        match table.get(key) {
            None => {
                if needed {
                    self.mistakes.at(0..0, format!("no `{key}`"), None);
                }
                None
            }
            Some(value) => {
                if let DeValue::String(text) = value.get_ref() {
                    return Some((text.to_string(), value.span()));
                }
                self.mistakes.at(value.span(), format!("`{key}` is a text"), Some("write it in quotes".to_owned()));
                None
            }
        }
    }

    fn required(&mut self, table: &DeTable<'_>, key: &str, span: Range<usize>, what: &str) -> Option<(String, Range<usize>)> {
        if table.get(key).is_none() {
            self.mistakes.at(span, format!("no `{key}`"), Some(format!("`{key}` is {what}")));
            return None;
        }
        self.text(table, key, false)
    }

    fn entries<'t>(&mut self, table: &'t DeTable<'_>, key: &str) -> Vec<(&'t DeTable<'t>, Range<usize>)> {
        let Some(value) = table.get(key) else { return Vec::new() };
        let DeValue::Array(list) = value.get_ref() else {
            self.mistakes.at(value.span(), format!("`{key}` is a list of tables"), Some(format!("write [[{key}]] above each")));
            return Vec::new();
        };
        let mut entries = Vec::new();
        for entry in list.iter() {
            if let DeValue::Table(table) = entry.get_ref() {
                entries.push((table, entry.span()));
            } else {
                self.mistakes.at(entry.span(), format!("`{key}` is a list of tables"), Some(format!("write [[{key}]] above each")));
            }
        }
        entries
    }
}
