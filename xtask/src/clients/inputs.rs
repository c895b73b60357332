//! Inputs by the million that mean no good: sessions that were mutated, and requests over sockets, with memory held against its bound as the system counts it.

use super::bench::Bench;
use crate::steps::{cargo, run};

/// Inputs of each kind in a round.
const ROUND: u64 = 1_000_000;

pub(super) fn run_inputs(bench: &Bench) -> Result<(), String> {
    let count = (ROUND * u64::from(bench.rounds)).to_string();
    let first = bench.seed.to_string();
    for (package, variable, test) in [
        ("wordline-nbd", "WORDLINE_SESSIONS", "hostile::mutated_sessions_stay_within_the_bound"),
        ("wordline-serve", "WORDLINE_INPUTS", "hostile::wicked_inputs_leave_the_memory_of_the_server_within_its_bound"),
    ] {
        let mut tests = cargo(&crate::root(), &["test", "-p", package, "--test", "suite", "--", "--exact", test, "--nocapture"]);
        tests.env(variable, &count).env("WORDLINE_SEED", &first);
        run(tests)?;
    }
    Ok(())
}
