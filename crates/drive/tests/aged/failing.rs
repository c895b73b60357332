//! Does a drive notice by itself that a die has failed, and go on without it? Does it leave dies alone that have not failed?

use wordline_cells::Faults;
use wordline_chip::{DieFault, RamPayload};
use wordline_drive::{Bound, Config, Fault, Image, Rest, Watched};
use wordline_engine::{Completions, Event, FlashEvent, Observer};
use wordline_ftl::config::{Protection, RepairConfig};
use wordline_ftl::groups::Use;
use wordline_units::random::{Draw, Stream};
use wordline_units::{BlockId, Bytes, Cause, DieId, HostOp, HostRequest, Nanos, PageId, PlaneId};

use crate::small::{Shape, uniform};
use crate::{serve, try_to};

/// Writes down what is told of failed dies, and what is done on them.
#[derive(Clone, Debug, Default)]
struct Watcher {
    suspected: Vec<(Nanos, DieId)>,
    failed: Vec<(Nanos, DieId)>,
    lost: u64,
    healed: u64,
    /// Dies of all operations.
    operations: Vec<DieId>,
    /// Operations on a failed die that were issued after it was told.
    after: Vec<FlashEvent>,
    probes: u64,
    refused: u64,
    worn_out: bool,
    retired: u64,
}

impl Observer for Watcher {
    fn observe(&mut self, at: Nanos, event: &Event) {
        match *event {
            Event::DieSuspected { die, .. } => self.suspected.push((at, die)),
            Event::DieFailed { die } => self.failed.push((at, die)),
            Event::UnitsLost { units, .. } => self.lost += u64::from(units),
            Event::UnitsHealed { units, .. } => self.healed += u64::from(units),
            Event::Flash(flash) => {
                self.operations.push(flash.die);
                self.probes += u64::from(flash.cause == Cause::Probe);
                if self.failed.iter().any(|&(when, die)| die == flash.die && flash.issued > when) {
                    self.after.push(flash);
                }
            }
            Event::Completed(done) => self.refused += u64::from(!done.ok),
            Event::Retired { .. } => self.retired += 1,
            Event::WornOut => self.worn_out = true,
            Event::Arrived { .. }
            | Event::Invalidated { .. }
            | Event::ProgrammedAgain { .. }
            | Event::Exposed { .. }
            | Event::DataLost { .. }
            | Event::Harmed { .. }
            | Event::Stopped { .. } => {}
        }
    }
}

/// 32 dies with room for one to fail.
fn many() -> Config {
    Shape { channels: 8, dies_per_channel: 4, blocks: 64, unit: Bytes::kib(16), ..Shape::default() }.config()
}

fn filled(config: &Config) -> Watched<Watcher> {
    let mut drive = Watched::new(config.clone(), Watcher::default());
    drive.construct_filled(config.exported_units);
    drive
}

fn reads(config: &Config) -> impl Iterator<Item = HostRequest> + use<> {
    let sectors = config.firmware.unit.0 / 512;
    (0..config.exported_units).map(move |unit| HostRequest::new(HostOp::Read, unit * sectors, sectors as u32))
}

/// Number of units whose read fails.
fn refused(drive: &mut Watched<Watcher>, config: &Config) -> u64 {
    let before = drive.observer.refused;
    serve(drive, &mut reads(config), config.exported_units);
    drive.observer.refused - before
}

