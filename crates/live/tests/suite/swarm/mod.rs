//! Does any drive, with any options on any flash, lose what it owes or hand out what it should not?
//!
//! One seed: a plan with random options, media in memory that record every write, flash with random ills, a random load with many requests at once, a die
//! that fails, heat, and cuts at random places of the recording, the last write torn. `WORDLINE_SEED` and `WORDLINE_SEEDS` say which seeds; one that fails is
//! shrunk, and the command that repeats it is printed.
//!
//! Checks, without ills that the flash hides: a read gives what was written last; after a cut each unit holds what was durable or something newer that had
//! been asked for; with a sanitiser, the dies put out nothing stale after the last flush. With them: each unit holds something that was written to it, or
//! fails. Always: no panic, the tables agree with the flash, and no die is programmed without end. Does not check: which of two writes in flight wins; how
//! long anything takes; what stale data a cut leaves readable, and cuts during recovery (the cuts of `wordline-proving` do both).

mod trial;
mod wicked;
mod world;

use std::panic::{AssertUnwindSafe, catch_unwind};

use trial::{Case, Tally, trial};
use world::FEATURES;

/// What went wrong, if anything did.
fn outcome(case: &Case) -> Result<Tally, String> {
    catch_unwind(AssertUnwindSafe(|| trial(case))).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned().or_else(|| panic.downcast_ref::<&str>().map(|&text| text.to_owned()));
        Err(format!("a panic: {}", text.unwrap_or_default()))
    })
}

/// Leaves out of a case that fails what it fails without: features first, then requests.
fn shrunk(mut case: Case) -> Case {
    for feature in FEATURES {
        let mut simpler = case.clone();
        simpler.without.push(feature);
        if outcome(&simpler).is_err() {
            case = simpler;
        }
    }
    let mut step = case.requests / 2;
    while step > 0 {
        let fewer = Case { requests: case.requests - step, ..case.clone() };
        if outcome(&fewer).is_err() {
            case = fewer;
        }
        step = step.min(case.requests) / 2;
    }
    case
}

/// A number from the environment.
pub(crate) fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{name} is a whole number")))
}

#[test]
fn no_seed_loses_what_it_owes() {
    let first = number("WORDLINE_SEED").unwrap_or(1);
    let seeds = first..first + number("WORDLINE_SEEDS").unwrap_or(40);
    let requests = number("WORDLINE_REQUESTS").unwrap_or(1500);
    let named = std::env::var("WORDLINE_WITHOUT").unwrap_or_default();
    let without: Vec<&str> = FEATURES.into_iter().filter(|feature| named.split(',').any(|name| name == *feature)).collect();
    let (mut tally, mut broken) = (Tally::default(), Vec::new());
    for seed in seeds.clone() {
        let case = Case { seed, requests, without: without.clone() };
        match outcome(&case) {
            Ok(seen) => tally.add(&seen),
            Err(_) => {
                let case = shrunk(case);
                let why = outcome(&case).err().unwrap_or_default();
                let Case { seed, requests, without } = case;
                broken.push(format!(
                    "{why}\nagain: WORDLINE_SEED={seed} WORDLINE_SEEDS=1 WORDLINE_REQUESTS={requests} WORDLINE_WITHOUT={} \
                     cargo test -p wordline-serve swarm -- --nocapture",
                    without.join(",")
                ));
            }
        }
    }
    println!("seeds {seeds:?}, {requests} requests each: {tally:?}");
    assert!(broken.is_empty(), "{} of {seeds:?}:\n{}", broken.len(), broken.join("\n"));
    if number("WORDLINE_SEED").is_none() {
        assert!(tally.has_seen_everything(), "{tally:?}");
    }
}
