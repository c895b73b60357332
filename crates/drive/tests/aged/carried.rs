//! Copybacks of a die with the physics of a chip file: are the errors of each sensing in the data of the copy, over chains, images and whole drives?
//!
//! Chains of copies are held against the model's own wordlines, each of which is given what the one before it sensed ([`Wordline::carrying`]). Dies that heal
//! what they copy, or forget what the source had carried, are told from those that do not.

use std::sync::Arc;

use wordline_cells::{Age, CellArray, Condition, Faults, Model};
use wordline_chip::{CarriedTables, Chip, Contents, GuardImage, Sanitisation};
use wordline_drive::{Config, Image, Pace, Watched};
use wordline_flash::{Command, Status, Target};
use wordline_plan::Plan;
use wordline_units::{BlockId, Bytes, Celsius, HostOp, HostRequest, Lpn, Nanos, PageId, PlaneId};

use crate::small::uniform;

const SEED: u64 = 1_001;
const BLOCKS: u16 = 200;
const COPIES: u16 = 12;
const CYCLES: f64 = 2_000.0;
const YEAR: f64 = 365.0 * 86_400.0;

fn at(block: u16, page: u16) -> Target {
    Target::single(PlaneId(0), BlockId(u32::from(block)), PageId(page))
}

/// A die of pageftl at this age.
struct Die {
    chip: Chip,
    model: Arc<Model>,
    at: Celsius,
    now: Nanos,
}

impl Die {
    fn new(cycles: f64) -> Die {
        let config = Plan::load("pageftl").expect("a preset").build();
        let cells = config.cells.expect("pageftl has the physics of tlc48");
        let model = Arc::new(Model::new(&cells.physics).expect("it was checked"));
        let mut chip = Chip::new(config.sheet, Faults::default(), SEED, 0, 1);
        chip.set_cells(CellArray::new(Arc::clone(&model), SEED, 0, config.sheet.geometry.blocks as usize, cells.temperature));
        let mut die = Die { chip, model, at: cells.temperature, now: Nanos::ZERO };
        die.age(cycles, 0.0);
        die
    }

    fn age(&mut self, cycles: f64, retention: f64) {
        self.chip.set_age(&Age { cycles, dwell: 60.0, retention, temperature: self.at.0 }, self.now);
    }

    fn program(&mut self, block: u16, page: u16) {
        let bytes = self.chip.sheet().geometry.page;
        self.chip.transfer(Command::DataIn { bytes: Bytes(bytes.0) }, self.now, self.now);
        let command = Command::Program { target: at(block, page), cache: false };
        self.now = self.chip.program(command, self.now, &[Lpn(u32::from(page))], Contents::NONE).ready_at;
    }

    fn read(&mut self, block: u16, page: u16) -> Status {
        let issued = self.chip.issue(Command::Read { target: at(block, page), cache: false }, self.now);
        self.now = issued.ready_at;
        issued.status
    }

    fn copy(&mut self, from: (u16, u16), to: (u16, u16)) {
        let copied = self.chip.copy_back(at(from.0, from.1), at(to.0, to.1), self.now);
        assert_eq!((copied.status, copied.errors), (Status::Good, 0), "the controller never sees the data");
        self.now = copied.ready_at;
    }

    fn carried(&self, block: u16, page: u16) -> f64 {
        let number = self.chip.carried_tables().of(u32::from(block)).map_or(0, |table| table[usize::from(page)]);
        if number == 0 { 0.0 } else { libm::exp2((f64::from(number) - 16_384.0) / 64.0) }
    }

    fn is_ruined(&self, block: u16, page: u16) -> bool {
        self.chip.is_ruined(PlaneId(0), BlockId(u32::from(block)), PageId(page))
    }
}

/// Origin of the wordlines of a block, which are programmed one after the other.
#[derive(Clone, Copy, Debug)]
enum Way {
    /// Each is a copy of the one before.
    Chain,
    /// Each is programmed by the controller.
    Healed,
    /// Each is a copy of the first, which has carried nothing.
    FromFirst,
}

/// The carried rates of each wordline of each block.
fn on_the_die(way: Way) -> (Die, Vec<Vec<[f64; 3]>>) {
    let mut die = Die::new(CYCLES);
    let mut rates = Vec::new();
    for block in 0..BLOCKS {
        for wordline in 0..=COPIES {
            for kind in 0..3 {
                let to = 3 * wordline + kind;
                match way {
                    Way::Chain if wordline > 0 => die.copy((block, to - 3), (block, to)),
                    Way::FromFirst if wordline > 0 => die.copy((block, kind), (block, to)),
                    Way::Chain | Way::FromFirst | Way::Healed => die.program(block, to),
                }
            }
        }
        let of = |wordline: u16| core::array::from_fn(|kind| die.carried(block, 3 * wordline + kind as u16));
        rates.push((0..=COPIES).map(of).collect());
    }
    (die, rates)
}

