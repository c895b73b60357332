//! VerTrace on a whole drive, against a twin that counts everything anew after each step.

use std::collections::{BTreeMap, VecDeque};
use std::sync::mpsc::{Receiver, Sender, channel};

use wordline_drive::{FlashPlace, Holds, Output, Pace, Watched};
use wordline_engine::{Event, Observer, UnitPlace, UnitStep};
use wordline_figures::VerTrace;
use wordline_figures::vertrace::{FileScope, FileStep};
use wordline_plan::Plan;
use wordline_units::{DieId, HostOp, HostRequest, Nanos};
use wordline_workload::{FileLoad, FileOptions, FileSpec};

/// A unit and its file.
type Taken = (Option<u64>, Option<u32>);

/// The twin: every physical page by its place, and who wrote it. It believes the drive's map and nothing that it worked out before.
struct Twin {
    told: Receiver<FileStep>,
    unit_sectors: u64,
    capacity_sectors: u64,
    newest: BTreeMap<u64, u32>,
    pages: BTreeMap<UnitPlace, (u64, u32)>,
    map: BTreeMap<u64, UnitPlace>,
    taken: BTreeMap<DieId, VecDeque<Taken>>,
    written: u64,
    valid: BTreeMap<u32, u64>,
    invalid: BTreeMap<u32, u64>,
    most: BTreeMap<u32, (u64, u64)>,
    insecure: BTreeMap<u32, u64>,
}

impl Twin {
    fn new(told: Receiver<FileStep>, scope: FileScope) -> Twin {
        let (unit_sectors, capacity_sectors) = (scope.unit.0 / 512, scope.capacity.0 / 512);
        let (newest, pages, map, taken) = Default::default();
        let (valid, invalid, most, insecure) = Default::default();
        Twin { told, unit_sectors, capacity_sectors, newest, pages, map, taken, written: 0, valid, invalid, most, insecure }
    }

    /// Count every page again. What is written meanwhile is written while the files of before were insecure.
    fn count(&mut self) {
        self.valid.clear();
        self.invalid.clear();
        for (place, (unit, file)) in &self.pages {
            let is_valid = self.map.get(unit) == Some(place);
            *if is_valid { &mut self.valid } else { &mut self.invalid }.entry(*file).or_default() += 1;
        }
        for (file, &count) in &self.valid {
            let most = self.most.entry(*file).or_default();
            most.0 = most.0.max(count);
        }
        for (file, &count) in &self.invalid {
            let most = self.most.entry(*file).or_default();
            most.1 = most.1.max(count);
        }
    }

    fn tag(&mut self, step: &FileStep) {
        if step.op == HostOp::Write {
            for unit in step.sector / self.unit_sectors..(step.sector + u64::from(step.sectors)).div_ceil(self.unit_sectors) {
                self.newest.insert(unit, step.file);
            }
        }
    }
}

/// VerTrace and its twin as one observer, which hands the twin what VerTrace hears.
struct Both {
    books: VerTrace,
    twin: Twin,
}

impl Observer for Both {
    fn follows(&self) -> bool {
        true
    }

    fn observe(&mut self, at: Nanos, event: &Event) {
        self.books.observe(at, event);
        if let Event::Arrived { op: HostOp::Write | HostOp::Trim, sectors, .. } = event {
            let step = self.twin.told.try_recv().expect("told");
            if step.op == HostOp::Write {
                for file in self.twin.invalid.keys() {
                    *self.twin.insecure.entry(*file).or_default() += u64::from(*sectors);
                }
                self.twin.written += u64::from(*sectors);
            }
            self.twin.tag(&step);
        }
    }

    fn follow(&mut self, at: Nanos, step: &UnitStep) {
        self.books.follow(at, step);
        let twin = &mut self.twin;
        match *step {
            UnitStep::Taken { die, unit, from } => {
                let file = match from {
                    Some(place) => twin.pages.get(&place).map(|(_, file)| *file),
                    None => unit.and_then(|unit| twin.newest.get(&unit).copied()),
                };
                return twin.taken.entry(die).or_default().push_back((unit, file));
            }
            UnitStep::Landed { place, is_live } => {
                let (unit, file) = twin.taken.get_mut(&place.die).and_then(VecDeque::pop_front).expect("taken");
                if let (Some(unit), Some(file)) = (unit, file) {
                    assert_eq!(twin.pages.insert(place, (unit, file)), None, "{place:?} is programmed twice");
                }
                if let (Some(unit), true) = (unit, is_live) {
                    twin.map.insert(unit, place);
                }
            }
            UnitStep::Unmapped { unit } => {
                twin.map.remove(&unit);
            }
            UnitStep::Gone { die, block, first, units } => {
                twin.pages.retain(|place, _| (place.die, place.block) != (die, block) || !(first..first + units).contains(&place.offset))
            }
        }
        twin.count();
    }
}

