//! Does reclaim in turns with the host shorten the worst writes, cost nothing else, and hold what it was given?

use wordline_drive::{Config, Pace, Watched};
use wordline_ftl::scheduler::Scheduler;
use wordline_proving::bench::{self, Tally, judged, overwrites, watched};
use wordline_proving::cut;
use wordline_proving::effort;
use wordline_proving::harness::Harness;
use wordline_proving::{shape, swarm};
use wordline_units::{FlashOp, Rate};

const SECTORS: u32 = 32;

/// 8 dies of 40 blocks of 64 pages, an eighth of it spare, write-through.
fn config(scheduler: Scheduler) -> Config {
    let mut config = bench::drive(shape::sheet(40, 64), 2, 4, 8 * 40 * 64 * 7 / 8);
    config.channel = Rate::from_mega_transfers(500, 8);
    config.firmware.gc.scheduler = scheduler;
    config
}

fn steady(scheduler: Scheduler) -> Watched<bench::Watch> {
    let config = config(scheduler);
    let span = config.exported_units;
    let mut drive = watched(config, Some(32));
    drive.construct_filled(span);
    drive.serve(&mut overwrites(3, span, SECTORS).take(60_000), Pace::Closed { depth: 32 }, None);
    judged(&mut drive);
    drive
}

#[test]
fn do_the_worst_writes_wait_for_their_share_of_the_moves_and_not_for_a_whole_victim() {
    let [classic, paced] = [Scheduler::Classic, Scheduler::Paced].map(steady);
    let [one, other] = [&classic, &paced].map(|drive| &drive.observer.0);
    let p999 = [one, other].map(|tally| Tally::percentile(&tally.writes, 0.999).as_micros_f64());
    let wafs = [one, other].map(Tally::waf);
    let spans = [&classic, &paced].map(|drive| drive.now().as_secs_f64());
    println!("p99.9 of writes {p999:?} us, WAF {wafs:?}, {spans:?} s");
    assert!(p999[1] < 0.5 * p999[0], "the tail is cut");
    // Fewer, where the die no longer keeps as many groups free: victims are taken later, and hold less.
    assert!(wafs[1] < 1.02 * wafs[0], "it moves no more");
    assert!(spans[1] < 1.02 * spans[0], "no throughput is paid for it");
    assert!(other.operations(FlashOp::Erase) > 500, "it is a steady state");
}

#[test]
fn does_any_seed_break_the_twin_with_paced_reclaim() {
    for seed in 0..300 * effort() {
        let mut scenario = swarm::scenario(seed);
        scenario.config.gc.scheduler = Scheduler::Paced;
        Harness::new(scenario).run(600);
    }
}

#[test]
fn does_any_power_cut_lose_something_with_paced_reclaim() {
    let mut tally = cut::Tally::default();
    for seed in 0..100 * effort() {
        let mut scenario = cut::scenario(seed);
        scenario.config.gc.scheduler = Scheduler::Paced;
        tally.add(&cut::trial_on(scenario, None, 100, None).unwrap_or_else(|problem| panic!("seed {seed}: {problem}")));
    }
    println!("{tally:?}");
    assert!(tally.cuts > 200);
}
