//! Does everything that reads stop get done, however many of them there are, and within the bound that the drive's own times set?
//!
//! An adversary keeps reads of one class, or of two, queued at every die for as long as it likes. Bounds are computed from the sheet and from the parameters
//! of the technique, never measured.

use std::sync::Mutex;

use wordline_cells::Retries;
use wordline_drive::{Config, Pace, Watched};
use wordline_engine::{Event, FlashEvent, Observer, StopKind};
use wordline_ftl::techniques::Choice;
use wordline_ftl::techniques::declaration::Site;
use wordline_ftl::techniques::hooks::{Hook, Hooks};
use wordline_ftl::techniques::priority_preemption::{Lowest, Params, PriorityPreemption};
use wordline_ftl::techniques::say::{Hold, Says, Urgency, abstain};
use wordline_ftl::techniques::seam::{Card, Conflict, Ctx, Held, Persists, Technique};
use wordline_units::random::{Draw, Stream};
use wordline_units::{Attributes, FlashOp, HostOp, HostRequest, Nanos, Priority};

use crate::small::Shape;

/// Parameters of these tests.
const PARAMS: Params = Params {
    high: Lowest::High,
    share_normal: 20,
    share_low: 10,
    steps: 30,
    pace: true,
    held_max: 1,
    high_max: 60,
    program_now: false,
    reserve_guard: false,
};

/// Reads in a row while a die has other work.
const IN_ROW: u32 = 4;
/// Flashes of the buffer are asked for so often.
const FLUSHES: Nanos = Nanos::from_millis(40);
/// The adversary reads for so long.
const SPAN: Nanos = Nanos::from_millis(8_000);

/// A mistake that the bounds must find out.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Planted {
    /// The technique is asked whether to hold before the first read alone.
    HoldAskedOnce,
    /// Stops count for the block and not for its erase.
    CountedByBlock,
    /// Stops at once are not counted.
    NotCounted,
}

/// The technique with a mistake.
#[derive(Debug)]
struct Mistaken {
    technique: PriorityPreemption,
    planted: Planted,
    /// Stops of each block group by erases that have ended, and those of the present one.
    by_block: Mutex<std::collections::BTreeMap<u32, [[u16; 4]; 2]>>,
}

const CARD: Card = Card {
    name: "mistaken",
    source: "a test",
    claim: "none",
    hooks: Hooks::of(&[Hook::Stop, Hook::Hold]),
    asks: &[],
    persists: Persists::Nothing("it knows nothing that could be forgotten"),
    limits: "it is wrong",
};

impl Technique for Mistaken {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn stop(&self, ctx: &Ctx<'_>, conflict: &Conflict) -> Says<Urgency> {
        let mut conflict = *conflict;
        let now = &mut conflict.busy.stops_now;
        match self.planted {
            Planted::HoldAskedOnce => {}
            Planted::NotCounted => *now = [0; 4],
            Planted::CountedByBlock => {
                let mut known = self.by_block.lock().expect("nobody panics with it");
                let [ended, present] = known.entry(conflict.busy.group.0).or_default();
                if now.iter().sum::<u16>() < present.iter().sum() {
                    (0..4).for_each(|class| ended[class] += present[class]);
                }
                *present = *now;
                (0..4).for_each(|class| now[class] += ended[class]);
            }
        }
        self.technique.stop(ctx, &conflict)
    }

    fn hold(&self, ctx: &Ctx<'_>, held: &Held) -> Says<Hold> {
        let is_first = held.served == [0; 4];
        if self.planted == Planted::HoldAskedOnce && !is_first { abstain() } else { self.technique.hold(ctx, held) }
    }
}

/// Flash operations and flushes, each with its end.
#[derive(Default)]
struct Seen {
    /// Instant at which the adversary begins.
    origin: Nanos,
    flash: Vec<(Nanos, FlashEvent)>,
    flushes: Vec<Nanos>,
    /// Reads: sector, priority, arrival and end.
    reads: Vec<(u64, Priority, Nanos, Nanos)>,
    /// Reads that were broken off, and those that gave way between two tries.
    read_stops: [u64; 2],
}

