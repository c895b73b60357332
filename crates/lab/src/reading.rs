//! Months of reads in which nothing is written: a stretch in virtual time at a low rate, in which each read is timed, and a leap over the reads of some days,
//! of which a sample is carried out, and so on.
//!
//! The errors of a sampled read are those of the worst of the reads that it stands for, so the share of long reads is that of the stretch.

use wordline_drive::{Pace, Watched};
use wordline_engine::{Event, Observer};
use wordline_plan::Plan;
use wordline_runs::Prepared;
use wordline_units::host::SECTOR_BYTES;
use wordline_units::random::{Draw, Stream};
use wordline_units::{Bytes, Cause, FlashOp, HostOp, HostRequest, Nanos};

use crate::bench::Setup;
use crate::conditions::DAY;

/// Share of long reads above which a drive suffers from them.
pub(crate) const SUFFERS: f64 = 1e-3;
/// Sectors of a read: 4 KiB.
const SECTORS: u32 = 8;
/// Bytes of a GiB.
const GIB: f64 = Bytes::gib(1).0 as f64;

/// Counts of what a drive does.
#[derive(Clone, Copy, Debug)]
struct Watch {
    /// Time in the device above which a read is long.
    long: Nanos,
    /// True while reads are timed.
    is_timed: bool,
    reads: u64,
    long_reads: u64,
    failed: u64,
}

impl Observer for Watch {
    fn observe(&mut self, at: Nanos, event: &Event) {
        let Event::Flash(done) = event else { return };
        if self.is_timed && done.op == FlashOp::Read && done.cause == Cause::Host {
            self.reads += 1;
            self.long_reads += u64::from(at - done.issued > self.long);
            self.failed += u64::from(!done.ok);
        }
    }
}

/// Figures at one day.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Point {
    pub(crate) day: f64,
    /// Long reads of those timed.
    pub(crate) long: f64,
    /// Units rewritten so far over those that the drive holds.
    pub(crate) rewritten: f64,
    /// Reads that failed, of those timed.
    pub(crate) failed: f64,
}

/// Reads of months.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading {
    /// Reads in a second of each GiB that the host sees, of 4 KiB.
    pub(crate) rate: f64,
    /// Days of reads.
    pub(crate) days: u32,
    /// Days of a leap.
    pub(crate) leap: u32,
    /// Reads that are timed before each leap.
    pub(crate) timed: u32,
    /// Time in the device above which a read is long, in us.
    pub(crate) long: f64,
}

impl Reading {
    /// Days of the drive of `plan`, which is full and read at random.
    pub(crate) fn days(&self, setup: &Setup, plan: &Plan) -> Vec<Point> {
        let config = plan.build();
        let units = config.exported_units;
        let watch = Watch { long: Nanos((self.long * 1e3) as u64), is_timed: false, reads: 0, long_reads: 0, failed: 0 };
        let mut drive = Prepared::filled(config, units, watch).aged();
        let bytes = drive.unit_bytes().0;
        let rate = self.rate * (units * bytes) as f64 / GIB;
        let span = f64::from(self.leap) * DAY;
        let mut draw = Draw::new(setup.seed, Stream::Mix, 0);
        let per_unit = bytes / (u64::from(SECTORS) * SECTOR_BYTES);
        let mut all = Vec::new();
        for day in (0..=self.days).step_by(self.leap as usize) {
            let (before, gap) = (drive.observer, (1e9 / rate) as u64);
            let first = drive.now();
            drive.observer.is_timed = true;
            let mut reads = (0..u64::from(self.timed)).map(|read| {
                let sector = draw.below(units * per_unit) * u64::from(SECTORS);
                HostRequest { at: Nanos(read * gap), ..HostRequest::new(HostOp::Read, sector, SECTORS) }
            });
            drive.serve(&mut reads, Pace::Open { origin: first }, None);
            drive.observer.is_timed = false;
            drive.settle();
            let now = drive.observer;
            let timed = (now.reads - before.reads).max(1) as f64;
            all.push(Point {
                day: f64::from(day),
                long: (now.long_reads - before.long_reads) as f64 / timed,
                rewritten: rewritten(&drive) / units as f64,
                failed: (now.failed - before.failed) as f64 / timed,
            });
            drive.read_leap(0..units, (rate * span) as u64);
            drive.run_until(Nanos(first.0 + Nanos::from_secs(span as u64).0));
            setup.teller.tell(&format!("{}: day {day} of {}", plan.name(), self.days));
        }
        all
    }

    /// Reads of a block group in all days, in the mean.
    pub(crate) fn of_a_group(&self, plan: &Plan) -> f64 {
        let geometry = plan.build().sheet.geometry;
        let group = f64::from(geometry.pages()) * geometry.page.0 as f64 * f64::from(geometry.planes);
        self.rate * group / GIB * f64::from(self.days) * DAY
    }
}

/// Units that `drive` has rewritten for reads: all of each block group, as a drive that is full and only read holds nothing stale. Leaps show no events.
fn rewritten(drive: &Watched<Watch>) -> f64 {
    let begun: u64 = drive.rewrites().iter().filter(|(cause, _)| *cause == Cause::Disturb).map(|(_, counts)| counts.begun).sum();
    begun as f64 * f64::from(drive.firmware()[0].layout().data_units)
}
