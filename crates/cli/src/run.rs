//! `wordline run`.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use wordline_figures::{DriveDetail, DriveResult, Interval, Report};
use wordline_pages::table::Format;
use wordline_pages::timeline::Timeline;
use wordline_pages::{html, json, table, text};
use wordline_plan::{KeptFor, Plan, read_text};
use wordline_runs::{Inspection, Job, Lying, Plotted, RunError, Schedule, saved};
use wordline_units::Nanos;
use wordline_workload::spec::read_time;
use wordline_workload::trace;

use crate::args::{OutputOptions, RunOptions};
use crate::command;
use crate::failure::Failure;
use crate::files;
use crate::load;
use crate::logs::LogFiles;
use crate::places::Places;
use crate::progress::Board;
use crate::timeline;

pub(crate) fn run(options: &RunOptions) -> Result<(), Failure> {
    let (plan, image) = match &options.from {
        Some(path) => {
            let saved = saved::load(path)?;
            (options.options.seeded(saved.plan)?, Some((saved.image, saved.digest)))
        }
        None => (options.options.load(options.drive.as_deref().unwrap_or("pageftl"), &[])?.0, None),
    };
    let lying = lying(options, &plan)?;
    let load = options.length.of(options.load.load()?)?;
    let workload = load::workload(&options.workload, &load)?;
    load.check(workload.is_trace())?;
    let faults = faults(options)?;
    faults.check(&plan.build().sheet.geometry).map_err(RunError::from)?;
    let (name, made_by) = (command::workload_name(&options.workload)?, command::made_by([&plan]));
    let mut places = Places::reading(plan.files());
    places.read(options.from.iter().chain(&options.faults));
    places.read(trace::files(Path::new(&options.workload)));
    let inspection = inspection(options, &plan)?;
    let tables: &[&str] = if inspection.is_some() { &["intervals", "requests", BLOCKS] } else { &["intervals", "requests"] };
    check_places(&options.output, &mut places, tables)?;
    options.save.iter().chain(&options.timeline.trace_out).try_for_each(|path| places.write(path))?;
    let interval = interval(&options.output)?;
    let timeline = Timeline::new(timeline::window(&options.timeline)?);
    let (files, logs) = LogFiles::begin(&table_files(&options.output, "requests"))?;
    let job = Job::new(&plan, &workload, &load)
        .named(&name, &made_by)
        .with_interval(interval)
        .on(image)
        .tracing(options.vertrace.then(|| plotted(&options.plot_files)))
        .keeping(options.save.is_some())
        .inspecting(inspection)
        .after_lying(lying)
        .with_faults(Some(&faults).filter(|faults| !faults.is_empty()));
    let mut line = Board::new(options.output.quiet).line(plan.name());
    let outcome = job.run((logs, timeline), &mut line)?;
    if let (Some(path), Some((image, tags))) = (&options.save, &outcome.kept) {
        save(path, saved::to_bytes(&plan, image, tags.as_ref()))?;
    }
    let (logs, timeline) = outcome.beside;
    files.finish(logs)?;
    line.finish();
    options.timeline.trace_out.iter().try_for_each(|path| timeline::write(path, &timeline))?;
    let (shown, unserved) = (text::run(&outcome.result), unserved(&outcome.result));
    let report = Report::new(vec![outcome.result]).with_made_by(made_by);
    write(&options.output, &report, vec![Tables { of: String::new(), details: vec![outcome.detail] }], &shown)?;
    match unserved.filter(|_| !options.may_fail && !plan.may_fail()) {
        None => Ok(()),
        Some(told) => Err(Failure::Unserved(told)),
    }
}

/// The time for which the saved drive of `plan` lies without power before the run.
fn lying(options: &RunOptions, plan: &Plan) -> Result<Option<Lying>, Failure> {
    let (Some(from), Some(text)) = (&options.from, &options.options.plan.cells.state.retention) else { return Ok(None) };
    let kept = KeptFor::read(text).map_err(|why| Failure::Usage(format!("--retention {text}: {why}")))?;
    let own = plan.kept_at().ok_or_else(|| {
        let what = "the cells of this drive have no physics, and nothing in it grows older: leave --retention out";
        Failure::Usage(format!("--retention {text} of {}: {what}", from.display()))
    })?;
    Ok(Some(Lying { seconds: kept.seconds as f64, at: kept.at.unwrap_or(own) }))
}

