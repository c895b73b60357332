//! Rows of a time series: what happened in each interval of the measured window.
//!
//! A row is the difference of two snapshots of the counters, so an event pays for the series only when it opens a new row. Work that ended in a row
//! but was done partly before it (an erase of 5 ms in rows of 1 ms) is booked to the rows it was done in, taking its end as the event's instant, so
//! that no row shows more work than it had time for.

use wordline_units::{Cause, FlashOp, HostOp, Nanos};

use crate::histogram::{RowLatencies, Sparse};
use crate::scope::Interval;
use crate::totals::Totals;

/// The kinds of request that a row keeps apart.
const KINDS: [HostOp; 2] = [HostOp::Read, HostOp::Write];

/// Exclusive resources whose work a row shows.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Part {
    Die,
    Channel,
}

/// Reads, or writes, of one row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RowHost {
    /// Requests completed without a failure.
    pub requests: u64,
    /// Their sectors, 512 bytes each.
    pub sectors: u64,
    /// Their summed latency in nanoseconds.
    pub latency_ns: u64,
    tail: Sparse,
}

impl RowHost {
    /// The mean latency in nanoseconds; `None` when none completed.
    pub fn mean_ns(&self) -> Option<f64> {
        (self.requests > 0).then(|| self.latency_ns as f64 / self.requests as f64)
    }

    /// The 99th percentile of latency, within 1.6 %; `None` when none completed.
    pub fn p99(&self) -> Option<Nanos> {
        self.tail.quantile(0.99)
    }
}

/// One interval of the measured window.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// When it begins, since the start of the measured window.
    pub start: Nanos,
    /// How long it is; the last row of a run is as short as the run left it.
    pub width: Nanos,
    /// Read requests.
    pub read: RowHost,
    /// Write requests.
    pub write: RowHost,
    /// Trims completed.
    pub trims: u64,
    /// Requests of any kind that failed in part or whole.
    pub failed: u64,
    /// Programs of host data that filled the first wordline of an h-layer; nothing where it is not told who leads.
    pub leader_programs: u64,
    /// Programs of host data that filled another wordline.
    pub follower_programs: u64,
    /// Mapping units of host data programmed.
    pub host_units: u64,
    /// Mapping units of old data programmed again, for any cause.
    pub moved_units: u64,
    /// Mapping units programmed with padding.
    pub padding_units: u64,
    /// Flash pages programmed by garbage collection, copyback included.
    pub gc_pages: u64,
    /// Flash pages read.
    pub pages_read: u64,
    /// Flash pages programmed, copyback included.
    pub pages_programmed: u64,
    /// Block groups erased.
    pub erases: u64,
    /// Σ over dies of the time their arrays worked, in nanoseconds.
    pub die_ns: u64,
    /// Σ over channels of the time their buses were held, in nanoseconds.
    pub channel_ns: u64,
    /// The integral of requests in flight, in request-nanoseconds.
    pub in_flight_ns: u128,
}

impl Row {
    /// `count` per second of this row, by exact time.
    pub fn per_second(&self, count: u64) -> f64 {
        if self.width == Nanos::ZERO { 0.0 } else { count as f64 / self.width.as_secs_f64() }
    }

    /// Mapping units programmed over mapping units' worth of sectors written; `None` when nothing was written.
    pub fn waf(&self, unit_bytes: u64) -> Option<f64> {
        let written = self.write.sectors * wordline_units::host::SECTOR_BYTES;
        let programmed = (self.host_units + self.moved_units + self.padding_units) * unit_bytes;
        (written > 0).then(|| programmed as f64 / written as f64)
    }

    /// Of the programs of host data, the share that filled the first wordline of an h-layer; `None` where there were none, or it is not told who leads.
    pub fn leaders(&self) -> Option<f64> {
        let all = self.leader_programs + self.follower_programs;
        (all > 0).then(|| self.leader_programs as f64 / all as f64)
    }

    /// Take in the row that follows this one.
    pub fn merge(&mut self, later: &Row) {
        self.width += later.width;
        for (mine, theirs) in [(&mut self.read, &later.read), (&mut self.write, &later.write)] {
            mine.requests += theirs.requests;
            mine.sectors += theirs.sectors;
            mine.latency_ns += theirs.latency_ns;
            mine.tail.merge(&theirs.tail);
        }
        self.trims += later.trims;
        self.failed += later.failed;
        self.leader_programs += later.leader_programs;
        self.follower_programs += later.follower_programs;
        self.host_units += later.host_units;
        self.moved_units += later.moved_units;
        self.padding_units += later.padding_units;
        self.gc_pages += later.gc_pages;
        self.pages_read += later.pages_read;
        self.pages_programmed += later.pages_programmed;
        self.erases += later.erases;
        self.die_ns += later.die_ns;
        self.channel_ns += later.channel_ns;
        self.in_flight_ns += later.in_flight_ns;
    }
}

/// The sums of the counters that rows show: a copy of all counters for each row costs more than the row.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    /// Requests, sectors and latency, kind by kind.
    host: [[u64; 3]; KINDS.len()],
    trims: u64,
    failed: u64,
    leader_programs: u64,
    follower_programs: u64,
    host_units: u64,
    moved_units: u64,
    padding_units: u64,
    gc_pages: u64,
    pages_read: u64,
    pages_programmed: u64,
    erases: u64,
    die_ns: u64,
    channel_ns: u64,
}

