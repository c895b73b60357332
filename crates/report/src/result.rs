//! The results of a run as they are written to JSON. Names and units are stable: a program may rely on them. The doc comments below are the
//! reference manual; `docs/reference/output.md` is generated from them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cautions;
use crate::chance;
use crate::compare::Comparison;
use crate::grid::CellResult;
use crate::job::JobResult;
use crate::made_by::{Asked, MadeBy};
use crate::phase::PhaseResult;
use crate::sweep::SweepResult;
use crate::vertrace::VerTraceResult;
use crate::violation::Violation;

mod capacity;
mod checks;
mod failures;
mod rewrites;
mod techniques;
mod trace;
mod waits;

pub use capacity::CapacityResult;
pub use checks::ChecksResult;
pub use failures::{FailedResult, Failures, LostResult};
pub use rewrites::RewritesResult;
pub use techniques::{AnswersResult, NumberResult, QuestionResult, TechniqueResult};
pub use trace::TraceResult;
pub use waits::{StopsOf, StopsResult, WaitResult};

/// The version of the JSON. It grows when a name changes its meaning or goes away, not when one is added.
pub const VERSION: u32 = 2;

/// The results of one command.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    /// The version of this format.
    pub version: u32,
    /// How it was made: enough to make it again; null where the results are of no command.
    #[serde(default)]
    pub made_by: Option<MadeBy>,
    /// One entry per drive and seed, in the order they were asked for. Empty where several workloads or ages were asked for: then see `cells`.
    pub drives: Vec<DriveResult>,
    /// Drives against the first one; absent when only one drive was run, and where there are `cells`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comparison: Option<Comparison>,
    /// One entry per age and workload, all workloads of the first age first; absent where one workload at one age was asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cells: Vec<CellResult>,
    /// Every figure over the values of the key that was swept; absent where none was. One entry of `cells` per value, workload and age has the runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sweep: Option<SweepResult>,
    /// What must be known beside the figures of the whole, such as that drives which are compared have not the same raw flash.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl Report {
    /// A report of these drives, compared when there are several.
    pub fn new(drives: Vec<DriveResult>) -> Report {
        let mut comparison = Comparison::new(&drives);
        chance::take_together(comparison.iter_mut());
        Report { version: VERSION, made_by: None, drives, comparison, cells: Vec::new(), sweep: None, notes: Vec::new() }
    }

    /// A report of several workloads, or ages, or values of a key, or some of them.
    pub fn of_cells(mut cells: Vec<CellResult>) -> Report {
        chance::take_together(cells.iter_mut().filter_map(|cell| cell.comparison.as_mut()));
        Report {
            version: VERSION,
            made_by: None,
            drives: Vec::new(),
            comparison: None,
            sweep: SweepResult::new(&cells),
            cells,
            notes: Vec::new(),
        }
    }

    /// The same report of drives that did not begin alike, which `told` names: no ratio of it is good or bad news.
    #[must_use]
    pub fn of_unlike_starts(mut self, told: String) -> Report {
        self.notes.push(format!("the drives did not begin alike, so that ratios say nothing of the drives alone: {told}"));
        let cells = self.cells.iter_mut().filter_map(|cell| cell.comparison.as_mut());
        let ratios = self.comparison.iter_mut().chain(cells).flat_map(Comparison::of_others_mut);
        ratios.for_each(|ratio| (ratio.p, ratio.together, ratio.unlike) = (None, false, true));
        self
    }

    /// The same report, made by this.
    #[must_use]
    pub fn with_made_by(mut self, made_by: MadeBy) -> Report {
        self.made_by = Some(made_by);
        self
    }

    /// The warnings of all drives, each with the drives that it is of; what differs by seed alone is told once, with the first of them.
    pub fn warnings(&self) -> Vec<String> {
        let mut told: Vec<(String, &str, &str)> = Vec::new();
        for (cell, drive) in self.runs() {
            let of = cell.map(|cell| format!(", {}", cell.title())).unwrap_or_default();
            for warning in &drive.warnings {
                let (kind, key) =
                    (warning.split(|letter: char| letter.is_ascii_digit()).next().unwrap_or_default(), format!("{}{of}", drive.name));
                if !told.iter().any(|(known, known_kind, _)| (known, *known_kind) == (&key, kind)) {
                    told.push((key, kind, warning));
                }
            }
        }
        let of_sweep = self.sweep.iter().flat_map(|sweep| &sweep.warnings).cloned();
        let of_comparison = cautions::of(&self.drives).into_iter().filter(|_| self.comparison.is_some());
        let of_cells = self
            .cells
            .iter()
            .filter(|_| self.sweep.is_none())
            .flat_map(|cell| cautions::of(&cell.drives).into_iter().map(|caution| format!("{}: {caution}", cell.title())));
        of_sweep.chain(of_comparison).chain(of_cells).chain(told.into_iter().map(|(of, _, warning)| format!("{of}: {warning}"))).collect()
    }

    /// The same report with these notes, too.
    #[must_use]
    pub fn with_notes(mut self, notes: impl IntoIterator<Item = String>) -> Report {
        self.notes.extend(notes);
        self
    }

    /// The comparisons of the whole: one, or that of each cell.
    pub(crate) fn comparisons(&self) -> impl Iterator<Item = &Comparison> {
        self.comparison.iter().chain(self.cells.iter().filter_map(|cell| cell.comparison.as_ref()))
    }

    /// Every run, with the cell it is of where there are several.
    pub fn runs(&self) -> impl Iterator<Item = (Option<&CellResult>, &DriveResult)> {
        let in_cells = self.cells.iter().flat_map(|cell| cell.drives.iter().map(move |drive| (Some(cell), drive)));
        self.drives.iter().map(|drive| (None, drive)).chain(in_cells)
    }

    /// The notes of the whole and those of drives, each once, with the names of the drives that share it.
    pub fn all_notes(&self) -> Vec<String> {
        let mut of_drives: Vec<(&str, Vec<&str>)> = Vec::new();
        for (_, drive) in self.runs() {
            for note in &drive.notes {
                let known = of_drives.iter().position(|(other, _)| other == note).unwrap_or_else(|| {
                    of_drives.push((note, Vec::new()));
                    of_drives.len() - 1
                });
                if !of_drives[known].1.contains(&drive.name.as_str()) {
                    of_drives[known].1.push(&drive.name);
                }
            }
        }
        let of_drives = of_drives.into_iter().map(|(note, names)| format!("{}: {note}", names.join(", ")));
        self.notes.iter().cloned().chain(of_drives).collect()
    }

    /// The violations of all runs. A command that finds any must fail.
    pub fn violations(&self) -> impl Iterator<Item = Broken<'_>> {
        self.runs().flat_map(|(cell, drive)| drive.checks.violations.iter().map(move |violation| Broken { cell, drive, violation }))
    }

    /// Checks that were not made, each with its reason once, and the number of runs in which it was not made.
    pub fn checks_not_made(&self) -> Vec<(&str, usize)> {
        let mut not_made: Vec<(&str, usize)> = Vec::new();
        for check in self.runs().flat_map(|(_, drive)| &drive.checks.not_made) {
            match not_made.iter_mut().find(|(known, _)| known == check) {
                Some((_, runs)) => *runs += 1,
                None => not_made.push((check, 1)),
            }
        }
        not_made
    }

    /// The report as JSON text.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("a tree of numbers and strings is always valid JSON");
        text.push('\n');
        text
    }
}

