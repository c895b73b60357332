//! `intervals.parquet` and `intervals.csv`: the time series of one or more drives.

use std::io::Write;

use parquet::data_type::ByteArray;
use wordline_units::Nanos;
use wordline_units::host::SECTOR_BYTES;

use super::column::{Cell, Column, integer, real, word};
use super::file::{Format, Table, TableError};
use wordline_figures::conclude::DriveDetail;
use wordline_figures::series::{Row, RowHost};

/// One interval of one drive.
struct At<'a> {
    name: &'a ByteArray,
    phase: &'a ByteArray,
    drive: &'a DriveDetail,
    row: &'a Row,
}

type Value = for<'a> fn(&At<'a>) -> Cell<'a>;

fn some<'a>(value: f64) -> Cell<'a> {
    Cell::Real(Some(value))
}

fn mib<'a>(row: &Row, host: &RowHost) -> Cell<'a> {
    some(row.per_second(host.sectors * SECTOR_BYTES) / f64::from(1 << 20))
}

fn mean<'a>(host: &RowHost) -> Cell<'a> {
    Cell::Real(host.mean_ns().map(|ns| ns / 1e3))
}

fn p99<'a>(host: &RowHost) -> Cell<'a> {
    Cell::Real(host.p99().map(|span| span.as_micros_f64()))
}

fn share<'a>(row: &Row, busy: u64, parts: u32) -> Cell<'a> {
    some(row.per_second(busy) / 1e9 / f64::from(parts.max(1)))
}

fn in_flight<'a>(row: &Row) -> Cell<'a> {
    some(if row.width.0 == 0 { 0.0 } else { row.in_flight_ns as f64 / row.width.0 as f64 })
}

/// Columns of a table of intervals, each with its value. Instants count from the start of the measured window.
const LIST: &[(Column, Value)] = &[
    (word("drive", "the drive's name"), |at| Cell::Text(at.name)),
    (integer("seed", "", "the seed of all random streams"), |at| Cell::Integer(at.drive.seed)),
    (real("start_s", "s", "when the interval begins"), |at| some(at.row.start.as_secs_f64())),
    (real("width_s", "s", "how long it is; the last one ends with the window"), |at| some(at.row.width.as_secs_f64())),
    (integer("reads", "requests", "reads completed without a failure"), |at| Cell::Integer(at.row.read.requests)),
    (integer("writes", "requests", "writes completed without a failure"), |at| Cell::Integer(at.row.write.requests)),
    (integer("trims", "requests", "trims completed without a failure"), |at| Cell::Integer(at.row.trims)),
    (real("read_iops", "1/s", "reads completed per second"), |at| some(at.row.per_second(at.row.read.requests))),
    (real("write_iops", "1/s", "writes completed per second"), |at| some(at.row.per_second(at.row.write.requests))),
    (real("read_mib_s", "MiB/s", "data read per second"), |at| mib(at.row, &at.row.read)),
    (real("write_mib_s", "MiB/s", "data written per second"), |at| mib(at.row, &at.row.write)),
    (real("read_mean_us", "us", "mean latency of reads; null when none completed"), |at| mean(&at.row.read)),
    (real("read_p99_us", "us", "99th percentile of reads, within 1.6 %"), |at| p99(&at.row.read)),
    (real("write_mean_us", "us", "mean latency of writes; null when none completed"), |at| mean(&at.row.write)),
    (real("write_p99_us", "us", "99th percentile of writes, within 1.6 %"), |at| p99(&at.row.write)),
    (real("waf", "", "mapping units programmed over mapping units' worth of sectors written; null when nothing was written"), |at| {
        Cell::Real(at.row.waf(at.drive.unit.0))
    }),
    (integer("host_units", "mapping units", "new host data programmed"), |at| Cell::Integer(at.row.host_units)),
    (integer("moved_units", "mapping units", "old data programmed again, for any cause"), |at| Cell::Integer(at.row.moved_units)),
    (integer("padding_units", "mapping units", "padding programmed"), |at| Cell::Integer(at.row.padding_units)),
    (integer("gc_pages", "flash pages", "pages programmed by garbage collection, copyback included"), |at| Cell::Integer(at.row.gc_pages)),
    (integer("pages_read", "flash pages", "pages read"), |at| Cell::Integer(at.row.pages_read)),
    (integer("pages_programmed", "flash pages", "pages programmed, copyback included"), |at| Cell::Integer(at.row.pages_programmed)),
    (integer("erases", "block groups", "block groups erased"), |at| Cell::Integer(at.row.erases)),
    (real("die_utilisation", "", "share of all dies' time in which their arrays worked"), |at| share(at.row, at.row.die_ns, at.drive.dies)),
    (real("channel_utilisation", "", "share of all channels' time in which their buses were held"), |at| {
        share(at.row, at.row.channel_ns, at.drive.channels)
    }),
    (real("mean_in_flight", "requests", "mean number of requests in flight"), |at| in_flight(at.row)),
    (
        integer(
            "leader_programs",
            "programs",
            "programs of host data that filled the first wordline of an h-layer; 0 where dies do not program whole wordlines",
        ),
        |at| Cell::Integer(at.row.leader_programs),
    ),
    (integer("follower_programs", "programs", "programs of host data that filled another wordline of an h-layer"), |at| {
        Cell::Integer(at.row.follower_programs)
    }),
    (integer("failed", "requests", "requests of any kind that failed in part or whole; no other column counts them"), |at| {
        Cell::Integer(at.row.failed)
    }),
    (word("phase", "the phase of the workload in which the interval begins; `replay` for a trace"), |at| Cell::Text(at.phase)),
];

/// The columns of a table of intervals.
pub fn intervals() -> Vec<Column> {
    LIST.iter().map(|(column, _)| *column).collect()
}

/// Write the time series of these drives, one after the other, marked with `about`; returns where they were written to.
///
/// # Errors
/// When the file cannot be written.
pub fn write_intervals<W: Write + Send>(
    format: Format,
    to: W,
    drives: &[DriveDetail],
    about: &[(String, String)],
) -> Result<W, TableError> {
    let mut table = Table::new(format, "intervals", &intervals(), to)?;
    table.mark(about);
    for drive in drives {
        let name = ByteArray::from(drive.name.as_str());
        let phases: Vec<(Nanos, ByteArray)> = drive.phases.iter().map(|(start, name)| (*start, ByteArray::from(name.as_str()))).collect();
        let none = ByteArray::from("");
        for row in &drive.rows {
            let phase = phases.iter().rev().find(|(start, _)| *start <= row.start).map_or(&none, |(_, name)| name);
            let at = At { name: &name, phase, drive, row };
            let cells: Vec<Cell<'_>> = LIST.iter().map(|(_, of)| of(&at)).collect();
            table.push(&cells);
        }
        table.flush()?;
    }
    table.finish()
}
