//! A joint refit of a chip's parameters to what the sources tell: `cargo run --release -p wordline-lab --example refit -- [rounds=N] [seeds=N] [of=STUDY …]
//! [walk=N] [KEY …] [physics.section.key=value …]`. `walk`: parameter by parameter, about so many runs, and not by slopes.
//!
//! Residuals are distances from the middles of bands, which lie around the told values, in half widths, in the mean of the first seeds ([`Band::pull`]).
//! Huber's weights keep what cannot be reached from bending the rest. KEY: move only the parameters whose names have it in them. A value
//! is where a parameter starts, or where one that does not move stays. `of`: look at these studies only, to come near before all are asked. It prints the
//! settings that it found; `calibrate` judges them, and a chip file takes them by hand.
//!
//! [`Band::pull`]: wordline_lab::band::Band::pull

use wordline_lab::bench::{Bench, Findings, Setup, metric};
use wordline_lab::fit::least_squares::{Search, solve};
use wordline_lab::reproduce::select;
use wordline_lab::{Judgement, LabError, Study};
use wordline_runs::parallel;

/// The parameters of the chip that may move, each with the step by which its effect is found, as a share of its value.
const FREE: &[(&str, f64)] = &[
    ("physics.states.placement", 0.01),
    ("physics.states.noise", 0.01),
    ("physics.states.top_noise", 0.05),
    ("physics.tails.upper_share", 0.05),
    ("physics.tails.upper_wear", 0.05),
    ("physics.tails.lower_share", 0.05),
    ("physics.tails.lower_loss", 0.05),
    ("physics.profile.noise_field", 0.05),
    ("physics.profile.noise_edge", 0.2),
    ("physics.profile.loss_field", 0.05),
    ("physics.profile.loss_edge", 0.05),
    ("physics.variation.wear_chip", 0.05),
    ("physics.variation.wear_block", 0.05),
    ("physics.variation.wear_wafer", 0.05),
    ("physics.variation.wear_layer", 0.05),
    ("physics.variation.noise_block", 0.05),
    ("physics.variation.noise_layer", 0.1),
    ("physics.variation.profile_block", 0.05),
    ("physics.variation.speed_block", 0.05),
    ("physics.variation.speed_layer", 0.05),
    ("physics.variation.erase_block", 0.05),
    ("physics.variation.loss_block", 0.05),
    ("physics.variation.erase_loss", 0.05),
    ("physics.ispe.stress_scale", 0.02),
    ("physics.ispe.depth", 0.02),
    ("physics.ispe.wear", 0.02),
    ("physics.ispe.wear_power", 0.02),
    ("physics.ispe.suspend", 0.02),
    ("physics.ispe.suspend_power", 0.03),
    ("physics.wear.reference", 0.01),
    ("physics.wear.noise", 0.02),
    ("physics.wear.noise_power", 0.03),
    ("physics.wear.lift", 0.03),
    ("physics.wear.lift_power", 0.03),
    ("physics.recovery.share", 0.03),
    ("physics.retention.loss", 0.03),
    ("physics.retention.wear", 0.03),
    ("physics.retention.wear_power", 0.03),
    ("physics.retention.spread", 0.05),
];

/// Residuals beyond this count less and less.
const OUTLIER: f64 = 1.5;
/// The greatest residual: a value that cannot be measured, or lies far away.
const FARTHEST: f64 = 6.0;

struct Parameter {
    key: &'static str,
    start: f64,
    unit: String,
    step: f64,
}

fn main() {
    if let Err(error) = refit() {
        eprintln!("{error}");
        std::process::exit(2);
    }
}

/// The value of `key` in the text of a chip file, and its unit.
fn value_of(text: &str, key: &str) -> Option<(f64, String)> {
    let (section, name) = key.rsplit_once('.')?;
    let part = text.split(&format!("[{section}]\n")).nth(1)?.split("\n[").next()?;
    let line = part.lines().find_map(|line| line.strip_prefix(name)?.trim_start().strip_prefix('='))?;
    let line = line.trim().trim_start_matches("{ value =").trim();
    let word = line.strip_prefix('"').map_or(line.split([',', ' ']).next()?, |quoted| quoted.split('"').next().unwrap_or_default());
    number_of(word)
}