/// A violation, and whose it is.
#[derive(Clone, Copy, Debug)]
pub struct Broken<'a> {
    /// The cell, where there are several.
    pub cell: Option<&'a CellResult>,
    /// The run.
    pub drive: &'a DriveResult,
    /// What is wrong with it.
    pub violation: &'a Violation,
}

impl Broken<'_> {
    /// Which run it is, for people.
    pub fn run(&self) -> String {
        let cell = self.cell.map(|cell| format!(", {}", cell.title())).unwrap_or_default();
        format!("{} seed {}{cell}", self.drive.name, self.drive.seed)
    }
}

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

/// One entry per kind of request.
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

/// What error correction met in flash reads of any cause.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReadErrors {
    /// Wrong bits in the worst codeword of a page, in the mean over all reads.
    #[schemars(extend("x-unit" = "bits"))]
    pub worst_codeword_mean: f64,
    /// The most wrong bits in any codeword.
    #[schemars(extend("x-unit" = "bits"))]
    pub worst_codeword_max: u64,
    /// Read retries per flash read.
    #[schemars(extend("x-unit" = "retries"))]
    pub retries_mean: f64,
    /// Flash reads by the number of their retries, from none on.
    #[schemars(extend("x-unit" = "flash reads"))]
    pub by_retries: Vec<u64>,
    /// Flash reads that could not be corrected: by no entry of the retry table, nor by a search for references where the controller searches.
    #[schemars(extend("x-unit" = "flash reads"))]
    pub uncorrectable: u64,
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
    /// `read`, `write`, `trim` or `flush`.
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

