//! The requests of a workload on one drive, stage by stage.

use std::collections::BTreeSet;
use std::sync::mpsc::Sender;

use wordline_drive::{JobLoad, Pace};
use wordline_figures::TraceResult;
use wordline_figures::vertrace::FileStep;
use wordline_units::{Bytes, HostRequest, Id, JobId, Nanos};
use wordline_workload::spec::{Gaps, Limit};
use wordline_workload::{FileLoad, Generator, Tagged, TraceError};

use crate::error::RunError;
use crate::jobs::{JobStreams, expected};
use crate::load::Load;
use crate::workload::{Recorded, Traced, Workload};

/// Requests outstanding where neither a trace nor anybody else says when they come.
const USUAL_DEPTH: u32 = 32;

/// One stretch of requests with one pace.
#[derive(Clone, Debug, PartialEq)]
pub struct Stage {
    /// Its name.
    pub name: String,
    /// Number of requests outstanding, or `None` in an open loop.
    pub depth: Option<u32>,
    /// Gaps between requests of a closed loop, if there are any.
    pub gaps: Option<Gaps>,
    /// Time after which a closed loop ends, whatever is left.
    pub time_limit: Option<Nanos>,
    /// About how many requests it has, where that is known.
    pub total: Option<u64>,
}

impl Stage {
    /// Pace of its requests from `now` on.
    pub fn pace(&self, now: Nanos) -> Pace {
        match (self.depth, self.gaps) {
            (None, _) => Pace::Open { origin: now },
            (Some(depth), None) => Pace::Closed { depth },
            (Some(depth), Some(Gaps { run, cycle, gap })) => Pace::Gaps { depth, run, cycle, gap },
        }
    }
}

/// The requests of a workload on one drive.
pub struct Source(Kind);

enum Kind {
    Made { generator: Box<Generator>, depth: Option<u32>, totals: Vec<Option<u64>>, begun: bool },
    Jobs { jobs: Box<JobStreams>, begun: bool },
    Filed { filed: Box<Filed>, begun: bool },
    Traced { traced: Box<Traced>, replay: Recorded, depth: Option<u32>, begun: bool, failure: Option<TraceError> },
}

/// A place in the requests of a workload, from which they can be given as often as one likes, on any thread.
pub(crate) struct Place(Placed);

enum Placed {
    Made { generator: Box<Generator>, depth: Option<u32>, totals: Vec<Option<u64>>, begun: bool },
    Jobs { jobs: Box<JobStreams>, begun: bool },
    Filed { load: Box<FileLoad>, insecure: BTreeSet<u32>, begun: bool },
}

impl Place {
    /// The requests from here on. Nobody is told of their files.
    pub(crate) fn source(&self) -> Source {
        Source(match &self.0 {
            Placed::Made { generator, depth, totals, begun } => {
                Kind::Made { generator: generator.clone(), depth: *depth, totals: totals.clone(), begun: *begun }
            }
            Placed::Jobs { jobs, begun } => Kind::Jobs { jobs: jobs.clone(), begun: *begun },
            Placed::Filed { load, insecure, begun } => {
                let filed = Filed { load: load.as_ref().clone(), told: None, insecure: insecure.clone() };
                Kind::Filed { filed: Box::new(filed), begun: *begun }
            }
        })
    }
}

impl Source {
    /// Puts `workload` on a drive of `capacity`.
    ///
    /// # Errors
    ///
    /// The workload or the trace does not fit there.
    pub fn new(workload: &Workload, load: &Load, seed: u64, capacity: Bytes) -> Result<Source, RunError> {
        Ok(Source(match workload {
            Workload::Made(spec) => {
                let totals = spec.phases.iter().map(|phase| expected(phase, capacity)).collect();
                let mut spec = spec.clone();
                if load.until_steady {
                    // Rounds end when the drive is steady, not when the phase would.
                    spec.phases.last_mut().expect("a checked workload has a phase").limit = Limit::none();
                }
                let generator = Box::new(Generator::new(&spec, seed, capacity)?);
                Kind::Made { generator, depth: load.queue_depth, totals, begun: false }
            }
            Workload::Jobs(spec) => Kind::Jobs { jobs: Box::new(JobStreams::new(spec, seed, capacity)?), begun: false },
            Workload::Filed(spec, changed) => {
                Kind::Filed { filed: Box::new(Filed::new(FileLoad::new(spec, seed, capacity, *changed)?)), begun: false }
            }
            Workload::Traced(traced) => {
                let replay = traced.replay(capacity)?;
                let depth = load.queue_depth.or(if traced.timed() { None } else { Some(USUAL_DEPTH) });
                Kind::Traced { traced: Box::new(traced.clone()), replay, depth, begun: false, failure: None }
            }
        }))
    }

    /// The present place in the requests; `None`: a trace cannot be read from the middle.
    pub(crate) fn place(&self) -> Option<Place> {
        Some(Place(match &self.0 {
            Kind::Made { generator, depth, totals, begun } => {
                Placed::Made { generator: generator.clone(), depth: *depth, totals: totals.clone(), begun: *begun }
            }
            Kind::Jobs { jobs, begun } => Placed::Jobs { jobs: jobs.clone(), begun: *begun },
            Kind::Filed { filed, begun } => {
                Placed::Filed { load: Box::new(filed.load.clone()), insecure: filed.insecure.clone(), begun: *begun }
            }
            Kind::Traced { .. } => return None,
        }))
    }

