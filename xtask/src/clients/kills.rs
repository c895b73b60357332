//! The drive is killed under load, again and again, and comes back on the same media.

use std::time::Duration;

use super::bench::{Bench, logged, pause, said, until};
use super::drive::Drive;
use super::fio::Cut;

const LEDGER: &str = include_str!("ledger.py");

pub(super) fn run(bench: &Bench) -> Result<(), String> {
    acknowledged_is_kept(bench)?;
    std::fs::remove_dir_all(bench.path("media")).map_err(|error| format!("cannot remove the media: {error}"))?;
    flushed_is_kept(bench, Buffer::Volatile)?;
    std::fs::remove_dir_all(bench.path("media")).map_err(|error| format!("cannot remove the media: {error}"))?;
    std::fs::remove_file(bench.path("ledger")).map_err(|error| format!("cannot remove the ledger: {error}"))?;
    flushed_is_kept(bench, Buffer::Capacitor)
}

/// What a drive owes besides what was flushed, or written with FUA.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Buffer {
    /// Nothing.
    Volatile,
    /// Every write that it has acknowledged.
    Capacitor,
}

/// fio's recipe asks for every acknowledged write, flushed or not: a drive that acknowledges what is programmed has to have them all.
fn acknowledged_is_kept(bench: &Bench) -> Result<(), String> {
    let mut drive = Drive::new(bench, &["buffer.acknowledge=programmed"], &[])?;
    let mut blocks = 0;
    for round in 0..bench.rounds {
        let uri = format!("--uri={}", drive.uri);
        let cut = Cut::new(bench, &["--ioengine=nbd", &uri, "--size=120M", "--offset_increment=120M"], bench.seed + u64::from(round));
        cut.load_and_kill(1 + u64::from(round % 3), drive.pid())?;
        until("the drive is dead", Duration::from_secs(10), || drive.is_gone())?;
        drive.start()?;
        blocks += cut.verify().map_err(|why| format!("round {round}: {why}"))?;
    }
    println!("fio: {} kills, {blocks} acknowledged blocks verified, none lost", bench.rounds);
    Ok(())
}

/// A drive that buffers owes what was flushed, or written with FUA.
fn flushed_is_kept(bench: &Bench, buffer: Buffer) -> Result<(), String> {
    bench.write("ledger.py", LEDGER)?;
    let (settings, owed): (&[&str], &[&str]) = match buffer {
        Buffer::Volatile => (&[], &[]),
        Buffer::Capacitor => (&["buffer.protection=capacitor"], &["capacitor"]),
    };
    let mut drive = Drive::new(bench, settings, &[])?;
    let (mut compared, mut older) = (0, 0);
    for round in 0..bench.rounds {
        let seed = (bench.seed + u64::from(round)).to_string();
        let load = bench.command("/usr/bin/python3", &[&["ledger.py", "load", &drive.uri, "ledger", &seed], owed].concat());
        println!("$ {}", crate::steps::shown(&load));
        let mut load = logged(load, &bench.path("load.log"))?.spawn().map_err(|error| format!("cannot start python3: {error}"))?;
        // Not the same for any two rounds.
        pause(1200 + u64::from(round) * 211 % 1900);
        let is_over = load.try_wait().is_ok_and(|status| status.is_some());
        drive.kill();
        let status = load.wait().map_err(|error| format!("python3: {error}"))?;
        let told = std::fs::read_to_string(bench.path("load.log")).unwrap_or_default();
        if is_over || !status.success() {
            return Err(format!("round {round}, seed {seed}: the load ended with {status}: {told}"));
        }
        println!("{}", told.trim());
        drive.start()?;
        let told = said(bench.command("/usr/bin/python3", &["ledger.py", "check", &drive.uri, "ledger"]))
            .map_err(|why| format!("round {round}, seed {seed}: {why}"))?;
        let mut counts = told.split_whitespace().map(|word| word.parse::<u64>().unwrap_or(0));
        compared += counts.next().unwrap_or(0);
        older += counts.next().unwrap_or(0);
    }
    let owed = if owed.is_empty() { "what was flushed" } else { "what was acknowledged" };
    println!("ledger, {owed}: {} kills, {compared} blocks compared, {older} older than the newest as they may be, none lost", bench.rounds);
    Ok(())
}
