//! State of one die: its queues, its block groups, the victim it is emptying, the program it is doing.

use std::collections::VecDeque;

use wordline_units::{Cause, DieId};

use crate::state::batch::Batch;
use crate::state::layout::{Group, Layout};
use crate::state::order::Open;
use crate::state::reads::ReadQueue;
use crate::state::work::{Activity, Asked, Busy, Entry, Holdings, Job, Moved, Stream, Wanted};

/// State of one die. The size of this type is a power of two, so that the address of a die's entry is one shift: each operation does a dozen of them.
#[derive(Clone, Debug)]
#[repr(align(128))]
pub(crate) struct Die {
    activity: Activity,
    reads: ReadQueue,
    free: VecDeque<Group>,
    /// Open groups of each stream.
    open: [Vec<Open>; 2],
    job: Option<Job>,
    moved: VecDeque<Moved>,
    moved_cause: Cause,
    /// Reads of victims whose data has not arrived yet.
    moves_under_way: u32,
    /// Groups in which a program failed and that are yet to be emptied, each with the offset up to which it was programmed.
    failed: Vec<(Group, u32)>,
    /// Groups to be erased, each with the cause for which it was emptied.
    erasable: Vec<(Group, Cause)>,
    /// Groups that were read to their end and whose last units are not programmed elsewhere yet, each with its cause.
    draining: Vec<(Group, Cause)>,
    /// Rewrites requested and not begun, in the order of their requests.
    wanted: VecDeque<Wanted>,
    /// Request to reclaim a victim beyond what space demands.
    extra: Option<Asked>,
    /// Program or erase that the die is doing or that is suspended.
    busy: Busy,
    /// Reads served since the last suspend.
    served: u16,
    /// Program that the die is doing.
    batch: Batch,
    /// True if the last attempt at reclaim found nothing to reclaim.
    starved: bool,
    /// Credit that reclaim has earned for the host, as the scheduler counts it.
    credit: i32,
    /// Number of valid units of the present victim, or of the last one, when reclaim of it began.
    victim_valid: u32,
    /// Stale units of the victims since a program of moved data was last padded.
    won: u32,
    /// Count of host changes at which padding used up all the space that victims gave; `None`: it did not.
    fruitless: Option<u64>,
    /// Spare blocks of each plane.
    spares: Box<[Vec<u16>; 4]>,
}

impl Die {
    /// Creates a die with these free groups and spare blocks.
    pub(crate) fn new(free: VecDeque<Group>, spares: [Vec<u16>; 4]) -> Die {
        Die {
            activity: Activity::Free,
            reads: ReadQueue::new(),
            free,
            open: [Vec::new(), Vec::new()],
            job: None,
            moved: VecDeque::new(),
            moved_cause: Cause::Reclaim,
            moves_under_way: 0,
            failed: Vec::new(),
            erasable: Vec::new(),
            draining: Vec::new(),
            wanted: VecDeque::new(),
            extra: None,
            busy: Busy { die: DieId(0), is_erase: false, cause: Cause::Host, group: Group(0), stops: 0 },
            served: 0,
            batch: Batch::new(),
            starved: false,
            credit: 0,
            victim_valid: 0,
            won: 0,
            fruitless: None,
            spares: Box::new(spares),
        }
    }

    // What it is doing.

    #[inline]
    pub(crate) fn activity(&self) -> Activity {
        self.activity
    }

    /// Begin an operation. `is_long`: a program or an erase, which may be suspended.
    #[inline]
    pub(crate) fn begin(&mut self, cause: Cause, is_long: bool) {
        self.activity = match (self.activity, is_long) {
            (Activity::Suspended(of), _) => Activity::Suspended(of),
            (_, true) => Activity::Working(cause),
            (_, false) => Activity::Busy,
        };
    }

    /// Note that the die can take an operation.
    #[inline]
    pub(crate) fn ready(&mut self) {
        self.activity = match self.activity {
            // Ended before the suspend took hold.
            Activity::Suspending(_) | Activity::Free | Activity::Busy | Activity::Working(_) => Activity::Free,
            Activity::Suspended(cause) => Activity::Suspended(cause),
        };
    }

