//! `wordline run`.

use wordline_report::{DriveDetail, Report, html, table, text};

use crate::args::{OutputOptions, RunOptions};
use crate::failure::Failure;
use crate::files;
use crate::input::{Workload, only_for_traces};
use crate::progress::Board;
use crate::simulate::Job;
use crate::snapshot;

pub(crate) fn run(options: &RunOptions) -> Result<(), Failure> {
    let (plan, image) = match &options.from {
        Some(path) => snapshot::load(path).map(|saved| (options.options.seeded(saved.plan), Some(saved.image)))?,
        None => (options.options.load(options.drive.as_deref().unwrap_or("pageftl"), &[])?.0, None),
    };
    let workload = Workload::load(&options.workload, &options.load)?;
    only_for_traces(std::slice::from_ref(&workload), &options.load)?;
    check_places(&options.output)?;
    options.save.iter().try_for_each(|path| files::check_writable(path))?;
    let requests = options.output.parquet.as_ref().map(|folder| folder.join("requests.parquet"));
    let job = Job {
        plan: &plan,
        workload: &workload,
        load: &options.load,
        requests,
        image,
        vertrace: options.vertrace.then_some(&options.plot_files),
        save: options.save.as_deref(),
    };
    let outcome = job.run(Board::new(options.output.quiet).line(plan.name()))?;
    let shown = text::run(&outcome.result);
    let report = Report::new(vec![outcome.result]);
    write(&options.output, &report, vec![Tables { of: String::new(), details: vec![outcome.detail] }], &shown)
}

/// Refuse places that cannot be written before the run, not after it.
pub(crate) fn check_places(output: &OutputOptions) -> Result<(), Failure> {
    if let Some(folder) = &output.parquet {
        std::fs::create_dir_all(folder).map_err(|error| Failure::File { path: folder.clone(), error })?;
    }
    let json = output.json.as_deref().filter(|&name| name != "-").map(std::path::Path::new);
    json.into_iter().chain(output.html.as_deref()).try_for_each(files::check_writable)
}

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
        files::write_or_print("-", shown)?;
    }
    if let Some(name) = &output.json {
        files::write_or_print(name, &report.to_json())?;
    }
    if let Some(path) = &output.html {
        files::write(path, html::page(report, &details).as_bytes())?;
        eprintln!("wordline: charts in {}", path.display());
    }
    if let Some(folder) = &output.parquet {
        for (name, details) in names.iter().zip(&details) {
            let (pending, file) = files::Pending::create(&folder.join(format!("intervals{name}.parquet")))?;
            drop(table::write_intervals(file, details)?);
            pending.finish()?;
        }
        eprintln!("wordline: tables in {}", folder.display());
    }
    let broken: Vec<String> = report.violations().map(|broken| format!("  {}: {}", broken.run(), broken.violation)).collect();
    if broken.is_empty() { Ok(()) } else { Err(Failure::Checks(broken.join("\n"))) }
}
