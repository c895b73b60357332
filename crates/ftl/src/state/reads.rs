//! The reads that wait for a die.

use wordline_units::{OpTag, Priority};

use crate::util::list::NIL;

/// Tag behind the last read of a queue.
const NONE: OpTag = OpTag(NIL);

/// A first-in, first-out queue, linked through the operations.
#[derive(Clone, Copy, Debug)]
struct Fifo {
    head: OpTag,
    tail: OpTag,
}

/// Queue of the reads that wait for a die, by priority; within one, in order of arrival.
#[derive(Clone, Debug)]
pub(crate) struct ReadQueue {
    queues: [Fifo; Priority::ALL.len()],
    waiting: u32,
    /// True if the last choice was a read. Reads without precedence are served every other time.
    turn: bool,
    /// Reads that were served since something else had its turn, where they go first and that is counted.
    row: u32,
}

impl ReadQueue {
    /// Creates an empty queue.
    pub(crate) fn new() -> ReadQueue {
        ReadQueue::with_turn(false)
    }

    /// Creates an empty queue. `turn`: the last choice was a read.
    pub(crate) fn with_turn(turn: bool) -> ReadQueue {
        ReadQueue { queues: [Fifo { head: NONE, tail: NONE }; Priority::ALL.len()], waiting: 0, turn, row: 0 }
    }

    /// True if the last choice was a read.
    pub(crate) fn turn(&self) -> bool {
        self.turn
    }

    /// Number of waiting reads.
    #[inline]
    pub(crate) fn waiting(&self) -> u32 {
        self.waiting
    }

    /// True if a read is served now: where reads go `first`, always but after so many `in_row`; else every other time.
    #[inline]
    pub(crate) fn takes_turn(&mut self, first: bool, in_row: Option<u32>) -> bool {
        self.waiting > 0 && {
            self.turn = !self.turn;
            match in_row {
                None => first || self.turn,
                Some(_) if !first => self.turn,
                Some(most) => {
                    self.row = if self.row < most { self.row + 1 } else { 0 };
                    self.row > 0
                }
            }
        }
    }

    /// Priority of the read that is served next; `None`: no read waits.
    pub(crate) fn next_priority(&self) -> Option<Priority> {
        Priority::ALL.into_iter().zip(&self.queues).find(|(_, fifo)| fifo.head != NONE).map(|(priority, _)| priority)
    }

    /// Take the first read; `next` gives the operation queued behind another.
    #[inline]
    pub(crate) fn pop(&mut self, next: impl FnOnce(OpTag) -> OpTag) -> Option<OpTag> {
        if self.waiting == 0 {
            return None;
        }
        let fifo = self.queues.iter_mut().find(|fifo| fifo.head != NONE)?;
        let tag = fifo.head;
        fifo.head = next(tag);
        if fifo.head == NONE {
            fifo.tail = NONE;
        }
        self.waiting -= 1;
        Some(tag)
    }

    /// Queue the read `tag` before all others of its priority. Returns the read behind it; [`NIL`] where there is none.
    pub(crate) fn push_front(&mut self, priority: Priority, tag: OpTag) -> OpTag {
        let fifo = &mut self.queues[priority as usize];
        let behind = fifo.head;
        if behind == NONE {
            fifo.tail = tag;
        }
        fifo.head = tag;
        self.waiting += 1;
        behind
    }

    /// Queue the read `tag`. Returns the read before it, if there is one.
    #[inline]
    pub(crate) fn push(&mut self, priority: Priority, tag: OpTag) -> Option<OpTag> {
        let fifo = &mut self.queues[priority as usize];
        let before = fifo.tail;
        if before == NONE {
            fifo.head = tag;
        }
        fifo.tail = tag;
        self.waiting += 1;
        (before != NONE).then_some(before)
    }
}

#[cfg(test)]
mod tests {
    use wordline_units::Id;
    use wordline_units::random::{Draw, Stream};

    use super::*;

