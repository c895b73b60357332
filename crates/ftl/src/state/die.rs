//! State of one die: its queues, its block groups, the victim it is emptying, the program it is doing.

use std::collections::VecDeque;

use wordline_flash::Stop;
use wordline_units::{Cause, Nanos, OpTag, Priority};

use crate::state::batch::Programs;
use crate::state::layout::{BlockGroup, Layout};
use crate::state::reads::ReadQueue;
use crate::state::rewrites::{Rewrite, Rewrites};
use crate::state::spare_blocks::SpareBlocks;
use crate::state::stops::{Busy, Steps, Stops};
use crate::state::wordline_order::{Open, WordlineOrder};
use crate::state::work::{Activity, Asked, Holdings, Job, Moved, Stream};

/// State of one die. The size of this type is a power of two, so that the address of a die's entry is one shift: each operation does a dozen of them.
#[derive(Clone, Debug)]
#[repr(align(128))]
pub(crate) struct Die {
    activity: Activity,
    reads: ReadQueue,
    free: VecDeque<BlockGroup>,
    /// Open groups of each stream.
    open: [Vec<Open>; 2],
    job: Option<Job>,
    moved: VecDeque<Moved>,
    moved_cause: Cause,
    /// Reads of victims whose data has not arrived yet.
    moves_under_way: u32,
    /// Groups in which a program failed and that are yet to be emptied, each with the offset up to which it was programmed.
    failed: Vec<(BlockGroup, u32)>,
    /// Groups to be erased, each with the cause for which it was emptied.
    erasable: Vec<(BlockGroup, Cause)>,
    /// Groups that were read to their end and whose last units are not programmed elsewhere yet, each with its cause.
    awaiting_last_units: Vec<(BlockGroup, Cause)>,
    /// Apart from the rest: most drives seldom look at it.
    rewrites: Box<Rewrites>,
    /// True if rewrites are requested.
    has_rewrites: bool,
    /// Instant from which on a rewrite takes turns with reads.
    pressed_from: Nanos,
    /// Request to collect a victim beyond what space demands.
    extra_victim: Option<Asked>,
    /// True if the victim that is begun is an extra one.
    is_extra: bool,
    /// Apart from the rest: most drives never look at it.
    stops: Box<Stops>,
    /// True if the operation under way was noted in `stops`.
    is_noted: bool,
    /// Program that the die is doing, and the one that it does next.
    programs: Programs,
    /// True if the last attempt at GC found nothing to collect.
    gc_stalled: bool,
    /// Credit that GC has earned for the host, as the scheduler counts it.
    credit: i32,
    /// Number of valid units of the present victim, or of the last one, when GC of it began.
    victim_valid: u32,
    /// Stale units of the victims since a program of moved data was last padded.
    stale_collected: u32,
    /// Count of host changes at which padding used up all the space that victims gave; `None`: it did not.
    gc_pays_from: Option<u64>,
    spare_blocks: Box<SpareBlocks>,
}

impl Die {
    /// Creates a die with these free groups and spare blocks.
    pub(crate) fn new(free: VecDeque<BlockGroup>, spares: [Vec<u16>; 4]) -> Die {
        Die {
            activity: Activity::Free,
            reads: ReadQueue::new(),
            free,
            open: [Vec::new(), Vec::new()],
            job: None,
            moved: VecDeque::new(),
            moved_cause: Cause::Gc,
            moves_under_way: 0,
            failed: Vec::new(),
            erasable: Vec::new(),
            awaiting_last_units: Vec::new(),
            rewrites: Box::new(Rewrites::new()),
            has_rewrites: false,
            pressed_from: Nanos::MAX,
            extra_victim: None,
            is_extra: false,
            stops: Box::new(Stops::new()),
            is_noted: false,
            programs: Programs::new(),
            gc_stalled: false,
            credit: 0,
            victim_valid: 0,
            stale_collected: 0,
            gc_pays_from: None,
            spare_blocks: Box::new(SpareBlocks::new(spares)),
        }
    }

