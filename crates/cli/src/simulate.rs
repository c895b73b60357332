//! One run: a drive, a workload, a seed.

use std::path::{Path, PathBuf};

use wordline_drive::image::Image;
use wordline_drive::{Config, Drive, Pace};
use wordline_engine::{BlockView, Observer};
use wordline_lab::filed::{Files, identity, vertrace};
use wordline_plan::Plan;
use wordline_report::table::{Format, RequestLog};
use wordline_report::{Asked, DriveDetail, DriveResult, HLayer, Interval, MadeBy, Metrics, Scope, Violation, WorkloadName, conclude};
use wordline_units::Nanos;

use crate::args::LoadOptions;
use crate::cost::Stopwatch;
use crate::failure::Failure;
use crate::files::Pending;
use crate::input::{Source, Stage, Workload};
use crate::prefill::prefill_reads;
use crate::progress::Line;
use crate::snapshot;
use crate::steady::Rounds;
use crate::tags::Tags;
use crate::watch::Watch;

/// How many requests are served between two looks at the clock.
const CHUNK: u64 = 20_000;

/// What a run leaves.
pub(crate) struct Outcome {
    pub(crate) result: DriveResult,
    pub(crate) detail: DriveDetail,
}

/// A run to be made.
pub(crate) struct Job<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) workload: &'a Workload,
    pub(crate) load: &'a LoadOptions,
    /// What the workload is known again by.
    pub(crate) name: &'a WorkloadName,
    /// How the results are made again.
    pub(crate) made_by: &'a MadeBy,
    /// Where logs of requests go, each in the format that its name's ending says.
    pub(crate) requests: Vec<PathBuf>,
    /// How long an interval of charts and tables is.
    pub(crate) interval: Interval,
    /// The drive to start from, instead of a new one.
    pub(crate) image: Option<Image>,
    /// Whether versions of files are traced, and which files are plotted.
    pub(crate) vertrace: Option<&'a [u32]>,
    /// Where the drive is saved after the run.
    pub(crate) save: Option<&'a Path>,
}

