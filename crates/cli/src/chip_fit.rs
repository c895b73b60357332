//! `wordline chip fit`: a chip file from measured histograms, and how far to trust it.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use wordline_lab::LabError;
use wordline_lab::conditions::{pe_list, span};
use wordline_lab::fit::{Digest, Histograms, Origin, Outcome, Task, chip_file, figures, report};
use wordline_plan::Chip;

use crate::characterize::chip_files;
use crate::chip_calibrate::{self, CalibrateOptions};
use crate::failure::Failure;
use crate::files;
use crate::places::Places;

/// What to do with a chip.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum ChipTask {
    /// Fit a chip file to measured histograms of threshold voltages, and judge it on conditions it did not see.
    Fit(ChipFitOptions),
    /// Calibrate scalars of a chip's physics to what sources state, by least squares on the readings of studies.
    Calibrate(CalibrateOptions),
}

#[derive(Clone, Debug, Args)]
pub(crate) struct ChipFitOptions {
    /// Histograms: CSV with the columns model,WL,Retention,PEC,step,freq (plain, .gz or .zst).
    pub(crate) file: PathBuf,
    /// What a read-voltage step is, such as "40 mV"; "normalised": as much as makes the states span what those of --like do.
    #[arg(long, value_name = "VOLTAGE|normalised")]
    pub(crate) step: Option<String>,
    /// The chip that gives everything histograms do not tell, its wordlines to an h-layer included.
    #[arg(long, default_value = wordline_lab::CHIP, value_name = "CHIP|FILE")]
    pub(crate) like: String,
    /// The time that the retention index with the most charge loss stands for; files give none.
    #[arg(long, default_value = "1y", value_name = "TIME")]
    pub(crate) anchor: String,
    /// P/E counts to keep from the fit and judge it by, such as pe=3000,7000.
    #[arg(long, value_name = "pe=N,...")]
    pub(crate) hold_out: Option<String>,
    /// Fit again without each P/E count in turn, and judge that.
    #[arg(long)]
    pub(crate) leave_one_out: bool,
    /// Judge the fit by this file as well, which it never sees.
    #[arg(long, value_name = "FILE")]
    pub(crate) against: Option<PathBuf>,
    /// What was measured and by whom, for the source of every fitted value; the file's name by default.
    #[arg(long, value_name = "TEXT")]
    pub(crate) source: Option<String>,
    /// Write the chip file.
    #[arg(long, value_name = "FILE.toml")]
    pub(crate) out: Option<PathBuf>,
    /// Write one self-contained HTML page with residual plots.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Write the figures as a page of Markdown, with a picture beside it.
    #[arg(long, value_name = "FILE.md")]
    pub(crate) report: Option<PathBuf>,
}

pub(crate) fn run(task: &ChipTask) -> Result<(), Failure> {
    match task {
        ChipTask::Fit(options) => fit(options),
        ChipTask::Calibrate(options) => chip_calibrate::run(options),
    }
}

fn fit(options: &ChipFitOptions) -> Result<(), Failure> {
    let usage = |what: String| Failure::Usage(what);
    let step = step(options.step.as_deref())?;
    let anchor_seconds = span(&options.anchor).map_err(|what| usage(format!("--anchor: {what}")))?;
    if anchor_seconds < 1.0 {
        return Err(usage(format!("--anchor {}: expected a second or more", options.anchor)));
    }
    let mut places = Places::reading([&options.file].into_iter().chain(&options.against));
    places.read(chip_files([&options.like]));
    [&options.out, &options.report].into_iter().flatten().try_for_each(|path| places.write(path))?;
    options.report.iter().try_for_each(|path| places.write(&picture(path)))?;
    options.html.iter().try_for_each(|path| places.write_page(path))?;
    let like = Chip::load(&options.like)?;
    let digest = digest(&options.file, &like)?;
    let known = digest.pe();
    let held_out = held_out(options.hold_out.as_deref(), &known, &options.file)?;
    if known.len() - held_out.len() < 2 {
        return Err(usage(format!(
            "{}: a fit needs two P/E counts or more, and sees {}",
            options.file.display(),
            known.len() - held_out.len()
        )));
    }
    let states = like.physics().shape.states() - 1;
    if states != digest.states {
        return Err(usage(format!(
            "{}: {} programmed states, where {} has {states}; give another chip with --like",
            options.file.display(),
            digest.states,
            options.like
        )));
    }
    let against = options.against.as_deref().map(|path| digest_against(path, &like, &digest)).transpose()?;
    let voltage = match step {
        Some(millivolts) => Task::with_step(&digest, like.physics(), millivolts),
        None => Task::normalised(&digest, like.physics()),
    };
    let task = Task { digest: &digest, like: like.physics(), voltage, anchor_seconds, held_out: &held_out, once: None };
    let outcome = Outcome::of(&task, options.leave_one_out, against.as_ref())
        .ok_or_else(|| usage(format!("{}: no chip has such histograms: the fit does not end in a possible one", options.file.display())))?;
    files::write_or_print("-", &report::text(&outcome))?;
    write(options, &task, &outcome)
}