impl Counts {
    fn of(totals: &Totals) -> Counts {
        let host = |op: HostOp| {
            let count = totals.host(op);
            [count.requests, count.sectors, count.latency_ns()]
        };
        Counts {
            host: KINDS.map(host),
            trims: totals.host(HostOp::Trim).requests,
            failed: HostOp::ALL.into_iter().map(|op| totals.host(op).failed).sum(),
            leader_programs: totals.leaders.host_programs,
            follower_programs: totals.followers.host_programs,
            host_units: totals.host_units(),
            moved_units: totals.all_moved_units(),
            padding_units: totals.padding_units(),
            gc_pages: [FlashOp::Program, FlashOp::Copyback].into_iter().map(|op| totals.flash(op, Cause::Gc).pages).sum(),
            pages_read: totals.pages(FlashOp::Read),
            pages_programmed: totals.pages_programmed(),
            erases: totals.pages(FlashOp::Erase),
            die_ns: totals.die_ns,
            channel_ns: totals.channel_ns,
        }
    }
}

/// The rows of a window and the one being filled.
#[derive(Clone, Debug)]
pub(crate) struct Series {
    window: Nanos,
    width: Nanos,
    rows_max: usize,
    rows: Vec<Row>,
    start: Nanos,
    next: Nanos,
    at_start: Counts,
    integral_at_start: u128,
    // Work booked to earlier rows although it ended in this one.
    earlier: [u64; 2],
    tails: [RowLatencies; KINDS.len()],
}

impl Series {
    pub(crate) fn new(interval: Interval, window: Nanos, totals: &Totals, integral: u128) -> Series {
        let width = interval.first();
        Series {
            window,
            width,
            // Pairs of rows merge, so their number must be even.
            rows_max: interval.rows_max() & !1,
            rows: Vec::new(),
            start: window,
            next: window.saturating_add(width),
            at_start: Counts::of(totals),
            integral_at_start: integral,
            earlier: [0; 2],
            tails: Default::default(),
        }
    }

    /// The first instant that belongs to the next row.
    #[inline]
    pub(crate) fn next(&self) -> Nanos {
        self.next
    }

    /// When the row being filled begins.
    #[inline]
    pub(crate) fn start(&self) -> Nanos {
        self.start
    }

    #[inline]
    pub(crate) fn record(&mut self, op: HostOp, latency: Nanos) {
        if op as usize <= HostOp::Write as usize {
            self.tails[op as usize].record(latency);
        }
    }

    /// Of `excess` nanoseconds of work done before this row begins, book what belongs to the window's earlier rows to them. Returns the rest, which
    /// was done before the window began.
    #[cold]
    pub(crate) fn book_earlier(&mut self, part: Part, excess: u64) -> u64 {
        let mut left = excess;
        for row in self.rows.iter_mut().rev() {
            if left == 0 {
                break;
            }
            let share = left.min(row.width.0);
            match part {
                Part::Die => row.die_ns += share,
                Part::Channel => row.channel_ns += share,
            }
            left -= share;
        }
        self.earlier[part as usize] += excess - left;
        left
    }

    /// End the row being filled at `end`.
    pub(crate) fn close_row(&mut self, end: Nanos, totals: &Totals, integral: u128) {
        let (now, before) = (Counts::of(totals), &self.at_start);
        let host = |kind: usize| {
            let [requests, sectors, latency_ns] = [0, 1, 2].map(|part| now.host[kind][part] - before.host[kind][part]);
            RowHost { requests, sectors, latency_ns, tail: self.tails[kind].sparse() }
        };
        self.rows.push(Row {
            start: self.start - self.window,
            width: end - self.start,
            read: host(0),
            write: host(1),
            trims: now.trims - before.trims,
            failed: now.failed - before.failed,
            leader_programs: now.leader_programs - before.leader_programs,
            follower_programs: now.follower_programs - before.follower_programs,
            host_units: now.host_units - before.host_units,
            moved_units: now.moved_units - before.moved_units,
            padding_units: now.padding_units - before.padding_units,
            gc_pages: now.gc_pages - before.gc_pages,
            pages_read: now.pages_read - before.pages_read,
            pages_programmed: now.pages_programmed - before.pages_programmed,
            erases: now.erases - before.erases,
            die_ns: now.die_ns - before.die_ns - self.earlier[Part::Die as usize],
            channel_ns: now.channel_ns - before.channel_ns - self.earlier[Part::Channel as usize],
            in_flight_ns: integral - self.integral_at_start,
        });
        for tail in &mut self.tails {
            if tail.count() > 0 {
                tail.clear();
            }
        }
        self.earlier = [0; 2];
        self.start = end;
        self.at_start = now;
        self.integral_at_start = integral;
        if self.rows.len() >= self.rows_max {
            self.coarsen();
        }
        self.next = end.saturating_add(self.width);
    }

    fn coarsen(&mut self) {
        self.width = Nanos(self.width.0.saturating_mul(2));
        let mut rows = std::mem::take(&mut self.rows).into_iter();
        while let Some(mut row) = rows.next() {
            if let Some(later) = rows.next() {
                row.merge(&later);
            }
            self.rows.push(row);
        }
    }

    pub(crate) fn rows(&self) -> &[Row] {
        &self.rows
    }
}
