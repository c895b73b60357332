//! Runs of a workload on a drive, as fast as it goes or in bursts with rests between them, with measurements of its programs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};

use wordline_drive::{Config, Drive, Pace};
use wordline_engine::{BlockView, Event, Observer};
use wordline_plan::Plan;
use wordline_report::histogram::Latencies;
use wordline_report::{Cost, DriveResult, Metrics, Scope, conclude};
use wordline_units::host::SECTOR_BYTES;
use wordline_units::random::{Draw, Stream};
use wordline_units::{Bytes, Cause, Celsius, FlashOp, HostOp, HostRequest, Nanos};
use wordline_workload::{FileOptions, FileSpec};

use crate::bench::Setup;
use crate::error::LabError;
use crate::filed::identity;
use crate::parallel;

/// Number of bytes of a KiB and of a MiB.
pub(crate) const KIB: f64 = 1_024.0;
pub(crate) const MIB: f64 = KIB * KIB;
/// Number of points of a curve of a distribution.
const POINTS: u32 = 200;

/// The shares at which a distribution is drawn.
pub(crate) fn shares() -> impl Iterator<Item = f64> {
    (1..=POINTS).map(|step| f64::from(step) / f64::from(POINTS))
}

/// The requests made to a drive.
#[derive(Clone, Debug)]
pub(crate) enum Load {
    /// A workload of files.
    Files(Box<FileSpec>, FileOptions),
    /// Writes of `bytes` in mapping units anywhere on a drive that is full to the share `fill`, with `depth` requests outstanding.
    Writes { bytes: f64, fill: f64, depth: u32 },
}

/// The timing of requests.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rhythm {
    /// Bytes written in a burst, and the rest after it. `None`: requests follow one another.
    pub(crate) bursts: Option<(f64, Nanos)>,
    /// Bytes per second at which requests come, whatever the drive does. `None`: a fixed number of requests is always outstanding.
    pub(crate) rate: Option<f64>,
    /// Largest size of a request in bytes: larger ones come in pieces.
    pub(crate) piece: Option<f64>,
    /// Bytes written before anything is measured, a wordline's worth at a time, and the rest after each.
    pub(crate) quiet: Option<(f64, Nanos)>,
    /// Temperature of the drive after those writes.
    pub(crate) swing: Option<Celsius>,
}

/// A run to be made.
#[derive(Clone, Debug)]
pub(crate) struct Trial {
    pub(crate) plan: Plan,
    pub(crate) load: Load,
    pub(crate) rhythm: Rhythm,
}

/// Results of a run.
#[derive(Clone, Debug)]
pub(crate) struct Tried {
    pub(crate) result: DriveResult,
    pub(crate) reads: Latencies,
    pub(crate) writes: Latencies,
    /// Time in bursts; the whole time where there are none.
    pub(crate) busy: Nanos,
    /// Bytes that the host wrote.
    pub(crate) written: f64,
    pub(crate) programs: Programs,
}

impl Tried {
    /// Requests per second.
    pub(crate) fn iops(&self) -> f64 {
        self.result.host.iops
    }

    /// Requests per second in bursts.
    pub(crate) fn iops_in_bursts(&self) -> f64 {
        (self.reads.count() + self.writes.count()) as f64 / self.busy.as_secs_f64()
    }

    /// MB per second in bursts.
    pub(crate) fn rate_in_bursts(&self) -> f64 {
        self.written / 1e6 / self.busy.as_secs_f64()
    }

    /// Mean number of retries of a flash read.
    pub(crate) fn retries(&self) -> f64 {
        self.programs.retries as f64 / self.programs.reads as f64
    }
}

