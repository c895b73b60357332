//! How busy the parts of a drive were, and whether it kept up.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Busy time over the number of parts times the window: 1 is always busy.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Utilisation {
    /// The dies' arrays. A transfer holds a die, too, and is not in it.
    pub die: f64,
    /// The dies' arrays and the transfers from and to their registers: the share of the time in which a die could take nothing else, but for waits for the bus.
    #[serde(default)]
    pub die_with_transfers: f64,
    /// The channel buses.
    pub channel: f64,
    /// The firmware cores.
    pub core: f64,
    /// The DRAM.
    pub dram: f64,
    /// The host link inwards, by flash operations. Absent where the firmware is in the drive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link_in: Option<f64>,
    /// The host link outwards, by flash operations. Absent where the firmware is in the drive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link_out: Option<f64>,
    /// The busiest die.
    pub die_max: f64,
    /// The busiest channel.
    pub channel_max: f64,
}

/// Requests in flight.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InFlight {
    /// The mean number in flight, from its integral over time.
    #[schemars(extend("x-unit" = "requests"))]
    pub mean: f64,
    /// The same by Little's law, from what requests say that they took, those still in flight with what they have taken so far. The two must agree.
    #[serde(default)]
    #[schemars(extend("x-unit" = "requests"))]
    pub littles_law: f64,
    /// Completions per second times mean latency, failed requests included. Less than the mean where requests are still in flight at the end.
    #[schemars(extend("x-unit" = "requests"))]
    pub iops_times_latency: f64,
    /// In flight when the window ended.
    #[schemars(extend("x-unit" = "requests"))]
    pub at_end: u64,
}

/// An open loop that the drive could not follow, all the time or in bursts. Latencies of it say how long the run or the bursts were, not how fast the drive is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SaturatedResult {
    /// The phase in which the backlog was longest.
    pub phase: String,
    /// Requests in flight when the last one of the phase arrived.
    #[schemars(extend("x-unit" = "requests"))]
    pub backlog: u64,
    /// The most requests in flight when one arrived.
    #[serde(default)]
    #[schemars(extend("x-unit" = "requests"))]
    pub most: u64,
    /// The share of the latency of its requests that they spent in the host's queue.
    #[serde(default)]
    pub queued_share: f64,
    /// Growth of the backlog with each second; 0 where they came in bursts and the backlog did not grow all the time.
    #[schemars(extend("x-unit" = "1/s"))]
    pub growth_per_second: f64,
    /// Requests that arrived in a second, up to the last arrival; over the whole phase where all arrived at once.
    #[schemars(extend("x-unit" = "1/s"))]
    pub asked_per_second: f64,
}