    /// Note that the program or erase under way is to be suspended.
    pub(crate) fn suspend(&mut self) {
        if let Activity::Working(cause) = self.activity {
            self.activity = Activity::Suspending(cause);
        }
    }

    /// Withdraw the suspend, which the die cannot do now.
    pub(crate) fn refuse_suspend(&mut self) {
        if let Activity::Suspending(cause) = self.activity {
            self.activity = Activity::Working(cause);
        }
    }

    /// Note that the program or erase is suspended. Returns false if no suspend was ordered.
    pub(crate) fn hold(&mut self) -> bool {
        let Activity::Suspending(cause) = self.activity else { return false };
        self.busy.stops = self.busy.stops.saturating_add(1);
        self.served = 0;
        self.activity = Activity::Suspended(cause);
        true
    }

    /// Note that the suspended program or erase goes on.
    pub(crate) fn resume(&mut self) {
        if let Activity::Suspended(cause) = self.activity {
            self.activity = Activity::Working(cause);
        }
    }

    /// Program or erase that the die is doing or that is suspended.
    pub(crate) fn busy(&self) -> Busy {
        self.busy
    }

    /// Note a program or erase that a technique may want to stop.
    pub(crate) fn note_busy(&mut self, busy: Busy) {
        self.busy = busy;
    }

    /// Reads served since the last suspend.
    pub(crate) fn served(&self) -> u16 {
        self.served
    }

    /// Count one more read that is served while a program or erase is suspended.
    pub(crate) fn serve(&mut self) {
        self.served = self.served.saturating_add(1);
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
    pub(crate) fn free_groups(&self) -> impl ExactSizeIterator<Item = Group> + '_ {
        self.free.iter().copied()
    }

    /// Add `group` to the free groups.
    pub(crate) fn give_free(&mut self, group: Group) {
        self.free.push_back(group);
    }

    /// Free group at `place` of [`Die::free_groups`].
    pub(crate) fn free_group(&self, place: usize) -> Group {
        self.free[place]
    }

    /// Take the group at `place` of [`Die::free_groups`].
    pub(crate) fn take_free_at(&mut self, place: usize) -> Option<Group> {
        self.free.remove(place)
    }

    /// Take the group that was given last.
    pub(crate) fn take_last_free(&mut self) -> Option<Group> {
        self.free.pop_back()
    }

    /// True if fewer than `groups` groups are free, those about to be erased counted as free.
    #[inline]
    pub(crate) fn is_short(&self, groups: u32) -> bool {
        ((self.free.len() + self.erasable.len()) as u32) < groups
    }

    /// Spare blocks of each plane.
    pub(crate) fn spares(&self) -> &[Vec<u16>; 4] {
        &self.spares
    }

    /// Take one spare block of each of `planes` planes, if every one has one left.
    pub(crate) fn take_spares(&mut self, planes: usize) -> Option<[u16; 4]> {
        let spares = &mut self.spares[..planes];
        spares.iter().all(|spares| !spares.is_empty()).then(|| {
            let mut blocks = [0; 4];
            for (plane, spares) in spares.iter_mut().enumerate() {
                blocks[plane] = spares.pop().expect("not empty");
            }
            blocks
        })
    }

    /// Clear the lists of free groups and spare blocks, before recovery fills them.
    pub(crate) fn forget_free(&mut self) {
        self.free.clear();
        self.spares.iter_mut().for_each(Vec::clear);
    }

