//! Does a drive that is set to an age tell its techniques what a life would have shown them, by its dies and without time?

use std::sync::{Arc, Mutex};

use wordline_cells::Age;
use wordline_drive::{Pace, Watched};
use wordline_engine::Observer;
use wordline_flash::tables::Shown;
use wordline_flash::{Status, Tables};
use wordline_ftl::techniques::hooks::{Hook, Hooks};
use wordline_ftl::techniques::seam::{Ask, Card, Ctx, EraseReport, FlashPage, News, Persists, ReadReport, Technique};
use wordline_ftl::techniques::work::{NEVER, Work, WorkKind};
use wordline_plan::Plan;
use wordline_units::{Cause, HostOp, HostRequest, Nanos, PageId, PlaneId, Seconds};

/// Erases and measurements that were told.
#[derive(Debug, Default)]
struct Told {
    erases: Vec<EraseReport>,
    reads: Vec<ReadReport>,
}

/// Has erases traced and the first page of each filling counted.
#[derive(Debug)]
struct Ager {
    card: &'static Card,
    told: Arc<Mutex<Told>>,
}

const AGER: Card = Card {
    name: "ager",
    source: "a test",
    claim: "none",
    hooks: Hooks::of(&[Hook::Erased, Hook::Opened, Hook::Read, Hook::Work]),
    asks: &[Ask::EraseTrace, Ask::WarmClock],
    persists: Persists::Nothing("it knows nothing"),
    limits: "none",
};
/// One that listens and wants nothing.
const LISTENER: Card = Card { name: "listener", hooks: Hooks::of(&[Hook::Erased, Hook::Opened, Hook::Read]), asks: &[], ..AGER };

impl Technique for Ager {
    fn card(&self) -> &'static Card {
        self.card
    }

    fn learn(&mut self, _: &Ctx<'_>, news: &News) {
        let mut told = self.told.lock().expect("nobody panics");
        if let News::Read(read) = news
            && read.cause == Cause::Measure
        {
            told.reads.push(*read);
        } else if let News::Erased(erase) = news {
            told.erases.push(*erase);
        }
    }

    fn work(&self, _: &Ctx<'_>, news: &News) -> Option<Work> {
        let News::Opened { group, .. } = *news else { return None };
        let at = FlashPage { group, plane: PlaneId(0), page: PageId(0) };
        Some(Work { kind: WorkKind::Measure { at, tally: true }, cause: Cause::Measure, due: NEVER })
    }
}

const YEAR: f64 = 365.0 * 86_400.0;

fn age(cycles: f64, retention: f64) -> Age {
    Age { cycles, dwell: 600.0, retention, temperature: 30.0 }
}

/// A full drive that was set to `age`, and what was told of it by then.
fn aged(card: &'static Card, age: &Age, dwells: &str) -> (Watched, Told, Arc<Mutex<Told>>) {
    let small =
        ["flash.channels=1", "flash.dies_per_channel=2", "geometry.blocks=24", "mapping.over_provisioning=40 %", "cells.cycles=1", dwells];
    let mut config = Plan::load_set("pageftl", &small).unwrap_or_else(|error| panic!("{error}")).build();
    config.sheet.capabilities.erase_trace = true;
    config.firmware.sheet = config.sheet;
    config.firmware.tables = Tables::default();
    let told = Arc::new(Mutex::new(Told::default()));
    let mut drive = Watched::new(config, ());
    drive.join(|| Box::new(Ager { card, told: Arc::clone(&told) }));
    drive.fill(1.0);
    let before = (drive.now(), drive.log().hash());
    drive.set_age(age);
    assert_eq!((drive.now(), drive.log().hash()), before, "no time passes, and nothing is in the log");
    assert!(drive.is_quiet());
    let past = std::mem::take(&mut *told.lock().expect("nobody panics"));
    (drive, past, told)
}

