//! Tables as files: one row per interval, per request, per flash block, per run, per ratio of a comparison, and per point of a sweep; as Parquet or as CSV.
//!
//! The plain column writer is enough for tables of numbers, and holds one row group of them in memory at a time. Units are in the reference and in a Parquet
//! file's own metadata, under `unit.` and the column's name.

mod about;
mod blocks;
mod column;
mod csv;
mod file;
mod intervals;
mod requests;
mod runs;
mod sweep;

pub use about::about;
pub use blocks::{blocks, write_blocks};
pub use column::{Cell, Column, Kind};
pub use file::{Format, Table, TableError};
pub use intervals::{intervals, write_intervals};
pub use requests::{REQUESTS, RequestLog};
pub use runs::{RATIOS, write_ratios, write_runs};
pub use sweep::{SWEEP, write_sweep};
