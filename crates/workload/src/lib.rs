//! What the host does: traces of real systems, synthetic workloads, and how both become requests to a drive.
//!
//! Nothing here knows what a drive does with a request. Time is a number in a record or a draw from keyed dice; files are read
//! through [`std::io::Read`], and only [`trace::open`] opens one.

pub mod trace;

mod serial;
mod words;
