//! Rewrites that were requested on a die: groups whose valid data is to be moved elsewhere, for wear, for retention, against read disturb, for a sanitiser.
//!
//! A rewrite frees as much room as it takes, so it needs no more than one free group. Where room is short it takes turns with the victims of GC until its
//! deadline, and goes first from then on. One that corrects data and is past its deadline takes turns with reads, too: see [`Rewrites::pressed_from`].

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use wordline_units::{Cause, Nanos};

use crate::state::Core;
use crate::state::layout::BlockGroup;
use crate::state::parked::Parked;
use crate::state::work::Asked;

/// A group that is to be rewritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rewrite {
    pub group: BlockGroup,
    pub cause: Cause,
    /// Erase count of the group when it was requested: the request is for that filling alone.
    pub erases: u32,
    pub asked: Asked,
    /// Place among the requests of its die: what has a lower one is looked at before.
    turn: i64,
    /// Instant since which it may start: since the request, or since a technique last held it back.
    free_since: Nanos,
}

impl Rewrite {
    /// Creates a rewrite that was `asked` for.
    pub(crate) fn new(group: BlockGroup, cause: Cause, erases: u32, asked: Asked) -> Rewrite {
        Rewrite { group, cause, erases, asked, turn: 0, free_since: asked.since }
    }

    /// Creates a rewrite that the core itself requests at `now`.
    pub(crate) fn by_core(group: BlockGroup, cause: Cause, erases: u32, now: Nanos) -> Rewrite {
        Rewrite::new(group, cause, erases, Asked { since: now, due: Nanos::ZERO })
    }

    /// Instant from which on it takes turns with reads.
    fn presses_from(&self) -> Nanos {
        if is_to_correct(self.cause) { self.asked.due } else { Nanos::MAX }
    }
}

/// Wait of a requested rewrite, as plain data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Wait {
    /// Nanoseconds until it is due; [`u64::MAX`]: it has no deadline.
    due_in: u64,
    /// Retries with which it stays parked; `None`: it is looked at.
    borne: Option<u32>,
}

/// True if data moves for `cause` so that its errors are corrected: a copy inside the die would carry them on, and what asked for the move would take them for
/// gone.
pub(crate) fn is_to_correct(cause: Cause) -> bool {
    matches!(cause, Cause::Refresh | Cause::Disturb)
}

/// Counts of the rewrites for one cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RewriteCounts {
    /// Rewrites that were requested, each once.
    pub asked: u64,
    /// Rewrites that were begun.
    pub begun: u64,
    /// Requests that became needless before they were begun: the group was collected meanwhile, or a technique has dropped them.
    pub needless: u64,
    /// Requests that wait now and are looked at whenever their die has room.
    pub waiting: u64,
    /// Requests that are parked now: nothing looks at them until something happens to their group.
    pub parked: u64,
    /// Longest time that one has waited while it might have started, those that wait now included.
    pub longest_wait: Nanos,
    /// Longest time that a technique has held one back.
    pub longest_hold: Nanos,
}

impl RewriteCounts {
    /// Counts since those of `before`. The longest times are of all.
    pub fn since(self, before: &RewriteCounts) -> RewriteCounts {
        let RewriteCounts { asked, begun, needless, .. } = *before;
        RewriteCounts { asked: self.asked - asked, begun: self.begun - begun, needless: self.needless - needless, ..self }
    }

    /// Sums by cause of the counts of several dies.
    pub fn sums(each: impl Iterator<Item = (Cause, RewriteCounts)>) -> Vec<(Cause, RewriteCounts)> {
        let mut all: Vec<(Cause, RewriteCounts)> = Vec::new();
        for (cause, counts) in each {
            match all.iter_mut().find(|(known, _)| *known == cause) {
                Some((_, sum)) => sum.add(&counts),
                None => all.push((cause, counts)),
            }
        }
        all
    }

