//! From what the user named to requests: built-in workloads, workload files and traces.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc::Sender;

use wordline_lab::filed::Filed;
use wordline_plan::read_text;
use wordline_report::vertrace::FileStep;
use wordline_units::{Bytes, HostRequest, Nanos};
use wordline_workload::file::spec::Multiple;
use wordline_workload::spec::Limit;
use wordline_workload::trace::{OnFault, ReadOptions, TraceStats};
use wordline_workload::{
    AnySpec, FileLoad, FileOptions, FileSpec, Fit, Footprint, Format, Generator, Placement, Replay, ReplayOptions, TraceError, TraceReader,
    WorkloadSpec, trace,
};

use crate::args::LoadOptions;
use crate::failure::Failure;
use crate::simulate::percent;

/// A workload that has been read and checked, ready to be put on any number of drives.
#[derive(Debug)]
pub(crate) enum Workload {
    /// Made by a generator.
    Made(WorkloadSpec),
    /// Files and what is done to them, with what the user changed.
    Filed(FileSpec, FileOptions),
    /// Taken from a trace.
    Traced(Traced),
}

/// A trace on disk and how to replay it.
#[derive(Clone, Debug)]
pub(crate) struct Traced {
    path: PathBuf,
    read: ReadOptions,
    fit: Fit,
    replay: ReplayOptions,
    pub(crate) timed: bool,
    pub(crate) requests: u64,
}

impl Workload {
    /// Find and check the workload `name`, to be put on drives as `options` say.
    pub(crate) fn load(name: &str, options: &LoadOptions) -> Result<Workload, Failure> {
        let path = Path::new(name);
        if path.extension().is_some_and(|extension| extension == "toml") {
            let text = read_text(path).map_err(|error| Failure::File { path: path.to_owned(), error })?;
            return Workload::of(name, AnySpec::parse(&text, name)?, options);
        }
        if !path.exists() && !name.contains(['/', '.']) {
            return Workload::of(name, AnySpec::built_in(name)?, options);
        }
        only_for_files(name, options)?;
        let (read, fit, replay) = replay_options(options)?;
        let mut reader = trace::open(path, read)?;
        let TraceStats { requests, span, .. } = TraceStats::measure(&mut reader)?;
        // Only now: a header may stand below comments.
        let timed = reader.timed();
        if reader.skipped().count > 0 {
            eprintln!("wordline: {name}: {} malformed lines passed over, such as", reader.skipped().count);
            reader.skipped().first.iter().for_each(|fault| eprintln!("  {fault}"));
        }
        if reader.disorder().records > 0 {
            eprintln!("wordline: {name}: {}; each is issued at its time", reader.disorder());
        }
        if requests == 0 {
            return Err(Failure::Usage(format!("{name}: the trace holds no request")));
        }
        let seconds = span.unwrap_or_default().as_secs_f64() / replay.speed * f64::from(replay.repeat);
        if seconds > LONGEST && options.qd.is_none() {
            let speed = if replay.speed < 1.0 { " or play it faster" } else { "" };
            let years = seconds / (365.25 * 86_400.0);
            return Err(Failure::Usage(format!(
                "{name}: played {} times at a speed of {}, it lasts {years:.3e} years, and a run 100 at most: take a lower --repeat{speed}",
                replay.repeat, replay.speed
            )));
        }
        if options.speed.is_some() && (options.qd.is_some() || !timed) {
            let why = if timed {
                "--qd issues requests as others complete, not at the trace's times".to_owned()
            } else {
                format!("{name} has no times")
            };
            return Err(Failure::Usage(format!(
                "--speed does nothing here: {why}; leave out {}",
                if timed { "one of the two" } else { "--speed" }
            )));
        }
        if options.open_loop && !timed {
            return Err(Failure::Usage(format!("{name} has no times, so it cannot be replayed in an open loop; use --qd N")));
        }
        Ok(Workload::Traced(Traced { path: path.to_owned(), read, fit, replay, timed, requests }))
    }
}

/// How a trace is read, fitted and played.
fn replay_options(options: &LoadOptions) -> Result<(ReadOptions, Fit, ReplayOptions), Failure> {
    let read = read_options(options.format.as_deref(), options.lenient)?;
    let fit = Fit::parse(options.fit.as_deref().unwrap_or("reject"))?;
    let speed = options.speed.unwrap_or(1.0);
    if !(speed.is_finite() && speed > 0.0) {
        return Err(wordline_workload::ReplayError::Speed(speed).into());
    }
    Ok((read, fit, ReplayOptions { speed, repeat: options.repeat.unwrap_or(1), ..ReplayOptions::default() }))
}

