//! Is everything that was flushed back, wherever the power goes between two writes to the media, or within one?
//!
//! A drive works on media in memory that record every write. Then the recording is cut at random places, the last write torn, and a drive wakes up on
//! what is left. Each unit must hold what was durable, or something newer that had been asked for; never a mixture, another unit's bytes, or what a durable
//! trim took away.

use wordline_drive::{Config, Drive, Protection};
use wordline_engine::Completions;
use wordline_media::{Dump, DumpShape, Identity, Media, Memory, Replay, Shape, Tape, Tear};
use wordline_plan::Plan;
use wordline_serve::{Durability, Keeper, MediaPayload, MediaStore};
use wordline_units::random::{Draw, Stream};
use wordline_units::{HostOp, HostRequest};

use crate::common::stamped;

const SECTOR: u64 = 512;

type Live = Drive<Completions, MediaPayload<Memory>>;

/// A drive of two small dies that reclaims soon.
fn config() -> Config {
    let settings = ["flash.channels=1", "flash.dies_per_channel=2", "cells.physics=false"];
    let mut config = Plan::load_set("pageftl-4k", &settings).expect("a preset").build();
    let before = u64::from(config.sheet.geometry.blocks * config.sheet.geometry.pages());
    config.sheet.geometry.blocks = 20;
    config.sheet.geometry.layers = 2;
    config.firmware.sheet = config.sheet;
    config.firmware.spare_blocks = 1;
    config.firmware.reclaim.start = 4;
    config.firmware.reclaim.floor = 2;
    config.firmware.buffer.units = 64;
    config.firmware.checkpoint_every = Some(4);
    config.exported_units = config.exported_units * u64::from(20 * config.sheet.geometry.pages()) / before / 2;
    config
}

fn units_per_page(config: &Config) -> u32 {
    (config.sheet.geometry.page.0 / config.firmware.unit.0) as u32
}

fn ask(drive: &mut Live, op: HostOp, unit: u64, count: u32, fua: bool, bytes: &[u8]) -> Vec<u8> {
    let sectors = drive.unit_bytes().0 / SECTOR;
    let request = HostRequest { fua, ..HostRequest::new(op, unit * sectors, count * sectors as u32) };
    let id = drive.submit(&request, bytes);
    loop {
        if let Some(done) = drive.observer.take(id) {
            assert!(done.ok, "{request:?} failed");
            return drive.bytes_of(id).to_vec();
        }
        let next = drive.next_at().expect("something is pending while a request is outstanding");
        drive.run_until(next);
    }
}

/// A state of a unit: from which entry of the tape it may be there, from which it must (or what came after), and its stamp; 0: zeroes.
#[derive(Clone, Copy, Debug)]
struct Version {
    may: usize,
    must: usize,
    stamp: u64,
}

#[test]
fn whatever_was_flushed_is_back_wherever_the_power_goes() {
    cut_and_compare(71, config());
}

#[test]
fn with_capacitors_whatever_was_written_is_back() {
    let mut config = config();
    config.firmware.buffer.protection = Protection::Capacitor;
    cut_and_compare(72, config);
}