/// Observer of programs and reads. A leader is the first wordline of its h-layer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Programs {
    wordlines: u16,
    bits: u16,
    programs: u32,
    in_burst: bool,
    /// Numbers of leaders and followers programmed with host data in bursts.
    pub(crate) mix: [u64; 2],
    /// Program times of leaders in us, by die, block and h-layer, with the time the die is set and asked.
    leaders: BTreeMap<(u16, u32, u16), f64>,
    /// Share of its leader's time that each follower saved.
    pub(crate) saved: Vec<f64>,
    /// Program times of all wordlines in us, by die, block and wordline; the last ones where blocks were erased.
    pub(crate) times: BTreeMap<(u16, u32, u16), f64>,
    /// Numbers of leaders and followers programmed in each block.
    begun: BTreeMap<(u16, u32), [u32; 2]>,
    /// The largest share of a block that waited as followers at once.
    pub(crate) waiting: f64,
    /// Number of programs of any cause, and of those that were not relied on.
    pub(crate) all: u64,
    pub(crate) again: u64,
    /// Numbers of reads, of their retries, and of reads that no entry could correct, and the most wrong bits in a codeword of the others.
    pub(crate) reads: u64,
    pub(crate) retries: u64,
    pub(crate) lost: u64,
    pub(crate) worst: u16,
    /// Repeated reads of h-layers since their block was erased, and of page types of h-layers.
    pub(crate) by_layer: Again,
    pub(crate) by_type: Again,
}

/// Counts of repeated reads since the block was erased.
#[derive(Clone, Debug, Default)]
pub(crate) struct Again {
    /// Keys of what was read: die, block, h-layer, and page type or nothing.
    seen: BTreeSet<(u16, u32, u16, u16)>,
    pub(crate) reads: u64,
    pub(crate) retried: u64,
    pub(crate) retries: u64,
}

impl Again {
    fn read(&mut self, of: (u16, u32, u16, u16), retries: u8) {
        if !self.seen.insert(of) {
            self.reads += 1;
            self.retried += u64::from(retries > 0);
            self.retries += u64::from(retries);
        }
    }

    fn erased(&mut self, die: u16, block: u32) {
        let seen: Vec<_> = self.seen.range((die, block, 0, 0)..=(die, block, u16::MAX, u16::MAX)).copied().collect();
        seen.iter().for_each(|of| {
            self.seen.remove(of);
        });
    }
}

impl Programs {
    /// An observer on a drive of `config` that has seen nothing yet.
    pub(crate) fn new(config: &Config) -> Programs {
        let geometry = &config.sheet.geometry;
        let (wordlines, bits) = (geometry.wordlines_per_layer as u16, geometry.cell.bits() as u16);
        Programs { wordlines, bits, programs: geometry.wordlines(), in_burst: true, ..Programs::default() }
    }

    /// The most followers of a block that waited at once.
    pub(crate) fn waiting_most(&self) -> f64 {
        libm::round(self.waiting * f64::from(self.programs))
    }

    fn program(&mut self, die: u16, block: u32, page: u16, time: f64, is_host: bool) {
        let wordline = page / self.bits;
        let layer = (die, block, wordline / self.wordlines);
        let is_leader = wordline.is_multiple_of(self.wordlines);
        self.all += 1;
        self.times.insert((die, block, wordline), time);
        if is_leader {
            self.leaders.insert(layer, time);
        } else if let Some(leader) = self.leaders.get(&layer) {
            self.saved.push(1.0 - time / leader);
        }
        if is_host {
            self.mix[usize::from(!is_leader)] += u64::from(self.in_burst);
            let begun = self.begun.entry((die, block)).or_default();
            begun[usize::from(!is_leader)] += 1;
            let followers = (begun[0] * (u32::from(self.wordlines) - 1)).saturating_sub(begun[1]);
            self.waiting = self.waiting.max(f64::from(followers) / f64::from(self.programs));
        }
    }
}

impl Observer for Programs {
    fn observe(&mut self, _: Nanos, event: &Event) {
        match event {
            Event::Flash(flash) if flash.op == FlashOp::Program => {
                let time = flash.array.0 as f64 / 1e3;
                self.program(flash.die.0, flash.block.0, flash.page.0, time, flash.cause == Cause::Host);
            }
            Event::Flash(flash) if flash.op == FlashOp::Read => {
                self.reads += 1;
                self.retries += u64::from(flash.retries);
                self.lost += u64::from(!flash.ok);
                self.worst = self.worst.max(flash.errors);
                let (die, block, page) = (flash.die.0, flash.block.0, flash.page.0);
                let layer = page / self.bits / self.wordlines;
                self.by_layer.read((die, block, layer, 0), flash.retries);
                self.by_type.read((die, block, layer, page % self.bits), flash.retries);
            }
            Event::Flash(flash) if flash.op == FlashOp::Erase => {
                self.begun.remove(&(flash.die.0, flash.block.0));
                [&mut self.by_layer, &mut self.by_type].into_iter().for_each(|again| again.erased(flash.die.0, flash.block.0));
            }
            Event::ProgrammedAgain { .. } => self.again += 1,
            Event::Flash(_)
            | Event::Arrived { .. }
            | Event::Completed(_)
            | Event::Invalidated { .. }
            | Event::Retired { .. }
            | Event::Exposed { .. }
            | Event::WornOut => {}
        }
    }
}

