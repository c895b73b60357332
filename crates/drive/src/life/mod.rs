//! The life of a drive: its past without the time that it takes, its rest, its images, and what can be found out about it.

pub(crate) mod chip_off;
pub(crate) mod construct;
pub(crate) mod control;
mod counts;
pub(crate) mod habits;
pub(crate) mod health;
pub mod image;
pub(crate) mod inspect;
pub(crate) mod leap;
pub(crate) mod loss;
pub mod precondition;
pub(crate) mod rest;
pub(crate) mod set_age;
pub(crate) mod wake;
