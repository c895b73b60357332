//! Does a written trace read back as what was written, but for what the format is documented not to carry?

use proptest::prelude::*;
use wordline_units::{Bytes, HostOp, Nanos, Priority, Tolerance};
use wordline_workload::Format;
use wordline_workload::trace::{OutputFormat, ReadOptions, TraceReader, TraceRecord, TraceWriter};

/// Gap, volume, operation, offset, length, latency, unit access and insecurity, priority, tolerance.
type Row = (u64, u32, HostOp, u64, u64, Option<u64>, (bool, bool), Option<Priority>, Tolerance);

fn record() -> impl Strategy<Value = Row> {
    let op = proptest::sample::select(&HostOp::ALL[..]);
    let tolerance = proptest::sample::select(&Tolerance::ALL[..]);
    let priority = proptest::option::of(proptest::sample::select(&Priority::ALL[..]));
    (
        0u64..1 << 50,
        0u32..4,
        op,
        0u64..1 << 45,
        1u64..1 << 24,
        proptest::option::of(0u64..1 << 40),
        any::<(bool, bool)>(),
        priority,
        tolerance,
    )
}

fn records(timed: bool) -> impl Strategy<Value = Vec<TraceRecord>> {
    proptest::collection::vec(record(), 1..40).prop_map(move |rows| {
        let mut numbers: Vec<u32> = Vec::new();
        let mut now = 0;
        let build = |(gap, volume, op, offset, length, latency, (fua, insecure), priority, tolerance): Row| {
            // Volumes are numbered by first appearance.
            let number = numbers.iter().position(|known| *known == volume).unwrap_or_else(|| {
                numbers.push(volume);
                numbers.len() - 1
            });
            now += gap;
            let (offset, length) = if op == HostOp::Flush { (0, 0) } else { (offset, length) };
            TraceRecord {
                at: timed.then_some(Nanos(now)),
                volume: number as u32,
                op,
                offset: Bytes(offset),
                length: Bytes(length),
                latency: latency.map(Nanos),
                fua: fua && op == HostOp::Write,
                priority,
                insecure: insecure && op == HostOp::Write,
                tolerance: if matches!(op, HostOp::Write | HostOp::Hint) { tolerance } else { Tolerance::Default },
            }
        };
        rows.into_iter().map(build).collect()
    })
}

/// What `format` keeps of a record.
fn kept(record: &TraceRecord, format: OutputFormat) -> TraceRecord {
    let mut kept = *record;
    let sectors = |kept: &mut TraceRecord| {
        let (start, end) = (kept.offset.0 / 512 * 512, kept.end().0.div_ceil(512) * 512);
        (kept.offset, kept.length, kept.latency) = (Bytes(start), Bytes(end - start), None);
    };
    let at = record.at.unwrap_or(Nanos::ZERO);
    match format {
        OutputFormat::Csv => return kept,
        OutputFormat::Msr | OutputFormat::Mqsim | OutputFormat::Fio | OutputFormat::Blkparse => {
            (kept.priority, kept.insecure, kept.tolerance) = (None, false, Tolerance::Default)
        }
    }
    match format {
        OutputFormat::Csv => {}
        OutputFormat::Msr => {
            kept.latency = Some(Nanos(record.latency.unwrap_or(Nanos::ZERO).0 / 100 * 100));
            kept.fua = false;
            kept.at = Some(Nanos(at.0 / 100 * 100));
        }
        OutputFormat::Mqsim => {
            sectors(&mut kept);
            kept.fua = false;
            kept.at = Some(at);
        }
        OutputFormat::Fio => {
            kept.latency = None;
            kept.fua = false;
            kept.at = Some(Nanos(at.0 / 1000 * 1000));
        }
        OutputFormat::Blkparse => {
            sectors(&mut kept);
            kept.at = Some(at);
        }
    }
    kept
}

