//! Structures of data that know nothing of a drive.

pub(crate) mod divisor;
pub(crate) mod index;
pub(crate) mod list;
pub(crate) mod permutation;
