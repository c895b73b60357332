//! Is a run the same run every time, however it is watched, cut, or accompanied by techniques that have nothing to do? And does an active technique
//! change what its card names?
//!
//! Does not check: other machines (the hash has no floating-point number of the platform in it, but only running there can tell).

use wordline_drive::{Config, Pace, Watched};
use wordline_ftl::techniques::{Choice, crypto_erase, idle_reclaim, page_lock, read_disturb_refresh};
use wordline_proving::bench::{self, Tally, overwrites, watched};
use wordline_proving::shape;
use wordline_units::random::{Draw, Stream};
use wordline_units::{Attributes, Cause, FlashOp, HostOp, HostRequest, Nanos, Rate};

const SECTORS: u32 = 32;
const CLOSED: Pace = Pace::Closed { depth: 16 };
const COUNT: u64 = 30_000;

fn config(techniques: &[Choice]) -> Config {
    let mut config = bench::drive(shape::sheet(64, 32), 2, 2, 4 * 64 * 32 * 4 / 5);
    config.channel = Rate::from_mega_transfers(400, 8);
    config.firmware.techniques = techniques.to_vec();
    config
}

/// Seven reads to three writes, everywhere.
fn mixed(seed: u64, span: u64) -> impl Iterator<Item = HostRequest> {
    let mut draw = Draw::new(seed, Stream::Mix, 0);
    std::iter::from_fn(move || {
        let op = if draw.happens(0.7) { HostOp::Read } else { HostOp::Write };
        Some(bench::request(op, draw.below(span), 1, SECTORS))
    })
}

fn hash(config: Config) -> u64 {
    let span = config.exported_units;
    let mut drive = Watched::new(config, ());
    drive.construct_filled(span);
    drive.serve(&mut mixed(1, span), CLOSED, Some(COUNT));
    drive.log().hash()
}

#[test]
fn does_one_seed_give_one_hash_on_two_threads_at_once_and_another_seed_another() {
    let mut faulty = config(&[Choice::ReadPreemption, Choice::PlainCopyback]);
    faulty.faults.program_fail = 1e-4;
    faulty.firmware.spare_blocks = 4;
    faulty.exported_units = 4 * 50 * 32;
    faulty.firmware.gc.victim = wordline_ftl::victim::VictimPolicy::DChoices;
    for config in [config(&[]), faulty] {
        let expected = hash(config.clone());
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let config = config.clone();
                std::thread::spawn(move || hash(config))
            })
            .collect();
        for thread in threads {
            assert_eq!(thread.join().unwrap(), expected);
        }
        let mut other = config.clone();
        other.firmware.gc.victim = wordline_ftl::victim::VictimPolicy::Random;
        let one = hash(other.clone());
        other.seed += 1;
        assert_ne!(hash(other), one, "a policy that samples draws from the seed");
    }
}

#[test]
fn is_a_watched_run_the_same_run() {
    let config = config(&[]);
    let span = config.exported_units;
    let mut drive = watched(config.clone(), Some(16));
    drive.construct_filled(span);
    drive.serve(&mut mixed(1, span), CLOSED, Some(COUNT));
    assert_eq!(drive.log().hash(), hash(config));
}

#[test]
fn is_a_run_cut_into_rounds_the_same_run() {
    let config = config(&[]);
    let span = config.exported_units;
    let mut drive = Watched::new(config.clone(), ());
    drive.construct_filled(span);
    let mut load = mixed(1, span);
    let mut left = COUNT;
    for round in (1..).map(|n| n * n) {
        left -= drive.serve(&mut load, CLOSED, Some(left.min(round)));
        if left == 0 {
            break;
        }
    }
    assert_eq!(drive.log().hash(), hash(config));
}

#[test]
fn do_techniques_with_nothing_to_do_leave_no_trace() {
    let plain = hash(config(&[]));
    let never = Nanos::from_secs(1_000_000);
    let disturb = Choice::ReadDisturbRefresh(read_disturb_refresh::Params::by_reads(u32::MAX));
    let idle = Choice::IdleReclaim(idle_reclaim::Params { after: never, until_free: 10 });
    let sated = Choice::IdleReclaim(idle_reclaim::Params { after: Nanos::from_micros(100), until_free: 0 });
    let offsets = Choice::LayerReadOffsets;
    for techniques in [&[disturb][..], &[idle], &[sated], &[offsets], &[disturb, idle], &[idle, disturb], &[offsets, disturb]] {
        assert_eq!(hash(config(techniques)), plain, "{techniques:?}");
    }
    // Those that need something of the die do nothing where the die has not got it.
    let without = |techniques: &[Choice]| {
        let mut config = config(techniques);
        for sheet in [&mut config.sheet, &mut config.firmware.sheet] {
            let able = &mut sheet.capabilities;
            (able.copyback, able.suspend_program, able.suspend_erase) = (false, false, false);
        }
        hash(config)
    };
    assert_eq!(without(&[]), plain);
    assert_eq!(without(&[Choice::PlainCopyback]), plain);
    assert_eq!(without(&[Choice::ReadPreemption]), plain);
    println!("hash without techniques, and with idle ones: {plain:016x}");
}

