//! Does a drive stop what it is told to stop, as its sheet says, and lose nothing by it?

use wordline_drive::{Config, Pace, Watched};
use wordline_engine::{Event, FlashEvent, Observer, StopKind};
use wordline_ftl::techniques::Choice;
use wordline_ftl::techniques::hooks::{Hook, Hooks};
use wordline_ftl::techniques::say::{Say, Says, Urgency, abstain};
use wordline_ftl::techniques::seam::{Card, Conflict, Ctx, Persists, Technique};
use wordline_units::random::{Draw, Stream};
use wordline_units::{Attributes, FlashOp, HostOp, HostRequest, Nanos, Priority};

use crate::small::Shape;

/// Card of the technique of these tests.
const CARD: Card = Card {
    name: "always",
    source: "a test",
    claim: "everything gives way",
    hooks: Hooks::of(&[Hook::Stop]),
    asks: &[],
    persists: Persists::Nothing("it knows nothing that could be forgotten"),
    limits: "it helps nobody",
};

/// Proposes one urgency for whatever a read waits for, until that has been stopped so many times.
#[derive(Debug)]
struct Always(Urgency, u16);

impl Technique for Always {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn stop(&self, _: &Ctx<'_>, conflict: &Conflict) -> Says<Urgency> {
        if self.0 == Urgency::Wait || conflict.busy.stops >= self.1 { abstain() } else { [Say::Propose(self.0), Say::Abstain] }
    }
}

/// All stops and all flash operations; requests that failed, and the latencies of reads.
#[derive(Default)]
struct Seen {
    stops: Vec<(StopKind, FlashOp, Nanos)>,
    flash: Vec<(Nanos, FlashEvent)>,
    failed: u64,
    reads: Vec<(Priority, Nanos)>,
}