    /// Leave service: everything but the operation under way, the reads that wait and the stops is forgotten.
    pub(crate) fn leave_service(&mut self) {
        self.free.clear();
        self.open.iter_mut().for_each(Vec::clear);
        self.job = None;
        self.moved.clear();
        self.failed.clear();
        self.erasable.clear();
        self.awaiting_last_units.clear();
        self.change_rewrites(Rewrites::clear);
        self.extra_victim = None;
        self.gc_stalled = false;
        self.gc_pays_from = None;
        self.spare_blocks.clear();
    }

    // What it is doing.

    #[inline]
    pub(crate) fn activity(&self) -> Activity {
        self.activity
    }

    /// Begin an operation. `is_long`: a program, an erase or a copyback, which may be suspended.
    #[inline]
    pub(crate) fn begin(&mut self, cause: Cause, is_long: bool) {
        self.programs.note(is_long);
        self.activity = match (self.activity, is_long) {
            (Activity::Suspended(of), _) => Activity::Suspended(of),
            (_, true) => Activity::Working(cause),
            (_, false) => Activity::Busy,
        };
    }

    /// Note that the die has ended its operation. Returns true if it can take another: it goes on by itself with a program that it was given before.
    #[inline]
    pub(crate) fn ready(&mut self) -> bool {
        if self.programs.has_next() {
            return false;
        }
        if std::mem::take(&mut self.is_noted) {
            self.stops.ended();
        }
        self.activity = match self.activity {
            // Ended before the suspend took hold.
            Activity::Suspending(_) | Activity::Free | Activity::Busy | Activity::Working(_) => Activity::Free,
            Activity::Suspended(cause) => Activity::Suspended(cause),
        };
        true
    }

    /// Note the operation `tag`, which a technique may want to stop and which begins at `now`.
    pub(crate) fn note_busy(&mut self, now: Nanos, tag: OpTag, busy: Busy) {
        self.is_noted = true;
        self.stops.note(now, tag, busy);
    }

    /// Note that the program or erase under way is to be suspended in the way of `stop`, for a read of this `priority`. Returns false if that has been ordered
    /// already, or a harder stop.
    pub(crate) fn suspend(&mut self, stop: Stop, priority: Priority) -> bool {
        match self.activity {
            Activity::Working(cause) => self.activity = Activity::Suspending(cause),
            Activity::Suspending(_) if !self.stops.has_ordered(stop) => {}
            Activity::Suspending(_) | Activity::Suspended(_) | Activity::Free | Activity::Busy => return false,
        }
        self.stops.order(stop, priority);
        true
    }

    /// Withdraw the stop, which the die cannot do now.
    pub(crate) fn refuse_stop(&mut self) {
        if !self.stops.refuse_abort()
            && let Activity::Suspending(cause) = self.activity
        {
            self.activity = Activity::Working(cause);
        }
    }

    /// Note that the program or erase is suspended at `now`, in the way of `how`, after it has waited since the order. Returns false if no suspend was ordered.
    pub(crate) fn hold(&mut self, now: Nanos, how: (Stop, Nanos), steps: &Steps) -> bool {
        let Activity::Suspending(cause) = self.activity else { return false };
        self.stops.hold(now, how, steps);
        self.activity = Activity::Suspended(cause);
        true
    }

    /// Note that the read under way has left the die unfinished. Returns its tag and the priority with which it waited; `None`: there is none that could.
    pub(crate) fn leave(&mut self, how: Stop) -> Option<(OpTag, Priority)> {
        let left = self.stops.leave(how)?;
        if self.activity == Activity::Busy {
            self.activity = Activity::Free;
        }
        Some(left)
    }

    /// Note that the suspended program or erase goes on at `now`.
    pub(crate) fn resume(&mut self, now: Nanos, steps: &Steps) {
        if let Activity::Suspended(cause) = self.activity {
            self.stops.resume(now, steps);
            self.activity = Activity::Working(cause);
        }
    }

    /// Stops of the die.
    #[inline]
    pub(crate) fn stops(&self) -> &Stops {
        &self.stops
    }

    #[inline]
    pub(crate) fn stops_mut(&mut self) -> &mut Stops {
        &mut self.stops
    }

    /// Queue of reads that wait for the die.
    #[inline]
    pub(crate) fn reads(&self) -> &ReadQueue {
        &self.reads
    }

