//! All that a controller can say to a flash die and hear from it.
//!
//! Two levels, and nothing of how cells work:
//!
//! - [`command`]: what crosses the pins, one command at a time (read, data out, program, erase, suspend …), with the data sheet beside it ([`sheet`]): timings,
//!   capabilities and the rules of which command is legal when.
//! - [`operation`]: what firmware orders and the flash controller turns into commands (a read of some units of a page, a program of a program unit,
//!   the erase of a block group), and the [`Report`] it gets back. Bad flash is a report, not an error.
//!
//! Beside the data sheet there may be a table of [`margins`] for programs and others of how blocks age ([`tables`]), found by the maker of the chip.
//!
//! [`example`] is a made-up die for documents and tests.

pub mod command;
pub mod erase;
pub mod example;
pub mod margins;
pub mod offsets;
pub mod operation;
pub mod program;
pub mod sanitisation;
pub mod sheet;
pub mod tables;

pub use command::{Command, Feature, PlaneSet, Stop, Target};
pub use erase::EraseSettings;
pub use margins::{MarginStep, Margins, WindowMargin};
pub use offsets::{ReadOffsets, ReadSets};
pub use operation::{EraseTrace, Failed, Mark, Operation, OperationKind, Origin, ReadTry, Report, Spans, Status, Stopped, Tally};
pub use program::{ProgramSettings, ProgramTrace};
pub use sanitisation::Sanitisation;
pub use sheet::{Capabilities, ProgramScope, Sheet, Timing};
pub use tables::Tables;
