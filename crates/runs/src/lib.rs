//! Whole runs: from a checked plan, an age, a load and a seed to a result.
//!
//! ```text
//!              Workload, Load ──► Source              Serve: Stages, Rounds, or a user's own
//!                                   │                            │
//! Plan ──► prepare ──► age ──► [ drive with its Watch ] ──► serve ──► settle ──► conclude ──► Made
//!  or a saved drive ─────┘                                              books      figures
//! ```
//!
//! - There is one way through a run, [`Run::make`], and nobody who takes it can leave out a step: what is prepared is no drive to serve with before it has its
//!   age. The command and the lab differ in what they ask for, in who watches and in how requests come, and in nothing else.
//! - A [`Job`] is the usual run: a workload, as it says or as the options change it. Who has requests of his own, at a pace of his own, brings a [`Serve`].
//! - No terminal, no arguments, no exit codes: progress is told to a [`Progress`], logs are handed in, and errors are values.
//!
//! The figures of a run are those of its window, which ends before the drive is brought to rest: what follows is none of the workload's.

pub mod age;
mod ahead;
pub mod compare;
pub mod conclude;
mod cost;
mod error;
mod faults;
mod files;
mod inspection;
mod job;
mod jobs;
mod life;
mod life_point;
mod load;
mod load_key;
mod measuring;
pub mod parallel;
mod prefill;
mod prepare;
mod progress;
pub mod read_out;
mod reads;
mod repeated;
mod rounds;
mod run;
pub mod saved;
mod serve;
mod settle;
mod source;
mod tags;
mod watch;
pub mod wear_out;
mod workload;

/// Model id: the first 32 hexadecimal digits of BLAKE3 over the code from units to runs, the drives, chips and workloads that come with it, and the packages
/// that its results depend on. Results of another model are other results.
pub const MODEL: &str = env!("WORDLINE_MODEL");
/// Version of the program, with its model id.
pub const VERSION: &str = env!("WORDLINE_VERSION");

pub use cost::Stopwatch;
pub use error::{RunError, SavedError};
pub use faults::{FaultsError, Schedule};
pub use files::{Files, Plotted};
pub use inspection::{AgedCells, Inspection, look};
pub use job::{Job, Outcome};
pub use load::{Load, share};
pub use load_key::LoadKey;
pub use measuring::Measuring;
pub use prepare::{Lying, Prepared, Start, filled};
pub use progress::Progress;
pub use reads::Reads;
pub use repeated::Repeated;
pub use run::{Made, Run};
pub use saved::Saved;
pub use serve::{Serve, Served, Stages};
pub use source::{Source, Stage};
pub use tags::{Tag, Tags};
pub use watch::{Beside, Logs, Watch};
pub use workload::{Traced, Workload};