impl Observer for Seen {
    fn observe(&mut self, at: Nanos, event: &Event) {
        match event {
            Event::Stopped { how, kind, waited, .. } => self.stops.push((*how, *kind, *waited)),
            Event::Flash(flash) => self.flash.push((at, *flash)),
            Event::Completed(done) => {
                self.failed += u64::from(!done.ok);
                if done.op == HostOp::Read {
                    self.reads.push((done.attributes.priority, done.stages.total()));
                }
            }
            Event::Arrived { .. }
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

const STEP_PROGRAM: Nanos = Nanos::from_micros(44);
const STEP_ERASE: Nanos = Nanos::from_micros(117);
const HALT: Nanos = Nanos::from_micros(10);

/// A drive whose dies have all stops.
fn config(change: impl FnOnce(&mut Config)) -> Config {
    let mut config = Shape { blocks: 32, ..Shape::default() }.config();
    let sheet = &mut config.sheet;
    let (able, timing) = (&mut sheet.capabilities, &mut sheet.timing);
    (able.stop_at_step, able.stop_now_program, able.stop_now_erase, able.abort_read) = (true, true, true, true);
    (timing.step_program, timing.step_erase) = (STEP_PROGRAM, STEP_ERASE);
    (timing.halt_program, timing.halt_erase, timing.abort_read) = (HALT, HALT, Nanos::from_micros(5));
    timing.suspend_interval = Nanos::ZERO;
    change(&mut config);
    config.firmware.sheet = config.sheet;
    config
}

/// Overwrites of a full drive beside `reads`, a share of all requests, `gap` from one to the next.
fn run(config: Config, urgency: Urgency, (gap, reads): (Nanos, f64), requests: u64) -> Watched<Seen> {
    let mut drive = Watched::new(config, Seen::default());
    drive.join(|| Box::new(Always(urgency, u16::MAX)));
    drive.fill(1.0);
    let (span, sectors) = (drive.config().exported_units, drive.config().firmware.unit.0 / 512);
    let mut draw = Draw::new(7, Stream::Address, 0);
    let mut load = (0..requests).map(move |number| {
        let op = if draw.happens(reads) { HostOp::Read } else { HostOp::Write };
        let priority = if draw.happens(0.3) { Priority::High } else { Priority::Low };
        let request = HostRequest::new(op, draw.below(span) * sectors, sectors as u32);
        HostRequest { at: gap * number, attributes: Attributes::of(priority), ..request }
    });
    drive.serve(&mut load, Pace::Open { origin: Nanos::ZERO }, None);
    drive.settle();
    drive.audit().unwrap_or_else(|problem| panic!("{problem}"));
    assert_eq!(drive.observer.failed, 0);
    drive
}

const GAP: (Nanos, f64) = (Nanos::from_micros(200), 0.5);

fn stops_of(seen: &Seen, is_wanted: impl Fn(&(StopKind, FlashOp, Nanos)) -> bool) -> u64 {
    seen.stops.iter().filter(|stop| is_wanted(stop)).count() as u64
}

/// Every stop is told once and counted once with its operation.
fn assert_counted(seen: &Seen) {
    let counted = |of: fn(&FlashEvent) -> u16| seen.flash.iter().map(|(_, flash)| u64::from(of(flash))).sum::<u64>();
    assert_eq!(counted(|flash| flash.stops), stops_of(seen, |(_, kind, _)| *kind != FlashOp::Read));
    assert_eq!(counted(|flash| flash.stops_now), stops_of(seen, |(how, kind, _)| *how == StopKind::Now && *kind != FlashOp::Read));
}

#[test]
fn stops_at_a_step_cost_a_resume_each_and_wait_for_no_more_than_a_step() {
    let drive = run(config(|_| ()), Urgency::AtStep, GAP, 20_000);
    let (seen, timing) = (&drive.observer, drive.config().sheet.timing);
    assert_counted(seen);
    let erases: Vec<&(StopKind, FlashOp, Nanos)> = seen.stops.iter().filter(|(_, kind, _)| *kind == FlashOp::Erase).collect();
    assert!(erases.len() > 300 && stops_of(seen, |(_, kind, _)| *kind == FlashOp::Program) > 1_000);
    assert!(seen.stops.iter().all(|(how, ..)| *how == StopKind::AtStep));
    assert!(erases.iter().all(|(.., waited)| *waited <= STEP_ERASE + timing.resume), "after a resume the array settles first");
    let mean = erases.iter().map(|(.., waited)| waited.as_secs_f64()).sum::<f64>() / erases.len() as f64 / STEP_ERASE.as_secs_f64();
    assert!((0.4..0.6).contains(&mean), "reads come when they come: {mean} steps");
    for (_, flash) in seen.flash.iter().filter(|(_, flash)| flash.op == FlashOp::Erase) {
        assert_eq!(flash.array, timing.erase + timing.resume * u64::from(flash.stops));
    }
}

#[test]
fn stops_at_once_cost_the_running_step_too_and_wait_for_the_halt_alone() {
    let drive = run(config(|_| ()), Urgency::Now, GAP, 20_000);
    let (seen, timing) = (&drive.observer, drive.config().sheet.timing);
    assert_counted(seen);
    let erases: Vec<&(StopKind, FlashOp, Nanos)> = seen.stops.iter().filter(|(_, kind, _)| *kind == FlashOp::Erase).collect();
    assert!(erases.len() > 300 && erases.iter().all(|(how, _, waited)| (*how, *waited) == (StopKind::Now, HALT)));
    for (_, flash) in seen.flash.iter().filter(|(_, flash)| flash.op == FlashOp::Erase) {
        let stops = u64::from(flash.stops);
        let least = timing.erase + HALT * stops;
        assert!((least..=least + (timing.resume + STEP_ERASE) * stops).contains(&flash.array), "{flash:?}");
    }
}

#[test]
fn a_die_does_the_hardest_stop_that_it_can_and_nothing_harder_than_is_wanted() {
    let unable = |config: &mut Config| {
        let able = &mut config.sheet.capabilities;
        (able.stop_now_program, able.suspend_erase, able.stop_now_erase) = (false, false, false);
    };
    let drive = run(config(unable), Urgency::Now, GAP, 5_000);
    let seen = &drive.observer;
    assert!(stops_of(seen, |stop| stop.0 == StopKind::AtStep && stop.1 == FlashOp::Program) > 100);
    assert_eq!(stops_of(seen, |(how, kind, _)| *kind == FlashOp::Erase || (*how == StopKind::Now && *kind != FlashOp::Read)), 0);
    let fixed = |config: &mut Config| {
        let able = &mut config.sheet.capabilities;
        (able.stop_at_step, able.stop_now_program, able.stop_now_erase, able.abort_read) = (false, false, false, false);
    };
    let drive = run(config(fixed), Urgency::Now, GAP, 5_000);
    assert!(!drive.observer.stops.is_empty() && drive.observer.stops.iter().all(|(how, ..)| *how == StopKind::FixedTime));
    assert_counted(&drive.observer);
}

#[test]
fn a_read_is_broken_off_for_one_of_a_higher_class_alone() {
    let reads = |able: bool| {
        let change = |config: &mut Config| config.sheet.capabilities.abort_read = able;
        run(config(change), Urgency::Now, (Nanos::from_micros(60), 0.9), 20_000)
    };
    let (with, without) = (reads(true), reads(false));
    let aborted = |drive: &Watched<Seen>| stops_of(&drive.observer, |(_, kind, _)| *kind == FlashOp::Read);
    assert!(aborted(&with) > 200 && aborted(&without) == 0, "{} reads were broken off", aborted(&with));
    let mean = |drive: &Watched<Seen>, class: Priority| {
        let of: Vec<f64> = drive.observer.reads.iter().filter(|(of, _)| *of == class).map(|(_, span)| span.as_secs_f64()).collect();
        of.iter().sum::<f64>() / of.len() as f64
    };
    assert!(mean(&with, Priority::High) < mean(&without, Priority::High));
    assert!(mean(&with, Priority::Low) > mean(&without, Priority::Low));
}

/// Overwrites at a pace that the drive can keep, and in the first half of each tenth of a second as many reads as its dies can just not serve.
fn bursts(span: u64, sectors: u64) -> impl Iterator<Item = HostRequest> {
    let (period, pace, gap) = (Nanos::from_millis(100), Nanos::from_micros(900), Nanos::from_micros(14));
    let mut draw = Draw::new(9, Stream::Address, 0);
    let (mut writes, mut reads) = (Nanos::ZERO, Nanos::ZERO);
    std::iter::from_fn(move || {
        let (op, at) = if writes < reads { (HostOp::Write, &mut writes) } else { (HostOp::Read, &mut reads) };
        let request = HostRequest { at: *at, ..HostRequest::new(op, draw.below(span) * sectors, sectors as u32) };
        *at += if op == HostOp::Write { pace } else { gap };
        if op == HostOp::Read && at.0 % period.0 > period.0 / 2 {
            *at = Nanos((at.0 / period.0 + 1) * period.0);
        }
        Some(request)
    })
    .take_while(move |request| request.at < period * 40)
}

#[test]
fn what_reads_would_hold_for_long_goes_on_after_the_longest_hold() {
    let longest = |held_max: Option<Nanos>| {
        let mut drive = Watched::new(config(|config| config.firmware.schedule.held_max = held_max), Seen::default());
        drive.join(|| Box::new(Always(Urgency::AtStep, 1)));
        drive.fill(1.0);
        let (span, sectors) = (drive.config().exported_units, drive.config().firmware.unit.0 / 512);
        drive.serve(&mut bursts(span, sectors), Pace::Open { origin: Nanos::ZERO }, None);
        drive.settle();
        drive.audit().unwrap_or_else(|problem| panic!("{problem}"));
        let held = drive.observer.flash.iter().filter(|(_, flash)| flash.op == FlashOp::Erase && flash.stops > 0);
        held.map(|(at, flash)| *at - flash.issued - flash.array).max().expect("an erase is stopped")
    };
    let most = Nanos::from_millis(1);
    let (held, bounded) = (longest(None), longest(Some(most)));
    println!("held for {held} without a bound, for {bounded} with one");
    // Each erase is stopped once, and the read that is under way ends first.
    assert!(held > most * 5 && bounded <= most + Nanos::from_micros(100), "{held} without a bound, {bounded} with one");
}

#[test]
fn copybacks_stop_between_their_parts_and_inside_their_program() {
    for scope in [wordline_flash::ProgramScope::Page, wordline_flash::ProgramScope::Wordline] {
        let copying = |config: &mut Config| {
            config.firmware.techniques = vec![Choice::PlainCopyback];
            config.sheet.capabilities.program_scope = scope;
        };
        for urgency in [Urgency::Wait, Urgency::AtStep, Urgency::Now] {
            let drive = run(config(copying), urgency, GAP, 20_000);
            let (seen, timing) = (&drive.observer, drive.config().sheet.timing);
            assert_counted(seen);
            let copies: Vec<&FlashEvent> =
                seen.flash.iter().map(|(_, flash)| flash).filter(|flash| flash.op == FlashOp::Copyback).collect();
            let [program, pages] = match scope {
                wordline_flash::ProgramScope::Page => [timing.program[0], Nanos(1)],
                wordline_flash::ProgramScope::Wordline => [timing.program_wordline, Nanos(3)],
            };
            let whole = program + timing.read[0] * pages.0 + timing.cache_busy * (pages.0 - 1);
            assert!(copies.len() > 100 && copies.iter().all(|copy| copy.stops > 0 || copy.array == whole), "{scope:?} {whole}");
            let stopped: Vec<&&FlashEvent> = copies.iter().filter(|copy| copy.stops > 0).collect();
            assert_eq!(stopped.is_empty(), urgency == Urgency::Wait);
            // Between two parts: without a resume of the array, and perhaps with a page that is sensed again.
            let between = stopped.iter().filter(|copy| copy.array == whole || copy.array == whole + timing.read[0]).count();
            assert!(urgency == Urgency::Wait || (between > 0 && between < stopped.len()), "{between} of {}", stopped.len());
        }
    }
}
