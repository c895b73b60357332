//! Are real traces, each with conventions of its own, recognised by content and measured right?
//!
//! The expected numbers are an independent count over the same files; they are compared within the rounding they are printed with. The traces are not part
//! of the project: where they are absent, the test counts as skipped. `samples.rs` asks the same of small traces that are.

use std::path::Path;

use wordline_workload::trace::{Format, ReadOptions, TraceStats, open};

use crate::outside;

/// One row: file, format, requests, span in s (0: no times), read %, read GB, written GB, mean read KiB, mean write KiB, highest
/// byte GB, footprint pages, overwrite ratio (0: no writes), volumes.
type Row = (&'static str, &'static str, u64, f64, f64, f64, f64, f64, f64, f64, u64, f64, usize);

const HOUR: f64 = 3600.0;
const DAY: f64 = 86_400.0;

#[rustfmt::skip]
#[expect(clippy::approx_constant, reason = "a measured ratio that happens to be 3.14")]
const ROWS: [Row; 29] = [
    ("msr/hm_0.cut105_10k.trace.zst", "heimdall", 10_000, 242.9, 20.2, 0.004, 0.051, 1.8, 6.2, 14.96, 7_385, 2.45, 1),
    ("msr/hm_0.cut1370_10k.trace.zst", "heimdall", 10_000, 85.9, 40.5, 0.020, 0.029, 4.7, 4.8, 14.86, 8_968, 2.28, 1),
    ("msr/hm_0.cut1006_10k.trace.zst", "heimdall", 10_000, 1.0, 83.2, 0.036, 0.095, 4.2, 54.9, 12.67, 29_025, 1.00, 1),
    ("msr/hm_1.6454.ssdsim.trace.zst", "disksim", 6_454, 1055.8, 95.3, 0.085, 0.004, 13.5, 12.3, 2.35, 1_899, 2.67, 1),
    ("msr/prxy_0.reads_only_29360.ssdsim.trace.zst", "disksim", 29_360, 12.96 * HOUR, 100.0, 0.292, 0.000, 9.7, 0.0, 22.20, 20_017, 0.0, 1),
    ("msr/proj_0.writes_only.csv.zst", "msr", 1_000, 510.5, 0.1, 0.000, 0.007, 16.0, 6.9, 17.21, 444, 4.32, 1),
    ("msr/mds_0.writes_only.csv.zst", "msr", 1_000, 618.8, 0.0, 0.000, 0.006, 0.0, 5.7, 36.41, 448, 3.48, 1),
    ("msr/hm_0.writes_only.csv.zst", "msr", 1_000, 190.1, 0.0, 0.000, 0.007, 0.0, 6.7, 13.58, 943, 1.91, 1),
    ("msr/hm_1.writes_only.csv.zst", "msr", 1_000, 6.99 * HOUR, 0.0, 0.000, 0.034, 0.0, 33.4, 27.31, 7_546, 1.11, 1),
    ("msr/rsrch_1.writes_only.csv.zst", "msr", 1_000, 7.13 * HOUR, 0.1, 0.000, 0.007, 4.0, 6.7, 99.06, 1_272, 1.31, 1),
    ("msr/rsrch_2.writes_only.csv.zst", "msr", 1_000, 7.62 * HOUR, 0.0, 0.000, 0.004, 0.0, 4.3, 87.44, 676, 3.05, 1),
    ("msr/wdev_1.writes_only.csv.zst", "msr", 1_000, 6.50 * DAY, 0.0, 0.000, 0.005, 0.0, 5.1, 54.62, 346, 3.70, 1),
    ("msr/wdev_3.writes_only.csv.zst", "msr", 200, 2.00 * DAY, 0.5, 0.000, 0.001, 64.0, 4.3, 36.42, 61, 9.34, 1),
    ("msps/dtrs.127043.trace.zst", "mqsim", 127_043, 8.33 * HOUR, 89.0, 6.437, 0.761, 55.6, 53.4, 164.51, 1_272_267, 1.01, 1),
    ("oltp/umass_financial1.first_10000.ascii.zst", "mqsim", 10_000, 259.6, 40.8, 0.025, 0.030, 6.1, 4.9, 0.51, 7_322, 3.32, 22),
    ("oltp/umass_financial1.first_949.spc.zst", "spc", 949, 28.4, 19.3, 0.000, 0.002, 1.6, 2.9, 0.51, 491, 2.71, 16),
    ("oltp/ms_tpcc_small.trace.zst", "mqsim", 6_999, 0.136, 62.6, 0.036, 0.023, 8.1, 8.7, 232.71, 20_470, 1.01, 16),
    ("websearch/wsrch_small.trace.zst", "mqsim", 24_783, 60.1, 100.0, 0.382, 0.000, 15.1, 8.0, 17.90, 93_029, 2.00, 6),
    ("mobile/nexus5_messaging.notime.csv.zst", "nexus5", 5_702, 0.0, 2.7, 0.004, 0.062, 23.2, 10.9, 30.22, 10_468, 1.69, 1),
    ("rocksdb/ycsb_rocksdb.first_10000_D.csv.zst", "ycsb", 10_000, 7.2, 100.0, 0.639, 0.000, 62.4, 0.0, 512.10, 156_095, 0.0, 1),
    ("rocksdb/ycsb_rocksdb.first_10000_events.blkparse.zst", "blkparse-d", 1_694, 0.680, 100.0, 0.198, 0.000, 114.2, 0.0, 512.10, 48_347, 0.0, 1),
    ("rocksdb/ycsb_rocksdb.writes_only_notime.trace.zst", "mqsim-untimed", 87_487, 0.0, 0.0, 0.000, 7.292, 0.0, 81.4, 512.10, 483_465, 3.68, 1),
    ("cloud/cloudphysics_2h.csv.zst", "cloudphysics", 113_872, 2.00 * HOUR, 41.3, 1.797, 2.409, 37.4, 35.2, 33.58, 269_210, 3.14, 1),
    ("cloud/tencent_cbs.rw_65_35.211_50k.csv.zst", "flashnet", 50_000, 132.0, 65.9, 0.360, 0.207, 10.7, 11.8, 0.11, 14_129, 8.41, 1),
    ("cloud/tencent_cbs.rw_60_40.490_50k.csv.zst", "flashnet", 50_000, 147.0, 60.0, 0.357, 0.245, 11.6, 12.0, 0.11, 14_972, 9.13, 1),
    ("cloud/tencent_cbs.most_rand_iops.537_50k.csv.zst", "flashnet", 50_000, 54.0, 82.1, 0.359, 0.103, 8.5, 11.2, 0.11, 11_439, 6.33, 1),
    ("fs/postmark.disksim_ssd.trace.zst", "disksim", 62_257, 490.4, 83.2, 5.236, 8.937, 98.8, 833.0, 22.89, 1_533_388, 1.42, 1),
    ("fs/iozone_100k.disksim_ssd.trace.zst", "disksim", 100_000, 936.4, 0.0, 0.000, 36.856, 0.0, 359.9, 17.26, 271_320, 33.16, 1),
    ("fs/sqlite_wal_ext4.txt.zst", "wiscsee", 5_007, 1.4, 0.1, 0.000, 0.069, 4.0, 13.5, 0.54, 2_174, 7.78, 1),
];

