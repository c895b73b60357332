//! The host's disk fills up under the drive's media: what was promised before is kept, and there again once there is room.

use std::time::Duration;

use super::bench::{Bench, logged, quietly, said, until};
use super::drive::Drive;

const LEDGER: &str = include_str!("ledger.py");

/// How long a load may take to fill what there is.
const PATIENCE: Duration = Duration::from_secs(120);

pub(super) fn run(bench: &Bench) -> Result<(), String> {
    bench.write("ledger.py", LEDGER)?;
    let media = bench.path("media");
    std::fs::create_dir_all(&media).map_err(|error| format!("cannot make {media}: {error}"))?;
    let resize = |options: &str| quietly(bench.command("mount", &["-t", "tmpfs", "-o", options, "tmpfs", &media]));
    resize("size=64m")?;
    let mut drive = Drive::new(bench, &[], &[])?;
    let mut compared = 0;
    for round in 0..bench.rounds {
        let seed = (bench.seed + u64::from(round)).to_string();
        let load = bench.command("/usr/bin/python3", &["ledger.py", "load", &drive.uri, "ledger", &seed]);
        println!("$ {}", crate::steps::shown(&load));
        let mut load = logged(load, &bench.path("load.log"))?.spawn().map_err(|error| format!("cannot start python3: {error}"))?;
        let mut ended = None;
        // It ends with the first request that fails.
        let filled = until("the host's disk is full", PATIENCE, || {
            ended = load.try_wait().ok().flatten();
            ended.is_some()
        });
        let (is_gone, _) = (drive.is_gone(), load.kill());
        let _ = load.wait();
        filled?;
        let told = std::fs::read_to_string(bench.path("load.log")).unwrap_or_default();
        if is_gone || !ended.is_some_and(|status| status.success()) {
            return Err(format!("round {round}: the drive is gone ({is_gone}), or the load ended badly: {told}"));
        }
        println!("{}", told.trim());
        drive.kill();
        resize(&format!("remount,size={}m", 192 + 64 * round))?;
        drive.start()?;
        let told = said(bench.command("/usr/bin/python3", &["ledger.py", "check", &drive.uri, "ledger"]))
            .map_err(|why| format!("round {round}, seed {seed}: {why}"))?;
        compared += told.split_whitespace().next().and_then(|word| word.parse::<u64>().ok()).unwrap_or(0);
    }
    println!("full: the host's disk was full {} times, {compared} blocks compared after it, none lost", bench.rounds);
    Ok(())
}
