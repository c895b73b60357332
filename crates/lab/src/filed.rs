//! A workload of files on a drive: from the files that are there before to the last request.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};

use wordline_drive::{Config, Drive, Pace};
use wordline_engine::{BlockView, Observer, UnitPlace};
use wordline_plan::Plan;
use wordline_report::vertrace::{FileScope, FileStep, VerTraceResult};
use wordline_report::{CapacityResult, Cost, DriveResult, Identity, Metrics, Scope, VerTrace, conclude};
use wordline_units::host::SECTOR_BYTES;
use wordline_units::{Bytes, HostOp, HostRequest};
use wordline_workload::{AnySpec, FileLoad, FileOptions, FileSpec, Tagged};

use crate::bench::Setup;
use crate::error::LabError;
use crate::parallel;

/// The requests of a file system, with an optional receiver of the file that each one belongs to.
#[derive(Debug)]
pub struct Filed {
    /// The file system.
    pub load: FileLoad,
    told: Option<Sender<FileStep>>,
    insecure: BTreeSet<u32>,
}

impl Filed {
    /// The requests of `load`, without a receiver.
    pub fn new(load: FileLoad) -> Filed {
        let insecure = load.system().files().filter(|file| !file.is_secure).map(|file| file.id).collect();
        Filed { load, told: None, insecure }
    }

    /// Files whose data need not be gone once it is stale. Files that were made after the start are among them only where there is a receiver.
    pub fn insecure(&self) -> &BTreeSet<u32> {
        &self.insecure
    }

    /// Sends the file of each request to `whom` from now on.
    pub fn tell(&mut self, whom: Sender<FileStep>) {
        self.told = Some(whom);
    }
}

impl Iterator for Filed {
    type Item = HostRequest;

    #[inline]
    fn next(&mut self) -> Option<HostRequest> {
        let tagged = self.load.next_tagged()?;
        if let (Some(told), Some(step)) = (&self.told, step(&tagged)) {
            if tagged.request.insecure {
                self.insecure.insert(step.file);
            }
            // Nobody listens any more where the run is over.
            let _ = told.send(step);
        }
        Some(tagged.request)
    }
}

/// The file step of a request, if it has one.
fn step(tagged: &Tagged) -> Option<FileStep> {
    let (tag, request) = (tagged.tag?, &tagged.request);
    let &HostRequest { sector, sectors, op, .. } = request;
    Some(FileStep { file: tag.file, version: tag.version, sector, sectors, op, replaces: tag.replaces })
}

/// An observer of files, or none.
pub trait Files: Observer + Sized {
    /// Begins the observation. `mapped`: where the drive's data lies before the run.
    fn begin(&mut self, mapped: impl Iterator<Item = (u64, UnitPlace)>);

    /// The result of the observation.
    fn conclude(&self) -> Option<VerTraceResult>;

    /// The books, if there are any.
    fn books(&self) -> Option<&VerTrace> {
        None
    }

    /// Checks that the observer's books agree with the drive.
    ///
    /// # Errors
    ///
    /// What is amiss.
    fn check(&self, mapped: impl Iterator<Item = (u64, UnitPlace)>) -> Result<(), String>;
}

impl Files for () {
    fn begin(&mut self, _: impl Iterator<Item = (u64, UnitPlace)>) {}

    fn conclude(&self) -> Option<VerTraceResult> {
        None
    }

    fn check(&self, _: impl Iterator<Item = (u64, UnitPlace)>) -> Result<(), String> {
        Ok(())
    }
}

impl Files for VerTrace {
    fn begin(&mut self, mapped: impl Iterator<Item = (u64, UnitPlace)>) {
        mapped.for_each(|(unit, place)| self.lies(unit, place));
    }

    fn conclude(&self) -> Option<VerTraceResult> {
        Some(VerTrace::conclude(self))
    }

    fn books(&self) -> Option<&VerTrace> {
        Some(self)
    }

    fn check(&self, mapped: impl Iterator<Item = (u64, UnitPlace)>) -> Result<(), String> {
        VerTrace::check(self, mapped)
    }
}

/// The books of the files of `load` on a drive of `config`, and the sender by which they hear of requests. `plotted`: files whose counts over time are kept;
/// one of each set if there are none.
pub fn vertrace(load: &FileLoad, config: &Config, plotted: &[u32]) -> (VerTrace, Sender<FileStep>) {
    let scope = FileScope::of(config.exported(), config.firmware.unit, &config.sheet.geometry);
    let mut plotted = plotted.to_vec();
    if plotted.is_empty() {
        let mut sets: Vec<(usize, u32)> = load.system().files().map(|file| (file.set, file.id)).collect();
        sets.sort_unstable();
        sets.dedup_by_key(|(set, _)| *set);
        plotted = sets.into_iter().map(|(_, file)| file).collect();
    }
    let (told, steps) = channel();
    let mut books = VerTrace::new(scope, steps, &plotted);
    let sectors = load.system().block_bytes() / SECTOR_BYTES;
    for file in load.system().files() {
        for extent in &file.extents {
            let (sector, sectors) = (extent.start * sectors, (extent.len * sectors) as u32);
            books.before(&FileStep { file: file.id, version: 0, sector, sectors, op: HostOp::Write, replaces: false });
        }
    }
    (books, told)
}

/// Identity of a run of a drive of `plan`.
pub fn identity(plan: &Plan, event_log_hash: u64, steady: bool) -> Identity {
    let (name, plan_hash, seed) = (plan.name().to_owned(), plan.hash(), plan.seed());
    let (capacity, notes) = (Some(capacity(plan)), plan.notes().to_vec());
    Identity { name, plan_hash, seed, event_log_hash, steady, plan: plan.describe(), capacity, notes, asked: None }
}

