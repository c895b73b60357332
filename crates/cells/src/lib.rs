//! What the cells of a die do: how long an operation takes, where the threshold voltages of its cells stand, and how many bits of a read are wrong.
//!
//! Two models stand behind one seam.
//!
//! - [`Cells`]: the data sheet's fixed times and failures by rate. It knows no threshold voltages; this is a drive with its physics off.
//! - [`Model`]: a chip's physics, from one set of parameters ([`Physics`], the `[physics.*]` sections of a chip file). Everything else follows from it.
//!
//! ```text
//!  Physics ──new──▶ Model ──block(seed, chip, n)──▶ Block ──traits(layer)──▶ Traits          what it is: pure functions of a name
//!                     │                                                        │
//!                     │        History (cycles) ──▶ Condition (kept, read, …) ─┤            what has happened to it: plain data
//!                     ▼                                                        ▼
//!             program(…) → Program (loops, k_i, t_PROG)      wordline(traits, condition) → Wordline (states)
//!             erase(…)   → Erase (loops, t_BERS)                 ├─ error_rate(page, references), optimal()
//!                                                                └─ Model::read → Reading (errors, retries)
//! ```
//!
//! All times are seconds, all voltages millivolts, all temperatures [`Celsius`](wordline_units::Celsius). Nothing here has a clock, a thread or a file;
//! randomness is drawn by the caller or keyed by a specimen's name.
//!
//! # How a die uses this
//!
//! A die holds one [`Model`] (shared), a [`Block`] and a [`History`] for each block, and the time each wordline was programmed. On an erase it calls
//! [`History::erased`] and [`Model::erase`]; on a program [`Model::program`] and, for the block's first, [`History::programmed`]; on a read it makes a
//! [`Condition`], asks [`Model::wordline`] and [`Model::read`].

pub mod arrhenius;
pub mod effects;
pub mod erase;
pub mod flag;
pub mod montecarlo;
pub mod program;
pub mod special;
pub mod wear;

mod condition;
mod fixed;
mod model;
mod physics;
mod reading;
mod reprogram;
mod state;
mod variation;
mod wordline;

pub use condition::{Condition, Reprogrammed};
pub use erase::Erase;
pub use fixed::{Cells, Faults, Outcome};
pub use model::Model;
pub use physics::*;
pub use program::{Program, Settings, Stray};
pub use reading::{Errors, Reading, errors_at, unit};
pub use state::{State, Tail};
pub use variation::{Block, Layer, Traits};
pub use wear::History;
pub use wordline::{References, Wordline};
