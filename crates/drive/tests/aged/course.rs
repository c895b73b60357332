//! A temperature that changes over time, and a saved drive that lies without power: is either what it is by hand, and does it survive an image?

use wordline_cells::Age;
use wordline_drive::{Config, Pace, Watched};
use wordline_engine::{Event, Observer};
use wordline_plan::Plan;
use wordline_units::{Celsius, FlashOp, HostOp, HostRequest, Nanos};

const HOUR: u64 = 3_600;
const DAY: u64 = 24 * HOUR;
const SMALL: [&str; 5] =
    ["flash.channels=1", "flash.dies_per_channel=1", "geometry.blocks=24", "geometry.layers=4", "mapping.over_provisioning=40 %"];

/// Retries of reads.
#[derive(Debug, Default)]
struct Retries(u64);

impl Observer for Retries {
    fn observe(&mut self, _: Nanos, event: &Event) {
        if let Event::Flash(flash) = event
            && flash.op == FlashOp::Read
        {
            self.0 += u64::from(flash.retries);
        }
    }
}

fn config(more: &[&str]) -> Config {
    Plan::load_set("pageftl", &[&SMALL[..], more].concat()).unwrap_or_else(|error| panic!("{error}")).build()
}

fn filled(config: Config) -> Watched<Retries> {
    let age = config.age();
    let mut drive = Watched::new(config, Retries::default());
    drive.fill(1.0);
    age.iter().for_each(|age| drive.set_age(age));
    drive
}

/// Reads each unit once; returns the retries.
fn read(drive: &mut Watched<Retries>) -> u64 {
    let (units, sectors) = (drive.config().exported_units, drive.config().firmware.unit.0 / 512);
    let before = drive.observer.0;
    let mut reads = (0..units).map(|unit| HostRequest::new(HostOp::Read, unit * sectors, sectors as u32));
    drive.serve(&mut reads, Pace::Closed { depth: 4 }, None);
    drive.observer.0 - before
}

/// Writes units `from` to `to` in order.
fn write(drive: &mut Watched<Retries>, from: u64, to: u64) {
    let sectors = drive.config().firmware.unit.0 / 512;
    let mut writes = (from..to).map(|unit| HostRequest::new(HostOp::Write, unit * sectors, sectors as u32));
    drive.serve(&mut writes, Pace::Closed { depth: 4 }, None);
    drive.settle();
}

fn days(drive: &mut Watched<Retries>, days: u64) {
    drive.run_until(drive.now() + Nanos::from_secs(days * DAY));
}

#[test]
fn a_course_of_temperatures_is_the_same_as_setting_them_at_their_instants() {
    let old = ["cells.cycles=2000"];
    let mut by_plan = filled(config(&[&old[..], &["cells.temperature=30 C, 70 C from 1 d, 40 C from 3 d"]].concat()));
    let mut by_hand = filled(config(&[&old[..], &["cells.temperature=30 C"]].concat()));
    let mut cool = filled(config(&[&old[..], &["cells.temperature=30 C"]].concat()));
    for (day, to) in [(1, Some(70.0)), (2, None), (3, Some(40.0)), (4, None)] {
        for drive in [&mut by_plan, &mut by_hand, &mut cool] {
            drive.run_until(Nanos::from_secs(day * DAY));
        }
        to.into_iter().for_each(|to| assert!(by_hand.set_temperature(Celsius(to))));
        assert_eq!(by_plan.temperature(), by_hand.temperature(), "day {day}");
    }
    let [plan, hand, cool_retries] = [&mut by_plan, &mut by_hand, &mut cool].map(read);
    assert_eq!((plan, by_plan.log().hash()), (hand, by_hand.log().hash()));
    assert!(plan > cool_retries + 100, "two days at 70 C lose charge: {plan} retries, {cool_retries} without");
}

