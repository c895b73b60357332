//! The calendar of pending events: a timing wheel for what is near, a heap for what is far.
//!
//! Events leave in the order of their instants, and of their entry where instants are equal; nothing else decides. A binary heap keeps the same promise but
//! costs 1.5 times (16,384 pending) to 3.4 times (64 pending) as much per event (`cargo bench`, row "calendar").
//!
//! ```text
//!   now
//!    |  bucket 0   1   2  ...                        4095
//!    v  [512 ns][   ][x ][  ][xx][  ] ... [ ]   | later: heap
//! ```

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use wordline_units::Nanos;

const BUCKET_BITS: u32 = 9;
const BUCKETS: usize = 4096;
const WORDS: usize = BUCKETS / 64;
const NIL: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Node<E> {
    at: Nanos,
    next: u32,
    event: E,
}

#[derive(Clone, Copy, Debug)]
struct Bucket {
    head: u32,
    tail: u32,
}

#[derive(Clone, Debug)]
struct Far<E> {
    at: Nanos,
    order: u64,
    event: E,
}

impl<E> PartialEq for Far<E> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<E> Eq for Far<E> {}

impl<E> PartialOrd for Far<E> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> Ord for Far<E> {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.at, self.order).cmp(&(other.at, other.order))
    }
}

/// Pending events of kind `E`, soonest first.
///
/// An event moves from the heap to the wheel as soon as the present is near enough, so before any other can be entered into its bucket: within a bucket,
/// the place in the list is the order of entry, and the wheel need not remember it.
#[derive(Clone, Debug)]
pub struct Calendar<E> {
    now: Nanos,
    /// The first bucket, counted from the beginning of time, that is too far for the wheel.
    horizon: u64,
    /// The bucket of the soonest event in the heap.
    far_from: u64,
    summary: u64,
    words: [u64; WORDS],
    buckets: Box<[Bucket; BUCKETS]>,
    nodes: Vec<Node<E>>,
    unused: u32,
    far: BinaryHeap<Reverse<Far<E>>>,
    /// Events that went through the heap.
    deferred: u64,
}

impl<E: Copy> Default for Calendar<E> {
    fn default() -> Self {
        Calendar {
            now: Nanos::ZERO,
            horizon: BUCKETS as u64,
            far_from: u64::MAX,
            summary: 0,
            words: [0; WORDS],
            buckets: Box::new([Bucket { head: NIL, tail: NIL }; BUCKETS]),
            nodes: Vec::new(),
            unused: NIL,
            far: BinaryHeap::new(),
            deferred: 0,
        }
    }
}

impl<E: Copy> Calendar<E> {
    /// The instant of the event that left last.
    #[inline]
    pub fn now(&self) -> Nanos {
        self.now
    }

    /// Move the present to `to`, before which nothing may be due: time passes outside.
    ///
    /// # Panics
    /// If an event is pending for an earlier instant.
    pub fn advance(&mut self, to: Nanos) {
        assert!(self.next_at().is_none_or(|at| at >= to), "time leaps over an event that is due at {:?}", self.next_at());
        if to > self.now {
            self.now = to;
            self.horizon = (to.0 >> BUCKET_BITS) + BUCKETS as u64;
            if self.far_from < self.horizon {
                self.draw_near();
            }
        }
    }

    /// How many events are pending. Walks the wheel's unused places: for tests and post-mortems.
    pub fn len(&self) -> usize {
        let unused = std::iter::successors(Some(self.unused), |&slot| self.nodes.get(slot as usize).map(|node| node.next));
        self.nodes.len() + 1 - unused.count() + self.far.len()
    }

    /// Whether nothing is pending.
    pub fn is_empty(&self) -> bool {
        self.summary == 0 && self.far.is_empty()
    }

    /// Enter `event` for instant `at`, which must not be in the past.
    #[inline]
    pub fn enter(&mut self, at: Nanos, event: E) {
        assert!(at >= self.now, "an event for {at:?} entered at {:?}", self.now);
        let bucket = at.0 >> BUCKET_BITS;
        if bucket >= self.horizon {
            return self.defer(at, event);
        }
        self.insert(at, event);
    }

    /// The instant of the next event.
    #[inline]
    pub fn next_at(&self) -> Option<Nanos> {
        // What is in the heap is later than all that is in the wheel.
        match self.first_bucket() {
            Some(index) => Some(self.nodes[self.buckets[index].head as usize].at),
            None => self.far.peek().map(|Reverse(far)| far.at),
        }
    }

    /// Take the next event and move the present to its instant. Always inlined: a drive's loops call it for every event, and to hand one over through memory
    /// costs a third of what it takes to find it.
    #[inline(always)]
    pub fn pop(&mut self) -> Option<(Nanos, E)> {
        let index = match self.first_bucket() {
            Some(index) => index,
            None => self.leap()?,
        };
        let bucket = &mut self.buckets[index];
        let slot = bucket.head;
        let node = &mut self.nodes[slot as usize];
        let (at, event) = (node.at, node.event);
        bucket.head = node.next;
        node.next = self.unused;
        self.unused = slot;
        if bucket.head == NIL {
            let word = &mut self.words[index / 64];
            *word &= !(1 << (index % 64));
            if *word == 0 {
                self.summary &= !(1 << (index / 64));
            }
        }
        self.now = at;
        self.horizon = (at.0 >> BUCKET_BITS) + BUCKETS as u64;
        if self.far_from < self.horizon {
            self.draw_near();
        }
        Some((at, event))
    }

