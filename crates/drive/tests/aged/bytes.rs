//! Drives that keep bytes: what is read is what was written, whatever the firmware does with it in between.

use wordline_cells::Faults;
use wordline_chip::RamPayload;
use wordline_drive::{Config, Drive};
use wordline_engine::{Event, Observer};
use wordline_flash::ProgramScope;
use wordline_units::random::{Draw, Stream};
use wordline_units::{Bytes, HostOp, HostRequest, Nanos, Priority, RequestId};

use crate::small::Shape;

const SECTOR: usize = 512;

/// Remembers what has been completed.
#[derive(Debug, Default)]
struct Done(Vec<(RequestId, bool)>);

impl Observer for Done {
    fn observe(&mut self, _: Nanos, event: &Event) {
        if let Event::Completed(done) = event {
            self.0.push((done.request, done.ok));
        }
    }
}

fn drive(config: Config) -> Drive<Done, RamPayload> {
    let (sheet, units) = (config.sheet, (config.sheet.geometry.page.0 / config.firmware.unit.0) as u32);
    Drive::with_payload(config, Done::default(), |_| RamPayload::new(&sheet, units))
}

/// Submit `request` and wait for it; returns what it reads.
fn ask(drive: &mut Drive<Done, RamPayload>, request: &HostRequest, bytes: &[u8]) -> Vec<u8> {
    let id = drive.submit(request, bytes);
    loop {
        if let Some(at) = drive.observer.0.iter().position(|&(done, _)| done == id) {
            let (_, ok) = drive.observer.0.swap_remove(at);
            assert!(ok, "{request:?} failed");
            return drive.bytes_of(id).to_vec();
        }
        let next = drive.next_at().expect("something is pending while a request is outstanding");
        drive.run_until(next);
    }
}

fn request(op: HostOp, sector: u64, sectors: u32, fua: bool) -> HostRequest {
    HostRequest { at: Nanos::ZERO, sector, sectors, op, priority: Priority::Normal, fua }
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
