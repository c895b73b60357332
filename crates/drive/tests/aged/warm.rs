//! Does the firmware's clock go with the cells: by the temperature of the board, and by an age that is set?

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use wordline_cells::Age;
use wordline_drive::{Image, Pace, Watched};
use wordline_flash::tables::Aging;
use wordline_flash::{Status, Tables};
use wordline_ftl::BlockGroup;
use wordline_ftl::techniques::hooks::{Hook, Hooks};
use wordline_ftl::techniques::seam::{Ask, Card, Ctx, Kept, News, Persists, Technique};
use wordline_plan::Plan;
use wordline_units::{Celsius, HostOp, HostRequest, Nanos, Seconds};

const HOUR: u64 = 3_600;
const YEAR: u64 = 365 * 24 * HOUR;

/// Erases of a group: the instant of each, and the rest before it.
type Erases = BTreeMap<u32, Vec<(Nanos, Kept)>>;

/// Asks for the services of the core, and writes down the rests that it is told.
#[derive(Debug)]
struct Watcher(Arc<Mutex<Erases>>);

const CARD: Card = Card {
    name: "watcher",
    source: "a test",
    claim: "none",
    hooks: Hooks::of(&[Hook::Erased]),
    asks: &[Ask::Provenance],
    persists: Persists::Nothing("it knows nothing"),
    limits: "none",
};

impl Technique for Watcher {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn learn(&mut self, ctx: &Ctx<'_>, news: &News) {
        if let News::Erased(erase) = news
            && erase.status == Status::Good
        {
            assert!(ctx.warmth.is_some(), "the board has a sensor");
            let rest = erase.rest.expect("it has asked for the clock");
            self.0.lock().expect("nobody panics").entry(erase.group.0).or_default().push((ctx.now, rest));
        }
    }
}

fn drive(is_asked: bool) -> (Watched, Arc<Mutex<Erases>>) {
    let small = ["flash.channels=1", "flash.dies_per_channel=1", "geometry.blocks=32", "mapping.over_provisioning=40 %"];
    let mut config = Plan::load_set("pageftl", &small).unwrap_or_else(|error| panic!("{error}")).build();
    config.firmware.tables = Tables { aging: Some(Arc::new(Aging { energy: 1.1, ..Aging::default() })), ..Tables::default() };
    let erases = Arc::new(Mutex::new(Erases::new()));
    let mut drive = Watched::new(config, ());
    if is_asked {
        drive.join(|| Box::new(Watcher(Arc::clone(&erases))));
    }
    drive.fill(1.0);
    (drive, erases)
}

/// The time for which each group that holds data has kept it.
fn kept(drive: &Watched) -> Vec<Kept> {
    let (ftl, now) = (&drive.firmware()[0], drive.now());
    let groups = (0..ftl.layout().group_count() as u32).map(BlockGroup).filter(|&group| ftl.groups().valid(group) > 0);
    groups.map(|group| ftl.view(now).kept(group).expect("it has been programmed")).collect()
}

/// Write all of the drive once, in order.
fn overwrite(drive: &mut Watched) {
    let (units, sectors) = (drive.config().exported_units, drive.config().firmware.unit.0 / 512);
    let mut load = (0..units).map(|unit| HostRequest::new(HostOp::Write, unit * sectors, sectors as u32));
    drive.serve(&mut load, Pace::Closed { depth: 16 }, None);
    drive.settle();
}

fn pass(drive: &mut Watched, seconds: u64) {
    let until = drive.now() + Nanos::from_secs(seconds);
    drive.run_until(until);
}

