//! What is written as insecure, by a hint of its session or of its stretch, may be read from the chips once it is stale; nothing else may, whole
//! units or parts of them.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use serde_json::json;
use wordline_block::Op;
use wordline_drive::{Config as DriveConfig, Holds, Output, Watched};
use wordline_live::{About, Durability, LiveDisk, MediaStore, Opened, Stop, Taken, Timing, control, open_or_make, watch};
use wordline_plan::Plan;
use wordline_units::random::{Draw, Stream};

use crate::client::{Client, connect};
use crate::common::{socket, stamped};
use crate::replay::tell;

const UNIT: u64 = 16_384;
const UNITS: u64 = 64;

/// Small, and yet so large that nothing need be erased.
const SMALL: [&str; 9] = [
    "geometry.blocks=48",
    "mapping.over_provisioning=32 %",
    "geometry.layers=8",
    "geometry.wordlines_per_layer=4",
    "flash.channels=1",
    "flash.dies_per_channel=2",
    "buffer.size=512 KiB",
    "recovery.on=true",
    "cells.physics=false",
];

/// A drive that locks page by page.
fn config() -> DriveConfig {
    Plan::load_set("secssd-nobLock", &SMALL).expect("a preset").build()
}

/// Every write there was: its unit, and whether it was insecure.
#[derive(Default)]
struct Twin {
    writes: BTreeMap<u64, (u64, bool)>,
    /// The stamp of what each unit holds.
    now: BTreeMap<u64, u64>,
}

/// The stamps of the units on the chips, each with its mark of being insecure. The twin has them all.
fn on_the_chips(taken: &mut Taken, twin: &Twin, seed: u64) -> BTreeMap<u64, bool> {
    let mut found = BTreeMap::new();
    taken.chips.read(|page| {
        let [Holds::Unit { unit, mark: Some((_, insecure)) }] = page.units else { return };
        assert!(matches!(page.output, Output::Corrected { .. }), "{page:?}");
        let stamp = u64::from_le_bytes(page.bytes[..8].try_into().expect("eight bytes"));
        assert_eq!(twin.writes.get(&stamp), Some(&(*unit, *insecure)), "seed {seed}: stamp {stamp}");
        found.insert(stamp, *insecure);
    });
    found
}

/// Starts a drive on fresh media files, with a buffer.
fn start(folder: &Path, config: &DriveConfig, named: (&str, u128)) -> Arc<LiveDisk> {
    let Opened { media, dump, .. } = open_or_make(folder, config, named, Durability::Process).expect("a fresh folder");
    assert!(config.firmware.buffer.units > 0);
    let built = config.clone();
    let build = move || {
        let (store, watched) = (MediaStore::new(media, 1, dump), watch(&built));
        (Watched::with_payload(built, watched, |die| store.payload(die)), store)
    };
    Arc::new(LiveDisk::start_kept(build, Timing::Off, About::default()))
}