/// The load, telling both of whose data each request is.
struct Told<'a> {
    load: &'a mut FileLoad,
    books: Sender<FileStep>,
    twin: Sender<FileStep>,
}

fn step_of(load: &mut FileLoad) -> Option<(HostRequest, Option<FileStep>)> {
    let tagged = load.next_tagged()?;
    let HostRequest { sector, sectors, op, .. } = tagged.request;
    let step = tagged.tag.map(|tag| FileStep { file: tag.file, version: tag.version, sector, sectors, op, replaces: tag.replaces });
    Some((tagged.request, step))
}

impl Iterator for Told<'_> {
    type Item = HostRequest;

    fn next(&mut self) -> Option<HostRequest> {
        let (request, step) = step_of(self.load)?;
        if let Some(step) = step {
            self.books.send(step).expect("heard");
            self.twin.send(step).expect("heard");
        }
        Some(request)
    }
}

const SPEC: &str = r#"
name = "twin"
align = "16 KiB"
prefill = "60 %"
level = "75 %"
length = "100 %"
queue_depth = 8
[[sets]]
name = "a"
share = "70 %"
size = ["16 KiB", "256 KiB"]
[[sets]]
name = "b"
share = "30 %"
size = "128 KiB"
write = ["16 KiB", "64 KiB"]
[[threads]]
count = 3
ops = [{ do = "create", set = "a" }, { do = "append", set = "a" }, { do = "read", set = "a" }, { do = "sync" }]
[[threads]]
count = 2
ops = [{ do = "overwrite", set = "b" }, { do = "replace", set = "b" }, { do = "log", set = "b", durable = true }, { do = "delete", set = "a" }]
"#;

fn compare(seed: u64, length: f64, settings: &[&str]) {
    let settings: Vec<String> = settings.iter().map(|&setting| setting.to_owned()).collect();
    let plan = Plan::load_set("pageftl", &settings).unwrap_or_else(|error| panic!("{error}")).with_seed(seed);
    let config = plan.build();
    let spec = FileSpec::parse(SPEC, "twin.toml").unwrap_or_else(|error| panic!("{error}"));
    let mut load = FileLoad::new(&spec, seed, config.exported(), FileOptions { length: Some(length), ..FileOptions::default() })
        .unwrap_or_else(|error| panic!("{error}"));
    let scope = FileScope::of(config.exported(), config.firmware.unit, &config.sheet.geometry);
    let ((books, heard), (twin_told, twin_heard)) = (channel(), channel());
    let mut both = Both { books: VerTrace::new(scope, heard, &[0]), twin: Twin::new(twin_heard, scope) };
    for file in load.system().files() {
        for extent in &file.extents {
            let (sector, sectors) = (extent.start * 32, extent.len as u32 * 32);
            let step = FileStep { file: file.id, version: 0, sector, sectors, op: HostOp::Write, replaces: false };
            both.books.before(&step);
            both.twin.tag(&step);
        }
    }
    let depth = load.queue_depth();
    let filled = load.prefilled().0 / config.firmware.unit.0;
    let mut drive = Watched::new(config, both);
    drive.construct_filled(filled);
    let mapped: Vec<(u64, UnitPlace)> = drive.mapped().collect();
    for (unit, place) in mapped {
        drive.observer.books.lies(unit, place);
        let file = drive.observer.twin.newest[&unit];
        drive.observer.twin.pages.insert(place, (unit, file));
        drive.observer.twin.map.insert(unit, place);
    }
    drive.observer.twin.count();

    let mut told = Told { load: &mut load, books, twin: twin_told };
    let mut served = 0;
    loop {
        let done = drive.serve(&mut told, Pace::Closed { depth }, Some(16));
        served += done;
        agree(&drive, seed, served);
        if done == 0 {
            break;
        }
    }
    drive.settle();
    agree(&drive, seed, served);
    drive.audit().unwrap_or_else(|problem| panic!("seed {seed}: {problem}"));

    judge(&drive, seed, served);
    in_the_chips(drive, seed);
}