#[test]
fn a_drive_of_32_dies_notices_that_one_has_failed_and_never_uses_it_again() {
    let config = many();
    let mut drive = filled(&config);
    serve(&mut drive, &mut uniform(&config, config.exported_units, 1), config.exported_units);
    let die = DieId(17);
    drive.inject(Fault::Die(die, DieFault::Die { silent: false }));
    serve(&mut drive, &mut uniform(&config, config.exported_units, 2), 2_000);
    let watcher = &drive.observer;
    assert_eq!(watcher.failed.iter().map(|&(_, die)| die).collect::<Vec<_>>(), [die]);
    assert!(watcher.lost > 0 && watcher.retired < 10, "{} units, {} groups", watcher.lost, watcher.retired);
    assert!(!drive.is_worn_out());
    assert_eq!(drive.firmware()[0].failed_dies().collect::<Vec<_>>(), [die]);
    let uses = |drive: &Watched<Watcher>| {
        let groups = drive.firmware()[0].layout().groups_of(die);
        groups.map(|group| drive.firmware()[0].groups().use_of(wordline_ftl::BlockGroup(group as u32))).collect::<Vec<_>>()
    };
    assert!(uses(&drive).iter().all(|of| matches!(of, Use::Lost | Use::Bad)));
    // Lost units are returned as runs, and units that cannot be read are exactly those.
    let lost: u64 = drive.firmware()[0].lost(0..u32::MAX).map(|run| u64::from(run.units.end - run.units.start)).sum();
    assert_eq!(lost, drive.firmware()[0].lost_units());
    assert_eq!(refused(&mut drive, &config), lost);
    assert_eq!(drive.observer.lost - drive.observer.healed, lost);
    // Overwritten, all of it heals; nothing is ever done on the die.
    serve(&mut drive, &mut uniform(&config, config.exported_units, 3), 12 * config.exported_units);
    assert_eq!((drive.firmware()[0].lost_units(), refused(&mut drive, &config)), (0, 0));
    assert_eq!(drive.observer.after, []);
    assert_eq!(drive.observer.lost, drive.observer.healed);
    assert!(uses(&drive).iter().all(|&of| of == Use::Bad), "nothing is lost any more");
    drive.audit().expect("the tables agree");
}

/// A drive that keeps bytes, of small units or of whole pages.
fn keeping(unit: Bytes, protection: Protection, checkpoint_every: Option<u32>) -> Watched<Completions> {
    let shape = Shape { blocks: 32, layers: 6, spare: 1.2, unit, ..Shape::default() };
    let mut config = shape.config();
    config.firmware.buffer.protection = protection;
    config.firmware.checkpoint_every = checkpoint_every;
    let units = (config.sheet.geometry.page.0 / unit.0) as u32;
    let sheet = config.sheet;
    Watched::with_payload(config, Completions::default(), |_| RamPayload::new(&sheet, units))
}

/// Knowledge of the host about a sector: a byte that fills it, and whether it may be lost.
type Sector = (u8, bool);

/// Random requests, with a die that is killed after half of them.
fn loses_no_more_than_lay_there(drive: &mut Watched<Completions>, seed: u64, steps: u64) {
    const BYTES: usize = 512;
    let unit_sectors = drive.config().firmware.unit.0 / 512;
    let sectors = drive.config().exported_units * unit_sectors;
    let mut twin: Vec<Sector> = vec![(0, false); sectors as usize];
    let mut draw = Draw::new(seed, Stream::Address, 1);
    let die = DieId(draw.below(4) as u16);
    let mut refused = 0;
    for step in 0..steps {
        if step == steps / 2 {
            drive.inject(Fault::Die(die, DieFault::Die { silent: false }));
            for (sector, known) in (0..sectors).zip(&mut twin) {
                // Data in the buffer may be on its way there.
                let located = drive.locate(sector);
                known.1 = located.is_buffered || located.on_flash.is_some_and(|place| place.die == die);
            }
        }
        let size = (1 + draw.below(2 * unit_sectors)).min(sectors);
        let grain = [1, unit_sectors][draw.below(2) as usize];
        let sector = draw.below(sectors - size + 1) / grain * grain;
        let request = |op| HostRequest { fua: step % 13 == 0, ..HostRequest::new(op, sector, size as u32) };
        let covered = sector as usize..(sector + size) as usize;
        match draw.below(20) {
            0..11 => {
                let bytes: Vec<u8> = covered.clone().flat_map(|at| [(at as u64 * 7 + step) as u8; BYTES]).collect();
                assert!(try_to(drive, &request(HostOp::Write), &bytes).is_some(), "step {step}: a write fails");
                covered.for_each(|at| twin[at] = ((at as u64 * 7 + step) as u8, false));
            }
            11 => {
                assert!(try_to(drive, &request(HostOp::Trim), &[]).is_some());
                let (first, end) = (sector.div_ceil(unit_sectors), (sector + size) / unit_sectors);
                (first * unit_sectors..end.max(first) * unit_sectors).for_each(|at| twin[at as usize] = (0, false));
            }
            12 => assert!(try_to(drive, &HostRequest::new(HostOp::Flush, 0, 0), &[]).is_some(), "step {step}: a flush fails"),
            _ => refused += u64::from(!is_as_known(drive, &request(HostOp::Read), &twin[covered], step)),
        }
    }
    drive.settle();
    drive.observer.0.clear();
    drive.audit().unwrap_or_else(|problem| panic!("seed {seed}: {problem}"));
    assert_eq!(drive.firmware()[0].failed_dies().collect::<Vec<_>>(), [die], "seed {seed}");
    assert!(!drive.is_worn_out() && refused > 0, "seed {seed}: {refused} reads were refused");
    for sector in 0..sectors {
        is_as_known(drive, &HostRequest::new(HostOp::Read, sector, 1), &twin[sector as usize..=sector as usize], steps);
    }
}