    #[test]
    fn reads_leave_by_priority_and_in_the_order_they_came() {
        let mut reads = ReadQueue::new();
        let mut next = [NONE; 4];
        for (tag, priority) in [Priority::Normal, Priority::Normal, Priority::ALL[0], Priority::ALL[0]].into_iter().enumerate() {
            if let Some(before) = reads.push(priority, OpTag(tag as u32)) {
                next[before.index()] = OpTag(tag as u32);
            }
        }
        let left: Vec<u32> = std::iter::from_fn(|| reads.pop(|tag| next[tag.index()])).map(|tag| tag.0).collect();
        let expected = if Priority::ALL[0] == Priority::Normal { vec![0, 1, 2, 3] } else { vec![2, 3, 0, 1] };
        assert_eq!((left, reads.waiting()), (expected, 0));
    }

    #[test]
    fn reads_go_first_or_every_other_time_or_so_many_in_a_row() {
        for (first, in_row, expected) in [
            (true, None, [true; 6]),
            (false, None, [true, false, true, false, true, false]),
            (false, Some(2), [true, false, true, false, true, false]),
            (true, Some(1), [true, false, true, false, true, false]),
            (true, Some(2), [true, true, false, true, true, false]),
        ] {
            let mut reads = ReadQueue::new();
            assert!(!reads.takes_turn(first, in_row), "nobody waits");
            reads.push(Priority::Low, OpTag(1));
            assert_eq!([(); 6].map(|()| reads.takes_turn(first, in_row)), expected, "{first} {in_row:?}");
        }
    }

    /// True if reads end in the order of their arrival within each priority, though many give way before they end: each time something comes, the read that is
    /// served may be queued again, by `again`.
    fn ends_in_order(seed: u64, again: impl Fn(&mut ReadQueue, &mut [OpTag], Priority, OpTag)) -> bool {
        let mut draw = Draw::new(seed, Stream::Mix, 0);
        let mut reads = ReadQueue::new();
        let priorities: Vec<Priority> = (0..200).map(|_| Priority::ALL[draw.below(4) as usize]).collect();
        let mut next = vec![NONE; priorities.len()];
        let (mut come, mut served, mut last) = (0, None::<OpTag>, [None; Priority::ALL.len()]);
        while come < priorities.len() || served.is_some() || reads.waiting() > 0 {
            if come < priorities.len() && draw.happens(0.6) {
                if let Some(before) = reads.push(priorities[come], OpTag(come as u32)) {
                    next[before.index()] = OpTag(come as u32);
                }
                come += 1;
                if let Some(tag) = served.filter(|_| draw.happens(0.3)) {
                    again(&mut reads, &mut next, priorities[tag.index()], tag);
                    served = None;
                }
            } else if let Some(tag) = served.take() {
                let last = &mut last[priorities[tag.index()] as usize];
                if last.is_some_and(|last| last > tag) {
                    return false;
                }
                *last = Some(tag);
            }
            if served.is_none() {
                served = reads.pop(|tag| std::mem::replace(&mut next[tag.index()], NONE));
            }
        }
        true
    }

    #[test]
    fn reads_that_give_way_end_in_the_order_of_their_priority() {
        let to_front =
            |reads: &mut ReadQueue, next: &mut [OpTag], priority, tag: OpTag| next[tag.index()] = reads.push_front(priority, tag);
        assert!((0..50).all(|seed| ends_in_order(seed, to_front)));
    }

    #[test]
    fn planted_a_read_that_gave_way_and_is_queued_at_the_back_is_overtaken() {
        let to_back = |reads: &mut ReadQueue, next: &mut [OpTag], priority, tag| {
            if let Some(before) = reads.push(priority, tag) {
                next[before.index()] = tag;
            }
        };
        assert!((0..50).all(|seed| !ends_in_order(seed, to_back)));
    }

    #[test]
    fn a_read_that_comes_back_is_the_first_of_its_priority() {
        let mut reads = ReadQueue::new();
        let mut next = [NONE; 4];
        let [urgent, normal] = [Priority::Urgent, Priority::Normal];
        next[0] = reads.push_front(normal, OpTag(0));
        next[reads.push(normal, OpTag(1)).expect("one waits").index()] = OpTag(1);
        assert_eq!(reads.push(urgent, OpTag(2)), None);
        next[3] = reads.push_front(normal, OpTag(3));
        let left: Vec<u32> = std::iter::from_fn(|| reads.pop(|tag| next[tag.index()])).map(|tag| tag.0).collect();
        assert_eq!((left, reads.waiting()), (vec![2, 3, 0, 1], 0));
    }
}
