//! Whole drives by hand, and observers that count.

use wordline_cells::Faults;
use wordline_drive::{Config, Costs, Ecc, FtlPlace, SearchSteps, Trims, Watched, Weights};
use wordline_engine::{Event, Observer};
use wordline_figures::{Measured, Metrics, Scope};
use wordline_flash::Sheet;
use wordline_units::random::{Draw, Stream};
use wordline_units::{Cause, FlashOp, HostOp, HostRequest, Nanos, Rate};

/// Dies on one channel each way, nothing else in the way: the bus is as fast as a bus can be, there is no DRAM, no link, no ECC and no firmware cost.
pub fn drive(sheet: Sheet, channels: u32, dies_per_channel: u32, exported_units: u64) -> Config {
    let mut sheet = sheet;
    sheet.geometry.channels = channels;
    sheet.geometry.dies_per_channel = dies_per_channel;
    Config {
        sheet,
        faults: Faults::default(),
        cells: None,
        cycles: 0,
        classes: None,
        channel: Rate::from_mega_transfers(4_800, 8),
        dram: None,
        link: None,
        link_in: None,
        ftl: FtlPlace::Drive,
        ecc: Ecc { latency: Nanos::ZERO, rate: None },
        search: SearchSteps { width: 2, reach: 5 },
        die_timeout: Nanos::from_millis(100),
        read_sets: std::sync::Arc::default(),
        cores: 1,
        stripe_units: 1,
        costs: Costs::default(),
        queue_depth: 65_535,
        weights: Weights::default(),
        trims: Trims::Whole,
        firmware: crate::shape::firmware(sheet, channels * dies_per_channel, 0),
        exported_units,
        seed: 1,
    }
}

/// A request for `units` mapping units of `unit_sectors` sectors from `unit`.
pub fn request(op: HostOp, unit: u64, units: u32, unit_sectors: u32) -> HostRequest {
    HostRequest::new(op, unit * u64::from(unit_sectors), units * unit_sectors)
}

/// A drive that does so many flash operations without answering a request is not getting anywhere, or cannot come to rest.
const OPERATIONS_WITHOUT_ANSWER: u64 = 1_000_000;

/// Counts and sums over a stream of events.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Requests that arrived.
    pub arrived: u64,
    /// Requests that were completed.
    pub completed: u64,
    /// Requests completed that failed.
    pub failed: u64,
    /// Latencies of reads, in the order of completion.
    pub reads: Vec<Nanos>,
    /// Latencies of writes, in the order of completion.
    pub writes: Vec<Nanos>,
    /// Flash operations by what they do and why.
    pub flash: [[u64; Cause::ALL.len()]; FlashOp::ALL.len()],
    /// Time the arrays worked.
    pub array: Nanos,
    /// Time the buses were held.
    pub bus: Nanos,
    /// Erased and retired blocks, in order: what happened, die, block.
    pub retired: u64,
    /// The drive has said that it takes no more writes.
    pub worn_out: bool,
    /// Flash operations since a request was last completed.
    pub unanswered: u64,
    /// Units of host data, of moved data, of padding programmed.
    pub units: [u64; 3],
}

impl Tally {
    /// Operations of one kind for any cause.
    pub fn operations(&self, op: FlashOp) -> u64 {
        self.flash[op as usize].iter().sum()
    }

    /// Units programmed per unit of host data.
    pub fn waf(&self) -> f64 {
        self.units.iter().sum::<u64>() as f64 / self.units[0] as f64
    }

    /// The mean of `latencies` in nanoseconds.
    pub fn mean(latencies: &[Nanos]) -> f64 {
        latencies.iter().map(|latency| latency.0 as f64).sum::<f64>() / latencies.len() as f64
    }

    /// The latency that a share `p` of `latencies` does not exceed.
    pub fn percentile(latencies: &[Nanos], p: f64) -> Nanos {
        let mut sorted = latencies.to_vec();
        sorted.sort_unstable();
        sorted[((sorted.len() - 1) as f64 * p) as usize]
    }
}

impl Observer for Tally {
    fn observe(&mut self, _: Nanos, event: &Event) {
        match event {
            Event::Arrived { .. } => self.arrived += 1,
            Event::Completed(done) => {
                self.completed += 1;
                self.unanswered = 0;
                self.failed += u64::from(!done.ok);
                match done.op {
                    HostOp::Read => self.reads.push(done.stages.total()),
                    HostOp::Write => self.writes.push(done.stages.total()),
                    HostOp::Trim | HostOp::Flush | HostOp::Hint => {}
                }
            }
            Event::Flash(flash) => {
                self.unanswered += 1;
                assert!(self.unanswered < OPERATIONS_WITHOUT_ANSWER, "neither does a request end nor does the drive come to rest");
                self.flash[flash.op as usize][flash.cause as usize] += 1;
                self.array += flash.array;
                self.bus += flash.bus;
                self.units[0] += u64::from(flash.host_units);
                self.units[1] += u64::from(flash.moved_units);
                self.units[2] += u64::from(flash.padding_units);
            }
            Event::Invalidated { .. } => {}
            Event::Retired { .. } => self.retired += 1,
            Event::Exposed { .. }
            | Event::ProgrammedAgain { .. }
            | Event::DataLost { .. }
            | Event::Harmed { .. }
            | Event::Stopped { .. } => {}
            Event::DieSuspected { .. } | Event::DieFailed { .. } | Event::UnitsLost { .. } | Event::UnitsHealed { .. } => {}
            Event::WornOut => self.worn_out = true,
        }
    }
}

/// A [`Tally`] and the self-checks that every run keeps.
pub type Watch = (Tally, Metrics);

/// A new drive under watch; `depth` is what the host will keep outstanding, if it is a closed loop.
pub fn watched(config: Config, depth: Option<u32>) -> Watched<Watch> {
    let scope = Scope { queue_depth: depth, ..Scope::new(&config.sheet.geometry, config.firmware.unit, config.cores) };
    Watched::new(config, (Tally::default(), Metrics::new(scope)))
}

/// Every self-check holds, and once the drive has settled, every table agrees with every other. Returns what was measured before that.
pub fn judged(drive: &mut Watched<Watch>) -> Measured {
    let held = u64::from(drive.outstanding());
    let (tally, metrics) = &drive.observer;
    assert_eq!(tally.arrived, tally.completed + held, "requests are neither lost nor made up");
    let measured = metrics.clone().finish(drive.now(), held);
    assert_eq!(measured.violations, [], "seed {}", drive.config().seed);
    drive.settle();
    drive.audit().unwrap_or_else(|problem| panic!("{problem}"));
    assert_eq!(drive.observer.1.violations(), [], "seed {}", drive.config().seed);
    measured
}

/// Random overwrites of whole mapping units below `span`.
pub fn overwrites(seed: u64, span: u64, unit_sectors: u32) -> impl Iterator<Item = HostRequest> + Clone {
    let mut draw = Draw::new(seed, Stream::Address, 0);
    std::iter::from_fn(move || Some(request(HostOp::Write, draw.below(span), 1, unit_sectors)))
}
