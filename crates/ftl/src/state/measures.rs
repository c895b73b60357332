//! Measurements: pages that are read for nothing but the count of their errors. They wait here until the page is programmed and its die takes the read.

use serde::{Deserialize, Serialize};
use wordline_units::{DieId, Id};

use crate::state::layout::BlockGroup;
use crate::state::work::Asked;

/// A page that is to be measured, in this filling of its group and in no other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Measurement {
    pub group: BlockGroup,
    /// Erase count of the group.
    pub erases: u32,
    /// Offset of the first unit of the page.
    pub offset: u32,
    /// True if the bits of all codewords are to be counted.
    pub tally: bool,
}

/// Measurements of one core.
#[derive(Clone, Debug, Default)]
pub(crate) struct Measures {
    /// Measurements that wait, by die; empty until somebody wants one.
    waiting: Vec<Vec<(Measurement, Asked)>>,
    /// Dies that are at one, which may not have been reported yet.
    busy: Vec<DieId>,
}

impl Measures {
    /// Queue `wanted` on `die`. If it waits already, it is counted as thoroughly as anybody wants, and the earlier deadline holds.
    pub(crate) fn ask(&mut self, die: DieId, wanted: Measurement, asked: Asked) {
        if self.waiting.len() <= die.index() {
            self.waiting.resize_with(die.index() + 1, Vec::new);
        }
        let waiting = &mut self.waiting[die.index()];
        let is_same = |known: &Measurement| Measurement { tally: wanted.tally, ..*known } == wanted;
        match waiting.iter_mut().find(|(known, _)| is_same(known)) {
            Some((known, since)) => {
                known.tally |= wanted.tally;
                since.due = since.due.min(asked.due);
            }
            None => waiting.push((wanted, asked)),
        }
    }

    /// True if a measurement waits for `die`, which is at none.
    #[inline]
    pub(crate) fn has(&self, die: DieId) -> bool {
        self.waiting.get(die.index()).is_some_and(|waiting| !waiting.is_empty()) && !self.busy.contains(&die)
    }

    /// Measurements that wait for `die`.
    pub(crate) fn of(&self, die: DieId) -> &[(Measurement, Asked)] {
        self.waiting.get(die.index()).map_or(&[], Vec::as_slice)
    }

    /// Drop the measurement at `place` of those that wait for `die`.
    pub(crate) fn drop_at(&mut self, die: DieId, place: usize) {
        self.waiting[die.index()].remove(place);
    }

    /// Begin the measurement at `place` of those that wait for `die`.
    pub(crate) fn begin(&mut self, die: DieId, place: usize) {
        self.drop_at(die, place);
        self.busy.push(die);
    }

    /// End the measurement that `die` is at.
    pub(crate) fn end(&mut self, die: DieId) {
        self.busy.retain(|&busy| busy != die);
    }

    /// Drop all measurements that wait for `die`.
    pub(crate) fn drop_all(&mut self, die: DieId) {
        self.waiting.get_mut(die.index()).map(Vec::clear);
    }

    /// Measurements that wait, for an image. Those that others held back may start at once on the restored core.
    pub(crate) fn image(&self) -> Vec<Measurement> {
        self.waiting.iter().flatten().map(|&(wanted, _)| wanted).collect()
    }
}

#[cfg(test)]
mod tests {
    use wordline_units::Nanos;

    use super::*;

    const DIE: DieId = DieId(2);

    fn measurement(offset: u32, tally: bool) -> Measurement {
        Measurement { group: BlockGroup(9), erases: 3, offset, tally }
    }

    fn asked(due: u64) -> Asked {
        Asked { since: Nanos(1), due: Nanos(due) }
    }

    #[test]
    fn what_is_wanted_twice_is_measured_once_as_thoroughly_and_as_soon_as_anybody_wants() {
        let mut measures = Measures::default();
        assert!(!measures.has(DIE) && measures.of(DIE).is_empty());
        measures.ask(DIE, measurement(4, false), asked(80));
        measures.ask(DIE, measurement(4, true), asked(90));
        measures.ask(DIE, measurement(8, false), asked(70));
        let found: Vec<_> = measures.of(DIE).iter().map(|(wanted, asked)| (wanted.offset, wanted.tally, asked.due.0)).collect();
        assert_eq!(found, [(4, true, 80), (8, false, 70)]);
        assert_eq!(measures.image(), [measurement(4, true), measurement(8, false)]);
    }

    #[test]
    fn a_die_is_at_one_measurement_at_a_time() {
        let mut measures = Measures::default();
        [4, 8].into_iter().for_each(|offset| measures.ask(DIE, measurement(offset, false), asked(80)));
        measures.begin(DIE, 0);
        assert!(!measures.has(DIE) && measures.of(DIE).len() == 1);
        measures.end(DIE);
        assert!(measures.has(DIE));
        measures.drop_at(DIE, 0);
        assert!(!measures.has(DIE));
    }
}
