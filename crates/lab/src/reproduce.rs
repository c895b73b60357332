//! Runs of studies: every claim with its measurement, its band and its verdict.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use wordline_pages::html::figure::{Figure, scientific};
use wordline_plan::{Chip, Mistake, Place};

use crate::band::{Verdict, written};
use crate::bench::{Bench, Findings, Null, On, Setup, Teller, metric};
use crate::claims::{About, Claim, ClaimKind, claims};
use crate::error::LabError;
use crate::study::{Judgement, Study};

/// The part of a reading in the verdict of a claim that has a row of record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Role {
    /// The reading decides alone.
    #[serde(rename = "row of record")]
    Row,
    /// The reading stands beside the row of record and decides nothing.
    #[serde(rename = "beside")]
    Beside,
}

/// A reading with the effect of its claim switched off.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UnderNull {
    /// Settings that switch the effect off.
    pub settings: Vec<String>,
    /// Measured value; `None` where nothing was measured.
    pub measured: Option<f64>,
    /// Whereabouts of the value: "turned off" outside of the band, "stayed" within it.
    pub state: String,
}

impl UnderNull {
    fn of(judgement: &Judgement, measured: Option<f64>) -> UnderNull {
        let is_within = measured.is_some_and(|value| judgement.band.miss(value) == 0.0);
        let state = if is_within { STAYED } else { TURNED_OFF };
        UnderNull { settings: judgement.null_settings(), measured, state: state.to_owned() }
    }

    /// True if the value with the effect switched off lies within the band.
    pub fn stayed(&self) -> bool {
        self.state == STAYED
    }
}

const TURNED_OFF: &str = "turned off";
const STAYED: &str = "stayed";

/// One claim put to one measured quantity.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// Name of the claim.
    pub claim: String,
    /// Source, section and figure of the claim.
    pub source: String,
    /// Statement of the claim.
    pub says: String,
    /// Name of the study that asked.
    pub study: String,
    /// The measured quantity, as `bench.metric`.
    pub metric: String,
    /// Unit of the measured quantity.
    pub unit: String,
    /// Value that the source gives.
    pub paper: String,
    /// Measured value; `None` where nothing was measured.
    pub measured: Option<f64>,
    /// Band in which the measured value had to lie.
    pub band: String,
    /// Reason for the band.
    pub why: String,
    /// Verdict on this reading: "reproduced", "off", "stays when its effect is off", "not a measurement" or "nothing to measure".
    pub verdict: String,
    /// Part in the verdict of the claim, where the claim has a row of record; without one all readings decide together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// The reading with the effect of the claim switched off; `None`: the judgement has no null.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub null: Option<UnderNull>,
    /// Distance from the band, and the reason where one is known.
    pub reason: String,
}

impl Line {
    /// The measured value as a person reads it.
    pub fn measured_text(&self) -> String {
        self.value_text(self.measured)
    }

    fn value_text(&self, value: Option<f64>) -> String {
        value.map_or_else(|| "–".to_owned(), |value| format!("{}{}", scientific(value), written(&self.unit)))
    }

    /// State and value with the effect switched off as a person reads them, or "none".
    pub fn null_text(&self) -> String {
        let of = |null: &UnderNull| format!("{}: {}", null.state, self.value_text(null.measured));
        self.null.as_ref().map_or_else(|| "none".to_owned(), of)
    }

    /// Verdict as a person reads it, with the part of the reading in that of the claim.
    pub fn verdict_text(&self) -> String {
        match self.role {
            None => self.verdict.clone(),
            Some(Role::Row) => format!("{} (row of record)", self.verdict),
            Some(Role::Beside) => format!("beside: {}", self.verdict),
        }
    }

    /// True if the reading enters the verdict of its claim.
    pub fn decides(&self) -> bool {
        self.role != Some(Role::Beside)
    }
}

