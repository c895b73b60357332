//! Figures as a person or a program receives them: tables for a terminal, one HTML page, JSON, CSV and Parquet, and the timeline of a run.
//!
//! ```text
//!   text  html  timeline  lifetime  read_life  forensics  reference
//!   phrases  table  json
//!   number
//! ```
//!
//! Nothing here counts: each figure comes from `wordline-figures` as it is. [`RequestLog`](table::RequestLog) and [`Timeline`](timeline::Timeline) observe
//! a run because they write while it goes on.

pub mod forensics;
pub mod html;
mod json;
pub mod lifetime;
pub mod number;
pub mod phrases;
pub mod read_life;
pub mod reference;
pub mod table;
pub mod text;
pub mod timeline;

pub use json::json;
