//! Changes to a trace that was played on a drive: beside its figures, because each of them changes the load that they are of.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Changes to the requests of a trace. Counts are of requests that were issued, in all of the times that the trace was played.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TraceResult {
    /// The tick of its times: the greatest common divisor of the steps between them; null where it has no times, or too few to be sure.
    #[schemars(extend("x-unit" = "ns"))]
    pub tick_ns: Option<u64>,
    /// Records of the file that have a time.
    pub timed_records: u64,
    /// Records of the file with the same time as the one before them.
    pub shared_times: u64,
    /// The most records of the file with one time.
    pub most_at_one_time: u64,
    /// `spread` if records with one time were spread evenly over the tick, `burst` if they were issued at once although the tick is coarser than the gaps
    /// between records; null where the tick is fine, and where requests are not issued at the trace's times.
    pub within_tick: Option<String>,
    /// The number of volumes.
    pub volumes: u64,
    /// `apart` if each volume has an address space of its own, side by side; `one` if they were taken as one.
    pub spaces: String,
    /// Bytes that the volumes need on a drive.
    #[schemars(extend("x-unit" = "B"))]
    pub reach_bytes: u64,
    /// Treatment of addresses beyond the drive: reject, wrap, scale or compact.
    pub fit: String,
    /// Requests at another address than their own.
    #[schemars(extend("x-unit" = "requests"))]
    pub elsewhere: u64,
    /// Requests across the end of the drive that were split; each piece is counted as a request in all other figures.
    #[schemars(extend("x-unit" = "requests"))]
    pub split: u64,
    /// Requests across the end of the drive that were moved to end there.
    #[schemars(extend("x-unit" = "requests"))]
    pub moved: u64,
    /// Requests of which a part was left out.
    #[schemars(extend("x-unit" = "requests"))]
    pub clipped: u64,
    /// Bytes that were left out of them.
    #[schemars(extend("x-unit" = "B"))]
    pub clipped_bytes: u64,
    /// Trims that were shrunk to what the trace reads or writes of what they cover.
    #[schemars(extend("x-unit" = "requests"))]
    pub shrunk_trims: u64,
    /// Trims that were left out, because the trace reads and writes nothing that they cover.
    #[schemars(extend("x-unit" = "requests"))]
    pub dropped_trims: u64,
    /// Requests that were widened to whole sectors of 512 B.
    #[schemars(extend("x-unit" = "requests"))]
    pub widened: u64,
    /// Lines of the file that were passed over: malformed ones, if that was asked for, and those without a request that are usual in its format.
    pub skipped_lines: u64,
    /// Records that the file has behind later ones. They were issued at their times.
    pub late_records: u64,
}