/// A number, and its unit if it has one.
fn number_of(word: &str) -> Option<(f64, String)> {
    let (number, unit) = word.split_once(' ').unwrap_or((word, ""));
    Some((number.parse().ok()?, unit.to_owned()))
}

fn settings(parameters: &[Parameter], values: &[f64]) -> Vec<String> {
    let of = |(parameter, factor): (&Parameter, &f64)| {
        let value = format!("{:.5e}", parameter.start * factor).parse::<f64>().unwrap_or(parameter.start);
        format!("{}={value}{}{}", parameter.key, if parameter.unit.is_empty() { "" } else { " " }, parameter.unit)
    };
    parameters.iter().zip(values).map(of).collect()
}

/// Distance of `value` from the middle of the band of `judgement`, in half widths.
fn distance(judgement: &Judgement, value: f64) -> f64 {
    if value.is_finite() { judgement.band.pull(value).clamp(-FARTHEST, FARTHEST) } else { FARTHEST }
}

/// The benches of the studies at the first seeds, run once each for all judgements that need them.
fn measure(studies: &[Study], seeds: u64, settings: &[String]) -> Result<Vec<(f64, f64)>, LabError> {
    let mut jobs: Vec<(&'static Bench, Setup)> = Vec::new();
    let setup_of = |study: &Study, step: u64| {
        let of = study.setup(1);
        Setup { settings: settings.to_vec(), seed: study.seed.wrapping_add(step), ..of }
    };
    for study in studies {
        for judgement in study.judge.iter().filter(|judgement| judgement.claim.cannot_fail.is_none()) {
            let Some((bench, _)) = metric(&judgement.measured) else { continue };
            for step in 0..seeds {
                let setup = setup_of(study, step);
                if !jobs.iter().any(|(known, held)| known.name == bench.name && *held == setup) {
                    jobs.push((bench, setup));
                }
            }
        }
    }
    let found: Vec<Findings> = parallel::try_map(parallel::cores(), jobs.len(), |job| (jobs[job].0.run)(&jobs[job].1))?;
    let mut all = Vec::new();
    for study in studies {
        for judgement in study.judge.iter().filter(|judgement| judgement.claim.cannot_fail.is_none()) {
            let Some((bench, metric)) = metric(&judgement.measured) else { continue };
            let (mut sum, mut off) = (0.0, 0.0);
            for step in 0..seeds {
                let setup = setup_of(study, step);
                let at = jobs.iter().position(|(known, held)| known.name == bench.name && *held == setup);
                let value = at.and_then(|at| found[at].get(metric.name)).unwrap_or(f64::NAN);
                sum += distance(judgement, value) / seeds as f64;
                off += f64::from(u8::from(judgement.band.miss(value) != 0.0)) / seeds as f64;
            }
            all.push((sum, off));
        }
    }
    Ok(all)
}

fn number<T: std::str::FromStr>(word: &str, text: &str) -> Result<T, LabError> {
    text.parse().map_err(|_| LabError::Usage(format!("{word}: expected a whole number")))
}

/// A search parameter by parameter: what is better is kept and tried further, what is worse on both sides is tried nearer. Counts and loops move in steps,
/// over which slopes tell little.
fn stepwise(start: &[f64], parameters: &[Parameter], most: u32, residuals: &mut dyn FnMut(&[f64]) -> Vec<f64>) -> Vec<f64> {
    let cost = |of: &[f64]| of.iter().map(|by| libm::pow(by.abs().min(OUTLIER), 2.0)).sum::<f64>();
    let mut at = start.to_vec();
    let mut now = cost(&residuals(&at));
    let mut steps: Vec<f64> = parameters.iter().map(|parameter| 2.0 * parameter.step).collect();
    let mut tries = 0;
    while tries < most {
        for (which, step) in steps.iter_mut().enumerate() {
            let mut is_better = false;
            for sign in [1.0, -1.0] {
                let mut next = at.clone();
                next[which] += sign * *step;
                let then = cost(&residuals(&next));
                tries += 1;
                if then < now {
                    (at, now, is_better) = (next, then, true);
                    *step *= sign * 1.5;
                    break;
                }
            }
            if !is_better {
                *step *= 0.5;
            }
        }
    }
    at
}

/// The parameters that are asked for, of the chip's file but for those that start elsewhere.
fn parameters(only: &[String], starts: &[(String, String)]) -> Vec<Parameter> {
    let text = include_str!("../../../chips/tlc48.toml");
    let is_asked = |key: &str| only.is_empty() || only.iter().any(|word| key.contains(word.as_str()));
    FREE.iter()
        .filter(|(key, _)| is_asked(key))
        .map(|&(key, step)| {
            let set = starts.iter().rev().find(|(known, _)| known == key).and_then(|(_, value)| number_of(value));
            let (start, unit) = set.or_else(|| value_of(text, key)).unwrap_or_else(|| panic!("{key} is not in the chip's file"));
            Parameter { key, start, unit, step }
        })
        .collect()
}

fn refit() -> Result<(), LabError> {
    let (mut rounds, mut walk, mut seeds, mut only, mut names, mut starts) = (3, 0, 6, Vec::new(), Vec::new(), Vec::new());
    for word in std::env::args().skip(1) {
        match word.split_once('=') {
            Some(("rounds", count)) => rounds = number(&word, count)?,
            Some(("walk", count)) => walk = number(&word, count)?,
            Some(("seeds", count)) => seeds = number(&word, count)?,
            Some(("of", study)) => names.push(study.to_owned()),
            Some((key, value)) => starts.push((key.to_owned(), value.to_owned())),
            _ => only.push(word),
        }
    }
    if let Some(word) = only.iter().find(|word| !FREE.iter().any(|(key, _)| key.contains(word.as_str()))) {
        return Err(LabError::unknown("parameter", word, FREE.iter().map(|(key, _)| *key)));
    }
    let studies: Vec<Study> = select(&names)?.into_iter().filter(|study| !study.is_of_drives()).collect();
    let parameters = parameters(&only, &starts);
    let fixed: Vec<String> = starts
        .iter()
        .filter(|(key, _)| !parameters.iter().any(|parameter| parameter.key == key))
        .map(|(key, value)| format!("{key}={value}"))
        .collect();
    let mut failure = None;
    let mut runs = 0;
    let mut best = f64::INFINITY;
    let mut residuals = |values: &[f64]| -> Vec<f64> {
        let settings = [fixed.clone(), settings(&parameters, values)].concat();
        match measure(&studies, seeds, &settings) {
            Ok(all) => {
                runs += 1;
                let off: f64 = all.iter().map(|(_, off)| off).sum();
                let square = all.iter().map(|(by, _)| libm::pow(by.abs().min(OUTLIER), 2.0)).sum::<f64>();
                println!("run {runs}: {off:.2} judgements off, {square:.2}");
                if square < best {
                    best = square;
                    println!("{}", settings.join(" "));
                }
                all.into_iter().map(|(by, _)| by).collect()
            }
            Err(error) => {
                println!("{error}");
                failure = Some(error);
                Vec::new()
            }
        }
    };
    let start = vec![1.0; parameters.len()];
    let count = residuals(&start).len();
    // The search looks a thousandth of a scale away; counts and loops move in steps, which takes more.
    let scales: Vec<f64> = parameters.iter().map(|parameter| 1_000.0 * parameter.step).collect();
    let mut safe = |values: &[f64]| {
        if values.iter().any(|factor| !(0.5..2.0).contains(factor)) {
            return vec![FARTHEST; count];
        }
        let found = residuals(values);
        if found.is_empty() { vec![FARTHEST; count] } else { found }
    };
    let found = if walk == 0 {
        solve(&start, &scales, Search { outlier: OUTLIER, rounds, tolerance: 1e-4 }, &mut safe).parameters
    } else {
        stepwise(&start, &parameters, walk, &mut safe)
    };
    println!("{}", settings(&parameters, &found).join(" "));
    failure.map_or(Ok(()), Err)
}
