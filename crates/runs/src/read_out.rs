//! Drives that are only read: half a year in minutes.
//!
//! ```text
//! stretch in virtual time, in which reads are timed ──▶ leap over the reads of some days ──▶ stretch ──▶ … ──▶ the years are over
//! ```
//!
//! A leap carries out a sample of its reads, each for up to 1,024 of the same place, and has no latency: see `Drive::read_leap`. All reads of a leap come
//! at its beginning, and its time passes behind them.

use wordline_drive::{ReadLeapt, Watched};
use wordline_engine::{Event, Observer};
use wordline_figures::{ReadEpochResult, ReadLifeResult};
use wordline_plan::Plan;
use wordline_units::{Cause, FlashOp, Geometry, HostOp, HostRequest, Nanos};

use crate::error::RunError;
use crate::life::YEAR;
use crate::load::Load;
use crate::measuring::Measuring;
use crate::prepare::{Prepared, filled};
use crate::progress::Progress;
use crate::reads::Reads;
use crate::source::Source;

/// Seconds of a day.
const DAY: f64 = 86_400.0;

/// Length of a life of reads, and the reads that are timed in it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReadOut {
    /// Years of reads.
    pub years: f64,
    /// Leaps, each with a stretch behind it.
    pub epochs: u32,
    /// Reads that are timed in each stretch.
    pub timed: u64,
    /// Time in the device above which a read is long.
    pub long: Nanos,
}

impl Default for ReadOut {
    /// Half a year (004 §4) in some sixty epochs of 20,000 timed reads, of which those above 400 us are long (004 §2).
    fn default() -> ReadOut {
        ReadOut { years: 0.5, epochs: 60, timed: 20_000, long: Nanos::from_micros(400) }
    }
}

/// Reads of a flash block of this `geometry` in `life`, in the mean of all that hold data.
pub fn reads_of_a_block(geometry: &Geometry, life: &ReadLifeResult) -> f64 {
    life.reads as f64 * f64::from(geometry.pages()) * geometry.page.0 as f64 / life.exported_bytes as f64
}

/// Counts of timed reads.
#[derive(Clone, Copy, Debug, Default)]
struct Timed {
    long: Nanos,
    reads: u64,
    long_reads: u64,
    failed: u64,
    device: Nanos,
    longest: Nanos,
    pages: u64,
    retries: u64,
}

impl Observer for Timed {
    fn observe(&mut self, _at: Nanos, event: &Event) {
        if let Event::Completed(done) = event
            && done.op == HostOp::Read
        {
            let device = done.stages.device();
            self.reads += 1;
            self.failed += u64::from(!done.ok);
            self.long_reads += u64::from(device > self.long);
            self.device += device;
            self.longest = self.longest.max(device);
        }
        if let Event::Flash(flash) = event
            && flash.op == FlashOp::Read
            && flash.cause == Cause::Host
        {
            self.pages += 1;
            self.retries += u64::from(flash.retries);
        }
    }
}

/// A drive that is only read, on its way.
struct ReadLife<'a> {
    reads: &'a Reads,
    asked: &'a ReadOut,
    drive: Watched<Timed>,
    source: Source,
    /// Rewrites begun and erases before the present epoch.
    before: [u64; 2],
    /// Reads of the host so far, and those that leaps have carried out.
    read: u64,
    sampled: u64,
}

/// Reads a drive of `plan` for as long as is `asked`, at the rate of `reads`.
///
/// # Errors
///
/// The workload does not go with the drive.
pub fn read_out(plan: &Plan, reads: &Reads, load: &Load, asked: &ReadOut, progress: &mut dyn Progress) -> Result<ReadLifeResult, RunError> {
    let config = plan.build();
    let (capacity, seed) = (config.exported(), config.seed);
    let mut source = Source::new(reads.workload(), load, seed, capacity)?;
    let units = filled(plan, &config, &source, load);
    source.next_stage().expect("it has a phase");
    let drive = Prepared::filled(config, units, Timed { long: asked.long, ..Timed::default() }).aged();
    let window = Measuring::begin(&drive, None);
    let began = drive.now();
    let mut life = ReadLife { reads, asked, drive, source, before: [0; 2], read: 0, sampled: 0 };
    life.before = life.done();
    let erased = life.before[1];
    progress.expect(Some(u64::from(asked.epochs)));
    let days = |life: &ReadLife<'_>| (life.drive.now() - began).as_secs_f64() / DAY;
    let mut epochs = vec![life.stretch(0.0, ReadLeapt::default())];
    let mut ended = None;
    for epoch in 1..=asked.epochs {
        let to = asked.years * YEAR * f64::from(epoch) / f64::from(asked.epochs);
        let leapt = life.leap(began + Nanos((to * 1e9) as u64));
        ended = life.end();
        if ended.is_some() {
            break;
        }
        epochs.push(life.stretch(to / DAY, leapt));
        progress.update(u64::from(epoch), life.drive.now() - began, &format!("day {:.0}", to / DAY));
    }
    let held = (0..life.drive.config().exported_units).filter(|&unit| life.drive.is_held(unit)).count();
    let rewrites = window.rewrites(&life.drive);
    let moved = rewrites.iter().map(|of| of.begun).sum::<u64>() * u64::from(life.drive.firmware()[0].layout().data_units);
    Ok(ReadLifeResult {
        name: plan.name().to_owned(),
        plan_hash: plan.media_number_hex(),
        seed,
        exported_bytes: capacity.0,
        reads_per_second: reads.per_second(capacity),
        days: days(&life),
        ended,
        reads: life.read,
        sampled: life.sampled,
        rewritten: moved as f64 / held.max(1) as f64,
        rewrites,
        erases: life.done()[1] - erased,
        epochs,
    })
}

