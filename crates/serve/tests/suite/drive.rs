//! Does a drive behind a socket keep what clients write, whatever its firmware does meanwhile?

use std::os::unix::net::UnixStream;
use std::sync::Arc;

use wordline_block::{Extent, Op, ZeroHow};
use wordline_chip::RamPayload;
use wordline_drive::Watched;
use wordline_live::doors::Address;
use wordline_live::{LiveDisk, Timing, Watch, watch};
use wordline_nbd::client::{Ask, Content, Speak};
use wordline_nbd::{Export, wire};
use wordline_plan::Plan;
use wordline_serve::{Config, Running, serve};
use wordline_units::Bytes;
use wordline_units::random::{Draw, Stream};

use crate::common::{Connected, bytes, connect, socket};

/// A drive of a few MiB that reclaims soon.
fn plan() -> Plan {
    let settings = ["flash.channels=1", "flash.dies_per_channel=2", "cells.physics=false"];
    Plan::load_set("pageftl-4k", &settings).expect("a preset")
}

/// The same with dies of so few blocks, of 24 pages each.
fn drive(blocks: u32) -> (u64, impl FnOnce() -> Watched<Watch> + Send) {
    let mut config = plan().build();
    let before = u64::from(config.sheet.geometry.blocks * config.sheet.geometry.pages());
    config.sheet.geometry.blocks = blocks;
    config.sheet.geometry.layers = 2;
    config.firmware.sheet = config.sheet;
    config.firmware.spare_blocks = 1;
    config.firmware.gc.start = 4;
    config.firmware.gc.floor = 2;
    config.exported_units = config.exported_units * u64::from(blocks * config.sheet.geometry.pages()) / before / 2;
    let size = config.exported().0;
    let build = move || {
        let (sheet, units, watched) = (config.sheet, (config.sheet.geometry.page.0 / config.firmware.unit.0) as u32, watch(&config));
        Watched::with_payload(config, watched, |_| RamPayload::new(&sheet, units))
    };
    (size, build)
}

fn start(blocks: u32, timing: Timing) -> (Running, Arc<LiveDisk>, u64, std::path::PathBuf) {
    let (size, build) = drive(blocks);
    let disk = Arc::new(LiveDisk::start(build, timing));
    let path = socket();
    let export = Export { block_min: 512, ..Export::new("disk", size) };
    let running = serve(&Address::Unix(path.clone()), vec![(export, disk.clone())], Config::default()).expect("it starts");
    (running, disk, size, path)
}

#[test]
fn a_live_drive_equals_an_array_under_random_requests() {
    let seed = 20_260_401;
    let (_running, _disk, size, path) = start(32, Timing::Off);
    let mut client = connect(&path);
    let mut twin = vec![0u8; size as usize];
    let mut draw = Draw::new(seed, Stream::Address, 3);
    for step in 0..2_000u64 {
        let length = (1 + draw.below(128)) * 512;
        let offset = draw.below((size - length) / 512) * 512;
        let place = offset as usize..(offset + length) as usize;
        match draw.below(10) {
            0..6 => {
                let data: Vec<u8> = (0..length).map(|at| (at / 7 + step * 13) as u8).collect();
                twin[place].copy_from_slice(&data);
                assert_eq!(client.call(&Op::Write { offset, data, fua: step % 16 == 0 }).fault, None, "step {step}");
            }
            6 => {
                let how = ZeroHow { may_punch: draw.below(2) == 0, must_be_fast: false };
                assert_eq!(client.call(&Op::WriteZeroes { offset, length, how, fua: false }).fault, None, "step {step}");
                twin[place].fill(0);
            }
            7 => assert_eq!(client.call(&Op::Flush).fault, None),
            _ => {
                let answer = client.call(&Op::Read { offset, length: length as u32 });
                assert_eq!(answer.fault, None);
                assert!(bytes(&answer) == twin[place], "seed {seed}, step {step}: {length} bytes from {offset}");
            }
        }
    }
    for (chunk, expected) in twin.chunks(1 << 20).enumerate() {
        assert!(client.read((chunk << 20) as u64, expected.len() as u32) == expected, "seed {seed}: MiB {chunk}");
    }
}

