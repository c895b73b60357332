//! Does a drive with many requests under way at a time read as an array of bytes, with its dies in memory and in media files?

use std::path::PathBuf;
use std::sync::Arc;

use wordline_block::{Errno, Op, ZeroHow};
use wordline_chip::RamPayload;
use wordline_drive::{Config as DriveConfig, Watched};
use wordline_live::{About, Keeper, LiveDisk, MediaStore, Refused, Timing, watch};
use wordline_media::{Durability, Identity, Media, MediaError, Shape};
use wordline_plan::Plan;
use wordline_units::random::{Draw, Stream};

use crate::client::{Answer, connect, ram_drive};
use crate::common::socket;

/// Small enough for reclaim to begin soon.
fn plan(settings: &[&str]) -> DriveConfig {
    let small = [
        "geometry.blocks=64",
        "mapping.over_provisioning=28 %",
        "geometry.layers=2",
        "geometry.wordlines_per_layer=2",
        "flash.dies_per_channel=1",
        "buffer.size=512 KiB",
        "cells.physics=false",
    ];
    Plan::load_set("pageftl", &[&small, settings].concat()).expect("a preset").build()
}

fn units_per_page(config: &DriveConfig) -> u32 {
    (config.sheet.geometry.page.0 / config.firmware.unit.0) as u32
}

/// The dies of a drive in files in a fresh folder.
fn in_files(config: DriveConfig, folder: PathBuf, durability: Durability) -> Result<LiveDisk, MediaError> {
    let geometry = config.sheet.geometry;
    let identity = Identity { drive: 5, die: 0, dies: geometry.dies(), chip: "tlc-48l".to_owned(), shape: Shape::of(&geometry)? };
    let media = Media::create(&folder, &identity, durability)?;
    let build = move || {
        let (store, watched) = (MediaStore::new(media, units_per_page(&config), None), watch(&config));
        (Watched::with_payload(config, watched, |die| store.payload(die)), store)
    };
    Ok(LiveDisk::start_kept(build, Timing::Off, About::default()))
}

/// Random requests against an array of bytes. `depth` of them are under way at a time, none touching what another does.
fn equals_an_array(disk: Arc<LiveDisk>, size: u64, seed: u64, steps: u32) {
    let mut client = connect(&disk);
    let mut twin = vec![0u8; size as usize];
    let mut draw = Draw::new(seed, Stream::Mix, 9);
    for step in 0..steps {
        // Each round's requests lie in stripes of their own, so that their order does not matter.
        let lanes = 1 + draw.below(8);
        let lane = size / lanes / 512 * 512;
        let mut reads = Vec::new();
        let mut count = 0;
        for number in 0..lanes {
            let length = 512 * (1 + if draw.below(6) == 0 { draw.below(lane.min(3 << 20) / 512 - 1) } else { draw.below(64) });
            let offset = number * lane + draw.below((lane - length) / 512 + 1) * 512;
            let place = offset as usize..(offset + length) as usize;
            let fua = draw.below(10) == 0;
            let op = match draw.below(12) {
                0..6 => {
                    let data: Vec<u8> = (0..length).map(|at| (at / 7 + u64::from(step) * 13 + number) as u8).collect();
                    twin[place].copy_from_slice(&data);
                    Op::Write { offset, data, fua }
                }
                6 => {
                    twin[place].fill(0);
                    Op::WriteZeroes { offset, length, how: ZeroHow { may_punch: fua, must_be_fast: false }, fua }
                }
                7 => {
                    // Units that it covers in part as well.
                    twin[place].fill(0);
                    Op::Trim { offset, length, fua }
                }
                8 => Op::Flush,
                _ => Op::Read { offset, length: length as u32 },
            };
            let tag = client.request(&op);
            count += 1;
            if let Op::Read { offset, length } = op {
                reads.push((tag, offset, length));
            }
        }
        for _ in 0..count {
            let answer = client.answer();
            assert_eq!(answer.fault, None, "seed {seed} step {step}");
            check(&mut reads, &answer, &twin);
        }
    }
    let mut at = 0;
    while at < size {
        let length = (size - at).min(1 << 20);
        assert!(client.read(at, length as u32) == twin[at as usize..(at + length) as usize], "seed {seed}: at {at} after all");
        at += length;
    }
}

/// If `answer` is that of a read: is it what the array holds?
fn check(reads: &mut Vec<(u64, u64, u32)>, answer: &Answer, twin: &[u8]) {
    if let Some(at) = reads.iter().position(|&(tag, ..)| tag == answer.tag) {
        let (_, offset, length) = reads.swap_remove(at);
        assert!(answer.bytes == twin[offset as usize..offset as usize + length as usize], "read of {length} bytes at {offset}");
    }
}

#[test]
fn in_memory() {
    let all = [&[][..], &["mapping.unit=4 KiB"], &["controller.cores=2"], &["buffer.acknowledge=programmed"]];
    for (seed, settings) in (0..).zip(all) {
        let config = plan(settings);
        let size = config.exported().0;
        equals_an_array(ram_drive(config, Timing::Off), size, seed, 150);
    }
}

#[test]
fn in_media_files() {
    for (seed, durability, steps) in [(11, Durability::Process, 150), (12, Durability::Host, 20)] {
        let folder = socket().with_extension("media");
        let config = plan(&["mapping.unit=4 KiB"]);
        let size = config.exported().0;
        equals_an_array(Arc::new(in_files(config, folder.clone(), durability).expect("a fresh folder")), size, seed, steps);
        // The drive has let go of them: they can be opened.
        let media = Media::open(&folder, None, durability).expect("media files");
        let written =
            (0..media.dies()).flat_map(|die| (0..64).map(move |block| (die, block))).map(|(die, block)| media.die(die).block(block).cursor);
        assert!(written.sum::<u32>() > 200);
        drop(media);
        std::fs::remove_dir_all(&folder).expect("ours");
    }
}

/// Says that something went wrong: with a sync, or before.
struct Broken {
    before: bool,
}

impl Keeper for Broken {
    fn sync(&self) -> Result<(), Refused> {
        Err(Refused { errno: Errno::Io, why: "no space left on the host's disk".to_owned() })
    }

    fn trouble(&self) -> Option<String> {
        self.before.then(|| "no space left on the host's disk".to_owned())
    }
}

#[test]
fn what_could_not_be_kept_is_not_acknowledged() {
    for before in [false, true] {
        let config = plan(&[]);
        let (sheet, units, watched) = (config.sheet, units_per_page(&config), watch(&config));
        let build = move || (Watched::with_payload(config, watched, |_| RamPayload::new(&sheet, units)), Broken { before });
        let disk = Arc::new(LiveDisk::start_kept(build, Timing::Off, About::default()));
        let mut client = connect(&disk);
        let write = |fua| Op::Write { offset: 0, data: vec![1; 512], fua };
        for (op, fails) in [(write(false), before), (write(true), true), (Op::Flush, true), (Op::Read { offset: 0, length: 512 }, before)] {
            let fault = client.call(&op).fault;
            assert_eq!(
                fault.as_ref().map(|fault| (fault.errno, fault.message.contains("no space"))),
                fails.then_some((Errno::Io, true)),
                "{op:?}"
            );
        }
    }
}
