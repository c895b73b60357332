//! TRIMs that the firmware is given whole, or page by page.

use wordline_drive::{Pace, Watched};
use wordline_engine::{Event, Observer};
use wordline_plan::Plan;
use wordline_units::{Cause, FlashOp, HostOp, HostRequest, Nanos};

const UNIT: u64 = 32;
const PAGES: u32 = 300;

#[derive(Default)]
struct Seen {
    scrubs: u64,
    moved: u64,
    invalidated: Vec<u32>,
    /// Latency of the last trim, and blank sectors of the last read.
    trim: Nanos,
    blank: u32,
}

impl Observer for Seen {
    fn observe(&mut self, _: Nanos, event: &Event) {
        match event {
            Event::Flash(flash) if flash.op == FlashOp::Scrub => self.scrubs += 1,
            Event::Flash(flash) if flash.cause == Cause::Sanitise => self.moved += u64::from(flash.moved_units),
            Event::Invalidated { units, .. } => self.invalidated.push(*units),
            Event::Completed(done) if done.op == HostOp::Trim => self.trim = done.stages.total(),
            Event::Completed(done) if done.op == HostOp::Read => self.blank = done.blank,
            Event::Flash(_)
            | Event::Completed(_)
            | Event::Arrived { .. }
            | Event::Retired { .. }
            | Event::Exposed { .. }
            | Event::ProgrammedAgain { .. }
            | Event::DataLost { .. }
            | Event::DieSuspected { .. }
            | Event::DieFailed { .. }
            | Event::UnitsLost { .. }
            | Event::UnitsHealed { .. }
            | Event::Stopped { .. }
            | Event::Harmed { .. }
            | Event::WornOut => {}
        }
    }
}

fn drive(trims: &str, more: &[&str]) -> Watched<Seen> {
    let settings = ["cells.physics=false", "geometry.blocks=24", "mapping.over_provisioning=40 %", &format!("controller.trims={trims}")];
    let plan = Plan::load_set("scrssd", &[&settings[..], more].concat()).unwrap_or_else(|error| panic!("{error}"));
    Watched::new(plan.build(), Seen::default())
}

fn ask(drive: &mut Watched<Seen>, op: HostOp, first: u64, sectors: u32) {
    drive.serve(&mut std::iter::once(HostRequest::new(op, first, sectors)), Pace::Closed { depth: 1 }, None);
}

/// Write pages, trim them but for a part of the first and the last, read them.
fn trimmed(trims: &str, more: &[&str]) -> Seen {
    let mut drive = drive(trims, more);
    ask(&mut drive, HostOp::Write, 0, PAGES * UNIT as u32);
    drive.settle();
    ask(&mut drive, HostOp::Trim, 8, PAGES * UNIT as u32 - 16);
    ask(&mut drive, HostOp::Read, 0, PAGES * UNIT as u32);
    drive.settle();
    drive.audit().unwrap_or_else(|problem| panic!("{problem}"));
    drive.observer
}

#[test]
fn page_by_page_what_is_trimmed_next_is_moved_out_of_the_way_first() {
    let (whole, by_page) = (trimmed("whole", &[]), trimmed("by-page", &[]));
    let inner = PAGES - 2;
    assert_eq!((whole.blank, by_page.blank), (inner * UNIT as u32, inner * UNIT as u32), "the same pages are gone");
    assert_eq!(whole.invalidated.iter().max(), Some(&inner));
    assert!(by_page.invalidated.iter().all(|&units| units == 1) && by_page.invalidated.len() as u32 == inner);
    // Wordlines die whole, all but the two with what stays; or their other two pages are moved, to be trimmed where they are then.
    assert!(whole.moved <= 4, "{} pages moved", whole.moved);
    assert!(by_page.moved > u64::from(inner) / 3 && by_page.scrubs > whole.scrubs, "{} moved, {} scrubs", by_page.moved, by_page.scrubs);
    assert!(by_page.trim > whole.trim, "{} and {}", by_page.trim.0, whole.trim.0);
}

#[test]
fn page_by_page_several_cores_give_up_the_same_pages() {
    let cores = ["controller.cores=2", "controller.stripe=32 KiB"];
    let (whole, by_page) = (trimmed("whole", &cores), trimmed("by-page", &cores));
    assert_eq!((whole.blank, by_page.blank), ((PAGES - 2) * UNIT as u32, (PAGES - 2) * UNIT as u32));
    assert_eq!(by_page.invalidated.iter().sum::<u32>(), PAGES - 2);
}

#[test]
fn a_trim_of_one_page_is_the_same_either_way() {
    let log = |trims: &str| {
        let mut drive = drive(trims, &[]);
        ask(&mut drive, HostOp::Write, 0, PAGES * UNIT as u32);
        (0..u64::from(PAGES)).for_each(|page| ask(&mut drive, HostOp::Trim, page * UNIT, UNIT as u32));
        drive.settle();
        drive.log().hash()
    };
    assert_eq!(log("whole"), log("by-page"));
}

#[test]
fn a_drive_that_is_made_old_takes_trims_as_it_does_in_time() {
    let moved = |trims: &str, cores: &[&str]| {
        let mut drive = drive(trims, cores);
        let all = PAGES * UNIT as u32;
        let load = [HostRequest::new(HostOp::Write, 0, all), HostRequest::new(HostOp::Flush, 0, 0), HostRequest::new(HostOp::Trim, 0, all)];
        let aged = drive.age(&mut load.into_iter(), u64::MAX);
        drive.audit().unwrap_or_else(|problem| panic!("{problem}"));
        ask(&mut drive, HostOp::Read, 0, all);
        assert_eq!((aged.requests, drive.observer.blank), (3, all), "{trims}");
        aged.moved_units
    };
    for cores in [&[][..], &["controller.cores=2", "controller.stripe=32 KiB"]] {
        assert_eq!(moved("whole", cores), 0, "wordlines die whole");
        assert!(moved("by-page", cores) > u64::from(PAGES) / 3);
    }
}
