//! Runs of a workload on a drive, as fast as it goes or in bursts with rests between them, with measurements of its programs.

use std::sync::atomic::{AtomicUsize, Ordering};

use wordline_drive::{Config, Pace, Watched};
use wordline_figures::DriveResult;
use wordline_figures::histogram::Latencies;
use wordline_plan::Plan;
use wordline_runs::{Measuring, Progress, Run, RunError, Serve, Served, Source, Start, Watch, Workload, parallel};
use wordline_units::host::SECTOR_BYTES;
use wordline_units::random::{Draw, Stream};
use wordline_units::{Celsius, HostOp, HostRequest, Nanos};
use wordline_workload::{FileOptions, FileSpec};

use crate::bench::Setup;
use crate::error::LabError;
use crate::programs::Programs;

/// Number of bytes of a KiB and of a MiB.
pub(crate) const KIB: f64 = 1_024.0;
pub(crate) const MIB: f64 = KIB * KIB;
/// Number of points of a curve of a distribution.
const POINTS: u32 = 200;

/// The shares at which a distribution is drawn.
pub(crate) fn shares() -> impl Iterator<Item = f64> {
    (1..=POINTS).map(|step| f64::from(step) / f64::from(POINTS))
}

/// The requests made to a drive.
#[derive(Clone, Debug)]
pub(crate) enum Load {
    /// A workload of files.
    Files(Box<FileSpec>, FileOptions),
    /// Writes of `bytes` in mapping units anywhere on a drive that is full to the share `fill`, with `depth` requests outstanding.
    Writes { bytes: f64, fill: f64, depth: u32 },
}

/// The timing of requests.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rhythm {
    /// Bytes written in a burst, and the rest after it. `None`: requests follow one another.
    pub(crate) bursts: Option<(f64, Nanos)>,
    /// Bytes per second at which requests come, whatever the drive does. `None`: a fixed number of requests is always outstanding.
    pub(crate) rate: Option<f64>,
    /// Largest size of a request in bytes: larger ones come in pieces.
    pub(crate) piece: Option<f64>,
    /// Bytes written before anything is measured, a wordline's worth at a time, and the rest after each.
    pub(crate) quiet: Option<(f64, Nanos)>,
    /// Temperature of the drive after those writes.
    pub(crate) swing: Option<Celsius>,
}

/// A run to be made.
#[derive(Clone, Debug)]
pub(crate) struct Trial {
    pub(crate) plan: Plan,
    pub(crate) load: Load,
    pub(crate) rhythm: Rhythm,
}

/// Results of a run.
#[derive(Clone, Debug)]
pub(crate) struct Tried {
    pub(crate) result: DriveResult,
    pub(crate) reads: Latencies,
    pub(crate) writes: Latencies,
    /// Time in bursts; the whole time where there are none.
    pub(crate) busy: Nanos,
    /// Bytes that the host wrote.
    pub(crate) written: f64,
    pub(crate) programs: Programs,
}

impl Tried {
    /// Requests per second.
    pub(crate) fn iops(&self) -> f64 {
        self.result.host.iops
    }

    /// Requests per second in bursts.
    pub(crate) fn iops_in_bursts(&self) -> f64 {
        (self.reads.count() + self.writes.count()) as f64 / self.busy.as_secs_f64()
    }

    /// MB per second in bursts.
    pub(crate) fn rate_in_bursts(&self) -> f64 {
        self.written / 1e6 / self.busy.as_secs_f64()
    }

    /// Mean number of retries of a flash read.
    pub(crate) fn retries(&self) -> f64 {
        self.programs.retries as f64 / self.programs.reads as f64
    }
}

/// Requests in pieces of a bounded number of sectors.
struct Pieces<I> {
    whole: I,
    left: Option<HostRequest>,
    most: u32,
}

impl<I: Iterator<Item = HostRequest>> Iterator for Pieces<I> {
    type Item = HostRequest;

