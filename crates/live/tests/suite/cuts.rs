//! Is everything that was flushed back, wherever the power goes between two writes to the media, or within one?
//!
//! A drive works on media in memory that record every write. Then the recording is cut at random places, the last write torn, and a drive wakes up on
//! what is left. Each unit must hold what was durable, or something newer that had been asked for; never a mixture, another unit's bytes, or what a durable
//! trim took away. Where bits of the media flip besides, a unit may also be refused, and there is no third thing.

use wordline_drive::{Config, Protection, Watched};
use wordline_engine::Completions;
use wordline_ftl::techniques::Choice;
use wordline_live::{Durability, Keeper, MediaStore};
use wordline_media::{Backing, Dump, DumpShape, Entry, Identity, Media, Memory, Replay, Shape, Tape, Tear};
use wordline_plan::Plan;
use wordline_units::random::{Draw, Stream};
use wordline_units::{HostOp, HostRequest, Nanos};

use crate::common::{SECTOR, answered, stamped};

type Live = Watched<Completions>;

/// A drive of two small dies that reclaims soon.
fn config() -> Config {
    let settings = ["flash.channels=1", "flash.dies_per_channel=2", "cells.physics=false"];
    let mut config = Plan::load_set("pageftl-4k", &settings).expect("a preset").build();
    let before = u64::from(config.sheet.geometry.blocks * config.sheet.geometry.pages());
    config.sheet.geometry.blocks = 20;
    config.sheet.geometry.layers = 2;
    config.firmware.sheet = config.sheet;
    config.firmware.spare_blocks = 1;
    config.firmware.gc.start = 4;
    config.firmware.gc.floor = 2;
    config.firmware.buffer.units = 64;
    config.firmware.checkpoint_every = Some(4);
    config.exported_units = config.exported_units * u64::from(20 * config.sheet.geometry.pages()) / before / 2;
    config
}

fn units_per_page(config: &Config) -> u32 {
    (config.sheet.geometry.page.0 / config.firmware.unit.0) as u32
}

fn ask(drive: &mut Live, op: HostOp, unit: u64, count: u32, fua: bool, bytes: &[u8]) -> Vec<u8> {
    try_to(drive, op, unit, count, fua, bytes).unwrap_or_else(|| panic!("{op:?} of {count} units from {unit} on failed"))
}

/// What a request gives; `None`: an error.
fn try_to(drive: &mut Live, op: HostOp, unit: u64, count: u32, fua: bool, bytes: &[u8]) -> Option<Vec<u8>> {
    let sectors = drive.unit_bytes().0 / SECTOR;
    let request = HostRequest { fua, ..HostRequest::new(op, unit * sectors, count * sectors as u32) };
    let (done, read) = answered(drive, &request, bytes).expect("no power is cut while it works");
    done.ok.then_some(read)
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
    cut_and_compare(71, config(), 120, 0).unwrap_or_else(|problem| panic!("{problem}"));
}

/// The same drive on dies that stop for reads at the end of a step or at once, and copy back; half of what it is asked for is read.
fn stopping(at_once: bool) -> Config {
    let mut config = config();
    let (able, timing) = (&mut config.sheet.capabilities, &mut config.sheet.timing);
    (able.suspend_program, able.suspend_erase, able.stop_at_step, able.copyback) = (true, true, true, true);
    (able.stop_now_program, able.stop_now_erase) = (at_once, at_once);
    (timing.step_program, timing.step_erase) = (Nanos::from_micros(44), Nanos::from_micros(117));
    (timing.halt_program, timing.halt_erase) = (Nanos::from_micros(10), Nanos::from_micros(10));
    config.firmware.sheet = config.sheet;
    config.firmware.techniques = vec![Choice::ReadPreemption, Choice::PlainCopyback];
    config
}

#[test]
fn whatever_was_flushed_is_back_wherever_a_process_dies_that_stops_programs_erases_and_copybacks() {
    for (seed, at_once) in [(76, false), (77, true)] {
        cut_and_compare(seed, stopping(at_once), 120, 0).unwrap_or_else(|problem| panic!("{problem}"));
    }
}

#[test]
fn with_capacitors_whatever_was_written_is_back() {
    let mut config = config();
    config.firmware.buffer.protection = Protection::Capacitor;
    cut_and_compare(72, config, 120, 0).unwrap_or_else(|problem| panic!("{problem}"));
}

/// The same drive with the marks of its pages written twice, or not.
fn with_copies(oob_copies: bool) -> Config {
    let mut config = config();
    config.firmware.oob_copies = oob_copies;
    config.exported_units = config.exported_units * 4 / 5;
    config
}

