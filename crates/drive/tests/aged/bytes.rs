//! Drives that keep bytes: what is read is what was written, whatever the firmware does with it in between.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use wordline_cells::Faults;
use wordline_chip::{Contents, Kept, PageImage, Payload, Place, RamPayload, Sanitisation};
use wordline_drive::{Config, Watched};
use wordline_engine::Completions;
use wordline_flash::ProgramScope;
use wordline_units::random::{Draw, Stream};
use wordline_units::{Bytes, HostOp, HostRequest};

use crate::small::Shape;
use crate::try_to;

const SECTOR: usize = 512;

fn drive(config: Config) -> Watched<Completions> {
    let (sheet, units) = (config.sheet, (config.sheet.geometry.page.0 / config.firmware.unit.0) as u32);
    Watched::with_payload(config, Completions::default(), |_| RamPayload::new(&sheet, units))
}

/// Submit `request` and wait for it; returns what it reads.
fn ask(drive: &mut Watched<Completions>, request: &HostRequest, bytes: &[u8]) -> Vec<u8> {
    try_to(drive, request, bytes).unwrap_or_else(|| panic!("{request:?} failed"))
}

fn request(op: HostOp, sector: u64, sectors: u32, fua: bool) -> HostRequest {
    HostRequest { fua, ..HostRequest::new(op, sector, sectors) }
}

/// Random requests against an array of bytes.
fn equals_an_array(shape: &Shape, seed: u64, steps: u32) {
    let config = shape.config();
    let unit_sectors = config.firmware.unit.0 / SECTOR as u64;
    let sectors = config.exported_units * unit_sectors;
    let mut drive = drive(config);
    let mut twin = vec![0u8; sectors as usize * SECTOR];
    let mut draw = Draw::new(seed, Stream::Address, 1);
    let mut writes = 0u64;
    for step in 0..steps {
        // Half of the requests fall into an eighth of the drive, so that units are written again while they are in the buffer.
        let span = if draw.below(2) == 0 { sectors / 8 } else { sectors };
        let size = 1 + if draw.below(4) == 0 { draw.below(4 * unit_sectors) } else { unit_sectors - 1 };
        let size = size.min(span);
        let grain = [1, unit_sectors][draw.below(2) as usize];
        let sector = draw.below(span - size + 1) / grain * grain;
        let place = sector as usize * SECTOR..(sector + size) as usize * SECTOR;
        match draw.below(20) {
            0..12 => {
                writes += 1;
                let bytes: Vec<u8> = (0..place.len()).map(|at| (at as u64 * 31 + writes * 7 + (at as u64 >> 8)) as u8).collect();
                let fua = draw.below(10) == 0;
                ask(&mut drive, &request(HostOp::Write, sector, size as u32, fua), &bytes);
                twin[place].copy_from_slice(&bytes);
            }
            12 => {
                ask(&mut drive, &request(HostOp::Trim, sector, size as u32, false), &[]);
                // Only whole units are forgotten.
                let (first, end) = (sector.div_ceil(unit_sectors), (sector + size) / unit_sectors);
                if first < end {
                    twin[(first * unit_sectors) as usize * SECTOR..(end * unit_sectors) as usize * SECTOR].fill(0);
                }
            }
            13 => {
                ask(&mut drive, &request(HostOp::Flush, 0, 0, false), &[]);
            }
            _ => {
                let read = ask(&mut drive, &request(HostOp::Read, sector, size as u32, false), &[]);
                assert!(
                    read == twin[place],
                    "seed {seed}, step {step}: {size} sectors from {sector} read otherwise than written, {shape:?}"
                );
            }
        }
    }
    drive.settle();
    drive.observer.0.clear();
    drive.audit().unwrap_or_else(|problem| panic!("seed {seed}, {shape:?}: {problem}"));
    let all = ask(&mut drive, &request(HostOp::Read, 0, sectors as u32, false), &[]);
    assert!(all == twin, "seed {seed}: the whole drive reads otherwise than written, {shape:?}");
}

fn tiny() -> Shape {
    Shape { blocks: 12, layers: 2, spare: 0.9, ..Shape::default() }
}

#[test]
fn a_drive_with_bytes_equals_an_array() {
    let failing = Faults { program_fail: 2e-3, ..Faults::default() };
    for (seed, shape) in [
        (1, tiny()),
        (2, Shape { unit: Bytes::kib(4), ..tiny() }),
        (3, Shape { unit: Bytes::kib(4), cores: 2, ..tiny() }),
        (4, Shape { planes: 2, blocks: 16, unit: Bytes::kib(4), scope: ProgramScope::Wordline, ..tiny() }),
        (5, Shape { unit: Bytes::kib(4), faults: failing, blocks: 24, ..tiny() }),
        (6, Shape { planes: 4, blocks: 16, cores: 2, ..tiny() }),
    ] {
        equals_an_array(&shape, seed, 1_200);
    }
}

