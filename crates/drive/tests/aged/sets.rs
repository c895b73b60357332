//! Does a drive read with the sets that its controller holds, and does it bring out what its dies tell of erases?

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use wordline_drive::{Config, Pace, Watched};
use wordline_engine::{Event, Observer};
use wordline_flash::{ReadOffsets, ReadSets, ReadTry, Status};
use wordline_ftl::techniques::hooks::{Hook, Hooks};
use wordline_ftl::techniques::seam::{Ask, Card, Ctx, Estimate, FlashPage, News, Persists, Technique, Why};
use wordline_plan::Plan;
use wordline_units::random::{Draw, Stream};
use wordline_units::{FlashOp, HostOp, HostRequest, Nanos};

/// Everything that the technique of these tests was told.
#[derive(Debug, Default)]
struct Told {
    reads: AtomicU64,
    /// Reads that ended with a set.
    with_set: AtomicU64,
    erases: AtomicU64,
    /// Erases with a trace whose loops are those of the report.
    traced: AtomicU64,
}

/// Begins every read with one try.
#[derive(Debug)]
struct Begins {
    first: ReadTry,
    card: &'static Card,
    told: Arc<Told>,
}

const CARD: Card = Card {
    name: "begins",
    source: "a test",
    claim: "none",
    hooks: Hooks::of(&[Hook::Estimate, Hook::Read, Hook::Erased]),
    asks: &[],
    persists: Persists::Nothing("it knows nothing"),
    limits: "none",
};
const ASKS: Card = Card { asks: &[Ask::EraseTrace], ..CARD };

impl Technique for Begins {
    fn card(&self) -> &'static Card {
        self.card
    }

    fn estimate(&self, _: &Ctx<'_>, _: FlashPage) -> Result<Estimate, Why> {
        Ok(Estimate { doubt: 0, first: self.first })
    }

    fn learn(&mut self, _: &Ctx<'_>, news: &News) {
        let count = |of: &AtomicU64| _ = of.fetch_add(1, Ordering::Relaxed);
        if let News::Read(read) = news {
            count(&self.told.reads);
            if read.last == ReadTry::of_set(1) {
                count(&self.told.with_set);
            }
        }
        if let News::Erased(erase) = news
            && erase.status == Status::Good
        {
            count(&self.told.erases);
            if erase.trace.is_some_and(|trace| trace.loops == erase.loops && trace.part > 0 && trace.stops == 0) {
                count(&self.told.traced);
            }
        }
    }
}

/// The time that dies sensed, erases took, and retries.
#[derive(Debug, Default)]
struct Costs {
    reads: u64,
    retries: u64,
    sensing: Nanos,
    erasing: Nanos,
}

impl Observer for Costs {
    fn observe(&mut self, _: Nanos, event: &Event) {
        let Event::Flash(flash) = event else { return };
        if flash.op == FlashOp::Read {
            (self.reads, self.retries) = (self.reads + 1, self.retries + u64::from(flash.retries));
            self.sensing += flash.array;
        }
        if flash.op == FlashOp::Erase {
            self.erasing += flash.array;
        }
    }
}

/// References where entry `entry` of the vendor's table has them, to the resolution of the registers.
fn at_entry(entry: f64) -> ReadOffsets {
    let physics = config(vec![], false).cells.expect("it has physics").physics;
    let steps = (1..=7).zip(&physics.retry.step);
    steps.fold(ReadOffsets::NONE, |offsets, (reference, step)| offsets.with(reference, (entry * step / 10.0).round() as i8))
}

fn config(sets: Vec<ReadOffsets>, able: bool) -> Config {
    let small = [
        "flash.channels=1",
        "flash.dies_per_channel=2",
        "geometry.blocks=24",
        "mapping.over_provisioning=40 %",
        "cells.cycles=3000",
        "cells.retention=1 y",
    ];
    let mut config = Plan::load_set("pageftl", &small).unwrap_or_else(|error| panic!("{error}")).build();
    config.read_sets = Arc::new(ReadSets::new(sets).expect("they are few"));
    config.sheet.capabilities.erase_trace = able;
    config.firmware.sheet = config.sheet;
    config
}