/// Three drives, or as many as `WORDLINE_FLIP_SEEDS` says: 210 make a hundred thousand flips and ten thousand cuts.
#[test]
fn whatever_was_flushed_is_back_or_refused_when_bits_of_the_media_flip() {
    let drives = crate::swarm::number("WORDLINE_FLIP_SEEDS").unwrap_or(3);
    let mut all = Seen::default();
    for (seed, flips) in (73..73 + drives).zip([1, 4, 20].into_iter().cycle()) {
        let seen = cut_and_compare(seed, with_copies(true), 60, flips).unwrap_or_else(|problem| panic!("{problem}"));
        all = Seen {
            cuts: all.cuts + seen.cuts,
            flips: all.flips + seen.flips,
            units: all.units + seen.units,
            refused: all.refused + seen.refused,
        };
    }
    eprintln!("{all:?}");
    assert!(all.refused > 100 && all.refused * 5 < all.units, "{all:?}");
}

#[test]
fn without_second_copies_of_marks_a_flipped_bit_brings_back_what_was_overwritten() {
    let problem = cut_and_compare(74, with_copies(false), 60, 4).expect_err("a flipped bit takes its page's own mark along");
    assert!(problem.contains("expected one of"), "{problem}");
}

/// What was looked at.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    cuts: u64,
    flips: u64,
    units: u64,
    refused: u64,
}

/// Flips a bit of something that was written, behind the header of a file.
fn flip(files: &mut [Memory], draw: &mut Draw) {
    for _ in 0..1_000 {
        let at = draw.below(files.len() as u64) as usize;
        let file = &mut files[at];
        let mut byte = [0];
        let at = 4_096 + draw.below(file.length().expect("memory") - 4_096);
        file.read(at, &mut byte).expect("inside");
        if byte[0] != 0 {
            return file.write(at, &[byte[0] ^ 1 << draw.below(8)]).expect("memory");
        }
    }
}

/// Works, cuts the power at `cuts` places, and compares. `flips` bits of the media flip at each.
fn cut_and_compare(seed: u64, config: Config, cuts: u64, flips: u64) -> Result<Seen, String> {
    let (units, unit_bytes) = (config.exported_units, config.firmware.unit.0 as usize);
    let geometry = config.sheet.geometry;
    let identity = identity(&config);
    let tape = Tape::new();
    let media = Media::in_memory(&identity, Durability::Process, &tape).expect("it can be written down");
    let (dies, slots) = (geometry.dies(), config.cores * config.firmware.buffer.units);
    let (facts, fact_bytes) = config.facts();
    let shape = DumpShape { drive: 7, slots, slot_bytes: unit_bytes as u32, facts, fact_bytes };
    let dump =
        config.has_capacitors().then(|| Dump::create(Memory::recorded(&tape, dies as usize), "buffer", shape).expect("memory takes it"));
    let made = tape.len();
    let store = MediaStore::new(media, units_per_page(&config), dump);
    let mut drive: Live = Watched::with_payload(config.clone(), Completions::default(), |die| store.payload(die));
    store.capacitors(config.firmware.buffer.units).into_iter().for_each(|capacitors| drive.connect(capacitors));
    let mut draw = Draw::new(seed, Stream::Address, 4);
    let history = work(&mut drive, &tape, &config, &mut draw);

    let entries = tape.entries();
    let mut cuts: Vec<usize> = (0..cuts).map(|_| made + draw.below((entries.len() - made) as u64) as usize).collect();
    cuts.sort_unstable();
    let mut replay = Replay::new(dies as usize + 1);
    let (mut applied, mut by_checkpoint) = (0, 0);
    let (mut seen, tried) = (Seen::default(), cuts.len() as u32);
    for cut in cuts {
        entries[applied..cut].iter().for_each(|entry| replay.apply(entry).expect("memory takes it"));
        applied = cut;
        let left = torn(&replay, &entries[cut], seed, &mut draw);
        let (files, beside) = left.files().split_at(dies as usize);
        let mut files = files.to_vec();
        (0..flips).for_each(|_| flip(&mut files, &mut draw));
        seen = Seen { cuts: seen.cuts + 1, flips: seen.flips + flips, ..seen };
        let media = Media::open_memory(&files, Some(&identity), Durability::Process).expect("a cut leaves media that can be opened");
        let dump = config.has_capacitors().then(|| Dump::open(beside[0].unrecorded(), "buffer", shape).expect("and a dump"));
        let store = MediaStore::new(media, units_per_page(&config), dump);
        let capacitors = store.capacitors(config.firmware.buffer.units);
        let mut drive: Live = Watched::wake(config.clone(), Completions::default(), |die| store.payload(die), capacitors);
        by_checkpoint += u32::from(drive.firmware()[0].recovery().is_some_and(|recovery| recovery.checkpoint.is_some()));
        for (unit, history) in history.iter().enumerate() {
            let durable = history.iter().rposition(|version| version.must <= cut).expect("it was empty at first");
            seen.units += 1;
            let Some(found) = try_to(&mut drive, HostOp::Read, unit as u64, 1, false, &[]) else {
                seen.refused += 1;
                if flips == 0 {
                    return Err(format!("seed {seed}, cut at {cut} of {}: unit {unit} is refused", entries.len()));
                }
                continue;
            };
            let possible = history[durable..].iter().filter(|version| version.may <= cut);
            if !possible.clone().any(|version| found == stamped(unit as u64, version.stamp, unit_bytes)) {
                let (end, start, possible) = (entries.len(), &found[..16], possible.collect::<Vec<_>>());
                return Err(format!("seed {seed}, cut at {cut} of {end}: unit {unit} holds {start:?}…, expected one of {possible:?}"));
            }
        }
        // It goes on working.
        write_anew(&mut drive, units, unit_bytes);
        if flips == 0 {
            // Pages that cannot be read have no spare area to compare the map with.
            drive.audit().map_err(|problem| format!("seed {seed}, cut at {cut}: {problem}"))?;
        }
        assert_eq!(ask(&mut drive, HostOp::Read, 0, 1, false, &[]), stamped(0, 9, unit_bytes));
        assert_eq!(store.trouble(), None);
    }
    assert!(flips > 0 || by_checkpoint > tried / 2, "{by_checkpoint} of {tried} came back by a checkpoint");
    Ok(seen)
}

