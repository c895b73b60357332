//! Do dies, buses, DRAM, link and cores queue and saturate as arithmetic says?
//!
//! Does not check: mixtures of reads and writes, several bottlenecks at once, percentiles of waiting times.

use wordline_drive::{Config, Pace, Watched, Weights};
use wordline_proving::bench::{self, Tally};
use wordline_proving::{effort, shape, theory};
use wordline_units::random::{Draw, Stream};
use wordline_units::{Attributes, Bytes, HostOp, HostRequest, Nanos, Priority, Rate};

const PAGES: u32 = 64;
const BLOCKS: u32 = 64;
const SECTORS: u32 = 32;

/// Channels of dies, all filled, with page reads of `read`.
fn config(channels: u32, dies_per_channel: u32, read: Nanos) -> Config {
    let mut sheet = shape::sheet(BLOCKS, PAGES);
    sheet.timing.read = [read; 4];
    let exported = u64::from(channels * dies_per_channel * PAGES * (BLOCKS - 8));
    bench::drive(sheet, channels, dies_per_channel, exported)
}

fn filled(config: Config) -> Watched<Tally> {
    let units = config.exported_units;
    let mut drive = Watched::new(config, Tally::default());
    drive.construct_filled(units);
    drive
}

/// Page reads of random addresses at random instants, `rate` per nanosecond.
fn poisson(drive: &Watched<Tally>, rate: f64, seed: u64) -> impl Iterator<Item = HostRequest> + use<> {
    let units = drive.config().exported_units;
    let (mut address, mut arrival) = (Draw::new(seed, Stream::Address, 0), Draw::new(seed, Stream::Arrival, 0));
    let mut at = 0.0;
    std::iter::from_fn(move || {
        at -= libm::log(1.0 - arrival.unit()) / rate;
        Some(HostRequest { at: Nanos(at as u64), ..bench::request(HostOp::Read, address.below(units), 1, SECTORS) })
    })
}

/// Mean latency of reads beyond `alone` at utilisation `rho` of a server that takes `service`.
fn must_wait_as_md1(name: &str, config: &Config, service: f64, alone: f64) {
    for rho in [0.3, 0.6, 0.8] {
        let mut drive = filled(config.clone());
        let seed = 5;
        let reads = 1_500_000 * effort();
        let mut load = poisson(&drive, rho / service, seed);
        drive.serve(&mut load, Pace::Open { origin: Nanos::ZERO }, Some(reads));
        let wait = Tally::mean(&drive.observer.reads) - alone;
        let theory = theory::md1_wait(rho, service);
        let error = (wait / theory - 1.0) * 100.0;
        println!("{name:>12}, utilisation {rho}: mean wait {:.3} us, M/D/1 {:.3} us, {error:+.2} %", wait / 1e3, theory / 1e3);
        assert!(error.abs() < 2.0, "seed {seed}: {name} at {rho}: {wait} ns against {theory} ns");
    }
}

#[test]
fn does_a_die_make_reads_wait_as_md1_says() {
    let config = config(1, 1, Nanos::from_micros(65));
    // The die is held until its page has left it.
    let service = 65_000.0 + 16_384.0 / 4.8;
    must_wait_as_md1("one die", &config, service, service);
}

#[test]
fn does_a_bus_make_reads_wait_as_md1_says() {
    // Sensing takes next to nothing, so that a die is busy only while its page waits for the bus or crosses it: the order in which pages cross
    // changes, the mean wait does not.
    let mut config = config(1, 64, Nanos(20));
    config.channel = Rate::from_mega_transfers(400, 8);
    must_wait_as_md1("one bus", &config, 40_960.0, 40_960.0 + 20.0);
}

/// Requests of one page per second, closed loop, once the drive is busy.
fn saturated(mut drive: Watched<Tally>, op: HostOp, depth: u32, count: u64) -> f64 {
    let units = drive.config().exported_units;
    let mut draw = Draw::new(3, Stream::Address, 0);
    let mut load = std::iter::from_fn(|| Some(bench::request(op, draw.below(units), 1, SECTORS)));
    drive.serve(&mut load, Pace::Closed { depth }, Some(count / 10));
    let (from, begun) = (drive.now(), drive.completed());
    drive.serve(&mut load, Pace::Closed { depth }, Some(count));
    (drive.completed() - begun) as f64 / (drive.now() - from).as_secs_f64()
}

fn must_be(name: &str, rate: f64, arithmetic: f64) {
    let error = (rate / arithmetic - 1.0) * 100.0;
    println!("{name:>24}: {rate:.0} per second, arithmetic {arithmetic:.0}, {error:+.3} %");
    assert!(error.abs() < 1.0, "{name}: {rate} against {arithmetic}");
}