impl Observer for Seen {
    fn observe(&mut self, at: Nanos, event: &Event) {
        match event {
            Event::Flash(flash) => self.flash.push((at, *flash)),
            Event::Completed(done) if done.op == HostOp::Flush => self.flushes.push(done.stages.total()),
            Event::Completed(done) => {
                assert!(done.ok);
                if done.op == HostOp::Read {
                    self.reads.push((done.sector, done.attributes.priority, done.arrived, at));
                }
            }
            Event::Stopped { kind: FlashOp::Read, how, .. } => self.read_stops[usize::from(*how != StopKind::Now)] += 1,
            Event::Stopped { .. }
            | Event::Arrived { .. }
            | Event::Invalidated { .. }
            | Event::Retired { .. }
            | Event::ProgrammedAgain { .. }
            | Event::Exposed { .. }
            | Event::DataLost { .. }
            | Event::DieSuspected { .. }
            | Event::DieFailed { .. }
            | Event::UnitsLost { .. }
            | Event::UnitsHealed { .. }
            | Event::Harmed { .. }
            | Event::WornOut => {}
        }
    }
}

fn config(change: impl FnOnce(&mut Config)) -> Config {
    let mut config = Shape { blocks: 24, layers: 2, preemptible: true, ..Shape::default() }.config();
    config.firmware.buffer.units = 32;
    let sheet = &mut config.sheet;
    let (able, timing) = (&mut sheet.capabilities, &mut sheet.timing);
    (able.stop_at_step, able.stop_now_program, able.stop_now_erase, able.abort_read) = (true, true, true, true);
    (timing.step_program, timing.step_erase) = (Nanos::from_micros(44), Nanos::from_micros(117));
    (timing.halt_program, timing.halt_erase, timing.abort_read) = (Nanos::from_micros(40), Nanos::from_micros(40), Nanos::from_micros(5));
    timing.suspend_interval = Nanos::from_micros(20);
    config.firmware.schedule.reads_in_row = Some(IN_ROW);
    change(&mut config);
    config.firmware.sheet = config.sheet;
    config
}

fn ours(config: &mut Config) {
    config.firmware.techniques = vec![Choice::PriorityPreemption(PARAMS)];
}

/// More reads of `classes` than the dies can serve, beside overwrites and flushes, on a full drive.
fn attacked(config: Config, planted: Option<Planted>, classes: &[Priority]) -> Watched<Seen> {
    let mut drive = Watched::new(config, Seen::default());
    if let Some(planted) = planted {
        let (layout, sheet) = (*drive.firmware()[0].layout(), drive.config().sheet);
        drive.join(|| {
            let technique = PriorityPreemption::new(&Site::bare(&layout, &sheet), PARAMS);
            Box::new(Mistaken { technique, planted, by_block: Mutex::default() })
        });
    }
    drive.fill(1.0);
    let (span, sectors) = (drive.config().exported_units, drive.config().firmware.unit.0 / 512);
    let mut draw = Draw::new(7, Stream::Address, 0);
    let mut before: Vec<HostRequest> =
        (0..span).map(|_| HostRequest::new(HostOp::Write, draw.below(span) * sectors, sectors as u32)).collect();
    drive.serve(&mut before.drain(..), Pace::Closed { depth: 64 }, None);
    let origin = drive.now();
    drive.observer = Seen { origin, ..Seen::default() };
    let mut next = [Nanos::ZERO, Nanos::from_micros(3), FLUSHES];
    let gaps = [Nanos::from_micros(20), Nanos::from_micros(900), FLUSHES];
    let classes = classes.to_vec();
    let load = std::iter::from_fn(move || {
        let kind = (0..3).min_by_key(|&kind| next[kind]).expect("there are three");
        let at = next[kind];
        next[kind] += gaps[kind];
        let place = draw.below(span) * sectors;
        let request = match kind {
            0 => HostRequest {
                attributes: Attributes::of(classes[draw.below(classes.len() as u64) as usize]),
                ..HostRequest::new(HostOp::Read, place, 32)
            },
            1 => HostRequest::new(HostOp::Write, place, sectors as u32),
            _ => HostRequest::new(HostOp::Flush, 0, 0),
        };
        Some(HostRequest { at, ..request })
    });
    drive.serve(&mut load.take_while(|request| request.at < SPAN), Pace::Open { origin }, None);
    drive.settle();
    drive.audit().unwrap_or_else(|problem| panic!("{problem}"));
    drive
}