/// As [`mixed`], on a drive that nobody has written before: every write says whether its data is secret.
fn hash_of_writes(techniques: &[Choice], insecure: bool) -> u64 {
    let mut config = config(techniques);
    for sheet in [&mut config.sheet, &mut config.firmware.sheet] {
        let able = &mut sheet.capabilities;
        (able.page_lock, able.block_lock, able.scrub, able.reprogram) = (true, true, true, true);
        let timing = &mut sheet.timing;
        (timing.lock_page, timing.lock_block) = (Nanos::from_micros(100), Nanos::from_micros(300));
        (timing.scrub, timing.reprogram) = (Nanos::from_micros(100), Nanos::from_micros(100));
    }
    let span = config.exported_units;
    let mut drive = Watched::new(config, ());
    let mut all = mixed(1, span).map(|request| HostRequest {
        attributes: Attributes::NONE.with_secure(!insecure),
        op: if request.op == HostOp::Read { HostOp::Trim } else { request.op },
        ..request
    });
    let mut writes = (0..span)
        .map(|unit| bench::request(HostOp::Write, unit, 1, SECTORS))
        .map(|request| HostRequest { attributes: Attributes::NONE.with_secure(!insecure), ..request });
    drive.serve(&mut writes, CLOSED, None);
    drive.serve(&mut all, CLOSED, Some(span));
    drive.log().hash()
}

#[test]
fn does_a_sanitiser_leave_no_trace_where_nothing_is_secret() {
    let plain = hash_of_writes(&[], true);
    assert_eq!(plain, hash_of_writes(&[], false), "without a sanitiser nobody asks");
    let all = [
        Choice::PageLock(page_lock::Params { block_lock: true }),
        Choice::WordlineScrub,
        Choice::EraseAtOnce,
        Choice::ReprogramPage,
        Choice::CryptoErase(crypto_erase::Params { leaves: 64, register: Nanos::from_micros(10) }),
    ];
    for sanitiser in all {
        assert_eq!(hash_of_writes(&[sanitiser], true), plain, "{sanitiser:?}");
        if sanitiser != Choice::EraseAtOnce {
            assert_ne!(hash_of_writes(&[sanitiser], false), plain, "{sanitiser:?}");
        }
    }
}

#[test]
fn does_the_order_of_techniques_in_a_plan_change_nothing() {
    let [a, b, c] =
        [Choice::ReadDisturbRefresh(read_disturb_refresh::Params::by_reads(300)), Choice::PlainCopyback, Choice::ReadPreemption];
    let expected = hash(config(&[a, b, c]));
    for order in [[a, c, b], [b, a, c], [b, c, a], [c, a, b], [c, b, a]] {
        assert_eq!(hash(config(&order)), expected);
    }
    assert_ne!(expected, hash(config(&[])));
}

fn served(config: Config, load: impl Iterator<Item = HostRequest>, pace: Pace, count: u64) -> Watched<Tally> {
    let mut drive = Watched::new(config, Tally::default());
    let span = drive.config().exported_units;
    drive.construct_filled(span);
    drive.serve(&mut load.take(count as usize), pace, None);
    drive.settle();
    drive.audit().unwrap_or_else(|problem| panic!("{problem}"));
    drive
}

