//! A chip's scalars fitted to what sources state of it: least squares on the residuals of judged readings, with the same seeds at every point.
//!
//! ```text
//! studies ──► Questions (benches at each seed) ──► residuals ──► calibrate: Levenberg–Marquardt ──► Calibration ──► text, settings, chip file
//! chip, names ──► Parameters ─────────────────────────┘                                                └► Directions (singular values)
//! ```
//!
//! The search draws values to those of the sources and sees no verdict; verdicts are those of `wordline reproduce`, on other seeds.

mod directions;
mod parameters;
mod questions;
pub mod report;
mod search;

pub use directions::{Direction, directions};
pub use parameters::{Parameter, Parameters};
pub use questions::{Question, Questions};
pub use search::{Calibration, Moved, Task, calibrate};
