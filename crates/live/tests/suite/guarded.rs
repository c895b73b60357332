//! Does a die on media files know after any cut which wordlines its last erases have spared, and how much that has spared them of wear?
//!
//! The process dies at each write to the files. A block that is erased then, and whose erase was not cut short, must spare what was ordered. Media that lose
//! the spared wordlines are told from those that do not.

use std::sync::Arc;

use wordline_cells::{CellArray, Model};
use wordline_chip::{Chip, Contents, KeptBlock, Mark};
use wordline_drive::Config;
use wordline_flash::command::PLANES_MAX;
use wordline_flash::{Command, EraseSettings, PlaneSet, Target};
use wordline_live::{Durability, MediaStore};
use wordline_media::{Identity, Media, Memory, Replay, Shape, Tape};
use wordline_plan::Plan;
use wordline_units::random::{Draw, Stream};
use wordline_units::{BlockId, Bytes, DieId, Lpn, Nanos, PageId, PlaneId, WordlineSet};

use crate::lived::Lived;

const SEED: u64 = 11;
const BLOCKS: u32 = 3;

fn config(physics: bool) -> Config {
    let mut settings = vec!["flash.channels=1", "flash.dies_per_channel=1", "capabilities.guarded_erase=true"];
    if !physics {
        settings.push("cells.physics=false");
    }
    let mut config = Plan::load_set("pageftl", &settings).expect("a preset").build();
    config.sheet.geometry.blocks = BLOCKS;
    assert_eq!(config.cells.is_some(), physics);
    config
}

type Die = Chip;

fn die(config: &Config, files: Media<Memory>) -> Die {
    let store = MediaStore::new(files, 1, None);
    let mut die = Chip::with_payload(config.sheet, Default::default(), SEED, 0, 1, Some(Box::new(store.payload(DieId(0)))));
    if let Some(cells) = &config.cells {
        let model = Arc::new(Model::new(&cells.physics).expect("checked"));
        die.set_cells(CellArray::new(model, SEED, 0, BLOCKS as usize, cells.temperature));
    }
    die
}

fn at(block: u32, page: u32) -> Target {
    let mut blocks = [0; PLANES_MAX];
    blocks[0] = block as u16;
    Target { planes: PlaneSet::first(1), blocks, page: PageId(page as u16) }
}

/// Spared wordlines of each block, and whether that is known of it: not between the begin of an erase and its end.
type Known = Vec<(WordlineSet, bool)>;

/// A life of erases and programs, with what is spared after each of its steps and how long the tape was then; and the die.
fn live(config: &Config) -> (Lived<Known>, Die) {
    let geometry = config.sheet.geometry;
    let identity = Identity { drive: 7, die: 0, dies: 1, chip: "a chip".to_owned(), shape: Shape::of(&geometry).expect("a small shape") };
    let tape = Tape::new();
    let mut die = die(config, Media::in_memory(&identity, Durability::Process, &tape).expect("it can be written down"));
    let mut spared: Known = vec![(WordlineSet::NONE, true); BLOCKS as usize];
    let mut states = vec![(tape.len(), spared.clone())];
    let (bytes, mut now) = (vec![7; geometry.page.0 as usize], Nanos(1));
    let mut draw = Draw::new(SEED, Stream::Mix, 0);
    for round in 0..30u32 {
        let block = round % BLOCKS;
        let set = WordlineSet::of((0..draw.below(4)).map(|_| draw.below(192) as u32).collect::<Vec<_>>());
        let wordlines = geometry.layers * geometry.wordlines_per_layer;
        for (feature, value) in (EraseSettings { spared: set }).registers(wordlines) {
            now = die.issue(Command::SetFeature { feature, value }, now).ready_at;
        }
        spared[block as usize].1 = false;
        states.push((tape.len(), spared.clone()));
        now = die.issue(Command::Erase { target: at(block, 0) }, now).ready_at;
        states.push((tape.len(), spared.clone()));
        die.end(now);
        spared[block as usize] = (set, true);
        states.push((tape.len(), spared.clone()));
        let first = (0..).find(|&page| !set.has(page / 3)).expect("there are many wordlines");
        let marks = [Mark { lpn: Lpn(round), version: 1, lost: 0, insecure: false }];
        die.transfer(Command::DataIn { bytes: Bytes(bytes.len() as u64) }, now, now);
        let program = Command::Program { target: at(block, first), cache: false };
        now = die.program(program, now, &[Lpn(round)], Contents::of(&bytes, &marks)).ready_at;
        die.end(now);
        states.push((tape.len(), spared.clone()));
    }
    (Lived { tape, identity, states }, die)
}

fn wake(config: &Config, files: Media<Memory>) -> (Die, Vec<KeptBlock>) {
    let mut woken = die(config, files);
    let blocks = (0..BLOCKS).map(|block| woken.wake_block(PlaneId(0), BlockId(block))).collect();
    (woken, blocks)
}

/// How many blocks of dies that woke up after a cut at any write spare others than were ordered, and how many spare any. `loses`: the files forget them.
fn cut_everywhere(physics: bool, loses: bool) -> (u32, u32) {
    let config = config(physics);
    let (mut wrong, mut sparing) = (0, 0);
    live(&config).0.cut_everywhere(SEED, 2 * config.sheet.geometry.page.0, |files, before, after| {
        let (woken, blocks) = wake(&config, files);
        for (block, kept) in (0..).zip(blocks) {
            if kept.is_torn {
                continue;
            }
            let found = if loses { WordlineSet::NONE } else { woken.spared(PlaneId(0), BlockId(block)) };
            let (before, after) = (before[block as usize], after[block as usize]);
            wrong += u32::from(found != before.0 && found != after.0);
            sparing += u32::from(!found.is_empty());
        }
    });
    (wrong, sparing)
}

#[test]
fn spared_wordlines_outlive_a_cut_at_any_write_with_physics_and_without() {
    for physics in [true, false] {
        let (wrong, sparing) = cut_everywhere(physics, false);
        assert!(wrong == 0 && sparing > 100, "physics {physics}: {wrong} wrong, {sparing} spare some");
    }
    assert!(cut_everywhere(true, true).0 > 100, "planted bug: the files forget them");
}

#[test]
fn a_die_that_wakes_up_refuses_what_it_refused_and_has_worn_as_it_had() {
    let config = config(true);
    let (Lived { tape, identity, .. }, lived) = live(&config);
    let mut replay = Replay::new(1);
    tape.entries().iter().for_each(|entry| replay.apply(entry).expect("memory"));
    let files = Media::open_memory(replay.files(), Some(&identity), Durability::Process).expect("all of it");
    let (woken, _) = wake(&config, files);
    for block in 0..BLOCKS {
        assert_eq!(woken.spared(PlaneId(0), BlockId(block)), lived.spared(PlaneId(0), BlockId(block)));
    }
    let tables = |die: &Die| serde_json::to_value(die.guard_image()).expect("plain data")["relief"].clone();
    let (was, is) = (tables(&lived), tables(&woken));
    assert_eq!(was.as_array().map(Vec::len), is.as_array().map(Vec::len));
    assert_ne!(was, serde_json::json!([]), "some were spared");
}
