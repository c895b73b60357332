//! From what the user named to a workload: one that is built in, a workload file or a trace.

use std::path::{Path, PathBuf};

use wordline_figures::TraceResult;
use wordline_plan::read_text;
use wordline_units::{Bytes, HostRequest};
use wordline_workload::spec::Arrival;
use wordline_workload::trace::{ReadOptions, Tick, TraceStats};
use wordline_workload::{
    AnySpec, Changes, FileOptions, FileSpec, Fit, Footprint, JobsSpec, Placement, Replay, ReplayOptions, TraceError, TraceReader,
    WithinTick, WorkloadSpec, trace,
};

use crate::error::RunError;
use crate::load::Load;
use crate::load_key::LoadKey;

/// The longest that a trace may play, in seconds: a hundred years. The clock's nanoseconds are good for five times that.
const LONGEST: f64 = 100.0 * YEAR;
const YEAR: f64 = 365.25 * 86_400.0;

/// A workload that has been read and checked, ready to be put on any number of drives.
#[derive(Clone, Debug)]
pub enum Workload {
    /// Requests of a generator.
    Made(WorkloadSpec),
    /// Requests of generators at the same time, in one phase or several.
    Jobs(JobsSpec),
    /// Files and what is done to them, with what the user changed.
    Filed(Box<FileSpec>, FileOptions),
    /// Requests of a trace.
    Traced(Traced),
}

/// A trace on disk and how to replay it.
#[derive(Clone, Debug)]
pub struct Traced {
    path: PathBuf,
    read: ReadOptions,
    fit: Fit,
    replay: ReplayOptions,
    timed: bool,
    requests: u64,
    seen: Seen,
    writes: bool,
}

/// Facts about a trace from its first reading.
#[derive(Clone, Copy, Debug)]
struct Seen {
    tick: Tick,
    /// Treatment of records with one time, where it makes a difference.
    within: Option<WithinTick>,
    volumes: usize,
    skipped: u64,
    late: u64,
}

/// The requests of a trace that is played on a drive, until one cannot be read.
pub(crate) trait Played: Iterator<Item = Result<HostRequest, TraceError>> {
    /// Changes to them so far, and the bytes that its volumes need on the drive.
    fn changes(&self) -> (Changes, Bytes);
}

impl<O: FnMut() -> Result<TraceReader<'static>, TraceError>> Played for Replay<'static, O> {
    fn changes(&self) -> (Changes, Bytes) {
        (Replay::changes(self), self.placement().reach())
    }
}

/// A trace that is played.
pub(crate) type Recorded = Box<dyn Played>;

impl Workload {
    /// Finds and checks the workload `name`, to be put on drives as `load` says. `tell` hears what is worth knowing of a trace.
    ///
    /// # Errors
    ///
    /// There is none, something is wrong with it, or `load` does not go with it.
    pub fn load(name: &str, load: &Load, tell: &mut dyn FnMut(&str)) -> Result<Workload, RunError> {
        let path = Path::new(name);
        if path.extension().is_some_and(|extension| extension == "toml") {
            let text = read_text(path).map_err(|error| RunError::File { path: path.to_owned(), error })?;
            return Workload::of(name, AnySpec::parse(&text, name)?, load);
        }
        if !path.exists() && !name.contains(['/', '.']) {
            return Workload::of(name, AnySpec::built_in(name)?, load);
        }
        load.without_files(name)?;
        Traced::load(name, path, load, tell).map(Workload::Traced)
    }

    /// The workload of `spec`, changed as `load` says.
    fn of(name: &str, spec: AnySpec, load: &Load) -> Result<Workload, RunError> {
        match spec {
            AnySpec::Phases(spec) => load.without_files(name).map(|()| Workload::Made(spec)),
            AnySpec::Jobs(spec) => load.with_jobs(name).map(|()| Workload::Jobs(spec)),
            AnySpec::Files(spec) => {
                let Load { fill: prefill, secure, length, queue_depth, .. } = *load;
                Ok(Workload::Filed(Box::new(spec), FileOptions { prefill, secure, length, queue_depth, ..FileOptions::default() }))
            }
        }
    }

    /// Whether it is a trace.
    pub fn is_trace(&self) -> bool {
        matches!(self, Workload::Traced(_))
    }

    /// The queue depth of the whole workload, if it has one.
    pub(crate) fn only_depth(&self) -> Option<u32> {
        match self {
            Workload::Made(spec) if spec.phases.len() == 1 => match spec.phases[0].arrival {
                Arrival::Closed { queue_depth, .. } => Some(queue_depth),
                Arrival::Open { .. } => None,
            },
            Workload::Jobs(spec) => spec.queue_depth(),
            Workload::Filed(spec, changed) => Some(changed.queue_depth.unwrap_or(spec.queue_depth)),
            Workload::Made(_) | Workload::Traced(_) => None,
        }
    }

    /// Number of stages in which its requests come.
    pub(crate) fn stages(&self) -> usize {
        match self {
            Workload::Made(spec) => spec.phases.len(),
            Workload::Jobs(spec) => spec.phases.len(),
            Workload::Filed(..) | Workload::Traced(_) => 1,
        }
    }
}

