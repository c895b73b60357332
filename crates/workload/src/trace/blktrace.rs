//! Files that `blktrace` itself writes: one for each processor, of records of 48 bytes that may have data behind them.
//!
//! ```text
//! magic and version 4 │ sequence 4 │ time_ns 8 │ sector 8 │ bytes 4 │ action 4 │ pid 4 │ device 4 │ cpu 4 │ error 2 │ data length 2
//! ```
//!
//! Numbers have the byte order of the machine that was traced; the magic number shows which. Records mean what [`super::event`] says of the text that
//! `blkparse` makes of them. Notes, messages and commands that are passed through to the device (as `smartctl` sends) are no requests.

mod folder;
mod merge;
mod record;

pub(crate) use folder::parts;
pub(crate) use merge::{Merged, Step};
pub(crate) use record::{begins, chosen};
