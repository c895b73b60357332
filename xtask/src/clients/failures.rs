//! A die fails under load: what lay there fails, and nothing else; nothing is older than it may be; and it stays so, however often the drive is killed.

use serde_json::Value;

use super::bench::{Bench, pause, said};
use super::drive::Drive;
use super::ledger::{self, Load};

/// The die that fails.
const DIE: &str = "die=1";

/// Arguments of fio: blocks that are written, and read once the die has failed.
const FIO: [&str; 9] = [
    "--name=failing",
    "--ioengine=nbd",
    "--rw=randwrite",
    "--bs=4k",
    "--size=64M",
    "--iodepth=16",
    "--verify=crc32c",
    "--continue_on_error=io",
    "--output-format=json",
];

pub(super) fn run(bench: &Bench) -> Result<(), String> {
    a_ledger(bench)?;
    std::fs::remove_dir_all(bench.path("media")).map_err(|error| format!("cannot remove the media: {error}"))?;
    fio(bench)
}

/// A ledger's load, during the first round of which a die fails; in each, the drive is killed or stopped.
fn a_ledger(bench: &Bench) -> Result<(), String> {
    ledger::write(bench)?;
    let mut drive = Drive::of_four_dies(bench)?;
    let program = bench.built("wordline").display().to_string();
    let (mut compared, mut first) = (0, None);
    for round in 0..bench.rounds.max(2) {
        let mut load = Load::start(bench, &drive, round, &["failing"])?;
        pause(1000);
        if round == 0 {
            said(bench.command(&program, &["ctl", &drive.control(), "kill-die", DIE]))?;
        }
        pause(800 + u64::from(round) * 211 % 1900);
        load.look();
        drive.end(round)?;
        load.end()?;
        drive.start()?;
        let [blocks, _, failed] = ledger::check(bench, &drive, round, &[&program, &drive.control()])?;
        println!("round {round}: {failed} of {blocks} blocks fail");
        // Writes heal, and nothing else fails.
        if first.is_some_and(|before| failed > before) {
            return Err(format!("round {round}: {failed} blocks fail, {first:?} did before"));
        }
        first = Some(failed);
        compared += blocks;
    }
    println!(
        "ledger, a die failed: {} kills and stops, {compared} blocks compared, none lost but what the drive names",
        bench.rounds.max(2)
    );
    Ok(())
}

/// fio verifies what it has written: what does not fail is what was written, after a kill, too.
fn fio(bench: &Bench) -> Result<(), String> {
    let mut drive = Drive::of_four_dies(bench)?;
    let uri = format!("--uri={}", drive.uri);
    let seed = format!("--randseed={}", bench.seed);
    let words: Vec<&str> = FIO.into_iter().chain([uri.as_str(), seed.as_str()]).collect();
    said(bench.command("fio", &[&words[..], &["--do_verify=0", "--end_fsync=1"]].concat()))?;
    said(bench.command(&bench.built("wordline").display().to_string(), &["ctl", &drive.control(), "kill-die", DIE]))?;
    let mut failed = Vec::new();
    for round in 0..2 {
        // It ends badly, because reads have failed.
        let output =
            bench.command("fio", &[&words[..], &["--verify_only=1"]].concat()).output().map_err(|error| format!("fio: {error}"))?;
        let told = String::from_utf8_lossy(&output.stdout).into_owned();
        let value: Value =
            serde_json::from_str(told.find('{').map_or("", |at| &told[at..])).map_err(|error| format!("fio's JSON: {error}"))?;
        let job = &value["jobs"][0];
        let (first, count) = (job["first_error"].as_u64(), job["total_err"].as_u64().unwrap_or(0));
        // EIO, and no block that reads as something else.
        if first != Some(5) || count == 0 {
            return Err(format!("round {round}: fio's first error is {first:?} of {count}"));
        }
        failed.push(count);
        drive.end(round)?;
        drive.start()?;
    }
    if failed.iter().any(|count| *count != failed[0]) {
        return Err(format!("blocks that fail at each start: {failed:?}"));
    }
    println!("fio: {} of 16384 blocks fail with their die, at each start; all others verified", failed[0]);
    Ok(())
}
