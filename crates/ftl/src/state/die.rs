//! What a core knows about one die: its queues, its block groups, the victim it is emptying, the program it is doing.

use std::collections::VecDeque;

use wordline_units::{Cause, DieId};

use crate::state::batch::Batch;
use crate::state::layout::{Group, Layout};
use crate::state::order::Open;
use crate::state::reads::ReadQueue;
use crate::state::work::{Activity, Asked, Busy, Entry, Holdings, Job, Moved, Stream, Wanted};

/// One die. Its size is a power of two, so that the way to a die's entry is one shift: there are a dozen of them in each operation.
#[derive(Clone, Debug)]
#[repr(align(128))]
pub(crate) struct Die {
    activity: Activity,
    reads: ReadQueue,
    free: VecDeque<Group>,
    /// Groups being written, for each stream.
    open: [Vec<Open>; 2],
    job: Option<Job>,
    moved: VecDeque<Moved>,
    moved_cause: Cause,
    /// Reads of victims whose data has not come yet.
    moves_under_way: u32,
    /// Groups in which a program failed, with how far they were programmed, yet to be emptied.
    failed: Vec<(Group, u32)>,
    /// Groups to be erased, and why they were emptied.
    erasable: Vec<(Group, Cause)>,
    /// Groups read to their end, with why, whose last units are still on their way elsewhere.
    draining: Vec<(Group, Cause)>,
    /// Rewrites asked for and not yet begun, in the order they were asked for.
    wanted: VecDeque<Wanted>,
    /// A victim to be reclaimed beyond what space demands.
    extra: Option<Asked>,
    /// The program or erase that it is doing or that is suspended.
    busy: Busy,
    /// Reads served since that was suspended.
    served: u16,
    /// The program that it is doing.
    batch: Batch,
    /// Nothing could be reclaimed when it was last tried.
    starved: bool,
    /// What reclaim has earned for the host, as the scheduler counts it.
    credit: i32,
    /// Valid units that the victim in hand, or the last one, had when it was begun.
    victim_valid: u32,
    /// Stale units of the victims since a program of moved data was last padded.
    won: u32,
    /// That padding took all that they gave, when the host had changed so much.
    fruitless: Option<u64>,
    /// Spare blocks of each plane.
    spares: Box<[Vec<u16>; 4]>,
}

impl Die {
    /// A die with these free groups and spare blocks.
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

    /// An operation begins; `is_long`: a program or an erase, which may be suspended.
    #[inline]
    pub(crate) fn begin(&mut self, cause: Cause, is_long: bool) {
        self.activity = match (self.activity, is_long) {
            (Activity::Suspended(of), _) => Activity::Suspended(of),
            (_, true) => Activity::Working(cause),
            (_, false) => Activity::Busy,
        };
    }

    /// It can take an operation.
    #[inline]
    pub(crate) fn ready(&mut self) {
        self.activity = match self.activity {
            // Ended before the suspend took hold.
            Activity::Suspending(_) | Activity::Free | Activity::Busy | Activity::Working(_) => Activity::Free,
            Activity::Suspended(cause) => Activity::Suspended(cause),
        };
    }

    /// What it does is to be suspended.
    pub(crate) fn suspend(&mut self) {
        if let Activity::Working(cause) = self.activity {
            self.activity = Activity::Suspending(cause);
        }
    }

    /// What it does cannot be suspended now.
    pub(crate) fn refuse_suspend(&mut self) {
        if let Activity::Suspending(cause) = self.activity {
            self.activity = Activity::Working(cause);
        }
    }

    /// What it does is suspended. Returns false where no suspend was ordered.
    pub(crate) fn hold(&mut self) -> bool {
        let Activity::Suspending(cause) = self.activity else { return false };
        self.busy.stops = self.busy.stops.saturating_add(1);
        self.served = 0;
        self.activity = Activity::Suspended(cause);
        true
    }

    /// What was suspended goes on.
    pub(crate) fn resume(&mut self) {
        if let Activity::Suspended(cause) = self.activity {
            self.activity = Activity::Working(cause);
        }
    }

    /// The program or erase that it is doing or that is suspended.
    pub(crate) fn busy(&self) -> Busy {
        self.busy
    }

    /// A program or erase begins that somebody may want to be stopped.
    pub(crate) fn note_busy(&mut self, busy: Busy) {
        self.busy = busy;
    }

    /// Reads served since it was suspended.
    pub(crate) fn served(&self) -> u16 {
        self.served
    }

    /// One more read is served while something is suspended.
    pub(crate) fn serve(&mut self) {
        self.served = self.served.saturating_add(1);
    }

    /// The reads that wait for it.
    #[inline]
    pub(crate) fn reads(&self) -> &ReadQueue {
        &self.reads
    }

    #[inline]
    pub(crate) fn reads_mut(&mut self) -> &mut ReadQueue {
        &mut self.reads
    }

