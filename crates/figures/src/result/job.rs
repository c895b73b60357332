//! The jobs of a workload, each with figures of its own: what a reader feels beside writers is lost in figures of all of them together.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::host::HostResult;
use super::latency::{ByOp, Latency};

/// What one job got while the others ran beside it. Work of the flash belongs to no job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JobResult {
    /// Its name in the workload; `phase/job` where a phase holds it.
    pub name: String,
    /// Time from the start of the jobs of its phase to the last answer that it got. Its rates divide by it.
    #[schemars(extend("x-unit" = "s"))]
    pub simulated_seconds: f64,
    /// What it got.
    pub host: HostResult,
    /// Latency of its requests that did not fail.
    pub latency_us: ByOp<Latency>,
}
