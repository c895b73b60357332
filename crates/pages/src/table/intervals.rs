//! `intervals.parquet` and `intervals.csv`: the time series of one or more drives.

use std::io::Write;

use parquet::data_type::ByteArray;
use wordline_units::Nanos;
use wordline_units::host::SECTOR_BYTES;

use super::{Cell, Column, Format, Table, TableError, integer, real, word};
use wordline_figures::conclude::DriveDetail;
use wordline_figures::series::{Row, RowHost};

/// The columns of a table of intervals. Instants count from the start of the measured window.
pub const INTERVALS: &[Column] = &[
    word("drive", "the drive's name"),
    integer("seed", "", "the seed of all random streams"),
    real("start_s", "s", "when the interval begins"),
    real("width_s", "s", "how long it is; the last one ends with the window"),
    integer("reads", "requests", "reads completed without a failure"),
    integer("writes", "requests", "writes completed without a failure"),
    integer("trims", "requests", "trims completed without a failure"),
    real("read_iops", "1/s", "reads completed per second"),
    real("write_iops", "1/s", "writes completed per second"),
    real("read_mib_s", "MiB/s", "data read per second"),
    real("write_mib_s", "MiB/s", "data written per second"),
    real("read_mean_us", "us", "mean latency of reads; null when none completed"),
    real("read_p99_us", "us", "99th percentile of reads, within 1.6 %"),
    real("write_mean_us", "us", "mean latency of writes; null when none completed"),
    real("write_p99_us", "us", "99th percentile of writes, within 1.6 %"),
    real("waf", "", "mapping units programmed over mapping units' worth of sectors written; null when nothing was written"),
    integer("host_units", "mapping units", "new host data programmed"),
    integer("moved_units", "mapping units", "old data programmed again, for any cause"),
    integer("padding_units", "mapping units", "padding programmed"),
    integer("gc_pages", "flash pages", "pages programmed by garbage collection, copyback included"),
    integer("pages_read", "flash pages", "pages read"),
    integer("pages_programmed", "flash pages", "pages programmed, copyback included"),
    integer("erases", "block groups", "block groups erased"),
    real("die_utilisation", "", "share of all dies' time in which their arrays worked"),
    real("channel_utilisation", "", "share of all channels' time in which their buses were held"),
    real("mean_in_flight", "requests", "mean number of requests in flight"),
    integer(
        "leader_programs",
        "programs",
        "programs of host data that filled the first wordline of an h-layer; 0 where dies do not program whole wordlines",
    ),
    integer("follower_programs", "programs", "programs of host data that filled another wordline of an h-layer"),
    integer("failed", "requests", "requests of any kind that failed in part or whole; no other column counts them"),
    word("phase", "the phase of the workload in which the interval begins; `replay` for a trace"),
];

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
    let mut table = Table::new(format, "intervals", INTERVALS, to)?;
    table.mark(about);
    for drive in drives {
        let name = ByteArray::from(drive.name.as_str());
        let phases: Vec<(Nanos, ByteArray)> = drive.phases.iter().map(|(start, name)| (*start, ByteArray::from(name.as_str()))).collect();
        let none = ByteArray::from("");
        for row in &drive.rows {
            let phase = phases.iter().rev().find(|(start, _)| *start <= row.start).map_or(&none, |(_, name)| name);
            table.push(&cells(&name, phase, drive, row));
        }
        table.flush()?;
    }
    table.finish()
}

fn cells<'a>(name: &'a ByteArray, phase: &'a ByteArray, drive: &DriveDetail, row: &Row) -> [Cell<'a>; INTERVALS.len()] {
    let some = |value: f64| Cell::Real(Some(value));
    let mib = |host: &RowHost| row.per_second(host.sectors * SECTOR_BYTES) / f64::from(1 << 20);
    let mean = |host: &RowHost| Cell::Real(host.mean_ns().map(|ns| ns / 1e3));
    let p99 = |host: &RowHost| Cell::Real(host.p99().map(|span| span.as_micros_f64()));
    let share = |busy: u64, parts: u32| Cell::Real(Some(row.per_second(busy) / 1e9 / f64::from(parts.max(1))));
    [
        Cell::Text(name),
        Cell::Integer(drive.seed),
        some(row.start.as_secs_f64()),
        some(row.width.as_secs_f64()),
        Cell::Integer(row.read.requests),
        Cell::Integer(row.write.requests),
        Cell::Integer(row.trims),
        some(row.per_second(row.read.requests)),
        some(row.per_second(row.write.requests)),
        some(mib(&row.read)),
        some(mib(&row.write)),
        mean(&row.read),
        p99(&row.read),
        mean(&row.write),
        p99(&row.write),
        Cell::Real(row.waf(drive.unit.0)),
        Cell::Integer(row.host_units),
        Cell::Integer(row.moved_units),
        Cell::Integer(row.padding_units),
        Cell::Integer(row.gc_pages),
        Cell::Integer(row.pages_read),
        Cell::Integer(row.pages_programmed),
        Cell::Integer(row.erases),
        share(row.die_ns, drive.dies),
        share(row.channel_ns, drive.channels),
        some(if row.width.0 == 0 { 0.0 } else { row.in_flight_ns as f64 / row.width.0 as f64 }),
        Cell::Integer(row.leader_programs),
        Cell::Integer(row.follower_programs),
        Cell::Integer(row.failed),
        Cell::Text(phase),
    ]
}
