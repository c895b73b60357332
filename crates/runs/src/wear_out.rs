//! Drives worn out: lives of years in minutes.
//!
//! ```text
//! scout, with leaps that grow ──▶ how much a life is ──▶ pass with even leaps ──▶ is it as long as was asked for? ──▶ result
//!                                                             ▲                        │ no: other rests
//!                                                             └────────────────────────┘
//! ```
//!
//! - A new drive is filled, and epochs follow on each other until its write amplification has settled. From then on each epoch stands for itself and for those
//!   that are skipped after it.
//! - An epoch that ends a life may do so only because the leap before it was long: the life goes back to before the leap and takes half of it, until the
//!   leap is a small part of the life. That part is told as the resolution.
//! - Before a leap, copies of the drive are read and timed on a second thread; the life goes on meanwhile, and goes back if they tell of an end.
//! - Rests between erases and the ages of data follow from the pace: at a number of drive writes a day, or such that the life takes so many years. What a life
//!   takes is known only when it has ended, so a life of so many years is looked for in several passes.

use wordline_figures::{CyclesResult, EpochResult, LifeEnd, LifetimeResult};
use wordline_plan::Plan;
use wordline_units::host::SECTOR_BYTES;
use wordline_units::{Nanos, calendar};

use crate::ahead::Seen;
use crate::error::RunError;
use crate::life::{Life, YEAR};
pub use crate::life_point::Ends;
use crate::life_point::{End, Point, World};
use crate::load::Load;
use crate::progress::Progress;
use crate::repeated::Repeated;
use crate::workload::Workload;

/// Ways through a life that a drive takes until its pace is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passes {
    /// About how many epochs the scout has, if there is one. It makes no short runs in virtual time.
    pub scout: Option<u32>,
    /// About how many epochs each pass has; `None`: as many as the life has, since nothing is skipped.
    pub epochs: Option<u32>,
    /// Most passes.
    pub most: usize,
}

/// Pace at which a drive is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pace {
    /// Such that the life takes so many years.
    Years(f64),
    /// So many drive writes a day.
    Dwpd(f64),
}

/// What is asked of a life.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WearOut {
    /// Pace at which the drive is written.
    pub pace: Pace,
    /// What ends the life.
    pub ends: Ends,
    /// About how many epochs a life has.
    pub epochs: u32,
    /// Drive writes in each epoch.
    pub epoch_writes: f64,
    /// Requests of the short run in virtual time after an epoch; 0: there is none.
    pub sample: u64,
    /// What is skipped between epochs.
    pub leaps: Leaps,
}

/// What of a life is skipped between its epochs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Leaps {
    /// Nothing: all of the life is run.
    None,
    /// Even parts of a life, the length of which a scout finds first.
    Even,
    /// Parts that grow with the life, in one pass. The end is known within a larger part of the life.
    Growing,
}

impl Leaps {
    /// Share by which single lives that ended so were at most longer or shorter than whole ones, of drives of 64 blocks whose firmware levels wear or not.
    ///
    /// The table is in docs/models/wear-out.md. What the last leap leaves open comes on top of it.
    fn off(self, end: LifeEnd, is_levelled: bool) -> f64 {
        match (self, end) {
            (Leaps::None, _) | (_, LifeEnd::Years) => 0.0,
            (Leaps::Even, LifeEnd::HostRead | LifeEnd::MovedUnit | LifeEnd::KeptData) => EVEN_OFF_RARE,
            (Leaps::Growing, LifeEnd::HostRead | LifeEnd::MovedUnit | LifeEnd::KeptData) => GROWING_OFF_RARE,
            (_, LifeEnd::WornOut | LifeEnd::BadBlocks) if is_levelled => OFF_LEVELLED,
            (Leaps::Even, LifeEnd::WornOut | LifeEnd::BadBlocks) => EVEN_OFF,
            (Leaps::Growing, LifeEnd::WornOut | LifeEnd::BadBlocks) => GROWING_OFF,
        }
    }
}

impl Default for WearOut {
    /// A life of five years in some sixty epochs, until a page is lost, data would not keep for a year without power (JESD218 of client drives), no write is
    /// taken, or 2.5 % of the blocks that the host sees are bad (001 §5.1.1).
    fn default() -> WearOut {
        let ends = Ends { uncorrectable: true, kept: Some(Nanos(calendar::YEAR * 1_000_000_000)), bad_blocks: Some(0.025), years: None };
        WearOut { pace: Pace::Years(5.0), ends, epochs: 60, epoch_writes: 1.0, sample: 4_000, leaps: Leaps::Even }
    }
}

