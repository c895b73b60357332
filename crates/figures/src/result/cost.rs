//! What a run cost.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the simulation of the measured window cost.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunResult {
    /// Processor time.
    #[schemars(extend("x-unit" = "s"))]
    pub cpu_seconds: f64,
    /// Elapsed time.
    #[schemars(extend("x-unit" = "s"))]
    pub wall_seconds: f64,
    /// The most memory the process held.
    #[schemars(extend("x-unit" = "B"))]
    pub peak_rss_bytes: u64,
    /// Flash pages read and programmed per second of processor time; null when none was measured.
    #[schemars(extend("x-unit" = "1/s"))]
    pub flash_pages_per_cpu_second: Option<f64>,
    /// Host requests completed per second of processor time; null when none was measured.
    #[schemars(extend("x-unit" = "1/s"))]
    pub host_requests_per_cpu_second: Option<f64>,
}
