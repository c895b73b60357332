//! Power cuts by the thousand, or one again: `cargo run --release -p wordline-proving --example power_cuts -- FIRST_SEED COUNT [REQUESTS] [CUT | rot |
//! much-rot | cached | twins]`.
//!
//! Stops at the first seed at which something is broken, looks for a smaller trial that breaks it too, and says what and how to see it again. With a CUT, the
//! power goes at that operation boundary of the first life. With `rot`, up to one page in a hundred becomes unreadable at every cut, and each flushed unit must
//! be back in its newest version or be lost and told; with `much-rot`, up to one in five. With `cached`, dies take in
//! data while they program; with `twins`, the map has a log on two dies.

use wordline_proving::cut::{FEW, Failing, MANY, Tally, attempt, cached, rotten_trial, shrink, still, trial_on, twinned};
use wordline_proving::swarm::Scenario;

fn main() {
    let number = |at: usize, default: u64| std::env::args().nth(at).map_or(default, |text| text.parse().expect("a number"));
    let (first, count, requests) = (number(1, 1), number(2, 100), number(3, 150));
    let shares = match std::env::args().nth(4).as_deref() {
        Some("rot") => Some(FEW),
        Some("much-rot") => Some(MANY),
        _ => None,
    };
    let drive = match std::env::args().nth(4).as_deref() {
        Some("cached") => Some(cached as fn(u64) -> Scenario),
        Some("twins") => Some((|seed| twinned(still(seed))) as fn(u64) -> Scenario),
        _ => None,
    };
    let cut = std::env::args().nth(4).filter(|_| shares.is_none() && drive.is_none()).map(|text| text.parse().expect("a number"));
    let mut tally = Tally::default();
    for seed in first..first + count {
        let failing = |problem| Failing { seed, cut, requests, problem };
        let tried = if let Some(shares) = shares {
            rotten_trial(seed, requests, shares, None).map_err(failing)
        } else if let Some(drive) = drive {
            trial_on(drive(seed), None, requests, None).map_err(failing)
        } else {
            attempt(seed, cut, requests, None)
        };
        match tried {
            Ok(seen) => tally.add(&seen),
            Err(failing) => {
                println!("seed {seed}, {requests} requests, cut {cut:?}: {}", failing.problem);
                if shares.is_some() || drive.is_some() {
                    std::process::exit(1);
                }
                std::panic::set_hook(Box::new(|_| ()));
                let least = shrink(failing, None);
                println!("the smallest: {}\n{}", least.command(), least.problem);
                std::process::exit(1);
            }
        }
        if (seed - first) % 100 == 99 {
            eprintln!("{} seeds: {} cuts, {} units compared, none broken", seed - first + 1, tally.cuts, tally.units);
        }
    }
    println!("{count} seeds from {first}: {tally:#?}");
}