impl WearOut {
    /// Ways through a life that are taken at most.
    pub fn passes(&self) -> Passes {
        Passes {
            scout: (self.leaps == Leaps::Even).then_some(SCOUT_EPOCHS),
            epochs: (self.leaps != Leaps::None).then_some(self.epochs),
            most: if matches!(self.pace, Pace::Years(_)) { PASSES } else { 1 },
        }
    }
}

/// Drive writes of a life of which nothing is known yet.
const UNKNOWN: f64 = 3_000.0;
/// Epochs of the scout, and by how much it makes a life longer with each.
const SCOUT_EPOCHS: u32 = 20;
const SCOUT_GROWTH: f64 = 0.5;
/// Parts of a life within which its end is looked for: by the scout, by a pass with even leaps, and by one whose leaps grow.
const SCOUT_PARTS: f64 = 15.0;
const PARTS: f64 = 400.0;
const GROWING_PARTS: f64 = 60.0;
/// How often a life whose leaps grow is multiplied by e, after the first epochs.
const FOLDS: f64 = 6.0;
/// Drive writes of the shortest leaps that grow. Longer ones would be much of a life of a hundred.
const LEAST_LEAP: f64 = 2.0;
/// Passes to find a life of so many years.
const PASSES: usize = 4;
/// Share by which a life of so many years may be longer or shorter.
pub const YEARS_BAND: f64 = 0.15;
/// Shares by which lives in leaps are off: those that one page ends, the rarest event of all, and those that failed blocks end, without and with static wear
/// levelling.
const EVEN_OFF_RARE: f64 = 0.24;
const GROWING_OFF_RARE: f64 = 0.15;
const EVEN_OFF: f64 = 0.02;
const GROWING_OFF: f64 = 0.07;
const OFF_LEVELLED: f64 = 0.12;
/// Change of write amplification below which it has settled, and the most epochs until then.
const SETTLED: f64 = 0.03;
const SETTLING: usize = 12;
/// Drive writes after which a drive is said not to wear out.
const DRIVE_WRITES_MAX: f64 = 1e7;

/// One way through a life.
struct Passed {
    epochs: Vec<EpochResult>,
    end: End,
    sectors: u64,
    years: f64,
    waf: f64,
    cycles: CyclesResult,
    /// Share of the life within which its end is known.
    resolution: f64,
}

/// Leaps of a pass, in drive writes.
#[derive(Clone, Copy)]
enum Steps {
    /// No leaps.
    None,
    /// A share of the life so far, in about so many epochs; the end is looked for within one of so many parts.
    Growing { share: f64, epochs: u32, parts: f64 },
    /// So many.
    Even(f64),
}

impl Steps {
    /// Epochs that a pass takes, about.
    fn expected(self, asked: &WearOut) -> u32 {
        match self {
            Steps::Growing { epochs, .. } => epochs,
            Steps::Even(_) | Steps::None => asked.epochs,
        }
    }

    /// Parts of the life so far within one of which its end is looked for.
    fn parts(self) -> f64 {
        match self {
            Steps::Growing { parts, .. } => parts,
            Steps::Even(_) | Steps::None => PARTS,
        }
    }

    /// Drive writes of the next leap of a drive that has seen `writes`.
    fn length(self, writes: f64) -> f64 {
        match self {
            Steps::None => 0.0,
            Steps::Growing { share, .. } => (share * writes).max(LEAST_LEAP),
            Steps::Even(step) => step,
        }
    }
}

