//! Does what has failed for good stay failed: over restarts, when faults are cleared, and with a die that does not answer?

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use wordline_block::Op;
use wordline_chip::DieFault;
use wordline_drive::{Config, Fault};
use wordline_live::{Durability, Timing, open_or_make, replace_missing};
use wordline_units::{BlockId, DieId, HostOp, HostRequest, PlaneId};

use crate::client::connect;
use crate::common::{Folder, Live, NAMED, SECTOR, answered, of_unit, small_drive, stamped};
use crate::control::{Served, served};

/// Asks, and waits for the answer; `None`: the request failed.
fn ask(drive: &mut Live, op: HostOp, unit: u64, bytes: &[u8]) -> Option<Vec<u8>> {
    let request = of_unit(drive, op, unit);
    let (done, read) = answered(drive, &request, bytes).expect("no power is cut");
    done.ok.then_some(read)
}

const UNITS: u64 = 500;

/// A drive whose units hold their numbers, on flash.
fn filled(folder: &Folder, config: &Config) -> Live {
    let mut drive = folder.drive(config);
    for unit in 0..UNITS {
        ask(&mut drive, HostOp::Write, unit, &stamped(unit, unit, config.firmware.unit.0 as usize)).expect("a new drive takes it");
    }
    ask(&mut drive, HostOp::Flush, 0, &[]).expect("a new drive takes it");
    drive
}

/// Units that cannot be read. The others hold what was written.
fn failing(drive: &mut Live, bytes: usize) -> Vec<u64> {
    let is_lost = |&unit: &u64| match ask(drive, HostOp::Read, unit, &[]) {
        None => true,
        Some(read) => {
            assert_eq!(read, stamped(unit, unit, bytes), "unit {unit}");
            false
        }
    };
    (0..UNITS).filter(is_lost).collect()
}

#[test]
fn what_has_failed_has_failed_after_ten_restarts() {
    let config = small_drive(2, &["cells.physics=false"]);
    let bytes = config.firmware.unit.0 as usize;
    let dies = config.sheet.geometry.dies() as u16;
    let blocks = DieFault::Blocks { plane: PlaneId(0), first: BlockId(0), last: BlockId(2) };
    for (name, die, fault) in [
        ("die", 0, DieFault::Die { silent: false }),
        ("silent", dies - 1, DieFault::Die { silent: true }),
        ("plane", 1, DieFault::Plane(PlaneId(0))),
        ("blocks", 0, blocks),
    ] {
        let folder = Folder::new(&format!("failing-{name}"));
        let mut drive = filled(&folder, &config);
        assert!(failing(&mut drive, bytes).is_empty());
        let fault = Fault::Die(DieId(die), fault);
        drive.inject(fault);
        let lost = failing(&mut drive, bytes);
        assert!(!lost.is_empty() && lost.len() < UNITS as usize, "{name}: {} of {UNITS}", lost.len());
        for restart in 0..10 {
            if restart % 2 == 0 {
                drive.go_down();
            }
            drop(drive);
            drive = folder.drive(&config);
            assert_eq!(drive.faults(), [fault], "{name}: restart {restart}");
            assert_eq!(drive.is_dead(DieId(die)), matches!(fault, Fault::Die(_, DieFault::Die { .. })));
            let still = failing(&mut drive, bytes);
            assert!(lost.iter().all(|unit| still.contains(unit)), "{name}: restart {restart}: a unit is back that was lost");
        }
    }
}

#[test]
fn faults_of_single_reads_and_programs_end_with_the_drive() {
    let config = small_drive(2, &["cells.physics=false"]);
    let folder = Folder::new("failing-passing");
    let mut drive = filled(&folder, &config);
    let place = drive.locate(0).on_flash.expect("it was flushed");
    let (plane, block, page) = (place.plane, place.block, place.page);
    drive.inject(Fault::Die(place.die, DieFault::Read { plane, block, page, reads: None }));
    drive.inject(Fault::Die(DieId(1), DieFault::Program { programs: 3 }));
    assert!(!failing(&mut drive, config.firmware.unit.0 as usize).is_empty());
    drop(drive);
    let mut drive = folder.drive(&config);
    assert_eq!((drive.faults(), failing(&mut drive, config.firmware.unit.0 as usize)), (vec![], vec![]));
}

#[test]
fn a_drive_that_lost_a_die_says_how_it_starts_without_it() {
    let config = small_drive(2, &["cells.physics=false"]);
    for gone in [0, 1] {
        let folder = Folder::new(&format!("failing-gone-{gone}"));
        filled(&folder, &config).go_down();
        std::fs::remove_file(folder.die(gone)).expect("it was there");
        let refused = open_or_make(&folder.0, &config, NAMED, Durability::Process).expect_err("a die is missing").to_string();
        assert!(refused.contains(&format!("`--missing-die {gone}`")), "{refused}");
        replace_missing(&folder.0, &config, NAMED, &[gone], Durability::Process).expect("it is gone");
        for _ in 0..2 {
            let mut drive = folder.drive(&config);
            assert!(drive.is_dead(DieId(gone as u16)));
            // Nothing but what was written, or an error.
            failing(&mut drive, config.firmware.unit.0 as usize);
        }
    }
}