    fn add(&mut self, other: &RewriteCounts) {
        self.asked += other.asked;
        self.begun += other.begun;
        self.needless += other.needless;
        self.waiting += other.waiting;
        self.parked += other.parked;
        self.longest_wait = self.longest_wait.max(other.longest_wait);
        self.longest_hold = self.longest_hold.max(other.longest_hold);
    }
}

/// Counts of the rewrites of `core` by cause, at its present instant.
pub(crate) fn counts(core: &Core) -> Vec<(Cause, RewriteCounts)> {
    RewriteCounts::sums(core.dies().flat_map(|(_, die)| die.rewrites().counts(core.now())))
}

/// Requested rewrites of one die.
#[derive(Clone, Debug)]
pub(crate) struct Rewrites {
    /// Requests that are not begun, in the order in which they are looked at.
    queue: VecDeque<Rewrite>,
    /// Requests that wait for something to happen to their groups.
    parked: Parked<Rewrite>,
    /// Lowest turn of all requests, and the next one.
    turns: (i64, i64),
    /// Instant from which on the rewrite begun last takes turns with reads, until all of it is done.
    job_presses_from: Nanos,
    /// Counts by cause, for the causes that there were.
    counts: Vec<(Cause, RewriteCounts)>,
}

impl Rewrites {
    pub(crate) fn new() -> Rewrites {
        Rewrites { queue: VecDeque::new(), parked: Parked::new(), turns: (0, 0), job_presses_from: Nanos::MAX, counts: Vec::new() }
    }