#[test]
fn what_is_copied_keeps_the_version_of_its_write() {
    let config = tiny().config();
    let units = config.exported_units;
    let sectors = config.firmware.unit.0 / SECTOR as u64;
    let mut drive = drive(config);
    let bytes = vec![7; sectors as usize * SECTOR];
    for unit in 0..units {
        ask(&mut drive, &request(HostOp::Write, unit * sectors, sectors as u32, false), &bytes);
    }
    ask(&mut drive, &request(HostOp::Flush, 0, 0, false), &[]);
    let cold: Vec<_> = (units / 2..units).map(|lpn| drive.mark_of(0, lpn as u32).expect("it was written")).collect();
    let mut draw = Draw::new(9, Stream::Address, 2);
    for _ in 0..4 * units {
        ask(&mut drive, &request(HostOp::Write, draw.below(units / 2) * sectors, sectors as u32, false), &bytes);
    }
    ask(&mut drive, &request(HostOp::Flush, 0, 0, false), &[]);
    let moved: u32 = drive.blocks().map(|block| block.erases).sum();
    assert!(moved > 10, "reclaim has run: {moved} erases");
    for (lpn, before) in (units / 2..units).zip(cold) {
        assert_eq!(drive.mark_of(0, lpn as u32), Some(before), "unit {lpn} was only copied");
    }
    assert!(
        (0..units / 2).all(|lpn| drive.mark_of(0, lpn as u32).is_some_and(|mark| mark.version > units)),
        "overwritten units have new versions"
    );
}

/// Rotten pages, by the mark of their first unit.
type Rotten = Arc<Mutex<BTreeSet<(u32, u64)>>>;

/// A store whose pages rot.
#[derive(Debug)]
struct Rotting {
    sound: RamPayload,
    rotten: Rotten,
}

impl Payload for Rotting {
    fn program(&mut self, place: Place, contents: Contents<'_>) {
        self.sound.program(place, contents);
    }

    fn read(&self, place: Place, image: &mut PageImage) -> Kept {
        let kept = self.sound.read(place, image);
        if kept == Kept::Erased || !self.rotten.lock().expect("one thread").contains(&(image.marks[0].lpn.0, image.marks[0].version)) {
            return kept;
        }
        image.bytes.fill(0xA5);
        Kept::Torn
    }

    fn copy(&mut self, from: Place, to: Place) {
        self.sound.copy(from, to);
    }

    fn sanitise(&mut self, place: Place, how: Sanitisation, is_whole: bool) {
        self.sound.sanitise(place, how, is_whole);
    }

    fn erase(&mut self, block: u32) {
        self.sound.erase(block);
    }

    fn set_erases(&mut self, block: u32, erases: u32) {
        self.sound.set_erases(block, erases);
    }

    fn end(&mut self, block: u32) {
        self.sound.end(block);
    }

    fn break_off(&mut self, block: u32) {
        self.sound.break_off(block);
    }

    fn fail(&mut self, block: u32) {
        self.sound.fail(block);
    }
}

/// Random requests against an array of sectors, some of which are lost. A unit fills a page, so that what rots is a unit.
#[test]
fn what_has_rotted_is_never_given_out_and_stays_lost_until_it_is_written() {
    for seed in 21..25 {
        let config = tiny().config();
        let unit_sectors = config.firmware.unit.0 / SECTOR as u64;
        assert_eq!(config.firmware.unit, config.sheet.geometry.page);
        let units = config.exported_units;
        let rotten = Rotten::default();
        let sheet = config.sheet;
        let mut drive = Watched::with_payload(config, Completions::default(), |_| Rotting {
            sound: RamPayload::new(&sheet, 1),
            rotten: Arc::clone(&rotten),
        });
        // What each sector was written with last; nothing: it is lost.
        let mut twin: Vec<Option<u8>> = vec![Some(0); (units * unit_sectors) as usize];
        let mut draw = Draw::new(seed, Stream::Address, 1);
        let (mut failed, mut moved) = (0, 0);
        for step in 0..4_000u64 {
            let lpn = draw.below(units);
            let first = draw.below(unit_sectors);
            let count = if draw.below(2) == 0 { 1 + draw.below(unit_sectors - first) } else { unit_sectors };
            let sector = lpn * unit_sectors + if count == unit_sectors { 0 } else { first };
            let place = sector as usize..(sector + count) as usize;
            match draw.below(100) {
                0..50 => {
                    let value = (step % 251) as u8;
                    ask(&mut drive, &request(HostOp::Write, sector, count as u32, false), &vec![value; count as usize * SECTOR]);
                    twin[place].fill(Some(value));
                }
                50..62 => {
                    // With nothing in the buffer, all of a unit is on its page.
                    ask(&mut drive, &request(HostOp::Flush, 0, 0, false), &[]);
                    drive.settle();
                    drive.observer.0.clear();
                    if let Some(mark) = drive.mark_of(0, lpn as u32) {
                        rotten.lock().expect("one thread").insert((mark.lpn.0, mark.version));
                        twin[(lpn * unit_sectors) as usize..][..unit_sectors as usize].fill(None);
                    }
                }
                62 => {
                    ask(&mut drive, &request(HostOp::Trim, lpn * unit_sectors, unit_sectors as u32, false), &[]);
                    twin[(lpn * unit_sectors) as usize..][..unit_sectors as usize].fill(Some(0));
                }
                _ => {
                    let expected: Option<Vec<u8>> = twin[place].iter().copied().collect();
                    let read = try_to(&mut drive, &request(HostOp::Read, sector, count as u32, false), &[]);
                    let read: Option<Vec<u8>> = read.map(|bytes| bytes.chunks_exact(SECTOR).map(|sector| sector[0]).collect());
                    assert_eq!(read, expected, "seed {seed}, step {step}: {count} sectors from {sector}");
                    failed += u32::from(read.is_none());
                    moved += u32::from(drive.mark_of(0, lpn as u32).is_some_and(|mark| mark.lost != 0));
                }
            }
        }
        println!("seed {seed}: {failed} reads failed, {moved} reads of units that carry lost sectors");
        assert!(failed > 100 && moved > 50, "the lost were asked for");
        drive.audit().unwrap_or_else(|problem| panic!("seed {seed}: {problem}"));
    }
}
