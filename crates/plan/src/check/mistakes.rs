//! Mistakes that several rules of a die word alike.

use crate::layer::{Mistakes, Set};

/// Objects that the time `key` is zero: an array that works in no time would let a host with a queue run for ever at one instant.
pub(super) fn instant<T>(mistakes: &mut Mistakes<'_>, key: &str, set: &Set<T>) {
    mistakes.at(&set.origin, format!("{key} is zero: expected a time greater than that"), None);
}

/// Objects that `key` is not set, for the reason `why`, at the `cause` that needs it.
pub(super) fn needed<T>(mistakes: &mut Mistakes<'_>, key: &str, why: &str, expected: &str, cause: &Set<T>) {
    mistakes.at(&cause.origin, format!("{key} is not set, and {why}"), Some(format!("expected {expected}")));
}