#[test]
fn a_course_goes_on_in_an_image_where_it_stood() {
    let config = config(&["cells.temperature=30 C, 70 C from 2 d, 40 C from 4 d"]);
    let mut drive = filled(config.clone());
    let mut seen = Vec::new();
    for day in 1..=5 {
        days(&mut drive, 1);
        seen.push(drive.temperature().map(|celsius| celsius.0));
        if day == 3 {
            // At time zero it is the third day; at its own instant, too.
            let (image, at) = (drive.image().expect("it is quiet"), drive.now());
            let mut at_zero = Watched::from_image(config.clone(), image.clone(), Retries::default()).expect("its own image");
            let mut at_its = Watched::from_image_at(config.clone(), image, at, Retries::default()).expect("its own image");
            let mut went = vec![[&at_zero, &at_its].map(|drive| drive.temperature().map(|celsius| celsius.0))];
            for _ in 0..2 {
                [&mut at_zero, &mut at_its].into_iter().for_each(|drive| days(drive, 1));
                went.push([&at_zero, &at_its].map(|drive| drive.temperature().map(|celsius| celsius.0)));
            }
            assert_eq!(went, [[Some(70.0); 2], [Some(40.0); 2], [Some(40.0); 2]]);
            // And once more: the second image is of a drive that has lived through two clocks.
            let again = at_zero.image().expect("it is quiet");
            let back = Watched::from_image(config.clone(), again, Retries::default()).expect("its own image");
            assert_eq!(back.temperature(), Some(Celsius(40.0)));
        }
    }
    assert_eq!(seen, [Some(30.0), Some(70.0), Some(70.0), Some(40.0), Some(40.0)]);
}

#[test]
fn a_drive_that_lies_is_as_old_as_one_that_was_set_to_it() {
    let year = 365.0 * 86_400.0;
    let aged = |settings: &[&str]| filled(config(&[&["cells.cycles=2000"], settings].concat()));
    let mut set = aged(&["cells.retention=1 y"]);
    let mut lain = aged(&[]);
    assert!(lain.lie(year, Celsius(30.0)));
    let mut both = aged(&["cells.retention=6 mo"]);
    assert!(both.lie(year / 2.0, Celsius(30.0)));
    let mut fresh = aged(&[]);
    let [set, lain, both, fresh] = [&mut set, &mut lain, &mut both, &mut fresh].map(read);
    assert_eq!((lain, both), (set, set));
    assert!(set > fresh + 100, "{set} retries after a year, {fresh} before");
    let mut without = Watched::new(config(&["cells.physics=false"]), Retries::default());
    assert!(!without.lie(year, Celsius(30.0)));
}

#[test]
fn what_lies_is_older_also_after_it_is_saved_and_what_is_written_since_is_not() {
    let config = config(&["cells.cycles=2000"]);
    let saved = |drive: &Watched<Retries>| {
        Watched::from_image(config.clone(), drive.image().expect("it is quiet"), Retries::default()).expect("its own image")
    };
    let age = Age { cycles: 2_000.0, dwell: 0.0, retention: 0.0, temperature: 30.0 };
    let mut drive = filled(config.clone());
    drive.set_age(&age);
    let units = drive.config().exported_units;
    write(&mut drive, 0, units / 2);
    let mut drive = saved(&drive);
    let mut twin = saved(&drive);
    assert!(drive.lie(365.0 * 86_400.0, Celsius(30.0)));
    assert_eq!(drive.image().expect("it is quiet"), saved(&drive).image().expect("it is quiet"), "an image has it");
    let mut drive = saved(&drive);
    let [old, young] = [&mut drive, &mut twin].map(read);
    assert!(old > young + 100, "{old} retries after a year, {young} without");
    // All of it is written again: nothing of the year is left.
    for drive in [&mut drive, &mut twin] {
        for _ in 0..3 {
            write(drive, 0, units);
        }
    }
    let [rewritten, plain] = [&mut drive, &mut twin].map(read);
    assert!(rewritten.abs_diff(plain) < 20, "{rewritten} retries and {plain}");
}