    /// The first bucket at or after the present one that holds an event. Nothing pending lies before the present, so a bucket behind it belongs
    /// to the wheel's next turn.
    #[inline]
    fn first_bucket(&self) -> Option<usize> {
        let start = (self.now.0 >> BUCKET_BITS) as usize % BUCKETS;
        let word = start / 64;
        let here = self.words[word] & (!0 << (start % 64));
        if here != 0 {
            return Some(word * 64 + here.trailing_zeros() as usize);
        }
        if self.summary == 0 {
            return None;
        }
        let rotated = self.summary.rotate_right((word as u32 + 1) % 64);
        let found = (word + 1 + rotated.trailing_zeros() as usize) % WORDS;
        Some(found * 64 + self.words[found].trailing_zeros() as usize)
    }

    #[inline]
    fn insert(&mut self, at: Nanos, event: E) {
        let slot = self.unused;
        match self.nodes.get_mut(slot as usize) {
            Some(node) => {
                self.unused = node.next;
                *node = Node { at, next: NIL, event };
            }
            None => return self.grow(at, event),
        }
        let index = (at.0 >> BUCKET_BITS) as usize % BUCKETS;
        let bucket = &mut self.buckets[index];
        if bucket.head == NIL {
            *bucket = Bucket { head: slot, tail: slot };
            self.words[index / 64] |= 1 << (index % 64);
            self.summary |= 1 << (index / 64);
            return;
        }
        let last = &mut self.nodes[bucket.tail as usize];
        if last.at <= at {
            last.next = slot;
            bucket.tail = slot;
        } else {
            self.insert_before_last(index, slot);
        }
    }

    /// Room for one more, which is then put in.
    #[cold]
    fn grow(&mut self, at: Nanos, event: E) {
        self.unused = self.nodes.len() as u32;
        self.nodes.push(Node { at, next: NIL, event });
        self.insert(at, event);
    }

    /// Put `slot` where it belongs in a bucket whose last event is later.
    #[cold]
    fn insert_before_last(&mut self, index: usize, slot: u32) {
        let at = self.nodes[slot as usize].at;
        let mut before = NIL;
        let mut after = self.buckets[index].head;
        while self.nodes[after as usize].at <= at {
            before = after;
            after = self.nodes[after as usize].next;
        }
        self.nodes[slot as usize].next = after;
        if before == NIL {
            self.buckets[index].head = slot;
        } else {
            self.nodes[before as usize].next = slot;
        }
    }

    #[cold]
    fn defer(&mut self, at: Nanos, event: E) {
        self.far_from = self.far_from.min(at.0 >> BUCKET_BITS);
        self.far.push(Reverse(Far { at, order: self.deferred, event }));
        self.deferred += 1;
    }

    /// Move what the wheel now reaches from the heap into it.
    #[cold]
    fn draw_near(&mut self) {
        while let Some(Reverse(far)) = self.far.peek() {
            self.far_from = far.at.0 >> BUCKET_BITS;
            if self.far_from >= self.horizon {
                return;
            }
            let Reverse(far) = self.far.pop().expect("peeked");
            self.insert(far.at, far.event);
        }
        self.far_from = u64::MAX;
    }

    /// The wheel is empty: go on where the heap begins, if it holds anything.
    #[cold]
    fn leap(&mut self) -> Option<usize> {
        self.now = self.far.peek().map(|Reverse(far)| far.at)?;
        self.horizon = (self.now.0 >> BUCKET_BITS) + BUCKETS as u64;
        self.draw_near();
        self.first_bucket()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn events_leave_in_the_order_a_sorted_list_gives(steps in prop::collection::vec((any::<bool>(), 0u64..6_000_000), 1..400)) {
            let mut calendar = Calendar::default();
            let mut list: Vec<(u64, u64)> = Vec::new();
            let mut order = 0;
            for (enter, delay) in steps {
                if enter || list.is_empty() {
                    // Half of the delays are short, so that buckets are shared and instants collide.
                    let at = calendar.now().0 + if delay % 2 == 0 { delay % 700 } else { delay };
                    calendar.enter(Nanos(at), order);
                    list.push((at, order));
                    order += 1;
                } else {
                    list.sort_unstable();
                    let (at, event) = list.remove(0);
                    prop_assert_eq!(calendar.next_at(), Some(Nanos(at)));
                    prop_assert_eq!(calendar.pop(), Some((Nanos(at), event)));
                }
                prop_assert_eq!(calendar.len(), list.len());
            }
        }
    }

    #[test]
    fn time_can_pass_outside_up_to_the_next_event() {
        let mut calendar = Calendar::default();
        for (at, event) in [(40, 'a'), (9_000_000, 'b'), (9_000_000, 'c')] {
            calendar.enter(Nanos(at), event);
        }
        calendar.advance(Nanos(40));
        assert_eq!(calendar.pop(), Some((Nanos(40), 'a')));
        calendar.advance(Nanos(8_999_999));
        calendar.enter(Nanos(9_000_000), 'd');
        let rest: Vec<_> = std::iter::from_fn(|| calendar.pop()).map(|(_, event)| event).collect();
        assert_eq!(rest, ['b', 'c', 'd']);
    }

    #[test]
    #[should_panic(expected = "leaps over")]
    fn time_cannot_leap_over_an_event() {
        let mut calendar = Calendar::default();
        calendar.enter(Nanos(40), ());
        calendar.advance(Nanos(41));
    }

    #[test]
    #[should_panic(expected = "entered at")]
    fn the_past_cannot_be_entered() {
        let mut calendar = Calendar::default();
        calendar.enter(Nanos(5), ());
        calendar.pop();
        calendar.enter(Nanos(4), ());
    }
}
