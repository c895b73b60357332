//! `wordline chip calibrate`: scalars of a chip's physics fitted to what sources state.

use std::path::PathBuf;
use std::sync::Mutex;

use clap::Args;
use wordline_lab::calibrate::{Parameters, Questions, Task, calibrate, report};
use wordline_lab::conditions::LotSize;
use wordline_lab::reproduce::select;
use wordline_lab::seeds::FITTED;
use wordline_plan::Chip;
use wordline_runs::parallel;

use crate::characterize::chip_files;
use crate::failure::Failure;
use crate::files;
use crate::places::Places;
use crate::progress::Board;

#[derive(Clone, Debug, Args)]
pub(crate) struct CalibrateOptions {
    /// The chip's name or file. The search starts from its values.
    #[arg(long, default_value = wordline_lab::CHIP, value_name = "CHIP|FILE")]
    pub(crate) chip: String,
    /// The chip whose studies are measured on --chip. By default itself, or tlc48 where --chip is a file.
    #[arg(long, value_name = "CHIP")]
    pub(crate) like: Option<String>,
    /// Values that move: scalars (physics.wear.noise), sections (physics.wear), or physics for all.
    #[arg(long, default_value = "physics", value_name = "KEY,...", value_delimiter = ',')]
    pub(crate) free: Vec<String>,
    /// Values among them that do not move.
    #[arg(long, value_name = "KEY,...", value_delimiter = ',')]
    pub(crate) fixed: Vec<String>,
    /// Studies, groups of studies or claims whose readings decide.
    #[arg(long, default_value = "cells", value_name = "NAME,...", value_delimiter = ',')]
    pub(crate) studies: Vec<String>,
    /// Seeds of the lots, both ends included. Seeds from 7 on judge.
    #[arg(long, default_value = "1..6", value_name = "N|N..N")]
    pub(crate) seeds: String,
    /// Most chips and blocks of each in a lot (default: as each study has it). Small lots have smaller extremes.
    #[arg(long, value_name = "CxB")]
    pub(crate) lot: Option<String>,
    /// Largest number of steps.
    #[arg(long, default_value_t = 3, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) iterations: u32,
    /// Share of a value by which it moves to measure its effect.
    #[arg(long, default_value = "2 %", value_name = "PERCENT")]
    pub(crate) step: String,
    /// Measure the effect of each value, and change none.
    #[arg(long, conflicts_with = "out")]
    pub(crate) jacobian_only: bool,
    /// Change a value of the chip before the search. May be given several times.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) settings: Vec<String>,
    /// Write a chip file that inherits from --chip and has the values found.
    #[arg(long, value_name = "FILE.toml")]
    pub(crate) out: Option<PathBuf>,
    /// Number of threads (default: the number of cores). Results do not depend on it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1024))]
    pub(crate) threads: Option<u64>,
    /// Print no progress on standard error.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

pub(crate) fn run(options: &CalibrateOptions) -> Result<(), Failure> {
    let step = step(&options.step)?;
    let seeds = seeds(&options.seeds)?;
    let lot = options.lot.as_deref().map(LotSize::read).transpose().map_err(|what| Failure::Usage(format!("--lot: {what}")))?;
    let mut places = Places::reading(options.studies.iter().filter(|name| name.ends_with(".toml")));
    places.read(chip_files([&options.chip]));
    options.out.iter().try_for_each(|path| places.write(path))?;
    let chip = Chip::load_set(&options.chip, &options.settings)?;
    let own = if options.chip.ends_with(".toml") { wordline_lab::CHIP } else { &options.chip };
    let like = options.like.as_deref().unwrap_or(own);
    let task = Task {
        chip: options.chip.clone(),
        settings: options.settings.clone(),
        parameters: Parameters::choose(chip.physics(), &options.free, &options.fixed, step)?,
        questions: Questions::of(&select(&options.studies)?, like, &options.chip, &seeds, lot)?,
        step,
        iterations: if options.jacobian_only { 0 } else { options.iterations },
        threads: options.threads.map_or_else(parallel::cores, |threads| threads as usize),
    };
    if let Some(seed) = seeds.iter().find(|seed| **seed > FITTED) {
        eprintln!("wordline: seed {seed} judges claims of the chips that come with Wordline; on it, nothing is known of a chip found here");
    }
    // One for the slopes of each value, and some to try each step.
    let chips = 1 + task.iterations.max(1) as usize * (task.parameters.free.len() + 1);
    let counter = Mutex::new(Board::new(options.quiet).count("calibrate", "chips", chips as u64));
    let heard = |done: usize, bench: &str| {
        if let Ok(mut counter) = counter.lock() {
            counter.at(done as u64, bench);
        }
    };
    let found = calibrate(&task, &heard)?;
    if let Ok(counter) = counter.lock() {
        counter.finish();
    }
    files::write_or_print("-", report::text(&task, &found).trim_end())?;
    if let Some(path) = &options.out {
        files::write(path, report::chip_file(&task, &found, &command(options)).as_bytes())?;
    }
    Ok(())
}

/// The command that finds the same values again.
fn command(options: &CalibrateOptions) -> String {
    let mut words = vec![format!("wordline chip calibrate --chip {}", options.chip)];
    words.extend(options.like.iter().map(|like| format!("--like {like}")));
    words.push(format!("--free {}", options.free.join(",")));
    words.extend((!options.fixed.is_empty()).then(|| format!("--fixed {}", options.fixed.join(","))));
    words.push(format!("--studies {} --seeds {}", options.studies.join(","), options.seeds));
    words.extend(options.lot.iter().map(|lot| format!("--lot {lot}")));
    words.push(format!("--iterations {} --step '{}'", options.iterations, options.step));
    words.extend(options.settings.iter().map(|setting| format!("--set '{setting}'")));
    words.join(" ")
}

/// Most seeds of a calibration.
const SEEDS_MAX: u64 = 100;

/// Seeds from `3` or `1..6`.
fn seeds(text: &str) -> Result<Vec<u64>, Failure> {
    let refuse = |what: &str| Failure::Usage(format!("--seeds \"{}\": {what}", wordline_plan::shown(text)));
    let (first, last) = text.split_once("..").unwrap_or((text, text));
    let number = |word: &str| word.trim().parse::<u64>().map_err(|_| refuse("expected a seed, or the first and the last, such as 1..6"));
    let (first, last) = (number(first)?, number(last)?);
    match (first, last) {
        (0, _) => Err(refuse("seeds count from 1")),
        _ if first > last => Err(refuse("the last seed is before the first")),
        _ if last - first >= SEEDS_MAX => Err(refuse("expected at most 100 seeds")),
        _ => Ok((first..=last).collect()),
    }
}

/// A share from `2 %`.
fn step(text: &str) -> Result<f64, Failure> {
    let refuse = |what: &str| Failure::Usage(format!("--step \"{}\": {what}", wordline_plan::shown(text)));
    let number = text.trim().strip_suffix('%').ok_or_else(|| refuse("expected per cent, such as \"2 %\""))?;
    match number.trim().parse::<f64>() {
        Ok(percent) if (0.01..=50.0).contains(&percent) => Ok(percent / 100.0),
        Ok(_) => Err(refuse("expected 0.01 % to 50 %")),
        Err(_) => Err(refuse("expected per cent, such as \"2 %\"")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_include_both_ends() {
        assert_eq!(seeds("1..6").ok(), Some((1..=6).collect()));
        assert_eq!(seeds("3").ok(), Some(vec![3]));
        for text in ["", "0", "6..1", "1..", "a", "1..200", "-1", "1,2"] {
            assert!(seeds(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_step_is_per_cent() {
        assert_eq!((step("2 %").ok(), step("0.5%").ok()), (Some(0.02), Some(0.005)));
        for text in ["2", "0 %", "90 %", "x %", "%", "nan %"] {
            assert!(step(text).is_err(), "{text}");
        }
    }
}
