//! One life of a drive: epochs that are run, and leaps between them.

use wordline_drive::{Aged, Census, Leapt, Rest, Watched};
use wordline_engine::BlockState;
use wordline_figures::{CyclesResult, EpochResult, LifeEnd};
use wordline_units::host::SECTOR_BYTES;
use wordline_units::{HostOp, HostRequest, Nanos};

use crate::ahead::Ahead;
use crate::error::RunError;
use crate::life_point::{End, Ends, Point, Tally, World, place_of};
use crate::prepare::{Prepared, filled};
use crate::source::{Source, Stage};

/// Parts of an epoch, with a rest after each.
const SLICES: u64 = 16;
/// Most requests between two looks at how much has been written.
const LOOK: u64 = 20_000;
/// Sectors that a request writes, before anything is known of them: many, so that the first look comes early.
const FIRST_MEAN: f64 = 1_024.0;
/// Requests that may pass without a write.
const READS_MAX: u64 = 5_000_000;
/// Seconds of a year of 365.25 days.
pub(crate) const YEAR: f64 = 365.25 * 86_400.0;

/// A drive on its way.
pub(crate) struct Life<'a> {
    world: World<'a>,
    drive: Watched,
    source: Source,
    stage: Stage,
    tally: Tally,
    /// Work of the last epoch, and the sectors that the host wrote in it.
    last: Aged,
    last_sectors: u64,
    /// Sectors that a request writes, in the mean of the last ones.
    mean: f64,
}

impl<'a> Life<'a> {
    /// A new drive of `world`, with its first data.
    pub(crate) fn begin(world: World<'a>) -> Result<Life<'a>, RunError> {
        let mut source = world.source()?;
        let units = filled(world.plan, world.config, &source, world.load);
        let stage = source.next_stage().expect("a workload has a stage");
        let mut prepared = Prepared::filled(world.config.clone(), units, ());
        if world.load.prefill_reads {
            prepared.prefill_reads(world.workload)?;
        }
        let drive = prepared.aged();
        Ok(Life { world, drive, source, stage, tally: Tally::default(), last: Aged::default(), last_sectors: 0, mean: FIRST_MEAN })
    }

    /// Runs an epoch. Returns its figures, and the end of the life if it brought that.
    pub(crate) fn epoch(&mut self, ends: &Ends) -> Result<(EpochResult, Option<End>), RunError> {
        let (mut work, before, refused) = (Aged::default(), self.tally.sectors, self.refused_sets());
        self.drive.begin_epoch();
        for _ in 0..SLICES {
            self.write(self.world.sectors / SLICES, &mut work)?;
            self.drive.run_until(self.drive.now() + Nanos(self.world.time.0 / SLICES));
            if !self.is_calm() {
                break;
            }
        }
        self.tally.add(&work, 1.0);
        (self.last, self.last_sectors) = (work, self.tally.sectors - before);
        let (health, cycles) = (self.drive.health(), self.cycles());
        let epoch = EpochResult {
            written_bytes: self.tally.sectors * SECTOR_BYTES,
            years: self.years(),
            skipped: 0,
            cycles_mean: cycles.mean,
            cycles_least: cycles.least,
            cycles_most: cycles.most,
            waf: self.amplification(work.programmed() as f64, self.last_sectors),
            retries: if work.reads > 0 { work.retries as f64 / work.reads as f64 } else { 0.0 },
            iops: None,
            grown_bad: health.grown_bad,
            mode: self.mode(),
            tries_modes: !self.drive.firmware().iter().all(|core| core.is_settled()),
            idle_share: self.drive.idle_share(),
            refused_sets: self.refused_sets() - refused,
            failed_host_reads: work.failed_host_reads,
            failed_moves: work.failed_moves,
        };
        let end = self.end(ends, health.grown_bad);
        Ok((epoch, end))
    }

    /// Sets of wordlines that were refused so far.
    fn refused_sets(&self) -> u64 {
        self.drive.spare_counts().map_or(0, |counts| counts.refused.iter().sum())
    }

    /// Mode of the technique that has modes.
    fn mode(&self) -> Option<f64> {
        let counts = self.drive.technique_counts();
        counts.iter().flat_map(|technique| &technique.censuses).find(|census| census.of() == Census::MODE).and_then(Census::mean)
    }

    /// What tells of the time ahead, on copies of the drive.
    pub(crate) fn ahead(&self) -> Ahead<'a> {
        Ahead::new(self.world, self.last.retries > 0)
    }

    /// Lets the drive finish what it has begun. Returns false if it takes no more writes, or has no room left to come to rest.
    fn is_calm(&mut self) -> bool {
        if !self.drive.is_quiet() && !self.drive.is_worn_out() {
            self.drive.settle();
        }
        self.drive.is_quiet() && !self.drive.is_worn_out()
    }

