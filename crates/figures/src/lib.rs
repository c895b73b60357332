//! From the event stream to figures: metrics, self-checks, results, and what results come to beside each other. Numbers alone: nothing is written here.
//!
//! ```text
//! event stream ─┬► Metrics (an Observer) ─► Measured ─► conclude ─┬► DriveResult ─► Comparison, CellResult, SweepResult ─► Report
//!               └► VerTrace ─► versions of files                  └► DriveDetail, for pictures
//! ```
//!
//! Every figure is a function of the event stream and of nothing else: nothing here asks the firmware for a counter, reads a clock or depends on the
//! order of a hash map. Rates divide by the exact simulated time, and count what was served. The books in [`checks`] are kept on every
//! run, because a simulator that can lose a request without noticing cannot be believed when it has not.

mod backlog;
pub mod blocks;
pub mod catalogue;
pub mod cells;
mod chance;
pub mod checks;
pub mod compare;
pub mod conclude;
pub mod forensics;
pub mod grid;
pub mod histogram;
mod job;
pub mod lifetime;
pub mod made_by;
pub mod measured;
pub mod metrics;
pub mod read_life;
pub mod report;
pub mod result;
pub mod scope;
pub mod series;
mod silence;
pub mod sweep;
pub mod together;
pub mod tolerances;
pub mod totals;
pub mod vertrace;
pub mod violation;
pub mod waits;

pub use backlog::Saturation;
pub use compare::{Comparison, Ratio};
pub use conclude::{Cost, DriveDetail, Identity, conclude};
pub use forensics::ForensicsResult;
pub use grid::{CellResult, Setting};
pub use lifetime::{CyclesResult, EpochResult, LifeEnd, LifetimeResult, LifetimesResult};
pub use made_by::{Asked, MadeBy, PlanText, WorkloadName};
pub use measured::{JobMeasured, Measured, Phase};
pub use metrics::Metrics;
pub use read_life::{ReadEpochResult, ReadLifeResult, ReadLivesResult};
pub use report::{Broken, Failures, Report};
pub use result::{
    AnswersResult, CapacityResult, CellsResult, CensusResult, CensusRow, Copies, DriveResult, JobResult, LostResult, NumberResult,
    PhaseResult, QuestionResult, RewritesResult, SparedResult, TechniqueResult, TraceResult,
};
pub use scope::{HLayer, Interval, Scope};
pub use sweep::{SweepPoint, SweepResult};
pub use tolerances::ReadLimits;
pub use vertrace::VerTrace;
pub use violation::{Account, Violation};
