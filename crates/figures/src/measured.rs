//! A finished measurement: the counters of a window and the figures that follow from them.

use wordline_engine::Stages;
use wordline_units::host::SECTOR_BYTES;
use wordline_units::{HostOp, Nanos, Priority};

use crate::backlog::Saturation;
use crate::histogram::Latencies;
use crate::scope::Scope;
use crate::series::Row;
use crate::tolerances::ByClass;
use crate::totals::Totals;
use crate::violation::Violation;
use crate::waits::Waited;

/// What one window of one run measured. Made by [`Metrics::finish`](crate::Metrics::finish).
#[derive(Clone, Debug)]
pub struct Measured {
    /// The parts of the drive.
    pub scope: Scope,
    /// The length of the window.
    pub elapsed: Nanos,
    /// The counters.
    pub totals: Totals,
    /// The integral of requests in flight over the window, in request-nanoseconds.
    pub in_flight_ns: u128,
    /// What all requests have spent in the drive within the window, in request-nanoseconds: the other side of Little's law.
    pub spent_ns: u128,
    /// Requests in flight at the end.
    pub held: u64,
    /// Longest time for which requests were held and none was answered.
    pub longest_silence: Nanos,
    /// Mapping units in the write buffer at the end, not yet on flash; `None` where nobody has asked the drive.
    pub buffered_units: Option<u64>,
    /// The phases of the workload, in order; one where it has none.
    pub phases: Vec<Phase>,
    /// Who waited for whom, and how often operations were stopped; nothing of a phase by itself.
    pub waited: Waited,
    /// Reads by tolerated latency; `None` where nothing was hinted, and of a phase by itself.
    pub by_tolerance: Option<ByClass>,
    /// The jobs of the workload, by number; none where it has none.
    pub jobs: Vec<JobMeasured>,
    /// The time series.
    pub rows: Vec<Row>,
    /// When the drive stopped taking writes, since the start of the run.
    pub worn_out: Option<Nanos>,
    /// What is wrong with the run; its figures count only when this is empty.
    pub violations: Vec<Violation>,
    pub(crate) latencies: [[Latencies; Priority::ALL.len()]; HostOp::ALL.len()],
    pub(crate) die_ns: Vec<u64>,
    pub(crate) channel_ns: Vec<u64>,
}

/// One phase of a measured window.
#[derive(Clone, Debug)]
pub struct Phase {
    /// Its name in the workload.
    pub name: String,
    /// When it began, since the start of the measured window.
    pub start: Nanos,
    /// The queue depth of a closed loop; `None` in an open loop.
    pub queue_depth: Option<u32>,
    /// The open loop that the drive could not follow.
    pub saturation: Option<Saturation>,
    /// Its counters and latencies, without a time series.
    pub measured: Measured,
}

/// One job of a measured window.
#[derive(Clone, Debug)]
pub struct JobMeasured {
    /// Its name in the workload; `phase/job` where a phase holds it.
    pub name: String,
    /// Its counters of requests and its latencies, over the time that it took. Nothing of the flash is any job's.
    pub measured: Measured,
}

impl Measured {
    /// Nothing of a drive of this scope.
    pub(crate) fn empty(scope: Scope) -> Measured {
        Measured {
            scope,
            elapsed: Nanos::ZERO,
            totals: Totals::default(),
            in_flight_ns: 0,
            spent_ns: 0,
            held: 0,
            longest_silence: Nanos::ZERO,
            buffered_units: None,
            phases: Vec::new(),
            waited: Waited::default(),
            by_tolerance: None,
            jobs: Vec::new(),
            rows: Vec::new(),
            worn_out: None,
            violations: Vec::new(),
            latencies: Default::default(),
            die_ns: Vec::new(),
            channel_ns: Vec::new(),
        }
    }

    /// The latencies of one kind of request, all priorities together.
    pub fn latencies(&self, op: HostOp) -> Latencies {
        let mut all = Latencies::default();
        self.latencies[op as usize].iter().for_each(|class| all.merge(class));
        all
    }