impl Traced {
    fn load(name: &str, path: &Path, load: &Load, tell: &mut dyn FnMut(&str)) -> Result<Traced, RunError> {
        let (read, fit, mut replay) = (load.read(), load.fit.unwrap_or_default(), load.replay()?);
        let mut reader = trace::open(path, read)?;
        let TraceStats { requests, writes, span, tick, .. } = TraceStats::measure(&mut reader)?;
        // Only now: a header may stand below comments.
        let timed = reader.timed();
        if reader.skipped().count > 0 {
            let first: String = reader.skipped().first.iter().map(|fault| format!("\n  {fault}")).collect();
            tell(&format!("{name}: {} lines passed over, such as{first}", reader.skipped().count));
        }
        if reader.disorder().records > 0 {
            tell(&format!("{name}: {}; each is issued at its time", reader.disorder()));
        }
        if requests == 0 {
            return Err(RunError::NoRequest(name.to_owned()));
        }
        let seconds = span.unwrap_or_default().as_secs_f64() / replay.speed * f64::from(replay.repeat);
        if seconds > LONGEST && load.queue_depth.is_none() {
            let ReplayOptions { repeat, speed, .. } = replay;
            return Err(RunError::TooLong { name: name.to_owned(), repeat, speed, years: seconds / YEAR });
        }
        match (load.speed.is_some(), timed) {
            (true, true) if load.queue_depth.is_some() => return Err(RunError::SpeedOfDepth),
            (true, false) => return Err(RunError::SpeedWithoutTimes(name.to_owned())),
            (true, true) | (false, _) => {}
        }
        if load.open_loop && !timed {
            return Err(RunError::OpenWithoutTimes(name.to_owned()));
        }
        let tick = tick.unwrap_or_default();
        let within = within(name, &tick, timed, load)?;
        replay.spread = tick.length.filter(|_| within == Some(WithinTick::Spread));
        let (volumes, skipped, late) = (reader.volumes_met(), reader.skipped().count, reader.disorder().records);
        let seen = Seen { tick, within, volumes, skipped, late };
        Ok(Traced { path: path.to_owned(), read, fit, replay, timed, requests, writes: writes > 0, seen })
    }

    /// Changes for a place beside the figures of a run in which `played` was issued.
    pub(crate) fn told(&self, played: &dyn Played) -> TraceResult {
        let Seen { tick, within, volumes, skipped, late } = self.seen;
        let (changes, reach) = played.changes();
        TraceResult {
            tick_ns: tick.length.map(|length| length.0),
            timed_records: tick.records,
            shared_times: tick.shared,
            most_at_one_time: tick.most,
            within_tick: within.map(|within| within.name().to_owned()),
            volumes: volumes as u64,
            spaces: self.read.spaces.name().to_owned(),
            reach_bytes: reach.0,
            fit: self.fit.name().to_owned(),
            elsewhere: changes.elsewhere,
            split: changes.split,
            moved: changes.moved,
            clipped: changes.clipped,
            clipped_bytes: changes.clipped_bytes,
            shrunk_trims: changes.shrunk_trims,
            dropped_trims: changes.dropped_trims,
            widened: changes.widened,
            skipped_lines: skipped,
            late_records: late,
        }
    }

    /// Whether its requests have times.
    pub(crate) fn timed(&self) -> bool {
        self.timed
    }

    /// True if any of its requests writes.
    pub(crate) fn writes(&self) -> bool {
        self.writes
    }

    /// Its file.
    pub(crate) fn name(&self) -> String {
        self.path.display().to_string()
    }

    /// Number of requests when it is played as often as it is to be.
    pub(crate) fn requests(&self) -> u64 {
        self.requests * u64::from(self.replay.repeat)
    }

    /// The requests at their places on a drive of `capacity`.
    pub(crate) fn replay(&self, capacity: Bytes) -> Result<Recorded, RunError> {
        self.played(capacity, self.replay)
    }

    /// As [`Traced::replay`], once.
    pub(crate) fn once(&self, capacity: Bytes) -> Result<Recorded, RunError> {
        self.played(capacity, ReplayOptions { repeat: 1, ..self.replay })
    }

    fn played(&self, capacity: Bytes, options: ReplayOptions) -> Result<Recorded, RunError> {
        let footprint = Footprint::measure(&mut self.open()?, Bytes::kib(4))?;
        let placement = Placement::new(footprint, capacity, self.fit)?;
        let again = self.clone();
        Ok(Box::new(Replay::new(move || again.open(), placement, options)?))
    }

    fn open(&self) -> Result<TraceReader<'static>, TraceError> {
        trace::open(&self.path, self.read)
    }
}

/// Treatment of the records of the trace `name` that have one time; `None` where it makes no difference.
///
/// # Errors
///
/// Something is asked for that cannot be.
fn within(name: &str, tick: &Tick, timed: bool, load: &Load) -> Result<Option<WithinTick>, RunError> {
    let idle = |why: String| Err(RunError::Idle { key: LoadKey::WithinTick, why });
    match load.within_tick {
        Some(_) if load.queue_depth.is_some() => idle("--qd issues requests as others complete, not at the trace's times".to_owned()),
        Some(_) if !timed => idle(format!("{name} has no times")),
        Some(WithinTick::Spread) if tick.length.is_none() => idle(format!("{name} has too few different times to find their tick")),
        Some(WithinTick::Spread) => Ok(Some(WithinTick::Spread)),
        // As they stand they come at once, of which nothing is to be said where the tick is fine.
        Some(WithinTick::Burst) => Ok((tick.coarse || tick.is_unknown()).then_some(WithinTick::Burst)),
        None if load.queue_depth.is_some() || !timed => Ok(None),
        None if tick.coarse => Ok(Some(WithinTick::Spread)),
        None => Ok(tick.is_unknown().then_some(WithinTick::Burst)),
    }
}