#[test]
fn does_read_disturb_refresh_add_only_moves_for_disturb() {
    let span = config(&[]).exported_units;
    let mut draw = Draw::new(4, Stream::Address, 0);
    let addresses: Vec<u64> = (0..100_000).map(|_| draw.below(span)).collect();
    let run = |techniques: &[Choice]| {
        let load = addresses.iter().map(|&unit| bench::request(HostOp::Read, unit, 1, SECTORS));
        served(config(techniques), load, CLOSED, 100_000)
    };
    let (off, on) = (run(&[]), run(&[Choice::ReadDisturbRefresh(read_disturb_refresh::Params::by_reads(200))]));
    let (off, on) = (&off.observer, &on.observer);
    let moved = on.flash[FlashOp::Program as usize][Cause::Disturb as usize];
    println!("refresh at 200 reads: {moved} pages programmed for disturb, {} erases", on.operations(FlashOp::Erase));
    assert!(moved > 1_000);
    for (op, cause) in FlashOp::ALL.into_iter().flat_map(|op| Cause::ALL.map(|cause| (op, cause))) {
        if cause != Cause::Disturb {
            assert_eq!(on.flash[op as usize][cause as usize], off.flash[op as usize][cause as usize], "{op:?} for {cause:?}");
        }
    }
    assert_eq!(on.operations(FlashOp::Program), moved);
}

#[test]
fn does_idle_reclaim_shorten_bursts_and_cost_write_amplification() {
    let run = |techniques: &[Choice]| {
        let mut config = config(techniques);
        config.firmware.gc.start = 3;
        let span = config.exported_units;
        let mut draw = Draw::new(4, Stream::Address, 0);
        // 256 writes at once, then half a second of nothing.
        let load = (0..300 * 256u64).map(move |n| HostRequest {
            at: Nanos::from_millis(500) * (n / 256),
            ..bench::request(HostOp::Write, draw.below(span), 1, SECTORS)
        });
        served(config, load, Pace::Open { origin: Nanos::ZERO }, 300 * 256)
    };
    let (off, on) = (run(&[]), run(&[Choice::IdleReclaim(idle_reclaim::Params { after: Nanos::from_millis(5), until_free: 7 })]));
    let means = [&off, &on].map(|drive| Tally::mean(&drive.observer.writes) / 1e6);
    let wafs = [&off, &on].map(|drive| drive.observer.waf());
    println!("burst writes: mean {:.2} ms without idle reclaim, {:.2} ms with; WAF {:.3} and {:.3}", means[0], means[1], wafs[0], wafs[1]);
    assert!(means[1] < 0.8 * means[0]);
    assert!(wafs[1] > 1.02 * wafs[0]);
}

#[test]
fn does_copyback_take_load_off_the_bus_and_nothing_else() {
    let span = config(&[]).exported_units;
    let run = |techniques: &[Choice]| served(config(techniques), overwrites(9, span, SECTORS), CLOSED, 60_000);
    let (off, on) = (run(&[]), run(&[Choice::PlainCopyback]));
    let bus = [&off, &on].map(|drive| drive.observer.bus.0 as f64 / drive.observer.units[0] as f64 / 1e3);
    let wafs = [&off, &on].map(|drive| drive.observer.waf());
    println!("bus per page written: {:.2} us without copyback, {:.2} us with; WAF {:.3} and {:.3}", bus[0], bus[1], wafs[0], wafs[1]);
    assert!((bus[1] - 40.96).abs() < 0.5, "what is left on the bus is the host's data");
    assert!(bus[0] > 3.0 * bus[1]);
    assert!((wafs[1] / wafs[0] - 1.0).abs() < 0.03, "the same moves, by another way");
}

#[test]
fn do_suspend_parameters_matter_and_only_when_something_suspends() {
    let run = |techniques: &[Choice], suspend_us: u64| {
        let mut config = config(techniques);
        for sheet in [&mut config.sheet, &mut config.firmware.sheet] {
            (sheet.timing.suspend_erase, sheet.timing.suspend_program) = (Nanos::from_micros(suspend_us), Nanos::from_micros(suspend_us));
        }
        let span = config.exported_units;
        served(config, mixed(2, span), Pace::Closed { depth: 4 }, 60_000)
    };
    let preempt = [Choice::ReadPreemption];
    let runs = [run(&[], 20), run(&[], 400), run(&preempt, 20), run(&preempt, 400)];
    let hashes = runs.each_ref().map(|drive| drive.log().hash());
    let tails = runs.each_ref().map(|drive| Tally::percentile(&drive.observer.reads, 0.99).0 as f64 / 1e3);
    println!(
        "99th percentile of reads in us: {:.0} without suspends; {:.0} with suspends of 20 us, {:.0} with 400 us",
        tails[0], tails[2], tails[3]
    );
    assert_eq!(hashes[0], hashes[1], "nobody suspends, so the time it takes is nobody's business");
    assert!(tails[2] < 0.5 * tails[0] && tails[2] < tails[3]);
    assert_ne!(hashes[2], hashes[3]);
    assert_eq!(run(&[], 20).log().hash(), hashes[0], "off again, it is the run it was");
}
