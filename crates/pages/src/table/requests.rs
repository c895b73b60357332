//! `requests.parquet` and `requests.csv`: one row per completed request, written while the run goes on.

use std::io::Write;

use parquet::data_type::ByteArray;
use wordline_engine::{Completion, Event, Observer};
use wordline_units::{HostOp, Nanos, Priority};

use super::column::{Cell, Column, Kind, integer, word};
use super::file::{Format, Table, TableError};

/// Rows in a row group: what a log holds in memory, about 10 MB.
const GROUP: usize = 65_536;

/// The columns of a table of requests. Instants count from the start of the run.
pub const REQUESTS: &[Column] = &[
    integer("arrived_ns", "ns", "when the host issued the request"),
    integer("completed_ns", "ns", "when it was acknowledged; rows are in this order"),
    word("op", "`read`, `write`, `trim`, `flush` or `hint`"),
    word("priority", "`urgent`, `high`, `normal` or `low`"),
    integer("sector", "sectors of 512 B", "the first sector"),
    integer("sectors", "sectors of 512 B", "the size"),
    integer("latency_ns", "ns", "from issue to acknowledgement: the sum of the stages below"),
    integer("host_queue_ns", "ns", "waiting in the host's queue for a slot of the device"),
    integer("core_ns", "ns", "waiting for and being worked on by a firmware core"),
    integer("dram_ns", "ns", "waiting for and moving through DRAM and the host link"),
    integer("buffer_ns", "ns", "waiting in the write buffer, for space or until durable"),
    integer("die_wait_ns", "ns", "waiting for a die"),
    integer("die_ns", "ns", "the die's array at work"),
    integer("channel_ns", "ns", "waiting for and moving over the channel bus"),
    integer("ecc_ns", "ns", "error correction"),
    Column { name: "ok", kind: Kind::Flag, unit: "", meaning: "whether every sector could be read or written" },
    integer(
        "blank_sectors",
        "sectors of 512 B",
        "of a read: its sectors in mapping units that hold nothing, because they were never written or were trimmed; of a trim: its sectors beyond the mapping units that it freed",
    ),
    word("phase", "the phase of the workload; `replay` for a trace"),
];

/// An observer that writes every completed request to a table, a row group at a time.
pub struct RequestLog<W: Write + Send> {
    table: Table<W>,
    ops: [ByteArray; HostOp::ALL.len()],
    priorities: [ByteArray; Priority::ALL.len()],
    phase: ByteArray,
    from: Nanos,
    // An observer cannot fail; the first error ends the log and is told at the end.
    error: Option<TableError>,
}

impl<W: Write + Send> RequestLog<W> {
    /// A log of the requests that complete at or after `from`.
    ///
    /// # Errors
    /// When the head of the file cannot be written.
    pub fn new(format: Format, to: W, from: Nanos) -> Result<RequestLog<W>, TableError> {
        Ok(RequestLog {
            table: Table::new(format, "requests", REQUESTS, to)?,
            ops: HostOp::ALL.map(|op| ByteArray::from(op.name())),
            priorities: Priority::ALL.map(|priority| ByteArray::from(priority.name())),
            phase: ByteArray::from(""),
            from,
            error: None,
        })
    }

    /// Leave out requests that complete before `from`: the start of the measured window, once it is known.
    pub fn start_at(&mut self, from: Nanos) {
        self.from = from;
    }

    /// Writes down how the table came about.
    pub fn mark(&mut self, about: &[(String, String)]) {
        self.table.mark(about);
    }

    /// From now on requests complete in the phase called `name`.
    pub fn begin_phase(&mut self, name: &str) {
        self.phase = ByteArray::from(name);
    }

    /// Write what is held and the foot of the file; returns where it was written to.
    ///
    /// # Errors
    /// The first error since the log was made.
    pub fn finish(self) -> Result<W, TableError> {
        match self.error {
            Some(error) => Err(error),
            None => self.table.finish(),
        }
    }

    fn write(&mut self, at: Nanos, done: &Completion) {
        let stages = done.stages.values().map(|stage| Cell::Integer(stage.0));
        let [host_queue, core, dram, buffer, die_wait, die, channel, ecc] = stages;
        self.table.push(&[
            Cell::Integer(done.arrived.0),
            Cell::Integer(at.0),
            Cell::Text(&self.ops[done.op as usize]),
            Cell::Text(&self.priorities[done.attributes.priority as usize]),
            Cell::Integer(done.sector),
            Cell::Integer(u64::from(done.sectors)),
            Cell::Integer(done.stages.total().0),
            host_queue,
            core,
            dram,
            buffer,
            die_wait,
            die,
            channel,
            ecc,
            Cell::Flag(done.ok),
            Cell::Integer(u64::from(done.blank)),
            Cell::Text(&self.phase),
        ]);
        if self.table.held() >= GROUP
            && let Err(error) = self.table.flush()
        {
            self.error = Some(error);
        }
    }
}

impl<W: Write + Send> Observer for RequestLog<W> {
    fn observe(&mut self, at: Nanos, event: &Event) {
        if let Event::Completed(done) = event
            && at >= self.from
            && self.error.is_none()
        {
            self.write(at, done);
        }
    }
}
