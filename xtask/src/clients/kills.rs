//! The drive is killed under load, again and again, and comes back on the same media; then it is stopped under load, which loses nothing.

use std::time::Duration;

use super::bench::{Bench, pause, until};
use super::drive::Drive;
use super::fio::Cut;
use super::ledger::{self, Load};

pub(super) fn run(bench: &Bench) -> Result<(), String> {
    acknowledged_is_kept(bench)?;
    for end in [End::Kill, End::KillWithCapacitors, End::Stop] {
        std::fs::remove_dir_all(bench.path("media")).map_err(|error| format!("cannot remove the media: {error}"))?;
        // Of the drive before, if there was one.
        let _ = std::fs::remove_file(bench.path("ledger"));
        owed_is_kept(bench, end)?;
    }
    Ok(())
}

/// How a drive that buffers ends, and with it what it owes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// It is killed, and owes what was flushed, or written with FUA.
    Kill,
    /// It is killed, and owes every write that it has acknowledged.
    KillWithCapacitors,
    /// It is stopped, and owes all that it has acknowledged.
    Stop,
}

/// fio's recipe asks for every acknowledged write, flushed or not: a drive that acknowledges what is programmed has to have them all.
fn acknowledged_is_kept(bench: &Bench) -> Result<(), String> {
    let mut drive = Drive::new(bench, &["buffer.acknowledge=programmed"], &[])?;
    let mut blocks = 0;
    for round in 0..bench.rounds {
        let uri = format!("--uri={}", drive.uri);
        let cut = Cut::new(bench, &["--ioengine=nbd", &uri, "--size=120M", "--offset_increment=120M"], bench.seed + u64::from(round));
        cut.load_and_end(1 + u64::from(round % 3), "KILL", drive.pid())?;
        until("the drive is dead", Duration::from_secs(10), || drive.is_gone())?;
        drive.start()?;
        blocks += cut.verify().map_err(|why| format!("round {round}: {why}"))?;
    }
    println!("fio: {} kills, {blocks} acknowledged blocks verified, none lost", bench.rounds);
    Ok(())
}

/// A drive that buffers has what it owes when it is started again.
fn owed_is_kept(bench: &Bench, end: End) -> Result<(), String> {
    ledger::write(bench)?;
    let (settings, owed, named): (&[&str], &[&str], &str) = match end {
        End::Kill => (&[], &[], "what was flushed, kills"),
        End::KillWithCapacitors => (&["buffer.protection=capacitor"], &["capacitor"], "what was acknowledged, kills"),
        End::Stop => (&[], &["stop"], "what was acknowledged, stops"),
    };
    let mut drive = Drive::new(bench, settings, &[])?;
    let (mut compared, mut older) = (0, 0);
    for round in 0..bench.rounds {
        let mut load = Load::start(bench, &drive, round, owed)?;
        // Not the same for any two rounds.
        pause(1200 + u64::from(round) * 211 % 1900);
        load.look();
        match end {
            End::Kill | End::KillWithCapacitors => drive.kill(),
            End::Stop => drive.stop()?,
        }
        load.end()?;
        drive.start()?;
        let [blocks, of_before, _] = ledger::check(bench, &drive, round, &[])?;
        (compared, older) = (compared + blocks, older + of_before);
    }
    println!("ledger, {named}: {}, {compared} blocks compared, {older} older than the newest as they may be, none lost", bench.rounds);
    Ok(())
}
