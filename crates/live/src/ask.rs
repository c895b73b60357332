//! Questions and orders to a running drive, beside reading and writing.

use std::path::PathBuf;
use std::time::Duration;

use wordline_block::Hints;
use wordline_drive::{Fault, Located};
use wordline_engine::BlockView;
use wordline_figures::Metrics;
use wordline_units::host::SECTOR_BYTES;
use wordline_units::{Bytes, Celsius, DieId, Nanos, Tolerance};

use crate::disk::Answer;
use crate::errand::Errand;
use crate::faults::{self, Darkness, Harm, Harmed};
use crate::hints::{Change, RANGES_MAX};
use crate::lost::{self, LostFound};
use crate::record::Recording;
use crate::smart::{Smart, smart};
use crate::worker::{Lateness, Worker};

/// A question, or an order.
#[derive(Debug)]
pub(crate) enum Query {
    /// State of the drive.
    Look,
    /// Places of these bytes, of `units_max` mapping units at most.
    Locate { from: u64, end: u64, units_max: usize },
    /// Lost stretches of these bytes, on one die or on all.
    Lost { from: u64, end: u64, element: Option<DieId> },
    /// A change of the hints of these bytes.
    Hint { from: u64, end: u64, change: Change },
    /// All hints.
    Hints,
    /// Travel time of an answer to a client and of its next request back.
    AllowFor(Duration),
    /// A fault on demand.
    Harm(Harm),
    /// Callback for a power cut on demand.
    OnPowerCut(Darkness),
    /// A new temperature of the cells.
    Heat(Celsius),
    /// A copy of the media to this folder.
    Copy(PathBuf),
    /// Start of a recording of requests.
    Record,
    /// End of all recordings.
    StopRecording,
    /// End of the last client: everything written is made durable.
    Rest,
    /// Orderly stop: requests received are answered, everything is written down. No query may follow.
    Stop,
}

/// Answer of the drive to a query.
#[derive(Debug)]
pub(crate) enum Told {
    Done,
    Refused(String),
    Look(Box<Look>),
    Places(Vec<Place>),
    Lost(LostFound),
    Hints(Vec<(u64, u64, Hints)>),
    /// Hints are in force; `acts_on_latency`: the drive acts on tolerated latencies.
    Hinted {
        acts_on_latency: bool,
        stored: Stored,
    },
    Copied {
        bytes: u64,
        stood_for: Duration,
    },
    Recording(Recording),
    Harmed(Harmed),
    Faults(Vec<Fault>),
}

/// True if hints are kept for the next start, or the reason why not, in words.
pub(crate) type Stored = Result<bool, String>;

/// Place of a stretch of the drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// First byte.
    pub offset: u64,
    /// Length in bytes.
    pub length: u64,
    /// Place of its mapping unit.
    pub located: Located,
}

/// A drive at one instant.
#[derive(Clone, Debug)]
pub struct Look {
    /// Metrics of the drive.
    pub metrics: Metrics,
    /// Virtual time.
    pub now: Nanos,
    /// Every block group.
    pub blocks: Vec<BlockView>,
    /// Hash of the event log, and the number of its events.
    pub log: (u64, u64),
    /// Lateness of answers.
    pub lateness: Lateness,
    /// Lead of answers before their instant.
    pub link: Duration,
    /// Requests that arrived and are not answered.
    pub outstanding: u64,
    /// True if the drive takes no more writes.
    pub is_worn_out: bool,
    /// Dies that have failed, as far as the firmware has noticed.
    pub failed: Vec<DieId>,
    /// Utilisation of each core: its share of the drive over the units of its block groups in service.
    pub utilisation: Vec<f64>,
    /// Number of times since the start that something has gone from whole to lost.
    pub lost_generation: u64,
    /// Temperature of the cells, if they have physics.
    pub temperature: Option<Celsius>,
    /// Bytes for the host.
    pub size: u64,
    /// Bytes of a mapping unit.
    pub unit: Bytes,
    /// Bytes of a flash page.
    pub page: Bytes,
    /// Failure that the bytes survive.
    pub survives: &'static str,
    /// True if the write buffer survives it too.
    pub keeps_buffer: bool,
    /// The error of the media, or the data that is lost or refused.
    pub trouble: Option<String>,
    /// Recordings under way.
    pub recordings: usize,
    /// Stretches with hints.
    pub hints: usize,
    /// Faults on demand.
    pub faults: usize,
    /// Health counters.
    pub smart: Smart,
}

impl Look {
    /// Write amplification so far; `None` if nothing was written.
    pub fn waf(&self) -> Option<f64> {
        self.metrics.so_far().waf(self.unit)
    }