/// True if `read` returns what is `known`; it may fail where a sector may be lost.
fn is_as_known(drive: &mut Watched<Completions>, read: &HostRequest, known: &[Sector], step: u64) -> bool {
    let found = try_to(drive, read, &[]);
    let Some(bytes) = &found else {
        assert!(known.iter().any(|known| known.1), "step {step}: {read:?} fails, and nothing of it lay on the die");
        return false;
    };
    for (sector, (bytes, known)) in bytes.chunks(512).zip(known).enumerate() {
        assert!(bytes.iter().all(|&byte| byte == known.0), "step {step}: sector {sector} of {read:?} is {} and not {}", bytes[0], known.0);
    }
    true
}

#[test]
fn what_is_read_after_a_die_has_failed_is_what_was_written_or_an_error_where_it_lay_there() {
    for (seed, unit, protection, checkpoints) in [
        (1, Bytes::kib(16), Protection::None, None),
        (2, Bytes::kib(4), Protection::None, Some(8)),
        (3, Bytes::kib(4), Protection::Capacitor, Some(8)),
        (4, Bytes::kib(16), Protection::Capacitor, None),
        (5, Bytes::kib(4), Protection::None, Some(2)),
        (6, Bytes::kib(4), Protection::None, Some(8)),
    ] {
        let mut drive = keeping(unit, protection, checkpoints);
        loses_no_more_than_lay_there(&mut drive, seed, 6_000);
    }
}

#[test]
fn a_failed_die_is_found_under_any_load_that_touches_it() {
    let config = many();
    let (span, sectors) = (config.exported_units, (config.firmware.unit.0 / 512) as u32);
    let reads = |seed| {
        let mut draw = Draw::new(seed, Stream::Address, 0);
        std::iter::from_fn(move || Some(HostRequest::new(HostOp::Read, draw.below(span) * u64::from(sectors), sectors)))
    };
    for die in [0, 13, 31].map(DieId) {
        let loads: [(&str, Box<dyn Iterator<Item = HostRequest>>); 3] = [
            ("reads", Box::new(reads(u64::from(die.0)))),
            ("writes", Box::new(uniform(&config, span, u64::from(die.0)))),
            ("both", Box::new(reads(5).zip(uniform(&config, span, 5)).flat_map(|(read, write)| [read, write]))),
        ];
        for (name, mut load) in loads {
            let mut drive = filled(&config);
            drive.inject(Fault::Die(die, DieFault::Die { silent: false }));
            serve(&mut drive, &mut load, 1_000);
            let watcher = &drive.observer;
            assert_eq!(watcher.failed.iter().map(|failed| failed.1).collect::<Vec<_>>(), [die], "{name}");
            let (suspected, failed) = (watcher.suspected[0].0, watcher.failed[0].0);
            assert!(failed - suspected < Nanos::from_millis(100), "{name}: found {} after the first sign", failed - suspected);
        }
    }
    // Nobody asks it for anything: nothing is known.
    let mut drive = filled(&config);
    drive.inject(Fault::Die(DieId(3), DieFault::Die { silent: false }));
    drive.settle();
    assert!(drive.observer.failed.is_empty());
}

#[test]
fn without_the_detector_nothing_is_probed_and_no_die_fails() {
    let mut config = many();
    config.firmware.repair = RepairConfig { detect: false, ..RepairConfig::DEFAULT };
    let mut drive = filled(&config);
    drive.inject(Fault::Die(DieId(4), DieFault::Die { silent: false }));
    serve(&mut drive, &mut uniform(&config, config.exported_units, 2), 2_000);
    assert!(drive.observer.suspected.is_empty() && drive.observer.failed.is_empty() && drive.observer.probes == 0);
}