/// Write amplification and its parts; the parts sum to the total. All null when the host wrote nothing.
///
/// Programs and host writes are counted when they end within the window. Overwrites that meet in the write buffer are programmed once, so `host` may
/// be below 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Waf {
    /// All units programmed: host, moved and padding.
    pub total: Option<f64>,
    /// Units of new host data. Above 1 where requests are smaller than a unit, below 1 where overwrites meet in the buffer.
    pub host: Option<f64>,
    /// Units of old data programmed along with the host's.
    pub fill: Option<f64>,
    /// Units moved by garbage collection.
    pub gc: Option<f64>,
    /// Units moved to level wear.
    pub wear: Option<f64>,
    /// Units moved because their block was read too often.
    pub disturb: Option<f64>,
    /// Units moved out of blocks that failed.
    pub retire: Option<f64>,
    /// Units of the journal and of checkpoints, with what pads them.
    pub recovery: Option<f64>,
    /// Units moved so that what is stale beside them could be made unreadable. Absent where there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sanitise: Option<f64>,
    /// Units of the log of keys, with what pads them. Absent where there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keys: Option<f64>,
    /// Units moved because they had been kept for long. Absent where there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refresh: Option<f64>,
    /// Units of padding, for any other cause.
    pub padding: Option<f64>,
}

/// Operations that made pages unreadable without an erase, for any cause.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sanitised {
    /// Page locks.
    pub page_locks: u64,
    /// Block locks.
    pub block_locks: u64,
    /// Scrubs of a wordline.
    pub scrubs: u64,
    /// Pages destroyed by one-shot reprogramming.
    pub reprograms: u64,
}

/// Programs of whole wordlines. The first wordline of an h-layer leads: it is programmed before the others, which can follow what was seen of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Wordlines {
    /// First wordlines of h-layers.
    pub leaders: WordlineResult,
    /// All other wordlines.
    pub followers: WordlineResult,
}

/// Programs of leaders, or of followers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WordlineResult {
    /// Programs with data that the host wrote; those of leaders and followers are all programs whose cause is `host`.
    #[schemars(extend("x-unit" = "programs"))]
    pub host_programs: u64,
    /// Programs of all causes.
    #[schemars(extend("x-unit" = "programs"))]
    pub programs: u64,
    /// The mean time that the array took for one, settings included; null where there was none.
    #[schemars(extend("x-unit" = "us"))]
    pub program_us: Option<f64>,
}

/// Flash operations of one kind and cause.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FlashResult {
    /// `read`, `program`, `erase`, `copyback`, `page lock`, `block lock`, `scrub` or `reprogram`.
    pub op: String,
    /// `host`, `fill`, `gc`, `wear`, `disturb`, `retire`, `recovery`, `sanitise`, `keys`, `measure` or `refresh`.
    pub cause: String,
    /// Operations; one on several planes or pages counts once.
    pub operations: u64,
    /// Flash pages; block groups for erases.
    #[schemars(extend("x-unit" = "flash pages"))]
    pub pages: u64,
    /// Operations that ended with bad status.
    pub failed: u64,
}

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

/// The blocks at the end of the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BlocksResult {
    /// Block groups in service.
    #[schemars(extend("x-unit" = "block groups"))]
    pub good: u64,
    /// Block groups out of service, factory bad blocks included.
    #[schemars(extend("x-unit" = "block groups"))]
    pub bad: u64,
    /// Block groups that went out of service in the window.
    #[schemars(extend("x-unit" = "block groups"))]
    pub retired: u64,
    /// Free groups of all dies at the beginning of the window; null in results of builds that did not count them.
    #[serde(default)]
    pub free_at_begin: Option<u64>,
    /// Free groups of all dies at its end.
    #[serde(default)]
    pub free_at_end: Option<u64>,
    /// The fewest erases of a block group in service, over its whole life.
    #[schemars(extend("x-unit" = "erases"))]
    pub erases_min: u32,
    /// The mean.
    #[schemars(extend("x-unit" = "erases"))]
    pub erases_mean: f64,
    /// The most.
    #[schemars(extend("x-unit" = "erases"))]
    pub erases_max: u32,
    /// The standard deviation.
    #[schemars(extend("x-unit" = "erases"))]
    pub erases_deviation: f64,
}

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