fn near(found: f64, printed: f64, rounding: f64) -> bool {
    (found - printed).abs() <= rounding * 1.000_001
}

fn differences(path: &Path, row: &Row) -> Vec<String> {
    let (_, format, requests, span, read_percent, read_gb, written_gb, mean_read, mean_write, highest, pages, overwrite, volumes) = *row;
    // The table counts what was issued (D), where Q is what recognition prefers; every other format is left to recognition.
    let named = (format == "blkparse-d").then(|| Format::parse(format).expect("a known name"));
    let mut reader = match open(path, ReadOptions { format: named, ..ReadOptions::default() }) {
        Ok(reader) => reader,
        Err(error) => return vec![error.to_string()],
    };
    let stats = match TraceStats::measure(&mut reader) {
        Ok(stats) => stats,
        Err(error) => return vec![error.to_string()],
    };
    let mut wrong = Vec::new();
    let mut whole = |name: &str, found: u64, expected: u64| {
        if found != expected {
            wrong.push(format!("{name} {found}, not {expected}"));
        }
    };
    // The table counts reads and writes; one trace also holds a trim.
    whole("requests", stats.reads + stats.writes, requests);
    whole("footprint", stats.footprint_pages, pages);
    whole("volumes", stats.volumes.len() as u64, volumes as u64);
    let mut close = |name: &str, found: f64, printed: f64, rounding: f64| {
        if !near(found, printed, rounding) {
            wrong.push(format!("{name} {found}, not {printed}"));
        }
    };
    let span_found = stats.span.map_or(0.0, |span| span.as_secs_f64());
    let rounding = if span >= DAY {
        0.005 * DAY
    } else if span >= HOUR {
        0.005 * HOUR
    } else if span < 1.0 {
        0.0005
    } else {
        0.05
    };
    close("span", span_found, span, rounding);
    close("read %", stats.read_percent(), read_percent, 0.05);
    close("read GB", stats.read.0 as f64 / 1e9, read_gb, 0.0005);
    close("written GB", stats.written.0 as f64 / 1e9, written_gb, 0.0005);
    close("mean read KiB", stats.mean_read_bytes() / 1024.0, mean_read, 0.05);
    close("mean write KiB", stats.mean_write_bytes() / 1024.0, mean_write, 0.05);
    close("highest GB", stats.highest.0 as f64 / 1e9, highest, 0.005);
    close("overwrite", stats.overwrite_ratio().unwrap_or(0.0), overwrite, 0.005);
    let found = reader.recognised().format;
    if Format::parse(format) != Ok(found) {
        wrong.push(format!("format {found} ({}), not {format}", reader.recognised().why));
    }
    if reader.timed() != (span > 0.0) {
        wrong.push(format!("timed {}", reader.timed()));
    }
    wrong
}

#[test]
fn every_shared_trace_is_recognised_and_measured_right() {
    let name = "shared_traces::every_shared_trace_is_recognised_and_measured_right";
    let Some(traces) = outside::find_or_skip(env!("CARGO_MANIFEST_DIR"), name, "traces") else { return };
    let mut wrong = Vec::new();
    for row in &ROWS {
        wrong.extend(differences(&traces.join(row.0), row).into_iter().map(|difference| format!("{}: {difference}", row.0)));
    }
    let events = open(&traces.join("rocksdb/ycsb_rocksdb.first_10000_events.blkparse.zst"), ReadOptions::default()).expect("recognised");
    assert_eq!(events.recognised().format.name(), "blkparse");
    assert_eq!(events.count(), 1_695, "one request is queued but not yet issued when the trace ends");
    assert!(wrong.is_empty(), "{} of the numbers differ:\n{}", wrong.len(), wrong.join("\n"));
}
