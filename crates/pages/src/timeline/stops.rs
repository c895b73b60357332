//! Which operation of a die it was that was stopped.

use std::collections::BTreeMap;

use wordline_units::{Cause, DieId, FlashOp, Nanos};

/// Operations of one kind and cause on a die that may have begun after one that is stopped, such as a read for which others gave way.
const LOOKED_BACK: usize = 64;

/// An operation that may have been stopped, and the row on which it is drawn.
#[derive(Clone, Copy, Debug)]
struct Drawn {
    issued: Nanos,
    end: Nanos,
    row: u32,
}

/// Operations that may have been stopped, by die, kind and cause.
#[derive(Debug, Default)]
pub(super) struct Stoppable(BTreeMap<(DieId, FlashOp, Cause), Vec<Drawn>>);

impl Stoppable {
    /// Notes an operation that is drawn on `row`. Those of a die come as they were issued.
    pub(super) fn note(&mut self, of: (DieId, FlashOp, Cause), (issued, end): (Nanos, Nanos), row: u32) {
        self.0.entry(of).or_default().push(Drawn { issued, end, row });
    }

    /// The row of the operation that was stopped at `at`, `waited` after that was ordered. What began before the window, or did not end in the run, has none;
    /// nor has a measurement that was broken off, which begins anew.
    pub(super) fn row(&self, of: (DieId, FlashOp, Cause), at: Nanos, waited: Nanos) -> Option<u32> {
        let all = self.0.get(&of)?;
        let begun = &all[..all.partition_point(|drawn| drawn.issued < at)];
        let is_it = |drawn: &&Drawn| drawn.issued + waited <= at && at <= drawn.end;
        begun.iter().rev().take(LOOKED_BACK).find(is_it).map(|drawn| drawn.row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_begins_as_another_stops_is_not_what_was_stopped() {
        let (of, mut all) = ((DieId(1), FlashOp::Read, Cause::Host), Stoppable::default());
        all.note(of, (Nanos(100), Nanos(400)), 0);
        all.note(of, (Nanos(200), Nanos(300)), 1);
        let row = |at, waited| all.row(of, Nanos(at), Nanos(waited));
        assert_eq!(
            [row(200, 5), row(202, 5), row(250, 5), row(350, 0), row(401, 0), row(90, 0)],
            [Some(0), Some(0), Some(1), Some(0), None, None]
        );
        assert_eq!(all.row((DieId(1), FlashOp::Read, Cause::Gc), Nanos(250), Nanos(5)), None);
    }
}
