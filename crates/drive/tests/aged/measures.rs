//! Are pages measured on a whole drive: once for each filling, with a count of all codewords, and behind the host's reads?

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use wordline_drive::{Config, Image, Pace, Watched};
use wordline_engine::{Event, Observer};
use wordline_flash::Tally;
use wordline_ftl::BlockGroup;
use wordline_ftl::techniques::hooks::{Hook, Hooks};
use wordline_ftl::techniques::seam::{Card, Ctx, FlashPage, News, Persists, ReadReport, Technique};
use wordline_ftl::techniques::work::{NEVER, Work, WorkKind};
use wordline_plan::Plan;
use wordline_units::random::{Draw, Stream};
use wordline_units::{Cause, FlashOp, HostOp, HostRequest, Nanos, PageId, PlaneId};

/// Has one page of each filling measured.
#[derive(Debug)]
struct Measurer {
    page: u16,
    tally: bool,
    told: Arc<Mutex<Told>>,
}

#[derive(Debug, Default)]
struct Told {
    opened: u32,
    reads: Vec<ReadReport>,
}

const CARD: Card = Card {
    name: "measurer",
    source: "a test",
    claim: "none",
    hooks: Hooks::of(&[Hook::Opened, Hook::Read, Hook::Work]),
    asks: &[],
    persists: Persists::Nothing("it knows nothing"),
    limits: "none",
};

impl Technique for Measurer {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn learn(&mut self, _: &Ctx<'_>, news: &News) {
        let mut told = self.told.lock().expect("nobody panics");
        if let News::Read(read) = news
            && read.cause == Cause::Measure
        {
            told.reads.push(*read);
        } else if let News::Opened { .. } = news {
            told.opened += 1;
        }
    }

    fn work(&self, _: &Ctx<'_>, news: &News) -> Option<Work> {
        let News::Opened { group, .. } = *news else { return None };
        let at = FlashPage { group, plane: PlaneId(0), page: PageId(self.page) };
        Some(Work { kind: WorkKind::Measure { at, tally: self.tally }, cause: Cause::Measure, due: NEVER })
    }
}

/// Reads of the host, and measurements.
#[derive(Debug, Default)]
struct Reads {
    host: u32,
    measured: u32,
}

impl Observer for Reads {
    fn observe(&mut self, _: Nanos, event: &Event) {
        let Event::Flash(flash) = event else { return };
        if flash.op == FlashOp::Read {
            self.host += u32::from(flash.cause == Cause::Host);
            self.measured += u32::from(flash.cause == Cause::Measure);
        }
    }
}

fn config() -> Config {
    let small =
        ["flash.channels=1", "flash.dies_per_channel=2", "geometry.blocks=32", "mapping.over_provisioning=40 %", "cells.cycles=2000"];
    Plan::load_set("pageftl", &small).unwrap_or_else(|error| panic!("{error}")).build()
}

fn run(tally: bool) -> (Watched<Reads>, Arc<Mutex<Told>>) {
    run_on(config(), tally)
}

fn run_on(config: Config, tally: bool) -> (Watched<Reads>, Arc<Mutex<Told>>) {
    let told = Arc::new(Mutex::new(Told::default()));
    let mut drive = Watched::new(config, Reads::default());
    drive.join(|| Box::new(Measurer { page: 0, tally, told: Arc::clone(&told) }));
    if let Some(age) = drive.config().age().filter(|_| drive.config().cells.is_none()) {
        drive.set_age(&age);
    }
    drive.fill(1.0);
    let (span, sectors) = (drive.config().exported_units, drive.config().firmware.unit.0 / 512);
    let mut draw = Draw::new(7, Stream::Address, 0);
    let mut load = (0..25_000).map(|turn| {
        let op = if turn % 3 == 0 { HostOp::Read } else { HostOp::Write };
        HostRequest::new(op, draw.below(span) * sectors, sectors as u32)
    });
    drive.serve(&mut load, Pace::Closed { depth: 16 }, None);
    drive.settle();
    (drive, told)
}

#[test]
fn the_first_page_of_each_filling_is_measured_once_and_counted_where_that_is_wanted() {
    for tally in [true, false] {
        let (drive, told) = run(tally);
        let told = told.lock().expect("nobody panics");
        let measured = told.reads.len() as u32;
        assert!(told.opened > 30 && measured * 10 > told.opened * 9 && measured <= told.opened, "{measured} of {}", told.opened);
        assert_eq!(drive.observer.measured, measured, "and it is in the books as what it is");
        for ReadReport { at, tally: counted, worst, .. } in &told.reads {
            assert_eq!((at.plane, at.page), (PlaneId(0), PageId(0)));
            assert_eq!(counted.is_some(), tally);
            let Some(Tally { bits, codewords }) = *counted else { continue };
            assert!(bits >= *worst && codewords > 1, "{bits} bits, {worst} in the worst codeword");
        }
        let groups: BTreeSet<BlockGroup> = told.reads.iter().map(|read| read.at.group).collect();
        assert!(groups.len() > 10);
        drive.audit().expect("the tables agree");
    }
}