fn renumbered(records: Vec<TraceRecord>) -> Vec<TraceRecord> {
    let mut order: Vec<u32> = Vec::new();
    let number = |mut record: TraceRecord| {
        let at = order.iter().position(|known| *known == record.volume).unwrap_or_else(|| {
            order.push(record.volume);
            order.len() - 1
        });
        record.volume = at as u32;
        record
    };
    records.into_iter().map(number).collect()
}

fn check(records: &[TraceRecord], format: OutputFormat) -> Result<(), TestCaseError> {
    let timed = records[0].at.is_some();
    let mut out = Vec::new();
    let mut writer = TraceWriter::new(&mut out, format, timed).expect("memory");
    for record in records {
        writer.write(record, &format!("host.{}", record.volume)).expect("memory");
    }
    let written = writer.finish().expect("memory");
    let data_only = matches!(format, OutputFormat::Msr | OutputFormat::Mqsim);
    let carries = |op| match op {
        HostOp::Read | HostOp::Write => true,
        HostOp::Trim | HostOp::Flush => !data_only,
        HostOp::Hint => format == OutputFormat::Csv,
    };
    let carried = records.iter().filter(|record| carries(record.op));
    let expected = renumbered(carried.map(|record| kept(record, format)).collect());
    prop_assert_eq!(written.records as usize, expected.len());
    prop_assert_eq!(written.left_out as usize, records.len() - expected.len());
    let name = if format == OutputFormat::Fio { "fio3" } else { format.name() };
    let options = ReadOptions { format: Some(Format::parse(name).expect("known")), ..ReadOptions::default() };
    let reader = TraceReader::new(out.as_slice(), "written", options).expect("readable");
    let read = reader.collect::<Result<Vec<_>, _>>().map_err(|error| TestCaseError::fail(error.to_string()))?;
    prop_assert_eq!(read, expected, "{}", String::from_utf8_lossy(&out));
    if !out.is_empty() {
        let found = TraceReader::new(out.as_slice(), "written", ReadOptions::default()).expect("recognised");
        let found = found.recognised().format;
        let same = found.name() == name || format == OutputFormat::Mqsim && matches!(found, Format::Ascii(_));
        prop_assert!(same, "{} recognised as {}", name, found);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn timed_traces_survive_every_format(records in records(true)) {
        for format in OutputFormat::ALL {
            check(&records, format)?;
        }
    }

    #[test]
    fn traces_without_times_survive_every_format(records in records(false)) {
        for format in OutputFormat::ALL {
            check(&records, format)?;
        }
    }
}

/// The records of a csv text, or the message about the first bad line.
fn read(text: &str) -> Result<Vec<TraceRecord>, String> {
    let reader = TraceReader::new(text.as_bytes(), "t.csv", ReadOptions::default()).map_err(|error| error.to_string())?;
    reader.collect::<Result<_, _>>().map_err(|error| error.to_string())
}

#[test]
fn a_hint_has_a_tolerance_and_a_read_has_none() {
    let text = "op,offset,length,tolerance\nhint,0,1048576,longer\nhint,4096,512,\nread,0,512,shortest\nwrite,0,512,typical\n";
    let found: Vec<_> = read(text).expect("good lines").into_iter().map(|record| (record.op.name(), record.tolerance)).collect();
    let expected = [("hint", Tolerance::Longer), ("hint", Tolerance::Default), ("read", Tolerance::Default), ("write", Tolerance::Typical)];
    assert_eq!(found, expected);
    for (wrong, column, nearest) in [("hnit,0,512,longer", "op", "hint"), ("hint,0,512,longr", "tolerance", "longer")] {
        let told = read(&format!("op,offset,length,tolerance\n{wrong}\n")).expect_err(wrong);
        let parts = ["t.csv:2".to_owned(), format!("column {column}"), format!("did you mean '{nearest}'?")];
        assert!(parts.iter().all(|part| told.contains(part)), "{told}");
    }
    assert!(read("op,offset,length\nhint,0,0\n").is_err_and(|told| told.contains("at least one byte")));
}
