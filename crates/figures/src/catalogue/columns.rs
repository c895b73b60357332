//! Columns of tables of latencies.

use crate::result::Latency;

/// A figure of `T` as a column.
#[derive(Clone, Copy, Debug)]
pub struct Column<T> {
    /// Name of the member in the JSON.
    pub name: &'static str,
    /// Head of the column.
    pub head: &'static str,
    /// Depth from which on it is shown.
    pub depth: Depth,
    /// Its value.
    pub of: fn(&T) -> f64,
    /// Whether comparisons of reads and of writes have it.
    pub(super) is_compared: bool,
    /// Places among the figures of a sweep, for reads and for writes.
    pub(super) swept: [Option<u8>; 2],
}

/// Number of columns of a table: each depth has those of the one before, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Depth {
    /// Mean and the 99th percentile.
    Brief,
    /// The tail up to the 99.9th percentile.
    Tail,
    /// The median, the far tail and the maximum.
    Most,
    /// All columns.
    All,
}

const fn column(name: &'static str, head: &'static str, depth: Depth, of: fn(&Latency) -> f64) -> Column<Latency> {
    Column { name, head, depth, of, is_compared: true, swept: [None; 2] }
}

const fn swept(column: Column<Latency>, swept: [Option<u8>; 2]) -> Column<Latency> {
    Column { swept, ..column }
}

const fn alone(column: Column<Latency>) -> Column<Latency> {
    Column { is_compared: false, ..column }
}

const LATENCY: [Column<Latency>; 7] = [
    swept(column("mean", "mean", Depth::Brief, |of| of.mean), [Some(2), Some(4)]),
    column("p50", "p50", Depth::Most, |of| of.p50),
    alone(column("p90", "p90", Depth::All, |of| of.p90)),
    swept(column("p99", "p99", Depth::Brief, |of| of.p99), [Some(3), Some(5)]),
    swept(column("p999", "p99.9", Depth::Tail, |of| of.p999), [None, Some(6)]),
    column("p9999", "p99.99", Depth::Most, |of| of.p9999),
    alone(column("max", "max", Depth::Most, |of| of.max)),
];

/// Columns of a table of latencies as deep as `depth`, from the mean to the maximum.
pub fn latency(depth: Depth) -> impl Iterator<Item = &'static Column<Latency>> {
    LATENCY.iter().filter(move |column| column.depth <= depth)
}
