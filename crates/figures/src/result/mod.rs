//! The results of a run as they are written to JSON. Names and units are stable: a program may rely on them. The doc comments of this room are the
//! reference manual; `docs/reference/output.md` is generated from them.

mod capacity;
mod cells;
mod checks;
mod copies;
mod cost;
mod drive;
mod failures;
mod flash;
mod host;
mod job;
mod latency;
mod load;
mod phase;
mod rewrites;
mod spared;
mod techniques;
mod tolerances;
mod trace;
mod waits;

pub use capacity::CapacityResult;
pub use cells::CellsResult;
pub use checks::ChecksResult;
pub use copies::Copies;
pub use cost::RunResult;
pub use drive::{DriveResult, names};
pub use failures::{FailedResult, LostResult};
pub use flash::{BlocksResult, FlashResult, ReadErrors, Sanitised, Waf, WordlineResult, Wordlines};
pub use host::HostResult;
pub use job::JobResult;
pub use latency::{ByOp, Latency, PriorityLatency, StageMeans};
pub use load::{InFlight, SaturatedResult, Utilisation};
pub use phase::PhaseResult;
pub use rewrites::RewritesResult;
pub use spared::SparedResult;
pub use techniques::{AnswersResult, CensusResult, CensusRow, NumberResult, QuestionResult, TechniqueResult};
pub use tolerances::{ClassReadsResult, HintedReadsResult};
pub use trace::TraceResult;
pub use waits::{StopsOf, StopsResult, WaitResult};