    /// Serves requests without timing until the host has written so many sectors more.
    fn write(&mut self, sectors: u64, work: &mut Aged) -> Result<(), RunError> {
        let (goal, mut unwritten) = (self.tally.sectors + sectors, 0);
        while self.tally.sectors < goal {
            let left = (goal - self.tally.sectors) as f64;
            let asked = ((left / self.mean) as u64).clamp(1, LOOK);
            let mut counted = Counted { source: &mut self.source, requests: 0, sectors: 0 };
            let aged = self.drive.age(&mut counted, asked);
            let Counted { requests, sectors, .. } = counted;
            self.tally.sectors += sectors;
            add(work, &aged);
            if !self.is_calm() {
                return Ok(());
            }
            if sectors > 0 {
                (self.mean, unwritten) = (sectors as f64 / requests as f64, 0);
            } else {
                unwritten += requests;
            }
            if unwritten > READS_MAX {
                return Err(RunError::NoWrites(unwritten));
            }
            if requests < asked {
                self.go_on()?;
            }
        }
        Ok(())
    }

    /// Begins the next stage of the workload, or the workload again.
    fn go_on(&mut self) -> Result<(), RunError> {
        if let Some(error) = self.source.failure() {
            return Err(error.into());
        }
        let mut next = self.source.next_stage();
        if next.is_none() {
            self.source = self.world.source()?;
            next = self.source.next_stage();
        }
        self.stage = next.expect("a workload has a stage");
        Ok(())
    }

    /// Skips `times` epochs like the last one, or fewer: see [`Drive::leap`].
    pub(crate) fn leap(&mut self, times: u32) -> Leapt {
        let leapt = self.drive.leap(times, Rest::Measured);
        self.tally.add(&self.last, f64::from(leapt.times));
        self.tally.sectors += self.last_sectors * u64::from(leapt.times);
        leapt
    }

    /// The end of the life that the last epoch has brought.
    fn end(&self, ends: &Ends, grown_bad: u64) -> Option<End> {
        let work = &self.last;
        let place = || work.failed_at.map(|place| place_of(&place)).unwrap_or_default();
        let layout = self.drive.firmware()[0].layout();
        let seen = self.world.config.exported_units as f64 / f64::from(layout.units_per_group);
        if ends.uncorrectable && work.failed_moves > 0 {
            return Some((LifeEnd::MovedUnit, format!("data that was to be moved could not be read{}", place())));
        }
        if ends.uncorrectable && work.failed_host_reads > 0 {
            return Some((LifeEnd::HostRead, format!("a read of the host could not be corrected{}", place())));
        }
        if self.drive.is_worn_out() || !self.drive.is_quiet() {
            return Some((LifeEnd::WornOut, format!("it takes no more writes: {grown_bad} block groups have failed")));
        }
        if ends.bad_blocks.is_some_and(|share| grown_bad as f64 > share * seen) {
            return Some((LifeEnd::BadBlocks, format!("{grown_bad} block groups have failed, of {seen:.0} that the host sees")));
        }
        let years = ends.years.filter(|&years| self.years() >= years)?;
        Some((LifeEnd::Years, format!("it has outlived {years} years")))
    }

    /// The present point of the life.
    pub(crate) fn point(&self) -> Result<Point, RunError> {
        Point::of(&self.drive, &self.source, &self.stage, self.tally)
    }

    /// Goes back to `point`. The next leap needs another epoch, because what was counted in the last one is gone.
    pub(crate) fn go_back(&mut self, point: &Point) -> Result<(), RunError> {
        self.drive = point.drive(self.world.config)?;
        (self.source, self.stage) = point.requests(&self.world)?;
        self.tally = point.tally();
        Ok(())
    }

    /// Age of the drive.
    pub(crate) fn years(&self) -> f64 {
        self.drive.now().as_secs_f64() / YEAR
    }

    /// Sectors that the host has written.
    pub(crate) fn sectors(&self) -> u64 {
        self.tally.sectors
    }

    /// Write amplification over the life.
    pub(crate) fn waf(&self) -> f64 {
        self.amplification(self.tally.units, self.tally.sectors)
    }

    /// Units programmed for each unit's worth of sectors that the host wrote. What the buffer takes twice and programs once lowers it, and parts of units that
    /// are programmed as whole ones raise it.
    fn amplification(&self, units: f64, sectors: u64) -> f64 {
        units * self.world.config.firmware.unit.0 as f64 / (sectors * SECTOR_BYTES) as f64
    }

    /// Erase counts of the block groups in service.
    pub(crate) fn cycles(&self) -> CyclesResult {
        CyclesResult::of(self.drive.blocks().filter(|block| block.state != BlockState::Bad).map(|block| block.erases).collect())
    }
}

/// Adds the work of a part of an epoch.
fn add(sum: &mut Aged, part: &Aged) {
    let &Aged { requests, host_units, moved_units, padding_units, page_reads, erases, reads, retries, .. } = part;
    sum.requests += requests;
    sum.host_units += host_units;
    sum.moved_units += moved_units;
    sum.padding_units += padding_units;
    sum.page_reads += page_reads;
    sum.erases += erases;
    sum.reads += reads;
    sum.retries += retries;
    sum.failed_host_reads += part.failed_host_reads;
    sum.failed_moves += part.failed_moves;
    sum.failed_at = sum.failed_at.or(part.failed_at);
}

/// Requests of a source, and the sectors that they write.
struct Counted<'s> {
    source: &'s mut Source,
    requests: u64,
    sectors: u64,
}

impl Iterator for Counted<'_> {
    type Item = HostRequest;

    fn next(&mut self) -> Option<HostRequest> {
        let request = self.source.next()?;
        self.requests += 1;
        if request.op == HostOp::Write {
            self.sectors += u64::from(request.sectors);
        }
        Some(request)
    }
}
