//! A finished measurement: the counters of a window and the figures that follow from them.

use wordline_engine::Stages;
use wordline_units::host::SECTOR_BYTES;
use wordline_units::{HostOp, Nanos, Priority};

use crate::histogram::Latencies;
use crate::scope::Scope;
use crate::series::Row;
use crate::totals::Totals;
use crate::violation::Violation;

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
    /// Requests in flight at the end.
    pub held: u64,
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

impl Measured {
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

    /// Requests completed, of all kinds.
    pub fn requests(&self) -> u64 {
        HostOp::ALL.into_iter().map(|op| self.totals.host(op).requests).sum()
    }

    /// MiB per second of one kind of request.
    pub fn mib_per_second(&self, op: HostOp) -> f64 {
        self.per_second((self.totals.host(op).sectors * SECTOR_BYTES) as f64 / f64::from(1 << 20))
    }

    /// The mean latency over all kinds of request in nanoseconds; `None` when nothing completed.
    pub fn mean_latency_ns(&self) -> Option<f64> {
        let sum: u64 = HostOp::ALL.into_iter().map(|op| self.totals.host(op).latency_ns()).sum();
        (self.requests() > 0).then(|| sum as f64 / self.requests() as f64)
    }

    /// Mean time per stage of one kind of request in nanoseconds, in the order of [`Stages::NAMES`]; `None` when none completed.
    pub fn stage_means_ns(&self, op: HostOp) -> Option<[f64; Stages::NAMES.len()]> {
        let count = self.totals.host(op);
        (count.requests > 0).then(|| count.stages_ns.map(|sum| sum as f64 / count.requests as f64))
    }

    /// The mean number of requests in flight.
    pub fn mean_in_flight(&self) -> f64 {
        if self.elapsed == Nanos::ZERO { 0.0 } else { self.in_flight_ns as f64 / self.elapsed.0 as f64 }
    }

    /// `units` over the mapping units' worth of sectors that the host wrote; `None` when it wrote nothing.
    pub fn per_written_unit(&self, units: u64) -> Option<f64> {
        self.totals.per_written_unit(units, self.scope.unit)
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
