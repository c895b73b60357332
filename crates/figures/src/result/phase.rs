//! The phases of a workload, each with figures of its own: a headline over a mixed load, a write storm and a read-back is none of the three.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::flash::Waf;
use super::host::HostResult;
use super::latency::{ByOp, Latency};
use super::load::InFlight;

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