/// The inspection of the cells that was asked for.
fn inspection(options: &RunOptions, plan: &Plan) -> Result<Option<Inspection>, Failure> {
    if options.cells && plan.build().cells.is_none() {
        let what = "its cells have no physics, and --cells inspects them: expected a drive whose chip has [physics.*]";
        return Err(Failure::Usage(format!("{}: {what}", plan.name())));
    }
    Ok(options.cells.then_some(Inspection::Ages))
}

/// Sentence on the requests that failed and were not lost with a part that was to fail; `None`: there were none.
fn unserved(result: &DriveResult) -> Option<String> {
    let failed = result.host.failed - result.lost.map_or(0, |lost| lost.failed).min(result.host.failed);
    (failed > 0).then(|| format!("{} failed {failed} of {} requests", result.name, result.host.asked()))
}

/// The faults that were asked for: those of the file, then those of single options.
fn faults(options: &RunOptions) -> Result<Schedule, Failure> {
    let mut faults = Schedule::default();
    if let Some(path) = &options.faults {
        let text = read_text(path).map_err(|error| Failure::File { path: path.clone(), error })?;
        faults.append(Schedule::parse(&text, &path.display().to_string()).map_err(RunError::from)?);
    }
    options.kill_die.iter().try_for_each(|text| faults.kill_die(text)).map_err(RunError::from)?;
    Ok(faults)
}

/// The files whose counts over time are kept: those with these numbers, or one of each set.
fn plotted(files: &[u32]) -> Plotted {
    if files.is_empty() { Plotted::OfEachSet(1) } else { Plotted::Files(files.to_vec()) }
}

/// Write a drive to be saved; returns how many bytes the file has.
pub(crate) fn save(path: &Path, drive: std::io::Result<Vec<u8>>) -> Result<u64, Failure> {
    let bytes = drive.map_err(|error| Failure::File { path: path.to_owned(), error })?;
    files::write(path, &bytes)?;
    Ok(bytes.len() as u64)
}

/// The length of intervals that was asked for.
pub(crate) fn interval(output: &OutputOptions) -> Result<Interval, Failure> {
    let Some(text) = &output.interval else { return Ok(Interval::default()) };
    match read_time(text) {
        Ok(Nanos::ZERO) => Err(Failure::Usage("--interval: an interval is longer than 0".to_owned())),
        Ok(width) => Ok(Interval::Fixed(width)),
        Err(what) => Err(Failure::Usage(format!("--interval: {what}"))),
    }
}

/// The folders of tables that were asked for.
fn folders(output: &OutputOptions) -> impl Iterator<Item = (Format, &PathBuf)> {
    let folders = [(Format::Parquet, &output.parquet), (Format::Csv, &output.csv)];
    folders.into_iter().filter_map(|(format, folder)| folder.as_ref().map(|folder| (format, folder)))
}

/// The files of the table called `name`.
pub(crate) fn table_files(output: &OutputOptions, name: &str) -> Vec<PathBuf> {
    folders(output).map(|(format, folder)| folder.join(format!("{name}.{}", format.ending()))).collect()
}

/// Refuse places that cannot be written before the run, not after it. `tables`: the names of the tables that are written in every format.
pub(crate) fn check_places<S: AsRef<str>>(output: &OutputOptions, places: &mut Places, tables: &[S]) -> Result<(), Failure> {
    for (_, folder) in folders(output) {
        std::fs::create_dir_all(folder).map_err(|error| Failure::File { path: folder.clone(), error })?;
    }
    tables.iter().flat_map(|name| table_files(output, name.as_ref())).try_for_each(|path| places.claim(&path))?;
    if let Some(folder) = &output.csv {
        [RUNS, RATIOS, SWEEP].iter().try_for_each(|name| places.claim(&folder.join(name)))?;
    }
    let json = output.json.as_deref().filter(|&name| name != "-").map(Path::new);
    json.into_iter().try_for_each(|path| places.write(path))?;
    output.html.iter().try_for_each(|path| places.write_page(path))
}

