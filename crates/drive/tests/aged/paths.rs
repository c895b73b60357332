//! Paths of data through a drive, and the time for which each part of a path is held: firmware in the drive and in the host.

use wordline_drive::{Config, FtlPlace, Pace, Watched};
use wordline_engine::{Completion, Event, FlashEvent, Observer};
use wordline_ftl::techniques::Choice;
use wordline_units::{Cause, FlashOp, HostOp, HostRequest, Nanos, Rate};

use crate::small::{Shape, uniform};

/// Sensing, program and transfer of a page of 16 KiB over the bus, through DRAM, inwards and outwards over the link.
const SENSE: u64 = 65_000;
const PROGRAM: u64 = 700_000;
const BUS: u64 = 16_384;
const DRAM: u64 = 2 * BUS;
const IN: u64 = 4 * BUS;
const OUT: u64 = 3 * BUS;

#[derive(Default)]
struct Seen {
    requests: Vec<(Nanos, Completion)>,
    flash: Vec<(Nanos, FlashEvent)>,
}

impl Observer for Seen {
    fn observe(&mut self, at: Nanos, event: &Event) {
        if let Event::Completed(done) = event {
            self.requests.push((at, *done));
        } else if let Event::Flash(flash) = event {
            self.flash.push((at, *flash));
        }
    }
}

impl Seen {
    /// Times of all operations of one kind: from the order to the end, on the bus, in DRAM and on the link. Each only once.
    fn times(&self, op: FlashOp, cause: Cause) -> Vec<[u64; 4]> {
        let of = |(at, flash): &(Nanos, FlashEvent)| [*at - flash.issued, flash.bus, flash.dram, flash.link].map(|span| span.0);
        let mut times: Vec<_> = self.flash.iter().filter(|(_, flash)| flash.op == op && flash.cause == cause).map(of).collect();
        times.sort_unstable();
        times.dedup();
        times
    }
}

/// One die, so that no two operations are at the bus, DRAM or the link at a time.
fn config(ftl: FtlPlace, techniques: Vec<Choice>) -> Config {
    let shape = Shape { channels: 1, dies_per_channel: 1, blocks: 32, ..Shape::default() };
    let mut config = shape.config();
    config.firmware.techniques = techniques;
    config.ftl = ftl;
    // Whole nanoseconds for each byte, so that no fraction is carried from transfer to transfer.
    let a_byte_in = |nanos: u64| Some(Rate::from_bytes_per_second(1_000_000_000 / nanos));
    config.dram = a_byte_in(2);
    config.link = Some(Rate::from_bytes_per_second(333_333_333));
    config.link_in = a_byte_in(4);
    config
}

/// The events of a drive that is overwritten until it has moved data.
fn moved(config: Config) -> Watched<Seen> {
    let units = config.exported_units;
    let mut drive = Watched::new(config.clone(), Seen::default());
    drive.construct_filled(units);
    drive.serve(&mut uniform(&config, units, 4), Pace::Closed { depth: 1 }, Some(2 * units));
    drive.settle();
    drive
}

/// Transfers over the link outwards take a nanosecond more now and then, as a byte takes no whole number of them.
fn nearly(times: &[[u64; 4]], expected: [u64; 4]) -> bool {
    !times.is_empty() && times.iter().all(|time| time.iter().zip(expected).all(|(time, expected)| time.abs_diff(expected) <= 1))
}

#[test]
fn programs_and_moves_pass_dram_or_the_link_and_take_the_time_of_the_slowest() {
    for (ftl, [program, read]) in [
        (FtlPlace::Drive, [[DRAM + PROGRAM, BUS, DRAM, 0], [SENSE + DRAM, BUS, DRAM, 0]]),
        (FtlPlace::Host, [[IN + PROGRAM, BUS, 0, IN], [SENSE + OUT, BUS, 0, OUT]]),
    ] {
        let drive = moved(config(ftl, vec![]));
        let seen = &drive.observer;
        for cause in [Cause::Host, Cause::Gc] {
            let programs = seen.times(FlashOp::Program, cause);
            assert_eq!(programs[0], program, "{ftl:?}: programs for {cause:?}");
            // The next request of the host passes DRAM, too.
            assert!(ftl == FtlPlace::Drive || programs.len() == 1, "{programs:?}");
        }
        let mut reads = seen.times(FlashOp::Read, Cause::Gc);
        if ftl == FtlPlace::Drive {
            reads.truncate(1);
        }
        assert!(nearly(&reads, read), "{ftl:?}: reads of moves took {reads:?}, where {read:?} was due");
    }
}

