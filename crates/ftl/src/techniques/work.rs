//! Maintenance work that techniques want done.

use wordline_units::{Cause, DieId, Nanos, Priority};

use super::address::FlashPage;
use crate::state::layout::BlockGroup;

/// A piece of work, with the instant until which others may hold it back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Work {
    /// Kind of the work, and the blocks it is for.
    pub kind: WorkKind,
    /// Cause under which its flash operations are counted.
    pub cause: Cause,
    /// Instant from which on no technique is asked whether the work may start. [`NEVER`]: there is no such instant.
    pub due: Nanos,
}

/// The deadline of work that has none.
pub const NEVER: Nanos = Nanos(u64::MAX);

/// Kind of a piece of [`Work`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WorkKind {
    /// Rewrite of the group: all its valid data is moved elsewhere, and the group is erased.
    Rewrite(BlockGroup),
    /// Collection of one victim of the die, if that would free anything.
    Collect(DieId),
    /// Read of a page for the count of its errors, as soon as the page is programmed and no read of the host waits for the die. It counts as [`Cause::Measure`]
    /// and ends as [`News::Read`](super::seam::News::Read), but for a page of which nothing is needed any more: that is not read, and ends as
    /// [`News::Unmeasured`](super::seam::News::Unmeasured).
    Measure {
        /// Page that is read.
        at: FlashPage,
        /// True if the bits of all codewords are to be counted.
        tally: bool,
    },
}

/// Situation in which techniques are asked whether a piece of work may start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// Instant since when the work has waited.
    pub since: Nanos,
    /// Priority of the most urgent read that waits for the die; `None`: none does.
    pub reads: Option<Priority>,
}

/// Merges work to its union: each kind once, with the earliest deadline that any technique gives, in the order of the kinds.
pub fn merge_work(all: &mut Vec<Work>) {
    if all.len() > 1 {
        all.sort_unstable_by_key(|work| (work.kind, work.due, work.cause));
        all.dedup_by(|next, kept| next.kind == kept.kind || is_measured_with(kept, next));
    }
}

/// True if `next` measures the page that `kept` measures: then `kept` does so as thoroughly and as early as either.
fn is_measured_with(kept: &mut Work, next: &Work) -> bool {
    let (WorkKind::Measure { at, tally }, WorkKind::Measure { at: other, tally: counts }) = (&mut kept.kind, next.kind) else {
        return false;
    };
    let is_same = *at == other;
    if is_same {
        *tally |= counts;
        kept.due = kept.due.min(next.due);
    }
    is_same
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;
    use wordline_units::{PageId, PlaneId};

    fn page_at(page: u16) -> FlashPage {
        FlashPage { group: BlockGroup(1), plane: PlaneId(0), page: PageId(page) }
    }

    /// The same kind for all measurements of a page.
    fn thorough(kind: WorkKind) -> WorkKind {
        if let WorkKind::Measure { at, .. } = kind { WorkKind::Measure { at, tally: true } } else { kind }
    }

    fn work() -> impl Strategy<Value = Option<Work>> {
        let kind = prop_oneof![
            (0u32..3).prop_map(|group| WorkKind::Rewrite(BlockGroup(group))),
            (0u16..3).prop_map(|die| WorkKind::Collect(DieId(die))),
            (0u16..2, any::<bool>()).prop_map(|(page, tally)| WorkKind::Measure { at: page_at(page), tally })
        ];
        prop::option::of((kind, 0u64..3).prop_map(|(kind, due)| Work { kind, cause: Cause::Disturb, due: Nanos(due) }))
    }

    proptest! {
        #[test]
        fn work_of_one_kind_is_done_once_by_the_earliest_deadline_in_any_order(
            all in prop::collection::vec(work(), 0..10).prop_flat_map(|all| (Just(all.clone()), Just(all).prop_shuffle())),
        ) {
            let asked: Vec<Work> = all.0.iter().flatten().copied().collect();
            let mut earliest = BTreeMap::new();
            for work in all.0.iter().flatten() {
                let due = earliest.entry(thorough(work.kind)).or_insert(work.due);
                *due = work.due.min(*due);
            }
            for answers in [all.0, all.1] {
                let mut merged: Vec<Work> = answers.into_iter().flatten().collect();
                merge_work(&mut merged);
                let found: BTreeMap<_, _> = merged.iter().map(|work| (thorough(work.kind), work.due)).collect();
                let counts = |works: &[Work]| works.iter().filter(|work| matches!(work.kind, WorkKind::Measure { tally: true, .. })).count();
                let wanted: std::collections::BTreeSet<_> = asked.iter().map(|work| work.kind).filter(|&kind| kind == thorough(kind)).collect();
                prop_assert_eq!(counts(&merged), wanted.iter().filter(|kind| matches!(kind, WorkKind::Measure { .. })).count());
                prop_assert_eq!(found.len(), merged.len());
                prop_assert_eq!(&found, &earliest);
            }
        }
    }
}
