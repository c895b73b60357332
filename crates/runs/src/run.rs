//! The way through a run: prepare, age, serve, settle, conclude.

use wordline_drive::{Config, Watched};
use wordline_figures::{
    Asked, DriveDetail, DriveResult, HLayer, Identity, Interval, LostResult, MadeBy, Measured, Metrics, ReadLimits, Scope, WorkloadName,
};
use wordline_plan::Plan;

use crate::conclude::{Measurement, identity};
use crate::error::RunError;
use crate::faults::Schedule;
use crate::files::Files;
use crate::inspection::Inspection;
use crate::measuring::Measuring;
use crate::prepare::{Lying, Start, prepare};
use crate::progress::Progress;
use crate::serve::Serve;
use crate::settle::{Unsettled, settle, valid_units};
use crate::watch::{Beside, Watch};
use crate::workload::Workload;
use wordline_pages::table::about;

/// A run to be made of one drive.
#[derive(Debug)]
pub struct Run<'a> {
    plan: &'a Plan,
    config: Config,
    start: Start,
    depth: Option<u32>,
    interval: Interval,
    named: Option<&'a WorkloadName>,
    made_by: Option<&'a MadeBy>,
    prefilled_from: Option<&'a Workload>,
    faults: Option<&'a Schedule>,
    inspection: Option<Inspection>,
    lying: Option<Lying>,
}

/// Results of a run, and the drive as it is after it.
#[derive(Debug)]
pub struct Made<F: Files, B: Beside> {
    /// The result.
    pub result: DriveResult,
    /// Its charts and tables.
    pub detail: DriveDetail,
    /// What was measured in its window.
    pub measured: Measured,
    /// The drive with those who watched it; at rest, if its load came to its end.
    pub drive: Watched<Watch<F, B>>,
}

impl<'a> Run<'a> {
    /// A run of a drive of `plan`, whose configuration is `config`, from `start` on.
    pub fn new(plan: &'a Plan, config: Config, start: Start) -> Run<'a> {
        let interval = Interval::default();
        let (faults, inspection, lying) = (None, None, None);
        Run { plan, config, start, depth: None, interval, named: None, made_by: None, prefilled_from: None, faults, inspection, lying }
    }

    /// The run with a `depth` of requests outstanding, by which its figures are told; `None`: there is no such number.
    pub fn with_depth(self, depth: Option<u32>) -> Run<'a> {
        Run { depth, ..self }
    }

