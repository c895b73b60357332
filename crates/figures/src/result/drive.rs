//! The result of one run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::capacity::CapacityResult;
use super::checks::ChecksResult;
use super::copies::Copies;
use super::cost::RunResult;
use super::failures::LostResult;
use super::flash::{BlocksResult, FlashResult, ReadErrors, Sanitised, Waf, Wordlines};
use super::host::HostResult;
use super::job::JobResult;
use super::latency::{ByOp, Latency, PriorityLatency, StageMeans};
use super::load::{InFlight, SaturatedResult, Utilisation};
use super::phase::PhaseResult;
use super::rewrites::RewritesResult;
use super::spared::SparedResult;
use super::techniques::TechniqueResult;
use super::tolerances::HintedReadsResult;
use super::trace::TraceResult;
use super::waits::{StopsResult, WaitResult};
use crate::made_by::Asked;
use crate::vertrace::VerTraceResult;

/// What one drive did on one workload with one seed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DriveResult {
    /// The drive's name.
    pub name: String,
    /// Identity of the checked plan: the first 32 hexadecimal digits of BLAKE3 over every line of it, its seed and its capacity. Empty in results of builds
    /// that had none.
    #[serde(default)]
    pub plan_id: String,
    /// Digest of the file of the saved drive that the run began with: the first 32 hexadecimal digits of its BLAKE3. Absent where the drive was new.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// Number that media and saved drives of the plan carry, in hexadecimal. It leaves out keys that came after the first media: `plan_id` tells plans apart.
    pub plan_hash: String,
    /// Flash, and how much of it the host sees; null where the results are of no whole drive.
    pub capacity: Option<CapacityResult>,
    /// What must be known beside the figures of this drive, such as what a size asked for has changed besides the size.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// What makes figures of this drive say something else than they seem to: reads of what was never written, a load that the drive cannot follow.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// What was asked of it; null where the results are of no command.
    #[serde(default)]
    pub asked: Option<Asked>,
    /// The seed of all random streams.
    pub seed: u64,
    /// The hash of every event of the run, in hexadecimal. Equal hashes mean equal runs.
    pub event_log_hash: String,
    /// The exact length of the measured window in simulated time. All rates divide by it.
    #[schemars(extend("x-unit" = "s"))]
    pub simulated_seconds: f64,
    /// Whether the drive had reached a steady state when the window began.
    pub steady: bool,
    /// When the drive ran out of good blocks and stopped taking writes, since the start of the run; null if it did not.
    #[schemars(extend("x-unit" = "s"))]
    pub worn_out_seconds: Option<f64>,
    /// Cost of the faults of its schedule. Absent where there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<LostResult>,
    /// Changes to the requests of a trace. Absent where the workload is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceResult>,
    /// What the host got.
    pub host: HostResult,
    /// Latency from the host's issue of a request to its acknowledgement, of requests that did not fail.
    pub latency_us: ByOp<Latency>,
    /// Latency per priority class, only classes that were used.
    pub latency_us_by_priority: Vec<PriorityLatency>,
    /// Reads by the latency that the host tolerates for their data, with violations of its hints. Absent where nothing was hinted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hinted_reads: Option<HintedReadsResult>,
    /// Who waited for whom: reads that found their die at work, by their class and by what it was doing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waits: Vec<WaitResult>,
    /// How often operations were stopped for reads; absent where nothing was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stops: Option<StopsResult>,
    /// Where the time of a request went, on average; the stages sum to the mean latency.
    pub stages_us: ByOp<StageMeans>,
    /// Write amplification: mapping units programmed, by why, over the mapping units' worth of sectors that the host wrote (by bytes).
    pub waf: Waf,
    /// Units in the write buffer at the end of the run: written by the host and not yet programmed, so that no part of write amplification counts them.
    /// Absent where the drive was not asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-unit" = "mapping units"))]
    pub buffered_units: Option<u64>,
    /// Longest time for which the drive held requests of the host and answered none. Absent in results of builds that did not measure it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-unit" = "us"))]
    pub longest_silence_us: Option<f64>,
    /// Flash operations by kind and cause, only those that occurred.
    pub flash: Vec<FlashResult>,
    /// Data that was moved inside the dies. Absent where none was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copies: Option<Copies>,
    /// Operations that made pages unreadable without an erase. Absent where there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sanitised: Option<Sanitised>,
    /// Programs of whole wordlines, by their place in the h-layer. Absent where dies do not program whole wordlines, or have one in each h-layer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wordlines: Option<Wordlines>,
    /// Programs that were done again elsewhere because a technique distrusted them although the die did not. Absent where there were none.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[schemars(extend("x-unit" = "programs"))]
    pub programmed_again: u64,
    /// Mapping units of host data that could not be read when the drive had to move or complete them. Reads of them fail until they are written again. Absent
    /// where there were none.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[schemars(extend("x-unit" = "mapping units"))]
    pub lost_units: u64,
    /// Rewrites of block groups by cause. Absent where none were requested.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rewrites: Vec<RewritesResult>,
    /// Erases that leave wordlines without data. Absent where no technique orders them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spared: Option<SparedResult>,
    /// Techniques that are switched on, with what they were asked and what became of their answers. Absent where none is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub techniques: Vec<TechniqueResult>,
    /// Block groups erased (one block in each plane of a die).
    #[schemars(extend("x-unit" = "block groups"))]
    pub erases: u64,
    /// Flash pages programmed for any cause, copyback included.
    #[schemars(extend("x-unit" = "flash pages"))]
    pub pages_programmed: u64,
    /// Flash pages read for any cause; the sensing half of a copyback is not counted.
    #[schemars(extend("x-unit" = "flash pages"))]
    pub pages_read: u64,
    /// What error correction met; null where the cells have no physics.
    pub read_errors: Option<ReadErrors>,
    /// Busy time over the number of parts times the window.
    pub utilisation: Utilisation,
    /// Requests in flight, and Little's law.
    pub in_flight: InFlight,
    /// Whether requests of an open loop came faster than they were served; null where the drive could follow, and in a closed loop.
    #[serde(default)]
    pub saturated: Option<SaturatedResult>,
    /// The same figures by phase, in order; absent where the workload has one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<PhaseResult>,
    /// What each job got, by number; absent where the workload has no jobs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub jobs: Vec<JobResult>,
    /// Versions of files on flash; absent unless they were traced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vertrace: Option<VerTraceResult>,
    /// The blocks at the end of the run.
    pub blocks: BlocksResult,
    /// The self-checks of the run.
    pub checks: ChecksResult,
    /// What the simulation itself cost. The only figures here that differ from one run to the next.
    pub run: RunResult,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl DriveResult {
    /// True if a run wrote, and nothing had to be freed for it. A drive that is worn out has nothing left to free.
    pub fn is_unreached(&self) -> bool {
        self.host.writes > 0 && self.worn_out_seconds.is_none() && self.erases == 0 && !self.flash.iter().any(|flash| flash.cause == "gc")
    }
}

/// The drives' names in order, each once.
pub fn names(drives: &[DriveResult]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for drive in drives {
        if !names.contains(&drive.name.as_str()) {
            names.push(&drive.name);
        }
    }
    names
}