/// The outcome of a study that was run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Name of the study.
    pub study: String,
    /// One line on what the study is about.
    pub title: String,
    /// Description of the chips or drives that were measured.
    pub subject: String,
    /// Lines of the study, one for each claim and quantity.
    pub lines: Vec<Line>,
    /// Figures of the study's benches, in order.
    pub figures: Vec<(String, Vec<Figure>)>,
}

/// The studies that `names` mean: names of studies, groups, claims, or beginnings of claims' names. Without names: all.
///
/// # Errors
///
/// A name that means nothing.
pub fn select(names: &[String]) -> Result<Vec<Study>, LabError> {
    let all = Study::all();
    if names.is_empty() {
        return Ok(all);
    }
    let mut chosen: Vec<Study> = Vec::new();
    for name in names {
        if name.ends_with(".toml") {
            chosen.push(Study::load(name)?);
            continue;
        }
        let begins = |id: &str| id == name || id.strip_prefix(name.as_str()).is_some_and(|rest| rest.starts_with('.'));
        let before = chosen.len();
        let mut found = false;
        for study in &all {
            let whole = begins(&study.id) || study.group == *name;
            let judge: Vec<_> = study.judge.iter().filter(|judgement| whole || begins(&judgement.claim.id)).cloned().collect();
            let aside: Vec<_> = study.aside.iter().filter(|aside| whole || begins(&aside.claim.id)).cloned().collect();
            if whole || !judge.is_empty() || !aside.is_empty() {
                found = true;
                if !chosen[..before].iter().any(|known| known.id == study.id) {
                    chosen.push(Study { judge, aside, ..study.clone() });
                }
            }
        }
        if !found {
            let mut words: Vec<&str> = all.iter().flat_map(|study| [study.id.as_str(), study.group.as_str()]).collect();
            words.sort_unstable();
            words.dedup();
            if let Some(known) = claims().iter().find(|claim| claim.id == *name) {
                let part = known.part.as_ref().map_or_else(String::new, |part| format!("; it belongs to a part that is not built: {part}"));
                return Err(LabError::Usage(format!("nothing measures claim \"{name}\" yet{part}")));
            }
            let help = match wordline_plan::nearest(name, words.iter().copied().chain(claims().iter().map(|claim| claim.id.as_str()))) {
                Some(near) => format!("did you mean \"{near}\"?"),
                None => format!("there are {}", words.join(", ")),
            };
            return Err(LabError::Unknown { kind: "study or claim", name: wordline_plan::shown(name), help });
        }
    }
    Study::one_row_each(&chosen)?;
    Ok(chosen)
}

/// The findings of benches so far, so that two studies of the same lot measure it once.
#[derive(Clone, Debug, Default)]
pub struct Bookings {
    held: Vec<(&'static str, Setup, Findings)>,
    teller: Teller,
}

impl Bookings {
    /// Empty bookings whose benches report their progress to `teller`.
    pub fn telling(teller: Teller) -> Bookings {
        Bookings { teller, ..Bookings::default() }
    }

    /// Runs one study, and each bench of a judgement with a null once more for that null.
    ///
    /// # Errors
    ///
    /// Its chip is wrong, a bench cannot run on it, or no chip and no drive of a bench takes a setting of a null.
    pub fn run(&mut self, study: &Study, threads: usize) -> Result<Outcome, LabError> {
        let setup = Setup { teller: self.teller.clone(), ..study.setup(threads) };
        let nulls = study.nulls();
        nulls.iter().try_for_each(|null| check_chip(study, null))?;
        let mut found = Vec::new();
        for bench in study.benches() {
            found.push((bench.name, self.find(bench, &setup)?));
        }
        let mut under = Vec::new();
        for settings in nulls {
            let mut found = Vec::new();
            for bench in study.benches_of(|judgement| judgement.null_settings() == settings) {
                let setup = Setup { null: Null::of(&settings)?, ..setup.clone() };
                let findings = self.find(bench, &setup).map_err(|error| with_null(&settings, place(study, bench, &settings), &error))?;
                found.push((bench.name, findings));
            }
            under.push(Switched { settings, found });
        }
        Ok(conclude(study, &found, &under))
    }