#[test]
fn trims_make_holes_that_read_as_zeroes() {
    let (_running, _disk, size, path) = start(32, Timing::Off);
    let mut client = connect(&path);
    client.write(0, &[5; 1 << 20]);
    assert_eq!(client.call(&Op::Trim { offset: 256 << 10, length: 256 << 10, fua: true }).fault, None);
    assert!(client.read(256 << 10, 256 << 10).iter().all(|&byte| byte == 0));
    let answer = client.call(&Op::BlockStatus { offset: 0, length: size, one: false });
    let Content::Status(_, extents) = &answer.content[0] else { panic!("{answer:?}") };
    let extents: Vec<_> = extents.iter().map(|extent| (extent.length, extent.flags)).collect();
    assert_eq!(extents, [(256 << 10, 0), (256 << 10, 3), (512 << 10, 0), (size - (1 << 20), 3)]);
    let fast = ZeroHow { may_punch: false, must_be_fast: true };
    let refused = client.call(&Op::WriteZeroes { offset: 0, length: 512, how: fast, fua: false });
    assert_eq!(refused.fault.map(|fault| fault.errno), Some(wire::error::NOT_SUPPORTED));
}

#[test]
fn answers_are_never_early_on_the_walls_clock() {
    let (_running, disk, _, path) = start(32, Timing::Real(20.0));
    let mut client = connect(&path);
    let began = std::time::Instant::now();
    for at in 0..50u64 {
        let data = vec![at as u8; 4_096];
        assert_eq!(client.call(&Op::Write { offset: at * 4_096, data, fua: true }).fault, None);
    }
    let sheet = plan().build().sheet;
    let fastest = sheet.timing.program.iter().min().expect("a page has a time").0.min(sheet.timing.program_wordline.0.max(1));
    // Fifty programs one after the other, twenty times as fast as the drive's own pace.
    assert!(began.elapsed().as_nanos() as u64 >= 50 * fastest / 20, "{:?}", began.elapsed());
    assert_eq!(disk.lateness().answers, 50);
}

#[test]
fn a_drive_that_closes_answers_what_is_outstanding() {
    let (running, disk, _, path) = start(32, Timing::Off);
    let mut client = connect(&path);
    client.write(0, &[1; 4_096]);
    disk.close();
    let refused = client.call(&Op::Read { offset: 0, length: 512 });
    assert_eq!(refused.fault.map(|fault| fault.errno), Some(wire::error::SHUTDOWN));
    drop(running);
}

#[test]
fn hint_classes_behind_the_name_of_an_export_are_hints_for_the_drive() {
    let (size, build) = drive(32);
    let path = socket();
    let export = Export { block_min: 512, ..Export::new("disk", size) }.described(LiveDisk::description(Bytes(16 << 10)));
    let disk = Arc::new(LiveDisk::start(build, Timing::Off));
    let _running = serve(&Address::Unix(path.clone()), vec![(export, disk)], Config::default()).expect("it starts");
    let contexts = ["x-wordline:hint", "x-wordline:media", "base:allocation"].map(str::to_owned).to_vec();
    for (name, flags) in [("disk", 0), ("disk@low,insecure", 4 | 2 << 3), ("disk@short", 2 << 7)] {
        let ask =
            Ask { export: name.to_owned(), dialect: Speak::Structured, contexts: contexts.clone(), by_export_name: false, list: true };
        let mut client = Connected::open_as(UnixStream::connect(&path).expect("it listens"), ask);
        let listed = &client.ready.listed;
        assert!(["disk@urgent", "disk@insecure"].iter().all(|name| listed.iter().any(|known| known == name)), "{listed:?}");
        let answer = client.call(&Op::BlockStatus { offset: 0, length: size, one: false });
        for (context, expected) in [("x-wordline:hint", flags), ("x-wordline:media", 0), ("base:allocation", 3)] {
            let number = client.ready.contexts.iter().find(|(_, known)| known == context).map(|(number, _)| *number).expect("chosen");
            let of_context = |content: &Content| match content {
                Content::Status(context, extents) if *context == number => Some(extents.clone()),
                Content::Data(..) | Content::Hole(..) | Content::Status(..) => None,
            };
            let extents = answer.content.iter().find_map(of_context).expect("an answer");
            assert_eq!(extents, [Extent { length: size, flags: expected }], "{name}: {context}");
        }
    }
}
