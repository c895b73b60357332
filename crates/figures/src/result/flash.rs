//! What was done to the flash: write amplification, operations, wordlines, blocks, and what error correction met.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::cells::CellsResult;

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
    /// The cells of the flash blocks; absent unless they were inspected (`--cells`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cells: Option<CellsResult>,
}