    /// The findings of `bench`, which are held if it has run so before.
    fn find(&mut self, bench: &'static Bench, setup: &Setup) -> Result<Findings, LabError> {
        if let Some((_, _, findings)) = self.held.iter().find(|(name, held, _)| *name == bench.name && held == setup) {
            return Ok(findings.clone());
        }
        let findings = (bench.run)(setup)?;
        if let Some(text) = setup.null.untaken().first() {
            return Err(LabError::Usage(format!("no chip and no drive of bench {} takes `{text}`", bench.name)));
        }
        self.held.push((bench.name, setup.clone(), findings.clone()));
        Ok(findings)
    }
}

/// The findings of benches with the effect of claims switched off.
pub(crate) struct Switched {
    /// Settings that switch it off.
    settings: Vec<String>,
    found: Vec<(&'static str, Findings)>,
}

/// Checks before anything runs that the chip of a study can have the settings of a null that are of chips.
fn check_chip(study: &Study, null: &[String]) -> Result<(), LabError> {
    let benches = study.benches_of(|judgement| judgement.null_settings() == null);
    let Some(bench) = benches.into_iter().find(|bench| bench.on != On::Drives) else { return Ok(()) };
    let check = || Ok::<_, LabError>(Chip::load_set(&study.chip, &Null::of(null)?.on_chip(&[]))?);
    check().map(drop).map_err(|error| with_null(null, place(study, bench, null), &error))
}

/// The place of a null of a judgement of `bench`.
fn place(study: &Study, bench: &Bench, null: &[String]) -> Option<Place> {
    let is_of = |judgement: &&Judgement| metric(&judgement.measured).is_some_and(|(of, _)| of.name == bench.name);
    let judgement = study.judge.iter().filter(is_of).find(|judgement| judgement.null_settings() == null)?;
    judgement.null.first().map(|(_, place)| place.clone())
}

/// The error of a run with a null, with the place of the null in its study.
fn with_null(null: &[String], place: Option<Place>, error: &LabError) -> LabError {
    let help = Some("a null switches off the effect that its claim is about, on the chips or drives that the bench measures".to_owned());
    LabError::Mistakes(vec![Mistake { place, what: format!("with the null {}: {error}", null.join(", ")), help }])
}

/// The value that `found` has of a quantity, as `bench.metric`.
fn value_in(found: &[(&'static str, Findings)], full: &str) -> Option<f64> {
    let (bench, name) = full.split_once('.')?;
    found.iter().find(|(known, _)| *known == bench).and_then(|(_, findings)| findings.get(name))
}

/// Judges a measured value of a claim, with and without its effect.
fn judged(judgement: &Judgement, value: Option<f64>, null: Option<&UnderNull>) -> Verdict {
    let verdict = value.map_or(Verdict::Off("nothing could be measured".to_owned()), |value| Verdict::of(&judgement.band, value));
    match (&judgement.claim.cannot_fail, verdict, null) {
        (Some(why), Verdict::Reproduced, _) => Verdict::NotAMeasurement(why.clone()),
        (None, Verdict::Reproduced, Some(null)) if null.stayed() => {
            Verdict::Stays(format!("within the band with {}, too", null.settings.join(", ")))
        }
        (_, verdict, _) => verdict,
    }
}

/// Marks the readings of claims that have a row of record among these outcomes: all others stand beside it.
pub fn set_beside(outcomes: &mut [Outcome]) {
    let lines = outcomes.iter().flat_map(|outcome| &outcome.lines);
    let rows: BTreeSet<String> = lines.filter(|line| line.role == Some(Role::Row)).map(|line| line.claim.clone()).collect();
    let lines = outcomes.iter_mut().flat_map(|outcome| &mut outcome.lines);
    lines.filter(|line| line.role.is_none() && rows.contains(&line.claim)).for_each(|line| line.role = Some(Role::Beside));
}

/// Judges what the benches found, with their effects and with those of nulls switched off.
pub(crate) fn conclude(study: &Study, found: &[(&'static str, Findings)], under: &[Switched]) -> Outcome {
    let mut lines: Vec<Line> = study
        .judge
        .iter()
        .map(|judgement| {
            let value = value_in(found, &judgement.measured);
            let switched = under.iter().find(|switched| switched.settings == judgement.null_settings());
            let null = switched.map(|switched| UnderNull::of(judgement, value_in(&switched.found, &judgement.measured)));
            let verdict = judged(judgement, value, null.as_ref());
            let known = judgement.reason.clone();
            let reason = match (&verdict, known) {
                (Verdict::NotAMeasurement(why), _) => why.clone(),
                (Verdict::Off(by) | Verdict::Stays(by), Some(why)) => format!("{by}: {why}"),
                (Verdict::Off(by) | Verdict::Stays(by), None) => by.clone(),
                (_, _) => String::new(),
            };
            Line {
                claim: judgement.claim.id.clone(),
                source: judgement.claim.source.clone(),
                says: judgement.claim.says.clone(),
                study: study.id.clone(),
                metric: judgement.measured.clone(),
                unit: metric(&judgement.measured).map_or("", |(_, metric)| metric.unit).to_owned(),
                paper: judgement.claim.paper(),
                measured: value,
                band: judgement.band.to_string(),
                why: judgement.why.clone(),
                verdict: verdict.word().to_owned(),
                role: judgement.row.as_ref().map(|_| Role::Row),
                null,
                reason,
            }
        })
        .collect();
    lines.extend(study.aside.iter().map(|aside| Line {
        claim: aside.claim.id.clone(),
        source: aside.claim.source.clone(),
        says: aside.claim.says.clone(),
        study: study.id.clone(),
        metric: String::new(),
        unit: String::new(),
        paper: aside.claim.paper(),
        measured: None,
        band: String::new(),
        why: String::new(),
        verdict: Verdict::NothingToMeasure(String::new()).word().to_owned(),
        role: None,
        null: None,
        reason: aside.why.clone(),
    }));
    let against = study.against.as_ref().map_or_else(String::new, |against| format!(" against {against}"));
    let subject = match study.judge.is_empty() {
        true => String::new(),
        false if study.is_of_drives() => {
            let sizes = study.sizes().iter().map(|size| format!(" of size {size},")).collect::<String>();
            format!("drives,{sizes} seed {}", study.seed)
        }
        false => format!("{}{against}, lot {}, seed {}", study.chip, study.lot, study.seed),
    };
    let figures = found.iter().map(|(bench, findings)| ((*bench).to_owned(), findings.figures.clone())).collect();
    let mut outcome = Outcome { study: study.id.clone(), title: study.title.clone(), subject, lines, figures };
    set_beside(std::slice::from_mut(&mut outcome));
    outcome
}

/// Number of claims by verdict. A claim has the verdict of its row of record; without one, the worst of its lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Number of claims whose values lie within their bands.
    pub reproduced: usize,
    /// Number of claims with a value outside of its band.
    pub off: usize,
    /// Number of claims whose values lie within their bands when their effect is off as well.
    pub stays: usize,
    /// Number of claims among these three kinds of which no effect was switched off.
    pub without_null: usize,
    /// Number of claims of which what is measured cannot fail.
    pub apart: usize,
    /// Number of claims with nothing to measure.
    pub aside: usize,
}

impl Count {
    /// Counts the claims of `lines`.
    pub fn of<'l>(lines: impl IntoIterator<Item = &'l Line>) -> Count {
        // Of each claim its worst rank, and the fact that one of its readings has a null.
        let mut worst: BTreeMap<&str, (u8, bool)> = BTreeMap::new();
        for line in lines.into_iter().filter(|line| line.decides()) {
            let rank = match line.verdict.as_str() {
                "not a measurement" => 1,
                "reproduced" => 2,
                "stays when its effect is off" => 3,
                "off" => 4,
                _ => 0,
            };
            let (held, has_null) = worst.entry(&line.claim).or_default();
            (*held, *has_null) = ((*held).max(rank), *has_null || line.null.is_some());
        }
        let with = |rank: u8| worst.values().filter(|(held, _)| *held == rank).count();
        let without_null = worst.values().filter(|(held, has_null)| *held > 1 && !has_null).count();
        Count { reproduced: with(2), off: with(4), stays: with(3), without_null, apart: with(1), aside: with(0) }
    }

    /// Number of claims that were measured and can fail.
    pub fn judged(&self) -> usize {
        self.reproduced + self.off + self.stays
    }
}

/// The lines as JSON.
///
/// # Panics
///
/// Never: every line can be written.
pub fn to_json(lines: &[&Line]) -> String {
    serde_json::to_string_pretty(lines).expect("lines are plain data")
}

/// Claims that nothing measures, by subject and kind: the group, how many of it nothing measures, and how many there are.
pub fn unmeasured() -> Vec<(&'static str, usize, usize)> {
    let studies = Study::all();
    let measured = |id: &str| {
        studies.iter().any(|study| {
            study.judge.iter().any(|judgement| judgement.claim.id == id) || study.aside.iter().any(|aside| aside.claim.id == id)
        })
    };
    let count = |name: &'static str, of: &dyn Fn(&Claim) -> bool| {
        let group: Vec<_> = claims().iter().filter(|claim| of(claim)).collect();
        (name, group.iter().filter(|claim| !measured(&claim.id)).count(), group.len())
    };
    let kinds = [ClaimKind::DevicePhysics, ClaimKind::Analytic, ClaimKind::Qualitative, ClaimKind::Measured];
    let mut counts =
        vec![count("about devices", &|claim| claim.about == About::Device), count("about drives", &|claim| claim.about == About::Drive)];
    counts.extend(kinds.map(|kind| count(kind.name(), &move |claim: &Claim| claim.kind == kind)));
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page;

    const NULL: &str = "null = [\"physics.wear.field=0\"]";

    /// A judgement of Delta-V of a fresh block by the band from 1 to 2.
    fn judgement(measured: &str, more: &str) -> String {
        format!("[[judge]]\nclaim = \"cube.dev.dV.fresh\"\nmeasured = \"{measured}\"\nband = \"1 to 2\"\nwhy = \"a test\"\n{more}\n")
    }

    fn study(judgements: &[String]) -> Study {
        let text = format!("title = \"x\"\n{}", judgements.concat());
        Study::parse("x", "x.toml", &text).unwrap_or_else(|error| panic!("{error}"))
    }

    fn findings(fresh: f64, aged: f64) -> Vec<(&'static str, Findings)> {
        let mut findings = Findings::default();
        findings.set("dv-fresh", fresh);
        findings.set("dv-aged", aged);
        vec![("layers", findings)]
    }

    fn switched(fresh: f64, aged: f64) -> Vec<Switched> {
        vec![Switched { settings: vec!["physics.wear.field=0".to_owned()], found: findings(fresh, aged) }]
    }

    fn count(outcome: &Outcome) -> Count {
        Count::of(&outcome.lines)
    }

    #[test]
    fn a_claim_is_reproduced_only_if_its_null_turns_it_off() {
        let study = study(&[judgement("layers.dv-fresh", NULL)]);
        let with = |value: f64, null: f64| conclude(&study, &findings(value, 0.0), &switched(null, 0.0));
        let good = with(1.5, 9.0);
        assert_eq!(count(&good), Count { reproduced: 1, ..Count::default() });
        assert_eq!((good.lines[0].verdict.as_str(), good.lines[0].null_text().as_str()), ("reproduced", "turned off: 9"));
        let stays = with(1.5, 1.6);
        assert_eq!(count(&stays), Count { stays: 1, ..Count::default() });
        assert_eq!((stays.lines[0].verdict.as_str(), stays.lines[0].null_text().as_str()), ("stays when its effect is off", "stayed: 1.6"));
        // A claim that is off is off, whatever its null does.
        assert_eq!((count(&with(9.0, 1.5)).off, count(&with(9.0, 9.0)).off), (1, 1));
        // Without a number there is no value within the band.
        assert_eq!(count(&with(1.5, f64::NAN)).reproduced, 1);
        let told = page::text(&[stays]);
        assert!(told.contains("stayed: 1.6") && told.contains("null: physics.wear.field=0"), "{told}");
        assert!(told.ends_with("0 of 1 claims reproduced, 1 that stay with their effect off"), "{told}");
    }

    #[test]
    fn a_row_of_record_decides_alone_and_without_one_all_readings_do() {
        let (fresh, aged) = ("layers.dv-fresh", "layers.dv-aged");
        let count_of = |rows: [&str; 2]| {
            let study = study(&[judgement(fresh, rows[0]), judgement(aged, rows[1])]);
            conclude(&study, &findings(1.5, 9.0), &[])
        };
        let [all, first, second] = [["", ""], ["row = true", ""], ["row = false", "row = true"]].map(count_of);
        let verdicts = [&all, &first, &second].map(|outcome| (count(outcome).reproduced, count(outcome).off));
        assert_eq!(verdicts, [(0, 1), (1, 0), (0, 1)]);
        let told: Vec<String> = first.lines.iter().map(Line::verdict_text).collect();
        assert_eq!(told, ["reproduced (row of record)", "beside: off"]);
        // A null of a reading beside the row is none of the claim.
        let study = study(&[judgement(fresh, "row = true"), judgement(aged, NULL)]);
        let beside = count(&conclude(&study, &findings(1.5, 1.5), &switched(1.5, 1.5)));
        assert_eq!(beside, Count { reproduced: 1, without_null: 1, ..Count::default() });
    }

    #[test]
    fn a_row_of_record_in_one_study_stands_before_the_readings_of_others() {
        let with_row = study(&[judgement("layers.dv-fresh", "row = true")]);
        let without = study(&[judgement("layers.dv-aged", "")]);
        let mut outcomes = [&with_row, &without].map(|study| conclude(study, &findings(1.5, 9.0), &[]));
        set_beside(&mut outcomes);
        assert_eq!(Count::of(outcomes.iter().flat_map(|outcome| &outcome.lines)).reproduced, 1);
        let told = Study::one_row_each(&[with_row.clone(), study(&[judgement("layers.dv-fresh", "row = true")])]);
        // One study may be named twice.
        assert!(told.is_ok());
        let other = Study::parse("y", "y.toml", &format!("title = \"y\"\n{}", judgement("layers.dv-aged", "row = true")));
        let told = Study::one_row_each(&[with_row, other.unwrap_or_else(|error| panic!("{error}"))]).expect_err("two rows").to_string();
        assert!(told.starts_with("y.toml:7:7: `row`: claim \"cube.dev.dV.fresh\"") && told.contains("x.toml:7"), "{told}");
    }

    #[test]
    fn lines_without_null_and_row_are_written_as_ever_and_others_come_back() {
        let plain = conclude(&study(&[judgement("layers.dv-fresh", "")]), &findings(1.5, 0.0), &[]);
        let json = to_json(&plain.lines.iter().collect::<Vec<_>>());
        assert!(!json.contains("null") && !json.contains("role"), "{json}");
        assert_eq!(count(&plain).without_null, 1);
        let study = study(&[judgement("layers.dv-fresh", &format!("row = true\n{NULL}")), judgement("layers.dv-aged", "")]);
        let full = conclude(&study, &findings(1.5, 9.0), &switched(9.0, 9.0));
        let json = to_json(&full.lines.iter().collect::<Vec<_>>());
        for word in ["\"role\": \"row of record\"", "\"role\": \"beside\"", "\"state\": \"turned off\"", "physics.wear.field=0"] {
            assert!(json.contains(word), "{word} in {json}");
        }
        assert_eq!(serde_json::from_str::<Vec<Line>>(&json).expect("lines"), full.lines);
    }
}
