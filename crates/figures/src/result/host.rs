//! What the host got.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::failures::FailedResult;

/// What the host got. Counts and rates are of requests that completed without a failure: what was served, not what was asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostResult {
    /// Reads completed without a failure.
    #[schemars(extend("x-unit" = "requests"))]
    pub reads: u64,
    /// Writes completed without a failure.
    #[schemars(extend("x-unit" = "requests"))]
    pub writes: u64,
    /// Trims completed without a failure.
    #[schemars(extend("x-unit" = "requests"))]
    pub trims: u64,
    /// Of the trims, those that freed no mapping unit: nothing that they cover held anything, or no unit has been trimmed whole by them and those before.
    #[schemars(extend("x-unit" = "requests"))]
    #[serde(default)]
    pub trims_freed_nothing: u64,
    /// Flushes completed without a failure.
    #[schemars(extend("x-unit" = "requests"))]
    pub flushes: u64,
    /// Hints of tolerated latency, where there were any.
    #[schemars(extend("x-unit" = "requests"))]
    #[serde(default, skip_serializing_if = "is_zero")]
    pub hints: u64,
    /// Requests that failed in part or whole. Nothing else here counts them.
    #[schemars(extend("x-unit" = "requests"))]
    pub failed: u64,
    /// The same by kind.
    pub failed_by: FailedResult,
    /// Bytes read.
    #[schemars(extend("x-unit" = "B"))]
    pub read_bytes: u64,
    /// Of the bytes read: those of mapping units that hold nothing, because they were never written or were trimmed. They cost no flash read, so that a drive
    /// looks faster than it is.
    #[serde(default)]
    #[schemars(extend("x-unit" = "B"))]
    pub read_blank_bytes: u64,
    /// Bytes written.
    #[schemars(extend("x-unit" = "B"))]
    pub write_bytes: u64,
    /// Requests of all kinds completed without a failure per second.
    #[schemars(extend("x-unit" = "1/s"))]
    pub iops: f64,
    /// Reads completed per second.
    #[schemars(extend("x-unit" = "1/s"))]
    pub read_iops: f64,
    /// Writes completed per second.
    #[schemars(extend("x-unit" = "1/s"))]
    pub write_iops: f64,
    /// Data read per second.
    #[schemars(extend("x-unit" = "MiB/s"))]
    pub read_mib_s: f64,
    /// Data written per second.
    #[schemars(extend("x-unit" = "MiB/s"))]
    pub write_mib_s: f64,
    /// The queue depth of a closed loop; null in an open loop.
    #[schemars(extend("x-unit" = "requests"))]
    pub queue_depth: Option<u32>,
}

impl HostResult {
    /// Requests that were completed without a failure.
    pub fn served(&self) -> u64 {
        self.reads + self.writes + self.trims + self.flushes + self.hints
    }

    /// Requests that were answered, well or not.
    pub fn asked(&self) -> u64 {
        self.served() + self.failed
    }
}

/// True if `count` counts nothing.
fn is_zero(count: &u64) -> bool {
    *count == 0
}