    /// The run with intervals of charts and tables of this length.
    pub fn with_interval(self, interval: Interval) -> Run<'a> {
        Run { interval, ..self }
    }

    /// The run with a result that says what was asked for under the workload of this name, if there is one.
    pub fn named(self, named: Option<&'a WorkloadName>) -> Run<'a> {
        Run { named, ..self }
    }

    /// The run with tables that say how they are made again, where that is known.
    pub fn made_by(self, made_by: Option<&'a MadeBy>) -> Run<'a> {
        Run { made_by, ..self }
    }

    /// The run with the data that this trace reads before it writes it, if there is one, written before it.
    pub fn prefilled_from(self, trace: Option<&'a Workload>) -> Run<'a> {
        Run { prefilled_from: trace, ..self }
    }

    /// The run with these faults, if there are any, from the beginning of its load on.
    pub fn with_faults(self, faults: Option<&'a Schedule>) -> Run<'a> {
        Run { faults, ..self }
    }

    /// The run with this inspection of the cells at the end of its window, if there is one.
    pub fn inspecting(self, inspection: Option<Inspection>) -> Run<'a> {
        Run { inspection, ..self }
    }

    /// The run of a drive that lies without power before it, for this time if there is one.
    pub fn after_lying(self, lying: Option<Lying>) -> Run<'a> {
        Run { lying, ..self }
    }

    /// Makes the run with the requests of `load`, watched by the metrics, by `files` and by `beside`.
    ///
    /// # Errors
    ///
    /// The drive or its load cannot be had, or the run broke its own checks.
    pub fn make<F: Files, B: Beside>(
        self,
        files: F,
        beside: B,
        load: &mut impl Serve<F, B>,
        progress: &mut dyn Progress,
    ) -> Result<Made<F, B>, RunError> {
        let watch = Watch::new(Metrics::new(self.scope()), files, beside);
        let (fill, state) = (self.fill(), self.state());
        self.faults.map_or(Ok(()), |faults| faults.check(&self.config.sheet.geometry))?;
        let mut prepared = prepare(self.config, self.start, watch)?.lain(self.lying);
        let prefilled_reads = self.prefilled_from.map_or(Ok(None), |trace| prepared.prefill_reads(trace))?;
        let mut drive = prepared.aged();

        let told = self.faults.map(Schedule::told).unwrap_or_default();
        let (age, cells) = (self.plan.age(), self.plan.cells());
        let lain = self.lying.map(|lying| lying.seconds);
        let asked = self.named.map(|name| Asked { workload: name.clone(), age, lain, cells, fill, prefilled_reads, faults: told });
        let identity = Identity { asked, state, ..identity(self.plan) };
        if let Some(made_by) = self.made_by {
            drive.observer.beside_mut().mark(&about(made_by, std::iter::once(&identity.run_name())));
        }
        if drive.observer.files().follows() {
            let mapped: Vec<_> = drive.mapped().collect();
            drive.observer.files_mut().begin(mapped.into_iter());
        }
        let valid_before = valid_units(&drive);

        self.faults.iter().for_each(|faults| faults.order(&mut drive));
        let mut window = Measuring::begin(&drive, self.inspection);
        let served = load.serve(&mut drive, progress, &mut window)?;
        let measurement = Measurement::take(&drive, &window, served.is_steady);
        drive.observer.end_window();

        progress.update(drive.completed(), drive.now(), "checking");
        let name = || self.plan.name().to_owned();
        let settled = settle(&mut drive, served, valid_before).map_err(|unsettled| match unsettled {
            Unsettled::Restless(what) => RunError::Restless { drive: name(), what },
            Unsettled::Broken(what) => RunError::Broken { drive: name(), what },
        })?;

        let (mut result, detail, measured) = measurement.conclude(identity, settled);
        if self.faults.is_some_and(|faults| !faults.is_empty()) {
            result.lost = Some(lost(&drive, &measured));
        }
        Ok(Made { result, detail, measured, drive })
    }

    /// What the metrics tell figures by.
    fn scope(&self) -> Scope {
        let sheet = &self.config.sheet;
        let mut scope = Scope::new(&sheet.geometry, self.config.firmware.unit, self.config.cores);
        scope.h_layer = HLayer::of(&sheet.geometry, sheet.pages_per_program());
        scope.interval = self.interval;
        scope.queue_depth = self.depth;
        let limits = self.config.read_limits();
        scope.read_limits = Some(ReadLimits { technique: limits.technique, times: limits.times, in_effect: limits.is_on });
        scope
    }

    /// Digest of the saved drive that the run begins with.
    fn state(&self) -> Option<String> {
        if let Start::Saved(_, digest) = &self.start { Some(digest.clone()) } else { None }
    }

    /// The share of a new drive that is written before the run.
    fn fill(&self) -> Option<f64> {
        match self.start {
            Start::Filled { units } => Some(units as f64 / self.config.exported_units as f64),
            Start::Steady { fill } => Some(fill),
            Start::Saved(..) => None,
        }
    }
}

/// Cost of failed parts to a `drive` at rest.
fn lost<F: Files, B: Beside>(drive: &Watched<Watch<F, B>>, measured: &Measured) -> LostResult {
    LostResult { bytes: drive.lost_bytes().0, failed: measured.failed_for_failures(), faults_to_come: drive.scheduled().count() as u64 }
}