    /// Begins the next stage, if there is one.
    pub fn next_stage(&mut self) -> Option<Stage> {
        match &mut self.0 {
            Kind::Made { generator, depth, totals, begun } => {
                if std::mem::replace(begun, true) {
                    generator.end_phase()?;
                }
                let number = generator.phase_number();
                let phase = generator.phase()?;
                let depth = depth.or(phase.queue_depth());
                Some(Stage {
                    name: phase.name().to_owned(),
                    depth,
                    gaps: phase.gaps(),
                    time_limit: phase.time_limit(),
                    total: totals[number],
                })
            }
            Kind::Jobs { jobs, begun } => {
                if std::mem::replace(begun, true) {
                    jobs.next_phase()?;
                }
                Some(Stage { name: jobs.name().to_owned(), depth: jobs.depth(), gaps: None, time_limit: None, total: jobs.total() })
            }
            Kind::Filed { filed, begun } => {
                let load = &filed.load;
                if std::mem::replace(begun, true) {
                    return None;
                }
                Some(Stage {
                    name: load.name().to_owned(),
                    depth: Some(load.queue_depth()),
                    gaps: None,
                    time_limit: None,
                    total: load.expected(),
                })
            }
            Kind::Traced { depth, traced, begun, .. } => {
                if std::mem::replace(begun, true) {
                    return None;
                }
                Some(Stage { name: "replay".to_owned(), depth: *depth, gaps: None, time_limit: None, total: Some(traced.requests()) })
            }
        }
    }

    /// The jobs, of which those of the present stage run, if it is a workload of jobs.
    pub(crate) fn jobs(&self) -> Option<&JobStreams> {
        match &self.0 {
            Kind::Jobs { jobs, .. } => Some(jobs),
            Kind::Made { .. } | Kind::Filed { .. } | Kind::Traced { .. } => None,
        }
    }

    /// The files, if it is a workload of files.
    pub fn files(&self) -> Option<&FileLoad> {
        match &self.0 {
            Kind::Filed { filed, .. } => Some(&filed.load),
            Kind::Made { .. } | Kind::Jobs { .. } | Kind::Traced { .. } => None,
        }
    }

    /// The files whose data need not be gone once it is stale. Files that were made after the start are among them only where somebody is told of them.
    pub(crate) fn insecure_files(&self) -> BTreeSet<u32> {
        match &self.0 {
            Kind::Filed { filed, .. } => filed.insecure.clone(),
            Kind::Made { .. } | Kind::Jobs { .. } | Kind::Traced { .. } => BTreeSet::new(),
        }
    }

    /// Tells `whom` from now on whose data each request is.
    pub(crate) fn tell(&mut self, whom: Sender<FileStep>) {
        if let Kind::Filed { filed, .. } = &mut self.0 {
            filed.told = Some(whom);
        }
    }

    /// Changes to a trace whose requests were issued, for a place beside its figures.
    pub(crate) fn trace(&self) -> Option<TraceResult> {
        match &self.0 {
            Kind::Traced { traced, replay, .. } => Some(traced.told(replay.as_ref())),
            Kind::Made { .. } | Kind::Jobs { .. } | Kind::Filed { .. } => None,
        }
    }

    /// What stopped a trace early.
    pub fn failure(&mut self) -> Option<TraceError> {
        match &mut self.0 {
            Kind::Made { .. } | Kind::Jobs { .. } | Kind::Filed { .. } => None,
            Kind::Traced { failure, .. } => failure.take(),
        }
    }
}

/// The requests of each job of the present stage, if it is a workload of jobs.
impl JobLoad for Source {
    #[inline]
    fn next_of(&mut self, job: JobId) -> Option<HostRequest> {
        match &mut self.0 {
            Kind::Jobs { jobs, .. } => jobs.next_of(job.index()),
            Kind::Made { .. } | Kind::Filed { .. } | Kind::Traced { .. } => None,
        }
    }
}

/// The requests of the present stage, with times counted from its beginning. Jobs take turns: who has a clock serves them as jobs.
impl Iterator for Source {
    type Item = HostRequest;

    #[inline]
    fn next(&mut self) -> Option<HostRequest> {
        match &mut self.0 {
            Kind::Made { generator, .. } => {
                let begins = generator.phase()?.begins();
                let request = generator.next_in_phase()?;
                Some(HostRequest { at: request.at.saturating_sub(begins), ..request })
            }
            Kind::Jobs { jobs, .. } => jobs.in_turn(),
            Kind::Filed { filed, .. } => filed.next(),
            Kind::Traced { replay, failure, .. } => match replay.next()? {
                Ok(request) => Some(request),
                Err(error) => {
                    *failure = Some(error);
                    None
                }
            },
        }
    }
}

/// The requests of a file system, with an optional receiver of the file that each one belongs to.
#[derive(Debug)]
struct Filed {
    load: FileLoad,
    told: Option<Sender<FileStep>>,
    insecure: BTreeSet<u32>,
}

impl Filed {
    /// The requests of `load`, without a receiver.
    fn new(load: FileLoad) -> Filed {
        let insecure = load.system().files().filter(|file| !file.is_secure).map(|file| file.id).collect();
        Filed { load, told: None, insecure }
    }
}

impl Iterator for Filed {
    type Item = HostRequest;

    #[inline]
    fn next(&mut self) -> Option<HostRequest> {
        let tagged = self.load.next_tagged()?;
        if let (Some(told), Some(step)) = (&self.told, step(&tagged)) {
            if !tagged.request.attributes.secure {
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