/// The drive that media files belong to.
fn identity(config: &Config) -> Identity {
    let geometry = config.sheet.geometry;
    Identity { drive: 7, die: 0, dies: geometry.dies(), chip: "a chip".to_owned(), shape: Shape::of(&geometry).expect("a small shape") }
}

/// Keeps the drive busy with writes, trims and flushes. Returns the versions that each unit has had.
fn work(drive: &mut Live, tape: &Tape, config: &Config, draw: &mut Draw) -> Vec<Vec<Version>> {
    let (units, unit_bytes) = (config.exported_units, config.firmware.unit.0 as usize);
    let mut history: Vec<Vec<Version>> = vec![vec![Version { may: 0, must: 0, stamp: 0 }]; units as usize];
    let mut written = 0;
    for stamp in 1..=3_000u64 {
        let span = if draw.below(2) == 0 { units / 6 } else { units - 4 };
        let unit = draw.below(span);
        let count = 1 + draw.below(4);
        let may = tape.len();
        let what = draw.below(20);
        if what == 0 {
            ask(drive, HostOp::Flush, 0, 0, false, &[]);
            let now = tape.len();
            history.iter_mut().flatten().for_each(|version| version.must = version.must.min(now));
            continue;
        }
        let is_trim = what < 4;
        let fua = !is_trim && what == 4;
        if !config.firmware.techniques.is_empty() {
            for read in 0..2 {
                ask(drive, HostOp::Read, (unit + 1 + read) % (units - 4), 1, false, &[]);
            }
        }
        let bytes: Vec<u8> = (unit..unit + count).flat_map(|unit| stamped(unit, stamp, unit_bytes)).collect();
        if is_trim {
            ask(drive, HostOp::Trim, unit, count as u32, false, &[]);
        } else {
            written += count;
            ask(drive, HostOp::Write, unit, count as u32, fua, &bytes);
        }
        let must = if fua || (config.has_capacitors() && !is_trim) { tape.len() } else { usize::MAX };
        for unit in unit..unit + count {
            history[unit as usize].push(Version { may, must, stamp: if is_trim { 0 } else { stamp } });
        }
    }
    let erases: u32 = drive.blocks().map(|block| block.erases).sum();
    assert!(erases > 40 && written > 2 * units, "the drive was not kept busy: {erases} erases, {written} units written");
    history
}

/// The files that a cut leaves at `entry`: without it, or with some of it.
fn torn(replay: &Replay, entry: &Entry, seed: u64, draw: &mut Draw) -> Replay {
    let mut left = Replay::from(replay.files());
    match draw.below(3) {
        0 => {}
        1 => left.apply_torn(entry, Tear::Prefix(draw.below(16_384))).expect("memory takes it"),
        _ => left.apply_torn(entry, Tear::Sectors(&|sector| sector % 3 != seed % 3)).expect("memory takes it"),
    }
    left
}

/// Writes a quarter of the units anew.
fn write_anew(drive: &mut Live, units: u64, unit_bytes: usize) {
    for unit in 0..units / 4 {
        ask(drive, HostOp::Write, unit, 1, false, &stamped(unit, 9, unit_bytes));
    }
    drive.settle();
    drive.observer.0.clear();
}
