//! A log that is written twice: the same programs to two block groups, on two dies wherever two dies have room.
//!
//! ```text
//!   oldest pair                        newest pair
//!   die 3  [ page │ page │ … ]    …    die 0  [ page │ page │ next │ … ]
//!   die 5  [ page │ page │ … ]         die 2  [ page │ page │ next │ … ]
//! ```
//!
//! Both groups of a pair are programmed in step: the next program is ordered once both copies of the one before have ended. Where one of the two fails, the
//! pair takes no more.

use std::collections::VecDeque;

use wordline_flash::Operation;
use wordline_units::DieId;

use crate::state::Core;
use crate::state::allocation::{self, Left};
use crate::state::data::MetadataKind;
use crate::state::layout::{BlockGroup, Layout};

/// Block groups with the same content: two of them, or what a recovery has found of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pair(Vec<BlockGroup>);

impl Pair {
    /// The pair of `groups`, of which there is at least one.
    pub(crate) fn of(groups: Vec<BlockGroup>) -> Pair {
        Pair(groups)
    }
}

/// The pairs of block groups of one log, and the program that is under way in the newest.
#[derive(Clone, Debug)]
pub(crate) struct TwinLog {
    kind: MetadataKind,
    /// Pairs in use, oldest first.
    pairs: VecDeque<Pair>,
    /// Free groups for the next pair; none: they are still to be found. Emptied groups may wait for the log, and then no other group becomes free.
    reserve: Vec<BlockGroup>,
    /// Next program unit of the newest pair. Behind the last one, it takes no more.
    program: u32,
    /// Number of copies of the program under way that are still to be ordered.
    to_order: usize,
    /// Number of copies that were ordered and have not ended.
    under_way: usize,
    /// True if a copy of the program under way has failed.
    has_failed: bool,
    is_stuck: bool,
    /// Bytes of the program ordered last.
    image: Vec<u8>,
}

impl TwinLog {
    /// Creates an empty log with program units of `bytes` bytes.
    pub(crate) fn new(kind: MetadataKind, bytes: usize) -> TwinLog {
        TwinLog {
            kind,
            pairs: VecDeque::new(),
            reserve: Vec::new(),
            program: 0,
            to_order: 0,
            under_way: 0,
            has_failed: false,
            is_stuck: false,
            image: vec![0; bytes],
        }
    }

    /// Resumes after a power cut with `pairs`, oldest first, to which nothing is added.
    pub(crate) fn resume(&mut self, pairs: Vec<Pair>, layout: &Layout) {
        (self.pairs, self.program) = (pairs.into(), layout.programs);
        // Those were of the core as it was new.
        self.reserve.clear();
    }

    /// Number of pairs in use.
    pub(crate) fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Go on without the groups of `die`, which has failed. Returns true if there were any, and true if the program under way has ended with that: its other
    /// copy had ended, or was not ordered.
    pub(crate) fn leave(&mut self, core: &mut Core, die: DieId) -> (bool, bool) {
        let layout = core.layout();
        self.reserve.retain(|&group| layout.die(group) != die);
        let had_any = self.pairs.iter().flat_map(|pair| &pair.0).any(|&group| layout.die(group) == die);
        let next = self.next(layout).filter(|_| self.to_order > 0);
        if self.is_busy() {
            // Programs under way there come back failed.
            let is_cut = next.is_some_and(|group| layout.die(group) == die);
            if is_cut {
                (self.to_order, self.has_failed) = (0, true);
            }
            let has_ended = is_cut && self.under_way == 0;
            if has_ended {
                self.seal(layout);
            }
            return (had_any, has_ended);
        }
        if self.pairs.back().is_some_and(|pair| pair.0.iter().any(|&group| layout.die(group) == die)) {
            self.seal(layout);
        }
        (had_any, false)
    }

    /// True if the newest pair takes another program, once none is under way.
    pub(crate) fn has_room(&self, layout: &Layout) -> bool {
        !self.pairs.is_empty() && self.program < layout.programs
    }

    /// Group of the next operation: of a copy of the program under way, or of the next program, if there is room for one.
    pub(crate) fn next(&self, layout: &Layout) -> Option<BlockGroup> {
        let newest = self.pairs.back()?;
        if self.is_busy() {
            return if self.to_order > 0 { newest.0.get(newest.0.len() - self.to_order).copied() } else { None };
        }
        if self.has_room(layout) { newest.0.first().copied() } else { None }
    }

    /// Add the first pair, in a new core. Returns false if there is no free group.
    pub(crate) fn begin(&mut self, core: &mut Core) -> bool {
        let mut take = || (0..2).filter_map(|_| allocation::take_last_group(core)).collect();
        let (groups, reserve): (Vec<BlockGroup>, Vec<BlockGroup>) = (take(), take());
        self.reserve = reserve;
        let is_found = !groups.is_empty();
        if is_found {
            self.pairs.push_back(Pair(groups));
            self.program = 0;
        }
        is_found
    }

