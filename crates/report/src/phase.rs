//! The phases of a workload, each with figures of its own: a headline over a mixed load, a write storm and a read-back is none of the three.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_units::Nanos;

use crate::backlog::Saturation;
use crate::measured::Measured;
use crate::result::{ByOp, DriveResult, HostResult, InFlight, Latency, Utilisation, Waf};
use crate::totals::Totals;

/// Where a phase began, to take differences from.
#[derive(Clone, Debug, Default)]
pub(crate) struct Start {
    pub(crate) name: String,
    pub(crate) queue_depth: Option<u32>,
    pub(crate) at: Nanos,
    pub(crate) totals: Totals,
    pub(crate) integral: u128,
    pub(crate) spent: u128,
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

/// What a drive did in one phase of a workload. A phase ends when all that it asked for is answered; GC that goes on then counts in the next one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PhaseResult {
    /// Its name in the workload.
    pub name: String,
    /// When it began, since the start of the measured window.
    #[schemars(extend("x-unit" = "s"))]
    pub start_seconds: f64,
    /// How long it took. Its rates divide by it.
    #[schemars(extend("x-unit" = "s"))]
    pub simulated_seconds: f64,
    /// What the host got.
    pub host: HostResult,
    /// Latency of requests that did not fail.
    pub latency_us: ByOp<Latency>,
    /// Write amplification; programs count in the phase in which they end.
    pub waf: Waf,
    /// Block groups erased.
    #[schemars(extend("x-unit" = "block groups"))]
    pub erases: u64,
    /// The dies' arrays at work, over the number of dies times the phase.
    pub die_utilisation: f64,
    /// The dies' arrays at work and the transfers from and to their registers, over the number of dies times the phase.
    #[serde(default)]
    pub die_utilisation_with_transfers: f64,
    /// The channel buses held, over the number of channels times the phase.
    pub channel_utilisation: f64,
    /// Requests in flight, and Little's law.
    pub in_flight: InFlight,
}

impl DriveResult {
    /// This drive in one of its phases alone: figures that phases have are those of the phase, the others are nothing.
    pub(crate) fn in_phase(&self, phase: &PhaseResult) -> DriveResult {
        let mut only = self.clone();
        only.host = phase.host.clone();
        only.latency_us = phase.latency_us.clone();
        only.waf = phase.waf.clone();
        (only.buffered_units, only.longest_silence_us) = (None, None);
        only.erases = phase.erases;
        only.simulated_seconds = phase.simulated_seconds;
        only.worn_out_seconds = None;
        only.in_flight = phase.in_flight.clone();
        only.utilisation = Utilisation {
            die: phase.die_utilisation,
            die_with_transfers: phase.die_utilisation_with_transfers,
            channel: phase.channel_utilisation,
            ..Utilisation::default()
        };
        (only.pages_read, only.pages_programmed, only.programmed_again, only.lost_units) = (0, 0, 0, 0);
        (only.sanitised, only.wordlines, only.read_errors) = (None, None, None);
        (only.phases, only.jobs) = (Vec::new(), Vec::new());
        only
    }
}