    /// Add one block of each plane to the spare blocks.
    pub(crate) fn give_spares(&mut self, blocks: &[u16]) {
        self.spares.iter_mut().zip(blocks).for_each(|(spares, &block)| spares.push(block));
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
    pub(crate) fn open_at(&self, group: Group) -> Option<Open> {
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
    pub(crate) fn order_program(&mut self, stream: Stream, at: usize, program: u32, layout: &Layout) -> (Group, bool) {
        let all = &mut self.open[stream as usize];
        let open = &mut all[at];
        open.order(program, layout);
        let (group, closes) = (open.group, open.is_full(layout));
        if closes {
            all.remove(at);
        }
        (group, closes)
    }

    /// Remove `group` from the open groups, if it is among them.
    pub(crate) fn take_open(&mut self, group: Group) -> Option<Open> {
        self.open.iter_mut().find_map(|open| {
            let at = open.iter().position(|open| open.group == group)?;
            Some(open.remove(at))
        })
    }

    /// Skip the program units of `group` before `end` that are not programmed yet, horizontal first. Returns them, and true if the group has become full by
    /// it. `None`: there are none.
    pub(crate) fn skip_open(&mut self, group: Group, end: u32, layout: &Layout) -> Option<(std::ops::Range<u32>, bool)> {
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
    pub(crate) fn lay_out(&mut self, free: VecDeque<Group>, open: [Vec<Open>; 2]) {
        (self.free, self.open) = (free, open);
    }

    // Groups that failed or are emptied.

    /// Add `group`, which was programmed up to `end`, to the failed groups that are to be emptied.
    pub(crate) fn fail(&mut self, group: Group, end: u32) {
        // It may have been given up while its last program was under way.
        self.failed.retain(|&(failed, _)| failed != group);
        self.failed.push((group, end));
    }

    /// Offset up to which `group` was programmed, if it is a failed group.
    pub(crate) fn failed_end(&self, group: Group) -> Option<u32> {
        self.failed.iter().find(|&&(failed, _)| failed == group).map(|&(_, end)| end)
    }

    /// Take a failed group, with the offset up to which it was programmed.
    pub(crate) fn take_failed(&mut self) -> Option<(Group, u32)> {
        self.failed.pop()
    }

    /// Groups to be erased, each with the cause for which it was emptied.
    #[inline]
    pub(crate) fn erasable(&self) -> &[(Group, Cause)] {
        &self.erasable
    }

    /// Add `group` to the groups to be erased.
    pub(crate) fn give_erasable(&mut self, group: Group, cause: Cause) {
        self.erasable.push((group, cause));
    }

    /// Take the group at `at` of [`Die::erasable`].
    pub(crate) fn take_erasable(&mut self, at: usize) -> (Group, Cause) {
        self.erasable.remove(at)
    }

    /// Number of groups whose last units are not programmed elsewhere yet.
    pub(crate) fn draining(&self) -> usize {
        self.draining.len()
    }

    /// Move `group` from the draining groups to those to be erased: its last unit has become stale.
    pub(crate) fn emptied(&mut self, group: Group) {
        let at = self.draining.iter().position(|&(draining, _)| draining == group).expect("a drained group was a job before");
        let emptied = self.draining.swap_remove(at);
        self.erasable.push(emptied);
    }

    /// Victim that is being read, and how far.
    #[inline]
    pub(crate) fn job(&self) -> Option<Job> {
        self.job
    }

    /// Begin to empty `victim`, which holds `valid` units and is programmed up to `end`.
    pub(crate) fn begin_job(&mut self, victim: Group, cause: Cause, end: u32, valid: u32) {
        assert_eq!(self.job, None);
        self.job = Some(Job { victim, cause, cursor: 0, end });
        self.won = self.won.saturating_add(end - valid);
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
        if is_empty { &mut self.erasable } else { &mut self.draining }.push((job.victim, job.cause));
    }

    /// Number of valid units of the present victim, or of the last one, when reclaim of it began.
    #[inline]
    pub(crate) fn victim_valid(&self) -> u32 {
        self.victim_valid
    }

    /// Credit that reclaim has earned for the host.
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

    /// True if a rewrite or a further victim is requested, or moved units are still to be programmed.
    #[inline]
    pub(crate) fn has_wishes(&self) -> bool {
        self.extra.is_some() || !self.wanted.is_empty() || !self.moved.is_empty()
    }

    // What is to be rewritten.

    /// Rewrites requested and not begun.
    pub(crate) fn wanted(&self) -> impl Iterator<Item = Wanted> + '_ {
        self.wanted.iter().copied()
    }

    /// Requested rewrite at place `at`.
    pub(crate) fn wanted_at(&self, at: usize) -> Option<Wanted> {
        self.wanted.get(at).copied()
    }

    /// Remove the requested rewrite at place `at`, which is begun or needless.
    pub(crate) fn remove_wanted(&mut self, at: usize) {
        self.wanted.remove(at);
    }

    /// Request a rewrite after all others. If the group is requested already, the earlier of both deadlines counts. Returns true if the request is new.
    pub(crate) fn want(&mut self, wish: Wanted) -> bool {
        let known = self.wanted.iter_mut().find(|known| known.group == wish.group && known.erases == wish.erases);
        let is_new = known.is_none();
        match known {
            Some(known) => known.asked.due = known.asked.due.min(wish.asked.due),
            None => self.wanted.push_back(wish),
        }
        is_new
    }

    /// Request a rewrite after all others, even if the group is requested already.
    pub(crate) fn want_again(&mut self, wish: Wanted) {
        self.wanted.push_back(wish);
    }

    /// Request a rewrite before all others.
    pub(crate) fn want_first(&mut self, wish: Wanted) {
        self.wanted.push_front(wish);
    }

    /// Request to reclaim a victim beyond what space demands.
    pub(crate) fn extra(&self) -> Option<Asked> {
        self.extra
    }

    /// Request that a victim is reclaimed beyond what space demands.
    pub(crate) fn want_extra(&mut self, asked: Asked) {
        match &mut self.extra {
            Some(known) => known.due = known.due.min(asked.due),
            none => *none = Some(asked),
        }
    }

    /// Remove the request for a further victim, which is begun.
    pub(crate) fn clear_extra(&mut self) {
        self.extra = None;
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

    // Reclaim that leads to nothing.

    /// Set whether the last attempt at reclaim found nothing to reclaim.
    pub(crate) fn set_starved(&mut self, is_starved: bool) {
        self.starved = is_starved;
    }

    /// True if the last attempt at reclaim found nothing to reclaim. The mark is cleared, so that reclaim is tried again.
    pub(crate) fn take_starved(&mut self) -> bool {
        std::mem::take(&mut self.starved)
    }

    /// Count of host changes at which reclaim last gained no space.
    pub(crate) fn take_fruitless(&mut self) -> Option<u64> {
        self.fruitless.take()
    }

    pub(crate) fn set_fruitless(&mut self, changes: u64) {
        self.fruitless = Some(changes);
    }

    // The program that it is doing.

    #[inline]
    pub(crate) fn batch(&self) -> &Batch {
        &self.batch
    }

    #[inline]
    pub(crate) fn batch_mut(&mut self) -> &mut Batch {
        &mut self.batch
    }

    /// Fill a program with up to `units` moved units, and padding for the rest. `changes`: the count of host changes.
    pub(crate) fn batch_moved(&mut self, units: u32, changes: u64) {
        self.batch.begin();
        let padding = units.saturating_sub(self.moved.len() as u32);
        if padding > 0 {
            // Where this takes as much as the victims have given, the next would do so too, for ever, until the host changes what is valid.
            self.fruitless = (std::mem::take(&mut self.won) <= padding).then_some(changes);
        }
        for _ in 0..units {
            match self.moved.pop_front() {
                Some(moved) => self.batch.push(Entry::Moved(moved), moved.lpn),
                None => self.batch.push(Entry::Padding, u32::MAX),
            }
        }
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
            wanted: self.wanted.iter().map(|&Wanted { group, cause, erases, .. }| (group, cause, erases)).collect(),
            extra: u32::from(self.extra.is_some()),
            starved: self.starved,
            won: self.won,
            fruitless: self.fruitless == Some(changes),
            spares: (*self.spares).clone(),
            read_turn: self.reads.turn(),
        }
    }

    /// Restores a die from its image. A restored core counts host changes from zero.
    pub(crate) fn restored(holdings: Holdings) -> Die {
        let Holdings { free, open, job, moved_cause, failed, erasable, wanted, extra, starved, won, fruitless, spares, read_turn } =
            holdings;
        Die {
            open,
            job,
            moved_cause,
            failed,
            erasable,
            wanted: wanted.into_iter().map(|(group, cause, erases)| Wanted::by_core(group, cause, erases)).collect(),
            extra: (extra > 0).then_some(Asked::BY_CORE),
            starved,
            won,
            fruitless: fruitless.then_some(0),
            reads: ReadQueue::with_turn(read_turn),
            ..Die::new(free.into(), spares)
        }
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
