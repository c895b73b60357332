//! The ledger of `ledger.py`: a load that keeps what may stand in each block, and the check of it.

use std::process::Child;

use super::bench::{Bench, logged, said};
use super::drive::Drive;

const SCRIPT: &str = include_str!("ledger.py");

/// Writes the script into the scratch folder.
pub(super) fn write(bench: &Bench) -> Result<(), String> {
    bench.write("ledger.py", SCRIPT)
}

/// A load that goes on until its drive ends.
pub(super) struct Load<'a> {
    bench: &'a Bench,
    child: Child,
    /// Round and seed, in words.
    name: String,
    is_over: bool,
}

fn seed(bench: &Bench, round: u32) -> u64 {
    bench.seed + u64::from(round)
}

impl<'a> Load<'a> {
    /// Starts the load of `round` on `drive`. `owed`: what the drive owes, in the script's words.
    pub(super) fn start(bench: &'a Bench, drive: &Drive, round: u32, owed: &[&str]) -> Result<Load<'a>, String> {
        let seed = seed(bench, round).to_string();
        let load = bench.command("/usr/bin/python3", &[&["ledger.py", "load", &drive.uri, "ledger", &seed], owed].concat());
        println!("$ {}", crate::steps::shown(&load));
        let child = logged(load, &bench.path("load.log"))?.spawn().map_err(|error| format!("cannot start python3: {error}"))?;
        Ok(Load { bench, child, name: format!("round {round}, seed {seed}"), is_over: false })
    }

    /// Notes whether it has ended before its drive, which is about to end.
    pub(super) fn look(&mut self) {
        self.is_over = self.child.try_wait().is_ok_and(|status| status.is_some());
    }

    /// Waits for its end, which has to come with that of its drive.
    pub(super) fn end(mut self) -> Result<(), String> {
        let status = self.child.wait().map_err(|error| format!("python3: {error}"))?;
        let told = std::fs::read_to_string(self.bench.path("load.log")).unwrap_or_default();
        if self.is_over || !status.success() {
            return Err(format!("{}: the load ended with {status}: {told}", self.name));
        }
        println!("{}", told.trim());
        Ok(())
    }
}

/// Compares `drive` with the ledger after `round`. Returns the number of blocks, of those that are older than the newest, and of those that fail. `lost`: the
/// program and the control socket that say which blocks may fail.
pub(super) fn check(bench: &Bench, drive: &Drive, round: u32, lost: &[&str]) -> Result<[u64; 3], String> {
    let told = said(bench.command("/usr/bin/python3", &[&["ledger.py", "check", &drive.uri, "ledger"], lost].concat()))
        .map_err(|why| format!("round {round}, seed {}: {why}", seed(bench, round)))?;
    let counts: Vec<u64> = told.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    counts.try_into().map_err(|_| format!("round {round}: the check says {told}"))
}