/// Compares the books of files with those of the twin.
fn judge(drive: &Watched<Both>, seed: u64, served: u64) {
    let result = drive.observer.books.conclude();
    let twin = &drive.observer.twin;
    let counted: Vec<(u32, f64, f64)> = twin
        .most
        .iter()
        .filter(|(_, (valid, _))| *valid > 0)
        .map(|(&file, &(valid, invalid))| {
            let insecure = twin.insecure.get(&file).copied().unwrap_or(0) as f64 / twin.capacity_sectors as f64;
            (file, invalid as f64 / valid as f64, insecure)
        })
        .collect();
    let (mut files, mut vaf, mut insecure) = (0, 0.0, 0.0);
    for class in &result.classes {
        assert!(class.files > 5 && class.insecure_files > 0, "seed {seed}: {class:?}");
        files += class.files;
        vaf += class.vaf_mean.unwrap_or(0.0) * class.files as f64;
        insecure += class.t_insecure_mean.unwrap_or(0.0) * class.files as f64;
        for (extreme, of) in [(class.vaf_max, 0), (class.t_insecure_max, 1)] {
            let extreme = extreme.expect("there are files");
            let twin = counted.iter().find(|(file, ..)| *file == extreme.file).expect("counted");
            assert!((extreme.value - [twin.1, twin.2][of]).abs() < 1e-12, "seed {seed}: {extreme:?}, the twin {twin:?}");
        }
    }
    assert_eq!(files, counted.len() as u64, "seed {seed}");
    let sums = counted.iter().fold((0.0, 0.0), |sums, file| (sums.0 + file.1, sums.1 + file.2));
    assert!((vaf - sums.0).abs() < 1e-6 && (insecure - sums.1).abs() < 1e-6, "seed {seed}: {vaf} {insecure}, the twin {sums:?}");
    println!("seed {seed}: {served} requests, {files} files, VAF {:.3}, T {:.3}", vaf / files as f64, insecure / files as f64);
}

/// Chips hold of each file what the books count, by spare areas and the drive's map.
fn in_the_chips(drive: Watched<Both>, seed: u64) {
    let (books, twin) = (&drive.observer.books, &drive.observer.twin);
    let holder = |(place, flash)| books.holder(place).map(|(file, _)| (flash, file));
    let held: BTreeMap<FlashPlace, u32> = drive.unit_places().filter_map(holder).collect();
    let counted = twin.most.keys().map(|&file| (file, books.counts(file)));
    let expected: BTreeMap<u32, (u32, u32)> = counted.filter(|(_, counts)| *counts != (0, 0)).collect();
    let sectors = drive.unit_bytes().0 / 512;
    let newest: Vec<Option<FlashPlace>> = (0..drive.config().exported_units).map(|unit| drive.locate(unit * sectors).on_flash).collect();
    let mut found: BTreeMap<u32, (u32, u32)> = BTreeMap::new();
    drive.chip_off().read(|page| {
        for (number, holds) in (0..).zip(page.units) {
            let Holds::Unit { unit, .. } = *holds else { continue };
            assert!(matches!(page.output, Output::Corrected { .. }), "seed {seed}: {page:?}");
            let place = FlashPlace { unit: number, ..page.place };
            let counts = found.entry(held[&place]).or_default();
            *if newest[unit as usize] == Some(place) { &mut counts.0 } else { &mut counts.1 } += 1;
        }
    });
    assert_eq!(found, expected, "seed {seed}");
}

fn agree(drive: &Watched<Both>, seed: u64, served: u64) {
    let (books, twin) = (&drive.observer.books, &drive.observer.twin);
    books.check(drive.mapped()).unwrap_or_else(|problem| panic!("seed {seed}, request {served}: {problem}"));
    assert!(drive.mapped().eq(twin.map.iter().map(|(&unit, &place)| (unit, place))), "seed {seed}, request {served}: the twin's map");
    for &file in twin.most.keys() {
        let expected = [&twin.valid, &twin.invalid].map(|counts| counts.get(&file).copied().unwrap_or(0) as u32);
        assert_eq!(books.counts(file), (expected[0], expected[1]), "seed {seed}, request {served}, file {file}");
    }
}

const SMALL: [&str; 5] =
    ["mapping.over_provisioning=40 %", "geometry.blocks=24", "geometry.layers=4", "flash.channels=1", "flash.dies_per_channel=2"];

#[test]
fn books_and_twin_count_the_same() {
    for seed in 1..=3 {
        compare(seed, 5.0, &SMALL);
    }
}

#[test]
fn books_and_twin_count_the_same_with_small_units_and_two_cores() {
    compare(4, 1.5, &[SMALL.as_slice(), &["mapping.unit=4 KiB"]].concat());
    compare(5, 2.0, &[SMALL.as_slice(), &["controller.cores=2"]].concat());
}
