//! A drive as a plain value: without type parameters, in any thread, its events handed over when its holder asks for them.

use std::panic::{AssertUnwindSafe, catch_unwind};

use wordline_chip::RamPayload;
use wordline_drive::{Drive, Events, Pace, Watched};
use wordline_engine::{Completions, Event, Observer, Shown};
use wordline_units::{HostOp, HostRequest, Nanos};

use crate::small::{Shape, uniform};

/// The most events that are kept at once: those of the batch, and what a step has beside it.
const MOST: usize = 64;

#[derive(Default)]
struct Batches {
    events: u64,
    largest: usize,
}

impl Observer for Batches {
    fn observe(&mut self, _: Nanos, _: &Event) {
        self.events += 1;
    }

    fn observe_all(&mut self, shown: &[(Nanos, Shown)]) {
        self.events += shown.len() as u64;
        self.largest = self.largest.max(shown.len());
    }
}

#[test]
fn another_thread_steps_a_drive_and_takes_its_completions() {
    let config = Shape::default().config();
    let write = HostRequest::new(HostOp::Write, 64, 32);
    let mut watched = Watched::new(config.clone(), Completions::default());
    let id = watched.submit(&write, &vec![7; 32 * 512]);
    while watched.observer.take(id).is_none() {
        assert!(watched.step());
    }
    let mut drive = Drive::new(config, Events::of(&Completions::default()));
    let (hash, log) = std::thread::spawn(move || {
        let mut ends = Completions::default();
        let id = drive.submit(&write, &vec![7; 32 * 512]);
        loop {
            assert!(drive.step());
            drive.show(&mut ends);
            if ends.take(id).is_some() {
                break (drive.log().hash(), drive.log().count());
            }
        }
    })
    .join()
    .expect("no step panics");
    assert_eq!((hash, log), (watched.log().hash(), watched.log().count()));
}

#[test]
fn no_call_gathers_more_events_than_a_few_however_long_it_takes() {
    let config = Shape::default().config();
    let mut load = uniform(&config, config.exported_units, 3);
    let mut drive = Watched::new(config, Batches::default());
    drive.serve(&mut load, Pace::Closed { depth: 64 }, Some(2_000));
    (0..200).for_each(|_| {
        let request = load.next().expect("it has no end");
        drive.submit(&request, &vec![1; 512 * request.sectors as usize]);
    });
    let before = drive.observer.events;
    drive.settle();
    assert!(drive.observer.events > before + 10 * MOST as u64, "{} events while it settled", drive.observer.events - before);
    let now = drive.now();
    (0..200).for_each(|_| {
        let request = load.next().expect("it has no end");
        drive.submit(&request, &vec![1; 512 * request.sectors as usize]);
    });
    drive.run_until(now + Nanos::from_millis(1_000));
    assert!(drive.observer.largest <= MOST, "{} at once", drive.observer.largest);
    assert_eq!(drive.observer.events, drive.log().count());
}

#[test]
fn a_drive_that_keeps_bytes_refuses_what_would_write_pages_without_them() {
    let config = Shape::default().config();
    let sheet = config.sheet;
    let units = (sheet.geometry.page.0 / config.firmware.unit.0) as u32;
    let refuses = |deed: fn(&mut Watched)| {
        let mut drive = Watched::with_payload(config.clone(), (), |_| RamPayload::new(&sheet, units));
        let panic = catch_unwind(AssertUnwindSafe(|| deed(&mut drive))).expect_err("it has to be refused");
        let text = panic.downcast_ref::<String>().cloned().unwrap_or_default();
        assert!(text.contains("keeps bytes"), "{text}");
    };
    refuses(|drive| drive.fill(0.5));
    refuses(|drive| drive.construct_steady(&[0.5], 1));
    refuses(|drive| _ = drive.age(&mut std::iter::empty(), 1));
    refuses(Watched::begin_epoch);
    refuses(|drive| _ = drive.read_leap(0..8, 8));
    refuses(|drive| _ = drive.image());
}