#[test]
fn an_age_of_the_cells_is_one_of_the_clock() {
    let (mut drive, _) = drive(true);
    let year = Age { cycles: 500.0, dwell: 600.0, retention: YEAR as f64, temperature: 30.0 };
    drive.set_age(&year);
    let old = kept(&drive);
    assert!(old.len() > 10 && old.iter().all(|kept| kept.effective.0.abs_diff(YEAR) <= 4 && !kept.is_least), "{old:?}");
    let ftl = &drive.firmware()[0];
    let (view, born) = (ftl.view(drive.now()), ftl.view(drive.now()).born(BlockGroup(0)));
    assert_eq!((view.today().map(|day| day.0), born.map(|day| day.0)), (Some(365), Some(0)));
    overwrite(&mut drive);
    overwrite(&mut drive);
    assert!(kept(&drive).iter().all(|kept| kept.effective < Seconds(HOUR)), "all of it is new");
    // A day at 85 °C is nearly two years at 30.
    drive.set_age(&Age { retention: 86_400.0, temperature: 85.0, ..year });
    assert!(kept(&drive).iter().all(|kept| (630 * 86_400..650 * 86_400).contains(&kept.effective.0)), "{:?}", kept(&drive));
}

#[test]
fn time_counts_by_the_temperature_of_the_board_while_it_passes() {
    let (mut drive, _) = drive(true);
    assert!(drive.set_temperature(Celsius(30.0)));
    let before = kept(&drive)[0].effective.0;
    pass(&mut drive, 10 * HOUR);
    let cool = kept(&drive)[0].effective.0;
    assert!(drive.set_temperature(Celsius(50.0)));
    pass(&mut drive, 10 * HOUR);
    let warm = kept(&drive)[0].effective.0;
    assert!((cool - before).abs_diff(10 * HOUR) <= 4, "{before} {cool}");
    assert!((134 * HOUR..137 * HOUR).contains(&(warm - cool)), "an hour at 50 degrees is 13.5 at 30: {}", warm - cool);
}

#[test]
fn a_rest_is_from_one_erase_to_the_next_and_the_first_is_none() {
    let (mut drive, erases) = drive(true);
    assert!(drive.set_temperature(Celsius(30.0)));
    for hours in 1..12 {
        overwrite(&mut drive);
        pass(&mut drive, hours * HOUR);
    }
    let erases = erases.lock().expect("nobody panics");
    let mut compared = 0;
    for all in erases.values() {
        assert_eq!(all[0].1, Kept { effective: Seconds(0), is_least: true }, "nobody has seen the erase before it");
        for pair in all.windows(2) {
            let (rested, told) = ((pair[1].0 - pair[0].0).as_secs_f64(), pair[1].1);
            let short = rested - told.effective.0 as f64;
            assert!(!told.is_least && (0.0..=8.0).contains(&short), "{told:?} after {rested} s");
            compared += u32::from(rested > 1_000.0);
        }
    }
    assert!(compared > 30, "{compared} rests");
}

#[test]
fn who_asks_for_services_changes_no_event_and_an_image_has_what_they_know() {
    let run = |is_asked| {
        let (mut drive, _) = drive(is_asked);
        overwrite(&mut drive);
        drive.set_temperature(Celsius(40.0));
        overwrite(&mut drive);
        drive
    };
    let (with, without) = (run(true), run(false));
    assert_eq!(with.log().hash(), without.log().hash());
    let (knows, nothing) = (with.image().expect("settled"), without.image().expect("settled"));
    assert_ne!(knows, nothing);
    assert_eq!(Image::from_bytes(&knows.to_bytes(1), 1), Ok(knows.clone()));
    let config = with.config().clone();
    let back =
        Watched::from_image_at(config.clone(), knows.clone(), without.now(), ()).expect("a core without services has no use for them");
    assert_eq!(back.image(), Ok(nothing));
}

/// A block that was erased by the clock before is programmed by the clock after, and one that was open goes on.
#[test]
fn a_restored_drive_goes_on_by_a_clock_of_its_own() {
    let (mut used, _) = drive(false);
    overwrite(&mut used);
    let config = used.config().clone();
    let mut back = Watched::from_image(config, used.image().expect("settled"), ()).expect("it is the same drive");
    overwrite(&mut back);
    let (units, sectors) = (back.config().exported_units, back.config().firmware.unit.0 / 512);
    let mut reads = (0..units).map(|unit| HostRequest::new(HostOp::Read, unit * sectors, sectors as u32));
    assert_eq!(back.serve(&mut reads, Pace::Closed { depth: 16 }, None), units);
    back.audit().expect("sound");
}
