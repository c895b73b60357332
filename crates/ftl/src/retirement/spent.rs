//! Failed blocks, and blocks whose life is over by the wear that techniques tell (LongLive, 000 §3.4.4).

use wordline_units::Wear;

use super::failed::Failed;
use super::{Policy, Seen, Verdict};

/// Retires what [`Failed`] retires, and the blocks of a group whose wear has reached the end of a life.
pub(super) struct Spent;

impl Policy for Spent {
    fn judge(&self, seen: &Seen) -> Verdict {
        // Of blocks that have just come into service nothing has been measured: what is told of them is a guess from their erase count.
        let is_spent = seen.erases > 1 && seen.wear >= Some(Wear::END);
        if is_spent { Verdict::RetireBlock } else { Failed.judge(seen) }
    }
}