/// Wears out a drive of `plan` under `workload`.
///
/// # Errors
///
/// The drive does not wear out, the workload does not go with it or writes nothing, or a trace cannot be read.
pub fn wear_out(
    plan: &Plan,
    workload: &Workload,
    load: &Load,
    asked: &WearOut,
    progress: &mut dyn Progress,
) -> Result<LifetimeResult, RunError> {
    let repeated = Repeated::of(workload)?;
    let workload = repeated.workload();
    let config = plan.build();
    check_wear(plan, &config)?;
    // Cells without physics lose nothing with time.
    let ends = Ends { kept: asked.ends.kept.filter(|_| config.cells.is_some()), ..asked.ends };
    let asked = &WearOut { ends, ..*asked };
    let drive_write = config.exported().0 / SECTOR_BYTES;
    let sectors = (drive_write as f64 * asked.epoch_writes) as u64;
    let world = World { plan, config: &config, workload, load, sectors, time: Nanos::default(), sample: 0 };
    let pass = |per_write: f64, sample: u64, steps: Steps, name: &str, progress: &mut dyn Progress| {
        let time = Nanos((per_write * asked.epoch_writes * YEAR * 1e9) as u64);
        go_through(World { time, sample, ..world }, asked, steps, drive_write as f64, name, progress)
    };
    let per_day = |dwpd: f64| 1.0 / (dwpd * 365.25);
    let mut per_write = match asked.pace {
        Pace::Years(years) => years / UNKNOWN,
        Pace::Dwpd(dwpd) => per_day(dwpd),
    };
    let (mut length, mut steps) = match asked.leaps {
        Leaps::None => (None, Steps::None),
        Leaps::Even => {
            let growing = Steps::Growing { share: SCOUT_GROWTH, epochs: SCOUT_EPOCHS, parts: SCOUT_PARTS };
            let scout = pass(per_write, 0, growing, "scout", progress)?;
            let writes = scout.sectors as f64 / drive_write as f64;
            (Some(writes), Steps::Even(writes / f64::from(asked.epochs)))
        }
        Leaps::Growing => {
            let share = libm::expm1(FOLDS / f64::from(asked.epochs));
            (None, Steps::Growing { share, epochs: asked.epochs, parts: GROWING_PARTS })
        }
    };
    let mut passes_years = Vec::new();
    let passed = loop {
        if let (Pace::Years(years), Some(writes)) = (asked.pace, length) {
            per_write = years / writes;
        }
        let name = format!("pass {}", passes_years.len() + 1);
        let passed = pass(per_write, asked.sample, steps, &name, progress)?;
        passes_years.push(passed.years);
        let is_as_asked = match asked.pace {
            Pace::Dwpd(_) => true,
            Pace::Years(years) => passed.end.0 == LifeEnd::Years || (passed.years / years - 1.0).abs() <= YEARS_BAND,
        };
        if is_as_asked || passes_years.len() == PASSES {
            break passed;
        }
        if let Pace::Years(years) = asked.pace {
            progress.say(&format!("{name}: a life of {:.2} years in place of {years}; another pass, at another pace", passed.years));
        }
        let writes = passed.sectors as f64 / drive_write as f64;
        length = Some(writes);
        if asked.leaps == Leaps::Even {
            steps = Steps::Even(writes / f64::from(asked.epochs));
        }
    };
    Ok(result(world, asked, passed, passes_years))
}

/// Checks that a drive of `plan` wears, and at one temperature.
fn check_wear(plan: &Plan, config: &wordline_drive::Config) -> Result<(), RunError> {
    let faults = &config.faults;
    let may_fail = faults.endurance.is_some() || faults.program_fail > 0.0 || faults.erase_fail > 0.0;
    if config.cells.is_none() && !may_fail {
        return Err(RunError::NoWear(plan.name().to_owned()));
    }
    if config.cells.as_ref().is_some_and(|cells| !cells.changes.is_empty()) {
        return Err(RunError::ChangingWarmth(plan.name().to_owned()));
    }
    Ok(())
}

/// The life of a drive as its last pass went.
fn result(world: World<'_>, asked: &WearOut, passed: Passed, passes_years: Vec<f64>) -> LifetimeResult {
    let World { plan, config, .. } = world;
    let drive_write = config.exported().0 / SECTOR_BYTES;
    let Passed { epochs, end: (end, reason), sectors, years, waf, cycles, resolution } = passed;
    let is_levelled = config.firmware.free_block.gap.is_some();
    let drive_writes = sectors as f64 / drive_write as f64;
    let grown_bad = epochs.last().map_or(0, |epoch| epoch.grown_bad);
    LifetimeResult {
        name: plan.name().to_owned(),
        plan_hash: plan.media_number_hex(),
        seed: config.seed,
        exported_bytes: config.exported().0,
        end,
        reason,
        written_bytes: sectors * SECTOR_BYTES,
        drive_writes,
        years,
        dwpd: drive_writes / (years * 365.25),
        resolution,
        leaps_off: asked.leaps.off(end, is_levelled),
        waf,
        cycles,
        grown_bad,
        passes_years,
        epochs,
    }
}

/// Search for the end of a life in leaps.
struct Search {
    /// Most epochs in a leap, once one was too long.
    halved: u32,
    /// Sectors by which an end was seen. Once the life has come so far without it, leaps are whole again.
    seen_by: u64,
    /// Beginning of the last leap: the point, and the number of epochs before.
    before: Option<(Point, usize)>,
    /// Epochs in it.
    leapt: u32,
}