const UNIT: u64 = 16_384;

/// A served drive that holds 64 units.
fn served_and_filled() -> Served {
    let served = served(&["cells.physics=false"], Timing::Off);
    let mut client = connect(&served.disk);
    (0..64).for_each(|unit| client.write(unit * UNIT, &[unit as u8; UNIT as usize]));
    assert_eq!(client.call(&Op::Flush).fault, None);
    served
}

/// Units of a served drive that cannot be read.
fn errors(served: &Served) -> Vec<u64> {
    let mut client = connect(&served.disk);
    (0..64).filter(|unit| client.call(&Op::Read { offset: unit * UNIT, length: UNIT as u32 }).fault.is_some()).collect()
}

/// The drive's own time.
fn now(served: &Served) -> Duration {
    Duration::from_secs_f64(served.ask(&json!({ "do": "status" }))["live"]["virtual_seconds"].as_f64().expect("a number"))
}

#[test]
fn a_silent_die_takes_the_drives_time_and_not_the_servers() {
    let served = served_and_filled();
    let before = now(&served);
    let began = Instant::now();
    assert_eq!(served.ask(&json!({ "do": "kill-die", "die": 0, "kind": "silent" }))["ok"], true);
    let lost = errors(&served);
    assert!(!lost.is_empty() && lost.len() < 64, "{lost:?}");
    let passed = now(&served) - before;
    assert!(passed >= Duration::from_millis(100), "the drive waited for it: {passed:?}");
    assert!(began.elapsed() < Duration::from_secs(20), "{:?} for {passed:?}", began.elapsed());
}

#[test]
fn no_clearing_of_faults_brings_back_what_a_failed_part_held() {
    let served = served_and_filled();
    assert_eq!(served.ask(&json!({ "do": "fault kill", "kill": "plane", "die": 0, "plane": 0 }))["ok"], true);
    assert_eq!(served.ask(&json!({ "do": "kill-die", "die": 1 }))["ok"], true);
    let lost = errors(&served);
    assert!(!lost.is_empty());
    assert_eq!(served.ask(&json!({ "do": "fault program-fail", "die": 2 }))["ok"], true);
    assert_eq!(served.ask(&json!({ "do": "fault clear" }))["ok"], true);
    assert_eq!(errors(&served), lost);
    let faults: Value = served.ask(&json!({ "do": "fault list" }))["faults"].take();
    assert_eq!(
        faults,
        json!([
            { "fault": "kill", "kill": "plane", "die": 0, "plane": 0 },
            { "fault": "kill-die", "die": 1, "kind": "failing" },
        ])
    );
}

#[test]
fn a_kind_of_failure_that_there_is_not_is_refused_with_the_nearest() {
    let served = served(&["cells.physics=false"], Timing::Off);
    let answer = served.ask(&json!({ "do": "kill-die", "die": 0, "kind": "slient" }));
    let said = answer["error"].as_str().unwrap_or_default();
    assert!(answer["ok"] == false && said.contains("did you mean silent?"), "{answer}");
}

/// Sectors written to units of a die that fails then are promised, and back after a cut, though the map's checkpoint is newer than they are.
#[test]
fn what_capacitors_keep_of_lost_units_is_back_after_a_cut() {
    let place = "recovery.oob_place=neighbour";
    let (spare, buffer, often) = ("mapping.over_provisioning=60 %", "buffer.size=4 MiB", "recovery.checkpoint_every=1");
    let config = small_drive(4, &["cells.physics=false", "buffer.protection=capacitor", place, spare, buffer, often]);
    let bytes = config.firmware.unit.0 as usize;
    for die in 0..4 {
        let folder = Folder::new(&format!("failing-capacitor-{die}"));
        let mut drive = filled(&folder, &config);
        let sectors: Vec<u64> = (0..100).map(|unit| unit * (config.firmware.unit.0 / SECTOR)).collect();
        for &sector in &sectors {
            let request = HostRequest { at: drive.now(), ..HostRequest::new(HostOp::Write, sector, 1) };
            assert!(answered(&mut drive, &request, &[7; 512]).is_some_and(|(done, _)| done.ok), "sector {sector}");
        }
        drive.inject(Fault::Die(DieId(die), DieFault::Die { silent: false }));
        // The firmware notices, and writes a checkpoint while others are programmed.
        (0..UNITS).for_each(|unit| _ = ask(&mut drive, HostOp::Read, unit, &[]));
        for unit in (UNITS - 100..UNITS).cycle().take(20) {
            ask(&mut drive, HostOp::Write, unit, &stamped(unit, unit, bytes)).expect("the others have room");
        }
        ask(&mut drive, HostOp::Flush, 0, &[]).expect("it is flushed");
        drop(drive);
        let mut drive = folder.drive(&config);
        assert!(drive.firmware()[0].recovery().is_some_and(|recovery| recovery.checkpoint.is_some()), "die {die}");
        for &sector in &sectors {
            let request = HostRequest { at: drive.now(), ..HostRequest::new(HostOp::Read, sector, 1) };
            let (done, read) = answered(&mut drive, &request, &[]).expect("no power is cut");
            assert!(done.ok && read == [7; 512], "die {die}, sector {sector}: {done:?}");
        }
    }
}

