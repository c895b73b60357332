//! The machinery of virtual time: the calendar of pending events, the stream of things that happened, its hash, and the observers
//! that turn it into tables.
//!
//! Nothing here knows what a drive is. There is no clock, no thread and no global: time is whatever the next event says it is.

pub mod calendar;
pub mod event;
pub mod follow;
pub mod log;
pub mod server;

pub use calendar::Calendar;
pub use event::{BlockState, BlockView, Completion, Completions, Event, FailedPart, FlashEvent, Observer, Shown, Stages, StopKind};
pub use follow::{UnitPlace, UnitStep};
pub use log::EventLog;
pub use server::{Bus, Server};