#[test]
fn measurements_that_wait_are_in_the_image_and_done_by_the_drive_that_goes_on() {
    let told = Arc::new(Mutex::new(Told::default()));
    let mut drive = Watched::new(config(), Reads::default());
    drive.join(|| Box::new(Measurer { page: 4, tally: true, told: Arc::clone(&told) }));
    let sectors = drive.config().firmware.unit.0 / 512;
    drive.serve(&mut std::iter::once(HostRequest::new(HostOp::Write, 0, sectors as u32)), Pace::Closed { depth: 1 }, None);
    drive.settle();
    assert!(told.lock().expect("nobody panics").reads.is_empty(), "the page is not programmed yet");
    let image = drive.image().expect("settled");
    let mut back = Watched::from_image(config(), image.clone(), Reads::default()).expect("it is the same drive");
    let services = |image: &Image| serde_json::to_value(image).expect("plain data")["services"].clone();
    assert_eq!(services(&back.image().expect("just restored")), services(&image));
    let mut load = (0..64).map(|unit| HostRequest::new(HostOp::Write, unit * sectors, sectors as u32));
    back.serve(&mut load, Pace::Closed { depth: 1 }, None);
    back.settle();
    assert!(back.observer.measured > 0, "nobody on the restored drive wants anything, but for what its image says");
}

/// A small drive without physics whose blocks have classes, after so many cycles.
fn with_classes(settings: &[&str]) -> Config {
    let small = [
        "flash.channels=1",
        "flash.dies_per_channel=2",
        "geometry.blocks=64",
        "mapping.over_provisioning=40 %",
        "techniques.idle-reclaim.on=false",
        "copyback.pe_errors=[[1, 2], [3, 4], [5, 6], [7, 8], [9, 10], [11, 12]]",
    ];
    Plan::load_set("paper-rcftl-host", &[&small, settings].concat()).unwrap_or_else(|error| panic!("{error}")).build()
}

/// Errors that measurements of each block have found, each only once.
fn found(settings: &[&str], tally: bool) -> BTreeSet<(BlockGroup, u32)> {
    let config = with_classes(settings);
    let (_, told) = run_on(config, tally);
    let told = told.lock().expect("nobody panics");
    assert!(told.reads.len() > 100);
    for read in &told.reads {
        assert_eq!(read.tally, tally.then_some(Tally { bits: 16 * read.worst, codewords: 16 }), "each codeword shows the bound");
    }
    told.reads.iter().map(|read| (read.at.group, read.worst)).collect()
}

#[test]
fn a_block_without_physics_shows_the_bound_of_its_class_and_of_its_cycles_and_no_class_shows_nothing() {
    let young = found(&["cells.cycles=100"], true);
    let groups: BTreeSet<BlockGroup> = young.iter().map(|(group, _)| *group).collect();
    assert_eq!(groups.len(), young.len(), "a block is of one class for good");
    let errors: BTreeSet<u32> = young.iter().map(|(_, errors)| *errors).collect();
    assert_eq!(errors, BTreeSet::from([1, 2, 3]));
    let old: BTreeSet<u32> = found(&["cells.cycles=2500"], false).into_iter().map(|(_, errors)| errors).collect();
    assert_eq!(old, BTreeSet::from([7, 8, 9]), "the die counts the cycles of the age");
    let one = ["classes.best=0 %", "classes.median=0 %", "classes.worst=100 %"];
    assert!(found(&one, false).into_iter().all(|(_, errors)| errors == 3));
    let none = ["classes.best=0 %", "classes.median=0 %", "classes.worst=0 %"];
    let (drive, told) = run_on(with_classes(&none), true);
    assert!(told.lock().expect("nobody panics").reads.iter().all(|read| (read.worst, read.tally) == (0, None)));
    let hash = |shares: &[&str]| run_on(with_classes(shares), true).0.log().hash();
    assert_eq!(drive.log().hash(), hash(&none));
    assert_ne!(drive.log().hash(), hash(&one), "errors are in the log");
}

#[test]
fn an_age_in_cycles_alone_is_counted_by_the_firmware_without_physics() {
    let of = |cycles: &str| {
        let config = with_classes(&[cycles]);
        let age = config.age();
        let mut drive = Watched::new(config, Reads::default());
        drive.construct_filled(drive.config().exported_units);
        age.iter().for_each(|age| drive.set_age(age));
        let core = &drive.firmware()[0];
        let (groups, layout) = (core.groups(), *core.layout());
        let told: BTreeSet<u32> = (0..layout.group_count() as u32).map(|group| groups.erases(BlockGroup(group))).collect();
        (age.map(|age| (age.cycles, age.retention)), told)
    };
    assert_eq!(of("cells.cycles=2000"), (Some((2_000.0, 0.0)), BTreeSet::from([2_000])));
    assert_eq!(of("cells.cycles=0"), (None, BTreeSet::from([0])));
    assert_eq!(of("cells.cycles=young-adult").1.len(), 1, "a stage of life is a count, too");
}