/// Requests in pieces of a bounded number of sectors.
struct Pieces<I> {
    whole: I,
    left: Option<HostRequest>,
    most: u32,
}

impl<I: Iterator<Item = HostRequest>> Iterator for Pieces<I> {
    type Item = HostRequest;

    fn next(&mut self) -> Option<HostRequest> {
        let request = self.left.take().or_else(|| self.whole.next())?;
        if request.sectors <= self.most || !matches!(request.op, HostOp::Read | HostOp::Write) {
            return Some(request);
        }
        self.left = Some(HostRequest { sector: request.sector + u64::from(self.most), sectors: request.sectors - self.most, ..request });
        Some(HostRequest { sectors: self.most, ..request })
    }
}

/// Requests until a number of bytes has been written, each at its time where they come at a rate.
struct Burst<'l, I> {
    all: &'l mut I,
    left: f64,
    rate: Option<f64>,
    bytes: f64,
    written: &'l mut f64,
    is_over: &'l mut bool,
}

impl<I: Iterator<Item = HostRequest>> Iterator for Burst<'_, I> {
    type Item = HostRequest;

    fn next(&mut self) -> Option<HostRequest> {
        if self.left <= 0.0 {
            return None;
        }
        let Some(mut request) = self.all.next() else {
            *self.is_over = true;
            return None;
        };
        let bytes = f64::from(request.sectors) * SECTOR_BYTES as f64;
        request.at = self.rate.map_or(Nanos::ZERO, |rate| Nanos((self.bytes / rate * 1e9) as u64));
        if matches!(request.op, HostOp::Read | HostOp::Write) {
            self.bytes += bytes;
        }
        if request.op == HostOp::Write {
            self.left -= bytes;
            *self.written += bytes;
        }
        Some(request)
    }
}

/// Writes of mapping units anywhere among the first `units`.
fn writes(seed: u64, config: &Config, units: u64) -> impl Iterator<Item = HostRequest> + use<> {
    let sectors = config.firmware.unit.0 / SECTOR_BYTES;
    let mut draw = Draw::new(seed, Stream::Address, 0);
    std::iter::repeat_with(move || HostRequest::new(HostOp::Write, draw.below(units) * sectors, sectors as u32))
}

/// Makes all runs, on as many threads as there are, and says how far it is.
pub(crate) fn all(setup: &Setup, what: &str, trials: &[Trial]) -> Result<Vec<Tried>, LabError> {
    let done = AtomicUsize::new(0);
    let make = |index: usize| {
        let tried = trials[index].make();
        let done = 1 + done.fetch_add(1, Ordering::Relaxed);
        setup.teller.tell(&format!("{what}: {done} of {} runs", trials.len()));
        tried
    };
    parallel::map(setup.threads, trials.len(), make).into_iter().collect()
}

type Watched = Drive<(Metrics, Programs)>;

impl Trial {
    fn wrong(&self, what: &str) -> LabError {
        LabError::Usage(format!("{}: {what}", self.plan.name()))
    }

    fn make(&self) -> Result<Tried, LabError> {
        let config = self.plan.build();
        let unit = config.firmware.unit.0;
        match &self.load {
            Load::Files(spec, options) => {
                let load = spec.load(config.seed, config.exported(), *options).map_err(|error| LabError::Usage(error.to_string()))?;
                let (depth, filled) = (load.queue_depth(), load.prefilled().0 / unit);
                let requests = crate::filed::Filed::new(load);
                self.run(config, filled, depth, requests)
            }
            Load::Writes { bytes, fill, depth } => {
                let filled = (config.exported_units as f64 * fill) as u64;
                let requests = writes(config.seed, &config, filled.max(1)).take((bytes / unit as f64) as usize);
                self.run(config, filled, *depth, requests)
            }
        }
    }

