//! A log of metadata: block groups that are programmed one after the other, and let go from the oldest on once something newer says the same.
//!
//! ```text
//!   oldest group                 newest group
//!   [ record │ record │ … ]  …   [ record │ record │ next program unit │ … ]
//!     released together             ▲ order
//! ```
//!
//! Three kinds of records are kept so: the journal, the checkpoints of the map and the key store. What a record says, when one is due and what it makes
//! needless is its writer's; here are the groups, the program under way and what becomes of a group in which a program fails.

use std::collections::VecDeque;

use wordline_flash::Operation;

use crate::state::Core;
use crate::state::allocation;
use crate::state::data::MetadataKind;
use crate::state::layout::{BlockGroup, Layout};

/// Outcome of an attempt to go on when no operation is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rescue {
    /// Nothing was missing.
    Needless,
    /// An operation can be ordered now.
    Found,
    /// Nothing can be written any more.
    Stuck,
}

/// The block groups of one kind of metadata, and the program that is under way in the newest of them.
#[derive(Clone, Debug)]
pub(crate) struct Log {
    kind: MetadataKind,
    /// Groups in use, oldest first.
    groups: VecDeque<BlockGroup>,
    /// Next program unit of the newest group. Behind the last one, the group takes no more.
    program: u32,
    /// True if a program is under way.
    is_busy: bool,
    /// True if no group will take any more.
    is_stuck: bool,
    /// Bytes of the program ordered last.
    image: Vec<u8>,
}

impl Log {
    /// Creates an empty log with program units of `bytes` bytes.
    pub(crate) fn new(kind: MetadataKind, bytes: usize) -> Log {
        Log { kind, groups: VecDeque::new(), program: 0, is_busy: false, is_stuck: false, image: vec![0; bytes] }
    }

    /// Resumes after a power cut with `groups`, oldest first, the newest of them programmed up to `program`.
    pub(crate) fn resume(&mut self, groups: VecDeque<BlockGroup>, program: u32) {
        (self.groups, self.program) = (groups, program);
    }

    // Its groups.

    /// Groups in use, oldest first.
    pub(crate) fn groups(&self) -> impl ExactSizeIterator<Item = BlockGroup> + '_ {
        self.groups.iter().copied()
    }

    /// Number of groups before the newest.
    pub(crate) fn before_newest(&self) -> usize {
        self.groups.len().saturating_sub(1)
    }

    /// Next program unit of the newest group.
    pub(crate) fn program(&self) -> u32 {
        self.program
    }

    /// The newest group, if it takes `units` more program units.
    #[inline]
    pub(crate) fn room(&self, layout: &Layout, units: u32) -> Option<BlockGroup> {
        self.groups.back().copied().filter(|_| self.program + units <= layout.programs)
    }

    /// Add `group`, which is erased, as the newest.
    pub(crate) fn extend(&mut self, group: BlockGroup) {
        self.groups.push_back(group);
        self.program = 0;
    }

    /// Add a free group of the dies that have more than `left` of them, as the free-block policy chooses. Returns false if there is none.
    pub(crate) fn find_room(&mut self, core: &mut Core, left: u32) -> bool {
        let group = allocation::take_metadata_group(core, left);
        group.inspect(|&group| self.extend(group)).is_some()
    }

    /// Program nothing more in the newest group.
    pub(crate) fn seal(&mut self, layout: &Layout) {
        self.program = layout.programs;
    }

    /// Take the newest group out, in which a program has failed and nothing is needed.
    pub(crate) fn take_newest(&mut self) -> Option<BlockGroup> {
        self.groups.pop_back()
    }

    /// Take the oldest group out, because newer records say all that it says.
    pub(crate) fn take_oldest(&mut self) -> Option<BlockGroup> {
        self.groups.pop_front()
    }

    /// Release the `count` oldest groups, because newer records say all that they say: they are to be erased.
    pub(crate) fn release_oldest(&mut self, core: &mut Core, count: usize) {
        self.groups.drain(..count).for_each(|group| allocation::release_metadata_group(core, group, self.kind.cause()));
    }

    /// Release all groups but the `count` oldest, because what they say is not whole and never will be.
    pub(crate) fn release_newest(&mut self, core: &mut Core, count: usize) {
        self.groups.drain(count..).for_each(|group| allocation::release_metadata_group(core, group, self.kind.cause()));
    }

    /// Drop the groups on dies that have failed. Under a program the newest stays until that is reported. Returns how many of the `count` oldest groups are
    /// left, and true if any was dropped or is to be.
    pub(crate) fn leave(&mut self, core: &Core, count: usize) -> (usize, bool) {
        let is_there = |group: &BlockGroup| core.is_failed(core.layout().die(*group));
        let left = self.groups.iter().take(count).filter(|group| !is_there(group)).count();
        let had_any = self.groups.iter().any(is_there);
        let newest = self.groups.back().copied();
        if newest.as_ref().is_some_and(is_there) && !self.is_busy {
            self.seal(core.layout());
        }
        let is_busy = self.is_busy;
        self.groups.retain(|group| !is_there(group) || (is_busy && Some(*group) == newest));
        (left, had_any)
    }

    // Its programs.

    /// True if a program is under way.
    #[inline]
    pub(crate) fn is_busy(&self) -> bool {
        self.is_busy
    }

    /// Bytes of a program unit, for the writer to fill in before [`Log::issue`].
    pub(crate) fn image_mut(&mut self) -> &mut [u8] {
        &mut self.image
    }

    /// Number of bytes of a program unit.
    pub(crate) fn program_bytes(&self) -> usize {
        self.image.len()
    }

    /// The bytes of part `unit` of the program ordered last, of units of `bytes` bytes.
    pub(crate) fn bytes(&self, unit: u32, bytes: usize) -> &[u8] {
        &self.image[unit as usize * bytes..][..bytes]
    }

    /// Order the next program unit of the newest group, which must have room.
    pub(crate) fn issue(&mut self, core: &mut Core) -> Operation {
        let group = self.room(core.layout(), 1).expect("the writer has looked for room");
        let program = self.program;
        (self.program, self.is_busy) = (program + 1, true);
        core.issue_metadata(self.kind, group, program)
    }

    /// End the program under way.
    pub(crate) fn ended(&mut self) {
        self.is_busy = false;
    }

    /// End the program under way, which failed. What is whole in its group stays readable; nothing more is programmed there, and its blocks are replaced
    /// once it is let go.
    pub(crate) fn failed(&mut self, core: &mut Core, group: BlockGroup) {
        self.is_busy = false;
        self.seal(core.layout());
        core.groups_mut().condemn(group);
    }

    // When there is no room.

    /// True if nothing can be written any more.
    #[inline]
    pub(crate) fn is_stuck(&self) -> bool {
        self.is_stuck
    }

    /// Give up: nothing will be written any more.
    pub(crate) fn set_stuck(&mut self) {
        self.is_stuck = true;
    }
}