/// Writes what was asked for.
fn write(options: &ChipFitOptions, task: &Task<'_>, outcome: &Outcome) -> Result<(), Failure> {
    let named = |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let name = options.out.as_deref().map_or_else(|| named(&options.file), named);
    let measured = options.source.clone().unwrap_or_else(|| options.file.file_name().unwrap_or_default().to_string_lossy().into_owned());
    let origin = Origin { like: options.like.clone(), measured, residual: outcome.residual() };
    if let Some(path) = &options.out {
        files::write(path, chip_file(task, &outcome.subject, &origin).as_bytes())?;
    }
    if let Some(path) = &options.html {
        files::write(path, figures::page(outcome, task.digest, &name).as_bytes())?;
        eprintln!("wordline: residual plots in {}", path.display());
    }
    if let Some(path) = &options.report {
        files::write(&picture(path), figures::misreads(outcome).svg().as_bytes())?;
        let picture = picture(path).file_name().unwrap_or_default().to_string_lossy().into_owned();
        files::write(path, report::markdown(outcome, &name, &origin, &command(options), &picture).as_bytes())?;
    }
    Ok(())
}

/// The picture beside a report.
fn picture(report: &Path) -> PathBuf {
    report.with_extension("svg")
}

/// What was typed, without what only shows.
fn command(options: &ChipFitOptions) -> String {
    let file = options.file.file_name().unwrap_or_default().to_string_lossy();
    let mut command = format!("wordline chip fit {file} --step \"{}\"", options.step.as_deref().unwrap_or_default());
    let mut add = |flag: &str, value: Option<String>| {
        if let Some(value) = value {
            command += &format!(" {flag} {value}");
        }
    };
    let path = |path: &Option<PathBuf>| path.as_ref().map(|path| path.display().to_string());
    add("--like", Some(options.like.clone()).filter(|like| like != wordline_lab::CHIP));
    add("--anchor", Some(options.anchor.clone()).filter(|anchor| anchor != "1y"));
    add("--hold-out", options.hold_out.clone());
    add("--leave-one-out", options.leave_one_out.then(String::new));
    add("--against", path(&options.against));
    add("--source", options.source.as_ref().map(|source| format!("\"{source}\"")));
    add("--out", path(&options.out));
    add("--report", path(&options.report));
    command.replace("  ", " ")
}

/// A voltage in millivolts, or `None` for normalised.
fn step(text: Option<&str>) -> Result<Option<f64>, Failure> {
    let help = "write --step \"40 mV\" if the file's steps are known, or --step normalised";
    let Some(text) = text else { return Err(Failure::Usage(format!("the file gives its steps no unit; {help}"))) };
    if text == "normalised" {
        return Ok(None);
    }
    let (digits, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len()));
    let size = match unit.trim() {
        "mV" => 1.0,
        "V" => 1000.0,
        _ => return Err(Failure::Usage(format!("--step \"{text}\" is no voltage; {help}"))),
    };
    match digits.parse::<f64>().map(|number| number * size) {
        Ok(millivolts) if (0.1..=1000.0).contains(&millivolts) => Ok(Some(millivolts)),
        _ => Err(Failure::Usage(format!("--step \"{text}\": expected 0.1 mV to 1 V; {help}"))),
    }
}

fn digest(path: &Path, like: &Chip) -> Result<Digest, Failure> {
    let histograms = Histograms::open(path).map_err(|error| LabError::Usage(error.to_string()))?;
    let per_layer = like.physics().shape.wordlines_per_layer as usize;
    Digest::of(&histograms, per_layer).ok_or_else(|| {
        let count = histograms.wordlines.len();
        Failure::Usage(format!(
            "{}: {count} wordlines do not fill whole h-layers of {per_layer}, as {} has; give another chip with --like",
            path.display(),
            like.name()
        ))
    })
}

/// A file to judge by must be of the same kind.
fn digest_against(path: &Path, like: &Chip, fitted: &Digest) -> Result<Digest, Failure> {
    let other = digest(path, like)?;
    let alike = (other.states, other.layers(), other.retentions()) == (fitted.states, fitted.layers(), fitted.retentions());
    if alike {
        return Ok(other);
    }
    Err(Failure::Usage(format!(
        "{}: {} states, {} layers and retention indices {:?}, where the fitted file has {}, {} and {:?}",
        path.display(),
        other.states,
        other.layers(),
        other.retentions(),
        fitted.states,
        fitted.layers(),
        fitted.retentions()
    )))
}

/// The P/E counts that are held out; one that the file does not have cannot be judged, and is no mistake to pass over.
fn held_out(text: Option<&str>, known: &[u32], path: &Path) -> Result<Vec<u32>, Failure> {
    let Some(text) = text else { return Ok(Vec::new()) };
    let Some(list) = text.strip_prefix("pe=") else {
        return Err(Failure::Usage(format!("--hold-out {text}: expected pe= and P/E counts, such as pe=3000,7000")));
    };
    let counts = pe_list(list).map_err(|what| Failure::Usage(format!("--hold-out {text}: {what}")))?;
    let mut held = Vec::new();
    for count in counts {
        match known.iter().find(|&&pe| pe == count) {
            Some(&pe) => held.push(pe),
            None => return Err(Failure::Usage(format!("--hold-out: {} has no P/E count of {count}; it has {known:?}", path.display()))),
        }
    }
    Ok(held)
}
