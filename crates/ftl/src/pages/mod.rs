//! The formats of the pages that the core writes for itself, as bytes. What is on flash stays readable: formats change by a new magic only.

mod check;
pub(crate) mod checkpoint;
pub(crate) mod journal;
pub(crate) mod kept;
pub(crate) mod keys;
pub(crate) mod map_log;
pub(crate) mod oob;