    /// Bytes of the mapping units that answer with an error now, each counted whole, as far as the firmware has noticed.
    pub fn lost_bytes(&self) -> u64 {
        self.smart.health.unreadable * self.unit.0
    }
}

impl Worker {
    /// Answers `query` now, or later if the drive has to come to rest first.
    pub(crate) fn consider(&mut self, query: Query, answer: Answer) {
        let size = self.drive.config().exported().0;
        let within = |from: u64, end: u64| {
            let end = if end == u64::MAX { size } else { end };
            if from < end && end <= size { Ok(end) } else { Err(Told::Refused(format!("bytes {from} to {end}: the drive has {size}"))) }
        };
        let told = match query {
            Query::Look => Told::Look(Box::new(self.look())),
            Query::Locate { from, end, units_max } => match within(from, end) {
                Ok(end) => Told::Places(self.places(from, end, units_max)),
                Err(refused) => refused,
            },
            Query::Lost { from, end, element } => match within(from, end) {
                Ok(end) => lost::lost(&self.drive, from, end, element),
                Err(refused) => refused,
            },
            Query::Hint { from, end, change } => match within(from, end) {
                Ok(end) if self.hints.set(from, end, &change) => {
                    let stored = self.store_hints();
                    match change.read_latency {
                        Some(latency) => {
                            let tolerance = latency.map_or(Tolerance::Default, Tolerance::from);
                            return self.pass_hint((from, end), tolerance, Some((answer, stored)));
                        }
                        None => Told::Hinted { acts_on_latency: self.drive.has_tolerances(), stored },
                    }
                }
                Ok(_) => Told::Refused(format!("more than {RANGES_MAX} stretches with hints of their own")),
                Err(refused) => refused,
            },
            Query::Hints => Told::Hints(self.hints.all().collect()),
            Query::Harm(harm) => faults::harm(&mut self.drive, &self.recorders, harm),
            Query::OnPowerCut(darkness) => {
                self.darkness = Some(darkness);
                Told::Done
            }
            Query::AllowFor(link) => {
                self.link = link;
                Told::Done
            }
            Query::Heat(celsius) => {
                self.note(format!("the drive is at {} C from here on, which a replay does not know", celsius.0));
                if self.drive.set_temperature(celsius) {
                    Told::Done
                } else {
                    Told::Refused("the cells of this drive have no physics, and feel nothing".to_owned())
                }
            }
            Query::Copy(folder) => return self.errands.push_back(Errand::Copy(folder, answer)),
            Query::Record => return self.errands.push_back(Errand::Record(answer)),
            Query::StopRecording => return self.errands.push_back(Errand::StopRecording(answer)),
            // A drive without writes is not flushed: one that was only looked at stays as it was made.
            Query::Rest if !self.is_unflushed => Told::Done,
            Query::Rest => return self.errands.push_back(Errand::Rest(answer)),
            Query::Stop => return self.stop = Some(answer),
        };
        // The requester may be gone.
        let _ = answer.send(told);
    }

    pub(crate) fn look(&self) -> Look {
        Look {
            metrics: self.drive.observer.1.clone(),
            now: self.drive.now(),
            blocks: self.drive.blocks().collect(),
            log: (self.drive.log().hash(), self.drive.log().count()),
            lateness: self.lateness,
            link: self.link,
            outstanding: u64::from(self.drive.outstanding()),
            is_worn_out: self.drive.is_worn_out(),
            failed: self.drive.failed_dies().collect(),
            utilisation: self.drive.firmware().iter().map(|core| core.utilisation()).collect(),
            lost_generation: self.drive.lost_generation(),
            temperature: self.drive.temperature(),
            size: self.drive.config().exported().0,
            unit: self.drive.unit_bytes(),
            page: self.drive.config().sheet.geometry.page,
            survives: self.keeper.survives(),
            keeps_buffer: self.keeper.keeps_buffer(),
            trouble: self
                .keeper
                .trouble()
                .or_else(|| self.keeper.catches_up().and_then(|()| self.keeper.admits()).err().map(|refused| refused.why))
                .or_else(|| lost::loss(&self.drive)),
            recordings: self.recorders.len(),
            hints: self.hints.all().count(),
            faults: self.drive.faults().len(),
            smart: smart(&self.drive, self.trims),
        }
    }

    fn places(&self, from: u64, end: u64, units_max: usize) -> Vec<Place> {
        let unit = self.drive.unit_bytes().0;
        let first = from / unit;
        let count = (end.div_ceil(unit) - first).min(units_max as u64);
        let place = |number: u64| {
            let (start, next) = ((number * unit).max(from), ((number + 1) * unit).min(end));
            Place { offset: start, length: next - start, located: self.drive.locate(start / SECTOR_BYTES) }
        };
        (first..first + count).map(place).collect()
    }
}
