//! Latencies, and where the time of a request went.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One entry per kind of request but hints, which no flash operation serves.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ByOp<T> {
    /// Reads; null when none completed without a failure.
    pub read: Option<T>,
    /// Writes; null when none completed without a failure.
    pub write: Option<T>,
    /// Trims; null when none completed without a failure.
    pub trim: Option<T>,
    /// Flushes; null when none completed without a failure.
    pub flush: Option<T>,
}

/// A latency distribution. Mean and maximum are exact; percentiles are by nearest rank and within 0.1 %.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Latency {
    /// Requests in the distribution.
    #[schemars(extend("x-unit" = "requests"))]
    pub count: u64,
    /// The mean.
    #[schemars(extend("x-unit" = "us"))]
    pub mean: f64,
    /// The median.
    #[schemars(extend("x-unit" = "us"))]
    pub p50: f64,
    /// The 90th percentile.
    #[schemars(extend("x-unit" = "us"))]
    pub p90: f64,
    /// The 99th percentile.
    #[schemars(extend("x-unit" = "us"))]
    pub p99: f64,
    /// The 99.9th percentile; the maximum below 1,000 requests.
    #[schemars(extend("x-unit" = "us"))]
    pub p999: f64,
    /// The 99.99th percentile; the maximum below 10,000 requests.
    #[schemars(extend("x-unit" = "us"))]
    pub p9999: f64,
    /// The maximum.
    #[schemars(extend("x-unit" = "us"))]
    pub max: f64,
}

/// The latency of one priority class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PriorityLatency {
    /// `urgent`, `high`, `normal` or `low`.
    pub priority: String,
    /// `read`, `write`, `trim`, `flush` or `hint`.
    pub op: String,
    /// Its distribution.
    pub latency_us: Latency,
}

/// Mean time per request in each stage. For a request of many flash operations, the path of the one that ended last.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StageMeans {
    /// Waiting in the host's queue for a slot of the device.
    #[schemars(extend("x-unit" = "us"))]
    pub host_queue: f64,
    /// Waiting for and being worked on by a firmware core.
    #[schemars(extend("x-unit" = "us"))]
    pub core: f64,
    /// Waiting for and moving through DRAM and the host link.
    #[schemars(extend("x-unit" = "us"))]
    pub dram: f64,
    /// Waiting in the write buffer, for space or until durable.
    #[schemars(extend("x-unit" = "us"))]
    pub buffer: f64,
    /// Waiting for a die.
    #[schemars(extend("x-unit" = "us"))]
    pub die_wait: f64,
    /// The die's array at work.
    #[schemars(extend("x-unit" = "us"))]
    pub die: f64,
    /// Waiting for and moving over the channel bus.
    #[schemars(extend("x-unit" = "us"))]
    pub channel: f64,
    /// Error correction.
    #[schemars(extend("x-unit" = "us"))]
    pub ecc: f64,
}

impl StageMeans {
    /// The stages in the order of [`wordline_engine::Stages::NAMES`], in microseconds.
    pub fn values(&self) -> [f64; 8] {
        [self.host_queue, self.core, self.dram, self.buffer, self.die_wait, self.die, self.channel, self.ecc]
    }
}
