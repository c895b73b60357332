//! Test of the detector of failed dies: it calls no die failed that has only grown old, misses none that has failed, and finds one in time; each technique
//! lets go of it.
//!
//! The twin holds the dies that were killed. The firmware has only statuses and counts of wrong bits of them.
//!
//! Does not check: what comes after a restart.

use wordline_cells::Age;
use wordline_chip::DieFault;
use wordline_drive::{Config, Fault, Pace, Watched};
use wordline_engine::{Event, Observer};
use wordline_ftl::groups::Use;
use wordline_ftl::techniques::{Choice, DECLARATIONS};
use wordline_ftl::{BlockGroup, Firmware};
use wordline_plan::Plan;
use wordline_proving::interactions::{self, SMALL};
use wordline_proving::{bench, effort};
use wordline_units::random::{Draw, Stream};
use wordline_units::{Cause, DieId, HostOp, HostRequest, Nanos};

/// Time within which a failed die is found, from the first sign on.
const LATENCY: Nanos = Nanos::from_millis(100);

/// Events about dies.
#[derive(Clone, Debug, Default)]
struct Told {
    suspected: Vec<(Nanos, DieId)>,
    failed: Vec<(Nanos, DieId)>,
    probes: u64,
    /// Probes that have failed without a try after the first.
    single: u64,
    /// Operations on failed dies that were issued after they were told, by their causes.
    after: Vec<(DieId, Cause)>,
    exposed: u64,
}

impl Observer for Told {
    fn observe(&mut self, at: Nanos, event: &Event) {
        match *event {
            Event::DieSuspected { die, .. } => self.suspected.push((at, die)),
            Event::DieFailed { die } => self.failed.push((at, die)),
            Event::Exposed { .. } => self.exposed += 1,
            Event::Flash(flash) => {
                self.probes += u64::from(flash.cause == Cause::Probe);
                self.single += u64::from(flash.cause == Cause::Probe && !flash.ok && flash.retries == 0);
                let is_late = self.failed.iter().any(|&(told, die)| die == flash.die && flash.issued > told);
                self.after.extend(is_late.then_some((flash.die, flash.cause)));
            }
            Event::Arrived { .. }
            | Event::Completed(_)
            | Event::Invalidated { .. }
            | Event::Retired { .. }
            | Event::ProgrammedAgain { .. }
            | Event::DataLost { .. }
            | Event::UnitsLost { .. }
            | Event::UnitsHealed { .. }
            | Event::Harmed { .. }
            | Event::Stopped { .. }
            | Event::WornOut => {}
        }
    }
}

fn filled(config: &Config) -> Watched<Told> {
    let mut drive = Watched::new(config.clone(), Told::default());
    drive.construct_filled(config.exported_units);
    drive
}

fn unit_sectors(config: &Config) -> u32 {
    (config.firmware.unit.0 / wordline_units::host::SECTOR_BYTES) as u32
}

/// Random requests of one unit, so many of them reads.
fn mixed(config: &Config, seed: u64, reads: f64) -> impl Iterator<Item = HostRequest> + use<> {
    let (span, sectors, mut draw) = (config.exported_units, unit_sectors(config), Draw::new(seed, Stream::Mix, 0));
    std::iter::from_fn(move || {
        let op = if draw.happens(reads) { HostOp::Read } else { HostOp::Write };
        Some(bench::request(op, draw.below(span), 1, sectors))
    })
}

/// A unit that lies on `die`.
fn on(drive: &Watched<Told>, die: DieId) -> u64 {
    let sectors = u64::from(unit_sectors(drive.config()));
    let lies = |unit: &u64| drive.locate(unit * sectors).on_flash.is_some_and(|place| place.die == die);
    (0..drive.config().exported_units).find(lies).expect("every die holds something")
}