/// Longest time of a read that is served while something is held: its sensing, and the bus that other dies of the channel may hold for a page in and one out.
fn read_most(config: &Config) -> Nanos {
    let geometry = &config.sheet.geometry;
    let transfer = config.channel.span(geometry.page) + config.sheet.timing.bus_overhead;
    let read = config.sheet.timing.read.into_iter().max().expect("there are four");
    read + transfer * u64::from(2 * geometry.dies_per_channel)
}

/// Longest time of a program or an erase of `work` in steps of `step`: each step may be followed by one stop, and as many more as the quota allows are at once;
/// each has a spell of reads.
fn work_most(config: &Config, work: Nanos, step: Nanos, halt: Nanos, stops_now: u64) -> Nanos {
    let (read, resume) = (read_most(config), config.sheet.timing.resume);
    let stops = work.0.div_ceil(step.0) + stops_now;
    let spells = read * (stops * u64::from(PARAMS.held_max) + u64::from(PARAMS.high_max));
    work + (halt + resume + step + config.sheet.timing.suspend_interval) * stops + spells
}

fn erase_most(config: &Config) -> Nanos {
    let timing = &config.sheet.timing;
    work_most(config, timing.erase, timing.step_erase, timing.halt_erase, u64::from(PARAMS.steps + PARAMS.high_max))
}

/// Longest time of a flush. All that the buffer holds is programmed, behind the victim that a die has begun; every die takes `IN_ROW` reads before each of its
/// steps; and greedy victims are no fuller than all blocks that hold data.
fn flush_most(config: &Config) -> Nanos {
    let timing = &config.sheet.timing;
    let dies = u64::from(config.sheet.geometry.dies());
    let program = work_most(config, timing.program[0], timing.step_program, timing.halt_program, 0);
    let raw = config.sheet.geometry.raw().0 / config.firmware.unit.0;
    let units = u64::from(config.firmware.buffer.units).div_ceil(dies) + 1;
    let pages = raw / dies / u64::from(config.sheet.geometry.blocks);
    // Not those at the floor, nor the two that are open.
    let closed = raw - dies * pages * u64::from(config.firmware.gc.floor + 2);
    let moves = units * config.exported_units.div_ceil(closed - config.exported_units) + pages;
    let erases = (units + moves).div_ceil(pages) + 1;
    let between = read_most(config) * u64::from(IN_ROW + 1);
    (program + between) * (units + moves) + (read_most(config) + between) * moves + (erase_most(config) + between) * erases
}

/// Longest time that an erase takes, from its order to its end.
fn longest_erase(seen: &Seen) -> Nanos {
    erases(seen).map(|(at, flash)| *at - flash.issued).max().expect("something is erased")
}

fn most_stops_now(seen: &Seen) -> u16 {
    erases(seen).map(|(_, flash)| flash.stops_now).max().expect("something is erased")
}

fn erases(seen: &Seen) -> impl Iterator<Item = &(Nanos, FlashEvent)> {
    seen.flash.iter().filter(|(_, flash)| flash.op == FlashOp::Erase)
}

/// Erases that end while the adversary reads.
fn attacked_erases(seen: &Seen) -> impl Iterator<Item = &(Nanos, FlashEvent)> {
    erases(seen).filter(|(at, _)| *at < seen.origin + SPAN)
}

const ADVERSARIES: [(&[Priority], u16); 4] =
    [(&[Priority::High], 60), (&[Priority::Normal], 20), (&[Priority::Low], 10), (&[Priority::Normal, Priority::Low], 30)];