/// Refuse what is said of traces where there is none.
pub(crate) fn only_for_traces(workloads: &[Workload], options: &LoadOptions) -> Result<(), Failure> {
    replay_options(options)?;
    let given = [
        ("--open-loop", options.open_loop),
        ("--speed", options.speed.is_some()),
        ("--repeat", options.repeat.is_some()),
        ("--fit", options.fit.is_some()),
        ("--prefill-reads", options.prefill_reads),
        ("--lenient", options.lenient),
        ("--format", options.format.is_some()),
    ];
    match given.into_iter().find(|(_, is_given)| *is_given) {
        Some((name, _)) if !workloads.iter().any(|workload| matches!(workload, Workload::Traced(_))) => {
            Err(Failure::Usage(format!("{name} is for traces, and the workload is none; name a trace's file with --workload")))
        }
        _ => Ok(()),
    }
}

/// The longest that a trace may play, in seconds: a hundred years. The clock's nanoseconds are good for five times that.
const LONGEST: f64 = 100.0 * 365.25 * 86_400.0;

impl Workload {
    fn of(name: &str, spec: AnySpec, options: &LoadOptions) -> Result<Workload, Failure> {
        match spec {
            AnySpec::Phases(spec) => only_for_files(name, options).map(|()| Workload::Made(spec)),
            AnySpec::Files(spec) => {
                let length = options.length.as_deref().map(Multiple::parse).transpose();
                let changed = FileOptions {
                    prefill: options.fill.as_deref().map(percent).transpose()?,
                    secure: options.secure_fraction.as_deref().map(percent).transpose()?,
                    length: length.map_err(|error| Failure::Usage(format!("--length: {error}")))?.map(|multiple| multiple.0),
                    queue_depth: options.qd,
                };
                Ok(Workload::Filed(spec, changed))
            }
        }
    }
}

fn only_for_files(workload: &str, options: &LoadOptions) -> Result<(), Failure> {
    let given = [("--secure-fraction", options.secure_fraction.is_some()), ("--length", options.length.is_some())];
    match given.into_iter().find(|(_, is_given)| *is_given) {
        Some((name, _)) => Err(Failure::Usage(format!("{name} is for workloads of files, such as mobile; {workload} has none"))),
        None => Ok(()),
    }
}

/// How to read a trace.
pub(crate) fn read_options(format: Option<&str>, lenient: bool) -> Result<ReadOptions, Failure> {
    let format = format.map(Format::parse).transpose().map_err(|error| Failure::Usage(error.to_string()))?;
    Ok(ReadOptions { format, on_fault: if lenient { OnFault::Skip } else { OnFault::Stop } })
}

/// One stretch of requests with one pace.
pub(crate) struct Stage {
    pub(crate) name: String,
    /// Outstanding requests, or `None` in an open loop.
    pub(crate) depth: Option<u32>,
    pub(crate) time_limit: Option<Nanos>,
    /// About how many requests it has, where that is known.
    pub(crate) total: Option<u64>,
}

/// The requests of a trace, until one cannot be read.
pub(crate) type Recorded = Box<dyn Iterator<Item = Result<HostRequest, TraceError>>>;

/// The requests of a workload on one drive, stage by stage.
pub(crate) enum Source {
    Made { generator: Box<Generator>, depth: Option<u32>, totals: Vec<Option<u64>>, begun: bool },
    Filed { filed: Box<Filed>, begun: bool },
    Traced { replay: Recorded, depth: Option<u32>, requests: u64, begun: bool, failure: Option<TraceError> },
}

impl Source {
    /// Put `workload` on a drive of `capacity`.
    pub(crate) fn new(workload: &Workload, options: &LoadOptions, seed: u64, capacity: Bytes) -> Result<Source, Failure> {
        match workload {
            Workload::Made(spec) => {
                let totals = spec.phases.iter().map(|phase| expected(phase, capacity)).collect();
                let mut spec = spec.clone();
                if options.until_steady {
                    // Rounds end when the drive is steady, not when the phase would.
                    spec.phases.last_mut().expect("a checked workload has a phase").limit = Limit::none();
                }
                let generator = Box::new(spec.generator(seed, capacity)?);
                Ok(Source::Made { generator, depth: options.qd, totals, begun: false })
            }
            Workload::Filed(spec, changed) => {
                let filed = Box::new(Filed::new(spec.load(seed, capacity, *changed)?));
                Ok(Source::Filed { filed, begun: false })
            }
            Workload::Traced(traced) => {
                let footprint = Footprint::measure(&mut open(traced)?, Bytes::kib(4))?;
                let placement = Placement::new(footprint, capacity, traced.fit)?;
                let again = traced.clone();
                let replay = Replay::new(move || open(&again), placement, traced.replay)?;
                let depth = options.qd.or(if traced.timed { None } else { Some(32) });
                let requests = traced.requests * u64::from(traced.replay.repeat);
                Ok(Source::Traced { replay: Box::new(replay), depth, requests, begun: false, failure: None })
            }
        }
    }

