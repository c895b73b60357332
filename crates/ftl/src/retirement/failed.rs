//! Failed blocks only.

use super::{Policy, Seen, Verdict};

/// Retires the blocks of a group in which a program failed, or whose erase failed.
pub(super) struct Failed;

impl Policy for Failed {
    fn judge(&self, seen: &Seen) -> Verdict {
        if seen.program_failed || seen.erase_failed { Verdict::RetireBlock } else { Verdict::Keep }
    }
}