impl Job<'_> {
    /// Make the run.
    pub(crate) fn run(self, line: Line) -> Result<Outcome, Failure> {
        let config = self.plan.build();
        let mut source = Source::new(self.workload, self.load, config.seed, config.exported())?;
        let Some(plotted) = self.vertrace else {
            return self.watched(line, config, source, ());
        };
        let Some(files) = source.files() else {
            return Err(Failure::Usage("--vertrace needs a workload of files, such as mobile; this one has none".to_owned()));
        };
        let (books, told) = vertrace(files, &config, plotted);
        source.tell(told);
        self.watched(line, config, source, books)
    }

    fn watched<F: Files>(mut self, mut line: Line, config: Config, mut source: Source, files: F) -> Result<Outcome, Failure> {
        let mut scope = Scope::new(&config.sheet.geometry, config.firmware.unit, config.cores);
        scope.h_layer = HLayer::of(&config.sheet.geometry, config.sheet.pages_per_program());
        scope.interval = self.interval;
        let mut stages = Vec::new();
        if let (Some(depth), _) | (None, Some(depth)) = (self.load.qd, only_depth(self.workload)) {
            scope.queue_depth = Some(depth);
        }
        let rounds =
            if self.load.until_steady { Some(Rounds::new(self.workload, self.load, config.exported(), scope.unit)?) } else { None };
        let (mut pending, mut logs) = (Vec::new(), Vec::new());
        for path in &self.requests {
            let format = if path.extension().is_some_and(|ending| ending == "csv") { Format::Csv } else { Format::Parquet };
            let (place, file) = Pending::create(path)?;
            pending.push(place);
            logs.push(RequestLog::new(format, file, Nanos::ZERO)?);
        }
        let units = config.exported_units;
        let filled = match (source.files(), &self.load.fill) {
            // The drive holds what the file system believes it does, as far as that is whole units.
            (Some(files), _) => files.prefilled().0 / config.firmware.unit.0,
            (None, Some(text)) => (units as f64 * percent(text)?) as u64,
            (None, None) if self.load.until_steady => units,
            (None, None) => (units as f64 * self.plan.initial_fill()) as u64,
        };
        let mut asked = Asked { workload: self.name.clone(), age: self.plan.age(), cells: self.plan.cells(), ..Asked::default() };
        if self.image.is_none() {
            asked.fill = Some(filled as f64 / units as f64);
        }
        let watch = Watch { metrics: Metrics::new(scope), logs, files };
        let mut drive = match self.image.take() {
            Some(image) => {
                let mut drive = Drive::from_image(config, image, watch).map_err(|error| Failure::Usage(error.to_string()))?;
                asked.prefilled_reads = self.prefill(&mut drive)?;
                drive
            }
            None => {
                let mut drive = Drive::new(config, watch);
                drive.construct_filled(filled);
                asked.prefilled_reads = self.prefill(&mut drive)?;
                if let Some(age) = drive.config().cells.as_ref().and_then(|cells| cells.age) {
                    drive.set_age(&age);
                }
                drive
            }
        };
        let mut identity = identity(self.plan, 0, false);
        identity.asked = Some(asked);
        let about = self.made_by.about(std::iter::once(&identity.run_name()));
        drive.observer.logs.iter_mut().for_each(|log| log.mark(&about));
        if F::FOLLOWS {
            let mapped: Vec<_> = drive.mapped().collect();
            drive.observer.files.begin(mapped.into_iter());
        }
        let valid_before = valid_units(&drive);

        let mut watch = Stopwatch::start();
        let mut left = self.load.requests.unwrap_or(u64::MAX);
        let mut steady = false;
        while let Some(stage) = source.next_stage() {
            stages.push(stage.name.clone());
            let now = drive.now();
            drive.observer.begin_phase(now, &stage.name, stage.depth);
            line.expect(stage.total.map(|total| drive.completed() + total.min(left)));
            if let Some(rounds) = rounds.as_ref().filter(|_| is_last(self.workload, stages.len())) {
                steady = rounds.run(&mut drive, &mut source, &stage, &mut line, &mut watch);
                break;
            }
            left = left.saturating_sub(serve(&mut drive, &mut source, &stage, left, &mut line));
            if left == 0 {
                break;
            }
        }
        if let Some(error) = source.failure() {
            return Err(error.into());
        }
        let cost = watch.read();
        let held = u64::from(drive.outstanding());
        let mut measured = drive.observer.metrics.clone().finish(drive.now(), held);
        measured.buffered_units = Some(drive.buffered_units());
        let blocks: Vec<BlockView> = drive.blocks().collect();
        (identity.event_log_hash, identity.steady) = (drive.log().hash(), steady);
        let (mut result, detail) = conclude(&identity, &measured, &blocks, cost);
        result.vertrace = drive.observer.files.conclude();
        // What follows is none of the workload's.
        let logs = std::mem::take(&mut drive.observer.logs);
        line.update(drive.completed(), drive.now(), "checking");
        let mut violations = self.check_books(&mut drive, valid_before)?;
        violations.retain(|violation| !result.checks.violations.contains(violation));
        result.checks.violations.append(&mut violations);
        drive
            .observer
            .files
            .check(drive.mapped())
            .map_err(|problem| Failure::Checks(format!("  {}: VerTrace: {problem}", self.plan.name())))?;
        if let Some(path) = self.save {
            line.update(drive.completed(), drive.now(), "saving");
            let image = drive.image().map_err(|error| Failure::Usage(error.to_string()))?;
            let tags = drive.observer.files.books().map(|books| Tags::of(&drive, books, source.insecure_files()));
            snapshot::save(path, self.plan, &image, tags.as_ref())?;
        }
        for (pending, log) in pending.into_iter().zip(logs) {
            drop(log.finish()?);
            pending.finish()?;
        }
        line.finish();
        Ok(Outcome { result, detail })
    }

    /// Write first what the trace reads first, where that was asked for.
    fn prefill<O: Observer>(&self, drive: &mut Drive<O>) -> Result<Option<u64>, Failure> {
        if self.load.prefill_reads { prefill_reads(drive, self.workload) } else { Ok(None) }
    }

    /// Bring the drive to rest and hold its books against each other: requests, valid units, and every table of the firmware against the flash.
    fn check_books<F: Files>(&self, drive: &mut Drive<Watch<F>>, valid_before: u64) -> Result<Vec<Violation>, Failure> {
        if self.load.until_steady || self.load.requests.is_some() {
            return Ok(drive.observer.metrics.violations());
        }
        drive.settle();
        let valid_after = valid_units(drive);
        drive.observer.metrics.check_valid_units(valid_before, valid_after);
        drive.audit().map_err(|problem| Failure::Checks(format!("  {}: {problem}", self.plan.name())))?;
        Ok(drive.observer.metrics.violations())
    }
}

