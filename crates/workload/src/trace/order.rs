//! Records in the order of their times, from a file that keeps them nearly so.
//!
//! Many traces are written in the order of completion, or by several processors, so that a record may follow one that was issued later. Such records are
//! put into their places within a window, which bounds memory. A record later than the window is refused by `Order::push`: what the file means cannot be
//! guessed then.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::fmt;

use serde::Serialize;
use wordline_units::Nanos;

use super::TraceRecord;

/// The most records that are held back to be put in order.
pub const WINDOW_RECORDS: usize = 1 << 16;
/// The most by which a record may be late.
pub const WINDOW_TIME: Nanos = Nanos(60_000_000_000);

/// How far the records of a file were from the order of their times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Disorder {
    /// Records with a time before that of an earlier record of the file.
    pub records: u64,
    /// The most by which one was late.
    #[serde(rename = "most_ns", serialize_with = "crate::serial::nanos")]
    pub most: Nanos,
}

impl fmt::Display for Disorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let records = if self.records == 1 { "record" } else { "records" };
        write!(f, "{} {records} up to {} late", self.records, self.most)
    }
}

/// A record and its place in the file, which orders records of equal times.
#[derive(Clone, Copy, Debug)]
struct Placed {
    at: Nanos,
    number: u64,
    record: TraceRecord,
}

impl Placed {
    fn key(&self) -> (Nanos, u64) {
        (self.at, self.number)
    }
}

impl PartialEq for Placed {
    fn eq(&self, other: &Placed) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Placed {}

impl PartialOrd for Placed {
    fn partial_cmp(&self, other: &Placed) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Placed {
    fn cmp(&self, other: &Placed) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

/// The records held back.
#[derive(Debug, Default)]
pub(crate) struct Order {
    /// Those that came in order, which is all of them in most traces: a queue costs them nothing.
    punctual: VecDeque<Placed>,
    late: BinaryHeap<Reverse<Placed>>,
    latest: Nanos,
    sent: Nanos,
    number: u64,
    disorder: Disorder,
}

impl Order {
    /// Take in the next record of the file. A record without a time keeps its place.
    ///
    /// # Errors
    /// By how much the record is late, if that is more than the window allows.
    pub(crate) fn push(&mut self, record: TraceRecord) -> Result<(), Nanos> {
        let at = record.at.unwrap_or(self.latest);
        let placed = Placed { at, number: self.number, record };
        self.number += 1;
        if at >= self.latest {
            self.latest = at;
            self.punctual.push_back(placed);
            return Ok(());
        }
        let by = self.latest - at;
        if by > WINDOW_TIME || at < self.sent {
            return Err(by);
        }
        self.disorder.records += 1;
        self.disorder.most = self.disorder.most.max(by);
        self.late.push(Reverse(placed));
        Ok(())
    }

    /// The next record in time, once no record that may still come can precede it; `at_end`: none will come.
    pub(crate) fn pop(&mut self, at_end: bool) -> Option<TraceRecord> {
        let late = match (self.punctual.front(), self.late.peek()) {
            (Some(punctual), Some(Reverse(late))) => late < punctual,
            (None, late) => late.is_some(),
            (Some(_), None) => false,
        };
        let first = if late { self.late.peek().map(|Reverse(placed)| placed.at) } else { self.punctual.front().map(|placed| placed.at) }?;
        let is_full = self.punctual.len() + self.late.len() > WINDOW_RECORDS;
        if !(at_end || is_full || self.latest.saturating_sub(first) >= WINDOW_TIME) {
            return None;
        }
        self.sent = first;
        let placed = if late { self.late.pop().map(|Reverse(placed)| placed) } else { self.punctual.pop_front() };
        placed.map(|placed| placed.record)
    }

    /// How far the records so far were from their order.
    pub(crate) fn disorder(&self) -> Disorder {
        self.disorder
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wordline_units::{Bytes, HostOp};

    fn record(at: Option<u64>, offset: u64) -> TraceRecord {
        TraceRecord {
            at: at.map(Nanos),
            volume: 0,
            op: HostOp::Read,
            offset: Bytes(offset),
            length: Bytes(512),
            latency: None,
            fua: false,
            priority: None,
            insecure: false,
            tolerance: wordline_units::Tolerance::Default,
        }
    }

    /// The offsets in the order in which they come out, or by how much a record was too late.
    fn sorted(records: impl IntoIterator<Item = (Option<u64>, u64)>) -> Result<Vec<u64>, Nanos> {
        let (mut order, mut out) = (Order::default(), Vec::new());
        for (at, offset) in records {
            order.push(record(at, offset))?;
            out.extend(std::iter::from_fn(|| order.pop(false)).map(|record| record.offset.0));
            assert!(order.punctual.len() + order.late.len() <= WINDOW_RECORDS, "memory is bounded");
        }
        out.extend(std::iter::from_fn(|| order.pop(true)).map(|record| record.offset.0));
        Ok(out)
    }

    #[test]
    fn late_records_take_their_places_and_equal_times_keep_the_order_of_the_file() {
        let records = [(5, 0), (7, 1), (6, 2), (5, 3), (7, 4), (6, 5), (9, 6)].map(|(at, offset)| (Some(at), offset));
        assert_eq!(sorted(records), Ok(vec![0, 3, 2, 5, 1, 4, 6]));
        assert_eq!(sorted((0..5).map(|offset| (None, offset))), Ok((0..5).collect()));
    }

    #[test]
    fn a_record_is_refused_once_it_is_later_than_either_window() {
        let second = 1_000_000_000;
        let swapped = |by: u64| sorted([(Some(by), 0), (Some(0), 1)]);
        assert_eq!(swapped(60 * second), Ok(vec![1, 0]));
        assert_eq!(swapped(60 * second + 1), Err(Nanos(60 * second + 1)));
        // So many records of one instant, and then one of the instant before.
        let behind = |count: usize| sorted((0..count).map(|_| (Some(1), 0)).chain([(Some(0), 1)]));
        assert_eq!(behind(WINDOW_RECORDS).expect("within the window")[0], 1);
        assert_eq!(behind(WINDOW_RECORDS + 1), Err(Nanos(1)));
    }
}
