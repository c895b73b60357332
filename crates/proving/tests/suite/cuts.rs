//! Power cuts: nothing durable is lost, nothing comes back that should not, and the oracle would notice.

use std::panic::{AssertUnwindSafe, catch_unwind};

use wordline_proving::cut::{Bug, Tally, boundaries, trial};
use wordline_proving::effort;

fn must(seed: u64, cut: Option<u64>, requests: u64) -> Tally {
    let again = format!(
        "cargo run -p wordline-proving --example power_cuts -- {seed} 1 {requests} {}",
        cut.map_or(String::new(), |at| at.to_string())
    );
    match catch_unwind(AssertUnwindSafe(|| trial(seed, cut, requests, None))) {
        Ok(Ok(tally)) => tally,
        Ok(Err(problem)) => panic!("{problem}\nagain: {again}"),
        Err(_) => panic!("a panic, above\nagain: {again}"),
    }
}

#[test]
fn short_runs_survive_a_cut_at_every_operation_boundary() {
    let mut tally = Tally::default();
    for seed in 1..=8 * effort() {
        let requests = 30;
        let last = boundaries(seed, requests).unwrap_or_else(|problem| panic!("seed {seed}: {problem}"));
        (0..=last).for_each(|cut| tally.add(&must(seed, Some(cut), requests)));
    }
    println!("{tally:?}");
    assert!(tally.cuts > 1_000 && tally.older > 100, "{tally:?}");
}

#[test]
fn long_runs_survive_cuts_at_random() {
    let mut tally = Tally::default();
    (1_000..1_000 + 200 * effort()).for_each(|seed| tally.add(&must(seed, None, 200)));
    println!("{tally:?}");
    // Every kind of work was under the knife.
    assert!(tally.in_flight > 200 && tally.older > 100, "{tally:?}");
    assert!(tally.journal.iter().chain(&tally.work).all(|&count| count > 10), "{tally:?}");
}

#[test]
fn planted_bugs_are_caught() {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| ()));
    let caught = Bug::ALL.map(|bug| {
        let is_caught = |seed: &u64| !matches!(catch_unwind(AssertUnwindSafe(|| trial(*seed, None, 200, Some(bug)))), Ok(Ok(_)));
        (bug, (2_000..2_100).find(is_caught))
    });
    std::panic::set_hook(hook);
    println!("{caught:?}");
    assert!(caught.iter().all(|(_, seed)| seed.is_some()), "bug and first seed that shows it: {caught:?}");
}
