//! Hints of tolerated latency: they take no flash operation and leave everything else as it is.

use wordline_drive::{Pace, Watched};
use wordline_engine::{Completion, Event, FlashEvent, Observer};
use wordline_plan::Plan;
use wordline_units::random::{Draw, Stream};
use wordline_units::{HostOp, HostRequest, Nanos, Tolerance};

#[derive(Default)]
struct Seen {
    flash: Vec<(Nanos, FlashEvent)>,
    hints: Vec<Completion>,
}

impl Observer for Seen {
    fn observe(&mut self, at: Nanos, event: &Event) {
        if let Event::Flash(flash) = event {
            self.flash.push((at, *flash));
        }
        if let Event::Completed(done) = event
            && done.op == HostOp::Hint
        {
            self.hints.push(*done);
        }
    }
}

/// A drive that is written over and over, with a hint after every 40 requests if `hint` makes one. Commands cost no time, so that hints keep nothing waiting.
fn run(more: &[&str], hint: Option<fn(u64) -> HostRequest>) -> (Seen, u64) {
    let settings = ["cells.physics=false", "geometry.blocks=24", "mapping.over_provisioning=40 %", "costs.command=0 ns"];
    let plan = Plan::load_set("scrssd", &[&settings[..], more].concat()).unwrap_or_else(|error| panic!("{error}"));
    let mut drive = Watched::new(plan.build(), Seen::default());
    let sectors = drive.config().exported().0 / 512;
    let (mut draw, mut load) = (Draw::new(3, Stream::Mix, 1), Vec::new());
    for number in 0..3_000 {
        let at = Nanos(number * 400_000);
        let (op, count) = ([HostOp::Write, HostOp::Read][usize::from(draw.happens(0.2))], 8 * (1 + draw.below(16) as u32));
        load.push(HostRequest { at, ..HostRequest::new(op, draw.below(sectors / 8 - 16) * 8, count) });
        if let Some(hint) = hint.filter(|_| number % 40 == 0) {
            load.push(HostRequest { at: at + Nanos(200_000), ..hint(sectors) });
        }
    }
    drive.serve(&mut load.into_iter(), Pace::Open { origin: Nanos::ZERO }, None);
    drive.settle();
    drive.audit().unwrap_or_else(|problem| panic!("{problem}"));
    let hash = drive.log().hash();
    (drive.observer, hash)
}

#[test]
fn hints_change_no_flash_operation() {
    let whole = |sectors: u64| HostRequest::hint(0, sectors as u32, Tolerance::Longer);
    let edges = |sectors: u64| HostRequest::hint(sectors - 33, 5, Tolerance::Shortest);
    for more in [&[][..], &["controller.cores=2"], &["controller.trims=by-page"]] {
        let (plain, hash) = run(more, None);
        assert!(plain.hints.is_empty() && !plain.flash.is_empty());
        for hint in [whole as fn(u64) -> HostRequest, edges] {
            let (hinted, other) = run(more, Some(hint));
            assert_eq!(hinted.hints.len(), 75);
            assert!(hinted.hints.iter().all(|done| done.ok && done.stages.total() == Nanos::ZERO), "{:?}", hinted.hints[0]);
            assert!(hinted.flash == plain.flash, "{more:?}: a hint has changed what the flash does");
            assert_ne!(hash, other, "hints are in the log");
        }
    }
}

#[test]
#[should_panic(expected = "beyond the drive")]
fn a_hint_beyond_the_drive_is_no_request() {
    run(&[], Some(|sectors| HostRequest::hint(sectors - 1, 2, Tolerance::Longer)));
}

#[test]
#[should_panic(expected = "only a flush has no sectors")]
fn a_hint_of_nothing_is_no_request() {
    run(&[], Some(|_| HostRequest::hint(0, 0, Tolerance::Longer)));
}