#[test]
fn a_failed_die_is_found_within_a_tenth_of_a_second_idle_and_under_load() {
    for name in ["paper-reparo-4tb", "paper-reparo-8tb", "paper-reparo-16tb", "paper-reparo-32tb"] {
        let config = Plan::load(name).expect("a preset").build();
        for is_idle in [true, false] {
            let mut drive = filled(&config);
            config.cells.iter().filter_map(|cells| cells.age.as_ref()).for_each(|age| drive.set_age(age));
            let die = DieId(5);
            if !is_idle {
                drive.serve(&mut mixed(&config, 1, 0.7), Pace::Closed { depth: 256 }, Some(20_000));
            }
            drive.inject(Fault::Die(die, DieFault::Die { silent: false }));
            let unit = on(&drive, die);
            let touch = bench::request(HostOp::Read, unit, 1, unit_sectors(&config));
            if is_idle {
                drive.serve(&mut std::iter::once(touch), Pace::Closed { depth: 1 }, None);
                let until = drive.now() + LATENCY;
                drive.run_until(until);
            } else {
                let mut load = std::iter::once(touch).chain(mixed(&config, 2, 0.7));
                drive.serve(&mut load, Pace::Closed { depth: 256 }, Some(100_000));
            }
            let told = &drive.observer;
            assert_eq!(told.failed.iter().map(|failed| failed.1).collect::<Vec<_>>(), [die], "{name}, idle {is_idle}");
            let took = told.failed[0].0 - told.suspected[0].0;
            println!("{name}, {}: found after {took}, {} probes", if is_idle { "idle" } else { "70/30" }, told.probes);
            assert!(took < LATENCY, "{name}, idle {is_idle}: found after {took}");
        }
    }
}

/// A drive of 32 dies of a chip with physics, aged.
fn aged(seed: u64, cycles: f64) -> Watched<Told> {
    let settings = [
        "flash.channels=8",
        "flash.dies_per_channel=4",
        "controller.cores=1",
        "geometry.blocks=60",
        "mapping.over_provisioning=60 %",
        &format!("run.seed={seed}"),
    ];
    let config = Plan::load_set("pageftl", &settings).expect("a preset").build();
    let mut drive = filled(&config);
    drive.set_age(&Age { cycles, dwell: 10_000.0, retention: 365.25 * 86_400.0, temperature: 30.0 });
    drive
}

#[test]
fn no_die_is_called_failed_because_it_is_old() {
    let mut dies = 0;
    let (mut probes, mut suspected, mut single) = (0, 0, 0);
    // Ten thousand dies where there is time for them.
    for round in 0..if effort() > 1 { 105 } else { 1 } {
        // The last is three times what the chip endures.
        for cycles in [2_000.0, 6_000.0, 9_000.0] {
            let mut drive = aged(1 + round, cycles);
            let config = drive.config().clone();
            // A sign on each die, so that each is looked at; and reads that go on and on to the same units.
            let count = config.sheet.geometry.dies();
            (0..count as u16).for_each(|die| drive.inject(Fault::Die(DieId(die), DieFault::Program { programs: 1 })));
            drive.serve(&mut mixed(&config, round, 0.5), Pace::Closed { depth: 64 }, Some(3_000));
            let hot = bench::request(HostOp::Read, 7, 1, unit_sectors(&config));
            drive.serve(&mut std::iter::repeat_n(hot, 2_000), Pace::Closed { depth: 8 }, None);
            drive.settle();
            let told = &drive.observer;
            assert!(told.failed.is_empty(), "{cycles} cycles: {:?}", told.failed);
            dies += count;
            probes += told.probes;
            single += told.single;
            suspected += told.suspected.len() as u32;
        }
    }
    println!("{dies} dies, {suspected} suspected, {probes} probes, {single} of them a first sensing that failed");
    // On cells as old as these most first tries fail: a probe that is judged by more than its one sensing, or by whether that failed, shows here.
    assert!(single >= u64::from(suspected) / 2, "{single} of {probes} probes failed at their one sensing");
    assert!(suspected >= dies && probes > 2 * u64::from(suspected), "{dies} dies, {suspected} suspected, {probes} probes");
}

