//! Requests that failed, and what the faults of a schedule cost.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Requests that failed in part or whole.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FailedResult {
    /// Failed reads.
    #[schemars(extend("x-unit" = "requests"))]
    pub reads: u64,
    /// Failed writes.
    #[schemars(extend("x-unit" = "requests"))]
    pub writes: u64,
    /// Failed trims.
    #[schemars(extend("x-unit" = "requests"))]
    pub trims: u64,
    /// Failed flushes.
    #[schemars(extend("x-unit" = "requests"))]
    pub flushes: u64,
}

/// Cost of the faults of a run's schedule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LostResult {
    /// Bytes that were lost when the drive had come to rest after the run: nobody has written or trimmed them since.
    #[schemars(extend("x-unit" = "B"))]
    pub bytes: u64,
    /// Requests that failed for it, among those that failed.
    #[schemars(extend("x-unit" = "requests"))]
    pub failed: u64,
    /// Faults whose instant the run did not reach.
    pub faults_to_come: u64,
}
