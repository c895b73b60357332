//! Results about waits for dies and about stops.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_units::{FlashOp, Priority};

use crate::totals::Totals;
use crate::waits::{Behind, StopCount, Stops, Waited};

/// Reads of one class that found their die doing one kind of thing, and waited for it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WaitResult {
    /// Class of the reads: `urgent`, `high`, `normal` or `low`.
    pub priority: String,
    /// What the die was doing when they came to it; their whole wait counts for that.
    pub behind: String,
    /// How many they are.
    pub reads: u64,
    /// Their mean wait for the die.
    #[schemars(extend("x-unit" = "us"))]
    pub mean_us: f64,
    /// The longest.
    #[schemars(extend("x-unit" = "us"))]
    pub max_us: f64,
}

/// How often operations of one kind were suspended.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StopsOf {
    /// Operations that have ended.
    pub operations: u64,
    /// Those of them that were suspended.
    pub stopped: u64,
    /// Suspensions per operation.
    pub mean: f64,
    /// Those of them that were at once.
    pub mean_now: f64,
    /// The most suspensions of one operation.
    pub max: u64,
    /// The most of one operation that were at once.
    pub max_now: u64,
}

/// How often operations were stopped for reads.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StopsResult {
    /// Stops of erases.
    pub erases: StopsOf,
    /// Stops of programs.
    pub programs: StopsOf,
    /// Stops of copybacks.
    pub copybacks: StopsOf,
    /// Reads that were broken off, and sensed again.
    pub reads_broken_off: u64,
    /// Reads that gave way between two tries, and went on where they were.
    pub reads_gave_way: u64,
}

impl WaitResult {
    /// All waits of a window.
    pub(crate) fn all(waited: &Waited) -> Vec<WaitResult> {
        let cells = Priority::ALL.into_iter().flat_map(|priority| Behind::ALL.map(|behind| (priority, behind)));
        let told = cells.map(|(priority, behind)| (priority, behind, waited.of(priority, behind))).filter(|(.., count)| count.reads > 0);
        told.map(|(priority, behind, count)| WaitResult {
            priority: priority.name().to_owned(),
            behind: behind.name().to_owned(),
            reads: count.reads,
            mean_us: count.ns as f64 / count.reads as f64 / 1e3,
            max_us: count.most as f64 / 1e3,
        })
        .collect()
    }
}

impl StopsOf {
    fn of(count: &StopCount, operations: u64) -> StopsOf {
        let mean = |stops: u64| if operations > 0 { stops as f64 / operations as f64 } else { 0.0 };
        StopsOf {
            operations,
            stopped: count.stopped,
            mean: mean(count.stops),
            mean_now: mean(count.now),
            max: u64::from(count.most),
            max_now: u64::from(count.most_now),
        }
    }
}

impl StopsResult {
    /// The stops of a window with these `totals`; `None`: nothing was stopped.
    pub(crate) fn of(stops: &Stops, totals: &Totals) -> Option<StopsResult> {
        stops.any().then(|| StopsResult {
            erases: StopsOf::of(&stops.erases, totals.operations(FlashOp::Erase)),
            programs: StopsOf::of(&stops.programs, totals.operations(FlashOp::Program)),
            copybacks: StopsOf::of(&stops.copybacks, totals.operations(FlashOp::Copyback)),
            reads_broken_off: stops.reads_broken_off,
            reads_gave_way: stops.reads_gave_way,
        })
    }
}
