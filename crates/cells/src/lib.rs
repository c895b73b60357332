//! Models of flash cells: the times of operations, the threshold voltages of the cells, and the wrong bits of reads.
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
//! All times are seconds, all voltages millivolts, all temperatures [`Celsius`](wordline_units::Celsius). Nothing here has a clock, a thread or a
//! file; randomness is drawn by the caller or keyed by a specimen's name.
//!
//! # How a die uses this
//!
//! [`CellArray`] does what follows. All dies of a drive share one [`Model`], made when the drive is. A die keeps, for each block,
//!
//! - its [`Block`] (56 bytes, or nothing: it is a pure function of seed, chip and block), and its [`History`] (12 bytes; `gentle` apart for each wordline, and
//!   only where a block has ever been erased gently),
//! - the time of its last erase (for dwell and open interval), the time it was programmed and the count of its reads since (for retention and read disturb),
//! - for each wordline nothing, as long as it was programmed with default settings; [`Settings`], locks and reprogramming where not,
//! - for each page nothing, as long as its block has received no copyback; the error rate that came with the data where it has.
//!
//! | command | asks | and keeps |
//! |---|---|---|
//! | erase | [`Model::erase`]: loops, t_BERS | [`History::erased`] with the dwell since the last erase, its suspensions, and whether it was gentle |
//! | program | [`Model::program`]: loops, L_min and L_max of each state, k_i, t_PROG | [`History::programmed`] once for each cycle of the block |
//! | read | a grid of rates worked out by [`Model::wordline`]; then dice for the errors of the worst codeword | one read more of the block |
//! | age that is set | [`Model::cycled`], [`Model::kept`] | the history and a program time in the past |
//!
//! [`Model::traits`] costs a hundred nanoseconds; a die that reads at random keeps the last few thousand in a table by block and layer. The errors of a page
//! are drawn from dice named after the page and its program ([`Model::errors`]), so that reading twice finds the same errors but for telegraph noise.

pub mod effects;
pub mod erase;
pub mod flag;
pub mod montecarlo;
pub mod program;
pub mod special;
pub mod wear;

mod array;
mod condition;
mod fixed;
mod grid;
mod minimum;
mod model;
mod physics;
mod reading;
mod reprogram;
mod retries;
mod state;
mod strays;
mod variation;
mod wordline;

pub use array::{
    Age, BlockCarried, BlockCells, BlockWear, CarriedTables, CellArray, Disturbed, KeptLife, Lives, Look, Pace, ReliefTables, Repetition,
    RestTables, Sensed, Took, Trace,
};
pub use condition::{Condition, Reprogrammed};
pub use erase::Erase;
pub use fixed::{Cells, Faults, Outcome};
pub use model::Model;
pub use physics::*;
pub use program::{Program, Settings, Stray};
pub use reading::{Errors, Reading, errors_at, unit};
pub use retries::{Retries, Try};
pub use state::{State, Tail};
pub use variation::{Block, Layer, Traits};
pub use wear::History;
pub use wordline::{References, Wordline};
