//! Tables for a terminal, at most 100 columns wide.

mod beside;
mod classes;
mod compared;
mod jobs;
mod layout;
mod lines;
mod phases;
mod run;
mod swept;
mod tolerances;
mod versions;

pub use compared::compare;
pub use run::run;