    fn next(&mut self) -> Option<HostRequest> {
        let request = self.left.take().or_else(|| self.whole.next())?;
        if request.sectors <= self.most || !matches!(request.op, HostOp::Read | HostOp::Write) {
            return Some(request);
        }
        self.left = Some(HostRequest { sector: request.sector + u64::from(self.most), sectors: request.sectors - self.most, ..request });
        Some(HostRequest { sectors: self.most, ..request })
    }
}

/// Requests until a number of bytes has been written, each at its time where they come at a rate.
struct Burst<'l, I> {
    all: &'l mut I,
    left: f64,
    rate: Option<f64>,
    bytes: f64,
    written: &'l mut f64,
    is_over: &'l mut bool,
}

impl<I: Iterator<Item = HostRequest>> Iterator for Burst<'_, I> {
    type Item = HostRequest;

    fn next(&mut self) -> Option<HostRequest> {
        if self.left <= 0.0 {
            return None;
        }
        let Some(mut request) = self.all.next() else {
            *self.is_over = true;
            return None;
        };
        let bytes = f64::from(request.sectors) * SECTOR_BYTES as f64;
        request.at = self.rate.map_or(Nanos::ZERO, |rate| Nanos((self.bytes / rate * 1e9) as u64));
        if matches!(request.op, HostOp::Read | HostOp::Write) {
            self.bytes += bytes;
        }
        if request.op == HostOp::Write {
            self.left -= bytes;
            *self.written += bytes;
        }
        Some(request)
    }
}

/// Writes of mapping units anywhere among the first `units`.
fn writes(seed: u64, config: &Config, units: u64) -> impl Iterator<Item = HostRequest> + use<> {
    let sectors = config.firmware.unit.0 / SECTOR_BYTES;
    let mut draw = Draw::new(seed, Stream::Address, 0);
    std::iter::repeat_with(move || HostRequest::new(HostOp::Write, draw.below(units) * sectors, sectors as u32))
}

/// Makes all runs, on as many threads as there are, and says how far it is.
pub(crate) fn all(setup: &Setup, what: &str, trials: &[Trial]) -> Result<Vec<Tried>, LabError> {
    let done = AtomicUsize::new(0);
    let make = |index: usize| {
        let tried = trials[index].make();
        let done = 1 + done.fetch_add(1, Ordering::Relaxed);
        setup.teller.tell(&format!("{what}: {done} of {} runs", trials.len()));
        tried
    };
    parallel::try_map(setup.threads, trials.len(), make)
}

type PacedDrive = Watched<Watch<(), Programs>>;

/// Requests in their rhythm, and what is seen while they are served.
struct Rhythmic<'t, I> {
    rhythm: &'t Rhythm,
    requests: I,
    depth: u32,
    /// Units written before the run.
    filled: u64,
    busy: Nanos,
    written: f64,
}

impl<I: Iterator<Item = HostRequest>> Serve<(), Programs> for Rhythmic<'_, I> {
    fn serve(&mut self, drive: &mut PacedDrive, _: &mut dyn Progress, _: &mut Measuring) -> Result<Served, RunError> {
        let Rhythm { bursts, rate, piece, quiet, swing } = *self.rhythm;
        if let Some((bytes, rest)) = quiet {
            leisure(drive, bytes, rest, self.filled);
        }
        swing.iter().for_each(|temperature| assert!(drive.set_temperature(*temperature), "cells of a swing have a temperature"));
        let most = piece.map_or(u32::MAX, |bytes| (bytes as u64 / SECTOR_BYTES).max(1) as u32);
        let mut requests = Pieces { whole: &mut self.requests, left: None, most };
        let (depth, mut is_over) = (self.depth, false);
        let (bytes, rest) = bursts.unwrap_or((f64::INFINITY, Nanos::ZERO));
        while !is_over {
            let began = drive.now();
            drive.observer.beside_mut().begin_burst();
            let mut burst = Burst { all: &mut requests, left: bytes, rate, bytes: 0.0, written: &mut self.written, is_over: &mut is_over };
            drive.serve(&mut burst, rate.map_or(Pace::Closed { depth }, |_| Pace::Open { origin: began }), None);
            self.busy += drive.now() - began;
            drive.observer.beside_mut().end_burst();
            if !is_over {
                drive.run_until(drive.now() + rest);
            }
        }
        // Not all of it is measured after a quiet time, and where programs are repeated their data is counted as often as it is programmed: what is valid does
        // not come out of the figures.
        Ok(Served { is_steady: false, is_whole: true, is_all_measured: false })
    }
}

