//! Is whatever a fit changes about a trace counted, and nothing left out without a word?

use wordline_units::{Bytes, HostOp};
use wordline_workload::trace::{ReadOptions, TraceError};
use wordline_workload::{Changes, Fit, Footprint, Placement, Replay, ReplayOptions, TraceReader};

fn reader(text: &str) -> Result<TraceReader<'_>, TraceError> {
    TraceReader::new(text.as_bytes(), "t.csv", ReadOptions::default())
}

/// A trace of these operations, offsets and lengths.
fn trace(requests: &[(HostOp, u64, u64)]) -> String {
    let lines = requests.iter().zip(0..).map(|((op, offset, length), at)| format!("{at},{},{offset},{length}\n", op.name()));
    format!("time_us,op,offset,length\n{}", lines.collect::<String>())
}

fn placed(text: &str, capacity: u64, fit: Fit) -> Result<Placement, String> {
    let footprint = Footprint::measure(&mut reader(text).expect("sound"), Footprint::UNIT).expect("sound");
    Placement::new(footprint, Bytes(capacity), fit).map_err(|error| error.to_string())
}

/// First byte and length of each request of `text` on a drive of `capacity`, and what was changed about them.
fn play(text: &str, capacity: u64, fit: Fit) -> (Vec<(u64, u64)>, Changes) {
    let placement = placed(text, capacity, fit).expect("fits");
    let mut replay = Replay::new(|| reader(text), placement, ReplayOptions::default()).expect("sound");
    let extent = |request: Result<wordline_units::HostRequest, TraceError>| {
        let request = request.expect("sound");
        (request.sector * 512, u64::from(request.sectors) * 512)
    };
    let extents = replay.by_ref().map(extent).collect();
    (extents, replay.changes())
}

#[test]
fn a_request_across_the_end_goes_on_at_the_beginning_when_it_wraps() {
    let (mib, op) = (1 << 20, HostOp::Write);
    // Its first half is the last page of the drive, its second half the first one.
    let (extents, changes) = play(&trace(&[(op, 2 * mib - 4096, 8192)]), mib, Fit::Wrap);
    assert_eq!(extents, [(mib - 4096, 4096), (0, 4096)]);
    assert_eq!(changes, Changes { elsewhere: 1, split: 1, ..Changes::default() });
    // Longer than the drive: as often round as it needs, with every byte.
    let (extents, changes) = play(&trace(&[(op, 512, 5 * mib / 2), (HostOp::Read, 0, 512)]), mib, Fit::Wrap);
    assert_eq!(extents, [(512, mib - 512), (0, mib), (0, mib / 2 + 512), (0, 512)]);
    assert_eq!(changes, Changes { split: 1, ..Changes::default() });
    // A request that fits, or ends at the end, is left alone.
    let (extents, changes) = play(&trace(&[(op, 0, 4096), (op, mib - 4096, 4096), (op, mib, 4096)]), mib, Fit::Wrap);
    assert_eq!((extents, changes.elsewhere, changes.split), (vec![(0, 4096), (mib - 4096, 4096), (0, 4096)], 1, 0));
}

#[test]
fn what_scaling_moves_or_clips_is_counted() {
    let (mib, op) = (1 << 20, HostOp::Write);
    let (extents, changes) = play(&trace(&[(op, 0, 4096), (op, 2 * mib - 8192, 8192)]), mib, Fit::Scale);
    assert_eq!(extents, [(0, 4096), (mib - 8192, 8192)]);
    assert_eq!(changes, Changes { elsewhere: 1, moved: 1, ..Changes::default() });
    let (extents, changes) = play(&trace(&[(op, 0, 3 * mib)]), mib, Fit::Scale);
    assert_eq!(extents, [(0, mib)]);
    assert_eq!(changes, Changes { clipped: 1, clipped_bytes: 2 * mib, ..Changes::default() });
}

#[test]
fn trims_that_packing_shrinks_or_leaves_out_are_counted() {
    let (mib, trim) = (1 << 20, HostOp::Trim);
    let text = trace(&[(HostOp::Write, mib, 4096), (trim, 0, 2 * mib), (trim, 0, 4096), (trim, mib, 4096), (HostOp::Read, mib + 1, 1)]);
    let (extents, changes) = play(&text, mib, Fit::Compact);
    assert_eq!(extents, [(0, 4096), (0, 4096), (0, 4096), (0, 512)]);
    let expected = Changes { elsewhere: 3, shrunk_trims: 1, dropped_trims: 1, widened: 1, ..Changes::default() };
    assert_eq!(changes, expected);
}

#[test]
fn a_trace_that_ends_at_the_last_byte_is_served_whatever_the_capacity() {
    // 216,943.5 units of 4 KiB: mapping units of 512 B.
    let capacity = 888_600_576;
    let (write, read) = (HostOp::Write, HostOp::Read);
    let text = trace(&[(write, capacity - 512, 512), (read, capacity - 1024, 512), (read, capacity - 512, 512)]);
    let expected = vec![(capacity - 512, 512), (capacity - 1024, 512), (capacity - 512, 512)];
    for fit in [Fit::Reject, Fit::Wrap, Fit::Scale] {
        assert_eq!(play(&text, capacity, fit), (expected.clone(), Changes::default()), "{fit}");
    }
    let error = placed(&text, capacity - 512, Fit::Reject).expect_err("a sector too few");
    assert!(error.contains(&format!("byte {capacity} ")), "{error}");
    // Packed, it needs what it touches of its last unit.
    let small = trace(&[(write, 8192, 512), (HostOp::Trim, 0, 12_288), (read, 0, 4096)]);
    assert_eq!(play(&small, 4096 + 512, Fit::Compact).0, [(4096, 512), (0, 4096 + 512), (0, 4096)]);
    assert!(placed(&small, 4096, Fit::Compact).is_err());
}

#[test]
fn volumes_begin_at_whole_units_and_the_last_one_ends_at_its_last_sector() {
    let text = "time_us,op,offset,length,volume\n0,write,0,512,a\n1,write,0,512,b\n";
    let footprint = Footprint::measure(&mut reader(text).expect("sound"), Footprint::UNIT).expect("sound");
    assert_eq!((footprint.reach(), footprint.touched()), (Bytes(4096 + 512), Bytes(4096 + 512)));
}