/// Serve one stage, about `left` requests of it at most (one program may answer several requests at once); returns how many were served.
pub(crate) fn serve<F: Files>(drive: &mut Drive<Watch<F>>, source: &mut Source, stage: &Stage, left: u64, line: &mut Line) -> u64 {
    let origin = drive.now();
    let pace = pace(drive, stage);
    let mut served = 0;
    loop {
        let chunk = CHUNK.min(left - served.min(left));
        let done = drive.serve(source, pace, Some(chunk));
        served += done;
        line.update(drive.completed(), drive.now(), &stage.name);
        let late = stage.depth.is_some() && stage.time_limit.is_some_and(|limit| drive.now() - origin >= limit);
        if done < chunk || served >= left || late {
            break;
        }
    }
    if served < left {
        // The next stage starts on a drive that has answered everything.
        served += drive.serve(&mut std::iter::empty(), Pace::Closed { depth: 1 }, None);
    }
    served
}

/// How the requests of `stage` come, from now on.
pub(crate) fn pace<F: Files>(drive: &Drive<Watch<F>>, stage: &Stage) -> Pace {
    stage.depth.map_or(Pace::Open { origin: drive.now() }, |depth| Pace::Closed { depth })
}

fn valid_units<F: Files>(drive: &Drive<Watch<F>>) -> u64 {
    drive.blocks().map(|block| u64::from(block.valid)).sum()
}

/// The queue depth of the whole workload, if it has one.
fn only_depth(workload: &Workload) -> Option<u32> {
    match workload {
        Workload::Made(spec) if spec.phases.len() == 1 => match spec.phases[0].arrival {
            wordline_workload::spec::Arrival::Closed { queue_depth } => Some(queue_depth),
            wordline_workload::spec::Arrival::Open { .. } => None,
        },
        Workload::Filed(spec, changed) => Some(changed.queue_depth.unwrap_or(spec.queue_depth)),
        Workload::Made(_) | Workload::Traced(_) => None,
    }
}

fn is_last(workload: &Workload, stage: usize) -> bool {
    match workload {
        Workload::Made(spec) => stage == spec.phases.len(),
        Workload::Filed(..) | Workload::Traced(_) => true,
    }
}

/// A share such as "90 %", between 0 and 1.
pub(crate) fn percent(text: &str) -> Result<f64, Failure> {
    let number = text.trim().strip_suffix('%').map(str::trim_end);
    number
        .and_then(|number| number.parse::<f64>().ok())
        .filter(|value| (0.0..=100.0).contains(value))
        .map(|value| value / 100.0)
        .ok_or_else(|| Failure::Usage(format!("'{text}' is not a share: expected 0 % to 100 %, such as \"90 %\"")))
}