impl Trial {
    fn wrong(&self, what: &str) -> LabError {
        LabError::Usage(format!("{}: {what}", self.plan.name()))
    }

    pub(crate) fn make(&self) -> Result<Tried, LabError> {
        let config = self.plan.build();
        let unit = config.firmware.unit.0;
        match &self.load {
            Load::Files(spec, options) => {
                let (workload, load) = (Workload::Filed(spec.clone(), *options), wordline_runs::Load::default());
                let mut source = Source::new(&workload, &load, config.seed, config.exported())?;
                let filled = wordline_runs::filled(&self.plan, &config, &source, &load);
                let depth = source.next_stage().and_then(|stage| stage.depth).expect("files have a stage with a depth");
                self.run(config, filled, depth, source)
            }
            Load::Writes { bytes, fill, depth } => {
                let filled = (config.exported_units as f64 * fill) as u64;
                let requests = writes(config.seed, &config, filled.max(1)).take((bytes / unit as f64) as usize);
                self.run(config, filled, *depth, requests)
            }
        }
    }

    fn run(&self, config: Config, filled: u64, depth: u32, requests: impl Iterator<Item = HostRequest>) -> Result<Tried, LabError> {
        if self.rhythm.swing.is_some() && config.cells.is_none() {
            return Err(self.wrong("its cells have no temperature"));
        }
        let programs = Programs::new(&config);
        let mut load = Rhythmic { rhythm: &self.rhythm, requests, depth, filled, busy: Nanos::ZERO, written: 0.0 };
        let start = Start::of(&self.plan, &config, filled);
        let run = Run::new(&self.plan, config, start).with_depth(self.rhythm.rate.is_none().then_some(depth));
        let made = run
            .make((), programs, &mut load, &mut ())
            .map_err(|error| if let RunError::Broken { what, .. } = &error { self.wrong(what) } else { LabError::Run(error) })?;
        if let Some(violation) = made.result.checks.violations.first() {
            return Err(self.wrong(&format!("{violation:?}")));
        }
        let Rhythmic { busy, written, .. } = load;
        let (_, mut programs) = made.drive.observer.into_parts();
        // Results of many runs are held at once.
        programs.forget_places();
        let (reads, writes) = (made.measured.latencies(HostOp::Read), made.measured.latencies(HostOp::Write));
        Ok(Tried { result: made.result, reads, writes, busy, written, programs })
    }
}

/// Writes `bytes`, a wordline's worth at a time, and forgets what was measured meanwhile.
fn leisure(drive: &mut PacedDrive, bytes: f64, rest: Nanos, filled: u64) {
    drive.observer.beside_mut().end_burst();
    let (unit, wordline) = (drive.config().firmware.unit.0, drive.config().sheet.geometry);
    let at_once = (wordline.page.0 * u64::from(wordline.cell.bits() * wordline.planes) / unit).max(1) as usize;
    let mut requests = writes(drive.config().seed, drive.config(), filled.max(1)).take((bytes / unit as f64) as usize);
    loop {
        let mut few = requests.by_ref().take(at_once);
        if drive.serve(&mut few, Pace::Closed { depth: at_once as u32 }, None) == 0 {
            break;
        }
        drive.run_until(drive.now() + rest);
    }
    let now = drive.now();
    drive.observer.measure_from(now);
}
