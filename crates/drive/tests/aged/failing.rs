//! Does a drive notice by itself that a die has failed, and go on without it? Does it leave dies alone that have not failed?

use wordline_cells::Faults;
use wordline_chip::DieFault;
use wordline_drive::{Config, Drive, Fault};
use wordline_engine::{Event, FlashEvent, Observer};
use wordline_ftl::config::RepairConfig;
use wordline_ftl::groups::Use;
use wordline_units::random::{Draw, Stream};
use wordline_units::{BlockId, Bytes, Cause, DieId, FlashOp, HostOp, HostRequest, Nanos, PageId, PlaneId};

use crate::serve;
use crate::small::{Shape, uniform};

/// Writes down what is told of failed dies, and what is done on them.
#[derive(Clone, Debug, Default)]
struct Watcher {
    suspected: Vec<(Nanos, DieId)>,
    failed: Vec<(Nanos, DieId)>,
    lost: u64,
    healed: u64,
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
                self.probes += u64::from(flash.cause == Cause::Probe);
                if self.failed.iter().any(|&(when, die)| die == flash.die && flash.issued > when) {
                    self.after.push(flash);
                }
            }
            Event::Completed(done) => self.refused += u64::from(!done.ok),
            Event::Retired { .. } => self.retired += 1,
            Event::WornOut => self.worn_out = true,
            _ => {}
        }
    }
}

/// 32 dies with room for one to fail.
fn many() -> Config {
    Shape { channels: 8, dies_per_channel: 4, blocks: 64, unit: Bytes::kib(16), ..Shape::default() }.config()
}

fn filled(config: &Config) -> Drive<Watcher> {
    let mut drive = Drive::new(config.clone(), Watcher::default());
    drive.construct_filled(config.exported_units);
    drive
}

fn reads(config: &Config) -> impl Iterator<Item = HostRequest> + use<> {
    let sectors = config.firmware.unit.0 / 512;
    (0..config.exported_units).map(move |unit| HostRequest::new(HostOp::Read, unit * sectors, sectors as u32))
}

/// Number of units whose read fails.
fn refused(drive: &mut Drive<Watcher>, config: &Config) -> u64 {
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
    drive.kill_die(die);
    serve(&mut drive, &mut uniform(&config, config.exported_units, 2), 2_000);
    let watcher = &drive.observer;
    assert_eq!(watcher.failed.iter().map(|&(_, die)| die).collect::<Vec<_>>(), [die]);
    assert!(watcher.lost > 0 && watcher.retired < 10, "{} units, {} groups", watcher.lost, watcher.retired);
    assert!(!drive.is_worn_out());
    let ftl = &drive.firmware()[0];
    assert_eq!(ftl.failed_dies().collect::<Vec<_>>(), [die]);
    let uses = |drive: &Drive<Watcher>| {
        let groups = drive.firmware()[0].layout().groups_of(die);
        groups.map(|group| drive.firmware()[0].groups().use_of(wordline_ftl::BlockGroup(group as u32))).collect::<Vec<_>>()
    };
    assert!(uses(&drive).iter().all(|of| matches!(of, Use::Lost | Use::Bad)));
    // What is lost is told as runs, and what cannot be read is exactly that.
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
