//! Flushes that wait, in the order in which they came. They pass in that order, too.

use std::collections::VecDeque;

use wordline_units::PartId;

/// A flush that waits.
#[derive(Clone, Copy, Debug)]
struct Flush {
    part: PartId,
    /// Epoch up to which writes must be durable.
    epoch: u64,
    /// Version up to which trims must be durable.
    trims: u64,
    /// Number of programs that must be sealed; set once all writes before the flush are on flash.
    sealed: Option<u64>,
    /// Newest barrier at the time when the flush could pass; set at that time.
    barrier: Option<u64>,
}

/// Waiting flushes of one core.
#[derive(Debug, Default)]
pub(super) struct Flushes(VecDeque<Flush>);

impl Flushes {
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Add the flush `part`, which waits for writes up to `epoch` and for trims up to version `trims`.
    pub(super) fn add(&mut self, part: PartId, epoch: u64, trims: u64) {
        self.0.push_back(Flush { part, epoch, trims, sealed: None, barrier: None });
    }

    /// The first flush, with its epoch and the version of its trims.
    pub(super) fn first(&self) -> Option<(PartId, u64, u64)> {
        self.0.front().map(|flush| (flush.part, flush.epoch, flush.trims))
    }

    /// Remove the first flush, which has passed or failed.
    pub(super) fn remove_first(&mut self) {
        self.0.pop_front();
    }

    /// Number of programs that must be sealed for the first flush, if that is known.
    pub(super) fn sealed(&self) -> Option<u64> {
        self.0.front().and_then(|flush| flush.sealed)
    }

    /// Barrier that the first flush waits for: `newest`, unless it was set before.
    pub(super) fn barrier(&mut self, newest: u64) -> Option<u64> {
        self.0.front_mut().map(|flush| *flush.barrier.get_or_insert(newest))
    }

    /// Make flushes from `epoch` on wait for trims up to `version`. Returns true if there are any.
    pub(super) fn inherit(&mut self, epoch: u64, version: u64) -> bool {
        let mut is_any = false;
        for flush in self.0.iter_mut().filter(|flush| flush.epoch >= epoch) {
            (flush.trims, is_any) = (version, true);
        }
        is_any
    }

    /// Set the number of programs that must be sealed to `newest` in flushes before epoch `durable` that have none. Returns the number and the version of
    /// trims of the last of them.
    pub(super) fn seal(&mut self, durable: u64, newest: u64) -> Option<(u64, u64)> {
        let on_flash = self.0.iter_mut().take_while(|flush| flush.epoch < durable);
        on_flash.map(|flush| (*flush.sealed.get_or_insert(newest), flush.trims)).last()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_to_be_sealed_is_set_once_and_only_where_all_writes_are_on_flash() {
        let mut flushes = Flushes::default();
        assert_eq!(flushes.seal(9, 5), None);
        [(3, 10), (4, 11), (7, 12)].into_iter().for_each(|(epoch, trims)| flushes.add(PartId(epoch as u32), epoch, trims));
        assert_eq!((flushes.seal(4, 5), flushes.sealed()), (Some((5, 10)), Some(5)));
        assert_eq!((flushes.seal(5, 6), flushes.sealed()), (Some((6, 11)), Some(5)));
        flushes.remove_first();
        assert_eq!(flushes.first(), Some((PartId(4), 4, 11)));
        assert!(flushes.inherit(7, 20) && !flushes.inherit(8, 21));
        assert_eq!(flushes.seal(8, 6), Some((6, 20)));
    }

    #[test]
    fn a_barrier_is_set_once() {
        let mut flushes = Flushes::default();
        assert_eq!(flushes.barrier(1), None);
        flushes.add(PartId(0), 0, 0);
        assert_eq!((flushes.barrier(1), flushes.barrier(2)), (Some(1), Some(1)));
    }
}