#[test]
fn every_failed_die_is_found_however_old_it_is() {
    for cycles in [0.0, 2_000.0, 9_000.0] {
        for die in [0, 18, 31].map(DieId) {
            let mut drive = aged(3, cycles);
            let config = drive.config().clone();
            drive.inject(Fault::Die(die, DieFault::Die { silent: false }));
            drive.serve(&mut mixed(&config, 4, 0.7), Pace::Closed { depth: 64 }, Some(2_000));
            drive.settle();
            assert_eq!(drive.observer.failed.iter().map(|failed| failed.1).collect::<Vec<_>>(), [die], "{cycles} cycles");
        }
    }
}

/// The die of `ftl` that nothing is in service on.
fn is_given_up(ftl: &Firmware, die: DieId) -> bool {
    let mut groups = ftl.layout().groups_of(die).map(|group| ftl.groups().use_of(BlockGroup(group as u32)));
    groups.all(|of| matches!(of, Use::Lost | Use::Bad)) && ftl.free_groups(die) == 0
}

/// A drive of `config` on which a die fails under load. Nothing is done there any more, and all that waits comes to its end.
fn lets_go(what: &str, mut config: Config) -> Watched<Told> {
    // Room for a die to fail.
    config.exported_units = config.exported_units * 6 / 10;
    let mut drive = filled(&config);
    config.cells.iter().filter_map(|cells| cells.age.as_ref()).for_each(|age| drive.set_age(age));
    drive.serve(&mut mixed(&config, 1, 0.3), Pace::Closed { depth: 16 }, Some(4_000));
    let die = DieId(2);
    drive.inject(Fault::Die(die, DieFault::Die { silent: false }));
    drive.serve(&mut mixed(&config, 2, 0.3), Pace::Closed { depth: 16 }, Some(8_000));
    drive.settle();
    let told = &drive.observer;
    assert_eq!(told.failed.iter().map(|failed| failed.1).collect::<Vec<_>>(), [die], "{what}");
    assert_eq!(told.after, [], "{what}: work on a failed die");
    assert!(!drive.is_worn_out(), "{what}: it takes no more writes");
    assert!(is_given_up(&drive.firmware()[0], die), "{what}");
    drive.audit().unwrap_or_else(|problem| panic!("{what}: {problem}"));
    drive
}

#[test]
fn every_technique_lets_go_of_a_failed_die() {
    let mut asked: Vec<&str> = Vec::new();
    let mut ask = |name: &str, config: Config| {
        let names: Vec<&str> = config.firmware.techniques.iter().map(|choice| choice.card().name).collect();
        let drive = lets_go(&format!("{name}: {names:?}"), config);
        asked.extend(names);
        drive
    };
    for small in SMALL {
        for chosen in small.techniques.iter().map(std::slice::from_ref).chain([small.techniques]) {
            ask(small.name, (small.build)(chosen));
        }
    }
    for sanitiser in [Choice::EraseAtOnce, Choice::WordlineScrub, Choice::ReprogramPage] {
        let mut config = interactions::config(&[sanitiser]);
        let sheet = &mut config.firmware.sheet;
        (sheet.capabilities.scrub, sheet.capabilities.reprogram) = (true, true);
        (sheet.timing.scrub, sheet.timing.reprogram) = (Nanos::from_micros(100), Nanos::from_micros(100));
        config.sheet = config.firmware.sheet;
        let drive = ask("plain", config);
        assert!(drive.observer.exposed > 0, "what was secret on the die is told");
    }
    let missing: Vec<_> = DECLARATIONS.iter().map(|declaration| declaration.card.name).filter(|name| !asked.contains(name)).collect();
    assert_eq!(missing, Vec::<&str>::new(), "techniques that no drive here has");
}
