//! The words every other crate speaks: instants and spans, sizes and rates, dense ids, drive geometry and the host's requests.
//!
//! A number that has a unit has a type here. Nothing in this crate decides anything, draws a random number or knows what a flash
//! command is.

pub mod activity;
pub mod arrhenius;
pub mod calendar;
pub mod geometry;
pub mod host;
pub mod id;
pub mod memory;
pub mod quantity;
pub mod random;
pub mod wordlines;

pub use activity::{Cause, FlashOp};
pub use geometry::{CellKind, Geometry};
pub use host::{Attributes, HostOp, HostRequest, Priority, Tolerance};
pub use id::{BlockId, ChannelId, DieId, GroupId, Id, IdMap, JobId, LayerId, Lpn, OpTag, PageId, PartId, PlaneId, RequestId, WordlineId};
pub use quantity::{Bytes, Celsius, Microvolts, Millivolts, Nanos, Rate, Rber, Seconds, Wear};
pub use wordlines::WordlineSet;
