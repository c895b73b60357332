//! The calendar of pending events: a timing wheel for what is near, a heap for what is far.
//!
//! Events leave in the order of their instants, and of their entry where instants are equal; nothing else decides. A binary heap keeps the same promise but
//! costs 1.4 times (16,384 pending) to 2.6 times (64 pending) as much per event (`cargo bench`, row "calendar").
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
    order: u64,
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
#[derive(Clone, Debug)]
pub struct Calendar<E> {
    now: Nanos,
    entered: u64,
    near: usize,
    summary: u64,
    words: [u64; WORDS],
    buckets: Box<[Bucket]>,
    nodes: Vec<Node<E>>,
    unused: u32,
    far: BinaryHeap<Reverse<Far<E>>>,
}

impl<E: Copy> Default for Calendar<E> {
    fn default() -> Self {
        Calendar {
            now: Nanos::ZERO,
            entered: 0,
            near: 0,
            summary: 0,
            words: [0; WORDS],
            buckets: vec![Bucket { head: NIL, tail: NIL }; BUCKETS].into_boxed_slice(),
            nodes: Vec::new(),
            unused: NIL,
            far: BinaryHeap::new(),
        }
    }
}

impl<E: Copy> Calendar<E> {
    /// The instant of the event that left last.
    #[inline]
    pub fn now(&self) -> Nanos {
        self.now
    }

    /// How many events are pending.
    pub fn len(&self) -> usize {
        self.near + self.far.len()
    }

    /// Whether nothing is pending.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Enter `event` for instant `at`, which must not be in the past.
    #[inline]
    pub fn enter(&mut self, at: Nanos, event: E) {
        assert!(at >= self.now, "an event for {at:?} entered at {:?}", self.now);
        let order = self.entered;
        self.entered += 1;
        if (at.0 >> BUCKET_BITS) - (self.now.0 >> BUCKET_BITS) >= BUCKETS as u64 {
            self.far.push(Reverse(Far { at, order, event }));
            return;
        }
        let slot = self.store(Node { at, order, next: NIL, event });
        let index = (at.0 >> BUCKET_BITS) as usize % BUCKETS;
        let bucket = self.buckets[index];
        self.near += 1;
        if bucket.head == NIL {
            self.buckets[index] = Bucket { head: slot, tail: slot };
            self.words[index / 64] |= 1 << (index % 64);
            self.summary |= 1 << (index / 64);
        } else if self.nodes[bucket.tail as usize].at <= at {
            self.nodes[bucket.tail as usize].next = slot;
            self.buckets[index].tail = slot;
        } else {
            self.insert(index, slot);
        }
    }

    /// The instant of the next event.
    #[inline]
    pub fn next_at(&self) -> Option<Nanos> {
        let near = self.first_bucket().map(|index| self.nodes[self.buckets[index].head as usize].at);
        let far = self.far.peek().map(|Reverse(far)| far.at);
        match (near, far) {
            (Some(near), Some(far)) => Some(near.min(far)),
            (near, far) => near.or(far),
        }
    }

    /// Take the next event and move the present to its instant.
    #[inline]
    pub fn pop(&mut self) -> Option<(Nanos, E)> {
        let index = self.first_bucket();
        if let Some(Reverse(far)) = self.far.peek() {
            let sooner = index.is_none_or(|index| {
                let head = &self.nodes[self.buckets[index].head as usize];
                (far.at, far.order) < (head.at, head.order)
            });
            if sooner {
                let Reverse(far) = self.far.pop().expect("peeked");
                self.now = far.at;
                return Some((far.at, far.event));
            }
        }
        let index = index?;
        let slot = self.buckets[index].head;
        let node = self.nodes[slot as usize];
        self.buckets[index].head = node.next;
        if node.next == NIL {
            self.buckets[index].tail = NIL;
            self.words[index / 64] &= !(1 << (index % 64));
            if self.words[index / 64] == 0 {
                self.summary &= !(1 << (index / 64));
            }
        }
        self.nodes[slot as usize].next = self.unused;
        self.unused = slot;
        self.near -= 1;
        self.now = node.at;
        Some((node.at, node.event))
    }

    /// The first bucket at or after the present one that holds an event. Nothing pending lies before the present, so a bucket behind it belongs
    /// to the wheel's next turn.
    #[inline]
    fn first_bucket(&self) -> Option<usize> {
        if self.near == 0 {
            return None;
        }
        let start = (self.now.0 >> BUCKET_BITS) as usize % BUCKETS;
        let word = start / 64;
        let here = self.words[word] & (!0 << (start % 64));
        if here != 0 {
            return Some(word * 64 + here.trailing_zeros() as usize);
        }
        let rotated = if word == 63 { self.summary } else { self.summary.rotate_right(word as u32 + 1) };
        debug_assert_ne!(rotated, 0, "near events without a marked bucket");
        let found = (word + 1 + rotated.trailing_zeros() as usize) % WORDS;
        Some(found * 64 + self.words[found].trailing_zeros() as usize)
    }

    #[inline]
    fn store(&mut self, node: Node<E>) -> u32 {
        if self.unused == NIL {
            self.nodes.push(node);
            (self.nodes.len() - 1) as u32
        } else {
            let slot = self.unused;
            self.unused = self.nodes[slot as usize].next;
            self.nodes[slot as usize] = node;
            slot
        }
    }

    /// Put `slot` where it belongs in a bucket whose tail is later than it.
    fn insert(&mut self, index: usize, slot: u32) {
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
    #[should_panic(expected = "entered at")]
    fn the_past_cannot_be_entered() {
        let mut calendar = Calendar::default();
        calendar.enter(Nanos(5), ());
        calendar.pop();
        calendar.enter(Nanos(4), ());
    }
}