fn overwrite<O: Observer>(drive: &mut Watched<O>) {
    let (units, sectors) = (drive.config().exported_units, drive.config().firmware.unit.0 / 512);
    let mut load = (0..units).map(|unit| HostRequest::new(HostOp::Write, unit * sectors, sectors as u32));
    drive.serve(&mut load, Pace::Closed { depth: 16 }, None);
    drive.settle();
}

const NO_DWELLS: &str = "cells.dwells=[]";

fn pulses(told: &Told) -> f64 {
    let each = told.erases.iter().filter_map(|erase| erase.trace).map(|trace| Shown::pulses_of(trace.loops, trace.part));
    each.clone().sum::<f64>() / each.count() as f64
}

fn bits(told: &Told) -> f64 {
    let each = told.reads.iter().filter_map(|read| read.tally).map(|tally| f64::from(tally.bits));
    each.clone().sum::<f64>() / each.count() as f64
}

#[test]
fn each_block_group_tells_of_its_last_erase_and_each_filling_of_its_first_page() {
    let (drive, told, _) = aged(&AGER, &age(1_000.0, YEAR), NO_DWELLS);
    let layout = *drive.firmware()[0].layout();
    assert_eq!(told.erases.len(), layout.group_count());
    for erase in &told.erases {
        let trace = erase.trace.expect("it has asked");
        assert!(trace.loops == erase.loops && trace.part > 0 && erase.array > Nanos::ZERO && erase.status == Status::Good, "{erase:?}");
        assert_eq!(erase.rest.map(|rest| (rest.effective, rest.is_least)), Some((Seconds(600), false)));
    }
    let groups = drive.firmware()[0].groups();
    let filled = (0..layout.group_count() as u32).filter(|&group| groups.valid(wordline_ftl::BlockGroup(group)) > 0).count();
    assert_eq!(told.reads.len(), filled);
    assert!(told.reads.iter().all(|read| read.tally.is_some_and(|tally| tally.bits >= read.worst) && read.status == Status::Good));
    drive.audit().expect("the tables agree");
}

#[test]
fn what_is_told_is_what_cells_of_that_age_show_and_not_what_a_year_has_done_to_them() {
    let (mut drive, told, later) = aged(&AGER, &age(1_000.0, YEAR), NO_DWELLS);
    let (_, young, _) = aged(&AGER, &age(100.0, YEAR), NO_DWELLS);
    let (_, fresh, _) = aged(&AGER, &age(1_000.0, 0.0), NO_DWELLS);
    assert_eq!(told.reads, fresh.reads, "data has just been programmed when it is measured");
    assert!(pulses(&told) > pulses(&young) + 0.2 && bits(&told) > bits(&young), "{} {}", pulses(&told), bits(&told));
    overwrite(&mut drive);
    overwrite(&mut drive);
    let later = later.lock().expect("nobody panics");
    assert!(later.erases.len() > 20 && later.reads.len() > 20);
    assert!((pulses(&told) - pulses(&later)).abs() < 0.1, "{} and then {}", pulses(&told), pulses(&later));
    assert!((bits(&told) / bits(&later) - 1.0).abs() < 0.15, "{} and then {}", bits(&told), bits(&later));
}

#[test]
fn blocks_with_rests_of_their_own_tell_of_those() {
    let (_, told, _) = aged(&AGER, &age(1_000.0, 0.0), "cells.dwells=[\"60s\", \"2h\"]");
    let rests: Vec<u64> = told.erases.iter().filter_map(|erase| erase.rest).map(|rest| rest.effective.0).collect();
    assert!(rests.iter().all(|&rest| rest == 60 || rest == 7_200) && rests.contains(&60), "{rests:?}");
}

#[test]
fn who_wants_nothing_measured_and_no_trace_is_told_nothing() {
    let (_, told, _) = aged(&LISTENER, &age(1_000.0, YEAR), NO_DWELLS);
    assert!(told.erases.is_empty() && told.reads.is_empty(), "{told:?}");
}
