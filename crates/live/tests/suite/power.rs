//! A power cut on demand: does it come when it was ordered, is everything there that was flushed, and is nothing acknowledged after it?

use std::cell::Cell;
use std::collections::BTreeMap;

use wordline_drive::Fault;
use wordline_units::random::{Draw, Stream};
use wordline_units::{FlashOp, HostOp};

use crate::common::{Folder, Live, answered, of_unit, small_drive, stamped};

/// Asks, and waits for the answer; `None`: the power has gone before it.
fn ask(drive: &mut Live, op: HostOp, unit: u64, bytes: &[u8]) -> Option<Vec<u8>> {
    let request = of_unit(drive, op, unit);
    let (done, read) = answered(drive, &request, bytes)?;
    assert!(done.ok, "{request:?} failed");
    Some(read)
}

#[test]
fn whatever_was_flushed_is_back_after_each_of_many_power_cuts_on_demand() {
    let config = small_drive(2, &["cells.physics=false"]);
    let (units, unit_bytes) = (config.exported_units.min(600), config.firmware.unit.0 as usize);
    let folder = Folder::new("power-cuts");
    // What each unit may hold: what was durable, and what was written since.
    let mut twin: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    let mut draw = Draw::new(11, Stream::Mix, 3);
    let stamp = Cell::new(0);
    let mut torn: BTreeMap<&str, u32> = BTreeMap::new();
    for round in 0..120 {
        let mut drive = folder.drive(&config);
        for (&unit, may) in &mut twin {
            let read = ask(&mut drive, HostOp::Read, unit, &[]).expect("no cut was ordered");
            let found = may.iter().copied().find(|&stamp| read == stamped(unit, stamp, unit_bytes));
            // What has come back is durable as it stands.
            *may = vec![found.unwrap_or_else(|| panic!("round {round}: unit {unit} holds none of {may:?} but {:?}", &read[..16]))];
        }
        let after = 1 + draw.below(40);
        let seed = draw.next_u64();
        drive.inject(Fault::Power { after, seed });
        assert_eq!(drive.faults(), [Fault::Power { after, seed }]);
        let mut steps = 0;
        while drive.power_cut().is_none() {
            steps += 1;
            assert!(steps < 50_000, "round {round}: the cut after {after} never came");
            let unit = draw.below(units);
            match draw.below(12) {
                0 => {
                    if ask(&mut drive, HostOp::Flush, 0, &[]).is_some() {
                        twin.values_mut().for_each(|may| _ = may.drain(..may.len() - 1));
                    }
                }
                1 => {
                    twin.entry(unit).or_insert_with(|| vec![0]).push(0);
                    ask(&mut drive, HostOp::Trim, unit, &[]);
                }
                _ => {
                    stamp.set(stamp.get() + 1);
                    twin.entry(unit).or_insert_with(|| vec![0]).push(stamp.get());
                    ask(&mut drive, HostOp::Write, unit, &stamped(unit, stamp.get(), unit_bytes));
                }
            }
        }
        let cut = drive.power_cut().expect("it has struck");
        let (op, die, _, _) = cut.torn.expect("it tore something");
        assert!(die.0 < 2);
        *torn.entry(if op == FlashOp::Erase { "erase" } else { "program" }).or_default() += 1;
        let pending: Vec<Fault> = drive.faults();
        assert_eq!(pending, [], "it comes once");
        // Whatever the drive does now, nothing reaches its media.
        let before = media(&folder);
        while drive.next_at().is_some_and(|next| drive_on(&mut drive, next)) {}
        assert!(before == media(&folder), "round {round}: something was written in the dark");
    }
    println!("torn: {torn:?}");
    assert!(torn["program"] > 20 && torn["erase"] > 0, "{torn:?}");
}

fn drive_on(drive: &mut Live, next: wordline_units::Nanos) -> bool {
    drive.run_until(next);
    true
}

/// The bytes of all dies.
fn media(folder: &Folder) -> Vec<Vec<u8>> {
    (0..2).map(|die| std::fs::read(folder.die(die)).expect("it is there")).collect()
}