#[test]
fn whoever_reads_and_however_much_each_erase_and_each_flush_ends_within_its_bound() {
    for (classes, quota) in ADVERSARIES {
        let drive = attacked(config(ours), None, classes);
        let seen = &drive.observer;
        let (erases, flushes) = (erase_most(drive.config()), flush_most(drive.config()));
        let (erase, flush) = (longest_erase(seen), seen.flushes.iter().max().copied().expect("there are flushes"));
        let of = attacked_erases(seen).count();
        println!(
            "{classes:?}: {of} erases, the longest {erase} of {erases}; flushes {flush} of {flushes}; {} stops at once",
            most_stops_now(seen)
        );
        assert!(of > 20, "{of} erases while the adversary reads");
        assert!(erase <= erases && flush <= flushes, "{classes:?}");
        assert!(most_stops_now(seen) <= quota, "{classes:?}");
        assert!(erase > drive.config().sheet.timing.erase * 2, "the adversary is none");
    }
}

#[test]
fn without_a_bound_on_what_is_held_nothing_ends_before_the_adversary_does() {
    let old = config(|config| config.firmware.techniques = vec![Choice::ReadPreemption]);
    let drive = attacked(old, None, &[Priority::Normal]);
    let programs = |(at, flash): &&(Nanos, FlashEvent)| flash.op == FlashOp::Program && *at < drive.observer.origin + SPAN;
    let (flush, bound) = (drive.observer.flushes.iter().max().copied().expect("there are flushes"), flush_most(drive.config()));
    let programs = drive.observer.flash.iter().filter(programs).count();
    println!("a flush takes {flush} where every read stops everything, and the bound is {bound}; {programs} programs");
    assert!(flush > bound * 2);
}

#[test]
fn planted_mistakes_break_a_bound_or_leave_a_share_unused() {
    let with = |planted, classes: &[Priority]| attacked(config(|_| ()), Some(planted), classes);
    let drive = with(Planted::HoldAskedOnce, &[Priority::Low]);
    assert!(longest_erase(&drive.observer) > erase_most(drive.config()), "reads hold for as long as they like");
    let drive = with(Planted::NotCounted, &[Priority::Low]);
    assert!(most_stops_now(&drive.observer) > 10, "a share that nobody counts is no share");
    // Under the right count a later erase of the same block has its share again.
    let used = |drive: &Watched<Seen>| {
        let mut seen = std::collections::BTreeSet::new();
        let erases = attacked_erases(&drive.observer);
        let later: Vec<u16> =
            erases.filter(|(_, flash)| !seen.insert((flash.die, flash.block))).map(|(_, flash)| flash.stops_now).collect();
        (later.iter().filter(|&&stops| stops > 0).count(), later.len())
    };
    let (right, of) = used(&attacked(config(ours), None, &[Priority::Low]));
    let (wrong, _) = used(&with(Planted::CountedByBlock, &[Priority::Low]));
    println!("of {of} later erases {right} are stopped at once, {wrong} where stops count for the block");
    assert!(right > 5 && wrong * 4 < right, "{wrong} instead of {right}");
}

/// Reads of a full drive that nobody writes to, a third of which need retries; as many of each of `classes`.
fn read_alone(classes: &'static [Priority], with: impl FnOnce(&mut Config)) -> Watched<Seen> {
    let retried = |config: &mut Config| {
        config.faults.retries = Some(Retries { share: 0.3, mean: 3.0, alike: 0.0, entries: 12 });
        with(config);
    };
    let mut drive = Watched::new(config(retried), Seen::default());
    drive.fill(1.0);
    let (span, sectors) = (drive.config().exported_units, drive.config().firmware.unit.0 / 512);
    let mut draw = Draw::new(11, Stream::Address, 0);
    let reads = (0..30_000).map(move |number| {
        let priority = classes[draw.below(classes.len() as u64) as usize];
        let request = HostRequest::new(HostOp::Read, draw.below(span) * sectors, sectors as u32);
        HostRequest { at: Nanos::from_micros(45) * number, attributes: Attributes::of(priority), ..request }
    });
    drive.serve(&mut reads.into_iter(), Pace::Open { origin: Nanos::ZERO }, None);
    drive
}