impl ReadLife<'_> {
    /// Rewrites begun and block groups erased so far.
    fn done(&self) -> [u64; 2] {
        let begun = self.drive.rewrites().iter().map(|(_, counts)| counts.begun).sum();
        [begun, self.drive.blocks().map(|block| u64::from(block.erases)).sum()]
    }

    /// Times reads, and returns the figures of the epoch that ends with them: on `day`, after a leap.
    fn stretch(&mut self, day: f64, leapt: ReadLeapt) -> ReadEpochResult {
        self.drive.observer = Timed { long: self.asked.long, ..Timed::default() };
        let pace = wordline_drive::Pace::Open { origin: self.drive.now() };
        let (source, mut left, mut begins) = (&mut self.source, self.asked.timed, None);
        let mut load = std::iter::from_fn(|| {
            let request = (left > 0).then(|| source.next()).flatten()?;
            left -= u64::from(request.op == HostOp::Read);
            // Requests go on from here, whenever the next one would have come without the leap.
            let begins = *begins.get_or_insert(request.at);
            Some(HostRequest { at: request.at.saturating_sub(begins), ..request })
        });
        self.drive.serve(&mut load, pace, None);
        self.settle();
        let Timed { reads, long_reads, failed, device, longest, pages, retries, .. } = self.drive.observer;
        self.read += reads;
        let (now, before) = (self.done(), self.before);
        self.before = now;
        let of = |sum: f64, count: u64| if count > 0 { sum / count as f64 } else { 0.0 };
        ReadEpochResult {
            day,
            timed: reads,
            long_reads,
            long_share: of(long_reads as f64, reads),
            device_mean_us: of(device.as_micros_f64(), reads),
            device_max_us: longest.as_micros_f64(),
            retries: of(retries as f64, pages),
            rewrites: now[0] - before[0],
            postponed: self.drive.rewrites().iter().map(|(_, counts)| counts.parked).sum(),
            erases: now[1] - before[1],
            failed_timed: failed,
            failed_sampled: leapt.failed_host_reads,
            failed_moves: leapt.failed_moves,
        }
    }

    /// Leaps over the reads until the instant `to`, and lets their time pass.
    fn leap(&mut self, to: Nanos) -> ReadLeapt {
        let config = self.drive.config();
        let (capacity, unit) = (config.exported(), config.firmware.unit);
        let span = to.saturating_sub(self.drive.now()).as_secs_f64();
        let all = self.reads.per_second(capacity) * span;
        let mut sum = ReadLeapt::default();
        for (units, share) in self.reads.ranges(capacity, unit) {
            // Reads of what holds nothing cost no flash operation.
            let (count, held) = (units.clone().count(), units.clone().filter(|&unit| self.drive.is_held(unit)).count());
            let part = all * share * held as f64 / count.max(1) as f64;
            let leapt = self.drive.read_leap(units, part as u64);
            sum.failed_host_reads += leapt.failed_host_reads;
            sum.failed_moves += leapt.failed_moves;
            self.read += leapt.reads;
            self.sampled += leapt.sampled;
            self.settle();
            if self.end().is_some() {
                return sum;
            }
        }
        self.drive.run_until(to);
        self.settle();
        sum
    }

    /// Lets the drive finish what it has begun, if it can.
    fn settle(&mut self) {
        if !self.drive.is_quiet() && !self.drive.is_worn_out() {
            self.drive.settle();
        }
    }

    /// Reason why the drive is read no further.
    fn end(&self) -> Option<String> {
        let is_over = self.drive.is_worn_out() || !self.drive.is_quiet();
        is_over.then(|| format!("it takes no more writes: {} block groups have failed", self.drive.health().grown_bad))
    }
}
