//! A chip file fitted to measured histograms of threshold voltages.
//!
//! ```text
//! file ──► Histograms ──► Digest (quantiles, misreads) ──► Task::search ──► Subject ──► chip file
//!                                     └──────────────────────► judge ◄────────┘  └► residuals: text, page, pictures
//! ```
//!
//! The search sees quantiles and never misreads; those are predicted, and judged. P/E counts can be held out of it.

mod axis;
mod chip_file;
mod curve;
mod digest;
pub mod figures;
mod histograms;
mod judge;
pub mod least_squares;
mod naive;
mod outcome;
mod parameters;
mod predict;
pub mod report;
mod search;

pub use axis::Axis;
pub use chip_file::{Origin, chip_file, rounded};
pub(crate) use chip_file::{digits, number};
pub use curve::Curve;
pub use digest::{Condition, Digest, LEVELS, Layer};
pub use histograms::{HistogramError, Histograms};
pub use judge::{Summary, Verdict, deviate, judge, layer_agreement};
pub use naive::{Naive, scaled_neighbour};
pub use outcome::Outcome;
pub use parameters::Subject;
pub use predict::Voltage;
pub use search::{Once, Task};
