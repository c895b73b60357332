//! Runs of studies: every claim with its measurement, its band and its verdict.

use serde::{Deserialize, Serialize};
use wordline_pages::html::figure::{Figure, scientific};

use crate::band::{Verdict, written};
use crate::bench::{Findings, Setup, Teller, metric};
use crate::claims::{About, Claim, ClaimKind, claims};
use crate::error::LabError;
use crate::study::Study;

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
    /// Verdict: "reproduced", "off", "not built yet" or "nothing to measure".
    pub verdict: String,
    /// Distance from the band, and the reason where one is known.
    pub reason: String,
}

impl Line {
    /// The measured value as a person reads it.
    pub fn measured_text(&self) -> String {
        self.measured.map_or_else(|| "–".to_owned(), |value| format!("{}{}", scientific(value), written(&self.unit)))
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

    /// Runs one study.
    ///
    /// # Errors
    ///
    /// Its chip is wrong, or a bench cannot run on it.
    pub fn run(&mut self, study: &Study, threads: usize) -> Result<Outcome, LabError> {
        let setup = Setup { teller: self.teller.clone(), ..study.setup(threads) };
        let mut found: Vec<(&str, Findings)> = Vec::new();
        for bench in study.benches() {
            let known = self.held.iter().find(|(name, held, _)| *name == bench.name && *held == setup);
            let findings = match known {
                Some((_, _, findings)) => findings.clone(),
                None => {
                    let findings = (bench.run)(&setup)?;
                    self.held.push((bench.name, setup.clone(), findings.clone()));
                    findings
                }
            };
            found.push((bench.name, findings));
        }
        Ok(conclude(study, &found))
    }
}

/// Judges what the benches found.
pub(crate) fn conclude(study: &Study, found: &[(&str, Findings)]) -> Outcome {
    let measured = |full: &str| {
        let (bench, name) = full.split_once('.')?;
        found.iter().find(|(known, _)| *known == bench).and_then(|(_, findings)| findings.get(name))
    };
    let mut lines: Vec<Line> = study
        .judge
        .iter()
        .map(|judgement| {
            let value = measured(&judgement.measured);
            let verdict = value.map_or(Verdict::Off("nothing could be measured".to_owned()), |value| Verdict::of(&judgement.band, value));
            let verdict = match (&judgement.claim.cannot_fail, verdict) {
                (Some(why), Verdict::Reproduced) => Verdict::NotAMeasurement(why.clone()),
                (_, verdict) => verdict,
            };
            let known = judgement.reason.clone();
            let reason = match (&verdict, known) {
                (Verdict::NotAMeasurement(why), _) => why.clone(),
                (Verdict::Off(by), Some(why)) => format!("{by}: {why}"),
                (Verdict::Off(by), None) => by.clone(),
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
    Outcome { study: study.id.clone(), title: study.title.clone(), subject, lines, figures }
}

/// Number of claims by verdict. A claim with several lines has the worst of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Number of claims whose values lie within their bands.
    pub reproduced: usize,
    /// Number of claims with a value outside of its band.
    pub off: usize,
    /// Number of claims of which what is measured cannot fail.
    pub apart: usize,
    /// Number of claims with nothing to measure.
    pub aside: usize,
}

impl Count {
    /// Counts the claims of `lines`.
    pub fn of<'l>(lines: impl IntoIterator<Item = &'l Line>) -> Count {
        let mut worst: std::collections::BTreeMap<&str, u8> = std::collections::BTreeMap::new();
        for line in lines {
            let rank = match line.verdict.as_str() {
                "not a measurement" => 1,
                "reproduced" => 2,
                "off" => 3,
                _ => 0,
            };
            let held = worst.entry(&line.claim).or_insert(rank);
            *held = (*held).max(rank);
        }
        let with = |rank: u8| worst.values().filter(|held| **held == rank).count();
        Count { reproduced: with(2), off: with(3), apart: with(1), aside: with(0) }
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
