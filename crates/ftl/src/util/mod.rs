//! Structures of data that know nothing of a drive, and the macro that lists the policies of a slot.

pub(crate) mod divisor;
pub(crate) mod index;
pub(crate) mod list;
pub(crate) mod packed;
pub(crate) mod permutation;
mod slot;

pub(crate) use slot::slot;
