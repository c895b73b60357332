//! Drives against a baseline, paired over seeds.
//!
//! Two drives that ran on the same seed saw the same requests, so the ratio of their figures carries less noise than the figures. The
//! mean is geometric, because a ratio of 2 and a ratio of ½ cancel; the interval is Student's t over the logarithms of the ratios.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::catalogue::{self, Better, Figure, Part};
use crate::chance;
use crate::result::DriveResult;

/// Every drive against the first one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// The drive that the others are divided by.
    pub baseline: String,
    /// The seeds that all drives ran on.
    pub seeds: Vec<u64>,
    /// How the intervals came about, or why there are none.
    pub method: String,
    /// One entry per figure and drive, figures in the order of the table.
    pub ratios: Vec<Ratio>,
    /// The same for each phase of the workload, in order; absent where it has one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<PhaseComparison>,
}

/// Every drive against the first one, in one phase of the workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PhaseComparison {
    /// The phase.
    pub phase: String,
    /// One entry per figure that phases have and drive.
    pub ratios: Vec<Ratio>,
}

/// One figure of one drive over the same figure of the baseline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ratio {
    /// The figure, as a path into an entry of `drives`.
    pub figure: String,
    /// The figure's name for people.
    pub label: String,
    /// Its unit.
    pub unit: String,
    /// Which way is better.
    pub better: Better,
    /// The drive.
    pub drive: String,
    /// The figure itself, as its arithmetic mean over the seeds; 0 where there was nothing to measure.
    pub value: f64,
    /// The geometric mean of the ratio over the seeds; null where a figure is zero.
    pub ratio: Option<f64>,
    /// The lower end of the 95 % confidence interval; null with one seed.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
    /// Chance of a ratio at least as far from 1 where nothing differs, by Student's t on both sides; null with one seed, and where the drives began
    /// differently.
    #[serde(default)]
    pub p: Option<f64>,
    /// Whether the ratio differs from 1 with all intervals of the report taken together, by Holm's procedure: where nothing differs, the chance that any at
    /// all is said to is at most 5 %.
    #[serde(default)]
    pub together: bool,
    /// Whether this drive or the baseline failed requests with any of the seeds, so that the figure is of what was left of the load.
    #[serde(default)]
    pub failed: bool,
    /// True if the two drives began differently, so that the ratio is not of the drives alone. Absent where they began alike.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unlike: bool,
}

fn seen(value: f64) -> Option<f64> {
    (value > 0.0).then_some(value)
}

/// A run, or a phase of it, to be compared.
struct Run<'a> {
    drive: &'a str,
    seed: u64,
    part: Part<'a>,
}

impl Comparison {
    /// Every drive against the first; `None` unless there are at least two drives (by name) with a seed in common.
    pub fn new(drives: &[DriveResult]) -> Option<Comparison> {
        let runs = drives.iter().map(|drive| Run { drive: &drive.name, seed: drive.seed, part: Part::of_run(drive) });
        let mut comparison = Comparison::of_runs(&runs.collect::<Vec<_>>())?;
        comparison.phases = phases(drives);
        Some(comparison)
    }

