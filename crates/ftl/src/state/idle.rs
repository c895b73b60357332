//! The set of idle dies.

use std::collections::VecDeque;

use wordline_units::{DieId, Nanos};

/// A set of idle dies with the instant each fell idle.
#[derive(Clone, Debug)]
pub(crate) struct IdleDies {
    words: Vec<u64>,
    since: Vec<Nanos>,
    /// Queue of each subscriber to idle dies: the dies that it has not been told about, longest idle first.
    lines: Vec<VecDeque<(Nanos, DieId)>>,
    count: u32,
    next: u32,
    dies: u32,
}

impl IdleDies {
    /// Creates the set with all of `dies` dies idle from the start. Each of the `waiters` subscribers is told of each idle spell by itself.
    pub(crate) fn new(dies: u32, waiters: usize) -> IdleDies {
        let mut idle = IdleDies {
            words: vec![0; (dies as usize).div_ceil(64)],
            since: vec![Nanos::ZERO; dies as usize],
            lines: vec![VecDeque::new(); waiters],
            count: 0,
            next: 0,
            dies,
        };
        (0..dies).for_each(|die| idle.insert(DieId(die as u16), Nanos::ZERO));
        idle
    }

    /// Die that is asked first.
    pub(crate) fn turn(&self) -> u32 {
        self.next
    }

    pub(crate) fn set_turn(&mut self, turn: u32) {
        self.next = turn;
    }

    /// Number of subscribers to idle dies.
    #[inline]
    pub(crate) fn waiters(&self) -> usize {
        self.lines.len()
    }