/// Mean difference of what a chain carries, and the greatest difference of thresholds, between a die and the model's wordlines.
fn compare(way: Way) -> (f64, usize) {
    let (die, found) = on_the_die(way);
    let model = &die.model;
    let default = model.references(0);
    let entries: Vec<_> = (0..=model.retry_entries()).map(|entry| model.references(entry)).collect();
    let (mut off, mut apart, mut spread) = (0.0, 0, [usize::MAX, 0]);
    for (block, found) in found.iter().enumerate() {
        let specimen = model.block(SEED, 0, block as u32);
        let mut carried = [0.0f32; 4];
        let mut ends = [None; 2];
        for (wordline, found) in found.iter().enumerate() {
            let traits = model.traits(&specimen, wordline as u32 / model.physics().shape.wordlines_per_layer);
            let condition = Condition::new(model.cycled(CYCLES, 60.0, die.at), die.at);
            let (source, last) = (model.wordline(&traits, &condition), model.wordline(&traits, &condition.kept(YEAR)));
            for (found, expected) in found.iter().zip(&carried).filter(|_| wordline > 0) {
                off += libm::log(found.max(1e-9) / f64::from(*expected)).abs() / f64::from(3 * COPIES);
            }
            let told = [0, 1, 2, 3].map(|kind| if kind < 3 { found[kind] as f32 } else { 0.0 });
            for (end, carried) in ends.iter_mut().zip([told, carried]) {
                let kept = last.carrying(carried);
                let best = |page| entries.iter().map(|entry| kept.error_rate(model, page, entry)).fold(1.0, f64::min);
                if wordline > 0 && (0..3).any(|page| best(page) > model.limit()) {
                    end.get_or_insert(wordline - 1);
                }
            }
            let sensed = source.carrying(carried);
            (0..3).for_each(|page| carried[page as usize] = sensed.error_rate(model, page, &default) as f32);
        }
        let [ours, theirs] = ends.map(|end| end.unwrap_or(usize::from(COPIES)));
        apart = apart.max(ours.abs_diff(theirs));
        spread = [spread[0].min(theirs), spread[1].max(theirs)];
    }
    let off = off / f64::from(BLOCKS);
    println!("{way:?}: carried rates {:.1} % apart, thresholds {apart} of {spread:?}; seed {SEED}", 100.0 * off);
    assert!(spread[0] < spread[1], "blocks differ: {spread:?}");
    (off, apart)
}

#[test]
fn chains_of_copybacks_carry_what_the_wordlines_of_the_model_carry() {
    let (off, apart) = compare(Way::Chain);
    assert!(off < 0.05 && apart <= 1, "rates {off}, thresholds {apart}");
}

#[test]
fn planted_bug_a_die_heals_what_it_copies() {
    let (off, apart) = compare(Way::Healed);
    assert!(off > 1.0 && apart > 1, "rates {off}, thresholds {apart}");
}

#[test]
fn planted_bug_a_copy_forgets_what_its_source_had_carried() {
    let (off, apart) = compare(Way::FromFirst);
    assert!(off > 0.5 && apart > 1, "rates {off}, thresholds {apart}");
}

#[test]
fn a_copy_of_what_cannot_be_corrected_succeeds_and_one_of_what_the_die_knows_to_be_unreadable_does_not() {
    let mut die = Die::new(20_000.0);
    (0..9).for_each(|page| die.program(0, page));
    die.age(20_000.0, 10.0 * YEAR);
    let bad = (0..9).find(|&page| die.read(0, page) == Status::Uncorrectable).expect("such cells cannot be corrected");
    die.copy((0, bad), (1, 0));
    assert!(!die.is_ruined(1, 0), "the die does not know");
    assert!(die.carried(1, 0) > die.model.limit());
    assert_eq!(die.read(1, 0), Status::Uncorrectable, "what is wrong in the data stays wrong in fresh cells");
    die.copy((1, 0), (1, 1));
    assert!(die.carried(1, 1) > die.carried(1, 0));
    // An erased page is all ones, a locked one all zeroes.
    die.copy((7, 0), (1, 2));
    assert_eq!(die.carried(1, 2), 0.0, "a copy from a clean page leaves none");
    let locked = die.chip.issue(Command::Sanitise { target: at(0, 3), how: Sanitisation::LockPage }, die.now);
    die.now = locked.ready_at;
    die.copy((0, 3), (1, 3));
    assert!(die.is_ruined(1, 3) && die.carried(1, 3) == 0.0);
    die.chip.give_up(&at(0, 4));
    die.copy((0, 4), (1, 4));
    assert!(die.is_ruined(1, 4), "a torn source");
    die.program(1, 5);
    die.now = die.chip.issue(Command::Erase { target: at(1, 0) }, die.now).ready_at;
    assert!(die.chip.carried_tables() == CarriedTables::default());
}