    // Free groups.

    /// Free groups.
    #[inline]
    pub(crate) fn free_count(&self) -> u32 {
        self.free.len() as u32
    }

    /// They, longest free first.
    pub(crate) fn free_groups(&self) -> impl ExactSizeIterator<Item = Group> + '_ {
        self.free.iter().copied()
    }

    /// `group` is free from now on.
    pub(crate) fn give_free(&mut self, group: Group) {
        self.free.push_back(group);
    }

    /// Take the group at `place` of [`Die::free_groups`].
    pub(crate) fn take_free_at(&mut self, place: usize) -> Option<Group> {
        self.free.remove(place)
    }

    /// Take the group that has been free longest.
    #[inline]
    pub(crate) fn take_first_free(&mut self) -> Option<Group> {
        self.free.pop_front()
    }

    /// Take the group that was given last.
    pub(crate) fn take_last_free(&mut self) -> Option<Group> {
        self.free.pop_back()
    }

    /// Whether it has fewer than `groups` free groups, those about to be erased counted.
    #[inline]
    pub(crate) fn is_short(&self, groups: u32) -> bool {
        ((self.free.len() + self.erasable.len()) as u32) < groups
    }

    /// Spare blocks of each plane.
    pub(crate) fn spares(&self) -> &[Vec<u16>; 4] {
        &self.spares
    }

    /// One spare block of each of `planes` planes, if every one has one left.
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

    /// Found after a power cut: no group is known to be free, and no block to be spare.
    pub(crate) fn forget_free(&mut self) {
        self.free.clear();
        self.spares.iter_mut().for_each(Vec::clear);
    }

    /// One block of each plane is spare.
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

    /// `group`, if it is open.
    pub(crate) fn open_at(&self, group: Group) -> Option<Open> {
        self.all_open().find(|open| open.group == group).copied()
    }

    /// `open` takes data of `stream`; returns its place among those that do.
    pub(crate) fn push_open(&mut self, stream: Stream, open: Open) -> usize {
        let all = &mut self.open[stream as usize];
        all.push(open);
        all.len() - 1
    }

    /// Program unit `program` of the open group at `at` is ordered; returns the group, and whether that was its last: then it is open no longer.
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

    /// Nothing more is written to `group`, if it is open.
    pub(crate) fn take_open(&mut self, group: Group) -> Option<Open> {
        self.open.iter_mut().find_map(|open| {
            let at = open.iter().position(|open| open.group == group)?;
            Some(open.remove(at))
        })
    }

    /// What was not programmed yet of `group` before program unit `end`, horizontal first, never will be. Returns which program units those are, and
    /// whether the group has become full by it; `None`: there are none.
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

    /// A drive that was constructed: these groups are free, those open.
    pub(crate) fn lay_out(&mut self, free: VecDeque<Group>, open: [Vec<Open>; 2]) {
        (self.free, self.open) = (free, open);
    }

    // Groups that failed or are emptied.

    /// Nothing more is written to `group`, which was programmed up to `end`: it is to be emptied.
    pub(crate) fn fail(&mut self, group: Group, end: u32) {
        // It may have been given up while its last program was under way.
        self.failed.retain(|&(failed, _)| failed != group);
        self.failed.push((group, end));
    }

    /// How far `group` was programmed, if it is one of those.
    pub(crate) fn failed_end(&self, group: Group) -> Option<u32> {
        self.failed.iter().find(|&&(failed, _)| failed == group).map(|&(_, end)| end)
    }

    /// Take one of them, and how far it was programmed.
    pub(crate) fn take_failed(&mut self) -> Option<(Group, u32)> {
        self.failed.pop()
    }

    /// Groups to be erased, and why they were emptied.
    #[inline]
    pub(crate) fn erasable(&self) -> &[(Group, Cause)] {
        &self.erasable
    }

    /// `group` is to be erased.
    pub(crate) fn give_erasable(&mut self, group: Group, cause: Cause) {
        self.erasable.push((group, cause));
    }

    /// Take the group at `at` of [`Die::erasable`].
    pub(crate) fn take_erasable(&mut self, at: usize) -> (Group, Cause) {
        self.erasable.remove(at)
    }

    /// Groups whose last units are on their way elsewhere.
    pub(crate) fn draining(&self) -> usize {
        self.draining.len()
    }

    /// The last unit of `group`, which was read to its end, has become stale.
    pub(crate) fn emptied(&mut self, group: Group) {
        let at = self.draining.iter().position(|&(draining, _)| draining == group).expect("a drained group was a job before");
        let emptied = self.draining.swap_remove(at);
        self.erasable.push(emptied);
    }

    /// The victim in hand.
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

    /// The victim has been read, or is on its way, up to `cursor`.
    #[inline]
    pub(crate) fn advance_job(&mut self, cursor: u32) {
        if let Some(job) = &mut self.job {
            job.cursor = cursor;
        }
    }

    /// The victim has been read to its end; `is_empty`: nothing of it is on its way any more.
    pub(crate) fn end_job(&mut self, is_empty: bool) {
        let job = self.job.take().expect("it has a victim");
        if is_empty { &mut self.erasable } else { &mut self.draining }.push((job.victim, job.cause));
    }

    /// Valid units that the victim in hand, or the last one, had when it was begun.
    #[inline]
    pub(crate) fn victim_valid(&self) -> u32 {
        self.victim_valid
    }

    /// What reclaim has earned for the host.
    #[inline]
    pub(crate) fn credit(&self) -> i32 {
        self.credit
    }

    #[inline]
    pub(crate) fn set_credit(&mut self, credit: i32) {
        self.credit = credit;
    }

    /// Whether emptying was begun: there is a victim, or something to be erased, or to be given up.
    #[inline]
    pub(crate) fn is_emptying(&self) -> bool {
        self.job.is_some() || !self.erasable.is_empty() || !self.failed.is_empty()
    }

    /// Whether something more is to be emptied, or on its way.
    #[inline]
    pub(crate) fn has_wishes(&self) -> bool {
        self.extra.is_some() || !self.wanted.is_empty() || !self.moved.is_empty()
    }

    // What is to be rewritten.

    /// Rewrites asked for and not yet begun.
    pub(crate) fn wanted(&self) -> impl Iterator<Item = Wanted> + '_ {
        self.wanted.iter().copied()
    }

    /// The `at`-th of them.
    pub(crate) fn wanted_at(&self, at: usize) -> Option<Wanted> {
        self.wanted.get(at).copied()
    }

    /// It is begun, or needless.
    pub(crate) fn remove_wanted(&mut self, at: usize) {
        self.wanted.remove(at);
    }

    /// Have a group rewritten, after all others. What is wanted already is wanted at the earlier of both deadlines. Returns whether it was not.
    pub(crate) fn want(&mut self, wish: Wanted) -> bool {
        let known = self.wanted.iter_mut().find(|known| known.group == wish.group && known.erases == wish.erases);
        let is_new = known.is_none();
        match known {
            Some(known) => known.asked.due = known.asked.due.min(wish.asked.due),
            None => self.wanted.push_back(wish),
        }
        is_new
    }

    /// Have a group rewritten after all others, wanted already or not.
    pub(crate) fn want_again(&mut self, wish: Wanted) {
        self.wanted.push_back(wish);
    }

    /// Have a group rewritten before all others.
    pub(crate) fn want_first(&mut self, wish: Wanted) {
        self.wanted.push_front(wish);
    }

    /// A victim to be reclaimed beyond what space demands.
    pub(crate) fn extra(&self) -> Option<Asked> {
        self.extra
    }

    /// Have one reclaimed.
    pub(crate) fn want_extra(&mut self, asked: Asked) {
        match &mut self.extra {
            Some(known) => known.due = known.due.min(asked.due),
            none => *none = Some(asked),
        }
    }

    /// It is begun.
    pub(crate) fn clear_extra(&mut self) {
        self.extra = None;
    }

    // Units on their way.

    /// Units read from victims that wait to be programmed.
    #[inline]
    pub(crate) fn moved(&self) -> &VecDeque<Moved> {
        &self.moved
    }

    /// A unit of a victim has been read.
    #[inline]
    pub(crate) fn gather(&mut self, moved: Moved) {
        self.moved.push_back(moved);
    }

    /// A unit could not be programmed: it comes first.
    pub(crate) fn gather_again(&mut self, moved: Moved) {
        self.moved.push_front(moved);
    }

    /// Forget those that `keep` does not want.
    pub(crate) fn retain_moved(&mut self, keep: impl FnMut(&Moved) -> bool) {
        self.moved.retain(keep);
    }

    /// Reads of victims whose data has not come yet.
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

    /// Why what is gathered was moved.
    #[inline]
    pub(crate) fn moved_cause(&self) -> Cause {
        self.moved_cause
    }

    pub(crate) fn set_moved_cause(&mut self, cause: Cause) {
        self.moved_cause = cause;
    }

    // Reclaim that leads to nothing.

    /// Nothing could be reclaimed, or could be again.
    pub(crate) fn set_starved(&mut self, is_starved: bool) {
        self.starved = is_starved;
    }

    /// Whether nothing could be reclaimed; from now on that is to be tried again.
    pub(crate) fn take_starved(&mut self) -> bool {
        std::mem::take(&mut self.starved)
    }

    /// The state of the host's data in which reclaim was last found to give nothing.
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

    /// Put `units` units that have been moved into a program, and padding where there are fewer. `changes`: the state of the host's data.
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

    /// What it holds; `changes`: the state of the host's data.
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

    /// The die that holds this. A restored core counts changes from zero.
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