#[test]
fn only_what_was_said_to_be_insecure_stays_on_the_chips() {
    let seed = 1_002;
    let (folder, control_path) = (socket().with_extension("media"), socket());
    let named = ("secssd-nobLock", 9);
    let config = config();
    assert_eq!(config.firmware.unit.0, UNIT);
    let disk = start(&folder, &config, named);
    let listens = control(&control_path, Arc::clone(&disk), Stop::default()).expect("it starts");
    let classes: [(&[&str], _); 3] = [(&[], None), (&["insecure"], Some(true)), (&["secure", "low"], Some(false))];
    let mut clients = classes.map(|(classes, class)| (Client::open(&disk, classes, &[]), class));
    let mut hints = [None; UNITS as usize];
    let mut twin = Twin::default();
    let mut draw = Draw::new(seed, Stream::Mix, 2);
    for stamp in 1..700 {
        let first = draw.below(UNITS);
        let count = 1 + draw.below((UNITS - first).min(4));
        let stretch = first as usize..(first + count) as usize;
        let (client, class) = &mut clients[draw.below(3) as usize];
        match draw.below(8) {
            0 => {
                let (word, hint) = [("insecure", Some(true)), ("secure", Some(false)), ("none", None)][draw.below(3) as usize];
                let line = json!({ "do": "hint", "offset": first * UNIT, "length": count * UNIT, "security": word });
                let (answer, _) = tell(&control_path, &line.to_string());
                assert!(answer.contains("\"ok\":true"), "{answer}");
                hints[stretch].fill(hint);
            }
            1 => {
                assert_eq!(client.call(&Op::Trim { offset: first * UNIT, length: count * UNIT, fua: false }).fault, None);
                (first..first + count).for_each(|unit| _ = twin.now.remove(&unit));
            }
            2 => {
                for unit in first..first + count {
                    let stamp = twin.now.get(&unit).copied().unwrap_or(0);
                    assert_eq!(client.read(unit * UNIT, UNIT as u32), stamped(unit, stamp, UNIT as usize), "seed {seed}: unit {unit}");
                }
            }
            _ => {
                // A write is as secure as the most secure part of it; nobody has spoken of the rest.
                let insecure = hints[stretch].iter().all(|hint| hint.or(*class) == Some(true));
                let bytes: Vec<u8> =
                    (first..first + count).flat_map(|unit| stamped(unit, stamp * 10 + unit - first, UNIT as usize)).collect();
                client.write(first * UNIT, &bytes);
                for unit in first..first + count {
                    twin.writes.insert(stamp * 10 + unit - first, (unit, insecure));
                    twin.now.insert(unit, stamp * 10 + unit - first);
                }
            }
        }
    }
    assert_eq!(clients[0].0.call(&Op::Flush).fault, None);
    drop((clients, listens, disk));

    let mut taken = Taken::off(&folder, config, named).expect("nobody has it any more");
    let found = on_the_chips(&mut taken, &twin, seed);
    let expected: BTreeMap<u64, bool> = twin
        .writes
        .iter()
        .filter(|&(stamp, (unit, insecure))| *insecure || twin.now.get(unit) == Some(stamp))
        .map(|(&stamp, &(_, insecure))| (stamp, insecure))
        .collect();
    assert_eq!(found, expected, "seed {seed}");
    let stale = found.len() - twin.now.len();
    println!("seed {seed}: {} writes of units, {} newest, {stale} stale and insecure on the chips", twin.writes.len(), twin.now.len());
    assert!(stale > 200 && twin.writes.len() - found.len() > 200);
    // Where the newest is says the firmware, woken up on the same chips.
    let newest = taken.newest().expect("no trouble");
    assert!((0..UNITS).all(|unit| newest[unit as usize].is_some() == twin.now.contains_key(&unit)));
    std::fs::remove_dir_all(&folder).expect("ours");
}

/// Whether some sector that the chips put out is filled with `byte`.
fn puts_out(folder: &Path, config: DriveConfig, named: (&str, u128), byte: u8) -> bool {
    let mut taken = Taken::off(folder, config, named).expect("nobody has it any more");
    let mut found = false;
    taken.chips.read(|page| found |= page.bytes.chunks_exact(512).any(|sector| sector.iter().all(|&other| other == byte)));
    found
}

#[test]
fn what_is_trimmed_in_part_of_a_unit_is_gone_too() {
    for (preset, is_gone) in [("secssd-nobLock", true), ("paper-evanesco", false)] {
        let folder = socket().with_extension("media");
        let config = Plan::load_set(preset, &SMALL).expect("a preset").build();
        let disk = start(&folder, &config, (preset, 9));
        let mut client = connect(&disk);
        // Three units: the end of the first, the second, and the beginning of the third are deleted.
        let (from, until) = (UNIT - 1_024, 2 * UNIT + 3 * 1_024);
        client.write(0, &vec![0x4b; from as usize]);
        client.write(from, &vec![0x53; (until - from) as usize]);
        client.write(until, &vec![0x4c; (3 * UNIT - until) as usize]);
        assert_eq!(client.call(&Op::Flush).fault, None);
        assert_eq!(client.call(&Op::Trim { offset: from, length: until - from, fua: false }).fault, None);
        // Beside it, what holds nothing stays so.
        assert_eq!(client.call(&Op::Trim { offset: 9 * UNIT + 512, length: 512, fua: false }).fault, None);
        assert_eq!(client.call(&Op::Flush).fault, None);
        assert!(client.read(0, from as u32).iter().all(|&byte| byte == 0x4b) && client.read(until, 4_096).iter().all(|&byte| byte == 0x4c));
        assert!(!is_gone || client.read(from, (until - from) as u32).iter().all(|&byte| byte == 0));
        drop((client, disk));
        let found = [0x4b, 0x4c, 0x53].map(|byte| puts_out(&folder, config.clone(), (preset, 9), byte));
        assert_eq!(found, [true, true, !is_gone], "{preset}");
        std::fs::remove_dir_all(&folder).expect("ours");
    }
}