fn cut_and_compare(seed: u64, config: Config) {
    let (units, unit_bytes) = (config.exported_units, config.firmware.unit.0 as usize);
    let geometry = config.sheet.geometry;
    let identity = Identity {
        drive: 7,
        die: 0,
        dies: geometry.dies(),
        chip: "a chip".to_owned(),
        shape: Shape::of(&geometry).expect("a small shape"),
    };
    let tape = Tape::new();
    let media = Media::in_memory(&identity, Durability::Process, &tape).expect("it can be written down");
    let (dies, slots) = (geometry.dies(), config.cores * config.firmware.buffer.units);
    let (facts, fact_bytes) = config.facts();
    let shape = DumpShape { drive: 7, slots, slot_bytes: unit_bytes as u32, facts, fact_bytes };
    let dump =
        config.has_capacitors().then(|| Dump::create(Memory::recorded(&tape, dies as usize), "buffer", shape).expect("memory takes it"));
    let made = tape.len();
    let store = MediaStore::new(media, units_per_page(&config), dump);
    let mut drive: Live = Drive::with_payload(config.clone(), Completions::default(), |die| store.payload(die));
    store.capacitors(config.firmware.buffer.units).into_iter().for_each(|capacitors| drive.connect(capacitors));
    let mut history: Vec<Vec<Version>> = vec![vec![Version { may: 0, must: 0, stamp: 0 }]; units as usize];
    let mut draw = Draw::new(seed, Stream::Address, 4);
    let mut written = 0;
    for stamp in 1..=3_000u64 {
        let span = if draw.below(2) == 0 { units / 6 } else { units - 4 };
        let unit = draw.below(span);
        let count = 1 + draw.below(4);
        let may = tape.len();
        let what = draw.below(20);
        if what == 0 {
            ask(&mut drive, HostOp::Flush, 0, 0, false, &[]);
            let now = tape.len();
            history.iter_mut().flatten().for_each(|version| version.must = version.must.min(now));
            continue;
        }
        let is_trim = what < 4;
        let fua = !is_trim && what == 4;
        let bytes: Vec<u8> = (unit..unit + count).flat_map(|unit| stamped(unit, stamp, unit_bytes)).collect();
        if is_trim {
            ask(&mut drive, HostOp::Trim, unit, count as u32, false, &[]);
        } else {
            written += count;
            ask(&mut drive, HostOp::Write, unit, count as u32, fua, &bytes);
        }
        let must = if fua || (config.has_capacitors() && !is_trim) { tape.len() } else { usize::MAX };
        for unit in unit..unit + count {
            history[unit as usize].push(Version { may, must, stamp: if is_trim { 0 } else { stamp } });
        }
    }
    let erases: u32 = drive.blocks().map(|block| block.erases).sum();
    assert!(erases > 40 && written > 2 * units, "the drive was not kept busy: {erases} erases, {written} units written");

    let entries = tape.entries();
    let mut cuts: Vec<usize> = (0..120).map(|_| made + draw.below((entries.len() - made) as u64) as usize).collect();
    cuts.sort_unstable();
    let mut replay = Replay::new(dies as usize + 1);
    let (mut applied, mut by_checkpoint) = (0, 0);
    for cut in cuts {
        entries[applied..cut].iter().for_each(|entry| replay.apply(entry).expect("memory takes it"));
        applied = cut;
        let mut left = Replay::from(replay.files());
        match draw.below(3) {
            0 => {}
            1 => left.apply_torn(&entries[cut], Tear::Prefix(draw.below(16_384))).expect("memory takes it"),
            _ => left.apply_torn(&entries[cut], Tear::Sectors(&|sector| sector % 3 != seed % 3)).expect("memory takes it"),
        }
        let (files, beside) = left.files().split_at(dies as usize);
        let media = Media::open_memory(files, Some(&identity), Durability::Process).expect("a cut leaves media that can be opened");
        let dump = config.has_capacitors().then(|| Dump::open(beside[0].unrecorded(), "buffer", shape).expect("and a dump"));
        let store = MediaStore::new(media, units_per_page(&config), dump);
        let capacitors = store.capacitors(config.firmware.buffer.units);
        let mut drive: Live = Drive::wake(config.clone(), Completions::default(), |die| store.payload(die), capacitors);
        by_checkpoint += u32::from(drive.firmware()[0].recovery().is_some_and(|recovery| recovery.checkpoint.is_some()));
        for (unit, history) in history.iter().enumerate() {
            let durable = history.iter().rposition(|version| version.must <= cut).expect("it was empty at first");
            let found = ask(&mut drive, HostOp::Read, unit as u64, 1, false, &[]);
            let possible = history[durable..].iter().filter(|version| version.may <= cut);
            assert!(
                possible.clone().any(|version| found == stamped(unit as u64, version.stamp, unit_bytes)),
                "seed {seed}, cut at {cut} of {}: unit {unit} holds {:?}…, expected one of {:?}",
                entries.len(),
                &found[..16],
                possible.collect::<Vec<_>>()
            );
        }
        // It goes on working.
        for unit in 0..units / 4 {
            ask(&mut drive, HostOp::Write, unit, 1, false, &stamped(unit, 9, unit_bytes));
        }
        drive.settle();
        drive.observer.0.clear();
        drive.audit().unwrap_or_else(|problem| panic!("seed {seed}, cut at {cut}: {problem}"));
        assert_eq!(ask(&mut drive, HostOp::Read, 0, 1, false, &[]), stamped(0, 9, unit_bytes));
        assert_eq!(store.trouble(), None);
    }
    assert!(by_checkpoint > 60, "{by_checkpoint} of 120 came back by a checkpoint");
}
