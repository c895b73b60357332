//! Work of firmware cores in a timeline, as far as events tell it: which core it was they do not.
//!
//! A core has worked on a request at the end of the request's stage. On a flash operation it works from its order on, or later where it was busy: orders are
//! put in their turn into the first room that there is between requests, as cores take them.

use wordline_units::Nanos;

use super::rows::Rows;

/// Something that a core worked on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Work {
    pub(super) from: Nanos,
    pub(super) end: Nanos,
    pub(super) name: String,
}

/// A row of work, the work in the order in which it was done.
#[derive(Debug, Default)]
struct Row {
    work: Vec<Work>,
    /// Requests that are still to come after what was put there last.
    next: usize,
    free: Nanos,
}

impl Row {
    /// When a core that did this work could begin with `order`.
    fn room(&mut self, order: &Work) -> Nanos {
        while self.work.get(self.next).is_some_and(|work| work.end <= order.from) {
            self.next += 1;
        }
        let (mut from, length) = (self.free.max(order.from), order.end - order.from);
        for work in &self.work[self.next..] {
            if work.from >= from + length {
                break;
            }
            from = from.max(work.end);
        }
        from
    }
}

/// Rows of work: `requests` where they lie, in as many rows as are worked on at once, and `orders` between them.
pub(super) fn rows(mut requests: Vec<Work>, mut orders: Vec<Work>) -> Vec<Vec<Work>> {
    requests.sort_unstable();
    orders.sort_unstable();
    let mut places = Rows::apart();
    let mut rows: Vec<Row> = Vec::new();
    for work in requests {
        let row = places.place((), work.from, work.end) as usize;
        rows.resize_with(rows.len().max(row + 1), Row::default);
        rows[row].work.push(work);
    }
    if rows.is_empty() && !orders.is_empty() {
        rows.push(Row::default());
    }
    let mut put: Vec<Vec<Work>> = rows.iter().map(|_| Vec::new()).collect();
    for order in orders {
        let soonest = (0..rows.len()).map(|row| (rows[row].room(&order), row)).min();
        let Some((from, row)) = soonest else { break };
        let end = from + (order.end - order.from);
        rows[row].free = end;
        put[row].push(Work { from, end, ..order });
    }
    let all = rows.into_iter().zip(put).map(|(row, put)| {
        let mut work = [row.work, put].concat();
        work.sort_unstable();
        work
    });
    all.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work(name: &str, spans: &[(u64, u64)]) -> Vec<Work> {
        spans.iter().map(|&(from, end)| Work { from: Nanos(from), end: Nanos(end), name: name.to_owned() }).collect()
    }

    fn spans(row: &[Work]) -> Vec<(u64, u64)> {
        row.iter().map(|work| (work.from.0, work.end.0)).collect()
    }

    #[test]
    fn the_orders_of_a_single_core_wait_for_it_in_their_turn() {
        // Two orders at 10, when the core has a request until 12 and another from 17 on.
        let rows = rows(work("request", &[(5, 12), (17, 20)]), work("order", &[(10, 14), (10, 14), (21, 25), (40, 44)]));
        assert_eq!(rows.len(), 1);
        assert_eq!(spans(&rows[0]), [(5, 12), (12, 16), (17, 20), (20, 24), (24, 28), (40, 44)]);
    }

    #[test]
    fn there_are_as_many_rows_as_requests_are_worked_on_at_once_and_nothing_overlaps() {
        let rows = rows(work("request", &[(0, 10), (4, 9)]), work("order", &[(5, 8), (5, 8), (5, 8)]));
        assert_eq!(rows.iter().map(|row| spans(row)).collect::<Vec<_>>(), [vec![(0, 10), (10, 13)], vec![(4, 9), (9, 12), (12, 15)]]);
        assert_eq!(super::rows(Vec::new(), work("order", &[(5, 8)])).len(), 1);
        assert!(super::rows(Vec::new(), Vec::new()).is_empty());
    }
}