    fn of_runs(runs: &[Run<'_>]) -> Option<Comparison> {
        let mut names: Vec<&str> = Vec::new();
        for run in runs {
            if !names.contains(&run.drive) {
                names.push(run.drive);
            }
        }
        if names.len() < 2 {
            return None;
        }
        let part = |name: &str, seed: u64| runs.iter().find(|run| run.drive == name && run.seed == seed).map(|run| &run.part);
        let mut seeds: Vec<u64> = Vec::new();
        for run in runs {
            if !seeds.contains(&run.seed) && names.iter().all(|name| part(name, run.seed).is_some()) {
                seeds.push(run.seed);
            }
        }
        if seeds.is_empty() {
            return None;
        }
        let mut ratios = Vec::new();
        let failed: Vec<&str> = runs.iter().filter(|run| run.part.host.failed > 0).map(|run| run.drive).collect();
        for figure in catalogue::compared() {
            let value = |name: &str, seed: u64| part(name, seed).and_then(|part| figure.compared_of(part));
            let values = |name: &str| -> Vec<Option<f64>> { seeds.iter().map(|seed| value(name, *seed)).collect() };
            let base = values(names[0]);
            if names.iter().all(|name| values(name).iter().all(Option::is_none)) {
                continue;
            }
            for name in &names {
                let failed = failed.contains(name) || failed.contains(&names[0]);
                ratios.push(Ratio { failed, ..Ratio::new(figure, name, &values(name), &base) });
            }
        }
        let method = match seeds.len() {
            1 => "One seed: ratios carry no confidence interval; use several seeds to get one".to_owned(),
            n => format!("Geometric mean over {n} seeds, paired by seed; 95 % interval from Student's t over the logarithms of the ratios"),
        };
        Some(Comparison { baseline: names[0].to_owned(), seeds, method, ratios, phases: Vec::new() })
    }

    /// The ratios of all drives but the first, those of each phase, too.
    pub fn of_others(&self) -> impl Iterator<Item = &Ratio> {
        self.ratios.iter().chain(self.phases.iter().flat_map(|phase| &phase.ratios)).filter(|ratio| ratio.drive != self.baseline)
    }

    /// The same, to be changed.
    pub fn of_others_mut(&mut self) -> impl Iterator<Item = &mut Ratio> {
        let all = self.ratios.iter_mut().chain(self.phases.iter_mut().flat_map(|phase| &mut phase.ratios));
        all.filter(|ratio| ratio.drive != self.baseline)
    }

    /// The comparison of one phase by itself.
    pub fn in_phase(&self, phase: &PhaseComparison) -> Comparison {
        Comparison { ratios: phase.ratios.clone(), phases: Vec::new(), ..self.clone() }
    }

    /// The entry of one figure and drive.
    pub fn find(&self, figure: &str, drive: &str) -> Option<&Ratio> {
        self.ratios.iter().find(|ratio| ratio.figure == figure && ratio.drive == drive)
    }
}

/// The drives of one workload phase by phase, where all of them went through the same ones.
fn phases(drives: &[DriveResult]) -> Vec<PhaseComparison> {
    let of = |drive: &DriveResult| drive.phases.iter().map(|phase| phase.name.clone()).collect::<Vec<_>>();
    let names = drives.first().map(of).unwrap_or_default();
    if !drives.iter().all(|drive| of(drive) == names) {
        return Vec::new();
    }
    let compared = |(number, name): (usize, &String)| {
        let runs = drives.iter().map(|drive| Run { drive: &drive.name, seed: drive.seed, part: Part::of_phase(&drive.phases[number]) });
        let Comparison { ratios, .. } = Comparison::of_runs(&runs.collect::<Vec<_>>())?;
        Some(PhaseComparison { phase: name.clone(), ratios })
    };
    names.iter().enumerate().filter_map(compared).collect()
}

impl Ratio {
    fn new(figure: &Figure, drive: &str, values: &[Option<f64>], base: &[Option<f64>]) -> Ratio {
        // What did not happen took no time that could be in a mean; of what is counted, there was none.
        let known: Vec<f64> = match figure.unit() {
            "us" | "s" => values.iter().copied().flatten().collect(),
            _ => values.iter().map(|value| value.unwrap_or(0.0)).collect(),
        };
        let pairs: Option<Vec<f64>> =
            values.iter().zip(base).map(|(value, base)| Some(libm::log(seen((*value)?)? / seen((*base)?)?))).collect();
        let spread = pairs.as_deref().map(chance::interval);
        Ratio {
            figure: figure.path().to_owned(),
            label: figure.label().trim().to_owned(),
            unit: figure.unit().to_owned(),
            better: figure.better(),
            drive: drive.to_owned(),
            value: known.iter().sum::<f64>() / known.len().max(1) as f64,
            ratio: spread.map(|(mean, _)| libm::exp(mean)),
            low: spread.and_then(|(mean, half)| Some(libm::exp(mean - half?))),
            high: spread.and_then(|(mean, half)| Some(libm::exp(mean + half?))),
            p: pairs.as_deref().and_then(chance::of_no_difference),
            together: false,
            failed: false,
            unlike: false,
        }
    }

    /// Whether a ratio is good news, as far as one can tell: `None` where the interval holds 1, or where neither way is better. What is left of a load of which
    /// part failed is never good news, and of drives that began differently nothing is any news.
    pub fn verdict(&self) -> Option<bool> {
        self.direction().filter(|is_better| !(self.unlike || self.failed && *is_better))
    }

    fn direction(&self) -> Option<bool> {
        let mean = self.ratio?;
        let (low, high) = (self.low.unwrap_or(mean), self.high.unwrap_or(mean));
        // Without an interval, a difference that would not show in the table is none.
        let (low, high) = if self.low.is_none() { (low - 5e-4, high + 5e-4) } else { (low, high) };
        let greater = if low > 1.0 {
            true
        } else if high < 1.0 {
            false
        } else {
            return None;
        };
        match self.better {
            Better::Higher => Some(greater),
            Better::Lower => Some(!greater),
            Better::Neither => None,
        }
    }
}