/// `shown`, with what has failed in red where somebody sees colours.
fn painted(shown: &str) -> String {
    if !std::io::stdout().is_terminal() || std::env::var_os("NO_COLOR").is_some() {
        return shown.to_owned();
    }
    let is_bad = |line: &str| {
        ["FAILED", "WORN OUT", "CHECKS FAILED", "requests failed", "worn out after"].iter().any(|word| line.trim_start().starts_with(word))
    };
    let is_doubtful = |line: &str| line.trim_start().starts_with("WARNING");
    let paint = |line: &str| match (is_bad(line), is_doubtful(line)) {
        (true, _) => format!("\u{1b}[31m{line}\u{1b}[0m"),
        (_, true) => format!("\u{1b}[33m{line}\u{1b}[0m"),
        _ => line.to_owned(),
    };
    shown.lines().map(paint).collect::<Vec<_>>().join("\n")
}
const BLOCKS: &str = "blocks";
const RUNS: &str = "runs.csv";
const RATIOS: &str = "ratios.csv";
const SWEEP: &str = "sweep.csv";

/// What charts and tables of intervals are made of, for one workload at one age.
pub(crate) struct Tables {
    /// What stands in the name of their file, where there are several.
    pub(crate) of: String,
    pub(crate) details: Vec<DriveDetail>,
}

/// Print and write everything that was asked for, then speak up if a check was broken.
pub(crate) fn write(output: &OutputOptions, report: &Report, tables: Vec<Tables>, shown: &str) -> Result<(), Failure> {
    let (names, details): (Vec<String>, Vec<Vec<DriveDetail>>) = tables.into_iter().map(|tables| (tables.of, tables.details)).unzip();
    if output.json.as_deref() != Some("-") {
        let again = report.made_by.as_ref().map(|made| format!("  {:<13}{}\n", "again", made.command)).unwrap_or_default();
        files::write_or_print("-", &painted(&format!("{shown}{again}")))?;
    }
    if let Some(name) = &output.json {
        files::write_or_print(name, &json(report))?;
    }
    if let Some(path) = &output.html {
        files::write(path, html::page(report, &details).as_bytes())?;
        eprintln!("wordline: charts in {}", path.display());
    }
    tell_widened(output, &details)?;
    for (format, folder) in folders(output) {
        for (name, details) in names.iter().zip(&details) {
            let (pending, file) = files::Pending::create(&folder.join(format!("intervals{name}.{}", format.ending())))?;
            let about =
                report.made_by.as_ref().map(|made| table::about(made, details.iter().map(|detail| &detail.run))).unwrap_or_default();
            drop(table::write_intervals(format, file, details, &about)?);
            pending.finish()?;
            // Only `run` inspects cells, and has one drive.
            for detail in details.iter().filter(|detail| !detail.cells.is_empty()) {
                let (pending, file) = files::Pending::create(&folder.join(format!("{BLOCKS}{name}.{}", format.ending())))?;
                drop(table::write_blocks(format, file, detail, &about)?);
                pending.finish()?;
            }
        }
        eprintln!("wordline: tables in {}", folder.display());
    }
    if let Some(folder) = &output.csv {
        write_csv(&folder.join(RUNS), |to| table::write_runs(to, report))?;
        if report.comparison.is_some() || report.cells.iter().any(|cell| cell.comparison.is_some()) {
            write_csv(&folder.join(RATIOS), |to| table::write_ratios(to, report))?;
        }
        if report.sweep.is_some() {
            write_csv(&folder.join(SWEEP), |to| table::write_sweep(to, report))?;
        }
    }
    let broken: Vec<String> = report.violations().map(|broken| format!("  {}: {}", broken.run(), broken.violation)).collect();
    if broken.is_empty() { Ok(()) } else { Err(Failure::Checks(broken.join("\n"))) }
}

fn write_csv(path: &Path, fill: impl FnOnce(Vec<u8>) -> std::io::Result<Vec<u8>>) -> Result<(), Failure> {
    let text = fill(Vec::new()).map_err(|error| Failure::File { path: path.to_owned(), error })?;
    files::write(path, &text)
}

/// Say where intervals are longer than was asked for, because there would have been too many.
fn tell_widened(output: &OutputOptions, details: &[Vec<DriveDetail>]) -> Result<(), Failure> {
    let Interval::Fixed(asked) = interval(output)? else { return Ok(()) };
    for detail in details.iter().flatten() {
        // The last one ends with the run.
        let Some(width) = detail.rows.first().map(|row| row.width).filter(|width| detail.rows.len() > 1 && *width > asked) else {
            continue;
        };
        let most = Interval::FIXED_ROWS_MAX;
        eprintln!("wordline: {}: intervals of {asked} would be more than {most}; each is {width} long", detail.name);
    }
    Ok(())
}