/// Capacity of the flash of the drive of `plan`.
pub fn capacity(plan: &Plan) -> CapacityResult {
    let (figures, config) = (plan.figures(), plan.build());
    let geometry = &config.sheet.geometry;
    CapacityResult {
        raw_bytes: figures.raw.0,
        exported_bytes: figures.exported.0,
        spare_nominal: figures.spare_factor,
        spare_usable: figures.usable_spare,
        channels: geometry.channels,
        dies: figures.dies,
        planes: figures.planes,
        blocks: figures.groups_per_die,
        h_layers: geometry.layers,
        pages_per_block: figures.pages_per_block,
        page_bytes: geometry.page.0,
        unit_bytes: config.firmware.unit.0,
    }
}

/// The plan of the drive `name` for a bench: `size` is what the host sees, or "whole" for what the file says.
pub(crate) fn plan(setup: &Setup, name: &str, size: &str, more: &[&str]) -> Result<Plan, LabError> {
    let settings: Vec<&str> = setup.settings.iter().map(String::as_str).chain(more.iter().copied()).collect();
    let plan = Plan::load_set(name, &settings)?.with_seed(setup.seed);
    Ok(if size == "whole" { plan } else { plan.sized(size)?.0 })
}

/// The workload of files that comes with Wordline under this name.
pub(crate) fn files(name: &str) -> Result<FileSpec, LabError> {
    match AnySpec::built_in(name).map_err(|error| LabError::Usage(error.to_string()))? {
        AnySpec::Files(spec) => Ok(spec),
        AnySpec::Phases(_) => Err(LabError::Usage(format!("workload {name} has no files"))),
    }
}

/// A run to be made.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    pub(crate) plan: Plan,
    pub(crate) spec: FileSpec,
    pub(crate) options: FileOptions,
}

/// One run among several.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    pub(crate) run: Run,
    /// Number of files of each set that are followed over time, if the books of files are kept.
    pub(crate) followed: Option<usize>,
}

/// Makes all runs, on as many threads as there are, and says how far it is.
pub(crate) fn all(setup: &Setup, jobs: &[Job]) -> Result<Vec<Ran>, LabError> {
    let done = AtomicUsize::new(0);
    let make = |index: usize| {
        let Job { run, followed } = &jobs[index];
        let ran = followed.map_or_else(|| run.watched_by_nobody(), |followed| run.traced(followed));
        let done = 1 + done.fetch_add(1, Ordering::Relaxed);
        setup.teller.tell(&format!("{done} of {} runs", jobs.len()));
        ran
    };
    parallel::map(setup.threads, jobs.len(), make).into_iter().collect()
}

/// Results of a run.
#[derive(Clone, Debug)]
pub(crate) struct Ran {
    pub(crate) result: DriveResult,
    /// Stale units of files that the chips still put out when everything had been acknowledged, where files were watched.
    pub(crate) stale: Option<u64>,
}

impl Run {
    /// Makes the run without the books of its files.
    pub(crate) fn watched_by_nobody(&self) -> Result<Ran, LabError> {
        let config = self.plan.build();
        let load = self.load(&config)?;
        self.make(config, Filed::new(load), ())
    }

    /// Makes the run with the books of its files. `followed` of each set of files are followed over time.
    pub(crate) fn traced(&self, followed: usize) -> Result<Ran, LabError> {
        let config = self.plan.build();
        let load = self.load(&config)?;
        let mut plotted: Vec<u32> = Vec::new();
        let sets = load.system().files().map(|file| file.set).max().map_or(0, |last| last + 1);
        for set in 0..sets {
            plotted.extend(load.system().files().filter(|file| file.set == set).map(|file| file.id).take(followed));
        }
        let (books, told) = vertrace(&load, &config, &plotted);
        let mut filed = Filed::new(load);
        filed.tell(told);
        self.make(config, filed, books)
    }

    fn load(&self, config: &Config) -> Result<FileLoad, LabError> {
        self.spec.load(config.seed, config.exported(), self.options).map_err(|error| LabError::Usage(error.to_string()))
    }

    fn make<F: Files>(&self, config: Config, mut filed: Filed, files: F) -> Result<Ran, LabError> {
        let scope = Scope::new(&config.sheet.geometry, config.firmware.unit, config.cores);
        let filled = filed.load.prefilled().0 / config.firmware.unit.0;
        let depth = filed.load.queue_depth();
        let mut drive = Drive::new(config, (Metrics::new(Scope { queue_depth: Some(depth), ..scope }), files));
        drive.construct_filled(filled);
        if F::FOLLOWS {
            let mapped: Vec<_> = drive.mapped().collect();
            drive.observer.1.begin(mapped.into_iter());
        }
        drive.serve(&mut filed, Pace::Closed { depth }, None);
        let measured = drive.observer.0.clone().finish(drive.now(), u64::from(drive.outstanding()));
        drive.settle();
        let wrong = |what: String| LabError::Usage(format!("{} with {}: {what}", self.plan.name(), self.spec.name));
        drive.audit().map_err(|error| wrong(error.to_string()))?;
        drive.observer.1.check(drive.mapped()).map_err(wrong)?;
        let blocks: Vec<BlockView> = drive.blocks().collect();
        let identity = identity(&self.plan, drive.log().hash(), false);
        // What it costs the machine is not looked at.
        let cost = Cost { cpu_seconds: 0.0, wall_seconds: 0.0, peak_rss: Bytes(0) };
        let mut result = conclude(&identity, &measured, &blocks, cost).0;
        if let Some(violation) = result.checks.violations.first() {
            return Err(wrong(format!("{violation:?}")));
        }
        result.vertrace = drive.observer.1.conclude();
        Ok(Ran { result, stale: drive.observer.1.books().map(VerTrace::stale_units) })
    }
}
