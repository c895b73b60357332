//! From the event stream to figures a person can use: metrics, self-checks, tables, JSON, Parquet and one HTML page.
//!
//! ```text
//! event stream ─► Metrics (an Observer) ─► Measured ─► conclude ─┬► DriveResult ─► Report ─► JSON, text tables
//!              ├► RequestLog ─► requests.parquet                 └► DriveDetail ─► HTML page, intervals.parquet
//!              └► VerTrace ─► versions of files
//! ```
//!
//! Every figure is a function of the event stream and of nothing else: nothing here asks the firmware for a counter, reads a clock or depends on the
//! order of a hash map. Rates divide by the exact simulated time, and count what was served. The books in [`checks`] are kept on every
//! run, because a simulator that can lose a request without noticing cannot be believed when it has not.

mod backlog;
pub mod blocks;
mod cautions;
mod chance;
pub mod checks;
pub mod compare;
pub mod conclude;
pub mod forensics;
pub mod grid;
pub mod histogram;
pub mod html;
pub mod job;
pub mod lifetime;
pub mod made_by;
pub mod measured;
pub mod metrics;
pub mod phase;
pub mod reference;
pub mod result;
pub mod scope;
pub mod series;
mod silence;
pub mod sweep;
pub mod table;
pub mod text;
pub mod timeline;
pub mod totals;
pub mod vertrace;
pub mod violation;
pub mod waits;

pub use backlog::Saturation;
pub use compare::{Comparison, Ratio};
pub use conclude::{Cost, DriveDetail, Identity, conclude};
pub use forensics::ForensicsResult;
pub use grid::CellResult;
pub use job::JobResult;
pub use lifetime::{CyclesResult, EpochResult, LifeEnd, LifetimeResult, LifetimesResult};
pub use made_by::{Asked, MadeBy, PlanText, WorkloadName};
pub use measured::Measured;
pub use metrics::Metrics;
pub use phase::PhaseResult;
pub use result::{
    AnswersResult, Broken, CapacityResult, DriveResult, Failures, LostResult, NumberResult, QuestionResult, Report, RewritesResult,
    TechniqueResult, TraceResult,
};
pub use scope::{HLayer, Interval, Scope};
pub use sweep::{Setting, SweepPoint, SweepResult};
pub use vertrace::VerTrace;
pub use violation::{Account, Violation};