#[test]
fn a_read_that_gives_way_between_tries_senses_nothing_again_and_one_that_is_broken_off_once() {
    for (classes, yields, aborts) in [
        (&[Priority::Normal, Priority::Low][..], true, false),
        // A page on its way out cannot be broken off: then the read gives way between its tries.
        (&[Priority::High, Priority::Low][..], true, true),
        (&[Priority::Urgent, Priority::High, Priority::Normal, Priority::Low][..], true, true),
        (&[Priority::Urgent, Priority::High][..], false, false),
    ] {
        let drive = read_alone(classes, ours);
        let seen = &drive.observer;
        let tries: u64 = seen.flash.iter().map(|(_, flash)| 1 + u64::from(flash.retries)).sum();
        let [broken_off, gave_way] = seen.read_stops;
        println!(
            "{classes:?}: {} reads, {tries} tries, {broken_off} broken off, {gave_way} gave way; {} sensings",
            seen.flash.len(),
            drive.sensings()
        );
        assert_eq!((gave_way > 100, broken_off > 100), (yields, aborts), "{classes:?}");
        assert_eq!(seen.reads.len(), 30_000);
        assert_eq!(drive.sensings(), tries + broken_off, "{classes:?}");
    }
}

/// A read as the host sees it: sector, priority, arrival and end.
type Read = (u64, Priority, Nanos, Nanos);

/// Number of reads that end before an earlier one of their die that is at least as urgent. `reads` are in the order of their arrival.
fn overtakings(drive: &Watched<Seen>, reads: &[Read]) -> usize {
    // The latest end among the earlier reads of each die by their priority: what comes later and is no more urgent ends later.
    let mut latest = std::collections::BTreeMap::new();
    let overtakes = |(sector, priority, _, ended): &&Read| {
        let die = drive.locate(*sector).on_flash.expect("it is written").die;
        let of_die = latest.entry(die).or_insert([Nanos::ZERO; 4]);
        let before = of_die[..=*priority as usize].iter().max().copied().expect("there is one");
        of_die[*priority as usize] = of_die[*priority as usize].max(*ended);
        before > *ended
    };
    reads.iter().filter(overtakes).count()
}

/// The reads of a drive in the order of their arrival.
fn arrived(drive: &Watched<Seen>) -> Vec<Read> {
    let mut reads = drive.observer.reads.clone();
    reads.sort_by_key(|&(_, _, arrived, _)| arrived);
    reads
}

#[test]
fn no_read_overtakes_an_earlier_one_of_its_die_that_is_as_urgent() {
    let drive = read_alone(&Priority::ALL, ours);
    assert_eq!(overtakings(&drive, &arrived(&drive)), 0);
    let urgent_alone = |config: &mut Config| {
        let params = Params { high: Lowest::Urgent, ..PARAMS };
        config.firmware.techniques = vec![Choice::PriorityPreemption(params)];
    };
    let drive = read_alone(&Priority::ALL, urgent_alone);
    assert_eq!(overtakings(&drive, &arrived(&drive)), 0, "who stops whom changes nothing of the order of the queue");
}

#[test]
fn planted_a_read_that_is_overtaken_by_the_next_of_its_class_shows() {
    let drive = read_alone(&Priority::ALL, ours);
    let mut reads = arrived(&drive);
    // As if the first of two low reads that wait for one die had given way and come back behind the second.
    let die = |read: &Read| drive.locate(read.0).on_flash.expect("it is written").die;
    let is_next = |first: &Read, second: &Read| {
        (first.1, second.1) == (Priority::Low, Priority::Low) && die(first) == die(second) && second.2 < first.3 && first.3 < second.3
    };
    let found = (0..reads.len() - 1).find_map(|first| {
        let second = (first + 1..reads.len().min(first + 40)).find(|&second| is_next(&reads[first], &reads[second]))?;
        Some((first, second))
    });
    let (first, second) = found.expect("two low reads wait for one die");
    (reads[first].3, reads[second].3) = (reads[second].3, reads[first].3);
    assert!(overtakings(&drive, &reads) > 0);
}