#[test]
fn a_page_a_block_and_failing_programs_make_no_failed_die() {
    let config = many();
    let die = DieId(9);
    let page = DieFault::Read { plane: PlaneId(0), block: BlockId(3), page: PageId(5), reads: None };
    let block = DieFault::Blocks { plane: PlaneId(0), first: BlockId(3), last: BlockId(3) };
    for (fault, is_suspected) in [(page, false), (block, true), (DieFault::Program { programs: 3 }, true)] {
        let mut drive = filled(&config);
        drive.inject(Fault::Die(die, fault));
        serve(&mut drive, &mut reads(&config), config.exported_units);
        serve(&mut drive, &mut uniform(&config, config.exported_units, 2), config.exported_units);
        let watcher = &drive.observer;
        let found = (!watcher.suspected.is_empty(), watcher.probes > 0, watcher.failed.is_empty());
        assert_eq!(found, (is_suspected, is_suspected, true), "{fault:?}");
    }
    // More bad blocks than a die may have: it has failed.
    let mut drive = filled(&config);
    drive.inject(Fault::Die(die, DieFault::Blocks { plane: PlaneId(0), first: BlockId(3), last: BlockId(12) }));
    serve(&mut drive, &mut reads(&config), config.exported_units);
    assert_eq!(drive.observer.failed.len(), 1);
}

#[test]
fn blocks_that_wear_out_one_by_one_make_no_failed_die() {
    let faults = Faults { endurance: Some(12), ..Faults::default() };
    let config = Shape { channels: 2, dies_per_channel: 2, blocks: 40, spare: 0.9, faults, ..Shape::default() }.config();
    let mut drive = filled(&config);
    while !drive.is_worn_out() {
        let seed = drive.completed();
        serve(&mut drive, &mut uniform(&config, config.exported_units, seed), config.exported_units / 2);
    }
    let watcher = &drive.observer;
    assert!(watcher.retired > 10 && watcher.failed.is_empty(), "{} groups retired, {:?} failed", watcher.retired, watcher.failed);
}

#[test]
fn a_core_without_room_for_what_is_left_takes_no_more_writes() {
    let config = Shape { spare: 0.28, ..Shape::default() }.config();
    let mut drive = filled(&config);
    drive.inject(Fault::Die(DieId(1), DieFault::Die { silent: false }));
    serve(&mut drive, &mut uniform(&config, config.exported_units, 2), 2_000);
    assert!(drive.is_worn_out() && drive.observer.worn_out, "three of four dies cannot hold what four have promised");
    let lost = drive.firmware()[0].lost_units();
    assert!(drive.firmware()[0].utilisation() > 1.0 && lost > 0);
    assert_eq!(refused(&mut drive, &config), lost, "what lies on the others can be read");
}

#[test]
fn a_drive_with_a_failed_die_comes_back_from_its_image_and_leaps_no_more() {
    let config = many();
    let mut drive = filled(&config);
    drive.inject(Fault::Die(DieId(17), DieFault::Die { silent: false }));
    serve(&mut drive, &mut uniform(&config, config.exported_units, 2), 2_000);
    let lost: Vec<_> = drive.firmware()[0].lost(0..u32::MAX).collect();
    assert!(!lost.is_empty());
    let image = drive.image().expect("it is settled");
    let image = Image::from_bytes(&image.to_bytes(7), 7).expect("just written");
    let mut back = Watched::from_image(config.clone(), image, Watcher::default()).expect("it is the same drive");
    assert_eq!(back.firmware()[0].failed_dies().collect::<Vec<_>>(), [DieId(17)]);
    assert_eq!(back.firmware()[0].lost(0..u32::MAX).collect::<Vec<_>>(), lost);
    back.begin_epoch();
    assert_eq!(back.leap(9, Rest::Measured).bound, Bound::Failure);
    serve(&mut back, &mut uniform(&config, config.exported_units, 3), 12 * config.exported_units);
    let on_it = |drive: &Watched<Watcher>| drive.observer.operations.iter().filter(|&&die| die == DieId(17)).count();
    assert_eq!((back.firmware()[0].lost_units(), on_it(&back)), (0, 0));
    assert_eq!(back.observer.healed, lost.iter().map(|run| u64::from(run.units.end - run.units.start)).sum::<u64>());
}