impl Search {
    /// Most epochs in a leap of a life that has come so far.
    fn limit(&mut self, sectors: u64) -> u32 {
        if sectors > self.seen_by {
            self.halved = u32::MAX;
        }
        self.halved
    }

    /// Goes back to where the last leap began, if that was longer than `fine`: an end behind it may lie anywhere in it, so half of it comes next.
    fn goes_back(&mut self, life: &mut Life<'_>, epochs: &mut Vec<EpochResult>, fine: u32) -> Result<bool, RunError> {
        let Some((point, count)) = self.before.take().filter(|_| self.leapt > fine) else { return Ok(false) };
        (self.halved, self.seen_by) = (self.leapt / 2, life.sectors());
        life.go_back(&point)?;
        epochs.truncate(count);
        epochs.last_mut().expect("it leapt from an epoch").skipped = 0;
        self.leapt = 0;
        Ok(true)
    }
}

/// An epoch, and the end of the life if it brought that.
type Ran = Result<(EpochResult, Option<End>), RunError>;

/// Goes through a life once.
fn go_through(
    world: World<'_>,
    asked: &WearOut,
    steps: Steps,
    drive_write: f64,
    name: &str,
    progress: &mut dyn Progress,
) -> Result<Passed, RunError> {
    let mut life = Life::begin(world)?;
    let mut epochs: Vec<EpochResult> = Vec::new();
    let (mut is_settled, mut number) = (false, 0);
    let mut search = Search { halved: u32::MAX, seen_by: 0, before: None, leapt: 0 };
    let expected = steps.expected(asked);
    progress.expect(Some(u64::from(expected)));
    let mut ran = life.epoch(&asked.ends);
    let end = loop {
        let (mut epoch, end) = ran?;
        number += 1;
        let writes = life.sectors() as f64 / drive_write;
        progress.update(
            number.min(u64::from(expected)),
            Nanos((life.years() * YEAR * 1e9) as u64),
            &format!("{name}, {writes:.0} drive writes"),
        );
        let fine = ((writes / steps.parts() / asked.epoch_writes) as u32).max(1);
        if let Some(end) = end {
            if !search.goes_back(&mut life, &mut epochs, fine)? {
                epochs.push(epoch);
                break end;
            }
            ran = life.epoch(&asked.ends);
            continue;
        }
        if writes > DRIVE_WRITES_MAX {
            return Err(RunError::NoWear(world.plan.name().to_owned()));
        }
        let settles = epochs.last().is_some_and(|last: &EpochResult| (epoch.waf / last.waf - 1.0).abs() < SETTLED);
        is_settled |= settles || epochs.len() >= SETTLING;
        let step = (steps.length(writes) / asked.epoch_writes) as u32;
        let halved = search.limit(life.sectors());
        let times = if is_settled { step.saturating_sub(1).min(halved) } else { 0 };
        let point = life.point()?;
        let (seen, skipped, next) = leap_and_look(&mut life, &point, &asked.ends, [times, fine]);
        let seen = seen?;
        epoch.iops = seen.iops;
        epochs.push(epoch);
        if seen.end.is_none() && seen.times == times {
            epochs.last_mut().expect("pushed above").skipped = skipped;
            (search.before, search.leapt) = ((times > 0).then_some((point, epochs.len())), skipped);
            ran = next;
            continue;
        }
        life.go_back(&point)?;
        if let Some(end) = seen.end {
            if !search.goes_back(&mut life, &mut epochs, fine)? {
                search.leapt = search.leapt.max(seen.times);
                break end;
            }
        } else {
            let seen_by = life.sectors() + u64::from(times + 1) * world.sectors;
            search = Search { halved: seen.times, seen_by, before: None, leapt: 0 };
        }
        ran = life.epoch(&asked.ends);
    };
    let sectors = life.sectors();
    let resolution = f64::from(search.leapt + 1) * world.sectors as f64 / sectors as f64;
    Ok(Passed { epochs, end, sectors, years: life.years(), waf: life.waf(), cycles: life.cycles(), resolution })
}

/// Leaps `times` epochs and runs the next one, as if copies saw no end; meanwhile they look ahead from `point`, on a thread of their own.
fn leap_and_look(life: &mut Life<'_>, point: &Point, ends: &Ends, [times, fine]: [u32; 2]) -> (Result<Seen, RunError>, u32, Ran) {
    let ahead = life.ahead();
    std::thread::scope(|scope| {
        let looking = scope.spawn(|| ahead.look(point, ends, times, fine));
        let skipped = if times > 0 { life.leap(times).times } else { 0 };
        let next = life.epoch(ends);
        (looking.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), skipped, next)
    })
}
