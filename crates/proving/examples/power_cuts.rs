//! Power cuts by the thousand, or one again: `cargo run --release -p wordline-proving --example power_cuts -- FIRST_SEED COUNT [REQUESTS] [CUT]`.
//!
//! Stops at the first seed at which something is broken and says what. With a CUT, the power goes at that operation boundary of the first life.

use wordline_proving::cut::{Tally, trial};

fn main() {
    let number = |at: usize, default: u64| std::env::args().nth(at).map_or(default, |text| text.parse().expect("a number"));
    let (first, count, requests) = (number(1, 1), number(2, 100), number(3, 150));
    let cut = std::env::args().nth(4).map(|text| text.parse().expect("a number"));
    let mut tally = Tally::default();
    for seed in first..first + count {
        match trial(seed, cut, requests, None) {
            Ok(seen) => tally.add(&seen),
            Err(problem) => {
                println!("seed {seed}, {requests} requests, cut {cut:?}: {problem}");
                std::process::exit(1);
            }
        }
    }
    println!("{count} seeds from {first}: {tally:#?}");
}
