//! Reads that have left their die unfinished: broken off, or between two tries. They keep their place on the ladder of tries, so that nothing that was sensed
//! to its end is sensed again.

use wordline_units::OpTag;

use super::tries::Tries;
use crate::due::OpSlot;

/// A read that has left its die.
#[derive(Debug)]
struct Parked {
    core: u32,
    tag: OpTag,
    op: OpSlot,
    tries: Tries,
}

/// The reads that wait to be ordered again. There are few: one for each die and priority at most.
#[derive(Debug, Default)]
pub(crate) struct ParkedReads(Vec<Parked>);

impl ParkedReads {
    /// Keeps the read `tag` of `core`, which `op` stands for, with its `tries` so far.
    pub(crate) fn park(&mut self, (core, tag): (u32, OpTag), op: OpSlot, tries: Tries) {
        self.0.push(Parked { core, tag, op, tries });
    }

    /// Takes the read `tag` of `core`, if it is among those that wait.
    #[inline]
    pub(crate) fn take(&mut self, core: u32, tag: OpTag) -> Option<(OpSlot, Tries)> {
        if self.0.is_empty() {
            return None;
        }
        let at = self.0.iter().position(|parked| (parked.core, parked.tag) == (core, tag))?;
        let Parked { op, tries, .. } = self.0.swap_remove(at);
        Some((op, tries))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_is_found_by_its_core_and_its_tag_and_only_once() {
        let mut parked = ParkedReads::default();
        for (core, tag) in [(0, 7), (1, 7), (0, 8)] {
            parked.park((core, OpTag(tag)), OpSlot::at(core as usize * 10 + tag as usize), Tries::default());
        }
        let mut take = |core, tag| parked.take(core, OpTag(tag)).map(|(slot, _)| slot.index());
        assert_eq!([take(1, 7), take(1, 7), take(0, 8), take(0, 7), take(0, 7)], [Some(17), None, Some(8), Some(7), None]);
    }
}