    #[inline]
    pub(crate) fn reads_mut(&mut self) -> &mut ReadQueue {
        &mut self.reads
    }

    // Free groups.

    /// Number of free groups.
    #[inline]
    pub(crate) fn free_count(&self) -> u32 {
        self.free.len() as u32
    }

    /// Free groups, longest free first.
    pub(crate) fn free_groups(&self) -> impl ExactSizeIterator<Item = BlockGroup> + '_ {
        self.free.iter().copied()
    }

    /// Add `group` to the free groups.
    pub(crate) fn give_free(&mut self, group: BlockGroup) {
        self.free.push_back(group);
    }

    /// Free group at `place` of [`Die::free_groups`].
    pub(crate) fn free_group(&self, place: usize) -> BlockGroup {
        self.free[place]
    }

    /// Take the group at `place` of [`Die::free_groups`].
    pub(crate) fn take_free_at(&mut self, place: usize) -> Option<BlockGroup> {
        self.free.remove(place)
    }

    /// Take the group that was given last.
    pub(crate) fn take_last_free(&mut self) -> Option<BlockGroup> {
        self.free.pop_back()
    }

    /// True if fewer than `groups` groups are free, those about to be erased counted as free.
    #[inline]
    pub(crate) fn is_short(&self, groups: u32) -> bool {
        ((self.free.len() + self.erasable.len()) as u32) < groups
    }

    /// Spare blocks of the die.
    pub(crate) fn spare_blocks(&self) -> &SpareBlocks {
        &self.spare_blocks
    }

    pub(crate) fn spare_blocks_mut(&mut self) -> &mut SpareBlocks {
        &mut self.spare_blocks
    }

    /// Clear the lists of free groups and spare blocks, before recovery fills them.
    pub(crate) fn forget_free(&mut self) {
        self.free.clear();
        self.spare_blocks.clear();
    }

    // Groups being written.

    /// The groups open for `stream`.
    #[inline]
    pub(crate) fn open(&self, stream: Stream) -> &[Open] {
        &self.open[stream as usize]
    }

    /// All open groups.
    #[inline]
    pub(crate) fn all_open(&self) -> impl Iterator<Item = &Open> {
        self.open.iter().flatten()
    }

    /// Open group `group`, if it is open.
    pub(crate) fn open_at(&self, group: BlockGroup) -> Option<Open> {
        self.all_open().find(|open| open.group == group).copied()
    }

    /// Add `open` to the open groups of `stream`. Returns its place among them.
    pub(crate) fn push_open(&mut self, stream: Stream, open: Open) -> usize {
        let all = &mut self.open[stream as usize];
        all.push(open);
        all.len() - 1
    }

    /// Mark program unit `program` of the open group at `at` as ordered. Returns the group, and true if that was its last unit: the group is then open no
    /// longer.
    #[inline]
    pub(crate) fn issue_program(&mut self, stream: Stream, at: usize, program: u32, layout: &Layout) -> (BlockGroup, bool) {
        let all = &mut self.open[stream as usize];
        let open = &mut all[at];
        open.order(program, layout);
        let (group, closes) = (open.group, open.is_full(layout));
        if closes {
            all.remove(at);
        }
        (group, closes)
    }

    /// Pass over the program units of the open `group` that come next by `order` and that `is_spared` names. Returns true if no other is left in it: it is
    /// then open no longer.
    pub(crate) fn pass_open(&mut self, group: BlockGroup, order: WordlineOrder, layout: &Layout, is_spared: impl Fn(u32) -> bool) -> bool {
        for (stream, all) in [Stream::Host, Stream::Moved].into_iter().zip(&mut self.open) {
            let Some(at) = all.iter().position(|open| open.group == group) else { continue };
            // Moved data goes horizontal first, whatever the order of the host's.
            let order = if stream == Stream::Host { order } else { WordlineOrder::HorizontalFirst };
            all[at].pass(order, layout, is_spared);
            let is_full = all[at].is_full(layout);
            if is_full {
                all.remove(at);
            }
            return is_full;
        }
        false
    }

    /// Remove `group` from the open groups, if it is among them.
    pub(crate) fn take_open(&mut self, group: BlockGroup) -> Option<Open> {
        self.open.iter_mut().find_map(|open| {
            let at = open.iter().position(|open| open.group == group)?;
            Some(open.remove(at))
        })
    }

    /// Skip the program units of `group` before `end` that are not programmed yet, horizontal first. Returns them, and true if the group has become full by
    /// it. `None`: there are none.
    pub(crate) fn skip_open(&mut self, group: BlockGroup, end: u32, layout: &Layout) -> Option<(std::ops::Range<u32>, bool)> {
        let stream = self.open.iter_mut().find(|open| open.iter().any(|open| open.group == group))?;
        let at = stream.iter().position(|open| open.group == group)?;
        let open = &mut stream[at];
        // Where a program fills whole wordlines, and they go in any order, there is no such rest.
        if !open.is_prefix(layout) || open.ordered() >= end {
            return None;
        }
        let skipped = open.ordered()..end;
        open.skip_to(end, layout);
        let is_full = open.is_full(layout);
        if is_full {
            stream.remove(at);
        }
        Some((skipped, is_full))
    }

    /// Set the free and the open groups of a drive that was constructed.
    pub(crate) fn lay_out(&mut self, free: VecDeque<BlockGroup>, open: [Vec<Open>; 2]) {
        (self.free, self.open) = (free, open);
    }

    // Groups that failed or are emptied.

    /// Add `group`, which was programmed up to `end`, to the failed groups that are to be emptied.
    pub(crate) fn fail(&mut self, group: BlockGroup, end: u32) {
        // It may have been given up while its last program was under way.
        self.failed.retain(|&(failed, _)| failed != group);
        self.failed.push((group, end));
    }

    /// Offset up to which `group` was programmed, if it is a failed group.
    pub(crate) fn failed_end(&self, group: BlockGroup) -> Option<u32> {
        self.failed.iter().find(|&&(failed, _)| failed == group).map(|&(_, end)| end)
    }

    /// True if a failed group is to be emptied.
    pub(crate) fn has_failed(&self) -> bool {
        !self.failed.is_empty()
    }

    /// Take a failed group, with the offset up to which it was programmed.
    pub(crate) fn take_failed(&mut self) -> Option<(BlockGroup, u32)> {
        self.failed.pop()
    }

    /// Groups to be erased, each with the cause for which it was emptied.
    #[inline]
    pub(crate) fn erasable(&self) -> &[(BlockGroup, Cause)] {
        &self.erasable
    }

    /// Add `group` to the groups to be erased.
    pub(crate) fn give_erasable(&mut self, group: BlockGroup, cause: Cause) {
        self.erasable.push((group, cause));
    }

    /// Take the group at `at` of [`Die::erasable`].
    pub(crate) fn take_erasable(&mut self, at: usize) -> (BlockGroup, Cause) {
        self.erasable.remove(at)
    }

    /// Number of groups whose last units are not programmed elsewhere yet.
    pub(crate) fn awaiting_last_units(&self) -> usize {
        self.awaiting_last_units.len()
    }

    /// Move `group` from the draining groups to those to be erased: its last unit has become stale.
    pub(crate) fn emptied(&mut self, group: BlockGroup) {
        let at = self.awaiting_last_units.iter().position(|&(draining, _)| draining == group).expect("a drained group was a job before");
        let emptied = self.awaiting_last_units.swap_remove(at);
        self.erasable.push(emptied);
    }

    /// Victim that is being read, and how far.
    #[inline]
    pub(crate) fn job(&self) -> Option<Job> {
        self.job
    }

    /// Begin to empty `victim`, which is programmed up to `end` and of which `valid` units are valid and `spared` units took no data.
    pub(crate) fn begin_job(&mut self, victim: BlockGroup, cause: Cause, end: u32, (valid, spared): (u32, u32)) {
        assert_eq!(self.job, None);
        self.job = Some(Job { victim, cause, cursor: 0, end });
        self.is_extra = false;
        self.stale_collected = self.stale_collected.saturating_add(end.saturating_sub(valid + spared));
        self.moved_cause = cause;
        self.victim_valid = valid;
    }

    /// Set the offset up to which the victim has been read or is being read.
    #[inline]
    pub(crate) fn advance_job(&mut self, cursor: u32) {
        if let Some(job) = &mut self.job {
            job.cursor = cursor;
        }
    }

    /// End the reading of the victim. `is_empty`: none of its units is still to be programmed elsewhere.
    pub(crate) fn end_job(&mut self, is_empty: bool) {
        let job = self.job.take().expect("it has a victim");
        if is_empty { &mut self.erasable } else { &mut self.awaiting_last_units }.push((job.victim, job.cause));
    }

    /// Number of valid units of the present victim, or of the last one, when GC of it began.
    #[inline]
    pub(crate) fn victim_valid(&self) -> u32 {
        self.victim_valid
    }

    /// Credit that GC has earned for the host.
    #[inline]
    pub(crate) fn credit(&self) -> i32 {
        self.credit
    }

    #[inline]
    pub(crate) fn set_credit(&mut self, credit: i32) {
        self.credit = credit;
    }

    /// True if a group is being emptied, waits for its erase, or has failed.
    #[inline]
    pub(crate) fn is_emptying(&self) -> bool {
        self.job.is_some() || !self.erasable.is_empty() || !self.failed.is_empty()
    }

    /// Note that the victim that is begun was asked for beyond what space demands.
    pub(crate) fn mark_extra(&mut self) {
        self.is_extra = self.job.is_some();
    }

    /// True if the die empties a victim that was asked for beyond what space demands.
    #[inline]
    pub(crate) fn empties_extra(&self) -> bool {
        self.is_extra && self.job.is_some()
    }

    /// True if a rewrite or a further victim is requested, or moved units are still to be programmed.
    #[inline]
    pub(crate) fn has_wishes(&self) -> bool {
        self.extra_victim.is_some() || self.has_rewrites || !self.moved.is_empty()
    }

    // What is to be rewritten.

    /// Requested rewrites.
    pub(crate) fn rewrites(&self) -> &Rewrites {
        &self.rewrites
    }

    /// Change the requested rewrites.
    pub(crate) fn change_rewrites<R>(&mut self, change: impl FnOnce(&mut Rewrites) -> R) -> R {
        let changed = change(&mut self.rewrites);
        (self.has_rewrites, self.pressed_from) = (!self.rewrites.is_empty(), self.rewrites.pressed_from());
        changed
    }

    /// True if a rewrite whose deadline has passed takes turns with reads.
    #[inline]
    pub(crate) fn is_pressed(&mut self, now: Nanos) -> bool {
        self.pressed_from <= now && self.has_rewriting()
    }

    /// True if something of a rewrite is left to do.
    #[cold]
    fn has_rewriting(&mut self) -> bool {
        if self.job.is_none() && self.moved.is_empty() && self.awaiting_last_units.is_empty() && self.erasable.is_empty() {
            self.change_rewrites(Rewrites::end_job);
        }
        self.pressed_from != Nanos::MAX
    }

    /// Request to collect a victim beyond what space demands.
    pub(crate) fn extra_victim(&self) -> Option<Asked> {
        self.extra_victim
    }

    /// Request that a victim is collected beyond what space demands.
    pub(crate) fn ask_extra_victim(&mut self, asked: Asked) {
        match &mut self.extra_victim {
            Some(known) => known.due = known.due.min(asked.due),
            none => *none = Some(asked),
        }
    }

    /// Remove the request for a further victim, which is begun.
    pub(crate) fn clear_extra_victim(&mut self) {
        self.extra_victim = None;
    }

    // Units on their way.

    /// Units read from victims that wait to be programmed.
    #[inline]
    pub(crate) fn moved(&self) -> &VecDeque<Moved> {
        &self.moved
    }

    /// Add a unit read from a victim to those that wait to be programmed.
    #[inline]
    pub(crate) fn gather(&mut self, moved: Moved) {
        self.moved.push_back(moved);
    }

    /// Put a unit whose program failed before all others that wait.
    pub(crate) fn gather_again(&mut self, moved: Moved) {
        self.moved.push_front(moved);
    }

    /// Drop the waiting units that `keep` refuses.
    pub(crate) fn retain_moved(&mut self, keep: impl FnMut(&Moved) -> bool) {
        self.moved.retain(keep);
    }

    /// Reads of victims whose data has not arrived yet.
    #[inline]
    pub(crate) fn moves_under_way(&self) -> u32 {
        self.moves_under_way
    }

    #[inline]
    pub(crate) fn begin_move(&mut self) {
        self.moves_under_way += 1;
    }

    #[inline]
    pub(crate) fn end_move(&mut self) {
        self.moves_under_way -= 1;
    }

    /// Cause for which the gathered units were moved.
    #[inline]
    pub(crate) fn moved_cause(&self) -> Cause {
        self.moved_cause
    }

    pub(crate) fn set_moved_cause(&mut self, cause: Cause) {
        self.moved_cause = cause;
    }

    // GC that leads to nothing.

    /// Set whether the last attempt at GC found nothing to collect.
    pub(crate) fn set_gc_stalled(&mut self, is_gc_stalled: bool) {
        self.gc_stalled = is_gc_stalled;
    }

    /// True if the last attempt at GC found nothing to collect. The mark is cleared, so that GC is tried again.
    pub(crate) fn take_gc_stalled(&mut self) -> bool {
        std::mem::take(&mut self.gc_stalled)
    }

    /// Count of host changes at which GC last gained no space.
    pub(crate) fn take_gc_pays_from(&mut self) -> Option<u64> {
        self.gc_pays_from.take()
    }

    pub(crate) fn set_gc_pays_from(&mut self, changes: u64) {
        self.gc_pays_from = Some(changes);
    }

    // The program that it is doing.

    #[inline]
    pub(crate) fn programs(&self) -> &Programs {
        &self.programs
    }

    #[inline]
    pub(crate) fn programs_mut(&mut self) -> &mut Programs {
        &mut self.programs
    }

    /// Fill a program with up to `units` moved units, and padding for the rest. `changes`: the count of host changes.
    pub(crate) fn batch_moved(&mut self, units: u32, changes: u64) {
        let padding = units.saturating_sub(self.moved.len() as u32);
        if padding > 0 {
            // Where this takes as much as the victims have given, the next would do so too, for ever, until the host changes what is valid.
            self.gc_pays_from = (std::mem::take(&mut self.stale_collected) <= padding).then_some(changes);
        }
        self.programs.now_mut().fill_moved(units, &mut self.moved);
    }

    // As plain data.

    /// Image of the die. `changes`: the count of host changes.
    pub(crate) fn image(&self, changes: u64) -> Holdings {
        Holdings {
            free: self.free.iter().copied().collect(),
            open: self.open.clone(),
            job: self.job,
            moved_cause: self.moved_cause,
            failed: self.failed.clone(),
            erasable: self.erasable.clone(),
            rewrite_queue: self
                .rewrites
                .in_order()
                .into_iter()
                .map(|Rewrite { group, cause, erases, .. }| (group, cause, erases))
                .collect(),
            extra_victim: u32::from(self.extra_victim.is_some()),
            gc_stalled: self.gc_stalled,
            stale_collected: self.stale_collected,
            gc_pays_from: self.gc_pays_from == Some(changes),
            spares: self.spare_blocks.of_plane().clone(),
            read_turn: self.reads.turn(),
        }
    }

    /// Restores a die from its image. A restored core counts host changes from zero.
    pub(crate) fn restored(holdings: Holdings) -> Die {
        let Holdings {
            free,
            open,
            job,
            moved_cause,
            failed,
            erasable,
            rewrite_queue,
            extra_victim,
            gc_stalled,
            stale_collected,
            gc_pays_from,
            spares,
            read_turn,
        } = holdings;
        let mut die = Die {
            open,
            job,
            moved_cause,
            failed,
            erasable,
            extra_victim: (extra_victim > 0).then_some(Asked::BY_CORE),
            gc_stalled,
            stale_collected,
            gc_pays_from: gc_pays_from.then_some(0),
            reads: ReadQueue::with_turn(read_turn),
            ..Die::new(free.into(), spares)
        };
        for (group, cause, erases) in rewrite_queue {
            die.change_rewrites(|rewrites| rewrites.ask_again(Rewrite::by_core(group, cause, erases, Nanos::ZERO)));
        }
        die
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_of_an_entry_is_a_power_of_two() {
        assert!(size_of::<Die>().is_power_of_two(), "{} bytes", size_of::<Die>());
    }
}
