//! Traces that are not in the order of their times: sorted within a window, refused beyond it, and never without a word.

use wordline_units::Bytes;
use wordline_workload::trace::{OnFault, ReadOptions, TraceInfo, TraceReader, TraceStats};
use wordline_workload::{Fit, Footprint, Placement, Replay, ReplayOptions};

/// `count` requests, `gap` microseconds apart, in csv.
fn lines(count: u64, gap: u64) -> Vec<String> {
    (0..count).map(|number| format!("{},write,{},4096\n", number * gap, number * 4096)).collect()
}

fn text(lines: &[String]) -> String {
    format!("time_us,op,offset,length\n{}", lines.concat())
}

fn reader(text: &str) -> TraceReader<'_> {
    TraceReader::new(text.as_bytes(), "t.csv", ReadOptions::default()).expect("known")
}

fn replayed(text: &str) -> Vec<(u64, u64)> {
    let footprint = Footprint::measure(&mut reader(text), Footprint::UNIT).expect("sound");
    let placement = Placement::new(footprint, Bytes::gib(64), Fit::Reject).expect("fits");
    let replay = Replay::new(|| Ok(reader(text)), placement, ReplayOptions::default()).expect("sound");
    replay.map(|request| request.expect("sound")).map(|request| (request.at.0, request.sector)).collect()
}

#[test]
fn two_halves_that_were_exchanged_replay_as_the_whole_and_are_told() {
    let right = lines(20_000, 100);
    let halves = [&right[10_000..], &right[..10_000]].concat();
    assert_eq!(replayed(&text(&halves)), replayed(&text(&right)));
    let exchanged = text(&halves);
    let (mut once, mut twice) = (reader(&exchanged), reader(&exchanged));
    let (info, stats) = (TraceInfo::gather(&mut once).expect("sound"), TraceStats::measure(&mut twice).expect("sound"));
    assert_eq!((info.out_of_order.records, info.out_of_order.most.0), (10_000, 1_999_900_000));
    assert_eq!(stats.out_of_order, info.out_of_order);
    for told in [info.to_string(), stats.to_string()] {
        assert!(told.contains("10000 records up to 2 s late; put in order"), "{told}");
    }
    assert_eq!(stats.gaps.expect("it has times").longest_ns, 100_000);
    assert!(!TraceInfo::gather(&mut reader(&text(&right))).expect("sound").to_string().contains("order "));
}

#[test]
fn records_later_than_the_window_are_refused_with_their_place() {
    // More records between than are held back; and more time.
    for (count, gap, late) in [(200_000, 10, " 2 s earlier"), (1_000, 200_000, " 199.8 s earlier")] {
        let right = lines(count, gap);
        let half = count as usize / 2;
        let exchanged = text(&[&right[half..], &right[..half]].concat());
        for on_fault in [OnFault::Stop, OnFault::Skip] {
            let options = ReadOptions { on_fault, ..ReadOptions::default() };
            let reader = TraceReader::new(exchanged.as_bytes(), "t.csv", options).expect("known");
            let error = reader.filter_map(Result::err).next().expect("it is refused").to_string();
            let place = format!("t.csv:{}: this record is", half + 2);
            assert!(error.starts_with(&place) && error.contains(late) && error.contains("sort the file by time"), "{error}");
        }
    }
}

#[test]
fn a_late_record_moves_to_its_place_and_no_other_moves() {
    let mut lines = lines(100, 10);
    let late = lines.remove(40);
    lines.insert(70, late);
    let shuffled = text(&lines);
    let read: Vec<u64> = reader(&shuffled).map(|record| record.expect("sound").offset.0 / 4096).collect();
    assert_eq!(read, (0..100).collect::<Vec<_>>());
}