    /// Set the number of subscribers. None of them has been told of the present idle spells.
    pub(crate) fn await_by(&mut self, waiters: usize) {
        self.lines = vec![VecDeque::new(); waiters];
        let mut idle: Vec<_> = (0..self.dies as u16).map(DieId).filter(|&die| self.contains(die)).collect();
        idle.sort_by_key(|die| self.since[usize::from(die.0)]);
        for (waiter, die) in (0..waiters).flat_map(|waiter| idle.iter().map(move |&die| (waiter, die))) {
            self.lines[waiter].push_back((self.since[usize::from(die.0)], die));
        }
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    #[inline]
    pub(crate) fn contains(&self, die: DieId) -> bool {
        self.words[usize::from(die.0) / 64] >> (die.0 % 64) & 1 == 1
    }

    #[inline]
    pub(crate) fn insert(&mut self, die: DieId, now: Nanos) {
        if !self.contains(die) {
            self.words[usize::from(die.0) / 64] |= 1 << (die.0 % 64);
            self.count += 1;
            self.since[usize::from(die.0)] = now;
            for waiter in 0..self.lines.len() {
                self.line_up(waiter, now, die);
            }
        }
    }

    #[inline]
    pub(crate) fn remove(&mut self, die: DieId) {
        if self.contains(die) {
            self.words[usize::from(die.0) / 64] &= !(1 << (die.0 % 64));
            self.count -= 1;
        }
    }

    /// Next idle die in turn that `accepts` takes.
    #[inline]
    pub(crate) fn next(&mut self, accepts: impl Fn(DieId) -> bool) -> Option<DieId> {
        if self.count == 0 {
            return None;
        }
        let (turn, dies) = (self.next, self.dies);
        let found = self.find(turn, dies, &accepts).or_else(|| self.find(0, turn, &accepts))?;
        self.next = (found + 1) % dies;
        Some(DieId(found as u16))
    }

    /// First idle die from `from` up to `to` that `accepts` takes.
    #[inline]
    fn find(&self, from: u32, to: u32, accepts: &impl Fn(DieId) -> bool) -> Option<u32> {
        let mut at = from;
        while at < to {
            let word = self.words[at as usize / 64] >> (at % 64);
            if word == 0 {
                at = (at / 64 + 1) * 64;
                continue;
            }
            at += word.trailing_zeros();
            if at < to && accepts(DieId(at as u16)) {
                return Some(at);
            }
            at += 1;
        }
        None
    }

    /// Instant since when the longest-idle die has been idle, among those that `waiter` was not told about.
    pub(crate) fn oldest(&self, waiter: usize) -> Option<Nanos> {
        self.lines[waiter].iter().find(|&&(since, die)| self.is_current(since, die)).map(|&(since, _)| since)
    }

    /// Longest-idle die among those that `waiter` was not told about, and how long it has been idle.
    pub(crate) fn longest(&mut self, waiter: usize, now: Nanos) -> Option<(DieId, Nanos)> {
        self.trim(waiter);
        self.lines[waiter].front().map(|&(since, die)| (die, now.saturating_sub(since)))
    }

    /// Note that `waiter` has been told about `die`, its longest idle, which stays idle.
    pub(crate) fn told(&mut self, waiter: usize, die: DieId) {
        let line = &mut self.lines[waiter];
        if line.front().is_some_and(|&(_, front)| front == die) {
            line.pop_front();
        }
    }

    fn line_up(&mut self, waiter: usize, now: Nanos, die: DieId) {
        let longest = 4 * self.dies as usize + 16;
        let line = &mut self.lines[waiter];
        line.push_back((now, die));
        // A die at the front that never works again would let the line grow behind it.
        if line.len() > longest {
            let line = std::mem::take(line);
            self.lines[waiter] = line.into_iter().filter(|&(since, die)| self.is_current(since, die)).collect();
        }
    }

    fn is_current(&self, since: Nanos, die: DieId) -> bool {
        self.contains(die) && self.since[usize::from(die.0)] == since
    }

    /// Drop entries at the front whose dies have worked since.
    fn trim(&mut self, waiter: usize) {
        while self.lines[waiter].front().is_some_and(|&(since, die)| !self.is_current(since, die)) {
            self.lines[waiter].pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn dies_come_in_turn_and_only_idle_ones(dies in 1u32..200, steps in prop::collection::vec((0u16..200, any::<bool>()), 1..100)) {
            let mut idle = IdleDies::new(dies, 1);
            let mut twin: BTreeSet<u16> = (0..dies as u16).collect();
            let mut turn = 0u16;
            for (time, (die, enter)) in steps.into_iter().enumerate() {
                let die = die % dies as u16;
                if enter {
                    idle.insert(DieId(die), Nanos(time as u64));
                    twin.insert(die);
                } else {
                    idle.remove(DieId(die));
                    twin.remove(&die);
                }
                let accepts = |die: u16| die % 3 != 1;
                let expected = (0..dies as u16).map(|step| (turn + step) % dies as u16).find(|&die| twin.contains(&die) && accepts(die));
                prop_assert_eq!(idle.next(|die| accepts(die.0)), expected.map(DieId));
                if let Some(die) = expected {
                    turn = (die + 1) % dies as u16;
                }
            }
        }
    }

    #[test]
    fn each_who_waits_is_told_of_each_spell_once_and_by_itself() {
        let mut idle = IdleDies::new(2, 2);
        assert_eq!(idle.longest(0, Nanos(5)), Some((DieId(0), Nanos(5))));
        idle.told(0, DieId(0));
        assert_eq!(idle.longest(0, Nanos(5)), Some((DieId(1), Nanos(5))));
        assert_eq!(idle.longest(1, Nanos(5)), Some((DieId(0), Nanos(5))), "the other has not been told");
        idle.told(0, DieId(1));
        assert_eq!((idle.oldest(0), idle.oldest(1)), (None, Some(Nanos(0))));
        idle.remove(DieId(0));
        idle.insert(DieId(0), Nanos(9));
        assert_eq!(idle.longest(0, Nanos(9)), Some((DieId(0), Nanos(0))), "a new spell");
        assert_eq!(idle.longest(1, Nanos(9)), Some((DieId(1), Nanos(9))));
    }
}