    /// Add a pair of free groups of two dies that keep `left`. Returns false if there is none. `alone`: both may be on one die, or there may be a single one.
    pub(crate) fn find_room(&mut self, core: &mut Core, left: Left, alone: bool) -> bool {
        self.refill(core, left);
        if alone && self.reserve.len() < 2 {
            self.reserve.extend(allocation::take_log_group(core, left, None));
        }
        let is_found = self.reserve.len() == 2 || (alone && !self.reserve.is_empty());
        if is_found {
            self.pairs.push_back(Pair(std::mem::take(&mut self.reserve)));
            self.program = 0;
        }
        is_found
    }

    /// Find the free groups for the pair after the newest that are still to be found, of dies that keep `left`: one by one, as dies have them.
    pub(crate) fn refill(&mut self, core: &mut Core, left: Left) {
        while self.reserve.len() < 2 {
            let other = self.reserve.first().map(|&group| core.layout().die(group));
            let Some(group) = allocation::take_log_group(core, left, other) else { return };
            self.reserve.push(group);
        }
    }

    /// Program nothing more in the newest pair.
    pub(crate) fn seal(&mut self, layout: &Layout) {
        self.program = layout.programs;
    }

    /// Release the `count` oldest pairs, because newer pages say all that they say: they are to be erased.
    pub(crate) fn release_oldest(&mut self, core: &mut Core, count: usize) {
        let groups: Vec<BlockGroup> = self.pairs.drain(..count).flat_map(|pair| pair.0).collect();
        // A failed die erases nothing.
        let is_there = |group: &BlockGroup| !core.is_failed(core.layout().die(*group));
        let groups: Vec<BlockGroup> = groups.into_iter().filter(is_there).collect();
        groups.into_iter().for_each(|group| allocation::release_metadata_group(core, group, self.kind.cause()));
    }

    // Its programs.

    /// Number of copies that the next program will have.
    pub(crate) fn copies(&self) -> u64 {
        self.pairs.back().map_or(0, |pair| pair.0.len() as u64)
    }

    /// True if a copy of a program is under way, or to be ordered.
    #[inline]
    pub(crate) fn is_busy(&self) -> bool {
        self.to_order + self.under_way > 0
    }

    /// Bytes of a program unit, for the writer to fill in before the first copy is ordered.
    pub(crate) fn image_mut(&mut self) -> &mut [u8] {
        &mut self.image
    }

    /// The bytes of part `unit` of the program ordered last, of units of `bytes` bytes.
    pub(crate) fn bytes(&self, unit: u32, bytes: usize) -> &[u8] {
        &self.image[unit as usize * bytes..][..bytes]
    }

    /// Order the next copy: of the program under way, or the first of a new one.
    pub(crate) fn issue(&mut self, core: &mut Core) -> Operation {
        let group = self.next(core.layout()).expect("the writer has looked for room");
        if !self.is_busy() {
            self.to_order = self.pairs.back().expect("it has room").0.len();
            (self.program, self.has_failed) = (self.program + 1, false);
        }
        self.to_order -= 1;
        self.under_way += 1;
        core.issue_metadata(self.kind, group, self.program - 1)
    }

    /// End a copy of the program under way, in `group`. Returns whether all copies have succeeded, once all have ended. Where one has failed, the pair takes
    /// no more; what is whole in it stays readable until it is let go.
    pub(crate) fn ended(&mut self, core: &mut Core, good: bool, group: BlockGroup) -> Option<bool> {
        self.under_way -= 1;
        if !good {
            self.has_failed = true;
            core.groups_mut().condemn(group);
        }
        // The group that a copy is still to be ordered for may be on a die that has failed meanwhile.
        let is_gone = |group: BlockGroup| core.is_failed(core.layout().die(group));
        if self.to_order > 0 && self.next(core.layout()).is_some_and(is_gone) {
            self.to_order = 0;
        }
        if self.is_busy() {
            return None;
        }
        // Its copy may have ended before its die failed.
        if self.has_failed || self.pairs.back().is_some_and(|pair| pair.0.iter().copied().any(is_gone)) {
            self.seal(core.layout());
        }
        Some(!self.has_failed)
    }

    // When there is no room.

    /// True if nothing can be written any more.
    pub(crate) fn is_stuck(&self) -> bool {
        self.is_stuck
    }

    /// Give up: nothing will be written any more.
    pub(crate) fn set_stuck(&mut self) {
        self.is_stuck = true;
    }
}
