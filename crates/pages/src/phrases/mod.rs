//! Short texts about one part of a result, shared by the terminal, the page and the notes of results.

pub(crate) mod comparison;
pub(crate) mod drive;
pub mod failures;
pub(crate) mod rewrites;
pub(crate) mod spared;
pub mod techniques;
pub(crate) mod tolerances;
pub mod trace;
pub mod warnings;
