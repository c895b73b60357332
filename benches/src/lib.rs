//! What the bench table is made of: the floor, the rows, the stopwatch.
//!
//! Processor time of the measuring thread, never the wall's; every figure is also given as a ratio to the floor measured in the same run, because the
//! machines this runs on are noisy and an absolute time proves nothing. Nothing here passes or fails.

pub mod against;
pub mod floor;
pub mod gate;
pub mod rows;
pub mod served;
pub mod structures;

use cpu_time::ThreadTime;

/// Whether the command line asks what the bench does.
pub fn asks_for_help() -> bool {
    std::env::args().skip(1).any(|word| word == "--help" || word == "-h")
}

/// Seconds of this thread's processor time that `work` takes.
pub fn seconds(work: impl FnOnce()) -> f64 {
    let clock = ThreadTime::now();
    work();
    clock.elapsed().as_secs_f64()
}