const PLAN: u64 = 5;

/// A small drive whose cells are worn, and which moves data by copyback.
fn config() -> Config {
    let settings = [
        "flash.channels=1",
        "flash.dies_per_channel=2",
        "geometry.blocks=24",
        "mapping.over_provisioning=60 %",
        "techniques.plain-copyback.on=true",
        "cells.cycles=2000",
        "cells.retention=1 mo",
    ];
    Plan::load_set("pageftl", &settings).unwrap_or_else(|error| panic!("{error}")).build()
}

fn worked() -> Watched {
    let config = config();
    let units = config.exported_units;
    let age = config.cells.as_ref().and_then(|cells| cells.age).expect("it was set");
    let mut drive = Watched::new(config.clone(), ());
    drive.construct_filled(units);
    drive.set_age(&age);
    drive.serve(&mut uniform(&config, units, 2), Pace::Closed { depth: 16 }, Some(2 * units));
    drive.settle();
    drive
}

/// The hash of the events of a drive while everything is read, which have errors and retries in them.
fn read_all(image: Image) -> u64 {
    let config = config();
    let (units, sectors) = (config.exported_units, (config.firmware.unit.0 / 512) as u32);
    let mut drive = Watched::from_image(config, image, ()).unwrap_or_else(|problem| panic!("{problem}"));
    let mut reads = (0..units).map(|unit| HostRequest::new(HostOp::Read, unit * u64::from(sectors), sectors));
    drive.serve(&mut reads, Pace::Closed { depth: 1 }, None);
    drive.settle();
    drive.log().hash()
}

/// The bytes of an image of format 8, which had nothing of what copybacks carried.
fn of_before(image: &Image) -> Vec<u8> {
    let mut bytes = image.to_bytes(PLAN);
    let told = serde_json::to_value(image).expect("plain data");
    let tables: Vec<CarriedTables> = serde_json::from_value(told["carried"].clone()).expect("its tables");
    assert!(tables.iter().any(|tables| *tables != CarriedTables::default()), "the drive has copied data");
    // Behind it comes what guarded erases have left, and what services and cores know.
    let guard: Vec<GuardImage> = serde_json::from_value(told["guard"].clone()).expect("its dies");
    let services: Vec<wordline_ftl::ServiceTables> = serde_json::from_value(told["services"].clone()).expect("its cores");
    let spared: Vec<wordline_ftl::Spared> = serde_json::from_value(told["spared"].clone()).expect("its cores");
    let length = |bytes: Result<Vec<u8>, _>| bytes.map_err(|_: postcard::Error| ()).expect("plain data").len();
    let (guard, tables) = (length(postcard::to_extend(&guard, Vec::new())), length(postcard::to_extend(&tables, Vec::new())));
    let (services, spared) = (length(postcard::to_extend(&services, Vec::new())), length(postcard::to_extend(&spared, Vec::new())));
    // Behind them stand what has failed, what waits, the time lived and the times without power, which are empty.
    bytes.truncate(bytes.len() - services - spared - guard - tables - 4);
    bytes[8] = 8;
    let sum = wordline_drive::image::checksum(&bytes[28..]).to_le_bytes();
    bytes[20..28].copy_from_slice(&sum);
    bytes
}

#[test]
fn an_image_has_what_copybacks_carried_and_one_of_the_format_before_is_read_without() {
    let image = worked().image().expect("settled");
    let bytes = image.to_bytes(PLAN);
    let again = Image::from_bytes(&bytes, PLAN).expect("its own bytes");
    assert_eq!(again, image);
    let hash = read_all(image.clone());
    assert_eq!(read_all(again), hash);
    // The oracle sees a drive that lost its carried errors.
    let before = Image::from_bytes(&of_before(&image), PLAN).expect("format 8 is read");
    assert_ne!(read_all(before), hash, "planted bug: carried errors are not in the image");
}
