//! Power cuts by the thousand, or one again: `cargo run --release -p wordline-proving --example power_cuts -- FIRST_SEED COUNT [REQUESTS] [CUT]`.
//!
//! Stops at the first seed at which something is broken, looks for a smaller trial that breaks it too, and says what and how to see it again. With a CUT, the
//! power goes at that operation boundary of the first life.

use wordline_proving::cut::{Tally, attempt, shrink};

fn main() {
    let number = |at: usize, default: u64| std::env::args().nth(at).map_or(default, |text| text.parse().expect("a number"));
    let (first, count, requests) = (number(1, 1), number(2, 100), number(3, 150));
    let cut = std::env::args().nth(4).map(|text| text.parse().expect("a number"));
    let mut tally = Tally::default();
    for seed in first..first + count {
        match attempt(seed, cut, requests, None) {
            Ok(seen) => tally.add(&seen),
            Err(failing) => {
                println!("seed {seed}, {requests} requests, cut {cut:?}: {}", failing.problem);
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
