//! Dies that fail while they work, and dies that fall silent.

use wordline_chip::DieFault;
use wordline_drive::{Bound, Config, Fault, Image, Pace, Rest, Watched};
use wordline_engine::{Event, FailedPart, FlashEvent, Observer};
use wordline_flash::ProgramScope;
use wordline_ftl::techniques::Choice;
use wordline_units::random::{Draw, Stream};
use wordline_units::{BlockId, Bytes, DieId, FlashOp, HostOp, HostRequest, Nanos, PlaneId};

use crate::small::Shape;

/// Record of harm, of all flash operations, and of the requests that failed.
#[derive(Default)]
struct Seen {
    harmed: Vec<(Nanos, DieId, FailedPart)>,
    flash: Vec<(Nanos, FlashEvent)>,
    failed: u64,
    /// Number of them that a failed part is the cause of.
    for_failures: u64,
}

impl Observer for Seen {
    fn observe(&mut self, at: Nanos, event: &Event) {
        if let Event::Harmed { die, part } = event {
            self.harmed.push((at, *die, *part));
        } else if let Event::Flash(flash) = event {
            self.flash.push((at, *flash));
        } else if let Event::Completed(done) = event {
            self.failed += u64::from(!done.ok);
            self.for_failures += u64::from(done.for_failure);
        }
    }
}

const DIE: DieId = DieId(1);
const AT: Nanos = Nanos::from_millis(300);

/// Drives in which a die may be at anything: planes, whole wordlines, suspends, cache programs, copybacks.
fn configs() -> Vec<Config> {
    let shape = Shape { blocks: 64, layers: 4, ..Shape::default() };
    let shapes = [
        Shape { ..shape },
        Shape { planes: 2, unit: Bytes::kib(4), cores: 2, preemptible: true, ..shape },
        Shape { scope: ProgramScope::Wordline, unit: Bytes::kib(4), ..shape },
    ];
    let with = |techniques: &[Choice], cached: bool| {
        shapes.map(|shape| {
            let mut config = shape.config();
            config.sheet.capabilities.cache_program = cached;
            config.firmware.sheet = config.sheet;
            config.firmware.spare_blocks = 0;
            config.firmware.techniques = techniques.to_vec();
            config
        })
    };
    [with(&[], false), with(&[Choice::ReadPreemption], true)].concat()
}

fn run(config: &Config, fault: Option<DieFault>) -> Watched<Seen> {
    let mut drive = Watched::new(config.clone(), Seen::default());
    drive.fill(0.6);
    if let Some(fault) = fault {
        drive.schedule(AT, DIE, fault);
    }
    let (span, sectors) = (config.exported_units * 6 / 10, config.firmware.unit.0 / 512);
    let mut draw = Draw::new(7, Stream::Address, 0);
    let mut load = (0..6_000).map(move |number| {
        let op = if draw.happens(0.5) { HostOp::Read } else { HostOp::Write };
        HostRequest { at: Nanos::from_micros(150) * number, ..HostRequest::new(op, draw.below(span) * sectors, sectors as u32) }
    });
    drive.serve(&mut load, Pace::Open { origin: Nanos::ZERO }, None);
    drive.settle();
    drive.audit().unwrap_or_else(|problem| panic!("{fault:?}: {problem}"));
    drive
}