    /// The requests of a trace once, at their places on a drive of `capacity`; `None` where `workload` is no trace.
    pub(crate) fn once(workload: &Workload, capacity: Bytes) -> Result<Option<Recorded>, Failure> {
        let Workload::Traced(traced) = workload else { return Ok(None) };
        let footprint = Footprint::measure(&mut open(traced)?, Bytes::kib(4))?;
        let placement = Placement::new(footprint, capacity, traced.fit)?;
        let again = traced.clone();
        let replay = Replay::new(move || open(&again), placement, ReplayOptions { repeat: 1, ..traced.replay })?;
        Ok(Some(Box::new(replay)))
    }

    /// Begin the next stage, if there is one.
    pub(crate) fn next_stage(&mut self) -> Option<Stage> {
        match self {
            Source::Made { generator, depth, totals, begun } => {
                if std::mem::replace(begun, true) {
                    generator.end_phase()?;
                }
                let number = generator.phase_number();
                let phase = generator.phase()?;
                let depth = depth.or(phase.queue_depth());
                Some(Stage { name: phase.name().to_owned(), depth, time_limit: phase.time_limit(), total: totals[number] })
            }
            Source::Filed { filed, begun } => {
                let load = &filed.load;
                if std::mem::replace(begun, true) {
                    return None;
                }
                Some(Stage { name: load.name().to_owned(), depth: Some(load.queue_depth()), time_limit: None, total: load.expected() })
            }
            Source::Traced { depth, requests, begun, .. } => {
                if std::mem::replace(begun, true) {
                    return None;
                }
                Some(Stage { name: "replay".to_owned(), depth: *depth, time_limit: None, total: Some(*requests) })
            }
        }
    }

    /// The files, if it is a workload of files.
    pub(crate) fn files(&self) -> Option<&FileLoad> {
        match self {
            Source::Filed { filed, .. } => Some(&filed.load),
            Source::Made { .. } | Source::Traced { .. } => None,
        }
    }

    /// The files whose data need not be gone once it is stale.
    pub(crate) fn insecure_files(&self) -> BTreeSet<u32> {
        match self {
            Source::Filed { filed, .. } => filed.insecure().clone(),
            Source::Made { .. } | Source::Traced { .. } => BTreeSet::new(),
        }
    }

    /// From now on say whose data each request is.
    pub(crate) fn tell(&mut self, whom: Sender<FileStep>) {
        if let Source::Filed { filed, .. } = self {
            filed.tell(whom);
        }
    }

    /// What stopped a trace early.
    pub(crate) fn failure(&mut self) -> Option<TraceError> {
        match self {
            Source::Made { .. } | Source::Filed { .. } => None,
            Source::Traced { failure, .. } => failure.take(),
        }
    }
}

/// The requests of the present stage, with times counted from its beginning.
impl Iterator for Source {
    type Item = HostRequest;

    #[inline]
    fn next(&mut self) -> Option<HostRequest> {
        match self {
            Source::Made { generator, .. } => {
                let begins = generator.phase()?.begins();
                let request = generator.next_in_phase()?;
                Some(HostRequest { at: request.at.saturating_sub(begins), ..request })
            }
            Source::Filed { filed, .. } => filed.next(),
            Source::Traced { replay, failure, .. } => match replay.next()? {
                Ok(request) => Some(request),
                Err(error) => {
                    *failure = Some(error);
                    None
                }
            },
        }
    }
}

fn open(traced: &Traced) -> Result<TraceReader<'static>, TraceError> {
    trace::open(&traced.path, traced.read)
}

/// About how many requests a phase has.
pub(crate) fn expected(phase: &wordline_workload::PhaseSpec, capacity: Bytes) -> Option<u64> {
    let by_bytes = phase.limit.bytes.map(|bytes| (bytes.on(capacity).0 as f64 / phase.mean_size()) as u64);
    [phase.limit.requests, by_bytes].into_iter().flatten().min()
}