/// Sectors that answer with an error, one by one.
fn lost_sectors(drive: &mut Live, sectors: u64) -> Vec<u64> {
    let is_lost = |&sector: &u64| {
        let request = HostRequest { at: drive.now(), ..HostRequest::new(HostOp::Read, sector, 1) };
        !answered(drive, &request, &[]).expect("no power is cut").0.ok
    };
    (0..sectors).filter(is_lost).collect()
}

/// A unit of a failed die that is written in part lies on another die then, and only the mark of its page there names the sectors that are lost.
#[test]
fn every_lost_sector_is_told_at_a_start_before_anything_is_read() {
    let settings = ["cells.physics=false", "recovery.oob_place=neighbour", "mapping.over_provisioning=60 %", "recovery.checkpoint_every=1"];
    let config = small_drive(4, &settings);
    let (bytes, each) = (config.firmware.unit.0 as usize, config.firmware.unit.0 / SECTOR);
    let folder = Folder::new("failing-in-part");
    let mut drive = filled(&folder, &config);
    drive.inject(Fault::Die(DieId(1), DieFault::Die { silent: false }));
    let lost = failing(&mut drive, bytes);
    for (turn, unit) in (0..).zip(&lost) {
        let request = HostRequest { at: drive.now(), ..HostRequest::new(HostOp::Write, unit * each + turn % each, 1) };
        assert!(answered(&mut drive, &request, &[7; 512]).is_some_and(|(done, _)| done.ok), "unit {unit}");
    }
    let whole: Vec<u64> = (0..UNITS).filter(|unit| !lost.contains(unit)).collect();
    for &unit in whole.iter().cycle().take(2 * UNITS as usize) {
        ask(&mut drive, HostOp::Write, unit, &stamped(unit, unit, bytes)).expect("the others have room");
    }
    ask(&mut drive, HostOp::Flush, 0, &[]).expect("it is flushed");
    for start in 0..3 {
        drop(drive);
        drive = folder.drive(&config);
        let recovery = drive.firmware()[0].recovery().expect("it was recovered");
        assert!(recovery.checkpoint.is_some(), "start {start}: {recovery:?}");
        let told: Vec<u64> = drive.lba_status(0..UNITS * each, None).flat_map(|run| run.lba..run.lba + run.count).collect();
        assert_eq!(drive.lost_units(), lost.len() as u64, "start {start}");
        assert_eq!(told.len(), lost.len() * (each as usize - 1), "start {start}");
        assert_eq!(told, lost_sectors(&mut drive, UNITS * each), "start {start}");
    }
}

#[test]
fn a_drive_that_takes_no_more_writes_is_stopped_in_good_order() {
    let config = small_drive(4, &["cells.physics=false", "recovery.oob_place=neighbour"]);
    let folder = Folder::new("failing-worn-out");
    let mut drive = filled(&folder, &config);
    for unit in UNITS..config.exported_units {
        ask(&mut drive, HostOp::Write, unit, &stamped(unit, unit, config.firmware.unit.0 as usize)).expect("a new drive takes it");
    }
    drive.inject(Fault::Die(DieId(1), DieFault::Die { silent: false }));
    drive.inject(Fault::Die(DieId(2), DieFault::Die { silent: false }));
    let lost = failing(&mut drive, config.firmware.unit.0 as usize);
    assert!(drive.is_worn_out() && ask(&mut drive, HostOp::Write, 0, &stamped(0, 1, config.firmware.unit.0 as usize)).is_none());
    for start in 0..2 {
        drive.go_down();
        drop(drive);
        drive = folder.drive(&config);
        assert!(drive.is_worn_out() && drive.firmware()[0].recovery().is_some_and(|recovery| recovery.is_clean), "start {start}");
        assert_eq!(failing(&mut drive, config.firmware.unit.0 as usize), lost, "start {start}");
    }
}
