//! Does a leap over reads bring a drive to where all of them would have brought it?

use wordline_drive::{ReadLeapt, Watched};
use wordline_units::{HostOp, HostRequest};

use crate::lives::drive;

const REFRESHES: [&str; 2] = ["techniques.read-disturb-refresh.on=true", "techniques.read-disturb-refresh.reads_max=20000"];
const READS: u64 = 4_000_000;

/// Reads of all units in turn, as a leap takes its sample.
fn in_turn(drive: &Watched, reads: u64) -> impl Iterator<Item = HostRequest> + use<> {
    let (units, sectors) = (drive.config().exported_units, drive.config().firmware.unit.0 / 512);
    (0..reads).map(move |read| HostRequest::new(HostOp::Read, read % units * sectors, sectors as u32))
}

#[test]
fn refreshes_come_as_often_as_with_all_reads() {
    let mut whole = drive(&REFRESHES);
    let mut reads = in_turn(&whole, READS);
    let lived = whole.age(&mut reads, u64::MAX);
    let mut short = drive(&REFRESHES);
    let leapt = short.read_leap(0..short.config().exported_units, READS);
    println!("{} erases with all reads; {leapt:?}", lived.erases);
    assert_eq!(leapt.reads, READS);
    assert!(leapt.sampled * 30 < READS && lived.erases > 40, "{leapt:?}");
    assert!((leapt.erases as f64 / lived.erases as f64 - 1.0).abs() < 0.05);
    assert_eq!(short.audit(), Ok(()));
    // What the band catches: techniques that are told of the sample only.
    let mut untold = drive(&REFRESHES);
    let mut sample = in_turn(&untold, leapt.sampled);
    assert_eq!(untold.age(&mut sample, u64::MAX).erases, 0);
}

#[test]
fn reads_that_are_too_many_for_a_block_lose_data_in_a_leap_as_well() {
    // Without refreshes a block takes reads until its pages cannot be corrected any more.
    let lost = |reads: u64| {
        let mut drive = drive(&["cells.cycles=6000"]);
        let leapt = drive.read_leap(0..1_000, reads);
        (leapt.failed_host_reads, leapt.retries as f64 / leapt.sampled as f64)
    };
    let (few, many) = (lost(20_000), lost(400_000_000));
    println!("lost reads and retries for each: {few:?} after few, {many:?} after many");
    assert_eq!(few.0, 0);
    assert!(many.1 > few.1, "reads disturb");
}

#[test]
fn a_leap_over_no_reads_changes_nothing() {
    let drive_of = || drive(&[]);
    let (still, mut leapt) = (drive_of(), drive_of());
    assert_eq!(leapt.read_leap(0..leapt.config().exported_units, 0), ReadLeapt::default());
    assert_eq!(leapt.read_leap(7..7, 1_000), ReadLeapt::default());
    assert!(still.image().expect("it is quiet").to_bytes(1) == leapt.image().expect("it is quiet").to_bytes(1));
}
