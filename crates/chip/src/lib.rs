//! A die as a state machine: it obeys commands, refuses those that are illegal, and owns no clock.
//!
//! - [`Chip::probe`] asks, without changing anything, whether a command is legal at an instant: ready, blocked until later, or illegal.
//! - [`Chip::issue`] (and [`Chip::program`], and [`Chip::transfer`] for data on the bus) carries it out and returns when the die will be ready.
//! - [`rule::RULES`] is the table of timing and legality rules that both walk.
//!
//! ```text
//!        DataIn             Program, CopybackProgram
//!  bus ─────────► registers ─────────────────────────► array ──Suspend──► suspended
//!      ◄─────────  (data,   ◄─────────────────────────       ◄──Resume───
//!        DataOut    cache)       Read
//! ```
//!
//! The parts stand on floors, each in a file of its own: `die.rs` has those that a command needs, and `chip.rs` is the face. Faults on order are in `fault.rs`.
//!
//! Pages can be made unreadable without an erase, by locks and by one shot: `seal.rs` has what the pins give of them then.
//!
//! Changes of pages and blocks are booked when their command is issued; the array merely stays busy until it would be true. A firmware that
//! breaks a rule is a bug and panics. Bad flash is a [`wordline_flash::Status`]. Deliberately absent: how fast the bus is (the drive says how
//! long a transfer takes), what cells do (`wordline-cells` answers), and which blocks have grown bad (firmware keeps that book).

mod activity;
mod block;
mod blocks;
mod cells;
mod chip;
mod die;
mod epoch;
mod fault;
mod features;
mod guard;
pub mod image;
mod legal;
mod medium;
mod order;
mod payload;
mod place;
mod probe;
mod registers;
mod ruined;
pub mod rule;
mod seal;
mod spare;
mod stop;
mod tear;
mod times;
mod wake;
mod work;

pub use activity::Issued;
pub use chip::Chip;
pub use fault::{DieFault, FailureImage};
pub use guard::GuardImage;
pub use payload::{Contents, Kept, KeptBlock, PageImage, Payload, Persistent, RamPayload, UnitAt};
pub use place::Place;
pub use probe::{Probe, Why};
pub use spare::PADDING;
pub use stop::Stops;
pub use wordline_cells::{CarriedTables, KeptLife, ReliefTables, RestTables};
pub use wordline_flash::{Mark, Sanitisation};
