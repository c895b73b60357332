//! Does a die that can take in data while it programs lose the time of the bus and nothing else?

use wordline_cells::Faults;
use wordline_chip::RamPayload;
use wordline_drive::{Config, Pace, Watched};
use wordline_engine::{Completions, Event, FlashEvent, Observer};
use wordline_flash::ProgramScope;
use wordline_units::random::{Draw, Stream};
use wordline_units::{Bytes, DieId, FlashOp, HostOp, HostRequest, Nanos};

use crate::small::Shape;

fn config(shape: &Shape, is_cached: bool) -> Config {
    let mut config = shape.config();
    config.sheet.capabilities.cache_program = is_cached;
    config.sheet.timing.cache_busy = Nanos::from_micros(3);
    config.firmware.sheet = config.sheet;
    config
}

/// The programs of each die, with their ends, and the number of reads of the host.
#[derive(Default)]
struct Seen {
    programs: Vec<(DieId, Nanos, FlashEvent)>,
    reads: u64,
}

impl Observer for Seen {
    fn observe(&mut self, at: Nanos, event: &Event) {
        if let Event::Flash(flash) = event {
            match flash.op {
                FlashOp::Program => self.programs.push((flash.die, at, *flash)),
                FlashOp::Read => self.reads += 1,
                FlashOp::Erase | FlashOp::Copyback | FlashOp::LockPage | FlashOp::LockBlock | FlashOp::Scrub | FlashOp::Reprogram => {}
            }
        }
    }
}

/// A new drive that is written once from its first unit to its last, at a depth that keeps every die busy.
fn written(config: Config) -> Watched<Seen> {
    let mut drive = Watched::new(config, Seen::default());
    let (units, sectors) = (drive.config().exported_units, drive.config().firmware.unit.0 / 512);
    let mut load = (0..units).map(|unit| HostRequest::new(HostOp::Write, unit * sectors, sectors as u32));
    drive.serve(&mut load, Pace::Closed { depth: 256 }, Some(units));
    drive.settle();
    drive.audit().unwrap_or_else(|problem| panic!("{problem}"));
    drive
}

#[test]
fn programs_follow_each_other_without_the_bus_and_with_it_where_the_die_cannot() {
    for scope in [ProgramScope::Page, ProgramScope::Wordline] {
        let shape = Shape { scope, ..Shape::default() };
        let [plain, cached] = [false, true].map(|is_cached| written(config(&shape, is_cached)));
        let spans = |drive: &Watched<Seen>| -> Vec<(Nanos, Nanos)> {
            let of = |die| drive.observer.programs.iter().filter(move |(of, ..)| *of == die).collect::<Vec<_>>();
            let both = |pair: &[&(DieId, Nanos, FlashEvent)]| (pair[1].1 - pair[0].1, pair[1].2.array + pair[1].2.bus);
            of(DieId(0)).windows(2).map(both).collect()
        };
        // Where the die cannot, each program takes the bus and the array one after the other, at least.
        assert!(spans(&plain).iter().all(|(gap, own)| gap >= own), "{scope:?}");
        // Where it can, the next begins as the one before ends: but for one in sixteen, before which the die is asked for all else, and the last few.
        let of_cached = spans(&cached);
        let array = |drive: &Watched<Seen>| drive.observer.programs[0].2.array;
        assert_eq!(array(&cached), array(&plain) + Nanos::from_micros(3), "{scope:?}: the data is handed over first");
        let followed = of_cached.iter().filter(|(gap, _)| *gap == array(&cached)).count();
        assert!(of_cached.iter().all(|(gap, _)| *gap >= array(&cached)), "{scope:?}: one after the other");
        assert!(followed * 100 > of_cached.len() * 85, "{scope:?}: {followed} of {}", of_cached.len());
        assert!(cached.now() < plain.now(), "{scope:?}: {} and {}", cached.now(), plain.now());
        let counts = [&plain, &cached].map(|drive| drive.observer.programs.len());
        assert_eq!(counts[0], counts[1], "{scope:?}: the same is programmed");
    }
}

#[test]
fn a_die_takes_in_nothing_for_a_technique_that_asks_about_one_program() {
    use wordline_ftl::techniques::Choice;
    let plan = |choice: Choice, is_cached: bool| {
        let mut config = config(&Shape::default(), is_cached);
        let able = &mut config.sheet.capabilities;
        (able.suspend_program, able.suspend_erase, able.program_settings) = (true, true, true);
        config.firmware.sheet = config.sheet;
        config.firmware.techniques = vec![choice];
        config
    };
    assert_eq!(plan(Choice::ReadPreemption, true).firmware.bars_loading_ahead().collect::<Vec<_>>(), ["read-preemption"]);
    let [off, on] = [false, true].map(|is_cached| written(plan(Choice::ReadPreemption, is_cached)));
    assert_eq!(off.now(), on.now());
    assert_eq!(off.observer.programs.len(), on.observer.programs.len());
}

/// Writes that are many at a time, over and over, with programs that fail: what is read at the end is what was written last.
#[test]
fn bytes_outlive_programs_that_fail_while_the_next_is_taken_in() {
    let shape = Shape {
        blocks: 40,
        layers: 2,
        spare: 1.5,
        unit: Bytes::kib(4),
        faults: Faults { program_fail: 5e-3, ..Faults::default() },
        ..Shape::default()
    };
    let config = config(&shape, true);
    let (sheet, unit) = (config.sheet, config.firmware.unit.0 as usize);
    let per_page = (sheet.geometry.page.0 / config.firmware.unit.0) as u32;
    let (units, sectors) = (config.exported_units, (unit / 512) as u32);
    let mut drive = Watched::with_payload(config, Completions::default(), |_| RamPayload::new(&sheet, per_page));
    let mut twin = vec![0u8; units as usize];
    let mut draw = Draw::new(5, Stream::Address, 1);
    for round in 0..60u64 {
        // Each unit once in a round, so that the order of completion does not matter.
        let first = draw.below(units);
        let ids: Vec<_> = (0..units.min(400))
            .map(|offset| {
                let lpn = (first + offset * 7) % units;
                let fill = (round * 31 + lpn * 5 + 1) as u8;
                twin[lpn as usize] = fill;
                drive.submit(&HostRequest::new(HostOp::Write, lpn * u64::from(sectors), sectors), &vec![fill; unit])
            })
            .collect();
        for id in ids {
            while drive.observer.take(id).is_none_or(|done| !done.ok) {
                let next = drive.next_at().expect("something is pending while a request is outstanding");
                drive.run_until(next);
            }
        }
    }
    drive.settle();
    drive.audit().unwrap_or_else(|problem| panic!("{problem}"));
    drive.observer.0.clear();
    for (lpn, fill) in twin.iter().enumerate() {
        let id = drive.submit(&HostRequest::new(HostOp::Read, lpn as u64 * u64::from(sectors), sectors), &[]);
        while drive.observer.take(id).is_none() {
            let next = drive.next_at().expect("something is pending while a request is outstanding");
            drive.run_until(next);
        }
        assert!(drive.bytes_of(id).iter().all(|byte| byte == fill), "unit {lpn} reads otherwise than written");
    }
}
