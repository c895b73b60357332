//! Results about rewrites: groups whose data was to be moved for wear, for retention, against read disturb or for a sanitiser.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Rewrites of one cause. A rewrite waits while it might start; the time for which a technique holds it back counts apart.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RewritesResult {
    /// Cause: `wear`, `refresh`, `disturb`, `recovery` or `sanitise`.
    pub cause: String,
    /// Rewrites that were requested.
    #[schemars(extend("x-unit" = "block groups"))]
    pub asked: u64,
    /// Rewrites that were begun.
    #[schemars(extend("x-unit" = "block groups"))]
    pub begun: u64,
    /// Requests that became needless, as their group was collected before.
    #[schemars(extend("x-unit" = "block groups"))]
    pub needless: u64,
    /// Requests that still waited at the end.
    #[schemars(extend("x-unit" = "block groups"))]
    pub waiting: u64,
    /// Requests that were parked at the end: nothing looks at them until a read of their group takes too long, a hint comes or they are due.
    #[schemars(extend("x-unit" = "block groups"))]
    #[serde(default)]
    pub parked: u64,
    /// Longest wait, of those that still waited too.
    #[schemars(extend("x-unit" = "us"))]
    pub longest_wait_us: f64,
    /// Longest time that a technique held one back.
    #[schemars(extend("x-unit" = "us"))]
    pub longest_hold_us: f64,
}