#[test]
fn does_a_saturated_drive_move_what_its_bottleneck_moves() {
    let page = 16_384.0;
    let us = Nanos::from_micros;
    let dies = filled(config(4, 4, us(65)));
    must_be("reads, dies", saturated(dies, HostOp::Read, 1_024, 200_000), 16.0 / (65e-6 + page / 4.8e9));
    let mut buses = config(2, 8, us(65));
    buses.channel = Rate::from_mega_transfers(333, 8);
    must_be("reads, buses", saturated(filled(buses), HostOp::Read, 1_024, 100_000), 2.0 * 333e6 / page);
    let mut dram = config(4, 4, us(20));
    // Each byte goes in and out.
    dram.dram = Some(Rate::from_mega_transfers(400, 8));
    must_be("reads, DRAM", saturated(filled(dram), HostOp::Read, 1_024, 100_000), 400e6 / (2.0 * page));
    let mut link = config(4, 4, us(20));
    link.link = Some(Rate::from_mega_transfers(1_000, 8));
    must_be("reads, link", saturated(filled(link), HostOp::Read, 1_024, 200_000), 1e9 / page);
    let mut core = config(4, 4, us(20));
    core.costs = wordline_drive::Costs { command: us(3), unit: us(1), operation: us(2) };
    must_be("reads, core", saturated(filled(core), HostOp::Read, 1_024, 200_000), 1.0 / 6e-6);
    // Few writes on a fresh drive: no reclaim.
    let fresh = Watched::new(config(4, 4, us(65)), Tally::default());
    must_be("programs, dies", saturated(fresh, HostOp::Write, 1_024, 40_000), 16.0 / (700e-6 + page / 4.8e9));
    let mut slow = config(1, 16, us(65));
    slow.channel = Rate::from_mega_transfers(200, 8);
    let fresh = Watched::new(slow, Tally::default());
    must_be("programs, bus", saturated(fresh, HostOp::Write, 1_024, 40_000), 200e6 / page);
}

#[test]
fn is_the_transfer_time_exact_at_every_rate() {
    for mega in
        [40, 80, 133, 166, 200, 266, 333, 400, 533, 667, 800, 1_000, 1_066, 1_200, 1_333, 1_600, 2_000, 2_400, 2_666, 3_200, 3_600, 4_800]
    {
        let mut config = config(1, 1, Nanos::from_micros(65));
        config.channel = Rate::from_mega_transfers(mega, 8);
        let mut drive = filled(config);
        let mut load = (0..3_000).map(|unit| bench::request(HostOp::Read, unit, 1, SECTORS));
        drive.serve(&mut load, Pace::Closed { depth: 1 }, None);
        let bus = drive.observer.bus.0 as f64;
        let exact = 3_000.0 * Bytes::kib(16).0 as f64 * 1e3 / mega as f64;
        // Fractions of a nanosecond are carried from transfer to transfer, so no more than one can be missing at the end, and a picosecond for each transfer.
        assert!((bus - exact).abs() <= 1.0 + 3.0, "{mega} MT/s: {bus} ns on the bus against {exact} ns");
        assert_eq!(drive.now().0, 3_000 * 65_000 + drive.observer.bus.0, "{mega} MT/s: the run is its reads and nothing else");
        println!("{mega:>5} MT/s: {:.3} ns per 16 KiB, exact {:.3}", bus / 3_000.0, exact / 3_000.0);
    }
}

#[test]
fn do_classes_share_an_overloaded_drive_by_weight() {
    let mut config = config(1, 2, Nanos::from_micros(65));
    // Little is taken in at once, so that the order is made in the host's queues and not at the dies.
    (config.queue_depth, config.weights) = (4, Weights { high: 5, normal: 3, low: 1 });
    let units = config.exported_units;
    let mut drive = bench::watched(config, None);
    drive.construct_filled(units);
    let mut address = Draw::new(7, Stream::Address, 0);
    // All at once: of 3 x 6,000, half are served. Every fiftieth of the others is urgent.
    let mut load = (0..18_000).map(|number| HostRequest {
        attributes: Attributes::of(if number % 50 == 0 {
            Priority::Urgent
        } else {
            [Priority::High, Priority::Normal, Priority::Low][number % 3]
        }),
        ..bench::request(HostOp::Read, address.below(units), 1, SECTORS)
    });
    drive.serve(&mut load, Pace::Open { origin: Nanos::ZERO }, Some(9_000));
    let measured = drive.observer.1.clone().finish(drive.now(), u64::from(drive.outstanding()));
    assert_eq!(measured.violations, []);
    let count = |class| measured.latencies_of(HostOp::Read, class).count() as f64;
    let [urgent, high, normal, low] = Priority::ALL.map(count);
    println!("urgent {urgent}, high {high}, normal {normal}, low {low}");
    assert_eq!(urgent, 360.0, "all of them");
    let round = (9_000.0 - urgent) / 9.0;
    for (count, weight) in [(high, 5.0), (normal, 3.0), (low, 1.0)] {
        assert!((count / (weight * round) - 1.0).abs() < 0.01, "{count} where {weight} x {round} were due");
    }
}
