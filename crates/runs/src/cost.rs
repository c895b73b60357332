//! What a run costs the machine it runs on.

use std::time::Instant;

use cpu_time::ThreadTime;
use wordline_figures::Cost;
use wordline_units::Bytes;

/// A stopwatch over this thread's processor time and the wall's.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch {
    cpu: ThreadTime,
    wall: Instant,
}

impl Stopwatch {
    /// A stopwatch that starts now.
    pub fn start() -> Stopwatch {
        Stopwatch { cpu: ThreadTime::now(), wall: Instant::now() }
    }

    /// What was spent since it was started.
    pub fn read(&self) -> Cost {
        Cost { cpu_seconds: self.cpu.elapsed().as_secs_f64(), wall_seconds: self.wall.elapsed().as_secs_f64(), peak_rss: peak_rss() }
    }
}

/// The most memory this process has held; zero where the system does not say.
fn peak_rss() -> Bytes {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|rest| rest.trim().trim_end_matches("kB").trim().parse().ok());
    Bytes::kib(kib.unwrap_or(0))
}
