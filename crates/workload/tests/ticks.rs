//! Are the times of a trace taken as they are meant: the tick of its clock, the unit of its columns?

use wordline_units::{Bytes, Nanos};
use wordline_workload::trace::{Format, ReadOptions, Spaces, TraceError};
use wordline_workload::{Fit, Footprint, Placement, Replay, ReplayOptions, TraceInfo, TraceReader, TraceStats};

/// Whole seconds of the published form, `each` requests in each of `seconds` of them.
fn seconds(seconds: u64, each: u64) -> String {
    let line = |number: u64| format!("{},{},8,{},7\n", 1_538_323_200 + number / each, number * 8, number % 2);
    format!("Timestamp,Offset,Size,IOType,VolumeID\n{}", (0..seconds * each).map(line).collect::<String>())
}

fn read(text: &str, options: ReadOptions) -> Result<TraceReader<'_>, TraceError> {
    TraceReader::new(text.as_bytes(), "t", options)
}

fn times(text: &str, options: ReplayOptions) -> Vec<u64> {
    let open = || read(text, ReadOptions::default());
    let footprint = Footprint::measure(&mut open().expect("sound"), Footprint::UNIT).expect("sound");
    let placement = Placement::new(footprint, Bytes::gib(1), Fit::Reject).expect("fits");
    let replay = Replay::new(open, placement, options).expect("sound");
    replay.map(|request| request.expect("sound").at.0).collect()
}

#[test]
fn a_coarse_tick_is_found_and_told_by_info_and_stats() {
    let text = seconds(20, 10);
    let info = TraceInfo::gather(&mut read(&text, ReadOptions::default()).expect("sound")).expect("sound");
    let tick = info.tick.expect("it has times");
    assert_eq!((tick.length, tick.shared, tick.most, tick.coarse), (Some(Nanos(1_000_000_000)), 180, 10, true));
    assert!(info.to_string().contains("tick        1 s; 180 of 200"), "{info}");
    let stats = TraceStats::measure(&mut read(&text, ReadOptions::default()).expect("sound")).expect("sound");
    assert_eq!(stats.tick, Some(tick));
    let json = serde_json::to_value(&info).expect("plain data");
    assert_eq!((&json["tick"]["length_ns"], &json["tick"]["coarse"]), (&1_000_000_000.into(), &true.into()));
}

#[test]
fn records_of_one_tick_are_spread_evenly_over_it_in_their_order() {
    let text = "time_us,op,offset,length\n0,read,0,512\n0,read,512,512\n0,read,1024,512\n0,read,0,512\n3000,read,0,512\n4000,read,0,512\n4000,read,0,512\n";
    let spread = ReplayOptions { spread: Some(Nanos(1_000_000)), ..ReplayOptions::default() };
    assert_eq!(times(text, spread), [0, 250_000, 500_000, 750_000, 3_000_000, 4_000_000, 4_500_000]);
    assert_eq!(times(text, ReplayOptions::default()), [0, 0, 0, 0, 3_000_000, 4_000_000, 4_000_000]);
    // The tick is one of the trace's own clock, so that speed is of it, too; and each time over begins anew.
    let fast = times(text, ReplayOptions { speed: 2.0, repeat: 2, ..spread });
    assert_eq!(fast[..7], [0, 125_000, 250_000, 375_000, 1_500_000, 2_000_000, 2_250_000]);
    let again: Vec<u64> = fast[7..].iter().map(|at| at - fast[7]).collect();
    assert_eq!(again, fast[..7]);
}

