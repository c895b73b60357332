//! The usual run: a workload on a drive, as it says or as options change it.

use std::collections::BTreeSet;

use wordline_drive::Config;
use wordline_drive::image::Image;
use wordline_figures::{DriveDetail, DriveResult, Interval, MadeBy, VerTrace, WorkloadName};
use wordline_pages::phrases::trace;
use wordline_plan::Plan;

use crate::error::RunError;
use crate::faults::Schedule;
use crate::files::{Files, Plotted, vertrace};
use crate::inspection::Inspection;
use crate::load::Load;
use crate::prepare::{Lying, Start, filled};
use crate::progress::Progress;
use crate::run::Run;
use crate::serve::Stages;
use crate::source::Source;
use crate::tags::Tags;
use crate::watch::Beside;
use crate::workload::Workload;

/// A run of a workload to be made.
#[derive(Debug)]
pub struct Job<'a> {
    plan: &'a Plan,
    workload: &'a Workload,
    load: &'a Load,
    named: Option<&'a WorkloadName>,
    made_by: Option<&'a MadeBy>,
    interval: Interval,
    /// Saved drive to begin with, and the digest of its file.
    image: Option<(Image, String)>,
    plotted: Option<Plotted>,
    is_kept: bool,
    faults: Option<&'a Schedule>,
    inspection: Option<Inspection>,
    lying: Option<Lying>,
}

/// Results of a run of a workload.
#[derive(Debug)]
pub struct Outcome<B> {
    /// The result.
    pub result: DriveResult,
    /// Its charts and tables.
    pub detail: DriveDetail,
    /// The observer beside the metrics.
    pub beside: B,
    /// The books of files, if they were kept, when the drive had come to rest.
    pub books: Option<VerTrace>,
    /// The drive at rest, if it was to be kept, and whose data it holds, if that is known.
    pub kept: Option<(Image, Option<Tags>)>,
}

impl<'a> Job<'a> {
    /// A run of `workload`, changed as `load` says, on a new drive of `plan`.
    pub fn new(plan: &'a Plan, workload: &'a Workload, load: &'a Load) -> Job<'a> {
        let interval = Interval::default();
        let (faults, inspection, lying) = (None, None, None);
        Job {
            plan,
            workload,
            load,
            named: None,
            made_by: None,
            interval,
            image: None,
            plotted: None,
            is_kept: false,
            faults,
            inspection,
            lying,
        }
    }

    /// The run with a result that says what was asked for, under this name of the workload, and tables that say how they are made again.
    pub fn named(self, name: &'a WorkloadName, made_by: &'a MadeBy) -> Job<'a> {
        Job { named: Some(name), made_by: Some(made_by), ..self }
    }

    /// The run with intervals of charts and tables of this length.
    pub fn with_interval(self, interval: Interval) -> Job<'a> {
        Job { interval, ..self }
    }

    /// The run of a drive that was saved, with the digest of its file, instead of a new one, if there is one.
    pub fn on(self, image: Option<(Image, String)>) -> Job<'a> {
        Job { image, ..self }
    }

    /// The run with books of the versions of files, if some are plotted.
    pub fn tracing(self, plotted: Option<Plotted>) -> Job<'a> {
        Job { plotted, ..self }
    }

    /// The run with the drive kept after it, or not.
    pub fn keeping(self, is_kept: bool) -> Job<'a> {
        Job { is_kept, ..self }
    }

    /// The run with these faults, if there are any, from the beginning of its load on.
    pub fn with_faults(self, faults: Option<&'a Schedule>) -> Job<'a> {
        Job { faults, ..self }
    }

    /// The run with this inspection of the cells at the end of its window, if there is one.
    pub fn inspecting(self, inspection: Option<Inspection>) -> Job<'a> {
        Job { inspection, ..self }
    }

    /// The run of a drive that lies without power before it, for this time if there is one.
    pub fn after_lying(self, lying: Option<Lying>) -> Job<'a> {
        Job { lying, ..self }
    }

    /// Makes the run, watched by `beside`, too.
    ///
    /// # Errors
    ///
    /// The workload does not go with the drive or with what was asked for, a trace cannot be read, the drive cannot be saved or does not come to rest, or the
    /// run broke its own checks.
    pub fn run<B: Beside>(self, beside: B, progress: &mut dyn Progress) -> Result<Outcome<B>, RunError> {
        let config = self.plan.build();
        if self.is_kept && config.firmware.recovers {
            return Err(RunError::Recovers { drive: self.plan.name().to_owned() });
        }
        let mut source = Source::new(self.workload, self.load, config.seed, config.exported())?;
        let Some(plotted) = &self.plotted else {
            return self.watched(config, source, (), beside, progress);
        };
        let (books, told) = vertrace(source.files().ok_or(RunError::NoFiles)?, &config, plotted);
        source.tell(told);
        self.watched(config, source, books, beside, progress)
    }

    fn watched<F: Files, B: Beside>(
        self,
        config: Config,
        source: Source,
        files: F,
        beside: B,
        progress: &mut dyn Progress,
    ) -> Result<Outcome<B>, RunError> {
        let Job { plan, workload, load, .. } = self;
        let units = filled(plan, &config, &source, load);
        let mut stages = Stages::new(workload, load, source, &config)?;
        let start = self.image.map_or_else(|| Start::of(plan, &config, units), |(image, digest)| Start::Saved(Box::new(image), digest));
        let run = Run::new(plan, config, start)
            .with_depth(load.queue_depth.or(workload.only_depth()))
            .with_interval(self.interval)
            .named(self.named)
            .made_by(self.made_by)
            .prefilled_from(load.prefill_reads.then_some(workload))
            .inspecting(self.inspection)
            .after_lying(self.lying)
            .with_faults(self.faults);
        let mut made = run.make(files, beside, &mut stages, progress)?;
        made.result.trace = stages.source().trace();
        let of_trace = made.result.trace.iter().flat_map(trace::notes);
        made.result.notes.extend(of_trace.chain(stages.note()));
        let drive = made.drive;
        let image = if self.is_kept {
            progress.update(drive.completed(), drive.now(), "saving");
            Some(drive.image()?)
        } else {
            None
        };
        let places: Vec<_> = if self.is_kept && drive.observer.files().follows() { drive.unit_places().collect() } else { Vec::new() };
        let (files, beside) = drive.observer.into_parts();
        let books = files.books();
        let insecure: BTreeSet<u32> = stages.source().insecure_files();
        let kept = image.map(|image| (image, books.as_ref().map(|books| Tags::of(places, books, insecure))));
        Ok(Outcome { result: made.result, detail: made.detail, beside, books, kept })
    }
}