#[test]
fn a_die_that_fails_in_the_middle_of_its_work_fails_its_own_requests_and_no_others() {
    for config in configs() {
        let well = run(&config, None);
        assert_eq!((well.observer.failed, well.observer.harmed.len()), (0, 0));
        for fault in [
            DieFault::Die { silent: false },
            DieFault::Die { silent: true },
            DieFault::Plane(PlaneId(0)),
            DieFault::Blocks { plane: PlaneId(0), first: BlockId(0), last: BlockId(9) },
        ] {
            let drive = run(&config, Some(fault));
            let seen = &drive.observer;
            assert_eq!(seen.harmed.iter().map(|&(at, die, _)| (at, die)).collect::<Vec<_>>(), [(AT, DIE)]);
            assert!(seen.failed > 0 && seen.failed == seen.for_failures, "{fault:?}: {} failed, {} for it", seen.failed, seen.for_failures);
            assert!(seen.flash.iter().all(|(at, flash)| flash.ok || (flash.die == DIE && *at >= AT)), "{fault:?}: another die failed");
            if let DieFault::Die { .. } = fault {
                // Data that had left the array by then is past harm, and a page is transferred in less than a millisecond.
                let after = |at: Nanos| at > AT + Nanos::from_millis(1);
                assert!(seen.flash.iter().all(|(at, flash)| flash.die != DIE || !after(*at) || !flash.ok), "it is dead");
            }
            assert_eq!(run(&config, Some(fault)).log().hash(), drive.log().hash(), "{fault:?}: the same again");
            assert_ne!(drive.log().hash(), well.log().hash());
        }
    }
}

#[test]
fn a_silent_die_is_waited_for_so_long_and_reset_in_vain() {
    for config in configs() {
        let drive = run(&config, Some(DieFault::Die { silent: true }));
        let timing = config.sheet.timing;
        let wait = config.die_timeout + timing.reset;
        let after = |(at, flash): &&(Nanos, FlashEvent)| flash.die == DIE && *at > AT + Nanos::from_millis(1);
        let waited: Vec<FlashEvent> = drive.observer.flash.iter().filter(after).map(|(_, flash)| *flash).collect();
        assert!(!waited.is_empty() && waited.iter().all(|flash| flash.array >= wait), "{:?}", waited.iter().map(|flash| flash.array).max());
        for flash in waited.iter().filter(|flash| flash.op == FlashOp::Erase && flash.stops == 0) {
            assert_eq!((flash.array, flash.ok), (timing.erase + wait, false));
        }
        assert!(
            waited.iter().all(|flash| flash.op != FlashOp::Read || (flash.retries, flash.bus) == (0, Nanos::ZERO)),
            "no data, no second try"
        );
    }
}

#[test]
fn a_fault_whose_instant_never_comes_is_known_and_does_nothing() {
    let config = &configs()[0];
    let mut drive = Watched::new(config.clone(), Seen::default());
    drive.schedule(Nanos::from_secs(5), DIE, DieFault::Die { silent: false });
    drive.serve(&mut std::iter::once(HostRequest::new(HostOp::Write, 0, 32)), Pace::Closed { depth: 1 }, None);
    drive.settle();
    assert!(drive.now() < Nanos::from_secs(5) && !drive.is_dead(DIE));
    assert_eq!(drive.scheduled().collect::<Vec<_>>(), [(Nanos::from_secs(5), DIE, DieFault::Die { silent: false })]);
    drive.run_until(Nanos::from_secs(5));
    assert!(drive.is_dead(DIE) && drive.scheduled().next().is_none());
}

#[test]
fn an_image_keeps_a_failed_die_and_a_leap_refuses_one() {
    let config = configs().remove(0);
    let mut drive = Watched::new(config.clone(), ());
    drive.fill(0.5);
    drive.settle();
    drive.begin_epoch();
    assert_eq!(drive.leap_bound(3), (3, Bound::Asked));
    drive.inject(Fault::Die(DIE, DieFault::Die { silent: false }));
    drive.inject(Fault::Die(DieId(0), DieFault::Plane(PlaneId(0))));
    let leapt = drive.leap(3, Rest::Measured);
    assert_eq!((leapt.times, leapt.bound), (0, Bound::Failure));
    let bytes = drive.image().expect("it is quiet").to_bytes(7);
    let image = Image::from_bytes(&bytes, 7).expect("its own");
    let again = Watched::from_image(config.clone(), image, ()).expect("the same plan");
    assert!(again.is_dead(DIE) && !again.is_dead(DieId(0)));
    assert_eq!(again.faults(), drive.faults());
    // Where nothing has failed the image says so in a byte.
    let well = Watched::new(config, ()).image().expect("it is quiet").to_bytes(7);
    assert!(well.len() < bytes.len());
}