#[test]
fn a_unit_of_times_and_a_size_of_sectors_are_taken_as_named() {
    let first = |text: &str, options| read(text, options).and_then(|mut reader| reader.nth(1).expect("two records"));
    let text = seconds(2, 1);
    let plain = ReadOptions::default();
    let named = ReadOptions { time_unit: Some(Nanos(1_000_000)), sector: Some(Bytes::kib(4)), ..plain };
    let (usual, named) = (first(&text, plain).expect("sound"), first(&text, named).expect("sound"));
    assert_eq!((usual.at, usual.offset, usual.length), (Some(Nanos(1_538_323_201_000_000_000)), Bytes(4_096), Bytes(4_096)));
    assert_eq!((named.at, named.offset, named.length), (Some(Nanos(1_538_323_201_000_000)), Bytes(32_768), Bytes(32_768)));
    // Whole numbers are exact, whatever their unit.
    let own = "time_us,op,offset,length\n1,read,0,512\n2.5,read,0,512\n";
    let hundreds = ReadOptions { time_unit: Some(Nanos(100)), ..plain };
    assert_eq!(first(own, hundreds).expect("sound").at, Some(Nanos(250)));
}

#[test]
fn units_of_columns_that_a_format_has_not_are_refused() {
    let unit = ReadOptions { time_unit: Some(Nanos(1_000)), ..ReadOptions::default() };
    let sector = ReadOptions { sector: Some(Bytes::kib(4)), ..ReadOptions::default() };
    let error = |text: &str, options| {
        read(text, options).and_then(|reader| reader.collect::<Result<Vec<_>, _>>()).expect_err("refused").to_string()
    };
    let own = "time_us,op,offset,length\n1,read,0,512\n";
    assert!(error(own, sector).contains("csv counts in bytes"), "{}", error(own, sector));
    let untimed = "op,offset,length\nread,0,512\n";
    assert!(error(untimed, unit).contains("the column time_us"), "{}", error(untimed, unit));
    let phone = "0,4096,1\n8,4096,0\n";
    assert!(error(phone, unit).contains("nexus5 has none"), "{}", error(phone, unit));
    let fio = "fio version 2 iolog\nf add\nf open\nf read 0 4096\n";
    assert!(error(fio, unit).contains("no wait"), "{}", error(fio, unit));
}

#[test]
fn volumes_are_apart_or_one() {
    let text = "time_us,op,offset,length,volume\n0,write,0,4096,a\n1,write,4096,4096,b\n2,read,0,4096,c\n";
    let one = ReadOptions { spaces: Spaces::One, ..ReadOptions::default() };
    let numbers = |options| read(text, options).expect("sound").map(|record| record.expect("sound").volume).collect::<Vec<_>>();
    assert_eq!((numbers(ReadOptions::default()), numbers(one)), (vec![0, 1, 2], vec![0, 0, 0]));
    let info = TraceInfo::gather(&mut read(text, one).expect("sound")).expect("sound");
    assert_eq!((info.volumes_met, info.volumes.len()), (3, 1));
    assert!(info.to_string().contains("3, taken as one address space"), "{info}");
    let footprint = Footprint::measure(&mut read(text, one).expect("sound"), Footprint::UNIT).expect("sound");
    assert_eq!(footprint.reach(), Bytes(8_192));
}

#[test]
fn rows_of_systor_without_a_type_are_counted_by_any_reading() {
    let text = "Timestamp,Response,IOType,LUN,Offset,Size\n1455592000.000010,0.000120,W,3,1048576,4096\n1455592000.000300,0.000080,,3,1052672,8192\n\
                1455592000.000700,,,3,1052672,8192\n1455592000.001500,0.000210,R,3,1056768,4096\n";
    let mut reader = read(text, ReadOptions::default()).expect("sound");
    assert_eq!(reader.recognised().format, Format::Systor);
    assert_eq!(reader.by_ref().filter(Result::is_ok).count(), 2);
    assert_eq!((reader.skipped().count, reader.skipped().first.len()), (2, 2));
    assert!(reader.skipped().first[0].to_string().starts_with("t:3: column IOType"), "{}", reader.skipped().first[0]);
    let info = TraceInfo::gather(&mut read(text, ReadOptions::default()).expect("sound")).expect("sound");
    assert_eq!(info.skipped_lines, 2);
    // Any other word there still ends a strict reading.
    let wrong = text.replace(",W,", ",X,");
    assert!(
        read(&wrong, ReadOptions { format: Some(Format::Systor), ..ReadOptions::default() })
            .expect("named")
            .next()
            .expect("a line")
            .is_err()
    );
}
