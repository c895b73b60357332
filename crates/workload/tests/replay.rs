//! Is a trace placed and played as asked, and refused with a way out when it cannot be?

use std::io::Write;

use wordline_units::{Bytes, HostOp, HostRequest};
use wordline_workload::trace::{OnFault, ReadOptions, TraceError};
use wordline_workload::{Fit, Footprint, Format, Placement, Replay, ReplayOptions, TraceReader};

/// Two volumes; the second reaches 40 KiB, the first 1 MiB.
const TRACE: &str = "time_us,op,offset,length,volume\n\
    1000,write,0,4096,a\n\
    1010,write,1044480,4096,a\n\
    1030,read,100,100,a\n\
    1020,write,32768,8192,b\n\
    1040,trim,0,1048576,a\n\
    1050,flush,0,0,a\n";

fn reader(text: &str) -> Result<TraceReader<'_>, TraceError> {
    TraceReader::new(text.as_bytes(), "t.csv", ReadOptions::default())
}

fn footprint() -> Footprint {
    Footprint::measure(&mut reader(TRACE).expect("sound"), Footprint::UNIT).expect("sound")
}

fn play(capacity: Bytes, fit: Fit, options: ReplayOptions) -> Vec<HostRequest> {
    let placement = Placement::new(footprint(), capacity, fit).expect("fits");
    Replay::new(|| reader(TRACE), placement, options).expect("sound").collect::<Result<_, _>>().expect("sound")
}

fn extents(requests: &[HostRequest]) -> Vec<(u64, u32)> {
    requests.iter().map(|request| (request.sector, request.sectors)).collect()
}

#[test]
fn volumes_stand_side_by_side_and_requests_are_widened_to_sectors() {
    assert_eq!(footprint().reach(), Bytes(1_048_576 + 40_960));
    assert_eq!(footprint().touched(), Bytes::kib(16));
    let played = play(Bytes::mib(2), Fit::Reject, ReplayOptions::default());
    assert_eq!(extents(&played), [(0, 8), (2040, 8), (2048 + 64, 16), (0, 1), (0, 2048), (0, 0)]);
    assert_eq!(played.iter().map(|request| request.at.0 / 1000).collect::<Vec<_>>(), [0, 10, 20, 30, 40, 50], "in the order of times");
    assert_eq!(played[5].op, HostOp::Flush);
}

#[test]
fn a_trace_beyond_the_drive_is_refused_with_the_ways_out() {
    let error = Placement::new(footprint(), Bytes::mib(1), Fit::Reject).expect_err("too large").to_string();
    for part in ["byte 1089536", "1.039 MiB", "1 MiB", "'wrap'", "'scale'", "'compact'", "16 KiB"] {
        assert!(error.contains(part), "{error} lacks {part}");
    }
    assert!(Placement::new(footprint(), Bytes::kib(8), Fit::Compact).expect_err("too large").to_string().contains("'wrap' or 'scale'"));
    assert!(Fit::parse("compct").expect_err("unknown").to_string().contains("did you mean 'compact'?"));
}

#[test]
fn wrapping_scaling_and_compacting_keep_every_request_on_the_drive() {
    let half = Bytes::kib(512);
    assert_eq!(
        extents(&play(half, Fit::Wrap, ReplayOptions::default())),
        [(0, 8), (1016, 8), (64, 16), (0, 1), (0, 1024), (0, 1024), (0, 0)]
    );
    let scaled = play(half, Fit::Scale, ReplayOptions::default());
    // 266 units onto 128: unit 255 lands on 122, unit 264 on 127 and is pulled back by one for its second page.
    assert_eq!(extents(&scaled), [(0, 8), (976, 8), (1008, 16), (0, 1), (0, 1024), (0, 0)]);
    // Four pages: a's 0 and 255, b's 8 and 9. The trim of all of a shrinks to its two pages.
    assert_eq!(extents(&play(half, Fit::Compact, ReplayOptions::default())), [(0, 8), (8, 8), (16, 16), (0, 1), (0, 16), (0, 0)]);
}

#[test]
fn speed_divides_times_and_repetition_continues_them() {
    let played = play(Bytes::mib(2), Fit::Reject, ReplayOptions { speed: 10.0, repeat: 3, ..ReplayOptions::default() });
    assert_eq!(played.len(), 18);
    let times: Vec<u64> = played.iter().map(|request| request.at.0).collect();
    assert_eq!(times[..7], [0, 1_000, 2_000, 3_000, 4_000, 5_000, 6_000]);
    assert_eq!(times[12], 12_000);
    let placement = Placement::new(footprint(), Bytes::mib(2), Fit::Reject).expect("fits");
    for speed in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(Replay::new(|| reader(TRACE), placement.clone(), ReplayOptions { speed, ..ReplayOptions::default() }).is_err());
    }
}

#[test]
fn compressed_traces_read_like_plain_ones() {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(TRACE.as_bytes()).expect("memory");
    let gzip = gzip.finish().expect("memory");
    let zstd = zstd::encode_all(TRACE.as_bytes(), 3).expect("memory");
    let plain: Vec<_> = reader(TRACE).expect("sound").map(|record| record.expect("sound")).collect();
    for packed in [&gzip, &zstd] {
        let read = TraceReader::new(packed.as_slice(), "t", ReadOptions::default()).expect("sound");
        assert_eq!(read.map(|record| record.expect("sound")).collect::<Vec<_>>(), plain);
    }
    let cut = TraceReader::new(&gzip[..gzip.len() / 2], "cut.gz", ReadOptions::default());
    let error = cut.and_then(|reader| reader.collect::<Result<Vec<_>, _>>()).expect_err("cut short").to_string();
    assert!(error.starts_with("cut.gz:"), "{error}");
}

#[test]
fn faults_name_file_line_column_and_the_nearest_word() {
    let wrong = TRACE.replace("1020,write", "1020,wirte");
    let error = reader(&wrong).expect("recognised").find_map(Result::err).expect("faulty").to_string();
    assert!(
        error.starts_with("t.csv:5: column op: expected read, write, trim, flush, hint, found 'wirte'; did you mean 'write'?"),
        "{error}"
    );
    let options = ReadOptions { on_fault: OnFault::Skip, ..ReadOptions::default() };
    let mut lenient = TraceReader::new(wrong.as_bytes(), "t.csv", options).expect("recognised");
    assert_eq!(lenient.by_ref().filter(Result::is_ok).count(), 5);
    assert_eq!((lenient.skipped().count, lenient.skipped().first[0].to_string()), (1, error));
    let named = Format::parse("blkprase").expect_err("unknown").to_string();
    assert!(named.contains("did you mean 'blkparse'?") && named.len() < 120, "{named}");
}
