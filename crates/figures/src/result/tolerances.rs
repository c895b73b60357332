//! Results about reads whose latency the host has declared to tolerate or not.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::measured::Measured;
use crate::tolerances::{ByClass, CLASSES, ClassReads};
use wordline_units::{HostOp, Tolerance};

/// Reads by the latency that the host tolerates for their data. Time is that in the device: the die's array, the channel and error correction, without waits
/// before them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HintedReadsResult {
    /// Technique that acts on hints, and of which the limits are parameters.
    pub technique: String,
    /// True if the drive has that technique switched on. Otherwise the limits are its defaults.
    pub in_effect: bool,
    /// Reads of classes with a limit.
    #[schemars(extend("x-unit" = "requests"))]
    pub reads: u64,
    /// Violations of hints: of those, the reads that took longer in the device than the limit of their class.
    #[schemars(extend("x-unit" = "requests"))]
    pub over: u64,
    /// Share of violations in the reads of classes with a limit.
    #[schemars(extend("x-unit" = "share"))]
    pub over_share: f64,
    /// The same by class, only classes that were declared or read.
    pub classes: Vec<ClassReadsResult>,
}

/// Reads of data of one class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClassReadsResult {
    /// Class of the data: `shortest`, `typical`, `longer`, or `none` for data without a hint. A read of several classes is of the strictest, and one with data
    /// without a hint of `none`.
    pub tolerance: String,
    /// Time that a read may take in the device; null where there is no limit.
    #[schemars(extend("x-unit" = "us"))]
    pub limit_us: Option<f64>,
    /// Reads completed without a failure.
    #[schemars(extend("x-unit" = "requests"))]
    pub reads: u64,
    /// Reads of them that took longer; null where there is no limit.
    #[schemars(extend("x-unit" = "requests"))]
    pub over: Option<u64>,
    /// Share of those; null where there is no limit.
    #[schemars(extend("x-unit" = "share"))]
    pub over_share: Option<f64>,
    /// Longest time of a read in the device, of those since the first hint.
    #[schemars(extend("x-unit" = "us"))]
    pub device_max_us: f64,
}

impl HintedReadsResult {
    /// Reads of a window by class; `None`: nothing was hinted.
    pub(crate) fn of(measured: &Measured) -> Option<HintedReadsResult> {
        let (limits, by_class): (_, &ByClass) = (measured.scope.read_limits?, measured.by_tolerance.as_ref()?);
        let share = |over: u64, reads: u64| if reads > 0 { over as f64 / reads as f64 } else { 0.0 };
        let class = |(at, class): (usize, &ClassReads)| {
            let limit = limits.times.get(at);
            let of = CLASSES.get(at).copied().unwrap_or_default();
            (class.reads > 0 || (class.is_declared && limit.is_some())).then(|| ClassReadsResult {
                tolerance: if of == Tolerance::Default { "none".to_owned() } else { of.name().to_owned() },
                limit_us: limit.map(|limit| limit.as_micros_f64()),
                reads: class.reads,
                over: limit.map(|_| class.over),
                over_share: limit.map(|_| share(class.over, class.reads)),
                device_max_us: class.longest.as_micros_f64(),
            })
        };
        let sum = |of: fn(&ClassReads) -> u64| by_class[..CLASSES.len()].iter().map(of).sum();
        let (reads, over) = (sum(|class| class.reads), sum(|class| class.over));
        debug_assert!(reads <= measured.totals.host(HostOp::Read).requests);
        let classes = by_class.iter().enumerate().filter_map(class).collect();
        Some(HintedReadsResult {
            technique: limits.technique.to_owned(),
            in_effect: limits.in_effect,
            reads,
            over,
            over_share: share(over, reads),
            classes,
        })
    }
}
