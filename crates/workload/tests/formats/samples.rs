//! The sample of each format: is it recognised by its content, read record by record, and measured right?
//!
//! The samples were written by hand and by a script that shares no code with the readers; [`REQUESTS`] says what they hold.

use std::fmt::Write as _;

use wordline_units::HostOp;
use wordline_workload::Format;
use wordline_workload::trace::samples::sample;
use wordline_workload::trace::{Ascii, AsciiCode, AsciiTime, AsciiUnit, ReadOptions, TraceReader, TraceRecord, TraceStats};

use crate::requests::{Count, REQUESTS, Request};

/// The requests as `format` keeps them, and microseconds of one step of its clock (0: it has none).
fn kept(format: Format) -> (Vec<Request>, u64) {
    let (has_volumes, step, ops): (bool, u64, usize) = match format.name() {
        "msr" | "systor" | "alibaba" | "spc" | "ycsb" => (true, 1, 12),
        // It keeps whole seconds: the sample has a second for each millisecond.
        "tencent" => (true, 1_000_000, 12),
        "flashnet" => (false, 1, 12),
        "nexus5" => (false, 0, 12),
        "wiscsee" => (false, 1, 13),
        "cloudphysics" => (false, 1, 14),
        "blkparse" | "fio2" | "fio3" | "csv" => (true, 1, 14),
        _ if matches!(format, Format::Ascii(Ascii { time: AsciiTime::Position, .. })) => (true, 0, 12),
        _ => (true, 1, 12),
    };
    let request = |(at, volume, op, offset, length): Request| {
        let at = if step == 1_000_000 { at / 1000 } else { at };
        (at * step, if has_volumes { volume } else { 0 }, op, offset, length)
    };
    (REQUESTS[..ops].iter().map(|one| request(*one)).collect(), step)
}

fn read(text: &str, format: Option<Format>) -> (Vec<TraceRecord>, TraceStats, bool, Format) {
    let options = ReadOptions { format, ..ReadOptions::default() };
    let open = || TraceReader::new(text.as_bytes(), "sample", options).expect("known");
    let records = open().collect::<Result<Vec<_>, _>>().unwrap_or_else(|error| panic!("{error}"));
    let mut reader = open();
    let stats = TraceStats::measure(&mut reader).expect("as before");
    (records, stats, reader.timed(), reader.recognised().format)
}

/// Whether what was read is what the sample holds.
fn check(format: Format, text: &str, named: bool) {
    let (records, stats, timed, found) = read(text, named.then_some(format));
    let (expected, step) = kept(format);
    assert_eq!(found, format);
    assert_eq!(timed, step > 0, "{format}");
    let first = records[0].at.map_or(0, |at| at.0);
    let as_requests: Vec<Request> = records
        .iter()
        .zip(&expected)
        .map(|(record, expected)| {
            let at = record.at.map_or(expected.0, |at| (at.0 - first) / 1000);
            (at, record.volume, record.op, record.offset.0, record.length.0)
        })
        .collect();
    assert_eq!((as_requests, records.len()), (expected.clone(), expected.len()), "{format}");
    assert_eq!(Count::of_stats(&stats), Count::of_requests(&expected), "{format}");
    let span = stats.span.map(|span| span.0 / 1000);
    assert_eq!(span, (step > 0).then(|| expected.last().expect("it is not empty").0), "{format}");
    let fua: Vec<usize> = records.iter().enumerate().filter(|(_, record)| record.fua).map(|(index, _)| index).collect();
    let keeps_fua = matches!(format.name(), "ycsb" | "blkparse" | "csv");
    assert_eq!(fua, if keeps_fua { vec![5] } else { Vec::new() }, "{format}");
    let keeps_latency = matches!(format.name(), "msr" | "systor" | "flashnet" | "csv");
    assert_eq!(records[3].latency.map(|latency| latency.0), keeps_latency.then_some(900_000), "{format}");
}

#[test]
fn every_sample_is_recognised_and_measured_right() {
    let with_sample: Vec<Format> = Format::all().filter(|format| sample(*format).is_some()).collect();
    assert_eq!(with_sample.len(), 18);
    for format in with_sample {
        check(format, sample(format).expect("it has one"), false);
        check(format, sample(format).expect("it has one"), true);
    }
}

#[test]
fn the_other_meanings_of_five_numbers_are_read_when_they_are_named() {
    let mut others = 0;
    for format in Format::all().filter(|format| sample(*format).is_none()) {
        let Format::Ascii(Ascii { time, unit, code }) = format else { continue };
        let mut text = String::new();
        for (number, (at, volume, op, offset, length)) in REQUESTS[..12].iter().enumerate() {
            let unit = if unit == AsciiUnit::Sectors { 512 } else { 1 };
            let code = u8::from((*op == HostOp::Read) == (code == AsciiCode::OneReads));
            let at = match time {
                AsciiTime::Nanos => format!("{}", at * 1000),
                AsciiTime::Millis => format!("{}.{:03}", at / 1000, at % 1000),
                AsciiTime::Position => number.to_string(),
            };
            writeln!(text, "{at} {volume} {} {} {code}", offset / unit, length / unit).expect("memory");
        }
        check(format, &text, true);
        others += 1;
    }
    assert_eq!(others, 8);
}

#[test]
fn the_other_events_of_a_sample_are_the_same_requests() {
    let text = sample(Format::parse("blkparse").expect("known")).expect("it has one");
    for name in ["blkparse-d", "blkparse-c"] {
        let (records, stats, ..) = read(text, Some(Format::parse(name).expect("known")));
        let order: Vec<Request> = records.iter().map(|record| (0, record.volume, record.op, record.offset.0, record.length.0)).collect();
        assert_eq!(Count::of_stats(&stats), Count::of_requests(&order), "{name}");
        let sorted = |mut requests: Vec<Request>| {
            requests.sort_by_key(|(_, volume, op, offset, length)| (*volume, *op as u8, *offset, *length));
            requests
        };
        assert_eq!(
            sorted(order),
            sorted(REQUESTS.map(|(_, volume, op, offset, length)| (0, volume, op, offset, length)).to_vec()),
            "{name}"
        );
    }
}

#[test]
fn rows_in_the_order_of_completion_are_put_in_the_order_of_submission() {
    let format = Format::parse("flashnet").expect("known");
    let (_, stats, ..) = read(sample(format).expect("it has one"), None);
    assert_eq!((stats.out_of_order.records, stats.out_of_order.most.0), (1, 600_000), "the row of 900 us stands behind that of 1500 us");
}