    /// The latencies of one kind of request in one priority class.
    pub fn latencies_of(&self, op: HostOp, priority: Priority) -> &Latencies {
        &self.latencies[op as usize][priority as usize]
    }

    /// `count` per second of the window, by its exact length; zero for an empty window.
    pub fn per_second(&self, count: f64) -> f64 {
        if self.elapsed == Nanos::ZERO { 0.0 } else { count / self.elapsed.as_secs_f64() }
    }

    /// Requests of all kinds that were completed without a failure.
    pub fn requests(&self) -> u64 {
        HostOp::ALL.into_iter().map(|op| self.totals.host(op).requests).sum()
    }

    /// Requests of all kinds that failed in part or whole.
    pub fn failed(&self) -> u64 {
        HostOp::ALL.into_iter().map(|op| self.totals.host(op).failed).sum()
    }

    /// Requests of all kinds that failed because a part of a die had failed for good.
    pub fn failed_for_failures(&self) -> u64 {
        HostOp::ALL.into_iter().map(|op| self.totals.host(op).for_failures).sum()
    }

    /// Completions per second times mean latency: the time that all requests that completed took, failed ones too, over the window.
    pub fn iops_times_latency(&self) -> f64 {
        let all = |op| self.totals.host(op).latency_ns() + self.totals.host(op).failed_ns;
        self.per_second(HostOp::ALL.into_iter().map(all).sum::<u64>() as f64) / 1e9
    }

    /// MiB per second of one kind of request.
    pub fn mib_per_second(&self, op: HostOp) -> f64 {
        self.per_second((self.totals.host(op).sectors * SECTOR_BYTES) as f64 / f64::from(1 << 20))
    }

    /// Mean time per stage of one kind of request in nanoseconds, in the order of [`Stages::NAMES`]; `None` when none completed without a failure.
    pub fn stage_means_ns(&self, op: HostOp) -> Option<[f64; Stages::NAMES.len()]> {
        let count = self.totals.host(op);
        (count.requests > 0).then(|| count.stages_ns.map(|sum| sum as f64 / count.requests as f64))
    }

    /// The mean number of requests in flight.
    pub fn mean_in_flight(&self) -> f64 {
        if self.elapsed == Nanos::ZERO { 0.0 } else { self.in_flight_ns as f64 / self.elapsed.0 as f64 }
    }

    /// The mean number of requests in flight by Little's law: what all requests spent in the drive over the window's length.
    pub fn littles_law(&self) -> f64 {
        if self.elapsed == Nanos::ZERO { 0.0 } else { self.spent_ns as f64 / self.elapsed.0 as f64 }
    }

    /// `units` over the mapping units' worth of sectors that the host wrote; `None` when it wrote nothing.
    pub fn per_written_unit(&self, units: u64) -> Option<f64> {
        self.totals.per_written_unit(units, self.scope.unit)
    }

    /// How long each die's array worked.
    pub fn die_busy(&self) -> impl Iterator<Item = Nanos> + '_ {
        self.die_ns.iter().copied().map(Nanos)
    }

    /// How long each channel bus was held.
    pub fn channel_busy(&self) -> impl Iterator<Item = Nanos> + '_ {
        self.channel_ns.iter().copied().map(Nanos)
    }

    /// The fraction of the window in which each die's array worked.
    pub fn die_utilisation(&self) -> Vec<f64> {
        self.shares(&self.die_ns)
    }

    /// The fraction of the window in which each channel bus was held.
    pub fn channel_utilisation(&self) -> Vec<f64> {
        self.shares(&self.channel_ns)
    }

    fn shares(&self, busy: &[u64]) -> Vec<f64> {
        busy.iter().map(|ns| self.share(*ns, 1)).collect()
    }

    /// Σ of spans over `count` parts times the window.
    pub(crate) fn share(&self, busy_ns: u64, count: u32) -> f64 {
        if self.elapsed == Nanos::ZERO { 0.0 } else { busy_ns as f64 / (f64::from(count.max(1)) * self.elapsed.0 as f64) }
    }
}