    /// True if no request is looked at.
    pub(crate) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Rewrites requested and not begun that are looked at.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Rewrite> + '_ {
        self.queue.iter().copied()
    }

    /// Parked rewrites.
    pub(crate) fn parked(&self) -> &Parked<Rewrite> {
        &self.parked
    }

    /// Requested rewrite at place `at`.
    pub(crate) fn at(&self, at: usize) -> Option<Rewrite> {
        self.queue.get(at).copied()
    }

    /// Request a rewrite after all others. If the group is requested already, the earlier of both deadlines counts. Returns true if there is something new to
    /// look at: the request is new, or it was parked and its deadline has become an earlier one.
    pub(crate) fn ask(&mut self, wish: Rewrite) -> bool {
        if let Some(known) = self.parked.get(wish.group).filter(|known| known.erases == wish.erases) {
            let is_earlier = wish.asked.due < known.asked.due;
            if is_earlier {
                let mut known = self.parked.take(wish.group).expect("it is parked");
                known.asked.due = wish.asked.due;
                self.bring_back(known, wish.asked.since);
            }
            return is_earlier;
        }
        let known = self.queue.iter_mut().find(|known| known.group == wish.group && known.erases == wish.erases);
        let is_new = known.is_none();
        match known {
            Some(known) => known.asked.due = known.asked.due.min(wish.asked.due),
            None => self.ask_again(wish),
        }
        is_new
    }

    /// Request a rewrite after all others, even if the group is requested already.
    pub(crate) fn ask_again(&mut self, wish: Rewrite) {
        self.queue.push_back(Rewrite { turn: self.turns.1, ..wish });
        self.turns.1 += 1;
        self.counts_of(wish.cause).asked += 1;
    }

    /// Request a rewrite before all others.
    pub(crate) fn ask_first(&mut self, wish: Rewrite) {
        self.turns.0 -= 1;
        self.queue.push_front(Rewrite { turn: self.turns.0, ..wish });
        self.counts_of(wish.cause).asked += 1;
    }

    /// Take the rewrite at place `at`, which begins `now`.
    pub(crate) fn begin(&mut self, at: usize, now: Nanos) {
        let Some(begun) = self.queue.remove(at) else { return };
        self.job_presses_from = begun.presses_from();
        let counts = self.counts_of(begun.cause);
        counts.begun += 1;
        counts.longest_wait = counts.longest_wait.max(now.saturating_sub(begun.free_since));
        counts.longest_hold = counts.longest_hold.max(begun.free_since.saturating_sub(begun.asked.since));
    }

    /// Drop the rewrite at place `at`, which has become needless.
    pub(crate) fn drop(&mut self, at: usize) {
        if let Some(dropped) = self.queue.remove(at) {
            self.counts_of(dropped.cause).needless += 1;
        }
    }

    /// Note that a technique holds back the rewrite at place `at`.
    pub(crate) fn hold(&mut self, at: usize, now: Nanos) {
        if let Some(held) = self.queue.get_mut(at) {
            held.free_since = now;
        }
    }

    /// Park the rewrite at place `at` until a read of its group needs more than `borne` retries, or somebody brings it back.
    pub(crate) fn park(&mut self, at: usize, borne: u32) {
        if let Some(rewrite) = self.queue.remove(at) {
            self.parked.insert(rewrite.group, rewrite, borne);
        }
    }

    /// Look at the parked rewrite of `group` again from `now` on, at its place among the others. Returns true if there is one.
    pub(crate) fn unpark(&mut self, group: BlockGroup, now: Nanos) -> bool {
        let parked = self.parked.take(group);
        parked.inspect(|&rewrite| self.bring_back(rewrite, now)).is_some()
    }

    /// Look at the parked rewrites again whose deadline has passed at `now`.
    pub(crate) fn unpark_due(&mut self, now: Nanos) {
        let due: Vec<BlockGroup> = self.parked.iter().filter(|rewrite| rewrite.asked.due <= now).map(|rewrite| rewrite.group).collect();
        due.into_iter().for_each(|group| _ = self.unpark(group, now));
    }

    /// Drop the parked rewrite of `group`, which is emptied for another reason.
    pub(crate) fn drop_parked(&mut self, group: BlockGroup) {
        if let Some(dropped) = self.parked.take(group) {
            self.counts_of(dropped.cause).needless += 1;
        }
    }

    /// Put `rewrite` at its turn. It was held back until `now`.
    fn bring_back(&mut self, rewrite: Rewrite, now: Nanos) {
        let at = self.queue.iter().position(|other| other.turn > rewrite.turn).unwrap_or(self.queue.len());
        self.queue.insert(at, Rewrite { free_since: now, ..rewrite });
    }

    /// Forget the requests: the die has left service.
    pub(crate) fn clear(&mut self) {
        self.queue.clear();
        self.parked.clear();
        self.job_presses_from = Nanos::MAX;
    }

    /// Note that nothing of the rewrite begun last is left to do.
    pub(crate) fn end_job(&mut self) {
        self.job_presses_from = Nanos::MAX;
    }

    /// Make requests those of groups that have been erased as often more as `skipped` says, with the same data.
    pub(crate) fn skip_cycles(&mut self, skipped: impl Fn(BlockGroup) -> u32) {
        let skip = |wish: &mut Rewrite| wish.erases = wish.erases.saturating_add(skipped(wish.group));
        self.queue.iter_mut().for_each(skip);
        self.parked.for_each_mut(skip);
    }

    /// Instant from which on a rewrite takes turns with reads: one that is requested, or the one begun last. [`Nanos::MAX`]: none does.
    pub(crate) fn pressed_from(&self) -> Nanos {
        self.queue.iter().map(Rewrite::presses_from).fold(self.job_presses_from, Nanos::min)
    }

    /// All requests in their order, parked ones included.
    pub(crate) fn in_order(&self) -> Vec<Rewrite> {
        let mut all: Vec<Rewrite> = self.iter().chain(self.parked.iter()).collect();
        all.sort_by_key(|wish| wish.turn);
        all
    }

    /// Waits of all requests at `now`, in the order of [`Rewrites::in_order`].
    pub(crate) fn waits(&self, now: Nanos) -> Vec<Wait> {
        let wait = |wish: Rewrite| Wait {
            due_in: if wish.asked.due == Nanos::MAX { u64::MAX } else { wish.asked.due.saturating_sub(now).0 },
            borne: self.parked.borne(wish.group),
        };
        self.in_order().into_iter().map(wait).collect()
    }

    /// Restore the `waits` of the requests that there are, in their order, at `now`. Returns false if they are of others.
    #[must_use]
    pub(crate) fn restore_waits(&mut self, waits: &[Wait], now: Nanos) -> bool {
        let mut groups: Vec<u32> = self.queue.iter().map(|wish| wish.group.0).collect();
        groups.sort_unstable();
        // A group has one parked rewrite at most.
        let is_sound = waits.len() == self.queue.len() && groups.windows(2).all(|pair| pair[0] < pair[1]);
        if !is_sound {
            return waits.is_empty();
        }
        for (wish, wait) in std::mem::take(&mut self.queue).into_iter().zip(waits) {
            let due = Nanos(now.0.saturating_add(wait.due_in));
            let wish = Rewrite { asked: Asked { since: now, due }, free_since: now, ..wish };
            match wait.borne {
                Some(borne) => self.parked.insert(wish.group, wish, borne),
                None => self.queue.push_back(wish),
            }
        }
        true
    }

    /// Counts by cause at `now`.
    pub(crate) fn counts(&self, now: Nanos) -> Vec<(Cause, RewriteCounts)> {
        let mut all = self.counts.clone();
        for (cause, counts) in &mut all {
            for wish in self.queue.iter().filter(|wish| wish.cause == *cause) {
                counts.waiting += 1;
                counts.longest_wait = counts.longest_wait.max(now.saturating_sub(wish.free_since));
                counts.longest_hold = counts.longest_hold.max(wish.free_since.saturating_sub(wish.asked.since));
            }
            for wish in self.parked.iter().filter(|wish| wish.cause == *cause) {
                counts.parked += 1;
                counts.longest_hold = counts.longest_hold.max(now.saturating_sub(wish.asked.since));
            }
        }
        all
    }

    fn counts_of(&mut self, cause: Cause) -> &mut RewriteCounts {
        let at = self.counts.iter().position(|(known, _)| *known == cause).unwrap_or_else(|| {
            self.counts.push((cause, RewriteCounts::default()));
            self.counts.len() - 1
        });
        &mut self.counts[at].1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wish(group: u32, cause: Cause, since: u64, due: u64) -> Rewrite {
        Rewrite::new(BlockGroup(group), cause, 1, Asked { since: Nanos(since), due: Nanos(due) })
    }

    #[test]
    fn a_rewrite_that_corrects_data_presses_from_its_deadline_on_until_all_of_it_is_done() {
        let mut rewrites = Rewrites::new();
        rewrites.ask_again(wish(1, Cause::Wear, 0, 0));
        assert_eq!(rewrites.pressed_from(), Nanos::MAX, "wear can wait for reads");
        assert!(rewrites.ask(wish(2, Cause::Refresh, 0, 90)) && !rewrites.ask(wish(2, Cause::Refresh, 5, 70)));
        assert_eq!(rewrites.pressed_from(), Nanos(70), "the earlier deadline counts");
        rewrites.begin(1, Nanos(10));
        assert_eq!((rewrites.pressed_from(), rewrites.iter().count()), (Nanos(70), 1));
        rewrites.end_job();
        assert_eq!(rewrites.pressed_from(), Nanos::MAX);
    }

    #[test]
    fn waiting_counts_while_the_work_may_start_and_holding_apart() {
        let mut rewrites = Rewrites::new();
        for wish in [wish(1, Cause::Refresh, 10, 900), wish(2, Cause::Refresh, 20, 900), wish(3, Cause::Disturb, 30, 30)] {
            assert!(rewrites.ask(wish));
        }
        rewrites.hold(0, Nanos(50));
        rewrites.begin(0, Nanos(55));
        rewrites.drop(0);
        let of = |cause: Cause, rewrites: &Rewrites, now: u64| {
            rewrites.counts(Nanos(now)).into_iter().find(|(known, _)| *known == cause).map(|(_, counts)| counts)
        };
        let [longest_wait, longest_hold] = [5, 40].map(Nanos);
        let refreshes = RewriteCounts { asked: 2, begun: 1, needless: 1, longest_wait, longest_hold, ..RewriteCounts::default() };
        assert_eq!(of(Cause::Refresh, &rewrites, 100), Some(refreshes));
        let waits = of(Cause::Disturb, &rewrites, 100).expect("it was asked for");
        assert_eq!((waits.waiting, waits.longest_wait), (1, Nanos(70)), "one that waits still counts");
    }

    #[test]
    fn a_parked_rewrite_keeps_its_place_and_comes_back_for_an_earlier_deadline() {
        let mut rewrites = Rewrites::new();
        for at in 1..5 {
            assert!(rewrites.ask(wish(at, Cause::Disturb, u64::from(at), 900)));
        }
        rewrites.park(1, 3);
        rewrites.park(1, 0);
        let groups = |rewrites: &Rewrites| rewrites.iter().map(|wish| wish.group.0).collect::<Vec<_>>();
        assert_eq!((groups(&rewrites), rewrites.parked().borne(BlockGroup(2))), (vec![1, 4], Some(3)));
        assert_eq!(rewrites.pressed_from(), Nanos(900));
        assert!(!rewrites.ask(wish(2, Cause::Disturb, 50, 900)), "it stays parked");
        assert!(rewrites.ask(wish(2, Cause::Disturb, 60, 60)), "it is due now");
        assert!(rewrites.unpark(BlockGroup(3), Nanos(70)) && !rewrites.unpark(BlockGroup(3), Nanos(70)));
        assert_eq!((groups(&rewrites), rewrites.pressed_from()), (vec![1, 2, 3, 4], Nanos(60)));
        rewrites.park(2, 0);
        rewrites.unpark_due(Nanos(899));
        assert_eq!(groups(&rewrites), [1, 2, 4]);
        let counts = rewrites.counts(Nanos(99))[0].1;
        assert_eq!((counts.asked, counts.waiting, counts.parked, counts.longest_hold), (4, 3, 1, Nanos(96)));
        rewrites.unpark_due(Nanos(900));
        assert_eq!(groups(&rewrites), [1, 2, 3, 4]);
        rewrites.park(3, 0);
        rewrites.drop_parked(BlockGroup(4));
        assert_eq!(rewrites.counts(Nanos(99))[0].1.needless, 1);
    }

    #[test]
    fn waits_are_restored_with_their_places_and_deadlines() {
        let mut rewrites = Rewrites::new();
        for (group, due) in [(1, u64::MAX), (2, 700), (3, 60)] {
            rewrites.ask(wish(group, Cause::Disturb, 5, due));
        }
        rewrites.ask_first(wish(9, Cause::Wear, 5, 0));
        rewrites.park(1, 4);
        let (all, waits) = (rewrites.in_order(), rewrites.waits(Nanos(100)));
        let of = |rewrites: &Rewrites| rewrites.in_order().iter().map(|wish| (wish.group.0, wish.asked.due)).collect::<Vec<_>>();
        let mut restored = Rewrites::new();
        all.iter().for_each(|wish| restored.ask_again(Rewrite::by_core(wish.group, wish.cause, wish.erases, Nanos::ZERO)));
        assert!(restored.restore_waits(&[], Nanos(40)), "an image of before has none");
        assert!(!restored.restore_waits(&waits[1..], Nanos(40)));
        assert!(restored.restore_waits(&waits, Nanos(40)));
        assert_eq!(of(&restored), [(9, Nanos(40)), (1, Nanos::MAX), (2, Nanos(640)), (3, Nanos(40))]);
        assert_eq!(restored.parked().borne(BlockGroup(1)), Some(4));
        assert_eq!(restored.waits(Nanos(40)), waits);
    }
}