    fn run(&self, config: Config, filled: u64, depth: u32, requests: impl Iterator<Item = HostRequest>) -> Result<Tried, LabError> {
        let rate = self.rhythm.rate;
        let scope = Scope {
            queue_depth: rate.is_none().then_some(depth),
            ..Scope::new(&config.sheet.geometry, config.firmware.unit, config.cores)
        };
        let age = config.cells.as_ref().and_then(|cells| cells.age);
        let programs = Programs::new(&config);
        let mut drive = Drive::new(config, (Metrics::new(scope), programs));
        drive.construct_filled(filled);
        if let Some(age) = age {
            drive.set_age(&age);
        }
        if let Some((bytes, rest)) = self.rhythm.quiet {
            leisure(&mut drive, bytes, rest, filled);
        }
        if self.rhythm.swing.is_some_and(|temperature| !drive.set_temperature(temperature)) {
            return Err(self.wrong("its cells have no temperature"));
        }
        let most = self.rhythm.piece.map_or(u32::MAX, |bytes| (bytes as u64 / SECTOR_BYTES).max(1) as u32);
        let mut requests = Pieces { whole: requests, left: None, most };
        let (mut busy, mut written, mut is_over) = (Nanos::ZERO, 0.0, false);
        let (bytes, rest) = self.rhythm.bursts.unwrap_or((f64::INFINITY, Nanos::ZERO));
        while !is_over {
            let began = drive.now();
            drive.observer.1.in_burst = true;
            let mut burst = Burst { all: &mut requests, left: bytes, rate, bytes: 0.0, written: &mut written, is_over: &mut is_over };
            drive.serve(&mut burst, rate.map_or(Pace::Closed { depth }, |_| Pace::Open { origin: began }), None);
            busy += drive.now() - began;
            drive.observer.1.in_burst = false;
            if !is_over {
                drive.run_until(drive.now() + rest);
            }
        }
        let measured = drive.observer.0.clone().finish(drive.now(), u64::from(drive.outstanding()));
        let mut programs = drive.observer.1.clone();
        // Results of many runs are held at once; what was read where is of no use any more.
        [&mut programs.by_layer, &mut programs.by_type].into_iter().for_each(|again| again.seen.clear());
        drive.settle();
        drive.audit().map_err(|error| self.wrong(&error))?;
        let blocks: Vec<BlockView> = drive.blocks().collect();
        let identity = identity(&self.plan, drive.log().hash(), false);
        // What it costs the machine is not looked at.
        let cost = Cost { cpu_seconds: 0.0, wall_seconds: 0.0, peak_rss: Bytes(0) };
        let result = conclude(&identity, &measured, &blocks, cost).0;
        if let Some(violation) = result.checks.violations.first() {
            return Err(self.wrong(&format!("{violation:?}")));
        }
        let (reads, writes) = (measured.latencies(HostOp::Read), measured.latencies(HostOp::Write));
        Ok(Tried { result, reads, writes, busy, written, programs })
    }
}

/// Writes `bytes`, a wordline's worth at a time, and forgets what was measured meanwhile.
fn leisure(drive: &mut Watched, bytes: f64, rest: Nanos, filled: u64) {
    drive.observer.1.in_burst = false;
    let (unit, wordline) = (drive.config().firmware.unit.0, drive.config().sheet.geometry);
    let at_once = (wordline.page.0 * u64::from(wordline.cell.bits() * wordline.planes) / unit).max(1) as usize;
    let mut requests = writes(drive.config().seed, drive.config(), filled.max(1)).take((bytes / unit as f64) as usize);
    loop {
        let mut few = requests.by_ref().take(at_once);
        if drive.serve(&mut few, Pace::Closed { depth: at_once as u32 }, None) == 0 {
            break;
        }
        drive.run_until(drive.now() + rest);
    }
    let now = drive.now();
    drive.observer.0.reset(now);
}