#[test]
fn copybacks_pass_nothing_and_do_not_notice_the_link() {
    let times = |ftl: FtlPlace, link: Rate| {
        let mut config = config(ftl, vec![Choice::PlainCopyback]);
        (config.link, config.link_in) = (Some(link), Some(link));
        moved(config).observer.times(FlashOp::Copyback, Cause::Gc)
    };
    let [slow, fast] = [10_000_000, 4_000_000_000].map(Rate::from_bytes_per_second);
    for (ftl, link) in [(FtlPlace::Drive, fast), (FtlPlace::Host, fast), (FtlPlace::Host, slow)] {
        assert_eq!(times(ftl, link), [[SENSE + PROGRAM, 0, 0, 0]], "{ftl:?}, {link:?}");
    }
}

/// Serve `request` alone. Returns its latency, and the time for which it held DRAM.
fn serve(drive: &mut Watched<Seen>, request: HostRequest) -> [u64; 2] {
    drive.serve(&mut std::iter::once(request), Pace::Closed { depth: 1 }, None);
    let (at, done) = drive.observer.requests.last().expect("it was answered");
    assert!(done.ok);
    [(*at - done.arrived).0, done.dram.0]
}

#[test]
fn the_host_reads_its_own_memory_for_nothing_and_flash_once_over_the_link() {
    let [write, read] = [HostOp::Write, HostOp::Read].map(|op| HostRequest::new(op, 64, 32));
    let of = |ftl: FtlPlace| {
        let mut config = config(ftl, vec![]);
        // The unit waits in the buffer until it is asked for.
        config.firmware.schedule.linger = None;
        config.firmware.buffer.units = 64;
        config.sheet.geometry.planes = 2;
        config.firmware.sheet.geometry.planes = 2;
        let mut drive = Watched::new(config, Seen::default());
        let written = serve(&mut drive, write);
        let buffered = serve(&mut drive, read);
        drive.settle();
        [written, buffered, serve(&mut drive, read)]
    };
    // In: the link takes longest. Out of the buffer: the same, but outwards. From flash: DRAM as it leaves its die, then DRAM and the link to the host.
    assert_eq!(of(FtlPlace::Drive), [[IN, DRAM], [OUT, DRAM], [SENSE + DRAM + OUT, DRAM]]);
    assert_eq!(of(FtlPlace::Host), [[0, 0], [0, 0], [SENSE + OUT, 0]]);
}

#[test]
fn a_drive_in_which_nothing_moves_over_the_link_is_the_same_with_any_link_inwards() {
    let hash = |ftl: FtlPlace, link_in: u64| {
        let mut config = config(ftl, vec![]);
        config.link_in = Some(Rate::from_bytes_per_second(link_in));
        moved(config).log().hash()
    };
    assert_eq!(hash(FtlPlace::Drive, 4_000_000_000), hash(FtlPlace::Drive, 1_000_000_000), "DRAM is slower than both");
    assert_ne!(hash(FtlPlace::Host, 4_000_000_000), hash(FtlPlace::Host, 100_000_000), "each program passes it");
}

#[test]
fn requests_come_in_runs_and_after_gaps_of_a_drive_without_any() {
    let mut config = config(FtlPlace::Host, vec![]);
    config.firmware.schedule.linger = None;
    let pace = Pace::Gaps { depth: 4, run: 3, cycle: 5, gap: Nanos(40_000) };
    let mut drive = Watched::new(config.clone(), Seen::default());
    let mut load = uniform(&config, config.exported_units, 4);
    // In pieces, which makes no difference.
    (0..10).for_each(|_| _ = drive.serve(&mut load, pace, Some(1)));
    let arrived: Vec<u64> = drive.observer.requests.iter().map(|(_, done)| done.arrived.0).collect();
    // Writes into the buffer of the host take no time.
    assert_eq!(arrived, [0, 0, 0, 40_000, 80_000, 80_000, 80_000, 80_000, 120_000, 160_000]);
}
