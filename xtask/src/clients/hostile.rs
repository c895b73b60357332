//! Clients that mean no good, at a drive that is served: does another client suffer, and does memory stay within its bound?

use super::bench::{Bench, said};
use super::drive::Drive;

const SCRIPT: &str = include_str!("hostile.py");

/// Of all connections these can hold something: 6 that stop within a payload or a request, 4 that flood, 8 that do not listen, 3 that talk nonsense, and the
/// good one.
const CONNECTIONS: u32 = 22;
/// What each may hold: `Limits::memory_bound` of `wordline-nbd`.
const CONNECTION_MIB: u32 = 133;
/// Tables, buffer and code of the drive.
const DRIVE_MIB: u32 = 200;

pub(super) fn run(bench: &Bench) -> Result<(), String> {
    bench.write("hostile.py", SCRIPT)?;
    let mut drive = Drive::new(bench, &[], &[])?;
    let (pid, bound) = (drive.pid().to_string(), (CONNECTIONS * CONNECTION_MIB + DRIVE_MIB).to_string());
    let told = said(bench.command("/usr/bin/python3", &["hostile.py", &drive.uri, &bench.path("socket"), &pid, &bound]))?;
    print!("{told}");
    if drive.is_gone() { Err("the drive is gone".to_owned()) } else { Ok(()) }
}