fn run(config: Config, first: ReadTry, card: &'static Card, op: HostOp) -> (Watched<Costs>, Arc<Told>) {
    let told = Arc::new(Told::default());
    let mut drive = Watched::new(config, Costs::default());
    drive.join(|| Box::new(Begins { first, card, told: Arc::clone(&told) }));
    drive.fill(1.0);
    let age = drive.config().cells.as_ref().and_then(|cells| cells.age).expect("it is set");
    drive.set_age(&age);
    let (span, sectors) = (drive.config().exported_units, drive.config().firmware.unit.0 / 512);
    let mut draw = Draw::new(7, Stream::Address, 0);
    let mut load = (0..12_000).map(|_| HostRequest::new(op, draw.below(span) * sectors, sectors as u32));
    drive.serve(&mut load, Pace::Closed { depth: 16 }, None);
    drive.settle();
    (drive, told)
}

#[test]
fn reads_begin_with_the_set_that_was_ordered_and_one_that_suits_saves_retries() {
    let told = |told: &Arc<Told>| (told.reads.load(Ordering::Relaxed), told.with_set.load(Ordering::Relaxed));
    let (default, none) = run(config(vec![at_entry(1.0)], false), ReadTry::DEFAULT, &CARD, HostOp::Read);
    // Where the reads of the vendor's table end in the mean.
    let suits = at_entry(default.observer.retries as f64 / default.observer.reads as f64);
    let (with, sets) = run(config(vec![suits], false), ReadTry::of_set(1), &CARD, HostOp::Read);
    assert_eq!(told(&none).1, 0);
    let (reads, ended) = told(&sets);
    assert!(ended > reads / 2, "{ended} of {reads} reads ended with the set");
    // Reads that it does not serve go through the vendor's table from its beginning, as before.
    assert!(with.observer.retries < default.observer.retries, "{} and {} retries", with.observer.retries, default.observer.retries);
    // A set that the controller does not hold is the default, to the last event.
    let (unknown, _) = run(config(vec![at_entry(1.0)], false), ReadTry::of_set(2), &CARD, HostOp::Read);
    assert_eq!(unknown.log().hash(), default.log().hash());
    // And to hold sets that nobody reads with changes nothing.
    let (holds_none, _) = run(config(vec![], false), ReadTry::DEFAULT, &CARD, HostOp::Read);
    assert_eq!(holds_none.log().hash(), default.log().hash());
}

#[test]
fn changed_registers_alone_take_time() {
    let (drive, told) = run(config(vec![at_entry(1.0)], false), ReadTry::of_set(1), &CARD, HostOp::Read);
    assert!(told.reads.load(Ordering::Relaxed) > 10_000);
    let timing = drive.config().sheet.timing;
    let senses = drive.observer.reads + drive.observer.retries;
    let (least, most) = (timing.read.iter().take(3).min().expect("three"), timing.read.iter().take(3).max().expect("three"));
    let spare = drive.observer.sensing.0.saturating_sub(most.0 * senses);
    assert!(drive.observer.sensing.0 >= least.0 * senses && spare <= timing.feature.0 * 4 * senses, "{:?}", drive.observer);
}

#[test]
fn an_erase_is_traced_for_those_who_ask_on_dies_that_can_and_takes_its_time() {
    let erases = |(_, told): &(Watched<Costs>, Arc<Told>)| (told.erases.load(Ordering::Relaxed), told.traced.load(Ordering::Relaxed));
    let run = |able, card| run(config(vec![], able), ReadTry::DEFAULT, card, HostOp::Write);
    let (silent, cannot, traced) = (run(true, &CARD), run(false, &ASKS), run(true, &ASKS));
    let (all, with) = erases(&traced);
    assert!(all > 10 && with == all, "{with} of {all} erases were traced");
    assert_eq!((erases(&silent).1, erases(&cannot).1), (0, 0));
    assert_eq!(silent.0.log().hash(), cannot.0.log().hash());
    let feature = silent.0.config().sheet.timing.feature;
    assert_eq!(traced.0.observer.erasing.0 - silent.0.observer.erasing.0, feature.0 * all, "t_FEAT for each");
}
