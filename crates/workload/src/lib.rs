//! What the host does: traces of real systems, synthetic workloads, and how both become requests to a drive.
//!
//! ```text
//! file ─ trace (recognise, read) ─┬─ stats, info, convert
//!                                 └─ fit (place on one drive) ─ replay ─┐
//! text ─ spec (parse, check) ─┬─ generate ──────────────────────────────┼─ HostRequest
//!                             └─ file (a model file system) ────────────┘
//! ```
//!
//! Nothing here knows what a drive does with a request. Time is a number in a record or a draw from keyed dice; files are read
//! through [`std::io::Read`], and only [`trace::open()`] opens one.

pub mod file;
pub mod fio;
pub mod fit;
pub mod generate;
pub mod pts;
pub mod reference;
pub mod replay;
pub mod spec;
pub mod steady;
pub mod trace;

mod any;
mod serial;
mod words;

pub use any::AnySpec;
pub use file::{FileLoad, FileOptions, FileSpec, FileTag, Tagged};
pub use fit::{Changes, Fit, FitError, Placed, Placement};
pub use generate::{Generator, JobsGenerator, Phase};
pub use replay::{Replay, ReplayError, ReplayOptions, WithinTick};
pub use spec::{JobsPhase, JobsSpec, PhaseSpec, SpecError, WorkloadSpec};
pub use trace::{Footprint, Format, TraceError, TraceInfo, TraceReader, TraceRecord, TraceStats};
