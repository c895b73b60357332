//! The host's disk fills up under the drive's media: writes are refused for want of room, reads go on, and writes do again, in the same process, once there is
//! room. What was promised is kept over a kill.

use std::io::Write;
use std::time::Duration;

use super::bench::{Bench, logged, pause, quietly, said, until};
use super::drive::Drive;
use super::ledger;

/// How long a load may take to fill what there is.
const PATIENCE: Duration = Duration::from_secs(120);

/// How a load knows that there was no room.
const NO_SPACE: &str = "errno 28";

pub(super) fn run(bench: &Bench) -> Result<(), String> {
    ledger::write(bench)?;
    let media = bench.path("media");
    std::fs::create_dir_all(&media).map_err(|error| format!("cannot make {media}: {error}"))?;
    let resize = |options: &str| quietly(bench.command("mount", &["-t", "tmpfs", "-o", options, "tmpfs", &media]));
    resize("size=64m,mode=700")?;
    let mut drive = Drive::new(bench, &[], &[])?;
    let (mut compared, mut read_while_full) = (0, 0);
    for round in 0..bench.rounds {
        let seed = bench.seed + 2 * u64::from(round);
        let load = load_until_refused(bench, &mut drive, seed)?;
        if !load.contains(NO_SPACE) {
            return Err(format!("round {round}: the host's disk is full, and the client was told otherwise: {load}"));
        }
        read_while_full += compare(bench, "look", &drive).map_err(|why| format!("round {round}, while the disk is full: {why}"))?;
        // Others take the room that was kept free, too. The drive has to come back without any.
        let filler = fill(&media)?;
        drive.kill();
        drive.start()?;
        read_while_full += compare(bench, "check", &drive).map_err(|why| format!("round {round}, killed while the disk is full: {why}"))?;
        let load = load_until_refused(bench, &mut drive, seed + 1)?;
        if !load.contains(NO_SPACE) || !load.starts_with("0 writes") {
            return Err(format!("round {round}: there is no room at all, and the client was told otherwise: {load}"));
        }
        // Nobody restarts it.
        std::fs::remove_file(filler).map_err(|error| format!("cannot remove a file: {error}"))?;
        resize(&format!("remount,size={}m", 192 + 64 * round))?;
        let line = load_command(bench, &drive, seed + 1);
        let mut load = logged(line, &bench.path("load.log"))?.spawn().map_err(|error| format!("cannot start python3: {error}"))?;
        pause(1500);
        let is_over = load.try_wait().is_ok_and(|status| status.is_some());
        drive.kill();
        let status = load.wait().map_err(|error| format!("python3: {error}"))?;
        let told = std::fs::read_to_string(bench.path("load.log")).unwrap_or_default();
        if !status.success() || (is_over && !told.contains(NO_SPACE)) || told.starts_with("0 writes") {
            return Err(format!("round {round}: there is room, and the drive did not go on: {told}"));
        }
        println!("{}", told.trim());
        drive.start()?;
        compared += compare(bench, "check", &drive).map_err(|why| format!("round {round}, seed {seed}: {why}"))?;
    }
    println!(
        "full: the host's disk was full {} times, {read_while_full} blocks read meanwhile, writes went on by themselves, {compared} blocks compared after a kill, none lost",
        bench.rounds
    );
    Ok(())
}

/// Fills the disk of `folder` with a file; returns where.
fn fill(folder: &str) -> Result<String, String> {
    let path = format!("{folder}/filler");
    let mut file = std::fs::File::create(&path).map_err(|error| format!("cannot make {path}: {error}"))?;
    let piece = vec![0x5A; 64 << 10];
    while file.write_all(&piece).is_ok() {}
    while file.write_all(&piece[..512]).is_ok() {}
    Ok(path)
}

fn load_command(bench: &Bench, drive: &Drive, seed: u64) -> std::process::Command {
    let load = bench.command("/usr/bin/python3", &["ledger.py", "load", &drive.uri, "ledger", &seed.to_string()]);
    println!("$ {}", crate::steps::shown(&load));
    load
}

/// Lets a load at the drive until it is refused something; returns what it says of itself.
fn load_until_refused(bench: &Bench, drive: &mut Drive, seed: u64) -> Result<String, String> {
    let load = load_command(bench, drive, seed);
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
        return Err(format!("the drive is gone ({is_gone}), or the load ended badly: {told}"));
    }
    println!("{}", told.trim());
    Ok(told)
}

/// How many blocks were compared with the ledger.
fn compare(bench: &Bench, task: &str, drive: &Drive) -> Result<u64, String> {
    let told = said(bench.command("/usr/bin/python3", &["ledger.py", task, &drive.uri, "ledger"]))?;
    Ok(told.split_whitespace().next().and_then(|word| word.parse::<u64>().ok()).unwrap_or(0))
}