#[cfg(test)]
mod tests {
    use wordline_units::DieId;

    use super::*;
    use crate::config::tests::small;
    use crate::setup::build;
    use crate::state::groups::Use;

    fn log() -> (Core, Log) {
        let core = build(&small(64)).core;
        (core, Log::new(MetadataKind::Checkpoint, 16_384))
    }

    #[test]
    fn a_group_takes_its_program_units_in_order_and_no_more() {
        let (mut core, mut log) = log();
        assert_eq!(log.room(core.layout(), 1), None, "a new log has no group");
        assert!(log.find_room(&mut core, 1));
        let group = log.room(core.layout(), core.layout().programs).expect("it is empty");
        for program in 0..core.layout().programs {
            assert_eq!((log.program(), log.room(core.layout(), 1)), (program, Some(group)));
            log.issue(&mut core);
            assert!(log.is_busy());
            log.ended();
            core.ready(DieId(0));
        }
        assert_eq!(log.room(core.layout(), 1), None);
        assert!(log.room(core.layout(), 0).is_some() && !log.is_busy());
    }

    #[test]
    fn a_group_in_which_a_program_fails_takes_no_more_and_what_it_holds_stays_until_it_is_let_go() {
        let (mut core, mut log) = log();
        log.find_room(&mut core, 1);
        log.issue(&mut core);
        let group = log.groups().next().expect("it has one");
        log.failed(&mut core, group);
        assert!(core.groups().is_condemned(group) && core.groups().use_of(group) == Use::Metadata);
        assert_eq!((log.room(core.layout(), 1), log.groups().len(), log.is_busy()), (None, 1, false));
        log.find_room(&mut core, 1);
        log.release_oldest(&mut core, 1);
        assert_eq!(core.groups().use_of(group), Use::Drained);
        assert_eq!(core.die(DieId(0)).erasable(), [(group, MetadataKind::Checkpoint.cause())]);
    }

    #[test]
    fn what_is_not_whole_is_let_go_and_what_is_whole_stays() {
        let (mut core, mut log) = log();
        (0..3).for_each(|_| assert!(log.find_room(&mut core, 1)));
        let groups: Vec<BlockGroup> = log.groups().collect();
        log.release_newest(&mut core, 1);
        assert_eq!(log.groups().collect::<Vec<_>>(), groups[..1]);
        assert_eq!(core.die(DieId(0)).erasable().len(), 2);
    }

    #[test]
    fn the_last_free_groups_are_left_to_others() {
        let (mut core, mut log) = log();
        let free = core.die(DieId(0)).free_count();
        (0..free - 2).for_each(|_| assert!(log.find_room(&mut core, 2)));
        assert!(!log.find_room(&mut core, 2));
        assert!(log.find_room(&mut core, 1));
    }
}
